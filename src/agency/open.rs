//! What waits at the accounts of clients: questions without an answer, open
//! claims, and parcels whose labels are to be printed, as the books have them at this
//! moment. Every page that says such a number takes it from here. Decision agency-14.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::base::{DAY_S, Instant, MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::tools::labels;
use crate::row;

/// A question is to be answered within this time.
pub const QUESTION_S: i64 = DAY_S;

row! {
    /// The open questions and claims of an account, read from its row of
    /// `agency_account`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Open {
        pub questions: i64 = "(SELECT count(*) FROM question q
            WHERE q.owner_id = agency_account.owner_id AND q.state = 1 AND q.ml_user_id = agency_account.ml_user_id)",
        /// When the oldest open question came.
        pub asked_at: Option<Instant> = "(SELECT min(q.asked_at) FROM question q
            WHERE q.owner_id = agency_account.owner_id AND q.state = 1 AND q.ml_user_id = agency_account.ml_user_id)",
        pub claims: i64 = "(SELECT count(*) FROM claim l
            WHERE l.owner_id = agency_account.owner_id AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id)",
        /// When the oldest open claim came.
        pub opened_at: Option<Instant> = "(SELECT min(l.opened_at) FROM claim l
            WHERE l.owner_id = agency_account.owner_id AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id)",
        /// Until when the seller has to act on the most urgent open claim.
        pub due_at: Option<Instant> = "(SELECT min(l.due_at) FROM claim l
            WHERE l.owner_id = agency_account.owner_id AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id)",
        /// That claim; where none has a deadline, the oldest.
        pub claim: Option<i64> = "(SELECT l.claim_id FROM claim l
            WHERE l.owner_id = agency_account.owner_id AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id
            ORDER BY l.due_at IS NULL, l.due_at, l.opened_at LIMIT 1)",
    }
}

/// What is to be done by a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Answer,
    Claim,
    Send,
}

impl Task {
    /// What a deadline asks for, such as `responda`.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Answer => "responda",
            Self::Claim => "resolva",
            Self::Send => "despache",
        }
    }
}

fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    [one, other].into_iter().flatten().min()
}

impl Open {
    /// Until when the oldest open question is to be answered.
    pub fn answer_by(&self) -> Option<Instant> {
        self.asked_at.map(|at| at.plus(QUESTION_S))
    }

    /// Less for the claim that comes first.
    fn claim_urgency(&self) -> (bool, bool, Option<Instant>, Option<Instant>) {
        (self.claim.is_none(), self.due_at.is_none(), self.due_at, self.opened_at)
    }

    fn add(&mut self, other: &Self) {
        if other.claim_urgency() < self.claim_urgency() {
            self.claim = other.claim;
        }
        self.questions += other.questions;
        self.claims += other.claims;
        self.asked_at = sooner(self.asked_at, other.asked_at);
        self.opened_at = sooner(self.opened_at, other.opened_at);
        self.due_at = sooner(self.due_at, other.due_at);
    }
}

/// What waits at one account, or at several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub open: Open,
    /// Parcels to be sent whose labels are to be printed.
    pub parcels: u64,
    /// Until when the first of them is to be handed over, as far as is known.
    pub send_by: Option<Instant>,
    /// The account that has to send first; without a deadline the one with most parcels.
    pub sender: Option<MlUserId>,
    /// The parcels of that account.
    most: u64,
}

impl Waiting {
    /// Whether something has to be done.
    pub const fn is_any(&self) -> bool {
        self.open.questions > 0 || self.open.claims > 0 || self.parcels > 0
    }

    /// `3 perguntas · 1 reclamação · 14 pacotes`; empty when nothing waits.
    pub fn words(&self) -> String {
        let claims = u64::try_from(self.open.claims).unwrap_or(0);
        let questions = u64::try_from(self.open.questions).unwrap_or(0);
        let parts = [
            (questions, "pergunta", "perguntas"),
            (claims, "reclamação", "reclamações"),
            (self.parcels, "pacote", "pacotes"),
        ];
        let words: Vec<String> = parts
            .into_iter()
            .filter(|part| part.0 > 0)
            .map(|part| counted(part.0, part.1, part.2))
            .collect();
        words.join(" · ")
    }

    /// The next deadline, and what is to be done by then.
    pub fn next(&self) -> Option<(Task, Instant)> {
        let claim = self.open.due_at.map(|at| (Task::Claim, at));
        let answer = self.open.answer_by().map(|at| (Task::Answer, at));
        let send = self.send_by.map(|at| (Task::Send, at));
        [claim, answer, send].into_iter().flatten().min_by_key(|(_, at)| *at)
    }

