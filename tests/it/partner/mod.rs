//! The Partner API, with programs, assistants and webhooks.

pub mod accounts; // Accounts of the Partner API in the operator's panel.
pub mod agent_tools; // A tool and its operation's address give the same answers and effects.
pub mod agents; // The agent endpoint: messages, lists of tools, limits, origins.
pub mod canary; // No answer to one party contains anything of an unrelated one.
pub mod hub; // A seller's tokens in the panel.
pub mod input; // Ids of one type, and all faults of a call in one answer.
pub mod notify; // Notifications that partners send: once, by the chosen channel.
pub mod oauth; // Programs that people connect: requested, allowed, renewed, ended.
pub mod oauth_asking; // Authorization requests of programs, and people's decisions.
pub mod oauth_clients; // Programs that register, and programs that are described by a document.
pub mod oauth_floods; // Strangers who register, ask and name documents that hang.
pub mod quota; // The quota of the month, under load and across kills.
pub mod reads; // What sellers read through the Partner API.
pub mod uncounted; // Calls that count in no window and in no quota.
pub mod webhook_trouble; // Webhooks when receivers are in trouble.
pub mod webhooks; // What programs receive by webhook, and what owners see.
