//! The final text of a message.

use serde_json::{Map, Value};

use super::store::Claimed;
use crate::accounts::links;
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::db::{Lane, Result};
use crate::messages::pages::unsubscribe;
use crate::messages::{announcements, notices, texts};
use crate::outbox::MessageKind;

/// What a message says.
#[derive(Clone, Debug)]
pub struct Letter {
    pub kind: MessageKind,
    pub subject: String,
    pub text: String,
    /// The unsubscribe link; `None` for messages that are always sent.
    pub leave: Option<String>,
    /// Path of the page that the message opens.
    pub page: String,
    /// Key of the subject, of which only the newest message is useful: a newer one
    /// with the same key replaces this one.
    pub matter: String,
}

/// Fills in the text of a message. The inner error is the reason why the
/// message is no longer needed.
pub fn write(app: &App, claimed: &Claimed) -> Result<std::result::Result<Letter, &'static str>> {
    let Some(kind) = MessageKind::from_name(&claimed.kind) else {
        return Ok(Err("esta versão não conhece este tipo de mensagem"));
    };
    let params: Value = serde_json::from_str(&claimed.params).unwrap_or_default();
    let params = match looked_up(app, kind, claimed.user, params)? {
        Ok(params) => params,
        Err(reason) => return Ok(Err(reason)),
    };
    let was_away_since = params["active_at"].as_i64().map(Instant);
    if kind == MessageKind::Inactivity && claimed.last_access_at > was_away_since {
        return Ok(Err("a pessoa já voltou"));
    }
    if let (MessageKind::CheckIn, Some(day)) = (kind, params["day"].as_i64()) {
        // Read here, because the room `program` depends on this one.
        let done = "SELECT last_checkin >= ?2 FROM program_student WHERE student_id = ?1";
        let done = app.db.read(Lane::Slow, |tx| tx.maybe(done, (claimed.user, day)))?;
        if done.flatten() == Some(true) {
            return Ok(Err("o check-in do dia já foi feito"));
        }
    }
    let link = match params["link"].as_str() {
        None => None,
        Some(name) => match link_of(app, name)? {
            None => return Ok(Err("o link que ela levava já não vale")),
            Some(link) => Some(link),
        },
    };
    let words = texts::Words {
        name: &claimed.name,
        platform: &app.config.server.name,
        address: &app.server.addresses.base_url,
        link: link.as_ref().map_or("", |(address, _)| address),
        until: link.as_ref().map(|(_, until)| app.zone().page(*until)).unwrap_or_default(),
        params: &params,
    };
    let (template, _) = app.db.read(Lane::Slow, |tx| texts::of(tx, kind))?;
    let texts::Template { subject, body: text } = texts::fill(&template, &words, app.zone());
    Ok(Ok(Letter {
        kind,
        subject,
        text,
        leave: kind.is_optional().then(|| unsubscribe::address(app, claimed.user)),
        page: kind.page(&params).to_owned(),
        matter: format!("{}:{}", kind.name(), params[kind.row().topic]),
    }))
}

/// Stands for a link where a message is shown to staff.
pub const HIDDEN: &str = "(não é mostrado)";

/// What a message says, as staff may see it: without its link. `None` when its
/// parameters were forgotten, or this version does not know its kind.
pub fn shown(
    app: &App,
    kind: &str,
    user: UserId,
    name: &str,
    params: Map<String, Value>,
) -> Result<Option<texts::Template>> {
    let Some(kind) = MessageKind::from_name(kind) else { return Ok(None) };
    if params.is_empty() && !kind.row().placeholders.is_empty() {
        return Ok(None);
    }
    let Ok(params) = looked_up(app, kind, user, Value::Object(params))? else { return Ok(None) };
    let words = texts::Words {
        name,
        platform: &app.config.server.name,
        address: &app.server.addresses.base_url,
        link: HIDDEN,
        until: HIDDEN.to_owned(),
        params: &params,
    };
    let (template, _) = app.db.read(Lane::Slow, |tx| texts::of(tx, kind))?;
    Ok(Some(texts::fill(&template, &words, app.zone())))
}

/// The parameters of kinds whose words are stored elsewhere. The inner error is the
/// reason why the message is no longer needed.
fn looked_up(
    app: &App,
    kind: MessageKind,
    user: UserId,
    params: Value,
) -> Result<std::result::Result<Value, &'static str>> {
    match kind {
        MessageKind::PartnerNotice => {
            let id = params["notification_id"].as_i64().unwrap_or_default();
            let words = app.db.read(Lane::Slow, |tx| notices::words(tx, user, id))?;
            Ok(words.ok_or("muitos avisos mais novos tomaram o lugar dela"))
        }
        MessageKind::Announcement => {
            let words = app.db.read(Lane::Slow, |tx| announcements::store::words(tx, &params))?;
            Ok(words.ok_or("o comunicado não existe mais"))
        }
        _ => Ok(Ok(params)),
    }
}

/// The address of a link and when it expires; `None` when it no longer works.
fn link_of(app: &App, name: &str) -> Result<Option<(String, Instant)>> {
    let found = app.db.read(Lane::Slow, |tx| links::sealed(tx, name))?;
    let Some((sealed, until)) = found else { return Ok(None) };
    let code = app.sealer.open_text(&sealed, links::place(name))?;
    Ok(Some((links::address(&app.server.addresses.base_url, code.reveal()), until)))
}
