//! The operations on endpoints, for sellers and for suppliers alike: each is written once,
//! as a [`HookAct`], and declared for both by [`Of`].

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::keeper::Keeper;
use super::objects::EventBodyBuilder;
use super::sign::SigningSecret;
use super::wire::{KeptWebhook, RemovedWebhook, TestedWebhook, Webhook};
use super::{EndpointEntry, Events, address, delivered, store};
use crate::app::App;
use crate::audit::Actor;
use crate::db::{Lane, RowWindow};
use crate::edge::todo::Todo;
use crate::events::{Audience, EventType};
use crate::http::schema::word_list;
use crate::http::{Check, Code, Field, Problem, RowNumber};
use crate::identity::{PartnerCaller, Seller, Supplier};
use crate::list_arguments;
use crate::partner::access::Access;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::{Begun, Operation};

/// An identity that has endpoints.
pub trait Hooked: Deref<Target = PartnerCaller> + Send + Sync + 'static {
    const AUDIENCE: Audience;
}

impl Hooked for Seller {
    const AUDIENCE: Audience = Audience::Seller;
}

impl Hooked for Supplier {
    const AUDIENCE: Audience = Audience::Supplier;
}

/// Who calls, as whom.
#[derive(Clone, Copy)]
pub struct Asker<'c> {
    pub caller: &'c PartnerCaller,
    pub audience: Audience,
}

/// An operation on endpoints after its arguments were checked.
pub type BegunAct<A> = Result<Todo<<A as HookAct>::Reply>, Problem>;

/// An operation on endpoints, by the type of its arguments.
pub trait HookAct: DeserializeOwned + JsonSchema + Send + 'static {
    type Reply: Serialize + JsonSchema + 'static;

    const ERRORS: &'static [Code] = &[Code::NotFound];
    const HOLDS_SECRET: bool = false;

    /// Checks the arguments and says how the work is done.
    fn begin(self, app: &App, by: Asker<'_>, check: Check) -> BegunAct<Self>;
}

/// An operation on endpoints as one of a party.
pub struct Of<P, A> {
    asked: A,
    by: PhantomData<fn() -> P>,
}

impl<'de, P, A: Deserialize<'de>> Deserialize<'de> for Of<P, A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { asked: A::deserialize(deserializer)?, by: PhantomData })
    }
}

/// The schema of the arguments, with the types of events of the party.
impl<P: Hooked, A: JsonSchema> JsonSchema for Of<P, A> {
    fn schema_name() -> Cow<'static, str> {
        match P::AUDIENCE {
            Audience::Seller => A::schema_name(),
            Audience::Supplier => format!("Drop{}", A::schema_name()).into(),
        }
    }

    fn schema_id() -> Cow<'static, str> {
        format!("{:?} {}", P::AUDIENCE, A::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = A::json_schema(generator);
        let Some(properties) = schema.get_mut("properties") else { return schema };
        if let Some(items) = properties.pointer_mut("/events/items") {
            items["enum"] = EventType::of(P::AUDIENCE).map(EventType::name).collect();
        }
        if let Some(kinds) = properties.get_mut("type") {
            kinds["pattern"] = word_list(&delivered::types(P::AUDIENCE)).into();
        }
        schema
    }
}

impl<P: Hooked, A: HookAct> Operation for Of<P, A> {
    type By = P;
    type Reply = A::Reply;

    const ERRORS: &'static [Code] = A::ERRORS;
    const HOLDS_SECRET: bool = A::HOLDS_SECRET;

    fn begin(self, app: &App, by: &P, check: Check) -> Begun<Self> {
        self.asked.begin(app, Asker { caller: by, audience: P::AUDIENCE }, check)
    }
}

/// Who changes endpoints by a call.
fn keeper(app: &App, by: Asker<'_>) -> Keeper {
    let (user, actor) = (by.caller.account.user_id, Actor::program(by.caller));
    Keeper { user, sealer: Arc::clone(&app.sealer), actor }
}

