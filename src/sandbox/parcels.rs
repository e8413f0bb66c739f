//! How shipments are made and changed: by the controls of orders, by their own
//! controls and buttons, and step by step on the way that their kind of logistics
//! has.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, ControlResult};
use super::notifications::notify;
use super::state::SandboxState;
use super::things::{
    ChangeContext, Order, Shipment, Step, Word, check_length, check_status, touch,
};
use crate::base::{DAY_S, Instant};
use crate::marketplace::kinds::RecordKind;

/// Most tags of one shipment or order.
const TAGS_MAX: usize = 20;
/// Most states that a shipment's history keeps.
const HISTORY_MAX: usize = 100;

/// A state on the way of a parcel: status and sub-status, which may be empty.
type Stop = (&'static str, &'static str);

/// The way from the seller's desk to the label, which sellers' own kinds share.
const TO_LABEL: [Stop; 4] = [
    ("handling", "waiting_for_label_generation"),
    ("ready_to_ship", "invoice_pending"),
    ("ready_to_ship", "ready_to_print"),
    ("ready_to_ship", "printed"),
];

/// The states after the label, by kind of logistics.
#[rustfmt::skip] // A table: one kind per row.
const FROM_LABEL: [(&str, &[Stop]); 5] = [
    ("drop_off", &[("ready_to_ship", "dropped_off"), ("ready_to_ship", "in_hub"), ("shipped", ""), ("delivered", "")]),
    ("xd_drop_off", &[("ready_to_ship", "dropped_off"), ("ready_to_ship", "picked_up"), ("ready_to_ship", "in_hub"), ("shipped", ""), ("delivered", "")]),
    ("cross_docking", &[("ready_to_ship", "in_pickup_list"), ("ready_to_ship", "picked_up"), ("ready_to_ship", "in_hub"), ("shipped", ""), ("delivered", "")]),
    ("self_service", &[("shipped", ""), ("delivered", "")]),
    ("turbo", &[("ready_to_ship", "picking_up"), ("ready_to_ship", "picked_up"), ("shipped", ""), ("delivered", "")]),
];

/// The way of a parcel from the marketplace's warehouse.
const FROM_WAREHOUSE: [Stop; 5] = [
    ("ready_to_ship", "in_warehouse"),
    ("ready_to_ship", "ready_to_pack"),
    ("ready_to_ship", "packed"),
    ("shipped", ""),
    ("delivered", ""),
];

/// The way of a parcel that the marketplace does not carry.
const BY_ONESELF: [Stop; 4] =
    [("handling", ""), ("ready_to_ship", ""), ("shipped", ""), ("delivered", "")];

/// All states that a parcel of this kind comes through, in their order.
pub fn way_of(logistic: &str) -> Vec<Stop> {
    if logistic == "fulfillment" {
        return FROM_WAREHOUSE.to_vec();
    }
    let after = FROM_LABEL.iter().find(|(kind, _)| *kind == logistic);
    after.map_or_else(|| BY_ONESELF.to_vec(), |(_, after)| [&TO_LABEL, *after].concat())
}

/// The state after this one, `None` at the end of the way or beside it.
fn after(shipment: &Shipment) -> Option<Stop> {
    let way = way_of(&shipment.logistic);
    let here = (&*shipment.status, shipment.finer());
    if let Some(at) = way.iter().position(|stop| *stop == here) {
        return way.get(at + 1).copied();
    }
    // Held back, it has not begun. A sub-status beside the way ends with its status.
    if here.0 == "pending" {
        return way.first().copied();
    }
    let last = way.iter().rposition(|(status, _)| *status == here.0)?;
    way.get(last + 1).copied()
}

/// The sub-status with which a parcel comes into a status by itself.
fn usual_substatus(status: &str, logistic: &str) -> Option<Word> {
    let way = way_of(logistic);
    match status {
        "ready_to_ship" if way.contains(&("ready_to_ship", "ready_to_print")) => {
            Some("ready_to_print".into())
        }
        "ready_to_ship" if logistic == "fulfillment" => Some("in_warehouse".into()),
        _ => None,
    }
}

/// A parcel to be made.
pub struct NewParcel<'n> {
    /// The order that it carries first.
    pub order: i64,
    pub logistic: &'n str,
    pub status: Word,
    pub at: Instant,
}

