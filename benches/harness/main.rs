//! The benchmark harness: figures of the executable, compared with a
//! hello-world server that is measured in the same run.
//!
//! `cargo bench --profile dist --bench harness -- [CASE…] [--seconds N] [--rounds N]
//! [--orders 10000,1000000] [--exe PATH] [--check]`; `--list` names the cases.
//!
//! The number of requests a second changes with the other work of the machine.
//! So the main figure is a share of the ceiling: the server's CPU time for a
//! hello request divided by that for a request of the case, both measured in
//! alternation. A case fails unless all its answers are as expected: speed
//! counts only where the work was done.

mod agency;
mod answer;
mod args;
mod cases;
mod commit_loop;
mod cron;
mod delivery;
mod hello;
mod histogram;
mod import;
mod lab;
mod limits;
mod load;
mod partner;
mod people;
mod program;
mod random;
mod report;
mod requests;
mod rounds;
mod seed;
mod seller;
mod server;
mod students;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Parser as _;

use args::Args;
use cases::{CASES, Case};
use lab::{Lab, say};

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.serve_hello {
        hello::serve().map(|()| true)
    } else if args.list {
        list().map(|()| true)
    } else if args.bench {
        measure(args)
    } else {
        self_check().map(|()| true)
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the chosen cases; whether the run counts as passed.
fn measure(args: Args) -> anyhow::Result<bool> {
    let chosen = chosen(&args.cases)?;
    let lab = Lab::open(args)?;
    let mut figures = Vec::new();
    let mut failures = Vec::new();
    for case in chosen {
        say(&format!("{}: {}", case.name, case.about));
        match (case.run)(&lab) {
            Ok(measured) => figures.extend(measured),
            Err(error) => failures.push(format!("{}: {error:#}", case.name)),
        }
    }
    report::print(&figures, &failures)?;
    report::save(&lab, &figures, &failures)?;
    let missed = figures.iter().any(|figure| !figure.met());
    Ok(failures.is_empty() && !(missed && lab.args.check))
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Case>> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            CASES
                .iter()
                .find(|case| case.name == name)
                .with_context(|| format!("no case is called {name}; --list names them"))
        })
        .collect()
}

fn list() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for case in CASES {
        writeln!(out, "{:<14} {}", case.name, case.about)?;
    }
    Ok(())
}

/// What `cargo test` runs, without `--bench`: checks that the instruments work.
fn self_check() -> anyhow::Result<()> {
    histogram::check()?;
    answer::check()?;
    requests::check()?;
    let hello = hello::start()?;
    let mut load = load::Load::new(hello.address(), requests::get("/", None), &[200]);
    load.connections = 4;
    load.duration = std::time::Duration::from_millis(100);
    let outcome = load::run(&load)?;
    ensure!(outcome.answers > 0, "the hello server answered nothing");
    hello.stop()?;
    writeln!(
        std::io::stdout(),
        "harness: instruments are sound; `cargo bench --profile dist --bench harness` measures"
    )?;
    Ok(())
}
