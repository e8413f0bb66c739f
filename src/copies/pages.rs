//! The copies in the operator's panel: list, a copy at once, download, a restore
//! that is only tried.

use std::fs::File;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::drill::{Drill, Found};
use super::views::{CopiesPage, DrillPart};
use super::{CopiesStatus, Doing, PATH};
use crate::accounts::confirm;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::text::from_hex;
use crate::base::{Instant, Zone, grouped};
use crate::db::BackupCopy;
use crate::http::body::Pieces;
use crate::http::{Check, Field, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::view::size;
use crate::panel::{Answer, Flash, Notice, PageTime, Progress, Sent, Tone, When, flashes, form};
use crate::services::Services;

/// Media type of a SQLite file.
pub const MEDIA: &str = "application/vnd.sqlite3";
/// The SHA-256 of what is sent (RFC 9530).
const DIGEST: HeaderName = HeaderName::from_static("repr-digest");
/// Seconds until the page looks again while something is being done.
const REFRESH: HeaderValue = HeaderValue::from_static("2");
/// Where the checklist stands, which asks for the first copy.
const HOME: &str = "/admin";

const FLASHES: &[Flash] = flashes! {
    "copiando": good "Cópia pedida", "Ela aparece na lista assim que for conferida.";
    "ensaiando": good "Ensaio pedido", "O resultado aparece aqui em instantes.";
    "ocupado": warn "Isso já está em andamento", "Espere terminar e peça de novo.";
    "sumiu": warn "Essa cópia não existe mais", "A lista abaixo é a de agora.";
    "enviando": warn "Outra cópia está sendo enviada", "Espere terminar e baixe de novo.";
    "sem-pasta": warn "Não há pasta para as cópias",
        "Configure database.backup_dir e reinicie o serviço.";
};

crate::wire! {
    #[derive(Serialize)]
    struct WireCopy of(copy: &BackupCopy, zone: Zone) {
        arquivo: String = copy.name(),
        bytes: u64 = copy.bytes,
        feita_em: Option<String> = copy.made_at().map(|at| zone.spaced(at)),
        conferida_em: Option<String> = copy.checked_at().map(|at| zone.spaced(at)),
        esquema: Option<i64> = copy.schema(),
        sha256: Option<String> = copy.manifest().map(|manifest| manifest.sha256.clone()),
        boa: bool = copy.manifest().is_some() && copy.known_fault().is_none(),
        do_futuro: bool = copy.is_from_future(),
        defeito: Option<String> = copy.known_fault(),
    }
}

/// `GET /admin/copias`: as page or JSON.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let seen = app.health.copies.status(app)?;
    if request.wants_json() {
        return json(app, &seen, request);
    }
    let (now, doing) = (request.now, app.health.copies.doing());
    let when = |at: Instant| When::new(app.zone(), at, now);
    let folder = app.config.database.backup_dir.as_deref();
    let page = CopiesPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        attention: attention(app, &seen, now),
        progress: doing.map(|doing| progress(doing, app.health.copies.progress.percent())),
        folder: folder.map_or_else(String::new, |folder| folder.display().to_string()),
        rule: rule(app),
        next: next_words(app, &seen, now),
        checked: Some(seen.last_verified()).filter(|at| *at > Instant(0)).map(when),
        bytes: size(seen.bytes()),
        time: PageTime { zone: app.zone(), now },
        drill: app.health.copies.drill().map(|drill| drill_part(drill, &when)),
        copies: seen.copies,
    };
    let reply = Reply::page(&page)?;
    Ok(if doing.is_some() {
        reply.with(HeaderName::from_static("refresh"), REFRESH)
    } else {
        reply
    })
}

fn json(app: &App, seen: &CopiesStatus, request: &Request) -> Result<Reply, Problem> {
    let spaced = |at: Option<Instant>| at.map(|at| app.zone().spaced(at));
    let database = &app.config.database;
    let verified = Some(seen.last_verified()).filter(|at| *at > Instant(0));
    let drill = app.health.copies.drill().map(|drill| wire_drill(app, &drill));
    Reply::json(&json!({
        "ok": true,
        "pasta": database.backup_dir.as_ref().map(|folder| folder.display().to_string()),
        "a_cada_h": database.backup_every_h,
        "guardar": database.backup_keep,
        "proxima_em": spaced(seen.next_due(request.now)),
        "ultima_conferencia_em": spaced(verified),
        "em_andamento": app.health.copies.doing().map(|doing| json!({
            "o_que": word(doing),
            "percentual": (doing == Doing::Copying).then(|| app.health.copies.progress.percent()),
        })),
        "falha": seen.failure.as_ref().map(|failure| json!({
            "em": app.zone().spaced(Instant(failure.at)),
            "titulo": failure.title,
            "detalhe": failure.detail,
        })),
        "ensaio": drill,
        "total": seen.copies.len(),
        "dados": seen.copies.iter().map(|copy| WireCopy::of(copy, app.zone())).collect::<Vec<_>>(),
    }))
}

