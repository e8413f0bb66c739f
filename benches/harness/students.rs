//! The operator's list of a hundred thousand students: every filter and search
//! within its limit, measured as the time of one request after the other.

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use rusqlite::{Transaction, params};
use sha2::{Digest as _, Sha256};

use crate::answer;
use crate::lab::{Lab, say};
use crate::people::Seller;
use crate::random::Random;
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, unix_now};
use crate::rounds::median;
use crate::seed;

const STUDENTS: i64 = 100_000;
/// The number of the administrator; no person of the seeded file has it.
const ADMINISTRATOR: i64 = 1;
/// The seller whose secrets make the administrator's session.
const SECRETS: Seller = Seller(-1);
/// Milliseconds that any list may take.
const LIMIT_MS: f64 = 30.0;

const FIRST: [&str; 12] = [
    "Ana",
    "João",
    "Maria",
    "José",
    "Antônio",
    "Márcia",
    "Patrícia",
    "Letícia",
    "Álvaro",
    "Ângela",
    "Zuleica",
    "Sebastião",
];
const LAST: [&str; 10] = [
    "Silva",
    "Santos",
    "Oliveira",
    "Souza",
    "Pereira",
    "Assunção",
    "Brandão",
    "Gonçalves",
    "Lima",
    "Araújo",
];
const MAIL: [&str; 4] = ["gmail.com", "gmail.com", "hotmail.com", "exemplo.com.br"];
const ROLES: [&str; 5] = ["free", "pro", "vip", "piloto_pro", "podio"];

/// Lists of one kind, with their queries; `pagina` is filled in where it names
/// the last page.
const LISTS: [(&str, &[&str]); 5] = [
    (
        "first page, any order",
        &[
            "",
            "ordem=-nome",
            "ordem=criado_em",
            "ordem=-criado_em",
            "ordem=ultimo_acesso",
            "ordem=-ultimo_acesso",
        ],
    ),
    (
        "filters",
        &[
            "plano=podio",
            "status=suspenso",
            "status=atrasado&ordem=-criado_em",
            "em_disputa=sim",
            "plano=podio&status=suspenso&em_disputa=sim",
            "plano=free&status=ativo&ordem=-ultimo_acesso",
            "status=suspenso&ordem=ultimo_acesso&pagina=90",
        ],
    ),
    (
        "searches that find few",
        &[
            "q=12345",
            "q=zuleica+brandao+99",
            "q=ninguem",
            "q=angela+goncalves+lima&status=suspenso",
            "q=ana.silva1",
            "q=zuleica&plano=podio",
        ],
    ),
    (
        "searches that find many",
        &[
            "q=silva",
            "q=gmail.com",
            "q=exemplo.com.br&ordem=-criado_em",
            "q=a",
            "q=zq",
            "q=ana&status=ativo",
            "q=silva+gmail&ordem=ultimo_acesso",
            "q=gmail&pagina=2000",
            "q=gmail&status=suspenso&em_disputa=sim",
        ],
    ),
    (
        "far pages",
        &[
            "pagina=5000",
            "ordem=-nome&pagina=5000",
            "ordem=ultimo_acesso&pagina=4000",
            "status=ativo&pagina=4500",
        ],
    ),
];

/// The slowest list of each kind, by the median of its rounds.
pub fn students(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    say(&format!("adding {STUDENTS} students"));
    fill(&copy.file)?;
    let server = lab.serve(&copy.file, &[])?;
    let head = format!("Cookie: sessao={}\r\nAccept: application/json\r\n", SECRETS.session());
    let mut figures = Vec::new();
    for (kind, lists) in LISTS {
        let (mut slowest, mut dearest) = (0.0_f64, 0.0_f64);
        for list in lists {
            let request = get_bytes(&format!("/admin/alunos?{list}"), None, &head);
            let (mut times, mut cpu) = (Vec::new(), 0.0);
            let rounds = lab.args.rounds.max(5);
            // The first request finds nothing in memory.
            for round in 0..=rounds {
                let (began, cpu_before) = (Instant::now(), server.cpu_seconds()?);
                let answer = answer::ask(server.address(), &request)?;
                let took = began.elapsed().as_secs_f64() * 1000.0;
                let json = answer.json(200)?;
                ensure!(json["total"].is_u64(), "{list}: no list");
                if round > 0 {
                    times.push(took);
                    cpu += server.cpu_seconds()? - cpu_before;
                }
            }
            slowest = slowest.max(median(times));
            dearest = dearest.max(cpu / f64::from(u32::try_from(rounds)?));
        }
        let mut figure = Figure::new("students", format!("ms, {kind}"), slowest);
        figure.cpu_us = Some(dearest * 1_000_000.0);
        figures.push(figure.target(Target::AtMost(LIMIT_MS)));
    }
    server.stop()?;
    Ok(figures)
}

/// Adds students of all plans and states, and an administrator who is signed in.
pub fn fill(file: &Path) -> anyhow::Result<()> {
    let mut connection = seed::open(file)?;
    let now = unix_now();
    let tx = connection.transaction()?;
    tx.execute(
        "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?, 'op@example.com', 'Operação', 'admin', ?)",
        params![ADMINISTRATOR, now],
    )?;
    let session = Sha256::digest(SECRETS.session());
    tx.execute(
        "INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
         VALUES (?, ?, ?, ?, '127.0.0.1', 'harness')",
        params![session.to_vec(), ADMINISTRATOR, now, now],
    )?;
    let mut random = Random::new(7);
    for number in 0..STUDENTS {
        student(&tx, number, now, &mut random)?;
    }
    // The server does this later, in the background.
    tx.execute_batch(
        "INSERT INTO person_search (rowid, search) SELECT user_id, search FROM user
         WHERE user_id IN (SELECT user_id FROM person_unsearched);
         DELETE FROM person_unsearched;",
    )?;
    tx.commit()?;
    // Folds the log in, so that the server finds what a clean stop leaves.
    connection.close().map_err(|(_, error)| error.into())
}

fn student(tx: &Transaction<'_>, number: i64, now: i64, random: &mut Random) -> anyhow::Result<()> {
    let first = FIRST[random.index(FIRST.len())];
    let (middle, last) = (LAST[random.index(LAST.len())], LAST[random.index(LAST.len())]);
    let ascii: String =
        format!("{first}.{last}").to_lowercase().chars().filter(char::is_ascii).collect();
    let email = format!("{ascii}{number}@{}", MAIL[random.index(MAIL.len())]);
    // The present time for one in `many`, else `None`.
    let mut one_in = |many: i64| (random.below(many) == 0).then_some(now);
    let (suspended, late, disputed) = (one_in(50), one_in(30), one_in(500));
    let seen = (random.below(10) > 0).then(|| now - random.below(100 * 86_400));
    tx.prepare_cached(
        "INSERT INTO user (email, name, role, created_at, last_access_at, suspended_at, late_since, disputed_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        email,
        format!("{first} {middle} {last}"),
        ROLES[random.index(ROLES.len())],
        now - STUDENTS + number,
        seen,
        suspended,
        late,
        disputed,
    ])?;
    Ok(())
}
