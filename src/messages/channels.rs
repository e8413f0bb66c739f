//! The message channels in the operator's panel: which exist, whether they
//! work, and a test message for each.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::delivery::gate::Health;
use super::queue::{self, is_configured};
use super::views::{ChannelCard, ChannelsPage};
use super::{choices, tabs};
use crate::accounts::page_layout::layout;
use crate::accounts::self_service;
use crate::app::{App, Visit};
use crate::audit::{self, Act, Actor};
use crate::base::{grouped, phone};
use crate::config::{Config, Gateway};
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Check, Code, Field, Problem, Reply, Request};
use crate::identity::Person;
use crate::outbox::{self, Channel, MessageKind, NewMessage, channel_words};
use crate::panel::{Answer, Badge, Flash, ListReply, view};
use crate::services::Services;

/// The page's address.
pub const PATH: &str = "/admin/mensagens/canais";

/// The current state of a channel.
struct ChannelStanding {
    channel: Channel,
    configured: bool,
    /// Why messages cannot be sent; `None` while they can.
    error: Option<String>,
    waiting: u64,
    /// Whether a test would reach the operator who asks.
    reaches: bool,
}

impl ChannelStanding {
    const fn badge(&self) -> Badge {
        match (self.configured, &self.error) {
            (false, _) => Badge::Off,
            (true, Some(_)) => Badge::Broken,
            (true, None) => Badge::Healthy,
        }
    }
}

fn standings(
    app: &App,
    person: &Person,
    request: &Request,
) -> Result<Vec<ChannelStanding>, Problem> {
    let (user, channel_set) = (person.account.user_id, choices::ChannelSet::of(&app.config));
    let (waiting, reach) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((queue::store::waiting(tx)?, choices::reach(tx, channel_set, user)?))
    })?;
    let standing = |channel: Channel| {
        let outlet = app.messages.delivery.outlets.iter().find(|outlet| outlet.channel == channel);
        let error = outlet.and_then(|outlet| match outlet.gate.health() {
            Health::Down { error } => Some(error),
            Health::Good => None,
        });
        let waits = waiting.iter().find(|(name, _)| name == channel.name());
        ChannelStanding {
            channel,
            configured: is_configured(&app.config, channel.name()),
            error,
            waiting: waits.map_or(0, |(_, count)| *count),
            // The form of the test has the number to send to.
            reaches: channel == Channel::Chat || reach.has(channel),
        }
    };
    Ok(Channel::ALL.map(standing).into())
}

#[derive(Serialize)]
struct WireChannel {
    canal: &'static str,
    configurado: bool,
    em_ordem: bool,
    motivo: Option<String>,
    pendentes: u64,
}

/// `GET /admin/mensagens/canais`: the channels, as page or JSON.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let standings = standings(app, person, request)?;
    if request.wants_json() {
        let channels = standings.into_iter().map(|one| WireChannel {
            canal: one.channel.name(),
            configurado: one.configured,
            em_ordem: one.configured && one.error.is_none(),
            motivo: one.error,
            pendentes: one.waiting,
        });
        return ListReply::reply(Channel::ALL.len() as u64, channels.collect());
    }
    let user = person.account.user_id;
    let number =
        app.db.read(request.lane, |tx| self_service::chat_number(tx, user))?.unwrap_or_default();
    let mut page = shown((app, person, request), &standings, view::Field::of(number));
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

fn shown(visit: Visit<'_>, standings: &[ChannelStanding], number: view::Field) -> ChannelsPage {
    let (app, person, request) = visit;
    ChannelsPage {
        layout: layout(app, person, request),
        tabs: tabs(PATH),
        channels: standings.iter().map(|one| card(app, one)).collect(),
        number,
    }
}

/// Messages of the page about a test that was not queued.
const FLASHES: &[Flash] = &[
    Flash::warn(
        "na_fila",
        "Já há um teste deste canal na fila",
        "Espere ele sair, ou cancele-o na fila.",
    ),
    Flash::warn(
        "sem_canal",
        "O teste não teria aonde chegar",
        "O canal precisa estar configurado e ligado nos seus avisos.",
    ),
];

