//! What becomes of a message after the chat network took it: a phone that lost its
//! connection, and what the official API tells later.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::chat::{
    APP_SECRET, HOOK, VERIFY_TOKEN, posted, tell, tell_to, welcome, with_gateway, with_receipts,
};
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const QUEUE: &str = "/admin/mensagens";
const NUMBER: &str = "5511987654321";
const NOBODYS: &str = "5511987654000";
/// The longest wait for anything here.
const PATIENCE: Duration = Duration::from_mins(1);

#[track_caller]
fn json_of(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

/// The queue's messages in a state, the newest first, once there are so many.
#[track_caller]
fn settled(admin: &Actor<'_>, state: &str, count: usize) -> Vec<Value> {
    until(&format!("{count} are {state}"), PATIENCE, || {
        let found = json_of(admin, &format!("{QUEUE}?estado={state}"));
        (found["total"] == count).then(|| found["dados"].as_array().unwrap().clone())
    })
}

#[track_caller]
fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = json_of(admin, &format!("/admin/alunos?q={name}@example.com"));
    format!("/admin/alunos/{}", found["dados"][0]["id"].as_str().unwrap())
}

/// Sends a person another link to choose a password.
#[track_caller]
fn send_link(admin: &Actor<'_>, person: &str) {
    let request = Request::new("POST", &format!("{person}/link-de-senha"))
        .header("Accept", "application/json")
        .json(&json!({}));
    admin.send(request).ok();
}

#[test]
fn a_phone_that_lost_its_connection_kills_no_message() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    settled(&admin, "enviada", 1);
    world.control("/_sandbox/chat/phone", &json!({ "connected": false }));
    // To a number that was written to before (400), and to one that is looked up (500).
    send_link(&admin, &student(&admin, "ana"));
    welcome(&site, "rui", "5511987654322");
    until("the channel is down", PATIENCE, || {
        admin.get(QUEUE).expect(200).text().contains("Canal fora do ar: Chat").then_some(())
    });
    until("both wait, untried", PATIENCE, || {
        // While the channel is down it is probed by one message at a time.
        site.clock().advance_s(5);
        let reasons = site.stored("SELECT coalesce(outcome, '') FROM outbox WHERE state = 0 AND lease IS NULL AND attempts = 0");
        let is_told = |reason: &String| reason.contains("Connection Closed");
        (reasons.len() == 2 && reasons.iter().all(is_told)).then_some(())
    });
    // Administrators, their home and `check` hear of it.
    let told = until("the administrator is told", PATIENCE, || {
        let told = json_of(&admin, "/admin/avisos");
        (told["total"] == 1).then(|| told["dados"][0].clone())
    });
    assert_eq!(told["titulo"], "Canal fora do ar: Chat");
    assert!(admin.get("/admin").expect(200).text().contains("Canal fora do ar: Chat"));
    let page = admin.get(QUEUE).expect(200).text();
    assert!(page.contains("O telefone do gateway de chat está sem conexão."), "{page}");
    let checked = site.command(&["check"]).exits(1).stdout;
    assert!(checked.contains("not connected (state close)"), "{checked}");
    assert!(checked.contains("messages that wait: 2; o telefone do gateway"), "{checked}");
    // However long it takes, as long as the messages are of use.
    site.clock().advance_s(600);
    until("it was probed", PATIENCE, || {
        (site.log().matches("a message did not leave").count() > 2).then_some(())
    });
    until("no try was used up", PATIENCE, || {
        let stand = "SELECT state || ' ' || attempts FROM outbox ORDER BY message_id DESC LIMIT 2";
        (site.stored(stand) == ["0 0", "0 0"]).then_some(())
    });
    world.control("/_sandbox/chat/phone", &json!({ "connected": true }));
    site.clock().advance_s(60);
    let admin = site.administrator();
    settled(&admin, "enviada", 3);
    let checked = site.command(&["check"]).run().stdout;
    assert!(!checked.contains("messages that wait"), "{checked}");
}

