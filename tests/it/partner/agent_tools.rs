//! A tool is its operation in another form: the same data, errors and effects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::Request;
use crate::support::dropshipping::{Trade, number, relate};
use crate::support::random::Random;
use crate::support::world::LOJA;

/// A value that a model might send for a property, and whether it can also be
/// written in the operation's address.
fn some_value(random: &mut Random, schema: &Value) -> (Value, bool) {
    let kind = schema["type"].as_str().unwrap_or_default();
    let of_kind: Vec<Value> = match kind {
        "" => ["777", "778", "0", "07", "loja", ""]
            .map(|id| json!(id))
            .into_iter()
            .chain([json!(777), json!(-1)])
            .collect(),
        "integer" => vec![json!(1), json!(3), json!(0), json!(-1), json!(201), json!(7.0)],
        _ => match schema["enum"].as_array() {
            Some(values) => [values.clone(), vec![json!("nenhum")]].concat(),
            None => ["2026-11-01", "2026-02-30", "MLB1", "", "GAR-1", "açaí & co", "a\u{0}b"]
                .map(|text| json!(text))
                .to_vec(),
        },
    };
    let others = [json!(true), json!([1]), json!({ "a": 1 }), json!(1.5), Value::Null];
    match random.below(5) {
        0 => {
            let value = random.pick(&others).clone();
            let is_null = value.is_null();
            (value, is_null)
        }
        _ => (random.pick(&of_kind).clone(), true),
    }
}

/// The answer of an operation, without the parts that differ from call to call.
fn comparable(mut body: Value) -> Value {
    if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("request_id");
    }
    body
}

/// An answer for models in the form of the API: its tables as lists of objects.
fn whole(value: Value) -> Value {
    match value {
        Value::Object(table) if table.contains_key("columns") && table.contains_key("rows") => {
            let columns = table["columns"].as_array().unwrap();
            let rows = table["rows"].as_array().unwrap().iter().map(|row| {
                let row = columns.iter().zip(row.as_array().unwrap());
                let row = row.map(|(name, cell)| (name.as_str().unwrap(), cell));
                let same = table.get("same").and_then(Value::as_object).into_iter().flatten();
                let same = same.map(|(name, cell)| (name.as_str(), cell));
                let mut item = json!({});
                for (name, cell) in row.chain(same) {
                    let place = name.split('.').fold(&mut item, |at, part| &mut at[part]);
                    *place = whole(cell.clone());
                }
                item
            });
            rows.collect()
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, whole(one))).collect())
        }
        Value::Array(items) => items.into_iter().map(whole).collect(),
        other => other,
    }
}

/// Calls a tool and its operation's address with the same arguments; both must
/// answer the same. Returns whether the call succeeded.
#[track_caller]
fn compare(actor: &Actor<'_>, operation: (&str, &str, &Value), arguments: &Value) -> bool {
    let (path, method, described) = operation;
    let name = described["operationId"].as_str().unwrap();
    let twin = if method == "post" {
        Request::new("POST", &format!("/api/v1/partner{path}")).json(arguments)
    } else {
        let mut target = format!("/api/v1/partner{path}");
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in arguments.as_object().unwrap() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = if value.is_f64() { text.trim_end_matches(".0").to_owned() } else { text };
            let variable = format!("{{{name}}}");
            if target.contains(&variable) {
                target = target.replace(&variable, &text);
            } else if !value.is_null() {
                query.append_pair(name, &text);
            }
        }
        Request::new("GET", &format!("{target}?{}", query.finish()))
    };
    let told = call(actor, name, arguments);
    let reply = actor.send(twin);
    assert_eq!(told["isError"], json!(reply.status != 200), "{name} {arguments}\n{told}\n{reply}");
    if !reply.is_json() {
        return reply.status == 200;
    }
    let text = told["content"][0]["text"].as_str().unwrap();
    let text = whole(serde_json::from_str(text).unwrap());
    assert_eq!(comparable(text), comparable(reply.json()), "{name} {arguments}");
    if reply.status == 200 {
        assert_eq!(told["structuredContent"], reply.json(), "{name} {arguments}");
    }
    reply.status == 200
}