fn card(services: &Services, standing: &ChannelStanding) -> ChannelCard {
    let channel = standing.channel;
    ChannelCard {
        name: channel.name(),
        icon: match channel {
            Channel::Chat => "chat",
            Channel::Email => "mail",
            Channel::Telegram => "send",
            Channel::Push => "screen",
        },
        title: channel_words(channel.name()),
        state: standing.badge(),
        about: if standing.configured { by_what(&services.config, channel) } else { String::new() },
        setting: match channel {
            Channel::Chat => "chat.gateway",
            Channel::Email => "email.smtp_url",
            Channel::Telegram => "telegram.bot_token",
            Channel::Push => "push.subject",
        },
        error: standing.error.clone().unwrap_or_default(),
        waiting: match standing.waiting {
            0 => String::new(),
            1 => "1 mensagem espera".to_owned(),
            many => format!("{} mensagens esperam", grouped(many)),
        },
        asks_number: channel == Channel::Chat,
        can_test: standing.configured && standing.reaches,
        lacks: if standing.configured && !standing.reaches {
            "Para testar, conecte este canal nos seus próprios avisos."
        } else {
            ""
        },
    }
}

/// The service that a configured channel sends through, and its rate limit.
fn by_what(config: &Config, channel: Channel) -> String {
    let pace = &config.messages;
    let (what, per_s) = match channel {
        Channel::Chat if config.chat.gateway == Gateway::Cloud => {
            ("API oficial", pace.pace_cloud_per_s)
        }
        Channel::Chat => ("Gateway próprio", pace.pace_evolution_per_s),
        Channel::Email => ("Servidor de e-mail", pace.pace_email_per_s),
        Channel::Telegram => ("Bot do Telegram", pace.pace_telegram_per_s),
        Channel::Push => ("Serviços dos navegadores", pace.pace_push_per_s),
    };
    if per_s <= 0.0 {
        format!("{what}, sem limite de ritmo.")
    } else if per_s < 1.0 {
        format!("{what}, no máximo 1 mensagem a cada {:.0} s.", 1.0 / per_s)
    } else {
        format!("{what}, no máximo {per_s:.0} por segundo.")
    }
}

#[derive(Deserialize)]
struct TestBody {
    #[serde(default)]
    numero: Field<String>,
}

/// `POST /admin/mensagens/canais/{canal}/teste`: queues a test message to the
/// operator; by chat, to the number in the form.
pub fn test(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let channel = Channel::from_name(request.variable("canal")).ok_or_else(Problem::not_found)?;
    let body: TestBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let typed = check.optional("numero", body.numero).unwrap_or_default();
    let number = if channel == Channel::Chat {
        let number = phone::normal("", &typed);
        if number.is_none() {
            check.fail("numero", WRONG_NUMBER);
        }
        number
    } else {
        None
    };
    let standings = standings(app, person, request)?;
    match check.finish() {
        Err(problem) if request.wants_json() => return Err(problem),
        Err(_) => {
            let field = view::Field::of(typed).fault(Some(WRONG_NUMBER));
            let page = shown((app, person, request), &standings, field);
            let status = http::StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(nothing_to_do(Reply::page(&page)?.status(status)));
        }
        Ok(()) => {}
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let user = person.account.user_id;
    let reaches =
        standings.iter().any(|one| one.channel == channel && one.configured && one.reaches);
    Ok(Box::new(move |tx| {
        let refused = |said: &'static str, word| {
            answer.declined(Problem::new(Code::Conflict, said), PATH, word)
        };
        if !reaches {
            let said = "este canal não está configurado, ou nada seu está conectado a ele";
            return refused(said, "sem_canal");
        }
        if outbox::waits(tx, user, channel, MessageKind::Test)? {
            return refused("já há um teste deste canal na fila", "na_fila");
        }
        let params = number.map_or_else(|| json!({}), |number| json!({ "number": number }));
        let new = NewMessage {
            user,
            kind: MessageKind::Test,
            cause: &tx.now().0.to_string(),
            params,
            run_at: None,
            expires_at: None,
        };
        let Some(id) = outbox::queue(tx, &new, channel)? else {
            return refused("espere um segundo entre dois testes", "na_fila");
        };
        let act = Act {
            action: "mensagem.testar",
            object: "mensagem",
            object_id: id.to_string(),
            object_name: &format!("Teste de canal: {}", channel_words(channel.name())),
        };
        audit::note(tx, &actor, &act, None::<&()>, None::<&()>)?;
        answer.made(id, &format!("{}/{id}", queue::pages::PATH), "teste")
    }))
}

const WRONG_NUMBER: &str = "Informe de 10 a 15 dígitos, com DDD, como (11) 98765-4321.";
