//! What the profile page prints.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::panel::view::Field;
use crate::panel::{Layout, Notice, Tab, Tick, When};

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
    /// The browsers; `None` while push is off.
    pub push: Option<PushSection>,
}

/// The browsers that get messages.
pub struct PushSection {
    /// Our public key, which a browser subscribes with.
    pub key: String,
    pub person: i64,
    /// The newest first.
    pub devices: Vec<PushDevice>,
}

/// A browser that gets messages.
pub struct PushDevice {
    pub id: i64,
    /// The id by which a browser finds its own row.
    pub mark: String,
    /// `Chrome no Windows`.
    pub name: String,
    pub since: When,
    /// When the last message was sent to it.
    pub sent: Option<When>,
}

/// The Telegram of a person.
#[derive(Default)]
pub struct TelegramSection {
    /// The connected chat.
    pub chat: Option<TelegramChat>,
    /// A new link that connects a chat.
    pub link: Option<TelegramLink>,
    /// Why there is no link.
    pub trouble: Option<Notice>,
}

/// A connected chat.
pub struct TelegramChat {
    /// The person's name in Telegram, or empty.
    pub name: String,
    pub since: When,
    /// Since when the person has blocked the bot.
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
    /// Its digest, which does not open the session.
    pub id: String,
    /// `Chrome no Windows`.
    pub device: String,
    pub address: String,
    pub opened: When,
    pub seen: When,
    /// Whether this request came with the session.
    pub here: bool,
}

/// The extension's token.
pub struct ExtensionRow {
    /// When it was issued.
    pub since: When,
    pub used: Option<When>,
    /// `20/12/2026 14:05`.
    pub until: String,
}
