//! Lists of people in the operator's panel, and creating a person.

pub mod acts;
pub mod bulk;
pub mod detail;
pub mod roles;
pub mod undo;
pub mod view_as;

use super::entry;
use super::store::{self, PeopleQuery};
use super::told;
use super::views::{ListWords, NewPersonPage, PeoplePage};
use crate::accounts::page_layout::layout;
use crate::accounts::person::{Group, Listed, PersonStatus, WirePerson, columns};
use crate::accounts::store as accounts;
use crate::accounts::students::{self, AccountServices, NewStudent};
use crate::accounts::{Role, links};
use crate::app::{App, Visit};
use crate::audit::looks;
use crate::base::{Instant, UserId};
use crate::config::Gateway;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::Change;
use crate::panel::{
    Filter, Flash, FormView, ListReply, Listing, PageTime, When, export, filters, flashes, form,
    heads,
};
use crate::services::Services;
use acts::group_of;

const STUDENTS: Listing = Listing {
    path: Group::Students.path(),
    hint: "Nome ou e-mail",
    filters: filters! {
        "plano": "Plano", "Todos", &[
            ("free", "Gratuito"), ("pro", "Pro"), ("vip", "VIP"), ("piloto_pro", "Piloto Pro"),
            ("podio", "Pódio"),
        ];
        "status": "Situação", "Todos",
            &[("ativo", "Ativo"), ("atrasado", "Em atraso"), ("suspenso", "Suspenso")];
        "em_disputa": "Disputa", "Todas", &[("sim", "Em disputa"), ("nao", "Sem disputa")];
    },
    sort_keys: &["nome", "criado_em", "ultimo_acesso"],
    heads: heads![
        "Nome" => "nome", "Plano", "Situação", "Pago até", "Cadastro" => "criado_em",
        "Último acesso" => "ultimo_acesso",
    ],
    file: "alunos.csv",
    csv: &columns(Group::Students),
    flashes: FLASHES,
};

const STAFF: Listing = Listing {
    path: Group::Staff.path(),
    filters: filters! {
        "papel": "Papel", "Todos", &[("drop", "Fornecedor"), ("admin", "Administração")];
        // Staff pay nothing, and so are never late.
        "status": "Situação", "Todos", &[("ativo", "Ativo"), ("suspenso", "Suspenso")];
    },
    heads: heads![
        "Nome" => "nome", "Papel", "Situação", "Cadastro" => "criado_em",
        "Último acesso" => "ultimo_acesso",
    ],
    file: "equipe.csv",
    csv: &columns(Group::Staff),
    ..STUDENTS
};

/// Messages about the last action on the pages of people.
pub const FLASHES: &[Flash] = flashes! {
    "criado": good "Pessoa cadastrada",
        "A mensagem de boas-vindas está na fila, com um link para escolher a senha.";
    "criado_espera": warn "Pessoa cadastrada; a mensagem espera",
        "O chat não está configurado. Para dar o acesso agora, gere um link para copiar e entregue-o à pessoa.";
    "nada_marcado": info "Ninguém estava marcado", "Marque as linhas e escolha de novo.";
    "desfeito": good "Desfeito", "Está como antes.";
    "nada_a_desfazer": info "Nada foi desfeito", "Já mudou de novo desde então.";
    "tarde_demais": info "Passou o tempo de desfazer", "Mude na página da pessoa.";
    "alterado": good "Dados salvos", "Já valem em toda a plataforma.";
    "excluido": good "Pessoa excluída",
        "Os dados foram apagados e o e-mail pode ser usado de novo.";
    "dados_apagados": good "Dados apagados",
        "Nada mais identifica a pessoa. Ficam os valores das compras e, na auditoria, número e ato.";
    "suspenso": good "Acesso suspenso",
        "As sessões terminaram e as mensagens que esperavam foram descartadas.";
    "reativado": good "Acesso reativado",
        "As sessões e os vínculos que terminaram não voltam: a pessoa entra de novo com a senha.";
    "foto": good "Foto salva";
    "foto_excluida": good "Foto excluída";
    "ultimo_admin": warn "Alguém precisa poder administrar",
        "É a última pessoa que pode entrar e administrar a plataforma. Dê acesso a outra antes.";
    "esta_suspenso": warn "A pessoa está suspensa", "Reative o acesso antes.";
    "sem_mudanca": info "Nada mudou", "A pessoa já estava assim.";
    "link_na_fila": good "Link de senha na fila", "Os links anteriores deixaram de valer.";
    "sem_canal": warn "O link não foi enviado",
        "Não há número de chat e o e-mail não está configurado. Gere um link para copiar, ou informe um número de chat.";
    "sessoes_encerradas": good "Sessões encerradas",
        "No navegador e na extensão a pessoa precisa entrar de novo.";
    "papeis": good "Permissões dos planos salvas", "Valem a partir da próxima ação de cada pessoa.";
    "permissoes": good "Permissões salvas", "Valem a partir da próxima ação da pessoa.";
};

