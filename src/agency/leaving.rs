//! Placeholder for leaving.

use crate::app::App;
use crate::http::Problem;

/// Removes a client.
pub fn remove_client(app: &App, client: i64) -> Result<(), Problem> {
    app.db.write(move |tx| super::clients::store::delete(tx, client))?;
    Ok(())
}
