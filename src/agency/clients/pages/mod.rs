//! Clients in the agency's panel, as page and as JSON.

pub mod claim;

use serde_json::{Value, json};

use super::store;
use super::views::{
    ClientForm, ClientPage, ClientRow, ClientsPage, account_items, client_item, events,
};
use super::{Client, ClientEntry, ClientFilter, ListedClient, MOST_ACCOUNTS};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::agency::charts::{Figures, Span};
use crate::agency::invites::pages::inviting;
use crate::agency::pages::leaving;
use crate::agency::{CLIENTS, act, cycle, days, notifications, page_of, store as accounts};
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::base::{MlUserId, UserId, Zone};
use crate::db::{DbError, ReadTx, WriteTx};
use crate::edge::route::Job;
use crate::http::input::{FromField, RowNumber};
use crate::http::{Code, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::owner_of;
use crate::marketplace::books::claims::store as claims;
use crate::marketplace::books::questions::store as questions;
use crate::panel::list::asks_to_sort;
use crate::panel::{
    Answer, Flash, Form, FormView, ListReply, Listing, PageTime, Pick, QueueItem, Sent, columns,
    export, filters, flashes, form, heads,
};
use crate::services::Services;

pub(in crate::agency) const LIST: Listing = Listing {
    path: CLIENTS,
    hint: "Nome ou marcador",
    filters: filters! {
        "situacao": "Situação", "Todos", &ClientFilter::FILTER;
        "responsavel": "Responsável", "Toda a equipe",
            &[("eu", "Meus clientes"), ("ninguem", "Sem responsável")];
    },
    sort_keys: &[store::BY_DEADLINE, "nome"],
    heads: heads![
        "Cliente" => "nome", "O que espera" => store::BY_DEADLINE, "Vendas, 30 dias" numeric,
    ],
    file: "clientes.csv",
    csv: columns![
        id nome responsavel etiquetas anotacoes vendas_30d gmv_30d perguntas reclamacoes pendencias
        criado_em sincronizado_em erro
    ],
    flashes: FLASHES,
};

/// Messages about the last action on the pages of clients.
pub const FLASHES: &[Flash] = flashes! {
    "criado": good "Cliente criado", "Os números da conta dele aparecem em instantes.";
    "alterado": good "Cliente alterado", "A equipe já vê os novos dados.";
    "excluido": good "Cliente removido", "A agência não tem mais acesso às contas dele.";
    "conta": good "Conta incluída", "Ela será lida agora, com o histórico de vendas.";
    "convite_encerrado": good "Convite encerrado", "O link não abre mais.";
    "sem_convite": good "Não há convite aberto", "Gere um novo quando precisar.";
    "conta_ocupada": warn "Nada foi incluído",
        "Esta conta já é de um cliente da agência, ou este cliente já tem 50 contas.";
    "conta_retirada": good "Conta retirada", "A agência não tem mais acesso a ela.";
    "sincronizados": good "Clientes sincronizados", "Todos os números são de agora.";
    "sincronizando": good "Sincronização em andamento",
        "Cinco clientes por vez. Ela continua mesmo que você saia desta página.";
    "com_erros": warn "Nem todos puderam ser lidos",
        "Os clientes com erro dizem o que houve e entram de novo na próxima vez.";
};

pub const FORM: Form<ClientEntry> = form! {
    "nome": Line(2..=120, |entry| &mut entry.name), "Informe o nome do cliente, de 2 a 120 letras.";
    "responsavel_id": Reference(|entry| &mut entry.keeper), "Escolha alguém da equipe.";
    "etiquetas": Own(read_tags, |entry, _| entry.tags.clone()),
        "Use até 10 marcadores de até 30 letras, com vírgula entre eles.";
    "anotacoes": Lines(4_000, |entry| &mut entry.notes), "Use até 4.000 letras.";
};

/// The form that adds an account to a client: the number of an account that a
/// student has linked.
pub const ACCOUNT_FORM: Form<Option<i64>> = form! {
    "ml_user_id": Own(
        |sent, name, account| *account = Some(sent.required::<RowNumber>(name).0),
        |account, _| account.map(|number| number.to_string()).unwrap_or_default(),
    ), "Informe o número de uma conta que um aluno vinculou.";
};

/// Tags as a list or as one text with commas.
#[derive(Default)]
struct Tags(Vec<String>);

impl FromField for Tags {
    const WANTED: &'static str = "must be a list of texts";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        match value {
            Value::String(one) => Some(Self(one.split(',').map(str::to_owned).collect())),
            list => Vec::from_field(list, text).map(Self),
        }
    }
}

