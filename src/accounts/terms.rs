//! The terms of a student: the plan, until when it is paid, what is unpaid or
//! disputed. Purchases set them; suspension and reactivation are in
//! `students.rs`.

use serde_json::{Value, json};

use super::Role;
use crate::base::{Instant, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

row! {
    /// What purchases have set for a student.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Terms: stored {
        pub role: Role,
        /// End of what was paid for.
        pub paid_until: Option<Instant>,
        /// Since when a renewal is unpaid.
        pub late_since: Option<Instant>,
        /// When a cancelled subscription ends.
        pub ends_at: Option<Instant>,
        /// Since when a buyer disputes a payment.
        pub disputed_at: Option<Instant>,
    }
}

impl Terms {
    /// The terms of a student with this plan and no purchases.
    pub const fn of(role: Role) -> Self {
        Self { role, paid_until: None, late_since: None, ends_at: None, disputed_at: None }
    }

    /// The terms as the audit log shows them.
    pub fn shown(&self, suspended: bool) -> Value {
        let at = |at: Option<Instant>| at.map(Instant::rfc3339);
        json!({
            "plano": self.role.name(),
            "suspenso": suspended,
            "pago_ate": at(self.paid_until),
            "atrasado_desde": at(self.late_since),
            "termina_em": at(self.ends_at),
            "em_disputa_desde": at(self.disputed_at),
        })
    }
}

row! {
    /// A person with an e-mail address, student or not.
    #[derive(Clone, Debug)]
    pub struct Holder {
        pub user_id: UserId,
        pub email: String,
        pub name: String,
        pub has_chat: bool = "chat_number IS NOT NULL",
        /// Whether a password was ever chosen.
        pub has_password: bool = "password_hash IS NOT NULL",
        pub suspended: bool = "suspended_at IS NOT NULL",
        pub terms: Terms as row,
    }
}

/// The person with an e-mail address, given in its stored form.
pub fn by_email(tx: &ReadTx<'_>, email: &str) -> Result<Option<Holder>> {
    tx.record("FROM user WHERE email = ?1", [email])
}

/// A person by id.
pub fn by_id(tx: &ReadTx<'_>, user: UserId) -> Result<Option<Holder>> {
    tx.record("FROM user WHERE user_id = ?1", [user])
}

/// Students who are not suspended although their grace period is over: a
/// renewal is unpaid and the paid time ended before `unpaid_before`, or a
/// cancelled subscription has ended. At most `most` of them.
pub fn overdue(tx: &ReadTx<'_>, unpaid_before: Instant, most: usize) -> Result<Vec<Holder>> {
    let found = |index: &str, condition: &str, until: Instant| {
        let rest = format!(
            "FROM user INDEXED BY {index}
             WHERE {condition} AND role NOT IN ('drop', 'admin') AND suspended_at IS NULL
             LIMIT ?2"
        );
        tx.records(&rest, (until, i64::try_from(most).unwrap_or(1)))
    };
    let late = "late_since IS NOT NULL AND coalesce(paid_until, late_since) <= ?1";
    let mut overdue: Vec<Holder> = found("user_late", late, unpaid_before)?;
    overdue.extend(found("user_ending", "ends_at <= ?1", tx.now())?);
    overdue.sort_by_key(|holder| holder.user_id.0);
    overdue.dedup_by_key(|holder| holder.user_id);
    overdue.truncate(most);
    Ok(overdue)
}

/// Sets the terms of a student.
pub fn set(tx: &WriteTx<'_>, user: UserId, terms: &Terms) -> Result<()> {
    tx.change("user", terms, &[], &[("user_id", &user)])?;
    Ok(())
}

/// Sets the chat number of a student who has none yet.
pub fn fill_in_chat_number(tx: &WriteTx<'_>, user: UserId, number: &str) -> Result<()> {
    tx.run(
        "UPDATE user SET chat_number = ?2 WHERE user_id = ?1 AND chat_number IS NULL",
        (user, number),
    )
}
