//! `/oauth/authorize`: a program sends a person here. The person decides about
//! the access and is redirected back.
//!
//! The request is checked once, when the person arrives, and stored under a
//! random number that only this browser knows. The login leads back to that
//! number, and the form sends it. The program's redirect address is not used
//! before it was compared with the registered ones.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;

use super::api::{Caller, count, count_client};
use super::ask::{self, AuthorizeError, ErrorRedirect, ServerContext};
use super::documents::{self, AUTHORIZE};
use super::fetched::document_host;
use super::parameters::Parameters;
use super::redirect::{Redirect, Targets};
use super::refusal::{Fault, Refusal};
use super::store::{self, Client, Pending};
use super::views::ConsentPage;
use super::{new_code, scope};
use crate::accounts::{Account, Role};
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::{Instant, TokenHash, secrets};
use crate::db::Lane;
use crate::edge::route::{Job, Todo, nothing_to_do};
use crate::http::limit::{Class, Limit};
use crate::http::problem::Told;
use crate::http::{Code, ForPeople, Problem, Reply, Request, policy};
use crate::identity::guard;
use crate::identity::{Person, Visitor};
use crate::panel::{Layout, Sent, Tick};
use crate::partner::store as partners;

/// Requests of an address, or of a person with a session.
const ASKING: Limit = Limit { count: 60, window_s: 60 };

/// Our own parameter: the number of a stored request.
const REQUEST: &str = "pedido";

/// `GET /oauth/authorize`: checks a program's request, then shows it to the person.
pub fn authorize(app: &App, visitor: &Visitor, request: &Request) -> Result<Todo<Reply>, Problem> {
    let given = Parameters::of(request.query_text().as_bytes());
    if let Ok(Some(number)) = given.text(REQUEST) {
        return look(app, visitor, request, number);
    }
    let asked = Asked::by(app, visitor, request);
    count(app, asked.caller, Class::OAuthAsking, ASKING, request.now)?;
    let Ok(Some(id)) = given.text("client_id") else {
        return Err(told_here("client_id is missing, twice or no text"));
    };
    let known = app.db.read(request.lane, |tx| store::client(tx, id))?;
    let is_fresh = |client: &Client| client.fresh_until.is_none_or(|until| request.now < until);
    match known {
        Some(client) if is_fresh(&client) => begin(app, &given, &client, asked).map(Todo::Write),
        known if app.work.fetcher.takes(id) => {
            if app.work.fetcher.failed_lately(id, request.now) {
                return Err(told_here("the document of client_id could not be read just now"));
            }
            if known.is_none() {
                count_client(app, asked.caller, request.now)?;
            }
            let (id, now) = (id.to_owned(), request.now);
            Ok(Todo::Fetch(Box::new(move |app| {
                let client = fetched(app, &id, now, asked.is_known)?;
                let job = begin(app, &given, &client, asked)?;
                app.db.write(job)
            })))
        }
        _ => Err(told_here("client_id is unknown")),
    }
}

/// Who came with a program's request.
#[derive(Clone, Copy)]
struct Asked {
    /// Whose limits it counts against.
    caller: Caller,
    is_signed_in: bool,
    /// Signed in, or from an address with a recent successful login.
    is_known: bool,
}

impl Asked {
    fn by(app: &App, visitor: &Visitor, request: &Request) -> Self {
        let is_signed_in = visitor.person.is_some();
        let of_address = Caller::without_session(app, request);
        Self {
            caller: visitor.person.as_ref().map_or(of_address, |it| Caller::Person(it.user_id)),
            is_signed_in,
            is_known: is_signed_in
                || app.callers.known_addresses.holds(request.client, request.now),
        }
    }
}

/// The client, described by its document as it is now.
fn fetched(app: &App, id: &str, now: Instant, is_known: bool) -> Result<Client, Problem> {
    let new = app
        .work
        .fetcher
        .fetch(id, &Targets::of(&app.config.agents, &app.server.addresses), now, is_known)
        .map_err(told_here)?;
    app.db.write(move |tx| store::keep_client(tx, &new))?;
    let client = app.db.read(Lane::Brief, |tx| store::client(tx, id))?;
    client.ok_or_else(|| told_here("client_id is unknown"))
}

