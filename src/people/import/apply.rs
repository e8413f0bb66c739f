//! Making the students of an import, all of them in one transaction.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;

use super::{RowOutcome, store};
use crate::accounts::students::{self, AccountServices, NewStudent};
use crate::audit::{self, Act, Actor};
use crate::db::WriteTx;
use crate::http::{Code, Problem};

/// The import that is running, if there is one.
#[derive(Default)]
pub struct Imports {
    running: Mutex<Option<Arc<Running>>>,
}

/// Progress of an import.
pub struct Running {
    pub id: i64,
    pub total: u32,
    done: AtomicU32,
}

impl Running {
    /// Rows that were handled.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }
}

/// The right to run. Dropping it, also after a failure, lets the next import
/// run.
pub struct Turn {
    imports: Arc<Imports>,
    running: Arc<Running>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.imports.running.lock() = None;
    }
}

impl Imports {
    /// The import that is running.
    pub fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().clone()
    }

    /// Takes the right to run, unless another import has it.
    pub fn begin(self: &Arc<Self>, id: i64, total: u32) -> Result<Turn, Problem> {
        let mut running = self.running.lock();
        if running.is_some() {
            return Err(Problem::new(
                Code::Conflict,
                "uma importação já está em andamento; espere que ela termine",
            ));
        }
        let now = Arc::new(Running { id, total, done: AtomicU32::new(0) });
        *running = Some(Arc::clone(&now));
        Ok(Turn { imports: Arc::clone(self), running: now })
    }
}

/// An import as the audit log shows it.
#[derive(Serialize)]
struct Told<'t> {
    arquivo: &'t str,
    criados: u32,
    existentes: u32,
    com_erro: u32,
}

/// Makes the students of an import. Fails when it was applied before.
pub fn apply(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    actor: &Actor,
    id: i64,
    turn: Turn,
) -> Result<(), Problem> {
    let import = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
    if import.done_at.is_some() {
        return Err(already_applied());
    }
    let mut rows = store::rows(tx, id)?.ok_or_else(Problem::not_found)?;
    for row in &mut rows {
        if let (RowOutcome::Criar, Some(role)) = (row.situacao, row.role()) {
            let new = NewStudent {
                email: row.email.clone(),
                name: row.nome.clone(),
                role,
                chat_number: row.chat_number.clone(),
                paid_until: None,
                welcome: true,
            };
            row.situacao = match students::create(tx, services, &new)? {
                Some(_) => RowOutcome::Criado,
                None => RowOutcome::Existe,
            };
        }
        turn.running.done.fetch_add(1, Ordering::Relaxed);
    }
    store::finish(tx, id, &rows)?;
    let counts = super::Counts::of(&rows);
    let act = Act {
        action: "importacao.aplicar",
        object: "importacao",
        object_id: id.to_string(),
        object_name: &import.file_name,
    };
    let told = Told {
        arquivo: &import.file_name,
        criados: counts.made,
        existentes: counts.existing,
        com_erro: counts.faulty,
    };
    audit::note(tx, actor, &act, None::<&()>, Some(&told))?;
    // Held until the students are committed.
    tx.after_commit(move || drop(turn));
    Ok(())
}

/// The students of this import were made before.
pub fn already_applied() -> Problem {
    Problem::new(Code::Conflict, "esta importação já foi feita")
}
