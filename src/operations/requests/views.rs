//! What the pages of the request log print.

use askama::Template;

use super::follow::Caused;
use super::pages::CALLERS;
use super::store::Logged;
use crate::audit::objects;
use crate::base::Zone;
use crate::panel::view::{Field, address};
use crate::panel::{Layout, PageTime, Table, Tone};

/// `GET /admin/requisicoes`: the requests, newest first.
#[derive(Template)]
#[template(path = "requests.html", config = "assets/askama.toml")]
pub struct RequestsPage {
    pub layout: Layout,
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    pub requests: Vec<Logged>,
    /// What the list does not contain, in a sentence.
    pub limits: String,
    pub time: PageTime,
}

/// `GET /admin/requisicoes/{id}`: one request.
#[derive(Template)]
#[template(path = "request.html", config = "assets/askama.toml")]
pub struct RequestPage {
    pub layout: Layout,
    pub row: Logged,
    pub trail: Trail,
}

/// `GET /admin/requisicoes/rastro`: all that is known of a request.
#[derive(Template)]
#[template(path = "request_follow.html", config = "assets/askama.toml")]
pub struct FollowPage {
    pub layout: Layout,
    /// The id that was asked for.
    pub asked: Field,
    pub is_asked: bool,
    pub requests: Vec<Logged>,
    pub trail: Trail,
}

/// What a request caused, as it is read at `now`.
pub struct Trail {
    pub caused: Caused,
    pub time: PageTime,
}

impl Trail {
    fn is_empty(&self) -> bool {
        let Caused { calls, messages, errors, acts } = &self.caused;
        calls.is_empty() && messages.is_empty() && errors.is_empty() && acts.is_empty()
    }
}

impl Logged {
    /// `GET /painel`.
    fn what(&self) -> String {
        format!("{} {}", self.method, self.path).trim().to_owned()
    }

    /// `Sessão`: how the caller was identified.
    fn by(&self) -> &'static str {
        let known = CALLERS.iter().find(|(kind, _)| *kind == self.caller);
        known.map_or("Anônimo", |(_, words)| words)
    }

    fn tone(&self) -> Tone {
        match self.status {
            500.. => Tone::Bad,
            400.. => Tone::Warn,
            300.. => Tone::Info,
            _ => Tone::Good,
        }
    }

    /// The time in a form such as `%H:%M:%S`.
    fn time(&self, zone: &Zone, form: &str) -> String {
        zone.civil(self.at).strftime(form).to_string()
    }

    /// The page of the caller; empty when there is none.
    fn caller_page(&self) -> String {
        let list = match (&*self.caller, self.role) {
            ("chave", _) => objects::KEY.list,
            (_, Some(role)) if role.is_student() => objects::STUDENT.list,
            (_, Some(_)) => objects::STAFF.list,
            _ => return String::new(),
        };
        self.caller_id.map_or_else(String::new, |id| format!("{list}/{id}"))
    }

    /// The audit log, filtered by the request id.
    fn audit(&self) -> String {
        address("/admin/auditoria", &[("q", &self.request_id)])
    }

    /// The status in plain words; empty for rare ones.
    const fn meaning(&self) -> &'static str {
        match self.status {
            200 => "Atendido",
            201 => "Criado",
            204 => "Atendido, sem conteúdo",
            302 | 303 => "Levou a outra página",
            304 => "Nada mudou desde a última vez",
            400 => "Requisição malformada ou inválida",
            401 => "Sem credencial, ou com uma que não vale",
            402 => "Sem plano de API ativo",
            403 => "Sem permissão",
            404 => "Não encontrado",
            405 => "O endereço não tem esse método",
            409 => "Em conflito com o que já existe",
            413 => "Grande demais",
            415 => "Tipo de conteúdo não aceito",
            422 => "Campos com erro",
            429 => "Requisições demais",
            500 => "Falha nossa; a causa está no log do servidor",
            502 => "O marketplace falhou",
            503 => "Indisponível no momento",
            _ => "",
        }
    }
}

/// `12,4 ms`, `3,1 s`: a duration in microseconds.
fn took(us: &i64) -> String {
    let (whole, unit) = if *us < 1_000_000 { (1_000, "ms") } else { (1_000_000, "s") };
    format!("{},{} {unit}", us / whole, us % whole * 10 / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (us, words) in [
            (0, "0,0 ms"),
            (87, "0,0 ms"),
            (1_250, "1,2 ms"),
            (999_999, "999,9 ms"),
            (3_140_000, "3,1 s"),
        ] {
            assert_eq!(took(&us), words);
        }
    }
}
