//! The pages of one seller with a million orders, five thousand listings and
//! years of questions and claims: every list and chart within its limit,
//! measured as the time of one request after the other.

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use rusqlite::{Connection, params};

use crate::answer;
use crate::lab::{Lab, say};
use crate::people::Seller;
use crate::random::Random;
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, unix_now};
use crate::rounds::median;
use crate::seed::{self, Recipe};
use crate::server::Server;

const SELLER: Seller = Seller(0);
const ORDERS: i64 = 1_000_000;
const QUESTIONS: i64 = 100_000;
const CLAIMS: i64 = 20_000;
/// Milliseconds that any page may take.
const LIMIT_MS: f64 = 30.0;

/// Pages of one kind. `{last}` is the last page of the list without it,
/// `{middle}` the one in its middle, `{order}` an order, `{account}` the
/// account with the most orders and `{other}` another.
const PAGES: [(&str, &[&str]); 10] = [
    ("home and accounts", &["/painel", "/painel/ml"]),
    (
        "search over everything, notifications, debts, classes, calculator",
        &[
            "/painel/buscar?q=organizador",
            "/painel/buscar?q={order}",
            "/painel/avisos",
            "/painel/fornecedores",
            "/painel/aulas",
            "/painel/meets",
            "/painel/competicao",
            "/painel/ml/calculadora",
        ],
    ),
    ("sales, with the chart", &["/painel/vendas", "/painel/vendas?conta={account}"]),
    (
        "sales, filters",
        &[
            "/painel/vendas?estado=paid",
            "/painel/vendas?estado=cancelled&conta={other}",
            "/painel/vendas?estado=partially_refunded",
            "/painel/vendas?conta={other}&periodo=30",
            "/painel/vendas?periodo=7&estado=paid",
            "/painel/vendas?ordem=criada_em",
            "/painel/vendas?ordem=criada_em&estado=paid",
        ],
    ),
    (
        "sales, far pages",
        &[
            "/painel/vendas?pagina=400",
            "/painel/vendas?pagina={middle}",
            "/painel/vendas?pagina={last}",
            "/painel/vendas?ordem=criada_em&pagina={middle}",
            "/painel/vendas?estado=paid&pagina={middle}",
            "/painel/vendas?estado=paid&pagina={last}",
            "/painel/vendas?estado=cancelled&conta={account}&pagina={last}",
            "/painel/vendas?conta={account}&por_pagina=100&pagina={middle}",
        ],
    ),
    (
        "sales, searches",
        &[
            "/painel/vendas?q={order}",
            "/painel/vendas?q=MLB3000002500",
            "/painel/vendas?q=MLB3000002500&estado=cancelled",
            "/painel/vendas?q=MLB3000000000",
            "/painel/vendas?q=MLB3000000000&estado=paid&conta={account}",
            "/painel/vendas?q=MLB3000000000&pagina={last}",
            "/painel/vendas?q=MLB1",
            "/painel/vendas?q=organizador",
            "/painel/vendas?q=organizador&estado=paid&pagina={last}",
            "/painel/vendas?q=ORG-0-49&ordem=criada_em",
        ],
    ),
    ("one sale", &["/painel/vendas/{order}"]),
    (
        "listings",
        &[
            "/painel/anuncios",
            "/painel/anuncios?ordem=titulo",
            "/painel/anuncios?ordem=-preco",
            "/painel/anuncios?ordem=-vendidos&estado=active",
            "/painel/anuncios?ordem=disponivel&conta={account}",
            "/painel/anuncios?q=organizador",
            "/painel/anuncios?q=organizador&ordem=-titulo&pagina={last}",
            "/painel/anuncios?q=ORG-0-49",
            "/painel/anuncios?q=nenhum",
            "/painel/anuncios?pagina={last}",
            "/painel/anuncios/MLB3000000000",
            "/painel/anuncios/MLB3000002500",
        ],
    ),
    (
        "questions and claims",
        &[
            "/painel/perguntas",
            "/painel/perguntas?estado=pendente",
            "/painel/perguntas?estado=respondida&conta={account}",
            "/painel/perguntas?conta={other}",
            "/painel/perguntas?pagina={middle}",
            "/painel/perguntas?pagina={last}",
            "/painel/perguntas?conta={account}&pagina={last}",
            "/painel/reclamacoes",
            "/painel/reclamacoes?estado=aberta",
            "/painel/reclamacoes?conta={other}",
            "/painel/reclamacoes?pagina={last}",
            "/painel/perguntas/13000099999",
            "/painel/reclamacoes/5200019999",
        ],
    ),
    ("labels", &["/painel/ml/etiquetas", "/painel/ml/etiquetas?conta={other}"]),
];

