//! The chain of the log: adding to it, walking along it, and blanking words of
//! people who are erased. The hashes themselves are in `base/chain.rs`. Decision privacy-1.

use std::fmt;

use rusqlite::Row;

use crate::base::chain::{self, FixedFields, Link, SALT, START};
use crate::base::{hex, secrets};
use crate::db::{ReadTx, Result, WriteTx};

/// Entries of a piece of a walk.
pub const PIECE: u32 = 2_000;

/// The newest entry: its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub number: i64,
    pub link: Link,
}

/// As manifests of copies write it: the number, a colon, the hash.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, hex(&self.link))
    }
}

/// Whether entries have hashes: not before the migration that brought them.
pub fn exists(tx: &ReadTx<'_>) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('audit') WHERE name = 'link')";
    tx.value(sql, [])
}

/// The newest entry; `None` in an empty log.
pub fn head(tx: &ReadTx<'_>) -> Result<Option<Head>> {
    tx.optional(
        "SELECT audit_id, link FROM audit WHERE audit_id = (SELECT max(audit_id) FROM audit)",
        [],
        |row| {
            // One without a hash has one that nothing fits.
            let link = row.get_ref(1)?.as_blob()?.try_into().unwrap_or(START);
            Ok(Head { number: row.get(0)?, link })
        },
    )
}

/// Whether an entry has this head's hash.
pub fn holds(tx: &ReadTx<'_>, head: &str) -> Result<bool> {
    let Some((number, link)) = head.split_once(':') else { return Ok(false) };
    let Ok(number) = number.parse::<i64>() else { return Ok(false) };
    let found: Option<Vec<u8>> =
        tx.maybe("SELECT link FROM audit WHERE audit_id = ?1", [number])?;
    Ok(found.is_some_and(|found| hex(&found).eq_ignore_ascii_case(link)))
}

/// What a new entry gets: its number, the salts of its parts, and its hash.
pub struct Added {
    pub number: i64,
    pub who: [u8; SALT],
    pub what: [u8; SALT],
    pub link: Link,
}

/// The words of an entry in its two parts.
pub struct Words<'e> {
    /// Name, address, request.
    pub who: [Option<&'e str>; 3],
    /// Name of the object, before, after.
    pub what: [Option<&'e str>; 3],
}

/// Computes what the next entry gets; `fields` has no number yet.
pub fn add(tx: &WriteTx<'_>, fields: &FixedFields<'_>, words: &Words<'_>) -> Result<Added> {
    let before = head(tx)?.unwrap_or(Head { number: 0, link: START });
    let fields = FixedFields { number: before.number + 1, ..*fields };
    let (who, what) = (secrets::random(), secrets::random());
    let parts = [chain::digest(&who, &words.who), chain::digest(&what, &words.what)];
    let [Some(first), Some(second)] = &parts else { unreachable!("salts have their length") };
    let link = chain::link(&before.link, &fields, [first, second]);
    Ok(Added { number: fields.number, who, what, link })
}

/// How far a walk along the chain came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The last entry that fits.
    pub at: Head,
    pub entries: u64,
    /// The first entry that does not fit.
    pub broken: Option<i64>,
    pub is_over: bool,
}

impl Walk {
    /// Before the first entry.
    pub const START: Self = Self {
        at: Head { number: i64::MIN, link: START },
        entries: 0,
        broken: None,
        is_over: false,
    };

    /// Walks on, [`PIECE`] entries at most.
    pub fn on(mut self, tx: &ReadTx<'_>) -> Result<Self> {
        let mut read = 0;
        tx.each(
            "SELECT audit_id, link, at, actor_kind, actor_id, action, object_kind, object_id,
                    who, actor_name, address, request_id, what, object_name, before, after
             FROM audit WHERE audit_id > ?1 ORDER BY audit_id LIMIT ?2",
            (self.at.number, PIECE),
            |row| {
                read += 1;
                if self.broken.is_some() {
                    return Ok(());
                }
                let number = row.get(0)?;
                match fits(row, &self.at.link)? {
                    Some(link) => {
                        self.at = Head { number, link };
                        self.entries += 1;
                    }
                    None => self.broken = Some(number),
                }
                Ok(())
            },
        )?;
        self.is_over = read < PIECE || self.broken.is_some();
        Ok(self)
    }
}

/// The hash of a row, when it is the right one.
fn fits(row: &Row<'_>, previous: &Link) -> rusqlite::Result<Option<Link>> {
    let text = |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_str()?);
    let fields = FixedFields {
        number: row.get(0)?,
        at: row.get(2)?,
        actor_kind: text(3)?,
        actor_id: row.get(4)?,
        action: text(5)?,
        object_kind: text(6)?,
        object_id: text(7)?,
    };
    let Some((who, what)) = part(row, 8)?.zip(part(row, 12)?) else { return Ok(None) };
    let link = chain::link(previous, &fields, [&who, &what]);
    Ok((row.get_ref(1)?.as_blob()? == link).then_some(link))
}

/// The digest of the part whose seal is in a column, with its words behind it.
fn part(row: &Row<'_>, seal: usize) -> rusqlite::Result<Option<Link>> {
    let word = |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_str_or_null()?);
    let words = [word(seal + 1)?, word(seal + 2)?, word(seal + 3)?];
    Ok(chain::digest(row.get_ref(seal)?.as_blob()?, &words))
}

/// Which words of an entry are blanked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blank {
    pub who: bool,
    pub what: bool,
}

