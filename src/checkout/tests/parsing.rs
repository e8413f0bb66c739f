//! Payloads of every kind, as the platform sends them, and random ones.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::ZONE;
use crate::accounts::Role;
use crate::checkout::*;

fn payload(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

macro_rules! sample {
    ($name:literal) => {
        read(include_str!(concat!("../../../tests/samples/checkout/", $name, ".json")))
    };
}

fn read(text: &str) -> Event {
    let payload = payload(serde_json::from_str(text).unwrap());
    parse::event(&payload, ZONE).unwrap()
}

fn at(text: &str) -> Option<Instant> {
    Some(Instant::parse(text).unwrap())
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn an_approval_says_everything() {
    let whole = sample!("aprovada");
    let expected = Event {
        id: text("4b0e2a7c-0000-4000-8000-000000000001"),
        name: "PURCHASE_APPROVED".to_owned(),
        kind: EventKind::Approved,
        created_ms: Some(1_780_000_005_000),
        purchased_ms: Some(1_780_000_000_000),
        transaction: text("HP0000000001"),
        subscriber: text("SUB00001"),
        email: text("lia@exemplo.test"),
        person: "Lia Prado".to_owned(),
        phone: text("5511987650000"),
        offer: text("abc12345"),
        plan: text("501"),
        product: text("77001"),
        recurrence: Some(1),
        paid_until: at("2026-06-28T12:00:00Z"),
    };
    assert_eq!(whole, expected);
    let as_text = sample!("aprovada-textos");
    let expected = Event {
        id: text("90001"),
        name: "purchase_approved".to_owned(),
        subscriber: text("1234"),
        phone: None,
        offer: None,
        recurrence: Some(2),
        ..expected
    };
    assert_eq!(as_text, expected, "ids and dates as text, civil time without a zone");
    let flat = sample!("antiga");
    let expected = Event {
        id: None,
        name: "PURCHASE_APPROVED".to_owned(),
        created_ms: None,
        subscriber: text("SUB00001"),
        phone: text("5511987650000"),
        offer: text("abc12345"),
        plan: None,
        recurrence: Some(1),
        paid_until: at("2026-06-27T20:26:40Z"),
        ..expected
    };
    assert_eq!(flat, expected, "the flat form");
}

#[test]
fn each_family_has_its_own_places() {
    let cancelled = sample!("assinatura-cancelada");
    assert_eq!(cancelled.kind, EventKind::Cancellation);
    assert_eq!(cancelled.email, text("lia@exemplo.test"));
    assert_eq!(cancelled.subscriber, text("SUB00001"));
    assert_eq!(cancelled.plan, text("501"));
    assert_eq!(cancelled.paid_until, None, "its next charge is no payment");

    let switched = sample!("troca-de-plano");
    assert_eq!(switched.kind, EventKind::SwitchPlan);
    assert_eq!(switched.plan, text("502"), "the current one");
    assert_eq!(switched.offer, text("vip12345"));
    assert_eq!(switched.product, text("77001"));
    assert_eq!(switched.email, text("lia@exemplo.test"));
    assert_eq!(switched.subscriber, text("SUB00001"));

    let refunded = sample!("reembolsada");
    assert_eq!(refunded.kind, EventKind::Refunded);
    assert_eq!(refunded.paid_until, None, "it points to the period after");

    for (event, kind) in [
        (sample!("data-de-cobranca"), EventKind::ChargeDate),
        (sample!("carrinho"), EventKind::Cart),
        (sample!("primeiro-acesso"), EventKind::Other),
        (sample!("modulo"), EventKind::Other),
        (sample!("so-status"), EventKind::Printed),
    ] {
        assert_eq!(event.kind, kind);
        assert_eq!(event.email, text("lia@exemplo.test"));
        assert!(event.created_ms.is_some(), "{event:?}");
        assert!(!event.kind.acts());
    }
    assert!(sample!("teste").is_test());
    assert_eq!(sample!("so-status").name, "PURCHASE_BILLET_PRINTED");
    assert_eq!(sample!("antiga-cancelada").kind, EventKind::Canceled);
}

#[test]
fn a_status_stands_for_its_event_in_both_spellings() {
    for (statuses, name) in [
        (&["APPROVED", "approved"][..], "PURCHASE_APPROVED"),
        (&["COMPLETE", "COMPLETED", "completed"], "PURCHASE_COMPLETE"),
        (&["CANCELLED", "CANCELED", "canceled"], "PURCHASE_CANCELED"),
        (&["NO_FUNDS", "BLOCKED"], "PURCHASE_CANCELED"),
        (&["PRINTED_BILLET", "BILLET_PRINTED", "billet_printed"], "PURCHASE_BILLET_PRINTED"),
        (&["OVERDUE", "DELAYED", "delayed"], "PURCHASE_DELAYED"),
        (&["DISPUTE", "PROTESTED", "dispute"], "PURCHASE_PROTEST"),
        (&["REFUNDED"], "PURCHASE_REFUNDED"),
        (&["CHARGEBACK"], "PURCHASE_CHARGEBACK"),
        (&["EXPIRED"], "PURCHASE_EXPIRED"),
        (&["WAITING_PAYMENT", "waiting_payment"], "PURCHASE_WAITING_PAYMENT"),
    ] {
        for status in statuses {
            let envelope = json!({ "data": {
                "buyer": { "email": "a@b.cc" }, "purchase": { "status": status },
            }});
            let flat = json!({ "status": status, "email": "a@b.cc" });
            for body in [envelope, flat] {
                let event = parse::event(&payload(body), ZONE).unwrap();
                assert_eq!(event.name, name, "{status}");
                let other = name == "PURCHASE_WAITING_PAYMENT";
                assert_eq!(event.kind, if other { EventKind::Other } else { EventKind::of(name) });
            }
        }
    }
}

#[test]
fn dates_are_read_in_all_their_forms() {
    for date in [
        json!(1_780_000_000_000_i64),
        json!("1780000000000"),
        json!(1_780_000_000),
        json!(1.78e12),
        json!("2026-05-28T20:26:40Z"),
        json!("2026-05-28T20:26:40.000+00:00"),
        json!("2026-05-28T17:26:40-0300"),
        json!("2026-05-28T17:26:40"),
        json!("2026-05-28 17:26:40"),
    ] {
        let body = json!({ "event": "X", "creation_date": date });
        let event = parse::event(&payload(body), ZONE).unwrap();
        assert_eq!(event.created_ms, Some(1_780_000_000_000), "{date}");
    }
    for date in
        [json!(null), json!(-1), json!(0), json!(1e300), json!("ontem"), json!([1]), json!("")]
    {
        let body = json!({ "event": "X", "creation_date": date });
        let event = parse::event(&payload(body), ZONE).unwrap();
        assert_eq!(event.created_ms, None, "{date}");
    }
}

#[test]
fn what_matters_must_be_there() {
    let fault = |body: Value| {
        let faults = parse::event(&payload(body), ZONE).unwrap_err();
        faults.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(fault(json!({})), ["event"]);
    assert_eq!(fault(json!({ "data": { "buyer": { "email": "a@b.cc" } } })), ["event"]);
    assert_eq!(fault(json!({ "status": "approved" })), ["email"]);
    for event in
        ["PURCHASE_APPROVED", "PURCHASE_REFUNDED", "SUBSCRIPTION_CANCELLATION", "SWITCH_PLAN"]
    {
        assert_eq!(fault(json!({ "event": event })), ["data.buyer.email"]);
        let buyer = json!({ "email": "sem arroba" });
        assert_eq!(
            fault(json!({ "event": event, "data": { "buyer": buyer } })),
            ["data.buyer.email"]
        );
    }
    for event in ["PURCHASE_BILLET_PRINTED", "CLUB_FIRST_ACCESS", "NADA"] {
        assert!(parse::event(&payload(json!({ "event": event })), ZONE).is_ok());
    }
}

#[test]
fn the_token_is_taken_out_wherever_it_stands() {
    let mut body = payload(json!({
        "hottok": "um", "data": { "HotTok": "dois", "list": [{ "hottok": 3 }] }, "x": 1
    }));
    assert_eq!(parse::take_token(&mut body).as_deref(), Some("um"));
    assert_eq!(Value::Object(body), json!({ "data": { "list": [{}] }, "x": 1 }));
    let mut body = payload(json!({ "hottok": 5 }));
    assert_eq!(parse::take_token(&mut body), None);
    assert!(body.is_empty());
}

#[test]
fn a_body_is_kept_as_sent_only_when_no_token_can_hide_in_it() {
    for clean in [r#"{"id":"e-1","hot":"tok"}"#, r#"{"a":"linha\n"}"#, "{}", r#"{"hotto"#] {
        assert_eq!(parse::without_token(clean.as_bytes()), Some(clean));
    }
    for unclean in [
        r#"{"hottok":"um"}"#,
        r#"{"data":{"HotTok":"um"},"data":{}}"#,
        r#"{"h\u006fttok":"um"}"#,
        r#"{"nome":"Jo\u00e3o"}"#,
    ] {
        assert_eq!(parse::without_token(unclean.as_bytes()), None, "{unclean}");
    }
    assert_eq!(parse::without_token(b"{\"a\":\"\xff\"}"), None);
}

#[test]
fn the_plan_goes_by_offer_then_plan_then_product() {
    let mut config = super::config_with(&[]).checkout;
    let event = sample!("aprovada");
    assert_eq!(event.plan_by(&config), Some(Role::Pro));
    for (code, role) in [("77001", "podio"), ("501", "vip"), ("abc12345", "free")] {
        config.plans.insert(code.to_owned(), role.to_owned());
        assert_eq!(event.plan_by(&config), Role::from_name(role));
    }
    config.plans.clear();
    config.default_plan.clear();
    assert_eq!(event.plan_by(&config), None);
}

/// Any JSON, with the names that the parser looks for.
fn anything() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        "[a-z_]{0,6}",
        proptest::sample::select(vec![
            "id",
            "event",
            "data",
            "buyer",
            "email",
            "purchase",
            "status",
            "transaction",
            "subscription",
            "subscriber",
            "code",
            "plans",
            "current",
            "offer",
            "creation_date",
            "date_next_charge",
            "product",
            "checkout_phone",
            "phone",
            "hottok",
            "name",
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        proptest::sample::select(vec![
            "PURCHASE_APPROVED",
            "approved",
            "SWITCH_PLAN",
            "a@b.cc",
            "2026-01-01",
            "0",
            "2026-02-30T25:61:61Z",
            "9999999999999999999",
            "true",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(name.clone(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_breaks_the_parser(fields in proptest::collection::hash_map("[a-z_]{0,6}|event|data|status|hottok|id|email", anything(), 0..6)) {
        let mut body: Map<String, Value> = fields.into_iter().collect();
        parse::take_token(&mut body);
        prop_assert!(!Value::Object(body.clone()).to_string().contains("\"hottok\":"));
        if let Ok(event) = parse::event(&body, ZONE) {
            prop_assert!(!event.kind.acts() || event.is_test() || event.email.is_some());
            prop_assert!(event.paid_until.is_none() || event.kind.is_payment());
            // The stored body gives the same event when it is read again.
            let again: Map<String, Value> = serde_json::from_str(&Value::Object(body).to_string()).unwrap();
            prop_assert_eq!(parse::event(&again, ZONE), Ok(event));
        }
    }
}

#[test]
fn bytes_of_any_kind_are_refused_or_read() {
    crate::base::fuzz::fuzz("checkout", |bytes| {
        let clean = parse::without_token(bytes);
        let Ok(Value::Object(mut body)) = serde_json::from_slice(bytes) else { return };
        let token = parse::take_token(&mut body);
        assert!(clean.is_none() || token.is_none(), "a token was overlooked");
        if let Ok(event) = parse::event(&body, ZONE) {
            assert!(!event.kind.acts() || event.is_test() || event.email.is_some());
        }
    });
}
