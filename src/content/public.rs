//! Content that anyone may read, kept in memory ready to send.
//!
//! A document is rendered once, at the first request after a change, and reused
//! until the next change. A document that also changes with time keeps the
//! minute for which it was rendered. Requests in between do not read the
//! database.

use std::sync::Arc;

use super::documents::{
    CacheLifetime::{AMinute, UntilChanged},
    Page,
};
use super::schema_doc::WireSchema;
use super::store::{self, Topic};
use super::teachers::WireTeacher;
use super::wire::{WireContext, WireMeet, WirePlan, WirePlatform};
use super::{meets, plans, teachers};
use crate::app::App;
use crate::base::Instant;
use crate::db::ReadTx;
use crate::http::{Problem, Request};
use crate::services::Services;

/// Meets that the public list shows.
const MEETS: u32 = 10;

/// All active plans.
pub fn plans(app: &App, request: &Request) -> Result<Arc<Page>, Problem> {
    let document = &app.caches.public.plans;
    document.page(app, UntilChanged, request, "planos ativos", |tx| {
        Ok((changed(tx, Topic::Plans)?, active_plans(tx)?))
    })
}

/// All teachers.
pub fn teachers(app: &App, request: &Request) -> Result<Arc<Page>, Problem> {
    let document = &app.caches.public.teachers;
    document.page(app, UntilChanged, request, "professores", |tx| {
        Ok((changed(tx, Topic::Teachers)?, all_teachers(tx)?))
    })
}

/// The next meets.
pub fn meets(app: &App, request: &Request) -> Result<Arc<Page>, Problem> {
    let document = &app.caches.public.meets;
    document.page(app, AMinute, request, "próximos encontros ao vivo", |tx| {
        Ok((None, next_meets(app, tx, request.now)?))
    })
}

/// Everything a language model should know.
pub fn context(app: &App, request: &Request) -> Result<Arc<Page>, Problem> {
    let document = &app.caches.public.context;
    document.page(app, AMinute, request, "contexto da plataforma", |tx| {
        let context = WireContext {
            plataforma: platform(app),
            estatisticas: store::statistics(tx, request.now.start_of_minute())?,
            planos: active_plans(tx)?,
            professores: all_teachers(tx)?,
            meets: next_meets(app, tx, request.now)?,
            instrucoes: instructions(&app.config.server.name),
            gerado_em: app.zone().spaced(tx.now()),
        };
        Ok((None, context))
    })
}

/// The description of the database.
pub fn schema(app: &App, request: &Request) -> Result<Arc<Page>, Problem> {
    let document = &app.caches.public.schema;
    document.page(app, UntilChanged, request, "estrutura do banco de dados", |tx| {
        Ok((None, WireSchema::read(tx)?))
    })
}

/// When a topic last changed, which a new database never did.
fn changed(tx: &ReadTx<'_>, topic: Topic) -> Result<Option<Instant>, Problem> {
    Ok(Some(store::changed_at(tx, topic)?.unwrap_or(Instant(0))))
}

fn active_plans(tx: &ReadTx<'_>) -> Result<Vec<WirePlan>, Problem> {
    let plans = plans::store::active_plans(tx)?;
    Ok(plans.into_iter().map(WirePlan::of).collect())
}

fn all_teachers(tx: &ReadTx<'_>) -> Result<Vec<WireTeacher>, Problem> {
    let teachers = teachers::store::all(tx)?;
    Ok(teachers.into_iter().map(WireTeacher::of).collect())
}

fn next_meets(
    services: &Services,
    tx: &ReadTx<'_>,
    now: Instant,
) -> Result<Vec<WireMeet>, Problem> {
    let meets = meets::store::upcoming(tx, now.start_of_minute(), MEETS)?;
    let on_wire = meets.into_iter().map(|meet| WireMeet::of(meet, services.zone(), now));
    Ok(on_wire.collect())
}

fn platform(app: &App) -> WirePlatform {
    WirePlatform {
        nome: app.config.server.name.clone(),
        descricao: "Plataforma para quem vende em marketplaces: cursos em vídeo, encontros ao vivo com mentores, \
            programa de constância com check-in diário, acompanhamento das contas vinculadas e extensão do navegador.",
        url: app.server.addresses.base_url.clone(),
        versao: env!("CARGO_PKG_VERSION"),
    }
}

fn instructions(name: &str) -> String {
    format!(
        "Você atende pessoas interessadas na plataforma {name} e alunos dela. Responda em português do Brasil, \
         de forma breve, só com o que está neste documento; se a resposta não estiver aqui, diga que não sabe e \
         indique o endereço em plataforma.url. Preços estão em preco, na moeda indicada, por periodicidade \
         (mensal, anual ou unico); para comprar, passe o link_checkout do plano. Em meets estão os próximos \
         encontros: data_hora está no horário local da plataforma e minutos_restantes conta a partir de gerado_em; \
         quando link é null, o encontro é só para alunos e o acesso está no painel. Não invente planos, preços, \
         datas nem links, e não prometa resultados de venda."
    )
}
