//! The text of a tool's answer, which models read: lists name each field once.
//!
//! A list of objects with the same fields becomes `{"same": {…}, "columns": […],
//! "rows": [[…]]}`. Fields of objects inside stand with a dot between
//! (`shipping.status`), those of the only object of a list too (`items.0.sku`). What all
//! rows share is said once, in `same`; a column with the values of another one is named
//! with that one in `equal`. Nothing is left out, and the program's own form stays in
//! `structuredContent`.

use serde_json::{Map, Value, json};

/// The compact form of an answer in JSON; the answer itself when that is not shorter.
pub fn of(answer: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(answer) else { return answer.to_owned() };
    let short = compact(value).to_string();
    if short.len() < answer.len() { short } else { answer.to_owned() }
}

fn compact(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, compact(one))).collect())
        }
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(compact).collect();
            table(&items).unwrap_or(Value::Array(items))
        }
        other => other,
    }
}

/// A list of at least two objects with the same fields, as a table.
fn table(items: &[Value]) -> Option<Value> {
    if items.len() < 2 {
        return None;
    }
    let rows = alike(items, true).or_else(|| alike(items, false))?;
    let (first, others) = rows.split_first()?;
    let is_shared = |name: &String| others.iter().all(|row| row[name] == first[name]);
    let (shared, columns): (Vec<&String>, Vec<&String>) =
        first.keys().partition(|name| is_shared(name));
    let same: Map<String, Value> =
        shared.iter().map(|name| ((*name).clone(), first[*name].clone())).collect();
    let mut equal = Map::new();
    let mut told: Vec<&String> = Vec::new();
    for name in columns {
        let twin = told.iter().find(|other| rows.iter().all(|row| row[name] == row[**other]));
        match twin {
            Some(other) => drop(equal.insert(name.clone(), json!(other))),
            None => told.push(name),
        }
    }
    let columns = told;
    let cells = rows.iter().map(|row| columns.iter().map(|name| row[*name].clone()).collect());
    let cells: Vec<Vec<Value>> = cells.collect();
    let mut table = json!({ "columns": columns, "rows": cells });
    if !same.is_empty() {
        table["same"] = Value::Object(same);
    }
    if !equal.is_empty() {
        table["equal"] = Value::Object(equal);
    }
    Some(table)
}

/// The rows of a list whose objects have the same fields.
fn alike(items: &[Value], opens_lists: bool) -> Option<Vec<Map<String, Value>>> {
    let flat = |item: &Value| flat(item, opens_lists);
    let rows: Vec<Map<String, Value>> = items.iter().map(flat).collect::<Option<_>>()?;
    let (first, others) = rows.split_first()?;
    let is_same_shape = |row: &Map<String, Value>| row.keys().eq(first.keys());
    (!first.is_empty() && others.iter().all(is_same_shape)).then_some(rows)
}

/// The fields of an object with those of objects inside, which are no tables; and those of
/// the only object of a list, when lists are opened.
fn flat(item: &Value, opens_lists: bool) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, value) in item.as_object()? {
        match value {
            Value::Object(inner) if !inner.is_empty() && !inner.contains_key("columns") => {
                for (below, value) in flat(value, opens_lists)? {
                    fields.insert(format!("{name}.{below}"), value);
                }
            }
            Value::Array(items) if opens_lists && items.len() == 1 && items[0].is_object() => {
                for (below, value) in flat(&items[0], opens_lists)? {
                    fields.insert(format!("{name}.0.{below}"), value);
                }
            }
            other => {
                fields.insert(name.clone(), other.clone());
            }
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &Value, expected: &Value) {
        let short: Value = serde_json::from_str(&of(&answer.to_string())).unwrap();
        assert_eq!(short, *expected);
    }

    #[test]
    fn a_list_names_its_fields_once_and_says_once_what_all_share() {
        let row = |id: &str, state: Option<&str>| json!({ "order_id": id, "currency": "BRL", "shipping": { "status": state, "kind": "x" } });
        check(
            &json!({ "data": [row("1", Some("ready")), row("2", None)], "pagination": { "total": 2 } }),
            &json!({
                "data": {
                    "columns": ["order_id", "shipping.status"],
                    "rows": [["1", "ready"], ["2", null]],
                    "same": { "currency": "BRL", "shipping.kind": "x" },
                },
                "pagination": { "total": 2 },
            }),
        );
    }

    #[test]
    fn the_only_line_of_each_order_repeats_nothing() {
        let order = |id: &str, sku: &str| json!({ "order_id": id, "sku": sku, "items": [{ "sku": sku, "quantity": 1 }] });
        let orders = |skus: &[&str]| -> Vec<Value> {
            skus.iter().zip(1..).map(|(sku, id): (_, i32)| order(&id.to_string(), sku)).collect()
        };
        check(
            &json!({ "data": orders(&["A", "B", "C", "D"]) }),
            &json!({ "data": {
                "columns": ["items.0.sku", "order_id"],
                "rows": [["A", "1"], ["B", "2"], ["C", "3"], ["D", "4"]],
                "same": { "items.0.quantity": 1 }, "equal": { "sku": "items.0.sku" },
            } }),
        );
        // Orders of several lines among them are rows all the same.
        let mut mixed = orders(&["A", "B", "C", "D"]);
        mixed[1]["items"] = json!([{ "sku": "B", "quantity": 1 }, { "sku": "C", "quantity": 2 }]);
        let short = of(&json!({ "data": mixed }).to_string());
        let short: Value = serde_json::from_str(&short).unwrap();
        assert_eq!(short["data"]["columns"], json!(["items", "order_id", "sku"]));
    }

    #[test]
    fn what_is_no_table_stays() {
        for answer in [
            json!({ "ok": true }),
            json!({ "data": [] }),
            json!({ "data": [{ "a": 1 }] }),
            json!({ "data": [1, 2, 3] }),
            json!({ "data": [{ "a": 1 }, { "b": 2 }] }),
        ] {
            check(&answer, &answer);
        }
        assert_eq!(of("plain"), "plain");
    }

    #[test]
    fn a_list_inside_a_row_is_a_table_of_its_own() {
        let moves = |from: i64| -> Value {
            (from..from + 3).map(|n| json!({ "kind": "sale", "quantity": n })).collect()
        };
        let rows = json!({ "data": [{ "sku": "A", "moves": moves(0) }, { "sku": "B", "moves": moves(5) }] });
        let short: Value = serde_json::from_str(&of(&rows.to_string())).unwrap();
        assert_eq!(short["data"]["columns"], json!(["moves", "sku"]));
        let inner = &short["data"]["rows"][1][0];
        assert_eq!(inner["rows"], json!([[5], [6], [7]]));
        assert_eq!(inner["same"], json!({ "kind": "sale" }));
    }
}
