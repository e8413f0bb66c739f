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
use std::sync::Arc;

use super::ledger::{self, Note};
use super::subject::{self, Earlier, Person, Subject};
use super::sweeps::{self, SWEEPS, Sought};
use super::words::Words;
use super::{logs, trail};
use crate::accounts::Role;
use crate::accounts::person::Group;
use crate::accounts::students;
use crate::app::App;
use crate::audit::objects::{STAFF, STUDENT};
use crate::audit::{self, Actor};
use crate::base::{Instant, Sealer, UserId};
use crate::catalog::store as products;
use crate::checkout::store as purchases;
use crate::db::{Db, DbError, Json, Lane, ReadTx, Result, WriteTx};
use crate::marketplace::account::store as marketplace;
use crate::messages::store as messages;
use crate::people::store as people;

/// An erasure that is under way for longer waits for another try.
const PATIENCE_S: i64 = 600;

/// What erasing needs.
#[derive(Clone)]
pub struct Eraser {
    pub db: Db,
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
    #[error("nobody has this e-mail address, and nothing that is kept names it")]
    Nobody,
    #[error("cannot note it beside the database: {0}")]
    Ledger(#[from] std::io::Error),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl Eraser {
    /// In the server.
    pub fn of(app: &App) -> Self {
        Self {
            db: app.db.clone(),
            sealer: (*app.sealer).clone(),
            database: app.config.database.path.clone(),
        }
    }

    /// Erases an account with everything that names its person.
    pub fn erase(&self, id: UserId, actor: &Actor) -> std::result::Result<(), Refusal> {
        let email: Option<String> = self.db.read(Lane::Slow, |tx| {
            tx.maybe("SELECT email FROM user WHERE user_id = ?1 AND removed_at IS NULL", [id])
        })?;
        let earlier = subject::earlier(&self.db, Some(id), &email.ok_or(Refusal::Nobody)?)?;
        let (eraser, actor) = (self.clone(), actor.clone());
        let notes = self.db.write(move |tx| {
            let person = subject::person(tx, id, &earlier)?.ok_or(Refusal::Nobody)?;
            if person.role == Role::Admin && !people::others_administer(tx, id)? {
                return Err(Refusal::LastAdministrator);
            }
            let note = Note {
                person: ledger::person(&eraser.sealer, id, person.made),
                email: ledger::address(&eraser.sealer, &person.about.email),
                at: tx.now(),
            };
            eraser.begin(tx, &note, &person, &actor)?;
            Ok(eraser.with_removed(tx, note, &earlier)?)
        })?;
        self.write_down(&notes)?;
        Ok(self.finish(&notes[0].person)?)
    }

    /// Erases an e-mail address that has no account: a buyer's, an invited person's,
    /// that of an account which was removed, or one that something else names.
    pub fn erase_address(&self, email: &str, actor: &Actor) -> std::result::Result<(), Refusal> {
        let earlier = subject::earlier(&self.db, None, email)?;
        if earlier.removed.is_empty() && !self.is_named(email)? {
            return Err(Refusal::Nobody);
        }
        let (eraser, actor, email) = (self.clone(), actor.clone(), email.to_owned());
        let notes = self.db.write(move |tx| {
            let note = eraser.begin_address(tx, &email, &earlier)?;
            audit::note(tx, &actor, &STUDENT.act("pessoa.apagar_dados", "", ""), (), ())?;
            eraser.with_removed(tx, note, &earlier)
        })?;
        self.write_down(&notes)?;
        Ok(self.finish(&notes[0].person)?)
    }

    /// Whether a purchase, an invitation or a text names an address.
    fn is_named(&self, email: &str) -> Result<bool> {
        let is_known: bool = self.db.read(Lane::Slow, |tx| {
            tx.value(
                "SELECT EXISTS (SELECT 1 FROM checkout_event
                                WHERE email = ?1 AND email <> '' AND state <> 3 AND apart = 1
                                    AND user_id IS NULL)
                     OR EXISTS (SELECT 1 FROM drop_relation
                                WHERE email = ?1 AND state > 0 AND seller_id IS NULL)",
                [email],
            )
        })?;
        let subject = Subject { words: vec![email.to_owned()], ..Subject::default() };
        let sought = sought(&subject, &subject.words);
        for sweep in SWEEPS.iter().filter(|_| !is_known) {
            if sweeps::finds(&self.db, sweep, &sought)? {
                return Ok(true);
            }
        }
        Ok(is_known || trail::finds(&self.db, &sought)?)
    }

