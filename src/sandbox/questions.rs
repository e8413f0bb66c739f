//! Questions of buyers and their answers: as the marketplace shows them, and
//! how they come about.

use serde::Deserialize;
use serde_json::{Value, json};

use super::deliver;
use super::http::{Reply, Request};
use super::listings::scan;
use super::resources::{paging, wire_date};
use super::routes::Call;
use super::shops::no_seller;
use super::spoil;
use super::state::{QUESTIONS_MAX, World, item_number};
use super::things::{Answered, Item, Question, state_word};
use crate::base::clock::{DAY_S, Instant};

const PAGE_MAX: usize = 50;
const OFFSET_MAX: usize = 1_000;
const TEXT_MAX: usize = 2_000;
/// Questions without an answer are taken away after about seven months.
const KEPT_S: i64 = 213 * DAY_S;

/// `GET /questions/search`.
pub fn search(world: &mut World, call: Call, request: &Request) -> Reply {
    needs_version(world, call, request);
    match request.query("seller_id") {
        Some(seller) if seller == call.seller.to_string() => {}
        Some(_) => return Reply::error(403, "forbidden", "the token belongs to another user"),
        None if request.query("item").or(request.query("item_id")).is_some() => {}
        None => return Reply::error(400, "bad_request", "seller_id or item is required"),
    }
    let Some((limit, offset)) = paging(request, PAGE_MAX) else {
        return Reply::error(400, "bad_request", "limit and offset must be numbers");
    };
    let scanning = request.query("search_type") == Some("scan");
    if limit > PAGE_MAX || offset + limit > OFFSET_MAX && !scanning {
        let detail = format!("questions/search limit={limit} offset={offset}");
        world.violation(call.now, "limit_exceeded", detail);
        return Reply::error(400, "bad_request", "invalid limit or offset");
    }
    let mut found: Vec<&Question> = world
        .questions
        .values()
        .filter(|question| question.seller == call.seller && is_kept(question, call.now))
        .filter(|question| matches(question, request))
        .collect();
    found.sort_by_key(|question| (question.created, question.id));
    if request.query("sort_types") == Some("DESC") {
        found.reverse();
    }
    let total = found.len();
    let ids: Vec<i64> = found.iter().map(|question| question.id).collect();
    let (ids, scroll) = if scanning {
        match scan(world, call, request, ids, limit) {
            Ok(page) => page,
            Err(refused) => return refused,
        }
    } else {
        (ids.into_iter().skip(offset).take(limit).collect(), None)
    };
    let questions: Vec<Value> = ids
        .iter()
        .filter_map(|id| world.questions.get(id))
        .map(|question| row(world, question))
        .collect();
    let mut body = json!({
        "total": total, "limit": limit, "questions": questions,
        "filters": { "limit": limit, "offset": offset, "api_version": "4" },
        "available_filters": [], "available_sorts": ["item_id", "from_id", "date_created"],
    });
    if scanning {
        body["scroll_id"] = json!(scroll);
    }
    Reply::json(200, &body)
}

fn needs_version(world: &mut World, call: Call, request: &Request) {
    if request.query("api_version") != Some("4") {
        let detail = format!("{} without api_version=4", request.path);
        world.violation(call.now, "old_version", detail);
    }
}

fn is_kept(question: &Question, now: Instant) -> bool {
    question.status != "UNANSWERED" || now.since(question.created) <= KEPT_S
}

fn matches(question: &Question, request: &Request) -> bool {
    let item = request.query("item").or(request.query("item_id"));
    let from = request.query("from").and_then(|from| from.parse().ok());
    request.query("status").is_none_or(|status| status.eq_ignore_ascii_case(&question.status))
        && item.is_none_or(|item| item_number(item) == Some(question.item))
        && from.is_none_or(|from: i64| from == question.buyer)
}

/// A question as both addresses show it, but for its asker.
fn common(world: &World, question: &Question) -> Value {
    let date = |at| wire_date(&world.config, question.id, at);
    let banned = question.status == "BANNED";
    let answer = question.answer.as_ref().map(|answer| {
        json!({ "text": answer.text, "status": "ACTIVE", "date_created": date(answer.at) })
    });
    json!({
        "id": question.id, "seller_id": question.seller, "item_id": format!("MLB{}", question.item),
        "status": question.status, "text": if banned { "" } else { &question.text },
        "date_created": date(question.created), "deleted_from_listing": false,
        "hold": false, "suspected_spam": false, "answer": answer,
    })
}

