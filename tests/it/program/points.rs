//! Check-ins, points, milestones, challenges and the ranking, through the API.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::content::{made, shown};
use crate::support::cron::{alter, run_at};
use crate::support::site::Site;
use crate::support::sync::{joined, wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const CHECK_IN: &str = "/painel/checkin";
const RULES: &str = "/admin/gamificacao/config/salvar";

/// Moves the clock to an instant, logs a student in and checks in.
#[track_caller]
fn check_in(site: &Site, student: &str, instant: &str) -> Value {
    site.clock().set(instant);
    site.person(student).post(CHECK_IN, &json!({})).ok()
}

/// Some members of an answer.
fn some(answer: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| answer[name].clone()).collect()
}

/// The values of `names` in the rows of a ranking.
#[track_caller]
fn ranked(site: &Site, student: &str, kind: &str, names: &[&str]) -> Vec<Value> {
    let path = format!("/painel/competicao/ranking-json?tipo={kind}");
    let answer = site.person(student).get(&path).ok();
    let rows = answer["ranking"].as_array().unwrap();
    rows.iter().map(|row| some(row, names)).collect()
}

#[track_caller]
fn set_xp(admin: &Actor<'_>, action: &str, xp: i64) {
    let body = json!({ "acao": action, "xp": xp });
    admin.post("/admin/gamificacao/editar-xp", &body).ok();
}

#[test]
fn a_check_in_counts_once_a_civil_day() {
    let site = Site::builder().unlimited().config("program.lap_days", 3).start();
    let ext = site.extension("ana");
    let program = |ext: &Actor<'_>| ext.get("/api/ext/me").ok()["program"].clone();
    assert_eq!(
        program(&ext),
        json!({ "checkin_hoje": false, "streak": 0, "lap": 1, "ultimo_checkin": null, "dias_sem_check": null })
    );
    let names = ["ja_feito", "streak", "lap", "xp_ganho", "xp"];
    for (instant, expected) in [
        // 23:59:59 in Brasília, then midnight.
        ("2026-11-21T02:59:59Z", json!([false, 1, 1, 10, 10])),
        ("2026-11-21T02:59:59Z", json!([true, 1, 1, 0, 10])),
        ("2026-11-21T03:00:00Z", json!([false, 2, 1, 10, 20])),
        ("2026-11-22T02:59:59Z", json!([true, 2, 1, 0, 20])),
        // The third one completes a lap.
        ("2026-11-22T12:00:00Z", json!([false, 3, 2, 160, 180])),
        // Two days later a new streak begins.
        ("2026-11-25T12:00:00Z", json!([false, 1, 2, 10, 190])),
        // The clock is set back: an earlier day gives nothing.
        ("2026-11-24T12:00:00Z", json!([true, 1, 2, 0, 190])),
    ] {
        assert_eq!(some(&check_in(&site, "ana", instant), &names), expected, "{instant}");
    }
    site.clock().set("2026-11-26T12:00:00Z");
    assert_eq!(
        program(&ext),
        json!({ "checkin_hoje": false, "streak": 1, "lap": 2, "ultimo_checkin": "2026-11-25", "dias_sem_check": 1 })
    );
    // A missed day ends it, whether or not the tasks have run.
    site.clock().set("2026-11-27T12:00:00Z");
    assert_eq!(some(&program(&ext), &["streak", "dias_sem_check"]), json!([0, 2]));
}

#[test]
fn days_on_which_the_clock_is_moved_count_as_days() {
    let site = Site::builder().unlimited().config("server.timezone", "America/Santiago").start();
    // In Santiago 2026-09-06 begins at 01:00, and 2026-04-05 lasts 25 hours.
    for (instant, streak) in [
        ("2026-09-06T03:30:00Z", 1), // 2026-09-05, 23:30
        ("2026-09-06T04:00:00Z", 2), // 2026-09-06, 01:00
        ("2026-09-07T02:59:59Z", 2), // 2026-09-06, 23:59:59
        ("2026-09-07T03:00:00Z", 3), // 2026-09-07, 00:00
        ("2027-04-03T12:00:00Z", 1),
        ("2027-04-04T03:30:00Z", 1), // the hour before midnight comes twice
        ("2027-04-04T04:30:00Z", 2),
    ] {
        assert_eq!(check_in(&site, "ana", instant)["streak"], streak, "{instant}");
    }
}

