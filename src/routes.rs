//! Every address of the service, as data.
//!
//! The router, `seller-platform routes`, the OpenAPI document and the test that
//! no row answers a stranger all read this table. The type of a row is in
//! `edge/route.rs`.

use http::Method;

use crate::accounts;
use crate::agency;
use crate::audit::log;
use crate::audit::objects;
use crate::catalog;
use crate::checkout;
use crate::content;
use crate::copies;
use crate::cron;
use crate::developers;
use crate::diagnostics;
use crate::edge::route::Access::{self, Admin, Agency, Anyone, Student, Supplier};
use crate::edge::route::{Call, Route, Run, Surface};
use crate::extension;
use crate::find;
use crate::home;
use crate::http::envelope::Envelope;
use crate::http::{Code, Family};
use crate::https;
use crate::identity::Person;
use crate::integration;
use crate::keys::{self, Scope};
use crate::live;
use crate::marketplace;
use crate::messages;
use crate::noun::{Made, pages};
use crate::operations;
use crate::operations::requests;
use crate::panel::list::{asks_for_much, exports};
use crate::partner;
use crate::people;
use crate::photos;
use crate::privacy;
use crate::profile;
use crate::program;
use crate::sale;
use crate::saved;
use crate::suppliers;

const fn get(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::GET, path, call, about)
}

const fn post(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::POST, path, call, about)
}

impl Access {
    /// A page or file for these people.
    const fn get(self, path: &'static str, run: Run<Person>, about: &'static str) -> Route {
        get(path, Call::Session(self, run), about)
    }

    /// What these people do.
    const fn post(self, path: &'static str, run: Run<Person>, about: &'static str) -> Route {
        post(path, Call::Session(self, run), about)
    }
}

/// Bodies of logins and other small forms.
const SMALL: usize = 4 * 1024;

impl Route {
    /// Takes small forms only.
    const fn small(self) -> Self {
        self.body_at_most(SMALL)
    }
}

/// Answers to questions: 2,000 characters of up to 12 bytes, such as
/// `%F0%9F%98%80` and `\ud83d\ude00`.
const ANSWER: usize = 32 * 1024;
/// Bodies of marketplace notifications.
const NOTIFICATION: usize = 64 * 1024;
/// Bodies of purchase events.
const PURCHASE: usize = 256 * 1024;
/// Bodies with what became of chat messages: a thousand statuses, as the vendor has them.
const RECEIPTS: usize = 1024 * 1024;

/// Registrations of OAuth clients, and their requests for tokens.
const CLIENT: usize = 16 * 1024;

/// Lists of people as CSV.
const LIST: usize = 8 * 1024 * 1024;

/// All rows. Their order is for readers; no two match the same request.
pub fn all() -> Vec<Route> {
    let mut rows = Vec::new();
    rows.extend(health());
    rows.extend(developers());
    rows.extend(extension());
    rows.extend(public());
    rows.extend(integrations());
    let (sellers, suppliers) = (partner::seller::OPERATIONS, partner::supplier::OPERATIONS);
    rows.extend(sellers.iter().map(|one| Route::of_operation(one, Call::Seller)));
    rows.extend(suppliers.iter().map(|one| Route::of_operation(one, Call::Supplier)));
    rows.push(
        post(
            partner::agent::PATH,
            Call::Agent(Run::Chosen(partner::agent::api::answer)),
            "The operations of the Partner API as tools of assistants (Model Context Protocol).",
        )
        .body_at_most(partner::agent::LARGEST),
    );
    rows.extend(queues());
    rows.extend(telegram());
    rows.extend(chat());
    rows.extend(panel());
    rows.extend(shops());
    rows.extend(own_account());
    rows.extend(program());
    rows.extend(agency());
    rows.extend(administration());
    rows.extend(keys());
    rows.extend(photos_of_others().into_iter().flatten());
    rows.extend(content_of_students());
    rows.extend(content_administration());
    rows.extend(people());
    rows.extend(partner_hub(Student, "/painel/parceiro"));
    rows.extend(partner_hub(Supplier, "/fornecedor/parceiro"));
    rows.extend(oauth());
    rows.extend(webhooks(Student, "/painel/parceiro/webhooks"));
    rows.extend(webhooks(Supplier, "/fornecedor/parceiro/webhooks"));
    rows.extend(drop_panels());
    rows.extend(partner_accounts());
    rows.extend(products(Student, "/painel/produtos"));
    rows.extend(products(Supplier, "/fornecedor/produtos"));
    rows.extend(personal_data());
    rows.extend(saved_views());
    rows
}

/// What people keep of lists under a name.
#[rustfmt::skip]
fn saved_views() -> [Route; 3] {
    use saved::pages;
    [
        Anyone.get("/visoes", Run::Read(pages::list), "What a person has kept of a list, as page or JSON."),
        Anyone.post("/visoes", Run::Write(pages::create), "Keeps the filters of a list under a name.").small(),
        Anyone.post("/visoes/{id}/remover", Run::Write(pages::remove), "Forgets what was kept of a list.").small(),
    ]
}

/// Everything kept about a person, as a file, and its erasure.
#[rustfmt::skip]
fn personal_data() -> [Route; 7] {
    use privacy::pages;
    [
        Anyone.get("/painel/perfil/dados", Run::Slow(pages::own_data), "All of one's own data as a ZIP, once the password was asked for.").in_person(),
        Anyone.post("/painel/perfil/dados", Run::Slow(pages::own_data), "The same with the password.").small(),
        Admin.get("/admin/alunos/{id}/dados", Run::Slow(pages::of_student), "All data of a student as a ZIP, once the password was asked for."),
        Admin.post("/admin/alunos/{id}/dados", Run::Slow(pages::of_student), "The same with the password.").small(),
        Admin.get("/admin/alunos/{id}/apagar-dados", Run::Slow(pages::ask_erasure), "Asks whether a student is to be erased."),
        Admin.post("/admin/alunos/{id}/apagar-dados", Run::Slow(pages::erase), "Erases a student and everything that names them.").small(),
        Admin.get("/admin/retencao", Run::Read(pages::retention), "What is kept, why, and for how long."),
    ]
}

#[rustfmt::skip] // Tables: one entry a row, columns in the same order.
fn health() -> [Route; 3] {
    use operations::api;
    [
        get("/.well-known/acme-challenge/{token}", Call::Open(Run::Read(https::api::challenge)), "What a certificate authority looks for when HTTPS is our own.").on(Surface::Probe),
        get("/healthz", Call::Open(Run::Read(api::healthz)), "Says that the process is up.").on(Surface::Probe),
        get("/readyz", Call::Open(Run::Read(api::readyz)), "Says whether the service can do its work.").on(Surface::Probe),
    ]
}