/// Stores a valid request and redirects to its page. An invalid one goes back to
/// the program: by itself when the person is signed in, else by a link.
fn begin(app: &App, given: &Parameters, client: &Client, asked: Asked) -> Result<Job, Problem> {
    let targets = Targets::of(&app.config.agents, &app.server.addresses);
    let server = ServerContext {
        issuer: documents::issuer(app),
        targets: &targets,
        is_resource: &|asked| documents::is_resource(app, asked),
    };
    let pending = match ask::check(given, client, &server) {
        Ok(pending) => pending,
        Err(AuthorizeError::ShowToUser(about)) => return Err(told_here(about)),
        Err(AuthorizeError::RedirectToClient(back)) if !asked.is_signed_in => {
            return Err(led_back(&back, &targets, server.issuer));
        }
        Err(AuthorizeError::RedirectToClient(back)) => {
            return Reply::redirect(&back.address(server.issuer)).map(nothing_to_do);
        }
    };
    let number = secrets::random_hex::<32>();
    let page = format!("{}{AUTHORIZE}?{REQUEST}={number}", app.server.addresses.base_url);
    Ok(Box::new(move |tx| {
        if !store::insert_request(tx, &TokenHash::of(&number), &pending, asked.is_known)? {
            return Err(told_here("client_id is unknown"));
        }
        Reply::redirect(&page)
    }))
}

/// Shows a request to the person, after the login.
fn look(
    app: &App,
    visitor: &Visitor,
    request: &Request,
    number: &str,
) -> Result<Todo<Reply>, Problem> {
    let session = guard::session_cookie(app, request.headers())?.map(TokenHash::of);
    let (Some(account), Some(session)) = (&visitor.person, session) else {
        return Reply::redirect(&login(number)).map(Todo::Now);
    };
    let plan = app.db.read(request.lane, |tx| partners::plan(tx, account.user_id))?;
    let plan = plan.map(|plan| partners::plan_of(plan, &app.config, app.zone()));
    let plan = plan.filter(|plan| plan.is_valid(request.now)).map(|plan| plan.name.words());
    let layout = Layout::outside(&app.config.server.name, request.now);
    let (account, number) = (Account::clone(account), number.to_owned());
    let targets = Targets::of(&app.config.agents, &app.server.addresses);
    let hosts = app.config.agents.document_hosts.clone();
    Ok(Todo::Write(Box::new(move |tx| {
        let seen = store::look_at_request(tx, &TokenHash::of(&number), &session)?;
        let (pending, client) = seen.ok_or_else(gone)?;
        // What is allowed may have changed since the request was stored.
        let redirect = Redirect::read(&pending.redirect_uri, &targets).map_err(|_| gone())?;
        let role = account.role;
        let acts = if pending.may_write { acts(role) } else { &[] };
        let page = ConsentPage {
            layout,
            request: number,
            vouched: document_host(&client.id, &hosts).map(str::to_owned),
            app: client.name,
            whose: redirect.host_or_scheme.to_owned(),
            way: redirect.kind,
            may_connect: may_connect(role),
            reads: reads(role),
            acts,
            access: if acts.is_empty() { Vec::new() } else { access() },
            plan,
            hub: if role == Role::Drop { "/fornecedor/parceiro" } else { "/painel/parceiro" },
            person: account.name,
            email: account.email,
            photo: account.photo,
        };
        let policy = policy::page_with_way_to(&redirect.source());
        Ok(Reply::page(&page)?.with(CONTENT_SECURITY_POLICY, policy))
    })))
}

/// Address of the login, which leads back to the request.
fn login(number: &str) -> String {
    let back = format!("{AUTHORIZE}?{REQUEST}={number}");
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("volta", &back).finish();
    format!("/entrar?{query}")
}

/// Whether people with this role can use the Partner API.
fn may_connect(role: Role) -> bool {
    role.is_student() || role == Role::Drop
}

fn reads(role: Role) -> &'static [&'static str] {
    if role == Role::Drop {
        &[
            "Ler os seus produtos, os vínculos e os pedidos dos seus vendedores",
            "Conferir os anúncios deles que estão sem produto",
            "Baixar etiquetas e notas fiscais desses pedidos",
        ]
    } else {
        &[
            "Ler as suas vendas, os seus anúncios, produtos e estoque",
            "Ler os números das suas contas vinculadas",
            "Ler as perguntas e as reclamações de quem compra",
            "Ler os avisos enviados e o seu consumo da API",
        ]
    }
}

fn acts(role: Role) -> &'static [&'static str] {
    if role == Role::Drop {
        &[
            "Vincular e desvincular anúncios",
            "Lembrar vendedores do que devem a você",
            "Escolher para onde vão os avisos dos seus pedidos (webhooks), enquanto estiver conectado",
        ]
    } else {
        &[
            "Enviar avisos a você, por e-mail, Telegram ou navegador",
            "Mudar o estoque, os custos e os preços dos seus produtos",
            "Responder perguntas de quem compra, em seu nome",
            "Baixar etiquetas, com o endereço de quem compra, e notas fiscais",
            "Escolher para onde vão os avisos das suas vendas (webhooks), enquanto estiver conectado",
        ]
    }
}