#[test]
fn of_many_check_ins_at_once_one_counts() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let first = || {
        let answer = ana.send_apart(Request::new("POST", CHECK_IN).json(&json!({}))).ok();
        answer["ja_feito"] == json!(false)
    };
    let counted = thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(first)).collect();
        calls.into_iter().map(|call| usize::from(call.join().unwrap())).sum::<usize>()
    });
    assert_eq!(counted, 1);
    assert_eq!(
        ranked(&site, "ana", "geral", &["nome", "xp", "eu"]),
        [json!(["ana da Silva", 10, true])]
    );
}

#[test]
fn rules_hold_for_what_comes_and_limits_for_a_day() {
    let site = Site::builder().unlimited().config("program.lap_days", 4).start();
    let admin = || site.administrator();
    let (_, lessons) =
        crate::support::content::course(&admin(), &json!({ "titulo": "Curso" }), &["Um", "Dois"]);
    let course =
        shown(&site.person("ana"), "/painel/aulas")["dados"][0]["id"].as_str().unwrap().to_owned();
    let finish = |lesson: &str, done: bool| {
        site.person("ana")
            .post(&format!("/painel/aulas/{course}/{lesson}/feita"), &json!({ "feita": done }))
            .ok();
    };
    let xp = || ranked(&site, "ana", "geral", &["xp"])[0][0].clone();
    assert_eq!(check_in(&site, "ana", "2026-11-21T12:00:00Z")["xp_ganho"], 10);
    set_xp(&admin(), "checkin", 20);
    admin().post(RULES, &json!({ "multiplicador": 1.5, "multiplicador_streak": 0.5 })).ok();
    // 20 × 1.5 × (1 + 0.5 × 2/4).
    assert_eq!(check_in(&site, "ana", "2026-11-22T12:00:00Z")["xp_ganho"], 38);
    admin()
        .post(RULES, &json!({ "multiplicador": 1, "multiplicador_streak": 0, "limite_diario": 30 }))
        .ok();
    assert_eq!(check_in(&site, "ana", "2026-11-23T12:00:00Z")["xp_ganho"], 20);
    finish(&lessons[0], true);
    assert_eq!(xp(), 10 + 38 + 30, "what remains of the day's limit");
    finish(&lessons[1], true);
    site.clock().set("2026-11-24T12:00:00Z");
    finish(&lessons[1], false);
    finish(&lessons[1], true);
    assert_eq!(xp(), 78, "a lesson gives once");
    // The daily limit does not reduce the reward for a lap.
    assert_eq!(check_in(&site, "ana", "2026-11-24T12:00:00Z")["xp_ganho"], 20 + 150);
    for (body, field) in [
        (json!({ "acao": "dormir", "xp": 1 }), "acao"),
        (json!({ "acao": "checkin", "xp": -1 }), "xp"),
        (json!({ "acao": "checkin", "xp": 1.5 }), "xp"),
        (json!({ "acao": "checkin" }), "xp"),
    ] {
        let answer = admin().post("/admin/gamificacao/editar-xp", &body).expect(422).json();
        assert!(answer["fields"][field].is_string(), "{answer}");
    }
    for body in [json!({ "multiplicador": -1 }), json!({ "limite_diario": "muito" })] {
        admin().post(RULES, &body).expect(422);
    }
}

#[test]
fn milestones_grow_and_levels_follow_from_points_at_once() {
    let site = Site::builder().unlimited().config("program.lap_days", 300).start();
    let ext = site.extension("ana");
    site.clock().set("2026-11-21T12:00:00Z");
    let admin = site.administrator();
    let edit = |body: &Value| admin.post("/admin/gamificacao/editar-milestone", body);
    let level = || ranked(&site, "ana", "geral", &["nivel", "badge"])[0].clone();
    set_xp(&admin, "checkin", 160);
    assert_eq!(check_in(&site, "ana", "2026-11-21T12:00:00Z")["nivel"], 1);
    assert_eq!(level(), json!([1, "Motor ligado"]));
    let told = ext.get("/api/ext/me").ok()["ml"]["notificacoes"].clone();
    assert_eq!(some(&told[0], &["tipo", "titulo"]), json!(["programa", "Novo selo: Motor ligado"]));
    edit(&json!({ "numero": 2, "titulo": "Curva", "xp": 155, "badge": "Curva fechada", "recompensa": "Camiseta" })).ok();
    assert_eq!(level(), json!([2, "Curva fechada"]), "a milestone holds for everybody at once");
    for (body, field) in [
        (json!({ "numero": 2, "xp": 150 }), "xp"),
        (json!({ "numero": 2, "xp": 500 }), "xp"),
        (json!({ "numero": 1, "xp": 155 }), "xp"),
        (json!({ "numero": 0, "xp": 1 }), "numero"),
        (json!({ "numero": 21, "xp": 1 }), "numero"),
        (json!({ "numero": 3, "titulo": "" }), "titulo"),
    ] {
        let answer = edit(&body).expect(422).json();
        assert!(answer["fields"][field].is_string(), "{body} {answer}");
    }
    let overview = Request::new("GET", "/admin/gamificacao").header("Accept", "application/json");
    let all = admin.send(overview).ok()["milestones"].clone();
    let xp: Vec<i64> =
        all.as_array().unwrap().iter().map(|one| one["xp"].as_i64().unwrap()).collect();
    assert!(xp.len() == 20 && xp.is_sorted_by(|a, b| a < b), "{xp:?}");
}

