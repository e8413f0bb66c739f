//! `POST /api/v1/webhook/llm`: an assistant asks for plans, meets or the whole
//! context, and receives the documents of the public endpoints.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::content::documents::Page;
use crate::content::public;
use crate::content::wire::{WireContext, WireMeet, WirePlan};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::KeyHolder;

type Document = fn(&App, &Request) -> Result<Arc<Page>, Problem>;

/// The actions, each with the document that answers it.
const ACTIONS: [(&str, Document); 3] = [
    ("get_planos", public::plans),
    ("get_meets", public::meets),
    ("get_contexto", public::context),
];

/// What is asked for.
#[derive(Deserialize, JsonSchema)]
pub struct LlmBody {
    /// `get_planos`, `get_meets` or `get_contexto`.
    #[serde(default)]
    #[schemars(!default, extend("enum" = ACTIONS.map(|(name, _)| name)))]
    action: Field<String>,
}

/// The data of each action.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the schema: the public documents are sent as they are")]
pub enum LlmData {
    Planos(Vec<WirePlan>),
    Meets(Vec<WireMeet>),
    Contexto(Box<WireContext>),
}

pub fn answer(app: &App, _: &KeyHolder, request: &Request) -> Result<Reply, Problem> {
    let body: LlmBody = request.json()?;
    let mut check = Check::json();
    let action = check.required("action", body.action);
    let asked = ACTIONS.iter().find(|(name, _)| *name == action);
    if asked.is_none() {
        check.fail("action", "must be get_planos, get_meets or get_contexto");
    }
    check.finish()?;
    let (_, document) = asked.ok_or_else(Problem::not_found)?;
    Ok(document(app, request)?.reply())
}
