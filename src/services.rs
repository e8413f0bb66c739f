//! What nearly every function of the service works with: its configuration, the clock,
//! the database, the key of stored secrets and the versions of what is kept in memory.
//!
//! It knows no domain. A function that needs no more takes `&Services`, and whoever has
//! an `App` passes that.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::base::{Clock, Day, Instant, Sealer, Versions, Zone};
use crate::config::Config;
use crate::db::Db;
use crate::http::sending::Sending;

/// The parts of the service that belong to no domain.
pub struct Services {
    own: Weak<Services>,
    pub config: Arc<Config>,
    pub clock: Clock,
    pub db: Db,
    pub sealer: Arc<Sealer>,
    pub versions: Arc<Versions>,
    /// Limits what large answers and files hold while they are sent.
    pub sending: Sending,
    pub started_at: Instant,
    /// When the present civil day began, when it ends, and which it is.
    today: Mutex<(Instant, Instant, Day)>,
}

impl Services {
    pub fn new(config: Config, clock: Clock, db: Db, sealer: Sealer) -> Arc<Self> {
        let started_at = clock.now();
        Arc::new_cyclic(|own| Self {
            own: own.clone(),
            started_at,
            config: Arc::new(config),
            clock,
            db,
            sealer: Arc::new(sealer),
            versions: Arc::default(),
            sending: Sending::default(),
            today: Mutex::new((Instant(0), Instant(0), Day(0))),
        })
    }

    /// A reference to itself, for work that outlives the function that began it. It does
    /// not keep the database open.
    pub fn weak(&self) -> Weak<Self> {
        self.own.clone()
    }

    /// The zone of civil time.
    pub fn zone(&self) -> Zone {
        self.config.server.timezone
    }

    /// The time of day at an instant, such as `14:32`.
    pub fn time_of_day(&self, at: Instant) -> String {
        self.zone().civil(at).strftime("%H:%M").to_string()
    }

    /// The civil day of an instant. The present day is remembered, because
    /// finding it takes longer than a whole lookup.
    pub fn day(&self, at: Instant) -> Day {
        let mut today = self.today.lock();
        let (start, end, day) = *today;
        if start <= at && at < end {
            return day;
        }
        let day = self.zone().day(at);
        *today = (self.zone().start_of(day), self.zone().start_of(day.plus(1)), day);
        day
    }
}