#[test]
fn a_tool_and_its_address_say_the_same_of_any_arguments() {
    let trade = Trade::open();
    trade.link();
    trade.sell(2);
    let site = &trade.shop.site;
    let (ana, sol) = (site.seller("ana").plan("scale"), trade.sol());
    let document = site.anonymous().get("/openapi.json").ok();
    let (mut random, mut served, mut refused) = (Random::new(14), 0, 0);
    for actor in [&ana, &sol] {
        let tools = tools(actor);
        for operation in crate::support::openapi::operations(&document) {
            let name = operation.2["operationId"].as_str().unwrap();
            // These describe the call itself, differ for each call, or are files.
            let varies =
                ["health", "get_usage", "drop_get_usage", "notify_seller", "drop_remind_all"];
            let Some(tool) = tools.get(name).filter(|_| {
                !varies.contains(&name) && name != "drop_health" && !operation.0.contains("/ml/")
            }) else {
                continue;
            };
            let none = Map::new();
            let properties = tool["inputSchema"]["properties"].as_object().unwrap_or(&none);
            for _ in 0..25 {
                let (mut arguments, mut is_sayable) = (Map::new(), true);
                for (property, schema) in properties {
                    let is_in_path = operation.0.contains(&format!("{{{property}}}"));
                    if !is_in_path && random.below(3) > 0 {
                        continue;
                    }
                    let (value, sayable) = some_value(&mut random, schema);
                    let sayable = sayable && !(is_in_path && (value.is_null() || value == ""));
                    is_sayable &= sayable || operation.1 == "post";
                    arguments.insert(property.clone(), value);
                }
                if random.below(8) == 0 {
                    arguments.insert("nobody_knows".to_owned(), json!("this"));
                }
                let arguments = Value::Object(arguments);
                if is_sayable {
                    let is_served = compare(actor, operation, &arguments);
                    *(if is_served { &mut served } else { &mut refused }) += 1;
                } else {
                    let told = call(actor, name, &arguments);
                    assert_eq!(told["isError"], true, "{name} {arguments}");
                }
            }
        }
    }
    assert!(served > 40 && refused > 40, "{served} {refused}");
}

#[test]
fn what_a_tool_changes_is_changed_and_a_file_comes_whole() {
    let trade = Trade::open();
    let (site, sol) = (&trade.shop.site, trade.sol());
    let link = json!({ "seller_id": trade.seller, "ml_id": trade.listing, "sku": "GAR-1" });
    let linked = call(&sol, "drop_link_listing", &link);
    assert_eq!(linked["structuredContent"]["data"]["sku"], "GAR-1", "{linked}");
    // A list as text, as the model writes it.
    let list = format!(
        "seller_id,ml_id,sku\n{},{},GAR-1\n{},MLB1,GAR-1\n",
        trade.seller, trade.listing, trade.seller
    );
    let bulk = call(&sol, "drop_link_listings_bulk", &json!({ "csv": list }));
    let bulk = &bulk["structuredContent"]["data"];
    assert_eq!((&bulk["unchanged"], &bulk["failed"]), (&json!(1), &json!(1)), "{bulk}");
    let order = trade.sell(1);
    let ready = json!({
        "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print", "notify": true,
    });
    trade.change(&order, &ready);
    let owed = call(&sol, "drop_list_orders", &json!({ "status": "pending" }));
    let owed = &owed["structuredContent"]["data"][0];
    assert_eq!(owed["order_id"], json!(order));
    let reminded = call(&sol, "drop_remind_order", &json!({ "order_id": order }));
    assert_eq!(reminded["structuredContent"]["data"]["reminded"], true, "{reminded}");
    let seller: i64 = trade.seller.parse().unwrap();
    let shipment: i64 = owed["shipping"]["id"].as_str().unwrap().parse().unwrap();
    let label = json!({ "ship_id": shipment, "seller_id": seller });
    let file = call(&sol, "drop_get_label", &label);
    let file = &file["content"][0]["resource"];
    assert_eq!(file["mimeType"], "application/pdf", "{file}");
    // The address in the answer returns the same bytes for the same token.
    let path = file["uri"].as_str().unwrap().split_once("/v1/").unwrap().1;
    let fetched = sol.get(&format!("/v1/{path}")).expect(200);
    let blob = STANDARD.decode(file["blob"].as_str().unwrap());
    assert_eq!(blob.unwrap(), fetched.body);
    let wrong = call(&sol, "drop_get_label", &json!({ "ship_id": 1, "seller_id": seller }));
    assert_eq!(wrong["isError"], true);
    let none = call(&sol, "drop_get_label", &json!({}));
    assert!(none["content"][0]["text"].as_str().unwrap().contains("ship_id: is required"));
    let unlinked = call(
        &sol,
        "drop_unlink_listing",
        &json!({ "seller_id": trade.seller, "ml_id": trade.listing }),
    );
    assert_eq!(unlinked["structuredContent"]["data"]["unlinked"], true);
    // When a relation ends, it ends for tools at once.
    relate(site, &site.person_as("lua", "drop"), &site.person("ana"));
    let end = format!("/painel/parceiro/fornecedores/{}/encerrar", number(site, &sol));
    site.person("ana").post(&end, &json!({})).ok();
    assert_eq!(call(&sol, "drop_list_orders", &json!({}))["isError"], true);
}

/// Models pay for each word: a page of twenty orders has at most 2,000 tokens, counted
/// as three bytes each.
#[test]
fn a_page_of_twenty_orders_is_short() {
    let (world, site) = crate::support::shops::shops();
    let (ana, person) = (site.seller("ana").plan("scale"), site.person("ana"));
    for _ in 0..18 {
        world.sale(LOJA);
    }
    crate::support::sync::wait_until_worked(&world, &site);
    crate::support::shops::listed(&person, crate::support::shops::SALES, 20);
    let told = call(&ana, "list_orders", &json!({ "limit": 20 }));
    let text = told["content"][0]["text"].as_str().unwrap();
    assert_eq!(told["structuredContent"]["data"].as_array().unwrap().len(), 20);
    assert!(text.len() <= 6_000, "{} bytes: {text}", text.len());
    assert_eq!(text.matches("\"date_created\"").count(), 1, "{text}");
}