fn read_tags(sent: &mut Sent<'_>, name: &'static str, entry: &mut ClientEntry) {
    let Tags(typed) = sent.optional(name).unwrap_or_default();
    let mut tags: Vec<String> = Vec::new();
    for tag in typed.iter().map(|tag| tag.trim().to_lowercase()).filter(|tag| !tag.is_empty()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let is_odd =
        |tag: &String| tag.chars().count() > 30 || tag.chars().any(|c| c.is_control() || c == ',');
    if tags.len() > 10 || tags.iter().any(is_odd) {
        sent.check.fail(name, "must be at most 10 texts of at most 30 characters, without commas");
    }
    entry.tags = tags.join(", ");
}

/// A client as programs read it.
fn shown(one: &ListedClient, zone: Zone) -> Value {
    let ListedClient { client, accounts, waiting, sold } = one;
    let entry = &client.entry;
    let account = |one: &super::ClientAccount| {
        json!({
            "ml_user_id": one.row.ml_user_id, "nickname": one.row.nickname, "token_ok": one.row.token_ok,
            "sincronizado_em": one.row.synced_at.map(|at| zone.spaced(at)),
        })
    };
    json!({
        "id": client.id.to_string(), "nome": entry.name,
        "responsavel_id": entry.keeper.map(|id| id.to_string()),
        "responsavel": Some(&client.keeper_name).filter(|name| !name.is_empty()),
        "etiquetas": entry.tags().collect::<Vec<_>>(), "anotacoes": entry.notes,
        "contas": accounts.iter().map(account).collect::<Vec<_>>(),
        "vendas_30d": sold.orders, "gmv_30d": sold.gross,
        "perguntas": waiting.open.questions, "reclamacoes": waiting.open.claims,
        "pendencias": one.findings(), "criado_em": zone.spaced(client.created_at),
        "convite_ate": client.invited_until.map(|at| zone.spaced(at)),
        "sincronizado_em": client.synced_at.map(|at| zone.spaced(at)), "erro": client.error,
    })
}

/// `GET /admin/agencia/clientes`: the list, as page or JSON. The page begins with
/// the next deadline, programs get the order of names unless they ask for another.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut query = LIST.read(request)?;
    if request.wants_json() && !asks_to_sort(request) {
        query.sort_key = "nome";
    }
    let (today, zone, reader) = (app.day(request.now), app.zone(), person.account.user_id);
    let (page, rows, progress) = app.db.read(request.lane, |tx| {
        let present = store::Present::read(tx)?;
        let page = store::page(tx, &query, reader, &present)?;
        // Those of a file are read one by one while it is sent.
        let now: &[i64] = if query.csv { &[] } else { &page.ids };
        let rows = now.iter().map(|id| store::listed(tx, *id, today));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Problem>((page, rows, cycle::progress(tx)?))
    })?;
    if query.csv {
        return export::list(app, person, &LIST, page.ids, move |_, tx, id| {
            match store::listed(tx, id, today) {
                Err(problem) if problem.code == Code::NotFound => Ok(None),
                listed => Ok(Some(shown(&listed?, zone))),
            }
        });
    }
    if request.wants_json() {
        return ListReply::of(page.total, &rows, |one| shown(one, zone));
    }
    let time = PageTime::of(app, request);
    let row = |listed: ListedClient| ClientRow {
        item: client_item(time, listed.client.id, &listed.client.entry.name, &listed.waiting),
        listed,
    };
    let count = |name: &str| page.counted.iter().find(|one| one.0 == name).map(|one| one.1);
    Reply::page(&ClientsPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        sum: ClientsPage::sum(page.total, &page.sum),
        table: LIST.table(&query, LIST.heads, page.total).counted(count),
        clients: rows.into_iter().map(row).collect(),
        progress: progress.shown(),
        can_read: progress.readable > 0,
    })
}

/// Claims of an account that a client's page shows.
const CLAIMS: u32 = 20;

/// What waits at the accounts of a client, by deadline.
fn queue(
    tx: &ReadTx<'_>,
    listed: &ListedClient,
    time: PageTime,
) -> Result<Vec<QueueItem>, DbError> {
    let mut items = Vec::new();
    for account in &listed.accounts {
        let (owner, number) = (account.row.owner, account.row.ml_user_id);
        let oldest = questions::oldest_open(tx, owner, number)?;
        let claims = claims::open_of(tx, owner, number, CLAIMS)?;
        items.extend(account_items(time, listed.client.id, account, oldest.as_ref(), claims));
    }
    QueueItem::by_deadline(&mut items);
    Ok(items)
}

