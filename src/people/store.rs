//! Lists of people in the database.
//!
//! Each order has an index with all columns that filters and searches need, so
//! a list is a scan of one index, and totals without a search come from
//! counters. A search first uses the trigram index: it usually finds few
//! people, which are then sorted here. A search that finds many, or has less
//! than three letters, scans the whole list once and counts the matches.

use crate::accounts::Role;
use crate::accounts::person::{Group, Listed, PersonEntry, PersonStatus};
use crate::base::{Instant, UserId, grouped, search_key};
use crate::db::{Filters, ReadTx, Record as _, Result, RowWindow, WriteTx, sorted};
use crate::row;

/// Most people that a search sorts here; when it finds more, the list is
/// scanned in its order.
const FEW: u32 = 2_000;
/// Parameters for the words of a search; further words are ignored.
const WORDS: [&str; 6] = [":word1", ":word2", ":word3", ":word4", ":word5", ":word6"];
/// The trigram index cannot find shorter words.
const SHORTEST_RUN: usize = 3;

/// Which people, in which order.
#[derive(Clone, Debug)]
pub struct PeopleQuery {
    pub group: Group,
    /// The text as typed.
    pub search: String,
    pub role: Option<Role>,
    pub status: Option<PersonStatus>,
    pub disputed: Option<bool>,
    /// The order, by its name in the list's query.
    pub order: &'static str,
    pub descending: bool,
}

impl PeopleQuery {
    /// The words of the search, each of which must be in the name or the e-mail
    /// address.
    fn words(&self) -> Vec<String> {
        let key = search_key(&self.search);
        key.split_whitespace().take(WORDS.len()).map(str::to_owned).collect()
    }

    fn filters<'f>(&'f self, words: &'f [String]) -> Filters<'f> {
        let mut filters = Filters::new("kind = :group", &[(":group", &self.group)]);
        filters.and_if("role = :role", ":role", &self.role);
        filters.and_if("standing = :standing", ":standing", &self.status);
        filters.and_if("disputed = :disputed", ":disputed", &self.disputed);
        for (name, word) in WORDS.into_iter().zip(words) {
            filters.and(&format!("instr(search, {name}) > 0"), &[(name, word)]);
        }
        filters
    }

    /// The SQL that reads the list in its order, along its index.
    fn walk(&self, columns: &str, filters: &Filters<'_>) -> String {
        let (index, order) = match self.order {
            "criado_em" => ("user_by_creation", "created_at, user_id"),
            "ultimo_acesso" => ("user_by_access", "last_access_at, user_id"),
            _ => ("user_by_name", "name_key, user_id"),
        };
        let (matching, order) = (filters.sql(), sorted(order, self.descending));
        format!("SELECT {columns} FROM user INDEXED BY {index} WHERE {matching} ORDER BY {order}")
    }
}

/// One page of a list, and the total.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &PeopleQuery,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<Listed>, u64)> {
    let words = wanted.words();
    if words.is_empty() {
        let mut filters = wanted.filters(&[]);
        let matching = filters.sql();
        let sum = format!("SELECT coalesce(sum(people), 0) FROM person_count WHERE {matching}");
        let total = tx.count(&sum, filters.values())?;
        let sql = wanted.walk(Listed::COLUMNS, &filters) + " LIMIT :limit OFFSET :offset";
        filters.bind(&[(":limit", &limit), (":offset", &offset)]);
        return Ok((tx.all(&sql, filters.values(), Listed::read)?, total));
    }
    let found = match few(tx, wanted, &words)? {
        Some(found) => found,
        None => many(tx, wanted, &words)?,
    };
    let (limit, offset) = (limit as usize, offset as usize);
    let total = found.len() as u64;
    let shown = found.into_iter().skip(offset).take(limit);
    let people = shown.filter_map(|id| person(tx, UserId(id)).transpose());
    Ok((people.collect::<Result<_>>()?, total))
}