/// Documentation for integrators.
#[rustfmt::skip]
fn developers() -> [Route; 29] {
    use developers::pages::{self, plain};
    use developers::{api, how_to};
    let plain_how_to = |of: &how_to::HowTo, about| get(of.markdown, Call::Open(Run::Read(plain::how_to)), about);
    let page = |path, show, about| get(path, Call::Open(Run::Read(show)), about).on(Surface::Panel);
    [
        page(developers::GUIDE, pages::show_guide, "The guide of the Partner API."),
        page(developers::REFERENCE, pages::show_reference, "Where each operation of the Partner API is."),
        page(developers::OPERATION, pages::show_operation, "One operation of the Partner API, to read and to try."),
        page(developers::AGENTS, pages::show_agents, "How assistants are connected to the Partner API."),
        page(developers::WEBHOOKS, pages::show_webhooks, "How programs are told what happened."),
        page(how_to::MIRROR.path, pages::show_how_to, "How to keep a copy of the sales."),
        page(how_to::ERP.path, pages::show_how_to, "How an ERP reads sales and stock."),
        page(how_to::SUPPLIERS.path, pages::show_how_to, "How a supplier links, collects and marks what was paid."),
        page(how_to::TESTING.path, pages::show_how_to, "How to test a program that calls the Partner API."),
        page(developers::SANDBOX, pages::show_sandbox, "How programs are tried on sample data."),
        page(developers::CHANGELOG, pages::show_changelog, "What changed in the Partner API."),
        page(developers::STATUS, pages::show_status, "How the service is and was, as page or JSON."),
        get(developers::POSTMAN, Call::Open(Run::Read(api::postman)), "The Partner API as a collection for Postman."),
        get(developers::PYTHON, Call::Open(Run::Read(api::python)), "A client of the Partner API in Python, one file."),
        get(developers::TYPESCRIPT, Call::Open(Run::Read(api::typescript)), "A client of the Partner API in TypeScript, one file."),
        get(plain::GUIDE_MD, Call::Open(Run::Read(plain::guide)), "The guide as Markdown."),
        get(plain::REFERENCE_MD, Call::Open(Run::Read(plain::reference)), "The reference as Markdown."),
        get(plain::AGENTS_MD, Call::Open(Run::Read(plain::agents)), "How assistants are connected, as Markdown."),
        get(plain::WEBHOOKS_MD, Call::Open(Run::Read(plain::webhooks)), "How programs are told what happened, as Markdown."),
        plain_how_to(&how_to::MIRROR, "How to keep a copy of the sales, as Markdown."),
        plain_how_to(&how_to::ERP, "How an ERP reads sales and stock, as Markdown."),
        plain_how_to(&how_to::SUPPLIERS, "How a supplier links and collects, as Markdown."),
        plain_how_to(&how_to::TESTING, "How to test a program, as Markdown."),
        get(plain::SANDBOX_MD, Call::Open(Run::Read(plain::sandbox)), "How programs are tried on sample data, as Markdown."),
        get(plain::CHANGELOG_MD, Call::Open(Run::Read(plain::changelog)), "What changed, as Markdown."),
        get(plain::FEED, Call::Open(Run::Read(plain::feed)), "What changed and what failed, as an Atom feed."),
        get(plain::LLMS, Call::Open(Run::Read(plain::llms)), "What an assistant should read of all this."),
        get("/openapi.json", Call::Open(Run::Read(api::partner)), "The OpenAPI document of the Partner API."),
        get("/openapi/platform.json", Call::Open(Run::Read(api::platform)), "The OpenAPI document of everything else that programs call."),
    ]
}

/// Tokens for the Partner API, in the panel of sellers or of suppliers.
#[rustfmt::skip]
fn partner_hub(who: Access, hub: &'static str) -> [Route; 8] {
    use partner::hub::{create, disconnect, hub as show, narrow, reset, revoke, widen};
    let at = |rest| below(hub, rest);
    [
        who.get(hub, Run::Read(show), "One's tokens, plan, use of the Partner API and relations, as page or JSON."),
        who.post(at("tokens"), Run::Write(create), "Makes a token and shows it once.").small(),
        who.post(at("tokens/{id}/revogar"), Run::Write(revoke), "Ends a token at once.").small(),
        who.post(at("tokens/{id}/ampliar"), Run::Write(widen), "Lets a token change the shop.").small(),
        who.post(at("tokens/{id}/reduzir"), Run::Write(narrow), "Takes that back at once.").small(),
        who.post(at("teste/reiniciar"), Run::Slow(reset), "Makes one's test shop as it was at first.").small(),
        who.post(at("conexoes/{id}/revogar"), Run::Write(disconnect), "Ends a connected app at once.").small(),
        who.post(at("aplicativos/{id}/desconectar"), Run::Write(disconnect), "The same at its former address.").small(),
    ]
}

/// OAuth: how a person gives a program access to the Partner API.
#[rustfmt::skip]
fn oauth() -> [Route; 10] {
    use partner::oauth::{api, documents as at, pages};
    let known = |path, show, about| get(path, Call::Open(Run::Read(show)), about).on(Surface::OAuth);
    let called = |path, call, about| post(path, Call::Open(Run::Write(call)), about).on(Surface::OAuth).body_at_most(CLIENT);
    let resource = "Whose tokens the Partner API takes, and for what.";
    [
        known(at::RESOURCE_DOCUMENT, api::protected_resource, resource),
        known(at::RESOURCE_DOCUMENT_OF_AGENTS, api::protected_resource, resource),
        known(at::RESOURCE_DOCUMENT_OF_REST, api::protected_resource, resource),
        known(at::RESOURCE_DOCUMENT_OF_REST_DEV, api::protected_resource, resource),
        known(at::SERVER_DOCUMENT, api::authorization_server, "Where and how programs ask for tokens."),
        get(at::AUTHORIZE, Call::Visitor(Run::Chosen(pages::authorize)), "Shows a person what a program asks for."),
        Anyone.post(at::AUTHORIZE, Run::Write(pages::decide), "Gives a program what the person decided.").small(),
        called(at::REGISTER, api::register, "Makes a program known by what it says of itself."),
        called(at::TOKEN, api::token, "Gives tokens for a code or a refresh token."),
        called(at::REVOKE, api::revoke, "Ends a token."),
    ]
}

/// One's own webhooks, in the panel of sellers or of suppliers.
#[rustfmt::skip]
fn webhooks(who: Access, list: &'static str) -> [Route; 13] {
    use partner::webhooks;
    let at = |rest| below(list, rest);
    [
        who.get(list, Run::Read(webhooks::list), "One's endpoints that are told of events, as page or JSON."),
        who.post(list, Run::Write(webhooks::create), "Makes an endpoint and shows its secret once.").small(),
        who.get(at("{id}"), Run::Read(webhooks::one), "One endpoint with its newest deliveries, as page or JSON."),
        who.post(at("{id}"), Run::Write(webhooks::change), "Changes where an endpoint is and what it is told.").small(),
        who.post(at("{id}/excluir"), Run::Slow(webhooks::remove), "Removes an endpoint with its deliveries.").small(),
        who.post(at("{id}/segredo"), Run::Write(webhooks::rotate), "Gives an endpoint another secret; the one before signs as well for a day.").small(),
        who.post(at("{id}/testar"), Run::Write(webhooks::test), "Sends a test to an endpoint.").small(),
        who.post(at("{id}/ligar"), Run::Write(webhooks::switch_on), "Switches an endpoint on.").small(),
        who.post(at("{id}/desligar"), Run::Write(webhooks::switch_off), "Switches an endpoint off.").small(),
        who.post(at("{id}/reenviar"), Run::Slow(webhooks::replay), "Sends what happened in a span of time again.").small(),
        who.get(at("{id}/entregas"), Run::ReadOrSlow(asks_for_much, webhooks::deliveries), "The deliveries of an endpoint, as page, JSON or CSV."),
        who.get(at("{id}/entregas/{numero}"), Run::Read(webhooks::delivery), "One delivery with what was sent and answered."),
        who.post(at("{id}/entregas/{numero}/reenviar"), Run::Write(webhooks::replay_one), "Sends one delivery again.").small(),
    ]
}