#[test]
fn what_the_network_slows_down_or_calls_an_error_waits_too() {
    for says in ["Error: Timed Out", "Error: rate-overlimit", "Error: not-acceptable"] {
        let world = World::start();
        let site = with_gateway(&world, "evolution").start();
        let admin = site.administrator();
        welcome(&site, "ana", NUMBER);
        settled(&admin, "enviada", 1);
        world.control("/_sandbox/chat/phone", &json!({ "connected": false, "says": says }));
        send_link(&admin, &student(&admin, "ana"));
        let part = says.trim_start_matches("Error: ");
        until("it waits, untried", PATIENCE, || {
            let found = site.stored(
                "SELECT coalesce(outcome, '') FROM outbox WHERE state = 0 AND lease IS NULL AND attempts = 0",
            );
            found.iter().any(|reason| reason.contains(part)).then_some(())
        });
        let checked = site.command(&["check"]).run().stdout;
        assert!(checked.contains("messages that wait: 1; "), "{checked}");
        world.control("/_sandbox/chat/phone", &json!({ "connected": true }));
        site.clock().advance_s(60);
        settled(&admin, "enviada", 2);
    }
}

#[test]
fn what_arrives_is_shown_and_what_is_only_taken_is_no_delivery() {
    let world = World::start();
    let site = with_receipts(&world).start();
    tell_to(&world, &site, true);
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    let sent = settled(&admin, "enviada", 1).remove(0);
    let page = format!("{QUEUE}/{}", sent["id"].as_str().unwrap());
    assert_eq!((&sent["entrega"], &sent["entrega_em"]), (&Value::Null, &Value::Null));
    let shows = |words: &str| {
        let shown = admin.get(&page).expect(200).text();
        assert!(shown.contains(words), "{words}: {shown}");
    };
    shows("Aceita pelo WhatsApp, ainda sem confirmação.");
    let id = sent["resposta"].as_str().unwrap();
    // In disorder, twice, with and without our own name for it; and of one that is unknown.
    for (word, tracking, name, words) in [
        ("sent", true, "enviada", "Enviada pelo WhatsApp"),
        ("read", false, "lida", "Lida pela pessoa."),
        ("delivered", true, "lida", "Lida pela pessoa."),
        ("read", true, "lida", "Lida pela pessoa."),
        ("failed", true, "lida", "Lida pela pessoa."),
    ] {
        let status = json!({ "id": id, "status": word, "code": 131_026, "tracking": tracking });
        tell(&world, &json!([{ "id": "wamid.de-outro", "status": "read" }, status]));
        let now = json_of(&admin, &page);
        assert_eq!((&now["entrega"], &now["estado"]), (&json!(name), &json!("enviada")), "{word}");
        shows(words);
    }
    let list = admin.get(QUEUE).expect(200).text();
    assert!(list.contains(">Lida</span>"), "{list}");
    let figures = admin.get("/admin/mensagens/canais").expect(200).text();
    assert!(figures.contains("API oficial, com aviso de entrega"), "{figures}");
}

#[test]
fn by_itself_the_official_api_tells_what_it_delivered_and_what_failed() {
    let world = World::start();
    let site = with_receipts(&world).start();
    tell_to(&world, &site, false);
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    until("it arrived", PATIENCE, || {
        (settled(&admin, "enviada", 1)[0]["entrega"] == "entregue").then_some(())
    });
    welcome(&site, "rui", NOBODYS);
    let failed = settled(&admin, "falhou", 1).remove(0);
    let reason = failed["motivo"].as_str().unwrap();
    assert!(reason.contains("avisou depois, código 131026"), "{reason}");
    // The operator sees it in words, counted, and can mend it.
    let list = admin.get(&format!("{QUEUE}?estado=falhou")).expect(200).text();
    assert!(list.contains("Este número não recebe mensagens."), "{list}");
    assert!(admin.get(QUEUE).expect(200).text().contains("1 falhou em 7 dias"));
    let page = admin.get(&format!("{QUEUE}/{}", failed["id"].as_str().unwrap())).expect(200).text();
    assert!(page.contains("Corrigir e reenviar"), "{page}");
    // So do the pages of the person.
    let person = student(&admin, "rui");
    let shown = admin.get(&person).expect(200).text();
    assert!(
        shown.contains("O WhatsApp diz que o número 5511987654000 não recebe mensagens"),
        "{shown}"
    );
    assert!(shown.contains("Recusou uma mensagem") && shown.contains("131026"), "{shown}");
}

