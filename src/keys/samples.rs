//! The pages for API keys with sample data, for `page_samples.rs`.

use askama::Template as _;

use super::pages::LIST;
use super::views::*;
use super::{Scope, State};
use crate::panel::list::Head;
use crate::panel::view::{Field, Layout, Notice, Tick, When, focus_first};

/// Every page in its states, in this frame and at these instants.
pub fn all(
    layout: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let list =
        |count, search: &str, total| list(layout("/admin/chaves"), ago, (count, search, total));
    let form = |state, faults| form(layout("/admin/chaves/1"), ago, state, faults);
    vec![
        ("chaves-vazio", list(0, "", 0)),
        ("chaves-nada", list(0, "crm & loja", 0)),
        ("chaves", list(4, "", 4)),
        ("chaves-muitas", list(20, "", 43)),
        ("chave-nova", form(None, false)),
        ("chave", form(Some(State::Active), false)),
        ("chave-em-troca", form(Some(State::Leaving), false)),
        ("chave-revogada", form(Some(State::Revoked), false)),
        ("chave-campos", form(Some(State::Active), true)),
        ("chave-feita", made(layout("/admin/chaves"))),
        ("chave-ajuda", help(layout("/admin/chaves/como-usar"))),
    ]
}

const NAMES: [&str; 4] = [
    "CRM de vendas",
    "Loja",
    "Automação de boas-vindas com nome comprido para ver onde quebra",
    "Assistente",
];

fn last_use(ago: &dyn Fn(i64) -> When, seconds: i64) -> LastUseWords {
    LastUseWords {
        when: ago(seconds),
        address: "2001:db8:7:ffff:aaaa:bbbb:cccc:dddd".to_owned(),
        route: "POST /api/v1/alunos/suspender".to_owned(),
    }
}

fn list(
    layout: Layout,
    ago: &dyn Fn(i64) -> When,
    (count, search, total): (usize, &str, u64),
) -> String {
    let columns = [
        Head::sorts("Chave", "nome"),
        Head::plain("Situação"),
        Head::plain("Permissões"),
        Head::sorts("Último uso", "ultimo_uso"),
        Head::plain("Válida até"),
    ];
    let states = [State::Active, State::Leaving, State::Revoked, State::Expired];
    let row = |index: usize| {
        let state = states[index % 4];
        KeyRow {
            id: (index + 1).to_string(),
            name: NAMES[index % 4].to_owned(),
            prefix: "spk_0a1b2c3d".to_owned(),
            scopes: if index.is_multiple_of(2) {
                "Alunos"
            } else {
                "Alunos, Consultas, Administração"
            }
            .to_owned(),
            last_use: (index % 3 != 2).then(|| last_use(ago, 60 * 7 * (1 << index))),
            until: if index.is_multiple_of(2) { "sem fim" } else { "31/12/2026" }.to_owned(),
            state: badge(state),
            works: matches!(state, State::Active | State::Leaving),
        }
    };
    let page = KeysPage {
        layout,
        table: LIST.table(&LIST.first_page(search), &columns, total),
        keys: (0..count).map(row).collect(),
    };
    page.render().unwrap()
}

fn form(layout: Layout, ago: &dyn Fn(i64) -> When, state: Option<State>, faults: bool) -> String {
    let text = |value: &str| Field::of(if state.is_some() { value } else { "" });
    let mut page = KeyForm {
        layout,
        existing: state.map(|state| ExistingKey {
            id: "1".to_owned(),
            name: NAMES[2].to_owned(),
            prefix: "spk_0a1b2c3d".to_owned(),
            state: badge(state),
            note: match state {
                State::Active => String::new(),
                State::Leaving => {
                    "Foi trocada por outra e ainda funciona até 21/11/2026 09:00.".to_owned()
                }
                _ => "Deixou de funcionar em 20/11/2026 09:00.".to_owned(),
            },
            created: ago(86_400 * 40),
            last_use: (state != State::Revoked).then(|| last_use(ago, 300)),
            successor: (state == State::Leaving).then(|| "2".to_owned()),
            revoked: state == State::Revoked,
            exchangeable: state == State::Active,
        }),
        alert: None,
        name: text(NAMES[2]),
        scopes: Field::default(),
        ticks: Scope::ALL
            .map(|scope| {
                Tick::new(scope.name(), scope_title(scope), scope == Scope::Write)
                    .help(scope_help(scope))
            })
            .into(),
        networks: text("203.0.113.7\n2001:db8:7::/48"),
        limit: text("120"),
        until: text("2026-12-31"),
        limit_help: "Em branco, 60 a cada 60 segundos.".to_owned(),
        hours: Field::of("24"),
    };
    if faults {
        page.scopes = page.scopes.fault(Some(fault_words("escopos")));
        page.networks = Field::of("10.0.0.300").fault(Some(fault_words("ips")));
        page.limit = Field::of("0").fault(Some(fault_words("limite")));
        page.until = Field::of("2020-01-01").fault(Some(fault_words("expira_em")));
        page.hours = Field::of("-1").fault(Some(fault_words("horas")));
        let count = focus_first([
            &mut page.scopes,
            &mut page.networks,
            &mut page.limit,
            &mut page.until,
            &mut page.hours,
        ]);
        page.alert = Notice::faults(count);
    }
    page.render().unwrap()
}

fn made(layout: Layout) -> String {
    let page = KeyMade {
        layout,
        name: NAMES[0].to_owned(),
        key: format!("spk_{}", "0a1b2c3d".repeat(6)),
        old: Some("A chave anterior funciona até 21/11/2026 09:00. Troque-a no outro sistema antes disso.".to_owned()),
        example_title: "Cadastrar um aluno",
        example: "curl https://vendas.exemplo.com/api/v1/alunos/criar \\\n  -H \"Authorization: Bearer spk_0a1b2c3d…\"".to_owned(),
    };
    page.render().unwrap()
}

fn help(layout: Layout) -> String {
    let page = KeyHelp {
        layout,
        examples: vec![Example {
            id: "suspender",
            title: "Suspender um aluno",
            about: "Encerra na hora todas as sessões e o acesso dos tokens. Repetir não faz mal.",
            scope: "write",
            call: "curl https://vendas.exemplo.com/api/v1/alunos/suspender".to_owned(),
        }],
        usual_limit: "60 a cada 60 segundos".to_owned(),
    };
    page.render().unwrap()
}
