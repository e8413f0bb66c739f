//! One press of the button: labels of many stores, a file for each batch of at most
//! fifty labels of one store, in the order of the list.
//!
//! What is in a file is noted as printed. A label that the marketplace refuses is
//! left out and named, and stays to be printed. Decision tools-9.

use std::collections::HashMap;
use std::time::{Duration, Instant as Monotonic};

use bytes::Bytes;

use super::desk::{Desk, LabelStore, Waiting};
use super::{batches, of_cause, refusal};
use crate::app::App;
use crate::base::{Instant, MlUserId, OrderId, UserId, counted, grouped};
use crate::http::Problem;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{Failure, LABELS_AT_ONCE};
use crate::panel::{Notice, Tone};

/// Most batches of one press, and the time after which no further one is begun.
const MOST_BATCHES: usize = 20;
const PATIENCE: Duration = Duration::from_secs(15);

/// A file that was made.
pub struct Printed {
    pub id: i64,
    pub account: MlUserId,
    pub labels: usize,
}

/// A label that stays to be printed.
pub struct Unprinted {
    pub account: MlUserId,
    pub shipment: i64,
    pub why: String,
}

/// What came of a press.
#[derive(Default)]
pub struct Press {
    pub batches: Vec<Printed>,
    pub failed: Vec<Unprinted>,
    /// Labels that were not tried any more.
    pub left: usize,
}

/// Parcels of one store for one file.
struct Cut {
    store: usize,
    parcels: Vec<(i64, OrderId)>,
}

/// Cuts parcels into batches, which stand in the order of their first parcels.
fn cut(parcels: Vec<Waiting>) -> Vec<Cut> {
    let mut all: Vec<Cut> = Vec::new();
    let mut open: HashMap<usize, usize> = HashMap::new();
    for Waiting { store, parcel } in parcels {
        let place = open.get(&store).copied();
        let place = place.filter(|place| all[*place].parcels.len() < LABELS_AT_ONCE);
        let place = place.unwrap_or_else(|| {
            all.push(Cut { store, parcels: Vec::new() });
            open.insert(store, all.len() - 1);
            all.len() - 1
        });
        all[place].parcels.push((parcel.shipment, parcel.order));
    }
    all
}

/// Prints parcels: asks for their labels, notes those that came, and keeps the files
/// for their reader.
pub fn press(
    app: &App,
    desk: &Desk,
    stores: &[LabelStore],
    by: UserId,
    parcels: Vec<Waiting>,
    now: Instant,
) -> Result<Press, Problem> {
    let began = Monotonic::now();
    let mut press = Press::default();
    let mut is_over = false;
    for cut in cut(parcels) {
        let store = &stores[cut.store];
        if is_over || press.batches.len() >= MOST_BATCHES || began.elapsed() > PATIENCE {
            press.left += cut.parcels.len();
            continue;
        }
        if !store.can_print {
            press.refuse(store, &cut.parcels, desk.lost);
            continue;
        }
        is_over = one(app, now, desk, store, by, cut.parcels, &mut press)?;
    }
    Ok(press)
}