#[test]
fn a_number_that_is_refused_time_and_again_gets_nothing_until_it_is_mended() {
    let world = World::start();
    let site = with_receipts(&world).start();
    tell_to(&world, &site, false);
    let admin = site.administrator();
    let rui = site.person("rui");
    let person = student(&admin, "rui");
    admin.post(&person, &json!({ "chat_number": NOBODYS })).ok();
    for count in 1..=3 {
        send_link(&admin, &person);
        settled(&admin, "falhou", count);
    }
    let shown = admin.get(&person).expect(200).text();
    assert!(shown.contains("Recusou 3 mensagens seguidas"), "{shown}");
    assert!(shown.contains("Nada mais sai por chat"), "{shown}");
    // The person sees it, and the channel counts as not connected.
    let own = rui.get("/perfil").expect(200).text();
    assert!(
        own.contains("O WhatsApp diz que o número 5511987654000 não recebe mensagens"),
        "{own}"
    );
    let alerts = rui.get("/perfil/avisos").expect(200).text();
    assert!(alerts.contains("O WhatsApp diz que o número do seu perfil"), "{alerts}");
    let alerts = json_of(&rui, "/perfil/avisos");
    assert_eq!(alerts["canais"][0], json!({ "canal": "chat", "conectado": false, "recebe": true }));
    // Without e-mail nothing can be sent; the page says so.
    let refused = admin.send(
        Request::new("POST", &format!("{person}/link-de-senha"))
            .header("Accept", "application/json")
            .json(&json!({})),
    );
    assert_eq!(refused.expect(200).json()["mensagens"], 0);
    let form = Request::new("POST", &format!("{person}/link-de-senha")).form(&[]);
    let back = admin.send(form).expect(303);
    let shown = admin.get(back.header("location").unwrap()).expect(200).text();
    assert!(shown.contains("O link não foi enviado"), "{shown}");
    assert_eq!(site.stored("SELECT count(*) || '' FROM outbox"), ["3"], "nothing is queued");
    // What an operator sends again gives the number another chance.
    let failed = settled(&admin, "falhou", 3).remove(0);
    admin.post(&format!("{QUEUE}/{}/reenviar", failed["id"].as_str().unwrap()), &json!({})).ok();
    until("it failed again", PATIENCE, || {
        let times = site.stored("SELECT times || '' FROM chat_unreachable");
        (times == ["1"]).then_some(())
    });
    // Another number ends it.
    admin.post(&person, &json!({ "chat_number": NUMBER })).ok();
    let shown = admin.get(&person).expect(200).text();
    assert!(!shown.contains("O WhatsApp diz"), "{shown}");
    send_link(&admin, &person);
    until("it arrives", PATIENCE, || {
        world.messages().iter().any(|one| one["to"] == NUMBER).then_some(())
    });
}

#[test]
fn what_waits_for_a_silenced_number_is_dropped_with_its_reason() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").config("cron.enabled", false).start();
    let admin = site.administrator();
    welcome(&site, "ana", NOBODYS);
    let person = student(&admin, "ana");
    let call = || {
        let path = format!("/api/v1/cron?token={}", crate::support::site::CRON_SECRET);
        site.anonymous().get(&path).ok()
    };
    for times in 1..=3 {
        send_link(&admin, &person);
        assert_eq!(call()["chat_erros"], 1, "{times}");
    }
    assert_eq!(site.stored("SELECT times || '' FROM chat_unreachable"), ["3"]);
    let number = json!({ "chat_number": "5511987654001" });
    admin.post(&person, &number).ok();
    send_link(&admin, &person);
    // It waits, and the number becomes the one that is silenced.
    admin.post(&person, &json!({ "chat_number": NOBODYS })).ok();
    assert_eq!(call()["chat_ignorados"], 1);
    let reason = site.stored("SELECT outcome FROM outbox ORDER BY message_id DESC LIMIT 1");
    assert!(reason[0].contains("recusou este número três vezes"), "{reason:?}");
}

#[test]
fn the_accounts_fault_told_later_holds_every_message() {
    let world = World::start();
    let site = with_receipts(&world).start();
    tell_to(&world, &site, false);
    let admin = site.administrator();
    world.control("/_sandbox/chat/fate", &json!({ "number": NUMBER, "code": 131_042 }));
    welcome(&site, "ana", NUMBER);
    until("the channel is down", PATIENCE, || {
        admin.get(QUEUE).expect(200).text().contains("Canal fora do ar: Chat").then_some(())
    });
    let page = admin.get(QUEUE).expect(200).text();
    assert!(page.contains("A conta de chat tem um pagamento pendente."), "{page}");
    assert_eq!(json_of(&admin, "/admin/avisos")["dados"][0]["titulo"], "Canal fora do ar: Chat");
    world.control("/_sandbox/chat/fate", &json!({ "number": NUMBER, "code": null }));
    site.clock().advance_s(60);
    until("it arrived", PATIENCE, || {
        let found = json_of(&admin, &format!("{QUEUE}?estado=enviada"));
        (found["dados"][0]["entrega"] == "entregue").then_some(())
    });
    assert!(!admin.get(QUEUE).expect(200).text().contains("Canal fora do ar"));
}