/// Blanks words of an entry; its number and act stay, and the chain still fits.
pub fn blank(tx: &WriteTx<'_>, number: i64, blank: Blank) -> Result<()> {
    const WORDS: &str =
        "audit_id, actor_name, address, request_id, action, object_name, before, after";
    let digests = tx.optional(
        "SELECT who, actor_name, address, request_id, what, object_name, before, after
         FROM audit WHERE audit_id = ?1",
        [number],
        |row| Ok((part(row, 0)?, part(row, 4)?)),
    )?;
    // Words that do not fit their entry go too, and it does not fit afterwards either.
    let Some((who, what)) = digests else { return Ok(()) };
    let is_indexed: bool =
        tx.value("SELECT audit_id >= ?1 FROM audit_searched WHERE one = 1", [number])?;
    let index = |command: &str, values: &str| {
        tx.run(
            &format!(
                "INSERT INTO audit_search ({command}rowid, actor_name, address, request_id, action, object_name, before, after)
                 SELECT {values}{WORDS} FROM audit WHERE audit_id = ?1"
            ),
            [number],
        )
    };
    if is_indexed {
        index("audit_search, ", "'delete', ")?;
    }
    if blank.who {
        tx.run(
            "UPDATE audit SET who = ?2, actor_name = '', address = '', request_id = '' WHERE audit_id = ?1",
            (number, who.unwrap_or(START)),
        )?;
    }
    if blank.what {
        tx.run(
            "UPDATE audit SET what = ?2, object_name = '', before = NULL, after = NULL WHERE audit_id = ?1",
            (number, what.unwrap_or(START)),
        )?;
    }
    if is_indexed {
        index("", "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::log::store as trails;
    use crate::audit::{self, Act, Actor, ActorKind};
    use crate::db::{Db, DbError, Lane};
    use crate::fixture::TestDir;

    /// A log with entries about Ana and Bia by turns.
    fn log(entries: i64) -> (TestDir, Db) {
        let dir = TestDir::new();
        let db = dir.database();
        db.write(move |tx| {
            for entry in 0..entries {
                let name = if entry % 2 == 0 { "Ana Segredo" } else { "Bia Pública" };
                let act = Act {
                    action: "aluno.alterar",
                    object: "aluno",
                    object_id: entry.to_string(),
                    object_name: name,
                };
                let actor = Actor::local(ActorKind::Command, "teste");
                audit::note(tx, &actor, &act, (), name)?;
            }
            trails::index(tx, 100)?;
            Ok::<_, DbError>(())
        })
        .unwrap();
        (dir, db)
    }

    fn walked(db: &Db) -> Walk {
        let mut walk = Walk::START;
        while !walk.is_over {
            walk = db.read(Lane::Slow, |tx| walk.on(tx)).unwrap();
        }
        walk
    }

    fn words(db: &Db, search: &str) -> usize {
        let wanted =
            trails::AuditQuery { search: search.to_owned(), ..trails::AuditQuery::default() };
        db.read(Lane::Slow, |tx| trails::ids(tx, &wanted)).unwrap().len()
    }

    #[test]
    fn entries_make_a_chain_whose_end_is_the_head() {
        let (_dir, db) = log(5);
        let walk = walked(&db);
        assert_eq!((walk.entries, walk.broken), (5, None));
        let head = db.read(Lane::Slow, head).unwrap().unwrap();
        assert_eq!(walk.at, head);
        let holds = |head: String| db.read(Lane::Slow, |tx| holds(tx, &head)).unwrap();
        assert!(holds(head.to_string()));
        assert!(!holds(Head { number: 4, ..head }.to_string()) && !holds("5".to_owned()));
    }

    #[test]
    fn blanked_words_are_gone_and_the_chain_still_fits() {
        let (_dir, db) = log(6);
        assert_eq!(words(&db, "segredo"), 3);
        db.write(|tx| {
            for number in [1, 3, 5] {
                blank(tx, number, Blank { what: true, who: false })?;
                // Again: nothing is left to blank.
                blank(tx, number, Blank { what: true, who: true })?;
            }
            Ok::<_, DbError>(())
        })
        .unwrap();
        assert_eq!(
            (words(&db, "segredo"), words(&db, "publica"), words(&db, "alterar")),
            (0, 3, 6)
        );
        assert_eq!(walked(&db).broken, None);
        // Nothing else may be changed.
        for change in [
            "action = 'x'",
            "at = 7",
            "object_id = '9'",
            "object_name = 'Bia'",
            "link = x''",
            "after = NULL",
            "what = zeroblob(32)",
        ] {
            let sql = format!("UPDATE audit SET {change} WHERE audit_id = 2");
            assert!(db.write(move |tx| tx.run(&sql, [])).is_err(), "{change}");
        }
        assert!(db.write(|tx| tx.run("DELETE FROM audit WHERE audit_id = 2", [])).is_err());
    }

    #[test]
    fn the_first_entry_that_does_not_fit_is_named() {
        let changes = [
            ("UPDATE audit SET action = 'x' WHERE audit_id = 3", 3),
            ("UPDATE audit SET object_name = 'Eva' WHERE audit_id = 4", 4),
            ("UPDATE audit SET before = '{}' WHERE audit_id = 2", 2),
            ("UPDATE audit SET actor_id = 9 WHERE audit_id = 5", 5),
            ("DELETE FROM audit WHERE audit_id = 3", 4),
            ("DELETE FROM audit WHERE audit_id = 1", 2),
            ("UPDATE audit SET link = zeroblob(32) WHERE audit_id = 4", 4),
            ("UPDATE audit SET who = zeroblob(32), actor_name = '' WHERE audit_id = 2", 2),
        ];
        for (change, first) in changes {
            let (_dir, db) = log(6);
            db.write(move |tx| {
                tx.run("DROP TRIGGER audit_is_not_changed", [])?;
                tx.run("DROP TRIGGER audit_is_not_removed", [])?;
                tx.run(change, [])
            })
            .unwrap();
            assert_eq!(walked(&db).broken, Some(first), "{change}");
        }
    }
}
