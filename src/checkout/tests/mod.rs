//! Tests of this folder with a real database, without HTTP.

mod convergence;
mod parsing;
mod purchase_state;
mod rules;
mod search;

use serde_json::Value;

use super::apply::{self, Incoming};
use super::*;
use crate::accounts::students::AccountServices;
use crate::audit::{Actor, ActorKind};
use crate::config::Config;
use crate::db::{Result, WriteTx};
use crate::fixture::{self, NOW, ZONE};

/// The service with the plans of the tests.
struct TestApp(fixture::TestApp);

impl TestApp {
    fn new() -> Self {
        let plans = [("vip12345", "vip"), ("503", "podio"), ("77002", "podio")];
        Self::with(config_with(&plans))
    }

    fn with(config: Config) -> Self {
        Self(fixture::TestApp::new(config))
    }

    fn now_is(&self, now: &str) {
        self.0.dir.now_is(Instant::parse(now).unwrap());
    }

    fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>, &AccountServices) -> Result<T> + Send + 'static,
    ) -> T {
        let services = AccountServices::of(&self.0.app);
        self.0.app.db.write(move |tx| job(tx, &services)).unwrap()
    }

    fn incoming(&self, payload: &Value) -> Incoming {
        let object = payload.as_object().unwrap();
        let event = parse::event(object, ZONE).unwrap();
        let actor = Actor::local(ActorKind::Purchase, "teste");
        api::incoming(&self.0.app, event, payload.to_string(), actor)
    }

    /// Receives payloads, all in one transaction.
    fn receive(&self, payloads: &[Value]) {
        let incoming: Vec<Incoming> = payloads.iter().map(|one| self.incoming(one)).collect();
        self.write(move |tx, services| {
            incoming.iter().try_for_each(|incoming| apply::receive(tx, services, incoming))
        });
    }

    fn ask<T>(&self, sql: &str, row: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        self.0.ask(sql, row)
    }

    /// State and words of the newest event.
    fn last(&self) -> (EventState, String) {
        let sql = "SELECT state, outcome FROM checkout_event ORDER BY event_id DESC LIMIT 1";
        self.ask(sql, |row| row.try_into()).remove(0)
    }

    /// An account as `e-mail plano status pago_ate atraso fim disputa`.
    fn account(&self, email: &str) -> Option<String> {
        let all = self.accounts();
        all.into_iter().find(|line| line.starts_with(&format!("{email} ")))
    }

    fn accounts(&self) -> Vec<String> {
        self.ask(
            "SELECT email || ' ' || role
                 || iif(suspended_at IS NULL, '', ' suspenso')
                 || iif(paid_until IS NULL, '', ' pago ' || date(paid_until, 'unixepoch'))
                 || iif(late_since IS NULL, '', ' atrasado ' || date(late_since, 'unixepoch'))
                 || iif(ends_at IS NULL, '', ' termina ' || date(ends_at, 'unixepoch'))
                 || iif(disputed_at IS NULL, '', ' disputa ' || date(disputed_at, 'unixepoch'))
             FROM user ORDER BY email",
            |row| row.get(0),
        )
    }
}

fn config_with(plans: &[(&str, &str)]) -> Config {
    let plans: Vec<String> =
        plans.iter().map(|(code, role)| format!("\"{code}\" = \"{role}\"")).collect();
    fixture::config(&[("CHECKOUT__PLANS", &format!("{{ {} }}", plans.join(", ")))])
}
