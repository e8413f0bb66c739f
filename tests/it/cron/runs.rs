//! The periodic tasks: who may start them, how they run, and what is kept about
//! a run. What each task does is in `rules.rs`.

use serde_json::{Value, json};

use crate::cron::rules::ALERT;
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::{CRON, alter, json_of, meet, queued, run, run_at, student};
use crate::support::site::{CRON_SECRET, Site};
use crate::support::wait::{pause, until};

const HISTORY: &str = "/admin/cron";
const DAY_S: i64 = 86_400;

#[test]
fn the_secret_comes_in_the_query_or_as_bearer() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    let with = |target: &str| nobody.get(target);
    let right = format!("{CRON}?token={CRON_SECRET}");
    with(&right).expect(200);
    site.bearer(CRON_SECRET).get(CRON).expect(200);
    let wrong = [
        CRON.to_owned(),
        format!("{CRON}?token="),
        format!("{CRON}?token={CRON_SECRET}x"),
        format!("{CRON}?Token={CRON_SECRET}"),
        format!("{CRON}?token={CRON_SECRET}&token={CRON_SECRET}"),
    ];
    for target in wrong {
        let reply = with(&target).expect(401);
        assert_eq!(reply.json()["success"], false, "{reply}");
        assert_eq!(reply.code(), "unauthorized");
    }
    site.bearer("x").get(CRON).expect(401);
    site.key(&["admin"]).get(CRON).expect(401);
    site.administrator().get(CRON).expect(401);
    // A GET that changes something must not be prefetched, and has no HEAD.
    for method in ["HEAD", "POST", "PUT"] {
        nobody.send(Request::new(method, &right)).expect(405);
    }
    let from = |site: &str| {
        let request = Request::new("GET", &right).header("Sec-Fetch-Site", site);
        nobody.send(request).status
    };
    assert_eq!((from("none"), from("same-origin")), (200, 200));
    assert_eq!((from("cross-site"), from("same-site")), (403, 403));
    let reply = with(&right);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-ratelimit-limit"), None);
    assert!(site.log().contains("the cron secret came in the query"));
}

#[test]
fn wrong_secrets_count_against_the_address_and_right_ones_do_not() {
    let site = Site::builder().config("limits.requests", 3).start();
    let nobody = site.anonymous();
    for _ in 0..10 {
        run(&site);
    }
    let statuses: Vec<u16> = (0..5).map(|_| nobody.get("/api/v1/cron?token=x").status).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    let refused = nobody.get(CRON).expect(429);
    assert!(refused.header("retry-after").is_some(), "{refused}");
    run(&site);
}

#[test]
fn without_a_configured_secret_the_generated_one_opens() {
    let site = Site::builder().config("cron.secret", "").start();
    let secret = site.command(&["secret", "show", "cron"]).ok();
    site.keep_secret("generated secret", secret.trim());
    site.bearer(secret.trim()).get(CRON).expect(200);
    site.bearer("").get(CRON).expect(401);
    site.anonymous().get("/api/v1/cron?token=").expect(401);
}

#[test]
fn the_answer_has_every_field_from_the_start() {
    let site = Site::builder().unlimited().start();
    let mut answer = run(&site);
    assert!(answer["ms"].as_u64().unwrap() < 10_000, "{answer}");
    answer["ms"] = Value::Null;
    assert_eq!(
        answer,
        json!({
            "ok": true, "ts": "2026-11-20 09:00:00", "meets_notif": 0, "inativos": 0,
            "alertas_20h": 0, "furados": 0, "chat_enviados": 0, "chat_erros": 0,
            "chat_ignorados": 0, "ml_sync": { "contas": 0, "vendas_novas": 0, "erros": 0 },
            "agencia_sync": { "sincronizados": 0, "erros": 0 },
            "checkup_agencia": { "verificados": 0, "prontos": 0, "pendentes": 0 },
            "log_archival": { "skipped": true }, "erros": [], "ms": null,
        })
    );
}

