//! The cases, and those that are measured against the ceiling.

use anyhow::{Context as _, ensure};

use crate::agency;
use crate::answer::{self, Answer};
use crate::commit_loop::CommitLoop;
use crate::cron;
use crate::delivery;
use crate::import;
use crate::lab::{Lab, Site};
use crate::limits;
use crate::partner;
use crate::people::Seller;
use crate::program;
use crate::report::{Figure, Target};
use crate::requests::{self, get_bytes};
use crate::rounds::{self, Series, Subject, alternate, median, sample};
use crate::seed;
use crate::seller;
use crate::students;

/// One thing that is measured.
pub struct Case {
    /// The name on the command line.
    pub name: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(&Lab) -> anyhow::Result<Vec<Figure>>,
}

/// Every case, in the order in which they run.
#[rustfmt::skip] // A table.
pub const CASES: &[Case] = &[
    Case { name: "hello", run: hello,
        about: "the ceiling beside itself: how far from 1 it is tells how quiet the machine is" },
    Case { name: "plans", run: plans,
        about: "GET /api/v1/planos, with warnings and with every request logged" },
    Case { name: "public", run: public,
        about: "GET /api/v1/contexto and /api/v1/schema" },
    Case { name: "me", run: me,
        about: "GET /api/ext/me: three accounts, fifteen notifications, two meets; from memory, and read again" },
    Case { name: "not-modified", run: partner::not_modified,
        about: "304 on /api/v1/partner/orders, for each size of --orders" },
    Case { name: "ml-check", run: ml_check,
        about: "GET /api/ext/ml/check of random sellers" },
    Case { name: "orders", run: partner::orders,
        about: "pages of 20 orders of random sellers, not from memory, for each size of --orders" },
    Case { name: "orders50", run: partner::orders50,
        about: "the same with pages of 50" },
    Case { name: "orders-first", run: partner::orders_first,
        about: "the first page of random sellers, which may come from memory" },
    Case { name: "cursors", run: partner::cursors,
        about: "pages of 50 orders that cursors lead to, of ten sellers, for each size of --orders" },
    Case { name: "cursors-of-all", run: partner::cursors_of_all,
        about: "the same of all sellers" },
    Case { name: "order", run: partner::order,
        about: "GET /api/v1/partner/orders/{id} of random sellers, for each size of --orders" },
    Case { name: "events", run: partner::events,
        about: "GET /api/v1/partner/events with nothing new, for each size of --orders" },
    Case { name: "usage", run: partner::usage,
        about: "GET /api/v1/partner/usage late in a busy month, for each size of --orders" },
    Case { name: "notify", run: partner::notify,
        about: "POST /api/v1/partner/notify, each queued durably, for each size of --orders" },
    Case { name: "agent", run: partner::agent,
        about: "POST /mcp: calls of the tool `health` of random sellers" },
    Case { name: "notification", run: notification,
        about: "signed notifications, each stored durably, beside a loop that commits the same rows" },
    Case { name: "checkout", run: checkout,
        about: "purchase events, each stored durably: kept ones, and approvals that make a student" },
    Case { name: "students", run: students::students,
        about: "lists of 100,000 students in the panel, the slowest of each kind" },
    Case { name: "program", run: program::program,
        about: "100,000 students with ten million entries: check-ins, rankings, and comparing all with the ledger" },
    Case { name: "agency", run: agency::agency,
        about: "300 clients of the agency: charts over two years, the queue of 200,000 questions, and a cycle of five" },
    Case { name: "seller", run: seller::seller,
        about: "pages of one seller with a million orders, the slowest of each kind" },
    Case { name: "import", run: import::import,
        about: "first reading of 50,000 orders and 5,000 listings from the sandbox with 50 ms a call, and without" },
    Case { name: "cron", run: cron::cron,
        about: "calls of the cron endpoint with 100,000 students, and the longest wait for the writer beside them" },
    Case { name: "delivery", run: delivery::delivery,
        about: "messages that leave by chat, without a pace, to a gateway that answers at once" },
    Case { name: "logins", run: limits::logins,
        about: "p99 of reads while logins saturate their thread" },
    Case { name: "backup", run: limits::backup,
        about: "p99 of writes while a file of a gigabyte is backed up" },
    Case { name: "log-size", run: limits::log_size,
        about: "size of the write-ahead log under steady reads and writes" },
    Case { name: "start", run: limits::start,
        about: "time from start to ready on a file of a gigabyte" },
    Case { name: "memory", run: limits::memory,
        about: "own memory: idle, while hashing, a minute later" },
    Case { name: "size", run: limits::size,
        about: "bytes of the executable and of a stored order" },
];

const PLANS: &str = "/api/v1/planos";

/// Sends one request and returns the answer.
pub fn ask(site: &Site, path: &str, token: Option<&str>) -> anyhow::Result<Answer> {
    answer::ask(site.server.address(), &get_bytes(path, token, ""))
        .with_context(|| format!("asking for {path}"))
}

/// The length of the `data` list of a partner or public answer.
pub fn listed(answer: &Answer) -> anyhow::Result<usize> {
    let json = answer.json(200)?;
    json["data"].as_array().map(Vec::len).context("the answer has no list `data`")
}

fn hello(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let series = alternate(lab, &[rounds::hello(lab)])?;
    Ok(vec![series[0].figure("hello", "of ceiling")])
}

