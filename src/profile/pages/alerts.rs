//! `GET /perfil/avisos`: how a person is notified outside of the platform and
//! what the person chooses, as page and as JSON.

use serde::Serialize;

use super::push::WirePush;
use super::{push, telegram};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::UserId;
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::{Field, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::choices::{self, ChannelSet, Choices};
use crate::messages::telegram::store::Chat;
use crate::outbox::kind::Preference;
use crate::outbox::{Channel, MessageKind, channel_words, unreachable};
use crate::panel::{Answer, Flash, PageTime, Sent, Tab, Tick, flashes, view};
use crate::profile::pages;
use crate::profile::views::{AlertsPage, TelegramSection};
use crate::wire;

/// The page's address.
pub const PATH: &str = "/perfil/avisos";

const FLASHES: &[Flash] = flashes! {
    "salvo": good "Avisos salvos", "Valem a partir da próxima mensagem.";
    "navegador_ligado": good "Navegador ligado",
        "Os avisos aparecem nele também com esta página fechada.";
    "navegador_desligado": good "Navegador desligado", "Ele não mostra mais avisos desta conta.";
    "telegram_desconectado": good "Telegram desconectado", "Nenhum aviso chega mais por ele.";
};

/// What a person may choose, and the stored choices.
struct NotificationSettings {
    is_student: bool,
    reach: ChannelSet,
    /// Whether there is a chat number that the network does not reach.
    is_silenced: bool,
    choices: Choices,
    /// Channels that this installation has.
    channels: Vec<Channel>,
}

impl NotificationSettings {
    fn read(
        tx: &ReadTx<'_>,
        channel_set: ChannelSet,
        user: UserId,
        role: Role,
    ) -> Result<Self, Problem> {
        Ok(Self {
            is_student: role.is_student(),
            reach: choices::reach(tx, channel_set, user)?,
            is_silenced: unreachable::of(tx, user)?.is_some_and(|one| one.is_silenced()),
            choices: choices::of(tx, user)?,
            channels: channel_set.all().collect(),
        })
    }

    /// Whether the person wants messages by a channel; for one that is not
    /// connected, whether it would be used once connected.
    fn takes(&self, channel: Channel) -> bool {
        if self.reach.has(channel) {
            choices::by_channel(self.reach, &self.choices).contains(&channel)
        } else {
            self.choices.about(channel.name()) != Some(false)
        }
    }

    fn wants(&self, kind: MessageKind) -> bool {
        self.choices.about(kind.name()) != Some(false)
    }

    /// Kinds of messages that a person may switch off.
    fn kinds(&self) -> impl Iterator<Item = (MessageKind, &'static Preference)> {
        let all = MessageKind::ALL.into_iter().filter(|_| self.is_student);
        all.filter_map(|kind| Some((kind, kind.row().preference.as_ref()?)))
    }
}

/// `GET /perfil/avisos`: channels and kinds of messages, each with whether it
/// is wanted.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        let (settings, push, chat) = read(app, person, request)?;
        let chat = chat.map(|chat| telegram::WireChat::of(chat, app.zone()));
        let channels = settings.channels.iter();
        return Reply::ok(&WireAlerts {
            canais: channels.map(|channel| WireChannel::of(*channel, &settings)).collect(),
            tipos: settings.kinds().map(|(kind, _)| WireKind::of(kind, &settings)).collect(),
            push: push.wire(app.zone()),
            telegram: chat,
        });
    }
    show((app, person, request), |_| {})
}

/// The choices, the browsers and the chat of a person.
fn read(
    app: &App,
    person: &Person,
    request: &Request,
) -> Result<(NotificationSettings, push::PushSettings, Option<Chat>), Problem> {
    let (channel_set, user) = (ChannelSet::of(&app.config), person.account.user_id);
    let role = person.account.role;
    app.db.read(request.lane, |tx| {
        let browsers = push::PushSettings::read(app, tx, user)?;
        let chat = telegram::chat(tx, app, user)?;
        Ok((NotificationSettings::read(tx, channel_set, user, role)?, browsers, chat))
    })
}

/// The page with the stored choices; `more` adds to what it says of Telegram.
pub fn show(visit: Visit<'_>, more: impl FnOnce(&mut TelegramSection)) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    let (settings, push, chat) = read(app, person, request)?;
    let is_blocked = chat.as_ref().is_some_and(|chat| chat.blocked_at.is_some());
    let channel = |channel: &Channel| Tick {
        help: if *channel == Channel::Telegram && is_blocked {
            "O bot está bloqueado na sua conversa.".to_owned()
        } else if *channel == Channel::Chat && settings.is_silenced {
            "O WhatsApp diz que o número do seu perfil não recebe mensagens. Corrija-o.".to_owned()
        } else {
            about(*channel, settings.reach.has(*channel)).to_owned()
        },
        // A channel that is not connected cannot be chosen yet.
        off: !settings.reach.has(*channel),
        ..Tick::new(
            channel.name(),
            channel_words(channel.name()),
            settings.reach.has(*channel) && settings.takes(*channel),
        )
    };
    let kind = |(kind, preference): (MessageKind, &'static Preference)| Tick {
        help: preference.help.to_owned(),
        ..Tick::new(kind.name(), preference.label, settings.wants(kind))
    };
    let mut telegram = telegram::section(app, chat);
    telegram.as_mut().map(more);
    Reply::page(&AlertsPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        tabs: tabs(PATH),
        channels: settings.channels.iter().map(channel).collect(),
        channels_field: view::Field::default(),
        kinds: settings.kinds().map(kind).collect(),
        kinds_field: view::Field::default(),
        push,
        telegram,
        person: person.account.user_id.0,
        time: PageTime::of(app, request),
    })
}

