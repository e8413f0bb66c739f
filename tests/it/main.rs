//! Black-box tests: the real executable, over real sockets, on a fresh folder.
//!
//! [`site::Site`] starts the server and makes actors; [`world::World`] starts
//! the simulated marketplace. Data enters through the product itself, time moves
//! by the clock file, and every reply is checked by [`checks`].

#![allow(
    clippy::unwrap_used,
    reason = "in a test, unwrapping is the assertion, also in its helpers"
)]

mod actors; // Callers of the server, each with a credential.
mod authority; // A certificate authority, and requests by HTTPS.
mod chance; // Random events in shops, at the marketplace and on the platform.
mod checks; // Rules for every reply, whatever the request was.
mod client; // A small blocking HTTP/1.1 client, raw where a test needs it.
mod furnish; // A site with records in every list.
mod health; // What an owner sees about the reading of an account.
mod hooked; // A program that receives webhooks.
mod html; // A strict parser of our pages.
mod memory; // How much memory a process has, and a limit on it.
mod openapi; // Replies against the OpenAPI document.
mod page_rules; // Rules for every page.
mod payloads; // Texts that would run if they were not treated as plain text.
mod process; // Child processes that print their address; waiting.
mod random; // Numbers that look random and are the same in every run.
mod receiver; // A browser that gets push messages, without a browser.
mod site; // The server under test, its commands and its clock.
mod smtp; // Stand-ins for a mail server.
mod trouble; // Random trouble.
mod truth; // Compares the mirror with what the marketplace has.
mod webdriver; // A browser that a test drives.
mod world; // The simulated marketplace, controlled by the test.