fn row(world: &World, question: &Question) -> Value {
    let mut body = common(world, question);
    body["from"] = json!({ "id": question.buyer });
    spoil::unless_whole(world, &format!("questions/{}", question.id), body)
}

/// One question: the asker is `buyer_id` here, and dates are finer.
fn single(world: &World, question: &Question) -> Value {
    let mut body = common(world, question);
    let fine = |at: Instant| at.rfc3339().replace('Z', ".123456789Z");
    body["buyer_id"] = json!(question.buyer);
    body["app_id"] = Value::Null;
    body["date_created"] = json!(fine(question.created));
    body["last_updated"] = json!(fine(question.updated));
    spoil::unless_whole(world, &format!("questions/{}", question.id), body)
}

/// `GET /questions/{id}`.
pub fn question(world: &mut World, call: Call, id: &str, request: &Request) -> Reply {
    needs_version(world, call, request);
    match own(world, call, id) {
        Ok(question) => Reply::json(200, &single(world, question)),
        Err(refused) => refused,
    }
}

fn own<'w>(world: &'w World, call: Call, id: &str) -> Result<&'w Question, Reply> {
    let Ok(number) = id.parse::<i64>() else {
        return Err(Reply::error(400, "invalid_question", "the question id must be a number"));
    };
    let question = world.questions.get(&number).filter(|question| is_kept(question, call.now));
    match question {
        None => Err(Reply::error(404, "not_found", "question not found")),
        Some(question) if question.seller != call.seller => {
            Err(Reply::error(403, "forbidden", "not the seller's question"))
        }
        Some(question) => Ok(question),
    }
}

/// `POST /answers`.
pub fn answer(world: &mut World, call: Call, request: &Request) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let wrong = || Reply::error(400, "invalid_post_body", "question_id and text are needed");
    let (Some(id), Some(text)) = (body.get("question_id"), body["text"].as_str()) else {
        return wrong();
    };
    let Some(id) = id.as_i64() else {
        return Reply::error(400, "invalid_question", "question_id must be an integer");
    };
    if text.trim().is_empty() || text.chars().count() > TEXT_MAX {
        return wrong();
    }
    let question = match own(world, call, &id.to_string()) {
        Ok(question) => question,
        Err(refused) => return refused,
    };
    let answerable = world
        .items
        .get(&question.item)
        .is_some_and(|item| matches!(item.status.as_str(), "active" | "paused"));
    match question.status.as_str() {
        "UNANSWERED" if answerable => {}
        "UNANSWERED" => {
            return Reply::error(400, "not_active_item", "the item is not active");
        }
        "ANSWERED" => {
            let text = "the question has been answered already";
            return Reply::error(400, "not_unanswered_question", text);
        }
        _ => return Reply::error(400, "question_closed", "question closed"),
    }
    let text = text.to_owned();
    if let Err(problem) = give_answer(world, id, text, true, call.now) {
        return Reply::error(400, "bad_request", &problem);
    }
    match world.questions.get(&id) {
        Some(question) => Reply::json(200, &single(world, question)),
        None => Reply::error(404, "not_found", "question not found"),
    }
}

/// A question to be asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewQuestion {
    /// The seller.
    pub ml_user_id: i64,
    /// The listing; the seller's first active one when absent.
    #[serde(default)]
    pub item: Option<String>,
    /// What is asked.
    #[serde(default)]
    pub text: Option<String>,
    /// RFC 3339; now when absent.
    #[serde(default)]
    pub date_created: Option<String>,
    /// Whether a notification goes out.
    #[serde(default = "super::sales::yes")]
    pub notify: bool,
}

/// A change of a question; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuestionChange {
    /// The seller answers in another window.
    pub answer: Option<String>,
    /// `BANNED`, `DELETED` … or any other word.
    pub status: Option<String>,
    /// Whether a notification goes out; it does unless `false`.
    pub notify: Option<bool>,
}

/// What buyers ask when nobody says what.
const TEXTS: [&str; 6] = [
    "Boa tarde, tem a pronta entrega?",
    "Serve para o modelo novo?",
    "Qual é a voltagem?",
    "Vocês emitem nota fiscal?",
    "Consegue enviar ainda hoje?",
    "Faz desconto levando duas unidades?",
];

