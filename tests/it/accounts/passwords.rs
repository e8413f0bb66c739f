//! Links to choose a password, and requests for one.

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::client::{Reply, Request};
use crate::support::site::{CRON_SECRET, PROPAGATION, Person, Site};
use crate::support::wait::until;

const NEW: &str = "uma senha escolhida agora";
const HOUR_S: i64 = 3600;

/// A fresh link as the command prints it, and its code.
#[track_caller]
fn link(site: &Site, person: &Person) -> (String, String) {
    let printed = site.command(&["user", "password-link", "--email", &person.email]).ok();
    let start = printed.find("/senha?codigo=").expect("a link");
    let target = printed[start..].trim().to_owned();
    let code = target.rsplit('=').next().unwrap().to_owned();
    assert_eq!(printed.lines().count(), 1, "the link alone: {printed}");
    (target, code)
}

fn choose(site: &Site, code: &str, password: &str) -> Reply {
    let form = [("codigo", code), ("senha", password)];
    site.anonymous().send(Request::new("POST", "/senha").form(&form))
}

fn log_in(site: &Site, person: &Person, password: &str) -> Reply {
    let login = json!({ "email": person.email, "senha": password });
    site.anonymous().post("/api/ext/auth", &login)
}

fn ask(site: &Site, email: &str) -> Reply {
    let form = [("email", email)];
    site.anonymous().send(Request::new("POST", "/entrar/esqueci").form(&form))
}

/// A site with e-mail configured, but without a server.
fn with_email() -> Site {
    Site::builder()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "nao-responda@example.com")
        .start()
}

