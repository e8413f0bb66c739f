//! Questions of buyers and their answers: how the marketplace shows them, and how
//! they are created and changed.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, HandlerResult};
use super::http::Reply;
use super::notifications::notify;
use super::records::{Paging, owned_or_reply, unless_spoiled};
use super::state::{SandboxState, check_room};
use super::things::{
    ChangeContext, Question, check_length, check_status, created_at, item_id, item_number, touch,
};
use crate::base::{DAY_S, Instant};
use crate::marketplace::kinds::RecordKind;

/// Parameters of the search.
pub const SEARCH: &str = "seller_id item item_id from status api_version sort_fields sort_types \
    limit offset search_type scroll_id";

const QUESTIONS_MAX: usize = 50_000;
const TEXT_MAX: usize = 2_000;
/// Questions without an answer are removed after about seven months.
const KEPT_S: i64 = 213 * DAY_S;

/// `GET /questions/search`.
pub fn search(call: &mut Call<'_>) -> HandlerResult {
    check_version(call);
    match call.query("seller_id") {
        Some(seller) => call.must_be_own(seller)?,
        None if call.query("item").or(call.query("item_id")).is_some() => {}
        None => return Err(Reply::bad_request("seller_id or item is required")),
    }
    let page = Paging::read(call, "questions/search", 50, 1_000)?;
    let questions = call.state.questions.values();
    let mut found: Vec<&Question> = questions
        .filter(|question| question.seller == call.seller && is_kept(question, call.now))
        .filter(|question| matches(question, call))
        .collect();
    found.sort_by_key(|question| (question.created, question.id));
    if call.asks("sort_types", "DESC") {
        found.reverse();
    }
    let ids: Vec<i64> = found.iter().map(|question| question.id).collect();
    let mut body = json!({
        "total": ids.len(), "limit": page.limit,
        "filters": { "limit": page.limit, "offset": page.offset, "api_version": "4" },
        "available_filters": [], "available_sorts": ["item_id", "from_id", "date_created"],
    });
    let ids = page.take(call, ids, &mut body)?;
    let shown = ids.iter().filter_map(|id| call.state.questions.get(id));
    body["questions"] = shown.map(|question| row(call.state, question)).collect();
    Ok(Reply::json(200, &body))
}

fn check_version(call: &mut Call<'_>) {
    if !call.asks("api_version", "4") {
        let detail = format!("{} without api_version=4", call.request.path);
        call.violation("old_version", detail);
    }
}

fn is_kept(question: &Question, now: Instant) -> bool {
    question.status != "UNANSWERED" || now.since(question.created) <= KEPT_S
}

fn matches(question: &Question, call: &Call<'_>) -> bool {
    let item = call.query("item").or(call.query("item_id"));
    let from = call.query("from").and_then(|from| from.parse().ok());
    call.query("status").is_none_or(|status| status.eq_ignore_ascii_case(&question.status))
        && item.is_none_or(|item| item_number(item) == Some(question.item))
        && from.is_none_or(|from: i64| from == question.buyer)
}

/// The fields of a question that both addresses show, without the buyer.
fn common(state: &SandboxState, question: &Question) -> Value {
    let date = |at| state.config.date(question.id, at);
    let answer = question
        .answer
        .as_ref()
        .map(|(text, at)| json!({ "text": text, "status": "ACTIVE", "date_created": date(*at) }));
    json!({
        "id": question.id, "seller_id": question.seller, "item_id": item_id(question.item),
        "status": question.status, "text": question.shown_text(),
        "date_created": date(question.created), "deleted_from_listing": false,
        "hold": false, "suspected_spam": false, "answer": answer,
    })
}

fn row(state: &SandboxState, question: &Question) -> Value {
    let mut body = common(state, question);
    body["from"] = json!({ "id": question.buyer });
    unless_spoiled(state, &format!("questions/{}", question.id), body)
}

/// One question: the buyer is `buyer_id` here, and dates have nanoseconds.
fn single(state: &SandboxState, question: &Question) -> Value {
    let mut body = common(state, question);
    let fine = |at: Instant| at.rfc3339().replace('Z', ".123456789Z");
    body["buyer_id"] = json!(question.buyer);
    body["app_id"] = Value::Null;
    body["date_created"] = json!(fine(question.created));
    body["last_updated"] = json!(fine(question.updated));
    unless_spoiled(state, &format!("questions/{}", question.id), body)
}