/// Creates an order's shipment, or changes its status. The orders of a cart share
/// one shipment. Returns its id.
pub fn ship(state: &mut SandboxState, parcel: NewParcel<'_>) -> Option<i64> {
    let number = state.next_number();
    let NewParcel { order, logistic, status, at } = parcel;
    let of = state.orders.get(&order)?;
    let (seller, pack) = (of.seller, of.pack);
    let together = pack.and_then(|pack| {
        let in_pack = |other: &&Order| {
            other.seller == seller && other.pack == Some(pack) && other.shipment.is_some()
        };
        state.orders.values().find(in_pack)?.shipment
    });
    let id = of.shipment.or(together).unwrap_or(44_000_000_000 + number);
    let is_new = !state.shipments.contains_key(&id);
    let shipment = state.shipments.entry(id).or_insert_with(|| Shipment {
        id,
        seller,
        orders: Vec::new(),
        status: Word::default(),
        substatus: None,
        logistic: logistic.to_owned(),
        tags: Vec::new(),
        tracking: None,
        buffered_until: None,
        expected: None,
        service: None,
        sibling: None,
        history: Vec::new(),
        created: at,
        updated: at,
    });
    if !shipment.orders.contains(&order) {
        shipment.orders.push(order);
    }
    if shipment.status != status {
        let substatus = usual_substatus(&status, &shipment.logistic);
        enter(shipment, status, substatus, at);
    }
    if !is_new {
        touch(&mut shipment.updated, at);
    }
    if let Some(order) = state.orders.get_mut(&order) {
        order.shipment = Some(id);
    }
    Some(id)
}

/// Brings a shipment into a state and notes when. The tracking number comes with
/// the label.
pub fn enter(shipment: &mut Shipment, status: Word, substatus: Option<Word>, at: Instant) {
    if shipment.history.len() == HISTORY_MAX {
        shipment.history.remove(0);
    }
    shipment.history.push(Step { status: status.clone(), substatus: substatus.clone(), at });
    (shipment.status, shipment.substatus) = (status, substatus);
    shipment.buffered_until = (shipment.finer() == "buffered").then(|| at.plus(DAY_S));
    if shipment.tracking.is_none() && has_label(shipment) {
        shipment.tracking = Some(format!("BR{}", shipment.id));
    }
}

/// Whether a shipment in this state has had its label made.
fn has_label(shipment: &Shipment) -> bool {
    match &*shipment.status {
        "ready_to_ship" => !matches!(
            shipment.finer(),
            "" | "invoice_pending"
                | "ready_to_print"
                | "buffered"
                | "in_warehouse"
                | "ready_to_pack"
        ),
        "shipped" | "delivered" | "not_delivered" => true,
        _ => false,
    }
}

/// Sets the sub-status of a shipment; an empty one takes it away.
pub fn refine(state: &mut SandboxState, id: i64, substatus: String, now: Instant) {
    if let Some(shipment) = state.shipments.get_mut(&id) {
        let substatus = (!substatus.is_empty()).then_some(substatus.into());
        let status = shipment.status.clone();
        if shipment.substatus != substatus {
            enter(shipment, status, substatus, now);
        }
        touch(&mut shipment.updated, now);
    }
}

/// Unlocks the label of a shipment that waited for its note; returns whether it
/// did.
pub fn unlock(state: &mut SandboxState, id: i64, now: Instant) -> bool {
    let Some(shipment) = state.shipments.get_mut(&id) else { return false };
    if shipment.finer() != "invoice_pending" {
        return false;
    }
    enter(shipment, "ready_to_ship".into(), Some("ready_to_print".into()), now);
    touch(&mut shipment.updated, now);
    true
}

/// Adds and removes tags. The error names what does not fit.
pub fn retag(tags: &mut Vec<String>, add: Vec<String>, remove: &[String]) -> Result<(), String> {
    add.iter().try_for_each(|tag| check_length(tag, 60, "a tag"))?;
    tags.retain(|tag| !remove.contains(tag));
    for tag in add {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > TAGS_MAX {
        return Err(format!("at most {TAGS_MAX} tags fit"));
    }
    Ok(())
}

/// A change of a shipment; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParcelChange {
    /// `shipped` … or any other word.
    pub status: Option<String>,
    /// Any word; an empty one takes it away.
    pub substatus: Option<String>,
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    /// Until when it has to be handed over, RFC 3339. Nobody is told of that.
    pub expected_date: Option<String>,
    /// Such as `xd_same_day`; an empty one takes it away.
    pub service: Option<String>,
    /// An empty one takes it away.
    pub tracking_number: Option<String>,
}

