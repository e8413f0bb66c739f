//! What the overview's buttons do. Answers and errors are sentences in
//! Brazilian Portuguese for the page.

use serde_json::json;

use super::claims::{self, ClaimChange, NewClaim};
use super::faults::{FAULTS_MAX, Fault, Kind};
use super::history::{self, Plan};
use super::http::first;
use super::questions::{self, NewQuestion, QuestionChange};
use super::sales::{self, NewSale, OrderChange, Shipping};
use super::shops::{self, ItemChange, NewSeller};
use super::state::World;
use super::switches::SWITCHES;
use super::things::{Invoice, Reputation};
use super::{control, demo};
use crate::base::clock::Instant;
use crate::base::money::Cents;

type Form = [(String, String)];

/// Does what a button asks for; the answer is a sentence for the page.
pub fn press(world: &mut World, action: &str, form: &Form, now: Instant) -> Result<String, String> {
    match action {
        "/acoes/venda" => sell(world, form, now),
        "/acoes/carrinho" => sell_cart(world, form, now),
        "/acoes/venda/sem-envio" => sell_unshipped(world, form, now),
        "/acoes/pedido" => change_order(world, form, now),
        "/acoes/anuncio" => change_item(world, form, now),
        "/acoes/perguntar" => ask(world, form, now),
        "/acoes/pergunta" => change_question(world, form, now),
        "/acoes/reclamar" => complain(world, form, now),
        "/acoes/reclamacao" => change_claim(world, form, now),
        "/acoes/loja" => open_shop(world, first(form, "apelido").unwrap_or_default(), now),
        "/acoes/revogar" => {
            world.grants.revoke(number(form, "ml_user_id")?);
            Ok("A autorização foi revogada.".to_owned())
        }
        "/acoes/vencer" => {
            world.grants.expire_access(number(form, "ml_user_id")?);
            Ok("O token de acesso venceu; o de renovação continua valendo.".to_owned())
        }
        "/acoes/perder" => lose_refresh(world, number(form, "ml_user_id")?),
        "/acoes/mercado" => switch_market(world, form),
        "/acoes/topico" => {
            let topic = first(form, "topico").unwrap_or_default();
            world.silenced.remove(topic);
            world.misses.remove(topic);
            Ok(format!("O tópico {topic} voltou a ser enviado."))
        }
        "/acoes/falha" => script_fault(world, form),
        "/acoes/falhas/limpar" => {
            world.faults.clear();
            Ok("Nenhuma falha espera mais.".to_owned())
        }
        "/acoes/ajustes" => settle(world, form),
        _ => Err("Esse botão não existe.".to_owned()),
    }
}

fn number(form: &Form, name: &str) -> Result<i64, String> {
    first(form, name)
        .and_then(|text| text.trim().parse::<i64>().ok())
        .ok_or_else(|| format!("O campo {name} deve ser um número."))
}

/// What a shop's form asks to sell.
fn sale(form: &Form) -> Result<NewSale, String> {
    Ok(NewSale {
        ml_user_id: number(form, "ml_user_id")?,
        item: first(form, "item").map(str::to_owned),
        quantity: number(form, "quantidade")?,
        unit_price: None,
        status: "paid".to_owned(),
        date_created: None,
        shipping: Shipping::Now,
        buyer_nickname: None,
        pack_id: None,
        variation_id: None,
        tags: Vec::new(),
        invoice: Invoice::None,
        notify: true,
    })
}

fn sold(world: &mut World, sale: NewSale, now: Instant) -> Result<i64, String> {
    sales::sell(world, sale, now)
        .map_err(|_| "Confira o anúncio e a quantidade (1 a 10.000).".to_owned())
}

fn sell(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = sold(world, sale(form)?, now)?;
    Ok(format!("Venda {id} feita e notificação na fila."))
}

fn sell_unshipped(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let sale = NewSale { shipping: Shipping::Later, ..sale(form)? };
    let id = sold(world, sale, now)?;
    Ok(format!("Venda {id} feita, ainda sem envio; a notificação está na fila."))
}

/// Two orders, one parcel.
fn sell_cart(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let one = sold(world, sale(form)?, now)?;
    // A cart takes its number from its first order.
    let order = world.orders.get_mut(&one).ok_or("A venda não existe mais.")?;
    order.pack = Some(one);
    let sale = NewSale { pack_id: Some(one), ..sale(form)? };
    let other = sold(world, sale, now)?;
    Ok(format!(
        "Carrinho com as vendas {one} e {other}, em um só envio; as notificações estão na fila."
    ))
}

/// The next refresh works and its answer is lost: the marketplace has a new
/// pair of tokens that nobody knows.
fn lose_refresh(world: &mut World, seller: i64) -> Result<String, String> {
    let fault = Fault {
        path_prefix: "/oauth/token".to_owned(),
        method: None,
        skip: 0,
        times: 1,
        kind: Kind::LostResponse,
    };
    prepare(world, fault)?;
    world.grants.expire_access(seller);
    Ok("O token de acesso venceu, e a resposta da próxima renovação vai se perder no caminho."
        .to_owned())
}