/// `GET /questions/{id}`.
pub fn question(call: &mut Call<'_>) -> HandlerResult {
    check_version(call);
    let Ok(number) = call.number() else {
        return Err(Reply::error(400, "invalid_question", "the question id must be a number"));
    };
    Ok(Reply::json(200, &single(call.state, own_question(call, number)?)))
}

fn own_question<'w>(call: &'w Call<'_>, number: i64) -> Result<&'w Question, Reply> {
    let question = call.state.questions.get(&number);
    owned_or_reply(
        question.filter(|question| is_kept(question, call.now)),
        call.seller,
        || Reply::not_found("question not found"),
        || Reply::forbidden("not the seller's question"),
    )
}

/// `GET /users/{id}/questions/response_time`: average minutes between questions and
/// answers; 404 while nothing was answered.
pub fn response_time(call: &mut Call<'_>) -> HandlerResult {
    let answered = call.state.questions.values().filter_map(|question| {
        let (_, at) = question.answer.as_ref()?;
        (question.seller.to_string() == call.id()).then(|| at.since(question.created))
    });
    let (count, seconds) = answered.fold((0, 0), |(count, sum), each| (count + 1, sum + each));
    if count == 0 {
        return Err(Reply::not_found("no answers to count"));
    }
    let minutes = seconds / count / 60;
    Reply::ok(json!({ "user_id": call.number().ok(), "total": { "response_time": minutes } }))
}

/// `POST /answers`.
pub fn answer(call: &mut Call<'_>) -> HandlerResult {
    let body = call.request.json();
    let wrong = || Reply::error(400, "invalid_post_body", "question_id and text are needed");
    let (Some(id), Some(text)) = (body.get("question_id"), body["text"].as_str()) else {
        return Err(wrong());
    };
    let id = id
        .as_i64()
        .ok_or_else(|| Reply::error(400, "invalid_question", "question_id must be an integer"))?;
    check_length(text, TEXT_MAX, "text").map_err(|_| wrong())?;
    let question = own_question(call, id)?;
    let is_for_sale = call
        .state
        .items
        .get(&question.item)
        .is_some_and(|item| matches!(item.status.as_str(), "active" | "paused"));
    let (code, text_of_code) = match question.status.as_str() {
        "UNANSWERED" if question.is_blocked => {
            ("not_unanswered_question", "the question is not unanswered")
        }
        "UNANSWERED" if is_for_sale => {
            let context = call.notified();
            give_answer(call.state, id, text.to_owned(), context)
                .map_err(|problem| Reply::bad_request(&problem))?;
            return Ok(Reply::json(200, &single(call.state, own_question(call, id)?)));
        }
        "UNANSWERED" => ("not_active_item", "the item is not active"),
        "ANSWERED" => ("not_unanswered_question", "the question has been answered already"),
        _ => ("question_closed", "question closed"),
    };
    Err(Reply::error(400, code, text_of_code))
}

/// A question to be asked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewQuestion {
    pub ml_user_id: i64,
    /// The listing; the seller's first active one when absent.
    pub item: Option<String>,
    /// What is asked; one of [`TEXTS`] when absent.
    pub text: Option<String>,
    /// RFC 3339; now when absent.
    pub date_created: Option<String>,
    /// The buyer; a new one when absent.
    pub buyer: Option<i64>,
}

/// A change of a question; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuestionChange {
    /// An answer that the seller gives outside the platform.
    pub answer: Option<String>,
    /// `BANNED`, `DELETED` … or any other word.
    pub status: Option<String>,
    /// Whether the seller blocked the buyer. The question stays as it is.
    pub buyer_blocked: Option<bool>,
}

/// What buyers ask when the control names no text.
const TEXTS: [&str; 6] = [
    "Boa tarde, tem a pronta entrega?",
    "Serve para o modelo novo?",
    "Qual é a voltagem?",
    "Vocês emitem nota fiscal?",
    "Consegue enviar ainda hoje?",
    "Faz desconto levando duas unidades?",
];

/// Creates a question of a buyer; returns the question's id.
pub fn ask(
    state: &mut SandboxState,
    new: NewQuestion,
    context: ChangeContext,
) -> Result<i64, String> {
    let seller = new.ml_user_id;
    state.check_seller(seller)?;
    check_room(state.questions.len(), QUESTIONS_MAX, "questions")?;
    let item = state.item_of(seller, new.item.as_deref())?;
    let created = created_at(new.date_created.as_deref(), context.now)?;
    let number = state.next_number();
    let text = new.text.unwrap_or_else(|| {
        let pick = usize::try_from(number).unwrap_or(0) % TEXTS.len();
        TEXTS[pick].to_owned()
    });
    check_length(&text, TEXT_MAX, "text")?;
    let id = 13_100_000_000 + number;
    let question = Question {
        id,
        seller,
        item,
        status: "UNANSWERED".to_owned(),
        text,
        buyer: new.buyer.unwrap_or(300_000_000 + number),
        created,
        updated: created,
        answer: None,
        is_blocked: false,
    };
    state.questions.insert(id, question);
    notify_about(state, seller, id, context);
    Ok(id)
}