/// Changes a shipment.
pub fn change(
    state: &mut SandboxState,
    id: i64,
    change: ParcelChange,
    context: ChangeContext,
) -> Result<(), String> {
    let now = context.now;
    let shipment =
        state.shipments.get_mut(&id).ok_or_else(|| format!("there is no shipment {id}"))?;
    if let Some(text) = &change.expected_date {
        let at = Instant::parse(text);
        let at = at.ok_or_else(|| format!("expected_date is not an RFC 3339 date: {text}"))?;
        shipment.expected = Some(at);
    }
    let filled = |text: String| (!text.is_empty()).then_some(text);
    if let Some(service) = change.service {
        shipment.service = filled(service);
    }
    let mut is_seen = false;
    if let Some(number) = change.tracking_number {
        shipment.tracking = filled(number);
        is_seen = true;
    }
    if !change.add_tags.is_empty() || !change.remove_tags.is_empty() {
        retag(&mut shipment.tags, change.add_tags, &change.remove_tags)?;
        is_seen = true;
    }
    if change.status.is_some() || change.substatus.is_some() {
        let status: Word = change.status.map_or_else(|| shipment.status.clone(), Word::from);
        check_status(&status)?;
        let substatus = match change.substatus {
            Some(substatus) => filled(substatus).map(Word::from),
            None => usual_substatus(&status, &shipment.logistic),
        };
        substatus.iter().try_for_each(|substatus| check_status(substatus))?;
        enter(shipment, status, substatus, now);
        is_seen = true;
    }
    let seller = shipment.seller;
    if is_seen {
        touch(&mut shipment.updated, now);
        notify(state, context, seller, RecordKind::Shipment, id);
    }
    Ok(())
}

/// Brings a shipment one step further on the way of its kind; returns the new
/// state.
pub fn step(state: &mut SandboxState, id: i64, context: ChangeContext) -> Result<Stop, String> {
    let shipment =
        state.shipments.get_mut(&id).ok_or_else(|| format!("there is no shipment {id}"))?;
    let next = after(shipment)
        .ok_or_else(|| format!("{} {} has no next step", shipment.status, shipment.finer()))?;
    let substatus = (!next.1.is_empty()).then(|| next.1.into());
    enter(shipment, next.0.into(), substatus, context.now);
    touch(&mut shipment.updated, context.now);
    let seller = shipment.seller;
    notify(state, context, seller, RecordKind::Shipment, id);
    Ok(next)
}

/// A shipment as controls show it.
pub fn shown(state: &SandboxState, id: i64) -> Value {
    state.shipments.get(&id).map_or(Value::Null, |shipment| {
        json!({
            "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
            "logistic_type": shipment.logistic, "tags": shipment.tags,
            "tracking_number": shipment.tracking, "orders": shipment.orders,
        })
    })
}

/// `POST /_sandbox/shipments/{id}`.
pub fn control_change(call: &mut Call<'_>) -> ControlResult {
    let (new, context) = call.body_and_context(true)?;
    let id = call.number()?;
    change(call.state, id, new, context)?;
    Ok(json!({ "ok": true, "shipment": shown(call.state, id) }))
}

/// A step without more.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

/// `POST /_sandbox/shipments/{id}/next`.
pub fn control_step(call: &mut Call<'_>) -> ControlResult {
    let (NoFields {}, context) = call.body_and_context(true)?;
    let id = call.number()?;
    step(call.state, id, context)?;
    Ok(json!({ "ok": true, "shipment": shown(call.state, id) }))
}

/// The shipment of the order that the button's form names.
pub fn pressed(call: &Call<'_>) -> Result<i64, String> {
    let order = call.number_field("pedido")?;
    let order = call.state.orders.get(&order).ok_or("O pedido não existe mais.")?;
    order.shipment.ok_or_else(|| "A venda ainda não tem envio.".to_owned())
}

/// `POST /acoes/envio/passo`.
pub fn press_step(call: &mut Call<'_>) -> ButtonResult {
    let id = pressed(call)?;
    let (status, finer) = step(call.state, id, call.notified())
        .map_err(|_| format!("O envio {id} já chegou ao fim do caminho."))?;
    let state = format!("{status}/{finer}");
    Ok(format!("Envio {id} agora em {}; a notificação está na fila.", state.trim_end_matches('/')))
}
