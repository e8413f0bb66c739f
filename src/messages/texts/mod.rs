//! The texts of messages.
//!
//! Each kind has a text of its own, with plain placeholders in braces and no
//! other logic, so a person who is not a programmer can edit it. Staff may
//! change a default text, preview it filled in, and reset it.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;
use serde_json::Value;

use crate::base::{Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::outbox::MessageKind;
use crate::outbox::kind::{MessageKindRow, Placeholder, may};

/// A text, with its placeholders or filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Template {
    /// Subject of an e-mail, title of a browser notification.
    #[serde(rename = "assunto")]
    pub subject: String,
    #[serde(rename = "texto")]
    pub body: String,
}

/// Longest subject and text that staff may write.
pub const LONGEST_SUBJECT: usize = 120;
pub const LONGEST_BODY: usize = 2_000;

/// Placeholders that every text may use.
const COMMON: [Placeholder; 4] = [
    may("primeiro_nome", "primeiro nome da pessoa"),
    may("nome", "nome completo da pessoa"),
    may("plataforma", "nome da plataforma"),
    may("endereco", "endereço da plataforma"),
];

/// Placeholders that the text of a kind may use.
pub fn placeholders(kind: MessageKind) -> Vec<Placeholder> {
    kind.row().placeholders.iter().chain(&COMMON).copied().collect()
}

/// What is wrong with a text that staff wrote, in words for staff.
pub fn fault(kind: MessageKind, text: &str, is_body: bool) -> Option<String> {
    let known = placeholders(kind);
    let unknown = named_in(text).find(|name| !known.iter().any(|one| one.name == *name));
    if let Some(name) = unknown {
        return Some(format!("{{{name}}} não existe aqui. Use só os campos da lista."));
    }
    let missing = known
        .iter()
        .find(|one| is_body && one.required && !named_in(text).any(|name| name == one.name));
    missing.map(|one| format!("Falta {{{}}}: sem ele a mensagem não serve.", one.name))
}

/// Words in braces.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let closed = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    closed.map(|(name, _)| name)
}

/// The text of a kind of message: the one that staff wrote, and when, else the
/// default.
pub fn of(tx: &ReadTx<'_>, kind: MessageKind) -> Result<(Template, Option<Instant>)> {
    let changed = store::changed(tx, kind)?;
    Ok(changed.map_or_else(|| (shipped(kind), None), |(template, at)| (template, Some(at))))
}

/// The default text of a kind of message.
pub fn shipped(kind: MessageKind) -> Template {
    let MessageKindRow { subject, body, .. } = *kind.row();
    Template { subject: subject.to_owned(), body: body.to_owned() }
}

/// What fills the placeholders of a message.
pub struct Words<'w> {
    pub name: &'w str,
    pub platform: &'w str,
    pub address: &'w str,
    /// Address of a link, empty without one.
    pub link: &'w str,
    /// When the link expires, formatted for people.
    pub until: String,
    /// Parameters that were stored when the message was queued.
    pub params: &'w Value,
}

/// What a message says.
pub fn fill(template: &Template, words: &Words<'_>, zone: Zone) -> Template {
    let [subject, body] = [&template.subject, &template.body].map(|text| filled(text, words, zone));
    Template { subject, body }
}

