//! Web push against the sandbox's service, which checks what real services
//! check: browsers switched on and off, messages that only they can read,
//! addresses that are rejected.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::cron::{json_of, meet, run, run_at};
use crate::support::receiver::{DEVICES, Receiver, with_push};
use crate::support::site::{CRON_SECRET, Site};
use crate::support::world::World;

const PAGE: &str = "/perfil/avisos";

/// The browsers that a person has switched on.
#[track_caller]
fn devices(person: &Actor<'_>) -> Vec<Value> {
    json_of(person, PAGE)["push"]["aparelhos"].as_array().unwrap().clone()
}

/// State, tries and outcome of all messages by push, in their order.
fn messages(site: &Site) -> Vec<String> {
    site.stored(
        "SELECT state || ' ' || attempts || ' ' || coalesce(provider, outcome, '')
         FROM outbox WHERE channel = 'push' ORDER BY message_id",
    )
}

/// Queues a message to an administrator, and waits until it was handled.
#[track_caller]
fn test_message(admin: &Actor<'_>, site: &Site) {
    admin.post("/admin/mensagens/canais/push/teste", &json!({})).expect(201);
    run(site);
}

#[test]
fn a_reminder_reaches_each_of_a_persons_browsers_and_only_they_can_read_it() {
    let world = World::start();
    let site = with_push(&world).start();
    let ana = site.person("ana");
    let (laptop, phone) = (Receiver::new(&world, "laptop"), Receiver::new(&world, "phone"));
    laptop.switch_on(&ana).expect(201);
    phone.switch_on(&ana).expect(201);
    meet(&site, "2026-11-21 15:00:00");
    assert_eq!(run_at(&site, "2026-11-20T18:00:00Z")["meets_notif"], 1);
    let told = json!({
        "title": "Lembrete: Tira-dúvidas",
        "body": "Olá, ana! O encontro Tira-dúvidas começa em 21/11/2026 15:00.",
        "url": "/painel/meets",
    });
    for browser in [&laptop, &phone] {
        let mut received = browser.received(&world);
        assert_eq!(received.len(), 1);
        let tag = received[0]["tag"].take();
        let icon = received[0]["icon"].take();
        assert_eq!(tag.as_str().unwrap().len(), 32);
        site.anonymous().get(icon.as_str().unwrap()).expect(200);
        for name in ["title", "body", "url"] {
            assert_eq!(received[0][name], told[name]);
        }
    }
    let pushed = world.pushed();
    assert_eq!(pushed[0]["ttl"], 86_400, "until the meet begins");
    assert_eq!(pushed[0]["urgency"], "high");
    assert_eq!(pushed[0]["subject"], "mailto:contato@example.com");
    assert_eq!(messages(&site), ["1 1 aceita para 2 de 2 navegadores"]);
    // The later reminder replaces the earlier one.
    run_at(&site, "2026-11-21T17:55:00Z");
    let pushed = world.pushed();
    assert_eq!((pushed.len(), &pushed[3]["ttl"]), (4, &json!(300)));
    assert_eq!(pushed[0]["topic"], pushed[3]["topic"]);
    let ana = site.person("ana");
    let used: Vec<Value> =
        devices(&ana).iter_mut().map(|device| device["usado_em"].take()).collect();
    assert_eq!(used, ["2026-11-21 14:55:00", "2026-11-21 14:55:00"]);
    assert!(world.violations().is_empty(), "{:?}", world.violations());
}

#[test]
fn a_message_about_a_webhook_opens_the_page_of_the_persons_role() {
    let world = World::start();
    let site = crate::support::hooked::near(with_push(&world)).start();
    let hooks = crate::support::hooked::Receiver::start();
    hooks.answers(crate::support::hooked::Manner::Status(410, ""));
    let people = [
        (site.person("ana"), "stock.changed", "/painel"),
        (site.person_as("zoe", "drop"), "drop_order.paid", "/fornecedor"),
    ];
    for (person, event, panel) in people {
        let browser = Receiver::new(&world, &panel[1..]);
        browser.switch_on(&person).expect(201);
        let made = crate::support::hooked::make(&site, &person, &hooks.url("/"), &[event]);
        made.test(&person);
        made.wait(&person, 1, |one| one["tentativas"] == 1);
        run(&site);
        let received = browser.received(&world);
        assert_eq!(received.len(), 1, "{received:?}");
        let page = format!("{panel}/parceiro/webhooks/{}", made.id);
        assert_eq!(received[0]["url"], *page);
        person.get(&page).expect(200);
    }
}

