//! `summary`: what a seller's day looks like, in one answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, Day, Instant, MlUserId, OffsetTime, OrderId, UserId, Zone};
use crate::catalog::Product;
use crate::catalog::store::{self as products, ProductQuery, StockLevel};
use crate::db::{self, Lane, ReadTx, RowWindow};
use crate::dropshipping::debts::{self, Owed, Sum};
use crate::dropshipping::orders::Whose;
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::marketplace::account::store::{self as accounts, LinkedAccount, SoldOnDays};
use crate::marketplace::books::claims::store::{self as claims, AtStake, Claim};
use crate::marketplace::books::questions::store as questions;
use crate::marketplace::tools::labels;
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Claims and products that are shown one by one.
const MOST_SHOWN: u32 = 5;

/// How many of something, and the instant of the first.
type Since = (u64, Option<Instant>);

/// Nothing is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSummary {}

wire! {
    /// What a seller's day looks like now, over all connected accounts.
    #[derive(Serialize, JsonSchema)]
    pub struct Summary of(seen: Seen, today: Day, zone: Zone) {
        /// Connected accounts.
        stores: Stores = Stores::of(&seen.accounts),
        /// The sales of today.
        today: Today = Today::of(seen.sold, today),
        /// The sales of this week, from Monday to today.
        this_week: Week = Week::of(seen.weeks[0]),
        /// The sales of the week before, from Monday to Sunday.
        last_week: Week = Week::of(seen.weeks[1]),
        /// The sales of the week before until the weekday of today, to compare with this week.
        last_week_so_far: Week = Week::of(seen.weeks[2]),
        /// Parcels whose labels are not printed yet.
        to_send: ToSend = ToSend::of(seen.parcels, zone),
        /// Questions without an answer.
        unanswered: Unanswered = Unanswered::of(seen.questions, zone),
        /// Open claims.
        claims: Claims = Claims::of(seen.stake, seen.claims, zone),
        /// What is owed to suppliers.
        debts: Debts = Debts::of(seen.owed),
        /// Products of the catalog that are nearly out of stock.
        low_stock: LowStock = LowStock::of(seen.low.0, seen.low.1),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Stores of(accounts: &[LinkedAccount]) {
        /// How many are connected.
        count: usize = accounts.len(),
        /// Nicknames of those that lost their link and must be connected again.
        lost: Vec<String> = accounts.iter().filter(|one| !one.token_ok).map(|one| one.nickname.clone()).collect(),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Today of(sold: SoldOnDays, today: Day) {
        /// Civil day of the service.
        date: String = today.iso(),
        /// Orders that count as a sale.
        count: i64 = sold.orders,
        /// Units sold.
        units: i64 = sold.units,
        /// Their value in BRL, without shipping.
        gross: Cents = sold.gross,
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Week of(week: (SoldOnDays, (Day, Day))) after {
        let (sold, (from, to)) = week;
    } {
        /// First civil day.
        from: String = from.iso(),
        /// Last civil day.
        to: String = to.iso(),
        /// Orders that count as a sale.
        count: i64 = sold.orders,
        /// Units sold.
        units: i64 = sold.units,
        /// Their value in BRL, without shipping.
        gross: Cents = sold.gross,
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct ToSend of(parcels: Since, zone: Zone) {
        /// How many parcels.
        count: u64 = parcels.0,
        /// Until when the first is to be handed over, with the offset from UTC; null when that is not known.
        next_due_at: Option<OffsetTime> = parcels.1.map(|at| zone.with_offset(at)),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Unanswered of(open: Since, zone: Zone) {
        /// How many questions.
        count: u64 = open.0,
        /// When the oldest was asked, with the offset from UTC; null without any.
        oldest_at: Option<OffsetTime> = open.1.map(|at| zone.with_offset(at)),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Claims of(stake: AtStake, shown: Vec<Claim>, zone: Zone) {
        /// How many are open.
        open: i64 = stake.open,
        /// Those of them that wait for the seller.
        waiting_for_you: i64 = stake.own,
        /// What was paid in the orders that they are about, in BRL.
        amount: Cents = stake.amount,
        /// The most urgent ones by deadline, at most five.
        next: Vec<NextClaim> = shown.into_iter().map(|one| NextClaim::of(one, zone)).collect(),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct NextClaim of(one: Claim, zone: Zone) {
        /// Number of the claim at the marketplace.
        claim_id: String = one.claim.id.to_string(),
        /// Marketplace seller id of the account.
        ml_user_id: MlUserId = one.claim.seller,
        /// The order that it is about; null when it is about something else.
        order_id: Option<OrderId> = one.order,
        /// Title of what was sold; empty when it is not known.
        title: String = one.title,
        /// What was paid for it in BRL; null when it is not known.
        amount: Option<Cents> = one.amount,
        /// Until when the seller must act, with the offset from UTC; null without a deadline.
        due_at: Option<OffsetTime> = one.claim.due_at.map(|at| zone.with_offset(at)),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct Debts of(owed: Owed) {
        /// Not due yet.
        pending: Debt = Debt::of(owed.pending),
        /// Due and not paid.
        overdue: Debt = Debt::of(owed.overdue),
    }
}

wire! {
    /// Drop orders that are not paid.
    #[derive(Serialize, JsonSchema)]
    struct Debt of(sum: Sum) {
        /// How many drop orders.
        orders: i64 = sum.orders,
        /// What these drop orders come to, in BRL.
        amount: Cents = sum.amount,
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct LowStock of(shown: Vec<Product>, count: u64) {
        /// Products with as few units as their owner wants to be warned of, or fewer.
        count: u64 = count,
        /// Those with the fewest units, at most five.
        next: Vec<LowProduct> = shown.into_iter().map(LowProduct::of).collect(),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct LowProduct of(product: Product) {
        /// The seller's own code.
        sku: String = product.entry.sku,
        /// What the seller calls it.
        title: String = product.entry.title,
        /// Units there are; below zero when more was sold than there was.
        balance: i64 = product.stock,
        /// The units from which on it is low.
        low_at: Option<i64> = product.entry.low_stock,
    }
}

/// What the summary is made of, all of one moment.
pub struct Seen {
    accounts: Vec<LinkedAccount>,
    sold: SoldOnDays,
    /// This week, the one before, and as much of that as has passed of this; each with its days.
    weeks: [(SoldOnDays, (Day, Day)); 3],
    /// How many, and the first deadline.
    parcels: Since,
    /// How many, and when the oldest was asked.
    questions: Since,
    stake: AtStake,
    claims: Vec<Claim>,
    owed: Owed,
    /// Those with the fewest units, and how many.
    low: (Vec<Product>, u64),
}

impl Operation for GetSummary {
    type By = Seller;
    type Reply = Summary;

    fn begin(self, app: &App, seller: &Seller, check: Check) -> Begun<Self> {
        check.finish()?;
        let (owner, now, today) =
            (seller.account.user_id, seller.called_at, app.day(seller.called_at));
        // Slow: products that run low are counted among all of the owner's.
        Ok(Todo::Slow(Box::new(move |app| {
            let seen = app.db.read(Lane::Slow, |tx| Seen::read(tx, owner, (now, today)))?;
            Ok(Summary::of(seen, today, app.zone()))
        })))
    }
}

impl Seen {
    fn read(tx: &ReadTx<'_>, owner: UserId, (now, today): (Instant, Day)) -> db::Result<Self> {
        let accounts = accounts::linked_accounts(tx, owner)?;
        let mut parcels = (0, None);
        for one in &accounts {
            let (count, due) = labels::count_to_print(tx, owner, one.ml_user_id)?;
            parcels.0 += count;
            parcels.1 = parcels.1.into_iter().chain(due).min();
        }
        let (first, unanswered) = questions::waiting(tx, (owner, None), RowWindow::first(1))?;
        let oldest = first.first().map(|one| one.question.row.asked_at);
        let (claims, _) = claims::most_urgent(tx, owner, MOST_SHOWN)?;
        let low = ProductQuery {
            owner,
            search: "",
            sku: None,
            level: Some(StockLevel::Low),
            order: "estoque",
            descending: false,
            after: None,
        };
        let monday = today.week_start();
        let before = monday.plus(-7);
        let week = |days| Ok::<_, db::DbError>((accounts::sold_on(tx, owner, days)?, days));
        Ok(Self {
            sold: accounts::sold_on(tx, owner, (today, today))?,
            weeks: [
                week((monday, today))?,
                week((before, monday.plus(-1)))?,
                week((before, today.plus(-7)))?,
            ],
            parcels,
            questions: (unanswered, oldest),
            stake: claims::at_stake(tx, owner, None)?,
            claims,
            owed: debts::owed(tx, Whose::Seller(owner), now)?,
            low: products::page(tx, &low, RowWindow::first(MOST_SHOWN))?,
            accounts,
        })
    }
}
