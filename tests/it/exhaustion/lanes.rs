//! Slow work delays only work of its own kind: a marketplace that does not
//! answer delays no other requests.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{CEILING, RECOVERY, Waits, besieged};
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::shop::Shop;
use crate::support::site::Site;
use crate::support::sync::wait_until_read;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// How long the marketplace does not answer. The platform waits for less.
const SILENCE_MS: u64 = 20_000;
/// How long a login may take under attack; on a slow machine four hashes may be
/// before it.
const SOON: Duration = Duration::from_secs(3);

fn hang(world: &World, path: &str) {
    let fault = json!({ "path_prefix": path, "times": 0, "kind": "hang", "ms": SILENCE_MS });
    world.fault(&fault);
}

/// Sends every request at once, each over its own connection, and does
/// something else until all are answered.
fn meanwhile(
    site: &Site,
    requests: Vec<(&Actor<'_>, String)>,
    mut otherwise: impl FnMut(),
) -> Vec<(Reply, Duration)> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = requests
            .into_iter()
            .map(|(actor, target)| {
                scope.spawn(move || {
                    let began = Instant::now();
                    (actor.send_apart(Request::new("GET", &target)), began.elapsed())
                })
            })
            .collect();
        let mut probes = Waits::begin();
        while !asked.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            probes.measure(|| site.anonymous().get("/readyz").expect(200));
            otherwise();
        }
        probes.check("probes");
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// How many replies have a status; each says when to retry.
#[track_caller]
fn of_status(replies: &[(Reply, Duration)], status: u16) -> usize {
    let found = replies.iter().filter(|(reply, _)| reply.status == status);
    found.inspect(|(reply, _)| assert!(reply.header("retry-after").is_some(), "{reply}")).count()
}

#[track_caller]
fn log_in_soon(site: &Site) {
    // A person whose session no test uses: of many sessions the oldest ends.
    let sol = site.make_person("sol", "vip");
    let form = [("email", &*sol.email), ("senha", &*sol.password)];
    let began = Instant::now();
    site.anonymous().send(Request::new("POST", "/entrar").form(&form)).expect(303);
    assert!(began.elapsed() < SOON, "a login took {:?}", began.elapsed());
}

#[test]
fn one_student_with_many_labels_holds_nobody_while_the_marketplace_hangs() {
    let shop = Shop::open_with(|site| site.memory(CEILING));
    let (ana, rui) = (shop.ana(), shop.site.person("rui"));
    let (_, shipment) = shop.sell(LOJA, true);
    shop.wait_for(&ana, 1);
    let label = format!("/painel/ml/etiqueta?shipment_id={shipment}&conta={LOJA}");
    hang(&shop.world, "/shipment_labels");
    for count in [16, 140] {
        besieged(&shop.site, &rui, "/painel", || {
            let requests = (0..count).map(|_| (&ana, label.clone())).collect();
            let replies = meanwhile(&shop.site, requests, || log_in_soon(&shop.site));
            let refused = of_status(&replies, 503);
            let failed = replies.iter().filter(|(reply, _)| reply.status == 502).count();
            assert_eq!(refused + failed, count);
            for (reply, _) in &replies {
                assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
            }
        });
    }
    let calls = shop.world.requests();
    let calls = calls.iter().filter(|call| {
        call["path"].as_str().is_some_and(|path| path.starts_with("/shipment_labels"))
    });
    assert!(
        calls.count() <= 12,
        "two at a time for an account, and one in a while when it is away"
    );
    shop.world.clear_faults();
    until("labels come again", RECOVERY, || (ana.get(&label).status == 200).then_some(()));
}

#[test]
fn people_are_told_at_once_while_the_marketplace_is_away() {
    const STUDENTS: u64 = 6;
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).memory(CEILING).start();
    let students: Vec<_> = (0..STUDENTS)
        .map(|number| {
            let shop = 910_000_000 + number;
            world.seller(shop, &format!("LOJA {number}"));
            let student = site.person(&format!("aluna{number}"));
            world.link(&student, shop);
            wait_until_read(&site, &student);
            (student, shop)
        })
        .collect();
    let rui = site.person("rui");
    let fees = |shop: u64, price: u64| {
        format!("/painel/ml/calculadora/taxas-json?conta={shop}&preco={price}")
    };
    hang(&world, "/sites");
    hang(&world, "/users");
    besieged(&site, &rui, "/painel", || {
        let ask = students
            .iter()
            .flat_map(|(student, shop)| (1..=4).map(move |price| (student, fees(*shop, price))));
        let replies = meanwhile(&site, ask.collect(), || log_in_soon(&site));
        assert!(replies.iter().all(|(reply, _)| matches!(reply.status, 502 | 503)));
        // Now the platform knows it; one call in a few seconds is used to check
        // again.
        let mut slow = 0;
        for (student, shop) in &students {
            let ask = vec![(student, fees(*shop, 9))];
            let (reply, took) = meanwhile(&site, ask, || ()).pop().unwrap();
            assert_eq!(reply.status, 502, "{reply}");
            assert_eq!(reply.code(), "marketplace_unavailable");
            if took < Duration::from_secs(1) {
                let again: i64 = reply.header("retry-after").unwrap().parse().unwrap();
                assert!((1..=5).contains(&again), "{reply}");
            } else {
                slow += 1;
            }
        }
        assert!(slow <= 3, "{slow} of {STUDENTS} waited");
    });
    let key = site.key(&["admin"]);
    let away = |expected: &str| {
        let figures = key.get("/metrics").expect(200).text();
        figures.contains(&format!("seller_platform_marketplace_away {expected}\n"))
    };
    assert!(away("1"));
    world.clear_faults();
    let (student, shop) = &students[0];
    until("fees are told again", RECOVERY, || {
        (student.get(&fees(*shop, 77)).status == 200).then_some(())
    });
    assert!(away("0"));
}

#[test]
fn refusals_do_not_say_that_the_marketplace_is_away() {
    let shop = Shop::open();
    let ana = shop.ana();
    let fees = format!("/painel/ml/calculadora/taxas-json?conta={LOJA}");
    for status in [403, 404] {
        let fault = json!({ "path_prefix": "/", "times": 12, "kind": "status", "code": status });
        shop.world.fault(&fault);
        for _ in 0..12 {
            ana.get(&fees).expect(502);
        }
        ana.get(&format!("{fees}&preco={status}")).expect(200);
    }
}