#[test]
fn browsers_that_are_gone_are_forgotten_and_nobody_failed() {
    let world = World::start();
    let site = with_push(&world).start();
    let admin = site.administrator();
    for gone in ["410-a", "404-b"] {
        Receiver::new(&world, gone).switch_on(&admin).expect(201);
    }
    let stays = Receiver::new(&world, "fica");
    stays.switch_on(&admin).expect(201);
    assert_eq!(devices(&admin).len(), 3);
    test_message(&admin, &site);
    assert_eq!(messages(&site), ["1 1 aceita para 1 de 3 navegadores"]);
    assert_eq!(stays.received(&world).len(), 1);
    assert_eq!(devices(&admin).len(), 1);
    // The last browser is removed, too.
    let gone = json!({ "path_prefix": "/push", "kind": "status", "code": 410 });
    world.fault(&gone);
    site.clock().advance_s(60);
    test_message(&admin, &site);
    assert_eq!(messages(&site)[1], "2 1 a pessoa já não recebe avisos em nenhum navegador");
    assert!(devices(&admin).is_empty());
    let channels = json_of(&admin, "/admin/mensagens/canais");
    let push = channels["dados"].as_array().unwrap().iter().find(|one| one["canal"] == "push");
    assert_eq!(push.unwrap()["em_ordem"], true);
}

#[test]
fn a_service_in_trouble_is_asked_again_and_nobody_is_told_twice() {
    let world = World::start();
    let site = with_push(&world).start();
    let admin = site.administrator();
    let (first, second) = (Receiver::new(&world, "a"), Receiver::new(&world, "b"));
    first.switch_on(&admin).expect(201);
    let fault = |fault: Value| world.fault(&fault);
    fault(json!({ "path_prefix": "/push", "kind": "status", "code": 503 }));
    test_message(&admin, &site);
    assert_eq!(messages(&site), ["0 1 o serviço do navegador respondeu 503"]);
    site.clock().advance_s(60);
    fault(json!({ "path_prefix": "/push", "kind": "rate_limited", "retry_after": 40 }));
    run(&site);
    assert_eq!(
        messages(&site),
        ["0 1 o serviço do navegador pede uma pausa (429)"],
        "what the service asks for is no try"
    );
    site.clock().advance_s(39);
    run(&site);
    assert!(world.pushed().is_empty());
    site.clock().advance_s(1);
    run(&site);
    assert_eq!(messages(&site), ["1 2 aceita para 1 de 1 navegadores"]);
    // One of two browsers accepted it: it counts as sent, and neither gets it
    // again.
    second.switch_on(&admin).expect(201);
    fault(json!({ "path_prefix": "/push", "kind": "status", "code": 500 }));
    site.clock().advance_s(60);
    test_message(&admin, &site);
    site.clock().advance_s(3_600);
    run(&site);
    assert_eq!(messages(&site)[1], "1 1 aceita para 1 de 2 navegadores");
    assert_eq!(world.pushed().len(), 2);
    // A malformed message is not retried.
    fault(json!({ "path_prefix": "/push", "kind": "status", "code": 400, "times": 2 }));
    test_message(&admin, &site);
    assert_eq!(messages(&site)[2], "3 1 o serviço do navegador não entendeu a mensagem (400)");
    assert_eq!(devices(&admin).len(), 2);
}

