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
use crate::edge::route::{Access, Call, Route, Run, Surface};
use crate::extension;
use crate::home;
use crate::http::envelope::Envelope;
use crate::http::{Code, Family};
use crate::https;
use crate::integration;
use crate::keys::{self, Scope};
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
use crate::suppliers;

const fn get(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::GET, path, call, about)
}

const fn post(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::POST, path, call, about)
}

/// Bodies of logins and other small forms.
const SMALL: usize = 4 * 1024;
/// Answers to questions: 2,000 characters of up to 12 bytes, such as
/// `%F0%9F%98%80` and `\ud83d\ude00`.
const ANSWER: usize = 32 * 1024;
/// Bodies of marketplace notifications.
const NOTIFICATION: usize = 64 * 1024;
/// Bodies of purchase events.
const PURCHASE: usize = 256 * 1024;

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
            Call::Agent(Run::Chosen(partner::agent::answer)),
            "The operations of the Partner API as tools of assistants (Model Context Protocol).",
        )
        .body_at_most(partner::agent::LARGEST),
    );
    rows.extend(purchases());
    rows.extend(telegram());
    rows.extend(panel());
    rows.extend(shops());
    rows.extend(own_account());
    rows.extend(program());
    rows.extend(challenges());
    rows.extend(agency());
    rows.extend(administration());
    rows.extend(copies_of_the_database());
    rows.extend(key_operations());
    rows.extend(key_pages());
    rows.extend(photos_of_others());
    rows.extend(content_of_students());
    rows.extend(content_administration());
    rows.extend(people());
    rows.extend(tools());
    rows.extend(partner_hub());
    rows.extend(oauth());
    rows.extend(webhooks(Access::Student, SELLERS_WEBHOOKS));
    rows.extend(webhooks(Access::Supplier, SUPPLIERS_WEBHOOKS));
    rows.extend(drop_panels());
    rows.extend(partner_accounts());
    rows.extend(products(Access::Student, SELLERS_PRODUCTS));
    rows.extend(products(Access::Supplier, SUPPLIERS_PRODUCTS));
    rows.extend(queues());
    rows.extend(channels());
    rows.extend(clock());
    rows.extend(request_log());
    rows.extend(agency_questions());
    rows.extend(agency_links());
    rows.extend(personal_data());
    rows
}

