//! What the Partner API and its tools take: ids of one type, and all faults of a call
//! in one answer.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::Reply;
use crate::support::dropshipping::{Trade, relate};
use crate::support::site::Site;
use crate::support::world::LOJA;

const BASE: &str = "/api/v1/partner";
const UNLINK: &str = "/api/v1/partner/drop/catalog/links/unlink";

/// Names of the fields at fault.
#[track_caller]
fn named(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    let fields = body["error"]["fields"].as_object();
    fields.unwrap_or_else(|| panic!("no fields\n{reply}")).keys().cloned().collect()
}

/// Code and names of the fields at fault of a tool's refusal.
#[track_caller]
fn refusal(actor: &Actor<'_>, tool: &str, arguments: &Value) -> (String, Vec<String>) {
    let told = call(actor, tool, arguments);
    assert_eq!(told["isError"], true, "{tool} {arguments}: {told}");
    let text = told["content"][0]["text"].as_str().unwrap();
    let error = serde_json::from_str::<Value>(text).unwrap()["error"].take();
    let fields =
        error["fields"].as_object().unwrap_or_else(|| panic!("{tool} {arguments}: {text}"));
    (error["code"].as_str().unwrap().to_owned(), fields.keys().cloned().collect())
}

#[test]
fn an_id_goes_back_in_as_it_came_out() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    trade.link();
    site.clock().advance_s(60);
    let order = trade.sell(1);
    let (ana, sol) = (site.seller("ana").plan("scale"), trade.sol());
    let store =
        call(&ana, "list_stores", &json!({}))["structuredContent"]["data"][0]["ml_user_id"].take();
    assert_eq!(store, json!(LOJA.to_string()));
    let seller =
        call(&sol, "drop_health", &json!({}))["structuredContent"]["sellers"][0]["seller_id"]
            .take();
    assert_eq!(seller, json!(trade.seller));
    let as_number = |id: &Value| json!(id.as_str().unwrap().parse::<i64>().unwrap());
    for (actor, tool, name, id) in [
        (&ana, "get_store_metrics", "ml_id", &store),
        (&ana, "list_orders", "store", &store),
        (&ana, "list_announcements", "store", &store),
        (&sol, "drop_list_orders", "seller_id", &seller),
        (&sol, "drop_audit_catalog", "seller_id", &seller),
        (&sol, "drop_remind_order", "order_id", &json!(order)),
    ] {
        let schema = &tools(actor)[tool]["inputSchema"];
        let schema = jsonschema::draft202012::new(schema).unwrap();
        for id in [id.clone(), as_number(id)] {
            let arguments = json!({ name: id });
            assert!(schema.is_valid(&arguments), "{tool} {arguments}");
            let told = call(actor, tool, &arguments);
            assert_eq!(told["isError"], false, "{tool} {arguments}: {told}");
        }
        for wrong in [json!("loja"), json!(""), json!("0"), json!("-7"), json!(" 7"), json!(-7)] {
            let arguments = json!({ name: wrong });
            assert!(!schema.is_valid(&arguments), "{tool} {arguments}");
            let expected = ("validation_failed".to_owned(), vec![name.to_owned()]);
            assert_eq!(refusal(actor, tool, &arguments), expected, "{tool} {arguments}");
        }
    }
    // Files are asked for with the ids that drop orders show.
    let ready = json!({
        "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print", "notify": true,
    });
    trade.change(&order, &ready);
    let owed = call(&sol, "drop_list_orders", &json!({}))["structuredContent"]["data"][0].take();
    let label = json!({ "ship_id": owed["shipping"]["id"], "seller_id": owed["seller_id"] });
    let file = call(&sol, "drop_get_label", &label);
    assert_eq!(file["content"][0]["resource"]["mimeType"], "application/pdf", "{file}");
    for (tool, name) in [("drop_get_label", "ship_id"), ("drop_get_invoice", "order_id")] {
        let wrong = call(&sol, tool, &json!({ name: "x", "seller_id": "y", "outro": 1 }));
        let said = wrong["content"][0]["text"].as_str().unwrap();
        for name in [name, "seller_id", "outro"] {
            assert!(said.contains(&format!("{name}: ")), "{tool}: {said}");
        }
    }
    let note = json!({ "order_id": owed["order_id"], "seller_id": owed["seller_id"] });
    let asked = call(&sol, "drop_get_invoice", &note).to_string();
    assert!(!asked.contains("order_id: ") && !asked.contains("seller_id: "), "{asked}");
}

