//! Things that are made to happen in a test shop. They go through the books, as if the
//! marketplace had told of them, so lists, stock, what is owed and events agree.

use schemars::JsonSchema;
use serde::Serialize;

use super::sample::{self, Numbers};
use super::store::{self, Cast};
use crate::app::App;
use crate::base::{Cents, OrderId, UserId};
use crate::catalog::stock::{StockMovementKind, record_movement};
use crate::db::WriteTx;
use crate::dropshipping::payments;
use crate::edge::route::Todo;
use crate::events::{self, Audience, DisconnectedStore, EventType};
use crate::http::{Check, Field, Problem};
use crate::marketplace::books::document::{
    ClaimDocument, ClaimState, ListingDocument, OrderDocument, QuestionDocument, QuestionRow,
    QuestionState, Shipment,
};
use crate::marketplace::books::orders::{self, BookContext};
use crate::marketplace::books::{BookWrite, claims, listings, questions};
use crate::partner::event_stream::names;

/// Most events of a person of a shop, until it is reset.
const MOST_EVENTS: i64 = 5_000;
/// The place of the first record that is made so.
const FIRST: i64 = 1_000;

/// Something that was made to happen.
#[derive(Serialize, JsonSchema)]
pub struct Happened {
    /// The type of its event, which is in the list of events within a second.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Number of the order, question, claim, listing, store, product or drop order that it is about.
    id: String,
}

/// Begins to make something happen in the shop of a person.
pub fn begin(
    app: &App,
    person: UserId,
    kind: Field<String>,
    audience: Audience,
    mut check: Check,
) -> Result<Todo<Happened>, Problem> {
    let name: String = check.required("type", kind);
    let kind = EventType::from_name(&name).filter(|kind| kind.audience() == Some(audience));
    if kind.is_none() {
        check.fail("type", format!("must be one of {}", names(audience).join(", ")));
    }
    check.finish()?;
    let kind = kind.unwrap_or(EventType::Test);
    let context = BookContext::of(app);
    Ok(Todo::Write(Box::new(move |tx| {
        let id = happen(tx, &context, person, kind)?;
        Ok(Happened { kind: kind.name(), id: id.to_string() })
    })))
}

/// Makes an event of a type happen in the shop of a person; returns the number of what it is
/// about.
fn happen(
    tx: &WriteTx<'_>,
    context: &BookContext,
    person: UserId,
    kind: EventType,
) -> Result<i64, Problem> {
    if store::newest_event(tx, person)? >= MOST_EVENTS {
        let said = format!("this test shop had {MOST_EVENTS} events; reset it in the panel");
        return Err(Problem::program_conflict(said));
    }
    let cast = store::cast_of(tx, person)?.ok_or_else(Problem::not_found)?;
    let shop = Shop { write: (tx, context, cast.seller), numbers: Numbers::of(cast.seller), cast };
    Ok(match kind {
        EventType::OrderCreated => {
            let mut order = shop.new_order(None)?;
            "payment_required".clone_into(&mut order.status);
            (order.closed_at, order.paid_at, order.shipment) = (None, None, None);
            shop.apply(&order)?
        }
        EventType::OrderPaid => shop.apply(&shop.new_order(None)?)?,
        EventType::OrderCancelled => shop.change(shop.some_sale()?, "cancelled")?,
        EventType::OrderUpdated => shop.change(shop.some_sale()?, "partially_refunded")?,
        EventType::OrderShipped => shop.ship("shipped")?,
        EventType::OrderDelivered => shop.ship("delivered")?,
        EventType::QuestionReceived => shop.ask()?.row.id,
        EventType::QuestionAnswered => shop.answer()?,
        EventType::ClaimOpened => shop.claim()?.id,
        EventType::ClaimClosed => shop.close_claim()?,
        EventType::ListingChanged => shop.reprice(store::newest_event(tx, person)?)?,
        EventType::StoreDisconnected => shop.refuse_store()?,
        EventType::StockChanged => {
            let product = store::some_product(tx, cast.seller)?.ok_or_else(Problem::not_found)?;
            record_movement(tx, product, StockMovementKind::In, 1, "Teste", None)?;
            product
        }
        EventType::DropOrderCreated => shop.new_drop_order()?.0,
        EventType::DropOrderPaid => {
            let (id, _) = shop.some_drop_order()?;
            payments::pay(tx, cast.supplier, id, None)?;
            id
        }
        EventType::DropOrderCancelled => {
            let (id, order) = shop.some_drop_order()?;
            let order = store::order(tx, cast.seller, order)?.ok_or_else(Problem::not_found)?;
            shop.change(order, "cancelled")?;
            id
        }
        EventType::Test => return Err(Problem::field("type", "cannot be made to happen")),
    })
}

struct Shop<'a, 'c> {
    write: BookWrite<'a, 'c>,
    numbers: Numbers,
    cast: Cast,
}

impl Shop<'_, '_> {
    /// An order of now that is not in the books yet, of a listing by its place, or of any.
    fn new_order(&self, good: Option<i64>) -> Result<OrderDocument, Problem> {
        let tx = self.write.0;
        let first = self.numbers.record(FIRST);
        let place = store::next_place(tx, "sale_order", "order_id", self.cast.seller, first)?
            - self.numbers.record(0);
        // The last listing is not on sale.
        let good = good.unwrap_or(place.rem_euclid(5));
        Ok(sample::order(self.numbers, place, good, tx.now()))
    }

