//! The state that follows from all purchases of a person.
//!
//! Nothing here depends on the order in which events arrived: a state is a
//! function of the set. Within one transaction the newest event decides: an
//! approval older than its refund opens nothing, and a refund older than the
//! approval closes nothing. An event sent again under another id changes
//! nothing, because only the first of several approvals counts.
//!
//! Purchases are put into groups: by subscription, or by product where there
//! is none. A refund in one group does not affect another group. Within a group,
//! the newest payment pays the present period. Decisions checkout-2, checkout-3, checkout-4.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::EventKind;
use crate::accounts::Role;
use crate::base::Instant;
use crate::row;

row! {
    /// The content of an event that the state depends on.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Fact: stored {
        pub kind: EventKind,
        /// When it happened, in milliseconds.
        pub at_ms: i64 = "happened_ms",
        pub transaction: Option<String> = "purchase",
        pub subscriber: Option<String>,
        pub product: Option<String>,
        /// The plan configured for its product.
        pub role: Option<Role>,
        /// Set for payments only.
        pub paid_until: Option<Instant>,
        pub recurrence: Option<i64>,
    }
}

/// The position of an event in time: its milliseconds and its transaction. The
/// transaction decides between events of the same millisecond.
pub type Moment = (i64, String);

/// Whether purchases let a person in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// They do not decide it.
    #[default]
    Unsaid,
    Open,
    /// By an event of this kind, of this transaction.
    Closed(EventKind, Option<String>),
}

/// The state that follows from a person's purchases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PurchaseState {
    pub access: Access,
    /// The plan, and since when it applies.
    pub role: Option<(Moment, Role)>,
    /// The newest payment that lets the person in.
    pub payment: Option<Moment>,
    pub paid_until: Option<Instant>,
    pub late_since: Option<Instant>,
    /// When a cancelled subscription ends.
    pub ends_at: Option<Instant>,
    pub disputed_at: Option<Instant>,
}

impl PurchaseState {
    /// Whether purchases let the person in.
    pub fn is_open(&self) -> bool {
        self.access == Access::Open
    }

    /// Whether the person is kept out because a payment was undone.
    pub fn is_undone(&self) -> bool {
        match &self.access {
            Access::Closed(EventKind::Canceled, transaction) => transaction.is_some(),
            Access::Closed(kind, _) => kind.is_reversal(),
            _ => false,
        }
    }

    /// Whether purchases keep the person out.
    pub const fn is_closed(&self) -> bool {
        matches!(self.access, Access::Closed(..))
    }
}

/// Computes the state from facts, at an instant. `kept` is until when the
/// account is known to be paid. It is needed for subscriptions whose payments
/// never came here.
pub fn purchase_state(facts: &[Fact], now: Instant, kept: Option<Instant>) -> PurchaseState {
    let payments = payments(facts);
    let state = if payments.is_empty() {
        without_payments(facts, now, kept)
    } else {
        combine(&groups(payments, facts), now)
    };
    PurchaseState { disputed_at: disputed_at(facts), ..state }
}

/// A transaction whose payment was confirmed.
struct Payment<'f> {
    at: Moment,
    subscriber: Option<&'f str>,
    product: Option<&'f str>,
    paid_until: Option<Instant>,
    role: Option<(Moment, Role)>,
    /// When the payment was undone, and by which kind of event.
    reversed: Option<(i64, EventKind)>,
}

fn payments(facts: &[Fact]) -> Vec<Payment<'_>> {
    let mut by_transaction: BTreeMap<String, Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.kind.is_payment()) {
        by_transaction.entry(moment(fact).1).or_default().push(fact);
    }
    let made = by_transaction.into_iter();
    made.filter_map(|(transaction, paid)| payment(transaction, paid, facts)).collect()
}

fn payment<'f>(
    transaction: String,
    mut paid: Vec<&'f Fact>,
    facts: &[Fact],
) -> Option<Payment<'f>> {
    // A completion counts only if the approval was lost.
    if paid.iter().any(|fact| fact.kind == EventKind::Approved) {
        paid.retain(|fact| fact.kind == EventKind::Approved);
    }
    let first = *paid.iter().min_by_key(|fact| (fact.at_ms, &fact.subscriber, &fact.product))?;
    let undone = facts.iter().filter(|fact| {
        let undoes = fact.kind.is_reversal() || fact.kind == EventKind::Canceled;
        undoes && fact.at_ms >= first.at_ms && fact.transaction.as_ref() == Some(&transaction)
    });
    let dated = paid.iter().filter_map(|fact| Some((fact.at_ms, fact.paid_until?)));
    let planned = paid.iter().filter_map(|fact| Some((fact.at_ms, fact.role?)));
    let role = planned.max_by_key(|(at, role)| (*at, role.name()));
    Some(Payment {
        subscriber: first.subscriber.as_deref(),
        product: first.product.as_deref(),
        paid_until: dated.max().map(|(_, until)| until),
        role: role.map(|(at, role)| ((at, transaction.clone()), role)),
        reversed: undone.map(|fact| (fact.at_ms, fact.kind)).max(),
        at: (first.at_ms, transaction),
    })
}

