//! Makes products of a file, in small jobs of the writer.
//!
//! The file is checked first, on a reader. Then its rows are stored in parts,
//! and with the last part it is settled that all of them become products. Each
//! of the jobs that follow makes products of some parts and removes them, so
//! what a kill or a full disk interrupts goes on where it was: at the next
//! start, or before the next import of the same person. A file of a few rows is
//! one job. Decision catalog-7.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::fault::{BadRow, BadRows};
use super::{Counts, File, ImportError, Row};
use crate::base::{Cents, Instant, UserId, secrets};
use crate::catalog::{MAX_PRODUCTS, Product, stock, store};
use crate::db::{Db, DbError, Json, Lane, ReadTx, Result, WriteTx};
use crate::row;

/// Rows of a part. A file that is not larger is one job.
const PART: usize = 25;
/// An import of another process that no job has worked at for so long was
/// interrupted.
const INTERRUPTED_S: i64 = 30;
/// The reason of the movements that an import makes.
const REASON: &str = "Importação";

/// Imports a file into the products of a person. When a row is bad, changes
/// nothing and reports every bad row. `finish` runs in the last job.
pub fn run<T, E>(
    db: &Db,
    owner: UserId,
    file: File,
    finish: impl FnOnce(&WriteTx<'_>, Counts) -> std::result::Result<T, E> + Send + 'static,
) -> std::result::Result<T, E>
where
    T: Send + 'static,
    E: From<DbError> + From<ImportError> + Send + 'static,
{
    if file.rows.len() <= PART {
        return db.write(move |tx| {
            check(tx, owner, &file)?;
            let mut counts = Counts::default();
            for row in &file.rows {
                apply_row(tx, owner, &StoredRow::of(row), &mut counts)?;
            }
            finish(tx, counts)
        });
    }
    let new = db.read(Lane::Slow, |tx| check(tx, owner, &file))?;
    let id: ImportId = secrets::random();
    begin(db, owner, id)?;
    let finish = Arc::new(Mutex::new(Some(finish)));
    let done = prepare(db, owner, id, &file, new).map_err(E::from).and_then(|()| {
        loop {
            let finish = Arc::clone(&finish);
            let done = db.write_piece(move |tx| {
                let Some(counts) = apply_parts(tx, owner, id)? else { return Ok(None) };
                match finish.lock().take() {
                    Some(finish) => finish(tx, counts).map(Some),
                    None => Err(DbError::Stopped.into()),
                }
            })?;
            if let Some(done) = done {
                return Ok(done);
            }
        }
    });
    let is_left = |tx: &ReadTx<'_>| Ok::<_, DbError>(import_of(tx, owner)?.is_some());
    if done.is_err() && db.read(Lane::Brief, is_left).unwrap_or(false) {
        FAILED.lock().insert(id);
    }
    done
}

/// Imports of this process that failed: nobody works at them any more. At most
/// one of each person.
static FAILED: Mutex<BTreeSet<ImportId>> = Mutex::new(BTreeSet::new());

/// Stores a file with `new` new products and settles that all its rows become products.
fn prepare(
    db: &Db,
    owner: UserId,
    id: ImportId,
    file: &File,
    new: usize,
) -> std::result::Result<(), ImportError> {
    store_parts(db, owner, id, file)?;
    let settled = db.write_piece(move |tx| settle(tx, owner, id, new))?;
    if settled {
        return Ok(());
    }
    db.write_pieces(move |tx| abandon(tx, owner, id))?;
    // Products that came in between took the room.
    db.read(Lane::Slow, |tx| check(tx, owner, file))?;
    Err(DbError::Busy.into())
}

/// Goes on with imports that a stop interrupted, before anybody is served.
pub fn resume(db: &Db) -> Result<()> {
    let owners = "SELECT owner_id FROM product_import ORDER BY owner_id";
    for owner in db.read(Lane::Slow, |tx| tx.values::<UserId>(owners, []))? {
        finish_interrupted(db, owner)?;
    }
    Ok(())
}

/// Tells one import of a person from the next.
type ImportId = [u8; 16];

row! {
    struct Import {
        id: ImportId = "import_id",
        is_whole: bool,
        touched_at: Instant,
        counts: Counts as row,
    }
}

fn import_of(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<Import>> {
    tx.record("FROM product_import WHERE owner_id = ?1", [owner])
}

/// An import that goes on. It is gone when the person was removed, or when
/// somebody else took it for interrupted.
fn under_way(tx: &ReadTx<'_>, owner: UserId, id: ImportId) -> Result<Import> {
    import_of(tx, owner)?.filter(|import| import.id == id).ok_or(DbError::Stopped)
}

/// Checks every row against the products that are stored. Returns how many rows
/// are new products.
fn check(tx: &ReadTx<'_>, owner: UserId, file: &File) -> std::result::Result<usize, ImportError> {
    let (mut products, mut new, mut bad) = (store::count(tx, owner)?, 0, Vec::new());
    for row in &file.rows {
        let before = store::by_sku(tx, owner, &row.sku)?;
        let faults = row.faults(before.as_ref(), products < MAX_PRODUCTS);
        if !faults.is_empty() {
            bad.push(BadRow { number: row.number, faults });
        } else if before.is_none() {
            products += 1;
            new += 1;
        }
    }
    if bad.is_empty() {
        return Ok(new);
    }
    Err(ImportError::Rows(Box::new(BadRows { names: file.names.clone(), rows: bad })))
}

/// Notes an import that begins. One of the same person that was interrupted is
/// finished first; while one is under way, another is refused.
fn begin(db: &Db, owner: UserId, id: ImportId) -> std::result::Result<(), ImportError> {
    if let Some(before) = db.read(Lane::Brief, |tx| import_of(tx, owner))? {
        let has_failed = FAILED.lock().contains(&before.id);
        if !has_failed && db.clock().now().since(before.touched_at) < INTERRUPTED_S {
            return Err(ImportError::UnderWay);
        }
        finish_interrupted(db, owner)?;
        FAILED.lock().remove(&before.id);
    }
    let is_begun = db.write_piece(move |tx| {
        tx.execute(
            "INSERT INTO product_import
                 (owner_id, import_id, is_whole, room, created, changed, unchanged, touched_at)
             VALUES (?1, ?2, 0, 0, 0, 0, 0, ?3) ON CONFLICT DO NOTHING",
            (owner, id, tx.now()),
        )
    })?;
    if is_begun == 1 { Ok(()) } else { Err(ImportError::UnderWay) }
}

fn finish_interrupted(db: &Db, owner: UserId) -> Result<()> {
    match db.read(Lane::Brief, |tx| import_of(tx, owner))? {
        Some(import) if import.is_whole => {
            let id = import.id;
            db.write_pieces(move |tx| Ok::<_, DbError>(apply_parts(tx, owner, id)?.is_some()))
        }
        Some(Import { id, .. }) => db.write_pieces(move |tx| abandon(tx, owner, id)),
        None => Ok(()),
    }
}

fn store_parts(db: &Db, owner: UserId, id: ImportId, file: &File) -> Result<()> {
    let rows: Vec<StoredRow> = file.rows.iter().map(StoredRow::of).collect();
    let parts: Arc<Vec<Vec<StoredRow>>> =
        Arc::new(rows.chunks(PART).map(<[StoredRow]>::to_vec).collect());
    let mut next = 0;
    while next < parts.len() {
        let parts = Arc::clone(&parts);
        next = db.write_piece(move |tx| {
            let mut next = next;
            under_way(tx, owner, id)?;
            while let Some(part) = parts.get(next) {
                tx.run(
                    "INSERT INTO product_import_part (owner_id, part, rows) VALUES (?1, ?2, ?3)",
                    (owner, i64::try_from(next).unwrap_or(i64::MAX), Json(part)),
                )?;
                next += 1;
                if tx.is_spent() {
                    break;
                }
            }
            touch(tx, owner)?;
            Ok::<_, DbError>(next)
        })?;
    }
    Ok(())
}

fn touch(tx: &WriteTx<'_>, owner: UserId) -> Result<()> {
    tx.run("UPDATE product_import SET touched_at = ?2 WHERE owner_id = ?1", (owner, tx.now()))
}

/// Settles that all rows become products and takes the room for them; false
/// when there is none any more.
fn settle(tx: &WriteTx<'_>, owner: UserId, id: ImportId, new: usize) -> Result<bool> {
    if store::count(tx, owner)? + new > MAX_PRODUCTS {
        return Ok(false);
    }
    let settled = tx.execute(
        "UPDATE product_import SET is_whole = 1, room = ?3, touched_at = ?4
         WHERE owner_id = ?1 AND import_id = ?2",
        (owner, id, i64::try_from(new).unwrap_or(i64::MAX), tx.now()),
    )?;
    Ok(settled == 1)
}

/// Removes what was stored of an import that was not settled; false when some
/// is left.
fn abandon(tx: &WriteTx<'_>, owner: UserId, id: ImportId) -> Result<bool> {
    if under_way(tx, owner, id).is_err() {
        return Ok(true);
    }
    let is_empty = tx.work_off(|most| {
        tx.execute(
            "DELETE FROM product_import_part WHERE owner_id = ?1 AND part IN (
                 SELECT part FROM product_import_part WHERE owner_id = ?1 LIMIT ?2)",
            (owner, i64::try_from(most).unwrap_or(1)),
        )
    })?;
    if is_empty {
        tx.run("DELETE FROM product_import WHERE owner_id = ?1 AND is_whole = 0", [owner])?;
    }
    Ok(is_empty)
}

/// Makes products of the next parts. With the last one the import is over, and
/// its counts are returned.
fn apply_parts(tx: &WriteTx<'_>, owner: UserId, id: ImportId) -> Result<Option<Counts>> {
    let Import { mut counts, .. } = under_way(tx, owner, id)?;
    loop {
        let next: Option<(i64, Json<Vec<StoredRow>>)> = tx.tuple(
            "SELECT part, rows FROM product_import_part WHERE owner_id = ?1 ORDER BY part LIMIT 1",
            [owner],
        )?;
        let Some((part, Json(rows))) = next else {
            tx.run("DELETE FROM product_import WHERE owner_id = ?1", [owner])?;
            return Ok(Some(counts));
        };
        for row in &rows {
            apply_row(tx, owner, row, &mut counts)?;
        }
        tx.run("DELETE FROM product_import_part WHERE owner_id = ?1 AND part = ?2", (owner, part))?;
        if tx.is_spent() {
            break;
        }
    }
    tx.run(
        "UPDATE product_import SET created = ?2, changed = ?3, unchanged = ?4, touched_at = ?5
         WHERE owner_id = ?1",
        (owner, counts.created, counts.changed, counts.unchanged, tx.now()),
    )?;
    Ok(None)
}

/// A checked row as it is stored: SKU, EAN, title, cost, price and stock.
#[derive(Clone, Serialize, Deserialize)]
struct StoredRow(String, Option<String>, Option<String>, Option<i64>, Option<i64>, Option<i64>);

impl StoredRow {
    fn of(row: &Row) -> Self {
        let cents = |amount: Option<Cents>| amount.map(|amount| amount.0);
        // A negative count was checked to be the balance that is there already.
        let stock = row.stock.filter(|counted| *counted >= 0);
        let (ean, title) = (row.ean.clone(), row.title.clone());
        Self(row.sku.clone(), ean, title, cents(row.cost), cents(row.price), stock)
    }

    fn row(&self) -> Row {
        Row {
            number: 0,
            sku: self.0.clone(),
            ean: self.1.clone(),
            title: self.2.clone(),
            cost: self.3.map(Cents),
            price: self.4.map(Cents),
            stock: self.5,
            faults: Vec::new(),
        }
    }
}

fn apply_row(
    tx: &WriteTx<'_>,
    owner: UserId,
    stored: &StoredRow,
    counts: &mut Counts,
) -> Result<()> {
    let row = stored.row();
    let before: Option<Product> = store::by_sku(tx, owner, &row.sku)?;
    let entry = row.entry(before.as_ref().map(|before| &before.entry));
    let Some(before) = before else {
        if row.title.is_none() || row.price.is_none() {
            // Its product was removed after the check.
            counts.unchanged += 1;
            return Ok(());
        }
        let id = store::insert(tx, owner, &entry)?;
        stock::set_counted_stock(tx, id, 0, row.stock.unwrap_or(0), REASON)?;
        counts.created += 1;
        return Ok(());
    };
    let counted = row.stock.unwrap_or(before.stock);
    if before.entry == entry && counted == before.stock {
        counts.unchanged += 1;
        return Ok(());
    }
    if before.entry != entry {
        store::update(tx, owner, before.id, &entry)?;
    }
    stock::set_counted_stock(tx, before.id, before.stock, counted, REASON)?;
    counts.changed += 1;
    Ok(())
}