/// Everything kept about a person, as a file, and its erasure.
#[rustfmt::skip]
fn personal_data() -> [Route; 7] {
    use Access::{Admin, Anyone};
    use privacy::pages;
    [
        get("/painel/perfil/dados", Call::Session(Anyone, Run::Slow(pages::own)), "All of one's own data as a ZIP, once the password was asked for.").in_person(),
        post("/painel/perfil/dados", Call::Session(Anyone, Run::Slow(pages::own)), "The same with the password.").body_at_most(SMALL),
        get("/admin/alunos/{id}/dados", Call::Session(Admin, Run::Slow(pages::of_student)), "All data of a student as a ZIP, once the password was asked for."),
        post("/admin/alunos/{id}/dados", Call::Session(Admin, Run::Slow(pages::of_student)), "The same with the password.").body_at_most(SMALL),
        get("/admin/alunos/{id}/apagar-dados", Call::Session(Admin, Run::Slow(pages::ask_erasure)), "Asks whether a student is to be erased."),
        post("/admin/alunos/{id}/apagar-dados", Call::Session(Admin, Run::Slow(pages::erase)), "Erases a student and everything that names them.").body_at_most(SMALL),
        get("/admin/retencao", Call::Session(Admin, Run::Read(pages::retention)), "What is kept, why, and for how long."),
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
fn developers() -> [Route; 8] {
    use developers::{api, pages};
    let page = |path, show, about| get(path, Call::Open(Run::Read(show)), about).on(Surface::Panel);
    [
        page(developers::GUIDE, pages::show_guide, "The guide of the Partner API."),
        page(developers::REFERENCE, pages::show_reference, "Every operation of the Partner API, to read and to try."),
        page(developers::AGENTS, pages::show_agents, "How assistants are connected to the Partner API."),
        page(developers::WEBHOOKS, pages::show_webhooks, "How programs are told what happened."),
        page(developers::CHANGELOG, pages::show_changelog, "What changed in the Partner API."),
        page(developers::STATUS, pages::show_status, "How the service is and was, as page or JSON."),
        get("/openapi.json", Call::Open(Run::Read(api::partner)), "The OpenAPI document of the Partner API."),
        get("/openapi/platform.json", Call::Open(Run::Read(api::platform)), "The OpenAPI document of everything else that programs call."),
    ]
}

/// The fee calculator, labels for parcels and fiscal notes.
#[rustfmt::skip]
fn tools() -> [Route; 6] {
    use Access::Student;
    use marketplace::tools::fees::pages as fees;
    use marketplace::tools::labels::pages as labels;
    [
        get("/painel/ml/calculadora", Call::Session(Student, Run::ReadOrOutside(fees::asks, fees::page)), "What remains of a sale, as a page."),
        get("/painel/ml/calculadora/taxas-json", Call::Session(Student, Run::Outside(fees::fees_json)),
            "The fees of a sale of one account, with its reputation and the tax.").family_is(Family::Internal),
        post("/painel/ml/calculadora/imposto", Call::Session(Student, Run::Write(fees::set_tax)),
            "Sets one's own tax rate for the calculator.").body_at_most(SMALL),
        get("/painel/ml/etiquetas", Call::Session(Student, Run::Read(labels::list)), "Parcels that are ready to be sent, as page or JSON."),
        get("/painel/ml/etiqueta", Call::Session(Student, Run::Outside(labels::file)),
            "The labels of shipments of one account, as one PDF.").in_person().family_is(Family::File),
        get("/painel/vendas/{id}/nota", Call::Session(Student, Run::Outside(marketplace::tools::invoices::file)),
            "The fiscal note of a sale, as PDF or XML.").in_person().family_is(Family::File),
    ]
}

/// Tokens for the Partner API, of sellers and suppliers.
#[rustfmt::skip]
fn partner_hub() -> [Route; 10] {
    use Access::{Student, Supplier};
    use partner::hub;
    let about = "One's tokens, plan, use of the Partner API and relations, as page or JSON.";
    [
        get("/painel/parceiro", Call::Session(Student, Run::Read(hub::hub)), about),
        post("/painel/parceiro/tokens", Call::Session(Student, Run::Write(hub::create)), "Makes a token and shows it once.").body_at_most(SMALL),
        post("/painel/parceiro/tokens/{id}/revogar", Call::Session(Student, Run::Write(hub::revoke)), "Ends a token at once.").body_at_most(SMALL),
        post("/painel/parceiro/conexoes/{id}/revogar", Call::Session(Student, Run::Write(hub::disconnect)), "Ends a connected app at once.").body_at_most(SMALL),
        post("/painel/parceiro/aplicativos/{id}/desconectar", Call::Session(Student, Run::Write(hub::disconnect)), "The same at its former address.").body_at_most(SMALL),
        get("/fornecedor/parceiro", Call::Session(Supplier, Run::Read(hub::hub)), about),
        post("/fornecedor/parceiro/tokens", Call::Session(Supplier, Run::Write(hub::create)), "Makes a token and shows it once.").body_at_most(SMALL),
        post("/fornecedor/parceiro/tokens/{id}/revogar", Call::Session(Supplier, Run::Write(hub::revoke)), "Ends a token at once.").body_at_most(SMALL),
        post("/fornecedor/parceiro/conexoes/{id}/revogar", Call::Session(Supplier, Run::Write(hub::disconnect)), "Ends a connected app at once.").body_at_most(SMALL),
        post("/fornecedor/parceiro/aplicativos/{id}/desconectar", Call::Session(Supplier, Run::Write(hub::disconnect)), "The same at its former address.").body_at_most(SMALL),
    ]
}

/// OAuth: how a person gives a program access to the Partner API.
#[rustfmt::skip]
fn oauth() -> [Route; 8] {
    use Access::Anyone;
    use partner::oauth::documents as at;
    use partner::oauth::{api, pages};
    let known = |path, show, about| get(path, Call::Open(Run::Read(show)), about).on(Surface::OAuth);
    let called = |path, call, about| post(path, Call::Open(Run::Write(call)), about).on(Surface::OAuth).body_at_most(CLIENT);
    let resource = "Whose tokens the Partner API takes, and for what.";
    [
        known(at::RESOURCE_DOCUMENT, at::protected_resource, resource),
        known(at::RESOURCE_DOCUMENT_OF_AGENTS, at::protected_resource, resource),
        known(at::SERVER_DOCUMENT, at::authorization_server, "Where and how programs ask for tokens."),
        get(at::AUTHORIZE, Call::Visitor(Run::Chosen(pages::authorize)), "Shows a person what a program asks for."),
        post(at::AUTHORIZE, Call::Session(Anyone, Run::Write(pages::decide)), "Gives a program what the person decided.").body_at_most(SMALL),
        called(at::REGISTER, api::register, "Makes a program known by what it says of itself."),
        called(at::TOKEN, api::token, "Gives tokens for a code or a refresh token."),
        called(at::REVOKE, api::revoke, "Ends a token."),
    ]
}

/// The paths of [`webhooks`], in the order in which it names them.
type WebhookPaths = [&'static str; 10];

const SELLERS_WEBHOOKS: WebhookPaths = [
    "/painel/parceiro/webhooks",
    "/painel/parceiro/webhooks/{id}",
    "/painel/parceiro/webhooks/{id}/excluir",
    "/painel/parceiro/webhooks/{id}/segredo",
    "/painel/parceiro/webhooks/{id}/testar",
    "/painel/parceiro/webhooks/{id}/ligar",
    "/painel/parceiro/webhooks/{id}/desligar",
    "/painel/parceiro/webhooks/{id}/reenviar",
    "/painel/parceiro/webhooks/{id}/entregas",
    "/painel/parceiro/webhooks/{id}/entregas/{numero}",
];

const SUPPLIERS_WEBHOOKS: WebhookPaths = [
    "/fornecedor/parceiro/webhooks",
    "/fornecedor/parceiro/webhooks/{id}",
    "/fornecedor/parceiro/webhooks/{id}/excluir",
    "/fornecedor/parceiro/webhooks/{id}/segredo",
    "/fornecedor/parceiro/webhooks/{id}/testar",
    "/fornecedor/parceiro/webhooks/{id}/ligar",
    "/fornecedor/parceiro/webhooks/{id}/desligar",
    "/fornecedor/parceiro/webhooks/{id}/reenviar",
    "/fornecedor/parceiro/webhooks/{id}/entregas",
    "/fornecedor/parceiro/webhooks/{id}/entregas/{numero}",
];

/// One's own webhooks, in the panel of sellers or of suppliers.
#[rustfmt::skip]
fn webhooks(who: Access, paths: WebhookPaths) -> [Route; 13] {
    use partner::webhooks as hooks;
    let [list, one, removed, secret, test, on, off, again, sent, delivery] = paths;
    let resend = match who {
        Access::Supplier => "/fornecedor/parceiro/webhooks/{id}/entregas/{numero}/reenviar",
        _ => "/painel/parceiro/webhooks/{id}/entregas/{numero}/reenviar",
    };
    [
        get(list, Call::Session(who, Run::Read(hooks::list)), "One's endpoints that are told of events, as page or JSON."),
        post(list, Call::Session(who, Run::Write(hooks::create)), "Makes an endpoint and shows its secret once.").body_at_most(SMALL),
        get(one, Call::Session(who, Run::Read(hooks::one)), "One endpoint with its newest deliveries, as page or JSON."),
        post(one, Call::Session(who, Run::Write(hooks::change)), "Changes where an endpoint is and what it is told.").body_at_most(SMALL),
        post(removed, Call::Session(who, Run::Slow(hooks::remove)), "Removes an endpoint with its deliveries.").body_at_most(SMALL),
        post(secret, Call::Session(who, Run::Write(hooks::rotate)), "Gives an endpoint another secret; the one before signs as well for a day.").body_at_most(SMALL),
        post(test, Call::Session(who, Run::Write(hooks::test)), "Sends a test to an endpoint.").body_at_most(SMALL),
        post(on, Call::Session(who, Run::Write(hooks::switch_on)), "Switches an endpoint on.").body_at_most(SMALL),
        post(off, Call::Session(who, Run::Write(hooks::switch_off)), "Switches an endpoint off.").body_at_most(SMALL),
        post(again, Call::Session(who, Run::Slow(hooks::replay)), "Sends what happened in a span of time again.").body_at_most(SMALL),
        get(sent, Call::Session(who, Run::ReadOrSlow(asks_for_much, hooks::deliveries)), "The deliveries of an endpoint, as page, JSON or CSV."),
        get(delivery, Call::Session(who, Run::Read(hooks::delivery)), "One delivery with what was sent and answered."),
        post(resend, Call::Session(who, Run::Write(hooks::replay_one)), "Sends one delivery again.").body_at_most(SMALL),
    ]
}

/// The pages of suppliers, and what sellers owe to suppliers.
#[rustfmt::skip]
fn drop_panels() -> [Route; 24] {
    use Access::{Student, Supplier};
    use suppliers::{home, links, list, orders, owed, sellers, unmatched};
    [
        get("/fornecedor", Call::Session(Supplier, Run::Read(home::home)), "A supplier's home."),
        get("/fornecedor/vendedores", Call::Session(Supplier, Run::Read(sellers::list)), "A supplier's sellers and invitations, as page or JSON."),
        post("/fornecedor/convites", Call::Session(Supplier, Run::Write(sellers::invite)), "Invites a seller by e-mail address.").body_at_most(SMALL),
        post("/fornecedor/convites/{id}/retirar", Call::Session(Supplier, Run::Write(sellers::withdraw)), "Takes an invitation back.").body_at_most(SMALL),
        post("/fornecedor/vendedores/{id}/encerrar", Call::Session(Supplier, Run::Slow(sellers::end)), "Ends the relation with a seller.").body_at_most(SMALL),
        get("/fornecedor/vinculos", Call::Session(Supplier, Run::Slow(links::list)), "Linked listings, as page, JSON or CSV."),
        post("/fornecedor/vinculos", Call::Session(Supplier, Run::Write(links::create)), "Links a listing to a product.").body_at_most(SMALL),
        post("/fornecedor/vinculos/{id}/excluir", Call::Session(Supplier, Run::Write(links::remove)), "Removes a link.").body_at_most(SMALL),
        get("/fornecedor/vinculos/importar", Call::Session(Supplier, Run::Read(list::form)), "The form for a list of links."),
        post("/fornecedor/vinculos/importar", Call::Session(Supplier, Run::Write(list::preview)), "Says what would become of a list of links."),
        post("/fornecedor/vinculos/importar/aplicar", Call::Session(Supplier, Run::Slow(list::apply)), "Makes the links of a list."),
        get("/fornecedor/conferencia", Call::Session(Supplier, Run::Slow(unmatched::list)), "Listings without a product, as page, JSON or CSV."),
        get("/fornecedor/pedidos", Call::Session(Supplier, Run::ReadOrSlow(orders::needs_slow_lane, orders::list)), "Drop orders, as page, JSON or CSV."),
        post("/fornecedor/pedidos/pagos", Call::Session(Supplier, Run::Write(orders::pay_many)), "Notes that drop orders were paid.").body_at_most(SMALL),
        post("/fornecedor/pedidos/lembrar", Call::Session(Supplier, Run::Slow(orders::remind_all)), "Reminds all sellers of what is overdue.").body_at_most(SMALL),
        post("/fornecedor/pedidos/{id}/pago", Call::Session(Supplier, Run::Write(orders::pay)), "Notes that a drop order was paid.").body_at_most(SMALL),
        post("/fornecedor/pedidos/{id}/desfazer", Call::Session(Supplier, Run::Write(orders::unpay)), "Takes a payment back that was noted by mistake.").body_at_most(SMALL),
        post("/fornecedor/pedidos/{id}/lembrar", Call::Session(Supplier, Run::Write(orders::remind)), "Reminds the seller of a drop order.").body_at_most(SMALL),
        get("/fornecedor/pedidos/{id}/etiqueta", Call::Session(Supplier, Run::Outside(orders::label)),
            "The label of a drop order's parcel, as PDF.").in_person().family_is(Family::File),
        get("/fornecedor/pedidos/{id}/nota", Call::Session(Supplier, Run::Outside(orders::invoice)),
            "The fiscal note of a drop order, as PDF or XML.").in_person().family_is(Family::File),
        get("/painel/fornecedores", Call::Session(Student, Run::ReadOrSlow(orders::needs_slow_lane, owed::list)), "What a seller owes whom, as page, JSON or CSV."),
        post("/painel/parceiro/convites/{id}/aceitar", Call::Session(Student, Run::Write(owed::accept)), "Accepts a supplier's invitation.").body_at_most(SMALL),
        post("/painel/parceiro/convites/{id}/recusar", Call::Session(Student, Run::Write(owed::refuse)), "Refuses a supplier's invitation.").body_at_most(SMALL),
        post("/painel/parceiro/fornecedores/{id}/encerrar", Call::Session(Student, Run::Slow(owed::end)), "Ends the relation with a supplier.").body_at_most(SMALL),
    ]
}

/// Accounts of the Partner API in the operator's panel.
#[rustfmt::skip]
fn partner_accounts() -> [Route; 9] {
    use Access::Admin;
    use partner::accounts as parties;
    [
        get("/admin/parceiros", Call::Session(Admin, Run::ReadOrSlow(parties::needs_slow_lane, parties::list)), "Accounts with a plan or tokens of the Partner API, as page, JSON or CSV."),
        get("/admin/parceiros/relacoes", Call::Session(Admin, Run::ReadOrSlow(parties::needs_slow_lane, parties::relations)), "Suppliers and the sellers that they are related to, as page, JSON or CSV."),
        post("/admin/parceiros/relacoes", Call::Session(Admin, Run::Write(parties::relate)), "Relates a supplier and a seller at once.").body_at_most(SMALL),
        post("/admin/parceiros/relacoes/{id}/encerrar", Call::Session(Admin, Run::Slow(parties::end_relation)), "Ends a relation, or takes an invitation back.").body_at_most(SMALL),
        get("/admin/parceiros/{id}", Call::Session(Admin, Run::Read(parties::account)), "One account's plan, tokens and calls, as page or JSON."),
        post("/admin/parceiros/{id}/plano", Call::Session(Admin, Run::Write(parties::set_plan)), "Gives an account a plan, or another one.").body_at_most(SMALL),
        post("/admin/parceiros/{id}/plano/excluir", Call::Session(Admin, Run::Write(parties::remove_plan)), "Takes an account's plan away.").body_at_most(SMALL),
        post("/admin/parceiros/{id}/tokens/{token}/revogar", Call::Session(Admin, Run::Write(parties::revoke)), "Ends a token of an account at once.").body_at_most(SMALL),
        post("/admin/parceiros/{id}/aplicativos/{aplicativo}/desconectar", Call::Session(Admin, Run::Write(parties::disconnect)),
            "Ends a connected app of an account at once.").body_at_most(SMALL),
    ]
}

/// The paths of [`products`], in the order in which it names them.
type ProductPaths = [&'static str; 5];

const SELLERS_PRODUCTS: ProductPaths = [
    "/painel/produtos",
    "/painel/produtos/importar",
    "/painel/produtos/{id}",
    "/painel/produtos/{id}/excluir",
    "/painel/produtos/{id}/movimentos",
];

const SUPPLIERS_PRODUCTS: ProductPaths = [
    "/fornecedor/produtos",
    "/fornecedor/produtos/importar",
    "/fornecedor/produtos/{id}",
    "/fornecedor/produtos/{id}/excluir",
    "/fornecedor/produtos/{id}/movimentos",
];

/// One's own products, in the panel of sellers or of suppliers.
#[rustfmt::skip]
fn products(who: Access, [list, file, one, removed, moved]: ProductPaths) -> [Route; 8] {
    use catalog::import::pages as import;
    use catalog::pages;
    use catalog::stock::pages as stock;
    [
        get(list, Call::Session(who, Run::ReadOrSlow(pages::needs_slow_lane, pages::list)), "One's own products, as page, JSON or CSV."),
        post(list, Call::Session(who, Run::Write(pages::create)), "Creates a product.").body_at_most(SMALL),
        get(file, Call::Session(who, Run::Read(import::form)), "The form for a file of products."),
        post(file, Call::Session(who, Run::Slow(import::send)), "Takes a file of products, all of it or nothing.").body_at_most(LIST),
        get(one, Call::Session(who, Run::Read(pages::show)), "One product with the movements of its stock; `novo` for a new one."),
        post(one, Call::Session(who, Run::Write(pages::change)), "Changes a product.").body_at_most(SMALL),
        post(removed, Call::Session(who, Run::Slow(pages::delete)), "Removes a product with its movements.").body_at_most(SMALL),
        post(moved, Call::Session(who, Run::Write(stock::create)), "Notes what came into stock, went out or was counted.").body_at_most(SMALL),
    ]
}

/// How the agency gets and loses accounts, and the labels of their parcels.
#[rustfmt::skip]
fn agency_links() -> [Route; 8] {
    use Access::{Agency, Student};
    use agency::invites::pages as invites;
    use agency::{labels, leaving};
    [
        get("/convite/{code}", Call::Visitor(Run::Read(invites::page)), "Whom an invitation of the agency is for and what it opens, as page or JSON.").secret_path(),
        post("/convite/{code}", Call::Visitor(Run::Write(invites::begin)), "Leads who was invited to the marketplace's consent page.").body_at_most(SMALL).secret_path(),
        get("/convite/pronto", Call::Visitor(Run::Read(invites::done)), "What came of following an invitation, as page or JSON."),
        post("/admin/agencia/clientes/{id}/convite", Call::Session(Agency, Run::Write(invites::renew)), "Makes a client's invitation in place of the one before and shows it once.").body_at_most(SMALL),
        post("/admin/agencia/clientes/{id}/convite/encerrar", Call::Session(Agency, Run::Write(invites::end)), "Ends a client's invitation.").body_at_most(SMALL),
        post("/painel/ml/contas/{ml_user_id}/agencia/encerrar", Call::Session(Student, Run::Slow(leaving::end)), "Ends the agency's care of an own account.").body_at_most(SMALL),
        get("/admin/agencia/etiquetas", Call::Session(Agency, Run::Read(labels::list)), "Parcels of a client's account that are ready to be sent, as page or JSON."),
        get("/admin/agencia/etiqueta", Call::Session(Agency, Run::Outside(labels::file)),
            "The labels of shipments of a client's account, as one PDF.").family_is(Family::File),
    ]
}

/// The service from inside, and the log of requests.
#[rustfmt::skip]
fn request_log() -> [Route; 5] {
    use Access::Admin;
    use requests::{follow, pages};
    [
        get("/admin/diagnostico", Call::Session(Admin, Run::Slow(diagnostics::pages::page)), "What the service is like inside, as page or JSON."),
        post("/admin/diagnostico/canais/{canal}/testar", Call::Session(Admin, Run::Outside(operations::channel_tests::test)),
            "Asks the service of a channel, as `check` does; sends nothing.").body_at_most(SMALL),
        get("/admin/requisicoes/rastro", Call::Session(Admin, Run::Slow(follow::page)), "All that is known of the request with an id, as page or JSON."),
        get("/admin/requisicoes", Call::Session(Admin, Run::Slow(pages::list)), "The log of requests, as page, JSON or CSV."),
        get("/admin/requisicoes/{id}", Call::Session(Admin, Run::Slow(pages::entry)), "One request of the log with what it caused."),
    ]
}

/// People in the operator's panel, and the audit log.
#[rustfmt::skip]
fn people() -> [Route; 30] {
    use Access::Admin;
    use people::import::pages as import;
    use people::{acts, detail, pages, roles, view_as};
    [
        get("/admin/alunos", Call::Session(Admin, Run::ReadOrSlow(pages::needs_slow_lane, pages::students)), "The students, as page, JSON or CSV."),
        post("/admin/alunos", Call::Session(Admin, Run::Write(pages::create_student)), "Creates a student and queues the welcome message."),
        get("/admin/alunos/{id}", Call::Session(Admin, Run::Read(detail::student)), "One student; `novo` for the form of a new one."),
        post("/admin/alunos/{id}", Call::Session(Admin, Run::Write(acts::change_student)), "Changes a student."),
        post("/admin/alunos/{id}/excluir", Call::Session(Admin, Run::Slow(acts::remove_student)), "Removes a student and what belongs to them."),
        post("/admin/alunos/{id}/suspender", Call::Session(Admin, Run::Write(acts::suspend_student)), "Suspends a student."),
        post("/admin/alunos/{id}/reativar", Call::Session(Admin, Run::Write(acts::reactivate_student)), "Lets a student in again."),
        post("/admin/alunos/{id}/link-de-senha", Call::Session(Admin, Run::Write(acts::link_student)), "Queues a one-time link to choose a password."),
        post("/admin/alunos/{id}/sessoes/encerrar", Call::Session(Admin, Run::Write(acts::end_student_sessions)), "Ends the sessions and extension tokens of a student."),
        post("/admin/alunos/{id}/permissoes", Call::Session(Admin, Run::Write(roles::change_exceptions)), "Makes exceptions from the permissions of a student's plan."),
        get("/admin/alunos/importar", Call::Session(Admin, Run::Read(import::list)), "The form for a list of students, and the lists sent lately."),
        post("/admin/alunos/importar", Call::Session(Admin, Run::Slow(import::send)), "Reads and checks a list of students; makes nobody yet.").body_at_most(LIST),
        get("/admin/alunos/importar/{id}", Call::Session(Admin, Run::Slow(import::report)), "What is to become, or became, of each row of a list, as page, JSON or CSV."),
        post("/admin/alunos/importar/{id}/aplicar", Call::Session(Admin, Run::Slow(import::start)), "Makes the students of a list, all of them."),
        post("/admin/alunos/importar/{id}/excluir", Call::Session(Admin, Run::Write(import::discard)), "Forgets a list; who was made stays."),
        post("/admin/alunos/{id}/ver-como", Call::Session(Admin, Run::Write(view_as::begin)), "Begins to look as a student, for half an hour."),
        post("/admin/ver-como/encerrar", Call::Session(Admin, Run::Write(view_as::end)), "Ends looking as a student."),
        get("/admin/papeis", Call::Session(Admin, Run::Read(roles::page)), "What each role may do, as page or JSON."),
        post("/admin/papeis", Call::Session(Admin, Run::Write(roles::change)), "Replaces what roles may do."),
        get("/admin/equipe", Call::Session(Admin, Run::ReadOrSlow(pages::needs_slow_lane, pages::staff)), "Suppliers and administrators, as page, JSON or CSV."),
        post("/admin/equipe", Call::Session(Admin, Run::Write(pages::create_staff)), "Creates a supplier or administrator and queues the welcome message."),
        get("/admin/equipe/{id}", Call::Session(Admin, Run::Read(detail::staff)), "One supplier or administrator; `novo` for the form of a new one."),
        post("/admin/equipe/{id}", Call::Session(Admin, Run::Write(acts::change_staff)), "Changes a supplier or administrator."),
        post("/admin/equipe/{id}/excluir", Call::Session(Admin, Run::Slow(acts::remove_staff)), "Removes a supplier or administrator."),
        post("/admin/equipe/{id}/suspender", Call::Session(Admin, Run::Write(acts::suspend_staff)), "Suspends a supplier or administrator."),
        post("/admin/equipe/{id}/reativar", Call::Session(Admin, Run::Write(acts::reactivate_staff)), "Lets a supplier or administrator in again."),
        post("/admin/equipe/{id}/link-de-senha", Call::Session(Admin, Run::Write(acts::link_staff)), "Queues a one-time link to choose a password."),
        post("/admin/equipe/{id}/sessoes/encerrar", Call::Session(Admin, Run::Write(acts::end_staff_sessions)), "Ends the sessions of a supplier or administrator."),
        get("/admin/auditoria", Call::Session(Admin, Run::Slow(log::pages::list)), "The audit log, as page, JSON or CSV."),
        get("/admin/auditoria/{id}", Call::Session(Admin, Run::Read(log::pages::entry)), "One entry of the audit log with all it changed."),
    ]
}

#[rustfmt::skip]
fn extension() -> [Route; 5] {
    [
        post("/api/ext/auth", Call::Open(Run::Login(accounts::login::reject_early, accounts::api::auth)),
            "Gives a user of the extension a token for e-mail and password.")
            .on(Surface::Extension).body_at_most(SMALL)
            .takes::<accounts::api::AuthBody>().replies::<accounts::api::AuthReply>().may_fail(&[Code::InvalidCredentials]),
        post("/api/ext/logout", Call::Open(Run::Write(accounts::api::logout)),
            "Ends the presented extension token; never fails.")
            .on(Surface::Extension).logs_out().body_at_most(SMALL).replies::<accounts::api::LogoutReply>(),
        get("/api/ext/me", Call::Extension(Run::Read(extension::api::me)),
            "The user's whole dashboard.").replies::<extension::api::Dashboard<'_>>(),
        get("/api/ext/ml/check", Call::Extension(Run::Read(marketplace::account::api::check)),
            "Whether a marketplace account is linked to the user.")
            .asks::<marketplace::account::api::CheckQuery>().replies::<marketplace::account::api::CheckReply<'static>>(),
        post("/api/ext/notificacoes/lidas", Call::Extension(Run::Chosen(messages::api::mark_read)),
            "Marks notifications as read.")
            .body_at_most(NOTIFICATION).takes::<messages::api::MarkReadBody>().replies::<messages::api::MarkReadReply>(),
    ]
}

#[rustfmt::skip]
fn public() -> [Route; 6] {
    use content::api;
    use content::schema_doc::WireSchema;
    use content::teachers::WireTeacher;
    use content::wire::{WireContext, WireMeet, WirePlan};
    use marketplace::inbox::hook;
    use marketplace::inbox::notification::Body as NotificationBody;
    [
        get("/api/v1/contexto", Call::Open(Run::Read(api::context)),
            "Everything a language model should know of the platform.").replies::<Envelope<WireContext>>(),
        get("/api/v1/planos", Call::Open(Run::Read(api::plans)), "All active plans.").replies::<Envelope<Vec<WirePlan>>>(),
        get("/api/v1/professores", Call::Open(Run::Read(api::teachers)), "All teachers.").replies::<Envelope<Vec<WireTeacher>>>(),
        get("/api/v1/meets", Call::Open(Run::Read(api::meets)),
            "The next ten live sessions, by date.").replies::<Envelope<Vec<WireMeet>>>(),
        get("/api/v1/schema", Call::Open(Run::Read(api::schema)),
            "The tables of the database and the roles.").replies::<Envelope<WireSchema>>(),
        post("/ml/notificacoes", Call::Notification(Run::Write(hook::receive)),
            "Receives a notification of the marketplace.")
            .body_at_most(NOTIFICATION).asks::<hook::NotificationQuery>().takes::<NotificationBody<'static>>().replies::<hook::Received>(),
    ]
}

#[rustfmt::skip]
fn integrations() -> [Route; 4] {
    use Scope::{WebhookReceive, Write};
    use integration::{api, llm};
    [
        post("/api/v1/alunos/criar", Call::Key(Write, Run::Write(api::create)),
            "Registers a student; a welcome message leads to the choice of a password.")
            .body_at_most(SMALL).takes::<api::CreateBody>().creates::<Envelope<api::Created>>().may_fail(&[Code::Conflict]),
        post("/api/v1/alunos/suspender", Call::Key(Write, Run::Write(api::suspend)),
            "Ends every way in of a student.")
            .body_at_most(SMALL).takes::<api::StudentBody>().replies::<Envelope<api::Student>>().may_fail(&[Code::NotFound]),
        post("/api/v1/alunos/reativar", Call::Key(Write, Run::Write(api::reactivate)),
            "Lets a suspended student in again.")
            .body_at_most(SMALL).takes::<api::StudentBody>().replies::<Envelope<api::Student>>().may_fail(&[Code::NotFound]),
        post("/api/v1/webhook/llm", Call::Key(WebhookReceive, Run::Read(llm::answer)),
            "What an assistant asks for: plans, meets or the whole context, as the public endpoints give them.")
            .body_at_most(SMALL).takes::<llm::LlmBody>().replies::<Envelope<llm::LlmData>>(),
    ]
}

#[rustfmt::skip]
fn telegram() -> [Route; 3] {
    use Access::Anyone;
    use messages::telegram::hook;
    use profile::telegram;
    [
        post("/api/v1/webhook/telegram", Call::Telegram(Run::Write(hook::receive)),
            "Receives what people say to the Telegram bot.")
            .body_at_most(NOTIFICATION).takes_described(hook::body, None).replies::<hook::Received>(),
        post("/perfil/telegram/conectar", Call::Session(Anyone, Run::Outside(telegram::connect)),
            "Gives a link that connects one's Telegram, for a quarter of an hour.").body_at_most(SMALL),
        post("/perfil/telegram/desconectar", Call::Session(Anyone, Run::Write(telegram::disconnect)),
            "Disconnects one's Telegram.").body_at_most(SMALL),
    ]
}

#[rustfmt::skip]
fn purchases() -> [Route; 4] {
    use Access::Admin;
    use checkout::pages;
    [
        post("/api/v1/webhook/checkout", Call::Checkout(Run::Write(checkout::hook::receive)),
            "Receives a purchase event of the checkout platform.")
            .body_at_most(PURCHASE).takes_described(checkout::hook::body, Some(checkout::hook::form)).replies::<checkout::hook::Received<'static>>(),
        get("/admin/compras", Call::Session(Admin, Run::ReadOrSlow(pages::is_costly, pages::events)),
            "The purchase events, as page, JSON or CSV."),
        get("/admin/compras/{id}", Call::Session(Admin, Run::Read(pages::event)), "A purchase event and what it did."),
        post("/admin/compras/{id}/processar", Call::Session(Admin, Run::Write(pages::again)), "Processes a purchase event again."),
    ]
}

#[rustfmt::skip]
fn panel() -> [Route; 22] {
    use Access::Student;
    [
        get("/", Call::Visitor(Run::Read(accounts::pages::start)), "Leads to the login or to the person's home."),
        get("/entrar", Call::Visitor(Run::Read(accounts::pages::login_page)), "The login page."),
        post("/entrar", Call::Visitor(Run::Login(accounts::pages::reject_early, accounts::pages::login)), "Opens a session.").body_at_most(SMALL),
        post("/sair", Call::Visitor(Run::Write(accounts::pages::leave)), "Ends the session.").body_at_most(SMALL),
        get("/entrar/esqueci", Call::Visitor(Run::Read(accounts::forgot::page)), "The page that asks for a new password."),
        post("/entrar/esqueci", Call::Visitor(Run::Read(accounts::forgot::ask)),
            "Queues a link to choose a new password, if the address is somebody's.").body_at_most(SMALL),
        get("/senha", Call::Visitor(Run::Read(accounts::choose::page)), "The page of a one-time link to choose a password."),
        post("/senha", Call::Visitor(Run::Password(accounts::choose::choose)),
            "Sets the password of a one-time link and opens a session.").body_at_most(SMALL),
        get("/configurar", Call::Visitor(Run::Read(accounts::setup::page)),
            "The page of the one-time link that makes the first administrator."),
        post("/configurar", Call::Visitor(Run::Password(accounts::setup::create)),
            "Makes the first administrator.").body_at_most(SMALL),
        get("/assets/{*rest}", Call::Open(Run::Read(operations::api::asset)), "An embedded file.").on(Surface::Panel),
        get("/painel", Call::Session(Student, Run::Read(home::pages::home)), "A student's home."),
        get("/painel/ml", Call::Session(Student, Run::Read(marketplace::account::pages::accounts)), "The linked marketplace accounts."),
        get("/painel/ml/conectar", Call::Session(Student, Run::Write(marketplace::account::link::begin)),
            "Leads to the marketplace's consent page.").changes_state(),
        get("/painel/ml/retorno", Call::Visitor(Run::Chosen(agency::invites::returns::finish)),
            "Where the marketplace sends people back to: students, and who follows an invitation of the agency."),
        post("/painel/ml/contas/{ml_user_id}/desvincular", Call::Session(Student, Run::Outside(marketplace::account::link::unlink)),
            "Unlinks an account and forgets its tokens.").body_at_most(SMALL),
        post("/painel/ml/contas/{ml_user_id}/sincronizar", Call::Session(Student, Run::Write(marketplace::sync::api::begin)),
            "Reads an account at the marketplace now.").body_at_most(SMALL),
        get("/painel/avisos", Call::Session(Student, Run::Read(messages::pages::list)), "A student's notifications."),
        post("/painel/avisos/lidos", Call::Session(Student, Run::Chosen(messages::pages::mark_read)),
            "Marks all notifications as read.").body_at_most(SMALL),
        get("/sw.js", Call::Open(Run::Read(operations::api::service_worker)), "The script that shows messages while no page is open.")
            .on(Surface::Panel),
        get("/manifest.webmanifest", Call::Open(Run::Read(operations::api::manifest)), "What a phone needs to keep the panels on its home screen.")
            .on(Surface::Panel),
        get("/favicon.ico", Call::Open(Run::Read(operations::api::favicon)), "The icon for browsers that ask for it by this name.")
            .on(Surface::Panel),
    ]
}

/// The agency's clients, and the state of their accounts.
#[rustfmt::skip]
fn agency() -> [Route; 13] {
    use Access::Agency;
    use agency::clients::pages as clients;
    use agency::pages;
    let save = |path, save, about| post(path, Call::Session(Agency, Run::Write(save)), about);
    [
        get("/admin/agencia", Call::Session(Agency, Run::Slow(pages::overview)), "How the agency's clients do, as page or JSON."),
        get("/admin/agencia/checkup", Call::Session(Agency, Run::Slow(pages::checkup_page)), "What is wrong with which account, as page or JSON."),
        post("/admin/agencia/checkup", Call::Session(Agency, Run::Slow(pages::check_now)), "Looks over every account of the agency now.").body_at_most(SMALL),
        get("/admin/agencia/clientes", Call::Session(Agency, Run::Slow(clients::list)), "The agency's clients, as page or JSON."),
        get("/admin/agencia/clientes/{id}", Call::Session(Agency, Run::Slow(clients::show)), "A client, as page or JSON; `novo` for the form of a new one."),
        get("/admin/agencia/clientes/{id}/editar", Call::Session(Agency, Run::Read(clients::edit)), "The form of a client."),
        get("/admin/agencia/clientes/{id}/relatorio", Call::Session(Agency, Run::Slow(agency::report::show)), "A client's last 30 days, to print or to send."),
        save("/admin/agencia/clientes", clients::create, "Makes a client, with an account that a student has linked or an invitation."),
        save("/admin/agencia/clientes/{id}", clients::change, "Changes a client."),
        save("/admin/agencia/clientes/{id}/contas", clients::add_account, "Includes an account that a student has linked.").body_at_most(SMALL),
        post("/admin/agencia/clientes/{id}/contas/{ml_user_id}/retirar", Call::Session(Agency, Run::Outside(clients::remove_account)), "Ends the care of an account at once.").body_at_most(SMALL),
        post("/admin/agencia/clientes/{id}/excluir", Call::Session(Agency, Run::Outside(clients::delete)), "Removes a client.").body_at_most(SMALL),
        post("/admin/agencia/ml/sincronizar-todos", Call::Session(Agency, Run::Outside(clients::sync_all)),
            "Reads the five clients of the agency that have waited longest.").body_at_most(SMALL).without_timeout(),
    ]
}

#[rustfmt::skip]
fn program() -> [Route; 17] {
    use Access::{Admin, Student};
    use program::admin::{challenges, milestones, overview, rules, students};
    use program::{checkin, pages};
    let save = |path, save, about| post(path, Call::Session(Admin, Run::Write(save)), about);
    [
        post("/painel/checkin", Call::Session(Student, Run::Write(checkin::post)), "The day's check-in, once.").body_at_most(SMALL),
        get("/painel/competicao", Call::Session(Student, Run::ReadOrSlow(asks_for_much, pages::competition)),
            "Level, challenges, ranking and milestones of a student, as page or JSON."),
        get("/painel/competicao/historico", Call::Session(Student, Run::ReadOrSlow(asks_for_much, pages::history)),
            "What gave and took a student's points, as page or JSON."),
        get("/painel/competicao/ranking-json", Call::Session(Student, Run::ReadOrSlow(asks_for_much, pages::ranking_json)),
            "A page of a ranking of students."),
        get("/admin/gamificacao", Call::Session(Admin, Run::Slow(overview::show)), "The program at a glance, as page or JSON."),
        get("/admin/gamificacao/regras", Call::Session(Admin, Run::ReadOrSlow(rules::tries, rules::show)),
            "What every action gives, and what other rules would have given."),
        get("/admin/gamificacao/marcos", Call::Session(Admin, Run::Slow(milestones::list)), "The milestones, as page or JSON."),
        get("/admin/gamificacao/marcos/{numero}", Call::Session(Admin, Run::Slow(milestones::show)), "The form of a milestone."),
        get("/admin/gamificacao/alunos/{id}", Call::Session(Admin, Run::ReadOrSlow(asks_for_much, students::show)),
            "A student's points, as page or JSON."),
        get("/admin/gamificacao/status", Call::Session(Admin, Run::Slow(overview::status)), "How many students have the program's data."),
        get("/admin/gamificacao/migrar", Call::Session(Admin, Run::Slow(overview::migrate)),
            "Makes the program's data of students who lack it.").changes_state().without_timeout(),
        get("/admin/gamificacao/desafios-json", Call::Session(Admin, Run::Read(challenges::json)), "Challenges that go on, and those that are over."),
        post("/admin/gamificacao/recalcular", Call::Session(Admin, Run::Slow(overview::recount)),
            "Compares what every student has with the ledger.").body_at_most(SMALL),
        save("/admin/gamificacao/editar-xp", rules::edit_xp, "Changes what an action gives."),
        save("/admin/gamificacao/editar-milestone", milestones::edit, "Changes a milestone."),
        save("/admin/gamificacao/config/salvar", rules::save, "Changes multipliers and limits."),
        save("/admin/gamificacao/alunos/{id}/corrigir", students::correct, "Gives or takes points by hand."),
    ]
}

#[rustfmt::skip]
fn challenges() -> [Route; 4] {
    use Access::Admin;
    use program::admin::challenges;
    [
        get("/admin/gamificacao/desafios", Call::Session(Admin, Run::Read(challenges::list)), "Challenges, as page or JSON."),
        get("/admin/gamificacao/desafios/{id}", Call::Session(Admin, Run::Read(challenges::show)), "The form of a challenge; `novo` for a new one."),
        post("/admin/gamificacao/desafio/salvar", Call::Session(Admin, Run::Write(challenges::save)), "Makes or changes a challenge."),
        post("/admin/gamificacao/desafio/excluir", Call::Session(Admin, Run::Write(challenges::delete)), "Removes a challenge.").body_at_most(SMALL),
    ]
}

#[rustfmt::skip]
fn shops() -> [Route; 7] {
    use Access::Student;
    use marketplace::books::claims::pages as claims;
    use marketplace::books::listed;
    use marketplace::books::listings::pages as listings;
    use marketplace::books::orders::pages as sales;
    use marketplace::books::questions::pages as questions;
    [
        get("/painel/vendas", Call::Session(Student, Run::ReadOrSlow(listed::needs_slow_lane, sales::sales)), "A seller's orders, as page, JSON or CSV."),
        get("/painel/vendas/{id}", Call::Session(Student, Run::Read(sales::sale)), "One order of a seller."),
        get("/painel/anuncios", Call::Session(Student, Run::ReadOrSlow(listings::needs_slow_lane, listings::listings)),
            "A seller's listings, as page, JSON or CSV."),
        get("/painel/perguntas", Call::Session(Student, Run::ReadOrSlow(listed::needs_slow_lane, questions::questions)),
            "Questions of buyers, as page, JSON or CSV."),
        get("/painel/perguntas/{id}", Call::Session(Student, Run::Read(questions::question)), "A question of a buyer."),
        post("/painel/perguntas/{id}/responder", Call::Session(Student, Run::Outside(marketplace::books::questions::answer::answer)),
            "Answers a question of a buyer.").body_at_most(ANSWER),
        get("/painel/reclamacoes", Call::Session(Student, Run::ReadOrSlow(listed::needs_slow_lane, claims::claims)),
            "Claims of buyers, as page, JSON or CSV."),
    ]
}

/// The agency's queue of questions, and saved replies of sellers and of the agency.
#[rustfmt::skip]
fn agency_questions() -> [Route; 15] {
    use Access::{Agency, Student};
    use agency::questions::{self as queue, answer, holding, pages, replies};
    use marketplace::books::questions::buyers;
    use marketplace::books::questions::replies::acts;
    [
        get(queue::PATH, Call::Session(Agency, Run::ReadOrSlow(queue::needs_slow_lane, pages::queue)), "Questions to all accounts of the agency's clients."),
        get("/admin/agencia/central-perguntas/json", Call::Session(Agency, Run::ReadOrSlow(queue::needs_slow_lane, pages::json)),
            "The same as JSON."),
        post("/admin/agencia/central-perguntas/responder", Call::Session(Agency, Run::Outside(answer::answer)),
            "Answers a question of a client's account.").body_at_most(ANSWER),
        get("/admin/agencia/central-perguntas/atendendo", Call::Session(Agency, Run::Read(holding::list)), "Who answers which question now."),
        post("/admin/agencia/central-perguntas/{id}/assumir", Call::Session(Agency, Run::Read(holding::take)),
            "Says that one answers a question.").body_at_most(SMALL),
        get("/admin/agencia/central-perguntas/{id}/comprador", Call::Session(Agency, Run::Outside(pages::buyer)),
            "What the buyer of a question is called."),
        get(replies::REPLIES, Call::Session(Agency, Run::Read(replies::list)), "Replies that the agency saved, as page or JSON."),
        post(replies::REPLIES, Call::Session(Agency, Run::Write(replies::create)), "Saves a reply of the agency.").body_at_most(ANSWER),
        post("/admin/agencia/respostas/{id}", Call::Session(Agency, Run::Write(replies::change)), "Changes a reply of the agency.").body_at_most(ANSWER),
        post("/admin/agencia/respostas/{id}/excluir", Call::Session(Agency, Run::Write(replies::delete)),
            "Removes a reply of the agency.").body_at_most(SMALL),
        get("/painel/perguntas/{id}/comprador", Call::Session(Student, Run::Outside(buyers::buyer)), "What the buyer of a question is called."),
        get(acts::OWN, Call::Session(Student, Run::Read(acts::own_list)), "Replies that a seller saved, as page or JSON."),
        post(acts::OWN, Call::Session(Student, Run::Write(acts::own_create)), "Saves a reply of a seller.").body_at_most(ANSWER),
        post("/painel/respostas/{id}", Call::Session(Student, Run::Write(acts::own_change)), "Changes a reply of a seller.").body_at_most(ANSWER),
        post("/painel/respostas/{id}/excluir", Call::Session(Student, Run::Write(acts::own_delete)), "Removes a reply of a seller.").body_at_most(SMALL),
    ]
}

#[rustfmt::skip]
fn own_account() -> [Route; 17] {
    use Access::Anyone;
    use accounts::confirm;
    use profile::{acts, alerts, pages, password, push};
    [
        get("/perfil", Call::Session(Anyone, Run::Read(pages::profile)), "One's own account, as page or JSON."),
        post("/perfil", Call::Session(Anyone, Run::Password(acts::change)), "Changes one's own name and chat number.").body_at_most(SMALL),
        get("/perfil/avisos", Call::Session(Anyone, Run::Read(alerts::page)), "How one is told outside of the platform."),
        post("/perfil/avisos", Call::Session(Anyone, Run::Write(alerts::choose)), "Chooses channels and kinds of messages.").body_at_most(SMALL),
        post("/perfil/push/aparelhos", Call::Session(Anyone, Run::Write(push::add)),
            "Switches messages on in the browser that asks.").body_at_most(SMALL),
        post("/perfil/push/aparelhos/{id}/excluir", Call::Session(Anyone, Run::Write(push::remove)),
            "Switches messages off in one of one's own browsers.").body_at_most(SMALL),
        get("/confirmar", Call::Session(Anyone, Run::Read(confirm::page)), "Asks for the password once more."),
        post(confirm::PATH, Call::Session(Anyone, Run::Password(confirm::confirm)),
            "Notes for ten minutes that the password was given again.").body_at_most(SMALL),
        post("/perfil/senha", Call::Session(Anyone, Run::Password(password::change)), "Changes one's own password.").body_at_most(SMALL),
        post("/perfil/foto", Call::Session(Anyone, Run::Slow(acts::set_photo)), "Sets one's own photo.")
            .body_at_most(photos::FORM_BYTES),
        post("/perfil/foto/excluir", Call::Session(Anyone, Run::Write(acts::remove_photo)), "Removes one's own photo.")
            .body_at_most(SMALL),
        post("/perfil/sessoes/encerrar", Call::Session(Anyone, Run::Write(acts::end_others)),
            "Ends all of one's own sessions but this one.").body_at_most(SMALL),
        post("/perfil/sessoes/{sessao}/encerrar", Call::Session(Anyone, Run::Write(acts::end_session)),
            "Ends one of one's own sessions.").body_at_most(SMALL).secret_path(),
        post("/perfil/extensao/revogar", Call::Session(Anyone, Run::Write(acts::revoke_extension)),
            "Ends the extension's token.").body_at_most(SMALL),
        get("/avisos/sair", Call::Open(Run::Read(messages::unsubscribe::ask)), "Asks whether e-mails that can be done without should end.")
            .on(Surface::Panel),
        post("/avisos/sair", Call::Open(Run::Write(messages::unsubscribe::leave)), "Ends e-mails that can be done without, also in one click (RFC 8058).")
            .on(Surface::Panel).body_at_most(SMALL),
        get("/fotos/{digest}", Call::Open(Run::Read(photos::api::photo)), "A photo, by the digest of its bytes.")
            .on(Surface::Panel),
    ]
}

#[rustfmt::skip]
fn queues() -> [Route; 7] {
    use Access::Admin;
    use marketplace::inbox::received::pages as received;
    use messages::queue::pages as queue;
    [
        get("/admin/mensagens", Call::Session(Admin, Run::ReadOrSlow(asks_for_much, queue::queue)),
            "The queue of messages, as page, JSON or CSV."),
        get("/admin/mensagens/{id}", Call::Session(Admin, Run::Read(queue::message)), "A queued message."),
        post("/admin/mensagens/{id}/cancelar", Call::Session(Admin, Run::Write(queue::cancel)),
            "Drops a message that still waits.").body_at_most(SMALL),
        post("/admin/mensagens/{id}/reenviar", Call::Session(Admin, Run::Write(queue::try_again)),
            "Tries a message again that was given up.").body_at_most(SMALL),
        get("/admin/notificacoes", Call::Session(Admin, Run::Slow(received::inbox)),
            "The marketplace's notifications, as page, JSON or CSV."),
        get("/admin/notificacoes/{id}", Call::Session(Admin, Run::Read(received::notification)), "A notification with its body."),
        post("/admin/notificacoes/{id}/reprocessar", Call::Session(Admin, Run::Write(received::work_again)),
            "Has a notification worked from the start.").body_at_most(SMALL),
    ]
}

/// An administrator's notifications, and the channels and texts of messages.
#[rustfmt::skip]
fn channels() -> [Route; 8] {
    use Access::Admin;
    use messages::channels;
    use messages::texts::pages as texts;
    [
        get("/admin/avisos", Call::Session(Admin, Run::Read(messages::pages::list)), "An administrator's notifications."),
        post("/admin/avisos/lidos", Call::Session(Admin, Run::Chosen(messages::pages::mark_read)),
            "Marks all of one's own notifications as read.").body_at_most(SMALL),
        get("/admin/mensagens/canais", Call::Session(Admin, Run::Read(channels::page)), "The ways out of the platform."),
        post("/admin/mensagens/canais/{canal}/teste", Call::Session(Admin, Run::Write(channels::test)),
            "Tries a channel out with a message to oneself.").body_at_most(SMALL),
        get("/admin/mensagens/textos", Call::Session(Admin, Run::Read(texts::list)), "Texts of messages."),
        get("/admin/mensagens/textos/{tipo}", Call::Session(Admin, Run::Read(texts::text)), "A text of messages with an example."),
        post("/admin/mensagens/textos/{tipo}", Call::Session(Admin, Run::Write(texts::change)),
            "Changes a text of messages, or shows it filled in.").body_at_most(4 * SMALL),
        post("/admin/mensagens/textos/{tipo}/restaurar", Call::Session(Admin, Run::Write(texts::reset)),
            "Takes a text back to what ships.").body_at_most(SMALL),
    ]
}

#[rustfmt::skip]
fn clock() -> [Route; 8] {
    use Access::Admin;
    use cron::{api, archived, pages};
    [
        get("/api/v1/cron", Call::Cron(Run::InTurn(api::trigger)), "Runs the periodic tasks that are due.")
            .changes_state().without_timeout().replies::<api::Answer<'static>>(),
        get("/admin/cron", Call::Session(Admin, Run::ReadOrSlow(asks_for_much, pages::overview)),
            "The periodic tasks and the history of their runs, as page, JSON or CSV."),
        get("/admin/cron/{id}", Call::Session(Admin, Run::Read(pages::one)), "One run with its counts and failures."),
        post("/admin/cron/rodar", Call::Session(Admin, Run::InTurn(pages::run_now)), "Runs the periodic tasks at once.")
            .without_timeout().body_at_most(SMALL),
        post("/admin/cron/tarefas/{nome}/pausar", Call::Session(Admin, Run::Write(pages::pause)),
            "Leaves a task out of all runs from now on.").body_at_most(SMALL),
        post("/admin/cron/tarefas/{nome}/retomar", Call::Session(Admin, Run::Write(pages::resume)),
            "Lets a paused task run again.").body_at_most(SMALL),
        get("/admin/cron/arquivo", Call::Session(Admin, Run::ReadOrSlow(exports, archived::list)),
            "Packed days of logs, as page, JSON or CSV."),
        get("/admin/cron/arquivo/{id}", Call::Session(Admin, Run::Slow(archived::batch)),
            "What a packed day holds, as page, JSON or JSON lines."),
    ]
}

#[rustfmt::skip]
fn photos_of_others() -> [Route; 9] {
    use Access::Admin;
    use photos::pages::{of_staff, of_student, of_teacher, remove_staff, remove_student, remove_teacher, set_staff, set_student, set_teacher};
    let form = |path, show| get(path, Call::Session(Admin, Run::Read(show)), "The form for somebody's photo.");
    let set = |path, set| post(path, Call::Session(Admin, Run::Slow(set)), "Sets somebody's photo.").body_at_most(photos::FORM_BYTES);
    let remove = |path, remove| post(path, Call::Session(Admin, Run::Write(remove)), "Removes somebody's photo.").body_at_most(SMALL);
    [
        form("/admin/alunos/{id}/foto", of_student),
        set("/admin/alunos/{id}/foto", set_student),
        remove("/admin/alunos/{id}/foto/excluir", remove_student),
        form("/admin/equipe/{id}/foto", of_staff),
        set("/admin/equipe/{id}/foto", set_staff),
        remove("/admin/equipe/{id}/foto/excluir", remove_staff),
        form(below(objects::TEACHER.list, "{id}/foto"), of_teacher),
        set(below(objects::TEACHER.list, "{id}/foto"), set_teacher),
        remove(below(objects::TEACHER.list, "{id}/foto/excluir"), remove_teacher),
    ]
}

#[rustfmt::skip]
fn administration() -> [Route; 3] {
    use Access::Admin;
    [
        get("/admin", Call::Session(Admin, Run::Slow(operations::pages::admin_home)), "The operator's home, with what needs a look."),
        get("/admin/estilo", Call::Session(Admin, Run::ReadOrSlow(exports, operations::style::page)), "Every component of the pages in all its states."),
        post("/admin/estilo", Call::Session(Admin, Run::Read(operations::style::nothing)), "What the sample forms of that page lead to."),
    ]
}

#[rustfmt::skip]
fn copies_of_the_database() -> [Route; 4] {
    use Access::Admin;
    use copies::pages;
    [
        get(copies::PATH, Call::Session(Admin, Run::Slow(pages::page)), "The copies of the database, as page or JSON."),
        post("/admin/copias/copiar", Call::Session(Admin, Run::Slow(pages::copy_now)), "Has a copy of the database made at once.").body_at_most(SMALL),
        post("/admin/copias/ensaiar", Call::Session(Admin, Run::Slow(pages::drill)), "Tries a restore of a copy beside it, and removes it again.").body_at_most(SMALL),
        get("/admin/copias/baixar", Call::Session(Admin, Run::Slow(pages::download)), "A copy of the database, as a file; asks for the password once more.")
            .without_timeout(),
    ]
}

#[rustfmt::skip]
fn key_operations() -> [Route; 2] {
    use Scope::Admin;
    use operations::{copies as sent, metrics};
    [
        get("/api/v1/admin/backup", Call::Key(Admin, Run::Slow(sent::backup)),
            "A verified copy of the live database, as a file; one at a time.")
            .changes_state().without_timeout().sends(sent::MEDIA),
        get("/metrics", Call::Key(Admin, Run::Slow(metrics::metrics)),
            "Figures of the process in Prometheus' text form.").on(Surface::Operations),
    ]
}

#[rustfmt::skip]
fn key_pages() -> [Route; 7] {
    use Access::Admin;
    use keys::{ApiKey, pages as own};
    let at = |rest| below(objects::KEY.list, rest);
    let (read, write) = (|run| Call::Session(Admin, Run::Read(run)), |run| Call::Session(Admin, Run::Write(run)));
    [
        get(objects::KEY.list, Call::Session(Admin, Run::ReadOrSlow(exports, pages::list::<ApiKey>)), "The API keys, as page or JSON."),
        post(objects::KEY.list, write(own::create), "Makes an API key and shows it, this once."),
        get(at("como-usar"), read(own::help), "How other systems call with a key."),
        get(at("{id}"), read(pages::show::<ApiKey>), "The form of a key; `nova` for a new one."),
        post(at("{id}"), write(pages::change::<ApiKey>), "Changes what a key may do."),
        post(at("{id}/trocar"), write(own::exchange), "Exchanges a key for a new one, with an overlap."),
        post(at("{id}/excluir"), write(own::revoke), "Revokes a key."),
    ]
}

#[rustfmt::skip]
fn content_of_students() -> [Route; 7] {
    use Access::Student;
    use content::agenda::pages as agenda;
    use content::classroom::pages as classroom;
    [
        get("/painel/aulas", Call::Session(Student, Run::Read(classroom::courses)), "The courses that the student may see."),
        get("/painel/aulas/{curso}", Call::Session(Student, Run::Read(classroom::course)), "The lessons of a course."),
        get("/painel/aulas/{curso}/{aula}", Call::Session(Student, Run::Read(classroom::lesson)), "A lesson to watch."),
        post("/painel/aulas/{curso}/{aula}/feita", Call::Session(Student, Run::Write(classroom::mark)),
            "Marks a lesson as done, or takes the mark away.").body_at_most(SMALL),
        get("/painel/meets", Call::Session(Student, Run::Read(agenda::list)), "The meets that go on and are to come."),
        get("/painel/meets/{id}/entrar", Call::Session(Student, Run::Write(agenda::join)),
            "Leads to a meet and notes that the student attends it.").changes_state(),
        get("/painel/meets/{id}.ics", Call::Session(Student, Run::Read(agenda::file)), "A meet for the student's own calendar."),
    ]
}

fn content_administration() -> Vec<Route> {
    use Access::Admin;
    use content::{courses, lessons, meets, plans, teachers};
    let mut rows = Vec::new();
    rows.extend(noun::<plans::Plan>(Admin, "The plans, as page or JSON.", "a plan"));
    rows.extend(noun::<teachers::Teacher>(
        Admin,
        "The teachers, as page, JSON or CSV.",
        "a teacher",
    ));
    rows.extend(noun::<courses::Course>(Admin, "The courses, as page, JSON or CSV.", "a course"));
    let [list, create, show, change, remove] =
        noun::<lessons::Lesson>(Admin, "The lessons, as page, JSON or CSV.", "a lesson");
    let act = |word, act, about| {
        post(below(objects::LESSON.list, word), Call::Session(Admin, act), about)
    };
    let (up, down) = (Run::Write(lessons::acts::move_up), Run::Write(lessons::acts::move_down));
    rows.extend([
        list,
        create,
        show,
        change,
        post(remove.path, Call::Session(Admin, Run::Slow(lessons::acts::remove)), remove.about),
        act("{id}/subir", up, "Moves a lesson towards the start of its course."),
        act("{id}/descer", down, "Moves a lesson towards the end of its course."),
    ]);
    rows.extend(noun::<meets::Meet>(Admin, "The meets, as page, JSON or CSV.", "a meet"));
    rows
}

/// The rows of a noun: its list, its form, and what creates, changes and removes
/// one.
fn noun<N: Made>(who: Access, list: &'static str, one: &str) -> [Route; 5] {
    let (path, each) = (N::LIST.path, below(N::LIST.path, "{id}"));
    let says = |about: String| -> &'static str { about.leak() };
    let form = says(format!("The form of {one}; `{}` for a new one.", N::NEW));
    let write = |path, handler, about| post(path, Call::Session(who, Run::Write(handler)), about);
    [
        get(path, Call::Session(who, Run::ReadOrSlow(exports, pages::list::<N>)), list),
        write(path, pages::create::<N>, says(format!("Creates {one}."))),
        get(each, Call::Session(who, Run::Read(pages::show::<N>)), form),
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
                Role::Admin => Access::Admin,
                Role::Drop => Access::Supplier,
                _ => Access::Student,
            };
            let menu = menu::of_role(role, agency);
            let admits = |owner| {
                owner == access || owner == Access::Agency && (agency || role == Role::Admin)
            };
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