const STUDENT_WORDS: ListWords = ListWords {
    title: "Alunos",
    purpose: "Quem aprende e vende aqui: plano, situação e acesso.",
    what: "alunos",
    add: "Cadastrar aluno",
    new_title: "Novo aluno",
    empty: "Nenhum aluno ainda",
    empty_text: "Eles chegam pela compra de um plano, por uma integração, por uma lista importada, ou cadastrados aqui.",
    role_label: "Plano",
    removal: "Dados, contas vinculadas e histórico de vendas são apagados e não voltam. O nome fica na auditoria e no que outras pessoas receberam: para apagar também isso, use Apagar dados. Para só fechar o acesso, suspenda.",
};

const STAFF_WORDS: ListWords = ListWords {
    title: "Equipe e fornecedores",
    purpose: "Quem administra a plataforma e quem entrega o que os alunos vendem.",
    what: "pessoas",
    add: "Cadastrar pessoa",
    new_title: "Nova pessoa",
    empty: "Ninguém ainda",
    empty_text: "Cadastre fornecedores e quem mais administra a plataforma.",
    role_label: "Papel",
    removal: "Os dados da pessoa são apagados e não voltam. O nome fica na auditoria e no que outras pessoas receberam: para apagar também isso, use depois seller-platform person erase. Para só fechar o acesso, suspenda.",
};

impl Group {
    const fn listing(self) -> &'static Listing {
        match self {
            Self::Students => &STUDENTS,
            Self::Staff => &STAFF,
        }
    }

    /// The texts of the group's pages.
    pub const fn words(self) -> &'static ListWords {
        match self {
            Self::Students => &STUDENT_WORDS,
            Self::Staff => &STAFF_WORDS,
        }
    }
}

/// Searches, exports and further pages may read many rows.
pub fn needs_slow_lane(request: &Request) -> bool {
    !request.query_text().is_empty()
}

/// `GET /admin/alunos` and `GET /admin/equipe`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let group = group_of(request);
    let listing = group.listing();
    let query = listing.read(request)?;
    let wanted = PeopleQuery {
        group,
        search: query.search.clone(),
        role: query.filter(group.role_field()).and_then(Role::from_name),
        status: query.filter("status").and_then(PersonStatus::from_name),
        disputed: query.filter("em_disputa").map(|word| word == "sim"),
        order: query.sort_key,
        descending: query.descending,
    };
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted))?;
        let action = match group {
            Group::Students => "aluno.baixar_lista",
            Group::Staff => "equipe.baixar_lista",
        };
        looks::file(app, (person, request), action, group.name());
        return export::list(app, person, listing, ids, |app, tx, id| {
            let one = store::person(tx, UserId(id))?;
            Ok(one.map(|one| WirePerson::of(one, app.zone())))
        });
    }
    let (people, total) =
        app.db.read(request.lane, |tx| store::page(tx, &wanted, query.window()))?;
    if request.wants_json() {
        let action = match group {
            Group::Students => "aluno.consultar_lista",
            Group::Staff => "equipe.consultar_lista",
        };
        looks::list(app, (person, request), action, group.name());
        return ListReply::of(total, people, |one| WirePerson::of(one, app.zone()));
    }
    let when = |at: Instant| When::new(app.zone(), at, request.now);
    let dated = |one: Listed| {
        let (created, seen) = (when(one.created_at), one.last_access_at.map(when));
        (one, created, seen)
    };
    let sum = app.db.read(request.lane, |tx| store::sum(tx, &wanted, total))?;
    Reply::page(&PeoplePage {
        layout: told::telling(layout(app, person, request), FLASHES, request),
        table: listing.table(&query, listing.heads, total),
        time: PageTime::of(app, request),
        total,
        sum,
        query: request.query_text().to_owned(),
        words: group.words(),
        people: people.into_iter().map(dated).collect(),
    })
}

