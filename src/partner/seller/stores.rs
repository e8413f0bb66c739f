//! `list_stores`: the connected marketplace accounts.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::{Cents, MlUserId, OffsetTime, Zone};
use crate::db::RowWindow;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::store::{AccountSummary, accounts_of};
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

list_arguments! {
    /// Which connected accounts are asked for.
    pub struct ListStores {}
}

wire! {
    /// A connected marketplace account.
    #[derive(Serialize, JsonSchema)]
    pub struct Store of(account: AccountSummary, zone: Zone) after {
        let linked = account.linked;
    } {
        /// Marketplace seller id; what `store` filters and `/stores/{ml_id}/metrics` take.
        ml_user_id: MlUserId = linked.ml_user_id,
        /// Name of the store at the marketplace.
        nickname: String = linked.nickname,
        /// False once the marketplace refused its tokens: its owner has to connect it again.
        token_ok: bool = linked.token_ok,
        /// Level at the marketplace, such as `5_green`; null without one.
        reputation: Option<String> = Some(linked.reputation).filter(|level| !level.is_empty()),
        /// Active and paused listings.
        listings: i64 = linked.listings,
        /// Orders that count as a sale today.
        sales_today: i64 = account.sales_today,
        /// Value in BRL of the sales of the last 30 days, today included.
        gmv_30d: Cents = account.gmv_30d,
        /// Claims of buyers that are open.
        open_claims: i64 = linked.open_claims,
        /// When anything was last read from the marketplace for it; null before.
        synced_at: Option<String> = linked.synced_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        synced_at_rfc3339: Option<OffsetTime> = linked.synced_at.map(|at| zone.with_offset(at)),
        /// Why it must be connected again, in words for its owner; null while it works.
        error: Option<String> = linked.error,
    }
}

impl Operation for ListStores {
    type By = Seller;
    type Reply = ListOf<Store>;

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        let (owner, today) = (seller.account.user_id, app.day(seller.called_at));
        reading(app, false, move |app, lane| {
            let accounts = app.db.read(lane, |tx| accounts_of(tx, owner, today))?;
            let (total, RowWindow { limit, offset }) = (accounts.len() as u64, window.rows());
            let asked = accounts.into_iter().skip(offset as usize).take(limit as usize).collect();
            Ok(ListOf::of((asked, total), window, |account| Store::of(account, app.zone())))
        })
    }
}
