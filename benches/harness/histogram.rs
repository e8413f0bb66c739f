//! Latencies, counted in buckets that are at most 3 % wide.

use std::time::Duration;

use anyhow::ensure;

/// Values below this have a bucket each; above it, each doubling has half as many.
const FINE: u64 = 64;
const PER_DOUBLING: u64 = FINE / 2;

/// How often each latency was seen, in microseconds.
#[derive(Clone, Default)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Histogram {
    /// Counts one latency.
    pub fn add(&mut self, latency: Duration) {
        let bucket = bucket(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
    }

    /// Number of latencies.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Milliseconds that `percent` of the latencies do not exceed; 0 when
    /// nothing was counted.
    pub fn percentile_ms(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(0.0, |bucket| highest(bucket) / 1000.0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "fewer than 2000 buckets")]
fn bucket(micros: u64) -> usize {
    let bucket = if micros < FINE {
        micros
    } else {
        let shift = u64::from(micros.ilog2() - PER_DOUBLING.ilog2());
        shift * PER_DOUBLING + (micros >> shift)
    };
    bucket as usize
}

/// Upper end of a bucket, in microseconds.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53")]
fn highest(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    if bucket < FINE {
        return bucket as f64;
    }
    let shift = bucket / PER_DOUBLING - 1;
    let lowest = (bucket - shift * PER_DOUBLING) << shift;
    (lowest + (1 << shift) - 1) as f64
}

/// Checks that every value is in its bucket, and that percentiles are right.
pub fn check() -> anyhow::Result<()> {
    for micros in (0..5000_u32).chain([65_535, 65_536, 1_000_000, 60_000_000]) {
        let (exact, shown) = (f64::from(micros), highest(bucket(u64::from(micros))));
        ensure!(
            exact <= shown && shown <= exact * 1.032 + 0.5,
            "the histogram shows {shown} for {micros} microseconds"
        );
    }
    let mut histogram = Histogram::default();
    (1..=100).for_each(|millis| histogram.add(Duration::from_millis(millis)));
    let (median, p99) = (histogram.percentile_ms(50), histogram.percentile_ms(99));
    ensure!(
        (50.0..51.7).contains(&median) && (99.0..102.2).contains(&p99),
        "of 1 to 100 ms the histogram shows a median of {median} and a p99 of {p99}"
    );
    Ok(())
}
