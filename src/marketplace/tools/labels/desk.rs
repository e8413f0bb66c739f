//! A page of labels: of a seller's own accounts, or of all clients of the agency.
//! All stores stand together, by the time until which parcels are to be handed over.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::batches::{self, Batch};
use super::press::{self, Press};
use super::refused::RefusedLabels;
use super::views::{BatchRow, LabelDesk, ParcelRow};
use super::{Parcel, ToPrint, named_parcels, to_print, waiting_else};
use crate::app::App;
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{self, ReadTx, RowWindow, WriteTx};
use crate::http::input::is_form;
use crate::http::{Check, Field, ForPeople, Problem, Reply, Request};
use crate::panel::form::all_sent;
use crate::panel::{Answer, PageTime, Paging, address};

/// Parcels of a page: as many as fit into one file.
const ROWS: u32 = 50;
/// Batches of a page: all of one press.
const BATCHES: u32 = 20;
/// Most batches that are taken back at once: those of one press.
const MOST_UNDONE: usize = 20;

/// Where a page of labels stands, and where its forms lead.
pub struct Desk {
    pub path: &'static str,
    pub print: &'static str,
    pub undo: &'static str,
    /// What stands before the number of a batch, whose file it is.
    pub batch: &'static str,
    /// What a store is called in the list.
    pub store_word: &'static str,
    /// The message for an account whose link is lost.
    pub lost: &'static str,
    pub is_agency: bool,
}

impl Desk {
    /// The address of the file of a batch.
    pub fn file_of(&self, batch: i64) -> String {
        format!("{}/{batch}", self.batch)
    }
}

/// An account whose labels are printed at a desk.
#[derive(Clone, Debug)]
pub struct LabelStore {
    pub owner: UserId,
    pub account: MlUserId,
    /// Its nickname; for the agency also the client's name.
    pub name: String,
    /// Whether its labels can be requested.
    pub can_print: bool,
}

/// A parcel that waits for its label, and its store among those of the desk.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub store: usize,
    pub parcel: ToPrint,
}

impl Waiting {
    /// Whether its label can be printed, as far as is known.
    pub fn is_ready(&self, stores: &[LabelStore], refused: &RefusedLabels, now: Instant) -> bool {
        let store = &stores[self.store];
        store.can_print && refused.why(store.account, self.parcel.shipment, now).is_none()
    }

    /// What leaves within minutes first, then by deadline; what has none behind, oldest
    /// first.
    fn order(&self) -> (bool, i64, Instant, i64) {
        let due = self.parcel.due.map_or(i64::MAX, |due| due.0);
        (!self.parcel.is_same_day, due, self.parcel.sold_at, self.parcel.shipment)
    }
}

/// The parcels of some stores whose labels are to be printed, by deadline.
pub fn waiting(
    tx: &ReadTx<'_>,
    stores: &[LabelStore],
    only: Option<MlUserId>,
) -> db::Result<Vec<Waiting>> {
    let (places, accounts) = narrowed(stores, only);
    let parcels = to_print(tx, &accounts)?.into_iter();
    let mut all: Vec<Waiting> =
        parcels.map(|(place, parcel)| Waiting { store: places[place], parcel }).collect();
    all.sort_unstable_by_key(Waiting::order);
    Ok(all)
}

#[derive(Deserialize)]
struct DeskQuery {
    #[serde(default)]
    conta: Field<i64>,
    #[serde(default)]
    parte: Field<String>,
    #[serde(default)]
    pagina: Field<i64>,
}

/// What the address of a desk asks for.
pub struct Asked {
    pub only: Option<MlUserId>,
    /// The part with what was printed.
    printed: bool,
    page: u64,
}

impl Asked {
    pub fn of(request: &Request) -> Result<Self, Problem> {
        let query: DeskQuery = request.query()?;
        let mut check = Check::text();
        let only = check.optional("conta", query.conta).map(MlUserId);
        let part = check.optional("parte", query.parte).unwrap_or_default();
        let page = check.number("pagina", query.pagina, 1..=10_000);
        check.finish()?;
        let page = page.and_then(|page| u64::try_from(page).ok()).unwrap_or(1);
        Ok(Self { only, printed: part == "impressas", page })
    }

    fn paging(&self, desk: &Desk, total: u64) -> Paging {
        let only = self.only.map(|only| only.to_string()).unwrap_or_default();
        let (part, per_page) = if self.printed { ("impressas", BATCHES) } else { ("", ROWS) };
        let kept = [("conta", &*only), ("parte", part)];
        Paging::new(desk.path, &kept, self.page, per_page.into(), total)
    }
}

