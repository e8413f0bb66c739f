//! Public reads, kept ready to send.

use std::sync::{Arc, PoisonError};

use http::HeaderValue;
use http::header::CACHE_CONTROL;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::plans::{Plan, store};
use crate::app::App;
use crate::clock::Instant;
use crate::http::conditional::{Rendered, Validators};
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::money::Cents;

const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// A plan on the wire (contract §6).
#[derive(Serialize, JsonSchema)]
pub struct WirePlan {
    id: String,
    slug: String,
    titulo: String,
    preco: Cents,
    moeda: String,
    /// `mensal`, `anual` or `unico`.
    periodicidade: String,
    beneficios: Vec<String>,
    link_checkout: String,
}

impl WirePlan {
    /// The wire form of a plan.
    pub fn of(plan: Plan) -> Self {
        Self {
            id: plan.id.to_string(),
            slug: plan.slug,
            titulo: plan.title,
            preco: plan.price,
            moeda: plan.currency,
            periodicidade: plan.period,
            beneficios: plan.benefits,
            link_checkout: plan.checkout_link,
        }
    }
}

/// The envelope of public and integration answers.
#[derive(Serialize, JsonSchema)]
pub struct Envelope<T> {
    success: bool,
    message: &'static str,
    data: T,
}

/// The schema of [`plans`]' answer.
pub fn plans_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<Vec<WirePlan>>>()
}

/// `GET /api/v1/planos`: all active plans.
pub fn plans(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let version = app.versions.content();
    let kept = app
        .public
        .plans
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let page = match kept {
        Some((of, page)) if of == version => page,
        _ => {
            let page = Arc::new(render_plans(app, request)?);
            let mut slot = app
                .public
                .plans
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *slot = Some((version, Arc::clone(&page)));
            page
        }
    };
    let full = || Reply::of(media::JSON, page.body.clone());
    Ok(page
        .validators
        .answer(request.headers(), full)
        .with(CACHE_CONTROL, A_MINUTE))
}

fn render_plans(app: &App, request: &Request) -> Result<Rendered, Problem> {
    let (plans, changed) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((store::active_plans(tx)?, store::plans_changed_at(tx)?))
    })?;
    let data: Vec<WirePlan> = plans.into_iter().map(WirePlan::of).collect();
    let body = serde_json::to_vec(&Envelope {
        success: true,
        message: "planos ativos",
        data,
    })
    .map_err(Problem::internal)?;
    Ok(Rendered {
        validators: Validators::of_content(&body, Some(changed.unwrap_or(Instant(0)))),
        body: body.into(),
    })
}