/// The slowest page of each kind by the median of its rounds, and the slowest
/// answer of all.
pub fn seller(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let recipe = Recipe::alone(ORDERS);
    let copy = lab.copy(recipe)?;
    say("adding listings, questions and claims");
    let order = fill(&copy.file, recipe)?;
    let server = lab.serve(&copy.file, &[])?;
    let place = |page: &str| {
        page.replace("{order}", &order.to_string())
            .replace("{account}", &SELLER.first_account().to_string())
            .replace("{other}", &(SELLER.first_account() + 1).to_string())
    };
    let mut figures = Vec::new();
    let mut worst = 0.0_f64;
    for (kind, pages) in PAGES {
        let mut slowest = (0.0_f64, String::new());
        for page in pages {
            let page = numbered(&server, &place(page))?;
            let mut times = Vec::new();
            // The first request finds little in memory.
            for _ in 0..=lab.args.rounds.max(7) {
                times.push(look(&server, &page)?);
            }
            ensure!(has_rows(&server, &page)?, "{page} has no rows");
            let (first, again) = times.split_first().unwrap_or((&0.0, &[]));
            worst = again.iter().fold(worst, |worst, took| worst.max(*took));
            let middle = median(again.to_vec());
            say(&format!("{middle:8.2} ms, at first {first:8.2}  {page}"));
            if middle > slowest.0 {
                slowest = (middle, page);
            }
        }
        let figure = Figure::new("seller", format!("ms, {kind}"), slowest.0);
        figures.push(figure.target(Target::AtMost(LIMIT_MS)));
    }
    figures.push(Figure::new("seller", "ms, the slowest answer", worst));
    server.stop()?;
    Ok(figures)
}

fn head(more: &str) -> String {
    format!("Cookie: sessao={}\r\n{more}", SELLER.session())
}

/// The address with the number of the page filled in.
fn numbered(server: &Server, page: &str) -> anyhow::Result<String> {
    let Some((before, _)) = page.split_once("pagina={") else {
        return Ok(page.to_owned());
    };
    let request = get_bytes(before, None, &head("Accept: application/json\r\n"));
    let list = answer::ask(server.address(), &request)?.json(200)?;
    let total = list["total"].as_u64().unwrap_or(0);
    let rows = match page {
        page if page.contains("por_pagina=100") => 100,
        _ => 20,
    };
    let last = total.div_ceil(rows).max(1);
    Ok(page.replace("{last}", &last.to_string()).replace("{middle}", &last.div_ceil(2).to_string()))
}

/// Milliseconds of a page.
fn look(server: &Server, page: &str) -> anyhow::Result<f64> {
    let request = get_bytes(page, None, &head("Accept: text/html\r\n"));
    let began = Instant::now();
    let answer = answer::ask(server.address(), &request)?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    ensure!(answer.status == 200, "{page}: {}", answer.status);
    Ok(took)
}

