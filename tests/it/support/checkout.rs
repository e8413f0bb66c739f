//! Purchase events, as the checkout sends them.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::CHECKOUT_TOKEN;

pub const RECEIVER: &str = "/api/v1/webhook/checkout";
pub const DAY_S: i64 = 86_400;

/// A purchase event, days before or after the start of the test.
#[derive(Clone)]
pub struct Event(pub Value);

impl Event {
    /// `event` of a transaction, `day` days from the start.
    pub fn new(id: &str, event: &str, email: &str, transaction: &str, day: i64) -> Self {
        Self(json!({
            "id": id, "creation_date": ms(day), "event": event, "version": "2.0.0",
            "data": {
                "product": { "id": 77001, "name": "Programa Piloto" },
                "buyer": { "email": email, "name": "Lia Prado", "checkout_phone": "11987650000" },
                "purchase": { "transaction": transaction, "offer": { "code": "abc12345" } },
                "subscription": { "plan": { "id": 501 }, "subscriber": { "code": format!("S-{email}") } },
            },
        }))
    }

    /// An approval that pays for thirty days.
    pub fn approved(id: &str, email: &str, transaction: &str, day: i64) -> Self {
        Self::new(id, "PURCHASE_APPROVED", email, transaction, day).next_charge(day + 30)
    }

    pub fn next_charge(self, day: i64) -> Self {
        self.with("/data/purchase/date_next_charge", ms(day))
    }

    pub fn renewal(self, number: i64) -> Self {
        self.with("/data/purchase/recurrence_number", number)
    }

    /// The event with another value at a place.
    pub fn with(mut self, place: &str, value: impl Into<Value>) -> Self {
        let (parent, name) = place.rsplit_once('/').unwrap();
        self.0.pointer_mut(parent).unwrap()[name] = value.into();
        self
    }

    pub fn without(mut self, place: &str) -> Self {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = self.0.pointer_mut(parent).unwrap();
        parent.as_object_mut().unwrap().remove(name).unwrap();
        self
    }

    pub fn send(&self, platform: &Actor<'_>) -> Reply {
        platform.send(with_token(CHECKOUT_TOKEN).json(&self.0))
    }
}

/// Milliseconds of a day, counted from the start of every test.
pub fn ms(day: i64) -> i64 {
    (1_795_176_000 + day * DAY_S) * 1000
}

pub fn with_token(token: &str) -> Request {
    Request::new("POST", RECEIVER).header("X-Hotmart-Hottok", token)
}