/// Checks an address as the panel does.
fn check_url(app: &App, check: &mut Check, url: &str) {
    if let Err(fault) = address::check(url, &app.config.webhooks.extra_hosts) {
        check.fail("url", fault.text());
    }
}

/// Reads the types of events, at least one and all of them of the audience.
fn read_events(check: &mut Check, given: &[String], audience: Audience) -> Events {
    let known =
        |word: &String| EventType::from_name(word).filter(|kind| kind.audience() == Some(audience));
    let kinds: Vec<_> = given.iter().map(known).collect();
    if kinds.is_empty() || kinds.contains(&None) {
        let names: Vec<_> = EventType::of(audience).map(EventType::name).collect();
        check.fail("events", format!("must be some of {}", names.join(", ")));
    }
    Events::of(kinds.into_iter().flatten())
}

list_arguments! {
    /// Which addresses are asked for.
    pub struct ListWebhooks {}
}

impl HookAct for ListWebhooks {
    type Reply = ListOf<Webhook>;

    const ERRORS: &'static [Code] = &[];

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        let (owner, shows_query, now) =
            (by.caller.account.user_id, by.caller.may(Access::Act), by.caller.called_at);
        reading(app, false, move |app, lane| {
            let found = app.db.read(lane, |tx| {
                let all = store::of_user(tx, owner)?.into_iter();
                all.map(|one| Ok((store::counts(tx, one.id)?, one)))
                    .collect::<Result<Vec<_>, Problem>>()
            })?;
            let (total, RowWindow { limit, offset }) = (found.len() as u64, window.rows());
            let asked = found.into_iter().skip(offset as usize).take(limit as usize).collect();
            Ok(ListOf::of((asked, total), window, |(counts, one)| {
                Webhook::of(one, counts, (app.zone(), now), shows_query)
            }))
        })
    }
}

/// Which address is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetWebhook {
    /// Number of the address.
    #[schemars(extend("examples" = ["7"]))]
    webhook_id: Field<RowNumber>,
}

impl HookAct for GetWebhook {
    type Reply = Webhook;

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let RowNumber(id) = check.required("webhook_id", self.webhook_id);
        check.finish()?;
        let (keeper, shows_query) = (keeper(app, by), by.caller.may(Access::Act));
        reading(app, false, move |app, lane| shown(app, lane, &keeper, (id, shows_query)))
    }
}

fn shown(
    app: &App,
    lane: Lane,
    keeper: &Keeper,
    (id, shows_query): (i64, bool),
) -> Result<Webhook, Problem> {
    app.db.read(lane, |tx| {
        let found = keeper.find(tx, id)?;
        Ok(Webhook::of(found, store::counts(tx, id)?, (app.zone(), tx.now()), shows_query))
    })
}

/// An address that is to be told of events.
#[derive(Deserialize, JsonSchema)]
pub struct NewWebhook {
    /// Where events are posted to: public, by HTTPS, at the port 443 or one from 1024 on.
    #[serde(default)]
    #[schemars(!default, length(min = 1, max = address::LONGEST), extend("format" = "uri"))]
    url: Field<String>,
    /// Types of events that it is told of.
    #[serde(default)]
    #[schemars(!default, length(min = 1))]
    events: Field<Vec<String>>,
}

impl HookAct for NewWebhook {
    type Reply = KeptWebhook;

    /// There are too many already.
    const ERRORS: &'static [Code] = &[Code::Conflict];
    const HOLDS_SECRET: bool = true;

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let url: String = check.required("url", self.url);
        check_url(app, &mut check, &url);
        let events: Vec<String> = check.required("events", self.events);
        let eventos = read_events(&mut check, &events, by.audience);
        check.finish()?;
        let (entry, secret) = (EndpointEntry { url, eventos }, SigningSecret::random());
        let (keeper, zone) = (keeper(app, by), app.zone());
        let grant = by.caller.granted.map(|granted| granted.grant);
        Ok(Todo::Write(Box::new(move |tx| {
            let id = keeper.make(tx, &entry, (&secret, grant))?;
            let webhook =
                Webhook::of(keeper.find(tx, id)?, store::counts(tx, id)?, (zone, tx.now()), true);
            Ok(KeptWebhook { webhook, secret: Some(secret.text()) })
        })))
    }
}