#[test]
fn a_text_that_a_service_finds_too_long_is_cut() {
    let world = World::start();
    let site = with_push(&world).start();
    let ana = site.person("ana");
    let small = Receiver::new(&world, "413-a");
    small.switch_on(&ana).expect(201);
    let text = format!("{} {{encontro}} {{inicio}}", "É à tarde. ".repeat(160));
    let long = json!({ "assunto": "Encontro", "texto": text });
    let admin = site.administrator();
    admin.post("/admin/mensagens/textos/lembrete_encontro", &long).ok();
    meet(&site, "2026-11-21 15:00:00");
    run_at(&site, "2026-11-20T18:00:00Z");
    let received = small.received(&world);
    assert_eq!(received.len(), 1);
    let body = received[0]["body"].as_str().unwrap();
    assert!(body.starts_with("É à tarde. ") && body.ends_with('…'), "{body}");
    assert!((300..1_000).contains(&body.len()), "{}", body.len());
    assert_eq!(messages(&site), ["1 1 aceita para 1 de 1 navegadores"]);
}

#[test]
fn addresses_that_are_of_no_push_service_are_refused() {
    let world = World::start();
    let site = with_push(&world)
        .config(
            "push.extra_hosts",
            vec![world.address().to_string(), "push.example.com".to_owned()],
        )
        .start();
    let ana = site.person("ana");
    let port = world.address().port();
    let good = Receiver::new(&world, "a").subscription();
    for endpoint in [
        "https://example.com/push/a".to_owned(),
        "https://127.0.0.1/push/a".to_owned(),
        "https://[::1]/push/a".to_owned(),
        "https://[::ffff:127.0.0.1]/push/a".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/".to_owned(),
        "https://2130706433/".to_owned(),
        "https://localhost/push/a".to_owned(),
        "http://fcm.googleapis.com/fcm/send/a".to_owned(),
        "http://push.example.com/a".to_owned(),
        "https://push.example.com:8443/a".to_owned(),
        "https://fcm.googleapis.com:22/a".to_owned(),
        "https://fcm.googleapis.com@127.0.0.1/a".to_owned(),
        "https://fcm.googleapis.com.example.com/a".to_owned(),
        format!("http://127.0.0.1:{}/push/a", port.wrapping_add(1).max(1)),
        format!("http://localhost:{port}/push/a"),
        format!("http://a:b@127.0.0.1:{port}/push/a"),
        format!("http://127.0.0.1:{port}@example.com/push/a"),
        "file:///etc/passwd".to_owned(),
        "nada".to_owned(),
        String::new(),
        format!("https://fcm.googleapis.com/{}", "a".repeat(3_000)),
    ] {
        let mut body = good.clone();
        body["endpoint"] = json!(endpoint);
        let reply = ana.post(DEVICES, &body).expect(422);
        assert_eq!(reply.code(), "validation_failed", "{endpoint}");
        assert!(reply.json()["fields"]["endpoint"].is_string(), "{reply}");
    }
    assert!(devices(&ana).is_empty());
    // Addresses of known browsers are accepted; whether they work shows later.
    for endpoint in [
        "https://fcm.googleapis.com/fcm/send/abc:APA91b",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
        "https://web.push.apple.com/QGuQ",
        "https://db5p.notify.windows.com/w/?token=BQYAAA%3d%3d",
        "https://push.example.com/a",
    ] {
        let mut body = good.clone();
        body["endpoint"] = json!(endpoint);
        ana.post(DEVICES, &body).expect(201);
    }
    assert_eq!(devices(&ana).len(), 5);
}

