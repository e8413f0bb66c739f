//! Erasing a person: what belongs to them, and who names them in what belongs to
//! others.
//!
//! The first job notes it, suspends the person and writes down the words that are
//! looked for. Then follow small jobs: what belongs to the person, then texts of
//! others, table by table, then the audit log, whose entries keep number and act.
//! Each can be done again, so after a kill the whole begins anew; the last job
//! forgets the words. Purchases keep their amounts.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ledger::{self, Note};
use super::sweeps::{self, SWEEPS};
use super::words::Words;
use crate::accounts::Role;
use crate::accounts::person::Group;
use crate::accounts::students::{self, AccountServices};
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::{Instant, Sealer, UserId};
use crate::catalog::store as products;
use crate::checkout::store as purchases;
use crate::db::{Db, DbError, Json, Lane, ReadTx, Result, WriteTx};
use crate::marketplace::account::store as marketplace;
use crate::messages::store as messages;
use crate::people::store as people;

/// Who is erased, until all of it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// `None` for an e-mail address without an account.
    user: Option<i64>,
    email: String,
    /// Addresses, numbers and names by which the person is found in texts.
    words: Vec<String>,
    /// Marketplace accounts.
    accounts: Vec<i64>,
}

/// What erasing needs.
#[derive(Clone)]
pub struct Eraser {
    pub db: Db,
    pub services: AccountServices,
    pub sealer: Sealer,
    /// The database file.
    pub database: PathBuf,
}

/// Why nothing is erased.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The last person who can administer.
    #[error("this is the last person who can administer the platform; let another in first")]
    LastAdministrator,
    #[error("nobody has this e-mail address, and no purchase or invitation names it")]
    Nobody,
    #[error("cannot note it beside the database: {0}")]
    Ledger(#[from] std::io::Error),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// What was erased, in numbers, for whoever asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// The account, if there was one.
    pub user: Option<UserId>,
}

impl Eraser {
    /// In the server.
    pub fn of(app: &App) -> Self {
        Self {
            db: app.db.clone(),
            services: AccountServices::of(app),
            sealer: (*app.sealer).clone(),
            database: app.config.database.path.clone(),
        }
    }

    /// Erases an account with everything that names its person.
    pub fn erase(&self, id: UserId, actor: &Actor) -> std::result::Result<Erased, Refusal> {
        let (eraser, actor) = (self.clone(), actor.clone());
        let note = self.db.write(move |tx| {
            let subject = subject(tx, id)?.ok_or(Refusal::Nobody)?;
            if subject.role == Role::Admin && !people::others_administer(tx, id)? {
                return Err(Refusal::LastAdministrator);
            }
            let note = Note {
                person: ledger::person(&eraser.sealer, id, subject.made),
                email: ledger::address(&eraser.sealer, &subject.about.email),
                at: tx.now(),
            };
            eraser.begin(tx, &note, &subject, &actor)?;
            Ok(note)
        })?;
        self.write_down(&[note])?;
        self.finish(&note.person)?;
        Ok(Erased { user: Some(id) })
    }

