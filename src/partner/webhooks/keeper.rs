//! What changes an endpoint, by whichever door: the panel or the API. Each act notes in the
//! audit log who did it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::objects::{Event, EventBodyBuilder};
use super::pages::{Audited, without_query};
use super::sign::SigningSecret;
use super::spread::{self, NewDelivery};
use super::{Endpoint, EndpointEntry, EndpointState, MOST_ENDPOINTS, MessageId, queue, store};
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::base::{Sealer, UserId, secrets};
use crate::db::{DbError, ReadTx, WriteTx};
use crate::events::EventType;
use crate::http::{Code, ForPeople, Problem};

/// Most tests of an endpoint in a minute.
const MOST_TESTS: usize = 10;
const TESTS_S: i64 = 60;

/// Who changes endpoints of an account.
pub struct Keeper {
    pub user: UserId,
    pub sealer: Arc<Sealer>,
    pub actor: Actor,
}

impl Keeper {
    /// Notes an act in the audit log.
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        action: &'static str,
        id: i64,
        url: &str,
        before: impl Serialize,
        after: impl Serialize,
    ) -> Result<(), DbError> {
        let act = objects::WEBHOOK.act(action, id, without_query(url));
        audit::note(tx, &self.actor, &act, before, after)
    }

    /// An endpoint of the account, or that there is none.
    pub fn find(&self, tx: &ReadTx<'_>, id: i64) -> Result<Endpoint, Problem> {
        store::one(tx, self.user, id)?.ok_or_else(Problem::not_found)
    }

    /// Makes an endpoint; `app` is the connection of the app that does so.
    pub fn make(
        &self,
        tx: &WriteTx<'_>,
        entry: &EndpointEntry,
        secret: &SigningSecret,
        app: Option<i64>,
    ) -> Result<i64, Problem> {
        if store::count(tx, self.user)? >= MOST_ENDPOINTS {
            let said = format!("there are {MOST_ENDPOINTS} endpoints already; remove one first");
            let words = format!("Já há {MOST_ENDPOINTS} endereços, o máximo. Exclua algum antes.");
            return Err(Problem::program_conflict(said).for_people(ForPeople(words)));
        }
        let id = store::insert(tx, &self.sealer, self.user, entry, secret)?;
        if let Some(grant) = app {
            store::set_app(tx, id, grant)?;
        }
        self.note(tx, "webhook.criar", id, &entry.url, (), Audited::of(entry))?;
        Ok(id)
    }

    /// Changes the address and the types of an endpoint.
    pub fn change(&self, tx: &WriteTx<'_>, id: i64, entry: &EndpointEntry) -> Result<(), Problem> {
        let before = self.find(tx, id)?;
        store::update(tx, id, entry)?;
        queue::find_next(tx, id)?;
        let (was, is) = (Audited::of(&before.entry), Audited::of(entry));
        self.note(tx, "webhook.alterar", id, &entry.url, &was, &is)?;
        Ok(())
    }

    /// Switches an endpoint on or off. When it is off already, whatever the reason,
    /// switching off changes nothing.
    pub fn switch(&self, tx: &WriteTx<'_>, id: i64, is_on: bool) -> Result<(), Problem> {
        let before = self.find(tx, id)?;
        if (before.state == EndpointState::On) == is_on {
            return Ok(());
        }
        let (state, action) = if is_on {
            (EndpointState::On, "webhook.ligar")
        } else {
            (EndpointState::Off, "webhook.desligar")
        };
        store::switch(tx, id, state)?;
        queue::find_next(tx, id)?;
        let states = [before.state, state].map(|state| json!({ "estado": state.name() }));
        self.note(tx, action, id, &before.entry.url, &states[0], &states[1])?;
        Ok(())
    }

    /// Replaces the secret of an endpoint; the one before signs as well for a day.
    pub fn rotate(&self, tx: &WriteTx<'_>, id: i64, secret: &SigningSecret) -> Result<(), Problem> {
        let endpoint = self.find(tx, id)?;
        store::rotate(tx, &self.sealer, id, secret)?;
        self.note(tx, "webhook.trocar_segredo", id, &endpoint.entry.url, (), ())?;
        Ok(())
    }

    /// Queues a test for an endpoint that is on; returns the number of its delivery.
    pub fn test(
        &self,
        tx: &WriteTx<'_>,
        bodies: &EventBodyBuilder,
        id: i64,
    ) -> Result<i64, Problem> {
        let endpoint = self.find(tx, id)?;
        if endpoint.state != EndpointState::On {
            return Err(Problem::program_conflict("the endpoint is off; switch it on first")
                .for_people(ForPeople("Este endereço está desligado. Ligue-o antes.")));
        }
        let now = tx.now();
        let tests = store::newest_of(tx, id, EventType::Test, MOST_TESTS)?;
        // Two tests within one second are the same object and sent once.
        if let Some((number, at)) = tests.first()
            && *at == now
        {
            return Ok(*number);
        }
        if let [.., (_, first)] = &tests[..]
            && tests.len() == MOST_TESTS
            && now.since(*first) < TESTS_S
        {
            let said = format!("an endpoint is tested at most {MOST_TESTS} times a minute");
            let retry_after_s = Some(TESTS_S - now.since(*first));
            return Err(Problem { retry_after_s, ..Problem::new(Code::RateLimited, said) });
        }
        // Each test is an object of its own, so it does not wait for other deliveries.
        let (user, kind) = (self.user, EventType::Test);
        let event = Event { user, kind, object: now.0, movement: None, at: now, data: None };
        let message = MessageId(secrets::random());
        let body = bodies.body(tx, message, &event)?.unwrap_or_default();
        Ok(spread::queue(tx, id, &NewDelivery { message, event: &event, body: &body })?)
    }

    /// Removes an endpoint with its deliveries, in several jobs of the writer: switched
    /// off first, so that it gets no new ones, which are then removed piece by piece.
    pub fn remove(self, app: &App, id: i64) -> Result<(), Problem> {
        let user = self.user;
        let endpoint = app.db.write(move |tx| {
            let found = store::one(tx, user, id)?.ok_or_else(Problem::not_found)?;
            store::switch(tx, id, EndpointState::Off)?;
            Ok::<_, Problem>(found)
        })?;
        app.db.write_pieces(move |tx| tx.work_off(|most| queue::empty(tx, id, most)))?;
        app.db.write(move |tx| {
            if store::remove(tx, user, id)? {
                self.note(
                    tx,
                    "webhook.excluir",
                    id,
                    &endpoint.entry.url,
                    Audited::of(&endpoint.entry),
                    (),
                )?;
            }
            Ok::<_, Problem>(())
        })
    }
}
