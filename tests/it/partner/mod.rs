//! The Partner API, with programs, assistants and webhooks.

mod accounts; // Accounts of the Partner API in the operator's panel.
mod agent_tools; // A tool and its operation's address give the same answers and effects.
mod agents; // The agent endpoint: messages, lists of tools, limits, origins.
mod canary; // No answer to one party contains anything of an unrelated one.
mod guides; // Programs of the developer pages, run.
mod hub; // A seller's tokens in the panel.
mod input; // Ids of one type, and all faults of a call in one answer.
mod keeping_up; // Cursors, what changed since, one order, the stream of events.
mod listen; // Events brought to a program at the same machine, by the commands listen and trigger.
mod mirror; // Copies kept by cursor, by changes and by events equal the books.
mod notify; // Notifications that partners send: once, by the chosen channel.
mod oauth; // Programs that people connect: requested, allowed, renewed, ended.
mod oauth_asking; // Authorization requests of programs, and people's decisions.
mod oauth_clients; // Programs that register, and programs that are described by a document.
mod oauth_floods; // Strangers who register, ask and name documents that hang.
mod packed; // Answers as gzip, with their tags.
mod quota; // The quota of the month, under load and across kills.
mod reads; // What sellers read through the Partner API.
mod summary; // The day of a seller in one answer, and what sold most.
pub mod test_shops; // Test shops: sample data for test tokens, apart from all that is real.
mod told_each; // Every event has one delivery, and every delivery is an event.
mod uncounted; // Calls that count in no window and in no quota.
mod webhook_api; // Endpoints by token and by app: made, changed, tested, removed, with every attempt.
mod webhook_trouble; // Webhooks when receivers are in trouble.
mod webhook_types; // What else is told: ends of orders, questions and claims, listings, lost accounts.
mod webhooks; // What programs receive by webhook, and what owners see.
mod writes; // What a token that may write changes, and what others may not.
