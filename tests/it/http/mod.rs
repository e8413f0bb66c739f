//! Requests and connections, whatever they ask for.

mod conditional; // Conditional requests, HEAD, OPTIONS and other origins.
mod framing; // Requests that are not what they seem.
mod https; // HTTPS of our own, with files of the operator.
mod limits; // Windows, plan rates, quota and the login throttle.
mod pebble; // Certificates by ACME.
mod proxies; // Caddy and nginx in front of us, as documented.