fn notify_about(state: &mut SandboxState, seller: i64, id: i64, context: ChangeContext) {
    notify(state, context, seller, RecordKind::Question, id);
}

/// Stores the seller's answer, given through the platform or elsewhere.
fn give_answer(
    state: &mut SandboxState,
    id: i64,
    text: String,
    context: ChangeContext,
) -> Result<(), String> {
    let question = find(state, id)?;
    if question.status != "UNANSWERED" {
        return Err(format!("question {id} is {}, not UNANSWERED", question.status));
    }
    check_length(&text, TEXT_MAX, "answer")?;
    touch(&mut question.updated, context.now);
    "ANSWERED".clone_into(&mut question.status);
    question.answer = Some((text, question.updated));
    let seller = question.seller;
    notify_about(state, seller, id, context);
    Ok(())
}

/// Changes a question.
pub fn change(
    state: &mut SandboxState,
    id: i64,
    change: QuestionChange,
    context: ChangeContext,
) -> Result<(), String> {
    if let Some(text) = change.answer {
        return give_answer(state, id, text, context);
    }
    let question = find(state, id)?;
    if let Some(is_blocked) = change.buyer_blocked {
        question.is_blocked = is_blocked;
        return Ok(());
    }
    let status = change.status.ok_or("name answer, status or buyer_blocked")?;
    check_status(&status)?;
    match (status.as_str(), &question.answer) {
        ("ANSWERED", None) => return Err("name answer instead of status".to_owned()),
        ("UNANSWERED" | "CLOSED_UNANSWERED", Some(_)) => {
            return Err("the question has an answer".to_owned());
        }
        _ => {}
    }
    touch(&mut question.updated, context.now);
    question.status = status;
    let seller = question.seller;
    notify_about(state, seller, id, context);
    Ok(())
}

/// Closes the unanswered questions of a listing that has ended.
pub fn close_for(state: &mut SandboxState, item: i64, context: ChangeContext) {
    let open = state
        .questions
        .values_mut()
        .filter(|question| question.item == item && question.status == "UNANSWERED");
    let mut closed = Vec::new();
    for question in open {
        touch(&mut question.updated, context.now);
        "CLOSED_UNANSWERED".clone_into(&mut question.status);
        closed.push((question.seller, question.id));
    }
    for (seller, id) in closed {
        notify_about(state, seller, id, context);
    }
}

fn find(state: &mut SandboxState, id: i64) -> Result<&mut Question, String> {
    state.questions.get_mut(&id).ok_or_else(|| format!("there is no question {id}"))
}

/// `POST /acoes/perguntar`.
pub fn press_ask(call: &mut Call<'_>) -> ButtonResult {
    let new = NewQuestion {
        ml_user_id: call.number_field("ml_user_id")?,
        item: call.filled("item"),
        text: call.filled("texto"),
        date_created: None,
        buyer: None,
    };
    let id = ask(call.state, new, call.notified())
        .map_err(|_| "Confira o anúncio e o texto (até 2.000 letras).")?;
    Ok(format!("Pergunta {id} feita e notificação na fila."))
}

/// `POST /acoes/pergunta`.
pub fn press_change(call: &mut Call<'_>) -> ButtonResult {
    let id = call.number_field("pergunta")?;
    let mut new: QuestionChange = call
        .chosen(&[
            ("responder", r#"{ "answer": "Olá! Sim, pode comprar tranquilo." }"#),
            ("encerrar", r#"{ "status": "CLOSED_UNANSWERED" }"#),
            ("vetar", r#"{ "status": "BANNED" }"#),
        ])
        .ok_or("Escolha responder, encerrar ou vetar.")?;
    if new.answer.is_some() {
        new.answer = call.filled("texto").or(new.answer);
    }
    change(call.state, id, new, call.notified())
        .map_err(|_| format!("A pergunta {id} já foi respondida ou encerrada."))?;
    Ok(format!("Pergunta {id} mudou e a notificação está na fila."))
}
