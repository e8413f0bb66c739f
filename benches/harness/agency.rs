//! The agency with three hundred clients: its charts over two years, its queue
//! of two hundred thousand questions, and a cycle of five clients with a
//! marketplace that needs 50 ms for each call.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use rusqlite::params;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::answer;
use crate::lab::{Lab, say};
use crate::people::Seller;
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, post_bytes, unix_now};
use crate::rounds::median;
use crate::seed;
use crate::server::Server;

const CLIENTS: i64 = 300;
const DAYS: i64 = 730;
const QUESTIONS: i64 = 200_000;
const DAY_S: i64 = 86_400;
/// The first number of the agency's accounts, and of their owners.
const FIRST: i64 = 700_000_000;
const OPERATOR: i64 = 700_000_000;
const SECRETS: Seller = Seller(-2);
/// Clients of a cycle, most calls at a time, and the time of each call.
const OF_A_CYCLE: i64 = 5;
const CALLS: f64 = 5.0;
const DELAY_MS: u32 = 50;
const QUEUE: &str = "/admin/agencia/central-perguntas";

/// All figures of the agency.
pub fn agency(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let mut figures = pages(lab)?;
    figures.push(cycle(lab)?);
    Ok(figures)
}

fn head(accept: &str) -> String {
    format!(
        "Cookie: sessao={}\r\nAccept: {accept}\r\nContent-Type: application/json\r\n",
        SECRETS.session()
    )
}

/// The slowest page of each kind, by the median of its rounds.
fn pages(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    say("adding 300 clients with two years of days and 200000 questions");
    fill(&copy.file)?;
    let server = lab.serve(&copy.file, &[("SERVER__TIMEZONE", "UTC")])?;
    let spans = [30, 90, 365, 730];
    let charts = spans.map(|days| format!("/admin/agencia?dias={days}")).to_vec();
    let of_one = spans.map(|days| format!("/admin/agencia/clientes/150?dias={days}")).to_vec();
    let lists = ["", "?pagina=8", "?q=cliente", "?situacao=pendente", "?situacao=pronto"]
        .map(|query| format!("/admin/agencia/clientes{query}"))
        .to_vec();
    let mut queue = Vec::new();
    for status in ["pendente", "respondida", "todas"] {
        for client in ["", "&cliente=150", "&meus=1"] {
            for page in [1, 2, 100, 2_000, 4_000] {
                queue.push(format!(
                    "{QUEUE}/json?status={status}{client}&pagina={page}&por_pagina=50"
                ));
            }
        }
    }
    let cards = ["", "?cliente=150", "?status=respondida", "?status=todas&pagina=3000", "?meus=1"]
        .map(|query| format!("{QUEUE}{query}"))
        .to_vec();
    let others = ["checkup", "etiquetas", "clientes/150/relatorio"]
        .map(|page| format!("/admin/agencia/{page}"))
        .to_vec();
    let mut figures = Vec::new();
    for (measure, paths, accept, limit) in [
        ("ms, slowest of findings, labels, report", others, "text/html", 30.0),
        ("ms, slowest charts of all clients", charts, "text/html", 40.0),
        ("ms, slowest charts of a client", of_one, "text/html", 40.0),
        ("ms, slowest list of clients", lists, "text/html", 40.0),
        ("ms, slowest filter of the queue, JSON", queue, "application/json", 30.0),
        ("ms, slowest filter of the queue, page", cards, "text/html", 30.0),
    ] {
        let mut slowest = (0.0_f64, String::new());
        for path in paths {
            let request = get_bytes(&path, None, &head(accept));
            let mut times = Vec::new();
            for round in 0..=lab.args.rounds.max(5) {
                let began = Instant::now();
                let answer = answer::ask(server.address(), &request)?;
                ensure!(answer.status == 200, "{path}: {}", answer.status);
                if round > 0 {
                    times.push(began.elapsed().as_secs_f64() * 1000.0);
                }
            }
            let time = median(times);
            if time > slowest.0 {
                slowest = (time, path);
            }
        }
        say(&format!("{measure}: {:.1} at {}", slowest.0, slowest.1));
        figures.push(Figure::new("agency", measure, slowest.0).target(Target::AtMost(limit)));
    }
    server.stop()?;
    Ok(figures)
}

