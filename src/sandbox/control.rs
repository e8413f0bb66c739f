//! Controls and buttons that cause failures on purpose, change the switches and
//! show what was received and sent. Tokens are never shown.

use serde::Deserialize;
use serde_json::json;

use super::call::{ButtonResult, Call, ControlResult, number};
use super::config::Config;
use super::faults::{FAULTS_MAX, Fault, FaultKind};
use super::logs::Log;
use super::records;
use super::shops;
use super::state::SandboxState;
use super::things::Seller;
use super::truth;

/// Delay of the answers while the marketplace is slow.
const SLOW_MS: u64 = 3_000;

fn done() -> ControlResult {
    Ok(json!({ "ok": true }))
}

/// `GET /_sandbox/state`.
pub fn state(call: &mut Call<'_>) -> ControlResult {
    let state = &*call.state;
    let shown = |seller: &Seller| {
        let orders = state.orders.values().filter(|order| order.seller == seller.id);
        json!({
            "ml_user_id": seller.id, "nickname": seller.nickname,
            "reputation": seller.reputation, "orders": orders.count(),
            "items": shops::overview_of(state, seller.id),
            "connected": state.grants.connected(seller.id, call.now),
        })
    };
    Ok(json!({
        "now": call.now.rfc3339(), "sellers": state.sellers.values().map(shown).collect::<Vec<_>>(),
        "orders": state.orders.len(), "waiting": state.waiting(), "config": state.config,
        "questions": state.questions.len(), "claims": state.claims.len(),
        "silenced": state.silenced,
        "most_calls": state.load.most, "most_calls_of_seller": state.load.most_of_seller,
    }))
}

/// `GET /_sandbox/truth?ml_user_id=`.
pub fn truth(call: &mut Call<'_>) -> ControlResult {
    let id = number(call.query("ml_user_id").unwrap_or_default())?;
    Ok(truth::of(call.state, call.state.check_seller(id)?))
}

/// `GET /_sandbox/config`.
pub fn config(call: &mut Call<'_>) -> ControlResult {
    Ok(json!(call.state.config))
}

/// `POST /_sandbox/config`: changes the switches that the body names.
pub fn change_config(call: &mut Call<'_>) -> ControlResult {
    call.state.config = call.state.config.changed(call.body()?)?;
    config(call)
}

/// `POST /acoes/ajustes`.
pub fn press_config(call: &mut Call<'_>) -> ButtonResult {
    let form = call.request.form();
    let is_checked = |name: &str| form.iter().any(|(field, _)| field == name);
    let mut changes = Config::boxes_changed(is_checked);
    let url = call.filled("notify_url").map(|url| url.trim().to_owned());
    changes.insert("notify_url".to_owned(), json!(url));
    call.state.config = call
        .state
        .config
        .changed(changes)
        .map_err(|_| "O endereço deve começar com http:// ou https://.")?;
    Ok("Ajustes guardados.".to_owned())
}

/// `POST /acoes/mercado`.
pub fn press_market(call: &mut Call<'_>) -> ButtonResult {
    let config = &call.state.config;
    let (down, delay_ms, text) = match &*call.field("acao") {
        "derrubar" => {
            (true, config.delay_ms, "O mercado está fora do ar: toda chamada recebe 503.")
        }
        "levantar" => (false, config.delay_ms, "O mercado voltou ao ar."),
        "frear" => (config.down, SLOW_MS, "O mercado está lento: cada resposta leva 3 segundos."),
        "acelerar" => (config.down, 0, "O mercado responde na hora."),
        _ => return Err("Escolha derrubar, levantar, frear ou acelerar.".to_owned()),
    };
    (call.state.config.down, call.state.config.delay_ms) = (down, delay_ms);
    Ok(text.to_owned())
}

/// `DELETE` of a log.
pub fn clear<T>(log: &mut Log<T>) -> ControlResult {
    log.clear();
    done()
}

/// `GET /_sandbox/deliveries`.
pub fn deliveries(call: &mut Call<'_>) -> ControlResult {
    let mut shown = call.state.deliveries.shown("deliveries");
    shown["waiting"] = json!(call.state.waiting());
    Ok(shown)
}

/// A record to be served with invalid values, such as `orders/2000001`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spoil {
    record: String,
    #[serde(default = "yes")]
    spoiled: bool,
}

fn yes() -> bool {
    true
}

/// `POST /_sandbox/spoil`.
pub fn spoil(call: &mut Call<'_>) -> ControlResult {
    let what: Spoil = call.body()?;
    records::spoil(call.state, &what.record, what.spoiled)?;
    done()
}

/// `POST /_sandbox/faults`.
pub fn add_fault(call: &mut Call<'_>) -> ControlResult {
    let fault: Fault = call.body()?;
    if call.state.faults.len() >= FAULTS_MAX {
        return Err(format!("at most {FAULTS_MAX} faults wait; clear them first"));
    }
    if !fault.path_prefix.starts_with('/') {
        return Err("path_prefix must begin with /".to_owned());
    }
    if let Some(problem) = fault.kind.problem() {
        return Err(problem.to_owned());
    }
    call.state.faults.push(fault);
    Ok(json!({ "ok": true, "faults": call.state.faults }))
}

/// `DELETE /_sandbox/faults`.
pub fn clear_faults(call: &mut Call<'_>) -> ControlResult {
    call.state.faults.clear();
    done()
}

/// `POST /acoes/falhas/limpar`.
pub fn press_clear_faults(call: &mut Call<'_>) -> ButtonResult {
    call.state.faults.clear();
    Ok("Nenhuma falha espera mais.".to_owned())
}

/// `POST /acoes/falha`.
pub fn press_fault(call: &mut Call<'_>) -> ButtonResult {
    let kind = match &*call.field("tipo") {
        "500" => FaultKind::Status { code: 500, body: None },
        "403" => FaultKind::Status { code: 403, body: None },
        "429" => FaultKind::RateLimited { retry_after: Some(5) },
        "silencio" => FaultKind::Hang { ms: 20_000 },
        "lenta" => FaultKind::Slow { ms: 3_000 },
        "cortada" => FaultKind::Truncated,
        "lixo" => FaultKind::Garbage,
        "perdida" => FaultKind::LostResponse,
        _ => return Err("Escolha o tipo de falha.".to_owned()),
    };
    let path_prefix = call.filled("caminho").unwrap_or_else(|| "/".to_owned());
    if !path_prefix.starts_with('/') {
        return Err("O caminho deve começar com “/”.".to_owned());
    }
    let times = call.field("vezes").parse().map_err(|_| "Diga quantas vezes, de 0 a 1000.")?;
    let fault = Fault { times, ..Fault::once(&path_prefix, kind) };
    let text = format!("Falha preparada: {}.", fault.words());
    prepare(call.state, fault)?;
    Ok(text)
}

/// `POST /acoes/perder`: the next refresh works and its answer is lost, so the
/// marketplace has a new pair of tokens that the platform never received.
pub fn press_lose_refresh(call: &mut Call<'_>) -> ButtonResult {
    let seller = call.number_field("ml_user_id")?;
    prepare(call.state, Fault::once("/oauth/token", FaultKind::LostResponse))?;
    call.state.grants.expire_access(seller);
    Ok("O token de acesso venceu, e a resposta da próxima renovação vai se perder no caminho."
        .to_owned())
}

fn prepare(state: &mut SandboxState, fault: Fault) -> Result<(), String> {
    if state.faults.len() >= FAULTS_MAX {
        return Err("Já há falhas demais: retire-as primeiro.".to_owned());
    }
    state.faults.push(fault);
    Ok(())
}
