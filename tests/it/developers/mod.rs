//! What integrators read.

mod generated; // What generators make of the document, and the collection for Postman.
mod input; // The server accepts what the OpenAPI document allows.
mod pages; // OpenAPI, the developer pages.
mod plain; // The same pages as Markdown, the list for assistants, the feed.
mod samples; // What is sent to each address, right and wrong.
mod status; // The public state, and its days.
mod told; // The bodies of events in the document.
mod units; // Civil times beside their offset, amounts with their currency.