#[test]
fn a_text_that_is_no_id_is_out_of_range_and_a_flag_is_another_type() {
    let site = Site::builder().unlimited().start();
    let sol = site.supplier("sol").plan("scale");
    relate(&site, &sol, &site.person("ana"));
    let drop = |target: &str| format!("{BASE}/drop{target}");
    for (target, body, code, fields) in [
        ("/catalog/links/unlink", json!({ "link_id": "x" }), "validation_failed", vec!["link_id"]),
        ("/catalog/links/unlink", json!({ "link_id": -7 }), "validation_failed", vec!["link_id"]),
        ("/catalog/links/unlink", json!({ "link_id": true }), "invalid_body", vec!["link_id"]),
        (
            "/catalog/links/unlink",
            json!({ "link_id": "x", "ml_id": "y" }),
            "validation_failed",
            vec!["link_id", "ml_id"],
        ),
        (
            "/catalog/links/unlink",
            json!({ "seller_id": "x", "ml_id": "y" }),
            "validation_failed",
            vec!["ml_id", "seller_id"],
        ),
        (
            "/catalog/links/unlink",
            json!({ "seller_id": "x" }),
            "validation_failed",
            vec!["ml_id", "seller_id"],
        ),
        (
            "/catalog/links",
            json!({ "seller_id": "x", "ml_id": "MLB1", "product_id": "y" }),
            "validation_failed",
            vec!["product_id", "seller_id"],
        ),
        ("/orders/remind", json!({ "order_id": "sete" }), "validation_failed", vec!["order_id"]),
        ("/orders/remind", json!({ "order_id": [7] }), "invalid_body", vec!["order_id"]),
    ] {
        let refused = sol.post(&drop(target), &body).expect(400);
        assert_eq!(refused.code(), code, "{target} {body}: {refused}");
        assert_eq!(named(&refused), fields, "{target} {body}");
    }
    sol.post(UNLINK, &json!({ "link_id": "7" })).expect(404);
    sol.post(UNLINK, &json!({ "link_id": 7 })).expect(404);
}

#[test]
fn all_that_is_wrong_with_a_query_is_named_at_once() {
    let site = Site::builder().unlimited().start();
    let (ana, sol) = (site.seller("ana").plan("scale"), site.supplier("sol").plan("scale"));
    relate(&site, &sol, &site.person("ana"));
    let cases: [(&Actor<'_>, &str, &[&str]); 7] = [
        (
            &ana,
            "/orders?um=1&store=x&limit=0&dois=2&limit=5&from=ontem",
            &["dois", "from", "limit", "store", "um"],
        ),
        (&ana, "/stores/x/metrics?from=2026-11-21&to=2026-11-20&cor=1", &["cor", "from", "ml_id"]),
        (&ana, "/stores/7/metrics?ml_id=8&to=x", &["ml_id", "to"]),
        (&ana, "/health?a=1&b=2&a=3", &["a", "b"]),
        (&ana, "/stock?movements=101&sku=GAR&offset=-1", &["movements", "offset", "sku"]),
        (&sol, "/drop/orders?status=late&seller_id=x&x=1", &["seller_id", "status", "x"]),
        (&sol, "/drop/catalog/audit?seller_id=0&seller_id=7&limit=x", &["limit", "seller_id"]),
    ];
    for (actor, target, fields) in cases {
        let refused = actor.get(&format!("{BASE}{target}")).expect(400);
        assert_eq!(refused.code(), "validation_failed", "{target}");
        assert_eq!(named(&refused), fields, "{target}");
    }
    // Of a file as plain text, of a POST together with its body.
    let said = sol.get(&format!("{BASE}/drop/ml/label?ship_id=x&cor=1")).expect(400).text();
    for name in ["ship_id", "seller_id", "cor"] {
        assert!(said.contains(&format!("{name}: ")), "{said}");
    }
    let refused = sol.post(&format!("{UNLINK}?a=1&b=2"), &json!({ "link_id": "x" })).expect(400);
    assert_eq!(named(&refused), ["a", "b", "link_id"]);
    // A tool says the same, and adds what is of another type.
    let arguments = json!({ "um": 1, "limit": "5", "store": true, "from": "ontem", "offset": 1.5 });
    let expected = ["from", "limit", "offset", "store", "um"].map(str::to_owned).to_vec();
    let (code, fields) = refusal(&ana, "list_orders", &arguments);
    assert_eq!((&*code, fields), ("validation_failed", expected));
    let (_, fields) = refusal(&ana, "get_store_metrics", &json!({ "from": "x", "cor": [1] }));
    assert_eq!(fields, ["cor", "from", "ml_id"]);
}
