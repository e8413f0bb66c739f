//! The numbers of each menu, from the rows that the lists behind its entries show. Each is
//! kept by a write or found by an index that ends soon.

use crate::agency::questions::{self, store as team};
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::inbox::received::store as inbox;
use crate::marketplace::tools::labels::desk;
use crate::marketplace::tools::labels::pages::own_stores;
use crate::operations::store as operations;
use crate::panel::live::{Came, Counts, Desk, Watcher};

/// What came is counted from the beginning of yesterday where no write keeps its number.
/// When the day changes the number falls, which pages take as a new beginning.
const LOOKED_BACK_DAYS: i64 = 2;

/// Reads the numbers of a menu.
pub fn read(tx: &ReadTx<'_>, watcher: Watcher, now: Instant) -> Result<Counts> {
    let mut counts = Counts::default();
    let Watcher { person, desk } = watcher;
    match desk {
        Desk::Student => seller(tx, &mut counts, person, now)?,
        Desk::Staff => {
            seller(tx, &mut counts, person, now)?;
            agency(tx, &mut counts)?;
        }
        Desk::Supplier => supplier(tx, &mut counts, person, now)?,
        Desk::Operator => {
            notices(tx, &mut counts, person, "/admin/avisos")?;
            agency(tx, &mut counts)?;
            operator(tx, &mut counts)?;
        }
    }
    Ok(counts)
}

impl Counts {
    fn waits(&mut self, href: &'static str, count: i64) {
        self.menu.insert(href, count);
    }

    fn comes(&mut self, href: &'static str, came: Came) {
        self.came.insert(href, came);
    }
}

fn notices(tx: &ReadTx<'_>, counts: &mut Counts, person: UserId, href: &'static str) -> Result<()> {
    let found: Option<(i64, i64)> =
        tx.tuple("SELECT unread, told FROM notification_count WHERE owner_id = ?1", [person])?;
    let (unread, told) = found.unwrap_or_default();
    counts.waits(href, unread);
    counts.comes(href, (told, "aviso novo", "avisos novos"));
    Ok(())
}

fn seller(tx: &ReadTx<'_>, counts: &mut Counts, owner: UserId, now: Instant) -> Result<()> {
    notices(tx, counts, owner, "/painel/avisos")?;
    let (open_questions, open_claims): (i64, i64) = tx.one(
        "SELECT coalesce(sum(open_questions), 0), coalesce(sum(open_claims), 0)
         FROM ml_account WHERE owner_id = ?1",
        [owner],
        |row| row.try_into(),
    )?;
    counts.waits("/painel/perguntas", open_questions);
    counts.waits("/painel/reclamacoes", open_claims);
    let parcels = desk::waiting(tx, &own_stores(tx, owner)?, None)?.len();
    let parcels = i64::try_from(parcels).unwrap_or(i64::MAX);
    counts.waits("/painel/ml/etiquetas", parcels);
    let orders: Option<i64> = tx.maybe(
        "SELECT orders FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = 0 AND status = 0 AND day = -1",
        [owner],
    )?;
    counts.comes("/painel/vendas", (orders.unwrap_or(0), "venda nova", "vendas novas"));
    let since = (now.0 / DAY_S + 1 - LOOKED_BACK_DAYS) * DAY_S;
    let asked = tx.value(
        "SELECT count(*) FROM question WHERE owner_id = ?1 AND asked_at >= ?2",
        (owner, since),
    )?;
    counts.comes("/painel/perguntas", (asked, "pergunta nova", "perguntas novas"));
    let opened = tx.value(
        "SELECT count(*) FROM claim WHERE owner_id = ?1 AND opened_at >= ?2",
        (owner, since),
    )?;
    counts.comes("/painel/reclamacoes", (opened, "reclamação nova", "reclamações novas"));
    Ok(())
}

fn agency(tx: &ReadTx<'_>, counts: &mut Counts) -> Result<()> {
    let all = team::counts(tx, questions::Scope::All)?;
    let small = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    counts.waits(questions::PATH, small(all.of(questions::Status::Open)));
    let came = small(all.of(questions::Status::All));
    counts.comes(questions::PATH, (came, "pergunta nova", "perguntas novas"));
    Ok(())
}

fn supplier(tx: &ReadTx<'_>, counts: &mut Counts, owner: UserId, now: Instant) -> Result<()> {
    let overdue = tx.value(
        "SELECT count(*) FROM drop_order WHERE supplier_id = ?1 AND state = 1 AND due_at <= ?2",
        (owner, now),
    )?;
    counts.waits("/fornecedor/pedidos", overdue);
    let orders = tx.value(
        "SELECT coalesce(sum(orders), 0) FROM drop_order_count WHERE supplier_id = ?1",
        [owner],
    )?;
    counts.comes("/fornecedor/pedidos", (orders, "pedido novo", "pedidos novos"));
    Ok(())
}

fn operator(tx: &ReadTx<'_>, counts: &mut Counts) -> Result<()> {
    counts.waits("/admin/notificacoes", inbox::figures(tx)?.failed);
    let waiting = operations::waiting(tx)?;
    counts.waits("/admin/mensagens", waiting.given_up);
    counts.waits("/admin/compras", waiting.without_plan);
    counts.waits("/admin/alunos", waiting.late);
    Ok(())
}
