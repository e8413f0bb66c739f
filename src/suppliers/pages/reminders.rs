//! Reminders that a supplier sends from the panel: of an order, to a seller, to all.

use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::json;

use super::home;
use super::orders::Asked;
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::dropshipping::orders::{self, Whose};
use crate::dropshipping::{relations, reminders};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::identity::guard::remind_all_charge;
use crate::messages::choices::ChannelSet;
use crate::panel::{Answer, Flash, Notice, Tone, flashes, form};

const FLASHES: &[Flash] = flashes! {
    "lembrado": good "Vendedor lembrado", "Um lembrete vale por 24 horas.";
    "quitado": warn "Nada a lembrar", "Por este pedido nada é devido.";
    "em-dia": warn "Nada a lembrar", "Este vendedor não tem pedidos em atraso.";
    "espera": warn "Todos foram lembrados há pouco",
        "Espere a janela acabar para lembrar todos de novo.";
};

/// The notice of what was done.
pub(in crate::suppliers) fn flash(request: &Request) -> Option<Notice> {
    let word = request.notice.as_deref()?;
    if let Some((sellers, orders)) =
        word.strip_prefix("lembrados-").and_then(|it| it.split_once('-'))
    {
        let text = format!("Vendedores com pedidos em atraso: {sellers}. Pedidos: {orders}.");
        return Some(Notice::new(Tone::Good, "Lembretes a caminho", text));
    }
    Flash::notice(FLASHES, word)
}

/// When all can be reminded again; `None` when they can be now.
pub(in crate::suppliers) fn wait(app: &App, owner: UserId, now: Instant) -> Option<String> {
    let verdict = remind_all_charge(app, owner).peek(app, now).verdict;
    let wait = verdict.filter(|verdict| !verdict.allowed || verdict.remaining == 0);
    wait.map(|verdict| app.zone().civil(verdict.reset).strftime("%H:%M:%S").to_string())
}

/// The page that a form came from: the home, or the list as it was.
fn back(request: &Request) -> Result<String, Problem> {
    if form::all_sent(request, "volta").any(|page| page == "inicio") {
        return Ok(home::PATH.to_owned());
    }
    Ok(Asked::of(request)?.address())
}

/// `POST /fornecedor/pedidos/{id}/lembrar`: reminds the seller of an order.
pub fn remind(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    let (channel_set, page) = (ChannelSet::of(&app.config), back(request)?);
    Ok(Box::new(move |tx| {
        let order = orders::one(tx, Whose::Related(owner), id)?.ok_or_else(Problem::not_found)?;
        if !order.status(tx.now()).is_open() {
            let problem = Problem::conflict(ForPeople("Nada é devido por este pedido."));
            return answer.declined(problem, &page, "quitado");
        }
        let way = reminders::of_order(tx, channel_set, &order)?;
        answer.with(
            &page,
            "lembrado",
            &[("id", json!(id.to_string())), ("canal", json!(way.name()))],
        )
    }))
}

/// `POST /fornecedor/vendedores/{id}/lembrar`: reminds a seller of all that is overdue.
pub fn remind_seller(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (seller, owner) = (UserId(request.id()?), person.account.user_id);
    let (answer, page) = (Answer::to(request), back(request)?);
    if !app.db.read(request.lane, |tx| relations::is_active(tx, owner, seller))? {
        return Err(Problem::not_found());
    }
    let channel_set = ChannelSet::of(&app.config);
    let told = reminders::of_seller(&app.db, channel_set, owner, seller)?;
    if told.orders == 0 {
        let problem = Problem::conflict(ForPeople("Este vendedor não tem nada em atraso."));
        return answer.declined(problem, &page, "em-dia");
    }
    answer.with(&page, "lembrado", &[("pedidos", json!(told.orders))])
}

/// `POST /fornecedor/pedidos/lembrar`: reminds all sellers of overdue orders.
/// The rate limit, once in a window, is shared with the API.
pub fn remind_all(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let page = back(request)?;
    let charged = remind_all_charge(app, owner).count(app, request.now);
    if let Err(problem) = charged.outcome {
        let wait = charged.verdict.map_or(1, |verdict| verdict.retry_after_s(request.now));
        if request.wants_json() {
            return Err(Problem { retry_after_s: Some(wait), ..problem });
        }
        let reply = Reply::back(&page, "espera")?.with(RETRY_AFTER, wait.into());
        return Ok(reply.status(StatusCode::SEE_OTHER));
    }
    let channel_set = ChannelSet::of(&app.config);
    let told = reminders::of_all(&app.db, channel_set, owner)?;
    let word = format!("lembrados-{}-{}", told.sellers, told.orders);
    let members = [("vendedores", json!(told.sellers)), ("pedidos", json!(told.orders))];
    answer.with(&page, &word, &members)
}
