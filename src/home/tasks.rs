//! What the student has to do, by deadline: lost links, claims, parcels, the first
//! question, the meet that begins.

use crate::accounts::Role;
use crate::base::{DAY_S, Instant, UserId, counted};
use crate::content::agenda;
use crate::content::meets::Meet;
use crate::db::{ReadTx, Result, RowWindow};
use crate::marketplace::account::store::AccountSummary;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims::store::{self as claims, Claim};
use crate::marketplace::books::claims::views::ShownClaim;
use crate::marketplace::books::questions::cards::{self, CardRow};
use crate::marketplace::books::questions::pages as question_pages;
use crate::marketplace::books::questions::store as questions;
use crate::marketplace::tools::labels::desk::{self, LabelStore};
use crate::marketplace::tools::labels::pages::{OWN, own_stores};
use crate::marketplace::tools::labels::refused::RefusedLabels;
use crate::panel::view::{near_day, span};
use crate::panel::{Act, Due, PageTime, QueueItem, Tone};

/// A meet is a task from so many seconds before it begins.
const SOON_S: i64 = 12 * 3600;
/// Claims with a row of their own.
const CLAIMS: u32 = 3;
/// A question should be answered within a day.
const ANSWERED_S: i64 = DAY_S;

/// What makes open tasks, other than the state of the accounts.
#[derive(Default)]
pub struct Waiting {
    /// The most urgent open claims, and how many are open.
    claims: (Vec<Claim>, u64),
    labels: Labels,
    /// The oldest open question, and how many are open.
    questions: (Option<CardRow>, u64),
    /// The meet that begins next, or is running.
    meet: Option<Meet>,
}

/// Labels to be printed.
#[derive(Default)]
struct Labels {
    count: u64,
    /// How many of them were refused of late.
    refused: u64,
    /// The first deadline.
    due: Option<Instant>,
}

impl Waiting {
    /// Reads what makes a person's open tasks.
    pub fn of(
        tx: &ReadTx<'_>,
        owner: UserId,
        role: Role,
        now: Instant,
        refused: &RefusedLabels,
    ) -> Result<Self> {
        let meets = agenda::ahead(tx, owner, role, now)?.meets;
        let stores = own_stores(tx, owner)?;
        let (first, open) = questions::waiting(tx, owner, None, RowWindow::first(1))?;
        Ok(Self {
            claims: claims::most_urgent(tx, owner, CLAIMS)?,
            labels: labels(tx, &stores, now, refused)?,
            questions: (first.into_iter().next(), open),
            meet: meets.into_iter().find(|meet| meet.entry.starts_at.since(now) <= SOON_S),
        })
    }
}

fn labels(
    tx: &ReadTx<'_>,
    stores: &[LabelStore],
    now: Instant,
    refused: &RefusedLabels,
) -> Result<Labels> {
    let waiting = desk::waiting(tx, stores, None)?;
    let left = waiting.iter().filter(|one| !one.is_ready(stores, refused, now)).count();
    let due = waiting.first().and_then(|one| one.parcel.due);
    Ok(Labels { count: waiting.len() as u64, refused: left as u64, due })
}

/// The tasks of a student with these accounts: lost links, without which nothing
/// else works, then by deadline.
pub fn of(accounts: &[AccountSummary], waiting: Waiting, time: PageTime) -> Vec<QueueItem> {
    let linked = accounts.iter().map(|one| &one.linked);
    let stores: Stores = linked.map(|one| (one.ml_user_id, one.nickname.clone())).collect();
    let (claims, open) = waiting.claims;
    let all_shown = claims.len() as u64 >= open;
    let claims = claims.into_iter().map(|one| claim_task(ShownClaim::of(one, &stores, time)));
    let mut tasks: Vec<_> = claims.collect();
    tasks.extend(labels_task(waiting.labels, time));
    if let (Some(first), unanswered) = waiting.questions {
        let store = stores.name(first.question.row.ml_user_id);
        tasks.push(question_task(&first, unanswered, &store, time));
    }
    tasks.extend(waiting.meet.map(|meet| meet_task(&meet, time)));
    QueueItem::by_deadline(&mut tasks);
    tasks.extend((!all_shown).then(|| all_claims(open)));
    let lost = lost_links(accounts);
    lost.into_iter().chain(tasks).collect()
}

fn lost_links(accounts: &[AccountSummary]) -> Option<QueueItem> {
    let lost: Vec<&str> = accounts
        .iter()
        .filter(|account| !account.linked.token_ok)
        .map(|account| &*account.linked.nickname)
        .collect();
    let title = match lost.len() {
        0 => return None,
        1 => "Uma conta perdeu o vínculo".to_owned(),
        count => format!("{count} contas perderam o vínculo"),
    };
    Some(QueueItem {
        tone: Tone::Bad,
        icon: "warning",
        title,
        href: "/painel/ml".to_owned(),
        about: lost.join(", "),
        due: None,
        acts: vec![Act::Link { label: "Vincular de novo", href: "/painel/ml/conectar".to_owned() }],
    })
}

fn claim_task(claim: ShownClaim) -> QueueItem {
    let href = format!("/painel/reclamacoes/{}", claim.id);
    QueueItem {
        tone: claim.tone(),
        icon: "claim",
        title: claim.title(),
        href: href.clone(),
        about: format!("{} · {}", claim.expected.text, claim.store),
        due: claim.due,
        acts: vec![Act::Link { label: "Ver reclamação", href }],
    }
}

