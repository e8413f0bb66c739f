//! The controls and buttons that open shops and create and change listings.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, ControlResult, HandlerResult};
use super::http::Reply;
use super::notifications::notify;
use super::questions;
use super::state::{ITEMS_MAX, SELLERS_MAX, SandboxState, check_room};
use super::things::{
    ChangeContext, Item, Reputation, Seller, check_length, item_id, item_number, touch,
};
use crate::base::secrets::random_hex;
use crate::base::{Cents, DAY_S, Instant};
use crate::marketplace::kinds::RecordKind;

/// Most variations of one listing.
const VARIATIONS_MAX: usize = 100;
/// Most test users that one account may create.
const TEST_USERS_MAX: usize = 10;

/// A seller to be created.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSeller {
    pub nickname: String,
    /// Marketplace id; a free one when absent.
    #[serde(default)]
    pub ml_user_id: Option<i64>,
    #[serde(default)]
    pub reputation: Reputation,
}

impl NewSeller {
    /// A seller with this name and the default reputation.
    pub fn named(nickname: String) -> Self {
        Self { nickname, ml_user_id: None, reputation: Reputation::default() }
    }
}

/// A change of a listing; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ItemChange {
    pub status: Option<String>,
    /// Reasons for the status; derived from the status when absent.
    pub sub_status: Option<Vec<String>>,
    pub price: Option<Cents>,
    pub stock: Option<i64>,
    pub title: Option<String>,
    /// An empty text removes it.
    pub sku: Option<String>,
    pub logistic: Option<String>,
}

/// Opens a shop; returns its marketplace id.
pub fn open(state: &mut SandboxState, new: NewSeller, now: Instant) -> Result<i64, String> {
    check_room(state.sellers.len(), SELLERS_MAX, "sellers")?;
    let nickname = new.nickname.trim().to_owned();
    check_length(&nickname, 60, "nickname")?;
    let id = match new.ml_user_id {
        Some(id) if id <= 0 => return Err("ml_user_id must be positive".to_owned()),
        Some(id) if state.sellers.contains_key(&id) => {
            return Err(format!("seller {id} exists already"));
        }
        Some(id) => id,
        None => free_seller_id(state),
    };
    let seller = Seller {
        id,
        email: format!("{}@loja.invalid", nickname.to_lowercase().replace(' ', ".")),
        nickname,
        reputation: new.reputation,
        created: now.minus(800 * DAY_S),
    };
    state.sellers.insert(id, seller);
    Ok(id)
}

fn free_seller_id(state: &mut SandboxState) -> i64 {
    loop {
        let id = 1_480_000_000 + state.next_number() * 7;
        if !state.sellers.contains_key(&id) {
            return id;
        }
    }
}

/// Publishes a listing; returns its number.
pub fn publish(
    state: &mut SandboxState,
    mut item: Item,
    context: ChangeContext,
) -> Result<i64, String> {
    state.check_seller(item.seller)?;
    check_room(state.items.len(), ITEMS_MAX, "listings")?;
    if item.price.0 <= 0 || item.stock < 0 {
        return Err("price must be positive and stock not negative".to_owned());
    }
    if item.variations.len() > VARIATIONS_MAX {
        return Err(format!("at most {VARIATIONS_MAX} variations fit"));
    }
    item.number = 3_800_000_000 + state.next_number();
    for variation in item.variations.iter_mut().filter(|variation| variation.id == 0) {
        variation.id = 174_000_000_000 + state.next_number();
    }
    (item.created, item.updated) = (context.now, context.now);
    let number = item.number;
    notify(state, context, item.seller, RecordKind::Listing, item.id());
    state.items.insert(number, item);
    Ok(number)
}