/// Adds an administrator who is signed in, and the agency's clients, each with
/// an account, two years of days and its share of the questions.
fn fill(file: &Path) -> anyhow::Result<()> {
    let mut connection = seed::open(file)?;
    let now = unix_now();
    let today = now / DAY_S;
    let tx = connection.transaction()?;
    operator(&tx, now)?;
    let mut user = tx.prepare(
        "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, 'dono' || ?1 || '@example.com', 'Dono ' || ?1, 'pro', ?2)",
    )?;
    let mut account = tx.prepare(
        "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, linked_at, reputation, open_questions)
         VALUES (?1, ?1, 'LOJA ' || ?1, ?2, 1, ?2, '5_green', 10)",
    )?;
    let mut client = tx.prepare(
        "INSERT INTO agency_client (client_id, name, search, created_at, keeper_id, tried_at, synced_at)
         VALUES (?1, 'Cliente ' || ?1, 'cliente ' || ?1, ?2, ?3, ?2, ?2)",
    )?;
    let mut joined = tx.prepare(
        "INSERT INTO agency_account (ml_user_id, client_id, owner_id, joined_at, checked_at) VALUES (?1, ?2, ?1, ?3, ?3)",
    )?;
    let mut day = tx.prepare(
        "INSERT INTO agency_day (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
         VALUES (?1, ?2, ?3, ?4, ?5, 100, 1, 10, 5, 1)",
    )?;
    let mut listing = tx.prepare(
        "INSERT INTO listing (owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents, currency, available, sold,
                              listing_type, category, sku, ean, permalink, thumbnail, created_at, updated_at)
         VALUES (?1, ?2, ?1, 'MLB', ?3, 120, '', 8990, 20, 10, 5, 122, '', '', '', '', '', ?4, ?4)",
    )?;
    for number in 1..=CLIENTS {
        let id = FIRST + number;
        user.execute(params![id, now])?;
        account.execute(params![id, now])?;
        client.execute(params![number, now, (number % 2 == 0).then_some(OPERATOR)])?;
        joined.execute(params![id, number, now])?;
        for ago in 0..DAYS {
            let orders = (number * 7 + ago * 13) % 40;
            day.execute(params![number, today - ago, id, orders, orders * 8_990])?;
        }
        for item in 0..20 {
            listing.execute(params![id, number * 100 + item, seed::title(item), now])?;
        }
    }
    let mut question = tx.prepare(
        "INSERT INTO question (owner_id, asked_at, question_id, ml_user_id, item_id, state, status, text, answer, answered_at, asker_id)
         VALUES (?1, ?2, ?3, ?1, ?4, ?5, ?6, 'Boa tarde! Tem a pronta entrega?', ?7, ?8, ?9)",
    )?;
    for number in 0..QUESTIONS {
        let client = 1 + number % CLIENTS;
        let is_open = number % 66 == 0;
        let asked = now - 60 * (QUESTIONS - number);
        question.execute(params![
            FIRST + client,
            asked,
            FIRST + number,
            client * 100 + number % 20,
            if is_open { 1 } else { 2 },
            if is_open { "UNANSWERED" } else { "ANSWERED" },
            (!is_open).then_some("Olá! Sim, temos."),
            (!is_open).then_some(asked + 600),
            number % 5_000,
        ])?;
    }
    drop((user, account, client, joined, day, listing, question));
    tx.execute_batch("ANALYZE")?;
    tx.commit().context("seeding the agency")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn operator(tx: &rusqlite::Transaction<'_>, now: i64) -> anyhow::Result<()> {
    tx.execute(
        "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?, 'agencia@example.com', 'Agência', 'admin', ?)",
        params![OPERATOR, now],
    )?;
    tx.execute(
        "INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
         VALUES (?, ?, ?, ?, '127.0.0.1', 'harness')",
        params![Sha256::digest(SECRETS.session()).to_vec(), OPERATOR, now, now],
    )?;
    Ok(())
}

