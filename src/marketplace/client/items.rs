//! Listings: their ids by scan, and their details, many at a time.

use serde_json::Value;

use super::{Answer, Caller, Client, Failure, asked_for};
use crate::base::{Cents, MlUserId};
use crate::marketplace::books::document::{ItemId, ListingDocument, positive, sale_price, text};

/// Most ids per page of a scan, and most listings per request for details. The
/// marketplace rejects more.
const IDS_PAGE: usize = 100;
pub const ITEMS_AT_ONCE: usize = 20;
/// Most listings of one user product, as the marketplace allows.
const ITEMS_OF_PRODUCT: usize = 30;
/// Twenty listings with many variations each.
const MAX_ITEMS_BODY: u64 = 8 * 1024 * 1024;

/// One page of a scan: ids of a seller's listings.
#[derive(Debug)]
pub struct ItemIds {
    /// The ids that can be read; empty at the end of the scan.
    pub ids: Vec<ItemId>,
    /// The cursor for the next page, valid for five minutes; `None` at the end.
    pub scroll: Option<String>,
    /// How many there are, as the marketplace counts.
    pub total: i64,
}

/// One listing of several that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemFailure {
    /// The listing's id, when the answer contains it.
    pub id: Option<ItemId>,
    pub why: Failure,
}

impl ItemIds {
    /// Reads a page of a scan of an account's listings.
    pub(super) fn read(answer: &Value, is_first: bool, account: MlUserId) -> Answer<Self> {
        let results = match &answer["results"] {
            Value::Array(results) => results.as_slice(),
            // A scan may end with a null instead of a list.
            Value::Null if !is_first => &[],
            _ => return Err(Failure::Garbled("results")),
        };
        let ids = results.iter().filter_map(|id| {
            let known = text(id).and_then(|id| ItemId::parse(&id));
            if known.is_none() {
                tracing::warn!(ml_user_id = account.0, "an id of a listing was passed over");
            }
            known
        });
        Ok(Self {
            ids: ids.collect(),
            scroll: answer["scroll_id"].as_str().filter(|_| !results.is_empty()).map(str::to_owned),
            total: answer["paging"]["total"].as_i64().unwrap_or(0).max(0),
        })
    }
}

impl Client {
    /// A page of the ids of all the caller's listings. The first call has no
    /// `scroll`; the others pass the one of the previous page.
    pub fn items_page(&self, caller: &Caller<'_>, scroll: Option<&str>) -> Answer<ItemIds> {
        let path = format!("/users/{}/items/search", caller.ml_user_id);
        let mut query = vec![("search_type", "scan".to_owned()), ("limit", IDS_PAGE.to_string())];
        if let Some(scroll) = scroll {
            query.push(("scroll_id", scroll.to_owned()));
        }
        let answer = match self.get(caller, &path, &query) {
            // The marketplace's advice is not to send a limit with a cursor. Most pages
            // take one; where one does not, the page has its usual size.
            Err(Failure::Refused { status: 400, .. }) if scroll.is_some() => {
                query.retain(|(name, _)| *name != "limit");
                self.get(caller, &path, &query)?
            }
            answer => answer?,
        };
        ItemIds::read(&answer, scroll.is_none(), caller.ml_user_id)
    }

    /// The caller's listings that sell a user product.
    pub fn items_of_product(
        &self,
        caller: &Caller<'_>,
        product: &ItemId,
    ) -> Answer<Vec<ListingDocument>> {
        let path = format!("/users/{}/items/search", caller.ml_user_id);
        let query =
            [("user_product_id", product.to_string()), ("limit", ITEMS_OF_PRODUCT.to_string())];
        let answer = self.get(caller, &path, &query)?;
        let results = answer["results"].as_array().ok_or(Failure::Garbled("results"))?;
        let ids = results.iter().filter_map(|id| ItemId::parse(&text(id)?));
        let mut found = Vec::new();
        // One by one, so that the codes of their variations come too.
        for id in ids.take(ITEMS_OF_PRODUCT) {
            match self.item(caller, &id) {
                Err(failure) if failure.is_not_found() => {}
                item => found.push(item?),
            }
        }
        Ok(found)
    }

