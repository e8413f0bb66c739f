//! Shops of sample data, on which programs are tried with test tokens.
//!
//! They are in a database of their own beside the data file, which a second [`App`] serves:
//! the same code, the same rules, a quota of its own, and nothing that leaves the service
//! (`cli/trial.rs`). The guard finds a test token in the real database and then asks that app,
//! so neither kind of token reaches the data of the other. Whoever has a test token has one
//! shop, with a seller and a supplier who work together; the role of the token's owner says
//! as which of the two it acts. A shop is made when it is first used (`sample.rs`), and
//! removed when nobody used it for a month. Decisions trial-1, trial-2, trial-3.

pub mod happen;
mod sample;
pub mod store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use crate::accounts::Account;
use crate::app::App;
use crate::base::{DAY_S, Instant, UserId};
use crate::db::Lane;
use crate::http::Problem;
use crate::marketplace::books::orders::BookContext;
use store::Cast;

/// Most shops. When there are more, those go that nobody used for a month.
pub const MOST_SHOPS: u64 = 500;
/// How long a shop stays without a use.
pub const UNUSED_S: i64 = 30 * DAY_S;

/// Opens the app of the shops.
type Open = Box<dyn Fn() -> Result<Arc<App>, String> + Send + Sync>;

/// What an app knows of test shops: the real one how to reach their app, and that one which
/// shops are in use.
#[derive(Default)]
pub struct Trial {
    open: OnceLock<Open>,
    shops: Mutex<Option<Arc<App>>>,
    real: OnceLock<Weak<App>>,
    known: Mutex<HashMap<UserId, Arc<Shop>>>,
}

/// A shop in use.
struct Shop {
    seller: Arc<Account>,
    supplier: Arc<Account>,
    used_at: AtomicI64,
}

impl Trial {
    /// In the real app: how the app of the shops is opened when it is first needed.
    pub fn opens_by(&self, open: Open) {
        // Set once, at start.
        let _ = self.open.set(open);
    }

    /// In the app of the shops: the real one.
    pub fn belongs_to(&self, real: &Arc<App>) {
        let _ = self.real.set(Arc::downgrade(real));
    }

    /// The real app, when this is that of the shops.
    pub fn real(&self) -> Option<Arc<App>> {
        self.real.get().and_then(Weak::upgrade)
    }

    /// The app of the shops.
    pub fn shops(&self) -> Result<Arc<App>, Problem> {
        let mut shops = self.shops.lock();
        if let Some(app) = &*shops {
            return Ok(Arc::clone(app));
        }
        let open = self.open.get().ok_or_else(|| closed("there is nothing to open"))?;
        let app = tokio::task::block_in_place(open).map_err(|error| closed(&error))?;
        *shops = Some(Arc::clone(&app));
        Ok(app)
    }

    /// Uses since the last call, by seller.
    pub fn take_uses(&self) -> Vec<(UserId, Instant)> {
        let known = self.known.lock();
        let uses = known.values().map(|shop| {
            (shop.seller.user_id, Instant(shop.used_at.swap(i64::MIN, Ordering::Relaxed)))
        });
        uses.filter(|(_, at)| *at > Instant(i64::MIN)).collect()
    }

    /// Looks every shop up again.
    pub fn forget_known(&self) {
        self.known.lock().clear();
    }
}

fn closed(error: &str) -> Problem {
    tracing::error!(error, "the test shops cannot be opened");
    Problem::unavailable("test shops cannot be opened now; try again later", 60)
}

/// The account of a shop for a person with a test token. The shop is made when there is none.
pub fn account(shops: &App, real: &App, owner: &Account) -> Result<Arc<Account>, Problem> {
    let known = shops.trial.known.lock().get(&owner.user_id).cloned();
    let shop = match known {
        Some(shop) => shop,
        None => tokio::task::block_in_place(|| open(shops, real, owner.user_id))?,
    };
    shop.used_at.store(shops.clock.now().0, Ordering::Relaxed);
    Ok(Arc::clone(if owner.role.is_student() { &shop.seller } else { &shop.supplier }))
}

fn open(shops: &App, real: &App, owner: UserId) -> Result<Arc<Shop>, Problem> {
    let key = real.db.read(Lane::InPlace, |tx| store::key(tx, owner))?;
    let key = key.ok_or_else(Problem::unauthorized)?;
    let context = BookContext::of(shops);
    let (seller, supplier) = shops.db.write(move |tx| {
        let cast = match store::find(tx, &key)? {
            Some(cast) => cast,
            None if store::makes_room(tx)? => sample::make(tx, &context, &key)?,
            None => return Err(full()),
        };
        Ok::<_, Problem>(cast.accounts(tx)?)
    })?;
    let used_at = AtomicI64::new(i64::MIN);
    let shop = Arc::new(Shop { seller: Arc::new(seller), supplier: Arc::new(supplier), used_at });
    shops.trial.known.lock().insert(owner, Arc::clone(&shop));
    Ok(shop)
}

fn full() -> Problem {
    Problem::unavailable("all test shops are in use; try again another day", 3600)
}

/// Makes a person's shop as it was at first. The quota that was used stays used.
pub fn reset(real: &App, owner: UserId) -> Result<(), Problem> {
    let shops = real.trial.shops()?;
    let key = real.db.read(Lane::Brief, |tx| store::key(tx, owner))?;
    let key = key.ok_or_else(Problem::not_found)?;
    let context = BookContext::of(&shops);
    shops.db.write(move |tx| {
        if let Some(cast) = store::find(tx, &key)? {
            let calls = store::calls(tx, cast)?;
            store::remove(tx, cast)?;
            sample::refill(tx, &context, &key, cast)?;
            store::put_calls(tx, &calls)?;
        }
        Ok::<_, Problem>(())
    })?;
    shops.versions.raise_everything();
    Ok(())
}

/// Notes which shops were used.
pub fn note_uses(shops: &App) -> crate::db::Result<()> {
    let uses = shops.trial.take_uses();
    if uses.is_empty() {
        return Ok(());
    }
    shops
        .db
        .write(move |tx| uses.iter().try_for_each(|(seller, at)| store::note_use(tx, *seller, *at)))
}

/// Removes the shops that nobody used for a month and those whose owner is gone; returns how
/// many.
pub fn sweep(shops: &App, real: &App) -> crate::db::Result<usize> {
    let all = shops.db.read(Lane::Slow, store::all)?;
    let unused = shops.clock.now().minus(UNUSED_S);
    let mut over = Vec::new();
    for (key, cast, used_at) in all {
        let is_gone = real.db.read(Lane::Slow, |tx| store::key(tx, key.owner))? != Some(key);
        if is_gone || used_at < unused {
            over.push(cast);
        }
    }
    for cast in &over {
        let cast: Cast = *cast;
        shops.db.write(move |tx| store::remove(tx, cast))?;
    }
    if !over.is_empty() {
        shops.trial.forget_known();
        shops.versions.raise_everything();
    }
    Ok(over.len())
}
