//! The Partner API: pages of orders, 304, usage and notifications, at every
//! size of the order table.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::answer;
use crate::cases::{ask, listed};
use crate::lab::{Lab, Site, pause};
use crate::load::Request;
use crate::people::Seller;
use crate::report::{Figure, Target};
use crate::requests::{self, get_bytes, post_bytes, unix_now};
use crate::rounds::{Series, Subject, alternate};
use crate::seed::{self, Recipe};

const ORDERS: &str = "/api/v1/partner/orders?limit=20";
const USAGE: &str = "/api/v1/partner/usage";

/// The size at which the share of the ceiling is promised.
const PROMISED_AT: i64 = 1_000_000;

/// E-mail with a server that cannot be reached, so that messages wait.
const EMAIL: [(&str, &str); 2] =
    [("EMAIL__SMTP_URL", "smtp://127.0.0.1:9"), ("EMAIL__FROM", "loja@example.com")];

/// A case at every size of `--orders`.
struct Sized {
    case: &'static str,
    /// The least share of the ceiling.
    least: f64,
    /// The least share at the largest size by that at the smallest.
    growth: f64,
    settings: &'static [(&'static str, &'static str)],
    /// Adds rows to the copy of a seeded file.
    prepare: fn(&Path, Recipe) -> anyhow::Result<()>,
    /// Checks that the work is done, and makes the load.
    request: fn(&Site, i64) -> anyhow::Result<Request>,
    expected: &'static [u16],
}

impl Sized {
    const PLAIN: Self = Self {
        case: "",
        least: 0.0,
        growth: 0.75,
        settings: &[],
        prepare: |_, _| Ok(()),
        request: |_, _| Ok(requests::get("/", None)),
        expected: &[200],
    };

