//! What the service is: version, database, copies, clock and disks.

use rustix::process::getpid;

use super::Section;
use crate::app::App;
use crate::base::{Instant, grouped};
use crate::copies::CopiesStatus;
use crate::db::{FileKind, ReadTx, Result, Trouble, migrate};
use crate::operations::open_items::is_log_large;
use crate::operations::pages::{last_copy, replica};
use crate::operations::views::{Fact, fact};
use crate::operations::{disk, https, soundness, store};
use crate::panel::{Badge, view};
use crate::replica::epoch;
use crate::services::Services;
use crate::settings;

/// A clock may differ by this much from what wrote the newest row.
const SKEW_S: i64 = 300;

/// What is read from the database for these sections.
pub struct Read {
    pages: i64,
    free_pages: i64,
    page_size: i64,
    commits: i64,
    last_whole_check: Instant,
    upkeep: store::Upkeep,
}

/// Reads it.
pub fn read(tx: &ReadTx<'_>) -> Result<Read> {
    let number = |pragma: &str| tx.value::<i64>(&format!("SELECT * FROM pragma_{pragma}"), []);
    Ok(Read {
        pages: number("page_count")?,
        free_pages: number("freelist_count")?,
        page_size: number("page_size")?,
        commits: epoch::commits(tx)?.0,
        last_whole_check: settings::last_whole_check(tx)?,
        upkeep: store::upkeep(tx)?,
    })
}

/// The program and the machine.
pub fn program(app: &App, now: Instant) -> Section {
    let commit = env!("SELLER_PLATFORM_COMMIT").trim().trim_matches(['(', ')']);
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let linhas = vec![
        fact("Versão", env!("CARGO_PKG_VERSION")),
        fact("Commit", if commit.is_empty() { "desconhecido" } else { commit }),
        fact("No ar há", view::span(now.since(app.started_at)))
            .noted(format!("Desde {}", app.zone().page(app.started_at))),
        fact("Endereço público", &*app.server.addresses.base_url),
        fact("Processo", getpid().as_raw_nonzero().to_string())
            .noted(format!("{system}, SQLite {}", rusqlite::version())),
    ];
    Section { nome: "versao", titulo: "Versão", linhas }
}

/// The database and its log.
pub fn database(app: &App, read: &Read, now: Instant) -> Section {
    let bytes = std::fs::metadata(app.db.path()).map_or(0, |file| file.len());
    let log = app.db.wal_bytes();
    let free = view::size(u64::try_from(read.free_pages * read.page_size).unwrap_or(0));
    let linhas = vec![
        soundness_row(app),
        fact("Arquivo", app.db.path().display().to_string()),
        fact("Tamanho", view::size(bytes)).noted(format!(
            "{} páginas de {} bytes, {free} livres para reuso",
            grouped(read.pages),
            grouped(read.page_size)
        )),
        fact("Esquema", format!("versão {}", migrate::VERSION)),
        fact("Log de escrita", view::size(log))
            .noted(match app.db.since_checkpoint() {
                Some(ago) => format!("Último checkpoint há {}", span(ago.as_secs())),
                None => "Nenhum checkpoint desde o início".to_owned(),
            })
            .good_if(!is_log_large(&app.config, log)),
        fact("Gravações confirmadas", grouped(read.commits)),
        fact("Fila de escrita", grouped(app.db.queue_depth())),
        whole_check(app, read, now),
    ];
    Section { nome: "banco", titulo: "Banco de dados", linhas }
}

fn soundness_row(app: &App) -> Fact {
    let (value, note, state) = match (app.db.trouble(), soundness::outage(app)) {
        (Some(Trouble::Damaged(seen)), _) => ("Danificado", seen, Badge::Broken),
        (Some(Trouble::Superseded(by)), _) => ("Outro servidor assumiu", by, Badge::Broken),
        (Some(Trouble::Gone(kind)), _) => {
            let file = match kind {
                FileKind::Database => "o banco",
                FileKind::Log => "o log de escrita",
                FileKind::Lock => "o bloqueio",
                FileKind::Key => "a chave",
            };
            let note = format!("Sumiu ou foi trocado: {file}.");
            ("Falta um arquivo", note, Badge::Broken)
        }
        (None, Some(outage)) => ("Não grava", outage.dito, Badge::Broken),
        (None, None) if app.db.missing().is_some() => (
            "Podem faltar gravações",
            "Compare com a cópia mais nova; o log do servidor diz quantas.".to_owned(),
            Badge::Attention,
        ),
        (None, None) => ("Sem danos conhecidos", String::new(), Badge::Healthy),
    };
    fact("Integridade", value).noted(note).state(state)
}