fn access() -> Vec<Tick> {
    vec![Tick::new("tudo", "Ler e agir", true), Tick::new("leitura", "Só ler", false)]
}

/// The access that was given, in the audit log.
#[derive(Serialize)]
struct Given {
    acesso: &'static str,
    volta_para: String,
}

/// `POST /oauth/authorize`: stores the person's decision and redirects to the
/// program.
pub fn decide(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let number: String = sent.required(REQUEST);
    let decision: String = sent.required("decisao");
    let access: Option<String> = sent.optional("acesso");
    let allows = decision == "permitir";
    if !allows && decision != "negar" {
        sent.check.fail("decisao", "must be permitir or negar");
    }
    if access.as_deref().is_some_and(|access| !matches!(access, "tudo" | "leitura")) {
        sent.check.fail("acesso", "must be tudo or leitura");
    }
    sent.finish()?;
    if allows && !may_connect(person.account.role) {
        return Err(Problem::closed(ForPeople("Esta conta não tem API de parceiros.")));
    }
    let reads_alone = access.as_deref() == Some("leitura");
    let (user, session) = (person.account.user_id, person.session);
    let actor = Actor::person(person, request);
    let issuer = documents::issuer(app).to_owned();
    Ok(Box::new(move |tx| {
        let pending = store::take_request(tx, &TokenHash::of(&number), &session)?;
        let mut given = pending.ok_or_else(gone)?;
        if !allows {
            let refusal = Refusal::new(Fault::AccessDenied, "the person said no");
            let Pending { redirect_uri, state, .. } = given;
            return Reply::redirect(
                &ErrorRedirect { redirect_uri, state, refusal }.address(&issuer),
            );
        }
        given.may_write &= !reads_alone;
        let code = new_code();
        let (grant, name) = store::insert_grant(tx, user, &given, &TokenHash::of(&code))?;
        let act = Act {
            action: "aplicativo.conectar",
            object: "aplicativo",
            object_id: grant.to_string(),
            object_name: &name,
        };
        let noted =
            Given { acesso: scope(given.may_write), volta_para: given.redirect_uri.clone() };
        audit::note(tx, &actor, &act, (), &noted)?;
        let said = [("code", code.as_bytes())];
        let back = ask::answer(&given.redirect_uri, &said, given.state.as_deref(), &issuer);
        Reply::redirect(&back)
    }))
}

/// A request with an error in its client or redirect address. The person sees
/// an error page and is not redirected.
fn told_here(about: &'static str) -> Problem {
    let told = Told {
        title: "Este pedido de conexão não vale",
        text: format!(
            "Nada foi conectado, e você não foi enviado de volta ao aplicativo, porque o pedido não deixa claro de quem ele é. Comece de novo a conexão no aplicativo. Se isso continuar, avise quem o faz e passe adiante: “{about}”."
        ),
        href: "/".to_owned(),
        button: None,
    };
    Problem::new(Code::BadRequest, about).telling(told)
}

/// A request with another error, from somebody who is not signed in. Anybody
/// can register an address here, so nobody is sent there unasked: the page has
/// the way back as a link.
fn led_back(back: &ErrorRedirect, targets: &Targets, issuer: &str) -> Problem {
    let place = Redirect::read(&back.redirect_uri, targets).map_or("", |it| it.host_or_scheme);
    let about = back.refusal.about.clone();
    let told = Told {
        title: "Este pedido de conexão não vale",
        text: format!(
            "Nada foi conectado. O pedido do aplicativo tem um erro, e quem o faz precisa corrigi-lo: “{about}”. O botão leva de volta ao aplicativo, em {place}. Use-o só se foi você quem começou a conexão."
        ),
        href: back.address(issuer),
        button: Some(format!("Voltar para {place}")),
    };
    Problem::new(Code::BadRequest, about).telling(told)
}

/// The request was decided already, has expired or was opened in another session.
fn gone() -> Problem {
    let told = Told {
        title: "Este pedido de conexão já passou",
        text: "Ele vale dez minutos, uma vez e em uma só sessão. Nada foi conectado agora. Comece de novo a conexão no aplicativo.".to_owned(),
        href: "/".to_owned(),
        button: None,
    };
    Problem::new(Code::NotFound, "this request was decided or is over").telling(told)
}