fn change_order(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = number(form, "pedido")?;
    let change = match first(form, "acao") {
        Some("cancelar") => status_change("cancelled"),
        Some("reembolsar") => status_change("partially_refunded"),
        Some("enviar") => shipping_change("shipped"),
        Some("entregar") => shipping_change("delivered"),
        Some("liberar") => parcel_change("ready_to_ship", "ready_to_print"),
        Some("nota") => parcel_change("ready_to_ship", "invoice_pending"),
        Some("reter") => parcel_change("pending", "buffered"),
        _ => return Err("Escolha o que muda na venda.".to_owned()),
    };
    sales::change(world, id, change, now).map_err(|_| format!("O pedido {id} não existe mais."))?;
    Ok(format!("Pedido {id} mudou e a notificação está na fila."))
}

fn change_item(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = first(form, "item").unwrap_or_default();
    let item = world.item(id).ok_or("O anúncio não existe mais.")?;
    let raised = Cents(item.price.0 * 11 / 10);
    let mut change = ItemChange::default();
    let done = match first(form, "acao") {
        Some("pausar") => {
            change.status = Some("paused".to_owned());
            "pausado"
        }
        Some("reativar") => {
            change.status = Some("active".to_owned());
            change.stock = Some(item.stock.max(10));
            "reativado"
        }
        Some("esgotar") => {
            change.stock = Some(0);
            "esgotado"
        }
        Some("preco") => {
            change.price = Some(raised);
            "10% mais caro"
        }
        Some("encerrar") => {
            change.status = Some("closed".to_owned());
            "encerrado"
        }
        _ => return Err("Escolha o que mudar no anúncio.".to_owned()),
    };
    shops::change_item(world, id, change, now)
        .map_err(|_| "Um anúncio encerrado não volta mais.".to_owned())?;
    Ok(format!("Anúncio {id} {done} e notificação na fila."))
}

fn ask(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let text = first(form, "texto").filter(|text| !text.trim().is_empty());
    let new = NewQuestion {
        ml_user_id: number(form, "ml_user_id")?,
        item: first(form, "item").map(str::to_owned),
        text: text.map(str::to_owned),
        date_created: None,
        notify: true,
    };
    let id = questions::ask(world, new, now)
        .map_err(|_| "Confira o anúncio e o texto (até 2.000 letras).".to_owned())?;
    Ok(format!("Pergunta {id} feita e notificação na fila."))
}

fn change_question(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = number(form, "pergunta")?;
    let change = match first(form, "acao") {
        Some("responder") => {
            let text = first(form, "texto").filter(|text| !text.trim().is_empty());
            QuestionChange {
                answer: Some(text.unwrap_or("Olá! Sim, pode comprar tranquilo.").to_owned()),
                ..QuestionChange::default()
            }
        }
        Some("encerrar") => question_state("CLOSED_UNANSWERED"),
        Some("vetar") => question_state("BANNED"),
        _ => return Err("Escolha responder, encerrar ou vetar.".to_owned()),
    };
    questions::change(world, id, change, now)
        .map_err(|_| format!("A pergunta {id} já foi respondida ou encerrada."))?;
    Ok(format!("Pergunta {id} mudou e a notificação está na fila."))
}

fn question_state(status: &str) -> QuestionChange {
    QuestionChange { status: Some(status.to_owned()), ..QuestionChange::default() }
}

fn complain(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = number(form, "pedido")?;
    let order = world.orders.get(&id).ok_or("O pedido não existe mais.")?;
    let seller = order.seller;
    let new: NewClaim = serde_json::from_value(json!({ "ml_user_id": seller, "order": id }))
        .map_err(|error| error.to_string())?;
    let claim = claims::open(world, new, now)
        .map_err(|_| "A reclamação não pôde ser aberta.".to_owned())?;
    Ok(format!("Reclamação {claim} aberta e notificação na fila."))
}

fn change_claim(world: &mut World, form: &Form, now: Instant) -> Result<String, String> {
    let id = number(form, "reclamacao")?;
    let mut change = ClaimChange::default();
    match first(form, "acao") {
        Some("mediar") => change.stage = Some("dispute".to_owned()),
        Some("encerrar") => change.status = Some("closed".to_owned()),
        Some("reabrir") => change.status = Some("opened".to_owned()),
        _ => return Err("Escolha levar à mediação, encerrar ou reabrir.".to_owned()),
    }
    claims::change(world, id, change, now)
        .map_err(|_| format!("A reclamação {id} não existe mais."))?;
    Ok(format!("Reclamação {id} mudou e a notificação está na fila."))
}

/// How slow a slow marketplace is.
const SLOW_MS: u64 = 3_000;

