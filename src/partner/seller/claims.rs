//! `list_claims` and `get_claim`: claims of buyers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, MlUserId, OffsetTime, OrderId, Zone};
use crate::http::{Check, Code, Field, Problem, RowNumber};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::claims::ClaimState;
use crate::marketplace::books::claims::store::{self, Claim, ClaimFilter};
use crate::marketplace::books::listed;
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

const WORDS: [&str; 2] = [word(ClaimState::Open), word(ClaimState::Closed)];

const fn word(state: ClaimState) -> &'static str {
    match state {
        ClaimState::Open => "opened",
        ClaimState::Closed => "closed",
    }
}

list_arguments! {
    /// Which claims are asked for.
    pub struct ListClaims {
        /// `opened` or `closed`.
        #[schemars(extend("enum" = WORDS))]
        status: String,
        /// Marketplace seller id of one connected account.
        store: MlUserId,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

/// Which claim is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetClaim {
    /// Number of the claim at the marketplace.
    #[schemars(extend("examples" = ["5255026766"]))]
    claim_id: Field<RowNumber>,
}

wire! {
    /// A claim of a buyer.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Claim")]
    pub struct WireClaim of(one: Claim, zone: Zone) after {
        let Claim { claim: row, order, title, amount } = one;
    } {
        /// Number of the claim at the marketplace.
        claim_id: String = row.id.to_string(),
        /// The order that it is about; null when it is about something else.
        order_id: Option<OrderId> = order,
        /// Marketplace seller id of the account.
        ml_user_id: MlUserId = row.seller,
        /// Title of what was sold; empty when it is not known.
        title: String = title,
        /// What was paid for it in BRL; null when it is not known.
        amount: Option<Cents> = amount,
        /// Whether it is open.
        #[schemars(extend("enum" = WORDS))]
        status: &'static str = word(row.state),
        /// Kind of claim at the marketplace, such as `mediations` or `return`.
        #[serde(rename = "type")]
        kind: String = row.kind,
        /// How far it is at the marketplace, such as `claim` or `dispute`.
        stage: String = row.stage,
        /// The marketplace's code of the reason; may be empty.
        reason: String = row.reason,
        /// What the seller has to do, as the marketplace's code; empty when nothing.
        action: String = row.action,
        /// How it ended, as the marketplace's code; empty while it is open.
        resolution: String = row.resolution,
        /// Until when the seller must act, as civil time of the service; null without a deadline.
        due_at: Option<String> = row.due_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        due_at_rfc3339: Option<OffsetTime> = row.due_at.map(|at| zone.with_offset(at)),
        /// When it was opened, as civil time of the service.
        date_created: String = zone.partner(row.opened_at),
        /// The same instant with its offset from UTC.
        date_created_at: OffsetTime = zone.with_offset(row.opened_at),
        /// When the marketplace last changed it, as civil time of the service.
        updated_at: String = zone.partner(row.updated_at),
        /// The same instant with its offset from UTC.
        updated_at_rfc3339: OffsetTime = zone.with_offset(row.updated_at),
    }
}

impl Operation for ListClaims {
    type By = Seller;
    type Reply = CursorListOf<WireClaim>;

    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let owner = seller.account.user_id;
        let states = ClaimState::ALL.map(|state| (word(state), state));
        let state = check.one_of("status", self.status, &states);
        let account = check.optional("store", self.store);
        let window = Window::read(&mut check, self.limit, self.offset);
        let scope = ListScope::of(app, owner, "claims", &format!("{:?}", (state, account)));
        let walk: Walk<(i64, i64, i64)> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        reading(app, window.is_far() || account.is_some(), move |app, lane| {
            let wanted = ClaimFilter { owner, state, account, after: walk.after };
            let page = app.db.read(lane, |tx| {
                stores::require(tx, owner, account)?;
                Ok::<_, Problem>(store::page(tx, &wanted, walk.rows())?)
            })?;
            Ok(walk.page(page, Claim::place, |one| WireClaim::of(one, app.zone())))
        })
    }
}

impl Operation for GetClaim {
    type By = Seller;
    type Reply = WireClaim;

    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let RowNumber(id) = check.required("claim_id", self.claim_id);
        check.finish()?;
        let owner = seller.account.user_id;
        reading(app, false, move |app, lane| {
            let found = app.db.read(lane, |tx| listed::one::<Claim>(tx, owner, id))?;
            let found = found.ok_or_else(Problem::not_found)?;
            Ok(WireClaim::of(found, app.zone()))
        })
    }
}
