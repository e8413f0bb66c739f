//! `drop_health`: ping, and the sellers that are linked.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::{MlUserId, UserId};
use crate::drop::relations::{self, RelatedSeller};
use crate::edge::docs::Example;
use crate::edge::guard::Supplier;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::partner::list::reading;
use crate::partner::operation::{Effect, NoArguments, Operation, Tool};
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

    const DETAILS: &'static str = "\
        The call to begin with: the numbers of the sellers, which other operations take, \
        and their marketplace accounts. A seller is here from the moment the invitation is \
        accepted until either side ends the relation.";
    const EXAMPLE: Example = Example {
        sent: "",
        answer: r#"{
  "ok": true,
  "user": {"id": "7", "nome": "Rui Prado", "role": "drop"},
  "plan": {
    "name": "starter",
    "monthly_quota": 10000,
    "per_minute": 60,
    "valid_until": null
  },
  "token": {
    "name": "ERP",
    "created_at": "2026-11-02T10:31:00",
    "last_used_at": null
  },
  "server_time": "2026-11-20T09:00:00",
  "version": "0.1.0",
  "sellers": [
    {
      "seller_id": "42",
      "nome": "Ana Souza",
      "stores": [{"ml_user_id": "900000001", "nickname": "LOJA DA ANA"}],
      "links": 12,
      "since": "2026-11-03T14:20:00"
    }
  ]
}"#,
    };
    const TOOL: Tool = Tool {
        title: "Who am I, and my sellers",
        when: "\
            Use it first: it has the number of each linked seller (`seller_id`), which other \
            tools take, with name and stores. People name sellers by name; look the number up \
            here.",
        effect: Effect::Reads,
    };

    fn begin(app: &App, supplier: &Supplier, _: NoArguments) -> Result<Todo<Self>, Problem> {
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
    fn of(seller: RelatedSeller, stores: &[(UserId, i64, String)], zone: Zone) -> Self {
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
