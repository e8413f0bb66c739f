//! The sandbox as a witness: each answer and notice is compared with documented samples,
//! `tests/witness/marketplace/*.json`, in both directions.
//!
//! What the sandbox sends and no sample has is wrong, and so is another type. What the
//! platform reads of a sample, which shows when it is taken away, the sandbox has to send
//! in the same state.

mod answers;
mod readers;
mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use answers::CASES;
use replay::Replay;

use super::Site;

/// A documented answer: a file of the folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Witness {
    /// Where it is documented.
    source: String,
    /// Fields that an answer may lack although the platform reads them.
    #[serde(default)]
    optional: Vec<String>,
    /// Samples by the state that they show.
    samples: BTreeMap<String, Value>,
}

/// A sample, how the sandbox comes to answer like it, and how the platform reads it.
pub struct Case {
    file: &'static str,
    sample: &'static str,
    answer: fn(&Site, &str) -> Value,
    read: Option<Reader>,
}

/// Reads a sample as the platform does; the result as a text.
pub type Reader = fn(&Desk<'_>) -> String;

/// What a reader has before it.
pub struct Desk<'d> {
    replay: &'d Replay,
    /// The sample as it is documented, for the ids in it.
    whole: &'d Value,
    /// The sample, perhaps without a field.
    shown: &'d Value,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/witness/marketplace"))
}

fn witness(name: &str) -> Witness {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    let witness: Witness =
        serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    assert!(!witness.source.is_empty(), "{name}");
    witness
}

/// The paths of all fields, such as `order_items[].item.id`, each with the types that it
/// was seen to have; null has none.
fn fields(value: &Value) -> BTreeMap<String, BTreeSet<&'static str>> {
    fn walk(value: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
        if !path.is_empty() {
            found.entry(path.to_owned()).or_default().extend(type_of(value));
        }
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                walk(value, &format!("{path}{dot}{name}"), found);
            }),
            Value::Array(items) => {
                for item in items {
                    walk(item, &format!("{path}[]"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    walk(value, "", &mut found);
    found
}

fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("true or false"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("text"),
        Value::Array(_) => Some("list"),
        Value::Object(_) => Some("object"),
    }
}

/// The value without the field that a path names, in every element of lists on the way.
fn without(mut value: Value, path: &str) -> Value {
    fn take(value: &mut Value, path: &str) {
        if let Some(rest) = path.strip_prefix("[]") {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            let items = value.as_array_mut().into_iter().flatten();
            items.for_each(|item| take(item, rest));
            return;
        }
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        let Some(fields) = value.as_object_mut() else { return };
        if rest.is_empty() {
            fields.remove(name);
        } else if let Some(inner) = fields.get_mut(name) {
            take(inner, rest.strip_prefix('.').unwrap_or(rest));
        }
    }
    take(&mut value, path);
    value
}

/// What an answer has that no sample has.
fn undocumented(witness: &Witness, answer: &Value) -> Vec<String> {
    let mut known: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for sample in witness.samples.values() {
        for (path, types) in fields(sample) {
            known.entry(path).or_default().extend(types);
        }
    }
    let strange = |(path, types): (String, BTreeSet<&str>)| match known.get(&path) {
        None => Some(format!("{path} is not documented")),
        // Of a field that is always null nothing more is known.
        Some(known) if known.is_empty() || types.is_subset(known) => None,
        Some(known) => Some(format!("{path} is {types:?} and documented as {known:?}")),
    };
    fields(answer).into_iter().filter_map(strange).collect()
}

/// What the platform reads of a sample and an answer lacks.
fn lacking(case: &Case, witness: &Witness, answer: &Value, read: Reader) -> Vec<String> {
    let whole = &witness.samples[case.sample];
    let replay = Replay::start();
    let reading = |shown: &Value| read(&Desk { replay: &replay, whole, shown });
    let plain = reading(whole);
    assert!(!plain.starts_with("Err("), "{} {}: {plain}", case.file, case.sample);
    let sent = fields(answer);
    let matters = |path: &str| reading(&without(whole.clone(), path)) != plain;
    fields(whole)
        .into_iter()
        .filter(|(path, _)| !path.ends_with("[]") && !witness.optional.contains(path))
        .filter(|(path, types)| {
            let there = sent.get(path);
            there.is_none_or(|there| there.is_empty() && !types.is_empty())
        })
        .filter(|(path, _)| matters(path))
        .map(|(path, _)| format!("{path} is read and not sent"))
        .collect()
}

#[test]
fn the_sandbox_sends_what_is_documented_and_what_is_read() {
    let mut faults = Vec::new();
    for case in CASES {
        let witness = witness(case.file);
        let site = Site::start();
        let (token, _) = site.connect(777);
        let answer = (case.answer)(&site, &token);
        let mut found = undocumented(&witness, &answer);
        found.extend(
            case.read.map(|read| lacking(case, &witness, &answer, read)).unwrap_or_default(),
        );
        faults.extend(found.iter().map(|fault| format!("{} {}: {fault}", case.file, case.sample)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_sample_has_its_case() {
    let mut cases: Vec<(String, String)> =
        CASES.iter().map(|case| (case.file.to_owned(), case.sample.to_owned())).collect();
    let mut samples: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let states = witness(&name).samples.into_keys();
        samples.extend(states.map(|state| (name.clone(), state)));
    }
    cases.sort();
    samples.sort();
    assert_eq!(cases, samples);
}

#[test]
fn a_field_too_many_and_one_too_few_are_seen() {
    let case = CASES.iter().find(|case| (case.file, case.sample) == ("orders_id", "paid")).unwrap();
    let witness = witness(case.file);
    let mut answer = witness.samples["paid"].clone();
    assert_eq!(undocumented(&witness, &answer), [""; 0]);
    answer["order_items"][0]["item"]["colour"] = "blue".into();
    answer["id"] = "2000010000000551".into();
    let strange = undocumented(&witness, &answer);
    assert_eq!(strange[1], "order_items[].item.colour is not documented");
    assert!(strange[0].starts_with("id is {\"text\"}"), "{strange:?}");
    let poor = without(without(answer, "order_items[].quantity"), "order_items[].picked_quantity");
    assert_eq!(
        lacking(case, &witness, &poor, case.read.unwrap()),
        ["order_items[].quantity is read and not sent"]
    );
}