    /// Every size has its own server, and all are measured in the same rounds,
    /// so that growth compares figures from the same time.
    fn measure(&self, lab: &Lab) -> anyhow::Result<Vec<Figure>> {
        let sizes = &lab.args.orders;
        let sites = sizes
            .iter()
            .map(|orders| {
                let recipe = Recipe::orders(*orders);
                lab.site_with(recipe, self.settings, |file| (self.prepare)(file, recipe))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let subjects = sizes
            .iter()
            .zip(&sites)
            .map(|(orders, site)| {
                let request = (self.request)(site, Recipe::orders(*orders).sellers())?;
                Ok(Subject { server: &site.server, request, expected: self.expected })
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let series = alternate(lab, &subjects)?;
        let figure = |(orders, series): (&i64, &Series)| {
            let figure = series.figure(self.case, format!("of ceiling, {orders} orders"));
            match *orders {
                PROMISED_AT => figure.target(Target::AtLeast(self.least)),
                _ => figure,
            }
        };
        let mut figures: Vec<Figure> = sizes.iter().zip(&series).map(figure).collect();
        figures.extend(self.growth(lab, &series));
        Ok(figures)
    }

    /// The figure of the largest size divided by that of the smallest.
    fn growth(&self, lab: &Lab, series: &[Series]) -> Option<Figure> {
        let (small, large) = (lab.args.orders.first()?, lab.args.orders.last()?);
        let share = |series: &Series| series.median(|sample| sample.of_ceiling);
        let ratio = share(series.last()?) / share(series.first()?);
        let figure = Figure::new(self.case, format!("{large} by {small} orders"), ratio);
        (large > small).then(|| figure.target(Target::AtLeast(self.growth)))
    }
}

pub fn orders(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "orders",
        least: 0.14,
        request: |site, sellers| {
            full_page(site, sellers, 20)?;
            Ok(requests::order_pages(sellers, 20))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

pub fn orders50(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "orders50",
        least: 0.07,
        request: |site, sellers| {
            full_page(site, sellers, 50)?;
            Ok(requests::order_pages(sellers, 50))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

/// Pages that a cursor leads to, of ten sellers in each file: what the size of the file
/// alone costs.
pub fn cursors(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "cursors",
        growth: 0.9,
        request: |site, sellers| walks(site, sellers.min(10)),
        ..Sized::PLAIN
    }
    .measure(lab)
}

/// The same of all sellers of the file.
pub fn cursors_of_all(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized { case: "cursors-of-all", request: walks, ..Sized::PLAIN }.measure(lab)
}

/// The second to the fourth page of each seller.
fn walks(site: &Site, sellers: i64) -> anyhow::Result<Request> {
    let mut pages = Vec::new();
    for token in (0..sellers).map(|n| Seller(n).partner_token()) {
        let mut path = "/api/v1/partner/orders?limit=50".to_owned();
        for _ in 0..3 {
            let json = ask(site, &path, Some(&token))?.json(200)?;
            let cursor = json["pagination"]["next_cursor"].as_str();
            let cursor = cursor.context("a page has no cursor of the next")?;
            path = format!("/api/v1/partner/orders?limit=50&cursor={cursor}");
            pages.push(get_bytes(&path, Some(&token), ""));
        }
        let rows = listed(&ask(site, &path, Some(&token))?)?;
        ensure!(rows == 50, "a page of 50 has {rows} orders");
    }
    Ok(requests::any_of(pages))
}

/// Single orders, fifty of each seller.
pub fn order(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "order",
        least: 0.4,
        request: |site, sellers| {
            let mut calls = Vec::new();
            for token in (0..sellers).map(|n| Seller(n).partner_token()) {
                let list = ask(site, "/api/v1/partner/orders?limit=50", Some(&token))?.json(200)?;
                let ids = list["data"].as_array().into_iter().flatten();
                let ids = ids.filter_map(|order| order["order_id"].as_str());
                let path = |id| format!("/api/v1/partner/orders/{id}");
                calls.extend(ids.map(|id| get_bytes(&path(id), Some(&token), "")));
            }
            ensure!(calls.len() > 100, "there are {} orders to ask for", calls.len());
            Ok(requests::any_of(calls))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

/// What programs that keep up ask for again and again: events after the newest.
pub fn events(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "events",
        least: 0.5,
        prepare: seed::events_of_orders,
        request: |site, sellers| {
            let calls = (0..sellers).map(|n| {
                let token = Seller(n).partner_token();
                let newest = newest_event(site, &token)?;
                let path = format!("/api/v1/partner/events?after={newest}");
                let json = ask(site, &path, Some(&token))?.json(200)?;
                ensure!(json["data"].as_array().is_some_and(Vec::is_empty), "it has news: {json}");
                Ok(get_bytes(&path, Some(&token), ""))
            });
            Ok(requests::any_of(calls.collect::<anyhow::Result<Vec<_>>>()?))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

/// The id of a seller's newest event, once the service has written down those that were
/// prepared.
fn newest_event(site: &Site, token: &str) -> anyhow::Result<String> {
    for _ in 0..600 {
        let path = "/api/v1/partner/events?limit=100";
        let json = ask(site, path, Some(token))?.json(200)?;
        let count = json["data"].as_array().map_or(0, Vec::len);
        if let Some(newest) = json["pagination"]["next_after"].as_str()
            && count == usize::from(seed::EVENTS)
        {
            return Ok(newest.to_owned());
        }
        pause(Duration::from_millis(100));
    }
    anyhow::bail!("the events were not written within a minute")
}

pub fn not_modified(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "not-modified",
        least: 0.80,
        request: |site, sellers| {
            let known = (0..sellers.min(100)).map(|n| {
                let token = Seller(n).partner_token();
                let answer = ask(site, ORDERS, Some(&token))?;
                listed(&answer)?;
                let tag = answer.header("etag").context("the answer has no ETag")?;
                let condition = format!("If-None-Match: {tag}\r\n");
                Ok(get_bytes(ORDERS, Some(&token), &condition))
            });
            Ok(requests::any_of(known.collect::<anyhow::Result<Vec<_>>>()?))
        },
        expected: &[304],
        ..Sized::PLAIN
    }
    .measure(lab)
}

pub fn usage(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "usage",
        least: 0.30,
        prepare: |file, recipe| seed::calls_of_a_month(file, recipe, unix_now()),
        request: |site, sellers| {
            let token = Seller(sellers - 1).partner_token();
            let json = ask(site, USAGE, Some(&token))?.json(200)?;
            let operations = json["endpoints"].as_array().map_or(0, Vec::len);
            ensure!(operations == 10, "the usage has {operations} operations");
            let of = |n| get_bytes(USAGE, Some(&Seller(n).partner_token()), "");
            Ok(requests::any_of((0..sellers).map(of).collect()))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

pub fn notify(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    Sized {
        case: "notify",
        least: 0.10,
        settings: &EMAIL,
        request: |site, sellers| {
            let head = format!("Authorization: Bearer {}\r\n", Seller(0).partner_token());
            let body = br#"{"channel":"email","event":"custom","title":"a","body":"b"}"#;
            let call = post_bytes("/api/v1/partner/notify", &head, body);
            let json = answer::ask(site.server.address(), &call)?.json(200)?;
            ensure!(json["data"]["status"] == "queued", "it was not queued: {json}");
            Ok(requests::notices(sellers))
        },
        ..Sized::PLAIN
    }
    .measure(lab)
}

pub fn agent(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(lab.large(), &[])?;
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"health"}}"#;
    let of = |n| {
        let head = format!("Authorization: Bearer {}\r\n", Seller(n).partner_token());
        post_bytes("/mcp", &head, call)
    };
    let json = answer::ask(site.server.address(), &of(0))?.json(200)?;
    ensure!(json["result"]["structuredContent"]["ok"] == true, "it is not well: {json}");
    let calls = requests::any_of((0..lab.large().sellers()).map(of).collect());
    let series = alternate(lab, &[Subject::new(&site.server, calls)])?;
    Ok(vec![series[0].figure("agent", "of ceiling").target(Target::AtLeast(0.25))])
}

/// Checks that the seller with the fewest orders still has a full page after
/// the offsets.
fn full_page(site: &Site, sellers: i64, limit: usize) -> anyhow::Result<()> {
    let token = Seller(sellers - 1).partner_token();
    let path = format!("/api/v1/partner/orders?limit={limit}&offset=20");
    let rows = listed(&ask(site, &path, Some(&token))?)?;
    ensure!(rows == limit, "a page of {limit} has {rows} orders");
    Ok(())
}

pub fn orders_first(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(lab.large(), &[])?;
    full_page(&site, lab.large().sellers(), 20)?;
    let first_pages: Request = requests::any_of(
        (0..lab.large().sellers())
            .map(|n| get_bytes(ORDERS, Some(&Seller(n).partner_token()), ""))
            .collect(),
    );
    let series = alternate(lab, &[Subject::new(&site.server, first_pages)])?;
    Ok(vec![series[0].figure("orders-first", "of ceiling").target(Target::AtLeast(0.65))])
}
