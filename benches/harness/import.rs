//! The first reading of an account with a year of orders, from the sandbox in a
//! process of its own: compared with the time that the calls alone need, with
//! its cost for others, and without any delay, to see how fast orders are
//! applied.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::answer;
use crate::lab::{Copy, Lab, say};
use crate::people::Seller;
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, post_bytes};
use crate::seed;
use crate::server::Server;

/// The seller who links the shop, and the one who opens their own page meanwhile.
const OWNER: Seller = Seller(0);
const OTHER: Seller = Seller(1);
const SHOP: i64 = 900_000_001;
const ORDERS: i64 = 50_000;
const LISTINGS: i64 = 5_000;
/// Orders a page of a search, ids a page of a scan, listings a call.
const PAGES: [i64; 3] = [50, 100, 20];
/// Calls at a time that the marketplace allows for a seller.
const LANES: f64 = 2.0;
const DELAY_MS: u32 = 50;
/// Longest time that a reading may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// Pause between two checks of the progress, and between pages of the other person.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_OF_OTHER: Duration = Duration::from_millis(5);

/// All figures of reading an account for the first time.
pub fn import(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let market = Market::open(lab)?;
    let figure = |measure: &str, value: f64| Figure::new("import", measure, value);
    let mut figures = Vec::new();

    market.delay(DELAY_MS)?;
    let far = read(lab, &market)?;
    let call_s = f64::from(DELAY_MS) / 1000.0;
    let permitted_s = far.needed * call_s / LANES;
    let with_service_s = far.needed * (call_s + far.market_cpu_s / far.calls) / LANES;
    figures.extend([
        figure("s, with 50 ms a call", far.seconds),
        figure("s, permitted", permitted_s),
        figure("times the permitted", far.seconds / permitted_s).target(Target::AtMost(1.3)),
        figure("times the permitted, the sandbox's own time counted", far.seconds / with_service_s),
        figure("calls needed", far.needed),
        figure("calls made", far.calls),
        figure("orders read", far.orders),
        figure("MB of its own at most", far.peak_mb).target(Target::AtMost(120.0)),
        figure("ms, p99 of another person's home", far.other_p99_ms),
        figure("s, shipments after that", far.shipments_s),
        figure("shipments read", far.shipments),
    ]);

    market.delay(0)?;
    let near = read(lab, &market)?;
    figures.extend([
        figure("s, without delay", near.seconds),
        figure("orders a second, fetched and applied", near.orders / near.orders_s)
            .target(Target::AtLeast(5_000.0)),
        figure("orders by a second of the writer's processor time", near.orders / near.writer_s),
        figure("of a processor, the sandbox", near.market_cpu_s / near.seconds),
        figure("ms, p99 of another person's home", near.other_p99_ms),
    ]);

    for (delay_ms, measure) in
        [(DELAY_MS, "ms, stopping in the middle"), (3_000, "ms, the same with 3 s a call")]
    {
        let took = stop_in_the_middle(lab, &market, delay_ms)?;
        figures.push(figure(measure, took));
    }
    market.server.stop()?;
    Ok(figures)
}

/// The sandbox with one large shop in it.
struct Market {
    server: Server,
    /// Orders that a search returns only when it asks for them.
    hidden: i64,
    orders: i64,
}

impl Market {
    fn open(lab: &Lab) -> anyhow::Result<Self> {
        let mut command = Command::new(lab.exe());
        command.args(["sandbox", "--listen", "127.0.0.1:0"]).env_clear().current_dir(lab.data());
        let mut market = Self { server: Server::start(command)?, hidden: 0, orders: 0 };
        say("filling the sandbox");
        let shop = json!({ "ml_user_id": SHOP, "nickname": "LOJA GRANDE" });
        market.control("sellers", &shop)?;
        for number in 0..LISTINGS {
            let item = json!({
                "ml_user_id": SHOP, "title": seed::title(number), "price": 89.9, "stock": 100,
                "sku": format!("ORG-{number:04}"), "ean": "7891234567895",
            });
            market.control("items", &item)?;
        }
        // Histories add up; the marketplace keeps twelve months.
        let mut seed = 0;
        while market.orders < ORDERS {
            let missing = ORDERS - market.orders;
            let daily = (missing * 100 / (364 * 86)).clamp(1, 500);
            let plan = json!({ "ml_user_id": SHOP, "days": 364, "daily": daily, "seed": seed });
            let made = market.control("history", &plan)?;
            market.orders += made["orders"].as_i64().context("no orders were made")?;
            seed += 1;
        }
        let truth = market.look("truth?ml_user_id=900000001")?;
        let orders = truth["orders"].as_array().context("the truth has no orders")?;
        let hidden = orders
            .iter()
            .filter(|order| matches!(order["status"].as_str(), Some("cancelled" | "invalid")));
        market.hidden = i64::try_from(hidden.count())?;
        Ok(market)
    }

