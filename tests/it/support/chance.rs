//! Random events in shops, at the marketplace and on the platform: one small
//! event after the other, drawn from a seed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::random::Random;
use crate::support::site::Site;
use crate::support::world::World;

/// Shops and their owners.
pub const SHOPS: [(u64, &str); 3] =
    [(900_000_001, "ana"), (900_000_002, "ana"), (900_000_003, "rui")];
/// Persons log in again after this time; a session lasts twelve hours.
const LOGIN_S: i64 = 8 * 3600;
/// How many steps a test remembers for its message.
const REMEMBERED: usize = 80;

/// The state of an order that the random events depend on.
pub struct Order {
    pub id: String,
    status: String,
    /// 0 to be sent, 1 on its way, 2 arrived.
    stage: usize,
    /// It is sent in the parcel of another order.
    rides_along: bool,
}

#[derive(Default)]
pub struct Shop {
    pub items: Vec<String>,
    pub orders: Vec<Order>,
    pub questions: Vec<String>,
    pub claims: Vec<String>,
}

/// How often an event is drawn, its name, and its function.
type Act<'w> = (u64, &'static str, fn(&mut Play<'w>));

#[rustfmt::skip] // A table.
fn acts<'w>() -> [Act<'w>; 32] {[
    (200, "a sale",                  Play::sell),
    (25,  "a cart",                  Play::sell_cart),
    (170, "an order changes",        Play::change_order),
    (90,  "a parcel moves",          Play::move_parcel),
    (90,  "a listing changes",       Play::change_item),
    (15,  "a listing",               Play::publish),
    (60,  "a question",              Play::ask),
    (60,  "a question changes",      Play::change_question),
    (12,  "the seller answers here", Play::answer),
    (35,  "a claim",                 Play::claim),
    (45,  "a claim changes",         Play::change_claim),
    (40,  "news again",              Play::announce_again),
    (30,  "ways of delivery",        Play::configure_delivery),
    (20,  "odd habits",              Play::configure_habits),
    (70,  "a fault",                 Play::fault),
    (12,  "faults end",              Play::clear_faults),
    (25,  "a record is spoiled",     Play::spoil),
    (20,  "a record is whole again", Play::mend),
    (8,   "up or down",              Play::switch_down),
    (15,  "access ends",             Play::expire_access),
    (3,   "access is revoked",       Play::revoke),
    (12,  "lost links are renewed",  Play::link_again),
    (3,   "unlinked",                Play::unlink),
    (8,   "sync now",                Play::ask_for_reading),
    (7,   "killed",                  Play::kill),
    (7,   "stopped",                 Play::stop),
    (40,  "started",                 Play::start),
    (80,  "time passes",             Play::let_time_pass),
    (30,  "hours pass",              Play::let_hours_pass),
    (35,  "periodic tasks",          Play::run_tasks),
    (60,  "deliveries arrive",       Play::let_arrive),
    (30,  "programs look",           Play::look),
]}

/// The whole state of a run.
pub struct Play<'w> {
    pub world: &'w World,
    pub site: &'w Site,
    pub random: Random,
    pub shops: Vec<Shop>,
    pub spoiled: Vec<String>,
    pub is_down: bool,
    pub holds: bool,
    people: Vec<(&'static str, Actor<'w>, i64)>,
    /// Each owner's integration and extension, which read all the time.
    programs: Vec<(&'static str, Actor<'w>, Actor<'w>)>,
    trail: Vec<String>,
    /// How often a link may have been lost.
    pub losses: usize,
    pub kills: usize,
}

impl<'w> Play<'w> {
    /// Three shops of two persons, linked, with something for sale.
    #[track_caller]
    pub fn begin(world: &'w World, site: &'w Site, seed: u64) -> Self {
        let mut play = Self {
            world,
            site,
            random: Random::new(seed),
            shops: Vec::new(),
            spoiled: Vec::new(),
            is_down: false,
            holds: false,
            people: Vec::new(),
            programs: ["ana", "rui"]
                .map(|name| (name, site.seller(name).plan("scale"), site.extension(name)))
                .into(),
            trail: Vec::new(),
            losses: 0,
            kills: 0,
        };
        world.configure(&json!({
            "attempts": 3, "retry_scale": 0.0003,
            "topics": ["orders_v2", "items", "questions", "post_purchase", "claims", "shipments"],
        }));
        for (number, (id, _)) in SHOPS.into_iter().enumerate() {
            world.seller(id, &format!("LOJA {id}"));
            play.shops.push(Shop::default());
            for _ in 0..4 + number * 50 {
                play.publish_in(number);
            }
            // Sales from before the link.
            for _ in 0..6 {
                play.sell_in(number, &json!({ "notify": false }));
            }
        }
        site.clock().advance_s(60);
        for (id, name) in SHOPS {
            for product in 0..4 {
                let body = json!({ "titulo": "Coisa", "sku": format!("SKU-{id}-{product}"), "estoque": 1000 });
                play.person(name).post("/painel/produtos", &body).expect(201);
            }
            world.link(play.person(name), id);
        }
        site.clock().advance_s(60);
        play
    }

