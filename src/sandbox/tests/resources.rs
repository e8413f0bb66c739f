//! Listings, questions, claims, fees, labels and fiscal notes, as the
//! marketplace shows them.

use serde_json::{Value, json};

use super::{Answer, Site};

impl Site {
    pub fn send(&self, path: &str, body: &Value, token: &str) -> Answer {
        let mut answer = self
            .agent
            .post(format!("{}{path}", self.running.url()))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .send(body.to_string())
            .unwrap();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: answer.body_mut().read_to_string().unwrap(),
        }
    }

    pub fn rules(&self) -> Vec<String> {
        let violations = self.log("violations")["violations"].clone();
        let rules = violations.as_array().unwrap().iter();
        rules.map(|violation| violation["rule"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn questions_are_searched_answered_and_raced_for() {
    let (site, token) = Site::linked();
    let ask = |text: &str| {
        let body = json!({ "ml_user_id": 777, "item": site.item, "text": text });
        site.control("questions", &body)["id"].as_i64().unwrap()
    };
    let (first, second) = (ask("Serve?"), ask("Tem azul?"));
    let search = |more: &str| {
        let path = format!("/questions/search?seller_id=777&api_version=4{more}");
        site.get(&path, &token).json()
    };
    let page = search("&status=UNANSWERED&limit=1");
    assert_eq!((&page["total"], &page["limit"]), (&json!(2), &json!(1)));
    assert!(page.get("paging").is_none());
    assert_eq!(page["questions"][0]["item_id"], site.item);
    assert!(page["questions"][0]["from"]["id"].is_i64());

    let one = format!("/questions/{first}?api_version=4");
    let shown = site.get(&one, &token).json();
    assert!(shown["buyer_id"].is_i64() && shown.get("from").is_none());
    assert_eq!(shown["date_created"], "2026-11-20T12:30:00.123456789Z");

    let answer = |body: Value| site.send("/answers", &body, &token);
    let code = |body: Value| answer(body).json()["error"].clone();
    assert_eq!(code(json!({ "text": "Serve" })), "invalid_post_body");
    assert_eq!(code(json!({ "question_id": "1", "text": "Serve" })), "invalid_question");
    assert_eq!(
        code(json!({ "question_id": first, "text": "x".repeat(2001) })),
        "invalid_post_body"
    );
    assert_eq!(code(json!({ "question_id": 1, "text": "Serve" })), "not_found");
    let done = answer(json!({ "question_id": first, "text": "Serve sim" }));
    assert_eq!((done.status, &done.json()["id"]), (200, &json!(first)), "{}", done.text);
    assert_eq!(done.json()["answer"]["text"], "Serve sim");
    // The second question is answered outside the platform first.
    site.control(&format!("questions/{second}"), &json!({ "answer": "Tem sim" }));
    assert_eq!(code(json!({ "question_id": second, "text": "Tem" })), "not_unanswered_question");
    assert_eq!(search("&status=ANSWERED")["total"], 2);

    assert!(site.rules().is_empty());
    site.get(&format!("/questions/{second}"), &token);
    assert_eq!(site.rules(), ["old_version"]);
}

#[test]
fn a_listing_that_ends_closes_its_questions() {
    let (site, token) = Site::linked();
    let ask = json!({ "ml_user_id": 777, "item": site.item });
    let id = site.control("questions", &ask)["id"].as_i64().unwrap();
    site.control(&format!("items/{}", site.item), &json!({ "status": "closed" }));
    let one = format!("/questions/{id}?api_version=4");
    assert_eq!(site.get(&one, &token).json()["status"], "CLOSED_UNANSWERED");
    let answer = json!({ "question_id": id, "text": "Tem" });
    let answer = site.send("/answers", &answer, &token);
    assert_eq!(answer.json()["error"], "question_closed");

    site.control("sellers", &json!({ "nickname": "OUTRA", "ml_user_id": 888 }));
    let (other, _) = site.connect(888);
    assert_eq!(site.get(&one, &other).status, 403);
}

#[test]
fn claims_are_searched_by_their_rules() {
    let (site, token) = Site::linked();
    let order = site.sell(&json!({}));
    let open = json!({ "ml_user_id": 777, "order": order, "resource": "shipment" });
    let id = site.control("claims", &open)["id"].as_i64().unwrap();
    let search =
        |query: &str| site.get(&format!("/post-purchase/v1/claims/search?{query}"), &token);
    let mine = "players.user_id=777&players.role=respondent";
    let page = search(&format!("{mine}&status=opened")).json();
    assert_eq!(page["paging"], json!({ "total": 1, "offset": 0, "limit": 30 }));
    assert_eq!(page["data"][0]["resource"], "shipment");
    let refused = search("");
    assert_eq!((refused.status, refused.json().get("status")), (400, None));
    assert_eq!(refused.json()["error"], "invalid_query");
    assert_eq!(search("players.role=respondent").status, 400);
    assert_eq!(search("players.role=respondent&players.user_id=1").status, 403);
    assert_eq!(search(&format!("{mine}&resource_id=1")).status, 400);
    let ranged = |range: &str| search(&format!("{mine}&range={range}"));
    assert_eq!(ranged("last_updated:after:2026-11-20T12:00:00Z").status, 400);
    let later = ranged("last_updated:after:2026-11-20T12:31:00.000Z").json();
    assert_eq!(later["paging"]["total"], 0);

    let one = site.get(&format!("/post-purchase/v1/claims/{id}"), &token).json();
    let actions = &one["players"][1]["available_actions"];
    assert_eq!(actions[0]["due_date"], "2026-11-23T08:30:00.000-04:00");
    let detail = site.get(&format!("/post-purchase/v1/claims/{id}/detail"), &token);
    assert_eq!(detail.json()["action_responsible"], "seller");
    site.control(
        &format!("claims/{id}"),
        &json!({ "status": "closed", "resolution": "item_returned" }),
    );
    let one = site.get(&format!("/post-purchase/v1/claims/{id}"), &token).json();
    assert_eq!(one["resolution"]["reason"], "item_returned");
    assert_eq!(search(&format!("{mine}&status=opened")).json()["paging"]["total"], 0);
    let gone = site.get("/post-purchase/v1/claims/1", &token);
    assert_eq!((gone.status, &gone.json()["error"]), (404, &json!("business_logic_error")));
    assert!(site.rules().is_empty());
    search("status=opened");
    assert_eq!(site.rules(), ["costly_search"]);
}

#[test]
fn fees_come_in_three_shapes_and_depend_on_logistics() {
    let (site, token) = Site::linked();
    let prices = |more: &str| {
        let path = format!("/sites/MLB/listing_prices?currency_id=BRL&category_id=MLB31447{more}");
        site.get(&path, &token).json()
    };
    let classic = "&listing_type_id=gold_special";
    let fixed = |more: &str| {
        let answer = prices(&format!("{classic}{more}"));
        answer[0]["sale_fee_details"]["fixed_fee"].clone()
    };
    assert_eq!(prices("&price=100").as_array().unwrap().len(), 7);
    let whole = prices(&format!("{classic}&price=50&logistic_type=self_service&shipping_mode=me2"));
    assert_eq!(whole[0]["sale_fee_amount"], 12.75);
    assert_eq!(fixed("&price=50&logistic_type=drop_off&shipping_mode=me2"), 0);
    assert_eq!(fixed("&price=50&logistic_type=default&shipping_mode=me1"), 6.75);
    assert_eq!(fixed("&price=79&logistic_type=self_service&shipping_mode=me2"), 0);
    site.control("config", &json!({ "fees_shape": "object" }));
    assert_eq!(prices(&format!("{classic}&price=50"))["listing_type_id"], "gold_special");
    site.control("config", &json!({ "fees_shape": "nested" }));
    assert_eq!(prices(&format!("{classic}&price=50"))[0][0]["listing_type_id"], "gold_special");
    assert_eq!(prices("")["status"], 400);
}

#[test]
fn labels_are_a_page_each_or_say_what_is_wrong_with_each() {
    let (site, token) = Site::linked();
    let shipment = |more: Value| {
        let mut sale = json!({ "ml_user_id": 777, "item": site.item });
        for (name, value) in more.as_object().unwrap() {
            sale[name] = value.clone();
        }
        let order = site.control("sales", &sale)["order"].clone();
        (order["id"].as_i64().unwrap(), order["shipment"]["id"].as_i64().unwrap())
    };
    let labels = |ids: &[i64]| {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let path = format!("/shipment_labels?shipment_ids={}&response_type=pdf", ids.join(","));
        site.get(&path, &token)
    };
    let (_, one) = shipment(json!({}));
    // Two orders of a cart share a shipment.
    let (first, pack) = shipment(json!({ "pack_id": 2_000_900 }));
    let (second, same) = shipment(json!({ "pack_id": 2_000_900 }));
    assert_eq!(pack, same);
    let whole = labels(&[one, pack]);
    assert_eq!(whole.headers["content-type"], "application/pdf");
    assert!(whole.text.starts_with("%PDF-1.4") && whole.text.ends_with("%%EOF\n"));
    assert_eq!(whole.text.matches("/Type /Page ").count(), 2);
    let shown = site.get(&format!("/shipments/{one}"), &token).json();
    assert_eq!(shown["substatus"], "printed");
    // A label that was printed can be printed again.
    assert_eq!(labels(&[one]).status, 200);

    let (order, sent) = shipment(json!({}));
    site.control(&format!("orders/{order}"), &json!({ "shipping_status": "shipped" }));
    let refused = labels(&[one, sent]);
    assert_eq!(refused.status, 400);
    let failed = refused.json()["failed_shipments"].clone();
    assert_eq!(
        failed,
        json!([{ "shipment_id": sent.to_string(), "message": "status is shipped",
            "cause": "NOT_PRINTABLE_STATUS", "retry": false }])
    );
    site.control(&format!("items/{}", site.item), &json!({ "logistic": "fulfillment" }));
    let (_, theirs) = shipment(json!({}));
    let cause = labels(&[theirs]).json()["failed_shipments"][0]["cause"].clone();
    assert_eq!(cause, "INVALID_SHIPMENT_FF_PUBLIC");
    assert_eq!(labels(&[1]).status, 404);
    assert_eq!(labels(&(1..=51).collect::<Vec<_>>()).status, 400);
    assert_eq!(site.rules(), ["limit_exceeded"]);

    let orders = site.get(&format!("/shipments/{pack}/orders"), &token).json();
    let ids: Vec<&str> =
        orders.as_array().unwrap().iter().map(|row| row["order_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [first.to_string(), second.to_string()]);
    let pack = site.get("/packs/2000900", &token).json();
    assert_eq!(pack["date_created"], "2026-11-20T08:30:00.000-0400");
    assert_eq!(pack["orders"].as_array().unwrap().len(), 2);
}

#[test]
fn fiscal_notes_are_issued_or_attached() {
    let (site, token) = Site::linked();
    let issued = site.sell(&json!({ "invoice": "issued" }));
    let attached = site.sell(&json!({ "invoice": "attached" }));
    let by_order = |id: i64| site.get(&format!("/users/777/invoices/orders/{id}"), &token);
    let note = by_order(issued).json();
    assert_eq!(note["transaction_status"], "authorized");
    let danfe = note["attributes"]["danfe_location"].as_str().unwrap();
    let danfe = site.get(danfe, &token);
    assert!(danfe.text.starts_with("%PDF"));
    let xml = note["attributes"]["xml_location"].as_str().unwrap();
    assert!(site.get(xml, &token).text.starts_with("<?xml"));
    assert_eq!(by_order(attached).status, 404);

    let documents = |id: i64| site.get(&format!("/packs/{id}/fiscal_documents"), &token);
    let list = documents(attached).json();
    let id = list["fiscal_documents"][0]["id"].as_str().unwrap();
    let file = |id: &str| site.get(&format!("/packs/{attached}/fiscal_documents/{id}"), &token);
    assert!(file(id).text.starts_with("%PDF"));
    assert_eq!(file("777_other").status, 400);
    assert_eq!(documents(issued).status, 404);
}

#[test]
fn a_listing_shows_its_variations_to_those_who_ask_for_all() {
    let (site, token) = Site::linked();
    let item = json!({
        "ml_user_id": 777, "title": "Caneca <b>", "price": 30, "stock": 8, "catalog_product": "MLB9",
        "variations": [{ "value": "Azul", "stock": 5, "sku": "CAN-AZ" }, { "value": "Rosa", "stock": 3 }],
    });
    let id = site.control("items", &item)["id"].clone();
    let id = id.as_str().unwrap();
    let shown = site.get(&format!("/items/{id}"), &token).json();
    assert_eq!(shown["variations"][0]["available_quantity"], 5);
    assert!(shown["variations"][0].get("attributes").is_none());
    let whole = site.get(&format!("/items/{id}?include_attributes=all"), &token);
    let attributes = &whole.json()["variations"][0]["attributes"];
    assert_eq!(attributes[0]["value_name"], "CAN-AZ");
    let azul = shown["variations"][0]["id"].as_i64().unwrap();
    let order = site.sell(&json!({ "item": id, "variation_id": azul, "quantity": 2 }));
    let order = site.get(&format!("/orders/{order}"), &token).json();
    let sold = &order["order_items"][0]["item"];
    assert_eq!((&sold["variation_id"], &sold["seller_sku"]), (&json!(azul), &json!("CAN-AZ")));
    let now = site.get(&format!("/items/{id}"), &token).json();
    assert_eq!(now["available_quantity"], 6);
    assert_eq!(now["variations"][0]["available_quantity"], 3);

    let picture = now["thumbnail"].as_str().unwrap();
    let path = picture.strip_prefix(&site.running.url()).unwrap();
    let picture = site.get(path, "");
    assert_eq!(picture.headers["content-type"], "image/svg+xml");
    assert!(picture.text.contains(">Cb</text>"), "{}", picture.text);
}

#[test]
fn scans_end_after_five_minutes_and_are_not_left_open() {
    let (site, token) = Site::linked();
    for number in 0..4 {
        let item = json!({ "ml_user_id": 777, "title": format!("Pote {number}"), "price": 10 });
        site.control("items", &item);
    }
    let scan = |more: &str| {
        site.get(&format!("/users/777/items/search?search_type=scan&limit=2{more}"), &token)
    };
    let scroll = scan("").json()["scroll_id"].as_str().unwrap().to_owned();
    // A listing that is published during a scan is not in the scan.
    site.control("items", &json!({ "ml_user_id": 777, "title": "Novo", "price": 10 }));
    let mut seen = 2;
    loop {
        let page = scan(&format!("&scroll_id={scroll}")).json();
        seen += page["results"].as_array().unwrap().len();
        if page["scroll_id"].is_null() {
            break;
        }
    }
    assert_eq!(seen, 5);
    let scroll = scan("").json()["scroll_id"].as_str().unwrap().to_owned();
    assert_eq!(scan(&format!("&scroll_id={scroll}&offset=2")).status, 400);
    site.set_clock("2026-11-20T12:35:00Z");
    assert_eq!(scan(&format!("&scroll_id={scroll}")).status, 400);
    let statuses: Vec<u16> = (0..11).map(|_| scan("").status).collect();
    assert_eq!((statuses[9], statuses[10]), (200, 429));
    assert_eq!(site.rules(), ["scan_with_offset", "scans_left_open"]);
}

#[test]
fn parameters_that_the_marketplace_ignores_are_noted() {
    let (site, token) = Site::linked();
    site.get("/orders/search?seller=777&order.last_updated.from=2026-11-20T00:00:00Z", &token);
    site.get("/orders/search?seller=777&seller=777", &token);
    site.get(&format!("/items/bulk?ids={}&attributes=id,body.price", site.item), &token);
    assert_eq!(site.rules(), ["unknown_parameter", "doubled_parameter", "envelope_attributes"]);
}

#[test]
fn one_record_of_a_page_can_be_spoiled() {
    let (site, token) = Site::linked();
    let (good, bad) = (site.sell(&json!({})), site.sell(&json!({})));
    site.control("spoil", &json!({ "record": format!("orders/{bad}") }));
    let page = site.get("/orders/search?seller=777", &token).json();
    assert_eq!(page["results"][0]["id"], good);
    // Only the id of the spoiled record is still valid.
    assert_eq!(page["results"][1]["id"], bad);
    assert_eq!(page["results"][1]["total_amount"], "muito");
    site.control("spoil", &json!({ "record": format!("orders/{bad}"), "spoiled": false }));
    let whole = site.get(&format!("/orders/{bad}"), &token).json();
    assert!(whole["total_amount"].is_number(), "{whole}");
}

#[test]
fn the_marketplace_goes_down_and_is_slow() {
    let (site, token) = Site::linked();
    site.control("config", &json!({ "down": true }));
    let down = site.get("/users/me", &token);
    assert_eq!((down.status, &down.text[..6]), (503, "<html>"));
    site.control("config", &json!({ "down": false, "delay_ms": 120 }));
    let begun = std::time::Instant::now();
    assert_eq!(site.get("/users/me", &token).status, 200);
    assert!(begun.elapsed().as_millis() >= 120);
    assert_eq!(site.log("state")["most_calls_of_seller"], 1);
}
