//! The platform's payloads, read leniently.
//!
//! Two forms arrive: the envelope `{id, creation_date, event, data}`, whose
//! `data` differs by event, and the older flat form, also as a browser form.
//! Fields move, dates are milliseconds or text, ids are numbers or text, and
//! objects are missing. A field that cannot be read counts as absent. Two kinds
//! of events are rejected: those that do not say what happened, and those that
//! can change access but have no e-mail address.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use memchr::memchr3_iter;
use serde_json::{Map, Value};

use super::{Event, EventKind};
use crate::base::{DAY_S, Instant, Zone, phone, text};
use crate::http::Fields;

/// Most characters that are kept of a text.
const LONGEST: usize = 120;
/// Numbers below this are seconds: as milliseconds they would be before 1974.
const LEAST_MS: i64 = 100_000_000_000;
/// The end of the year 9999.
const LAST_MS: i64 = 253_402_300_799_999;

/// The field that the platform puts its token into.
const TOKEN: &str = "hottok";

/// A payload as it was sent, if it cannot contain a token anywhere, not even
/// under an escaped name; else `None`.
pub fn without_token(sent: &[u8]) -> Option<&str> {
    let names = |at| {
        let name = sent.get(at..at + TOKEN.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(TOKEN.as_bytes()))
    };
    let escapes = |at| sent.get(at + 1) == Some(&b'u');
    let is_clean = !memchr3_iter(b'h', b'H', b'\\', sent).any(|at| match sent[at] {
        b'\\' => escapes(at),
        _ => names(at),
    });
    std::str::from_utf8(sent).ok().filter(|_| is_clean)
}

/// Removes tokens from the whole payload; returns the one in the place where
/// the platform puts it.
pub fn take_token(payload: &mut Map<String, Value>) -> Option<String> {
    let token = payload.get(TOKEN).and_then(Value::as_str).map(str::to_owned);
    forget_tokens(payload);
    token
}

fn forget_tokens(object: &mut Map<String, Value>) {
    object.retain(|name, _| !name.eq_ignore_ascii_case(TOKEN));
    for value in object.values_mut() {
        forget_tokens_in(value);
    }
}

fn forget_tokens_in(value: &mut Value) {
    match value {
        Value::Object(object) => forget_tokens(object),
        Value::Array(items) => items.iter_mut().for_each(forget_tokens_in),
        _ => {}
    }
}

/// Reads an event; returns the fields at fault when it cannot be one.
pub fn event(payload: &Map<String, Value>, zone: Zone) -> Result<Event, Fields> {
    let root = Branch(Some(payload), zone);
    let is_flat = !payload.contains_key("event") && !payload.contains_key("data");
    let event = if is_flat { flat(root) } else { enveloped(root) }?;
    if event.kind.acts() && !event.is_test() && event.email.is_none() {
        let place = if is_flat { "email" } else { "data.buyer.email" };
        let fault = "must be the buyer's e-mail address";
        return Err(vec![(place.into(), fault.into())]);
    }
    Ok(event)
}

fn enveloped(root: Branch<'_>) -> Result<Event, Fields> {
    let data = root.branch("data");
    let (purchase, subscription) = (data.branch("purchase"), data.branch("subscription"));
    let (buyer, subscriber) = (data.branch("buyer"), data.branch("subscriber"));
    let status = purchase.text("status");
    let (name, kind) = match (root.text("event"), status) {
        (Some(name), status) => {
            let kind = EventKind::of(&name);
            (name, kind_with(kind, status.as_deref()))
        }
        (None, Some(status)) => by_status(&status),
        (None, None) => return Err(nameless()),
    };
    let plan = match kind {
        EventKind::SwitchPlan => present_plan(data),
        _ => subscription.branch("plan").or(data.branch("plan")),
    };
    let offer = first([
        purchase.branch("offer").text("code"),
        data.branch("offer").text("code"),
        plan.branch("offer").text("code"),
        plan.branch("offer").text("key"),
    ]);
    let next_charge = first([
        purchase.instant_ms("date_next_charge"),
        subscription.instant_ms("date_next_charge"),
    ]);
    let cell = subscriber.branch("phone");
    Ok(Event {
        id: root.text("id"),
        name,
        kind,
        created_ms: first([root.instant_ms("creation_date"), root.instant_ms("creationDate")]),
        purchased_ms: first([
            purchase.instant_ms("approved_date"),
            purchase.instant_ms("order_date"),
        ]),
        transaction: first([purchase.text("transaction"), data.text("transaction")]),
        subscriber: first([
            subscription.branch("subscriber").text("code"),
            subscriber.text("code"),
            subscription.text("subscriber_code"),
        ]),
        email: email_of(data),
        person: name_of(data),
        phone: first([
            phone_of(&buyer, "checkout_phone_code", "checkout_phone"),
            phone_of(&buyer, "", "phone"),
            phone_of(&cell, "dddCell", "cell"),
            phone_of(&cell, "dddPhone", "phone"),
        ]),
        offer,
        plan: plan.text("id"),
        product: first([
            data.branch("product").text("id"),
            subscription.branch("product").text("id"),
        ]),
        recurrence: purchase.whole("recurrence_number"),
        paid_until: next_charge.filter(|_| kind.is_payment()).map(seconds),
    })
}