/// `12 alunos · 3 em atraso · 1 suspenso`: what a list of students shows, summed. Only
/// counters are read, so what a search finds has its number alone.
pub fn sum(tx: &ReadTx<'_>, wanted: &PeopleQuery, total: u64) -> Result<String> {
    let what = match (wanted.group, total) {
        (Group::Students, 1) => "aluno",
        (Group::Students, _) => "alunos",
        (Group::Staff, 1) => "pessoa",
        (Group::Staff, _) => "pessoas",
    };
    let mut parts = vec![format!("{} {what}", grouped(total))];
    if wanted.search.is_empty() && wanted.status.is_none() {
        for (status, one, several) in [
            (PersonStatus::Late, "em atraso", "em atraso"),
            (PersonStatus::Suspended, "suspenso", "suspensos"),
        ] {
            let wanted = PeopleQuery { status: Some(status), ..wanted.clone() };
            let filters = wanted.filters(&[]);
            let matching = filters.sql();
            let sum = format!("SELECT coalesce(sum(people), 0) FROM person_count WHERE {matching}");
            match tx.count(&sum, filters.values())? {
                0 => {}
                1 => parts.push(format!("1 {one}")),
                count => parts.push(format!("{} {several}", grouped(count))),
            }
        }
    }
    Ok(parts.join(" · "))
}

/// Numbers of all people of a list, in its order.
pub fn ids(tx: &ReadTx<'_>, wanted: &PeopleQuery) -> Result<Vec<i64>> {
    many(tx, wanted, &wanted.words())
}

/// The people that a search finds, in their order, when they are few.
fn few(tx: &ReadTx<'_>, wanted: &PeopleQuery, words: &[String]) -> Result<Option<Vec<i64>>> {
    let runs: Vec<String> = words
        .iter()
        .filter(|word| word.chars().count() >= SHORTEST_RUN)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    if runs.is_empty() {
        return Ok(None);
    }
    let mut read = 0;
    let mut kept: Vec<(SortKey, i64)> = Vec::new();
    tx.each(
        "SELECT u.user_id, u.name, u.email, u.role, u.kind, u.standing, u.disputed, u.created_at, u.last_access_at
         FROM (SELECT rowid AS found_id FROM person_search WHERE person_search MATCH ?1
               UNION ALL SELECT user_id FROM person_unsearched
               LIMIT ?2) s
         CROSS JOIN user u ON u.user_id = s.found_id",
        (runs.join(" "), FEW + 1),
        |row| {
            read += 1;
            let is_wanted = row.get::<_, i64>(4)? == i64::from(wanted.group.number())
                && wanted.status.is_none_or(|one| row.get(5) == Ok(one))
                && wanted.disputed.is_none_or(|one| row.get(6) == Ok(one))
                && wanted.role.is_none_or(|one| row.get(3) == Ok(one));
            if !is_wanted {
                return Ok(());
            }
            let name = search_key(row.get_ref(1)?.as_str()?);
            let email = row.get_ref(2)?.as_str()?;
            let holds = |word: &String| name.contains(word) || email.contains(word);
            if words.iter().all(holds) {
                let key = match wanted.order {
                    "criado_em" => SortKey::Number(row.get(7)?),
                    "ultimo_acesso" => SortKey::Number(row.get(8)?),
                    _ => SortKey::Text(name),
                };
                kept.push((key, row.get(0)?));
            }
            Ok(())
        },
    )?;
    if read > FEW {
        return Ok(None);
    }
    kept.sort_unstable();
    if wanted.descending {
        kept.reverse();
    }
    Ok(Some(kept.into_iter().map(|(_, id)| id).collect()))
}

/// Adds people to the search index who are not in it yet, those with the lowest
/// numbers first.
const INDEX: [&str; 2] = [
    "INSERT INTO person_search (rowid, search)
     SELECT user_id, search FROM user
     WHERE user_id IN (SELECT user_id FROM person_unsearched ORDER BY user_id LIMIT ?1)",
    "DELETE FROM person_unsearched
     WHERE user_id IN (SELECT user_id FROM person_unsearched ORDER BY user_id LIMIT ?1)",
];

/// Whether a person is not in the search index yet.
pub fn is_behind(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM person_unsearched)", [])
}

/// Adds at most `most` people to the search index who are not in it yet;
/// returns how many.
pub fn index(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(1);
    let [add, note] = INDEX;
    tx.run(add, [most])?;
    tx.execute(note, [most])
}

/// The value that a person is sorted by; a missing one comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    Text(String),
    Number(Option<i64>),
}

/// The people that a search finds, in their order, however many.
fn many(tx: &ReadTx<'_>, wanted: &PeopleQuery, words: &[String]) -> Result<Vec<i64>> {
    let filters = wanted.filters(words);
    tx.values(&wanted.walk("user_id", &filters), filters.values())
}

