//! The queue as JSON.

use serde::Serialize;

use super::store::QueuedRow;
use crate::app::App;
use crate::base::MlUserId;
use crate::marketplace::books::questions::cards::listing_code;
use crate::wire;

wire! {
    /// A question in the queue.
    #[derive(Serialize)]
    pub struct WireQueued of(app: &App, client: String, queued: QueuedRow) after {
        let question = queued.card.question;
        let row = question.row;
        let spaced = |at| app.zone().spaced(at);
    } {
        question_id: String = row.id.to_string(),
        conta: MlUserId = row.ml_user_id,
        cliente: String = client,
        ml_id: String = listing_code(app, row.item_id),
        titulo_anuncio: String = question.title,
        texto: String = row.text,
        status: &'static str = row.state.name(),
        resposta: Option<String> = row.answer,
        perguntado_em: String = spaced(row.asked_at),
        respondido_em: Option<String> = row.answered_at.map(spaced),
    }
}

/// `GET /admin/agencia/central-perguntas/json`.
#[derive(Serialize)]
pub struct QueueReply {
    pub total: u64,
    pub perguntas: Vec<WireQueued>,
}