/// The kind of an event whose purchase has a status. No document says which event tells
/// of a part that was paid back, so the status decides. Decision checkout-17.
fn kind_with(kind: EventKind, status: Option<&str>) -> EventKind {
    let undoes = kind.is_reversal() || kind == EventKind::Canceled;
    let is_part = status.is_some_and(|status| EventKind::of(status) == EventKind::PartRefund);
    if undoes && is_part { EventKind::PartRefund } else { kind }
}

/// The person's e-mail address; its place depends on the kind of event.
fn email_of(data: Branch<'_>) -> Option<String> {
    let subscription = data.branch("subscription");
    let places = [
        data.branch("buyer"),
        data.branch("subscriber"),
        subscription.branch("user"),
        subscription.branch("subscriber"),
        data.branch("user"),
    ];
    let mut texts = places.iter().filter_map(|place| place.text("email"));
    texts.find_map(|text| text::email(&text))
}

fn name_of(data: Branch<'_>) -> String {
    let buyer = data.branch("buyer");
    person_of([
        buyer.text("name"),
        joined(buyer.text("first_name"), buyer.text("last_name")),
        data.branch("subscriber").text("name"),
        data.branch("user").text("name"),
    ])
}

/// The flat form, which has no id of its own.
fn flat(root: Branch<'_>) -> Result<Event, Fields> {
    let (name, kind) = by_status(&root.text("status").ok_or_else(nameless)?);
    let purchased_ms =
        first([root.instant_ms("confirmation_purchase_date"), root.instant_ms("purchase_date")]);
    let period = root.whole("recurrency_period").filter(|days| *days > 0);
    let paid_until =
        purchased_ms.zip(period).map(|(from, days)| seconds(from).plus(days.saturating_mul(DAY_S)));
    let names = [root.text("name"), joined(root.text("first_name"), root.text("last_name"))];
    Ok(Event {
        id: None,
        name,
        kind,
        created_ms: None,
        purchased_ms,
        transaction: root.text("transaction"),
        subscriber: root.text("subscriber_code"),
        email: root.text("email").and_then(|text| text::email(&text)),
        person: person_of(names),
        phone: first([
            phone_of(&root, "phone_checkout_local_code", "phone_checkout_number"),
            phone_of(&root, "phone_local_code", "phone_number"),
        ]),
        offer: root.text("off"),
        plan: None,
        product: root.text("prod"),
        recurrence: root.whole("recurrency"),
        paid_until: paid_until.filter(|_| kind.is_payment()),
    })
}

fn nameless() -> Fields {
    let fault = "say what happened in event or in data.purchase.status";
    vec![("event".into(), fault.into())]
}

/// The event of a status; an unknown status gets a name like that of an event.
fn by_status(status: &str) -> (String, EventKind) {
    let kind = EventKind::of(status);
    let name = if kind == EventKind::Other {
        format!("PURCHASE_{}", status.to_uppercase())
    } else {
        kind.platform_name().to_owned()
    };
    (name, kind)
}

