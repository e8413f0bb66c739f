//! `drop_health`: ping, and the sellers that are linked.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::{MlUserId, UserId};
use crate::dropshipping::relations::{self, Related};
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::partner::list::reading;
use crate::partner::operation::{NoArguments, Operation};
use crate::partner::seller::health::Health;

/// Who the token belongs to, what it may do, and for whom.
#[derive(Serialize, JsonSchema)]
pub struct DropHealth {
    #[serde(flatten)]
    health: Health,
    /// Sellers with an active relation, by name.
    sellers: Vec<LinkedSeller>,
}

/// A seller with an active relation.
#[derive(Serialize, JsonSchema)]
struct LinkedSeller {
    /// Number of the seller, which other operations take.
    seller_id: UserId,
    /// Name of the seller.
    nome: String,
    /// The seller's connected marketplace accounts.
    stores: Vec<LinkedStore>,
    /// Listings that are linked to products.
    links: i64,
    /// When the relation began.
    since: String,
}

/// A marketplace account of a seller.
#[derive(Serialize, JsonSchema)]
struct LinkedStore {
    /// Marketplace seller id of the account.
    ml_user_id: MlUserId,
    /// Name of the account at the marketplace.
    nickname: String,
}

impl Operation for DropHealth {
    type By = Supplier;
    type Args = NoArguments;
    type Reply = Self;

    fn begin(
        app: &App,
        supplier: &Supplier,
        _: NoArguments,
        _: Check,
    ) -> Result<Todo<Self>, Problem> {
        let zone = app.zone();
        let health = Health::of(zone, supplier);
        let owner = supplier.account.user_id;
        reading(app, false, move |app, lane| {
            let (sellers, stores) = app.db.read(lane, |tx| {
                Ok::<_, Problem>((relations::sellers(tx, owner)?, relations::stores(tx, owner)?))
            })?;
            let sellers = sellers.into_iter().map(|one| LinkedSeller::of(one, &stores, zone));
            Ok(Self { health, sellers: sellers.collect() })
        })
    }
}

impl LinkedSeller {
    /// `stores` are those of all sellers.
    fn of(seller: Related, stores: &[(UserId, i64, String)], zone: Zone) -> Self {
        let own = stores.iter().filter(|(owner, ..)| *owner == seller.id);
        Self {
            seller_id: seller.id,
            nome: seller.name,
            stores: own
                .map(|(_, account, nickname)| LinkedStore {
                    ml_user_id: MlUserId(*account),
                    nickname: nickname.clone(),
                })
                .collect(),
            links: seller.links,
            since: zone.partner(seller.since),
        }
    }
}
