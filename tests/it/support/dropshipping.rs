//! A supplier and a seller who do business.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Reply;
use crate::support::shop::Shop;
use crate::support::site::{Builder, Site};
use crate::support::sync::wait_until_worked;
use crate::support::world::LOJA;

pub const BASE: &str = "/api/v1/partner/drop";

pub fn path(target: &str) -> String {
    format!("{BASE}{target}")
}

#[track_caller]
pub fn read(actor: &Actor<'_>, target: &str) -> Value {
    actor.get(&path(target)).expect(200).json()
}

#[track_caller]
pub fn data(actor: &Actor<'_>, target: &str) -> Vec<Value> {
    read(actor, target)["data"].as_array().unwrap().clone()
}

pub fn ask(actor: &Actor<'_>, target: &str, body: &Value) -> Reply {
    actor.post(&path(target), body)
}

/// The data in the answer to a call.
#[track_caller]
pub fn done(actor: &Actor<'_>, target: &str, body: &Value) -> Value {
    ask(actor, target, body).expect(200).json()["data"].clone()
}

pub fn relate(site: &Site, supplier: &Actor<'_>, seller: &Actor<'_>) {
    let (supplier, seller) = (&supplier.person().email, &seller.person().email);
    site.command(&["partner", "relate", "--supplier", supplier, "--seller", seller]).ok();
}

/// The platform's number of a person.
pub fn number(site: &Site, actor: &Actor<'_>) -> String {
    let sql =
        format!("SELECT CAST(user_id AS TEXT) FROM user WHERE email = '{}'", actor.person().email);
    site.stored(&sql).remove(0)
}

/// The listing of a seller.
pub fn listing(site: &Site, seller: &Actor<'_>) -> String {
    let owner = number(site, seller);
    let sql = format!("SELECT site || item_id FROM listing WHERE owner_id = {owner}");
    site.stored(&sql).remove(0)
}

/// Two suppliers, of whom the first is related to Ana and has a product of
/// twenty reais, and Ana's listing.
pub struct Trade {
    pub shop: Shop,
    pub listing: String,
    pub seller: String,
}

impl Trade {
    pub fn open() -> Self {
        Self::open_with(|site| site)
    }

    /// The same, on a site with other settings.
    pub fn open_with(set: impl FnOnce(Builder) -> Builder) -> Self {
        let shop = Shop::open_with(set);
        let (seller, listing) = {
            let site = &shop.site;
            let (sol, lua) = (site.supplier("sol").plan("pro"), site.supplier("lua").plan("pro"));
            let ana = site.person("ana");
            relate(site, &sol, &ana);
            relate(site, &lua, &site.person("rui"));
            for (actor, sku) in [("sol", "GAR-1"), ("lua", "LUA-1")] {
                let product = json!({ "sku": sku, "titulo": "Garrafa de inox", "preco": 20 });
                site.person_as(actor, "drop").post("/fornecedor/produtos", &product).expect(201);
            }
            (number(site, &ana), listing(site, &ana))
        };
        Self { shop, listing, seller }
    }

    pub fn sol(&self) -> Actor<'_> {
        self.shop.site.supplier("sol")
    }

    pub fn lua(&self) -> Actor<'_> {
        self.shop.site.supplier("lua")
    }

    pub fn link(&self) -> Value {
        let link = json!({ "seller_id": self.seller, "ml_id": self.listing, "sku": "GAR-1" });
        done(&self.sol(), "/catalog/links", &link)
    }

    /// Makes a paid order of Ana's listing and waits until it is stored here.
    pub fn sell(&self, quantity: i64) -> String {
        let order = json!({ "quantity": quantity, "notify": true });
        let order = self.shop.world.sale_with(LOJA, &order);
        wait_until_worked(&self.shop.world, &self.shop.site);
        order["id"].to_string()
    }

    /// Links Ana's listing and sells of it, once for each quantity.
    pub fn link_and_sell(&self, quantities: &[i64]) {
        self.link();
        self.shop.site.clock().advance_s(60);
        for quantity in quantities {
            self.sell(*quantity);
        }
    }

    pub fn change(&self, order: &str, fields: &Value) {
        self.shop.world.control(&format!("/_sandbox/orders/{order}"), fields);
        wait_until_worked(&self.shop.world, &self.shop.site);
    }
}