/// When an event happened; an event without a transaction gets a made-up one.
fn moment(fact: &Fact) -> Moment {
    let own = || format!("?{}", fact.at_ms);
    (fact.at_ms, fact.transaction.clone().unwrap_or_else(own))
}

/// The payments of one subscription, or of one product without a subscription,
/// and the other events that belong to them.
struct PurchaseGroup<'f> {
    payments: Vec<Payment<'f>>,
    events: Vec<(&'f Fact, MatchedBy)>,
}

/// By what an event belongs to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchedBy {
    Transaction,
    Subscriber,
    Product,
}

fn groups<'f>(payments: Vec<Payment<'f>>, facts: &'f [Fact]) -> Vec<PurchaseGroup<'f>> {
    let mut groups: BTreeMap<_, PurchaseGroup<'f>> = BTreeMap::new();
    for payment in payments {
        let product = payment.product.filter(|_| payment.subscriber.is_none());
        let group = groups.entry((payment.subscriber, product));
        let group =
            group.or_insert_with(|| PurchaseGroup { payments: Vec::new(), events: Vec::new() });
        group.payments.push(payment);
    }
    let mut groups: Vec<PurchaseGroup<'f>> = groups.into_values().collect();
    for group in &mut groups {
        group.payments.sort_by(|one, other| one.at.cmp(&other.at));
    }
    for fact in facts.iter().filter(|fact| !fact.kind.is_payment()) {
        if let Some((index, matched_by)) = group_of(&groups, fact) {
            groups[index].events.push((fact, matched_by));
        }
    }
    groups
}

/// The group that an event belongs to: that of its transaction, else of its
/// subscription, else the newest one that does not contradict the event.
fn group_of(groups: &[PurchaseGroup<'_>], fact: &Fact) -> Option<(usize, MatchedBy)> {
    let newest = |belongs: &dyn Fn(&Payment<'_>) -> bool, matched_by| {
        let found =
            groups.iter().enumerate().filter(|(_, group)| group.payments.iter().any(belongs));
        let newest = found.max_by(|(_, one), (_, other)| one.newest().at.cmp(&other.newest().at));
        newest.map(|(index, _)| (index, matched_by))
    };
    let subscriber = fact.subscriber.as_deref();
    let product = fact.product.as_deref();
    let paid = |paid: &Payment<'_>| fact.transaction.as_ref() == Some(&paid.at.1);
    let subscribed = |paid: &Payment<'_>| subscriber.is_some() && paid.subscriber == subscriber;
    let fits = |paid: &Payment<'_>| {
        (subscriber.is_none() || paid.subscriber.is_none())
            && (product.is_none() || paid.product.is_none() || product == paid.product)
    };
    newest(&paid, MatchedBy::Transaction)
        .or_else(|| newest(&subscribed, MatchedBy::Subscriber))
        .or_else(|| newest(&fits, MatchedBy::Product))
}

impl<'f> PurchaseGroup<'f> {
    /// The payment of the present period: the last one, as payments are sorted.
    fn newest(&self) -> &Payment<'f> {
        &self.payments[self.payments.len() - 1]
    }

    /// The events that are not older than the newest payment.
    fn since(&self) -> impl Iterator<Item = (&'f Fact, MatchedBy)> {
        let newest = self.newest().at.0;
        let events = self.events.iter().copied();
        events.filter(move |(fact, _)| fact.at_ms >= newest)
    }

    /// Until when it is paid; payments that were undone do not count.
    fn paid_until(&self) -> Option<Instant> {
        let kept = self.payments.iter().filter(|paid| paid.reversed.is_none());
        kept.filter_map(|paid| paid.paid_until).max()
    }

    /// What closed it early, if anything did.
    fn undone(&self) -> Option<Access> {
        let newest = self.newest();
        if let Some((_, kind)) = newest.reversed {
            return Some(Access::Closed(kind, Some(newest.at.1.clone())));
        }
        // Without a transaction the whole subscription was cancelled.
        let whole = |fact: &Fact| fact.kind == EventKind::Canceled && fact.transaction.is_none();
        self.since()
            .any(|(fact, _)| whole(fact))
            .then_some(Access::Closed(EventKind::Canceled, None))
    }

    /// Since when a renewal is unpaid.
    fn late_since(&self) -> Option<Instant> {
        let is_own = |fact: &Fact| {
            let mut payments = self.payments.iter();
            payments.any(|paid| fact.transaction.as_ref() == Some(&paid.at.1))
        };
        let unpaid = self.since().filter(|(fact, matched_by)| match fact.kind {
            EventKind::Delayed | EventKind::Expired => is_renewal(fact, *matched_by),
            EventKind::Canceled => !is_own(fact) && is_renewal(fact, *matched_by),
            _ => false,
        });
        let later = unpaid.filter(|(fact, _)| moment(fact) > self.newest().at);
        later.map(|(fact, _)| seconds(fact)).min()
    }

    fn role(&self) -> Option<(Moment, Role)> {
        let switched = self.events.iter().filter_map(|(fact, _)| switched(fact));
        let paid = self.payments.iter().filter_map(|paid| paid.role.clone());
        paid.chain(switched).max_by(later)
    }
}

