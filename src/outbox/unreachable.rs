//! Chat numbers that the network does not reach.
//!
//! The official API says so of a message that it took, and a gateway of a number that it
//! asked about. Both are wrong at times, and the official API means other things by it, too,
//! so the first refusals are told on the pages of the person alone. From the third in a row
//! on nothing more is sent to the number. It ends with another number, with a message that
//! arrives, and when somebody of the staff sends a message there again. Decision messages-31.

use crate::base::{Instant, UserId, shortened};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

/// Refusals in a row after which nothing more is sent to a number.
const MOST_REFUSALS: i64 = 3;
/// Longest reason that is kept.
const LONGEST_REASON: usize = 300;

/// SQL condition on `user u`: chat reaches the person.
pub const IS_REACHED: &str = "u.chat_number IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM chat_unreachable x
    WHERE x.user_id = u.user_id AND x.number = u.chat_number AND x.times >= 3)";

/// Whether chat reaches a person.
pub fn is_reached(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    tx.value(&format!("SELECT {IS_REACHED} FROM user u WHERE u.user_id = ?1"), [user])
}

const _: () = assert!(MOST_REFUSALS == 3, "the condition has it");

row! {
    /// What the network said of a person's present number.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Unreachable {
        pub number: String = "x.number",
        /// Refusals in a row.
        pub times: i64 = "x.times",
        /// When the first of them was.
        pub since: Instant = "x.since",
        /// What was said last.
        pub reason: String = "x.reason",
    }
}

impl Unreachable {
    /// Whether nothing more is sent to the number.
    pub const fn is_silenced(&self) -> bool {
        self.times >= MOST_REFUSALS
    }
}

/// What the network said of a person's present number; `None` while it says nothing.
pub fn of(tx: &ReadTx<'_>, user: UserId) -> Result<Option<Unreachable>> {
    tx.record(
        "FROM chat_unreachable x JOIN user u ON u.user_id = x.user_id AND u.chat_number = x.number
         WHERE x.user_id = ?1",
        [user],
    )
}

/// Counts a refusal of a number, if it is the person's present one.
pub fn note(tx: &WriteTx<'_>, user: UserId, number: &str, reason: &str) -> Result<()> {
    tx.run(
        "INSERT INTO chat_unreachable (user_id, number, times, since, reason)
         SELECT user_id, chat_number, 1, ?3, ?4 FROM user WHERE user_id = ?1 AND chat_number = ?2
         ON CONFLICT (user_id) DO UPDATE SET
             times = iif(number = excluded.number, times + 1, 1),
             since = iif(number = excluded.number, since, excluded.since),
             number = excluded.number, reason = excluded.reason",
        (user, number, tx.now(), shortened(reason, LONGEST_REASON)),
    )
}

/// Forgets what was said of a person's number.
pub fn forget(tx: &WriteTx<'_>, user: UserId) -> Result<()> {
    tx.run("DELETE FROM chat_unreachable WHERE user_id = ?1", [user])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{NOW, TestDir};

    const ANA: UserId = UserId(1);

    #[test]
    fn three_refusals_in_a_row_of_the_present_number_silence_it() {
        let dir = TestDir::new();
        let db = dir.database();
        db.write(|tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at, chat_number)
                 VALUES (1, 'ana@example.com', 'Ana', 'pro', 1, '5511987654000')",
                [],
            )?;
            let is_reached = || is_reached(tx, ANA);
            // Of a number that is no longer hers nothing is kept.
            note(tx, ANA, "5511900000000", "antes")?;
            assert_eq!((of(tx, ANA)?, is_reached()?), (None, true));
            for times in 1..=3 {
                note(tx, ANA, "5511987654000", "não está")?;
                let found = of(tx, ANA)?.unwrap();
                assert_eq!((found.times, found.since, &*found.reason), (times, NOW, "não está"));
                assert_eq!((found.is_silenced(), is_reached()?), (times == 3, times < 3));
            }
            // Another number begins anew.
            tx.run("UPDATE user SET chat_number = '5511912345678'", [])?;
            assert_eq!((of(tx, ANA)?, is_reached()?), (None, true));
            note(tx, ANA, "5511912345678", "x")?;
            assert_eq!(of(tx, ANA)?.unwrap().times, 1);
            forget(tx, ANA)?;
            assert_eq!(of(tx, ANA)?, None);
            // Without a number there is nothing to reach.
            tx.run("UPDATE user SET chat_number = NULL", [])?;
            assert!(!is_reached()?);
            Ok::<_, crate::db::DbError>(())
        })
        .unwrap();
    }
}