    fn apply(&self, order: &OrderDocument) -> Result<i64, Problem> {
        orders::apply(self.write, order, self.write.0.now())?;
        Ok(order.id.0)
    }

    /// Brings an order to another state.
    fn change(&self, order: OrderDocument, status: &str) -> Result<i64, Problem> {
        let updated_at = self.write.0.now();
        self.apply(&OrderDocument { status: status.to_owned(), updated_at, ..order })
    }

    /// The newest sale, or a new one.
    fn some_sale(&self) -> Result<OrderDocument, Problem> {
        if let Some(order) = store::newest_sale(self.write.0, self.cast.seller)? {
            return Ok(order);
        }
        let order = self.new_order(None)?;
        self.apply(&order)?;
        Ok(order)
    }

    /// A new question.
    fn ask(&self) -> Result<QuestionDocument, Problem> {
        let (tx, first) = (self.write.0, self.numbers.record(FIRST));
        let place = store::next_place(tx, "question", "question_id", self.cast.seller, first)?
            - self.numbers.record(0);
        let asked = sample::question(self.numbers, place, tx.now());
        questions::apply(self.write, &asked, tx.now())?;
        Ok(asked)
    }

    /// A new question that is answered at once.
    fn answer(&self) -> Result<i64, Problem> {
        let (asked, now) = (self.ask()?, self.write.0.now());
        let row = QuestionRow {
            state: QuestionState::Answered,
            status: "ANSWERED".to_owned(),
            answer: Some("Sim, pode comprar!".to_owned()),
            answered_at: Some(now),
            ..asked.row
        };
        let id = row.id;
        questions::apply(self.write, &QuestionDocument { row, ..asked }, now)?;
        Ok(id)
    }

    /// A new claim about the newest sale.
    fn claim(&self) -> Result<ClaimDocument, Problem> {
        let (tx, first) = (self.write.0, self.numbers.record(FIRST));
        let place = store::next_place(tx, "claim", "claim_id", self.cast.seller, first)?
            - self.numbers.record(0);
        let claim = sample::claim(self.numbers, place, self.some_sale()?.id.0, tx.now());
        claims::apply(self.write, &claim, tx.now())?;
        Ok(claim)
    }

    /// A new claim that ends at once.
    fn close_claim(&self) -> Result<i64, Problem> {
        let claim = self.claim()?;
        let closed = ClaimDocument {
            state: ClaimState::Closed,
            due_at: None,
            action: String::new(),
            resolution: "payment_refunded".to_owned(),
            ..claim
        };
        claims::apply(self.write, &closed, self.write.0.now())?;
        Ok(closed.id)
    }

    /// Another price of the first listing, one that no event before had.
    fn reprice(&self, events: i64) -> Result<i64, Problem> {
        let now = self.write.0.now();
        let listing = sample::listing(self.numbers, 0, now);
        let price = listing.price.map(|price| Cents(price.0 + 1 + events));
        listings::apply(self.write, &ListingDocument { price, ..listing }, now)?;
        Ok(self.numbers.item(0))
    }

    /// Tells that the marketplace refused the store. It stays linked: the shop has no other.
    fn refuse_store(&self) -> Result<i64, Problem> {
        let store = DisconnectedStore {
            ml_user_id: self.numbers.store(),
            nickname: "LOJA DE TESTE",
            reason: "refused",
            error: Some("Teste: o marketplace recusou a conta."),
        };
        events::raise_disconnected(self.write.0, self.cast.seller, &store)?;
        Ok(store.ml_user_id.0)
    }

    /// Sends or delivers the parcel of the newest sale that waits for it, or of a new one.
    fn ship(&self, status: &str) -> Result<i64, Problem> {
        let tx = self.write.0;
        let waiting = store::newest_to_ship(tx, self.cast.seller)?;
        let (order, parcel) = if let Some(waiting) = waiting {
            waiting
        } else {
            let order = self.new_order(None)?;
            self.apply(&order)?;
            (order.id, self.numbers.record(order.id.0 - self.numbers.record(0)))
        };
        let now = tx.now();
        let sent = Shipment {
            status: status.to_owned(),
            updated_at: Some(now),
            sent_at: Some(now),
            delivered_at: (status == "delivered").then_some(now),
            ..sample::ready(now)
        };
        orders::apply_shipment(self.write, order, parcel, &sent)?;
        Ok(order.0)
    }

    /// A sale of what the supplier sends.
    fn new_drop_order(&self) -> Result<(i64, OrderId), Problem> {
        let order = self.new_order(Some(0))?;
        self.apply(&order)?;
        // A seller without the link has no such order; a reset brings the link back.
        let made = store::newest_owed(self.write.0, self.cast.supplier)?;
        made.filter(|(_, of)| *of == order.id).ok_or_else(|| {
            let said = "the listing of the sample order is not linked to a product; link it, or reset the test shop";
            Problem::program_conflict(said)
        })
    }

    /// The newest drop order that is not paid, or a new one.
    fn some_drop_order(&self) -> Result<(i64, OrderId), Problem> {
        match store::newest_owed(self.write.0, self.cast.supplier)? {
            Some(owed) => Ok(owed),
            None => self.new_drop_order(),
        }
    }
}