fn seconds(fact: &Fact) -> Instant {
    Instant(fact.at_ms.div_euclid(1000))
}

fn switched(fact: &Fact) -> Option<(Moment, Role)> {
    let role = fact.role.filter(|_| fact.kind == EventKind::SwitchPlan)?;
    Some((moment(fact), role))
}

/// Which of two plans is the later one.
fn later(one: &(Moment, Role), other: &(Moment, Role)) -> Ordering {
    (&one.0, one.1.name()).cmp(&(&other.0, other.1.name()))
}

/// Whether an unpaid charge is the renewal of a group.
fn is_renewal(fact: &Fact, matched_by: MatchedBy) -> bool {
    let same = matched_by != MatchedBy::Product;
    match fact.recurrence {
        Some(number) if number > 1 => true,
        Some(_) => same && fact.kind == EventKind::Delayed,
        None => same || fact.kind == EventKind::Delayed,
    }
}

/// The state of a single group.
fn state_of(group: &PurchaseGroup<'_>, now: Instant) -> PurchaseState {
    let mut state = PurchaseState {
        access: Access::Open,
        role: group.role(),
        payment: Some(group.newest().at.clone()),
        paid_until: group.paid_until(),
        late_since: group.late_since(),
        ..PurchaseState::default()
    };
    let cancelled = group.since().any(|(fact, _)| fact.kind == EventKind::Cancellation);
    if cancelled {
        state.ends_at = state.paid_until.filter(|end| now < *end);
        state.late_since = None;
    }
    let ended = cancelled && state.ends_at.is_none();
    let over = ended.then_some(Access::Closed(EventKind::Cancellation, None));
    if let Some(access) = group.undone().or(over) {
        state.access = access;
        state.late_since = None;
        state.ends_at = None;
    }
    state
}

/// The state of a person with several groups. One group in order is enough.
/// The plan is the newest one among the groups that let the person in.
fn combine(groups: &[PurchaseGroup<'_>], now: Instant) -> PurchaseState {
    let mut all: Vec<PurchaseState> = groups.iter().map(|group| state_of(group, now)).collect();
    if all.iter().any(PurchaseState::is_open) {
        all.retain(PurchaseState::is_open);
    }
    let newest = all.iter().max_by_key(|group| &group.payment);
    let fine = |group: &PurchaseState| group.late_since.is_none() && group.ends_at.is_none();
    let in_order = all.iter().any(fine);
    let late_since = all.iter().filter_map(|group| group.late_since).max();
    let ends_at = all.iter().filter_map(|group| group.ends_at).max();
    PurchaseState {
        access: newest.map(|group| group.access.clone()).unwrap_or_default(),
        role: all.iter().filter_map(|group| group.role.clone()).max_by(later),
        payment: newest.filter(|group| group.is_open()).and_then(|group| group.payment.clone()),
        paid_until: all.iter().filter_map(|group| group.paid_until).max(),
        late_since: late_since.filter(|_| !in_order),
        ends_at: ends_at.filter(|_| !in_order && late_since.is_none()),
        disputed_at: None,
    }
}

/// The state of a person whose payments never came here, such as an imported
/// student. Only plan changes, unpaid renewals and events that end access count.
fn without_payments(facts: &[Fact], now: Instant, kept: Option<Instant>) -> PurchaseState {
    let mut state = PurchaseState {
        role: facts.iter().filter_map(switched).max_by(later),
        ..PurchaseState::default()
    };
    let undoes = |fact: &&Fact| {
        fact.kind.is_reversal() || fact.kind == EventKind::Canceled && fact.transaction.is_none()
    };
    let undone = facts.iter().filter(undoes);
    if let Some(last) = undone.max_by_key(|fact| (moment(fact), fact.kind)) {
        state.access = Access::Closed(last.kind, last.transaction.clone());
        return state;
    }
    if facts.iter().any(|fact| fact.kind == EventKind::Cancellation) {
        state.ends_at = kept.filter(|end| now < *end);
        if state.ends_at.is_none() {
            state.access = Access::Closed(EventKind::Cancellation, None);
        }
        return state;
    }
    let late = facts.iter().filter(|fact| match (fact.kind, fact.recurrence) {
        (EventKind::Delayed | EventKind::Expired | EventKind::Canceled, Some(number)) => number > 1,
        (EventKind::Delayed, None) => fact.subscriber.is_some(),
        _ => false,
    });
    state.late_since = late.map(seconds).min();
    state
}

/// Since when a payment is disputed that was not refunded yet.
fn disputed_at(facts: &[Fact]) -> Option<Instant> {
    let settled = |protest: &Fact| {
        let mut back = facts.iter().filter(|fact| fact.kind.is_reversal());
        back.any(|fact| fact.transaction == protest.transaction && fact.at_ms >= protest.at_ms)
    };
    let open = facts.iter().filter(|fact| fact.kind == EventKind::Protest && !settled(fact));
    open.map(seconds).min()
}
