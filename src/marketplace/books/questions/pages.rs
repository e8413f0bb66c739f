//! Questions of buyers in the seller's panel, as page, JSON or CSV.

use serde::Serialize;

use super::answer::FORM;
use super::store::Question;
use super::views::{QuestionLine, QuestionPage, QuestionsPage};
use super::{QuestionState, standing};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::{Instant, MlUserId};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed;
use crate::panel::{Badge, Filter, FormView, Head, Listing, Notice, Outcome, Tone, Visit, When};
use crate::wire;

/// The list's address.
pub const PATH: &str = "/painel/perguntas";

pub(super) const LIST: Listing = Listing {
    path: PATH,
    hint: "Pergunta ou título do anúncio",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todas",
        values: &QuestionState::FILTER,
    }],
    orders: &["-perguntada_em"],
    heads: &[Head::sorts("Pergunta", "perguntada_em")],
    file: "perguntas.csv",
    csv: &[
        "id",
        "conta",
        "anuncio",
        "titulo_anuncio",
        "texto",
        "estado",
        "resposta",
        "perguntada_em",
        "respondida_em",
    ],
    outcomes: &[
        Outcome::good("respondida", "Resposta enviada", "O comprador já pode vê-la no anúncio."),
        Outcome::good(
            "ja_respondida",
            "Esta pergunta já tinha resposta",
            "Alguém respondeu antes, por aqui ou no marketplace.",
        ),
        Outcome::bad(
            "nao_enviada",
            "Sua resposta não foi enviada",
            "A pergunta mudou no marketplace antes de ela chegar lá.",
        ),
    ],
};

wire! {
    /// A question in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireQuestion of(app: &App, stores: &Stores, question: Question) after {
        let Question { row, title } = question;
        let spaced = |at| app.zone().spaced(at);
    } {
        id: String = row.id.to_string(),
        conta: String = stores.name(row.ml_user_id),
        ml_user_id: MlUserId = row.ml_user_id,
        anuncio: String = listing_of(app, row.item_id),
        titulo_anuncio: String = title,
        texto: String = row.text,
        estado: &'static str = row.state.name(),
        resposta: Option<String> = row.answer,
        perguntada_em: String = spaced(row.asked_at),
        respondida_em: Option<String> = row.answered_at.map(spaced),
    }
}

fn listing_of(app: &App, item: i64) -> String {
    format!("{}{item}", app.config.marketplace.site)
}

fn line(app: &App, stores: &Stores, question: Question, now: Instant) -> QuestionLine {
    let Question { row, title } = question;
    let when = |at| When::new(app.zone(), at, now);
    QuestionLine {
        id: row.id,
        text: if row.text.is_empty() {
            "O marketplace ocultou esta pergunta.".to_owned()
        } else {
            row.text
        },
        answer: row.answer.unwrap_or_default(),
        listing: if title.is_empty() { listing_of(app, row.item_id) } else { title },
        store: stores.name(row.ml_user_id),
        state: match row.state {
            QuestionState::Open => Badge::Unanswered,
            QuestionState::Answered => Badge::Answered,
            QuestionState::Closed => Badge::Closed,
        },
        standing: (row.state == QuestionState::Closed).then(|| {
            let (title, text) = standing::sentences(&row.status);
            Notice::new(Tone::Info, title, text)
        }),
        waits: row.state == QuestionState::Open,
        asked: when(row.asked_at),
        answered: row.answered_at.map(when),
    }
}

/// `GET /painel/perguntas`: the questions, newest first.
pub fn questions(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer((app, person, request), |found| {
        let line = |one| line(app, &found.stores, one, request.now);
        Reply::page(&QuestionsPage {
            layout: layout(app, person, request).telling(LIST.outcomes, request),
            has_stores: !found.stores.is_empty(),
            table: found.table,
            questions: found.rows.into_iter().map(line).collect(),
        })
    })
}

#[derive(Serialize)]
struct QuestionReply {
    ok: bool,
    #[serde(flatten)]
    question: WireQuestion,
}

/// `GET /painel/perguntas/{id}`: one question.
pub fn question(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        let (question, stores) = read(app, person, request)?;
        let question = WireQuestion::of(app, &stores, question);
        return Reply::json(&QuestionReply { ok: true, question });
    }
    with_form((app, person, request), FORM.show(None, app.zone()).unfocused())
}

/// The question of an address, when it is to the person.
pub fn read(app: &App, person: &Person, request: &Request) -> Result<(Question, Stores), Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let (question, stores) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((listed::one(tx, owner, id)?, Stores::of(tx, owner)?))
    })?;
    Ok((question.ok_or_else(Problem::not_found)?, stores))
}

/// The page of a question with the form of its answer.
pub fn with_form((app, person, request): Visit<'_>, form: FormView) -> Result<Reply, Problem> {
    let (question, stores) = read(app, person, request)?;
    Reply::page(&QuestionPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        line: line(app, &stores, question, request.now),
        form,
    })
}