    fn begin_address(&self, tx: &WriteTx<'_>, email: &str, earlier: &Earlier) -> Result<Note> {
        let digest = ledger::address(&self.sealer, email);
        let note = Note { person: digest, email: digest, at: tx.now() };
        keep(tx, &note, Some(&subject::address(tx, email, earlier, Vec::new())?))?;
        Ok(note)
    }

    /// A note with those of the accounts that were removed before: a copy may bring
    /// them back, too.
    fn with_removed(&self, tx: &WriteTx<'_>, note: Note, earlier: &Earlier) -> Result<Vec<Note>> {
        let mut notes = vec![note];
        for (id, made) in &earlier.removed {
            let made = match made {
                Some(made) => Some(*made),
                None => subject::made(tx, *id)?,
            };
            if let Some(made) = made {
                let removed = Note { person: ledger::person(&self.sealer, *id, made), ..note };
                keep(tx, &removed, None)?;
                notes.push(removed);
            }
        }
        Ok(notes)
    }

    /// The first job: from here on it goes on to its end, whatever happens.
    fn begin(&self, tx: &WriteTx<'_>, note: &Note, person: &Person, actor: &Actor) -> Result<()> {
        let id = UserId(person.about.user.unwrap_or_default());
        keep(tx, note, Some(&person.about))?;
        students::suspend(tx, id, "exclusão em andamento")?;
        let act = match Group::of(person.role) {
            Group::Students => STUDENT.act("aluno.apagar_dados", id, ""),
            Group::Staff => STAFF.act("equipe.apagar_dados", id, ""),
        };
        audit::note(tx, actor, &act, (), ())
    }

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
        let about = subject.clone();
        self.db.write_pieces(move |tx| forget(tx, &about))?;
        sweeps::forget_received(&self.db, &subject.accounts)?;
        let sought = Arc::new(sought(&subject, &subject::unshared(&self.db, &subject)?));
        for sweep in SWEEPS {
            sweeps::scrub(&self.db, sweep, &sought)?;
        }
        logs::forget_packed(&self.db, &sought)?;
        logs::forget_requests(&self.db, &sought.users)?;
        // The last: words are found in it.
        trail::blank(&self.db, &sought)?;
        let person = *person;
        self.db.write(move |tx| {
            tx.run("UPDATE erasure SET subject = NULL WHERE person = ?1", [person])
        })
    }

    /// Goes on with what a stop or a failure has cut off; returns how many it finished.
    /// One that fails again keeps no other from its end.
    pub fn resume(&self) -> Result<usize> {
        let begun: Vec<[u8; 32]> = self.db.read(Lane::Slow, |tx| {
            tx.values(
                "SELECT person FROM erasure WHERE subject IS NOT NULL AND at > 0 ORDER BY at",
                [],
            )
        })?;
        let outcomes: Vec<Result<()>> = begun.iter().map(|person| self.finish(person)).collect();
        outcomes.into_iter().collect::<Result<Vec<()>>>().map(|done| done.len())
    }

    /// Called at the start: brings the file beside the database and the database to
    /// the same state. Returns how many people were erased who had come back.
    pub fn reconcile(&self) -> std::result::Result<usize, Refusal> {
        told(self.resume());
        let noted = newest(ledger::read(&ledger::file_of(&self.database))?);
        let kept = newest(self.db.read(Lane::Slow, notes)?);
        let missing = newer(&noted, &kept);
        let mut back = 0;
        if !missing.is_empty() {
            back = self.erase_again(&missing)?;
        }
        let unwritten: Vec<Note> = newer(&kept, &noted).into_values().collect();
        self.write_down(&unwritten)?;
        Ok(back)
    }

    /// Erases who was erased before and came back with an older copy.
    fn erase_again(&self, missing: &Notes) -> std::result::Result<usize, Refusal> {
        let actor = Actor::local(audit::ActorKind::System, "restauração");
        let mut back = 0;
        let accounts: Vec<(UserId, Instant)> = self.db.read(Lane::Slow, |tx| {
            tx.tuples(
                "SELECT user_id, created_at FROM user WHERE user_id > 0 AND removed_at IS NULL",
                [],
            )
        })?;
        for (id, made) in accounts {
            let digest = ledger::person(&self.sealer, id, made);
            let Some(note) = missing.get(&digest).copied() else { continue };
            let email: String = self.db.read(Lane::Slow, |tx| {
                tx.value("SELECT email FROM user WHERE user_id = ?1", [id])
            })?;
            let earlier = subject::earlier(&self.db, Some(id), &email)?;
            let (eraser, actor) = (self.clone(), actor.clone());
            self.db.write(move |tx| {
                let Some(person) = subject::person(tx, id, &earlier)? else { return Ok(()) };
                eraser.begin(tx, &note, &person, &actor)
            })?;
            told(self.finish(&digest));
            back += 1;
        }
        // Purchases and invitations of somebody who has no account in this copy, and what
        // the audit log says of accounts that were removed.
        let mut addresses: Vec<(String, Instant)> = self.db.read(Lane::Slow, |tx| {
            tx.tuples(
                "SELECT email, received_at FROM checkout_event
                 WHERE event_id > 0 AND email <> '' AND user_id IS NULL
                 UNION SELECT email, invited_at FROM drop_relation
                 WHERE relation_id > 0 AND seller_id IS NULL",
                [],
            )
        })?;
        addresses.extend(subject::removed_addresses(&self.db)?);
        for (email, at) in addresses {
            let digest = ledger::address(&self.sealer, &email);
            // Who came again after the erasure is somebody new.
            let is_noted = missing.values().any(|note| note.email == digest && at <= note.at);
            let has_account = self.db.read(Lane::Slow, |tx| super::by_email(tx, &email))?.is_some();
            if is_noted && !has_account {
                let earlier = subject::earlier(&self.db, None, &email)?;
                let (eraser, wanted) = (self.clone(), email.clone());
                let note = self.db.write(move |tx| eraser.begin_address(tx, &wanted, &earlier))?;
                told(self.finish(&note.person));
                back += 1;
            }
        }
        let notes: Vec<Note> = missing.values().copied().collect();
        self.db.write(move |tx| notes.iter().try_for_each(|note| keep(tx, note, None)))?;
        Ok(back)
    }
}