/// Changes a listing.
pub fn change_item(
    state: &mut SandboxState,
    id: &str,
    change: ItemChange,
    context: ChangeContext,
) -> Result<(), String> {
    let item = item_number(id).and_then(|number| state.items.get_mut(&number));
    let item = item.ok_or_else(|| format!("there is no listing {id}"))?;
    if item.status == "closed" && change.status.as_deref().is_some_and(|to| to != "closed") {
        return Err(format!("{id} is closed for good"));
    }
    if change.price.is_some_and(|price| price.0 <= 0) {
        return Err("price must be positive".to_owned());
    }
    if let Some(status) = change.status {
        let by_seller = status == "paused";
        item.sub_status = by_seller.then(|| "paused_by_seller".to_owned()).into_iter().collect();
        item.status = status;
    }
    item.price = change.price.unwrap_or(item.price);
    if let Some(title) = change.title {
        item.title = title;
    }
    if let Some(sku) = change.sku {
        item.sku = (!sku.is_empty()).then_some(sku);
    }
    if let Some(logistic) = change.logistic {
        item.logistic = logistic;
    }
    if let Some(stock) = change.stock {
        item.set_stock(stock);
    }
    if let Some(sub_status) = change.sub_status {
        item.sub_status = sub_status;
    }
    touch(&mut item.updated, context.now);
    let (seller, number, is_closed) = (item.seller, item.number, item.status == "closed");
    notify(state, context, seller, RecordKind::Listing, id);
    if is_closed {
        questions::close_for(state, number, context);
    }
    Ok(())
}

/// `POST /users/test_user`: creates a normal seller. The password has no use: the
/// sandbox has no login.
pub fn test_user(call: &mut Call<'_>) -> HandlerResult {
    if call.request.json()["site_id"] != "MLB" {
        return Err(Reply::bad_request("site_id must be MLB"));
    }
    let made = call.state.test_users.get(&call.seller).copied().unwrap_or(0);
    if made >= TEST_USERS_MAX {
        return Err(Reply::bad_request("too many test users"));
    }
    let nickname = format!("TESTUSER{}", random_hex::<4>().to_uppercase());
    let id = open(call.state, NewSeller::named(nickname.clone()), call.now)
        .map_err(|problem| Reply::bad_request(&problem))?;
    call.state.test_users.insert(call.seller, made + 1);
    let body = json!({
        "id": id, "nickname": nickname, "password": random_hex::<5>(), "site_status": "active",
    });
    Ok(Reply::json(201, &body))
}

/// `POST /_sandbox/sellers`.
pub fn control_open(call: &mut Call<'_>) -> ControlResult {
    let id = open(call.state, call.body()?, call.now)?;
    Ok(json!({ "ok": true, "ml_user_id": id }))
}

/// `POST /_sandbox/items`.
pub fn control_publish(call: &mut Call<'_>) -> ControlResult {
    let (item, context): (Item, ChangeContext) = call.body_and_context(false)?;
    if item.title.is_empty() {
        return Err("title is needed".to_owned());
    }
    let number = publish(call.state, item, context)?;
    Ok(json!({ "ok": true, "id": item_id(number) }))
}

/// `POST /_sandbox/items/{id}`.
pub fn control_change_item(call: &mut Call<'_>) -> ControlResult {
    let (change, context) = call.body_and_context(true)?;
    change_item(call.state, call.id(), change, context)?;
    Ok(json!({ "ok": true }))
}

/// The listings of a seller as `GET /_sandbox/state` shows them.
pub fn overview_of(state: &SandboxState, seller: i64) -> Vec<Value> {
    let own = state.items.values().filter(|item| item.seller == seller);
    own.map(|item| {
        json!({ "id": item.id(), "title": item.title, "price": item.price, "stock": item.stock,
            "sold": item.sold, "status": item.status, "sku": item.sku, "ean": item.ean })
    })
    .collect()
}

/// `POST /acoes/anuncio`.
pub fn press_item(call: &mut Call<'_>) -> ButtonResult {
    let id = call.field("item");
    let item = call.state.item(&id).ok_or("O anúncio não existe mais.")?;
    let (raised, restocked) = (Cents(item.price.0 * 11 / 10), item.stock.max(10));
    let (done, change) = match &*call.field("acao") {
        "pausar" => ("pausado", json!({ "status": "paused" })),
        "reativar" => ("reativado", json!({ "status": "active", "stock": restocked })),
        "esgotar" => ("esgotado", json!({ "stock": 0 })),
        "preco" => ("10% mais caro", json!({ "price": raised })),
        "encerrar" => ("encerrado", json!({ "status": "closed" })),
        _ => return Err("Escolha o que mudar no anúncio.".to_owned()),
    };
    let change: ItemChange = serde_json::from_value(change).map_err(|error| error.to_string())?;
    change_item(call.state, &id, change, call.notified())
        .map_err(|_| "Um anúncio encerrado não volta mais.")?;
    Ok(format!("Anúncio {id} {done} e notificação na fila."))
}