/// The pages of suppliers, and what sellers owe to suppliers.
#[rustfmt::skip]
fn drop_panels() -> [Route; 31] {
    use suppliers::pages::{home, links, list, orders, owed, payments, reminders, sellers, statement, unmatched};
    [
        Supplier.get("/fornecedor", Run::Read(home::home), "A supplier's home."),
        Supplier.get("/fornecedor/ao-vivo", Run::Read(live::pages::stream), "What changes beside the menu and above lists, as server-sent events.").family_is(Family::Internal),
        Supplier.get("/fornecedor/buscar", Run::Slow(find::pages::find), "Pages, acts and things by name or number, as page or JSON."),
        Supplier.get("/fornecedor/vendedores", Run::Read(sellers::list), "A supplier's sellers and invitations, as page or JSON."),
        Supplier.post("/fornecedor/convites", Run::Write(sellers::invite), "Invites a seller by e-mail address.").small(),
        Supplier.post("/fornecedor/convites/{id}/retirar", Run::Write(sellers::withdraw), "Takes an invitation back.").small(),
        Supplier.post("/fornecedor/vendedores/{id}/encerrar", Run::Slow(sellers::end), "Ends the relation with a seller.").small(),
        Supplier.post("/fornecedor/vendedores/{id}/lembrar", Run::Slow(reminders::remind_seller), "Reminds a seller of what is overdue.").small(),
        Supplier.get("/fornecedor/vinculos", Run::Slow(links::list), "Linked listings, as page, JSON or CSV."),
        Supplier.post("/fornecedor/vinculos", Run::Write(links::create), "Links a listing to a product.").small(),
        Supplier.post("/fornecedor/vinculos/{id}/excluir", Run::Write(links::remove), "Removes a link.").small(),
        Supplier.get("/fornecedor/vinculos/importar", Run::Read(list::form), "The form for a list of links."),
        Supplier.post("/fornecedor/vinculos/importar", Run::Write(list::preview), "Says what would become of a list of links."),
        Supplier.post("/fornecedor/vinculos/importar/aplicar", Run::Slow(list::apply), "Makes the links of a list."),
        Supplier.get("/fornecedor/conferencia", Run::Slow(unmatched::list), "Listings without a product, as page, JSON or CSV."),
        Supplier.post("/fornecedor/conferencia/separar", Run::Write(unmatched::put_aside), "Says that a listing sells nothing of the supplier's.").small(),
        Supplier.post("/fornecedor/conferencia/mostrar", Run::Write(unmatched::take_up), "Takes that back.").small(),
        Supplier.get("/fornecedor/extrato", Run::Slow(statement::show), "What a seller ordered and paid in a month, as page, JSON or CSV."),
        Supplier.get("/fornecedor/pedidos", Run::ReadOrSlow(orders::needs_slow_lane, orders::list), "Drop orders, as page, JSON or CSV."),
        Supplier.post("/fornecedor/pedidos/pagos", Run::Chosen(payments::pay_many), "Notes that drop orders were paid.").small(),
        Supplier.post("/fornecedor/pedidos/pagos/desfazer", Run::Slow(payments::unpay_many), "Takes payments back that were noted together.").small(),
        Supplier.post("/fornecedor/pedidos/lembrar", Run::Slow(reminders::remind_all), "Reminds all sellers of what is overdue.").small(),
        Supplier.post("/fornecedor/pedidos/{id}/pago", Run::Write(payments::pay), "Notes that a drop order was paid.").small(),
        Supplier.post("/fornecedor/pedidos/{id}/desfazer", Run::Write(payments::unpay), "Takes a payment back that was noted by mistake.").small(),
        Supplier.post("/fornecedor/pedidos/{id}/lembrar", Run::Write(reminders::remind), "Reminds the seller of a drop order.").small(),
        Supplier.get("/fornecedor/pedidos/{id}/etiqueta", Run::Outside(orders::label), "The label of a drop order's parcel, as PDF.").in_person().family_is(Family::File),
        Supplier.get("/fornecedor/pedidos/{id}/nota", Run::Outside(orders::invoice), "The fiscal note of a drop order, as PDF or XML.").in_person().family_is(Family::File),
        Student.get("/painel/fornecedores", Run::ReadOrSlow(orders::needs_slow_lane, owed::list), "What a seller owes whom, as page, JSON or CSV."),
        Student.post("/painel/parceiro/convites/{id}/aceitar", Run::Write(owed::accept), "Accepts a supplier's invitation.").small(),
        Student.post("/painel/parceiro/convites/{id}/recusar", Run::Write(owed::refuse), "Refuses a supplier's invitation.").small(),
        Student.post("/painel/parceiro/fornecedores/{id}/encerrar", Run::Slow(owed::end), "Ends the relation with a supplier.").small(),
    ]
}

/// Accounts of the Partner API in the operator's panel.
#[rustfmt::skip]
fn partner_accounts() -> [Route; 9] {
    use partner::accounts as parties;
    [
        Admin.get("/admin/parceiros", Run::ReadOrSlow(parties::needs_slow_lane, parties::list), "Accounts with a plan or tokens of the Partner API, as page, JSON or CSV."),
        Admin.get("/admin/parceiros/relacoes", Run::ReadOrSlow(parties::needs_slow_lane, parties::relations), "Suppliers and the sellers that they are related to, as page, JSON or CSV."),
        Admin.post("/admin/parceiros/relacoes", Run::Write(parties::relate), "Relates a supplier and a seller at once.").small(),
        Admin.post("/admin/parceiros/relacoes/{id}/encerrar", Run::Slow(parties::end_relation), "Ends a relation, or takes an invitation back.").small(),
        Admin.get("/admin/parceiros/{id}", Run::Read(parties::account), "One account's plan, tokens and calls, as page or JSON."),
        Admin.post("/admin/parceiros/{id}/plano", Run::Write(parties::set_plan), "Gives an account a plan, or another one.").small(),
        Admin.post("/admin/parceiros/{id}/plano/excluir", Run::Write(parties::remove_plan), "Takes an account's plan away.").small(),
        Admin.post("/admin/parceiros/{id}/tokens/{token}/revogar", Run::Write(parties::revoke), "Ends a token of an account at once.").small(),
        Admin.post("/admin/parceiros/{id}/aplicativos/{aplicativo}/desconectar", Run::Write(parties::disconnect), "Ends a connected app of an account at once.").small(),
    ]
}

/// One's own products, in the panel of sellers or of suppliers.
#[rustfmt::skip]
fn products(who: Access, list: &'static str) -> [Route; 8] {
    use catalog::import::pages as import;
    use catalog::pages;
    use catalog::stock::pages as stock;
    let at = |rest| below(list, rest);
    [
        who.get(list, Run::ReadOrSlow(pages::needs_slow_lane, pages::list), "One's own products, as page, JSON or CSV."),
        who.post(list, Run::Write(pages::create), "Creates a product.").small(),
        who.get(at("importar"), Run::Read(import::form), "The form for a file of products."),
        who.post(at("importar"), Run::Slow(import::send), "Takes a file of products, all of it or nothing.").body_at_most(LIST),
        who.get(at("{id}"), Run::Read(pages::show), "One product with the movements of its stock; `novo` for a new one."),
        who.post(at("{id}"), Run::Write(pages::change), "Changes a product.").small(),
        who.post(at("{id}/excluir"), Run::Slow(pages::delete), "Removes a product with its movements.").small(),
        who.post(at("{id}/movimentos"), Run::Write(stock::create), "Notes what came into stock, went out or was counted.").small(),
    ]
}

/// People in the operator's panel, and the audit log.
#[rustfmt::skip]
fn people() -> [Route; 34] {
    use people::import::pages as import;
    use people::pages::{self, acts, bulk, detail, roles, undo, view_as};
    [
        Admin.get("/admin/alunos", Run::ReadOrSlow(pages::needs_slow_lane, pages::list), "The students, as page, JSON or CSV."),
        Admin.post("/admin/alunos", Run::Write(pages::create), "Creates a student and queues the welcome message."),
        Admin.get("/admin/alunos/{id}", Run::Read(detail::show), "One student; `novo` for the form of a new one."),
        Admin.post("/admin/alunos/{id}", Run::Write(acts::change), "Changes a student."),
        Admin.post("/admin/alunos/{id}/excluir", Run::Slow(acts::remove), "Removes a student and what belongs to them."),
        Admin.post("/admin/alunos/{id}/suspender", Run::Write(acts::suspend), "Suspends a student."),
        Admin.post("/admin/alunos/{id}/reativar", Run::Write(acts::reactivate), "Lets a student in again."),
        Admin.post("/admin/alunos/{id}/link-de-senha", Run::Write(acts::send_link), "Queues a one-time link to choose a password."),
        Admin.post("/admin/alunos/{id}/sessoes/encerrar", Run::Write(acts::end_sessions), "Ends the sessions and extension tokens of a student."),
        Admin.post("/admin/alunos/{id}/permissoes", Run::Write(roles::change_exceptions), "Makes exceptions from the permissions of a student's plan."),
        Admin.get(bulk::PATH, Run::Slow(bulk::ask), "Asks for what an act on several students needs."),
        Admin.post(bulk::PATH, Run::Slow(bulk::run), "Suspends several students, gives them a plan, or writes to them.").body_at_most(LIST),
        Admin.post("/admin/alunos/desfazer", Run::Slow(undo::undo), "Takes back an act on students of the last minutes.").small(),
        Admin.post("/admin/alunos/{id}/prazo", Run::Write(bulk::grace), "Gives a student some days more.").small(),
        Admin.get("/admin/alunos/importar", Run::Read(import::list), "The form for a list of students, and the lists sent lately."),
        Admin.post("/admin/alunos/importar", Run::Slow(import::send), "Reads and checks a list of students; makes nobody yet.").body_at_most(LIST),
        Admin.get("/admin/alunos/importar/{id}", Run::Slow(import::report), "What is to become, or became, of each row of a list, as page, JSON or CSV."),
        Admin.post("/admin/alunos/importar/{id}/aplicar", Run::Slow(import::start), "Makes the students of a list, all of them."),
        Admin.post("/admin/alunos/importar/{id}/excluir", Run::Write(import::discard), "Forgets a list; who was made stays."),
        Admin.post("/admin/alunos/{id}/ver-como", Run::Write(view_as::begin), "Begins to look as a student, for half an hour."),
        Admin.post("/admin/ver-como/encerrar", Run::Write(view_as::end), "Ends looking as a student."),
        Admin.get("/admin/papeis", Run::Read(roles::page), "What each role may do, as page or JSON."),
        Admin.post("/admin/papeis", Run::Write(roles::change), "Replaces what roles may do."),
        Admin.get("/admin/equipe", Run::ReadOrSlow(pages::needs_slow_lane, pages::list), "Suppliers and administrators, as page, JSON or CSV."),
        Admin.post("/admin/equipe", Run::Write(pages::create), "Creates a supplier or administrator and queues the welcome message."),
        Admin.get("/admin/equipe/{id}", Run::Read(detail::show), "One supplier or administrator; `novo` for the form of a new one."),
        Admin.post("/admin/equipe/{id}", Run::Write(acts::change), "Changes a supplier or administrator."),
        Admin.post("/admin/equipe/{id}/excluir", Run::Slow(acts::remove), "Removes a supplier or administrator."),
        Admin.post("/admin/equipe/{id}/suspender", Run::Write(acts::suspend), "Suspends a supplier or administrator."),
        Admin.post("/admin/equipe/{id}/reativar", Run::Write(acts::reactivate), "Lets a supplier or administrator in again."),
        Admin.post("/admin/equipe/{id}/link-de-senha", Run::Write(acts::send_link), "Queues a one-time link to choose a password."),
        Admin.post("/admin/equipe/{id}/sessoes/encerrar", Run::Write(acts::end_sessions), "Ends the sessions of a supplier or administrator."),
        Admin.get("/admin/auditoria", Run::Slow(log::pages::list), "The audit log, as page, JSON or CSV."),
        Admin.get("/admin/auditoria/{id}", Run::Read(log::pages::entry), "One entry of the audit log with all it changed."),
    ]
}

