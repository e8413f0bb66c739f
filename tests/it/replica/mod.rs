//! The replica and a second machine, by Litestream.

pub mod bucket; // A replica in a bucket, and a network that ends.
pub mod edges; // Stops, two at once, what is not mounted, and no space.
pub mod following; // The replica and a second machine, by Litestream.
