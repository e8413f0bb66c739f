//! More data of the demonstration: further students with what they bought, and a
//! key. It is sent to the same addresses as by the panel's forms and by the
//! checkout platform.

use anyhow::bail;
use serde_json::{Value, json};

use crate::base::Instant;

const DAY_S: i64 = 86_400;

/// Name, role and number of each further student.
const STUDENTS: [(&str, &str, &str); 24] = [
    ("Bruno Cardoso", "pro", "5511987650001"),
    ("Carla Nogueira", "vip", "5521987650002"),
    ("Daniel Prates", "pro", "5531987650003"),
    ("Elaine Moura", "podio", "5541987650004"),
    ("Fábio Teixeira", "free", ""),
    ("Gabriela Antunes", "pro", "5551987650006"),
    ("Heitor Salles", "vip", ""),
    ("Isabela Rocha", "piloto_pro", "5571987650008"),
    ("João Pedro Almeida", "free", ""),
    ("Karina Duarte", "pro", "5581987650010"),
    ("Leandro Bastos", "pro", ""),
    ("Marina Queiroz", "vip", "5585987650012"),
    ("Nelson Figueira", "free", ""),
    ("Olívia Campos", "pro", "5561987650014"),
    ("Paulo Henrique Vieira", "pro", ""),
    ("Quitéria Brandão", "free", ""),
    ("Renata Lacerda", "vip", "5519987650017"),
    ("Sérgio Peixoto", "pro", "5519987650018"),
    ("Tatiane Guimarães", "piloto_pro", ""),
    ("Ulisses Farias", "free", ""),
    ("Vanessa Torres", "pro", "5527987650021"),
    ("Wagner Pacheco", "vip", ""),
    ("Yasmin Cordeiro", "pro", "5547987650023"),
    ("Zélia Fonseca", "free", ""),
];

/// Index of each student who is suspended, and the reason.
const SUSPENDED: [(usize, &str); 2] =
    [(10, "Pediu reembolso"), (19, "Conta usada por outra pessoa")];

/// Events of the checkout platform: event, e-mail, name, how many days ago.
const PURCHASES: [(&str, &str, &str, i64); 14] = [
    ("PURCHASE_APPROVED", "aluno1@exemplo.com", "Bruno Cardoso", 38),
    ("PURCHASE_APPROVED", "aluno3@exemplo.com", "Daniel Prates", 33),
    ("PURCHASE_DELAYED", "aluno3@exemplo.com", "Daniel Prates", 2),
    ("PURCHASE_APPROVED", "aluno14@exemplo.com", "Olívia Campos", 34),
    ("PURCHASE_DELAYED", "aluno14@exemplo.com", "Olívia Campos", 3),
    ("PURCHASE_APPROVED", "aluno6@exemplo.com", "Gabriela Antunes", 20),
    ("PURCHASE_APPROVED", "aluno10@exemplo.com", "Karina Duarte", 12),
    ("PURCHASE_APPROVED", "aluno18@exemplo.com", "Sérgio Peixoto", 6),
    ("PURCHASE_APPROVED", "aluno21@exemplo.com", "Vanessa Torres", 3),
    ("SUBSCRIPTION_CANCELLATION", "aluno18@exemplo.com", "Sérgio Peixoto", 1),
    ("PURCHASE_PROTEST", "aluno6@exemplo.com", "Gabriela Antunes", 1),
    ("PURCHASE_BILLET_PRINTED", "mirela@exemplo.com", "Mirela Góes", 1),
    ("PURCHASE_APPROVED", "mirela@exemplo.com", "Mirela Góes", 0),
    ("PURCHASE_OUT_OF_SHOPPING_CART", "visita@exemplo.com", "Visitante", 0),
];

/// Name and scopes of each key.
const KEYS: [(&str, &[&str]); 1] = [("Assistente do site", &["webhook_receive"])];

/// A signed-in operator, as whom the demonstration sends forms.
pub struct Operator<'a> {
    pub agent: &'a ureq::Agent,
    pub base: &'a str,
    pub cookie: &'a str,
    pub checkout_token: &'a str,
    pub now: Instant,
}

