//! Integrations: checks the API key, its addresses, its scope and its limit, in
//! this order.
//!
//! A rejected request counts against its network address, so that a person who
//! found a key cannot use up the key's window from elsewhere.

use std::sync::Arc;

use super::charge::{Charge, KeyUse, Window};
use super::lookup::lookup;
use super::{GuardResult, api_limit, bearer, passed};
use crate::app::App;
use crate::base::ids::TokenHash;
use crate::edge::route::Route;
use crate::http::limit::{Class, Limit, Subject};
use crate::http::{Code, Problem, Request};
use crate::identity::token::{TokenKind, TokenRecord};
use crate::identity::{KeyHolder, Seal};
use crate::keys::{self, ApiKey, Scope};

/// A row of the Integration API.
pub fn key(app: &App, scope: Scope, route: &Route, request: &Request) -> GuardResult<KeyHolder> {
    let found = identity(app, scope, request).map(|(key, hash)| {
        let count = key.limit(&app.config.limits);
        let limit = Limit { count, ..api_limit(app) };
        let window = Window { class: Class::ApiToken, subject: Subject::token(&hash), limit };
        let (client, method, path) = (request.client, route.method.clone(), route.path);
        let charge = Charge { key: Some(KeyUse { hash, client, method, path }), ..window.into() };
        let id = key.id;
        GuardResult::of(KeyHolder { _seal: Seal, key }).known_as("key", id).costing(charge)
    });
    passed(app, request, Class::ApiAddress, found)
}

fn identity(
    app: &App,
    scope: Scope,
    request: &Request,
) -> Result<(Arc<ApiKey>, TokenHash), Problem> {
    let text =
        bearer(request).filter(|text| keys::is_key(text)).ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(text);
    let entry = lookup(app, TokenKind::Key, hash)?;
    let TokenRecord::Key(key) = &entry.record else {
        return Err(Problem::unauthorized());
    };
    if !key.works(request.now) {
        return Err(Problem::unauthorized());
    }
    if !key.admits(request.client) {
        return Err(Problem::new(Code::IpNotAllowed, "this key may not be used from your address"));
    }
    if !key.allows(scope) {
        let message = format!("this key lacks the scope {}", scope.name());
        return Err(Problem::new(Code::InsufficientScope, message));
    }
    Ok((Arc::clone(key), hash))
}
