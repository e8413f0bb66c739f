//! What happened to a question that cannot be answered, in words for its
//! seller.

use crate::marketplace::books::document::{QuestionRow, QuestionState, UNANSWERABLE};
use crate::panel::{Notice, Tone};

/// The notice about a question that cannot be answered.
pub fn status_notice(question: &QuestionRow) -> Option<Notice> {
    let (title, text) = sentences(&question.status);
    (question.state == QuestionState::Closed).then(|| Notice::new(Tone::Info, title, text))
}

/// What happened, and what to do, for a status of the marketplace.
pub fn sentences(status: &str) -> (&'static str, &'static str) {
    match status {
        "CLOSED_UNANSWERED" => (
            "Esta pergunta foi encerrada sem resposta",
            "O anúncio terminou ou o prazo para responder passou. Não é preciso fazer nada.",
        ),
        UNANSWERABLE => (
            "O marketplace não aceita mais resposta a esta pergunta",
            "Ela já foi respondida por lá, ou o comprador está bloqueado. Não é preciso fazer nada.",
        ),
        "DELETED" => (
            "Esta pergunta foi excluída",
            "Ela não aparece mais no anúncio. Não é preciso fazer nada.",
        ),
        "BANNED" => (
            "O marketplace bloqueou esta pergunta",
            "Ela fere as regras de lá e não aparece no anúncio. Não é preciso fazer nada.",
        ),
        "UNDER_REVIEW" => (
            "O marketplace está analisando esta pergunta",
            "Se ela for liberada, você responde por aqui.",
        ),
        "DISABLED" => (
            "O marketplace desativou esta pergunta",
            "Ela não aparece no anúncio e não recebe resposta.",
        ),
        _ => (
            "Esta pergunta não recebe resposta agora",
            "A situação dela no marketplace é nova para nós. Veja-a por lá.",
        ),
    }
}
