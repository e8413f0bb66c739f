//! What a supplier notes of payments at `/fornecedor/pedidos`, and takes back. Each act
//! comes back to the page with its filter, and what it did can be undone from its notice.

use serde_json::json;

use super::orders::{Asked, LIST, PATH, counted};
use crate::app::App;
use crate::base::{Cents, Instant, UserId};
use crate::db::WriteTx;
use crate::dropshipping::debts::Sum;
use crate::dropshipping::orders::{self, DropState, Whose};
use crate::dropshipping::payments::{self, Batch};
use crate::edge::route::{Job, Todo};
use crate::http::{Code, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, Notice, Sent, Tone, form};

/// Most orders that are marked as paid by their numbers at a time.
const MOST_PAID: usize = 200;

/// The notice of what was done. `query` is what the page's address has after its path.
pub(in crate::suppliers) fn flash(request: &Request, query: &str) -> Option<Notice> {
    let word = request.notice.as_deref()?;
    if let Some(id) = word.strip_prefix("pago-") {
        let notice = Notice::new(Tone::Good, "Pagamento anotado", "");
        return Some(notice.undone_by(format!("{PATH}/{id}/desfazer{query}"), Vec::new()));
    }
    if let Some(count) = word.strip_prefix("desfeitos-").and_then(|count| count.parse().ok()) {
        let title = format!("Pagamento de {} desfeito", counted(count));
        return Some(Notice::new(Tone::Good, title, "O valor voltou a ser devido."));
    }
    let Some(noted) = word.strip_prefix("pagos-") else { return Flash::notice(LIST.flashes, word) };
    let mut parts = noted.splitn(3, '-');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (orders, cents, batch) = (next()?, next()?, next()?);
    if orders == 0 {
        return Some(Notice::new(Tone::Info, "Nada mudou", "Esses pedidos já não eram devidos."));
    }
    let title = format!("Pagamento de {} anotado", counted(orders));
    let notice = Notice::new(Tone::Good, title, Cents(cents).page());
    let fields = vec![("lote", batch.to_string())];
    Some(notice.undone_by(format!("{PATH}/pagos/desfazer{query}"), fields))
}

/// What a page says of the moment at which it was seen, for acts on all of its filter.
pub(in crate::suppliers) fn seen(now: Instant, newest: i64) -> String {
    format!("{}-{newest}", now.0)
}

/// When a page was seen, and the last order that had arisen by then.
fn seen_by(sent: &mut Sent<'_>, now: Instant) -> (Instant, i64) {
    let text = sent.line("visto", 0..=40);
    let parts = text.split_once('-');
    let numbers = parts.and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    match numbers {
        Some((at, newest)) => (Instant(at).min(now), newest),
        None => (now, i64::MAX),
    }
}

/// Marks an order as paid: what is new by that, or why nothing is to be paid.
fn paid(tx: &WriteTx<'_>, owner: UserId, id: i64, batch: Option<Batch>) -> Result<Sum, Problem> {
    match payments::pay(tx, owner, id, batch)?.ok_or_else(Problem::not_found)? {
        (DropState::Pending, amount) => Ok(Sum { orders: 1, amount }),
        (DropState::Paid, _) => Ok(Sum::default()),
        (DropState::Cancelled, _) => {
            Err(Problem::conflict(ForPeople("O pedido foi cancelado, e nada é devido por ele.")))
        }
    }
}

/// `POST /fornecedor/pedidos/{id}/pago`: marks an order as paid.
pub fn pay(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    let page = Asked::of(request)?.address();
    Ok(Box::new(move |tx| match paid(tx, owner, id, None) {
        Ok(_) => answer.done(id, &page, &format!("pago-{id}")),
        Err(problem) => answer.declined(problem, &page, "cancelado"),
    }))
}

/// `POST /fornecedor/pedidos/{id}/desfazer`: undoes a payment that was marked
/// by mistake.
pub fn unpay(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    let page = Asked::of(request)?.address();
    Ok(Box::new(move |tx| {
        orders::one(tx, Whose::Supplier(owner), id)?.ok_or_else(Problem::not_found)?;
        payments::unpay(tx, owner, id)?;
        answer.done(id, &page, "aberto")
    }))
}

/// `POST /fornecedor/pedidos/pagos`: marks orders as paid: those that are named, or with
/// `todos` the open ones of the filter, piece by piece. Of those that programs name it is
/// all or none; people ticked some that may have been called off since.
pub fn pay_many(app: &App, person: &Person, request: &Request) -> Result<Todo<Reply>, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let asked = Asked::strictly(request)?;
    let page = asked.address();
    let batch = Batch::draw();
    if sent.optional("todos").unwrap_or(false) {
        let (at, newest) = seen_by(&mut sent, request.now);
        sent.finish()?;
        let wanted = asked.wanted(owner, app.zone(), at);
        return Ok(Todo::Slow(Box::new(move |app| {
            let sum = payments::pay_all(&app.db, owner, &wanted, newest, batch)?;
            noted(answer, &page, sum, batch)
        })));
    }
    let is_form = sent.is_form;
    let ids: Vec<String> = if is_form {
        form::all_sent(request, "ids").map(std::borrow::Cow::into_owned).collect()
    } else {
        sent.required("ids")
    };
    if ids.is_empty() && is_form {
        let problem = Problem::field("ids", "must be 1 to 200 orders");
        return answer.refused(problem, &page, "nenhum").map(Todo::Now);
    }
    let numbers: Option<Vec<i64>> = ids.iter().map(|id| id.parse().ok()).collect();
    if !(1..=MOST_PAID).contains(&ids.len()) {
        sent.check.fail("ids", format!("must be 1 to {MOST_PAID} orders"));
    } else if numbers.is_none() {
        sent.check.fail("ids", "must be numbers of orders");
    }
    sent.finish()?;
    let numbers = numbers.unwrap_or_default();
    Ok(Todo::Write(Box::new(move |tx| {
        let mut sum = Sum::default();
        for id in numbers {
            match paid(tx, owner, id, Some(batch)) {
                Err(problem) if is_form && problem.code == Code::Conflict => {}
                paid => sum = sum.and(paid?),
            }
        }
        noted(answer, &page, sum, batch)
    })))
}

fn noted(answer: Answer, page: &str, sum: Sum, batch: Batch) -> Result<Reply, Problem> {
    let word = format!("pagos-{}-{}-{}", sum.orders, sum.amount.0, batch.0);
    let members = [("pagos", json!(sum.orders)), ("lote", json!(batch.0.to_string()))];
    answer.with(page, &word, &members)
}

/// `POST /fornecedor/pedidos/pagos/desfazer`: takes back what one press noted.
pub fn unpay_many(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let batch: String = sent.required("lote");
    let batch = batch.parse().ok().map(Batch);
    if batch.is_none() {
        sent.check.fail("lote", "must be the number of payments that were noted together");
    }
    sent.finish()?;
    let page = Asked::of(request)?.address();
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let undone = match batch {
        Some(batch) => payments::unpay_all(&app.db, owner, batch)?,
        None => 0,
    };
    answer.with(&page, &format!("desfeitos-{undone}"), &[("desfeitos", json!(undone))])
}