#[rustfmt::skip]
fn extension() -> [Route; 5] {
    [
        post("/api/ext/auth", Call::Open(Run::Login(accounts::login::reject_early, accounts::api::auth)), "Gives a user of the extension a token for e-mail and password.")
            .on(Surface::Extension).small()
            .takes::<accounts::api::AuthBody>().replies::<accounts::api::AuthReply>().may_fail(&[Code::InvalidCredentials]),
        post("/api/ext/logout", Call::Open(Run::Write(accounts::api::logout)), "Ends the presented extension token; never fails.")
            .on(Surface::Extension).logs_out().small().replies::<accounts::api::LogoutReply>(),
        get("/api/ext/me", Call::Extension(Run::Read(extension::api::me)), "The user's whole dashboard.").replies::<extension::api::Dashboard<'_>>(),
        get("/api/ext/ml/check", Call::Extension(Run::Read(marketplace::account::api::check)), "Whether a marketplace account is linked to the user.")
            .asks::<marketplace::account::api::CheckQuery>().replies::<marketplace::account::api::CheckReply>(),
        post("/api/ext/notificacoes/lidas", Call::Extension(Run::Chosen(messages::api::mark_read)), "Marks notifications as read.")
            .body_at_most(NOTIFICATION).takes::<messages::api::MarkReadBody>().replies::<messages::api::MarkReadReply>(),
    ]
}

#[rustfmt::skip]
fn public() -> [Route; 6] {
    use content::api;
    use content::schema_doc::WireSchema;
    use content::teachers::WireTeacher;
    use content::wire::{WireContext, WireMeet, WirePlan};
    use marketplace::inbox;
    [
        get("/api/v1/contexto", Call::Open(Run::Read(api::context)), "Everything a language model should know of the platform.").replies::<Envelope<WireContext>>(),
        get("/api/v1/planos", Call::Open(Run::Read(api::plans)), "All active plans.").replies::<Envelope<Vec<WirePlan>>>(),
        get("/api/v1/professores", Call::Open(Run::Read(api::teachers)), "All teachers.").replies::<Envelope<Vec<WireTeacher>>>(),
        get("/api/v1/meets", Call::Open(Run::Read(api::meets)), "The next ten live sessions, by date.").replies::<Envelope<Vec<WireMeet>>>(),
        get("/api/v1/schema", Call::Open(Run::Read(api::schema)), "The tables of the database and the roles.").replies::<Envelope<WireSchema>>(),
        post("/ml/notificacoes", Call::Notification(Run::Write(inbox::api::receive)), "Receives a notification of the marketplace.")
            .body_at_most(NOTIFICATION).asks::<inbox::api::NotificationQuery>().takes::<inbox::notification::Body>().replies::<inbox::api::Received>(),
    ]
}

#[rustfmt::skip]
fn integrations() -> [Route; 4] {
    use Scope::{WebhookReceive, Write};
    use integration::api::{self, llm};
    [
        post("/api/v1/alunos/criar", Call::Key(Write, Run::Write(api::create)), "Registers a student; a welcome message leads to the choice of a password.")
            .small().takes::<api::CreateBody>().creates::<Envelope<api::Created>>().may_fail(&[Code::Conflict]),
        post("/api/v1/alunos/suspender", Call::Key(Write, Run::Write(api::suspend)), "Ends every way in of a student.")
            .small().takes::<api::StudentBody>().replies::<Envelope<api::Student>>().may_fail(&[Code::NotFound]),
        post("/api/v1/alunos/reativar", Call::Key(Write, Run::Write(api::reactivate)), "Lets a suspended student in again.")
            .small().takes::<api::StudentBody>().replies::<Envelope<api::Student>>().may_fail(&[Code::NotFound]),
        post("/api/v1/webhook/llm", Call::Key(WebhookReceive, Run::Read(llm::answer)),
            "What an assistant asks for: plans, meets or the whole context, as the public endpoints give them.")
            .small().takes::<llm::LlmBody>().replies::<Envelope<llm::LlmData>>(),
    ]
}

/// Where the official chat API tells what became of messages.
#[rustfmt::skip]
fn chat() -> [Route; 2] {
    use messages::receipts::{HOOK_PATH, api};
    [
        get(HOOK_PATH, Call::Chat(Run::Read(api::confirm)), "Shows the official chat API that this address is ours.")
            .asks::<api::Question>().sends("text/plain").may_fail(&[Code::NotFound]),
        post(HOOK_PATH, Call::Chat(Run::Write(api::receive)), "Receives what became of the messages that the official chat API took.")
            .body_at_most(RECEIPTS).takes_described(api::body, None).replies::<api::Received>().may_fail(&[Code::NotFound]),
    ]
}

#[rustfmt::skip]
fn telegram() -> [Route; 3] {
    use messages::telegram::api;
    use profile::pages::telegram;
    [
        post("/api/v1/webhook/telegram", Call::Telegram(Run::Write(api::receive)), "Receives what people say to the Telegram bot.")
            .body_at_most(NOTIFICATION).takes_described(api::body, None).replies::<api::Received>(),
        Anyone.post("/perfil/telegram/conectar", Run::Outside(telegram::connect), "Gives a link that connects one's Telegram, for a quarter of an hour.").small(),
        Anyone.post("/perfil/telegram/desconectar", Run::Write(telegram::disconnect), "Disconnects one's Telegram.").small(),
    ]
}

