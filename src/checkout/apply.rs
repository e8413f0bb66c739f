//! Applies an event, in the transaction that stores it.
//!
//! The state of the person's purchases before the event is compared with the
//! one after it, and the differences are carried over to the account. So an
//! event that changes nothing does not undo what staff have done since. A new
//! payment lets a suspended person in, for whatever reason that person was
//! suspended. Decision checkout-9.

use std::borrow::Cow;

use serde_json::json;

use super::purchase_state::{Fact, PurchaseState, purchase_state};
use super::reduced::reduced;
use super::store::{self, Decision, New, Stored, StoredFact};
use super::words;
use super::{Event, EventKind, EventState};
use crate::accounts::Role;
use crate::accounts::person::PersonEntry;
use crate::accounts::store::administrators;
use crate::accounts::students::{self, AccountServices, NewStudent};
use crate::accounts::terms::{self, Holder, Terms};
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor};
use crate::base::ids::short_digest;
use crate::base::{Day, Instant, Zone};
use crate::content::plans::store as plans;
use crate::db::{Result, WriteTx};
use crate::messages::{self, News, NotificationKind};
use crate::outbox::{self, Channel, MessageKind, NewMessage, unreachable};
use crate::partner::{PlanName, store as partners};

/// An event that is to be applied, with all that is needed for it.
#[derive(Clone)]
pub struct Incoming {
    pub event: Event,
    /// The plan configured for its product.
    pub role: Option<Role>,
    /// The API plan that comes with it.
    pub api: Option<PlanName>,
    /// The payload as JSON, without its token.
    pub body: String,
    pub actor: Actor,
    /// Days of access after a failed payment, named in the reminder.
    pub grace_days: u32,
    pub zone: Zone,
}