#[test]
fn codes_of_the_account_in_the_answer_hold_every_message() {
    let world = World::start();
    let site = with_receipts(&world).start();
    let admin = site.administrator();
    for code in [131_005, 131_037, 131_045, 130_497, 131_057] {
        let number = format!("5511987{code}");
        world.control(
            "/_sandbox/chat/fate",
            &json!({ "number": number, "code": code, "at_once": true }),
        );
        welcome(&site, &format!("p{code}"), &number);
        site.clock().advance_s(600);
        until("it waits, untried", PATIENCE, || {
            let sql = format!(
                "SELECT attempts || '' FROM outbox WHERE state = 0 AND lease IS NULL AND outcome LIKE '%{code}%'"
            );
            (site.stored(&sql) == ["0"]).then_some(())
        });
        world.control("/_sandbox/chat/fate", &json!({ "number": number, "code": null }));
    }
    for _ in 0..3 {
        site.clock().advance_s(600);
    }
    until("all leave", PATIENCE, || {
        site.clock().advance_s(60);
        (json_of(&admin, &format!("{QUEUE}?estado=enviada"))["total"] == 5).then_some(())
    });
}

/// A site that hears, and the message that it sent, with the API's id for it.
fn sent(world: &World) -> (Site, String) {
    let site = with_receipts(world).start();
    tell_to(world, &site, true);
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    let id = settled(&admin, "enviada", 1)[0]["resposta"].as_str().unwrap().to_owned();
    drop(admin);
    (site, id)
}

fn body_of(id: &str, word: &str, count: usize) -> Vec<u8> {
    let status = json!({ "id": id, "status": word, "errors": [{ "code": 131_026 }] });
    let statuses = vec![status; count];
    let body = json!({ "object": "whatsapp_business_account", "entry": [{ "id": "1", "changes": [{ "field": "messages", "value": { "statuses": statuses } }] }] });
    body.to_string().into_bytes()
}

#[test]
fn a_forged_body_changes_nothing_and_a_replayed_one_nothing_more() {
    let world = World::start();
    let (site, id) = sent(&world);
    let nobody = site.anonymous();
    let stands = || site.stored("SELECT state || ' ' || receipt || ' ' || attempts FROM outbox");
    let (failed, read) = (body_of(&id, "failed", 1), body_of(&id, "read", 1));
    let signature = |request: &Request| request.clone();
    let good = signature(&posted(&failed, APP_SECRET));
    // Wrong secret, none, two, another body under a right one, no signature.
    nobody.send(posted(&failed, "outro-segredo")).expect(401);
    nobody.send(posted(&failed, "")).expect(401);
    nobody.send(good.clone().body("application/json", &read)).expect(401);
    nobody.send(good.clone().header("X-Hub-Signature-256", "sha256=00")).expect(401);
    for header in ["", "sha1=00", "sha256=", "sha256=zz"] {
        let unsigned = Request::new("POST", HOOK).body("application/json", &failed);
        let reply = nobody.send(unsigned.header("X-Hub-Signature-256", header)).expect(401);
        assert_eq!(reply.code(), "invalid_signature");
    }
    nobody.send(Request::new("POST", HOOK).body("application/json", &failed)).expect(401);
    assert_eq!(stands(), ["1 0 1"]);
    // The same body again and again is one failure.
    for _ in 0..3 {
        nobody.send(good.clone()).ok();
    }
    assert_eq!(stands(), ["3 0 1"]);
    assert_eq!(site.stored("SELECT times || '' FROM chat_unreachable"), ["1"]);
    // What is no body of theirs, though signed, is refused or passed over.
    for body in [&b"{"[..], b"", b"[]", b"\xff"] {
        let reply = nobody.send(posted(body, APP_SECRET));
        assert!(matches!(reply.status, 400 | 422), "{reply}");
    }
    for body in [&b"{}"[..], b"{\"entry\":1}", b"{\"entry\":[{\"changes\":[{}]}]}"] {
        nobody.send(posted(body, APP_SECRET)).ok();
    }
}