#[rustfmt::skip]
fn panel() -> [Route; 25] {
    [
        get("/", Call::Visitor(Run::Read(accounts::pages::start)), "Leads to the login or to the person's home."),
        get("/entrar", Call::Visitor(Run::Read(accounts::pages::login_page)), "The login page."),
        post("/entrar", Call::Visitor(Run::Login(accounts::pages::reject_early, accounts::pages::login)), "Opens a session.").small(),
        post("/sair", Call::Visitor(Run::Write(accounts::pages::leave)), "Ends the session.").small(),
        get("/entrar/esqueci", Call::Visitor(Run::Read(accounts::pages::forgot::page)), "The page that asks for a new password."),
        post("/entrar/esqueci", Call::Visitor(Run::Read(accounts::pages::forgot::ask)), "Queues a link to choose a new password, if the address is somebody's.").small(),
        get("/senha", Call::Visitor(Run::Read(accounts::pages::choose::page)), "The page of a one-time link to choose a password."),
        post("/senha", Call::Visitor(Run::Password(accounts::pages::choose::choose)), "Sets the password of a one-time link and opens a session.").small(),
        get("/configurar", Call::Visitor(Run::Read(accounts::pages::setup::page)), "The page of the one-time link that makes the first administrator."),
        post("/configurar", Call::Visitor(Run::Password(accounts::pages::setup::create)), "Makes the first administrator.").small(),
        get("/assets/{*rest}", Call::Open(Run::Read(operations::api::asset)), "An embedded file.").on(Surface::Panel),
        Student.get("/painel", Run::Read(home::pages::home), "A student's home."),
        Student.get("/painel/ao-vivo", Run::Read(live::pages::stream), "What changes beside the menu and above lists, as server-sent events.").family_is(Family::Internal),
        Student.get("/painel/buscar", Run::Slow(find::pages::find), "Pages, acts and things by name or number, as page or JSON."),
        Student.get("/painel/ml", Run::Read(marketplace::account::pages::accounts), "The linked marketplace accounts."),
        Student.get("/painel/ml/conectar", Run::Write(marketplace::account::pages::begin), "Leads to the marketplace's consent page.").changes_state(),
        get("/painel/ml/retorno", Call::Visitor(Run::Chosen(agency::invites::pages::returns::finish)),
            "Where the marketplace sends people back to: students, and who follows an invitation of the agency."),
        Student.post("/painel/ml/contas/{ml_user_id}/desvincular", Run::Outside(marketplace::account::pages::unlink), "Unlinks an account and forgets its tokens.").small(),
        Student.post("/painel/ml/contas/{ml_user_id}/sincronizar", Run::Write(marketplace::sync::api::begin), "Reads an account at the marketplace now.").small(),
        Student.get("/painel/avisos", Run::Read(messages::pages::list), "A student's notifications."),
        Student.post("/painel/avisos/lidos", Run::Chosen(messages::pages::mark_read), "Marks all notifications as read.").small(),
        get("/sem-conexao", Call::Visitor(Run::Read(find::pages::offline)), "What the service worker shows without a connection."),
        get("/sw.js", Call::Open(Run::Read(operations::api::service_worker)), "The script that shows messages while no page is open.").on(Surface::Panel),
        get("/manifest.webmanifest", Call::Open(Run::Read(operations::api::manifest)), "What a phone needs to keep the panels on its home screen.").on(Surface::Panel),
        get("/favicon.ico", Call::Open(Run::Read(operations::api::favicon)), "The icon for browsers that ask for it by this name.").on(Surface::Panel),
    ]
}

/// The agency's clients, how it gets and loses them, the state of their accounts, the
/// queue of their questions, and saved replies of sellers and of the agency.
#[rustfmt::skip]
fn agency() -> [Route; 40] {
    use agency::clients::pages as clients;
    use agency::invites::pages as invites;
    use agency::pages::{self, labels, leaving};
    use agency::questions::pages::{answer, holding, replies};
    use agency::questions as queue;
    use marketplace::books::questions::replies::pages as saved;
    let save = |path, save, about| Agency.post(path, Run::Write(save), about);
    [
        Agency.get("/admin/agencia", Run::Slow(pages::overview), "How the agency's clients do, as page or JSON."),
        Agency.get("/admin/agencia/checkup", Run::Slow(pages::checkup_page), "What is wrong with which account, as page or JSON."),
        Agency.post("/admin/agencia/checkup", Run::Slow(pages::check_now), "Looks over every account of the agency now.").small(),
        Agency.get("/admin/agencia/clientes", Run::Slow(clients::list), "The agency's clients, as page or JSON."),
        Agency.get("/admin/agencia/clientes/{id}", Run::Slow(clients::show), "A client, as page or JSON; `novo` for the form of a new one."),
        Agency.get("/admin/agencia/clientes/{id}/editar", Run::Read(clients::edit), "The form of a client."),
        Agency.get("/admin/agencia/clientes/{id}/reclamacoes/{claim_id}", Run::Read(agency::clients::pages::claim::show), "A claim of a client, as page or JSON."),
        Agency.get("/admin/agencia/clientes/{id}/relatorio", Run::Slow(pages::report::show), "A client's last 30 days, to print or to send."),
        save("/admin/agencia/clientes", clients::create, "Makes a client, with an account that a student has linked or an invitation."),
        save("/admin/agencia/clientes/{id}", clients::change, "Changes a client."),
        save("/admin/agencia/clientes/{id}/contas", clients::add_account, "Includes an account that a student has linked.").small(),
        Agency.post("/admin/agencia/clientes/{id}/contas/{ml_user_id}/retirar", Run::Outside(clients::remove_account), "Ends the care of an account at once.").small(),
        Agency.post("/admin/agencia/clientes/{id}/excluir", Run::Outside(clients::delete), "Removes a client.").small(),
        Agency.post("/admin/agencia/ml/sincronizar-todos", Run::Outside(clients::sync_all),
            "Reads the five clients of the agency that have waited longest.").small().without_timeout(),
        get("/convite/{code}", Call::Visitor(Run::Read(invites::page)), "Whom an invitation of the agency is for and what it opens, as page or JSON.").secret_path(),
        post("/convite/{code}", Call::Visitor(Run::Write(invites::begin)), "Leads who was invited to the marketplace's consent page.").small().secret_path(),
        get("/convite/pronto", Call::Visitor(Run::Read(invites::done)), "What came of following an invitation, as page or JSON."),
        Agency.post("/admin/agencia/clientes/{id}/convite", Run::Write(invites::renew), "Makes a client's invitation in place of the one before and shows it once.").small(),
        Agency.post("/admin/agencia/clientes/{id}/convite/encerrar", Run::Write(invites::end), "Ends a client's invitation.").small(),
        Student.post("/painel/ml/contas/{ml_user_id}/agencia/encerrar", Run::Slow(leaving::end), "Ends the agency's care of an own account.").small(),
        Agency.get("/admin/agencia/etiquetas", Run::Read(labels::list), "Parcels of all clients whose labels are to be printed, and what was printed, as page; those of one account as JSON."),
        Agency.get("/admin/agencia/etiqueta", Run::Outside(labels::file), "The labels of shipments of a client's account, as one PDF.").family_is(Family::File),
        Agency.post("/admin/agencia/etiquetas/imprimir", Run::Outside(labels::print), "Prints labels of clients' parcels and notes that they were.").without_timeout(),
        Agency.post("/admin/agencia/etiquetas/desfazer", Run::Write(labels::undo), "Takes back that labels of clients were printed.").small(),
        Agency.get("/admin/agencia/etiquetas/lote/{id}", Run::Outside(labels::batch), "The labels of a batch that was printed, as one PDF.").family_is(Family::File),
        Agency.get(queue::PATH, Run::ReadOrSlow(queue::needs_slow_lane, queue::pages::queue), "Questions to all accounts of the agency's clients."),
        Agency.get("/admin/agencia/central-perguntas/json", Run::ReadOrSlow(queue::needs_slow_lane, queue::pages::json), "The same as JSON."),
        Agency.post("/admin/agencia/central-perguntas/responder", Run::Outside(answer::answer), "Answers a question of a client's account.").body_at_most(ANSWER),
        Agency.get("/admin/agencia/central-perguntas/atendendo", Run::Read(holding::list), "Who answers which question now."),
        Agency.post("/admin/agencia/central-perguntas/{id}/assumir", Run::Read(holding::take), "Says that one answers a question.").small(),
        Agency.get("/admin/agencia/central-perguntas/{id}/comprador", Run::Outside(queue::pages::buyer), "What the buyer of a question is called."),
        Agency.get(replies::REPLIES, Run::Read(replies::list), "Replies that the agency saved, as page or JSON."),
        Agency.post(replies::REPLIES, Run::Write(replies::create), "Saves a reply of the agency.").body_at_most(ANSWER),
        Agency.post("/admin/agencia/respostas/{id}", Run::Write(replies::change), "Changes a reply of the agency.").body_at_most(ANSWER),
        Agency.post("/admin/agencia/respostas/{id}/excluir", Run::Write(replies::delete), "Removes a reply of the agency.").small(),
        Student.get("/painel/perguntas/{id}/comprador", Run::Outside(marketplace::books::questions::pages::buyer), "What the buyer of a question is called."),
        Student.get(saved::OWN, Run::Read(saved::own_list), "Replies that a seller saved, as page or JSON."),
        Student.post(saved::OWN, Run::Write(saved::own_create), "Saves a reply of a seller.").body_at_most(ANSWER),
        Student.post("/painel/respostas/{id}", Run::Write(saved::own_change), "Changes a reply of a seller.").body_at_most(ANSWER),
        Student.post("/painel/respostas/{id}/excluir", Run::Write(saved::own_delete), "Removes a reply of a seller.").small(),
    ]
}