fn switch_market(world: &mut World, form: &Form) -> Result<String, String> {
    let text = match first(form, "acao") {
        Some("derrubar") => {
            world.config.down = true;
            "O mercado está fora do ar: toda chamada recebe 503."
        }
        Some("levantar") => {
            world.config.down = false;
            "O mercado voltou ao ar."
        }
        Some("frear") => {
            world.config.delay_ms = SLOW_MS;
            "O mercado está lento: cada resposta leva 3 segundos."
        }
        Some("acelerar") => {
            world.config.delay_ms = 0;
            "O mercado responde na hora."
        }
        _ => return Err("Escolha derrubar, levantar, frear ou acelerar.".to_owned()),
    };
    Ok(text.to_owned())
}

fn settle(world: &mut World, form: &Form) -> Result<String, String> {
    let mut config = world.config.clone();
    let url = first(form, "notify_url").unwrap_or_default().trim();
    config.notify_url = (!url.is_empty()).then(|| url.to_owned());
    for switch in &SWITCHES {
        (switch.write)(&mut config, first(form, switch.name).is_some());
    }
    control::set_config(world, config)
        .map_err(|_| "O endereço deve começar com http:// ou https://.".to_owned())?;
    Ok("Ajustes guardados.".to_owned())
}

fn status_change(status: &str) -> OrderChange {
    OrderChange { status: Some(status.to_owned()), ..OrderChange::default() }
}

fn shipping_change(status: &str) -> OrderChange {
    OrderChange { shipping_status: Some(status.to_owned()), ..OrderChange::default() }
}

fn parcel_change(status: &str, substatus: &str) -> OrderChange {
    OrderChange { shipping_substatus: Some(substatus.to_owned()), ..shipping_change(status) }
}

fn open_shop(world: &mut World, nickname: &str, now: Instant) -> Result<String, String> {
    let new = NewSeller {
        nickname: nickname.to_owned(),
        ml_user_id: None,
        reputation: Reputation::default(),
    };
    let id = shops::open(world, new, now)
        .map_err(|_| "O nome deve ter de 1 a 60 letras, e cabem 100 lojas.".to_owned())?;
    let plan = Plan { ml_user_id: id, days: 30, seed: id.unsigned_abs(), daily: None };
    let orders = history::write(world, plan, now)
        .map_err(|_| "O mercado está cheio: não cabem mais vendas.".to_owned())?;
    demo::furnish(world, id, now)
        .map_err(|_| "O mercado está cheio: não cabem mais perguntas.".to_owned())?;
    Ok(format!("Loja {id} aberta, com {orders} vendas nos últimos 30 dias."))
}

fn script_fault(world: &mut World, form: &[(String, String)]) -> Result<String, String> {
    let kind = match first(form, "tipo") {
        Some("500") => Kind::Status { code: 500, body: None },
        Some("403") => Kind::Status { code: 403, body: None },
        Some("429") => Kind::RateLimited { retry_after: Some(5) },
        Some("silencio") => Kind::Hang { ms: 20_000 },
        Some("lenta") => Kind::Slow { ms: 3_000 },
        Some("cortada") => Kind::Truncated,
        Some("lixo") => Kind::Garbage,
        Some("perdida") => Kind::LostResponse,
        _ => return Err("Escolha o tipo de falha.".to_owned()),
    };
    let path_prefix = first(form, "caminho").unwrap_or("/").to_owned();
    if !path_prefix.starts_with('/') {
        return Err("O caminho deve começar com “/”.".to_owned());
    }
    let times = first(form, "vezes").and_then(|text| text.parse().ok());
    let fault = Fault {
        path_prefix,
        method: None,
        skip: 0,
        times: times.ok_or("Diga quantas vezes, de 0 a 1000.")?,
        kind,
    };
    let text = format!("Falha preparada: {}.", described(&fault));
    prepare(world, fault)?;
    Ok(text)
}

fn prepare(world: &mut World, fault: Fault) -> Result<(), String> {
    if world.faults.len() >= FAULTS_MAX {
        return Err("Já há falhas demais: retire-as primeiro.".to_owned());
    }
    world.faults.push(fault);
    Ok(())
}

/// A fault in words.
pub fn described(fault: &Fault) -> String {
    let times = match fault.times {
        0 => "até ser retirada".to_owned(),
        1 => "1 vez".to_owned(),
        times => format!("{times} vezes"),
    };
    format!("{} em {} · {times}", words(&fault.kind), fault.path_prefix)
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::Status { code, .. } => format!("resposta {code}"),
        Kind::Hang { ms } => format!("silêncio por {} s", ms / 1_000),
        Kind::Truncated => "resposta cortada".to_owned(),
        Kind::Garbage => "resposta que não é JSON".to_owned(),
        Kind::Slow { ms } => format!("resposta lenta, {} s", ms / 1_000),
        Kind::RateLimited { retry_after: Some(seconds) } => {
            format!("resposta 429, voltar em {seconds} s")
        }
        Kind::RateLimited { retry_after: None } => "resposta 429".to_owned(),
        Kind::LostResponse => "resposta perdida".to_owned(),
        Kind::Redirect { .. } => "desvio para outro endereço".to_owned(),
        Kind::Huge { bytes } => format!("resposta de {} MB", bytes >> 20),
    }
}
