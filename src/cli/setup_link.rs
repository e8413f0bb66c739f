//! `setup-link`: a fresh link to make the first administrator.

use anyhow::bail;

use super::{Context, hint_free_port, say};
use crate::accounts::setup;

pub fn run(context: &Context) -> anyhow::Result<()> {
    let code = context.database()?.write(setup::new_link)?;
    let Some(code) = code else {
        bail!("there is an administrator already; use `user password` to let that person in again");
    };
    let base_url = context.base_url();
    hint_free_port(&base_url);
    say(setup::address(&base_url, &code))
}
