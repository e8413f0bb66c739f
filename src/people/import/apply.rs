//! Making the students of an import, all of them in one transaction.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use super::{Outcome, store};
use crate::accounts::students::{self, Desk, NewStudent};
use crate::audit::{self, Act, Actor};
use crate::db::WriteTx;
use crate::http::{Code, Problem};

/// The import that runs, if one does.
#[derive(Default)]
pub struct Imports {
    running: Mutex<Option<Arc<Running>>>,
}

/// How far an import is.
pub struct Running {
    pub id: i64,
    pub total: usize,
    done: AtomicUsize,
}

impl Running {
    /// Rows that were worked.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
}

/// The right to run. Dropping it, whatever happened, lets the next one run.
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
    /// The import that runs.
    pub fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().clone()
    }

    /// The right to run, unless another import has it.
    pub fn begin(self: &Arc<Self>, id: i64, total: usize) -> Result<Turn, Problem> {
        let mut running = self.running.lock();
        if running.is_some() {
            return Err(Problem::new(
                Code::Conflict,
                "uma importação já está em andamento; espere que ela termine",
            ));
        }
        let now = Arc::new(Running { id, total, done: AtomicUsize::new(0) });
        *running = Some(Arc::clone(&now));
        Ok(Turn { imports: Arc::clone(self), running: now })
    }
}

/// An import in the audit log.
#[derive(Serialize)]
struct Told<'t> {
    arquivo: &'t str,
    criados: usize,
    existentes: usize,
    com_erro: usize,
}

/// Makes the students of an import. Refused when it was applied before.
pub fn apply(
    tx: &WriteTx<'_>,
    desk: &Desk,
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
        if let (Outcome::Criar, Some(role)) = (row.situacao, row.role()) {
            let new = NewStudent {
                email: row.email.clone(),
                name: row.nome.clone(),
                role,
                chat_number: row.chat_number.clone(),
                password_hash: None,
                paid_until: None,
                welcome: true,
            };
            row.situacao = match students::create(tx, desk, &new)? {
                Some(_) => Outcome::Criado,
                None => Outcome::Existe,
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
    // Held until what was made is stored.
    tx.after_commit(move || drop(turn));
    Ok(())
}

/// Its students were made before.
pub fn already_applied() -> Problem {
    Problem::new(Code::Conflict, "esta importação já foi feita")
}
