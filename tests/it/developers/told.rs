//! The section `webhooks` of the document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::openapi::{compile, follow, printed};

#[test]
fn every_event_has_a_body_and_an_example_that_shows_every_field() {
    let document = printed("partner");
    let told = document["webhooks"].as_object().unwrap();
    let mut subscribed: Vec<_> = told.keys().filter(|kind| *kind != "endpoint.test").collect();
    for (kind, item) in told {
        let content = &item["post"]["requestBody"]["content"]["application/json"];
        let (schema, example) = (&content["schema"], &content["example"]);
        let validator = compile(&document, schema);
        let errors: Vec<String> = validator.iter_errors(example).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{kind}: {errors:?}");
        assert_eq!(example["type"], **kind);
        let fields = follow(&document, &schema["properties"]["data"])["properties"].as_object();
        let data = example["data"].as_object().unwrap();
        let [shown, described] =
            [data, fields.unwrap()].map(|it| it.keys().collect::<BTreeSet<_>>());
        assert_eq!(shown, described, "{kind}");
        // A body without one of them is none.
        for name in data.keys() {
            let mut less = example.clone();
            less["data"].as_object_mut().unwrap().remove(name);
            assert!(!validator.is_valid(&less), "{kind} without {name}");
        }
    }
    // All that can be subscribed to, and nothing else.
    let of = |name: &str| -> Vec<Value> {
        let schema = &document["components"]["schemas"][name];
        schema["properties"]["events"]["items"]["enum"].as_array().unwrap().clone()
    };
    let mut offered = [of("NewWebhook"), of("DropNewWebhook")].concat();
    offered.sort_by_key(ToString::to_string);
    subscribed.sort();
    assert_eq!(json!(subscribed), json!(offered));
}