impl Incoming {
    /// The event with what the plan on sale grants that stands for its offer, plan or
    /// product. Decision checkout-16.
    fn granted(&self, tx: &WriteTx<'_>) -> Result<Cow<'_, Self>> {
        let codes = self.event.codes();
        let plans = plans::by_codes(tx, &codes)?;
        let of = |code: &String| plans.iter().find(|plan| plan.entry.codes.0.contains(code));
        let Some(plan) = codes.iter().find_map(of) else { return Ok(Cow::Borrowed(self)) };
        let api = plan.entry.grants_api.as_deref().and_then(PlanName::from_name);
        let role = plan.entry.grants_role.or(self.role);
        Ok(Cow::Owned(Self { role, api, ..self.clone() }))
    }

    /// The key that identifies the event: made of its id, else of transaction,
    /// name and number of the charge, else of the whole body.
    fn dedup_key(&self) -> [u8; 16] {
        let event = &self.event;
        match (&event.id, &event.transaction) {
            (Some(id), _) => short_digest(&[b"id", id.as_bytes()]),
            (None, Some(transaction)) => {
                let charge = event.recurrence.unwrap_or_default().to_string();
                let parts = [transaction, &event.name, &charge].map(String::as_bytes);
                short_digest(&[b"transaction", parts[0], parts[1], parts[2]])
            }
            (None, None) => short_digest(&[b"body", self.body.as_bytes()]),
        }
    }

    fn fact(&self, received_ms: i64) -> Fact {
        let event = &self.event;
        // An approval without a date gets the date of the purchase. So it is
        // older than its refund, even when the refund arrived first.
        let paid_ms = event.purchased_ms.filter(|_| event.kind.is_payment());
        Fact {
            kind: event.kind,
            at_ms: event.created_ms.or(paid_ms).unwrap_or(received_ms),
            transaction: event.transaction.clone(),
            subscriber: event.subscriber.clone(),
            product: event.product.clone(),
            role: self.role,
            paid_until: event.paid_until,
            recurrence: event.recurrence,
        }
    }
}

/// Stores and applies an event that is new; one that is known does nothing.
pub fn receive(tx: &WriteTx<'_>, services: &AccountServices, incoming: &Incoming) -> Result<()> {
    let incoming = &*incoming.granted(tx)?;
    let dedup_key = incoming.dedup_key();
    if store::is_known(tx, &dedup_key)? {
        return Ok(());
    }
    let fact = incoming.fact(tx.now().0.saturating_mul(1000));
    let decision = decide(tx, services, incoming, &fact, None)?;
    if decision.user.is_none() && is_of_erased(tx, services, &incoming.event)? {
        let event = Event { email: None, ..incoming.event.clone() };
        let (fact, body) = (Fact { subscriber: None, ..fact }, reduced(&incoming.body));
        let new = New { dedup_key, event: &event, fact: &fact, body: &body };
        return store::insert(tx, &new, &decision);
    }
    let new = New { dedup_key, event: &incoming.event, fact: &fact, body: &incoming.body };
    store::insert(tx, &new, &decision)
}

/// Whether a later event is of a purchase whose buyer was erased since, such as its
/// refund. It is kept as the purchase is: without who bought.
fn is_of_erased(tx: &WriteTx<'_>, services: &AccountServices, event: &Event) -> Result<bool> {
    let (Some(email), Some(transaction)) = (&event.email, &event.transaction) else {
        return Ok(false);
    };
    Ok(store::is_nameless(tx, transaction)? && services.is_erased(tx, email)?)
}

/// Processes a stored event again, with the plans of the present
/// configuration; returns the decision.
pub fn again(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    incoming: &Incoming,
    stored: &Stored,
) -> Result<Decision> {
    let incoming = &*incoming.granted(tx)?;
    let fact = Fact {
        at_ms: incoming.event.created_ms.unwrap_or(stored.happened_ms),
        ..incoming.fact(stored.happened_ms)
    };
    let decision = decide(tx, services, incoming, &fact, Some(stored.id))?;
    // If nothing changes now, the first decision stays.
    let same = decision.user == stored.user && decision.state == EventState::NoEffect;
    let kept = Decision { state: stored.state, outcome: stored.outcome.clone(), user: stored.user };
    let written = if same { &kept } else { &decision };
    store::update(tx, stored, &fact, written)?;
    Ok(decision)
}

fn decide(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    incoming: &Incoming,
    fact: &Fact,
    own: Option<i64>,
) -> Result<Decision> {
    let event = &incoming.event;
    let left = |state, outcome: &str| {
        let (outcome, user) = (outcome.to_owned(), None);
        Ok(Decision { state, outcome, user })
    };
    if event.is_test() {
        return left(EventState::Kept, words::TEST);
    }
    let Some(email) = event.email.as_deref().filter(|_| event.kind.acts()) else {
        return left(EventState::Kept, words::NO_ACTION);
    };
    let found = holder(tx, event, email)?;
    if found.as_ref().is_some_and(|one| !one.terms.role.is_student()) {
        return left(EventState::NotStudent, words::NOT_STUDENT);
    }
    let mut stored_facts = match &found {
        Some(student) => store::facts(tx, student.user_id)?,
        None => Vec::new(),
    };
    if incoming.role.is_none() && !follows(&stored_facts, fact) {
        return left(EventState::NoPlan, words::NO_PLAN);
    }
    let (student, is_new) = match (found, incoming.role) {
        (Some(student), _) => (student, false),
        (None, Some(role)) if event.kind.is_payment() => {
            (create(tx, services, event, email, role, fact.paid_until)?, true)
        }
        (None, _) => return left(EventState::NoStudent, words::NO_STUDENT),
    };
    let before = amount(tx, &stored_facts, &student);
    stored_facts.extend(store::adopt(
        tx,
        student.user_id,
        &student.email,
        event.transaction.as_deref(),
    )?);
    stored_facts.retain(|(id, _)| Some(*id) != own);
    stored_facts.push((own.unwrap_or(i64::MAX), fact.clone()));
    adopt_followers(tx, &student, &mut stored_facts, own)?;
    let after = amount(tx, &stored_facts, &student);
    let is_again = own.is_some();
    let effect = EventEffect { incoming, student, is_new, is_again, before, after };
    let done = effect.carry_over(tx, services)?;
    Ok(effect.decision(&done))
}

/// The account that an event is about. A new payment is matched by its e-mail
/// address. Later events of a purchase are matched by transaction first,
/// because buyers change their address.
fn holder(tx: &WriteTx<'_>, event: &Event, email: &str) -> Result<Option<Holder>> {
    let by_email = terms::by_email(tx, email)?;
    let transaction = event.transaction.as_deref();
    let Some(transaction) = transaction.filter(|_| event.kind != EventKind::Approved) else {
        return Ok(by_email);
    };
    let preferred = by_email.as_ref().map(|holder| holder.user_id);
    match store::owner(tx, transaction, preferred)? {
        Some(owner) if Some(owner) != preferred => terms::by_id(tx, owner),
        _ => Ok(by_email),
    }
}

/// Whether an event is about a purchase that already counts. Then it counts too,
/// even if its product has no configured plan any more.
fn follows(stored_facts: &[StoredFact], fact: &Fact) -> bool {
    let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    stored_facts.iter().any(|(_, known)| {
        same(&known.transaction, &fact.transaction) || same(&known.subscriber, &fact.subscriber)
    })
}

/// Lets events without a plan count if they belong to a purchase that counts
/// now, and then the events that belong to those. So the same events count,
/// in whatever order they arrive.
fn adopt_followers(
    tx: &WriteTx<'_>,
    student: &Holder,
    stored_facts: &mut Vec<StoredFact>,
    own: Option<i64>,
) -> Result<()> {
    let mut left = store::without_plan(tx, &student.email)?;
    let mut asked = 0;
    loop {
        for (_, fact) in &stored_facts[asked..] {
            if let Some(transaction) = &fact.transaction {
                left.extend(store::without_plan_of(tx, transaction)?);
            }
        }
        asked = stored_facts.len();
        left.sort_by_key(|(id, _)| *id);
        left.dedup_by_key(|(id, _)| *id);
        let follow = |(id, fact): &mut StoredFact| Some(*id) != own && follows(stored_facts, fact);
        let following: Vec<StoredFact> = left.extract_if(.., follow).collect();
        if following.is_empty() {
            return Ok(());
        }
        for one in &following {
            store::let_follow(tx, one, student.user_id)?;
        }
        stored_facts.extend(following);
    }
}

fn amount(tx: &WriteTx<'_>, stored_facts: &[StoredFact], student: &Holder) -> PurchaseState {
    let facts: Vec<Fact> = stored_facts.iter().map(|(_, fact)| fact.clone()).collect();
    purchase_state(&facts, tx.now(), student.terms.paid_until)
}

/// Creates a student who has paid until an instant. That instant is stored at
/// once. The returned student lacks it, so that it counts as a change of the event.
fn create(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    event: &Event,
    email: &str,
    role: Role,
    paid_until: Option<Instant>,
) -> Result<Holder> {
    let from_email = || {
        let local = email.split('@').next().unwrap_or_default();
        crate::base::text::person_name(local).unwrap_or(email).to_owned()
    };
    let name = Some(event.person.clone()).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(from_email);
    let person = PersonEntry::new(email, &name, role, event.phone.clone());
    let new = NewStudent { person, paid_until, welcome: true };
    let user_id = students::create(tx, services, &new)?;
    Ok(Holder {
        // This transaction has checked before that nobody has the address.
        user_id: user_id.expect("a free address"),
        has_chat: new.person.chat_number.is_some(),
        email: new.person.email,
        name: new.person.nome,
        has_password: false,
        suspended: false,
        terms: Terms::of(role),
    })
}

/// An event, with the purchase states of its student before and after it.
struct EventEffect<'i> {
    incoming: &'i Incoming,
    student: Holder,
    is_new: bool,
    /// Whether the event was stored before.
    is_again: bool,
    before: PurchaseState,
    after: PurchaseState,
}