/// Whether a list has rows; all have, except the two with a search that finds
/// nothing.
fn has_rows(server: &Server, page: &str) -> anyhow::Result<bool> {
    let is_list = page.contains('?')
        && !page.starts_with("/painel/buscar")
        && !page.ends_with("q=nenhum")
        && !page.ends_with("q=MLB1");
    if !is_list {
        return Ok(true);
    }
    let request = get_bytes(page, None, &head("Accept: application/json\r\n"));
    let json = answer::ask(server.address(), &request)?.json(200)?;
    let mut rows = json.as_object().into_iter().flat_map(|object| object.values());
    Ok(rows.any(|value| value.as_array().is_some_and(|list| !list.is_empty())))
}

/// Adds listings, questions and claims; returns an order from the middle.
fn fill(file: &Path, recipe: Recipe) -> anyhow::Result<i64> {
    let mut connection = seed::open(file)?;
    let tx = connection.transaction()?;
    let (now, mut random) = (unix_now(), Random::new(11));
    let owner = SELLER.user_id();
    let account = |random: &mut Random| match random.below(4) {
        0 => SELLER.first_account() + 1 + random.below(3),
        _ => SELLER.first_account(),
    };
    for number in 0..recipe.items() {
        tx.prepare_cached(
            "INSERT INTO listing (owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents, currency,
                                  available, sold, listing_type, category, sku, ean, permalink, thumbnail, created_at, updated_at)
             VALUES (?1, ?2, ?3, 'MLB', ?4, ?5, '', ?6, 20, ?7, ?8, 122, 'MLB31447', ?9, '7891234567895',
                     'https://produto.mercadolivre.com.br/MLB-' || ?2, 'https://http2.mlstatic.com/D_' || ?2 || '.jpg', ?10, ?11)",
        )?
        .execute(params![
            owner,
            recipe.item_id(SELLER, number),
            account(&mut random),
            seed::title(number),
            120 + i64::from(random.below(10) == 0),
            1_990 + random.below(40_000),
            random.below(200),
            random.below(5_000),
            format!("ORG-0-{number:03}"),
            now - 700 * 86_400,
            now - random.below(700 * 86_400),
        ])?;
    }
    for number in 0..QUESTIONS {
        let answered = number < QUESTIONS - 2_000;
        tx.prepare_cached(
            "INSERT INTO question (owner_id, asked_at, question_id, ml_user_id, item_id, state, status, text, answer, answered_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'Bom dia, este produto serve em uma gaveta de 45 cm?', ?8, ?9)",
        )?
        .execute(params![
            owner,
            now - (QUESTIONS - number) * 630,
            13_000_000_000 + number,
            account(&mut random),
            recipe.item_id(SELLER, random.below(recipe.items())),
            if answered { 2 } else { 1 },
            if answered { "ANSWERED" } else { "UNANSWERED" },
            answered.then_some("Bom dia! Serve sim, ele se ajusta de 30 a 60 cm."),
            answered.then_some(now),
        ])?;
    }
    for number in 0..CLAIMS {
        let open = number >= CLAIMS - 200;
        tx.prepare_cached(
            "INSERT INTO claim (owner_id, opened_at, claim_id, ml_user_id, state, kind, stage, reason, resource, resource_id,
                                action, resolution, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'mediations', 'claim', 'PDD9939', 'order', ?6, '', '', ?2)",
        )?
        .execute(params![
            owner,
            now - (CLAIMS - number) * 3_150,
            5_200_000_000 + number,
            account(&mut random),
            if open { 1 } else { 2 },
            2_000_000_000_000_000 + number,
        ])?;
    }
    let order = middle(&tx, owner)?;
    tx.commit()?;
    // Checkpoints the write-ahead log, so that the server finds the state of a
    // clean stop.
    connection.close().map_err(|(_, error)| error)?;
    Ok(order)
}

fn middle(connection: &Connection, owner: i64) -> anyhow::Result<i64> {
    let sql = "SELECT order_id FROM sale_order WHERE owner_id = ?1 AND created_at > ?2 LIMIT 1";
    let year_ago = unix_now() - 365 * 86_400;
    Ok(connection.query_row(sql, [owner, year_ago], |row| row.get(0))?)
}