/// `GET /admin/agencia/clientes/{id}`: everything of one client; `novo` for the
/// form of a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.variable("id") == "novo" {
        return form_page((app, person, request), None, FORM.show(None, app.zone()), None);
    }
    let (id, today) = (request.id()?, app.day(request.now));
    let (span, time) = (Span::asked(app, request)?, PageTime::of(app, request));
    let (listed, figures, queue) = app.db.read(request.lane, |tx| {
        let listed = store::listed(tx, id, today)?;
        let figures = Figures::read(tx, id, &listed.waiting.open, span, today)?;
        let queue = queue(tx, &listed, time)?;
        Ok::<_, Problem>((listed, figures, queue))
    })?;
    if request.wants_json() {
        let mut value = shown(&listed, app.zone());
        value["dias"] = figures.shown();
        return Reply::json(&value);
    }
    let until = listed.client.invited_until;
    Reply::page(&ClientPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        time,
        is_admin: person.account.role == Role::Admin,
        invited: until.is_some_and(|until| until > request.now),
        charts: figures.charts(&page_of(id)),
        events: events(time, &listed),
        queue,
        listed,
    })
}

fn named(services: &Services, request: &Request) -> Result<Client, Problem> {
    let id = request.id()?;
    services.db.read(request.lane, |tx| store::existing(tx, id))
}

/// `GET /admin/agencia/clientes/{id}/editar`: the form of a client.
pub fn edit(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let client = named(app, request)?;
    let form = FORM.show(Some(&client.entry), app.zone());
    form_page((app, person, request), Some(&client), form, None)
}

/// The page with the form of a client, and below it the form that adds an
/// account: an empty one, or `account`.
fn form_page(
    (app, person, request): Visit<'_>,
    existing: Option<&Client>,
    form: FormView,
    account: Option<FormView>,
) -> Result<Reply, Problem> {
    let team = app.db.read(request.lane, store::team)?;
    let nobody = Pick { value: String::new(), label: "Ninguém".to_owned() };
    let picks = team.into_iter().map(|(id, name)| Pick { value: id.to_string(), label: name });
    Reply::page(&ClientForm {
        layout: layout(app, person, request),
        existing,
        is_admin: person.account.role == Role::Admin,
        team: std::iter::once(nobody).chain(picks).collect(),
        form,
        account: account.unwrap_or_else(|| ACCOUNT_FORM.show(None, app.zone()).unfocused()),
    })
}

/// Shows the form of a client again with what is wrong with it.
fn again(visit: Visit<'_>, existing: Option<&Client>, problem: Problem) -> Result<Job, Problem> {
    form::show_again(visit.2, problem, |faults| {
        form_page(visit, existing, FORM.again(visit.2, faults), None)
    })
}

/// Adds a fault when the keeper is not in the team.
fn check_keeper(
    services: &Services,
    sent: &mut Sent<'_>,
    entry: &ClientEntry,
) -> Result<(), DbError> {
    let lane = sent.request.lane;
    if let Some(keeper) = entry.keeper
        && !services.db.read(lane, |tx| accounts::is_of_team(tx, UserId(keeper)))?
    {
        sent.check.fail("responsavel_id", "is nobody of the agency's team");
    }
    Ok(())
}

/// `POST /admin/agencia/clientes`: makes a client, with an account that a
/// student has linked or with an invitation.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let account = sent.reference("ml_user_id").map(MlUserId);
    let entry = FORM.read(&mut sent, None);
    check_keeper(app, &mut sent, &entry)?;
    if let Some(account) = account {
        only_administrators(person)?;
        check_account(app, &mut sent, account)?;
    }
    if let Err(problem) = sent.finish() {
        return again((app, person, request), None, problem);
    }
    let (answer, actor, zone) = (Answer::to(request), Actor::person(person, request), app.zone());
    let invite = inviting((app, person, request));
    Ok(Box::new(move |tx| {
        let full =
            || Problem::conflict(ForPeople("Já há 1.000 clientes, o máximo. Remova algum antes."));
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        audit::note(tx, &actor, &act("cliente.criar", id, &entry.name), (), &entry)?;
        let Some(account) = account else {
            return Ok(invite(tx, id, &entry.name)?.status(http::StatusCode::CREATED));
        };
        take_in(tx, id, account, zone)?;
        answer.made(id, &page_of(id), "criado")
    }))
}

fn only_administrators(person: &Person) -> Result<(), Problem> {
    if person.account.role == Role::Admin {
        return Ok(());
    }
    Err(Problem::closed(ForPeople("Só a administração inclui contas de alunos e remove clientes.")))
}

/// Adds a fault when nobody has linked the account.
fn check_account(
    services: &Services,
    sent: &mut Sent<'_>,
    account: MlUserId,
) -> Result<(), DbError> {
    if services.db.read(sent.request.lane, |tx| owner_of(tx, account))?.is_none() {
        sent.check.fail(
            "ml_user_id",
            "nobody has linked this account; leave it out to invite the client",
        );
    }
    Ok(())
}

