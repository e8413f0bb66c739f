//! The message channels in the operator's panel: which exist, whether they
//! work, and a test message for each.

use serde::Serialize;
use serde_json::json;

use crate::accounts::page_layout::layout;
use crate::accounts::self_service;
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::base::phone;
use crate::config::{Config, Gateway};
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::views::{ChannelStatus, ChannelsPage};
use crate::messages::{choices, delivery, queue, tabs};
use crate::outbox::{self, Channel, MessageKind, NewMessage};
use crate::panel::{Answer, Flash, ListReply, Sent, flashes, view};
use crate::wire;

/// The page's address.
pub const PATH: &str = "/admin/mensagens/canais";

fn statuses(app: &App, person: &Person, request: &Request) -> Result<Vec<ChannelStatus>, Problem> {
    let (user, channel_set) = (person.account.user_id, choices::ChannelSet::of(&app.config));
    let (waiting, reach) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((queue::store::waiting(tx)?, choices::reach(tx, channel_set, user)?))
    })?;
    let status = |channel: Channel| {
        let outlet = app.messages.delivery.outlets.iter().find(|outlet| outlet.channel == channel);
        let waits = waiting.iter().find(|(name, _)| name == channel.name());
        ChannelStatus {
            channel,
            by_what: channel_set.has(channel).then(|| by_what(&app.config, channel)),
            error: outlet.and_then(|outlet| outlet.gate.error()),
            waiting: waits.map_or(0, |(_, count)| *count),
            // The form of the test has the number to send to.
            reaches: channel == Channel::Chat || reach.has(channel),
        }
    };
    Ok(Channel::ALL.map(status).into())
}

wire! {
    #[derive(Serialize)]
    struct WireChannel of(one: ChannelStatus) {
        canal: &'static str = one.channel.name(),
        configurado: bool = one.is_configured(),
        em_ordem: bool = one.is_configured() && one.error.is_none(),
        motivo: Option<String> = one.error,
        pendentes: u64 = one.waiting,
    }
}

/// `GET /admin/mensagens/canais`: the channels, as page or JSON.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let channels = statuses(app, person, request)?;
    if request.wants_json() {
        return ListReply::of(Channel::ALL.len() as u64, channels, WireChannel::of);
    }
    let user = person.account.user_id;
    let number =
        app.db.read(request.lane, |tx| self_service::chat_number(tx, user))?.unwrap_or_default();
    let layout = layout(app, person, request).telling(FLASHES, request);
    let number = view::Field::of(number);
    Reply::page(&ChannelsPage { layout, tabs: tabs(PATH), channels, number })
}

/// Messages of the page about a test that was not queued.
const FLASHES: &[Flash] = flashes! {
    "na_fila": warn "Já há um teste deste canal na fila", "Espere ele sair, ou cancele-o na fila.";
    "sem_canal": warn "O teste não teria aonde chegar",
        "O canal precisa estar configurado e ligado nos seus avisos.";
};

/// The service that a configured channel sends through, and its rate limit.
fn by_what(config: &Config, channel: Channel) -> String {
    let what = match channel {
        Channel::Chat if config.chat.hears_receipts() => "API oficial, com aviso de entrega",
        Channel::Chat if config.chat.gateway == Gateway::Cloud => {
            "API oficial, sem aviso de entrega (faltam chat.app_secret e chat.verify_token)"
        }
        Channel::Chat => "Gateway próprio",
        Channel::Email => "Servidor de e-mail",
        Channel::Telegram => "Bot do Telegram",
        Channel::Push => "Serviços dos navegadores",
    };
    let per_s = delivery::pace_of(config, channel);
    if per_s <= 0.0 {
        format!("{what}, sem limite de ritmo.")
    } else if per_s < 1.0 {
        format!("{what}, no máximo 1 mensagem a cada {:.0} s.", 1.0 / per_s)
    } else {
        format!("{what}, no máximo {per_s:.0} por segundo.")
    }
}

/// `POST /admin/mensagens/canais/{canal}/teste`: queues a test message to the
/// operator; by chat, to the number in the form.
pub fn test(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let channel = Channel::from_name(request.variable("canal")).ok_or_else(Problem::not_found)?;
    let mut sent = Sent::of(request, app.zone())?;
    let typed: String = sent.optional("numero").unwrap_or_default();
    let number = phone::normal("", &typed).filter(|_| channel == Channel::Chat);
    if channel == Channel::Chat && number.is_none() {
        sent.check.fail("numero", WRONG_NUMBER);
    }
    let channels = statuses(app, person, request)?;
    if let Err(problem) = sent.finish() {
        if request.wants_json() {
            return Err(problem);
        }
        let page = ChannelsPage {
            layout: layout(app, person, request),
            tabs: tabs(PATH),
            channels,
            number: view::Field::of(typed).fault(Some(WRONG_NUMBER)),
        };
        let status = http::StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(nothing_to_do(Reply::page(&page)?.status(status)));
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let user = person.account.user_id;
    let reaches = channels.iter().any(|one| one.channel == channel && one.can_test());
    Ok(Box::new(move |tx| {
        let refused = |said: &'static str, word| {
            answer.declined(Problem::conflict(ForPeople(said)), PATH, word)
        };
        if !reaches {
            let said = "Este canal não está configurado, ou nada seu está conectado a ele.";
            return refused(said, "sem_canal");
        }
        if outbox::waits(tx, user, channel, MessageKind::Test)? {
            return refused("Já há um teste deste canal na fila.", "na_fila");
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
            return refused("Espere um segundo entre dois testes.", "na_fila");
        };
        let name = format!("Teste de canal: {}", channel.words());
        audit::note(tx, &actor, &objects::MESSAGE.act("mensagem.testar", id, &name), (), ())?;
        answer.made(id, &format!("{}/{id}", queue::pages::PATH), "teste")
    }))
}

const WRONG_NUMBER: &str = "Informe de 10 a 15 dígitos, com DDD, como (11) 98765-4321.";
