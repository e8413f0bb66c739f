//! The replica and a second machine, by Litestream.

mod bucket; // A replica in a bucket, and a network that ends.
mod edges; // Stops, two at once, what is not mounted, and no space.
mod following; // The replica and a second machine, by Litestream.
