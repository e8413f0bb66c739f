//! What all tests share: the server and its callers, the marketplace, rules for
//! every reply.

pub mod actors; // Callers of the server, each with a credential.
pub mod agency; // The agency's team, its clients and the queue of questions.
pub mod agents; // Calls of assistants.
pub mod archive; // Archives that the service sends.
pub mod authority; // A certificate authority, and requests by HTTPS.
pub mod chance; // Random events in shops, at the marketplace and on the platform.
pub mod chat; // A site that sends by a chat gateway.
pub mod checkout; // Purchase events, as the checkout sends them.
pub mod checks; // Rules for every reply, whatever the request was.
pub mod client; // A small blocking HTTP/1.1 client, raw where a test needs it.
pub mod content; // Courses and other content, made as staff does.
pub mod cron; // The periodic tasks, run when a test wants them to.
pub mod dropshipping; // A supplier and a seller who do business.
pub mod furnish; // A site with records in every list.
pub mod hooked; // A program that receives webhooks.
pub mod html; // A strict parser of our pages.
pub mod memory; // How much memory a process has, and a limit on it.
pub mod oauth; // A program that people connect.
pub mod openapi; // Replies against the OpenAPI document.
pub mod page_rules; // Rules for every page.
pub mod partner; // Accounts of the Partner API in the operator's panel.
pub mod payloads; // Texts that would run if they were not treated as plain text.
pub mod people; // People in the operator's panel.
pub mod photos; // Photos as a browser sends them.
pub mod process; // Child processes that print their address.
pub mod random; // Numbers that look random and are the same in every run.
pub mod receiver; // A browser that gets push messages, without a browser.
pub mod replica; // A machine with a replica, by Litestream.
pub mod rows; // Rows of the route table: who may call them, and the rules for pages.
pub mod shop; // A shop with orders, parcels and labels.
pub mod shops; // A student with two shops: sales, listings, questions and claims.
pub mod site; // The server under test, its commands and its clock.
pub mod smtp; // Stand-ins for a mail server.
pub mod sync; // Accounts that are read from the marketplace.
pub mod telegram; // A Telegram bot, and chats with it.
pub mod trouble; // Random trouble.
pub mod truth; // Compares the mirror with what the marketplace has.
pub mod visits; // Lists requested in every way, and everything done that can be done.
pub mod wait; // Waiting for events, or for a condition until a deadline.
pub mod webdriver; // A browser that a test drives.
pub mod world; // The simulated marketplace, controlled by the test.