/// A person of either group; `None` when removed.
pub fn person(tx: &ReadTx<'_>, id: UserId) -> Result<Option<Listed>> {
    tx.record("FROM user WHERE user_id = ?1 AND removed_at IS NULL", [id])
}

/// Why a person is suspended, in words for staff.
pub fn suspended_for(tx: &ReadTx<'_>, id: UserId) -> Result<Option<String>> {
    let reason = tx.maybe("SELECT suspended_for FROM user WHERE user_id = ?1", [id])?;
    Ok(reason.flatten())
}

/// Ends a suspension that was a mistake: what else is known of the student stays. False
/// when the person is not suspended since this instant.
pub fn unsuspend(tx: &WriteTx<'_>, id: UserId, since: Instant) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE user SET suspended_at = NULL, suspended_for = NULL
         WHERE user_id = ?1 AND suspended_at = ?2",
        (id, since),
    )?;
    Ok(ended == 1)
}

/// Whether another person can sign in and administer.
pub fn others_administer(tx: &ReadTx<'_>, id: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM user
                        WHERE role = 'admin' AND suspended_at IS NULL AND password_hash IS NOT NULL
                          AND user_id <> ?1)",
        [id],
    )
}

/// Stores the data that an operator entered; the e-mail address must be free.
pub fn update(tx: &WriteTx<'_>, id: UserId, entry: &PersonEntry) -> Result<()> {
    tx.change("user", entry, &[], &[("user_id", &id)]).map(drop)
}

/// What refers to a person and can be many rows: the table, its key, and which
/// rows. Everything else of a person is a few rows, or removed before.
const OF_PERSON: [(&str, &str, &str); 23] = [
    ("product_import", "owner_id", "owner_id = ?1"),
    ("product_import_part", "owner_id, part", "owner_id = ?1"),
    (
        "webhook_attempt",
        "endpoint_id, number, attempt",
        "endpoint_id IN (SELECT endpoint_id FROM webhook_endpoint WHERE user_id = ?1)",
    ),
    (
        "webhook_delivery",
        "endpoint_id, number",
        "endpoint_id IN (SELECT endpoint_id FROM webhook_endpoint WHERE user_id = ?1)",
    ),
    ("webhook_event", "event_id", "user_id = ?1"),
    ("partner_event", "user_id, number", "user_id = ?1"),
    ("program_entry", "student_id, day, at, action, cause, turn", "student_id = ?1"),
    ("lesson_done", "user_id, lesson_id", "user_id = ?1"),
    ("outbox", "message_id", "user_id = ?1"),
    ("partner_notification", "owner_id, notification_id", "owner_id = ?1"),
    ("partner_usage", "user_id, day, operation", "user_id = ?1"),
    ("partner_call", "call_id", "user_id = ?1"),
    ("session", "session_hash", "user_id = ?1"),
    ("extension_token", "token_hash", "user_id = ?1"),
    ("one_time_link", "link_hash", "user_id = ?1"),
    ("label_print", "owner_id, ml_user_id, shipping_id", "owner_id = ?1"),
    ("label_batch", "batch_id", "owner_id = ?1"),
    ("drop_link", "link_id", "supplier_id = ?1"),
    ("drop_link", "link_id", "seller_id = ?1"),
    ("drop_foreign", "supplier_id, seller_id, item_id", "supplier_id = ?1"),
    ("drop_foreign", "supplier_id, seller_id, item_id", "seller_id = ?1"),
    ("drop_relation", "relation_id", "supplier_id = ?1"),
    ("drop_relation", "relation_id", "seller_id = ?1"),
];

/// Removes rows that refer to a person, at most `most` of each kind; returns how
/// many. After 0, removing the person is a small change.
pub fn forget_rest(tx: &WriteTx<'_>, id: UserId, most: usize) -> Result<usize> {
    let mut removed = 0;
    for (table, key, which) in OF_PERSON {
        let sql = format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {which} LIMIT ?2)"
        );
        removed += tx.execute(&sql, (id, i64::try_from(most).unwrap_or(1)))?;
    }
    Ok(removed)
}

