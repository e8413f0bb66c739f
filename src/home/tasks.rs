//! The student's open tasks, the most urgent first.

use super::pages::counted;
use super::views::Task;
use crate::accounts::Role;
use crate::base::{Instant, UserId, Zone};
use crate::content::agenda;
use crate::content::meets::Meet;
use crate::db::{ReadTx, Result};
use crate::marketplace::account::store::AccountSummary;
use crate::marketplace::books::claims::store as claims;
use crate::marketplace::tools::labels;
use crate::panel::Tone;
use crate::panel::view::span;

/// A meet is a task from so many seconds before it begins.
const SOON_S: i64 = 12 * 3600;

/// What makes open tasks, other than the numbers of the accounts.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The deadline of the most urgent open claim.
    claim_due: Option<Instant>,
    /// Parcels to be sent.
    parcels: u64,
    /// The meet that begins next, or is running.
    meet: Option<Meet>,
}

impl Waiting {
    /// Reads what makes a person's open tasks.
    pub fn of(tx: &ReadTx<'_>, (owner, role): (UserId, Role), now: Instant) -> Result<Self> {
        let meets = agenda::ahead(tx, owner, role, now)?.meets;
        Ok(Self {
            claim_due: claims::next_due(tx, owner)?,
            parcels: 0,
            meet: meets.into_iter().find(|meet| meet.entry.starts_at.since(now) <= SOON_S),
        })
    }
}

/// The tasks of a student with these accounts.
pub fn of(accounts: &[AccountSummary], waiting: &Waiting, zone: Zone, now: Instant) -> Vec<Task> {
    let names = |chosen: fn(&AccountSummary) -> bool| {
        let names: Vec<_> =
            accounts.iter().filter(|one| chosen(one)).map(|one| &*one.linked.nickname).collect();
        names.join(", ")
    };
    let lost = accounts.iter().filter(|account| !account.linked.token_ok).count();
    let claims: i64 = accounts.iter().map(|account| account.linked.open_claims).sum();
    let questions: i64 = accounts.iter().map(|account| account.linked.open_questions).sum();
    let mut tasks = Vec::new();
    if lost > 0 {
        tasks.push(Task {
            tone: Tone::Bad,
            title: if lost == 1 {
                "Uma conta perdeu o vínculo".to_owned()
            } else {
                format!("{lost} contas perderam o vínculo")
            },
            detail: names(|account| !account.linked.token_ok),
            href: "/painel/ml",
            button: if lost == 1 { "Ver conta" } else { "Ver contas" },
        });
    }
    if let Some(meet) = &waiting.meet {
        tasks.push(meet_task(meet, now));
    }
    if claims > 0 {
        let due = waiting.claim_due.map(|due| due_words(due, zone, now)).unwrap_or_default();
        tasks.push(Task {
            tone: Tone::Warn,
            title: counted(claims, "reclamação aberta", "reclamações abertas"),
            detail: format!("{}{due}", names(|account| account.linked.open_claims > 0)),
            href: "/painel/reclamacoes?estado=aberta",
            button: if claims == 1 { "Ver reclamação" } else { "Ver reclamações" },
        });
    }
    if let Ok(parcels @ 1..) = i64::try_from(waiting.parcels) {
        tasks.push(Task {
            tone: Tone::Info,
            title: counted(parcels, "pacote para enviar", "pacotes para enviar"),
            detail: "As etiquetas estão prontas.".to_owned(),
            href: "/painel/ml/etiquetas",
            button: "Imprimir etiquetas",
        });
    }
    if questions > 0 {
        tasks.push(Task {
            tone: Tone::Info,
            title: counted(questions, "pergunta sem resposta", "perguntas sem resposta"),
            detail: names(|account| account.linked.open_questions > 0),
            href: "/painel/perguntas?estado=pendente",
            button: "Responder",
        });
    }
    tasks
}

fn due_words(due: Instant, zone: Zone, now: Instant) -> String {
    if due <= now {
        format!(", o prazo da mais urgente venceu em {}", zone.page(due))
    } else {
        format!(", a mais urgente vence em {}", span(due.since(now)))
    }
}

fn meet_task(meet: &Meet, now: Instant) -> Task {
    let left = meet.entry.starts_at.since(now);
    Task {
        tone: Tone::Info,
        title: meet.entry.title.clone(),
        detail: if left > 0 {
            format!("O encontro começa em {}.", span(left))
        } else {
            "O encontro está acontecendo agora.".to_owned()
        },
        href: "/painel/meets",
        button: "Ver encontro",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Cents, MlUserId};
    use crate::fixture::{NOW, ZONE};
    use crate::marketplace::account::store;

    fn account(nickname: &str, token_ok: bool, open_claims: i64) -> AccountSummary {
        AccountSummary {
            linked: store::LinkedAccount {
                ml_user_id: MlUserId(7),
                nickname: nickname.to_owned(),
                token_ok,
                error: None,
                reputation: String::new(),
                listings: 0,
                open_claims,
                open_questions: 0,
                synced_at: None,
                linked_at: Instant(0),
            },
            sales_today: 0,
            sales_30d: 0,
            gmv_30d: Cents(0),
        }
    }

    #[test]
    fn the_most_urgent_task_comes_first() {
        let accounts = [account("A", true, 2), account("B", false, 0), account("C", false, 1)];
        let waiting =
            Waiting { claim_due: Some(NOW.plus(7_200)), parcels: 3, ..Waiting::default() };
        let said: Vec<_> = of(&accounts, &waiting, ZONE, NOW)
            .iter()
            .map(|task| format!("{}: {}", task.title, task.detail))
            .collect();
        assert_eq!(
            said,
            [
                "2 contas perderam o vínculo: B, C",
                "3 reclamações abertas: A, C, a mais urgente vence em 2 h e 0 min",
                "3 pacotes para enviar: As etiquetas estão prontas.",
            ]
        );
    }
}
