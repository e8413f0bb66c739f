//! Labels: the page of what can be printed, and the file (contract §8).

use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use serde::{Deserialize, Serialize};

use super::views::{AccountTab, LabelsPage, ParcelRow};
use super::{FILE, NOT_FOUND, Parcel, address_for, of_cause, parcels, refusal, unknown};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::{MlUserId, OrderId, UserId, Zone};
use crate::edge::guard::Person;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::marketplace::account::store::{LinkedAccount, linked_accounts};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{Failure, LABELS_AT_ONCE};
use crate::marketplace::tools::{out_of_reach, own_account, told, told_of};
use crate::panel::view::address;
use crate::panel::{ListReply, Paging, When};
use crate::wire;

const PATH: &str = "/painel/ml/etiquetas";
/// Parcels of a page: as many as fit into one file.
const ROWS: u32 = 50;
/// Shipments of one request that the marketplace is asked about, because no
/// order here knows them.
const MOST_ASKED: usize = 5;

const PDF: HeaderValue = HeaderValue::from_static("application/pdf");

#[derive(Deserialize)]
struct PageQuery {
    #[serde(default)]
    conta: Field<i64>,
    #[serde(default)]
    pagina: Field<i64>,
}

wire! {
    /// A parcel as programs read it.
    #[derive(Serialize)]
    struct ParcelJson of(parcel: Parcel, account: MlUserId, zone: Zone, why: Option<&'static str>) {
        shipment_id: String = parcel.shipment.to_string(),
        conta: MlUserId = account,
        pedido_id: OrderId = parcel.order,
        pedidos: i64 = parcel.orders,
        unidades: i64 = parcel.units,
        titulo: String = parcel.title,
        comprador: String = parcel.buyer,
        vendido_em: String = zone.spaced(parcel.sold_at),
        /// Why its label could not be printed of late.
        impedimento: Option<&'static str> = why,
    }
}

/// `GET /painel/ml/etiquetas`: the parcels of one account that can be printed.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query: PageQuery = request.query()?;
    let mut check = Check::text();
    let wanted = check.optional("conta", query.conta);
    let page = check.number("pagina", query.pagina, 1..=10_000);
    check.finish()?;
    let page = page.and_then(|page| u32::try_from(page).ok()).unwrap_or(1);
    let owner = person.account.user_id;
    let (accounts, shown, (rows, total)) = app.db.read(request.lane, |tx| {
        let accounts = linked_accounts(tx, owner)?;
        let shown = match wanted {
            Some(id) => {
                let own = accounts.iter().find(|one| one.ml_user_id.0 == id);
                Some(own.ok_or_else(Problem::not_found)?)
            }
            None => accounts.first(),
        };
        let shown = shown.map(|one| (one.ml_user_id, one.token_ok));
        let found = match shown {
            Some((account, _)) => parcels(tx, owner, account, (ROWS, (page - 1) * ROWS))?,
            None => (Vec::new(), 0),
        };
        Ok::<_, Problem>((accounts, shown, found))
    })?;
    let (zone, now) = (app.zone(), request.now);
    // Without an account there is no row either.
    let (shown, is_living) = shown.unwrap_or((MlUserId(0), true));
    let refused = &app.marketplace.refused_labels;
    let why = |row: &Parcel| refused.why(shown, row.shipment, now);
    if request.wants_json() {
        let rows = rows.into_iter().map(|row| {
            let why = why(&row);
            ParcelJson::of(row, shown, zone, why)
        });
        return ListReply::reply(total, rows.collect());
    }
    let account = shown.to_string();
    let printable = rows.iter().filter(|row| why(row).is_none());
    let printable: Vec<String> = printable.map(|row| row.shipment.to_string()).collect();
    let parcel = |parcel: Parcel| ParcelRow {
        href: address_for(shown, parcel.shipment),
        shipment: parcel.shipment.to_string(),
        title: title_of(&parcel),
        refused: why(&parcel),
        buyer: parcel.buyer,
        sold: When::new(zone, parcel.sold_at, now),
    };
    Reply::page(&LabelsPage {
        layout: layout(app, person, request),
        is_linked: !accounts.is_empty(),
        is_living,
        tabs: tabs(&accounts, shown),
        printable: printable.len(),
        all: address(FILE, &[("conta", &account), ("shipment_id", &printable.join(","))]),
        paging: Paging::new(PATH, &[("conta", &account)], page.into(), ROWS.into(), total),
        parcels: rows.into_iter().map(parcel).collect(),
        account,
    })
}