/// The plan that a subscription was switched to.
fn present_plan(data: Branch<'_>) -> Branch<'_> {
    let plans = data.list("plans");
    let present = plans.iter().find(|plan| match plan.get("current") {
        Some(Value::Bool(current)) => *current,
        Some(Value::String(word)) => word.eq_ignore_ascii_case("true"),
        _ => false,
    });
    Branch(present.and_then(Value::as_object), data.1)
        .or(data.branch("subscription").branch("plan"))
}

fn first<T, const N: usize>(found: [Option<T>; N]) -> Option<T> {
    found.into_iter().flatten().next()
}

fn joined(first: Option<String>, last: Option<String>) -> Option<String> {
    let words: Vec<String> = first.into_iter().chain(last).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The first valid name; empty when none is valid.
fn person_of(names: impl IntoIterator<Item = Option<String>>) -> String {
    let fit = names.into_iter().flatten().find_map(|name| {
        let name = text::shortened(&name, LONGEST).to_owned();
        text::person_name(&name).map(str::to_owned)
    });
    fit.unwrap_or_default()
}

fn phone_of(branch: &Branch<'_>, code: &str, number: &str) -> Option<String> {
    let code = branch.text(code).unwrap_or_default();
    phone::normal(&code, &branch.text(number)?)
}

const fn seconds(ms: i64) -> Instant {
    Instant(ms / 1000)
}

/// An object of the payload, or none, and the zone for dates without a zone.
#[derive(Clone, Copy)]
struct Branch<'p>(Option<&'p Map<String, Value>>, Zone);

impl<'p> Branch<'p> {
    fn value(&self, name: &str) -> Option<&'p Value> {
        self.0?.get(name)
    }

    fn branch(&self, name: &str) -> Self {
        Self(self.value(name).and_then(Value::as_object), self.1)
    }

    fn or(self, other: Self) -> Self {
        if self.0.is_some() { self } else { other }
    }

    fn list(&self, name: &str) -> &'p [Value] {
        let list = self.value(name).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// A text or number as text, trimmed; absent when empty.
    fn text(&self, name: &str) -> Option<String> {
        let text = match self.value(name)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        // Room for the longest e-mail address.
        (!text.is_empty()).then(|| text::shortened(&text, 2 * LONGEST + 20).to_owned())
    }

    fn whole(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::String(text) => text.trim().parse().ok(),
            Value::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// An instant in milliseconds: a number, a number as text, or a date in
    /// one of ISO's forms; without a zone it is civil time.
    fn instant_ms(&self, name: &str) -> Option<i64> {
        let ms = match self.value(name)? {
            Value::Number(number) => number_ms(number.as_i64().or_else(|| whole_part(number))?),
            Value::String(text) => match text.trim().parse() {
                Ok(number) => number_ms(number),
                Err(_) => date_ms(text.trim(), self.1)?,
            },
            _ => return None,
        };
        (1..=LAST_MS).contains(&ms).then_some(ms)
    }
}

fn number_ms(number: i64) -> i64 {
    if number < LEAST_MS { number.saturating_mul(1000) } else { number }
}

/// The whole part of a number with a fraction, such as `1.78e12`.
fn whole_part(number: &serde_json::Number) -> Option<i64> {
    let number = number.as_f64()?;
    let fits = (0.0..9.0e15).contains(&number);
    #[expect(clippy::cast_possible_truncation, reason = "it fits, as just checked")]
    fits.then_some(number as i64)
}

fn date_ms(text: &str, zone: Zone) -> Option<i64> {
    const ZONED: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f%z"];
    const CIVIL: [&str; 4] =
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let ms = |at: Instant, civil: DateTime| at.0 * 1000 + i64::from(civil.millisecond());
    let zoned = |form: &&str| {
        let read = strtime::parse(form, text).ok()?;
        let (civil, offset) = (read.to_datetime().ok()?, read.offset()?);
        Some(ms(Instant::in_utc(civil).minus(offset.seconds().into()), civil))
    };
    if let Some(ms) = Instant::parse_ms(text).or_else(|| ZONED.iter().find_map(zoned)) {
        return Some(ms);
    }
    let civil = CIVIL.iter().find_map(|form| DateTime::strptime(form, text).ok());
    let day = || Some(Date::strptime("%Y-%m-%d", text).ok()?.to_datetime(Time::midnight()));
    let civil = civil.or_else(day)?;
    // A time that the zone skips, when clocks go forward, is read as UTC.
    Some(ms(zone.instant_of(civil).unwrap_or(Instant::in_utc(civil)), civil))
}
