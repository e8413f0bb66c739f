//! Meet reminders and inactivity alerts, tested at the exact times.

use serde_json::json;

use crate::support::cron::{alter, meet, queued, run, run_at, student};
use crate::support::site::Site;

const REMINDER: &str = "lembrete_encontro";

#[test]
fn a_meet_is_announced_in_two_moments_at_their_very_edges() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "pro");
    // It begins at 15:00 in Brasília, which is 18:00 UTC.
    meet(&site, "2026-11-22 15:00:00");
    let told = |instant: &str| run_at(&site, instant)["meets_notif"].as_i64().unwrap();
    for (instant, expected) in [
        ("2026-11-21T17:59:59Z", 0), // a second too early
        ("2026-11-21T18:00:00Z", 1), // exactly 24 hours
        ("2026-11-21T18:00:00Z", 0), // once
        ("2026-11-21T18:59:59Z", 0),
        ("2026-11-22T17:54:59Z", 0), // a second too early
        ("2026-11-22T17:55:00Z", 1), // exactly 5 minutes
        ("2026-11-22T17:59:59Z", 0),
        ("2026-11-22T18:00:00Z", 0),
        // The clock is set back: nothing is sent again.
        ("2026-11-21T18:30:00Z", 0),
        ("2026-11-22T17:57:00Z", 0),
    ] {
        assert_eq!(told(instant), expected, "{instant}");
    }
    let ends = "SELECT datetime(expires_at, 'unixepoch') || ' ' || json_extract(params, '$.moment') FROM outbox
                WHERE kind = 'lembrete_encontro' ORDER BY message_id";
    assert_eq!(site.stored(ends), ["2026-11-22 18:00:00 24h", "2026-11-22 18:00:00 5min"]);
}

#[test]
fn a_missed_run_is_made_up_while_what_it_says_is_true() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "pro");
    meet(&site, "2026-11-22 15:00:00");
    meet(&site, "2026-11-23 15:00:00");
    let told = |instant: &str| run_at(&site, instant)["meets_notif"].as_i64().unwrap();
    // The last second for the first meet's reminder; then none for the second.
    assert_eq!(told("2026-11-21T18:59:59Z"), 1);
    assert_eq!(told("2026-11-22T17:59:59Z"), 1, "a second before the start");
    assert_eq!(told("2026-11-22T19:00:00Z"), 0, "exactly 23 hours");
    assert_eq!(told("2026-11-23T18:00:00Z"), 0, "it has begun");
}

#[test]
fn reminders_go_to_those_whose_plan_or_exception_has_meets() {
    let site = Site::builder().unlimited().start();
    for (name, plan) in [
        ("pro", "pro"),
        ("gratis", "free"),
        ("com-excecao", "free"),
        ("sem-permissao", "vip"),
        ("suspensa", "vip"),
    ] {
        student(&site, name, plan);
    }
    site.make_person("sem-numero", "pro");
    site.make_person("fornecedor", "drop");
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/suspender", &json!({ "email": "suspensa@example.com" })).ok();
    alter(
        &site,
        "INSERT INTO user_permission (user_id, permission, granted)
         SELECT user_id, 'meets', email = 'com-excecao@example.com' FROM user
         WHERE email IN ('com-excecao@example.com', 'sem-permissao@example.com')",
    );
    meet(&site, "2026-11-21 09:00:00");
    assert_eq!(run(&site)["meets_notif"], 2);
    assert_eq!(queued(&site, REMINDER), ["chat com-excecao@example.com", "chat pro@example.com"]);
}

#[test]
fn who_has_no_number_is_told_by_email_where_that_is_configured() {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "Escola <escola@exemplo.com>")
        .start();
    student(&site, "ana", "pro");
    site.make_person("bia", "pro");
    meet(&site, "2026-11-21 09:00:00");
    assert_eq!(run(&site)["meets_notif"], 2);
    assert_eq!(queued(&site, REMINDER), ["chat ana@example.com", "email bia@example.com"]);
}

#[test]
fn a_meet_that_is_moved_or_removed_takes_its_reminders_back() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "pro");
    let (moved, removed) = (meet(&site, "2026-11-21 09:00:00"), meet(&site, "2026-11-21 09:00:00"));
    assert_eq!(run(&site)["meets_notif"], 2);
    let admin = site.administrator();
    let later = json!({ "data_hora": "2026-11-23 09:00:00" });
    admin.post(&format!("/admin/meets/{moved}"), &later).ok();
    admin.post(&format!("/admin/meets/{removed}/excluir"), &json!({})).ok();
    assert_eq!(run(&site)["meets_notif"], 0);
    assert_eq!(queued(&site, REMINDER), Vec::<String>::new());
    let why = "SELECT DISTINCT outcome FROM outbox WHERE kind = 'lembrete_encontro'";
    assert_eq!(site.stored(why), ["o encontro mudou de horário ou foi excluído"]);
    // At its new time it is announced again.
    assert_eq!(run_at(&site, "2026-11-22T12:00:00Z")["meets_notif"], 1);
    assert_eq!(queued(&site, REMINDER).len(), 1);
}

