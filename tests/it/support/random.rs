//! Numbers that look random and are the same in every run.

/// A small generator (xorshift), so that a failing case can be repeated.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    /// One of several things.
    pub fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        let index = usize::try_from(self.below(things.len() as u64)).unwrap();
        &things[index]
    }
}