/// Which students the query of the list asks for. A value that the list does not know is
/// refused: left out, it would ask for more people than were shown.
pub fn asked(query: &str) -> Result<PeopleQuery, Problem> {
    let given = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let found = pairs.find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.into_owned())
    };
    let is_known = |filter: &Filter| {
        given(filter.name).is_none_or(|word| filter.values.iter().any(|(known, _)| *known == word))
    };
    if !STUDENTS.filters.iter().all(is_known) {
        let said = "is not a filter of the list";
        return Err(Problem::invalid(vec![("filtro".into(), said.into())]));
    }
    Ok(PeopleQuery {
        group: Group::Students,
        search: given("q").map(|search| search.trim().to_owned()).unwrap_or_default(),
        role: given("plano").as_deref().and_then(Role::from_name),
        status: given("status").as_deref().and_then(PersonStatus::from_name),
        disputed: given("em_disputa").map(|word| word == "sim"),
        order: "nome",
        descending: false,
    })
}

/// How a message with a password link will reach a person.
pub fn reach(services: &Services, has_number: bool) -> &'static str {
    let email = !services.config.email.smtp_url.is_empty();
    let chat = services.config.chat.gateway != Gateway::None;
    match (has_number, chat, email) {
        (true, true, true) => "Vai por chat e por e-mail.",
        (true, false, true) => {
            "Vai por e-mail; a mensagem de chat espera até o chat ser configurado."
        }
        (false, _, true) => "Vai por e-mail.",
        (true, true, false) => "Vai por chat.",
        (true, false, false) => "Fica na fila: nem o chat nem o e-mail estão configurados.",
        (false, _, false) => {
            "Não há como avisar: sem número de chat, e o e-mail não está configurado."
        }
    }
}

/// The page with the form of a new person.
pub fn new_page(visit: Visit<'_>, form: FormView) -> Result<Reply, Problem> {
    let ((app, person, request), group) = (visit, group_of(visit.2));
    Reply::page(&NewPersonPage {
        layout: layout(app, person, request),
        path: group.path(),
        words: group.words(),
        fields: entry::fields(app, group, form),
        reach: match (app.config.email.smtp_url.is_empty(), app.config.chat.gateway) {
            (true, Gateway::None) => {
                "Nenhum canal está ligado: depois de cadastrar, você recebe aqui um link para escolher a senha, para copiar e entregar."
            }
            (true, _) => {
                "Com número de chat, a pessoa recebe por ele um link para escolher a senha. Sem número, você recebe aqui o link para copiar e entregar."
            }
            (false, Gateway::None) => "A pessoa recebe por e-mail um link para escolher a senha.",
            (false, _) => {
                "A pessoa recebe um link para escolher a senha por e-mail e, se tiver número, por chat."
            }
        },
    })
}

/// `POST /admin/alunos` and `POST /admin/equipe`.
///
/// Makes a person without a password, and queues the welcome message.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let group = group_of(request);
    let sent = group.form().entry(request, app.zone(), None).and_then(|entry| {
        let taken = app.db.read(request.lane, |tx| accounts::by_email(tx, &entry.email))?;
        taken.is_none().then_some(entry).ok_or_else(entry::email_taken)
    });
    let entry = match sent {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                new_page((app, person, request), entry::again(group, request, faults))
            });
        }
    };
    let change = Change::of(person, request);
    let services = AccountServices::of(app);
    let is_form = !request.wants_json();
    let config = &app.config;
    // Whether a message leaves by a channel that is on.
    let leaves = !config.email.smtp_url.is_empty() || config.chat.gateway != Gateway::None;
    Ok(Box::new(move |tx| {
        let new = NewStudent { person: entry.clone(), paid_until: None, welcome: true };
        let id = students::create(tx, &services, &new)?.ok_or_else(entry::email_taken)?;
        let object = group.object();
        change.note(tx, &object.act(object.created, id, &entry.nome), (), &entry)?;
        let has_number = entry.chat_number.is_some();
        let word = if !services.reaches(has_number) && is_form {
            let link = links::make(tx, id, tx.now().plus(links::FIRST_S), None)?;
            format!("{}{}", detail::NEW_LINK, link.code)
        } else if has_number && !leaves {
            "criado_espera".to_owned()
        } else {
            "criado".to_owned()
        };
        change.answer.made(id, &format!("{}/{id}", group.path()), &word)
    }))
}