/// A copy of the database that the product made.
fn copy(site: &Site) -> Connection {
    let path = site.folder().join("copia.db");
    site.command(&["backup", "--force", &path.display().to_string()]).ok();
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// Queued messages: recipient, kind, channel, parameters, state.
fn queued(site: &Site) -> Vec<(String, String, String, Value, i64)> {
    let copy = copy(site);
    let mut rows = copy
        .prepare(
            "SELECT u.email, o.kind, o.channel, o.params, o.state
             FROM outbox o JOIN user u ON u.user_id = o.user_id ORDER BY o.message_id",
        )
        .unwrap();
    let rows = rows.query_map([], |row| {
        let params: String = row.get(3)?;
        let params = serde_json::from_str(&params).unwrap();
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, params, row.get(4)?))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_link_sets_the_password_once_and_ends_what_was_open() {
    let site = Site::builder().unlimited().start();
    let (session, extension) = (site.person("ana"), site.extension("ana"));
    let ana = session.person().clone();
    let (target, code) = link(&site, &ana);
    let nobody = site.anonymous();
    // Opening the page changes nothing, however often it is done.
    for _ in 0..2 {
        let page = nobody.get(&target).expect(200);
        assert!(page.text().contains(&ana.email), "{page}");
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    }
    let short = choose(&site, &code, "curta").expect(422);
    assert!(short.text().contains("Use de 10 a 200 caracteres."));
    choose(&site, &code, &"x".repeat(201)).expect(422);
    session.get("/painel").expect(200);

    let chosen = choose(&site, &code, NEW).expect(303);
    assert_eq!(chosen.header("location"), Some("/painel"));
    let cookie = chosen.session_cookie().expect("a session").to_owned();
    for text in [&*code, NEW, cookie.split_once('=').unwrap().1] {
        site.keep_secret("password link", text);
    }
    let home = Request::new("GET", "/painel").header("Cookie", &cookie);
    nobody.send(home).expect(200);
    session.get("/painel").expect(303);
    extension.get("/api/ext/me").expect(401);
    log_in(&site, &ana, &ana.password).expect(401);
    log_in(&site, &ana, NEW).expect(200);

    nobody.get(&target).expect(404);
    choose(&site, &code, "mais uma senha longa").expect(404);
    let body = json!({ "codigo": code, "senha": "mais uma senha longa" });
    let refused = nobody.post("/senha", &body).expect(404);
    assert_eq!(refused.code(), "not_found");
    log_in(&site, &ana, NEW).expect(200);
}

#[test]
fn a_link_lasts_two_hours_and_a_newer_one_takes_its_place() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let nobody = site.anonymous();
    let (first, first_code) = link(&site, &ana);
    let (second, second_code) = link(&site, &ana);
    nobody.get(&first).expect(404);
    choose(&site, &first_code, NEW).expect(404);
    nobody.get(&second).expect(200);
    site.clock().advance_s(2 * HOUR_S - 1);
    nobody.get(&second).expect(200);
    site.clock().advance_s(1);
    nobody.get(&second).expect(404);
    choose(&site, &second_code, NEW).expect(404);
    for code in ["", "x", "%00"] {
        nobody.get(&format!("/senha?codigo={code}")).expect(404);
        choose(&site, code, NEW).expect(404);
    }
    nobody.get("/senha").expect(404);
}

#[test]
fn a_link_leads_each_role_home() {
    let site = Site::builder().unlimited().start();
    for (role, home) in [("drop", "/fornecedor"), ("admin", "/admin")] {
        let person = site.make_person(role, role);
        let chosen = choose(&site, &link(&site, &person).1, NEW).expect(303);
        assert_eq!(chosen.header("location"), Some(home));
    }
}

#[test]
fn a_chosen_password_opens_a_closed_account_at_once() {
    let site = Site::builder().config("server.trusted_proxies", vec!["127.0.0.1"]).start();
    let ana = site.make_person("ana", "vip");
    let nobody = site.anonymous();
    let try_from = |address: &str, password: &str| {
        let login = json!({ "email": ana.email, "senha": password });
        let request = Request::new("POST", "/api/ext/auth").json(&login);
        nobody.send(request.header("X-Forwarded-For", address))
    };
    for stranger in 1..=10 {
        try_from(&format!("198.51.100.{stranger}"), "errada errada").expect(401);
    }
    try_from("192.0.2.9", &ana.password).expect(429);
    choose(&site, &link(&site, &ana).1, NEW).expect(303);
    try_from("192.0.2.9", NEW).expect(200);
    // The stored counters are deleted, too.
    until("the counters are gone", PROPAGATION, || {
        let copy = copy(&site);
        let counted =
            "SELECT count(*) FROM rate_window WHERE substr(subject, 1, 1) IN (x'07', x'0a')";
        let counted: i64 = copy.query_row(counted, [], |row| row.get(0)).unwrap();
        (counted == 0).then_some(())
    });
    site.kill();
    site.start_again();
    try_from("192.0.2.10", NEW).expect(200);
}

#[test]
fn the_command_knows_who_may_have_a_link_and_is_audited() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let command = |email: &str| site.command(&["user", "password-link", "--email", email]);
    let refused = command("ninguem@example.com").exits(1);
    assert!(refused.stderr.contains("ninguem@example.com"));
    command("sem-arroba").exits(2);
    let (_, code) = link(&site, &ana);
    let copy = copy(&site);
    let noted = copy
        .query_row(
            "SELECT actor_kind, action, object_name FROM audit ORDER BY audit_id DESC",
            [],
            |row| Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?]),
        )
        .unwrap();
    assert_eq!(noted, ["comando", "aluno.link_de_senha", "ana da Silva"]);
    let bytes = std::fs::read(site.folder().join("copia.db")).unwrap();
    let held = bytes.windows(code.len()).any(|part| part == code.as_bytes());
    assert!(!held, "the database holds the code");
}

#[test]
fn asking_tells_nobody_who_has_an_account() {
    let site = with_email();
    let ana = site.make_person("ana", "vip");
    let unknown = "bia@example.com";
    let page = |email: &str| {
        let reply = ask(&site, email).expect(200);
        let headers = reply.headers.clone();
        let names: Vec<String> = headers.into_iter().map(|(name, _)| name).collect();
        (names, reply.text().replace(email, "E"))
    };
    assert_eq!(page(&ana.email), page(unknown));
    let body = |email: &str| {
        let reply = site.anonymous().post("/entrar/esqueci", &json!({ "email": email }));
        reply.expect(200).body
    };
    assert_eq!(body(&ana.email), body(unknown));
    for bad in ["", "ana", "ana@x", "a b@example.com"] {
        let refused = ask(&site, bad).expect(422);
        assert!(refused.text().contains("Informe um e-mail válido"), "{bad}");
    }
    site.anonymous().post("/entrar/esqueci", &json!({ "email": "ana" })).expect(422);
}

