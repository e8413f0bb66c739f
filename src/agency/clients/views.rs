//! What the pages of clients print.

use askama::Template;

use super::{Client, ClientAccount, ListedClient};
use crate::agency::charts::Charts;
use crate::agency::open::{Task, Waiting, counted};
use crate::agency::questions;
use crate::agency::views::quoted;
use crate::agency::{claim_page, page_of};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims::store::Claim;
use crate::marketplace::books::claims::views::ShownClaim;
use crate::marketplace::books::questions::store::Question;
use crate::panel::{
    Act, FormView, Happened, Layout, PageTime, Pick, Progress, QueueItem, Table, Tone, address,
};

/// The page of clients' labels.
const LABELS: &str = "/admin/agencia/etiquetas";

/// The queue of a client's questions.
pub fn questions_of(client: i64) -> String {
    address(questions::PATH, &[("cliente", &client.to_string())])
}

/// What is to be done about what waits, the most urgent first.
fn acts(client: i64, waiting: &Waiting) -> Vec<Act> {
    let answer = (waiting.open.questions > 0)
        .then(|| Act::Link { label: "Responder", href: questions_of(client) });
    let claim = waiting.open.claim.map(|claim| see_claim(client, claim));
    let print = waiting.sender.map(|account| Act::Link {
        label: "Etiquetas",
        href: address(LABELS, &[("conta", &account.to_string())]),
    });
    let acts = match waiting.next() {
        Some((Task::Claim, _)) => [claim, answer, print],
        Some((Task::Send, _)) => [print, answer, claim],
        _ => [answer, claim, print],
    };
    acts.into_iter().flatten().collect()
}

/// Leads to a client's claim.
pub fn see_claim(client: i64, claim: i64) -> Act {
    Act::Link { label: "Ver reclamação", href: claim_page(client, claim) }
}

pub fn client_item(time: PageTime, id: i64, name: &str, waiting: &Waiting) -> QueueItem {
    let next = waiting.next();
    let due = next.map(|(task, at)| time.due(task.verb(), at));
    QueueItem {
        tone: due.as_ref().map_or(Tone::Info, |due| due.tone),
        icon: match next {
            Some((Task::Claim, _)) => "claim",
            Some((Task::Answer, _)) => "question",
            None if waiting.open.claims > 0 => "claim",
            Some((Task::Send, _)) | None => "box",
        },
        title: name.to_owned(),
        href: page_of(id),
        about: waiting.words(),
        due,
        acts: acts(id, waiting),
    }
}

/// What waits at one account: its questions as one row, each claim, its parcels.
pub fn account_items(
    time: PageTime,
    client: i64,
    account: &ClientAccount,
    oldest: Option<&Question>,
    claims: Vec<Claim>,
) -> Vec<QueueItem> {
    let (waiting, name) = (&account.waiting, &account.row.nickname);
    let mut items = Vec::new();
    if waiting.open.questions > 0 {
        let due = waiting.open.answer_by().map(|at| time.due(Task::Answer.verb(), at));
        let about = oldest.map(|one| quoted(&one.row.text, &one.title)).unwrap_or_default();
        items.push(QueueItem {
            tone: due.as_ref().map_or(Tone::Info, |due| due.tone),
            icon: "question",
            title: counted(
                waiting.open.questions,
                "pergunta sem resposta",
                "perguntas sem resposta",
            ),
            href: questions_of(client),
            about: joined(&[&about, name]),
            due,
            acts: vec![Act::Link { label: "Responder", href: questions_of(client) }],
        });
    }
    let more = waiting.open.claims - i64::try_from(claims.len()).unwrap_or(0);
    let stores: Stores = [(account.row.ml_user_id, name.clone())].into_iter().collect();
    let claims = claims.into_iter().map(|one| ShownClaim::of(one, &stores, time));
    items.extend(claims.map(|claim| claim_item(client, claim)));
    items.extend((more > 0).then(|| QueueItem {
        tone: Tone::Info,
        icon: "claim",
        title: counted(more, "outra reclamação aberta", "outras reclamações abertas"),
        href: String::new(),
        about: name.clone(),
        due: None,
        acts: Vec::new(),
    }));
    if let Some(sender) = waiting.sender {
        let href = address(LABELS, &[("conta", &sender.to_string())]);
        let due = waiting.send_by.map(|at| time.due(Task::Send.verb(), at));
        items.push(QueueItem {
            tone: due.as_ref().map_or(Tone::Info, |due| due.tone),
            icon: "box",
            title: counted(waiting.parcels, "pacote para enviar", "pacotes para enviar"),
            href: href.clone(),
            about: name.clone(),
            due,
            acts: vec![Act::Link { label: "Etiquetas", href }],
        });
    }
    items
}

