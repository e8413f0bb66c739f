//! What acts on students tell the next page: how many they changed, and how that is
//! taken back. Undoing reads the entries of the audit log that the act wrote, so nothing
//! else is kept for it. Decision accounts-29.

use super::pages::bulk::Act;
use crate::base::{UserId, grouped};
use crate::http::Request;
use crate::panel::{Flash, Layout, Notice, Tone, address};

/// Where undoing is sent.
const UNDO: &str = "/admin/alunos/desfazer";

/// The page that an act comes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back {
    Home,
    Person(UserId),
    /// The list with its query.
    List(String),
}

impl Back {
    /// By the text of the form: `inicio`, the number of a person, or the query of the list.
    pub fn of(text: &str) -> Self {
        match text {
            "inicio" => Self::Home,
            text => match text.parse() {
                Ok(id) if id > 0 => Self::Person(UserId(id)),
                _ => Self::List(text.to_owned()),
            },
        }
    }

    /// As the form says it.
    pub fn text(&self) -> String {
        match self {
            Self::Home => "inicio".to_owned(),
            Self::Person(id) => id.to_string(),
            Self::List(query) => query.clone(),
        }
    }

    /// The page that this is.
    fn here(request: &Request) -> Self {
        match request.path() {
            "/admin" => Self::Home,
            path => match path.rsplit('/').next().and_then(|last| last.parse().ok()) {
                Some(id) => Self::Person(UserId(id)),
                None => Self::List(request.query_text().to_owned()),
            },
        }
    }

    /// Its address. A query is read and written anew, so that it leads nowhere else.
    pub fn page(&self) -> String {
        match self {
            Self::Home => "/admin".to_owned(),
            Self::Person(id) => format!("/admin/alunos/{id}"),
            Self::List(query) => {
                let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
                let pairs: Vec<(&str, &str)> =
                    pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
                address("/admin/alunos", &pairs)
            }
        }
    }
}

/// An act that was done, with the first and the last entry of the audit log that it wrote.
pub struct Told {
    pub act: Act,
    pub people: usize,
    pub entries: (i64, i64),
}

impl Told {
    /// The word that the next page turns into a notice.
    pub fn word(&self) -> String {
        let (first, last) = self.entries;
        format!("feito:{}:{}:{first}:{last}", self.act.name(), self.people)
    }

    fn of(word: &str) -> Option<Self> {
        let mut parts = word.strip_prefix("feito:")?.split(':');
        let act = Act::from_name(parts.next()?)?;
        let people = parts.next()?.parse().ok()?;
        let entries = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Self { act, people, entries })
    }

    fn notice(&self, back: &Back) -> Notice {
        if self.people == 0 {
            let text = "Quem foi marcado já estava assim, ou não pode receber isso.";
            return Notice::new(Tone::Info, "Nada mudou", text);
        }
        let several = grouped(self.people as u64);
        let of = |one: &str, many: &str| match self.people {
            1 => one.to_owned(),
            _ => many.replace('#', &several),
        };
        let (title, text) = match self.act {
            Act::Suspend => (
                of("Acesso de 1 aluno suspenso", "Acesso de # alunos suspenso"),
                "Desfazer devolve o acesso; as sessões e as mensagens que esperavam não voltam.",
            ),
            Act::Plan => (of("Plano trocado", "Plano de # alunos trocado"), "Já vale."),
            Act::Grace => {
                (of("Prazo dado", "Prazo dado a # alunos"), "Conta como pago até o fim do prazo.")
            }
            Act::Message => (
                of("Mensagem enviada", "Mensagem enviada a # alunos"),
                "Está nos avisos da pessoa, e na fila dos canais que ela usa.",
            ),
        };
        let notice = Notice::new(Tone::Good, title, text);
        if self.act == Act::Message {
            return notice;
        }
        let (first, last) = self.entries;
        let fields =
            vec![("de", first.to_string()), ("ate", last.to_string()), ("volta", back.text())];
        notice.undone_by(UNDO, fields)
    }
}

/// The frame of a page with the notice about the last action, which may be one of these.
pub fn telling(layout: Layout, flashes: &[Flash], request: &Request) -> Layout {
    let told = request.notice.as_deref().and_then(Told::of);
    match told {
        Some(told) => layout.with_flash(Some(told.notice(&Back::here(request)))),
        None => layout.telling(flashes, request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_and_queries_lead_to_the_list_alone() {
        let told = Told { act: Act::Plan, people: 3, entries: (7, 9) };
        let read = Told::of(&told.word()).unwrap();
        assert_eq!((read.act, read.people, read.entries), (Act::Plan, 3, (7, 9)));
        assert!(Told::of("criado").is_none());
        for (text, page) in [
            ("inicio", "/admin"),
            ("7", "/admin/alunos/7"),
            ("", "/admin/alunos"),
            ("q=ana&pagina=2", "/admin/alunos?q=ana&pagina=2"),
            ("https://evil.example", "/admin/alunos"),
        ] {
            assert_eq!(
                Back::of(text).page().trim_end_matches("?https%3A%2F%2Fevil.example="),
                page
            );
        }
    }
}