/// The setting may become narrower than it was when a browser was switched on.
#[test]
fn a_browser_whose_service_is_no_longer_known_is_not_called() {
    let world = World::start();
    let site = with_push(&world).start();
    let admin = site.administrator();
    Receiver::new(&world, "a").switch_on(&admin).expect(201);
    let file = site.folder().join("seller-platform.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let narrower = settings.replace(&world.address().to_string(), "push.example.com");
    assert_ne!(settings, narrower);
    site.stop();
    std::fs::write(&file, narrower).unwrap();
    site.start_again();
    let admin = site.administrator();
    test_message(&admin, &site);
    assert!(world.pushed().is_empty());
    assert!(devices(&admin).is_empty());
}

#[test]
fn keys_that_are_none_are_refused() {
    let world = World::start();
    let site = with_push(&world).start();
    let ana = site.person("ana");
    let good = Receiver::new(&world, "a").subscription();
    let p256dh = good["keys"]["p256dh"].as_str().unwrap().to_owned();
    let auth = good["keys"]["auth"].as_str().unwrap().to_owned();
    let off_curve = format!("{}AAAA", &p256dh[..83]);
    for keys in [
        json!({ "p256dh": p256dh, "auth": "" }),
        json!({ "p256dh": p256dh }),
        json!({ "auth": auth }),
        json!({ "p256dh": p256dh, "auth": &auth[..20] }),
        json!({ "p256dh": p256dh, "auth": format!("{auth}AAAA") }),
        json!({ "p256dh": &p256dh[..80], "auth": auth }),
        json!({ "p256dh": off_curve, "auth": auth }),
        json!({ "p256dh": "*".repeat(87), "auth": auth }),
        json!({ "p256dh": 1, "auth": auth }),
        json!([]),
        json!("chaves"),
        json!(null),
    ] {
        let mut body = good.clone();
        body["keys"] = keys.clone();
        let reply = ana.post(DEVICES, &body).expect(422);
        assert!(reply.json()["fields"]["keys"].is_string(), "{keys}: {reply}");
    }
    ana.post(DEVICES, &json!({})).expect(422);
    assert!(devices(&ana).is_empty());
    ana.post(DEVICES, &good).expect(201);
}

#[test]
fn a_browser_belongs_to_whom_it_was_switched_on_for_last() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let shared = Receiver::new(&world, "casa");
    shared.switch_on(&ana).expect(201);
    let again = shared.switch_on(&ana).expect(200).json();
    let id = devices(&ana)[0]["id"].clone();
    assert_eq!(again["id"], id, "the same browser is one");
    // Nobody can switch off another person's browser.
    let off = format!("{DEVICES}/{}/excluir", id.as_str().unwrap());
    rui.post(&off, &json!({})).expect(404);
    site.anonymous().post(&off, &json!({})).expect(401);
    rui.post(&format!("{DEVICES}/x/excluir"), &json!({})).expect(404);
    shared.switch_on(&rui).expect(201);
    assert!(devices(&ana).is_empty());
    assert_eq!(devices(&rui).len(), 1);
    meet(&site, "2026-11-21 15:00:00");
    run_at(&site, "2026-11-20T18:00:00Z");
    let received = shared.received(&world);
    assert_eq!(received.len(), 1);
    assert!(received[0]["body"].as_str().unwrap().starts_with("Olá, rui!"));
    // After it is switched off it gets nothing, and the person gets no other
    // message.
    let id = devices(&rui)[0]["id"].clone();
    let off = format!("{DEVICES}/{}/excluir", id.as_str().unwrap());
    rui.post(&off, &json!({})).ok();
    rui.post(&off, &json!({})).expect(404);
    run_at(&site, "2026-11-21T17:55:00Z");
    assert_eq!(world.pushed().len(), 1);
}

#[test]
fn a_person_has_ten_browsers_and_the_oldest_goes() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    Receiver::new(&world, "de-rui").switch_on(&rui).expect(201);
    let switch_on = |number: usize| {
        let reply = Receiver::new(&world, &format!("n{number}")).switch_on(&ana);
        reply.expect(201).json()["id"].as_str().unwrap().to_owned()
    };
    let ids: Vec<String> = (0..12).map(switch_on).collect();
    let newest: Vec<String> =
        devices(&ana).iter().map(|device| device["id"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = ids.into_iter().rev().take(10).collect();
    assert_eq!(newest, expected);
    assert_eq!(devices(&rui).len(), 1);
}

#[test]
fn our_key_stays_and_another_makes_all_browsers_useless() {
    let world = World::start();
    let site = with_push(&world).start();
    let admin = site.administrator();
    let browser = Receiver::new(&world, "a");
    browser.switch_on(&admin).expect(201);
    let key = |admin: &Actor<'_>| {
        let key = json_of(admin, PAGE)["push"]["chave"].clone();
        assert_eq!(key.as_str().unwrap().len(), 87);
        key
    };
    let first = key(&admin);
    test_message(&admin, &site);
    assert_eq!(world.pushed()[0]["key"], first);
    assert!(site.command(&["check"]).run().stdout.contains("reaches 1 browsers"));
    site.kill();
    site.start_again();
    assert_eq!(key(&admin), first);
    // A restored copy without its key.
    site.stop();
    let key_file = site.database().with_extension("db.key");
    std::fs::remove_file(&key_file).unwrap();
    let said = site.command(&["serve", "--new-key", "--listen", "127.0.0.1:0"]).exits(1).stderr;
    assert!(said.contains("browsers to be switched on again: 1"), "{said}");
    site.start_with(&["--new-key", "--yes"]);
    assert_ne!(key(&admin), first);
    assert!(devices(&admin).is_empty());
}