impl EventEffect<'_> {
    /// Whether this lets a suspended person in: by a payment that is newer than
    /// all before, or because the purchases no longer keep the person out.
    fn opens(&self) -> bool {
        let newer = self.before.payment < self.after.payment;
        self.after.is_open() && (newer || self.before.is_closed())
    }

    /// Whether this is the newest payment, processed again: what its plan grants by now
    /// is given too.
    fn pays_again(&self) -> bool {
        let event = &self.incoming.event;
        let paid = self.after.payment.as_ref().map(|(_, transaction)| transaction);
        self.is_again
            && self.after.is_open()
            && event.kind.is_payment()
            && event.transaction.is_some()
            && event.transaction.as_ref() == paid
    }

    fn closes(&self) -> bool {
        self.after.is_closed() && !self.before.is_closed()
    }

    /// The account's terms after the event.
    fn terms(&self) -> Terms {
        let (before, after) = (&self.before, &self.after);
        let mut terms = self.student.terms.clone();
        if let Some((_, role)) = after.role.as_ref().filter(|_| after.role != before.role) {
            terms.role = *role;
        }
        if after.paid_until.is_some() && after.paid_until != before.paid_until {
            terms.paid_until = after.paid_until;
        }
        let is_news = (&after.access, after.paid_until) != (&before.access, before.paid_until);
        if after.is_undone() && after.paid_until.is_none() && is_news {
            terms.paid_until = None;
        }
        if self.opens() || after.late_since != before.late_since {
            terms.late_since = after.late_since;
        }
        if self.opens() || after.ends_at != before.ends_at {
            terms.ends_at = after.ends_at;
        }
        if after.disputed_at != before.disputed_at {
            terms.disputed_at = after.disputed_at;
        }
        terms
    }

    /// The terms that the account has before they are set.
    fn stored(&self) -> Terms {
        let terms = self.student.terms.clone();
        let paid = self.incoming.event.paid_until.filter(|_| self.is_new);
        Terms { paid_until: paid.or(terms.paid_until), ..terms }
    }

    /// Carries the difference over to the account; returns what was done,
    /// in sentences.
    fn carry_over(&self, tx: &WriteTx<'_>, services: &AccountServices) -> Result<Vec<String>> {
        let (user, zone) = (self.student.user_id, self.incoming.zone);
        let mut done = Vec::new();
        if self.is_new {
            done.push(words::created(&self.student));
        } else {
            self.fill_in(tx)?;
        }
        let reactivated = self.opens() && students::reactivate(tx, user)?;
        if reactivated {
            done.push(words::REACTIVATED.to_owned());
            if !self.student.has_password {
                students::send_password_link(tx, services, user, MessageKind::Welcome)?;
            }
        }
        let (old, new) = (&self.student.terms, self.terms());
        if self.stored() != new {
            terms::set(tx, user, &new)?;
        }
        if *old != new {
            done.extend(words::changes(old, &new, zone));
        }
        if self.opens() || self.pays_again() {
            done.extend(self.give_api(tx, new.paid_until)?);
        }
        let reason = words::reason(&self.after.access);
        let suspended = self.closes() && students::suspend(tx, user, &reason)?;
        if suspended {
            done.push(words::suspended(&reason));
        }
        if self.is_new_part_refund() {
            self.tell_part_refund(tx)?;
            done.push(words::PART_REFUND.to_owned());
        }
        let is_out = suspended || self.student.suspended && !reactivated;
        if !is_out
            && old.late_since.is_none()
            && new.late_since.is_some()
            && self.remind(tx, &new)?
        {
            done.push(words::REMINDED.to_owned());
        }
        if !done.is_empty() {
            let action = match (self.is_new, suspended, reactivated) {
                (true, ..) => "aluno.criar",
                (_, true, _) => "aluno.suspender",
                (.., true) => "aluno.reativar",
                _ if self.is_new_part_refund() => "aluno.reembolso_parcial",
                _ => "aluno.alterar",
            };
            let before = (!self.is_new).then(|| old.shown(self.student.suspended));
            let act = STUDENT.act(action, user, &self.student.name);
            let after = new.shown(is_out);
            audit::note(tx, &self.incoming.actor, &act, before.as_ref(), &after)?;
        }
        Ok(done)
    }

    fn is_new_part_refund(&self) -> bool {
        self.incoming.event.kind == EventKind::PartRefund && !self.is_again
    }

    /// Tells all administrators that a part of a purchase was paid back. They decide
    /// whether anything follows from it.
    fn tell_part_refund(&self, tx: &WriteTx<'_>) -> Result<()> {
        let (event, student) = (&self.incoming.event, &self.student);
        let purchase = event.transaction.as_deref().unwrap_or_default();
        let at_ms = event.created_ms.unwrap_or_else(|| tx.now().0.saturating_mul(1000));
        let cause = format!("reembolso_parcial:{purchase}:{at_ms}");
        let page = format!("/admin/alunos/{}", student.user_id);
        for administrator in administrators(tx, u32::MAX)? {
            let news = News {
                title: "Reembolso parcial",
                text: &format!(
                    "{}: uma parte da compra {purchase} voltou ao comprador. O acesso continua.",
                    student.name
                ),
                reference: Some(&page),
                ..News::notice(NotificationKind::Sistema, &cause)
            };
            messages::tell(tx, administrator, news)?;
        }
        Ok(())
    }

    /// Gives the API plan that comes with the purchase, for as long as it is paid; a
    /// better one that is in force stays. Returns what was done.
    fn give_api(&self, tx: &WriteTx<'_>, paid: Option<Instant>) -> Result<Option<String>> {
        let (user, zone) = (self.student.user_id, self.incoming.zone);
        let Some(api) = self.incoming.api else { return Ok(None) };
        let until = paid.map(|at| zone.day(at));
        let stored = partners::plan(tx, user)?;
        let rank = |plan: PlanName| PlanName::ALL.iter().position(|known| *known == plan);
        let last = |until: Option<Day>| until.map_or(i64::MAX, |day| day.0);
        let today = zone.day(tx.now());
        let is_enough = |(plan, end): (PlanName, Option<Day>)| {
            let in_force = last(end) >= today.0;
            in_force && (rank(plan) > rank(api) || plan == api && last(end) >= last(until))
        };
        if stored.is_some_and(is_enough) {
            return Ok(None);
        }
        partners::set_plan(tx, user, Some(api), until)?;
        let said = |plan: PlanName, until: Option<Day>| json!({ "plano": plan.name(), "ate": until.map(Day::iso) });
        let act = STUDENT.act("aluno.plano_de_api", user, &self.student.name);
        let before = stored.map(|(plan, until)| said(plan, until));
        audit::note(tx, &self.incoming.actor, &act, before.as_ref(), said(api, until))?;
        Ok(Some(format!("Deu o plano de API {}.", api.words())))
    }

    /// The decision to store with the event.
    fn decision(&self, done: &[String]) -> Decision {
        let (state, outcome) = if done.is_empty() {
            let words = words::no_effect(self.incoming.event.kind, &self.after);
            (EventState::NoEffect, words.to_owned())
        } else {
            (EventState::Applied, done.join(" "))
        };
        Decision { state, outcome, user: Some(self.student.user_id) }
    }

    /// Takes the chat number from a purchase, if the person has none.
    fn fill_in(&self, tx: &WriteTx<'_>) -> Result<()> {
        let event = &self.incoming.event;
        match event.phone.as_deref() {
            Some(phone) if event.kind.is_payment() && !self.student.has_chat => {
                terms::fill_in_chat_number(tx, self.student.user_id, phone)
            }
            _ => Ok(()),
        }
    }

    /// Reminds of an unpaid renewal by chat, once for each unpaid charge.
    fn remind(&self, tx: &WriteTx<'_>, terms: &Terms) -> Result<bool> {
        if !unreachable::is_reached(tx, self.student.user_id)? {
            return Ok(false);
        }
        let since = terms.late_since.map_or(0, |at| at.0).to_string();
        let message = NewMessage {
            user: self.student.user_id,
            kind: MessageKind::LatePayment,
            cause: &since,
            params: json!({
                "paid_until": terms.paid_until.map(|at| at.0),
                "grace_days": self.incoming.grace_days,
            }),
            run_at: None,
            expires_at: None,
        };
        Ok(outbox::queue(tx, &message, Channel::Chat)?.is_some())
    }
}
