//! Pseudo-random numbers (`SplitMix64`): repeatable for seeding, cheap for load.

/// A stream of numbers; the same seed gives the same stream.
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream that differs in every run.
    pub fn fresh() -> anyhow::Result<Self> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| anyhow::anyhow!("the system gave no random bytes: {error}"))?;
        Ok(Self(u64::from_le_bytes(seed)))
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `limit`.
    pub const fn below(&mut self, limit: i64) -> i64 {
        // The bias of a remainder is far below what a benchmark can see.
        (self.next() >> 1).cast_signed() % limit
    }

    /// An index into a list of `length` items.
    #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
    pub const fn index(&mut self, length: usize) -> usize {
        (self.next() % length as u64) as usize
    }
}