    fn control(&self, what: &str, body: &Value) -> anyhow::Result<Value> {
        let request = post_bytes(&format!("/_sandbox/{what}"), "", body.to_string().as_bytes());
        answer::ask(self.server.address(), &request)?.json(200)
    }

    fn look(&self, what: &str) -> anyhow::Result<Value> {
        let request = get_bytes(&format!("/_sandbox/{what}"), None, "");
        answer::ask(self.server.address(), &request)?.json(200)
    }

    fn delay(&self, delay_ms: u32) -> anyhow::Result<()> {
        self.control("config", &json!({ "delay_ms": delay_ms }))?;
        Ok(())
    }

    /// Calls so far.
    fn calls(&self) -> anyhow::Result<f64> {
        let log = self.look("requests")?;
        log["total"].as_f64().context("the sandbox counts no calls")
    }

    /// The calls that every reading needs: one for each page of the records.
    fn needed(&self, listings: i64) -> f64 {
        let [orders, ids, details] = PAGES;
        let pages = [
            (self.orders - self.hidden, orders),
            (self.hidden, orders),
            (listings, ids),
            (listings, details),
        ];
        let calls: i64 = pages.iter().map(|(all, page)| (all + page - 1) / page).sum();
        number(calls)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn number(count: i64) -> f64 {
    count as f64
}

/// A platform on a fresh copy that has just linked the shop.
struct Reader {
    server: Server,
    copy: Copy,
}

impl Reader {
    fn link(lab: &Lab, market: &Market) -> anyhow::Result<Self> {
        let copy = lab.copy(lab.small())?;
        let address = format!("http://{}", market.server.address());
        let settings = [
            ("MARKETPLACE__API_BASE", &*address),
            ("MARKETPLACE__AUTH_BASE", &*address),
            ("MARKETPLACE__CLIENT_SECRET", "sandbox-client-secret"),
            ("MARKETPLACE__CLIENT_ID", "5503910054140001"),
        ];
        let server = lab.serve(&copy.file, &settings)?;
        let reader = Self { server, copy };
        let asked = reader.ask(OWNER, "/painel/ml/conectar")?;
        let consent = asked.header("location").context("no way to the consent")?;
        let query = consent.split_once('?').map_or("", |(_, query)| query);
        let granted =
            market.control("authorize", &json!({ "ml_user_id": SHOP, "query": query }))?;
        let back = granted["location"].as_str().context("no way back")?;
        let path = back.find("/painel/ml/retorno").map(|start| &back[start..]);
        let linked = reader.ask(OWNER, path.context("an odd way back")?)?;
        let told = linked.header("location").unwrap_or_default();
        ensure!(told.ends_with("vinculada"), "the shop is not linked: {told}");
        Ok(reader)
    }

    fn ask(&self, person: Seller, path: &str) -> anyhow::Result<answer::Answer> {
        let cookie = format!("Cookie: sessao={}\r\nAccept: application/json\r\n", person.session());
        answer::ask(self.server.address(), &get_bytes(path, None, &cookie))
    }

    /// The shop's areas, with their names and states.
    fn areas(&self) -> anyhow::Result<Vec<Value>> {
        let accounts = self.ask(OWNER, "/painel/ml")?.json(200)?;
        let accounts = accounts["contas"].as_array().context("no accounts")?;
        let shop = accounts.iter().find(|account| {
            let id = &account["ml_user_id"];
            id.as_i64() == Some(SHOP) || id.as_str() == Some("900000001")
        });
        let areas = shop.and_then(|shop| shop["sincronizacao"].as_array());
        Ok(areas.context("the shop has no areas")?.clone())
    }
}

/// The times of a first reading.
struct Reading {
    seconds: f64,
    /// Seconds until the orders were read, together with the other areas.
    orders_s: f64,
    shipments_s: f64,
    orders: f64,
    shipments: f64,
    needed: f64,
    calls: f64,
    market_cpu_s: f64,
    writer_s: f64,
    peak_mb: f64,
    other_p99_ms: f64,
}

fn read(lab: &Lab, market: &Market) -> anyhow::Result<Reading> {
    say("reading the shop");
    let calls_before = market.calls()?;
    let began = Instant::now();
    let reader = Reader::link(lab, market)?;
    let market_before = market.server.cpu_seconds()?;
    let linked = Instant::now();
    let is_over = AtomicBool::new(false);
    let mut orders_s = None;
    let mut peak_mb = 0.0_f64;
    let (seconds, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| look_as_other(&reader, &is_over));
        let mut wait = || {
            loop {
                let areas = reader.areas()?;
                peak_mb = peak_mb.max(reader.server.rss_anon_mb()?);
                let is_read = |name: &str| {
                    let area = areas.iter().find(|area| area["area"] == name);
                    area.is_some_and(|area| area["estado"] == "em_dia")
                };
                if is_read("pedidos") && orders_s.is_none() {
                    orders_s = Some(linked.elapsed().as_secs_f64());
                }
                let names = ["pedidos", "anuncios", "perguntas", "reclamacoes", "conta"];
                if names.iter().all(|name| is_read(name)) {
                    return anyhow::Ok(linked.elapsed().as_secs_f64());
                }
                ensure!(linked.elapsed() < PATIENCE, "it takes too long: {areas:?}");
                rest(LOOK);
            }
        };
        let seconds = wait();
        is_over.store(true, Ordering::Relaxed);
        let other = other.join().expect("the other person's thread ends");
        anyhow::Ok((seconds?, other?))
    })?;
    let calls = market.calls()? - calls_before;
    let market_cpu_s = market.server.cpu_seconds()? - market_before;
    let writer_s = reader.server.thread_seconds("writer")?;
    let file = seed::open(&reader.copy.file)?;
    let count = |sql: &str| {
        let count = file.query_row(sql, [SHOP], |row| row.get::<_, i64>(0))?;
        anyhow::Ok(count)
    };
    let orders = count("SELECT count(*) FROM sale_order WHERE ml_user_id = ?1")?;
    let listings = count("SELECT count(*) FROM listing WHERE ml_user_id = ?1")?;
    ensure!(
        orders == market.orders && listings >= LISTINGS,
        "{orders} orders of {} and {listings} listings were read",
        market.orders
    );
    let (shipments_s, shipments) = shipments(&reader, linked)?;
    say(&format!("read in {seconds:.1} s, {:.1} s with the link", began.elapsed().as_secs_f64()));
    reader.server.stop()?;
    Ok(Reading {
        seconds,
        orders_s: orders_s.unwrap_or(seconds),
        shipments_s: (shipments_s - seconds).max(0.0),
        orders: number(orders),
        shipments,
        needed: market.needed(listings),
        calls,
        market_cpu_s,
        writer_s,
        peak_mb,
        other_p99_ms: other,
    })
}

