//! The way out of trouble with the database: the copy to restore, and the words that
//! name it.

use parking_lot::Mutex;

use crate::config::Config;
use crate::db::{Trouble, newest_good_copy};
use crate::services::Services;

/// The copy that is named while there is trouble.
#[derive(Default)]
pub struct Way {
    /// `None` while it was not looked for.
    found: Mutex<Option<Found>>,
}

#[derive(Clone)]
struct Found {
    copy: Option<String>,
}

impl Way {
    /// The path of the newest good copy.
    pub fn copy(&self) -> Option<String> {
        self.found.lock().clone()?.copy
    }

    /// Looks for the copy, once in each trouble.
    pub fn prepare(&self, services: &Services) {
        let is_needed = services.db.is_blocked() || services.db.missing().is_some();
        let is_known = self.found.lock().is_some();
        if is_needed && !is_known {
            let folder = services.config.database.backup_dir.as_deref();
            let copy =
                newest_good_copy(services.db.path(), folder).map(|copy| copy.display().to_string());
            match (services.db.trouble(), services.db.missing()) {
                (Some(Trouble::Damaged(_)), _) => {
                    tracing::warn!("{}", restoring(&services.config, copy.as_deref()));
                }
                (_, Some(missing)) => tracing::warn!("{}", compared(&missing, copy.as_deref())),
                _ => {}
            }
            *self.found.lock() = Some(Found { copy });
        } else if is_known && !is_needed {
            *self.found.lock() = None;
        }
    }
}

/// What to do about damage. A replica is newer than all copies.
pub fn restoring(config: &Config, copy: Option<&str>) -> String {
    let copy = match copy {
        Some(copy) => format!("run `seller-platform restore {copy}`, the newest good copy"),
        None => "restore a backup with `seller-platform restore FILE`".to_owned(),
    };
    if config.replica.url.is_none() {
        return format!("stop the server and {copy}");
    }
    format!(
        "stop the server and run `seller-platform restore replica`, which has the last seconds too; if that fails, {copy}"
    )
}

/// What is said of answered writes that are missing, with the copy to compare with.
pub fn compared(missing: &str, copy: Option<&str>) -> String {
    let copy = copy.unwrap_or("the newest copy");
    format!("answered writes may be missing ({missing}); compare with {copy}")
}