/// The parts of a person's own account.
pub fn tabs(here: &str) -> Vec<Tab> {
    let tab = |(label, path): (&'static str, &str)| Tab {
        label,
        href: path.to_owned(),
        on: path == here,
    };
    [("Conta", pages::PATH), ("Avisos", PATH)].map(tab).into()
}

fn about(channel: Channel, connected: bool) -> &'static str {
    match (channel, connected) {
        (Channel::Chat, true) => "No número do seu perfil.",
        (Channel::Chat, false) => "Falta informar o número de chat no seu perfil.",
        (Channel::Email, _) => "No endereço com que você entra.",
        (Channel::Telegram, true) => "Na conversa conectada nesta página.",
        (Channel::Telegram, false) => "Ainda não conectado. Conecte nesta página.",
        (Channel::Push, true) => "Nos navegadores ligados nesta página.",
        (Channel::Push, false) => "Ainda não ligado em nenhum navegador. Ligue nesta página.",
    }
}

wire! {
    #[derive(Serialize)]
    struct WireChannel of(channel: Channel, settings: &NotificationSettings) {
        canal: &'static str = channel.name(),
        conectado: bool = settings.reach.has(channel),
        recebe: bool = settings.takes(channel),
    }
}

wire! {
    #[derive(Serialize)]
    struct WireKind of(kind: MessageKind, settings: &NotificationSettings) {
        tipo: &'static str = kind.name(),
        recebe: bool = settings.wants(kind),
    }
}

#[derive(Serialize)]
struct WireAlerts {
    canais: Vec<WireChannel>,
    tipos: Vec<WireKind>,
    push: WirePush,
    /// The connected chat.
    telegram: Option<telegram::WireChat>,
}

/// `POST /perfil/avisos`: the channels and kinds that are wanted, all of them.
/// A program may leave out one of the two lists, which then stays. Only changes
/// are stored as choices, so that the defaults of the others may still change.
pub fn choose(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    // Names of the lists in the form. A list without a ticked box is not sent
    // itself.
    let about: Vec<String> = sent.optional("sobre").unwrap_or_default();
    let (channels, kinds) = (sent.take("canais"), sent.take("tipos"));
    let (is_form, mut check) = (sent.is_form, sent.check);
    let says = |name: &str, field: &Field<Vec<String>>| {
        !field.is_absent() || about.iter().any(|one| one == name)
    };
    let (says_channels, says_kinds) = (says("canais", &channels), says("tipos", &kinds));
    if !says_channels && !says_kinds {
        check.fail("canais", "name the channels or the kinds that are wanted");
    }
    let channels = check.optional("canais", channels).unwrap_or_default();
    let kinds = check.optional("tipos", kinds).unwrap_or_default();
    if channels.iter().any(|name| Channel::from_name(name).is_none()) {
        check.fail("canais", "each must be chat, email, telegram or push");
    }
    let is_optional =
        |name: &String| MessageKind::from_name(name).is_some_and(MessageKind::is_optional);
    if !kinds.iter().all(is_optional) {
        check.fail("tipos", "each must be lembrete_encontro, inatividade or pergunta");
    }
    check.finish()?;
    let (user, role) = (person.account.user_id, person.account.role);
    let (channel_set, answer) = (ChannelSet::of(&app.config), Answer::to(request));
    Ok(Box::new(move |tx| {
        let settings = NotificationSettings::read(tx, channel_set, user, role)?;
        let has = |names: &[String], name: &str| names.iter().any(|one| one == name);
        for channel in settings.channels.iter().filter(|_| says_channels) {
            let wanted = has(&channels, channel.name());
            // The form has no box for it yet, so it says nothing about it.
            if is_form && !wanted && !settings.reach.has(*channel) {
                continue;
            }
            if wanted != settings.takes(*channel) {
                choices::set(tx, user, channel.name(), wanted)?;
            }
        }
        for (kind, _) in settings.kinds().filter(|_| says_kinds) {
            let wanted = has(&kinds, kind.name());
            if wanted != settings.wants(kind) {
                choices::set(tx, user, kind.name(), wanted)?;
            }
        }
        answer.done(user, PATH, "salvo")
    }))
}
