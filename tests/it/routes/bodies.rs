//! Hundreds of generated bodies for every POST row, a thousand in the long tier: each is
//! answered with an error body of its family, never with a 5xx, and nothing is stored.

use std::collections::BTreeMap;

use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::Value;

use crate::faults::{figure, times};
use crate::support::actors::{Actor, signed_notification};
use crate::support::client::Request;
use crate::support::random::Random;
use crate::support::rows::caller;
use crate::support::site::{CHECKOUT_TOKEN, Route, Site};

/// Bodies for each row, in the short tier and the long one.
const BODIES: (u64, u64) = (250, 1_000);

/// Rows that act only on the path or the caller and ignore the body; and the
/// profile, where a name alone is a change.
const ACT_ALONE: &[&str] = &[
    "/perfil",
    "/encerrar",
    // Invitations: renewed, or followed.
    "/convite",
    "/convite/{code}",
    "/revogar",
    "/ampliar",
    "/reduzir",
    "/logout",
    "/sair",
    "/lidos",
    "/lembrar",
    "/remind-all",
    "/desvincular",
    "/excluir",
    "/copiar",
    "/desconectar",
    "/admin/estilo",
    // Rules that are left out keep their values.
    "/config/salvar",
];

/// Rows that do the same for every body, and log it.
const RUNS: [&str; 3] = ["/admin/cron/rodar", "/admin/gamificacao/recalcular", "/painel/checkin"];

/// Rows for which one valid text is enough, and how the thing that such a body
/// makes is removed again.
const ONE_TEXT: [(&str, &str); 4] = [
    ("/admin/professores", "excluir"),
    ("/admin/cursos", "excluir"),
    ("/painel/parceiro/tokens", "revogar"),
    ("/fornecedor/parceiro/tokens", "revogar"),
];

/// Field names that some row reads, so that generated objects reach its checks.
const NAMES: [&str; 50] = [
    "email",
    "senha",
    "volta",
    "codigo",
    "nome",
    "ids",
    "todas",
    "titulo",
    "slug",
    "preco",
    "moeda",
    "periodicidade",
    "beneficios",
    "link_checkout",
    "ativo",
    "plano",
    "chat_number",
    "action",
    "escopos",
    "ips",
    "limite",
    "expira_em",
    "horas",
    "resource",
    "topic",
    "user_id",
    "application_id",
    "sent",
    "bio",
    "redes",
    "descricao",
    "ordem",
    "publicado",
    "papeis",
    "curso_id",
    "professor_id",
    "video_url",
    "data_hora",
    "duracao_minutos",
    "link",
    "publico",
    "vendedor",
    "anuncio",
    "csv",
    "seller_id",
    "link_id",
    "order_id",
    "order_ids",
    "batch_id",
    "x",
];

const KINDS: [&str; 7] = [
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data; boundary=a",
    "x",
];

#[test]
fn no_body_breaks_a_row_or_is_stored() {
    let site = Site::builder().unlimited().start();
    let routes = site.routes();
    let posts = routes.iter().filter(|row| row.method == "POST");
    let posts: Vec<&Route> = posts.filter(|row| !RUNS.contains(&&*row.path)).collect();
    assert!(posts.len() > 8, "the POST rows were not found");
    let callers: Vec<Actor<'_>> = posts.iter().map(|row| caller(&site, row)).collect();
    let before = rows(&site, "antes.db");
    let bodies = times(BODIES.0, BODIES.1);
    std::thread::scope(|scope| {
        for (seed, (row, caller)) in (1..).zip(posts.iter().zip(&callers)) {
            let now = site.clock().now().as_second();
            scope.spawn(move || bombard(row, caller, seed, now, bodies));
        }
    });
    site.anonymous().get("/readyz").expect(200);
    assert_eq!(rows(&site, "depois.db"), before, "something was stored");
    let sent = bodies * posts.len() as u64;
    figure("F16", &format!("{sent} bad bodies over {} rows, 0 × 5xx, nothing stored", posts.len()));
}

fn bombard(row: &Route, caller: &Actor<'_>, seed: u64, now: i64, bodies: u64) {
    let mut random = Random::new(seed);
    let acts_alone = ACT_ALONE.iter().any(|end| row.path.ends_with(end));
    for turn in 0..bodies {
        let body = body(&mut random);
        let kind = random.pick(&KINDS);
        let mut request = if row.call == "marketplace_hook" {
            // With a right signature for some resource the body passes the guard.
            let signed = signed_notification("/orders/1", "orders_v2", 1, "um", now);
            let headers = signed.headers.into_iter();
            let mut request = Request::new("POST", &row.path);
            request.headers = headers.filter(|(name, _)| name != "Content-Type").collect();
            request
        } else {
            Request::new("POST", &row.sample_path())
        };
        if row.call == "checkout_hook" {
            request = request.header("X-Hotmart-Hottok", CHECKOUT_TOKEN);
        }
        request = request.header("Accept", "application/json");
        let reply = caller.send(request.body(kind, &body));
        let text = String::from_utf8_lossy(&body);
        let removal = ONE_TEXT.iter().find(|(path, _)| *path == row.path);
        if let (201, Some((path, verb))) = (reply.status, removal) {
            let id = reply.json()["id"].as_str().unwrap().to_owned();
            let remove = Request::new("POST", &format!("{path}/{id}/{verb}"));
            caller.send(remove.header("Accept", "application/json")).ok();
            continue;
        }
        assert!(
            reply.status < 500 && (acts_alone || marks_nothing(row, &body) || reply.status >= 400),
            "{} turn {turn}, {kind}: {text}\n{reply}",
            row.path
        );
        assert!(
            reply.status < 400 || !reply.code().is_empty(),
            "{} turn {turn}: no error body\n{reply}",
            row.path
        );
    }
}