/// Seconds until the states of parcels were read, too, and their number.
fn shipments(reader: &Reader, linked: Instant) -> anyhow::Result<(f64, f64)> {
    loop {
        let areas = reader.areas()?;
        let area = areas.iter().find(|area| area["area"] == "envios");
        let area = area.context("there is no area of shipments")?;
        if area["estado"] == "em_dia" {
            let read = area["feitos"].as_f64().unwrap_or(0.0);
            return Ok((linked.elapsed().as_secs_f64(), read));
        }
        ensure!(linked.elapsed() < PATIENCE, "it takes too long: {area}");
        rest(LOOK);
    }
}

/// p99 of the milliseconds that another person waits for their home.
fn look_as_other(reader: &Reader, is_over: &AtomicBool) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        let home = reader.ask(OTHER, "/painel")?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        ensure!(home.status == 200, "the home is answered {}", home.status);
        rest(LOOK_OF_OTHER);
    }
    times.sort_by(f64::total_cmp);
    let place = (times.len() * 99 / 100).min(times.len().saturating_sub(1));
    times.get(place).copied().context("nobody looked")
}

/// Milliseconds that a stop takes while orders are being read.
fn stop_in_the_middle(lab: &Lab, market: &Market, delay_ms: u32) -> anyhow::Result<f64> {
    market.delay(DELAY_MS)?;
    let reader = Reader::link(lab, market)?;
    let linked = Instant::now();
    loop {
        let areas = reader.areas()?;
        let orders = areas.iter().find(|area| area["area"] == "pedidos");
        let read = orders.and_then(|area| area["feitos"].as_i64());
        if read.unwrap_or(0) >= 2_000 {
            break;
        }
        ensure!(linked.elapsed() < PATIENCE, "nothing is read");
        rest(LOOK);
    }
    market.delay(delay_ms)?;
    // By then the next calls have begun.
    rest(Duration::from_millis(200));
    let began = Instant::now();
    reader.server.stop()?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

/// Does nothing for a while.
fn rest(span: Duration) {
    let (_nobody, told) = mpsc::channel::<()>();
    // Nothing is ever sent, so this waits for the whole time.
    let _ = told.recv_timeout(span);
}
