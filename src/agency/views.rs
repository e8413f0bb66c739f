//! What the agency's other pages print.

use askama::Template;

use super::charts::Charts;
use super::checkup::{CheckupTotals, Fault};
use super::clients::ClientAccount;
use super::clients::views::{questions_of, see_claim};
use super::open::counted;
use super::page_of;
use super::store::TopListing;
use super::things::{Named, NamedFinding};
use crate::marketplace::books::code_text::claim_kind;
use crate::marketplace::books::questions::cards::said;
use crate::marketplace::tools::labels::views::LabelDesk;
use crate::panel::{Act, Layout, PageTime, Progress, QueueItem, Table, Tone, When};

/// Letters of a question that a row shows.
const SAID: usize = 80;

/// A finding in a list: what is wrong, with what, and what to do about it.
pub struct FindingItem {
    pub item: QueueItem,
    pub remedy: &'static str,
    /// Since when it is so.
    pub since: When,
}

impl FindingItem {
    /// How a page shows a finding.
    pub fn of(found: &NamedFinding, time: PageTime) -> Self {
        let NamedFinding { row, named } = found;
        let (fault, page) = (row.finding.fault, page_of(row.client));
        let account = || format!("{page}#conta-{}", row.ml_user_id);
        let act = match (fault, named) {
            (Fault::Questions, Named::Question(question)) => Act::Link {
                label: "Responder",
                href: format!("{}#pergunta-{}", questions_of(row.client), question.row.id),
            },
            (Fault::Questions, _) => {
                Act::Link { label: "Responder", href: questions_of(row.client) }
            }
            (Fault::Claims, Named::Claim(claim)) => see_claim(row.client, claim.claim.id),
            (Fault::NoStock, Named::Listing(listing))
                if listing.permalink.starts_with("https://") =>
            {
                Act::Beside { label: "Ver anúncio", href: listing.permalink.clone() }
            }
            (Fault::LinkLost, _) => {
                Act::Link { label: "Enviar convite", href: format!("{page}#convite") }
            }
            (Fault::Unread, _) => Act::Post {
                label: "Sincronizar todos",
                action: "/admin/agencia/ml/sincronizar-todos".to_owned(),
                fields: Vec::new(),
            },
            _ => Act::Link { label: "Ver conta", href: account() },
        };
        let due = named.due().map(|(verb, at)| time.due(verb, at));
        let whose = if row.nickname == row.client_name {
            row.nickname.clone()
        } else {
            format!("{} · {}", row.client_name, row.nickname)
        };
        let about = match about(named, row.finding.things) {
            thing if thing.is_empty() => whose,
            thing => format!("{thing} · {whose}"),
        };
        Self {
            remedy: fault.remedy(),
            since: time.when(&row.finding.since),
            item: QueueItem {
                tone: due.as_ref().map_or(Tone::Warn, |due| due.tone),
                icon: match fault {
                    Fault::Questions => "question",
                    Fault::Claims => "claim",
                    _ => "warning",
                },
                title: fault.describe(row.finding.things),
                href: page,
                about,
                due,
                acts: vec![act],
            },
        }
    }
}

/// The thing of a finding in words; empty when it is the account.
fn about(named: &Named, things: i64) -> String {
    let more = match u64::try_from(things - 1) {
        Ok(more @ 1..) => format!(" e {}", counted(more, "outro", "outros")),
        _ => String::new(),
    };
    match named {
        Named::Question(question) => quoted(&question.row.text, &question.title),
        Named::Claim(claim) if claim.title.is_empty() => claim_kind(&claim.claim.kind).text,
        Named::Claim(claim) => claim.title.clone(),
        Named::Listing(listing) => format!("{}{more}", listing.title),
        Named::Account => String::new(),
    }
}

/// What a buyer asked, and at which listing.
pub fn quoted(text: &str, listing: &str) -> String {
    let asked = said(text);
    let short = crate::base::shortened(asked, SAID);
    let dots = if short.len() < asked.len() { "…" } else { "" };
    let at = if listing.is_empty() { String::new() } else { format!(" em {listing}") };
    format!("“{}{dots}”{at}", short.trim_end())
}

/// `GET /admin/agencia`.
#[derive(Template)]
#[template(path = "agency/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    /// What waits at all clients, in words.
    pub waiting: String,
    /// The clients where something waits, the next deadline first, and how many
    /// more there are.
    pub queue: Vec<QueueItem>,
    pub more: u64,
    pub charts: Charts,
    /// Findings that are not about what waits, and how many more there are.
    pub findings: Vec<FindingItem>,
    pub more_findings: u64,
    pub checkup: CheckupTotals,
    pub progress: Option<Progress>,
}

/// `GET /admin/agencia/checkup`.
#[derive(Template)]
#[template(path = "agency/checkup.html", config = "assets/askama.toml")]
pub struct CheckupPage {
    pub layout: Layout,
    pub time: PageTime,
    pub table: Table,
    pub findings: Vec<FindingItem>,
    pub checkup: CheckupTotals,
}

/// `GET /admin/agencia/clientes/{id}/relatorio`.
#[derive(Template)]
#[template(path = "agency/report.html", config = "assets/askama.toml")]
pub struct ReportPage {
    pub layout: Layout,
    pub time: PageTime,
    /// The client's page.
    pub back: String,
    pub name: String,
    /// `25/10/2026 a 23/11/2026`.
    pub period: String,
    /// When the report was made.
    pub made: String,
    pub charts: Charts,
    pub accounts: Vec<ClientAccount>,
    pub top: Vec<TopListing>,
}

/// `GET /admin/agencia/etiquetas`.
#[derive(Template)]
#[template(path = "agency/labels.html", config = "assets/askama.toml")]
pub struct AgencyLabelsPage {
    pub layout: Layout,
    pub desk: LabelDesk,
}