fn plans(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let quiet = lab.site(lab.small(), &[])?;
    let logging = lab.site(lab.small(), &[("LOG__LEVEL", "info")])?;
    for site in [&quiet, &logging] {
        ensure!(listed(&ask(site, PLANS, None)?)? > 0, "no plan is listed");
    }
    let series = alternate(
        lab,
        &[
            Subject::new(&quiet.server, requests::get(PLANS, None)),
            Subject::new(&logging.server, requests::get(PLANS, None)),
        ],
    )?;
    Ok(vec![
        series[0].figure("plans", "of ceiling").target(Target::AtLeast(0.85)),
        series[1].figure("plans", "of ceiling, log at info"),
    ])
}

/// Larger answers cost the kernel more, so the ceiling of each answer is a
/// hello of the same size.
fn public(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(lab.small(), &[])?;
    let mut figures = Vec::new();
    for path in ["/api/v1/contexto", "/api/v1/schema"] {
        let bytes = ask(&site, path, None)?.body.len();
        let ceiling = Subject::new(&lab.hello, requests::get(&format!("/{bytes}"), None));
        let subject = Subject::new(&site.server, requests::get(path, None));
        let series = rounds::against(lab, &ceiling, &[subject])?;
        let measure = format!("{path} of ceiling");
        figures.push(series[0].figure("public", measure).target(Target::AtLeast(0.85)));
    }
    Ok(figures)
}

/// A number of people whose dashboards fit into memory, and a number that does
/// not fit. They are requested in turns, so in the second case each dashboard
/// is read again, as after a sale.
const WATCHING: [(i64, &str, f64); 2] =
    [(200, "of ceiling, unchanged", 0.45), (6_000, "of ceiling, after a sale", 0.20)];

fn me(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    seed::dashboards(&copy.file, lab.small(), WATCHING[1].0)?;
    let server = lab.serve(&copy.file, &[])?;
    let ask = |n| get_bytes("/api/ext/me", Some(&Seller(n).extension_token()), "");
    let json = answer::ask(server.address(), &ask(WATCHING[1].0 - 1))?.json(200)?;
    let lengths = ["/ml/contas", "/ml/notificacoes", "/meets"]
        .map(|path| json.pointer(path).and_then(|list| list.as_array()).map(Vec::len));
    ensure!(
        lengths == [Some(3), Some(15), Some(2)],
        "the dashboard has {lengths:?} accounts, notifications and meets"
    );
    let subjects = WATCHING.map(|(people, ..)| {
        Subject::new(&server, requests::in_turns((0..people).map(ask).collect()))
    });
    let series = alternate(lab, &subjects)?;
    let figures = WATCHING.iter().zip(&series);
    Ok(figures
        .map(|((_, measure, least), series)| {
            series.figure("me", *measure).target(Target::AtLeast(*least))
        })
        .collect())
}

fn ml_check(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(lab.large(), &[])?;
    let seller = Seller(0);
    let path = format!("/api/ext/ml/check?seller_id={}", seller.first_account());
    let json = ask(&site, &path, Some(&seller.extension_token()))?.json(200)?;
    ensure!(json["vinculada"] == true, "the account is not found: {json}");
    let request = requests::account_checks(lab.large().sellers());
    let series = alternate(lab, &[Subject::new(&site.server, request)])?;
    Ok(vec![series[0].figure("ml-check", "of ceiling").target(Target::AtLeast(0.40))])
}

fn notification(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(lab.small(), &[])?;
    let mut commits = CommitLoop::open(lab.copy(lab.small())?)?;
    let subject = Subject::new(&site.server, requests::notifications());
    let hello = rounds::hello(lab);
    hello.warm(lab)?;
    subject.warm(lab)?;
    let mut series = Series::default();
    let (mut of_loop, mut loop_rates) = (Vec::new(), Vec::new());
    for _ in 0..lab.args.rounds {
        let ceiling = sample(lab, &hello, f64::NAN)?.cpu_us;
        let taken = sample(lab, &subject, ceiling)?;
        let loop_rate = commits.run(lab.args.duration())?;
        of_loop.push(taken.per_second / loop_rate);
        loop_rates.push(loop_rate);
        series.0.push(taken);
    }
    let of_loop = Figure::new("notification", "of the commit loop", median(of_loop));
    Ok(vec![
        series.figure("notification", "of ceiling").target(Target::AtLeast(0.17)),
        of_loop.target(Target::AtLeast(0.8)),
        Figure::new("notification", "jobs a second of the loop", median(loop_rates)),
    ])
}

fn checkout(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let kept = lab.site(lab.small(), &[])?;
    let applied = lab.site(lab.small(), &[])?;
    let series = alternate(
        lab,
        &[
            Subject::new(&kept.server, requests::purchases("PURCHASE_BILLET_PRINTED")),
            Subject::new(&applied.server, requests::purchases("PURCHASE_APPROVED")),
        ],
    )?;
    Ok(vec![
        series[0].figure("checkout", "of ceiling, kept").target(Target::AtLeast(0.15)),
        series[1].figure("checkout", "of ceiling, a new student each"),
        Figure::new(
            "checkout",
            "us of processor, a new student each",
            series[1].median(|one| one.cpu_us),
        )
        .target(Target::AtMost(150.0)),
    ])
}