pub const ALERT: &str = "inatividade";

#[test]
fn inactivity_is_told_once_a_stretch_after_full_civil_days() {
    let site = Site::builder().unlimited().start();
    site.make_person("administradora", "admin");
    site.clock().set("2026-11-21T02:59:59Z");
    student(&site, "ana", "free");
    site.clock().set("2026-11-21T03:00:00Z");
    student(&site, "bia", "free");
    let told = |instant: &str| run_at(&site, instant)["inativos"].as_i64().unwrap();
    for (instant, expected) in [
        // Ana came on the 20th, so 21, 22 and 23 are full days without her.
        ("2026-11-24T02:59:59Z", 0),
        ("2026-11-24T03:00:00Z", 1),
        ("2026-11-24T03:00:01Z", 0),
        // Bia came a second later, on the 21st.
        ("2026-11-25T02:59:59Z", 0),
        ("2026-11-25T12:00:00Z", 1), // the run of midnight was missed
        ("2026-11-25T23:00:00Z", 0),
        // The clock is set back, and forward again.
        ("2026-11-24T03:00:00Z", 0),
        ("2026-11-30T12:00:00Z", 0),
    ] {
        assert_eq!(told(instant), expected, "{instant}");
    }
    // The absence is the same one, even when its message was removed long ago.
    alter(&site, "DELETE FROM outbox");
    assert_eq!(told("2027-01-20T12:00:00Z"), 0);
}

#[test]
fn a_login_begins_a_new_stretch_and_suspension_ends_all() {
    let site = Site::builder().unlimited().start();
    student(&site, "ana", "vip");
    student(&site, "rui", "vip");
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/suspender", &json!({ "email": "rui@example.com" })).ok();
    assert_eq!(run_at(&site, "2026-11-24T12:00:00Z")["inativos"], 1);
    assert_eq!(queued(&site, ALERT), ["chat ana@example.com"]);
    // A person with a password, who gets a number.
    let person = site.person_as("caio", "vip");
    person.get("/painel").expect(200);
    alter(&site, "UPDATE user SET chat_number = '5511987654321' WHERE email = 'caio@example.com'");
    assert_eq!(run_at(&site, "2026-11-27T12:00:00Z")["inativos"], 0);
    assert_eq!(run_at(&site, "2026-11-28T12:00:00Z")["inativos"], 1);
    site.person("caio");
    assert_eq!(run_at(&site, "2026-12-01T12:00:00Z")["inativos"], 0);
    assert_eq!(run_at(&site, "2026-12-02T12:00:00Z")["inativos"], 1);
}

#[test]
fn calls_of_programs_keep_nobody_from_being_inactive() {
    let site = Site::builder().unlimited().start();
    let extension = site.extension("ana");
    let partner = site.seller("ana").plan("pro");
    alter(&site, "UPDATE user SET chat_number = '5511987654321' WHERE email = 'ana@example.com'");
    let assistant = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut alerts = Vec::new();
    for day in 21..=25 {
        site.clock().set(&format!("2026-11-{day}T11:00:00Z"));
        extension.get("/api/ext/me").ok();
        partner.get("/api/v1/partner/health").ok();
        partner.post("/mcp", &assistant).expect(200);
        // What is written behind is stored with the stop.
        site.stop();
        site.start_again();
        let run = run_at(&site, &format!("2026-11-{day}T12:00:00Z"));
        alerts.push(run["inativos"].as_i64().unwrap());
    }
    // She came on the 20th, so 21, 22 and 23 are full days without her.
    assert_eq!(alerts, [0, 0, 0, 1, 0]);
    site.person_as("ana", "vip").get("/painel").expect(200);
    assert_eq!(run_at(&site, "2026-11-28T12:00:00Z")["inativos"], 0);
    assert_eq!(run_at(&site, "2026-11-29T12:00:00Z")["inativos"], 1);
}

#[test]
fn inactivity_alerts_wait_for_the_morning() {
    let site = Site::builder().unlimited().start();
    for number in 0..20 {
        student(&site, &format!("aluna{number}"), "free");
    }
    assert_eq!(run_at(&site, "2026-11-24T03:00:00Z")["inativos"], 20);
    let leaves = "SELECT run_at || '' FROM outbox WHERE kind = 'inatividade' ORDER BY run_at";
    let leaves = site.stored(leaves);
    let eight = 1_795_518_000; // 2026-11-24 08:00:00 in Brasília
    let waits: Vec<i64> = leaves.iter().map(|at| at.parse::<i64>().unwrap() - eight).collect();
    assert!(waits.iter().all(|wait| (0..300).contains(wait)), "{waits:?}");
    assert_eq!(waits.len(), 20);
    assert!(waits.first() < waits.last(), "{waits:?}");
}