#[test]
fn large_bodies_are_bounded() {
    let world = World::start();
    let (site, id) = sent(&world);
    let nobody = site.anonymous();
    // As many as the API puts into one, each as long as it writes them.
    let mut long: Value =
        serde_json::from_str(include_str!("../../witness/chat/cloud_status_sent.json")).unwrap();
    let mut long = long["sample"].take();
    let statuses = &mut long["entry"][0]["changes"][0]["value"]["statuses"];
    statuses[0]["id"] = json!(id);
    *statuses = json!(vec![statuses[0].clone(); 1_000]);
    let many = long.to_string().into_bytes();
    assert!(many.len() > 256 * 1024);
    nobody.send(posted(&many, APP_SECRET)).ok();
    // More statuses than are read, and more bytes.
    nobody.send(posted(&body_of(&id, "sent", 1_001), APP_SECRET)).expect(422);
    let huge = vec![b' '; 1024 * 1024 + 1];
    nobody.send(posted(&huge, APP_SECRET)).expect(413);
    assert_eq!(site.stored("SELECT receipt || '' FROM outbox"), ["1"]);
}

#[test]
fn the_question_whether_the_address_is_ours_needs_the_token() {
    let world = World::start();
    let site = with_receipts(&world).start();
    let nobody = site.anonymous();
    let ask = |mode: &str, token: &str, challenge: &str| {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("hub.mode", mode)
            .append_pair("hub.verify_token", token)
            .append_pair("hub.challenge", challenge)
            .finish();
        nobody.get(&format!("{HOOK}?{query}"))
    };
    let reply = ask("subscribe", VERIFY_TOKEN, "1158201444").expect(200);
    assert_eq!(
        (reply.text(), reply.header("content-type")),
        ("1158201444".to_owned(), Some("text/plain; charset=utf-8"))
    );
    ask("subscribe", "outra", "1").expect(401);
    ask("subscribe", "", "1").expect(401);
    ask("unsubscribe", VERIFY_TOKEN, "1").expect(401);
    ask("subscribe", VERIFY_TOKEN, "<b>").expect(422);
    nobody.get(HOOK).expect(401);
    let doubled = format!(
        "{HOOK}?hub.mode=subscribe&hub.verify_token=x&hub.verify_token={VERIFY_TOKEN}&hub.challenge=1"
    );
    nobody.get(&doubled).expect(401);
    assert!(!site.log().contains(VERIFY_TOKEN));
}

#[test]
fn without_its_settings_the_receiver_is_not_there_and_check_says_what_is_missing() {
    let world = World::start();
    let body = body_of("wamid.1", "failed", 1);
    for site in [
        with_receipts(&world).config("chat.app_secret", "").start(),
        with_gateway(&world, "evolution").config("chat.app_secret", APP_SECRET).start(),
        Site::builder().config("chat.app_secret", APP_SECRET).start(),
    ] {
        let nobody = site.anonymous();
        nobody.send(posted(&body, APP_SECRET)).expect(404);
        nobody.send(posted(&body, "")).expect(404);
        nobody
            .get(&format!("{HOOK}?hub.mode=subscribe&hub.verify_token=&hub.challenge=1"))
            .expect(404);
    }
    let site = with_receipts(&world).config("chat.app_secret", "").start();
    let checked = site.command(&["check"]).run().stdout;
    let line = checked.lines().find(|line| line.contains("chat webhook")).expect(&checked);
    assert!(line.contains("acceptance only") && line.contains("chat.app_secret"), "{line}");
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    let sent = settled(&admin, "enviada", 1).remove(0);
    let page = admin.get(&format!("{QUEUE}/{}", sent["id"].as_str().unwrap())).expect(200).text();
    assert!(page.contains("configure o webhook"), "{page}");
    let channels = admin.get("/admin/mensagens/canais").expect(200).text();
    assert!(channels.contains("API oficial, sem aviso de entrega"), "{channels}");
    let site = with_receipts(&world).start();
    let checked = site.command(&["check"]).run().stdout;
    assert!(!checked.contains("chat webhook"), "{checked}");
    let shown = site.command(&["config", "show"]).ok();
    assert!(!shown.contains(APP_SECRET) && !shown.contains(VERIFY_TOKEN), "{shown}");
}
