//! Who else is there in the demonstration: further students, a key.
//! It comes in as an operator would enter it, through the pages' own addresses.

use anyhow::bail;
use serde_json::{Value, json};

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

/// Who of them is suspended, and why.
const SUSPENDED: [(usize, &str); 2] = [
    (10, "Pediu reembolso"),
    (19, "Conta usada por outra pessoa"),
];

/// Name and scopes of each key.
const KEYS: [(&str, &[&str]); 1] = [("Assistente do site", &["webhook_receive"])];

/// An operator at a browser, as the demonstration plays one.
pub struct Operator<'a> {
    pub agent: &'a ureq::Agent,
    pub base: &'a str,
    pub cookie: &'a str,
}

impl Operator<'_> {
    /// Sends a form's fields and gives what was answered.
    fn send(&self, path: &str, fields: &Value) -> anyhow::Result<Value> {
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