    /// Details of at most [`ITEMS_AT_ONCE`] listings. A price that is not among them is
    /// not asked for.
    pub fn items(
        &self,
        caller: &Caller<'_>,
        ids: &[ItemId],
    ) -> Answer<Vec<Result<ListingDocument, ItemFailure>>> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let fields = ListingDocument::FIELDS.map(|field| format!("body.{field}"));
        let query = [
            ("ids", ids.join(",")),
            ("attributes", fields.join(",")),
            // Includes the codes of variations, where the marketplace supports
            // it.
            ("include_attributes", "all".to_owned()),
        ];
        let answer = self.get_at_most(caller, "/items/bulk", &query, MAX_ITEMS_BODY)?;
        read_elements(&answer, &self.image_host)
    }

    /// One listing, with the fields that only a request for a single listing
    /// returns. A price that is not among them is asked for.
    pub fn item(&self, caller: &Caller<'_>, item: &ItemId) -> Answer<ListingDocument> {
        let query = [("include_attributes", "all".to_owned())];
        let answer = self.get(caller, &format!("/items/{item}"), &query)?;
        let found = ListingDocument::read(&answer, &self.image_host)?;
        let mut found = asked_for(found.id == *item, ListingDocument { is_whole: true, ..found })?;
        if found.price.is_none() {
            found.price = self.sale_price(caller, item)?;
        }
        Ok(found)
    }

    /// What a buyer pays for a unit of a listing now; `None` when it has no price.
    pub fn sale_price(&self, caller: &Caller<'_>, item: &ItemId) -> Answer<Option<Cents>> {
        let query = [("context", "channel_marketplace".to_owned())];
        match self.get(caller, &format!("/items/{item}/sale_price"), &query) {
            Ok(answer) => Ok(sale_price(&answer)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// The elements of a bulk answer.
pub(super) fn read_elements(
    answer: &Value,
    image_host: &str,
) -> Answer<Vec<Result<ListingDocument, ItemFailure>>> {
    let elements = answer.as_array().ok_or(Failure::Garbled("items"))?;
    Ok(elements.iter().map(|element| read_element(element, image_host)).collect())
}

/// An element of a bulk answer, in its old or its new shape.
fn read_element(element: &Value, image_host: &str) -> Result<ListingDocument, ItemFailure> {
    let body = &element["body"];
    let id = text(&element["id"]).or_else(|| text(&body["id"]));
    let id = id.and_then(|id| ItemId::parse(&id));
    let status = positive(&element["status_code"]).or_else(|| positive(&element["code"]));
    let why = match status.and_then(|status| u16::try_from(status).ok()) {
        Some(200..=299) | None => match ListingDocument::read(body, image_host) {
            Ok(listing) => return Ok(listing),
            Err(unreadable) => unreadable.into(),
        },
        Some(429) => Failure::RateLimited { retry_after_s: None },
        Some(500..) => Failure::Unreachable,
        Some(status) => Failure::Refused { status, code: text(&body["error"]).unwrap_or_default() },
    };
    Err(ItemFailure { id, why })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_come_in_two_shapes_and_fail_alone() {
        let body = json!({ "id": "MLB1", "seller_id": 777, "status": "active", "price": 1,
            "last_updated": "2026-11-01T10:00:00Z" });
        for good in [
            json!({ "id": "MLB1", "status_code": 200, "body": body }),
            json!({ "code": "200", "body": body }),
            json!({ "body": body }),
        ] {
            assert_eq!(read_element(&good, "https://x").unwrap().id.to_string(), "MLB1");
        }
        let gone = json!({ "id": "MLB2", "status_code": 404, "body": { "error": "not_found" } });
        let gone = read_element(&gone, "https://x").unwrap_err();
        assert_eq!(gone.id.unwrap().number, 2);
        assert!(gone.why.is_not_found());
        for (odd, why) in [
            (json!({ "code": 503 }), Failure::Unreachable),
            (json!({ "code": 429 }), Failure::RateLimited { retry_after_s: None }),
            (json!({ "code": 200, "body": { "id": "MLB3" } }), Failure::Garbled("last_updated")),
            (json!(null), Failure::Garbled("last_updated")),
        ] {
            assert_eq!(read_element(&odd, "https://x").unwrap_err().why, why);
        }
    }
}
