//! The marketplace's notifications as the operator sees them: what arrived,
//! what happened to it, and how it is handled again.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::{Actor, signed_notification};
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const INBOX: &str = "/admin/notificacoes";
const LOJA: u64 = 900_000_001;

#[track_caller]
fn list(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

/// Sends a signed notification of an account that nobody has linked.
#[track_caller]
fn notify(site: &Site, resource: &str, topic: &str, account: u64) {
    let id = format!("{resource}-{topic}-{account}");
    let now = site.clock().now().as_second();
    let signed = signed_notification(resource, topic, account, &id, now);
    site.anonymous().send(signed).expect(200);
}

#[test]
fn what_came_is_shown_with_what_became_of_it() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    assert_eq!(list(&admin, INBOX), json!({ "ok": true, "total": 0, "dados": [] }));
    assert!(admin.get(INBOX).expect(200).text().contains("Nenhuma notificação ainda"));
    notify(&site, "/orders/2000001", "orders_v2", LOJA);
    let listed = list(&admin, INBOX);
    let id = listed["dados"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        listed["dados"][0],
        json!({
            "id": id, "recebida_em": "2026-11-20 09:00:00", "topico": "orders_v2",
            "recurso": "/orders/2000001", "ml_user_id": LOJA.to_string(), "conta": null,
            "estado": "ignorada", "tentativas": 0, "proxima_tentativa_em": null,
            "resultado": "a conta não está vinculada",
        })
    );
    let page = admin.get(INBOX).expect(200).text();
    for words in ["/orders/2000001", "Vendas", "Ignorado", "a conta não está vinculada"] {
        assert!(page.contains(words), "{words}");
    }
    let one = list(&admin, &format!("{INBOX}/{id}"));
    let body: Value = serde_json::from_str(one["corpo"].as_str().unwrap()).unwrap();
    assert_eq!(body["resource"], "/orders/2000001");
    for other in ["999999", "0", "x", "-1"] {
        admin.get(&format!("{INBOX}/{other}")).expect(404);
    }
    let home = admin.get("/admin").expect(200).text();
    assert!(home.contains("/admin/notificacoes?estado=falhou"));
}

#[test]
fn a_body_is_shown_as_it_came_and_runs_nothing() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let now = site.clock().now().as_second();
    let mut hostile = signed_notification("/orders/1", "orders_v2", LOJA, "um", now);
    let body = format!(
        r#"{{"resource":"/orders/1","topic":"<script>alert(1)</script>","user_id":{LOJA},"x":"</code><img src=x onerror=alert(1)>"}}"#
    );
    hostile.body = Some(body.clone().into_bytes());
    site.anonymous().send(hostile).expect(200);
    let listed = list(&admin, INBOX);
    let id = listed["dados"][0]["id"].as_str().unwrap();
    let target = format!("{INBOX}/{id}");
    assert_eq!(list(&admin, &target)["corpo"], body);
    for page in [&*target, INBOX] {
        let text = admin.get(page).expect(200).text();
        assert!(!text.contains("<script>alert") && !text.contains("<img"), "{text}");
    }
}

#[test]
fn the_inbox_is_searched_filtered_paged_and_exported() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    for number in 1..=25 {
        notify(&site, &format!("/orders/{number}"), "orders_v2", LOJA);
    }
    notify(&site, "/questions/7", "questions", LOJA + 1);
    notify(&site, "/items/MLB77", "items", LOJA + 1);
    notify(&site, "/quotations/9", "quotations", LOJA);
    let total = |target: &str| list(&admin, &format!("{INBOX}{target}"))["total"].as_u64().unwrap();
    for (target, count) in [
        ("", 28),
        ("?estado=ignorada", 28),
        ("?estado=pendente", 0),
        ("?estado=processada", 0),
        ("?topico=orders_v2", 25),
        ("?topico=questions&estado=ignorada", 1),
        ("?topico=claims", 0),
        // A number is searched as that of a resource first, else as that of an
        // account.
        ("?q=7", 2),
        ("?q=7&topico=questions", 1),
        ("?q=900000002", 2),
        ("?q=900000001&topico=orders_v2", 25),
        ("?q=12345", 0),
        ("?q=mlb77", 1),
        ("?q=%2Forders%2F2", 7),
        ("?q=orders%2F25", 1),
        ("?q=%25", 0),
    ] {
        assert_eq!(total(target), count, "{target}");
    }
    let rows = |target: &str| -> Vec<String> {
        let listed = list(&admin, &format!("{INBOX}{target}"));
        let rows = listed["dados"].as_array().unwrap().iter();
        rows.map(|one| one["recurso"].as_str().unwrap().to_owned()).collect()
    };
    let first = rows("?por_pagina=20");
    assert_eq!((first.len(), &*first[0]), (20, "/quotations/9"));
    assert_eq!(rows("?por_pagina=20&pagina=2").len(), 8);
    assert_eq!(rows("?ordem=recebida_em")[0], "/orders/1");
    for wrong in ["?estado=nenhum", "?topico=outro", "?ordem=topico", "?formato=xml"] {
        admin.get(&format!("{INBOX}{wrong}")).expect(422);
    }
    let csv = admin.get("/admin/notificacoes?formato=csv&topico=items").expect(200);
    let line = csv.text().lines().nth(1).unwrap().to_owned();
    assert!(line.contains("items,/items/MLB77,900000002,,ignorada,0,"), "{line}");
    let wrong = "SELECT c.topic FROM ml_notification_count c WHERE c.notifications <>
        (SELECT count(*) FROM ml_notification n WHERE n.state = c.state AND c.topic =
            iif(n.topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), n.topic, ''))";
    assert_eq!(site.stored(wrong), [""; 0]);
}

