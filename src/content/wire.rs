//! Content as programs read it (contract §6).

use schemars::JsonSchema;
use serde::Serialize;

use super::meets::Meet;
use super::plans::Plan;
use super::store::Statistics;
use super::teachers::WireTeacher;
use crate::base::clock::{Instant, Zone};
use crate::base::money::Cents;

/// A plan on the wire.
#[derive(Serialize, JsonSchema)]
pub struct WirePlan {
    id: String,
    slug: String,
    titulo: String,
    preco: Cents,
    moeda: String,
    /// `mensal`, `anual` or `unico`.
    periodicidade: &'static str,
    beneficios: Vec<String>,
    link_checkout: String,
}

impl WirePlan {
    /// The wire form of a plan.
    pub fn of(plan: Plan) -> Self {
        let entry = plan.entry;
        Self {
            id: plan.id.to_string(),
            slug: entry.slug,
            titulo: entry.title,
            preco: entry.price,
            moeda: entry.currency,
            periodicidade: entry.period.name(),
            beneficios: entry.benefits.0,
            link_checkout: entry.checkout_link,
        }
    }
}

/// A live mentoring session on the wire.
#[derive(Serialize, JsonSchema)]
pub struct WireMeet {
    id: String,
    titulo: String,
    descricao: String,
    /// Name of whoever holds it; null while that is open.
    professor: Option<String>,
    /// `YYYY-MM-DD HH:MM:SS`.
    data_hora: String,
    duracao_minutos: i64,
    /// Whole minutes until it begins.
    minutos_restantes: i64,
    /// Null unless the meet is open to the public.
    link: Option<String>,
}

impl WireMeet {
    /// The wire form of a meet for anyone, at `now`.
    pub fn of(meet: Meet, zone: Zone, now: Instant) -> Self {
        let entry = meet.entry;
        Self {
            id: meet.id.to_string(),
            titulo: entry.title,
            descricao: entry.description,
            professor: meet.teacher,
            data_hora: zone.spaced(entry.starts_at),
            duracao_minutos: entry.minutes,
            minutos_restantes: entry.starts_at.minute() - now.minute(),
            link: Some(entry.link).filter(|link| entry.public && !link.is_empty()),
        }
    }
}

/// Everything a language model should know of the platform.
#[derive(Serialize, JsonSchema)]
pub struct WireContext {
    pub plataforma: WirePlatform,
    pub estatisticas: Statistics,
    pub planos: Vec<WirePlan>,
    pub professores: Vec<WireTeacher>,
    pub meets: Vec<WireMeet>,
    /// How a language model should use the rest.
    pub instrucoes: String,
    /// `YYYY-MM-DD HH:MM:SS`.
    pub gerado_em: String,
}

/// What this installation is.
#[derive(Serialize, JsonSchema)]
pub struct WirePlatform {
    pub nome: String,
    pub descricao: &'static str,
    pub url: String,
    pub versao: &'static str,
}