#[test]
fn two_calls_and_the_tick_at_once_do_each_thing_once() {
    const PEOPLE: i64 = 1_200;
    let site = Site::builder().unlimited().config("cron.enabled", true).start();
    let people = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PEOPLE})
         INSERT INTO user (email, name, role, created_at, chat_number)
         SELECT 'p' || i || '@example.com', 'P ' || i, 'free', 1795000000, '5511987654321' FROM n"
    );
    alter(&site, &people);
    until("the first tick", std::time::Duration::from_mins(1), || {
        site.clock().advance_s(DAY_S);
        let replies = std::thread::scope(|scope| {
            let calls = [(); 3].map(|()| scope.spawn(|| run(&site)));
            calls.map(|call| call.join().unwrap())
        });
        assert!(replies.iter().all(|reply| reply["ok"] == true));
        let queued = queued(&site, ALERT).len();
        (queued > 0).then(|| assert_eq!(i64::try_from(queued).unwrap(), PEOPLE))
    });
    let sums = "SELECT sum(json_extract(counts, '$.inativos')) || '' FROM cron_run";
    assert_eq!(site.stored(sums), [PEOPLE.to_string()]);
}

#[test]
fn the_tick_runs_by_itself_and_follows_the_clock() {
    let site = Site::builder().unlimited().config("cron.enabled", true).start();
    let admin = site.administrator();
    let runs = |origin: &str| {
        let listed = json_of(&admin, HISTORY);
        assert_eq!(listed["ligado"], true);
        let runs = listed["dados"].as_array().unwrap().clone();
        runs.iter().filter(|run| run["origem"] == origin).count()
    };
    let patience = std::time::Duration::from_mins(1);
    until("the run of the start", patience, || (runs("relogio") == 1).then_some(()));
    site.clock().advance_s(59);
    run(&site);
    assert_eq!(runs("relogio"), 1);
    site.clock().advance_s(1);
    until("a run after a minute", patience, || (runs("relogio") == 2).then_some(()));
}

/// From now on no message of this kind can be queued.
fn break_queue(site: &Site, kind: &str) {
    let trigger = format!(
        "CREATE TRIGGER broken BEFORE INSERT ON outbox WHEN NEW.kind = '{kind}'
         BEGIN SELECT RAISE(ABORT, 'quebrado de propósito'); END"
    );
    alter(site, &trigger);
}

#[test]
fn a_task_that_fails_stays_alone_and_the_third_time_is_told() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "pro");
    break_queue(&site, "inatividade");
    let told =
        "SELECT title || '|' || message FROM notification n JOIN user u ON u.user_id = n.owner_id
                WHERE u.role = 'admin' AND n.kind = 8";
    meet(&site, "2026-11-25 09:00:00");
    for day in 24..=27 {
        let answer = run_at(&site, &format!("2026-11-{day}T12:00:00Z"));
        assert_eq!(answer["ok"], false, "{answer}");
        assert_eq!(answer["inativos"], 0);
        assert_eq!(answer["meets_notif"], i64::from(day == 24), "the others ran");
        let failures = answer["erros"].as_array().unwrap();
        assert_eq!(failures.len(), 1, "{answer}");
        assert_eq!(failures[0]["tarefa"], "inatividade");
        let message = failures[0]["mensagem"].as_str().unwrap();
        assert!(message.contains("quebrado de propósito"), "{message}");
        assert_eq!(site.stored(told).len(), usize::from(day >= 26), "day {day}");
    }
    let words = &site.stored(told)[0];
    assert!(
        words.starts_with("Tarefa com falha: Alertas de inatividade|Falhou 3 vezes"),
        "{words}"
    );
    let admin = site.administrator();
    let home = admin.get("/admin").expect(200).text();
    assert!(home.contains("Alertas de inatividade"), "the home tells of it");
    let listed = json_of(&admin, HISTORY);
    let task = task(&listed, "inatividade");
    assert_eq!(task["falhas_seguidas"], 4);
    let page = admin.get(HISTORY).expect(200).text();
    assert!(page.contains("Com falha") && page.contains("quebrado de propósito"));
    alter(&site, "DROP TRIGGER broken");
    let answer = run_at(&site, "2026-11-28T12:00:00Z");
    assert_eq!((&answer["ok"], &answer["inativos"]), (&json!(true), &json!(1)));
    let listed = json_of(&site.administrator(), HISTORY);
    let healed = self::task(&listed, "inatividade");
    assert_eq!(healed["falhas_seguidas"], 0);
    assert!(healed["ultimo_erro"].is_string(), "the last failure is kept");
}

fn task(listed: &Value, name: &str) -> Value {
    let tasks = listed["tarefas"].as_array().unwrap();
    let found = tasks.iter().find(|task| task["nome"] == name);
    found.unwrap_or_else(|| panic!("no task {name}: {listed}")).clone()
}

