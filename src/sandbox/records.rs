//! The common parts of searches and single records: ownership, pages, scans, and
//! records that are served with invalid values.

use serde_json::{Value, json};

use super::call::Call;
use super::http::Reply;
use super::state::{SandboxState, Scroll};
use super::things::Owned;
use crate::base::secrets::random_hex;

/// Most records that are spoiled at the same time.
const SPOILED_MAX: usize = 1_000;
const SCROLL_S: i64 = 300;
/// Most open scans of one seller.
const SCROLLS_MAX: usize = 10;

/// The caller's record, or the error reply when it is missing or belongs to
/// another seller.
pub fn owned_or_reply<T: Owned>(
    found: Option<&T>,
    caller: i64,
    missing: impl FnOnce() -> Reply,
    foreign: impl FnOnce() -> Reply,
) -> Result<&T, Reply> {
    match found {
        None => Err(missing()),
        Some(record) if record.seller() != caller => Err(foreign()),
        Some(record) => Ok(record),
    }
}

/// A page of a search by `limit` and `offset`, or a scan through all of it.
pub struct Paging {
    pub limit: usize,
    pub offset: usize,
    scanning: bool,
}

impl Paging {
    /// Reads the paging from the query; `name` names the search in violations.
    pub fn read(
        call: &mut Call<'_>,
        name: &str,
        most: usize,
        end_most: usize,
    ) -> Result<Self, Reply> {
        let (limit, offset) = call.paging(50)?;
        let scanning = call.asks("search_type", "scan");
        if limit > most || offset + limit > end_most && !scanning {
            call.too_many(&format!("{name} limit={limit} offset={offset}"));
            return Err(Reply::bad_request("invalid limit or offset"));
        }
        Ok(Self { limit, offset, scanning })
    }

    /// The ids of the page. A scan adds the id of its next page to `body`.
    pub fn take(
        &self,
        call: &mut Call<'_>,
        matching: Vec<i64>,
        body: &mut Value,
    ) -> Result<Vec<i64>, Reply> {
        if !self.scanning {
            return Ok(matching.into_iter().skip(self.offset).take(self.limit).collect());
        }
        let (ids, scroll) = scan(call, matching, self.limit)?;
        body["scroll_id"] = json!(scroll);
        Ok(ids)
    }
}

/// The next page of a scan, and the scroll id for the page after it; `None` once
/// everything was read.
fn scan(
    call: &mut Call<'_>,
    matching: Vec<i64>,
    limit: usize,
) -> Result<(Vec<i64>, Option<String>), Reply> {
    let presented = call.query("scroll_id").filter(|id| !id.is_empty());
    if call.query("offset").is_some() {
        call.violation("scan_with_offset", &*call.request.raw_query);
        return Err(Reply::bad_request("offset cannot be used with search_type=scan"));
    }
    if presented.is_some() && call.query("limit").is_some() && call.state.config.scan_refuses_limit
    {
        return Err(Reply::bad_request("limit cannot be used with scroll_id"));
    }
    let (seller, now) = (call.seller, call.now);
    call.state.scrolls.retain(|_, scroll| now < scroll.until);
    let mut scroll = if let Some(id) = presented {
        match call.state.scrolls.remove(id) {
            Some(scroll) if scroll.seller == seller => scroll,
            _ => return Err(Reply::bad_request("invalid scroll_id")),
        }
    } else {
        let is_open = |scroll: &&Scroll| scroll.seller == seller && scroll.taken < scroll.ids.len();
        if call.state.scrolls.values().filter(is_open).count() >= SCROLLS_MAX {
            let detail = format!("more than {SCROLLS_MAX} scans left open");
            call.violation("scans_left_open", detail);
            return Err(Reply::error(429, "too_many_requests", "too many open scrolls"));
        }
        Scroll { seller, ids: matching, taken: 0, until: now }
    };
    let page: Vec<i64> = scroll.ids.iter().skip(scroll.taken).take(limit).copied().collect();
    if page.is_empty() {
        return Ok((page, None));
    }
    scroll.taken += limit;
    scroll.until = now.plus(SCROLL_S);
    let id = match presented {
        Some(id) if !call.state.config.new_scroll_ids => id.to_owned(),
        _ => random_hex::<16>(),
    };
    call.state.scrolls.insert(id.clone(), scroll);
    Ok((page, Some(id)))
}

/// The record, with invalid values if it was spoiled. `name` is, for example,
/// `orders/2000001`.
pub fn unless_spoiled(state: &SandboxState, name: &str, mut record: Value) -> Value {
    if state.spoiled.contains(name) {
        for (field, value) in [
            ("date_created", json!("ontem à tarde")),
            ("last_updated", json!("há pouco")),
            ("date_last_updated", json!(["hoje"])),
            ("total_amount", json!("muito")),
            ("price", json!({ "value": [] })),
            ("status", json!(7)),
        ] {
            if let Some(there) = record.get_mut(field) {
                *there = value;
            }
        }
    }
    record
}

/// Spoils a record such as `orders/2000001`, or restores it.
pub fn spoil(state: &mut SandboxState, name: &str, spoiled: bool) -> Result<(), String> {
    let name = name.trim_start_matches('/');
    if !spoiled {
        state.spoiled.remove(name);
        return Ok(());
    }
    let (kind, id) = name.split_once('/').unwrap_or_default();
    if kind.is_empty() || id.is_empty() {
        return Err("record must be a kind and an id, such as orders/2000001".to_owned());
    }
    if state.spoiled.len() >= SPOILED_MAX {
        return Err(format!("at most {SPOILED_MAX} records are spoiled"));
    }
    state.spoiled.insert(name.to_owned());
    Ok(())
}