/// What to change of an address; what is absent stays.
#[derive(Deserialize, JsonSchema)]
pub struct WebhookChange {
    /// Number of the address.
    #[serde(default)]
    #[schemars(!default)]
    webhook_id: Field<RowNumber>,
    /// Where events are posted to from now on.
    #[serde(default)]
    #[schemars(length(min = 1, max = address::LONGEST), extend("format" = "uri"))]
    url: Field<String>,
    /// All types of events that it is told of from now on.
    #[serde(default)]
    #[schemars(length(min = 1))]
    events: Field<Vec<String>>,
    /// Whether it is told of events. What waits while it is off leaves once it is on.
    #[serde(default)]
    enabled: Field<bool>,
    /// True for another secret; the one before signs as well for 24 hours.
    #[serde(default)]
    new_secret: Field<bool>,
}

impl HookAct for WebhookChange {
    type Reply = KeptWebhook;

    const HOLDS_SECRET: bool = true;

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let RowNumber(id) = check.required("webhook_id", self.webhook_id);
        let url: Option<String> = check.stated("url", self.url);
        if let Some(url) = &url {
            check_url(app, &mut check, url);
        }
        let events: Option<Vec<String>> = check.stated("events", self.events);
        let events = events.map(|given| read_events(&mut check, &given, by.audience));
        let enabled = check.stated("enabled", self.enabled);
        let is_new = check.stated("new_secret", self.new_secret).unwrap_or_default();
        check.finish()?;
        let secret = is_new.then(SigningSecret::random);
        let (keeper, zone) = (keeper(app, by), app.zone());
        Ok(Todo::Write(Box::new(move |tx| {
            let before = keeper.find(tx, id)?.entry;
            let entry = EndpointEntry {
                url: url.unwrap_or_else(|| before.url.clone()),
                eventos: events.unwrap_or(before.eventos),
            };
            if entry != before {
                keeper.change(tx, id, &entry)?;
            }
            if let Some(enabled) = enabled {
                keeper.switch(tx, id, enabled)?;
            }
            if let Some(secret) = &secret {
                keeper.rotate(tx, id, secret)?;
            }
            let webhook =
                Webhook::of(keeper.find(tx, id)?, store::counts(tx, id)?, (zone, tx.now()), true);
            Ok(KeptWebhook { webhook, secret: secret.map(|secret| secret.text()) })
        })))
    }
}

/// The address to be tested.
#[derive(Deserialize, JsonSchema)]
pub struct WebhookTest {
    /// Number of the address.
    #[serde(default)]
    #[schemars(!default)]
    webhook_id: Field<RowNumber>,
}

impl HookAct for WebhookTest {
    type Reply = TestedWebhook;

    /// The address is off.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::Conflict];

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let RowNumber(id) = check.required("webhook_id", self.webhook_id);
        check.finish()?;
        let (keeper, bodies) = (keeper(app, by), EventBodyBuilder::of(app));
        Ok(Todo::Write(Box::new(move |tx| {
            let delivery = keeper.test(tx, &bodies, id)?;
            Ok(TestedWebhook { webhook_id: id.to_string(), delivery })
        })))
    }
}

/// The address to be removed, with its deliveries.
#[derive(Deserialize, JsonSchema)]
pub struct WebhookRemoval {
    /// Number of the address.
    #[serde(default)]
    #[schemars(!default)]
    webhook_id: Field<RowNumber>,
}

impl HookAct for WebhookRemoval {
    type Reply = RemovedWebhook;

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let RowNumber(id) = check.required("webhook_id", self.webhook_id);
        check.finish()?;
        let keeper = keeper(app, by);
        Ok(Todo::Slow(Box::new(move |app| {
            keeper.remove(app, id)?;
            Ok(RemovedWebhook { webhook_id: id.to_string(), removed: true })
        })))
    }
}