/// `2× Garrafa e mais 1 pedido`.
fn title_of(parcel: &Parcel) -> String {
    let title = if parcel.title.is_empty() { "Venda" } else { &parcel.title };
    let more = match parcel.orders {
        ..2 => String::new(),
        2 => " e mais 1 pedido".to_owned(),
        count => format!(" e mais {} pedidos", count - 1),
    };
    format!("{}× {title}{more}", parcel.units)
}

/// The accounts to choose among; none when there is one only.
fn tabs(accounts: &[LinkedAccount], shown: MlUserId) -> Vec<AccountTab> {
    if accounts.len() < 2 {
        return Vec::new();
    }
    let tab = |account: &LinkedAccount| AccountTab {
        label: account.nickname.clone(),
        href: address(PATH, &[("conta", &account.ml_user_id.to_string())]),
        on: shown == account.ml_user_id,
    };
    accounts.iter().map(tab).collect()
}

/// What the address of a file asks for: shipments, in one parameter or in
/// several, and their account. A form without a mark has no shipment.
fn asked(request: &Request) -> Option<(MlUserId, Vec<i64>)> {
    let (mut account, mut shipments) = (None, Vec::new());
    for (name, value) in form_urlencoded::parse(request.query_text().as_bytes()) {
        match &*name {
            "conta" if account.is_none() => account = Some(positive(&value)?),
            "conta" => return None,
            "shipment_id" => {
                for part in value.split(',') {
                    let id = positive(part.trim())?;
                    if !shipments.contains(&id) {
                        shipments.push(id);
                    }
                    if shipments.len() > LABELS_AT_ONCE {
                        return Some((MlUserId(account.unwrap_or(0)), shipments));
                    }
                }
            }
            _ => {}
        }
    }
    Some((MlUserId(account?), shipments))
}

fn positive(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| *number > 0)
}

/// `GET /painel/ml/etiqueta`: the labels of shipments as one PDF. Errors are
/// plain text.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let Some((account, shipments)) = asked(request) else {
        let said = "O endereço da etiqueta precisa de shipment_id e conta, que são números.";
        return Ok(told((StatusCode::BAD_REQUEST, said)));
    };
    if shipments.is_empty() {
        let said = "Nenhum pacote foi marcado. Volte à página Etiquetas, marque os pacotes e imprima de novo.";
        return Ok(told((StatusCode::BAD_REQUEST, said)));
    }
    if shipments.len() > LABELS_AT_ONCE {
        return Ok(told(of_cause("shipment_ids")));
    }
    let owner = person.account.user_id;
    let unknown = app.db.read(request.lane, |tx| {
        if own_account(tx, person, account)?.is_none() {
            return Ok(None);
        }
        Ok::<_, Problem>(Some(unknown(tx, owner, account, &shipments)?))
    })?;
    let Some(unknown) = unknown.filter(|unknown| unknown.len() <= MOST_ASKED) else {
        return Ok(told(NOT_FOUND));
    };
    for shipment in unknown {
        if let Err(reply) = is_sent_by(app, owner, account, shipment) {
            return Ok(reply);
        }
    }
    let labels = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.labels(caller, &shipments)
    });
    let refused = &app.marketplace.refused_labels;
    match labels {
        Ok(bytes) => {
            refused.forget(account, &shipments);
            let place = HeaderValue::from_static("inline; filename=\"etiquetas.pdf\"");
            Ok(Reply::of(PDF, bytes).with(CONTENT_DISPOSITION, place))
        }
        Err(error) => {
            tracing::info!(%error, account = account.0, "no label");
            if let CallError::Failed(Failure::Unprintable(failed)) = &error {
                for one in failed {
                    if shipments.contains(&one.shipment) {
                        let why = of_cause(&one.cause).1;
                        refused.note(account, one.shipment, why, request.now);
                    }
                }
            }
            let (status, said) = refusal(&error, &shipments);
            Ok(told_of(&error, (status, said.into_owned())))
        }
    }
}

/// Whether the marketplace says that an account sends a shipment.
fn is_sent_by(app: &App, owner: UserId, account: MlUserId, shipment: i64) -> Result<(), Reply> {
    let sender = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.sender_of(caller, shipment)
    });
    match sender {
        Ok(Some(sender)) if sender == account.0 => Ok(()),
        Ok(_) => Err(told(NOT_FOUND)),
        Err(error) => {
            tracing::info!(%error, account = account.0, "a shipment was not found");
            let refusal = match &error {
                // Whatever it is, it is not this account's.
                CallError::NotLinked
                | CallError::Failed(Failure::Refused { status: 400 | 403 | 404, .. }) => NOT_FOUND,
                error => out_of_reach(error),
            };
            Err(told_of(&error, refusal))
        }
    }
}
