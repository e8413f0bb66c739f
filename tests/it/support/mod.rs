//! What all tests share: the server and its callers, the marketplace, rules for
//! every reply.

pub mod actors; // Callers of the server, each with a credential.
pub mod authority; // A certificate authority, and requests by HTTPS.
pub mod chance; // Random events in shops, at the marketplace and on the platform.
pub mod checks; // Rules for every reply, whatever the request was.
pub mod client; // A small blocking HTTP/1.1 client, raw where a test needs it.
pub mod furnish; // A site with records in every list.
pub mod hooked; // A program that receives webhooks.
pub mod html; // A strict parser of our pages.
pub mod memory; // How much memory a process has, and a limit on it.
pub mod openapi; // Replies against the OpenAPI document.
pub mod page_rules; // Rules for every page.
pub mod payloads; // Texts that would run if they were not treated as plain text.
pub mod process; // Child processes that print their address; waiting.
pub mod random; // Numbers that look random and are the same in every run.
pub mod receiver; // A browser that gets push messages, without a browser.
pub mod site; // The server under test, its commands and its clock.
pub mod smtp; // Stand-ins for a mail server.
pub mod trouble; // Random trouble.
pub mod truth; // Compares the mirror with what the marketplace has.
pub mod webdriver; // A browser that a test drives.
pub mod world; // The simulated marketplace, controlled by the test.
