//! The one file: what it survives, and how statements run.

mod cut_off; // Changes of the file that were cut off, and copies that are not what they were.
mod damage; // A damaged database: told, kept, and nothing is written.
mod disk_full; // A disk without space: rejected, reported, and recovered without help.
mod durability; // When it is killed at any moment, the server keeps what it confirmed.
mod key_file; // The key of the encrypted values: lost, wrong, put back, given up.
mod plans; // No statement of a route scans a table that grows.
mod vanished; // Files that go away under the server, and a log removed after a crash.
mod versions; // A database of each version: brought up, put back, brought up again.
