//! `drop_health`: ping, and the sellers that are linked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{MlUserId, OffsetTime, UserId, Zone};
use crate::dropshipping::relations::{self, Related};
use crate::http::{Check, Problem};
use crate::identity::Supplier;
use crate::partner::list::reading;
use crate::partner::operation::{Begun, Operation};
use crate::partner::seller::health::Health;
use crate::wire;

/// Who the token belongs to, what it may do, and for whom.
#[derive(Serialize, JsonSchema)]
pub struct DropHealth {
    #[serde(flatten)]
    health: Health,
    /// Sellers with an active relation, by name.
    sellers: Vec<LinkedSeller>,
}

wire! {
    /// A seller with an active relation.
    #[derive(Serialize, JsonSchema)]
    struct LinkedSeller of(seller: Related, stores: &[(UserId, i64, String)], zone: Zone) after {
        let own = stores.iter().filter(|(owner, ..)| *owner == seller.id);
    } {
        /// Number of the seller, which other operations take.
        seller_id: UserId = seller.id,
        /// Name of the seller.
        nome: String = seller.name,
        /// The seller's connected marketplace accounts.
        stores: Vec<LinkedStore> = own
            .map(|(_, account, nickname)| LinkedStore {
                ml_user_id: MlUserId(*account),
                nickname: nickname.clone(),
            })
            .collect(),
        /// Listings that are linked to products.
        links: i64 = seller.links,
        /// When the relation began.
        since: String = zone.partner(seller.since),
        /// The same instant with its offset from UTC.
        since_at: OffsetTime = zone.with_offset(seller.since),
    }
}

/// A marketplace account of a seller.
#[derive(Serialize, JsonSchema)]
struct LinkedStore {
    /// Marketplace seller id of the account.
    ml_user_id: MlUserId,
    /// Name of the account at the marketplace.
    nickname: String,
}

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDropHealth {}

impl Operation for GetDropHealth {
    type By = Supplier;
    type Reply = DropHealth;

    fn begin(self, app: &App, supplier: &Supplier, _: Check) -> Begun<Self> {
        let zone = app.zone();
        let health = Health::of(zone, supplier);
        let owner = supplier.account.user_id;
        reading(app, false, move |app, lane| {
            let (sellers, stores) = app.db.read(lane, |tx| {
                Ok::<_, Problem>((relations::sellers(tx, owner)?, relations::stores(tx, owner)?))
            })?;
            let sellers = sellers.into_iter().map(|one| LinkedSeller::of(one, &stores, zone));
            Ok(DropHealth { health, sellers: sellers.collect() })
        })
    }
}
