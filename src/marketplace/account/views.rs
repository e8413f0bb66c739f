//! What the pages around marketplace accounts print: the student's home and
//! the linking of accounts.

use askama::Template;

use crate::marketplace::books::order_status::OrderState;
use crate::messages::views::NewsRow;
use crate::panel::chart::{BarChart, Stat};
use crate::panel::view::{Badge, Layout, Notice, Progress, Tone, When};

/// `GET /painel`: the student's home.
#[derive(Debug, Template)]
#[template(path = "student_home.html", config = "assets/askama.toml")]
pub struct StudentHome {
    /// The frame of the signed-in student.
    pub layout: Layout,
    /// `Bom dia, Ana`.
    pub greeting: String,
    /// `sexta-feira, 20 de novembro`.
    pub today: String,
    /// What must be done today, the most urgent first.
    pub tasks: Vec<Task>,
    /// Totals over all accounts.
    pub stats: Vec<Stat>,
    /// Gross sales of the last 30 days; `None` without sales.
    pub chart: Option<BarChart>,
    /// The linked accounts.
    pub accounts: Vec<AccountRow>,
    /// The newest sales.
    pub sales: Vec<SaleRow>,
    /// The newest notifications.
    pub news: Vec<NewsRow>,
}

/// Something that waits for the student.
#[derive(Debug)]
pub struct Task {
    /// How urgent it is.
    pub tone: Tone,
    /// What it is, such as `2 reclamações abertas`.
    pub title: String,
    /// Where it is, such as the account.
    pub detail: String,
    /// Address of where it is done; empty when that is at the marketplace.
    pub href: String,
    /// What the button says.
    pub button: &'static str,
}

/// A linked account on the home page.
#[derive(Debug)]
pub struct AccountRow {
    /// Store nickname.
    pub nickname: String,
    /// Reputation at the marketplace.
    pub reputation: Badge,
    /// Orders sold today.
    pub sales_today: u64,
    /// Gross sales of the last 30 days.
    pub gross_30: String,
    /// Active and paused listings.
    pub listings: String,
    /// Open claims.
    pub claims: u64,
    /// Unanswered questions.
    pub questions: u64,
    /// Whether the authorisation works, and readings too.
    pub link: Badge,
    /// Why the authorisation does not; `None` while it does.
    pub error: Option<String>,
    /// What cannot be read; `None` while everything can.
    pub trouble: Option<String>,
}

/// A sale in a list.
#[derive(Debug)]
pub struct SaleRow {
    /// What was sold.
    pub title: String,
    /// `2 unidades`.
    pub quantity: String,
    /// Total without shipping.
    pub value: String,
    /// When it was made.
    pub when: When,
    /// Nickname of the selling account.
    pub store: String,
    /// State of the order.
    pub status: OrderState,
}

/// `GET /painel/ml`: the student's marketplace accounts.
#[derive(Debug, Template)]
#[template(path = "accounts.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    /// The frame of the signed-in student.
    pub layout: Layout,
    /// Whether the marketplace is configured, so that accounts can be linked.
    pub configured: bool,
    /// Whether notifications without a signature are refused, which the real
    /// The linked accounts.
    pub accounts: Vec<LinkedAccount>,
    /// Seconds after which the page asks again how far readings are; `None` when
    /// nobody waits for one.
    pub look_after_s: Option<u32>,
}

/// An account with the state of its link.
#[derive(Debug)]
pub struct LinkedAccount {
    /// The marketplace's seller id.
    pub ml_user_id: String,
    /// Store nickname.
    pub nickname: String,
    /// Whether the authorisation works, and readings too.
    pub link: Badge,
    /// Reputation at the marketplace.
    pub reputation: Badge,
    /// Why the authorisation does not work; `None` while it does.
    pub error: Option<String>,
    /// What cannot be read, since when and what to do; `None` while everything can.
    pub trouble: Option<String>,
    /// Whether to link it again may help.
    pub relink: bool,
    /// When it was linked.
    pub linked: When,
    /// Up to when everything is here; `None` before the first reading is over.
    pub synced: Option<When>,
    /// `desde 12/08/2026, buscando mais`; `None` when all sales are here.
    pub history: Option<String>,
    /// Readings for which somebody waits.
    pub progress: Vec<Progress>,
    /// What is read of it, and how far.
    pub areas: Vec<AreaRow>,
}

