//! Reading the audit log: what was done, by whom, to what, and what it changed.
//!
//! Entries are written by `audit/mod.rs` and only ever added. This folder has
//! the words that people read, and a search by beginnings of words.

pub mod pages;
pub mod store;
pub mod views;

use serde_json::{Map, Value};

use crate::audit::{ActorKind, objects};
use crate::base::clock::{Day, Instant, Zone};
use crate::base::text::{capitalised, shortened};
use crate::row;

row! {
    /// An entry of the audit log.
    #[derive(Clone, Debug)]
    pub struct AuditEntry {
        pub id: i64 = "audit_id",
        pub at: Instant,
        /// As it is stored; see [`ActorKind`].
        pub actor_kind: String,
        pub actor_id: Option<i64>,
        pub actor_name: String,
        pub address: String,
        pub request_id: String,
        pub action: String,
        pub object_kind: String,
        pub object_id: String,
        pub object_name: String,
        /// JSON; `None` for something new.
        pub before: Option<String>,
        /// JSON; `None` for something removed.
        pub after: Option<String>,
    }
}

impl AuditEntry {
    /// `Suspender aluno`: what was done, in words.
    pub fn title(&self) -> String {
        let verb = self.action.split_once('.').map_or(&*self.action, |(_, verb)| verb);
        format!("{} {}", verb_words(verb), kind_words(&self.object_kind))
    }

    /// Who did it, in words.
    pub fn actor_words(&self) -> &'static str {
        ActorKind::from_name(&self.actor_kind).map_or("", ActorKind::words)
    }

    /// The page of the object; empty when there is none.
    pub fn object_page(&self) -> String {
        let list = match &*self.object_kind {
            "papel" => return "/admin/papeis".to_owned(),
            "tarefa" => return "/admin/cron".to_owned(),
            "backup" => return "/admin/copias".to_owned(),
            "canal" => return "/admin/diagnostico".to_owned(),
            kind => objects::ALL.iter().find(|one| one.name == kind).map_or("", |one| one.list),
        };
        // An object that was removed has no page any more.
        let is_gone = [".excluir", ".apagar_dados"].iter().any(|end| self.action.ends_with(end));
        if list.is_empty() || is_gone || self.object_id.is_empty() {
            return String::new();
        }
        format!("{list}/{}", self.object_id)
    }
}

fn kind_words(kind: &str) -> String {
    let known = objects::ALL.iter().find(|known| known.name == kind);
    let words = known.map_or_else(|| kind.replace('_', " "), |known| known.words.to_owned());
    // Only the first letter: other capitals may be intended.
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The words for an action. The name of an action that is not listed is shown
/// as it is, without underscores.
fn verb_words(verb: &str) -> String {
    let known = match verb {
        "link_de_senha" => "Enviar link de senha a",
        "trocar_plano" => "Trocar o plano de",
        "dar_prazo" => "Dar prazo a",
        "reembolso_parcial" => "Anotar reembolso parcial de",
        "mensagem" => "Enviar uma mensagem a",
        "desfazer" => "Desfazer o que foi feito a",
        "encerrar_sessoes" => "Encerrar sessões de",
        "permissoes" => "Mudar permissões de",
        "ver_como" => "Começar a ver como",
        "ver_como_fim" => "Parar de ver como",
        "ordenar" => "Mudar a ordem de",
        "senha" => "Trocar a senha de",
        "foto" => "Trocar a foto de",
        "foto_excluir" => "Excluir a foto de",
        "plano_de_api" => "Mudar o plano de API de",
        "trocar_segredo" => "Trocar o segredo de",
        "reenviar" => "Reenviar",
        "importar_produtos" => "Importar produtos de",
        "migrar" => "Criar os dados de",
        "recalcular" => "Conferir o XP de",
        "corrigir_xp" => "Corrigir o XP de",
        "conta" => "Incluir conta em",
        "retirar_conta" => "Retirar conta de",
        "sincronizar_todos" => "Sincronizar",
        "convite" => "Gerar um convite para",
        "convite_encerrar" => "Encerrar o convite de",
        "conta_entrou" => "Receber uma conta de",
        "conta_saiu" => "Deixar uma conta de",
        "token_de_parceiro" => "Criar um token de parceiro para",
        "consultar" => "Consultar",
        "consultar_lista" => "Consultar a lista de",
        "baixar" => "Baixar",
        "desfazer_impressao" => "Desfazer a impressão de",
        "baixar_lista" => "Baixar a lista de",
        "exportar_dados" => "Baixar todos os dados de",
        "apagar_dados" => "Apagar os dados de",
        "pagar" => "Anotar pagamento de",
        "desfazer_pagamento" => "Desfazer pagamento de",
        "copiar" => "Fazer",
        "ensaiar" => "Ensaiar a restauração de",
        _ => return spelled(&verb.replace('.', " ")),
    };
    known.to_owned()
}

/// A name with blanks instead of underscores, beginning with a capital.
fn spelled(name: &str) -> String {
    capitalised(&name.replace('_', " "))
}

/// Names of fields and their labels in the forms. A name is left out when it
/// differs from its label only in the capital letter.
const FIELDS: [(&str, &str); 48] = [
    ("anotacoes", "Anotações"),
    ("ativo", "Ativo"),
    ("ate", "Até"),
    ("atrasado_desde", "Pagamento em atraso desde"),
    ("beneficios", "Benefícios"),
    ("bio", "Sobre"),
    ("chat_number", "Número de chat"),
    ("codigos", "Códigos"),
    ("como", "Como terminou"),
    ("criado_em", "Cadastrado em"),
    ("criados", "Criados"),
    ("curso_id", "Curso"),
    ("data_hora", "Dia e hora"),
    ("descricao", "Descrição"),
    ("duracao_minutos", "Duração em minutos"),
    ("ean", "EAN"),
    ("em_disputa", "Em disputa"),
    ("em_disputa_desde", "Em disputa desde"),
    ("email", "E-mail"),
    ("escopos", "O que a chave pode fazer"),
    ("expira_em", "Vale até"),
    ("explicacao", "Explicação"),
    ("extensao", "Acessos da extensão"),
    ("ips", "Endereços permitidos"),
    ("limite", "Limite de chamadas"),
    ("linkedin", "LinkedIn"),
    ("link_checkout", "Link de compra"),
    ("ml_user_id", "Conta do marketplace"),
    ("nova", "Chave nova"),
    ("ordem", "Ordem"),
    ("pago_ate", "Pago até"),
    ("papeis", "Quem vê"),
    ("permissoes", "Permissões"),
    ("plano_de_api", "Plano de API"),
    ("preco", "Preço"),
    ("professor_id", "Professor"),
    ("publico", "Aberto ao público"),
    ("quem_via", "Quem via"),
    ("responsavel_id", "Responsável"),
    ("sem_mudanca", "Sem mudança"),
    ("sessoes", "Sessões"),
    ("sku", "SKU"),
    ("slug", "Endereço"),
    ("status", "Situação"),
    ("termina_em", "Termina em"),
    ("titulo", "Título"),
    ("video_url", "Endereço do vídeo"),
    ("youtube", "YouTube"),
];

fn field_words(name: &str) -> String {
    let known = FIELDS.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| spelled(name), |(_, words)| (*words).to_owned())
}

