//! The harness's command line.

use std::path::PathBuf;
use std::time::Duration;

/// Measures the executable against the ceiling of this machine.
#[derive(clap::Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent of each other"
)]
#[command(name = "harness")]
pub struct Args {
    /// Cases to run; all of them when none is named
    pub cases: Vec<String>,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: u64,
    /// Measurements of each kind; medians are shown
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// Sizes of the order table, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000],
          value_parser = clap::value_parser!(i64).range(1000..))]
    pub orders: Vec<i64>,
    /// Keep-alive connections of the load
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=250))]
    pub connections: u32,
    /// The executable to measure, instead of the one that cargo has built
    #[arg(long)]
    pub exe: Option<PathBuf>,
    /// End with an error when a target is missed
    #[arg(long)]
    pub check: bool,
    /// Name the cases and end
    #[arg(long)]
    pub list: bool,
    /// Set by `cargo bench`; without it only the instruments are checked
    #[arg(long, hide = true)]
    pub bench: bool,
    /// Be the hello server
    #[arg(long, hide = true)]
    pub serve_hello: bool,
}

impl Args {
    /// Length of one measurement.
    pub fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}
