//! Requests and connections, whatever they ask for.

pub mod conditional; // Conditional requests, HEAD, OPTIONS and other origins.
pub mod framing; // Requests that are not what they seem.
pub mod https; // HTTPS of our own, with files of the operator.
pub mod limits; // Windows, plan rates, quota and the login throttle.
pub mod pebble; // Certificates by ACME.
pub mod proxies; // Caddy and nginx in front of us, as documented.
