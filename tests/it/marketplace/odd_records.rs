//! One bad record does not break a page of good ones: the inbox handles the
//! others and sets it aside, and the lists show what they have of it.

use serde_json::{Value, json};

use crate::support::cron::json_of;
use crate::support::site::Site;
use crate::support::sync::{PATIENCE, mirrored, shop};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const INBOX: &str = "/admin/notificacoes";

fn spoil(world: &World, record: &str, spoiled: bool) {
    let what = json!({ "record": record, "spoiled": spoiled });
    world.control("/_sandbox/spoil", &what);
}

fn orders(site: &Site) -> Vec<String> {
    site.stored("SELECT count(*) || '' FROM sale_order")
}

#[test]
fn a_notification_that_always_fails_delays_nothing_and_is_set_aside() {
    let world = shop();
    let site = mirrored(&world);
    world.configure(&json!({ "hold": true }));
    let sales: Vec<String> = (0..9).map(|_| world.sale(LOJA)["id"].to_string()).collect();
    for bad in [0, 4, 8] {
        spoil(&world, &format!("orders/{}", sales[bad]), true);
    }
    world.configure(&json!({ "hold": false }));
    world.deliveries();
    // The good ones are stored before any of the bad ones is retried.
    until("the others are here", PATIENCE, || (orders(&site) == ["6"]).then_some(()));
    let admin = site.administrator();
    let bad = |state: &str| {
        let found = json_of(&admin, &format!("{INBOX}?estado={state}&topico=orders_v2"));
        found["total"].as_i64().unwrap()
    };
    assert_eq!((bad("pendente"), bad("falhou")), (3, 0));
    let waiting = |tries: i64| {
        let waiting = format!(
            "SELECT count(*) || '' FROM ml_notification WHERE state = 0 AND attempts < {tries}"
        );
        until("they are tried", PATIENCE, || (site.stored(&waiting) == ["0"]).then_some(()));
    };
    waiting(1);
    // Days later they are set aside, and show what is wrong.
    for tries in 2..=13 {
        site.clock().advance_s(8 * 3_600);
        waiting(tries);
    }
    let failed = "SELECT count(*) || '' FROM ml_notification WHERE state = 3";
    assert_eq!(site.stored(failed), ["3"]);
    let admin = site.administrator();
    let failed = json_of(&admin, &format!("{INBOX}?estado=falhou"));
    let one = &failed["dados"][0];
    assert_eq!(one["resultado"], "a resposta não faz sentido: date_created");
    let page = admin.get(&format!("{INBOX}?estado=falhou")).expect(200);
    assert!(page.text().contains("/orders/"), "{page}");
    // When the records are correct again, a button reads them.
    for bad in [0, 4, 8] {
        spoil(&world, &format!("orders/{}", sales[bad]), false);
    }
    for one in failed["dados"].as_array().unwrap() {
        let again = format!("{INBOX}/{}/reprocessar", one["id"].as_str().unwrap());
        admin.post(&again, &json!({})).ok();
    }
    until("all are here", PATIENCE, || (orders(&site) == ["9"]).then_some(()));
}

/// Makes one odd and one normal thing of each kind; returns the odd sale.
fn trade_oddly(world: &World) -> Value {
    let item = |title: &str| world.item(LOJA, title, 0.01);
    let odd = item(&"Ω".repeat(400));
    item("Caneca");
    let change = |path: String, what: Value| world.control(&format!("/_sandbox/{path}"), &what);
    change(
        format!("items/{odd}"),
        json!({ "status": "x_quebrado", "sub_status": ["x_um", "x_dois"], "sku": "\u{202e}ABC", "logistic": "x_novo" }),
    );
    let sale = world.sale_with(
        LOJA,
        &json!({ "item": odd, "buyer_nickname": "\u{0}<b>", "shipping": "later", "quantity": 10_000, "unit_price": 99_999.99 }),
    );
    change(format!("orders/{}", sale["id"]), json!({ "status": "x_em_orbita" }));
    world.sale(LOJA);
    let asked = change("questions".into(), json!({ "ml_user_id": LOJA, "item": odd, "text": "?" }));
    change(format!("questions/{}", asked["id"]), json!({ "status": "DISABLED" }));
    change("questions".into(), json!({ "ml_user_id": LOJA, "text": "Serve?" }));
    let claim = change(
        "claims".into(),
        json!({ "ml_user_id": LOJA, "type": "x_novo", "stage": "", "reason": "", "action": "x_voar" }),
    );
    change(format!("claims/{}", claim["id"]), json!({ "stage": "x_na_lua" }));
    change("claims".into(), json!({ "ml_user_id": LOJA }));
    sale
}

#[test]
fn what_is_odd_about_a_record_fails_no_list() {
    let world = shop();
    let site = mirrored(&world);
    site.clock().advance_s(60);
    let sale = trade_oddly(&world);
    world.deliveries();
    for _ in 0..3 {
        crate::support::sync::run_after(&site, 4 * 3_600);
    }
    let ana = site.person("ana");
    for (list, rows) in [("vendas", 2), ("anuncios", 3), ("perguntas", 2), ("reclamacoes", 2)] {
        let path = format!("/painel/{list}");
        until(list, PATIENCE, || {
            site.clock().advance_s(5);
            (json_of(&ana, &path)["total"] == rows).then_some(())
        });
        assert_eq!(json_of(&ana, &path)["dados"].as_array().unwrap().len(), rows);
        ana.get(&path).expect(200);
        let file = ana.get(&format!("{path}?formato=csv")).expect(200).text();
        assert_eq!(file.lines().count(), rows + 1, "{file}");
    }
    for path in ["/painel", "/painel/ml", "/painel/ml/etiquetas", "/painel/avisos"] {
        ana.get(path).expect(200);
    }
    let one = json_of(&ana, &format!("/painel/vendas/{}", sale["id"]));
    assert!(one.to_string().contains("x_em_orbita"), "{one}");
    ana.get(&format!("/painel/vendas/{}", sale["id"])).expect(200);
    let integration = site.seller("ana").plan("starter");
    assert_eq!(integration.get("/api/v1/partner/orders").ok()["pagination"]["total"], 2);
    site.extension("ana").get("/api/ext/me").ok();
    world.no_violations();
}