/// How long a cycle of five clients takes, compared with the time of its calls
/// when five run at a time.
fn cycle(lab: &Lab) -> anyhow::Result<Figure> {
    let mut command = Command::new(lab.exe());
    command.args(["sandbox", "--listen", "127.0.0.1:0"]).env_clear().current_dir(lab.data());
    let market = Server::start(command)?;
    let control = |what: &str, body: &Value| {
        let request = post_bytes(&format!("/_sandbox/{what}"), "", body.to_string().as_bytes());
        answer::ask(market.address(), &request)?.json(200)
    };
    let calls = || -> anyhow::Result<f64> {
        let request = get_bytes("/_sandbox/requests", None, "");
        let log = answer::ask(market.address(), &request)?.json(200)?;
        log["total"].as_f64().context("the sandbox counts no calls")
    };
    let copy = lab.copy(lab.small())?;
    {
        let mut connection = seed::open(&copy.file)?;
        let tx = connection.transaction()?;
        operator(&tx, unix_now())?;
        tx.commit()?;
    }
    let address = format!("http://{}", market.address());
    let settings = [
        ("MARKETPLACE__API_BASE", &*address),
        ("MARKETPLACE__AUTH_BASE", &*address),
        ("MARKETPLACE__CLIENT_SECRET", "sandbox-client-secret"),
        ("MARKETPLACE__CLIENT_ID", "5503910054140001"),
        ("CRON__ENABLED", "false"),
    ];
    let server = lab.serve(&copy.file, &settings)?;
    let owner = format!("Cookie: sessao={}\r\nAccept: application/json\r\n", Seller(0).session());
    for number in 1..=OF_A_CYCLE {
        let shop = 900_000_100 + number;
        control("sellers", &json!({ "ml_user_id": shop, "nickname": format!("LOJA {number}") }))?;
        control("items", &json!({ "ml_user_id": shop, "title": "Caneca", "price": 19.9 }))?;
        control("history", &json!({ "ml_user_id": shop, "days": 20, "daily": 3, "seed": number }))?;
        let asked = answer::ask(server.address(), &get_bytes("/painel/ml/conectar", None, &owner))?;
        let consent = asked.header("location").context("no way to the consent")?.to_owned();
        let query = consent.split_once('?').map_or("", |(_, query)| query);
        let granted = control("authorize", &json!({ "ml_user_id": shop, "query": query }))?;
        let back = granted["location"].as_str().context("no way back")?;
        let path = back.find("/painel/ml/retorno").map(|start| &back[start..]);
        let path = path.context("the way back leads elsewhere")?;
        answer::ask(server.address(), &get_bytes(path, None, &owner))?;
        let body = json!({ "nome": format!("Cliente {number}"), "ml_user_id": shop });
        let make = post_bytes(
            "/admin/agencia/clientes",
            &head("application/json"),
            body.to_string().as_bytes(),
        );
        answer::ask(server.address(), &make)?.json(201)?;
    }
    let sync = post_bytes("/admin/agencia/ml/sincronizar-todos", &head("application/json"), b"{}");
    let read = || answer::ask(server.address(), &sync)?.json(200);
    // The first readings end before the measurement.
    while read()?["erros"] != 0 {}
    control("config", &json!({ "delay_ms": DELAY_MS }))?;
    let mut ratios = Vec::new();
    for _ in 0..lab.args.rounds.max(5) {
        let (before, began) = (calls()?, Instant::now());
        let done = read()?;
        let took = began.elapsed().as_secs_f64();
        ensure!(done["sincronizados"] == OF_A_CYCLE && done["erros"] == 0, "{done}");
        // Reading the log is not a call of the platform.
        let made = calls()? - before;
        ratios.push(took / (made * f64::from(DELAY_MS) / 1000.0 / CALLS));
        say(&format!("a cycle: {took:.3} s for {made} calls"));
    }
    server.stop()?;
    market.stop()?;
    let figure = Figure::new("agency", "times the ideal, a cycle of five clients", median(ratios));
    Ok(figure.target(Target::AtMost(1.3)))
}