    /// Makes one random event happen.
    #[track_caller]
    pub fn step(&mut self) {
        let acts = acts();
        let all: u64 = acts.iter().map(|(weight, ..)| weight).sum();
        let mut drawn = self.random.below(all);
        for (weight, what, act) in acts {
            if drawn < weight {
                self.note(what);
                act(self);
                return;
            }
            drawn -= weight;
        }
    }

    /// The latest events, for the message of a failing test.
    pub fn trail(&self) -> String {
        let from = self.trail.len().saturating_sub(REMEMBERED);
        self.trail[from..].join("\n")
    }

    pub fn note(&mut self, what: impl Into<String>) {
        self.trail.push(what.into());
    }

    /// The person in the browser, with a recent login.
    #[track_caller]
    pub fn person(&mut self, name: &'static str) -> &Actor<'w> {
        let now = self.site.clock().now().as_second();
        self.people.retain(|(_, _, since)| now - since < LOGIN_S);
        if !self.people.iter().any(|(known, ..)| *known == name) {
            let person = self.site.person(name);
            self.people.push((name, person, now));
        }
        let found = self.people.iter().find(|(known, ..)| *known == name);
        &found.unwrap().1
    }

    pub fn is_running(&self) -> bool {
        self.site.try_address().is_some()
    }

    pub fn shop(&mut self) -> usize {
        usize::try_from(self.random.below(SHOPS.len() as u64)).unwrap()
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    pub fn picked<T: Clone>(&mut self, things: &[T]) -> Option<T> {
        (!things.is_empty()).then(|| self.random.pick(things).clone())
    }

    /// The requests that integrations and extensions repeat.
    fn look(&mut self) {
        for (_, integration, extension) in &self.programs {
            if self.is_running() {
                integration.get("/api/v1/partner/orders").expect(200);
                extension.get("/api/ext/me").expect(200);
            }
        }
    }

    /// All differences between what programs are shown and what the marketplace
    /// has.
    #[track_caller]
    pub fn shown_wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, integration, extension) in &self.programs {
            let own = SHOPS.iter().filter(|(_, owner)| owner == name);
            let truths: Vec<Value> = own.map(|(id, _)| self.world.truth(*id)).collect();
            let orders = truths.iter().flat_map(|truth| truth["orders"].as_array().unwrap());
            let wanted: BTreeMap<String, String> = orders
                .map(|order| {
                    (order["order_id"].to_string(), order["status"].as_str().unwrap().to_owned())
                })
                .collect();
            let shown = all_orders(integration);
            if shown != wanted {
                wrong.push(format!("{name} is shown orders {shown:?}, not {wanted:?}"));
            }
            let me = extension.get("/api/ext/me").ok();
            let numbers =
                |account: &Value, names: [&str; 3]| names.map(|name| account[name].clone());
            let accounts = me["ml"]["contas"].as_array().unwrap().iter();
            let mut shown: Vec<_> = accounts
                .map(|account| numbers(account, ["anuncios", "perguntas", "reclamacoes"]))
                .map(|numbers| format!("{numbers:?}"))
                .collect();
            let accounts = truths.iter().map(|truth| &truth["account"]);
            let mut wanted: Vec<_> = accounts
                .map(|account| numbers(account, ["listings", "open_questions", "open_claims"]))
                .map(|numbers| format!("{numbers:?}"))
                .collect();
            shown.sort();
            wanted.sort();
            if shown != wanted {
                wrong.push(format!("{name} is shown numbers {shown:?}, not {wanted:?}"));
            }
        }
        wrong
    }

    /// Makes a change at the marketplace, with or without a notification;
    /// returns its answer.
    fn happen(&mut self, path: &str, mut what: Value) -> Option<Value> {
        if what.get("notify").is_none() {
            what["notify"] = self.chance(70).into();
        }
        self.note(format!("  {path} {what}"));
        self.world.may_control(&format!("/_sandbox/{path}"), &what)
    }

