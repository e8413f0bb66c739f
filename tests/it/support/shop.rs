//! A shop with orders, parcels and labels.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::{Builder, Site};
use crate::support::sync::wait_until_read;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Where labels are listed.
pub const LABELS: &str = "/painel/ml/etiquetas";
pub const OTHER: u64 = 900_000_002;

pub struct Shop {
    pub world: World,
    pub site: Site,
}

impl Shop {
    /// Ana and Rui with a shop each, read to the end.
    pub fn open() -> Self {
        Self::open_with(|site| site)
    }

    /// The same, on a site with other settings.
    pub fn open_with(set: impl FnOnce(Builder) -> Builder) -> Self {
        let world = World::start();
        for (seller, nickname) in [(LOJA, "LOJA DA ANA"), (OTHER, "LOJA DO RUI")] {
            world.seller(seller, nickname);
            world.item(seller, "Garrafa", 89.9);
        }
        let site = set(Site::builder().unlimited().world(&world)).start();
        for (name, seller) in [("ana", LOJA), ("rui", OTHER)] {
            let owner = site.person(name);
            world.link(&owner, seller);
            wait_until_read(&site, &owner);
        }
        Self { world, site }
    }

    pub fn ana(&self) -> Actor<'_> {
        self.site.person("ana")
    }

    /// Makes a sale whose parcel can be sent; returns order and shipment.
    pub fn sell(&self, seller: u64, notify: bool) -> (String, String) {
        let order = self.world.sale_with(seller, &json!({ "notify": notify }));
        let id = order["id"].to_string();
        let ready = json!({
            "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print",
            "notify": notify,
        });
        let order = self.world.control(&format!("/_sandbox/orders/{id}"), &ready);
        let shipment = order["order"]["shipment"]["id"].to_string();
        (id, shipment)
    }

    /// Waits until the page shows `count` parcels of an account.
    #[track_caller]
    pub fn wait_for(&self, actor: &Actor<'_>, count: u64) -> Value {
        self.world.deliveries();
        until("the parcels are known", Duration::from_mins(1), || {
            self.site.clock().advance_s(1);
            let request = Request::new("GET", LABELS).header("Accept", "application/json");
            let list = actor.send(request).ok();
            (list["total"] == count).then_some(list)
        })
    }
}

/// A refusal: plain text, a short sentence of ours.
#[track_caller]
pub fn refused(reply: Reply, status: u16) -> String {
    let reply = reply.expect(status);
    let kind = reply.header("content-type");
    assert_eq!(kind, Some("text/plain; charset=utf-8"), "{reply}");
    let said = reply.text();
    assert!(said.ends_with('.') && said.len() < 200, "{said}");
    said
}