#[test]
fn a_paused_task_is_left_out_until_it_is_resumed() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "free");
    let admin = site.administrator();
    let act = |verb: &str| format!("/admin/cron/tarefas/inatividade/{verb}");
    site.person("caio").post(&act("pausar"), &json!({})).expect(403);
    admin.post("/admin/cron/tarefas/nenhuma/pausar", &json!({})).expect(404);
    for _ in 0..2 {
        admin.post(&act("pausar"), &json!({})).ok();
    }
    let listed = json_of(&admin, HISTORY);
    assert_eq!(task(&listed, "inatividade")["pausada_em"], "2026-11-20 09:00:00");
    assert!(admin.get(HISTORY).expect(200).text().contains("Pausada"));
    assert_eq!(run_at(&site, "2026-11-24T12:00:00Z")["inativos"], 0);
    let admin = site.administrator();
    let resumed = admin.send(Request::new("POST", &act("retomar"))).expect(303);
    assert_eq!(resumed.header("location"), Some("/admin/cron"));
    assert_eq!(run(&site)["inativos"], 1);
    let acts = "SELECT action || ' ' || object_id FROM audit WHERE object_kind = 'tarefa' ORDER BY audit_id";
    assert_eq!(site.stored(acts), ["cron.pausar inatividade", "cron.retomar inatividade"]);
}

#[test]
fn a_run_from_the_panel_is_on_the_record_and_each_run_has_a_page() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "free");
    site.clock().set("2026-11-24T12:00:00Z");
    let admin = site.administrator();
    let page = admin.get(HISTORY).expect(200).text();
    assert!(
        page.contains("Nenhuma execução ainda")
            && page.contains("O relógio interno está desligado")
    );
    let answer = admin.post("/admin/cron/rodar", &json!({})).ok();
    assert_eq!((&answer["ok"], &answer["inativos"]), (&json!(true), &json!(1)));
    let redirected = admin.send(Request::new("POST", "/admin/cron/rodar")).expect(303);
    assert_eq!(redirected.header("location"), Some("/admin/cron/2"));
    let page = admin.get("/admin/cron/2").expect(200).text();
    assert!(page.contains("Execução concluída") && page.contains("Não havia nada a fazer"));
    let listed = json_of(&admin, HISTORY);
    assert_eq!(listed["total"], 2);
    assert_eq!(listed["dados"][1]["contagens"], json!({ "inativos": 1 }));
    assert_eq!(listed["dados"][1]["origem"], "painel");
    let ids = |query: &str| -> Vec<String> {
        let listed = json_of(&admin, &format!("{HISTORY}{query}"));
        let runs = listed["dados"].as_array().unwrap().clone();
        runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(""), ["2", "1"]);
    assert_eq!(ids("?ordem=inicio&por_pagina=1&pagina=2"), ["2"]);
    assert_eq!(ids("?resultado=com-efeito"), ["1"]);
    assert_eq!(ids("?resultado=sem-efeito"), ["2"]);
    assert_eq!(ids("?resultado=falhou"), Vec::<String>::new());
    // The page has what did something, and says how many others there were.
    let page = admin.get(HISTORY).expect(200).text();
    assert!(page.contains("1 execução sem nada a fazer"), "{page}");
    let has = |page: &str, run: i64| page.contains(&format!("href=\"/admin/cron/{run}\""));
    assert!(has(&page, 1) && !has(&page, 2));
    let page = admin.get("/admin/cron?resultado=todas").expect(200).text();
    assert!(has(&page, 1) && has(&page, 2));
    let one = json_of(&admin, "/admin/cron/1");
    assert_eq!((&one["id"], &one["resultado"]), (&json!("1"), &json!("com-efeito")));
    assert!(admin.get("/admin/cron/1").expect(200).text().contains("Alertas de inatividade"));
    for other in ["0", "3", "x", "-1"] {
        admin.get(&format!("{HISTORY}/{other}")).expect(404);
    }
    let csv = admin.get("/admin/cron?formato=csv").expect(200).text();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with("id,inicio,fim,ms,origem,resultado,contagens,erros"), "{csv}");
    assert!(lines[2].starts_with("1,2026-11-24 09:00:00,"), "{csv}");
    let acts = "SELECT action FROM audit WHERE object_kind = 'tarefa'";
    assert_eq!(site.stored(acts), ["cron.rodar", "cron.rodar"]);
}