    /// Adds what waits at more accounts.
    pub fn add(&mut self, other: &Self) {
        self.open.add(&other.open);
        self.parcels += other.parcels;
        if other.urgency() < self.urgency() {
            (self.most, self.sender) = (other.most, other.sender);
        }
        self.send_by = sooner(self.send_by, other.send_by);
    }

    /// Less for the sender that comes first.
    fn urgency(&self) -> (i64, Reverse<u64>) {
        (self.send_by.map_or(i64::MAX, |at| at.0), Reverse(self.most))
    }
}

/// `1 pergunta`, `3 perguntas`; the number does not leave its noun at the end of a
/// line.
pub fn counted(count: impl TryInto<u64>, one: &str, several: &str) -> String {
    crate::base::counted(count, one, several).replacen(' ', "\u{a0}", 1)
}

row! {
    struct Row {
        client: i64 = "client_id",
        owner: UserId = "owner_id",
        account: MlUserId = "ml_user_id",
        open: Open as row,
        /// Whether there may be parcels to be sent.
        sends: bool = "EXISTS (SELECT 1 FROM sale_order o WHERE o.owner_id = agency_account.owner_id
            AND o.ml_user_id = agency_account.ml_user_id AND o.stage BETWEEN 2 AND 5 AND o.shipping_id > 0)",
    }
}

fn waiting(tx: &ReadTx<'_>, row: &Row) -> Result<Waiting> {
    let (parcels, send_by) =
        if row.sends { labels::count_to_print(tx, row.owner, row.account)? } else { (0, None) };
    let sender = (parcels > 0).then_some(row.account);
    Ok(Waiting { open: row.open, parcels, send_by, sender, most: parcels })
}

/// What waits at each account of a client.
pub fn of_accounts(tx: &ReadTx<'_>, client: i64) -> Result<BTreeMap<MlUserId, Waiting>> {
    let rows: Vec<Row> = tx.records("FROM agency_account WHERE client_id = ?1", [client])?;
    rows.iter().map(|row| Ok((row.account, waiting(tx, row)?))).collect()
}

/// What waits at all accounts of each client; clients without an account are
/// left out.
pub fn of_clients(tx: &ReadTx<'_>) -> Result<BTreeMap<i64, Waiting>> {
    let rows: Vec<Row> = tx.records("FROM agency_account ORDER BY ml_user_id", [])?;
    let mut clients = BTreeMap::new();
    for row in &rows {
        let client: &mut Waiting = clients.entry(row.client).or_default();
        client.add(&waiting(tx, row)?);
    }
    Ok(clients)
}

/// The same of several clients or accounts together.
pub fn sum<'w>(all: impl IntoIterator<Item = &'w Waiting>) -> Waiting {
    let mut sum = Waiting::default();
    all.into_iter().for_each(|one| sum.add(one));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_deadline_is_the_soonest_of_all() {
        let at = Instant(1_795_183_200);
        let with = |open| Waiting { open, ..Waiting::default() };
        let mut all = with(Open { questions: 2, asked_at: Some(at), ..Open::default() });
        assert_eq!(all.next(), Some((Task::Answer, at.plus(QUESTION_S))));
        all.add(&with(Open { claims: 1, due_at: Some(at.plus(60)), ..Open::default() }));
        assert_eq!(all.next(), Some((Task::Claim, at.plus(60))));
        assert_eq!((all.open.questions, all.open.claims), (2, 1));
        all.add(&sends(1, 9, None));
        assert_eq!((all.next(), all.sender), (Some((Task::Claim, at.plus(60))), Some(MlUserId(1))));
        all.add(&sends(2, 3, Some(at.plus(30))));
        assert_eq!((all.next(), all.sender), (Some((Task::Send, at.plus(30))), Some(MlUserId(2))));
        assert_eq!(all.parcels, 12);
        // A claim that waits for the marketplace has no deadline.
        assert_eq!(with(Open { claims: 1, ..Open::default() }).next(), None);
    }

    fn sends(account: i64, parcels: u64, send_by: Option<Instant>) -> Waiting {
        let sender = Some(MlUserId(account));
        Waiting { parcels, send_by, sender, most: parcels, ..Waiting::default() }
    }

    #[test]
    fn what_waits_is_said_in_words() {
        let of = |account, parcels| Waiting {
            open: Open { questions: 1, claims: 2, ..Open::default() },
            ..sends(account, parcels, None)
        };
        assert_eq!(Waiting::default().words(), "");
        assert!(!Waiting::default().is_any());
        assert_eq!(of(1, 1).words(), "1\u{a0}pergunta · 2\u{a0}reclamações · 1\u{a0}pacote");
        let all = sum(&[of(1, 3), of(2, 1_200), of(3, 4)]);
        assert_eq!(all.words(), "3\u{a0}perguntas · 6\u{a0}reclamações · 1.207\u{a0}pacotes");
        assert_eq!(all.sender, Some(MlUserId(2)));
    }
}