/// Whether a body names no notice to mark as read, which is a good one, whatever stands
/// beside that.
fn marks_nothing(row: &Route, body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Marked {
        ids: Vec<String>,
    }
    row.path.ends_with("/notificacoes/lidas")
        && serde_json::from_slice::<Marked>(body).is_ok_and(|marked| marked.ids.is_empty())
}

/// A body of one of many bad kinds.
fn body(random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0 => noise(random, 64),
        1 => "[".repeat(1 + usize::try_from(random.below(1500)).unwrap()).into_bytes(),
        2 => {
            let depth = 1 + usize::try_from(random.below(300)).unwrap();
            format!("{}1{}", "{\"x\":".repeat(depth), "}".repeat(depth)).into_bytes()
        }
        3 => {
            let whole = object(random);
            let end = random.below(whole.len() as u64);
            whole.as_bytes()[..usize::try_from(end).unwrap()].to_vec()
        }
        4 => {
            let mut bytes = object(random).into_bytes();
            let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            bytes[at] = random.next().to_le_bytes()[0];
            bytes
        }
        5 => object(random).encode_utf16().flat_map(u16::to_le_bytes).collect(),
        6 => [b"\xef\xbb\xbf", object(random).as_bytes()].concat(),
        7 => format!("{}={}&{}", random.pick(&NAMES), value(random), random.pick(&NAMES))
            .into_bytes(),
        8 => value(random).into_bytes(),
        _ => object(random).into_bytes(),
    }
}

fn noise(random: &mut Random, longest: u64) -> Vec<u8> {
    (0..random.below(longest)).map(|_| random.next().to_le_bytes()[0]).collect()
}

/// An object of known names with values that no row accepts together. Some
/// objects have every name and only well-formed values, so that they reach the
/// handlers behind the parser.
fn object(random: &mut Random) -> String {
    let whole = random.below(4) == 0;
    let names: Vec<&str> = if whole {
        NAMES.to_vec()
    } else {
        (0..=random.below(5)).map(|_| *random.pick(&NAMES)).collect()
    };
    let fields = names.iter().map(|name| {
        let mut chosen = value(random);
        while whole && serde_json::from_str::<Value>(&chosen).is_err() {
            chosen = value(random);
        }
        format!("\"{name}\":{chosen}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn value(random: &mut Random) -> String {
    let odd = [
        "null",
        "-0",
        "1e999",
        "-1e-999",
        "99999999999999999999999999",
        "1.005",
        "NaN",
        "[]",
        "[1,\"a\",null]",
        "{}",
        "{\"a\":{\"a\":[]}}",
        "\"\"",
        "\" \"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\u202e\"",
        "\"' OR 1=1 --\"",
        "\"<script>\"",
        "\"%00\"",
        "'a'",
        "\"../../x\"",
        "01",
        "0x1",
    ];
    // Mostly short, so that an object with every name fits the smallest limit.
    let longest = *random.pick(&[8, 8, 8, 8, 8, 8, 8, 900]);
    let length = 1 + usize::try_from(random.below(longest)).unwrap();
    match random.below(4) {
        0 => format!("\"{}\"", "á".repeat(length)),
        1 => "9".repeat(length),
        _ => (*random.pick(&odd)).to_owned(),
    }
}

/// The number of rows of every table that a rejected call must not change, read
/// from a copy that the product made.
fn rows(site: &Site, name: &str) -> BTreeMap<String, i64> {
    // Written later for every call: windows and counters. Then tables about
    // things that were made and removed: the audit log, the times of change and
    // revoked tokens. Search indexes only repeat the content of a table.
    let counters = [
        "rate_window",
        "daily_count",
        "component_day",
        "partner_usage",
        "audit",
        "partner_token",
        "setting",
        "request_log",
        "request_log_count",
    ];
    let copy = site.folder().join(name);
    site.command(&["backup", &copy.display().to_string()]).ok();
    let copy = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut tables = copy
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        .unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let tables: Vec<String> = tables.collect::<Result<_, _>>().unwrap();
    tables
        .into_iter()
        .filter(|table| !counters.contains(&&**table))
        .map(|table| {
            let count = format!("SELECT count(*) FROM \"{table}\"");
            let count = copy.query_row(&count, [], |row| row.get(0)).unwrap();
            (table, count)
        })
        .collect()
}