/// Erasures that have been under way for longer than one takes.
pub fn unfinished(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value(
        "SELECT count(*) FROM erasure WHERE subject IS NOT NULL AND at < ?1",
        [tx.now().minus(PATIENCE_S)],
    )
}

/// Tells a failure of an erasure that has begun; it is tried again while the service runs.
fn told<T>(outcome: Result<T>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "an erasure is not finished; trying again within the hour");
    }
}

/// By what a person is found.
fn sought(about: &Subject, words: &[String]) -> Sought {
    let words = Words::of(words);
    Sought {
        users: about.user.into_iter().chain(about.removed.iter().copied()).collect(),
        own_words: words.without_names(),
        words,
        clients: about.clients.clone(),
    }
}

/// Stores a note; with a subject while there is something to do.
fn keep(tx: &WriteTx<'_>, note: &Note, subject: Option<&Subject>) -> Result<()> {
    tx.run(
        "INSERT INTO erasure (person, email, at, subject) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (person) DO UPDATE
         SET at = max(at, excluded.at), subject = coalesce(excluded.subject, subject)",
        (note.person, note.email, note.at, subject.map(|subject| Json(subject.clone()))),
    )
}

fn notes(tx: &ReadTx<'_>) -> Result<Vec<Note>> {
    let rows: Vec<([u8; 32], [u8; 32], Instant)> =
        tx.tuples("SELECT person, email, at FROM erasure WHERE person > x''", [])?;
    Ok(rows.into_iter().map(|(person, email, at)| Note { person, email, at }).collect())
}

type Notes = HashMap<[u8; 32], Note>;

/// The newest note of each: an address may be erased more than once.
fn newest(notes: Vec<Note>) -> Notes {
    let mut newest = Notes::new();
    for note in notes {
        let kept = newest.entry(note.person).or_insert(note);
        *kept = if note.at > kept.at { note } else { *kept };
    }
    newest
}

/// Notes that others do not have, or only older ones.
fn newer(notes: &Notes, others: &Notes) -> Notes {
    let is_newer = |note: &Note| others.get(&note.person).is_none_or(|other| other.at < note.at);
    notes.iter().filter(|(_, note)| is_newer(note)).map(|(person, note)| (*person, *note)).collect()
}

/// Removes a piece of what belongs to the person; true when nothing is left.
fn forget(tx: &WriteTx<'_>, about: &Subject) -> Result<bool> {
    let id = UserId(about.user.unwrap_or_default());
    let email = &about.email;
    let is_empty = tx.work_off(|most| {
        let mut removed = purchases::reduce_person(tx, id, email, most)?;
        removed += tx.execute(
            "DELETE FROM drop_relation WHERE relation_id IN (
                 SELECT relation_id FROM drop_relation
                 WHERE email = ?1 AND state IN (1, 2, 3, 4, 5)
                     AND (seller_id IS NULL OR seller_id = ?3) LIMIT ?2)",
            (email, i64::try_from(most).unwrap_or(1), id),
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
