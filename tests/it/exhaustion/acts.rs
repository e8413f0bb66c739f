//! People and programs who change something again and again: what they may, and
//! what is kept of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{besieged_writes, narrow};
use crate::support::client::Request;
use crate::support::dropshipping::{number, relate};
use crate::support::site::{Builder, Site};

const WEBHOOKS: &str = "/painel/parceiro/webhooks";
const BULK: &str = "/api/v1/partner/drop/catalog/links/bulk";
/// Most bytes of answers that are kept of an account.
const MOST_KEPT: usize = 2 << 20;

/// A site on which people have the usual number of changes.
fn usual() -> Builder {
    Site::builder().unlimited().config("limits.session_post", 600)
}

fn json_post(path: &str) -> Request {
    Request::new("POST", path).header("Accept", "application/json").json(&json!({}))
}

#[test]
fn a_person_changes_six_hundred_things_a_minute() {
    let site = narrow(usual());
    let (ana, bia, eve) = (site.person("ana"), site.person("bia"), site.person("eve"));
    site.seller("eve").plan("pro");
    let endpoint = json!({ "url": "https://gancho.invalid/x", "eventos": ["order.paid"] });
    let made = eve.post(WEBHOOKS, &endpoint).expect(201).json();
    site.keep_secret("webhook", made["segredo"].as_str().unwrap());
    let rotate = format!("{WEBHOOKS}/{}/segredo", made["id"].as_str().unwrap());
    let (done, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    besieged_writes(&site, &ana, &bia, || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let reply = eve.send_apart(json_post(&rotate));
                        if reply.status == 200 {
                            done.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        assert_eq!(reply.expect(429).code(), "rate_limited");
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
    });
    // One for the endpoint itself.
    assert_eq!((done.into_inner(), refused.into_inner()), (599, 1_401));
    let noted = "SELECT CAST(count(*) AS TEXT) FROM audit WHERE action LIKE 'webhook%'";
    assert!(site.stored(noted)[0].parse::<usize>().unwrap() <= 600);
    // All her sessions are one person, and programs and pages get their own kind of answer.
    let again = site.person("eve");
    let reply = again.send(json_post("/painel/avisos/lidos")).expect(429);
    assert_eq!(reply.header("retry-after"), Some("60"));
    assert!(reply.header("x-ratelimit-limit") == Some("600"), "{reply}");
    let page = Request::new("POST", "/painel/avisos/lidos").header("Accept", "text/html").form(&[]);
    let page = eve.send(page).expect(429);
    assert!(page.header("retry-after").is_some() && page.text().contains("<html"), "{page}");
    // She reads on, and others change on.
    eve.get("/painel").expect(200);
    ana.send(json_post("/painel/avisos/lidos")).ok();
    site.clock().advance_s(60);
    eve.send(json_post("/painel/avisos/lidos")).ok();
}

#[test]
fn two_megabytes_of_answers_are_kept_and_nothing_is_done_twice() {
    let site = narrow(Site::builder().unlimited());
    let (ana, bia) = (site.person("ana"), site.person("bia"));
    let (sol, lua) = (site.supplier("sol").plan("scale"), site.supplier("lua").plan("scale"));
    relate(&site, &sol, &site.seller("rui").plan("pro"));
    relate(&site, &lua, &site.seller("rui"));
    let seller = number(&site, &site.person("rui"));
    // Five hundred rows that fail: the longest answer that there is.
    let list = |call: usize| {
        let row = format!("{seller},MLB{},X\n", 1_000 + call);
        json!({ "csv": format!("seller_id,ml_id,sku\n{}", row.repeat(500)) })
    };
    let keyed = |key: &str, body: &Value| {
        Request::new("POST", BULK).header("Idempotency-Key", key).json(body)
    };
    let other = lua.send(keyed("dela", &list(0))).expect(200).text();
    let mut answers: Vec<String> = Vec::new();
    besieged_writes(&site, &ana, &bia, || {
        for call in 0..70 {
            let answer = sol.send(keyed(&format!("k{call}"), &list(call))).expect(200).text();
            answers.push(answer);
        }
    });
    let bytes: usize = answers.iter().map(String::len).sum();
    assert!(bytes > MOST_KEPT + 4 * answers[0].len(), "{bytes} bytes were answered");
    let owner = number(&site, &sol);
    let sum = format!(
        "SELECT CAST(sum(length(reply)) AS TEXT) FROM partner_call WHERE user_id = {owner}"
    );
    let kept: usize = site.stored(&sum)[0].parse().unwrap();
    assert!(kept <= MOST_KEPT && kept > MOST_KEPT - 2 * answers[0].len(), "{kept} bytes are kept");
    // Those that are kept are given again; of the others it is known that they were done.
    let fit = MOST_KEPT / answers[0].len();
    for (call, answer) in answers.iter().enumerate() {
        let again = sol.send(keyed(&format!("k{call}"), &list(call)));
        if call + fit >= answers.len() {
            assert_eq!(again.header("idempotency-replayed"), Some("true"), "{call}");
            assert_eq!(again.expect(200).text(), *answer);
        } else {
            assert_eq!(again.expect(409).code(), "conflict", "{call}");
        }
    }
    let reused = sol.send(keyed("k0", &list(1))).expect(400);
    assert_eq!(reused.code(), "idempotency_key_reused");
    assert_eq!(lua.send(keyed("dela", &list(0))).expect(200).text(), other);
    // After a day a key is as new.
    site.clock().advance_s(24 * 3600 + 1);
    assert_eq!(sol.send(keyed("k0", &list(0))).expect(200).header("idempotency-replayed"), None);
}