/// When a service rejects our signature for one browser, after it accepted it
/// for another, our key is not the problem.
#[test]
fn a_browser_that_is_bound_to_another_key_is_forgotten_once_ours_is_known_good() {
    let world = World::start();
    // Another installation, which has sent this browser a message.
    let stale = Receiver::new(&world, "velho");
    {
        let before = with_push(&world).start();
        let admin = before.administrator();
        stale.switch_on(&admin).expect(201);
        test_message(&admin, &before);
    }
    let site = with_push(&world).start();
    let admin = site.administrator();
    stale.switch_on(&admin).expect(201);
    test_message(&admin, &site);
    assert_eq!(
        messages(&site),
        [
            "0 1 o serviço do navegador não aceita a nossa assinatura (403): confira push.subject e o relógio"
        ]
    );
    assert_eq!(devices(&admin).len(), 1, "it may be about us");
    let rui = site.person_as("rui", "admin");
    Receiver::new(&world, "novo").switch_on(&rui).expect(201);
    site.clock().advance_s(1);
    test_message(&rui, &site);
    site.clock().advance_s(60);
    run(&site);
    assert!(devices(&admin).is_empty());
    assert_eq!(devices(&rui).len(), 1);
}

#[test]
fn without_a_contact_push_is_off() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let found = json_of(&ana, PAGE);
    assert_eq!(found["push"], json!({ "chave": null, "aparelhos": [] }));
    let world = World::start();
    let reply = Receiver::new(&world, "a").switch_on(&ana).expect(409);
    assert_eq!(reply.code(), "conflict");
    assert!(!ana.get(PAGE).expect(200).text().contains("data-push"));
    let said = site.command(&["check"]).run().stdout;
    assert!(said.contains("set push.subject"), "{said}");
    let told = site.bearer(CRON_SECRET).get("/api/v1/cron").ok();
    assert_eq!(told["ok"], true);
}

#[test]
fn the_service_worker_and_the_manifest_are_at_the_root() {
    let site = Site::builder().config("server.name", "Escola São João").start();
    let anybody = site.anonymous();
    let worker = anybody.get("/sw.js").expect(200);
    assert_eq!(worker.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(worker.header("cache-control"), Some("no-cache"));
    assert_eq!(worker.header("service-worker-allowed"), Some("/"));
    let policy = worker.header("content-security-policy").unwrap();
    assert!(policy.contains("connect-src 'self'"), "{policy}");
    let manifest = anybody.get("/manifest.webmanifest").expect(200);
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest: Value = serde_json::from_slice(&manifest.body).unwrap();
    assert_eq!(
        (&manifest["name"], &manifest["short_name"], &manifest["display"]),
        (&json!("Escola São João"), &json!("Escola São"), &json!("standalone"))
    );
    for icon in manifest["icons"].as_array().unwrap() {
        let file = anybody.get(icon["src"].as_str().unwrap()).expect(200);
        assert_eq!(file.header("content-type"), Some("image/png"));
        let side = |at: usize| u32::from_be_bytes(file.body[at..at + 4].try_into().unwrap());
        assert_eq!(icon["sizes"], format!("{}x{}", side(16), side(20)));
    }
    let page = anybody.get("/entrar").expect(200).text();
    assert!(page.contains("rel=\"manifest\" href=\"/manifest.webmanifest\""));
}
