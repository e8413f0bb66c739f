//! Documented addresses that the platform does not use, unknown words for states,
//! and a new password.

use serde_json::{Value, json};

use super::{CLIENT_ID, Site};

impl Site {
    #[track_caller]
    fn found(&self, path: &str, token: &str) -> Value {
        let answer = self.get(path, token);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }
}

const GRANTED: &str = "2026-11-20T08:30:00.000-04:00";

#[test]
fn applications_and_grants_are_told() {
    let site = Site::start();
    let (token, refresh) = site.connect(777);
    site.control("sellers", &json!({ "nickname": "OUTRA", "ml_user_id": 888 }));
    site.connect(888);
    site.set_clock("2026-11-20T13:30:00Z");
    let renewed = site.refresh(&refresh);
    assert_eq!(renewed.status, 200);

    let application = format!("/applications/{CLIENT_ID}");
    assert_eq!(site.found(&application, &token)["active"], true);
    assert_eq!(site.get("/applications/1", &token).status, 404);
    let page = site.found(&format!("{application}/grants?limit=1&offset=1"), &token);
    assert_eq!(page["paging"], json!({ "total": 2, "limit": 1, "offset": 1 }));
    assert_eq!(page["grants"][0]["user_id"], 888);
    let own = site.found("/users/777/applications", &token);
    assert_eq!((&own[0]["user_id"], &own[0]["app_id"]), (&json!("777"), &json!(CLIENT_ID)));
    assert_eq!(own[0]["date_created"], GRANTED, "a refresh is no new grant");
    assert_eq!(site.get("/users/888/applications", &token).status, 403);
    assert_eq!(site.rules(), [""; 0]);
}

#[test]
fn what_belongs_to_sales_and_listings_is_told() {
    let (site, token) = Site::linked();
    let sale = site.control("sales", &json!({ "ml_user_id": 777 }));
    let (order, shipment) = (&sale["order"]["id"], &sale["order"]["shipment"]["id"]);

    let statuses = site.found("/shipment_statuses", &token);
    let ready = statuses.as_array().unwrap().iter().find(|status| status["id"] == "ready_to_ship");
    assert_eq!(ready.unwrap()["substatuses"][0]["id"], "ready_to_print");
    assert_eq!(site.found(&format!("/orders/{order}/discounts"), &token), json!({ "details": [] }));
    let price = format!("/items/{}/sale_price", site.item);
    assert_eq!(site.get(&price, &token).status, 400);
    let price = site.found(&format!("{price}?context=channel_marketplace"), &token);
    assert_eq!(price["amount"], 59.9);
    let costs = site.found(&format!("/shipments/{shipment}/costs"), &token);
    assert_eq!(costs["receiver"]["cost"], 0);
    assert_eq!(
        (&costs["senders"][0]["cost"], &costs["senders"][0]["user_id"]),
        (&costs["gross_amount"], &json!(777))
    );

    let time = "/users/777/questions/response_time";
    assert_eq!(site.get(time, &token).status, 404);
    let asked = site.control("questions", &json!({ "ml_user_id": 777 }));
    site.set_clock("2026-11-20T12:42:00Z");
    let answer = json!({ "answer": "Serve sim" });
    site.control(&format!("questions/{}", asked["id"]), &answer);
    assert_eq!(site.found(time, &token)["total"]["response_time"], 12);
    let carrier = format!("/shipments/{shipment}/carrier");
    assert_eq!(site.get(&carrier, &token).status, 404);
    assert_eq!(site.rules(), [""; 0]);
    assert_eq!(site.get("/orders/1/nothing", &token).status, 404);
    assert_eq!(site.rules(), ["unknown_path"]);
}

#[test]
fn a_test_user_is_a_seller_and_ten_are_enough() {
    let (site, token) = Site::linked();
    let make = |place: &str| site.send("/users/test_user", &json!({ "site_id": place }), &token);
    assert_eq!(make("MLA").status, 400);
    let made = make("MLB").json();
    assert!(made["password"].is_string() && made["site_status"] == "active");
    let shown = site.found(&format!("/users/{}", made["id"]), &token);
    assert_eq!(shown["nickname"], made["nickname"]);
    for _ in 1..10 {
        assert_eq!(make("MLB").status, 201);
    }
    assert_eq!(make("MLB").status, 400);
}

#[test]
fn states_may_have_words_that_nobody_knows() {
    let (site, token) = Site::linked();
    let order = site.control("sales", &json!({ "ml_user_id": 777 }))["order"]["id"].take();
    let question = site.control("questions", &json!({ "ml_user_id": 777 }))["id"].take();
    let claim = site.control("claims", &json!({ "ml_user_id": 777 }))["id"].take();
    for (control, path) in [
        (format!("orders/{order}"), format!("/orders/{order}")),
        (format!("questions/{question}"), format!("/questions/{question}?api_version=4")),
        (format!("claims/{claim}"), format!("/post-purchase/v1/claims/{claim}")),
    ] {
        site.control(&control, &json!({ "status": "IN_orbit_2" }));
        assert_eq!(site.found(&path, &token)["status"], "IN_orbit_2");
        for wrong in ["", "in orbit", "<b>"] {
            let url = format!("{}/_sandbox/{control}", site.running.url());
            let body = json!({ "status": wrong }).to_string();
            assert_eq!(site.agent.post(url).send(body).unwrap().status(), 400);
        }
    }
}

#[test]
fn a_new_password_ends_every_token() {
    let site = Site::start();
    let (token, refresh) = site.connect(777);
    let (others, _) = {
        let other = json!({ "nickname": "OUTRA", "ml_user_id": 888 });
        site.control("sellers", &other);
        site.connect(888)
    };
    let change = json!({ "ml_user_id": 777, "action": "password_change" });
    site.control("tokens", &change);
    assert_eq!(site.get("/users/me", &token).status, 401);
    assert_eq!(site.refresh(&refresh).json()["error"], "invalid_grant");
    assert_eq!(site.get("/users/me", &others).status, 200);
    assert_eq!(site.rules(), [""; 0]);
}

#[test]
fn the_document_tells_of_what_is_beside() {
    let document = include_str!("../../../docs/sandbox.md");
    let (_, beside) = document.split_once("### Beside what the platform uses").unwrap();
    let (beside, _) = beside.split_once("###").unwrap();
    let (site, token) = Site::linked();
    let mut known = 0;
    for word in beside.split('`') {
        let path = word.split_once(" /").map(|(_, path)| format!("/{path}"));
        let path = path.map(|path| path.replace("{id}", "1"));
        match (word.split(' ').next(), path) {
            (Some("GET"), Some(path)) if !path.ends_with('/') => drop(site.get(&path, &token)),
            (Some("POST"), Some(path)) => drop(site.send(&path, &json!({}), &token)),
            _ => continue,
        }
        known += 1;
    }
    assert_eq!((known, site.rules()), (12, vec![]));
    assert!(document.contains("`password_change`"));
}
