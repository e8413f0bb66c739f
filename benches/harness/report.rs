//! The output at the end: a table for people, `target/bench.json` for programs.

use std::io::Write as _;

use serde::Serialize;

use crate::lab::{Lab, say};

/// The target of a figure.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Met from this value up.
    AtLeast(f64),
    /// Met up to this value.
    AtMost(f64),
}

/// One measured figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figure {
    /// The case it belongs to.
    pub case: &'static str,
    /// What the figure means, with its unit.
    pub measure: String,
    /// The figure.
    pub value: f64,
    /// The target; absent where the figure is only information.
    pub target: Option<Target>,
    /// Answers a second in the same measurement.
    pub per_second: Option<f64>,
    /// 99th percentile of the time to an answer, in milliseconds.
    pub p99_ms: Option<f64>,
    /// Server CPU time of a request, in microseconds.
    pub cpu_us: Option<f64>,
}

impl Figure {
    /// A figure without rate, latency and CPU time.
    pub fn new(case: &'static str, measure: impl Into<String>, value: f64) -> Self {
        Self { case, measure: measure.into(), value, ..Self::default() }
    }

    /// The same figure with a target.
    pub fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// Whether it reaches its target, or has none.
    pub fn met(&self) -> bool {
        match self.target {
            None => true,
            Some(Target::AtLeast(least)) => self.value >= least,
            Some(Target::AtMost(most)) => self.value <= most,
        }
    }

    fn cells(&self) -> [String; 7] {
        let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let target = match self.target {
            None => "-".to_owned(),
            Some(Target::AtLeast(least)) => format!(">= {}", number(least)),
            Some(Target::AtMost(most)) => format!("<= {}", number(most)),
        };
        [
            self.case.to_owned(),
            self.measure.clone(),
            number(self.value),
            format!("{target}{}", if self.met() { "" } else { "  MISSED" }),
            optional(self.per_second),
            optional(self.p99_ms),
            optional(self.cpu_us),
        ]
    }
}

/// Three significant digits are enough for a figure that varies by some percent.
fn number(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Prints the table and what failed.
pub fn print(figures: &[Figure], failures: &[String]) -> anyhow::Result<()> {
    let titles = ["case", "figure", "value", "target", "req/s", "p99 ms", "CPU us"];
    let rows: Vec<[String; 7]> = std::iter::once(titles.map(str::to_owned))
        .chain(figures.iter().map(Figure::cells))
        .collect();
    let mut out = std::io::stdout().lock();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
            match column {
                0 | 1 | 3 => write!(out, "{cell:<width$}  ")?,
                _ => write!(out, "{cell:>width$}  ")?,
            }
        }
        writeln!(out)?;
    }
    for failure in failures {
        writeln!(out, "FAILED  {failure}")?;
    }
    Ok(())
}

/// Writes the same as JSON, with how it was measured.
pub fn save(lab: &Lab, figures: &[Figure], failures: &[String]) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let document = serde_json::json!({
        "machine": { "cores": cores },
        "method": {
            "connections": lab.args.connections,
            "seconds": lab.args.seconds,
            "rounds": lab.args.rounds,
            "ceiling": "server CPU time of a hello request / of a request of the case",
        },
        "figures": figures,
        "failures": failures,
    });
    std::fs::write(lab.json_file(), serde_json::to_vec_pretty(&document)?)?;
    say(&format!("written to {}", lab.json_file().display()));
    Ok(())
}
