//! Content as programs read it (docs/contract.md, "Public answers").

use schemars::JsonSchema;
use serde::Serialize;

use super::meets::Meet;
use super::plans::Plan;
use super::store::Statistics;
use super::teachers::WireTeacher;
use crate::base::{Cents, Instant, Zone};
use crate::wire;

wire! {
    /// A plan on the wire.
    #[derive(Serialize, JsonSchema)]
    pub struct WirePlan of(plan: Plan) after {
        let entry = plan.entry;
    } {
        id: String = plan.id.to_string(),
        slug: String = entry.slug,
        titulo: String = entry.title,
        preco: Cents = entry.price,
        moeda: String = entry.currency,
        /// `mensal`, `anual` or `unico`.
        periodicidade: &'static str = entry.period.name(),
        beneficios: Vec<String> = entry.benefits.0,
        link_checkout: String = entry.checkout_link,
    }
}

wire! {
    /// A live mentoring session on the wire.
    #[derive(Serialize, JsonSchema)]
    pub struct WireMeet of(meet: Meet, zone: Zone, now: Instant) after {
        let entry = meet.entry;
    } {
        id: String = meet.id.to_string(),
        titulo: String = entry.title,
        descricao: String = entry.description,
        /// Name of whoever holds it; null while that is open.
        professor: Option<String> = meet.teacher,
        /// `YYYY-MM-DD HH:MM:SS`.
        data_hora: String = zone.spaced(entry.starts_at),
        duracao_minutos: i64 = entry.minutes,
        /// Whole minutes until it begins.
        minutos_restantes: i64 = entry.starts_at.minute() - now.minute(),
        /// Null unless the meet is open to the public.
        link: Option<String> = Some(entry.link).filter(|link| entry.public && !link.is_empty()),
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