#[test]
fn a_milestone_that_comes_down_to_somebody_is_told_once() {
    let site = Site::builder().unlimited().start();
    set_xp(&site.administrator(), "checkin", 160);
    // More than one job of the writer tells.
    for number in 0..30 {
        check_in(&site, &format!("aluna{number}"), "2026-11-21T12:00:00Z");
    }
    set_xp(&site.administrator(), "checkin", 10);
    check_in(&site, "bia", "2026-11-21T12:00:00Z");
    let lower = |xp: i64| {
        let admin = site.administrator();
        admin.post("/admin/gamificacao/editar-milestone", &json!({ "numero": 2, "xp": xp })).ok();
        until("everybody is told", Duration::from_secs(30), || {
            (site.stored("SELECT count(*) || '' FROM milestone_lowered") == ["0"]).then_some(())
        });
    };
    let told = || {
        site.stored(
            "SELECT count(*) || ' ' || count(DISTINCT owner_id) FROM notification
             WHERE title = 'Novo selo: Mãos no volante'",
        )
    };
    lower(200);
    assert_eq!(told(), ["0 0"], "nobody has that many");
    lower(155);
    assert_eq!(told(), ["30 30"]);
    let ext = site.extension("aluna7");
    let news = ext.get("/api/ext/me").ok()["ml"]["notificacoes"].clone();
    assert_eq!(
        some(&news[0], &["tipo", "titulo"]),
        json!(["programa", "Novo selo: Mãos no volante"])
    );
    // Raised, reached again and lowered again, it is no news.
    lower(165);
    check_in(&site, "aluna0", "2026-11-22T12:00:00Z");
    lower(151);
    assert_eq!(told(), ["30 30"]);
    // What a recount gives back is told as well.
    alter(
        &site,
        "UPDATE program_student SET xp = 1 WHERE student_id = (SELECT max(student_id) FROM program_student);
         UPDATE program_entry SET xp = 400 WHERE student_id = (SELECT max(student_id) FROM program_student)",
    );
    site.administrator().post("/admin/gamificacao/recalcular", &json!({})).ok();
    assert_eq!(told(), ["31 31"]);
}