/// Prints one batch. What the marketplace names as unprintable is left out of a
/// second try. Returns whether it is of no use to ask for more.
fn one(
    app: &App,
    now: Instant,
    desk: &Desk,
    store: &LabelStore,
    by: UserId,
    mut parcels: Vec<(i64, OrderId)>,
    press: &mut Press,
) -> Result<bool, Problem> {
    let refused = &app.marketplace.refused_labels;
    for _ in 0..2 {
        let shipments: Vec<i64> = parcels.iter().map(|(shipment, _)| *shipment).collect();
        let labels = with_own_token(app, store.owner, store.account, |caller| {
            app.marketplace.client.labels(caller, &shipments)
        });
        let error = match labels {
            Ok(file) => {
                refused.forget(store.account, &shipments);
                let (owner, account, labels) = (store.owner, store.account, parcels.len());
                let id = app.db.write(move |tx| batches::add(tx, owner, account, by, &parcels))?;
                app.marketplace.printed_files.put(id, Bytes::from(file), now);
                press.batches.push(Printed { id, account, labels });
                return Ok(false);
            }
            Err(error) => error,
        };
        tracing::info!(%error, account = store.account.0, "no labels");
        let named = match &error {
            CallError::Failed(Failure::Unprintable(failed)) => failed.as_slice(),
            _ => &[],
        };
        let before = parcels.len();
        for failed in named {
            let why = of_cause(&failed.cause).1;
            let gone = parcels.extract_if(.., |(shipment, _)| *shipment == failed.shipment);
            let gone: Vec<_> = gone.collect();
            if !gone.is_empty() {
                refused.note(store.account, failed.shipment, why, now);
                press.refuse(store, &gone, why);
            }
        }
        if parcels.is_empty() {
            return Ok(false);
        }
        if parcels.len() == before {
            let said = match &error {
                CallError::LinkLost => desk.lost.to_owned(),
                error => refusal(error, &[]).1.into_owned(),
            };
            press.refuse(store, &parcels, &said);
            let is_away = matches!(
                error,
                CallError::Db(_)
                    | CallError::Failed(
                        Failure::RateLimited { .. } | Failure::Unreachable | Failure::Away { .. }
                    )
            );
            return Ok(is_away);
        }
    }
    press.left += parcels.len();
    Ok(false)
}

impl Press {
    fn refuse(&mut self, store: &LabelStore, parcels: &[(i64, OrderId)], why: &str) {
        self.failed.extend(parcels.iter().map(|(shipment, _)| Unprinted {
            account: store.account,
            shipment: *shipment,
            why: why.to_owned(),
        }));
    }

    /// What the next page is to tell, for [`told`].
    pub fn word(&self) -> String {
        let printed: usize = self.batches.iter().map(|one| one.labels).sum();
        let ids: Vec<String> = self.batches.iter().map(|one| one.id.to_string()).collect();
        let why = self.failed.first().map_or("", |one| &one.why);
        format!("etiquetas:{printed}:{}:{}:{}:{why}", self.failed.len(), self.left, ids.join(","))
    }
}

/// `1 etiqueta`, `47 etiquetas`.
pub fn labels(count: u64) -> String {
    counted(count, "etiqueta", "etiquetas")
}

/// The batches of the press that a word tells of.
pub fn fresh(word: &str) -> Vec<i64> {
    let ids = word.strip_prefix("etiquetas:").and_then(|rest| rest.split(':').nth(3));
    ids.map(|ids| ids.split(',').filter_map(|id| id.parse().ok()).collect()).unwrap_or_default()
}

/// The notice about a press, or about its undoing, by the word that it left.
pub fn told(desk: &Desk, word: &str) -> Option<Notice> {
    let mut parts = word.splitn(6, ':');
    let kind = parts.next()?;
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).unwrap_or(0);
    match kind {
        "nada" => Some(Notice::new(
            Tone::Warn,
            "Nenhum pacote foi marcado",
            "Marque os pacotes e imprima de novo. O que já foi impresso está em Impressas.",
        )),
        "vazia" => Some(Notice::new(
            Tone::Info,
            "Não há etiqueta para imprimir agora",
            "O que já foi impresso está em Impressas.",
        )),
        "desfeita" => {
            let count = number();
            let back = if count == 1 { "voltou" } else { "voltaram" };
            Some(Notice::new(Tone::Good, format!("{} {back} para A imprimir", labels(count)), ""))
        }
        "etiquetas" => {
            let (printed, failed, left) = (number(), number(), number());
            let ids = parts.next().unwrap_or_default();
            Some(outcome(desk, printed, failed, left, ids, parts.next().unwrap_or_default()))
        }
        _ => None,
    }
}

