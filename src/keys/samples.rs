//! The pages for API keys with sample data, for `page_samples.rs`.

use super::entry::{EXCHANGE, FORM, Overlap, scope_ticks};
use super::pages::LIST;
use super::views::*;
use super::{KeyEntry, KeyState, Scope, Words, network};
use crate::base::Instant;
use crate::fixture::html;
use crate::panel::{Layout, When};

/// Every page in its states, with this frame and these times.
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
        ("chave", form(Some(KeyState::Active), false)),
        ("chave-em-troca", form(Some(KeyState::Leaving), false)),
        ("chave-revogada", form(Some(KeyState::Revoked), false)),
        ("chave-campos", form(Some(KeyState::Active), true)),
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
    let states = [KeyState::Active, KeyState::Leaving, KeyState::Revoked, KeyState::Expired];
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
            works: matches!(state, KeyState::Active | KeyState::Leaving),
        }
    };
    let page = KeysPage {
        layout,
        table: LIST.table(&LIST.first_page(search), LIST.heads, total),
        keys: (0..count).map(row).collect(),
    };
    html(&page)
}

fn form(
    layout: Layout,
    ago: &dyn Fn(i64) -> When,
    state: Option<KeyState>,
    faults: bool,
) -> String {
    let entry = state.map(|_| KeyEntry {
        name: NAMES[2].to_owned(),
        scopes: Words(vec![Scope::Write]),
        networks: Words(["203.0.113.7", "2001:db8:7::/48"].map(|net| network(net).unwrap()).into()),
        rate_limit: Some(120),
        expires_at: Some(Instant(1_798_772_400)),
    });
    let page = KeyForm {
        layout,
        existing: state.map(|state| ExistingKey {
            id: "1".to_owned(),
            name: NAMES[2].to_owned(),
            prefix: "spk_0a1b2c3d".to_owned(),
            state: badge(state),
            note: match state {
                KeyState::Active => String::new(),
                KeyState::Leaving => {
                    "Foi trocada por outra e ainda funciona até 21/11/2026 09:00.".to_owned()
                }
                _ => "Deixou de funcionar em 20/11/2026 09:00.".to_owned(),
            },
            created: ago(86_400 * 40),
            last_use: (state != KeyState::Revoked).then(|| last_use(ago, 300)),
            successor: (state == KeyState::Leaving).then(|| "2".to_owned()),
            revoked: state == KeyState::Revoked,
            exchangeable: state == KeyState::Active,
        }),
        form: FORM.sample(entry.as_ref(), if faults { 5 } else { 0 }),
        ticks: scope_ticks(|scope| scope == Scope::Write),
        limit_help: "Em branco, 60 a cada 60 segundos.".to_owned(),
        exchange: EXCHANGE.sample(Some(&Overlap::default()), 0),
    };
    html(&page)
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
    html(&page)
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
    html(&page)
}
