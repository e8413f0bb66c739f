//! The search over everything that a menu leads to: pages, acts, and things by name or
//! number. One address for each menu, as page and as JSON, which the palette of the keyboard
//! asks (`assets/js/palette.js`). Each statement is limited to the person who asks.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::base::text::search_key;
use crate::panel::live::Desk;
use crate::panel::view::NavGroup;

/// Most things of a kind that are found.
const MOST: u32 = 6;

/// Something that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    #[serde(rename = "texto")]
    pub text: String,
    /// What tells it from others of the same name; may be empty.
    #[serde(rename = "detalhe")]
    pub detail: String,
    #[serde(rename = "endereco")]
    pub href: String,
}

/// Things of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Hits {
    #[serde(rename = "grupo")]
    pub title: &'static str,
    #[serde(rename = "itens")]
    pub items: Vec<Hit>,
}

/// What can be done, and where. An address that this version lacks is left out.
type Act = (&'static str, &'static str);

const SELLER_ACTS: &[Act] = &[
    ("Imprimir etiquetas", "/painel/ml/etiquetas"),
    ("Responder perguntas", "/painel/perguntas?estado=pendente"),
    ("Ver reclamações abertas", "/painel/reclamacoes?estado=aberta"),
    ("Calcular quanto sobra", "/painel/ml/calculadora"),
    ("Criar produto", "/painel/produtos/novo"),
    ("Vincular conta", "/painel/ml"),
    ("Ver avisos", "/painel/avisos"),
];

const TEAM_ACTS: &[Act] = &[
    ("Responder perguntas dos clientes", "/admin/agencia/central-perguntas"),
    ("Imprimir etiquetas dos clientes", "/admin/agencia/etiquetas"),
    ("Criar cliente", "/admin/agencia/clientes/novo"),
    ("Ver checkup", "/admin/agencia/checkup"),
];

const SUPPLIER_ACTS: &[Act] = &[
    ("Lembrar todos", "/fornecedor/pedidos?situacao=vencido"),
    ("Marcar pedidos como recebidos", "/fornecedor/pedidos"),
    ("Convidar vendedor", "/fornecedor/vendedores"),
    ("Criar produto", "/fornecedor/produtos/novo"),
    ("Conferir anúncios sem vínculo", "/fornecedor/conferencia"),
];

const OPERATOR_ACTS: &[Act] = &[
    ("Novo comunicado", "/admin/comunicados/novo"),
    ("Criar aluno", "/admin/alunos/novo"),
    ("Ver mensagens que falharam", "/admin/mensagens?estado=falhou"),
    ("Ver alunos em atraso", "/admin/alunos?status=atrasado"),
    ("Ver compras sem plano", "/admin/compras?resultado=sem-plano"),
    ("Testar canais", "/admin/mensagens/canais"),
    ("Criar plano", "/admin/planos/novo"),
    ("Criar curso", "/admin/cursos/novo"),
    ("Criar chave", "/admin/chaves/nova"),
    ("Copiar o banco agora", "/admin/copias"),
    ("Ver estilo", "/admin/estilo"),
];

/// The acts of a menu, those for the most at hand first.
fn acts(desk: Desk) -> impl Iterator<Item = Act> {
    let (own, team): (&[Act], &[Act]) = match desk {
        Desk::Student => (SELLER_ACTS, &[]),
        Desk::Staff => (TEAM_ACTS, SELLER_ACTS),
        Desk::Supplier => (SUPPLIER_ACTS, &[]),
        Desk::Operator => (OPERATOR_ACTS, TEAM_ACTS),
    };
    own.iter().chain(team).copied()
}

/// The words of a search, each of which must be in what is found.
fn words(search: &str) -> Vec<String> {
    search_key(search).split_whitespace().map(str::to_owned).collect()
}

fn has(text: &str, words: &[String]) -> bool {
    let key = search_key(text);
    words.iter().all(|word| key.contains(&**word))
}

/// The acts that a search finds; `exists` says whether this version has an address.
fn found_acts(desk: Desk, words: &[String], exists: impl Fn(&str) -> bool) -> Vec<Hit> {
    let found = acts(desk).filter(|(text, href)| has(text, words) && exists(href));
    let hit =
        |(text, href): Act| Hit { text: text.into(), detail: String::new(), href: href.into() };
    found.take(MOST as usize).map(hit).collect()
}

/// The entries of the menu that a search finds.
fn found_pages(menu: &[NavGroup], words: &[String]) -> Vec<Hit> {
    let entries = menu.iter().flat_map(|group| group.items.iter().map(move |item| (group, item)));
    let found =
        entries.filter(|(group, item)| has(&format!("{} {}", group.title, item.label), words));
    let hit = |(group, item): (&NavGroup, &crate::panel::view::NavItem)| Hit {
        text: item.label.into(),
        detail: group.title.into(),
        href: item.href.into(),
    };
    let most = if words.is_empty() { usize::MAX } else { 2 * MOST as usize };
    found.take(most).map(hit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_without_case_and_accents_and_in_any_order() {
        let found = |search: &str| {
            let found = found_acts(Desk::Student, &words(search), |_| true);
            found.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
        };
        assert_eq!(found("ETIQUETAS imprimir"), ["Imprimir etiquetas"]);
        assert_eq!(found("reclamacoes"), ["Ver reclamações abertas"]);
        assert!(found("nada assim").is_empty());
        assert!(found_acts(Desk::Operator, &words("comunicado"), |_| false).is_empty());
    }
}
