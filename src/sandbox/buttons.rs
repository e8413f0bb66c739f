//! What the overview's buttons do. Answers and errors are sentences in
//! Brazilian Portuguese for the page.

use super::config::Config;
use super::control;
use super::faults::{FAULTS_MAX, Fault, Kind};
use super::history::{self, Plan};
use super::http::first;
use super::sales::{self, NewSale, OrderChange, Shipping};
use super::shops::{self, NewSeller};
use super::state::World;
use super::things::{Invoice, Reputation};
use crate::clock::Instant;

/// A switch of the overview.
pub struct Switch {
    /// Field of the form.
    pub name: &'static str,
    /// What people read.
    pub label: &'static str,
    /// Whether it is on.
    pub read: fn(&Config) -> bool,
    write: fn(&mut Config, bool),
}

/// The switches that the overview shows, in its order.
pub const SWITCHES: [Switch; 9] = [
    Switch {
        name: "signed",
        label: "Assinar as notificações",
        read: |config| config.signed,
        write: |config, on| config.signed = on,
    },
    Switch {
        name: "comma",
        label: "Separar a assinatura com vírgula",
        read: |config| config.separator == ',',
        write: |config, on| config.separator = if on { ',' } else { ';' },
    },
    Switch {
        name: "hold",
        label: "Segurar as notificações",
        read: |config| config.hold,
        write: |config, on| config.hold = on,
    },
    Switch {
        name: "reorder",
        label: "Entregar as mais novas primeiro",
        read: |config| config.reorder,
        write: |config, on| config.reorder = on,
    },
    Switch {
        name: "duplicates",
        label: "Enviar cada notificação três vezes",
        read: |config| config.duplicates > 0,
        write: |config, on| config.duplicates = if on { 2 } else { 0 },
    },
    Switch {
        name: "string_ids",
        label: "Números como texto nas notificações",
        read: |config| config.string_ids,
        write: |config, on| config.string_ids = on,
    },
    Switch {
        name: "missing_slash",
        label: "Recurso sem a barra inicial",
        read: |config| config.missing_slash,
        write: |config, on| config.missing_slash = on,
    },
    Switch {
        name: "partial_orders",
        label: "Pedidos incompletos (206)",
        read: |config| config.partial_orders,
        write: |config, on| config.partial_orders = on,
    },
    Switch {
        name: "mixed_dates",
        label: "Datas em formatos variados",
        read: |config| config.mixed_dates,
        write: |config, on| config.mixed_dates = on,
    },
];

/// Does what a button asks for; the answer is a sentence for the page.
pub fn press(
    world: &mut World,
    action: &str,
    form: &[(String, String)],
    now: Instant,
) -> Result<String, String> {
    let number = |name: &str| {
        first(form, name)
            .and_then(|text| text.trim().parse::<i64>().ok())
            .ok_or_else(|| format!("O campo {name} deve ser um número."))
    };
    match action {
        "/acoes/venda" => {
            let sale = NewSale {
                ml_user_id: number("ml_user_id")?,
                item: first(form, "item").map(str::to_owned),
                quantity: number("quantidade")?,
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
            };
            let id = sales::sell(world, sale, now)
                .map_err(|_| "Confira o anúncio e a quantidade (1 a 10.000).".to_owned())?;
            Ok(format!("Venda {id} feita e notificação na fila."))
        }
        "/acoes/pedido" => {
            let id = number("pedido")?;
            let change = match first(form, "acao") {
                Some("cancelar") => status_change("cancelled"),
                Some("enviar") => shipping_change("shipped"),
                Some("entregar") => shipping_change("delivered"),
                _ => return Err("Escolha cancelar, enviar ou entregar.".to_owned()),
            };
            sales::change(world, id, change, now)
                .map_err(|_| format!("O pedido {id} não existe mais."))?;
            Ok(format!("Pedido {id} mudou e a notificação está na fila."))
        }
        "/acoes/loja" => open_shop(world, first(form, "apelido").unwrap_or_default(), now),
        "/acoes/revogar" => {
            world.grants.revoke(number("ml_user_id")?);
            Ok("A autorização foi revogada.".to_owned())
        }
        "/acoes/falha" => script_fault(world, form),
        "/acoes/falhas/limpar" => {
            world.faults.clear();
            Ok("Nenhuma falha espera mais.".to_owned())
        }
        "/acoes/ajustes" => {
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
        _ => Err("Esse botão não existe.".to_owned()),
    }
}

fn status_change(status: &str) -> OrderChange {
    OrderChange {
        status: Some(status.to_owned()),
        ..OrderChange::default()
    }
}

fn shipping_change(status: &str) -> OrderChange {
    OrderChange {
        shipping_status: Some(status.to_owned()),
        ..OrderChange::default()
    }
}

fn open_shop(world: &mut World, nickname: &str, now: Instant) -> Result<String, String> {
    let new = NewSeller {
        nickname: nickname.to_owned(),
        ml_user_id: None,
        reputation: Reputation::default(),
    };
    let id = shops::open(world, new, now)
        .map_err(|_| "O nome deve ter de 1 a 60 letras, e cabem 100 lojas.".to_owned())?;
    let plan = Plan {
        ml_user_id: id,
        days: 30,
        seed: id.unsigned_abs(),
        daily: None,
    };
    let orders = history::write(world, plan, now)
        .map_err(|_| "O mercado está cheio: não cabem mais vendas.".to_owned())?;
    Ok(format!(
        "Loja {id} aberta, com {orders} vendas nos últimos 30 dias."
    ))
}

fn script_fault(world: &mut World, form: &[(String, String)]) -> Result<String, String> {
    if world.faults.len() >= FAULTS_MAX {
        return Err("Já há falhas demais: retire-as primeiro.".to_owned());
    }
    let kind = match first(form, "tipo") {
        Some("500") => Kind::Status {
            code: 500,
            body: None,
        },
        Some("403") => Kind::Status {
            code: 403,
            body: None,
        },
        Some("429") => Kind::RateLimited {
            retry_after: Some(5),
        },
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
    world.faults.push(fault);
    Ok(text)
}

/// A fault in words.
pub fn described(fault: &Fault) -> String {
    let times = match fault.times {
        0 => "até ser retirada".to_owned(),
        1 => "1 vez".to_owned(),
        times => format!("{times} vezes"),
    };
    format!("{} em {} · {times}", fault.kind.name(), fault.path_prefix)
}