/// Leads to all claims, where not all have a row.
fn all_claims(open: u64) -> QueueItem {
    let href = "/painel/reclamacoes?estado=aberta".to_owned();
    QueueItem {
        tone: Tone::Warn,
        icon: "claim",
        title: format!("{} ao todo", counted(open, "reclamação aberta", "reclamações abertas")),
        href: href.clone(),
        about: String::new(),
        due: None,
        acts: vec![Act::Link { label: "Ver todas", href }],
    }
}

fn labels_task(Labels { count, refused, due }: Labels, time: PageTime) -> Option<QueueItem> {
    if count == 0 {
        return None;
    }
    let list = OWN.path.to_owned();
    let fields = vec![("todos", "1".to_owned()), ("volta", "inicio".to_owned())];
    let act = if refused < count {
        Act::PostBeside { label: "Imprimir", action: OWN.print.to_owned(), fields }
    } else {
        Act::Link { label: "Ver por quê", href: list.clone() }
    };
    let about = match refused {
        0 => String::new(),
        1 => "1 etiqueta não pode ser impressa agora".to_owned(),
        many => format!("{many} etiquetas não podem ser impressas agora"),
    };
    let due = due.map(|at| time.due("despache", at));
    Some(QueueItem {
        tone: due.as_ref().map_or(Tone::Info, |due| due.tone),
        icon: "printer",
        title: counted(count, "pacote para enviar", "pacotes para enviar"),
        href: list,
        about,
        due,
        acts: vec![act],
    })
}

fn question_task(first: &CardRow, open: u64, store: &str, time: PageTime) -> QueueItem {
    let row = &first.question.row;
    let about = match &*first.question.title {
        "" => store.to_owned(),
        product => format!("{product} · {store}"),
    };
    let list = question_pages::PATH.to_owned();
    let mut acts = vec![Act::Write {
        label: "Responder",
        action: format!("{list}/{}/responder", row.id),
        name: "resposta",
        hint: "Sua resposta",
        fields: vec![(cards::BACK, question_pages::FROM_HOME.to_owned())],
    }];
    let about = if open > 1 {
        acts.push(Act::Link { label: "Ver todas", href: list.clone() });
        format!("{about} · {}", counted(open, "pergunta sem resposta", "perguntas sem resposta"))
    } else {
        about
    };
    let due = time.due("responda", row.asked_at.plus(ANSWERED_S));
    QueueItem {
        tone: due.tone,
        icon: "question",
        title: cards::said(&row.text).to_owned(),
        href: list,
        about,
        due: Some(due),
        acts,
    }
}

fn meet_task(meet: &Meet, time: PageTime) -> QueueItem {
    let (at, href) = (meet.entry.starts_at, "/painel/meets".to_owned());
    let left = at.since(time.now);
    let text = match left {
        ..=0 => "está acontecendo agora".to_owned(),
        1..=3600 => format!("começa em {}", span(left)),
        _ => format!("começa {}", near_day(time.zone, at, time.now)),
    };
    QueueItem {
        tone: Tone::Info,
        icon: "meet",
        title: meet.entry.title.clone(),
        href: href.clone(),
        about: "Encontro ao vivo".to_owned(),
        due: Some(Due { at, text, tone: Tone::Info }),
        acts: vec![Act::Link { label: "Ver encontro", href }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Cents, MlUserId};
    use crate::fixture::{NOW, ZONE};
    use crate::marketplace::account::store;

    fn account(nickname: &str, token_ok: bool) -> AccountSummary {
        AccountSummary {
            linked: store::LinkedAccount {
                ml_user_id: MlUserId(7),
                nickname: nickname.to_owned(),
                token_ok,
                error: None,
                reputation: String::new(),
                listings: 0,
                open_claims: 0,
                open_questions: 0,
                synced_at: None,
                linked_at: Instant(0),
                ends_at: None,
            },
            sales_today: 0,
            sales_30d: 0,
            gmv_30d: Cents(0),
        }
    }

    #[test]
    fn lost_links_come_first_and_labels_are_printed_in_one_press() {
        let accounts = [account("A", true), account("B", false), account("C", false)];
        let time = PageTime { zone: ZONE, now: NOW };
        let labels = Labels { count: 3, refused: 1, due: Some(NOW.plus(7_200)) };
        let waiting = Waiting { labels, ..Waiting::default() };
        let tasks = of(&accounts, waiting, time);
        let said: Vec<_> = tasks.iter().map(|task| (&*task.title, &*task.about)).collect();
        assert_eq!(
            said,
            [
                ("2 contas perderam o vínculo", "B, C"),
                ("3 pacotes para enviar", "1 etiqueta não pode ser impressa agora"),
            ]
        );
        assert!(matches!(&tasks[1].acts[..], [Act::PostBeside { label: "Imprimir", .. }]));
        assert!(tasks[1].due.as_ref().unwrap().text.starts_with("despache até hoje"));
        let labels = Labels { count: 2, refused: 2, due: None };
        let refused = Waiting { labels, ..Waiting::default() };
        let tasks = of(&accounts[..1], refused, time);
        assert!(matches!(&tasks[0].acts[..], [Act::Link { label: "Ver por quê", .. }]));
        assert!(of(&[], Waiting::default(), time).is_empty());
    }
}
