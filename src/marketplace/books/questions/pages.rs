//! Questions of buyers in the seller's panel, as page, JSON or CSV.

use serde::Serialize;

use super::list::{self, Question, Wanted};
use super::views::{QuestionLine, QuestionPage, QuestionsPage};
use super::{State, standing};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::MlUserId;
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::{self, Stores};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::list::{self as lists, Filter, Head, Listing};
use crate::panel::view::{self, Badge, Notice, Tone, When};

/// The list's address.
pub const PATH: &str = "/painel/perguntas";

const LIST: Listing = Listing {
    path: PATH,
    hint: "Pergunta ou título do anúncio",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todas",
        values: &[
            ("pendente", "Sem resposta"),
            ("respondida", "Respondidas"),
            ("encerrada", "Encerradas"),
        ],
    }],
    orders: &["-perguntada_em"],
    ..Listing::NONE
};

const fn is(question: &Question, state: State) -> bool {
    question.state == state as i64
}

fn state_of(word: &str) -> State {
    match word {
        "pendente" => State::Open,
        "respondida" => State::Answered,
        _ => State::Closed,
    }
}

const fn state_name(question: &Question) -> &'static str {
    if is(question, State::Open) {
        "pendente"
    } else if is(question, State::Answered) {
        "respondida"
    } else {
        "encerrada"
    }
}

#[derive(Serialize)]
struct WireQuestion {
    id: String,
    conta: String,
    ml_user_id: MlUserId,
    anuncio: String,
    titulo_anuncio: String,
    texto: String,
    estado: &'static str,
    resposta: Option<String>,
    perguntada_em: String,
    respondida_em: Option<String>,
}

fn wire(app: &App, stores: &Stores, question: Question) -> WireQuestion {
    let spaced = |at| app.zone().spaced(at);
    WireQuestion {
        estado: state_name(&question),
        id: question.id.to_string(),
        conta: stores.name(question.ml_user_id),
        ml_user_id: question.ml_user_id,
        anuncio: listing_of(app, question.item_id),
        titulo_anuncio: question.title,
        texto: question.text,
        resposta: question.answer,
        perguntada_em: spaced(question.asked_at),
        respondida_em: question.answered_at.map(spaced),
    }
}

fn listing_of(app: &App, item: i64) -> String {
    format!("{}{item}", app.config.marketplace.site)
}

fn line(app: &App, stores: &Stores, question: &Question, now: Instant) -> QuestionLine {
    let when = |at| When::new(app.zone(), at, now);
    QuestionLine {
        id: question.id.to_string(),
        text: if question.text.is_empty() {
            "O marketplace ocultou esta pergunta.".to_owned()
        } else {
            question.text.clone()
        },
        answer: question.answer.clone().unwrap_or_default(),
        listing: if question.title.is_empty() {
            listing_of(app, question.item_id)
        } else {
            question.title.clone()
        },
        store: stores.name(question.ml_user_id),
        state: if is(question, State::Open) {
            Badge::Unanswered
        } else if is(question, State::Answered) {
            Badge::Answered
        } else {
            Badge::Closed
        },
        standing: is(question, State::Closed).then(|| standing(&question.status)),
        waits: is(question, State::Open),
        asked: when(question.asked_at),
        answered: question.answered_at.map(when),
    }
}

fn standing(status: &str) -> Notice {
    let (title, text) = standing::sentences(status);
    Notice::new(Tone::Info, title, text)
}

/// Whether a list is read by walking over all questions of its owner.
pub fn walks(request: &Request) -> bool {
    lists::asks_for_much(request) || lists::searches(request)
}