#[test]
fn whoever_asks_is_sent_a_link_that_the_queue_does_not_hold() {
    let site = with_email();
    let (ana, rui) = (site.make_person("ana", "vip"), site.make_person("rui", "drop"));
    ask(&site, &format!(" {} ", ana.email.to_uppercase())).expect(200);
    ask(&site, &rui.email).expect(200);
    ask(&site, "ninguem@example.com").expect(200);
    let messages = until("both messages are queued", PROPAGATION, || {
        Some(queued(&site)).filter(|messages| messages.len() == 2)
    });
    for (message, person) in messages.iter().zip([&ana, &rui]) {
        let (email, kind, channel, params, state) = message;
        assert_eq!(
            (&**email, &**kind, &**channel, *state),
            (&*person.email, "link_de_senha", "email", 0)
        );
        // The link's name does not open the page.
        let name = params["link"].as_str().unwrap();
        let opened = site.anonymous().get(&format!("/senha?codigo={name}"));
        opened.expect(404);
    }
    // A new request makes the earlier message useless.
    ask(&site, &ana.email).expect(200);
    let states = until("the newer message is queued", PROPAGATION, || {
        let messages = queued(&site);
        let states = messages.iter().map(|message| message.4);
        (messages.len() == 3).then(|| states.collect::<Vec<_>>())
    });
    assert_eq!(states, [2, 0, 0]);
}

#[test]
fn an_account_is_sent_three_links_an_hour_and_nobody_is_told() {
    let site = Site::builder()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "nao-responda@example.com")
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .start();
    let ana = site.make_person("ana", "vip");
    let nobody = site.anonymous();
    let ask_from = |address: &str| {
        let request = Request::new("POST", "/entrar/esqueci").form(&[("email", &ana.email)]);
        nobody.send(request.header("X-Forwarded-For", address))
    };
    let pages: Vec<String> =
        (1..=5).map(|turn| ask_from(&format!("198.51.100.{turn}")).expect(200).text()).collect();
    assert!(pages.iter().all(|page| *page == pages[0]), "all look alike");
    until("three are queued", PROPAGATION, || (queued(&site).len() == 3).then_some(()));
    // The counter survives a restart, and ends after its hour.
    site.stop();
    site.start_again();
    ask_from("198.51.100.9").expect(200);
    site.clock().advance_s(HOUR_S);
    ask_from("198.51.100.9").expect(200);
    until("a fourth is queued", PROPAGATION, || (queued(&site).len() == 4).then_some(()));
}

#[test]
fn an_address_asks_ten_times_an_hour() {
    let site = Site::start();
    for number in 0..10 {
        ask(&site, &format!("ninguem{number}@example.com")).expect(200);
    }
    site.stop();
    site.start_again();
    let refused = ask(&site, "mais-um@example.com").expect(429);
    assert_eq!(refused.header("retry-after"), Some("3600"));
    assert!(refused.text().contains("mais-um@example.com"), "kept: {refused}");
    let refused =
        site.anonymous().post("/entrar/esqueci", &json!({ "email": "mais-um@example.com" }));
    assert_eq!(refused.expect(429).code(), "rate_limited");
    site.clock().advance_s(HOUR_S);
    ask(&site, "mais-um@example.com").expect(200);
}

#[test]
fn links_and_messages_of_long_ago_are_removed() {
    let site = with_email();
    let ana = site.make_person("ana", "vip");
    for _ in 0..2 {
        ask(&site, &ana.email).expect(200);
    }
    let count = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        copy(&site).query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    // Messages with values for their texts, messages without, and links.
    let counts = || {
        let with = |not: &str| format!("outbox WHERE params {not}= '{{}}'");
        (count(&with("!")), count(&with("")), count("one_time_link WHERE purpose = 'senha'"))
    };
    until("both are queued", PROPAGATION, || (counts() == (2, 0, 2)).then_some(()));
    site.clock().advance_s(38 * 24 * HOUR_S);
    // A waiting message is kept, however old it is.
    until("the dropped one is emptied", PROPAGATION * 3, || (counts() == (1, 1, 0)).then_some(()));
    // The rest of the dropped one is archived, and the waiting one is kept.
    site.clock().advance_s(62 * 24 * HOUR_S);
    site.bearer(CRON_SECRET).get("/api/v1/cron").ok();
    assert_eq!(counts().1, 0);
    assert_eq!(count("log_batch WHERE kind = 'mensagens' AND entries = 1"), 1);
}