/// Makes the agency look after a linked account for a client, and notifies its
/// owner.
fn take_in(tx: &WriteTx<'_>, client: i64, account: MlUserId, zone: Zone) -> Result<(), Problem> {
    if accounts::accounts_of(tx, client)?.len() >= MOST_ACCOUNTS {
        return Err(Problem::conflict(ForPeople("Um cliente tem no máximo 50 contas.")));
    }
    if !accounts::join(tx, client, account)? {
        return Err(Problem::conflict(ForPeople("Esta conta já é de um cliente da agência.")));
    }
    let joined = accounts::joined(tx, account)?.ok_or_else(Problem::not_found)?;
    days::note(tx, &joined, zone.day(tx.now()))?;
    notifications::notify_joined(tx, joined.owner, &joined.nickname)?;
    Ok(())
}

/// `POST /admin/agencia/clientes/{id}`: changes a client.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = named(app, request)?;
    let id = found.id;
    let mut sent = Sent::of(request, app.zone())?;
    let entry = FORM.read(&mut sent, Some(&found.entry));
    if entry.keeper != found.entry.keeper {
        check_keeper(app, &mut sent, &entry)?;
    }
    if let Err(problem) = sent.finish() {
        return again((app, person, request), Some(&found), problem);
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = store::existing(tx, id)?.entry;
        store::update(tx, id, &entry)?;
        audit::note(tx, &actor, &act("cliente.alterar", id, &entry.name), &before, &entry)?;
        answer.done(id, &page_of(id), "alterado")
    }))
}

/// `POST /admin/agencia/clientes/{id}/contas`: makes the agency look after one
/// more account that a student has linked.
pub fn add_account(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    only_administrators(person)?;
    let client = named(app, request)?;
    let id = client.id;
    let mut sent = Sent::of(request, app.zone())?;
    let account = MlUserId(ACCOUNT_FORM.read(&mut sent, None).unwrap_or_default());
    check_account(app, &mut sent, account)?;
    if let Err(problem) = sent.finish() {
        return form::show_again(request, problem, |faults| {
            let form = FORM.show(Some(&client.entry), app.zone()).unfocused();
            let account = ACCOUNT_FORM.again(request, faults);
            form_page((app, person, request), Some(&client), form, Some(account))
        });
    }
    let (answer, actor, zone) = (Answer::to(request), Actor::person(person, request), app.zone());
    Ok(Box::new(move |tx| {
        let client = store::existing(tx, id)?;
        let page = page_of(id);
        match take_in(tx, id, account, zone) {
            Err(problem) if problem.code == Code::Conflict => {
                return answer.declined(problem, &page, "conta_ocupada");
            }
            taken => taken?,
        }
        let act = act("cliente.conta", id, &client.entry.name);
        let after = json!({ "ml_user_id": account });
        audit::note(tx, &actor, &act, (), &after)?;
        answer.made(account, &page, "conta")
    }))
}

/// `POST /admin/agencia/clientes/{id}/contas/{ml_user_id}/retirar`: the agency
/// stops looking after an account, at once.
pub fn remove_account(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (id, account) = (request.id()?, crate::marketplace::account::link::account_in(request)?);
    let removed = leaving::remove_account(app, id, account)?.ok_or_else(Problem::not_found)?;
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        let act = act("cliente.retirar_conta", id, &removed.client_name);
        let before = json!({ "ml_user_id": account });
        audit::note(tx, &actor, &act, &before, ())
    })?;
    Answer::to(request).done(account, &page_of(id), "conta_retirada")
}

/// `POST /admin/agencia/clientes/{id}/excluir`: removes a client. The accounts
/// that an invitation linked are unlinked, those of students stay theirs.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    only_administrators(person)?;
    let id = request.id()?;
    if !leaving::remove_client(app, &Actor::person(person, request), id)? {
        return Err(Problem::not_found());
    }
    Answer::to(request).done(id, CLIENTS, "excluido")
}

/// `POST /admin/agencia/ml/sincronizar-todos`: starts reading all clients and
/// reads the five that have waited longest.
pub fn sync_all(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        let act = objects::CLIENT.act("cliente.sincronizar_todos", "todos", "Clientes da agência");
        audit::note(tx, &actor, &act, (), ())
    })?;
    let busy = || {
        let said = "other cycles wait already; try again in a moment";
        Problem { retry_after_s: Some(5), ..Problem::new(Code::Unavailable, said) }
    };
    let done = cycle::run(app, cycle::ClientSelection::AllWanted)?.ok_or_else(busy)?;
    let word = match done {
        cycle::Cycle { pending: 1.., .. } => "sincronizando",
        cycle::Cycle { errors: 1.., .. } => "com_erros",
        cycle::Cycle { .. } => "sincronizados",
    };
    let members = [
        ("sincronizados", done.synced.into()),
        ("erros", done.errors.into()),
        ("pendentes", done.pending.into()),
    ];
    Answer::to(request).with(CLIENTS, word, &members)
}
