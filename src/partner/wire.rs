//! JSON of an account of the Partner API, in its owner's panel and in the
//! operator's panel.

use serde::Serialize;

use super::Plan;
use super::store::OwnToken;
use crate::base::{Instant, Zone};
use crate::wire;

wire! {
    /// A plan with what it allows.
    #[derive(Serialize)]
    pub struct PlanJson of(plan: Plan, now: Instant) {
        nome: &'static str = plan.name.name(),
        em_vigor: bool = plan.is_valid(now),
        chamadas_por_mes: u64 = plan.quota,
        chamadas_por_minuto: u32 = plan.per_minute,
        /// Last day; null without an end.
        valido_ate: Option<String> = plan.until.map(|(day, _)| day.iso()),
    }
}

wire! {
    #[derive(Serialize)]
    pub struct OperationJson of(called: (&'static str, u64)) {
        operacao: &'static str = called.0,
        chamadas: u64 = called.1,
    }
}

wire! {
    /// A token that works.
    #[derive(Serialize)]
    pub struct WireToken of(token: OwnToken, zone: Zone) {
        id: String = token.id.to_string(),
        nome: String = token.name,
        prefixo: String = token.prefix,
        criado_em: String = zone.spaced(token.created_at),
        ultimo_uso: Option<String> = token.last_used_at.map(|at| zone.spaced(at)),
        ultimo_endereco: Option<String> = token.last_address,
        /// Whether it may change the shop.
        escrita: bool = token.may_change,
        /// Whether it opens sample data.
        teste: bool = token.is_test,
    }
}
