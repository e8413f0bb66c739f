//! Making the students of an import, in small jobs of the writer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use super::store::{self, BegunBy, UnderWay};
use super::{Counts, Row, RowOutcome};
use crate::accounts::person::PersonEntry;
use crate::accounts::students::{self, AccountServices, NewStudent};
use crate::app::App;
use crate::audit::{self, Actor, ActorKind, objects};
use crate::base::worker::{self, Stop};
use crate::db::{DbError, Json, Lane, Result, WriteTx};
use crate::http::{ForPeople, Problem};

/// How long the worker sleeps when nothing wakes it.
const IDLE: Duration = Duration::from_secs(3600);
/// Pause after a job failed, such as for want of space.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Begins to make the students of an import, unless another import runs.
pub fn begin(app: &App, actor: &Actor, id: i64, total: u32) -> std::result::Result<(), Problem> {
    let by = BegunBy {
        id: actor.id,
        name: actor.name.clone(),
        address: actor.address.clone(),
        request_id: actor.request_id.clone(),
    };
    app.db.write(move |tx| {
        if store::under_way(tx)?.is_some() {
            return Err(Problem::conflict(ForPeople(
                "Uma importação já está em andamento. Espere que ela termine.",
            )));
        }
        if store::begin(tx, id, by)? { Ok(()) } else { Err(already_applied()) }
    })?;
    app.work.imports.show(id, total, 0);
    app.work.imports.bell.ring();
    Ok(())
}

/// Starts the worker. It continues an import that a stop interrupted.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let app = Arc::clone(app);
    worker::start("imports", stop, move |stop| {
        let mut rings = 0;
        while !stop.is_set() {
            match work(&app, stop) {
                Ok(true) => {}
                Ok(false) => (rings, _) = app.work.imports.bell.wait_ring(rings, IDLE),
                Err(error) => {
                    if !error.is_told() {
                        tracing::warn!(%error, "an import waits");
                    }
                    stop.wait(AFTER_FAILURE);
                }
            }
        }
    })
}

/// Makes the students of the import that was begun; false when there is none.
fn work(app: &App, stop: &Stop) -> Result<bool> {
    let found = app.db.read(Lane::Slow, |tx| {
        let Some(import) = store::under_way(tx)? else { return Ok(None) };
        let rows = store::rows(tx, import.id)?.unwrap_or_default();
        Ok::<_, DbError>(Some((import, rows)))
    })?;
    let Some((import, rows)) = found else {
        return Ok(false);
    };
    let running = app.work.imports.show(
        import.id,
        u32::try_from(rows.len()).unwrap_or(u32::MAX),
        import.position,
    );
    let UnderWay { id, file_name, by: Json(by), mut position, late: Json(mut late) } = import;
    let rows = Arc::new(rows);
    while (position as usize) < rows.len() {
        if stop.is_set() {
            return Ok(true);
        }
        let (rows, services) = (Arc::clone(&rows), AccountServices::of(app));
        (position, late) =
            app.db.write_piece(move |tx| make(tx, &services, &rows, id, position, late))?;
        running.done.store(position, Ordering::Relaxed);
    }
    let mut rows = Arc::into_inner(rows).unwrap_or_default();
    for row in rows.iter_mut().filter(|row| is_to_make(row)) {
        let is_late = late.binary_search(&row.linha).is_ok();
        row.situacao = if is_late { RowOutcome::Existe } else { RowOutcome::Criado };
    }
    let counts = Counts::of(&rows);
    let rows = serde_json::to_string(&rows).unwrap_or_default();
    app.db.write_piece(move |tx| {
        store::finish(tx, id, counts, &rows)?;
        note(tx, by, id, &file_name, counts)
    })?;
    *app.work.imports.running.lock() = None;
    Ok(true)
}

fn is_to_make(row: &Row) -> bool {
    row.situacao == RowOutcome::Criar && row.role().is_some()
}

/// Makes the students of the next rows; returns how far that came, and the lines
/// of all rows so far whose address had an account by then.
fn make(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    rows: &[Row],
    id: i64,
    mut position: u32,
    mut late: Vec<usize>,
) -> Result<(u32, Vec<usize>)> {
    for row in &rows[position as usize..] {
        position += 1;
        if let (RowOutcome::Criar, Some(role)) = (row.situacao, row.role()) {
            let new = NewStudent {
                person: PersonEntry::new(&row.email, &row.nome, role, row.chat_number.clone()),
                paid_until: None,
                welcome: true,
            };
            if students::create(tx, services, &new)?.is_none() {
                late.push(row.linha);
            }
        }
        if tx.is_spent() {
            break;
        }
    }
    store::move_on(tx, id, position, &late)?;
    Ok((position, late))
}

#[derive(Serialize)]
struct Told<'t> {
    arquivo: &'t str,
    criados: u32,
    existentes: u32,
    com_erro: u32,
}

fn note(tx: &WriteTx<'_>, by: BegunBy, id: i64, file_name: &str, counts: Counts) -> Result<()> {
    let BegunBy { id: person, name, address, request_id } = by;
    let actor = Actor { kind: ActorKind::Person, id: person, name, address, request_id };
    let act = objects::IMPORT.act("importacao.aplicar", id, file_name);
    let told = Told {
        arquivo: file_name,
        criados: counts.made,
        existentes: counts.existing,
        com_erro: counts.faulty,
    };
    audit::note(tx, &actor, &act, (), &told)
}

/// The students of this import were made before.
pub fn already_applied() -> Problem {
    Problem::conflict(ForPeople("Esta importação já foi feita."))
}