#[test]
fn a_notification_is_worked_again_from_the_start() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa", 89.9);
    let site = Site::builder().unlimited().world(&world).start();
    let admin = site.administrator();
    // The notification arrived before the account was linked.
    notify(&site, "/orders/1", "orders_v2", LOJA);
    let id = list(&admin, INBOX)["dados"][0]["id"].as_str().unwrap().to_owned();
    let again = format!("{INBOX}/{id}/reprocessar");
    let ana = site.person("ana");
    ana.post(&again, &json!({})).expect(403);
    world.link(&ana, LOJA);
    let back = admin.send(Request::new("POST", &again)).expect(303);
    assert_eq!(back.header("location"), Some("/admin/notificacoes"));
    let one = || list(&admin, &format!("{INBOX}/{id}"));
    // That the order does not exist is believed only again, and after minutes.
    until("it is worked", Duration::from_mins(1), || {
        site.clock().advance_s(5);
        (one()["estado"] == "processada").then_some(())
    });
    assert_eq!(one()["resultado"], "o marketplace não tem esta venda");
    assert!(one()["tentativas"].as_i64() >= Some(2), "{}", one());
    assert_eq!(one()["conta"], "LOJA DA ANA");
    let page = admin.get(&format!("{INBOX}/{id}")).expect(200).text();
    assert!(page.contains("Processar de novo"));
    admin.post(&format!("{INBOX}/999999/reprocessar"), &json!({})).expect(404);
    assert_eq!(
        site.stored("SELECT action || ' ' || object_name || ' ' || before || ' ' || after FROM audit WHERE object_kind = 'notificacao'"),
        [r#"notificacao.reprocessar orders_v2 /orders/1 {"estado":"ignorada","resultado":"the account is not linked"} {"estado":"pendente"}"#]
    );
}

#[test]
fn what_was_dealt_with_goes_after_thirty_days() {
    let site = Site::builder().unlimited().start();
    site.administrator();
    notify(&site, "/orders/1", "orders_v2", LOJA);
    notify(&site, "/orders/2", "orders_v2", LOJA);
    site.stop();
    // One that has no handler yet, older than the time for which others are kept.
    Connection::open_with_flags(site.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)
        .unwrap()
        .execute_batch("UPDATE ml_notification SET state = 4 WHERE resource = '/orders/1'")
        .unwrap();
    site.start_again();
    site.clock().advance_s(29 * 86_400);
    notify(&site, "/orders/3", "orders_v2", LOJA);
    let kept = "SELECT resource || ' ' || state FROM ml_notification ORDER BY 1";
    assert_eq!(site.stored(kept), ["/orders/1 4", "/orders/2 2", "/orders/3 2"]);
    site.clock().advance_s(2 * 86_400);
    until("the old one is gone", Duration::from_mins(1), || {
        (site.stored(kept) == ["/orders/1 4", "/orders/3 2"]).then_some(())
    });
    let admin = site.administrator();
    assert_eq!(list(&admin, INBOX)["total"], 2);
}

#[test]
fn what_waits_for_a_later_try_is_tried_when_told_to() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    let site = Site::builder().unlimited().world(&world).start();
    let admin = site.administrator();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    world.fault(&json!({ "path_prefix": "/orders/", "times": 0, "kind": "status", "code": 500 }));
    notify(&site, "/orders/1", "orders_v2", LOJA);
    let waiting = until("the first try failed", Duration::from_mins(1), || {
        let listed = list(&admin, "/admin/notificacoes?estado=pendente");
        (listed["dados"][0]["tentativas"].as_i64() >= Some(1)).then_some(listed)
    });
    let one = &waiting["dados"][0];
    assert!(one["resultado"].is_string() && one["proxima_tentativa_em"].is_string(), "{one}");
    let target = format!("{INBOX}/{}", one["id"].as_str().unwrap());
    let page = admin.get(&target).expect(200).text();
    assert!(page.contains("Processar de novo"), "{page}");
    let tries = || {
        let calls = world.requests();
        let asked = calls.iter().filter(|call| call["path"] == "/orders/1");
        asked.count()
    };
    let before = tries();
    admin.post(&format!("{target}/reprocessar"), &json!({})).ok();
    until("it is tried again", Duration::from_mins(1), || (tries() > before).then_some(()));
}
