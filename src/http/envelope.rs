//! What integration, public and webhook answers look like:
//! `{"success":true,"message":"…","data":…}`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Problem, Reply};

/// The envelope around the data of an answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Envelope")]
pub struct Envelope<T> {
    success: bool,
    /// For people.
    message: &'static str,
    data: T,
}

impl<T: Serialize> Envelope<T> {
    pub const fn of(message: &'static str, data: T) -> Self {
        Self { success: true, message, data }
    }

    /// 200 with data in its envelope.
    pub fn reply(message: &'static str, data: T) -> Result<Reply, Problem> {
        Reply::json(&Self::of(message, data))
    }
}
