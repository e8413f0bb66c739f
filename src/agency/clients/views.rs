//! What the pages of clients print.

use askama::Template;

use super::{Client, ClientAccount, Sold};
use crate::agency::charts::Charts;
use crate::agency::checkup::Finding;
use crate::base::{Instant, Zone, grouped};
use crate::panel::chart::Change;
use crate::panel::{Badge, FormView, Layout, Pick, Progress, Table, When};

/// `GET /admin/agencia/clientes`.
#[derive(Template)]
#[template(path = "agency/clients.html", config = "assets/askama.toml")]
pub struct ClientsPage {
    pub layout: Layout,
    pub table: Table,
    pub clients: Vec<ClientRow>,
    /// Progress of reading all clients, while it runs.
    pub progress: Option<Progress>,
    /// Whether there is a client that can be read.
    pub can_read: bool,
}

/// A client in the list.
pub struct ClientRow {
    pub id: i64,
    pub name: String,
    /// `2 contas, com Bia`.
    pub about: String,
    pub tags: Vec<String>,
    pub gross: String,
    pub change: Option<Change>,
    pub questions: i64,
    pub claims: i64,
    pub standing: Badge,
    /// Why the last reading failed.
    pub error: Option<String>,
    pub synced: Option<When>,
}

impl ClientRow {
    pub fn new(
        client: Client,
        accounts: &[ClientAccount],
        sold: Sold,
        (zone, now): (Zone, Instant),
    ) -> Self {
        let count = match accounts {
            [] => "sem conta".to_owned(),
            [one] => one.nickname.clone(),
            many => format!("{} contas", many.len()),
        };
        Self {
            id: client.id,
            about: match &*client.keeper_name {
                "" => count,
                keeper => format!("{count}, com {keeper}"),
            },
            tags: client.entry.tags().map(str::to_owned).collect(),
            gross: sold.gross.page(),
            change: Change::new(sold.gross_before.0, sold.gross.0),
            questions: client.questions,
            claims: client.claims,
            standing: standing(&client),
            synced: client.synced_at.map(|at| When::new(zone, at, now)),
            error: client.error,
            name: client.entry.name,
        }
    }
}

/// The status badge of a client.
pub fn standing(client: &Client) -> Badge {
    match client {
        Client { accounts: 0, .. } => Badge::NoAccount,
        Client { lost: 1.., .. } => Badge::LinkLost,
        Client { findings: 1.., .. } => Badge::Attention,
        Client { checked: 0, .. } => Badge::Pending,
        _ => Badge::InOrder,
    }
}

/// `GET /admin/agencia/clientes/{id}`.
#[derive(Template)]
#[template(path = "agency/client.html", config = "assets/askama.toml")]
pub struct ClientPage {
    pub layout: Layout,
    pub client: Client,
    /// Whether the reader may include accounts of students and remove the client.
    pub is_admin: bool,
    pub standing: Badge,
    /// Whether an invitation works.
    pub invited: bool,
    pub synced: Option<When>,
    pub charts: Charts,
    pub accounts: Vec<AccountLine>,
}

/// An account of a client.
pub struct AccountLine {
    pub ml_user_id: String,
    pub nickname: String,
    /// Whose account it is, in words.
    pub whose: String,
    pub link: Badge,
    pub reputation: Badge,
    pub questions: String,
    pub claims: String,
    pub synced: Option<When>,
    pub checked: Option<When>,
    pub findings: Vec<FindingLine>,
}

/// A finding in words, and what to do about it.
pub struct FindingLine {
    pub text: String,
    pub remedy: &'static str,
    pub since: When,
}

impl FindingLine {
    pub fn new(one: &Finding, (zone, now): (Zone, Instant)) -> Self {
        Self {
            text: one.fault.describe(one.things),
            remedy: one.fault.remedy(),
            since: When::new(zone, one.since, now),
        }
    }
}

impl AccountLine {
    /// An account with its findings.
    pub fn new(account: ClientAccount, found: &[Finding], at: (Zone, Instant)) -> Self {
        let when = |instant: Instant| When::new(at.0, instant, at.1);
        Self {
            ml_user_id: account.ml_user_id.to_string(),
            whose: match &*account.student {
                "" => "Autorizada por convite".to_owned(),
                student => format!("De {student}, aluno da plataforma"),
            },
            link: if account.token_ok { Badge::Linked } else { Badge::LinkLost },
            reputation: Badge::reputation(&account.reputation),
            questions: grouped(account.open_questions),
            claims: grouped(account.open_claims),
            synced: account.synced_at.map(when),
            checked: account.checked_at.map(when),
            findings: found.iter().map(|one| FindingLine::new(one, at)).collect(),
            nickname: account.nickname,
        }
    }
}

/// `GET /admin/agencia/clientes/novo` and the form of a client that exists.
#[derive(Template)]
#[template(path = "agency/client_form.html", config = "assets/askama.toml")]
pub struct ClientForm {
    pub layout: Layout,
    /// Number and name of the client that is changed.
    pub existing: Option<(i64, String)>,
    /// Whether the reader may include an account of a student.
    pub is_admin: bool,
    pub team: Vec<Pick>,
    pub form: FormView,
    /// The form that adds an account.
    pub account: FormView,
}
