//! "Precisa de você": people with an unpaid renewal, messages that failed, and the
//! other open items, each with what is done about it in its row.

use std::collections::HashMap;

use super::open_items;
use super::store::{FailedMessage, Overdue};
use super::views::OpenItem;
use crate::accounts::Role;
use crate::base::{Cents, counted};
use crate::messages::queue::{FAILED_LATELY, words};
use crate::outbox::channel_words;
use crate::panel::{Act, Due, PageTime, QueueItem, Tone, address};

/// Days that the button of a row gives.
pub const GRACE_DAYS: &str = "7";
/// Most reasons of failed messages that have a row of their own.
const MOST_REASONS: usize = 4;

/// A row of the home for each person whose paid time is over. The price is that of the
/// last purchase, else that of the plan on sale.
pub fn people(
    overdue: Vec<Overdue>,
    prices: &[(Role, Cents)],
    time: PageTime,
) -> impl Iterator<Item = QueueItem> {
    overdue.into_iter().map(move |one| {
        let page = format!("/admin/alunos/{}", one.id);
        let price = one
            .price
            .or_else(|| prices.iter().find(|(role, _)| *role == one.role).map(|(_, price)| *price));
        let plan = one.role.words();
        let about = match price {
            Some(price) => format!("{} · {plan}", price.page()),
            None => plan.to_owned(),
        };
        let day = time.zone.civil(one.until).strftime("%d/%m/%Y");
        let text = match one.paid_until {
            Some(_) => format!("pago até {day}"),
            None => format!("sem pagamento desde {day}"),
        };
        QueueItem {
            tone: Tone::Warn,
            icon: "person",
            title: one.name,
            due: Some(Due { at: one.until, text, tone: Tone::Bad }),
            about,
            acts: vec![
                Act::Link {
                    label: "Mensagem",
                    href: format!(
                        "/admin/alunos/em-lote?acao=mensagem&ids={}&sobre=pagamento&volta=inicio",
                        one.id
                    ),
                },
                Act::Post {
                    label: "Dar prazo",
                    action: format!("{page}/prazo"),
                    fields: vec![("dias", GRACE_DAYS.to_owned()), ("volta", "inicio".to_owned())],
                },
            ],
            href: page,
        }
    })
}

/// A row for each reason of failed messages, the most frequent first; what is rarer is
/// one row, with those of `all` that were not looked at.
pub fn failures(failed: Vec<FailedMessage>, all: i64) -> Vec<QueueItem> {
    let mut reasons: HashMap<(String, String), Vec<FailedMessage>> = HashMap::new();
    for message in failed {
        let why = why(&message.channel, &message.outcome);
        reasons.entry((message.channel.clone(), why)).or_default().push(message);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(reason, messages)| (std::cmp::Reverse(messages.len()), reason.clone()));
    reasons.truncate(MOST_REASONS);
    let told: usize = reasons.iter().map(|(_, messages)| messages.len()).sum();
    let rest = usize::try_from(all).unwrap_or_default().saturating_sub(told);
    let shown = reasons.into_iter();
    let mut rows: Vec<QueueItem> =
        shown.map(|((channel, why), messages)| failure(&channel, &why, &messages)).collect();
    if rest > 0 {
        rows.push(failed_row(
            format!("Mais {}", failures_in_words(rest)),
            String::new(),
            open_items::FAILED.to_owned(),
        ));
    }
    rows
}

/// What happened and what to do about it; what the channel said where there are no words.
fn why(channel: &str, outcome: &str) -> String {
    match words::of_failed(channel, outcome) {
        Some(words) => format!("{} {}", words.what, words.remedy),
        None => outcome.to_owned(),
    }
}

fn failures_in_words(messages: usize) -> String {
    counted(messages, "mensagem falhou", "mensagens falharam")
}

fn failure(channel: &str, why: &str, messages: &[FailedMessage]) -> QueueItem {
    let (about, href) = if let [one] = messages {
        (format!("{} · {why}", one.name), format!("/admin/mensagens/{}", one.id))
    } else {
        let filter = [("estado", FAILED_LATELY), ("canal", channel)];
        (why.to_owned(), address("/admin/mensagens", &filter))
    };
    let title = format!("{} por {}", failures_in_words(messages.len()), channel_words(channel));
    failed_row(title, about, href)
}

fn failed_row(title: String, about: String, href: String) -> QueueItem {
    QueueItem {
        tone: Tone::Warn,
        icon: "mail",
        title,
        about,
        due: None,
        acts: vec![Act::Link { label: "Corrigir", href: href.clone() }],
        href,
    }
}

/// An open item as a row.
pub fn item(open: OpenItem) -> QueueItem {
    QueueItem {
        tone: open.tone,
        icon: open.tone.icon(),
        title: open.title,
        about: open.text,
        due: None,
        acts: if open.href.is_empty() {
            Vec::new()
        } else {
            vec![Act::Link { label: "Ver", href: open.href.to_owned() }]
        },
        href: open.href.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_grouped_by_what_is_to_be_done() {
        let failed = |id, channel: &str, outcome: &str| FailedMessage {
            id,
            channel: channel.to_owned(),
            outcome: outcome.to_owned(),
            name: "Ana".to_owned(),
        };
        let messages = vec![
            failed(1, "chat", "5511 não está na rede de chat"),
            failed(2, "chat", "5521 não está na rede de chat"),
            failed(3, "email", "o servidor respondeu 550"),
        ];
        let rows = failures(messages, 1_003);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].title, "Mais 1.000 mensagens falharam");
        assert_eq!(rows[0].title, "2 mensagens falharam por Chat");
        assert_eq!(
            rows[0].about,
            "Este número não está na rede de chat. Corrija o número e reenvie."
        );
        assert_eq!(rows[1].title, "1 mensagem falhou por E-mail");
        assert!(rows[1].about.starts_with("Ana · Esta caixa de e-mail não existe."));
        assert_eq!(rows[1].href, "/admin/mensagens/3");
    }
}
