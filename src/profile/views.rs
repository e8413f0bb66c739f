//! What the profile page prints.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::panel::view::Field;
use crate::panel::{Layout, Notice, Tab, Tick, When};

/// `GET /perfil`, and its answers when fields are at fault.
#[derive(Template)]
#[template(path = "profile.html", config = "assets/askama.toml")]
pub struct ProfilePage {
    pub layout: Layout,
    /// The parts of the account.
    pub tabs: Vec<Tab>,
    /// Above the forms when something is at fault.
    pub alert: Option<Notice>,
    /// `Aluno · Pro`, `Fornecedor`, `Administração`.
    pub what: String,
    /// E-mail address, which only the operator changes.
    pub email: String,
    /// Address of the photo, empty without one.
    pub photo: String,
    /// Name as it is stored, for the letters in place of a photo.
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
    pub sessions: Vec<SessionRow>,
    /// `e mais 12 sessões`; empty when all are shown.
    pub more_sessions: String,
    /// The extension's token, while there is one.
    pub extension: Option<ExtensionRow>,
    /// The API plan, for those who have one.
    pub api_plan: Option<ApiPlan>,
}

/// `GET /perfil/avisos`.
#[derive(Template)]
#[template(path = "profile_alerts.html", config = "assets/askama.toml")]
pub struct AlertsPage {
    pub layout: Layout,
    /// The parts of the account.
    pub tabs: Vec<Tab>,
    /// Channels that there are, each with what it needs.
    pub channels: Vec<Tick>,
    /// `canais`.
    pub channels_field: Field,
    /// Kinds of messages that one may do without.
    pub kinds: Vec<Tick>,
    /// `tipos`.
    pub kinds_field: Field,
    /// Where there is a Telegram bot.
    pub telegram: Option<TelegramSection>,
    /// The browsers, while push is on.
    pub push: Option<PushSection>,
}

/// The browsers in which one is told.
pub struct PushSection {
    /// Our public key, which a browser subscribes with.
    pub key: String,
    pub person: i64,
    /// The newest first.
    pub devices: Vec<PushDevice>,
}

/// A browser in which one is told.
pub struct PushDevice {
    pub id: i64,
    /// By which a browser knows its own row.
    pub mark: String,
    /// `Chrome no Windows`.
    pub name: String,
    pub since: When,
    /// When it was last told something.
    pub sent: Option<When>,
}

/// The Telegram of a person.
#[derive(Default)]
pub struct TelegramSection {
    /// The connected chat.
    pub chat: Option<TelegramChat>,
    /// A link that connects one, just made.
    pub link: Option<TelegramLink>,
    /// Why there is no link.
    pub trouble: Option<Notice>,
}

/// A connected chat.
pub struct TelegramChat {
    /// What the person is called there, or empty.
    pub name: String,
    pub since: When,
    /// Since when the bot is blocked in it.
    pub blocked: Option<When>,
}

/// A link that connects a chat.
pub struct TelegramLink {
    pub address: String,
    /// `20/11/2026 14:05`.
    pub until: String,
}

/// An open session.
pub struct SessionRow {
    /// Its digest, which opens nothing.
    pub id: String,
    /// `Chrome no Windows`.
    pub device: String,
    pub address: String,
    pub opened: When,
    pub seen: When,
    /// Whether this page was asked for with it.
    pub here: bool,
}

/// The extension's token.
pub struct ExtensionRow {
    /// When it was given out.
    pub since: When,
    pub used: Option<When>,
    /// `20/12/2026 14:05`.
    pub until: String,
}
