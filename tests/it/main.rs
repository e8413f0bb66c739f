//! Black-box tests: the real executable, over real sockets, on a fresh folder.
//!
//! [`site::Site`] starts the server and hands out actors; [`world::World`]
//! starts the stand-in marketplace. Data enters by the product's own doors,
//! time moves by the clock file, and [`checks`] holds on every reply.

#![allow(
    clippy::unwrap_used,
    reason = "in a test, unwrapping is the assertion, also in its helpers"
)]

mod actors; // Who talks to the server.
mod chance; // What chance does to shops, marketplace and platform.
mod checks; // What must hold on every reply, whatever was asked.
mod client; // A small blocking HTTP/1.1 client, raw where a test needs it.
mod furnish; // A site with something in every list.
mod health; // What an owner is told of how an account is read.
mod hooked; // A program that is told by webhook.
mod html; // A strict reader of our pages.
mod memory; // How much memory a process has, and a ceiling on it.
mod openapi; // Replies against the OpenAPI document.
mod page_rules; // What must hold on every page.
mod payloads; // Texts that would run if they were taken for more.
mod process; // Child processes that say where they listen; waiting.
mod random; // Numbers that look random and are the same in every run.
mod receiver; // A browser that is told by push, without the browser.
mod site; // The server under test, its commands and its clock.
mod smtp; // The beginning of a mail server.
mod trouble; // What goes wrong by chance.
mod truth; // The mirror beside what the marketplace has.
mod webdriver; // A browser that a test drives.
mod world; // The stand-in marketplace, scripted.