#[rustfmt::skip]
fn program() -> [Route; 21] {
    use program::admin::pages::{challenges, milestones, overview, rules, students};
    use program::{checkin, pages};
    let save = |path, save, about| Admin.post(path, Run::Write(save), about);
    [
        Student.post("/painel/checkin", Run::Write(checkin::post), "The day's check-in, once.").small(),
        Student.get("/painel/competicao", Run::ReadOrSlow(asks_for_much, pages::competition), "Level, challenges, ranking and milestones of a student, as page or JSON."),
        Student.get("/painel/competicao/historico", Run::ReadOrSlow(asks_for_much, pages::history), "What gave and took a student's points, as page or JSON."),
        Student.get("/painel/competicao/ranking-json", Run::ReadOrSlow(asks_for_much, pages::ranking_json), "A page of a ranking of students."),
        Admin.get("/admin/gamificacao", Run::Slow(overview::show), "The program at a glance, as page or JSON."),
        Admin.get("/admin/gamificacao/regras", Run::ReadOrSlow(rules::tries, rules::show), "What every action gives, and what other rules would have given."),
        Admin.get("/admin/gamificacao/marcos", Run::Slow(milestones::list), "The milestones, as page or JSON."),
        Admin.get("/admin/gamificacao/marcos/{numero}", Run::Slow(milestones::show), "The form of a milestone."),
        Admin.get("/admin/gamificacao/alunos/{id}", Run::ReadOrSlow(asks_for_much, students::show), "A student's points, as page or JSON."),
        Admin.get("/admin/gamificacao/status", Run::Slow(overview::status), "How many students have the program's data."),
        Admin.get("/admin/gamificacao/migrar", Run::Slow(overview::migrate), "Makes the program's data of students who lack it.").changes_state().without_timeout(),
        Admin.get("/admin/gamificacao/desafios-json", Run::Read(challenges::json), "Challenges that go on, and those that are over."),
        Admin.post("/admin/gamificacao/recalcular", Run::Slow(overview::recount), "Compares what every student has with the ledger.").small(),
        save("/admin/gamificacao/editar-xp", rules::edit_xp, "Changes what an action gives."),
        save("/admin/gamificacao/editar-milestone", milestones::edit, "Changes a milestone."),
        save("/admin/gamificacao/config/salvar", rules::save, "Changes multipliers and limits."),
        save("/admin/gamificacao/alunos/{id}/corrigir", students::correct, "Gives or takes points by hand."),
        Admin.get("/admin/gamificacao/desafios", Run::Read(challenges::list), "Challenges, as page or JSON."),
        Admin.get("/admin/gamificacao/desafios/{id}", Run::Read(challenges::show), "The form of a challenge; `novo` for a new one."),
        Admin.post("/admin/gamificacao/desafio/salvar", Run::Write(challenges::save), "Makes or changes a challenge."),
        Admin.post("/admin/gamificacao/desafio/excluir", Run::Write(challenges::delete), "Removes a challenge.").small(),
    ]
}

/// A seller's books, and tools: the fee calculator, labels for parcels, fiscal notes.
#[rustfmt::skip]
fn shops() -> [Route; 19] {
    use marketplace::books::claims::pages as claims;
    use marketplace::books::listed;
    use marketplace::books::listings::pages as listings;
    use marketplace::books::orders::pages as sales;
    use sale::pages as sale;
    use marketplace::books::questions::pages as questions;
    use catalog::calculator::pages as fees;
    use catalog::listing::pages as listing;
    use marketplace::tools::labels::pages as labels;
    [
        Student.get("/painel/vendas", Run::ReadOrSlow(listed::needs_slow_lane, sales::sales), "A seller's orders, as page, JSON or CSV."),
        Student.get("/painel/vendas/{id}", Run::Read(sale::sale), "One order of a seller."),
        Student.post("/painel/vendas/{id}/custo", Run::Write(sale::set_cost), "Sets what a unit of what was sold costs its seller.").small(),
        Student.get("/painel/anuncios", Run::ReadOrSlow(listings::needs_slow_lane, listings::listings), "A seller's listings, as page, JSON or CSV."),
        Student.get("/painel/anuncios/{id}", Run::Read(listing::listing), "One listing: what it sold, what was asked about it, its product."),
        Student.get("/painel/perguntas", Run::ReadOrSlow(listed::needs_slow_lane, questions::questions), "Questions of buyers, as page, JSON or CSV."),
        Student.get("/painel/perguntas/{id}", Run::Read(questions::question), "A question of a buyer."),
        Student.post("/painel/perguntas/{id}/responder", Run::Outside(questions::answer::answer), "Answers a question of a buyer.").body_at_most(ANSWER),
        Student.get("/painel/reclamacoes", Run::ReadOrSlow(listed::needs_slow_lane, claims::claims), "Claims of buyers, as page, JSON or CSV."),
        Student.get("/painel/reclamacoes/{id}", Run::Read(claims::claim), "One claim of a buyer."),
        Student.get("/painel/ml/calculadora", Run::ReadOrOutside(fees::asks, fees::page), "What remains of a sale, as a page."),
        Student.get("/painel/ml/calculadora/taxas-json", Run::Outside(fees::fees_json),
            "The fees of a sale of one account, with its reputation and the tax.").family_is(Family::Internal),
        Student.post("/painel/ml/calculadora/imposto", Run::Write(fees::set_tax), "Sets one's own tax rate for the calculator.").small(),
        Student.get("/painel/ml/etiquetas", Run::Read(labels::list), "Parcels whose labels are to be printed, and what was printed, as page; those of one account as JSON."),
        Student.post("/painel/ml/etiquetas/imprimir", Run::Outside(labels::print), "Prints labels of one's parcels and notes that they were.").without_timeout(),
        Student.post("/painel/ml/etiquetas/desfazer", Run::Write(labels::undo), "Takes back that labels were printed.").small(),
        Student.get("/painel/ml/etiquetas/lote/{id}", Run::Outside(labels::batch), "The labels of a batch that was printed, as one PDF.").in_person().family_is(Family::File),
        Student.get("/painel/ml/etiqueta", Run::Outside(labels::file), "The labels of shipments of one account, as one PDF.").in_person().family_is(Family::File),
        Student.get("/painel/vendas/{id}/nota", Run::Outside(marketplace::tools::pages::file), "The fiscal note of a sale, as PDF or XML.").in_person().family_is(Family::File),
    ]
}

#[rustfmt::skip]
fn own_account() -> [Route; 17] {
    use accounts::pages::confirm;
    use profile::pages::{self, acts, alerts, password, push};
    [
        Anyone.get("/perfil", Run::Read(pages::profile), "One's own account, as page or JSON."),
        Anyone.post("/perfil", Run::Password(acts::change), "Changes one's own name and chat number.").small(),
        Anyone.get("/perfil/avisos", Run::Read(alerts::page), "How one is told outside of the platform."),
        Anyone.post("/perfil/avisos", Run::Write(alerts::choose), "Chooses channels and kinds of messages.").small(),
        Anyone.post("/perfil/push/aparelhos", Run::Write(push::add), "Switches messages on in the browser that asks.").small(),
        Anyone.post("/perfil/push/aparelhos/{id}/excluir", Run::Write(push::remove), "Switches messages off in one of one's own browsers.").small(),
        Anyone.get("/confirmar", Run::Read(confirm::page), "Asks for the password once more."),
        Anyone.post(accounts::confirm::PATH, Run::Password(confirm::confirm), "Notes for ten minutes that the password was given again.").small(),
        Anyone.post("/perfil/senha", Run::Password(password::change), "Changes one's own password.").small(),
        Anyone.post("/perfil/foto", Run::Slow(acts::set_photo), "Sets one's own photo.").body_at_most(photos::FORM_BYTES),
        Anyone.post("/perfil/foto/excluir", Run::Write(acts::remove_photo), "Removes one's own photo.").small(),
        Anyone.post("/perfil/sessoes/encerrar", Run::Write(acts::end_others), "Ends all of one's own sessions but this one.").small(),
        Anyone.post("/perfil/sessoes/{sessao}/encerrar", Run::Write(acts::end_session), "Ends one of one's own sessions.").small().secret_path(),
        Anyone.post("/perfil/extensao/revogar", Run::Write(acts::revoke_extension), "Ends the extension's token.").small(),
        get("/avisos/sair", Call::Open(Run::Read(messages::pages::unsubscribe::ask)), "Asks whether e-mails that can be done without should end.").on(Surface::Panel),
        post("/avisos/sair", Call::Open(Run::Write(messages::pages::unsubscribe::leave)), "Ends e-mails that can be done without, also in one click (RFC 8058).")
            .on(Surface::Panel).small(),
        get("/fotos/{digest}", Call::Open(Run::Read(photos::api::photo)), "A photo, by the digest of its bytes.").on(Surface::Panel),
    ]
}