/// A claim: what it is about, what is expected, at which account and until when.
fn claim_item(client: i64, claim: ShownClaim) -> QueueItem {
    let order = claim.order.map(|order| format!("Venda {order}")).unwrap_or_default();
    QueueItem {
        tone: claim.tone(),
        icon: "claim",
        title: claim.title(),
        href: claim_page(client, claim.id),
        about: joined(&[&claim.expected.text, &order, &claim.store]),
        due: claim.due,
        acts: vec![see_claim(client, claim.id)],
    }
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// What happened to a client, newest first.
pub fn events(time: PageTime, listed: &ListedClient) -> Vec<Happened> {
    let mut events = Vec::new();
    let mut add = |at, tone, text: String, detail: String| events.push((at, tone, text, detail));
    let client = &listed.client;
    add(client.created_at, Tone::Info, "Cliente criado".to_owned(), String::new());
    if let Some(at) = client.synced_at {
        add(at, Tone::Good, "Todas as contas lidas".to_owned(), String::new());
    }
    for account in &listed.accounts {
        let (row, name) = (&account.row, &account.row.nickname);
        add(row.joined_at, Tone::Info, format!("{name} incluída"), String::new());
        if let Some(at) = row.checked_at {
            let (tone, text) = if account.findings.is_empty() {
                (Tone::Good, format!("Checkup de {name}: em dia"))
            } else {
                let found = counted(account.findings.len() as u64, "pendência", "pendências");
                (Tone::Warn, format!("Checkup de {name}: {found}"))
            };
            add(at, tone, text, String::new());
        }
        for one in &account.findings {
            add(one.since, Tone::Warn, one.fault.words().to_owned(), name.clone());
        }
    }
    events.sort_by_key(|(at, ..)| std::cmp::Reverse(at.0));
    let happened = |(at, tone, text, detail)| Happened {
        tone,
        when: time.when(&at),
        text,
        detail,
        href: String::new(),
    };
    events.into_iter().map(happened).collect()
}

/// A client of the list, with what is to be done about it.
pub struct ClientRow {
    pub listed: ListedClient,
    pub item: QueueItem,
}

/// `GET /admin/agencia/clientes`.
#[derive(Template)]
#[template(path = "agency/clients.html", config = "assets/askama.toml")]
pub struct ClientsPage {
    pub layout: Layout,
    /// How many clients are found, and what waits at them.
    pub sum: String,
    pub table: Table,
    pub clients: Vec<ClientRow>,
    /// Progress of reading all clients, while it runs.
    pub progress: Option<Progress>,
    /// Whether there is a client that can be read.
    pub can_read: bool,
}

impl ClientsPage {
    /// `3 clientes · 9 perguntas`.
    pub fn sum(total: u64, waiting: &Waiting) -> String {
        joined(&[&counted(total, "cliente", "clientes"), &waiting.words()])
    }
}

/// `GET /admin/agencia/clientes/{id}`.
#[derive(Template)]
#[template(path = "agency/client.html", config = "assets/askama.toml")]
pub struct ClientPage {
    pub layout: Layout,
    pub time: PageTime,
    pub listed: ListedClient,
    /// What waits, by deadline.
    pub queue: Vec<QueueItem>,
    pub events: Vec<Happened>,
    /// Whether the reader may include accounts of students and remove the client.
    pub is_admin: bool,
    /// Whether an invitation works.
    pub invited: bool,
    pub charts: Charts,
}

/// `GET /admin/agencia/clientes/novo` and the form of a client that exists.
#[derive(Template)]
#[template(path = "agency/client_form.html", config = "assets/askama.toml")]
pub struct ClientForm<'c> {
    pub layout: Layout,
    /// The client that is changed.
    pub existing: Option<&'c Client>,
    /// Whether the reader may include an account of a student.
    pub is_admin: bool,
    pub team: Vec<Pick>,
    pub form: FormView,
    /// The form that adds an account.
    pub account: FormView,
}