mod addresses; // E-mail addresses beyond ASCII.
mod agency;
mod agency_access; // Who may open the agency's pages, row by row.
mod agency_links; // How the agency gets and loses accounts.
mod agency_questions; // The agency's queue: filters, answering once, holds, saved replies.
mod agent_tools; // A tool and its operation's address give the same answers and effects.
mod agents; // The agent endpoint: messages, lists of tools, limits, origins.
mod alerts; // Messages to people: choices, texts, channels, and alerts about failures.
mod answers; // Answers to buyers: what the marketplace accepts and rejects.
mod arrows; // Who may name whom in the source tree.
mod asked; // Chat messages about buyers' questions, as the account's owner chose.
mod audit; // The audit log: who did what, and how it is found.
mod bodies; // A thousand generated bodies for every POST row.
mod browser; // What people do in the panels, in a real browser.
mod browser_pages; // Every page by itself: accessible, silent console, fits a phone.
mod browser_questions; // Questions answered by keyboard, in a real browser.
mod browser_text; // Text of strangers, in a real browser.
mod catalog; // Products: form, search, file, command; stock by hand and by orders.
mod check_outside; // `check` calls each outside service, and names settings without effect.
mod check_upkeep; // `check` of what an installation needs over time.
mod checkout; // The checkout receiver: who may send, what is accepted.
mod checkout_rules; // What each purchase event does to a student.
mod classroom; // Courses, lessons and meets as students see them.
mod cli; // The command line: help, options, texts for people, addresses.
mod commands; // What the commands print, and that a running server notices what they change.
mod conditional; // Conditional requests, HEAD, OPTIONS and other origins.
mod config; // Starting with a wrong configuration: one clear line, nothing touched.
mod content; // Teachers, courses, lessons and meets, as staff manages them.
mod convergence; // Whatever happens, the mirror ends like the marketplace.
mod copies; // Copies that the service makes by itself.
mod copies_astray; // Copies from a wrong clock, of another key, made by a command.
mod cron; // The periodic tasks: who starts them, how they run, and only once.
mod cron_rules; // Meet reminders and inactivity alerts, tested at the exact times.
mod cut_off; // Changes of the file that were cut off, and copies that are not what they were.
mod damage; // A damaged database: told, kept, and nothing is written.
mod dashboard; // The extension's dashboard: from memory, and never stale.
mod delivery;
mod demo; // The demonstration: what it prints, what it logs, what it leaves behind.
mod developers; // OpenAPI, the developer pages, the public state.
mod disk_full; // A disk without space: rejected, reported, and recovered without help.
mod durability; // When it is killed at any moment, the server keeps what it confirmed.
mod exhaustion; // One client must not stop the others.
#[path = "../faults/mod.rs"]
mod faults; // The fault plan: power cuts, disk errors, jumps of the clock, frozen processes.
mod fees; // The fee calculator: fields, the cache of a day, and accounts.
mod files; // Which files commands make, replace, reject and leave alone.
mod forms; // Forms do their work once, and their result is shown once.
mod framing; // Requests that are not what they seem.
mod home; // The operator's home: open problems, and the verdict.
mod https; // HTTPS of our own, with files of the operator.
mod import; // Students from a list: checked first, then all of them or none.
mod inbox; // The marketplace's notifications, as the operator sees them.
mod inside; // The service from inside: diagnostics, requests followed, figures, bundles.
mod installer; // `install.sh`: what an update keeps, and when it goes back.
mod integration; // What integrations do with a key, and what suspension ends.
mod invoices;
mod key_file; // The key of the encrypted values: lost, wrong, put back, given up.
mod key_pages; // API keys in the panel: made, shown once, exchanged, revoked.
mod keys; // API keys: what they allow, from where, how often and until when.
mod labels; // Labels for parcels: which, by whom, and the errors.
mod limits; // Windows, plan rates, quota and the login throttle.
mod linking; // From consent to sale, with the simulated marketplace.
mod mail; // Messages by e-mail: what is sent, in which form.
mod mirror; // Listings, questions, claims and shipments, as the marketplace has them.
mod oauth; // Programs that people connect: requested, allowed, renewed, ended.
mod oauth_asking; // Authorization requests of programs, and people's decisions.
mod oauth_clients; // Programs that register, and programs that are described by a document.
mod oauth_floods; // Strangers who register, ask and name documents that hang.
mod odd_records; // One bad record does not break a page of good ones.
mod openapi_input; // The server accepts what the OpenAPI document allows.
mod outage; // A chat gateway that is not reachable, silent, and back again.
mod page_states; // Pages in states that no link leads to.
mod pages; // Every page of every role: structure, references, addresses.
mod partner_accounts; // Accounts of the Partner API in the operator's panel.
mod partner_canary; // No answer to one party contains anything of an unrelated one.
mod partner_drop; // Suppliers: relations, links, drop orders, reminders, files.
mod partner_hub; // A seller's tokens in the panel.
mod partner_input; // Ids of one type, and all faults of a call in one answer.
mod partner_notify; // Notifications that partners send: once, by the chosen channel.
mod partner_quota; // The quota of the month, under load and across kills.
mod partner_reads; // What sellers read through the Partner API.
mod passwords; // Links to choose a password, and requests for one.
mod pebble; // Certificates by ACME.
mod people_acts; // What an operator does to a person.
mod photos; // Photos: checked, encoded again, served, replaced.
mod plans; // No statement of a route scans a table that grows.
mod privacy; // All data of a person as a file, and its erasure; looks at it; the chain of the audit log.
mod profile; // What people change of their own account.
mod program; // Check-ins, points, milestones, challenges and the ranking.
mod proxies; // Caddy and nginx in front of us, as documented.
mod public; // Public answers: shapes, freshness, and memory.
mod push; // Messages to browsers: switched on, encrypted, rejected, switched off.
mod push_browser; // Messages to a real browser, through its own push service.
mod queue; // Messages that wait to be sent, and what the operator can do with them.
mod receiving; // Notifications are accepted at once, however slow the marketplace is.
mod refresh; // Tokens of accounts: renewed once, also after a kill in between.
mod refused_mail; // A mail server that rejects one address, or everybody.
mod replica; // The replica and a second machine, by Litestream.
mod replica_edges; // Stops, two at once, what is not mounted, and no space.
mod replica_s3; // A replica in a bucket, and a network that ends.
mod requests; // The log of requests: who requested what, and what is never stored.
mod roles; // What roles and people may do, effective at once.
mod sessions; // How sessions and tokens begin, what they reject, when they end.
mod shops; // The seller's panel: sales, listings, questions and claims.
mod stored_text; // Text of strangers runs nothing on any page.
mod storm; // Notifications in any order and number end in one state.
mod strangers; // Records of another person are not found, on every route.
mod students; // People in the operator's panel: lists, forms, suspension, removal.
mod suppliers; // The supplier's panel, from the invitation to the paid order.
mod suspended; // Suspension ends all access: every credential, row and login.
mod sweep; // Every row of the route table, called by every kind of caller.
mod sync; // What the platform reads at the marketplace by itself.
mod sync_things; // Listings, questions, claims and shipments without a notification.
mod telegram; // Telegram: chats linked, messages sent, updates received.
mod telegram_sends; // Messages that are sent by Telegram.
mod tidy; // Rules about the source tree itself.
mod uncounted; // Calls that count in no window and in no quota.
mod upkeep; // What a key of the operator allows: copies and metrics.
mod vanished; // Files that go away under the server, and a log removed after a crash.
mod versions; // A database of each version: brought up, put back, brought up again.
mod view_as; // "View as student": read-only, for half an hour, noted in the audit log.
mod watchdog; // What a supervisor hears of the server.
mod webhook_trouble; // Webhooks when receivers are in trouble.
mod webhooks; // What programs receive by webhook, and what owners see.
mod wrong_answers; // A marketplace with wrong totals or missing records.