/// One field of what an entry changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub field: String,
    /// Empty when there was nothing.
    pub before: String,
    /// Empty when there is nothing now.
    pub after: String,
    pub differs: bool,
}

/// What an entry changed, field by field, changed ones first. What was empty and stayed
/// so is left out.
pub fn changes(entry: &AuditEntry, zone: Zone) -> Vec<Change> {
    let (before, after) = (fields(entry.before.as_deref()), fields(entry.after.as_deref()));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let mut changes: Vec<Change> = names
        .map(|name| {
            let text = |fields: &Map<String, Value>| {
                fields.get(name).map_or_else(String::new, |value| words(value, zone))
            };
            let (before, after) = (text(&before), text(&after));
            // What a student's role is called on every other page.
            let is_plan = name == "papel" && entry.object_kind == objects::STUDENT.name;
            let field = if is_plan { "Plano".to_owned() } else { field_words(name) };
            Change { field, differs: before != after, before, after }
        })
        .filter(|change: &Change| change.differs || !change.before.is_empty())
        .collect();
    changes.sort_by_key(|change| !change.differs);
    changes
}

/// How actions end that make or remove a whole object.
const WHOLE: [&str; 3] = [".criar", ".excluir", ".apagar_dados"];
/// Letters of a value in a line.
const SHORT: usize = 40;
/// Fields of a line.
const FEW: usize = 2;

/// `Plano: pro → vip · Nome: Ana → Ana Lima`: what an entry changed, in a line;
/// empty for something new or removed as a whole.
pub fn summary(entry: &AuditEntry, zone: Zone) -> String {
    if WHOLE.iter().any(|end| entry.action.ends_with(end)) {
        return String::new();
    }
    let changed: Vec<Change> = changes(entry, zone).into_iter().filter(|one| one.differs).collect();
    let more = changed.len().saturating_sub(FEW);
    let mut parts: Vec<String> = changed.iter().take(FEW).map(Change::line).collect();
    match more {
        0 => {}
        1 => parts.push("e mais um campo".to_owned()),
        more => parts.push(format!("e mais {more} campos")),
    }
    parts.join(" · ")
}