/// A buyer asks; gives the question's id.
pub fn ask(world: &mut World, new: NewQuestion, now: Instant) -> Result<i64, String> {
    if !world.sellers.contains_key(&new.ml_user_id) {
        return Err(no_seller(new.ml_user_id));
    }
    if world.questions.len() >= QUESTIONS_MAX {
        return Err(format!("at most {QUESTIONS_MAX} questions fit"));
    }
    let item = asked_item(world, &new)?;
    let created = match &new.date_created {
        None => now,
        Some(text) => Instant::parse(text)
            .ok_or_else(|| format!("date_created is not an RFC 3339 date: {text}"))?,
    };
    let number = world.next_number();
    let text = new.text.unwrap_or_else(|| {
        let pick = usize::try_from(number).unwrap_or(0) % TEXTS.len();
        TEXTS[pick].to_owned()
    });
    if text.trim().is_empty() || text.chars().count() > TEXT_MAX {
        return Err(format!("text must have 1 to {TEXT_MAX} characters"));
    }
    let id = 13_100_000_000 + number;
    let question = Question {
        id,
        seller: new.ml_user_id,
        item,
        status: "UNANSWERED".to_owned(),
        text,
        buyer: 300_000_000 + number,
        created,
        updated: created,
        answer: None,
    };
    world.questions.insert(id, question);
    if new.notify {
        tell(world, id, now);
    }
    Ok(id)
}

fn asked_item(world: &World, new: &NewQuestion) -> Result<i64, String> {
    let own = |item: &&Item| item.seller == new.ml_user_id;
    if let Some(id) = &new.item {
        let found = world.item(id).filter(own).map(|item| item.number);
        return found.ok_or_else(|| format!("seller {} has no listing {id}", new.ml_user_id));
    }
    let mut items = world.items.values().filter(own);
    items
        .find(|item| item.status == "active")
        .map(|item| item.number)
        .ok_or_else(|| format!("seller {} has no active listing", new.ml_user_id))
}

fn tell(world: &mut World, id: i64, now: Instant) {
    let Some(seller) = world.questions.get(&id).map(|question| question.seller) else {
        return;
    };
    deliver::notify(world, now, seller, "questions", &format!("/questions/{id}"));
}

/// Somebody at the seller's answers, through the platform or elsewhere.
pub fn give_answer(
    world: &mut World,
    id: i64,
    text: String,
    notify: bool,
    now: Instant,
) -> Result<(), String> {
    let question = find(world, id)?;
    if question.status != "UNANSWERED" {
        return Err(format!("question {id} is {}, not UNANSWERED", question.status));
    }
    if text.trim().is_empty() || text.chars().count() > TEXT_MAX {
        return Err(format!("answer must have 1 to {TEXT_MAX} characters"));
    }
    let at = touch(question, now);
    "ANSWERED".clone_into(&mut question.status);
    question.answer = Some(Answered { text, at });
    if notify {
        tell(world, id, now);
    }
    Ok(())
}

/// Changes a question.
pub fn change(
    world: &mut World,
    id: i64,
    change: QuestionChange,
    now: Instant,
) -> Result<(), String> {
    let notify = change.notify != Some(false);
    if let Some(text) = change.answer {
        return give_answer(world, id, text, notify, now);
    }
    let question = find(world, id)?;
    let status = change.status.ok_or("name answer or status")?;
    state_word(&status)?;
    match (status.as_str(), &question.answer) {
        ("ANSWERED", None) => return Err("name answer instead of status".to_owned()),
        ("UNANSWERED" | "CLOSED_UNANSWERED", Some(_)) => {
            return Err("the question has an answer".to_owned());
        }
        _ => {}
    }
    touch(question, now);
    question.status = status;
    if notify {
        tell(world, id, now);
    }
    Ok(())
}

/// A listing that ends takes the chance to answer with it.
pub fn close_for(world: &mut World, item: i64, notify: bool, now: Instant) {
    let open = world
        .questions
        .values_mut()
        .filter(|question| question.item == item && question.status == "UNANSWERED");
    let mut closed = Vec::new();
    for question in open {
        touch(question, now);
        "CLOSED_UNANSWERED".clone_into(&mut question.status);
        closed.push(question.id);
    }
    for id in closed.into_iter().filter(|_| notify) {
        tell(world, id, now);
    }
}

fn find(world: &mut World, id: i64) -> Result<&mut Question, String> {
    world.questions.get_mut(&id).ok_or_else(|| format!("there is no question {id}"))
}

/// A change is visible as one even within the second of the one before.
fn touch(question: &mut Question, now: Instant) -> Instant {
    question.updated = now.max(question.updated.plus(1));
    question.updated
}