/// Purchases, queues of messages and notifications, and the channels and texts of
/// messages.
#[rustfmt::skip]
fn queues() -> [Route; 31] {
    use marketplace::inbox::received::pages as received;
    use messages::queue::pages as queue;
    use messages::announcements::pages as announcements;
    use messages::pages::channels;
    use messages::texts::pages as texts;
    [
        Admin.get("/admin/mensagens", Run::ReadOrSlow(asks_for_much, queue::queue), "The queue of messages, as page, JSON or CSV."),
        Admin.get("/admin/mensagens/{id}", Run::Read(queue::message), "A queued message."),
        Admin.post("/admin/mensagens/{id}/cancelar", Run::Write(queue::cancel), "Drops a message that still waits.").small(),
        Admin.post("/admin/mensagens/{id}/corrigir", Run::Write(messages::queue::pages::repair::correct), "Corrects the address of a message that was given up, and queues it again.").small(),
        Admin.post("/admin/mensagens/{id}/reenviar", Run::Write(queue::try_again), "Tries a message again that was given up.").small(),
        Admin.get("/admin/notificacoes", Run::Slow(received::inbox), "The marketplace's notifications, as page, JSON or CSV."),
        Admin.get("/admin/notificacoes/{id}", Run::Read(received::notification), "A notification with its body."),
        Admin.post("/admin/notificacoes/{id}/reprocessar", Run::Write(received::work_again), "Has a notification worked from the start.").small(),
        Admin.get("/admin/avisos", Run::Read(messages::pages::list), "An administrator's notifications."),
        Admin.post("/admin/avisos/lidos", Run::Chosen(messages::pages::mark_read), "Marks all of one's own notifications as read.").small(),
        Admin.get("/admin/comunicados", Run::ReadOrSlow(asks_for_much, announcements::list), "The announcements, as page, JSON or CSV."),
        Admin.post("/admin/comunicados", Run::Write(announcements::create), "Keeps a draft of an announcement.").body_at_most(4 * SMALL),
        Admin.get("/admin/comunicados/novo", Run::Read(announcements::blank), "The form of a new announcement."),
        Admin.get("/admin/comunicados/{id}", Run::Read(announcements::one), "An announcement as people read it, how far it is and who read it."),
        Admin.post("/admin/comunicados/{id}", Run::Write(announcements::change), "Changes a draft.").body_at_most(4 * SMALL),
        Admin.get("/admin/comunicados/{id}/editar", Run::Read(announcements::edit), "The form of a draft."),
        Admin.post("/admin/comunicados/{id}/enviar", Run::Write(announcements::send), "Sends a draft, at once or at its time.").small(),
        Admin.post("/admin/comunicados/{id}/cancelar", Run::Write(announcements::cancel), "Cancels an announcement that waits, or stops one that is being sent.").small(),
        Admin.post("/admin/comunicados/{id}/excluir", Run::Write(announcements::remove), "Removes an announcement that nobody was told.").small(),
        Admin.get("/admin/comunicados/{id}/leitores", Run::Slow(announcements::readers), "Who was told and who read an announcement, as CSV."),
        Student.get("/painel/comunicados/{id}", Run::Write(messages::announcements::pages::reading::page), "An announcement, for those who were told; marks its notice as read."),
        Admin.get("/admin/mensagens/canais", Run::Read(channels::page), "The ways out of the platform."),
        Admin.post("/admin/mensagens/canais/{canal}/teste", Run::Write(channels::test), "Tries a channel out with a message to oneself.").small(),
        Admin.get("/admin/mensagens/textos", Run::Read(texts::list), "Texts of messages."),
        Admin.get("/admin/mensagens/textos/{tipo}", Run::Read(texts::text), "A text of messages with an example."),
        Admin.post("/admin/mensagens/textos/{tipo}", Run::Write(texts::change), "Changes a text of messages, or shows it filled in.").body_at_most(4 * SMALL),
        Admin.post("/admin/mensagens/textos/{tipo}/restaurar", Run::Write(texts::reset), "Takes a text back to what ships.").small(),
        post("/api/v1/webhook/checkout", Call::Checkout(Run::Write(checkout::api::receive)), "Receives a purchase event of the checkout platform.")
            .body_at_most(PURCHASE).takes_described(checkout::api::body, Some(checkout::api::form)).replies::<checkout::api::Received<'static>>(),
        Admin.get("/admin/compras", Run::ReadOrSlow(checkout::pages::is_costly, checkout::pages::events), "The purchase events, as page, JSON or CSV."),
        Admin.get("/admin/compras/{id}", Run::Read(checkout::pages::event), "A purchase event and what it did."),
        Admin.post("/admin/compras/{id}/processar", Run::Write(checkout::pages::again), "Processes a purchase event again."),
    ]
}

#[rustfmt::skip]
fn photos_of_others() -> [[Route; 3]; 3] {
    use photos::pages::{remove, set, show};
    let form = |path| Admin.get(path, Run::Read(show), "The form for somebody's photo.");
    let sent = |path| Admin.post(path, Run::Slow(set), "Sets somebody's photo.").body_at_most(photos::FORM_BYTES);
    let removed = |path| Admin.post(path, Run::Write(remove), "Removes somebody's photo.").small();
    let of = |list| (below(list, "{id}/foto"), below(list, "{id}/foto/excluir"));
    let of_group = |(photo, remove)| [form(photo), sent(photo), removed(remove)];
    [objects::STUDENT, objects::STAFF, objects::TEACHER].map(|one| of_group(of(one.list)))
}

/// The operator's home, copies of the database, the service from inside, the log of
/// requests and the periodic tasks.
#[rustfmt::skip]
fn administration() -> [Route; 22] {
    use copies::pages;
    [
        Admin.get("/admin", Run::Slow(operations::pages::admin_home), "The operator's home, with what needs a look."),
        Admin.get("/admin/ao-vivo", Run::Read(live::pages::stream), "What changes beside the menu and above lists, as server-sent events.").family_is(Family::Internal),
        Admin.get("/admin/buscar", Run::Slow(find::pages::find), "Pages, acts and things by name or number, as page or JSON."),
        Admin.get("/admin/estilo", Run::ReadOrSlow(exports, operations::style::pages::page), "Every component of the pages in all its states."),
        Admin.post("/admin/estilo", Run::Read(operations::style::pages::nothing), "What the sample forms of that page lead to."),
        Admin.get(copies::PATH, Run::Slow(pages::page), "The copies of the database, as page or JSON."),
        Admin.post("/admin/copias/copiar", Run::Slow(pages::copy_now), "Has a copy of the database made at once.").small(),
        Admin.post("/admin/copias/ensaiar", Run::Slow(pages::drill), "Tries a restore of a copy beside it, and removes it again.").small(),
        Admin.get("/admin/copias/baixar", Run::Slow(pages::download), "A copy of the database, as a file; asks for the password once more.").without_timeout(),
        Admin.get("/admin/diagnostico", Run::Slow(diagnostics::pages::page), "What the service is like inside, as page or JSON."),
        Admin.post("/admin/diagnostico/canais/{canal}/testar", Run::Outside(operations::channel_tests::test),
            "Asks the service of a channel, as `check` does; sends nothing.").small(),
        Admin.get("/admin/requisicoes/rastro", Run::Slow(requests::follow::page), "All that is known of the request with an id, as page or JSON."),
        Admin.get("/admin/requisicoes", Run::Slow(requests::pages::list), "The log of requests, as page, JSON or CSV."),
        Admin.get("/admin/requisicoes/{id}", Run::Slow(requests::pages::entry), "One request of the log with what it caused."),
        get("/api/v1/cron", Call::Cron(Run::InTurn(cron::api::trigger)), "Runs the periodic tasks that are due.").changes_state().without_timeout().replies::<cron::api::Answer<'static>>(),
        Admin.get("/admin/cron", Run::ReadOrSlow(asks_for_much, cron::pages::overview), "The periodic tasks and the history of their runs, as page, JSON or CSV."),
        Admin.get("/admin/cron/{id}", Run::Read(cron::pages::one), "One run with its counts and failures."),
        Admin.post("/admin/cron/rodar", Run::InTurn(cron::pages::run_now), "Runs the periodic tasks at once.").without_timeout().small(),
        Admin.post("/admin/cron/tarefas/{nome}/pausar", Run::Write(cron::pages::pause), "Leaves a task out of all runs from now on.").small(),
        Admin.post("/admin/cron/tarefas/{nome}/retomar", Run::Write(cron::pages::resume), "Lets a paused task run again.").small(),
        Admin.get("/admin/cron/arquivo", Run::ReadOrSlow(exports, cron::pages::archived::list), "Packed days of logs, as page, JSON or CSV."),
        Admin.get("/admin/cron/arquivo/{id}", Run::Slow(cron::pages::archived::batch), "What a packed day holds, as page, JSON or JSON lines."),
    ]
}