mod addresses; // E-mail addresses beyond ASCII.
mod agency;
mod agency_access; // Who is let in to the agency's pages, row by row.
mod agency_links; // How accounts come to the agency and leave it.
mod agency_questions; // The agency's queue: filters, answering once, holds, saved replies.
mod agent_tools; // A tool and its address say the same and do the same.
mod agents; // The agent endpoint: messages, lists of tools, limits, origins.
mod alerts; // How people are told: choices, texts, channels, and who hears of trouble.
mod answers; // Answers to buyers: what is allowed, what is not taken.
mod asked; // Questions of buyers, told by chat as their owner wants it.
mod audit; // The audit log: who did what, found again.
mod bodies; // A thousand generated bodies for every POST row.
mod browser; // What people do in the panels, in a real browser.
mod browser_pages; // Every page by itself: accessible, quiet, fits a phone.
mod browser_questions; // Questions answered by keyboard, in a real browser.
mod browser_text; // What strangers typed, in a real browser.
mod catalog; // Products: form, search, file, command; stock by hand and by orders.
mod check_outside; // `check` asks each service outside, and says what has no effect.
mod checkout; // The checkout receiver: who may speak, what is understood.
mod checkout_rules; // What each purchase event does to a student.
mod classroom; // Courses, lessons and meets as students see them.
mod cli; // The command line: help, options, words for people, addresses.
mod commands; // What the commands print, and what they do beside a server.
mod conditional; // Conditional requests, HEAD, OPTIONS and other origins.
mod config; // Starting with something wrong: one clear line, nothing touched.
mod content; // Teachers, courses, lessons and meets, as staff keeps them.
mod convergence; // Whatever happens, the mirror ends as the marketplace is.
mod cron; // The periodic tasks: who starts them, what they do, and only once.
mod cron_rules; // Meet reminders and inactivity alerts, at the edges of their times.
mod dashboard; // The extension's dashboard: from memory, and never stale.
mod delivery;
mod demo; // The demonstration: what it says, what it logs, what it leaves.
mod developers; // OpenAPI, the developer pages, the public state.
mod disk_full; // No space: refused, told, and well again by itself.
mod durability; // Killed at any moment, the server keeps what it answered.
mod exhaustion; // One client must not stop the others.
mod fees; // The fee calculator: fields, memory of a day, and whose account.
mod files; // Which files commands make, replace, refuse and leave alone.
mod forms; // Forms do their work once, and what came of it is told once.
mod framing; // Requests that are not what they seem.
mod home; // The operator's home: what is open, and the verdict.
mod import; // Students from a list: checked first, then all of them or none.
mod inbox; // What the marketplace told, as the operator sees it.
mod integration; // What integrations do with a key, and what suspension ends.
mod invoices;
mod key_file; // The key of the sealed secrets: lost, wrong, put back, given up.
mod key_pages; // API keys in the panel: made, shown once, exchanged, revoked.
mod keys; // API keys: what they open, from where, how often and until when.
mod labels; // Labels for parcels: which, whose, and what is said when not.
mod limits; // Windows, plan rates, quota and the login throttle.
mod linking; // From consent to sale, with the stand-in marketplace.
mod mail; // Messages by e-mail: what leaves, in which form.
mod mirror; // Listings, questions, claims and shipments, as the marketplace has them.
mod oauth; // Programs that people connect: asked, allowed, renewed, ended.
mod oauth_asking; // What programs ask of people, and what people are asked.
mod oauth_clients; // Programs that register, and documents about programs.
mod odd_records; // One bad record fails no page of good ones.
mod openapi_input; // What the OpenAPI document allows is what the server takes.
mod outage; // A chat gateway that is away, silent, and back again.
mod pages; // Every page of every role: structure, references, addresses.
mod partner_accounts; // Accounts of the Partner API in the operator's panel.
mod partner_canary; // Whatever one party asks, nothing of another's is in the answer.
mod partner_drop; // Suppliers: relations, links, drop orders, reminders, files.
mod partner_hub; // A seller's tokens in the panel.
mod partner_notify; // Notifications that partners send: once, by the channel asked for.
mod partner_quota; // The quota of the month, under load and across kills.
mod partner_reads; // What sellers read through the Partner API.
mod passwords; // Links to choose a password, and asking for one.
mod people_acts; // What an operator does to a person.
mod photos; // Photos: checked, rebuilt, served, replaced.
mod plans; // No route walks a table that grows.
mod profile; // What people change of their own account.
mod program; // Check-ins, points, milestones, challenges and the ranking.
mod public; // What anyone may read: shapes, freshness, and memory.
mod push; // Messages to browsers: switched on, encrypted, refused, switched off.
mod push_browser; // Messages to a real browser, by its own push service.
mod queue; // What waits to leave, and what the operator does about it.
mod receiving; // Notifications are taken at once, however slow the marketplace is.
mod refresh; // Tokens of accounts: renewed once, also when killed in the middle.
mod requests; // The log of requests: who asked what, and what is never kept.
mod roles; // What roles and people may do, in force at once.
mod sessions; // How sessions and tokens begin, what they refuse, when they end.
mod shops; // The seller's panel: sales, listings, questions and claims.
mod stored_text; // What strangers typed runs nothing on any page.
mod storm; // Deliveries in any order and number end in one state.
mod strangers; // What belongs to another is not there, on every route.
mod students; // People in the operator's panel: lists, forms, suspension, removal.
mod suppliers; // The supplier's panel, from the invitation to the paid order.
mod suspended; // Suspended means suspended: every credential, every row, every door.
mod sweep; // Every row of the route table, asked by every kind of caller.
mod sync; // What the platform reads at the marketplace by itself.
mod sync_things; // Listings, questions, claims and shipments that nobody told of.
mod telegram; // Telegram: chats linked, messages sent, updates heard.
mod telegram_sends; // Messages that leave by Telegram.
mod tidy; // Rules about the source tree itself.
mod uncounted; // Calls that cost no place in a window and none of a quota.
mod upkeep; // What a key of the operator opens: copies and figures.
mod view_as; // "View as student": looking only, for half an hour, told in the audit log.
mod webhook_trouble; // Webhooks when receivers are in trouble.
mod webhooks; // What programs are told by webhook, and what their owners see.
mod wrong_answers; // A marketplace that counts wrong, or keeps records back.