/// The stores that a list shows: their places among those of the desk, and their owners
/// and accounts.
fn narrowed(stores: &[LabelStore], only: Option<MlUserId>) -> (Vec<usize>, Vec<(i64, i64)>) {
    let all = stores.iter().enumerate();
    let shown = all.filter(|(_, store)| only.is_none_or(|only| only == store.account));
    shown.map(|(place, store)| (place, (store.owner.0, store.account.0))).unzip()
}

/// What a desk shows.
pub fn show(
    app: &App,
    tx: &ReadTx<'_>,
    desk: &'static Desk,
    stores: Vec<LabelStore>,
    request: &Request,
    asked: &Asked,
) -> Result<LabelDesk, Problem> {
    let (_, accounts) = narrowed(&stores, asked.only);
    if accounts.is_empty() && asked.only.is_some() {
        return Err(Problem::not_found());
    }
    let time = PageTime::of(app, request);
    let all = waiting(tx, &stores, asked.only)?;
    let batches = batches::count(tx, &accounts)?;
    let refused = &app.marketplace.refused_labels;
    let why =
        |one: &Waiting| refused.why(stores[one.store].account, one.parcel.shipment, request.now);
    let ready = all.iter().filter(|one| one.is_ready(&stores, refused, request.now)).count();
    let (mut rows, mut done) = (Vec::new(), Vec::new());
    if asked.printed {
        done = printed_rows(tx, &stores, asked)?;
    } else {
        let before = usize::try_from((asked.page - 1) * u64::from(ROWS)).unwrap_or(usize::MAX);
        let page: Vec<&Waiting> = all.iter().skip(before).take(ROWS as usize).collect();
        let named = page.iter().map(|one| {
            let store = &stores[one.store];
            (store.owner.0, store.account.0, one.parcel.shipment)
        });
        for (place, parcel) in named_parcels(tx, named.collect())? {
            let one = page[place];
            rows.push(parcel_row(parcel, &stores[one.store], why(one), time));
        }
    }
    Ok(LabelDesk {
        ready: ready as u64,
        to_print: all.len() as u64,
        batches,
        waiting_else: waiting_else(tx, &accounts)?,
        first: all.first().and_then(|one| one.parcel.due).map(|due| time.due("despache", due)),
        lost: stores.iter().filter(|one| !one.can_print).map(|one| one.name.clone()).collect(),
        paging: asked.paging(desk, if asked.printed { batches } else { all.len() as u64 }),
        printed: asked.printed,
        only: asked.only,
        desk,
        stores,
        rows,
        done,
        fresh: request.notice.as_deref().map(press::fresh).unwrap_or_default(),
        time,
    })
}

fn parcel_row(
    parcel: Parcel,
    store: &LabelStore,
    refused: Option<&'static str>,
    time: PageTime,
) -> ParcelRow {
    ParcelRow {
        id: format!("{}-{}", store.account, parcel.shipment),
        store: store.name.clone(),
        can_print: store.can_print,
        due: parcel.due.map(|due| {
            if parcel.is_same_day {
                time.due_in_minutes("despache", due)
            } else {
                time.due("despache", due)
            }
        }),
        refused,
        parcel,
    }
}

/// The batches of a page, newest first; those of one press in the order of the list.
fn printed_rows(
    tx: &ReadTx<'_>,
    stores: &[LabelStore],
    asked: &Asked,
) -> db::Result<Vec<BatchRow>> {
    let (places, accounts) = narrowed(stores, asked.only);
    let before = u32::try_from(asked.page - 1).unwrap_or(u32::MAX).saturating_mul(BATCHES);
    let page = batches::page(tx, &accounts, RowWindow { limit: BATCHES, offset: before })?;
    let ids: Vec<i64> = page.iter().map(|(_, batch)| batch.id).collect();
    let mut labels = vec![Vec::new(); ids.len()];
    for (batch, label) in batches::labels_of(tx, &ids)? {
        labels[batch].push(label);
    }
    let rows = page.into_iter().zip(labels).map(|((place, batch), labels)| {
        let store = &stores[places[place]];
        BatchRow { batch, store: store.name.clone(), can_print: store.can_print, labels }
    });
    Ok(rows.collect())
}

/// What a press of the button asks for.
#[derive(Default, Deserialize)]
struct PrintForm {
    /// Account and shipment with a hyphen between, for each parcel.
    #[serde(default)]
    ids: Vec<String>,
    /// Everything that is to be printed and can be.
    #[serde(default)]
    todos: bool,
    #[serde(default)]
    conta: Option<i64>,
    /// `inicio`, when the button stood on the home.
    #[serde(default)]
    volta: String,
}