/// What opens with an API key for administrators, and the pages of keys.
#[rustfmt::skip]
fn keys() -> [Route; 9] {
    use keys::{ApiKey, pages as own};
    use operations::api::{metrics, copies as sent};
    let at = |rest| below(objects::KEY.list, rest);
    let (read, write) = (|path, show, about| Admin.get(path, Run::Read(show), about), |path, act, about| Admin.post(path, Run::Write(act), about));
    [
        get("/api/v1/admin/backup", Call::Key(Scope::Admin, Run::Slow(sent::backup)), "A verified copy of the live database, as a file; one at a time.")
            .changes_state().without_timeout().sends(sent::MEDIA),
        get("/metrics", Call::Key(Scope::Admin, Run::Slow(metrics::metrics)), "Figures of the process in Prometheus' text form.").on(Surface::Operations),
        Admin.get(objects::KEY.list, Run::ReadOrSlow(exports, pages::list::<ApiKey>), "The API keys, as page or JSON."),
        write(objects::KEY.list, own::create, "Makes an API key and shows it, this once."),
        read(at("como-usar"), own::help, "How other systems call with a key."),
        read(at("{id}"), pages::show::<ApiKey>, "The form of a key; `nova` for a new one."),
        write(at("{id}"), pages::change::<ApiKey>, "Changes what a key may do."),
        write(at("{id}/trocar"), own::exchange, "Exchanges a key for a new one, with an overlap."),
        write(at("{id}/excluir"), own::revoke, "Revokes a key."),
    ]
}

#[rustfmt::skip]
fn content_of_students() -> [Route; 7] {
    use content::agenda::pages as agenda;
    use content::classroom::pages as classroom;
    [
        Student.get("/painel/aulas", Run::Read(classroom::courses), "The courses that the student may see."),
        Student.get("/painel/aulas/{curso}", Run::Read(classroom::course), "The lessons of a course."),
        Student.get("/painel/aulas/{curso}/{aula}", Run::Read(classroom::lesson), "A lesson to watch."),
        Student.post("/painel/aulas/{curso}/{aula}/feita", Run::Write(classroom::mark), "Marks a lesson as done, or takes the mark away.").small(),
        Student.get("/painel/meets", Run::Read(agenda::list), "The meets that go on and are to come."),
        Student.get("/painel/meets/{id}/entrar", Run::Write(agenda::join), "Leads to a meet and notes that the student attends it.").changes_state(),
        Student.get("/painel/meets/{id}.ics", Run::Read(agenda::file), "A meet for the student's own calendar."),
    ]
}

fn content_administration() -> Vec<Route> {
    use content::{courses, lessons, meets, plans, teachers};
    let at = |rest| below(objects::LESSON.list, rest);
    let mut rows = Vec::new();
    rows.extend(noun::<plans::Plan>("The plans, as page or JSON.", "a plan"));
    rows.push(
        Admin
            .post(
                "/admin/planos/{id}/cursos",
                Run::Write(plans::pages::set),
                "Sets which courses a plan opens.",
            )
            .small(),
    );
    rows.extend(noun::<teachers::Teacher>("The teachers, as page, JSON or CSV.", "a teacher"));
    rows.extend(noun::<courses::Course>("The courses, as page, JSON or CSV.", "a course"));
    rows.extend(noun::<meets::Meet>("The meets, as page, JSON or CSV.", "a meet"));
    let [list, create, show, change, remove] =
        noun::<lessons::Lesson>("The lessons, as page, JSON or CSV.", "a lesson");
    let (up, down) = (Run::Write(lessons::pages::move_up), Run::Write(lessons::pages::move_down));
    rows.extend([list, create, show, change]);
    rows.extend([
        Admin.post(remove.path, Run::Slow(lessons::pages::remove), remove.about),
        Admin.post(at("{id}/subir"), up, "Moves a lesson towards the start of its course."),
        Admin.post(at("{id}/descer"), down, "Moves a lesson towards the end of its course."),
    ]);
    rows
}

/// The rows of a noun: its list, its form, and what creates, changes and removes
/// one.
fn noun<N: Made>(list: &'static str, one: &str) -> [Route; 5] {
    let (path, each) = (N::LIST.path, below(N::LIST.path, "{id}"));
    let says = |about: String| -> &'static str { about.leak() };
    let form = says(format!("The form of {one}; `{}` for a new one.", N::NEW));
    let write = |path, handler, about| Admin.post(path, Run::Write(handler), about);
    [
        Admin.get(path, Run::ReadOrSlow(exports, pages::list::<N>), list),
        write(path, pages::create::<N>, says(format!("Creates {one}."))),
        Admin.get(each, Run::Read(pages::show::<N>), form),
        write(each, pages::change::<N>, says(format!("Changes {one}."))),
        write(below(each, "excluir"), pages::remove::<N>, says(format!("Removes {one}."))),
    ]
}

/// An address below another. It is kept until the process ends, as the table is.
fn below(path: &str, rest: &str) -> &'static str {
    format!("{path}/{rest}").leak()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Role, menu};
    use crate::edge::route::router;

    #[test]
    fn every_row_is_described_and_reachable() {
        let rows = all();
        for route in &rows {
            let (about, path) = (route.about, route.path);
            assert!(
                about.ends_with('.') && about.starts_with(char::is_uppercase),
                "{path}: {about:?} is a sentence"
            );
            assert!(path == "/" || !path.ends_with('/'), "{path}");
            assert!(!route.changes_state || route.method == Method::GET, "{path} is no GET");
        }
        router(&rows).unwrap();
    }

    #[test]
    fn api_rows_have_schemas() {
        for route in all() {
            if route.path.starts_with("/api/") {
                assert!(route.is_described(), "{} {} is not described", route.method, route.path);
            }
        }
    }

    #[test]
    fn menus_lead_to_pages_of_their_role_and_are_short() {
        let rows = all();
        let staff = std::iter::once((Role::Free, true));
        for (role, agency) in Role::ALL.map(|role| (role, false)).into_iter().chain(staff) {
            let access = match role {
                Role::Admin => Admin,
                Role::Drop => Supplier,
                _ => Student,
            };
            let menu = menu::of_role(role, agency);
            let admits =
                |owner| owner == access || owner == Agency && (agency || role == Role::Admin);
            for group in menu {
                let (title, count) = (group.title, group.items.len());
                assert!((1..=7).contains(&count), "{title}: {count} entries");
            }
            let places = || menu.iter().flat_map(|group| group.items);
            assert!(places().filter(|place| place.handy).count() <= 4, "{role:?}");
            for place in places() {
                let is_page = |row: &&Route| {
                    row.method == Method::GET
                        && row.path == place.href
                        && matches!(row.call, Call::Session(owner, _) if admits(owner))
                };
                let found = rows.iter().find(is_page);
                assert!(found.is_some(), "{role:?}: no page at {}", place.href);
            }
        }
    }
}