    /// Erases an e-mail address that has no account, as buyers' and invited
    /// people's.
    pub fn erase_address(
        &self,
        email: &str,
        actor: &Actor,
    ) -> std::result::Result<Erased, Refusal> {
        let (eraser, actor, email) = (self.clone(), actor.clone(), email.to_owned());
        let note = self.db.write(move |tx| {
            let is_known: bool = tx.value(
                "SELECT EXISTS (SELECT 1 FROM checkout_event
                                WHERE email = ?1 AND email <> '' AND state <> 3 AND apart = 1)
                     OR EXISTS (SELECT 1 FROM drop_relation WHERE email = ?1 AND state > 0)",
                [&email],
            )?;
            if !is_known {
                return Err(Refusal::Nobody);
            }
            let note = eraser.begin_address(tx, &email)?;
            let act = Act {
                action: "pessoa.apagar_dados",
                object: "aluno",
                object_id: String::new(),
                object_name: "",
            };
            audit::note(tx, &actor, &act, None::<&()>, None::<&()>)?;
            Ok(note)
        })?;
        self.write_down(&[note])?;
        self.finish(&note.person)?;
        Ok(Erased::default())
    }

    fn begin_address(&self, tx: &WriteTx<'_>, email: &str) -> Result<Note> {
        let digest = ledger::address(&self.sealer, email);
        let note = Note { person: digest, email: digest, at: tx.now() };
        let subject = Subject {
            user: None,
            email: email.to_owned(),
            words: vec![email.to_owned()],
            accounts: Vec::new(),
        };
        keep(tx, &note, Some(&subject))?;
        Ok(note)
    }

    /// The first job: from here on it goes on to its end, whatever happens.
    fn begin(&self, tx: &WriteTx<'_>, note: &Note, person: &Person, actor: &Actor) -> Result<()> {
        let id = UserId(person.about.user.unwrap_or_default());
        keep(tx, note, Some(&person.about))?;
        students::suspend(tx, &self.services, id, "exclusão em andamento")?;
        let group = Group::of(person.role);
        let act = Act {
            action: match group {
                Group::Students => "aluno.apagar_dados",
                Group::Staff => "equipe.apagar_dados",
            },
            object: group.name(),
            object_id: id.to_string(),
            object_name: "",
        };
        audit::note(tx, actor, &act, None::<&()>, None::<&()>)
    }

    /// Adds notes to the file beside the database.
    fn write_down(&self, notes: &[Note]) -> std::io::Result<()> {
        ledger::add(&ledger::file_of(&self.database), &self.database, notes)
    }

    /// Does what is left of one erasure.
    pub fn finish(&self, person: &[u8; 32]) -> Result<()> {
        let found = self.db.read(Lane::Slow, |tx| {
            let sql = "SELECT subject FROM erasure WHERE person = ?1 AND subject IS NOT NULL";
            tx.maybe::<Json<Subject>>(sql, [person])
        })?;
        let Some(Json(subject)) = found else { return Ok(()) };
        let (services, about) = (self.services.clone(), subject.clone());
        self.db.write_pieces(move |tx| forget(tx, &services, &about))?;
        let words = Words::of(&subject.words);
        let user = subject.user.map(UserId);
        sweeps::forget_received(&self.db, &subject.accounts)?;
        if let Some(user) = user {
            sweeps::forget_requests(&self.db, user)?;
        }
        for sweep in SWEEPS {
            sweeps::scrub(&self.db, sweep, &words)?;
        }
        sweeps::blank_audit(&self.db, user, &words)?;
        let person = *person;
        self.db.write(move |tx| {
            tx.run("UPDATE erasure SET subject = NULL WHERE person = ?1", [person])
        })
    }

    /// Goes on with what a stop has cut off; returns how many it finished.
    pub fn resume(&self) -> Result<usize> {
        let begun: Vec<[u8; 32]> = self.db.read(Lane::Slow, |tx| {
            tx.values(
                "SELECT person FROM erasure WHERE subject IS NOT NULL AND at > 0 ORDER BY at",
                [],
            )
        })?;
        begun.iter().try_for_each(|person| self.finish(person))?;
        Ok(begun.len())
    }

    /// Called at the start: brings the file beside the database and the database to
    /// the same state. Returns how many people were erased who had come back.
    pub fn reconcile(&self) -> std::result::Result<usize, Refusal> {
        self.resume()?;
        let noted = ledger::read(&ledger::file_of(&self.database))?;
        let kept = self.db.read(Lane::Slow, notes)?;
        let missing: HashMap<[u8; 32], Note> = noted
            .iter()
            .filter(|note| !kept.contains_key(&note.person))
            .map(|note| (note.person, *note))
            .collect();
        let mut back = 0;
        if !missing.is_empty() {
            back = self.erase_again(&missing)?;
        }
        let noted: HashMap<[u8; 32], Note> =
            noted.into_iter().map(|note| (note.person, note)).collect();
        let unwritten: Vec<Note> =
            kept.values().filter(|note| !noted.contains_key(&note.person)).copied().collect();
        self.write_down(&unwritten)?;
        Ok(back)
    }

    /// Erases who was erased before and came back with an older copy.
    fn erase_again(
        &self,
        missing: &HashMap<[u8; 32], Note>,
    ) -> std::result::Result<usize, Refusal> {
        let actor = Actor::local(audit::ActorKind::System, "restauração");
        let mut back = 0;
        let accounts: Vec<(UserId, Instant)> = self.db.read(Lane::Slow, |tx| {
            tx.tuples::<(i64, Instant)>(
                "SELECT user_id, created_at FROM user WHERE user_id > 0 AND removed_at IS NULL",
                [],
            )
            .map(|all| all.into_iter().map(|(id, made)| (UserId(id), made)).collect())
        })?;
        for (id, made) in accounts {
            let digest = ledger::person(&self.sealer, id, made);
            let Some(note) = missing.get(&digest).copied() else { continue };
            let (eraser, actor) = (self.clone(), actor.clone());
            self.db.write(move |tx| {
                let Some(person) = subject(tx, id)? else { return Ok(()) };
                eraser.begin(tx, &note, &person, &actor)
            })?;
            self.finish(&digest)?;
            back += 1;
        }
        // Purchases and invitations of somebody who has no account in this copy.
        let addresses: Vec<(String, Instant)> = self.db.read(Lane::Slow, |tx| {
            tx.tuples(
                "SELECT email, received_at FROM checkout_event WHERE event_id > 0 AND email <> ''
                 UNION SELECT email, invited_at FROM drop_relation WHERE relation_id > 0",
                [],
            )
        })?;
        for (email, at) in addresses {
            let digest = ledger::address(&self.sealer, &email);
            // Who came again after the erasure is somebody new.
            let is_noted = missing.values().any(|note| note.email == digest && at <= note.at);
            let has_account = self.db.read(Lane::Slow, |tx| super::by_email(tx, &email))?.is_some();
            if is_noted && !has_account {
                let (eraser, wanted) = (self.clone(), email.clone());
                let note = self.db.write(move |tx| eraser.begin_address(tx, &wanted))?;
                self.finish(&note.person)?;
                back += 1;
            }
        }
        let notes: Vec<Note> = missing.values().copied().collect();
        self.db.write(move |tx| notes.iter().try_for_each(|note| keep(tx, note, None)))?;
        Ok(back)
    }
}