/// A text with its placeholders replaced; unknown ones stay as they are.
fn filled(text: &str, words: &Words<'_>, zone: Zone) -> String {
    let mut filled = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if let Some(value) = value(name, words, zone) => {
                match name {
                    "corpo" => filled.extend(value.chars().map(|letter| plain(letter, "\n"))),
                    _ => filled.extend(value.chars().map(|letter| plain(letter, ""))),
                }
                rest = after;
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn value(name: &str, words: &Words<'_>, zone: Zone) -> Option<String> {
    let day = |name: &str| {
        let at = words.params[name].as_i64().map(Instant);
        at.map(|at| zone.civil(at).strftime("%d/%m/%Y").to_string())
    };
    let param = |name: &str| words.params[name].as_str().unwrap_or_default().to_owned();
    Some(match name {
        "nome" => words.name.to_owned(),
        "primeiro_nome" => words.name.split(' ').next().unwrap_or_default().to_owned(),
        "plataforma" => words.platform.to_owned(),
        "endereco" => words.address.to_owned(),
        "link" => words.link.to_owned(),
        "validade" => words.until.clone(),
        "pago_ate" => day("paid_until").unwrap_or_else(|| "hoje".to_owned()),
        "dias" => words.params["grace_days"].as_i64().unwrap_or_default().to_string(),
        "encontro" | "titulo" => param("title"),
        "detalhe" => param("detail"),
        "corpo" => param("body"),
        "pergunta" => param("question"),
        "anuncio" => param("listing"),
        "produto" => param("product"),
        "saldo" => param("left"),
        "loja" => param("store"),
        "pagina" => param("page"),
        "fornecedor" => param("supplier"),
        "valor" => param("amount"),
        "pedidos" => param("what"),
        "webhook" => param("url"),
        "inicio" => {
            let at = words.params["starts_at"].as_i64().map(Instant);
            at.map(|at| zone.page(at)).unwrap_or_default()
        }
        "ausencia" => days(words.params["days"].as_i64().unwrap_or_default()),
        "sequencia" => match words.params["streak"].as_i64().unwrap_or_default() {
            0 => "começa hoje".to_owned(),
            streak => days(streak),
        },
        _ => return None,
    })
}

fn days(count: i64) -> String {
    if count == 1 { "1 dia".to_owned() } else { format!("{count} dias") }
}

/// Replaces control characters, unless `allowed`, and characters that change
/// the direction of text. So a value from a person cannot begin a new line or
/// reverse the text after it.
fn plain(letter: char, allowed: &str) -> char {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || letter.is_control() && !allowed.contains(letter) { ' ' } else { letter }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ZONE: Zone = Zone::SAO_PAULO;

    #[test]
    fn every_text_fills_all_its_placeholders() {
        let params = json!({ "paid_until": 1_795_176_000, "grace_days": 7 });
        for kind in MessageKind::ALL {
            let words = Words {
                name: "Ana\r\nda Silva",
                platform: "Escola",
                address: "https://escola.example",
                link: "https://escola.example/senha?codigo=1",
                until: "27/11/2026".to_owned(),
                params: &params,
            };
            let Template { subject, body: text } = fill(&shipped(kind), &words, ZONE);
            assert!(!subject.contains(['{', '}', '\r', '\n']), "{subject}");
            assert!(!text.contains(['{', '}', '\r']), "{text}");
            // A partner's text gets no greeting.
            let greets = kind != MessageKind::PartnerNotice;
            assert_eq!(text.starts_with("Olá, Ana"), greets, "{text}");
            assert!(shipped(kind).body.contains('{'));
        }
    }

    fn words(params: &Value) -> Words<'_> {
        Words {
            name: "Ana",
            platform: "Escola",
            address: "https://escola.example",
            link: "segredo",
            until: String::new(),
            params,
        }
    }

    #[test]
    fn what_a_stranger_wrote_stays_in_its_line_and_fills_nothing() {
        let params = json!({
            "question": "Tem {link}?\r\nResponda aqui: \u{202e}moc.live", "listing": "{nome}",
            "store": "LOJA", "page": "/painel/perguntas/1",
        });
        let words = words(&params);
        let Template { subject, body: text } = fill(&shipped(MessageKind::Question), &words, ZONE);
        assert_eq!(subject, "Nova pergunta: {nome}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2..],
            [
                "“Tem {link}?  Responda aqui:  moc.live”",
                "",
                "Responda aqui: https://escola.example/painel/perguntas/1",
            ]
        );
    }

    #[test]
    fn a_partner_writes_lines_and_fills_nothing() {
        let params = json!({ "title": "{link}\nfim", "body": "Um\nDois \u{202e}{nome}\r" });
        let words = words(&params);
        let Template { subject, body: text } =
            fill(&shipped(MessageKind::PartnerNotice), &words, ZONE);
        assert_eq!(subject, "{link} fim");
        assert_eq!(text, "{link} fim\n\nUm\nDois  {nome} ");
    }

    #[test]
    fn texts_that_ship_name_what_there_is() {
        for kind in MessageKind::ALL {
            let Template { subject, body } = shipped(kind);
            assert_eq!(fault(kind, &subject, false), None, "{kind:?}");
            assert_eq!(fault(kind, &body, true), None, "{kind:?}");
            assert!(subject.chars().count() <= LONGEST_SUBJECT);
            assert!(body.chars().count() <= LONGEST_BODY);
        }
    }

    #[test]
    fn a_text_without_its_link_or_with_a_word_that_is_none_is_refused() {
        let kind = MessageKind::Welcome;
        assert!(fault(kind, "Olá, {nome}", true).is_some_and(|said| said.contains("{link}")));
        assert!(
            fault(kind, "{link} {encontro}", true).is_some_and(|said| said.contains("{encontro}"))
        );
        assert_eq!(
            fault(kind, "Abra {link}. Chave solta: { e }", true),
            Some("{ e } não existe aqui. Use só os campos da lista.".to_owned())
        );
        assert_eq!(fault(kind, "Abra {link} {", true), None);
        assert_eq!(fault(kind, "Bem-vinda, {nome}", false), None);
    }
}