impl Operator<'_> {
    /// Sends a form's fields and returns the answer.
    pub fn send(&self, path: &str, fields: &Value) -> anyhow::Result<Value> {
        let mut answer = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("cookie", self.cookie)
            .send_json(fields)?;
        let said: Value = answer.body_mut().read_json()?;
        if said["ok"] != true {
            bail!("the demonstration's data was refused at {path}: {said}");
        }
        Ok(said)
    }

    /// The same, for something that gets an id.
    fn make(&self, path: &str, fields: &Value) -> anyhow::Result<String> {
        let made = self.send(path, fields)?;
        Ok(made["id"].as_str().unwrap_or_default().to_owned())
    }
}

/// Enters everything.
pub fn enter(operator: &Operator<'_>) -> anyhow::Result<()> {
    people(operator)?;
    purchases(operator)?;
    announcements(operator)?;
    for (name, scopes) in KEYS {
        operator.make("/admin/chaves", &json!({ "nome": name, "escopos": scopes }))?;
    }
    Ok(())
}

fn people(operator: &Operator<'_>) -> anyhow::Result<()> {
    let mut ids = Vec::new();
    for (number, (name, role, chat)) in (1..).zip(STUDENTS) {
        let student = json!({
            "nome": name, "email": format!("aluno{number}@exemplo.com"), "plano": role, "chat_number": chat,
        });
        ids.push(operator.make("/admin/alunos", &student)?);
    }
    for (index, reason) in SUSPENDED {
        let path = format!("/admin/alunos/{}/suspender", ids[index]);
        operator.send(&path, &json!({ "motivo": reason }))?;
    }
    Ok(())
}

/// Title, text, plans and days ahead of each announcement, and whether it is sent.
const ANNOUNCEMENTS: [(&str, &str, &[&str], i64, bool); 4] = [
    (
        "Aula nova: precificação sem susto",
        "A aula nova já está no curso.\n\nEla mostra, passo a passo, como o preço paga comissão, frete e imposto, e quanto sobra.",
        &[],
        0,
        true,
    ),
    (
        "Mentoria do VIP muda de dia",
        "A partir da próxima semana a mentoria do VIP é às quintas, às 20h.\n\nO link continua o mesmo.",
        &["vip", "podio"],
        0,
        true,
    ),
    (
        "Black Friday: o que preparar",
        "Confira estoque, etiquetas e prazos de envio até quinta.",
        &[],
        2,
        true,
    ),
    ("Recesso de fim de ano", "De 24/12 a 2/1 respondemos com mais calma.", &[], 0, false),
];

fn announcements(operator: &Operator<'_>) -> anyhow::Result<()> {
    for (title, text, plans, days, is_sent) in ANNOUNCEMENTS {
        let at = (days > 0).then(|| operator.now.plus(days * DAY_S).rfc3339().replace('Z', ""));
        let entry = json!({ "titulo": title, "texto": text, "planos": plans, "enviar_em": at });
        let id = operator.make("/admin/comunicados", &entry)?;
        if is_sent {
            operator.send(&format!("/admin/comunicados/{id}/enviar"), &json!({}))?;
        }
    }
    Ok(())
}

fn purchases(operator: &Operator<'_>) -> anyhow::Result<()> {
    for (number, (event, email, name, days)) in (1..).zip(PURCHASES) {
        let at = operator.now.minus(days * DAY_S);
        let said = json!({
            "id": format!("demo-{number}"), "creation_date": at.0 * 1000, "event": event,
            "version": "2.0.0", "hottok": operator.checkout_token,
            "data": {
                "product": { "id": 77_001, "name": "Plano Pro" },
                "buyer": { "email": email, "name": name },
                "purchase": {
                    "transaction": format!("HP{}", 4_100 + number),
                    "price": { "value": 197.0, "currency_value": "BRL" },
                    "date_next_charge": at.plus(30 * DAY_S).0 * 1000,
                },
                "subscription": { "subscriber": { "code": format!("S-{email}") } },
            },
        });
        let answer = operator
            .agent
            .post(format!("{}/api/v1/webhook/checkout", operator.base))
            .send_json(said)?;
        if !answer.status().is_success() {
            bail!("the demonstration's purchase {number} was refused: {}", answer.status());
        }
    }
    Ok(())
}
