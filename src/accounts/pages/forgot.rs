//! Asking for a link to choose a new password.
//!
//! Known and unknown e-mail addresses get the same answer in the same time,
//! because the account is looked up after the answer. An account gets three
//! links an hour; more requests are ignored, with the same answer. A network
//! address may send ten requests an hour; more are rejected. Decision accounts-20.

use crate::accounts::students::AccountServices;
use crate::accounts::views::ForgotPage;
use crate::accounts::{store, students};
use crate::app::App;
use crate::base::text;
use crate::db::{DbError, WriteTx};
use crate::http::limit::{Class, Limit, Subject};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Visitor;
use crate::outbox::MessageKind;
use crate::panel::{Layout, Notice, Sent, Tone, view};
use crate::services::Services;

/// Most links that are sent to an account.
const OF_ACCOUNT: Limit = Limit { count: 3, window_s: 3600 };
/// Most requests from a network address.
const OF_ADDRESS: Limit = Limit { count: 10, window_s: 3600 };
const NO_EMAIL: &str = "Informe um e-mail válido, como nome@exemplo.com.";

/// `GET /entrar/esqueci`: the form.
pub fn page(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    Reply::page(&form(app, request, String::new(), None, None))
}

fn form(
    services: &Services,
    request: &Request,
    email: String,
    alert: Option<Notice>,
    problem: Option<&Problem>,
) -> ForgotPage {
    let mut email = view::Field::of(email).fault(problem.and_then(|said| said.fault("email")));
    view::focus_first([&mut email]);
    ForgotPage {
        layout: Layout::outside(&services.config.server.name, request.now),
        alert,
        email,
        sent: false,
        sends: sends(services),
    }
}

/// Whether this installation can send messages at all.
fn sends(services: &Services) -> bool {
    let chat = services.config.chat.gateway != crate::config::Gateway::None;
    chat || !services.config.email.smtp_url.is_empty()
}

/// `POST /entrar/esqueci`: queues a link for the person with that address.
pub fn ask(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let typed: String = sent.optional("email").unwrap_or_default();
    sent.finish()?;
    let Some(email) = text::email(&typed) else {
        let problem = Problem::field("email", NO_EMAIL);
        return Reply::form_again(request, problem, |problem| {
            Ok(form(app, request, typed, None, Some(problem)))
        });
    };
    let (limiter, now) = (&app.callers.limiter, request.now);
    let verdict = limiter.count_address(Class::LinkAddress, request.client, OF_ADDRESS, now);
    if !verdict.allowed {
        return too_many(app, request, typed, verdict.retry_after_s(now));
    }
    let account = Subject::text(&[email.as_bytes()]);
    if limiter.count(Class::LinkAccount, account, OF_ACCOUNT, now).allowed {
        let (services, email) = (AccountServices::of(app), email.clone());
        // The answer does not wait for this job; otherwise its time would show
        // who has an account.
        drop(app.db.submit(move |tx| {
            send(tx, &services, &email).inspect_err(|error| {
                tracing::warn!(%error, "a link to choose a password was not queued");
            })
        }));
    }
    if request.wants_json() {
        return Reply::json(&serde_json::json!({ "ok": true }));
    }
    Reply::page(&ForgotPage { sent: true, ..form(app, request, email, None, None) })
}

/// Queues the link, when the address is that of a person who may sign in.
fn send(tx: &WriteTx<'_>, services: &AccountServices, email: &str) -> Result<(), DbError> {
    if let Some(account) = store::by_email(tx, email)?
        && !account.suspended
    {
        students::send_password_link(tx, services, account.user_id, MessageKind::PasswordLink)?;
    }
    Ok(())
}

fn too_many(
    app: &App,
    request: &Request,
    typed: String,
    retry_after_s: i64,
) -> Result<Reply, Problem> {
    let problem = Problem {
        retry_after_s: Some(retry_after_s),
        ..Problem::new(
            Code::RateLimited,
            "too many links were asked for; wait until the window ends",
        )
    };
    // The minute after the window's end, because seconds are not shown.
    let until = app.time_of_day(request.now.plus(retry_after_s + 59));
    let alert = Notice::new(
        Tone::Warn,
        format!("Muitas tentativas. Tente de novo às {until}"),
        "Sua senha não mudou. O último link que você recebeu continua valendo.",
    );
    Reply::form_again(request, problem, |_| Ok(form(app, request, typed, Some(alert), None)))
}