fn whole_check(services: &Services, read: &Read, now: Instant) -> Fact {
    let last = read.last_whole_check;
    if last.0 == 0 {
        return fact("Verificação completa", "Ainda nenhuma").state(Badge::Pending);
    }
    let is_fresh = now.since(last) <= 2 * soundness::WHOLE_EVERY_S;
    fact("Verificação completa", services.zone().page(last)).good_if(is_fresh)
}

/// What keeps the data safe beside the file itself. A further means is a row more.
pub fn protection(app: &App, copies: &CopiesStatus, now: Instant) -> Section {
    let database = &app.config.database;
    let checked = match copies.last_verified() {
        Instant(0) => "Nenhuma ainda".to_owned(),
        at => app.zone().page(at),
    };
    let mut linhas = vec![
        last_copy(app, copies),
        fact("Última conferência", checked),
        fact("Tamanho das cópias", view::size(copies.bytes())),
    ];
    let folder = database.backup_dir.as_ref();
    linhas.extend(folder.map(|folder| fact("Pasta", folder.display().to_string())));
    linhas.extend(replica(app));
    linhas.extend(https::row(app, now));
    Section { nome: "copias", titulo: "Cópias e proteção", linhas }
}

/// The clock.
pub fn clock(services: &Services, read: &Read, now: Instant) -> Section {
    let ahead = read.upkeep.newest.since(now);
    let newest = if ahead > SKEW_S {
        fact("Linha mais nova", format!("{} à frente do relógio", span(ahead.unsigned_abs())))
            .noted("O relógio está errado agora, ou esteve antes. Veja timedatectl.")
            .state(Badge::Broken)
    } else if read.upkeep.newest.0 == 0 {
        fact("Linha mais nova", "Nenhuma ainda")
    } else {
        fact(
            "Linha mais nova",
            format!("há {}", span(now.since(read.upkeep.newest).max(0).unsigned_abs())),
        )
        .state(Badge::Healthy)
    };
    let civil = services.zone().civil(now).strftime("%d/%m/%Y %H:%M:%S").to_string();
    let linhas = vec![fact("Agora", civil), fact("Fuso horário", services.zone().name()), newest];
    Section { nome: "relogio", titulo: "Relógio", linhas }
}

/// The disks.
pub fn disks(services: &Services, read: &Read, copies: &CopiesStatus, now: Instant) -> Section {
    let bytes = std::fs::metadata(services.db.path()).map_or(0, |file| file.len());
    let linhas = disk::disks(services).into_iter().map(|disk| {
        let oldest = read.upkeep.oldest;
        let outlook = disk::outlook(now, oldest, bytes, disk.free, &copies.copies);
        let forecast = match (outlook.growth, outlook.days) {
            (Some((a_day, since)), Some(days)) if days < disk::MANY_DAYS => format!(
                "O banco cresceu {} por dia desde {}: dura {} dias.",
                view::size(a_day),
                services.zone().civil(since).strftime("%d/%m/%Y"),
                grouped(days)
            ),
            (Some(_), _) => "No ritmo de hoje dura mais de dez anos.".to_owned(),
            (None, _) => "Quanto dura se sabe depois de um dia.".to_owned(),
        };
        let title =
            if disk.name == "copies" { "Livre para as cópias" } else { "Livre para o banco" };
        let (free, total) = (view::size(disk.free), view::size(disk.total));
        fact(title, format!("{free} de {total}"))
            .noted(format!("{}. {forecast}", disk.folder.display()))
            .good_if(!outlook.is_little)
    });
    Section { nome: "disco", titulo: "Disco", linhas: linhas.collect() }
}

/// `12 s`, `4 min`, `3 h e 2 min`.
pub fn span(seconds: u64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        _ => view::span(i64::try_from(seconds).unwrap_or(i64::MAX)),
    }
}
