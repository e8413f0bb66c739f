//! JSON of connected apps, in their owner's panel and in the operator's panel.

use serde::Serialize;

use super::scope;
use super::store::App;
use crate::base::Zone;
use crate::wire;

wire! {
    /// A connected app.
    #[derive(Serialize)]
    pub struct WireApp of(app: App, zone: Zone) {
        id: String = app.id.to_string(),
        nome: String = app.name,
        /// What it may do, in words of the protocol.
        acesso: &'static str = scope(app.may_write),
        conectado_em: String = zone.spaced(app.created_at),
        /// When it ends by itself, unless it is used.
        vence_em: String = zone.spaced(app.ends_at),
        ultimo_uso: Option<String> = app.last_used_at.map(|at| zone.spaced(at)),
        ultimo_endereco: Option<String> = app.last_address,
    }
}
