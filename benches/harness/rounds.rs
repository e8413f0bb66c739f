//! Measuring in alternation: each round takes one sample of the hello server
//! and one of every subject, so that other work of the machine affects all of
//! them alike.

use anyhow::ensure;

use crate::lab::Lab;
use crate::load::{self, Load, Request};
use crate::report::Figure;
use crate::server::Server;

/// A server and what to ask it.
pub struct Subject<'a> {
    pub server: &'a Server,
    /// Makes the requests.
    pub request: Request,
    /// Statuses that show that the work was done.
    pub expected: &'static [u16],
}

impl<'a> Subject<'a> {
    /// A server that must answer 200 to everything.
    pub fn new(server: &'a Server, request: Request) -> Self {
        Self { server, request, expected: &[200] }
    }

    /// The load of one measurement.
    pub fn load(&self, lab: &Lab) -> Load {
        let mut load = Load::new(self.server.address(), self.request.clone(), self.expected);
        load.connections = lab.args.connections;
        load.duration = lab.args.duration();
        load
    }

    /// Fills caches and connections, for a second.
    pub fn warm(&self, lab: &Lab) -> anyhow::Result<()> {
        let mut load = self.load(lab);
        load.duration = std::time::Duration::from_secs(1);
        load::run(&load).map(drop)
    }
}

/// The result of one measurement.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Answers a second.
    pub per_second: f64,
    /// 99th percentile of the time to an answer, in milliseconds.
    pub p99_ms: f64,
    /// Server CPU time of a request, in microseconds.
    pub cpu_us: f64,
    /// CPU time of a hello request of the same round, divided by that of this one.
    pub of_ceiling: f64,
}

/// The samples of one subject.
#[derive(Default)]
pub struct Series(pub Vec<Sample>);

impl Series {
    /// The median of one of the values.
    pub fn median(&self, value: impl Fn(&Sample) -> f64) -> f64 {
        median(self.0.iter().map(value).collect())
    }

    /// The share of the ceiling, together with rate, latency and CPU time.
    pub fn figure(&self, case: &'static str, measure: impl Into<String>) -> Figure {
        let share = self.median(|sample| sample.of_ceiling);
        Figure {
            per_second: Some(self.median(|sample| sample.per_second)),
            p99_ms: Some(self.median(|sample| sample.p99_ms)),
            cpu_us: Some(self.median(|sample| sample.cpu_us)),
            ..Figure::new(case, measure, share)
        }
    }
}

/// The middle value; the mean of the two middle values if there are two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => f64::NAN,
        (count, middle) if count % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        (_, middle) => values[middle],
    }
}

/// All rounds of several subjects, in the order given.
pub fn alternate(lab: &Lab, subjects: &[Subject<'_>]) -> anyhow::Result<Vec<Series>> {
    against(lab, &hello(lab), subjects)
}

/// The same with another subject as the ceiling.
pub fn against(
    lab: &Lab,
    ceiling: &Subject<'_>,
    subjects: &[Subject<'_>],
) -> anyhow::Result<Vec<Series>> {
    ceiling.warm(lab)?;
    for subject in subjects {
        subject.warm(lab)?;
    }
    let mut series: Vec<Series> = subjects.iter().map(|_| Series::default()).collect();
    for round in 0..lab.args.rounds {
        let ceiling_us = sample(lab, ceiling, f64::NAN)?.cpu_us;
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let taken = sample(lab, &subjects[at], ceiling_us)?;
            series[at].0.push(taken);
        }
    }
    Ok(series)
}

/// The hello server as a subject.
pub fn hello(lab: &Lab) -> Subject<'_> {
    Subject::new(&lab.hello, crate::requests::get("/", None))
}

/// One measurement of one subject, against the CPU time of a hello request.
pub fn sample(lab: &Lab, subject: &Subject<'_>, hello_us: f64) -> anyhow::Result<Sample> {
    let before = subject.server.cpu_seconds()?;
    let outcome = load::run(&subject.load(lab))?;
    let used = subject.server.cpu_seconds()? - before;
    ensure!(outcome.answers > 0, "a server answered nothing");
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    let cpu_us = used * 1e6 / outcome.answers as f64;
    Ok(Sample {
        per_second: outcome.per_second(),
        p99_ms: outcome.latencies.percentile_ms(99),
        cpu_us,
        of_ceiling: hello_us / cpu_us,
    })
}