#[track_caller]
fn all_logs_are_listed_by_day(admin: &Actor<'_>) {
    let all = json_of(admin, "/admin/cron/arquivo");
    assert_eq!(all["total"], 4);
    let text = |row: &Value| format!("{} {}", row["dia"], row["tipo"]).replace('"', "");
    let all: Vec<String> = all["dados"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(
        all,
        ["2026-11-21 requisicoes", "2026-11-21 cron", "2026-11-20 requisicoes", "2026-11-20 cron"]
    );
}

#[test]
fn old_runs_are_packed_by_day_once_a_day_and_read_back() {
    let site = Site::builder().unlimited().start();
    let skipped = json!({ "skipped": true });
    let archival = |instant: &str| run_at(&site, instant)["log_archival"].clone();
    // Three runs on one civil day and one on the next, at its first second.
    for instant in [
        "2026-11-20T12:00:00Z",
        "2026-11-20T12:01:00Z",
        "2026-11-21T02:59:59Z",
        "2026-11-21T03:00:00Z",
    ] {
        assert_eq!(archival(instant), skipped, "{instant}");
    }
    // 90 days after the 20th that day is not archived yet; a day later it is.
    assert_eq!(archival("2027-02-19T02:59:59Z"), skipped);
    // Three runs, and their requests.
    let packed = json!({ "arquivados": 6, "lotes": 2 });
    assert_eq!(archival("2027-02-19T03:00:00Z"), packed);
    assert_eq!(archival("2027-02-19T03:01:00Z"), skipped, "once a day");
    assert_eq!(archival("2027-02-20T12:00:00Z"), json!({ "arquivados": 2, "lotes": 2 }));
    let admin = site.administrator();
    all_logs_are_listed_by_day(&admin);
    let listed = json_of(&admin, "/admin/cron/arquivo?tipo=cron");
    assert_eq!(listed["total"], 2);
    let days: Vec<&Value> =
        listed["dados"].as_array().unwrap().iter().map(|one| &one["dia"]).collect();
    assert_eq!(days, ["2026-11-21", "2026-11-20"]);
    let batch = json_of(&admin, "/admin/cron/arquivo/1");
    assert_eq!((&batch["registros"], &batch["integro"]), (&json!(3), &json!(true)));
    let entries = batch["dados"].as_array().unwrap();
    let ids: Vec<&Value> = entries.iter().map(|entry| &entry["run_id"]).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(entries[0]["started_at"], "2026-11-20 09:00:00");
    assert_eq!(entries[0]["counts"], json!({}));
    let file = admin.get("/admin/cron/arquivo/1?formato=jsonl").expect(200);
    assert_eq!(file.text().lines().count(), 3);
    assert!(file.text().contains("\"started_at\":1795176000"), "as it was");
    let page = admin.get("/admin/cron/arquivo/1").expect(200).text();
    assert!(page.contains("Histórico do cron, 20/11/2026"), "{page}");
    admin.get("/admin/cron/arquivo/9").expect(404);
    // The counters of the history are updated.
    assert_eq!(json_of(&admin, HISTORY)["total"], 4);
    // The content of a batch is checked by its digest.
    alter(&site, "UPDATE log_batch SET digest = zeroblob(32) WHERE batch_id = 1");
    let admin = site.administrator();
    let damaged = json_of(&admin, "/admin/cron/arquivo/1");
    assert_eq!(damaged["integro"], false);
    assert!(admin.get("/admin/cron/arquivo/1").expect(200).text().contains("danificado"));
}

#[test]
fn a_daily_task_that_failed_is_tried_again_in_the_next_run() {
    let site = Site::builder().unlimited().start();
    run(&site);
    let broken = "CREATE TRIGGER broken BEFORE INSERT ON log_batch
                  BEGIN SELECT RAISE(ABORT, 'quebrado de propósito'); END";
    alter(&site, broken);
    for instant in ["2027-02-20T12:00:00Z", "2027-02-20T12:01:00Z"] {
        let answer = run_at(&site, instant);
        assert_eq!(answer["erros"][0]["tarefa"], "arquivamento", "{answer}");
        assert_eq!(answer["log_archival"], json!({ "skipped": true }));
        // Nothing is lost.
        let kept = "SELECT count(*) || '' FROM cron_run WHERE run_id = 1";
        assert_eq!(site.stored(kept), ["1"]);
    }
    alter(&site, "DROP TRIGGER broken");
    let answer = run(&site);
    assert_eq!(answer["log_archival"], json!({ "arquivados": 2, "lotes": 2 }));
    assert_eq!(run(&site)["log_archival"], json!({ "skipped": true }));
}

#[test]
fn the_figures_tell_of_the_last_run() {
    let site = Site::builder().unlimited().start();
    let keeper = site.key(&["admin"]);
    let figure = |name: &str| {
        let text = keeper.get("/metrics").expect(200).text();
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.map(|line| line.rsplit(' ').next().unwrap().to_owned())
    };
    assert_eq!(figure("seller_platform_cron_last_run_time_seconds").as_deref(), Some("0"));
    run(&site);
    assert_eq!(figure("seller_platform_cron_last_run_time_seconds").as_deref(), Some("1795176000"));
    assert_eq!(figure("seller_platform_cron_failing_tasks").as_deref(), Some("0"));
}

#[test]
fn a_run_that_waits_has_counts_of_its_own() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "free");
    site.clock().set("2026-11-24T12:00:00Z");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let calls = [(); 2].map(|()| scope.spawn(|| site.bearer(CRON_SECRET).get(CRON)));
        calls.map(|call| call.join().unwrap()).into()
    });
    let mut told: Vec<i64> =
        replies.into_iter().map(|reply| reply.ok()["inativos"].as_i64().unwrap()).collect();
    told.sort_unstable();
    assert_eq!(told, [0, 1]);
}

