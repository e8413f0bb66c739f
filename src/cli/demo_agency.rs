//! The demonstration's agency: three clients, of whom two were invited and one
//! is a student's shop, with a month of days behind them, and one that is invited.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::demo_data::Operator;
use crate::base::Day;
use crate::db::{Result, WriteTx};

/// Name, tags and notes of each client; the first is the student's.
const CLIENTS: [(&str, &[&str], &str); 3] = [
    (
        "Casa & Vida",
        &["utilidades", "full"],
        "A Ana responde rápido no chat. Não dar desconto sem falar com ela.",
    ),
    (
        "Aurora Moda",
        &["moda"],
        "Reunião às quintas, 10h. Trocas por tamanho sempre com frete por nossa conta.",
    ),
    (
        "Ferragens do Vale",
        &["ferramentas", "novo"],
        "Entrou este mês. Nota fiscal sai no dia seguinte.",
    ),
];

/// Title and text of each saved reply.
const REPLIES: [(&str, &str); 4] = [
    (
        "Pronta entrega",
        "Olá! Sim, temos {anuncio} a pronta entrega e enviamos no mesmo dia útil. Boas compras!",
    ),
    (
        "Nota fiscal",
        "Olá! Todos os nossos pedidos seguem com nota fiscal. Qualquer dúvida, estamos à disposição.",
    ),
    (
        "Desconto",
        "Olá! O preço de {preco} já é o nosso melhor. Aproveite, temos {estoque} unidades.",
    ),
    ("Garantia", "Olá! A garantia é de 90 dias, direto com a {loja}."),
];

/// A client that has not authorised an account yet.
const NEXT: (&str, &str) = ("Papelaria Lume", "Convite enviado; começa na segunda.");

/// Number of past days that have data already.
const DAYS: i64 = 30;

/// Makes the clients; the invited ones authorise their shops as a browser would.
pub fn invite(
    operator: &Operator<'_>,
    sandbox_url: &str,
    own: i64,
    shops: &[i64],
) -> anyhow::Result<()> {
    let shops = std::iter::once(None).chain(shops.iter().copied().map(Some));
    for ((name, tags, notes), shop) in CLIENTS.into_iter().zip(shops) {
        let mut client = json!({ "nome": name, "etiquetas": tags, "anotacoes": notes });
        if shop.is_none() {
            client["ml_user_id"] = own.into();
        }
        let made = operator.send("/admin/agencia/clientes", &client)?;
        if let Some(shop) = shop {
            let invitation = made["convite"].as_str().context("there is no invitation")?;
            authorise(operator.agent, sandbox_url, invitation, shop)?;
        }
    }
    let next = json!({ "nome": NEXT.0, "etiquetas": ["novo"], "anotacoes": NEXT.1 });
    operator.send("/admin/agencia/clientes", &next)?;
    for (title, text) in REPLIES {
        operator.send("/admin/agencia/respostas", &json!({ "titulo": title, "texto": text }))?;
    }
    Ok(())
}

/// Follows an invitation to the consent page and back.
fn authorise(
    agent: &ureq::Agent,
    sandbox_url: &str,
    invitation: &str,
    shop: i64,
) -> anyhow::Result<()> {
    let begun = agent.post(invitation).send_empty()?;
    let header = |name: &str| {
        let value = begun.headers().get(name).and_then(|value| value.to_str().ok());
        value.with_context(|| format!("an invitation answered {} without {name}", begun.status()))
    };
    let cookie = header("set-cookie")?.split(';').next().unwrap_or_default();
    let query = header("location")?.split_once('?').map_or("", |(_, query)| query);
    let body = json!({ "ml_user_id": shop, "query": query });
    let mut answer = agent.post(format!("{sandbox_url}/_sandbox/authorize")).send_json(body)?;
    let answer: Value = answer.body_mut().read_json()?;
    let Some(back) = answer["location"].as_str() else {
        bail!("the sandbox did not authorise: {answer}");
    };
    agent.get(back).header("cookie", cookie).call()?;
    Ok(())
}

/// Reads the clients' accounts and runs the checkup.
pub fn look(operator: &Operator<'_>) -> anyhow::Result<()> {
    operator.send("/admin/agencia/ml/sincronizar-todos", &json!({}))?;
    operator.send("/admin/agencia/checkup", &json!({}))?;
    Ok(())
}

/// Gives the days before today numbers that are close to those of today.
pub fn remember(tx: &WriteTx<'_>, today: Day) -> Result<()> {
    tx.run(
        "UPDATE agency_day AS d
         SET seen = 1, reputation = t.reputation,
             listings = max(0, t.listings - (?1 - d.day) / 6),
             claims = max(0, t.claims + (d.day * d.day / 7 + d.client_id) % 3 - 1),
             questions = t.questions + (d.day * d.day * 13 / 11 + d.client_id * 5) % 6
         FROM agency_day t
         WHERE t.client_id = d.client_id AND t.ml_user_id = d.ml_user_id AND t.day = ?1
             AND d.client_id > 0 AND d.day BETWEEN ?2 AND ?1 - 1",
        (today, today.plus(-DAYS)),
    )
}
