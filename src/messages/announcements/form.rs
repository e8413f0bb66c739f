//! What an operator enters about an announcement.

use serde::{Serialize, Serializer};

use super::{Announcement, LONGEST_BODY};
use crate::accounts::Role;
use crate::base::Instant;
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;
use crate::panel::form::{Sent, tick};
use crate::panel::{Form, form};

/// The audit log uses the field names of the form.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AnnouncementEntry {
    #[serde(rename = "titulo")]
    pub title: String,
    #[serde(rename = "texto")]
    pub body: String,
    /// None for all students.
    #[serde(rename = "planos", serialize_with = "titles")]
    pub roles: Vec<Role>,
    #[serde(rename = "canais", serialize_with = "channel_titles")]
    pub channels: Vec<Channel>,
    #[serde(rename = "enviar_em", serialize_with = "as_text")]
    pub send_at: Option<Instant>,
}

fn titles<S: Serializer>(roles: &[Role], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(roles.iter().map(|role| role.words()))
}

fn channel_titles<S: Serializer>(channels: &[Channel], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(channels.iter().map(|channel| channel.words()))
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn as_text<S: Serializer>(at: &Option<Instant>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Instant::rfc3339).serialize(serializer)
}

impl AnnouncementEntry {
    pub fn role_names(&self) -> String {
        self.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(",")
    }

    pub fn channel_names(&self) -> String {
        self.channels.iter().map(|channel| channel.name()).collect::<Vec<_>>().join(",")
    }
}

impl From<&Announcement> for AnnouncementEntry {
    fn from(one: &Announcement) -> Self {
        Self {
            title: one.title.clone(),
            body: one.body.clone(),
            roles: one.roles(),
            channels: one.channels(),
            send_at: one.send_at,
        }
    }
}

pub const FORM: Form<AnnouncementEntry> = form! {
    "titulo": Line(2..=120, |entry| &mut entry.title), "Dê um título de 2 a 120 letras.";
    "texto": Own(read_body, |entry, _| entry.body.clone()),
        "Escreva o texto, com até 2.000 letras.";
    // Boxes with a value each: no ticked box is an answer, not an empty field.
    "planos": Own(read_roles, |_, _| tick(true)), "Escolha entre os planos da lista.";
    "canais": Own(read_channels, |_, _| tick(true)),
        "Escolha entre os canais que estão configurados.";
    "enviar_em": Own(read_time, |entry, zone| {
        entry.send_at.map(|at| zone.partner(at)).unwrap_or_default()
    }), "Informe um dia e uma hora que ainda não passaram, como 31/12/2026 20:00, ou deixe em branco.";
};

fn read_body(sent: &mut Sent<'_>, name: &'static str, entry: &mut AnnouncementEntry) {
    entry.body = sent.lines(name, LONGEST_BODY);
    if entry.body.is_empty() {
        sent.check.fail(name, "is required");
    }
}

fn read_roles(sent: &mut Sent<'_>, name: &'static str, entry: &mut AnnouncementEntry) {
    let named: Vec<String> = sent.optional(name).unwrap_or_default();
    let is_known = |one: &String| Role::STUDENTS.iter().any(|role| role.name() == one);
    if !named.iter().all(is_known) {
        sent.check.fail(name, "must be roles of students: free, pro, vip, piloto_pro, podio");
    }
    entry.roles = Role::STUDENTS
        .into_iter()
        .filter(|role| named.iter().any(|one| one == role.name()))
        .collect();
    // All of them is everybody, also who comes with a plan of tomorrow.
    if entry.roles.len() == Role::STUDENTS.len() {
        entry.roles.clear();
    }
}

fn read_channels(sent: &mut Sent<'_>, name: &'static str, entry: &mut AnnouncementEntry) {
    let named: Vec<String> = sent.optional(name).unwrap_or_default();
    if named.iter().any(|one| Channel::from_name(one).is_none()) {
        sent.check.fail(name, "must be channels: chat, email, telegram, push");
    }
    entry.channels = Channel::ALL
        .into_iter()
        .filter(|one| named.iter().any(|name| name == one.name()))
        .collect();
}

fn read_time(sent: &mut Sent<'_>, name: &'static str, entry: &mut AnnouncementEntry) {
    let text: String = sent.optional(name).unwrap_or_default();
    entry.send_at = if text.is_empty() { None } else { sent.zone.read(&text) };
    if entry.send_at.is_none() != text.is_empty() {
        sent.check.fail(name, "must be a civil time that exists, as YYYY-MM-DD HH:MM:SS");
    }
}

/// Notes what is wrong with an entry here and now.
pub fn check(sent: &mut Sent<'_>, entry: &AnnouncementEntry, configured: ChannelSet) {
    if entry.channels.iter().any(|channel| !configured.has(*channel)) {
        sent.check.fail("canais", "must be channels that are configured");
    }
    if entry.send_at.is_some_and(|at| at <= sent.request.now) {
        sent.check.fail("enviar_em", "must not be over");
    }
}