fn wire_drill(services: &Services, drill: &Drill) -> Value {
    let (found, error) = (drill.outcome.as_ref().ok(), drill.outcome.as_ref().err());
    json!({
        "arquivo": drill.file,
        "em": services.zone().spaced(drill.at),
        "ms": drill.ms,
        "restaurada": error.is_none(),
        "erro": error,
        "esquema": found.map(|found| found.schema),
        "tabelas": found.map(|found| found.tables),
        "linhas": found.map(|found| found.rows),
        "mudaram": found.map(|found| found.changed.iter().map(|one| json!({
            "tabela": one.table, "na_copia": one.then, "agora": one.now,
        })).collect::<Vec<_>>()),
    })
}

const fn word(doing: Doing) -> &'static str {
    match doing {
        Doing::Copying => "copia",
        Doing::Checking => "conferencia",
        Doing::Drilling => "ensaio",
    }
}

/// What is being done, with how far it is.
pub fn progress(doing: Doing, percent: u64) -> Progress {
    match doing {
        // The checks take about as long as the copying.
        Doing::Copying if percent >= 100 => {
            Progress::new("Conferindo a cópia", 75, 100, "Integridade e referências.")
        }
        Doing::Copying => {
            Progress::new("Copiando o banco", percent / 2, 100, "O serviço continua atendendo.")
        }
        Doing::Checking => Progress::new("Abrindo a cópia mais nova", 50, 100, ""),
        Doing::Drilling => Progress::new(
            "Ensaiando a restauração",
            50,
            100,
            "A cópia é restaurada ao lado, comparada e removida.",
        ),
    }
}

/// What the page says first, when something needs somebody.
fn attention(services: &Services, seen: &CopiesStatus, now: Instant) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !seen.has_folder {
        notices.push(Notice::new(
            Tone::Warn,
            "Nenhuma cópia é feita",
            "database.backup_dir está vazio. Remova essa linha da configuração e reinicie o serviço.",
        ));
    } else if seen.every_s.is_none() {
        notices.push(Notice::new(
            Tone::Warn,
            "As cópias automáticas estão desligadas",
            "database.backup_every_h é 0. Remova essa linha da configuração e reinicie o serviço.",
        ));
    }
    if let Some(failure) = &seen.failure {
        let title = format!("{} ({})", failure.title, services.zone().page(Instant(failure.at)));
        notices.push(Notice::new(Tone::Bad, title, failure.detail.clone()));
    }
    if seen.is_late(now) {
        notices.push(Notice::new(
            Tone::Bad,
            "A cópia está em atraso",
            "Há mais de dois intervalos não há cópia boa. Veja o log do servidor.",
        ));
    }
    notices
}

fn rule(services: &Services) -> String {
    let database = &services.config.database;
    let kept = match database.backup_keep {
        1 => "só a mais nova fica".to_owned(),
        keep => format!("as {keep} mais novas ficam"),
    };
    match database.backup_every_h {
        0 => "Só quando pedida".to_owned(),
        1 => format!("A cada hora; {kept}"),
        hours => format!("A cada {hours} h; {kept}"),
    }
}

fn next_words(services: &Services, seen: &CopiesStatus, now: Instant) -> String {
    match seen.next_due(now) {
        None => "Nenhuma prevista".to_owned(),
        Some(due) if due <= now => "Agora".to_owned(),
        Some(due) => services.zone().page(due),
    }
}

fn drill_part(drill: Drill, when: &dyn Fn(Instant) -> When) -> DrillPart {
    let (notice, found) = match drill.outcome {
        Ok(found) => (drill_words(&found, drill.ms), Some(found)),
        Err(error) => {
            let text = format!("Esta cópia não serve para restaurar. O motivo: {error}.");
            (Notice::new(Tone::Bad, "O ensaio falhou", text), None)
        }
    };
    let (changed, more) = found.map_or_else(Default::default, |found| (found.changed, found.more));
    DrillPart {
        file: drill.file,
        at: when(drill.at),
        notice,
        changed: changed
            .into_iter()
            .map(|one| (one.table, grouped(one.then), grouped(one.now)))
            .collect(),
        more: match more {
            0 => String::new(),
            1 => "e mais 1 tabela".to_owned(),
            more => format!("e mais {more} tabelas"),
        },
    }
}

