//! Notifications that the marketplace could not deliver.

use serde_json::Value;

use super::{Answer, Caller, Client, Failure};
use crate::marketplace::kinds::RecordKind;

/// Notifications per page, as the marketplace documents it.
pub const MISSED_PAGE: usize = 10;

impl Client {
    /// A page of a topic's undelivered notifications of the last two days, as
    /// they were sent. An empty page is the end. The application's owner gets
    /// those of all sellers.
    pub fn missed_feeds(
        &self,
        caller: &Caller<'_>,
        topic: &str,
        offset: usize,
    ) -> Answer<Vec<Value>> {
        let mut query = vec![
            ("app_id", self.application.clone()),
            ("topic", topic.to_owned()),
            ("limit", MISSED_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        if RecordKind::of_topic(topic).is_some_and(|kind| kind.row().has_site) {
            query.push(("site_id", self.site.clone()));
        }
        match self.get(caller, "/missed_feeds", &query)?["messages"].take() {
            Value::Array(messages) => Ok(messages),
            _ => Err(Failure::Garbled("messages")),
        }
    }
}
