//! The room with a database of its own, without HTTP.

mod convergence;
mod parsing;
mod rules;
mod standing;

use serde_json::Value;

use super::apply::{self, Incoming};
use super::*;
use crate::accounts::students::Desk;
use crate::app::{App, Parts};
use crate::audit::{Actor, ActorKind};
use crate::base::clock::{Clock, Zone};
use crate::base::secrets::Sealer;
use crate::config;
use crate::db::{Db, DbError, Lane, Options, Result, WriteTx};

const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);
/// 2026-11-20 12:00 UTC.
const NOW: Instant = Instant(1_795_176_000);

/// A database, a clock and the plans of the tests.
struct House {
    app: std::sync::Arc<App>,
    clock_file: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        let plans = [("vip12345", "vip"), ("503", "podio"), ("77002", "podio")];
        Self::with(config_with(&plans))
    }

    fn with(config: config::Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock_file = folder.path().join("clock");
        std::fs::write(&clock_file, NOW.rfc3339()).unwrap();
        let clock = Clock::File(clock_file.clone());
        let options = Options {
            path: folder.path().join("test.db"),
            clock: clock.clone(),
            readers: 2,
            slow_readers: 2,
        };
        let (db, _) = Db::open_exclusive(&options).unwrap();
        let app = App::new(Parts {
            config,
            clock,
            db,
            sealer: Sealer::new([7; 32]),
            bound: ([127, 0, 0, 1], 8080).into(),
            routes: Vec::new(),
            demo: Vec::new(),
        })
        .unwrap();
        Self { app, clock_file, _folder: folder }
    }

    fn now_is(&self, now: &str) {
        crate::base::clock::tests::set_file(&self.clock_file, now);
    }

    fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>, &Desk) -> Result<T> + Send + 'static,
    ) -> T {
        let desk = Desk::of(&self.app);
        self.app.db.write(move |tx| job(tx, &desk)).unwrap()
    }

    fn incoming(&self, payload: &Value) -> Incoming {
        let object = payload.as_object().unwrap();
        let event = parse::event(object, ZONE).unwrap();
        let actor = Actor::local(ActorKind::Purchase, "teste");
        hook::incoming(&self.app, event, payload.to_string(), actor)
    }

    /// Receives payloads, all in one transaction.
    fn receive(&self, payloads: &[Value]) {
        let incoming: Vec<Incoming> = payloads.iter().map(|one| self.incoming(one)).collect();
        self.write(move |tx, desk| {
            incoming.iter().try_for_each(|incoming| apply::receive(tx, desk, incoming))
        });
    }

    fn ask<T>(&self, sql: &str, row: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        self.app
            .db
            .read(Lane::Slow, |tx| tx.all(sql, [], &row))
            .map_err(|error: DbError| error)
            .unwrap()
    }

    /// State and words of the newest event.
    fn last(&self) -> (EventState, String) {
        let sql = "SELECT state, outcome FROM checkout_event ORDER BY event_id DESC LIMIT 1";
        let mut rows =
            self.ask(sql, |row| Ok((row.get::<_, EventState>(0)?, row.get::<_, String>(1)?)));
        rows.remove(0)
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

fn config_with(plans: &[(&str, &str)]) -> config::Config {
    let plans: Vec<String> =
        plans.iter().map(|(code, role)| format!("\"{code}\" = \"{role}\"")).collect();
    let name = "SELLER_PLATFORM__CHECKOUT__PLANS".into();
    let env = [(name, format!("{{ {} }}", plans.join(", ")).into())];
    config::load(None, env.into_iter(), &config::Overrides::default()).unwrap().config
}
