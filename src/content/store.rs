//! What all content shares in the database: the times of changes, and counts.

use serde::Serialize;

use crate::base::Instant;
use crate::db::{ReadTx, Record as _, Result, WriteTx};
use crate::{row, settings};

/// Content whose last change is stored, for `Last-Modified` of public answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Plans,
    /// Teachers and the number of their lessons.
    Teachers,
}

impl Topic {
    const fn setting(self) -> &'static str {
        match self {
            Self::Plans => "plans_changed_at",
            Self::Teachers => "teachers_changed_at",
        }
    }
}

/// When something of a topic was last changed or removed; `None` when there
/// never was anything.
pub fn changed_at(tx: &ReadTx<'_>, topic: Topic) -> Result<Option<Instant>> {
    let bytes = settings::value(tx, topic.setting())?;
    Ok(bytes.map(|bytes| Instant(i64::from_be_bytes(bytes.try_into().unwrap_or_default()))))
}

/// Stores the time of a change for `Last-Modified`. Two changes never get the
/// same second, because a client that has seen the first would not fetch the
/// second.
pub fn note_change(tx: &WriteTx<'_>, topic: Topic) -> Result<()> {
    let before = changed_at(tx, topic)?;
    let at = before.map_or(tx.now(), |before| tx.now().max(before.plus(1)));
    settings::keep(tx, topic.setting(), &at.0.to_be_bytes())
}

row! {
    /// The platform in numbers.
    #[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
    pub struct Statistics {
        /// Students who may sign in.
        alunos_ativos: i64 = "(SELECT count FROM total WHERE name = 'active_students')",
        /// Lessons of published courses.
        aulas: i64 = "(SELECT count(*) FROM course CROSS JOIN lesson ON lesson.course_id = course.course_id
      WHERE course.published = 1)",
        professores: i64 = "(SELECT count(*) FROM teacher)",
        /// Meets that have not begun.
        meets_agendados: i64 = "(SELECT count(*) FROM meet WHERE starts_at > ?1)",
        /// Marketplace accounts that people have linked.
        contas_vinculadas: i64 = "(SELECT count FROM total WHERE name = 'linked_accounts')",
    }
}

// `?1` is the instant. People and accounts have stored totals. Content is typed
// by hand, so it is small enough to count here.

/// The platform in numbers at `now`.
pub fn statistics(tx: &ReadTx<'_>, now: Instant) -> Result<Statistics> {
    tx.one(&format!("SELECT {}", Statistics::COLUMNS), [now], Statistics::read)
}
