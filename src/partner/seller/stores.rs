//! `list_stores`: the connected marketplace accounts.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::MlUserId;
use crate::base::money::Cents;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::store::{AccountSummary, accounts_of};
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::Operation;

pub struct ListStores;

list_arguments! {
    /// Which connected accounts are asked for.
    pub struct StoresQuery {}
}

/// A connected marketplace account.
#[derive(Serialize, JsonSchema)]
pub struct Store {
    /// Marketplace seller id; what `store` filters and `/stores/{ml_id}/metrics` take.
    ml_user_id: MlUserId,
    /// Name of the store at the marketplace.
    nickname: String,
    /// False once the marketplace refused its tokens: its owner has to connect it again.
    token_ok: bool,
    /// Level at the marketplace, such as `5_green`; null without one.
    reputation: Option<String>,
    /// Active and paused listings.
    listings: i64,
    /// Orders that count as a sale today.
    sales_today: i64,
    /// Value of the sales of the last 30 days, today included.
    gmv_30d: Cents,
    /// Claims of buyers that are open.
    open_claims: i64,
    /// When anything was last read from the marketplace for it; null before.
    synced_at: Option<String>,
    /// Why it must be connected again, in words for its owner; null while it works.
    error: Option<String>,
}

impl Operation for ListStores {
    type By = Seller;
    type Args = StoresQuery;
    type Reply = ListOf<Store>;

    fn begin(
        app: &App,
        seller: &Seller,
        query: StoresQuery,
        mut check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let (owner, today) = (seller.account.user_id, app.day(seller.called_at));
        reading(app, false, move |app, lane| {
            let accounts = app.db.read(lane, |tx| accounts_of(tx, owner, today))?;
            let stores = accounts.into_iter().map(|account| Store::of(account, app.zone()));
            Ok(ListOf::of_all(stores, window))
        })
    }
}

impl Store {
    fn of(account: AccountSummary, zone: Zone) -> Self {
        let linked = account.linked;
        Self {
            ml_user_id: linked.ml_user_id,
            nickname: linked.nickname,
            token_ok: linked.token_ok,
            reputation: Some(linked.reputation).filter(|level| !level.is_empty()),
            listings: linked.listings,
            sales_today: account.sales_today,
            gmv_30d: account.gmv_30d,
            open_claims: linked.open_claims,
            synced_at: linked.synced_at.map(|at| zone.partner(at)),
            error: linked.error,
        }
    }
}