impl LinkedAccount {
    /// Whether there is something to see in the list of what is read.
    pub fn shows_areas(&self) -> bool {
        self.trouble.is_some() || self.history.is_some()
    }
}

/// A part of an account that is read by itself.
#[derive(Debug)]
pub struct AreaRow {
    /// `Pedidos`.
    pub title: &'static str,
    /// How it stands.
    pub state: Badge,
    /// `1.204 de 5.000`, or why it failed; may be empty.
    pub note: String,
    /// When everything was here last.
    pub read: Option<When>,
}

/// What became of a visit to the marketplace's consent page.
#[derive(Debug)]
pub enum LinkOutcome<'a> {
    /// A new account is linked.
    Linked {
        /// Its nickname.
        nickname: &'a str,
    },
    /// An account that was known works again.
    Relinked {
        /// Its nickname.
        nickname: &'a str,
    },
    /// The person said no at the marketplace.
    Refused,
    /// The account belongs to another person of this platform.
    BelongsToAnother,
    /// The attempt was used before or took longer than ten minutes.
    Expired,
    /// The marketplace did not answer as it should.
    Unavailable,
    /// An account's authorisation was given back.
    Unlinked {
        /// Its nickname.
        nickname: &'a str,
    },
    /// An account is read now because its owner asked for it.
    Wanted,
    /// It was asked for less than a minute ago.
    TooSoon,
}

impl LinkOutcome<'_> {
    /// The outcome in words.
    pub fn notice(&self) -> Notice {
        match self {
            Self::Linked { nickname } => Notice::new(
                Tone::Good,
                format!("{nickname} foi vinculada"),
                "As vendas dos últimos meses estão chegando; isso pode levar alguns minutos.",
            ),
            Self::Relinked { nickname } => Notice::new(
                Tone::Good,
                format!("{nickname} voltou a funcionar"),
                "O que aconteceu enquanto o vínculo estava perdido será buscado agora.",
            ),
            Self::Refused => Notice::new(
                Tone::Warn,
                "A autorização não foi dada",
                "Nada mudou. Se foi sem querer, clique em Vincular conta e autorize na página do marketplace.",
            ),
            Self::BelongsToAnother => Notice::new(
                Tone::Bad,
                "Esta conta já é de outra pessoa daqui",
                "Uma conta do marketplace pertence a uma só pessoa. Para vincular outra, saia da sua conta no marketplace, entre com a certa e tente de novo.",
            ),
            Self::Expired => Notice::new(
                Tone::Warn,
                "O pedido de vínculo venceu",
                "Ele vale por dez minutos e uma vez só. Nada mudou; comece de novo em Vincular conta.",
            ),
            Self::Unavailable => Notice::new(
                Tone::Bad,
                "O marketplace não respondeu",
                "Nada mudou e suas outras contas continuam vinculadas. Tente de novo em alguns minutos.",
            ),
            Self::Unlinked { nickname } => Notice::new(
                Tone::Good,
                format!("{nickname} foi desvinculada"),
                "O acesso ao marketplace foi esquecido. O histórico de vendas continua aqui.",
            ),
            Self::Wanted => Notice::new(
                Tone::Good,
                "A sincronização começou",
                "O que mudou no marketplace aparece aqui em instantes.",
            ),
            Self::TooSoon => Notice::new(
                Tone::Info,
                "A sincronização já foi pedida",
                "Espere um minuto antes de pedir de novo.",
            ),
        }
    }
}