#[test]
fn a_challenge_rewards_once_and_also_those_who_were_there_before() {
    let site = Site::builder().unlimited().start();
    for day in ["2026-11-20", "2026-11-21"] {
        check_in(&site, "ana", &format!("{day}T12:00:00Z"));
    }
    let challenge = json!({
        "titulo": "Três dias", "descricao": "Três check-ins.", "acao": "checkin", "meta": 3,
        "inicio": "2026-11-20", "fim": "2026-11-22", "recompensa_xp": 500, "recompensa": "Caneca",
    });
    let save = |body: &Value| site.administrator().post("/admin/gamificacao/desafio/salvar", body);
    let id = save(&challenge).ok()["id"].clone();
    let done = check_in(&site, "ana", "2026-11-22T12:00:00Z");
    assert_eq!(some(&done, &["xp_ganho", "desafios"]), json!([510, ["Três dias"]]));
    check_in(&site, "bia", "2026-11-22T12:00:00Z");
    // The goal is made easier: the tasks give the reward to students who had
    // reached it.
    save(&json!({ "id": id, "meta": 1 })).ok();
    run_at(&site, "2026-11-22T12:01:00Z");
    run_at(&site, "2026-11-22T12:02:00Z");
    let points = || ranked(&site, "bia", "geral", &["nome", "xp"]);
    assert_eq!(points(), [json!(["ana S.", 530]), json!(["bia da Silva", 510])]);
    let listed = |instant: &str| {
        site.clock().set(instant);
        let answer = site.administrator().get("/admin/gamificacao/desafios-json").ok();
        [&answer["ativos"], &answer["expirados"]].map(|list| list.as_array().unwrap().len())
    };
    assert_eq!(listed("2026-11-23T02:59:59Z"), [1, 0]);
    assert_eq!(listed("2026-11-23T03:00:00Z"), [0, 1]);
    for (change, field) in [
        (json!({ "acao": "dormir" }), "acao"),
        (json!({ "meta": 0 }), "meta"),
        (json!({ "inicio": "2026-02-30" }), "inicio"),
        (json!({ "fim": "2026-11-19" }), "fim"),
        (json!({ "titulo": "" }), "titulo"),
        (json!({ "recompensa_xp": -1 }), "recompensa_xp"),
    ] {
        let mut body = challenge.clone();
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let answer = save(&body).expect(422).json();
        assert!(answer["fields"][field].is_string(), "{body} {answer}");
    }
    site.administrator().post("/admin/gamificacao/desafio/excluir", &json!({ "id": id })).ok();
    site.administrator()
        .post("/admin/gamificacao/desafio/excluir", &json!({ "id": id }))
        .expect(404);
    save(&json!({ "id": id, "meta": 1 })).expect(404);
    assert_eq!(points()[0], json!(["ana S.", 530]), "what it gave stays");
}

#[test]
fn the_ranking_has_its_order_its_names_and_nobody_suspended() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    // Davi is first to reach what the others reach later.
    for (second, name) in [(1, "davi"), (2, "ana"), (3, "bia")] {
        check_in(&site, name, &format!("2026-11-20T12:00:0{second}Z"));
    }
    check_in(&site, "caio", "2026-11-21T12:00:00Z");
    check_in(&site, "caio", "2026-11-22T12:00:00Z");
    let rows = ranked(&site, "ana", "geral", &["posicao", "nome", "xp", "eu"]);
    assert_eq!(
        rows,
        [
            json!([1, "caio S.", 20, false]),
            json!([2, "davi S.", 10, false]),
            json!([3, "ana da Silva", 10, true]),
            json!([4, "bia S.", 10, false]),
        ]
    );
    let ana = site.person("ana");
    let page = |number: u32| {
        let path = format!("/painel/competicao/ranking-json?por_pagina=1&pagina={number}");
        let answer = ana.get(&path).ok();
        assert_eq!(some(&answer, &["ok", "total", "por_pagina"]), json!([true, 4, 1]));
        answer["ranking"][0]["posicao"].clone()
    };
    let positions: Vec<Value> = (1..=5).map(page).collect();
    assert_eq!(positions, [json!(1), json!(2), json!(3), json!(4), Value::Null]);
    assert_eq!(ranked(&site, "bia", "streak", &["nome", "valor"]), [json!(["caio S.", 2])]);
    let count = |kind| ranked(&site, "ana", kind, &["nome"]).len();
    crm.post("/api/v1/alunos/suspender", &json!({ "email": "davi@example.com" })).ok();
    assert_eq!(["geral", "mensal", "semanal", "vendas"].map(count), [3, 3, 3, 0]);
    crm.post("/api/v1/alunos/reativar", &json!({ "email": "davi@example.com" })).ok();
    assert_eq!(count("geral"), 4);
    for bad in ["tipo=amigos", "pagina=0", "pagina=x", "por_pagina=-1"] {
        ana.get(&format!("/painel/competicao/ranking-json?{bad}")).expect(422);
    }
    let capped = ana.get("/painel/competicao/ranking-json?por_pagina=500").ok();
    assert_eq!(capped["por_pagina"], 100);
    site.administrator().get("/painel/competicao/ranking-json").expect(403);
    // A new week and a new month begin without points.
    site.clock().set("2026-12-01T12:00:00Z");
    assert_eq!(["geral", "mensal", "semanal", "streak"].map(count), [4, 0, 0, 0]);
}