/// An account that is to be erased.
struct Person {
    about: Subject,
    role: Role,
    made: Instant,
}

/// Who an account's person is, and by which words they are found.
fn subject(tx: &ReadTx<'_>, id: UserId) -> Result<Option<Person>> {
    let found: Option<(String, String, Option<String>, Role, Instant)> = tx.tuple(
        "SELECT email, name, chat_number, role, created_at FROM user
         WHERE user_id = ?1 AND removed_at IS NULL",
        [id],
    )?;
    let Some((email, name, chat_number, role, made)) = found else { return Ok(None) };
    let linked: Vec<(i64, String)> = tx.tuples(
        "SELECT ml_user_id, nickname FROM ml_account WHERE owner_id = ?1 ORDER BY ml_user_id",
        [id],
    )?;
    let told: Vec<String> = tx.values("SELECT name FROM telegram_chat WHERE user_id = ?1", [id])?;
    // What was known of the account before its address or name changed.
    let known: Vec<(String, Option<String>, Option<String>)> = tx.tuples(
        "SELECT object_name, before, after FROM audit
         WHERE object_kind IN ('aluno', 'equipe') AND object_id = ?1 ORDER BY audit_id LIMIT 1000",
        [id.to_string()],
    )?;
    let mut words = vec![email.clone(), name];
    words.extend(chat_number);
    words.extend(told);
    words.extend(linked.iter().map(|(_, nickname)| nickname.clone()));
    for (name, before, after) in known {
        words.push(name);
        for json in [before, after].into_iter().flatten() {
            let fields: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
            let field = |name: &str| fields.get(name).and_then(|value| value.as_str());
            words.extend(
                ["email", "nome", "chat_number"].into_iter().filter_map(field).map(str::to_owned),
            );
        }
    }
    words.sort();
    words.dedup();
    let accounts = linked.into_iter().map(|(account, _)| account).collect();
    Ok(Some(Person { about: Subject { user: Some(id.0), email, words, accounts }, role, made }))
}

/// Stores a note; with a subject while there is something to do.
fn keep(tx: &WriteTx<'_>, note: &Note, subject: Option<&Subject>) -> Result<()> {
    tx.run(
        "INSERT INTO erasure (person, email, at, subject) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (person) DO UPDATE SET subject = coalesce(excluded.subject, subject)",
        (note.person, note.email, note.at, subject.map(|subject| Json(subject.clone()))),
    )
}

fn notes(tx: &ReadTx<'_>) -> Result<HashMap<[u8; 32], Note>> {
    let rows: Vec<([u8; 32], [u8; 32], Instant)> =
        tx.tuples("SELECT person, email, at FROM erasure WHERE person > x''", [])?;
    let notes = rows.into_iter().map(|(person, email, at)| (person, Note { person, email, at }));
    Ok(notes.collect())
}

/// Removes a piece of what belongs to the person; true when nothing is left.
fn forget(tx: &WriteTx<'_>, services: &AccountServices, about: &Subject) -> Result<bool> {
    let id = UserId(about.user.unwrap_or_default());
    let email = &about.email;
    let is_empty = tx.work_off(|most| {
        let mut removed = purchases::reduce_person(tx, id, email, most)?;
        removed += tx.execute(
            "DELETE FROM drop_relation WHERE relation_id IN (
                 SELECT relation_id FROM drop_relation
                 WHERE email = ?1 AND state IN (1, 2, 3, 4, 5) LIMIT ?2)",
            (email, i64::try_from(most).unwrap_or(1)),
        )?;
        if about.user.is_some() {
            removed += marketplace::forget_accounts(tx, id, most)?
                + marketplace::forget_history(tx, id, most)?
                + people::forget_rest(tx, id, most)?
                + products::forget(tx, id, most)?
                + messages::forget(tx, id, most)?;
        }
        Ok::<_, DbError>(removed)
    })?;
    if !is_empty {
        return Ok(false);
    }
    if about.user.is_some() && people::person(tx, id)?.is_some() {
        people::replace_by_shell(tx, id)?;
        services.changed(tx, id);
    }
    Ok(true)
}

/// Called before the first request: finishes what was begun, and erases again who
/// came back with an older copy. A file that cannot be read keeps nobody from
/// starting, but is told.
pub fn at_start(app: &App) -> Result<()> {
    match Eraser::of(app).reconcile() {
        Ok(0) => Ok(()),
        Ok(back) => {
            tracing::info!(
                people = back,
                "erased who was erased before and came back with this copy"
            );
            Ok(())
        }
        Err(Refusal::Db(error)) => Err(error),
        Err(refused) => {
            tracing::error!(error = %refused, "whether this copy brought erased people back is not known");
            Ok(())
        }
    }
}