    fn publish_in(&mut self, shop: usize) {
        let id = SHOPS[shop].0;
        let mut item = json!({
            "ml_user_id": id, "title": format!("Coisa {}", self.random.below(1000)),
            "price": 10 + self.random.below(200),
            "stock": 5 + self.random.below(60),
            "logistic": self.random.pick(&["drop_off", "fulfillment", "cross_docking"]),
            "listing_type": self.random.pick(&["gold_special", "gold_pro"]),
        });
        let sku = format!("SKU-{id}-{}", self.random.below(4));
        match self.random.below(5) {
            0 => {}
            1 => {
                item["variations"] = json!([
                    { "id": 0, "value": "Azul", "stock": 5, "sku": sku },
                    { "id": 0, "value": "Verde", "stock": 5 }]);
            }
            _ => item["sku"] = sku.into(),
        }
        if self.chance(30) {
            item["ean"] = "7891234567895".into();
        }
        if let Some(made) = self.happen("items", item) {
            let id = made["id"].as_str().unwrap().to_owned();
            self.shops[shop].items.push(id);
        }
    }

    fn publish(&mut self) {
        let shop = self.shop();
        self.publish_in(shop);
    }

    fn sell_in(&mut self, shop: usize, fields: &Value) {
        let Some(item) = self.picked(&self.shops[shop].items.clone()) else {
            return;
        };
        let mut sale = fields.clone();
        sale["ml_user_id"] = SHOPS[shop].0.into();
        sale["item"] = item.into();
        sale["quantity"] = (1 + self.random.below(3)).into();
        let statuses =
            ["paid", "paid", "paid", "confirmed", "payment_in_process", "payment_required"];
        sale["status"] = (*self.random.pick(&statuses)).into();
        if self.chance(25) {
            sale["shipping"] = "later".into();
        }
        if self.chance(40) {
            sale["buyer_nickname"] = "COMPRADORA".into();
        }
        if let Some(made) = self.happen("sales", sale) {
            let order = Order {
                id: made["order"]["id"].to_string(),
                status: made["order"]["status"].as_str().unwrap().to_owned(),
                stage: 0,
                rides_along: fields.get("pack_id").is_some(),
            };
            self.shops[shop].orders.push(order);
        }
    }

    fn sell(&mut self) {
        let shop = self.shop();
        self.sell_in(shop, &json!({}));
    }

    /// Orders that are sent together.
    fn sell_cart(&mut self) {
        let (shop, pack) = (self.shop(), 2_000_000_000 + self.random.below(1 << 30));
        let first = self.shops[shop].orders.len();
        for _ in 0..2 + self.random.below(2) {
            self.sell_in(shop, &json!({ "pack_id": pack }));
        }
        // The parcel is changed through the first order.
        if let Some(order) = self.shops[shop].orders.get_mut(first) {
            order.rides_along = false;
        }
    }

    /// A random order of a shop, mostly a recent one.
    fn pick_order(&mut self, shop: usize) -> Option<usize> {
        let count = self.shops[shop].orders.len();
        let recent = count.saturating_sub(25);
        let from = if self.chance(80) { recent } else { 0 };
        (count > 0)
            .then(|| from + usize::try_from(self.random.below((count - from) as u64)).unwrap())
    }

    fn change_order(&mut self) {
        let shop = self.shop();
        let Some(place) = self.pick_order(shop) else {
            return;
        };
        let order = &self.shops[shop].orders[place];
        let (id, next): (_, &[&str]) = (
            order.id.clone(),
            match &*order.status {
                "confirmed" | "payment_required" | "payment_in_process" => {
                    &["paid", "paid", "cancelled", "payment_in_process"]
                }
                "paid" => &["partially_refunded", "cancelled", "x_em_analise", "paid"],
                "x_em_analise" => &["paid", "cancelled"],
                "partially_refunded" => &["cancelled", "partially_refunded"],
                _ => return,
            },
        );
        let next = *self.random.pick(next);
        let mut change = json!({ "status": next });
        let order = &self.shops[shop].orders[place];
        let is_here = order.stage == 0 && !order.rides_along;
        if next == "cancelled" && is_here && self.chance(50) {
            change["shipping_status"] = "cancelled".into();
        }
        if self.happen(&format!("orders/{id}"), change).is_some() {
            next.clone_into(&mut self.shops[shop].orders[place].status);
        }
    }

    fn move_parcel(&mut self) {
        let shop = self.shop();
        let Some(place) = self.pick_order(shop) else {
            return;
        };
        let order = &self.shops[shop].orders[place];
        let is_sold = matches!(&*order.status, "paid" | "partially_refunded") && !order.rides_along;
        let next = match order.stage {
            0 if is_sold => "shipped",
            1 => *self.random.pick(&["delivered", "delivered", "not_delivered"]),
            _ => return,
        };
        let id = self.shops[shop].orders[place].id.clone();
        if self.happen(&format!("orders/{id}"), json!({ "shipping_status": next })).is_some() {
            self.shops[shop].orders[place].stage += 1;
        }
    }