/// Removes a person with all rows that refer to it, and keeps its number in
/// use.
pub fn replace_by_shell(tx: &WriteTx<'_>, id: UserId) -> Result<()> {
    tx.execute("DELETE FROM user WHERE user_id = ?1", [id])?;
    // No person can have or request an e-mail address without an @.
    tx.run(
        "INSERT INTO user (user_id, email, name, role, created_at, suspended_at, removed_at)
         VALUES (?1, 'removida:' || ?1, 'Pessoa removida', 'free', ?2, ?2, ?2)",
        (id, tx.now()),
    )
}

row! {
    /// An open session.
    pub struct Session {
        pub address: String,
        pub user_agent: String,
        pub created_at: Instant,
        pub last_seen_at: Instant,
    }
}

/// The newest sessions of a person that are still open: begun and used since
/// the given instants.
pub fn open_sessions(
    tx: &ReadTx<'_>,
    id: UserId,
    begun: Instant,
    used: Instant,
    limit: u32,
) -> Result<Vec<Session>> {
    tx.records(
        "FROM session
         WHERE user_id = ?1 AND created_at > ?2 AND ended_at IS NULL AND last_seen_at > ?3
         ORDER BY created_at DESC
         LIMIT ?4",
        (id, begun, used, limit),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::{Connection, ToSql};

    use super::*;

    fn schema() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        let sql = include_str!("../../schema.sql");
        connection.execute_batch(sql).unwrap();
        connection
    }

    #[test]
    fn names_are_folded_alike_here_and_in_the_database() {
        let connection = schema();
        let portuguese = "áàâãéêíóôõúüçÁÀÂÃÉÊÍÓÔÕÚÜÇ";
        for name in [portuguese, "Ângela Müller", "ZÉ da Silva", "Ñandú Øre ß İ", "名前"]
        {
            let folded: String = connection
                .query_row(
                    "INSERT INTO user (email, name, role, created_at) VALUES (?1, ?1, 'pro', 1) RETURNING name_key",
                    [name],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(folded, search_key(name));
        }
        assert!(search_key(portuguese).is_ascii());
    }

    /// What may happen to the row of a person.
    const CHANGES: [&str; 9] = [
        "some are indexed",
        "INSERT INTO user (email, name, role, created_at) VALUES ('p' || random(), 'Ana ' || random(), 'pro', 1)",
        "UPDATE user SET role = 'vip' WHERE user_id = ?1",
        "UPDATE user SET role = 'admin' WHERE user_id = ?1",
        "UPDATE user SET suspended_at = CASE WHEN suspended_at IS NULL THEN 1 END WHERE user_id = ?1",
        "UPDATE user SET late_since = 1, disputed_at = 2 WHERE user_id = ?1",
        "UPDATE user SET name = 'Bia ' || random(), last_access_at = 5 WHERE user_id = ?1",
        "UPDATE user SET removed_at = 1 WHERE user_id = ?1",
        "DELETE FROM user WHERE user_id = ?1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn counters_and_search_follow_every_change(
            changes in prop::collection::vec((0..CHANGES.len(), 1..6_i64), 1..40)
        ) {
            let connection = schema();
            let index = |most: i64| {
                for sql in INDEX {
                    connection.execute(sql, [most]).unwrap();
                }
            };
            for (change, person) in changes {
                let sql = CHANGES[change];
                if change == 0 {
                    index(person);
                    continue;
                }
                let values: &[&dyn ToSql] = if sql.contains("?1") { &[&person] } else { &[] };
                connection.execute(sql, values).unwrap();
            }
            let wrong: i64 = connection
                .query_row(
                    "SELECT count(*) FROM person_count p
                     WHERE people <> (SELECT count(*) FROM user u
                                      WHERE u.kind = p.kind AND u.standing = p.standing
                                        AND u.disputed = p.disputed AND u.role = p.role)",
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            let counted: i64 = connection
                .query_row("SELECT coalesce(sum(people), 0) FROM person_count", [], |row| row.get(0))
                .unwrap();
            let people: i64 = connection
                .query_row("SELECT count(*) FROM user", [], |row| row.get(0))
                .unwrap();
            prop_assert_eq!((wrong, counted), (0, people));
            index(i64::MAX);
            // Fails when the index and the table differ.
            let check = "INSERT INTO person_search (person_search, rank) VALUES ('integrity-check', 1)";
            prop_assert!(connection.execute(check, []).is_ok());
        }
    }
}