#[test]
fn sales_give_once_and_take_back_when_they_are_cancelled() {
    let world = World::start();
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.seller(LOJA, "LOJA");
    world.item(LOJA, "Garrafa", 10.0);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let xp = || ranked(&site, "ana", "geral", &["xp"])[0][0].as_i64().unwrap();
    let linked = xp();
    assert_eq!(linked, 30, "for linking the account");
    let sale = world.sale(LOJA);
    wait_until_worked(&world, &site);
    assert_eq!(xp(), linked + 5);
    assert_eq!(ranked(&site, "ana", "vendas", &["nome", "valor"]), [json!(["ana da Silva", 1])]);
    // Another notification, or a change that keeps the sale, gives nothing more.
    let order = format!("/_sandbox/orders/{}", sale["id"]);
    for change in [json!({ "status": "partially_refunded" }), json!({ "status": "paid" })] {
        world.control(&order, &change);
        wait_until_worked(&world, &site);
        assert_eq!(xp(), linked + 5);
    }
    world.control(&order, &json!({ "status": "cancelled" }));
    wait_until_worked(&world, &site);
    assert_eq!(xp(), linked);
    assert!(ranked(&site, "ana", "vendas", &["nome"]).is_empty());
    site.administrator().post(RULES, &json!({ "limite_venda_diario": 12 })).ok();
    for _ in 0..4 {
        world.sale(LOJA);
    }
    wait_until_worked(&world, &site);
    assert_eq!(xp(), linked + 7, "what was taken back leaves no room for more that day");
    site.person("ana").post("/painel/ml/contas/900000001/desvincular", &json!({})).ok();
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    assert_eq!(xp(), linked + 7, "linked again, read again");
}

#[test]
fn attending_a_meet_gives_points_in_its_time() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let meet = made(
        &admin,
        "/admin/meets",
        &json!({
            "titulo": "Tira-dúvidas", "data_hora": "2026-11-22 15:00:00", "duracao_minutos": 60,
            "link": "https://meet.example.com/abc",
        }),
    );
    let join = |instant: &str| {
        site.clock().set(instant);
        let reply = site.person("ana").get(&format!("/painel/meets/{meet}/entrar")).expect(303);
        assert_eq!(reply.header("location"), Some("https://meet.example.com/abc"));
        ranked(&site, "ana", "geral", &["xp"]).first().map_or(0, |row| row[0].as_i64().unwrap())
    };
    for (instant, xp) in
        [("2026-11-22T17:44:59Z", 0), ("2026-11-22T17:45:00Z", 50), ("2026-11-22T18:30:00Z", 50)]
    {
        assert_eq!(join(instant), xp, "{instant}");
    }
    site.person_as("gil", "free").get(&format!("/painel/meets/{meet}/entrar")).expect(404);
    site.person("ana").get("/painel/meets/999999/entrar").expect(404);
}

#[test]
fn the_evening_reminds_those_who_have_not_checked_in_once() {
    let site = Site::builder().unlimited().config("program.reminder_hour", 20).start();
    for name in ["ana", "bia", "caio"] {
        site.make_person(name, "pro");
    }
    alter(&site, "UPDATE user SET chat_number = '5511987654321'");
    check_in(&site, "ana", "2026-11-20T12:00:00Z");
    check_in(&site, "bia", "2026-11-20T12:00:00Z");
    check_in(&site, "bia", "2026-11-21T12:00:00Z");
    let counts = |instant: &str| some(&run_at(&site, instant), &["alertas_20h", "furados"]);
    for (instant, expected) in [
        ("2026-11-21T22:59:59Z", json!([0, 0])), // 19:59:59 in Brasília
        ("2026-11-21T23:00:00Z", json!([1, 0])), // Ana; Caio is not in the program
        ("2026-11-21T23:00:00Z", json!([0, 0])),
        ("2026-11-22T02:59:59Z", json!([0, 0])),
        ("2026-11-22T03:00:00Z", json!([0, 1])), // Ana missed the day before
        ("2026-11-22T03:01:00Z", json!([0, 0])),
        ("2026-11-22T23:30:00Z", json!([2, 0])),
        ("2026-11-23T03:00:00Z", json!([0, 1])), // Bia
        ("2026-11-24T12:00:00Z", json!([0, 0])),
    ] {
        assert_eq!(counts(instant), expected, "{instant}");
    }
    alter(&site, "UPDATE user SET suspended_at = 1 WHERE email = 'ana@example.com'");
    assert_eq!(counts("2026-11-24T23:30:00Z"), json!([1, 0]));
}