    fn change_item(&mut self) {
        let shop = self.shop();
        let Some(item) = self.picked(&self.shops[shop].items.clone()) else {
            return;
        };
        let change = match self.random.below(12) {
            0 => json!({ "status": "closed" }),
            1 | 2 => json!({ "status": "paused" }),
            3 | 4 => json!({ "status": "active" }),
            5 => json!({ "status": "under_review", "sub_status": ["waiting_for_patch"] }),
            6 => json!({ "stock": 0 }),
            7 | 8 => json!({ "stock": 1 + self.random.below(40) }),
            9 => json!({ "title": format!("Nova coisa {}", self.random.below(1000)) }),
            10 => json!({ "logistic": "fulfillment" }),
            _ => json!({ "price": 5 + self.random.below(300) }),
        };
        self.happen(&format!("items/{item}"), change);
    }

    fn ask(&mut self) {
        let shop = self.shop();
        let item = self.picked(&self.shops[shop].items.clone());
        let asked = json!({ "ml_user_id": SHOPS[shop].0, "item": item });
        if let Some(made) = self.happen("questions", asked) {
            self.shops[shop].questions.push(made["id"].to_string());
        }
    }

    fn change_question(&mut self) {
        let shop = self.shop();
        let Some(question) = self.picked(&self.shops[shop].questions.clone()) else {
            return;
        };
        let change = match self.random.below(10) {
            0 => json!({ "status": "DELETED" }),
            1 => json!({ "status": "BANNED" }),
            2 => json!({ "status": "UNDER_REVIEW" }),
            3 => json!({ "status": "CLOSED_UNANSWERED" }),
            4 => json!({ "status": "UNANSWERED" }),
            _ => json!({ "answer": format!("Resposta {}", self.random.below(1000)) }),
        };
        self.happen(&format!("questions/{question}"), change);
    }

    /// The seller answers in the panel; any result is allowed.
    fn answer(&mut self) {
        let shop = self.shop();
        let Some(question) = self.picked(&self.shops[shop].questions.clone()) else {
            return;
        };
        if !self.is_running() {
            return;
        }
        let path = format!("/painel/perguntas/{question}/responder");
        let request = Request::new("POST", &path).json(&json!({ "resposta": "Sim, serve." }));
        let reply = self.person(SHOPS[shop].1).send(request);
        assert!(matches!(reply.status, 200 | 404 | 409 | 502 | 503), "{reply}");
    }

    fn claim(&mut self) {
        let shop = self.shop();
        let Some(place) = self.pick_order(shop) else {
            return;
        };
        let order: i64 = self.shops[shop].orders[place].id.parse().unwrap();
        let claim = json!({
            "ml_user_id": SHOPS[shop].0, "order": order,
            "type": self.random.pick(&["mediations", "return"]),
            "resource": self.random.pick(&["order", "shipment"]),
        });
        if let Some(made) = self.happen("claims", claim) {
            self.shops[shop].claims.push(made["id"].to_string());
        }
    }

    fn change_claim(&mut self) {
        let shop = self.shop();
        let Some(claim) = self.picked(&self.shops[shop].claims.clone()) else {
            return;
        };
        let change = match self.random.below(6) {
            0..=2 => json!({ "status": "closed", "resolution": "payment_refunded" }),
            3 => json!({ "stage": "dispute" }),
            4 => json!({ "action": "refund" }),
            _ => json!({ "status": "opened" }),
        };
        self.happen(&format!("claims/{claim}"), change);
    }

    /// A notification of something that did not change.
    fn announce_again(&mut self) {
        let shop = self.shop();
        let of = &self.shops[shop];
        let (topic, form, ids): (_, _, Vec<String>) = match self.random.below(4) {
            0 => ("items", "/items/", of.items.clone()),
            1 => ("questions", "/questions/", of.questions.clone()),
            2 => ("post_purchase", "/post-purchase/v1/claims/", of.claims.clone()),
            _ => {
                ("orders_v2", "/orders/", of.orders.iter().map(|order| order.id.clone()).collect())
            }
        };
        if let Some(id) = self.picked(&ids) {
            let news = json!({ "ml_user_id": SHOPS[shop].0, "topic": topic, "resource": format!("{form}{id}") });
            self.world.control("/_sandbox/notifications", &news);
        }
    }
}

/// Number and state of every order that an integration sees.
#[track_caller]
fn all_orders(integration: &Actor<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for offset in (0..).step_by(200) {
        let page = format!("/api/v1/partner/orders?limit=200&offset={offset}");
        let page = integration.get(&page).ok();
        let orders = page["data"].as_array().unwrap();
        let text = |order: &Value, name: &str| order[name].as_str().unwrap().to_owned();
        all.extend(orders.iter().map(|order| (text(order, "order_id"), text(order, "status"))));
        if orders.is_empty() {
            break;
        }
    }
    all
}