impl PrintForm {
    fn read(request: &Request) -> Result<Self, Problem> {
        if !is_form(request.headers()) {
            return request.json();
        }
        let first = |name| all_sent(request, name).next().unwrap_or_default().into_owned();
        // The button of a row prints that one, whatever is ticked.
        let alone = first("so");
        let ids = if alone.is_empty() {
            all_sent(request, "ids").map(Cow::into_owned).collect()
        } else {
            vec![alone.clone()]
        };
        Ok(Self {
            ids,
            todos: alone.is_empty() && first("todos") == "1",
            // A store that makes no sense is none of the desk's, not all of them.
            conta: Some(first("conta"))
                .filter(|sent| !sent.is_empty())
                .map(|sent| sent.parse().unwrap_or(0)),
            volta: first("volta"),
        })
    }
}

/// Prints what a form asks for, and tells its reader what came of it.
pub fn print(
    app: &App,
    desk: &'static Desk,
    stores: &[LabelStore],
    by: UserId,
    request: &Request,
) -> Result<Reply, Problem> {
    let form = PrintForm::read(request)?;
    let only = form.conta.map(MlUserId);
    let all = app.db.read(request.lane, |tx| waiting(tx, stores, only))?;
    let refused = &app.marketplace.refused_labels;
    let ids: HashSet<&str> = form.ids.iter().map(|id| &**id).collect();
    let chosen: Vec<Waiting> = all
        .into_iter()
        .filter(|one| {
            if form.todos {
                one.is_ready(stores, refused, request.now)
            } else {
                let account = stores[one.store].account;
                ids.contains(&*format!("{account}-{}", one.parcel.shipment))
            }
        })
        .collect();
    if chosen.is_empty() {
        let problem = Problem::conflict(ForPeople("Nenhuma etiqueta a imprimir foi escolhida."));
        let word = if form.todos { "vazia" } else { "nada" };
        return Answer::to(request).refused(problem, desk.path, word);
    }
    let press = press::press(app, desk, stores, by, chosen, request.now)?;
    if request.wants_json() {
        return Reply::ok(&wire(desk, &press));
    }
    let word = press.word();
    match press.batches.as_slice() {
        [one] if press.failed.is_empty() && press.left == 0 => {
            let page = if form.volta == "inicio" { "/painel" } else { desk.path };
            Ok(Reply::redirect(&desk.file_of(one.id))?.noticed(page, &word))
        }
        [] => Reply::back(desk.path, &word),
        _ => Reply::back(&address(desk.path, &[("parte", "impressas")]), &word),
    }
}

#[derive(Serialize)]
struct PressJson {
    lotes: Vec<serde_json::Value>,
    falharam: Vec<serde_json::Value>,
    restam: usize,
}

fn wire(desk: &Desk, press: &Press) -> PressJson {
    let batch = |one: &press::Printed| {
        json!({ "id": one.id.to_string(), "conta": one.account, "etiquetas": one.labels,
            "arquivo": desk.file_of(one.id) })
    };
    let failed = |one: &press::Unprinted| json!({ "conta": one.account, "shipment_id": one.shipment.to_string(), "motivo": one.why });
    PressJson {
        lotes: press.batches.iter().map(batch).collect(),
        falharam: press.failed.iter().map(failed).collect(),
        restam: press.left,
    }
}

/// Takes back the batches that a form names, as far as they are still there; `may` says
/// whether the caller prints for a batch's account. Returns how many labels are to be
/// printed again.
pub fn undo(
    tx: &WriteTx<'_>,
    named: &[i64],
    may: impl Fn(&ReadTx<'_>, &Batch) -> db::Result<bool>,
) -> Result<u64, Problem> {
    let (mut labels, mut is_any) = (0, false);
    for id in named {
        let Some(batch) = batches::one(tx, *id)? else { continue };
        if may(tx, &batch)? {
            is_any = true;
            labels += batches::undo(tx, batch.id)?;
        }
    }
    if is_any { Ok(labels) } else { Err(Problem::not_found()) }
}

/// The batches that a form names, with commas between them.
pub fn named(request: &Request) -> Result<Vec<i64>, Problem> {
    #[derive(Deserialize)]
    struct UndoForm {
        lote: String,
    }
    let form: UndoForm = request.form_or_json()?;
    let batches: Option<Vec<i64>> =
        form.lote.split(',').map(|part| part.trim().parse().ok()).collect();
    batches.filter(|batches| batches.len() <= MOST_UNDONE).ok_or_else(Problem::not_found)
}