#[test]
fn students_without_data_are_brought_in_with_what_they_did() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    for name in ["ana", "bia", "caio"] {
        site.make_person(name, "pro");
    }
    check_in(&site, "ana", "2026-11-20T12:00:00Z");
    let status = || {
        some(
            &admin.get("/admin/gamificacao/status").ok(),
            &["ok", "total", "migrados", "pendentes"],
        )
    };
    assert_eq!(status(), json!([true, 3, 1, 2]));
    alter(
        &site,
        "INSERT INTO course (course_id, title, position, published, created_at, updated_at) VALUES (1, 'Curso', 1, 1, 0, 0)",
    );
    alter(&site, "INSERT INTO lesson (lesson_id, course_id, title, video_url, position, created_at, updated_at)
                  VALUES (1, 1, 'Um', 'https://youtu.be/dQw4w9WgXcQ', 1, 0, 0)");
    alter(
        &site,
        "INSERT INTO lesson_done (user_id, lesson_id, done_at)
                  SELECT user_id, 1, 1795000000 FROM user WHERE email = 'bia@example.com'",
    );
    let asked = Request::new("GET", "/admin/gamificacao/migrar").header("Accept", "text/html");
    admin.send(asked).expect(200);
    assert_eq!(status(), json!([true, 3, 1, 2]), "a browser is asked first");
    let strange = Request::new("GET", "/admin/gamificacao/migrar?confirmar=1")
        .header("Sec-Fetch-Site", "cross-site");
    admin.send(strange).expect(403);
    let done = admin.get("/admin/gamificacao/migrar").ok();
    assert_eq!(some(&done, &["ok", "migrados_agora", "pendentes"]), json!([true, 2, 0]));
    assert_eq!(status(), json!([true, 3, 3, 0]));
    assert_eq!(
        ranked(&site, "caio", "geral", &["nome", "xp"]),
        [json!(["bia S.", 20]), json!(["ana S.", 10]), json!(["caio da Silva", 0])]
    );
    assert_eq!(admin.get("/admin/gamificacao/migrar").ok()["migrados_agora"], 0);
}

#[test]
fn a_recount_changes_nothing_that_is_right_and_mends_what_is_not() {
    let site = Site::builder().unlimited().start();
    for day in 20..24 {
        check_in(&site, "ana", &format!("2026-11-{day}T12:00:00Z"));
    }
    check_in(&site, "bia", "2026-11-21T12:00:00Z");
    run_at(&site, "2026-11-24T12:00:00Z");
    let dump = || {
        site.stored("SELECT json_array(student_id, entries, xp, xp_at, month_xp, week_xp, checkins, last_checkin, streak, best_streak, sales) FROM program_student ORDER BY 1")
    };
    let recount = || {
        some(
            &site.administrator().post("/admin/gamificacao/recalcular", &json!({})).ok(),
            &["ok", "concluido", "alunos", "conferidos", "corrigidos"],
        )
    };
    let healthy = dump();
    assert_eq!(recount(), json!([true, true, 2, 2, 0]));
    assert_eq!(dump(), healthy);
    let damage = "UPDATE program_student SET xp = 999, streak = 77, month_xp = -4 WHERE xp < 20";
    alter(&site, damage);
    assert_eq!(recount(), json!([true, true, 2, 2, 1]));
    assert_eq!(dump(), healthy);
    // A comparison that a kill interrupted continues at the next start.
    alter(
        &site,
        &format!(
            "{damage}; UPDATE program_recount SET ended_at = NULL, position = 1, looked_at = 1"
        ),
    );
    until("the look goes on", Duration::from_secs(30), || (dump() == healthy).then_some(()));
}

#[test]
fn a_correction_has_a_reason_and_stands_in_the_log() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    check_in(&site, "ana", "2026-11-20T12:00:00Z");
    let id = shown(&admin, "/admin/alunos?q=ana")["dados"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/gamificacao/alunos/{id}/corrigir");
    let correct = |xp: i64, reason: &str| admin.post(&path, &json!({ "xp": xp, "motivo": reason }));
    assert_eq!(correct(40, "Ganhou o sorteio").ok()["xp"], 50);
    assert_eq!(correct(-5, "Engano").ok()["xp"], 45);
    correct(0, "Nada").expect(422);
    correct(5, "").expect(422);
    admin
        .post("/admin/gamificacao/alunos/999999/corrigir", &json!({ "xp": 5, "motivo": "Outro" }))
        .expect(404);
    let log = site.stored("SELECT json_extract(after, '$.motivo') FROM audit WHERE action = 'aluno.corrigir_xp' ORDER BY audit_id");
    assert_eq!(log, ["Ganhou o sorteio", "Engano"]);
    assert_eq!(ranked(&site, "ana", "geral", &["xp"]), [json!([45])]);
}