fn drill_words(found: &Found, ms: u64) -> Notice {
    let said = if found.has_manifest { ", como diz o manifesto" } else { "" };
    let since = match found.changed.len() + found.more {
        0 => "O banco de agora tem as mesmas contagens.".to_owned(),
        1 => "Desde então, 1 tabela mudou de tamanho.".to_owned(),
        many => format!("Desde então, {many} tabelas mudaram de tamanho."),
    };
    let text = format!(
        "Levou {},{} s. A cópia restaurada abriu e tem {} linhas em {} tabelas{said}. {since} O que foi restaurado já foi removido.",
        ms / 1_000,
        ms % 1_000 / 100,
        grouped(found.rows),
        found.tables
    );
    Notice::new(Tone::Good, "O ensaio deu certo", text)
}

fn note(
    services: &Services,
    actor: Actor,
    action: &'static str,
    name: String,
) -> Result<(), Problem> {
    Ok(services.db.write(move |tx| {
        let act = Act { action, object: "backup", object_id: String::new(), object_name: &name };
        audit::note(tx, &actor, &act, (), ())
    })?)
}

fn busy() -> Problem {
    Problem::conflict(ForPeople("Isso já está em andamento."))
}

/// `POST /admin/copias/copiar`: a copy at once, in the background. Asked for by the
/// checklist, it leads back there.
pub fn copy_now(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let answer = Answer::to(request);
    if app.config.database.backup_dir.is_none() {
        let problem = Problem::conflict(ForPeople(
            "Falta dizer em que pasta as cópias ficam (database.backup_dir).",
        ));
        return answer.refused(problem, PATH, "sem-pasta");
    }
    note(app, Actor::person(person, request), "backup.copiar", String::new())?;
    if !app.health.copies.ask_copy() {
        return answer.refused(busy(), PATH, "ocupado");
    }
    let from_home = form::all_sent(request, "volta").any(|to| to == "inicio");
    answer.with(if from_home { HOME } else { PATH }, "copiando", &[])
}

/// `POST /admin/copias/ensaiar`: tries a restore of a copy, in the background.
pub fn drill(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let name: String = sent.optional("arquivo").unwrap_or_default();
    sent.finish()?;
    let answer = Answer::to(request);
    if find(app, &name)?.is_none() {
        return answer.refused(Problem::not_found(), PATH, "sumiu");
    }
    note(app, Actor::person(person, request), "backup.ensaiar", name.clone())?;
    if !app.health.copies.ask_drill(name) {
        return answer.refused(busy(), PATH, "ocupado");
    }
    answer.with(PATH, "ensaiando", &[])
}

/// A copy in the list, by its name. Other files are not found, whatever the name.
fn find(app: &App, name: &str) -> Result<Option<BackupCopy>, Problem> {
    Ok(app.health.copies.status(app)?.copies.into_iter().find(|copy| copy.name() == name))
}

#[derive(Deserialize)]
struct DownloadQuery {
    #[serde(default)]
    arquivo: Field<String>,
}

/// `GET /admin/copias/baixar`: a copy as a file, once the password was given again.
pub fn download(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query: DownloadQuery = request.query()?;
    let name = Check::text().optional("arquivo", query.arquivo).unwrap_or_default();
    let answer = Answer::to(request);
    let Some(copy) = find(app, &name)? else {
        return answer.refused(Problem::not_found(), PATH, "sumiu");
    };
    let here = format!("{PATH}/baixar?arquivo={}", utf8_percent_encode(&name, NON_ALPHANUMERIC));
    if let Some(asked) = confirm::ask((app, person, request), &here)? {
        return Ok(asked);
    }
    let Ok(turn) = Arc::clone(&app.health.copying).try_acquire_owned() else {
        return answer.refused(busy(), PATH, "enviando");
    };
    let file = File::open(&copy.path).map_err(Problem::internal)?;
    let bytes = file.metadata().map_err(Problem::internal)?.len();
    note(app, Actor::person(person, request), "backup.baixar", name)?;
    let header = |text: String| HeaderValue::try_from(text).map_err(Problem::internal);
    let named = header(format!("attachment; filename=\"{}\"", copy.name().replace('"', "_")))?;
    let body = Pieces::of_file(file, bytes, turn);
    let reply =
        Reply::pieces(HeaderValue::from_static(MEDIA), body).with(CONTENT_DISPOSITION, named);
    let sha256 = copy.manifest().and_then(|manifest| from_hex(&manifest.sha256));
    Ok(match sha256 {
        Some(sha256) => {
            reply.with(DIGEST, header(format!("sha-256=:{}:", STANDARD.encode(sha256)))?)
        }
        None => reply,
    })
}