/// `GET /painel/perguntas`: the questions, newest first.
pub fn questions(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let store = stores::asked(request)?;
    let (limit, offset) = query.window();
    let wanted = Wanted {
        owner: person.account.user_id,
        store,
        state: query.filter("estado").map(|word| state_of(word) as i64),
        search: query.search.clone(),
        limit,
        offset,
    };
    if query.csv {
        return csv(app, person, request, &wanted);
    }
    let (stores, (questions, total)) = app.db.read(request.lane, |tx| {
        let stores = Stores::narrowed(tx, wanted.owner, store)?;
        Ok::<_, Problem>((stores, list::page(tx, &wanted)?))
    })?;
    if request.wants_json() {
        let questions = questions.into_iter().map(|one| wire(app, &stores, one));
        return ListReply::reply(total, questions.collect());
    }
    let columns = [Head::sorts("Pergunta", "perguntada_em")];
    Reply::page(&QuestionsPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        has_stores: !stores.is_empty(),
        table: LIST.table_by(&query, &columns, total, (&stores.choice(store), None)),
        questions: questions.iter().map(|one| line(app, &stores, one, request.now)).collect(),
    })
}

fn flash(word: &str) -> Option<Notice> {
    let (title, text) = match word {
        "respondida" => ("Resposta enviada", "O comprador já pode vê-la no anúncio."),
        "ja_respondida" => (
            "Esta pergunta já tinha resposta",
            "Alguém respondeu antes, por aqui ou no marketplace.",
        ),
        "nao_enviada" => {
            let title = "Sua resposta não foi enviada";
            let text = "A pergunta mudou no marketplace antes de ela chegar lá.";
            return Some(Notice::new(Tone::Bad, title, text));
        }
        _ => return None,
    };
    Some(Notice::new(Tone::Good, title, text))
}

fn csv(app: &App, person: &Person, request: &Request, wanted: &Wanted) -> Result<Reply, Problem> {
    let header = [
        "id",
        "conta",
        "anuncio",
        "titulo_anuncio",
        "texto",
        "estado",
        "resposta",
        "perguntada_em",
        "respondida_em",
    ];
    let file = CsvFile::new("perguntas.csv", &header)?;
    let owner = wanted.owner;
    let (stores, ids) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((Stores::narrowed(tx, owner, wanted.store)?, list::ids(tx, wanted)?))
    })?;
    export::send(app, person, file, ids, move |app, tx, id, file| {
        let Some(question) = list::question(tx, owner, id)? else {
            return Ok(());
        };
        let question = wire(app, &stores, question);
        file.row([
            &*question.id,
            &question.conta,
            &question.anuncio,
            &question.titulo_anuncio,
            &question.texto,
            question.estado,
            question.resposta.as_deref().unwrap_or_default(),
            &question.perguntada_em,
            question.respondida_em.as_deref().unwrap_or_default(),
        ])
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
    let (question, stores) = read(app, person, request)?;
    if request.wants_json() {
        return Reply::json(&QuestionReply { ok: true, question: wire(app, &stores, question) });
    }
    Reply::page(&QuestionPage {
        layout: layout(app, person, request).with_flash(request.notice.as_deref().and_then(flash)),
        alert: None,
        line: line(app, &stores, &question, request.now),
        reply: view::Field::default(),
    })
}

/// The question of an address, when it is to the person.
pub fn read(app: &App, person: &Person, request: &Request) -> Result<(Question, Stores), Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let (question, stores) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((list::question(tx, owner, id)?, Stores::of(tx, owner)?))
    })?;
    Ok((question.ok_or_else(Problem::not_found)?, stores))
}

/// The page of a question again, with what was typed and what is wrong.
pub fn faulty(
    app: &App,
    person: &Person,
    request: &Request,
    (typed, fault): (String, Option<&'static str>),
    alert: Option<Notice>,
) -> Result<Reply, Problem> {
    let (question, stores) = read(app, person, request)?;
    Reply::page(&QuestionPage {
        layout: layout(app, person, request),
        alert,
        line: line(app, &stores, &question, request.now),
        reply: view::Field { focus: fault.is_some(), ..view::Field::of(typed).fault(fault) },
    })
}