fn outcome(desk: &Desk, printed: u64, failed: u64, left: u64, ids: &str, why: &str) -> Notice {
    let mut text = Vec::new();
    if failed > 0 {
        text.push(why.to_owned());
        let stays = if failed == 1 { "Ela continua" } else { "Elas continuam" };
        text.push(format!("{stays} em A imprimir."));
    }
    if left > 0 {
        text.push(format!("Ainda há {} para imprimir: imprima de novo.", grouped(left)));
    }
    let files = ids.split(',').count();
    if printed > 0 && files > 1 {
        text.push(format!("São {files} arquivos em Impressas: abra cada um."));
    } else if printed > 0 && failed + left > 0 {
        text.push("O arquivo está em Impressas: abra-o.".to_owned());
    }
    let went = |count: u64| if count == 1 { "impressa" } else { "impressas" };
    let (tone, title) = match (printed, failed) {
        (0, 1) => (Tone::Bad, "A etiqueta não saiu".to_owned()),
        (0, _) => (Tone::Bad, "Nenhuma etiqueta saiu".to_owned()),
        (_, 0) => (Tone::Good, format!("{} {}", labels(printed), went(printed))),
        (_, 1) => (Tone::Warn, format!("{} {}, 1 não saiu", labels(printed), went(printed))),
        (..) => {
            let failed = grouped(failed);
            (Tone::Warn, format!("{} {}, {failed} não saíram", labels(printed), went(printed)))
        }
    };
    let notice = Notice::new(tone, title, text.join(" "));
    if printed == 0 { notice } else { notice.undone_by(desk.undo, vec![("lote", ids.to_owned())]) }
}

#[cfg(test)]
mod tests {
    use super::super::ToPrint;
    use super::super::pages::OWN;
    use super::*;

    fn parcel(store: usize, shipment: i64) -> Waiting {
        let (order, sold_at) = (OrderId(shipment), Instant(shipment));
        Waiting {
            store,
            parcel: ToPrint { shipment, order, due: None, sold_at, is_same_day: false },
        }
    }

    #[test]
    fn batches_are_of_one_store_and_keep_the_order_of_the_list() {
        let mut all: Vec<Waiting> =
            (0..120).map(|id| parcel(usize::from(id % 2 == 1), id)).collect();
        all.push(parcel(2, 500));
        let cut = cut(all);
        let sizes: Vec<_> = cut.iter().map(|one| (one.store, one.parcels.len())).collect();
        assert_eq!(sizes, [(0, 50), (1, 50), (0, 10), (1, 10), (2, 1)]);
        let first: Vec<i64> =
            cut[0].parcels.iter().map(|(shipment, _)| *shipment).take(3).collect();
        assert_eq!(first, [0, 2, 4]);
    }

    #[test]
    fn what_came_of_a_press_is_said_in_words() {
        let title = |word: &str| told(&OWN, word).map(|notice| notice.title).unwrap_or_default();
        assert_eq!(title("etiquetas:47:0:0:3:"), "47 etiquetas impressas");
        assert_eq!(title("etiquetas:1:0:0:3:"), "1 etiqueta impressa");
        assert_eq!(title("etiquetas:2:1:0:3:Por isso."), "2 etiquetas impressas, 1 não saiu");
        assert_eq!(title("etiquetas:0:2:0::Por isso: não."), "Nenhuma etiqueta saiu");
        assert_eq!(title("desfeita:2"), "2 etiquetas voltaram para A imprimir");
        assert_eq!(title("outra"), "");
        assert_eq!(fresh("etiquetas:60:1:9:3,4:Por isso: não."), [3, 4]);
        assert_eq!((fresh("etiquetas:0:2:0::Por isso."), fresh("desfeita:2")), (vec![], vec![]));
        let notice = told(&OWN, "etiquetas:60:1:9:3,4:Por isso: não.").unwrap();
        assert_eq!(
            notice.text,
            "Por isso: não. Ela continua em A imprimir. Ainda há 9 para imprimir: imprima de novo. São 2 arquivos em Impressas: abra cada um."
        );
        assert_eq!(notice.undo.unwrap().fields, [("lote", "3,4".to_owned())]);
        let notice = told(&OWN, "etiquetas:2:1:0:3:Por isso.").unwrap();
        assert!(notice.text.ends_with("O arquivo está em Impressas: abra-o."), "{}", notice.text);
        assert_eq!(told(&OWN, "etiquetas:1:0:0:3:").unwrap().text, "");
        assert!(told(&OWN, "etiquetas:0:1:0::x").unwrap().undo.is_none());
    }
}