#[test]
fn callers_at_once_wait_for_their_turn_and_hold_nobody_up() {
    const CALLERS: usize = 40;
    let site = Site::builder().unlimited().start();
    // Each run takes a while.
    let people = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         INSERT INTO user (email, name, role, created_at, chat_number)
         SELECT 'p' || i || '@example.com', 'P ' || i, 'free', 1790000000, '5511987654321' FROM n";
    alter(&site, people);
    let (admin, ana) = (site.administrator(), site.person("ana"));
    let answers = std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..CALLERS).map(|_| scope.spawn(|| site.bearer(CRON_SECRET).get(CRON))).collect();
        let asked = scope.spawn(|| {
            let run =
                Request::new("POST", "/admin/cron/rodar").header("Accept", "application/json");
            admin.send(run)
        });
        // Waiting runs use none of the places of slow requests.
        for _ in 0..20 {
            ana.get("/readyz").expect(200);
            admin.get("/admin/requisicoes").expect(200);
        }
        let mut answers: Vec<Reply> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        answers.push(asked.join().unwrap());
        answers
    });
    assert!(answers.into_iter().all(|answer| answer.ok()["ok"] == true));
    let runs = "SELECT count(*) || '' FROM cron_run WHERE origin IN ('endereco', 'painel')";
    assert_eq!(site.stored(runs), [(CALLERS + 1).to_string()], "each has a run of its own");
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_said_twice() {
    const PEOPLE: i64 = 3_000;
    let site = Site::builder().unlimited().start();
    alter(
        &site,
        &format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PEOPLE})
             INSERT INTO user (email, name, role, created_at, chat_number)
             SELECT 'p' || i || '@example.com', 'P ' || i, 'free', 1790000000, '5511987654321' FROM n;
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PEOPLE})
             INSERT INTO cron_run (started_at, ended_at, ms, origin, outcome, counts, errors)
             SELECT 1700000000 + i * 60, 1700000000 + i * 60, 1, 'relogio', 0, '{{}}', '[]' FROM n"
        ),
    );
    let count = |sql: &str| site.stored(sql)[0].parse::<i64>().unwrap();
    for turn in 0..8 {
        std::thread::scope(|scope| {
            let caller = site.bearer(CRON_SECRET);
            let asked = scope.spawn(move || caller.try_send(Request::new("GET", CRON)).is_ok());
            pause(std::time::Duration::from_millis(10 + 9 * turn));
            site.kill();
            let _ = asked.join();
        });
        site.start_again();
        let kept = "SELECT ((SELECT count(*) FROM cron_run WHERE started_at < 1790000000)
                          + (SELECT coalesce(sum(entries), 0) FROM log_batch)) || ''";
        assert_eq!(count(kept), PEOPLE, "turn {turn}");
        let agree = "SELECT ((SELECT count(*) FROM outbox) - (SELECT count(*) FROM inactivity_alert)) || ''";
        assert_eq!(count(agree), 0, "turn {turn}");
    }
    run(&site);
    assert_eq!(count("SELECT count(DISTINCT user_id) || '' FROM outbox"), PEOPLE);
    assert_eq!(count("SELECT count(*) || '' FROM outbox"), PEOPLE);
    assert_eq!(count("SELECT sum(entries) || '' FROM log_batch"), PEOPLE);
}
