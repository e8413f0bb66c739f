//! What the profile page prints.

use askama::Template;

use super::pages::push::PushSettings;
use crate::accounts::self_service::{OpenSession, ValidToken};
use crate::accounts::views::ApiPlan;
use crate::base::TokenHash;
use crate::messages::telegram::store::Chat;
use crate::panel::view::Field;
use crate::panel::{Layout, Notice, PageTime, Tab, Tick};

/// `GET /perfil`, and its answers when fields are invalid.
#[derive(Template)]
#[template(path = "profile.html", config = "assets/askama.toml")]
pub struct ProfilePage {
    pub layout: Layout,
    /// The parts of the account.
    pub tabs: Vec<Tab>,
    /// Shown above the forms when there are faults.
    pub alert: Option<Notice>,
    /// `Aluno · Pro`, `Fornecedor`, `Administração`.
    pub what: String,
    /// E-mail address, which only the operator changes.
    pub email: String,
    /// Address of the photo, empty without one.
    pub photo: String,
    /// The stored name, for the initials shown without a photo.
    pub stored_name: String,
    /// `foto`.
    pub file: Field,
    /// `nome`.
    pub name: Field,
    /// `chat_number`.
    pub chat_number: Field,
    /// `confirmacao`: the present password, for another chat number.
    pub confirmation: Field,
    /// `atual`.
    pub present: Field,
    /// `senha`.
    pub password: Field,
    /// Whether there are partner tokens that a new password could revoke.
    pub has_tokens: bool,
    /// Open sessions, the newest first.
    pub sessions: Vec<OpenSession>,
    /// The session of this request.
    pub session: TokenHash,
    /// `e mais 12 sessões`; empty when all are shown.
    pub more_sessions: String,
    /// The extension's token, while there is one.
    pub extension: Option<ValidToken>,
    /// The API plan, for those who have one.
    pub api_plan: Option<ApiPlan>,
    pub time: PageTime,
}

impl ProfilePage {
    /// The end of the extension's token, `20/12/2026 14:05`.
    fn end(&self, token: &ValidToken) -> String {
        self.time.zone.page(token.until)
    }
}

/// `GET /perfil/avisos`.
#[derive(Template)]
#[template(path = "profile_alerts.html", config = "assets/askama.toml")]
pub struct AlertsPage {
    pub layout: Layout,
    /// The parts of the account.
    pub tabs: Vec<Tab>,
    /// Channels of this installation, each with what it needs.
    pub channels: Vec<Tick>,
    /// `canais`.
    pub channels_field: Field,
    /// Kinds of messages that a person may switch off.
    pub kinds: Vec<Tick>,
    /// `tipos`.
    pub kinds_field: Field,
    /// `None` without a Telegram bot.
    pub telegram: Option<TelegramSection>,
    pub push: PushSettings,
    pub person: i64,
    pub time: PageTime,
}

/// The Telegram of a person.
#[derive(Default)]
pub struct TelegramSection {
    /// The connected chat.
    pub chat: Option<Chat>,
    /// A new link that connects a chat.
    pub link: Option<TelegramLink>,
    /// Why there is no link.
    pub trouble: Option<Notice>,
}

/// A link that connects a chat.
pub struct TelegramLink {
    pub address: String,
    /// `20/11/2026 14:05`.
    pub until: String,
}