impl Change {
    /// `Plano: pro → vip`.
    fn line(&self) -> String {
        let short = |text: &str| {
            let text = text.replace('\n', ", ");
            let cut = shortened(&text, SHORT);
            if cut.len() < text.len() { format!("{}…", cut.trim_end()) } else { text }
        };
        match (short(&self.before), short(&self.after)) {
            (before, after) if before.is_empty() => format!("{}: {after}", self.field),
            (before, after) if after.is_empty() => format!("{}: {before} → vazio", self.field),
            (before, after) => format!("{}: {before} → {after}", self.field),
        }
    }
}

fn fields(json: Option<&str>) -> Map<String, Value> {
    match json.and_then(|json| serde_json::from_str(json).ok()) {
        Some(Value::Object(fields)) => fields,
        Some(Value::Null) | None => Map::new(),
        Some(other) => Map::from_iter([("valor".to_owned(), other)]),
    }
}

/// A value as people read it.
fn words(value: &Value, zone: Zone) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "sim".to_owned(),
        Value::Bool(false) => "não".to_owned(),
        Value::String(text) => dated(text, zone).unwrap_or_else(|| text.clone()),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => {
            items.iter().map(|item| words(item, zone)).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            let lines = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", field_words(name), words(value, zone)));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// A day or an instant as pages write it; `None` for other text.
fn dated(text: &str, zone: Zone) -> Option<String> {
    if let Some(day) = Day::parse(text) {
        return Some(day.date().strftime("%d/%m/%Y").to_string());
    }
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    Instant::parse(text).or_else(|| zone.read(text)).map(|at| zone.page(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(action: &str, object: &str, before: Option<&str>, after: Option<&str>) -> AuditEntry {
        AuditEntry {
            id: 1,
            at: Instant(0),
            actor_kind: "pessoa".to_owned(),
            actor_id: Some(1),
            actor_name: "Bia".to_owned(),
            address: String::new(),
            request_id: String::new(),
            action: action.to_owned(),
            object_kind: object.to_owned(),
            object_id: "7".to_owned(),
            object_name: "Ana".to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    fn zone() -> Zone {
        Zone::named("America/Sao_Paulo").unwrap()
    }

    #[test]
    fn actions_have_words_also_those_nobody_listed() {
        for (action, object, title) in [
            ("aluno.suspender", "aluno", "Suspender aluno"),
            ("chave.criar", "chave", "Criar chave"),
            ("aluno.link_de_senha", "aluno", "Enviar link de senha a aluno"),
            ("coisa.fazer_tudo", "outra_coisa", "Fazer tudo outra coisa"),
        ] {
            assert_eq!(entry(action, object, None, None).title(), title);
        }
    }

    #[test]
    fn changes_are_told_field_by_field() {
        let before = r#"{"nome":"Ana","tags":["a","b"],"ativo":true}"#;
        let after = r#"{"nome":"Ana","tags":["a"],"ativo":false,"novo":{"x":1}}"#;
        let told = changes(&entry("plano.alterar", "plano", Some(before), Some(after)), zone());
        let told: Vec<_> =
            told.iter().map(|one| (&*one.field, &*one.before, &*one.after, one.differs)).collect();
        assert_eq!(
            told,
            [
                ("Ativo", "sim", "não", true),
                ("Tags", "a\nb", "a", true),
                ("Novo", "", "X: 1", true),
                ("Nome", "Ana", "Ana", false),
            ]
        );
        let made = changes(&entry("plano.criar", "plano", None, Some(r#"{"nome":"Ana"}"#)), zone());
        assert_eq!(made.len(), 1);
        assert!(made[0].differs && made[0].before.is_empty());
        let line = summary(&entry("plano.alterar", "plano", Some(before), Some(after)), zone());
        assert_eq!(line, "Ativo: sim → não · Tags: a, b → a · e mais um campo");
        let role =
            entry("aluno.alterar", "aluno", Some(r#"{"plano":"pro"}"#), Some(r#"{"plano":"vip"}"#));
        assert_eq!(summary(&role, zone()), "Plano: pro → vip");
        assert_eq!(
            summary(&entry("plano.criar", "plano", None, Some(r#"{"nome":"Ana"}"#)), zone()),
            ""
        );
        let paid =
            |day: &str| Some(format!(r#"{{"pago_ate":{day},"ate":null,"dia":"2026-11-27"}}"#));
        let (before, after) = (paid("null"), paid(r#""2026-12-28T02:59:59Z""#));
        let given = entry("aluno.trocar_plano", "aluno", before.as_deref(), after.as_deref());
        assert_eq!(summary(&given, zone()), "Pago até: 27/12/2026 23:59");
        let told = changes(&given, zone());
        let told: Vec<_> = told.iter().map(|one| (&*one.field, &*one.after)).collect();
        assert_eq!(told, [("Pago até", "27/12/2026 23:59"), ("Dia", "27/11/2026")]);
        assert_eq!(changes(&entry("x.y", "x", None, None), zone()), []);
        assert_eq!(changes(&entry("x.y", "x", Some("7"), None), zone()).len(), 1);
    }
}
