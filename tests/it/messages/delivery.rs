//! Sending of messages: by chat, through the gateways of the sandbox.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::chat::{tell_to, welcome, with_gateway, with_receipts};
use crate::support::client::Request;
use crate::support::site::CRON_SECRET;
use crate::support::wait::until;
use crate::support::world::World;

const QUEUE: &str = "/admin/mensagens";
const NUMBER: &str = "5511987654321";
/// The longest wait for anything here.
const PATIENCE: Duration = Duration::from_mins(1);

#[track_caller]
fn list(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

/// Waits until the queue's only message is in a state, and returns it.
#[track_caller]
fn settled(admin: &Actor<'_>, state: &str) -> Value {
    until(&format!("a message is {state}"), PATIENCE, || {
        let found = list(admin, &format!("{QUEUE}?estado={state}"));
        (found["total"] == 1).then(|| found["dados"][0].clone())
    })
}

#[test]
fn a_welcome_leaves_by_chat_and_its_link_opens() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    let sent = settled(&admin, "enviada");
    assert_eq!(
        (&sent["tentativas"], &sent["motivo"], &sent["resposta"]),
        (&json!(1), &json!(""), &json!("evolution-1"))
    );
    let messages = world.messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["to"], NUMBER);
    let text = messages[0]["text"].as_str().unwrap();
    assert!(text.starts_with("Olá, ana!"), "{text}");
    let link = text.split_whitespace().find(|word| word.contains("/senha?codigo="));
    let (_, path) = link.unwrap().split_once("/senha").unwrap();
    let page = site.anonymous().get(&format!("/senha{path}")).expect(200);
    assert!(page.text().contains("senha"), "{page}");
}

#[test]
fn the_official_api_takes_templates_of_one_line() {
    let world = World::start();
    let site = with_gateway(&world, "cloud").config("chat.template", "aviso_geral").start();
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    settled(&admin, "enviada");
    let message = &world.messages()[0];
    assert_eq!(message["template"], "aviso_geral");
    assert!(!message["text"].as_str().unwrap().contains('\n'));
}

#[test]
fn without_a_template_nothing_is_said_by_the_official_api() {
    let world = World::start();
    let site = with_receipts(&world).config("chat.template", "").start();
    tell_to(&world, &site, false);
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    let failed = settled(&admin, "falhou");
    let reason = failed["motivo"].as_str().unwrap();
    assert!(reason.contains("chat.template"), "{reason}");
    assert!(world.messages().is_empty());
}

#[test]
fn within_a_day_of_a_message_the_official_api_takes_free_text() {
    let world = World::start();
    let site = with_gateway(&world, "cloud").start();
    let admin = site.administrator();
    world.control("/_sandbox/chat/wrote", &json!({ "number": NUMBER }));
    welcome(&site, "ana", NUMBER);
    settled(&admin, "enviada");
    let message = &world.messages()[0];
    assert_eq!(message["template"], Value::Null);
    assert!(message["text"].as_str().unwrap().contains('\n'));
}

#[test]
fn a_failed_message_says_why_and_goes_again_to_the_corrected_number() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    welcome(&site, "ana", "5511987654000");
    welcome(&site, "rui", NUMBER);
    settled(&admin, "enviada");
    let failed = settled(&admin, "falhou");
    let page = format!("{QUEUE}/{}", failed["id"].as_str().unwrap());
    // The list and the page say it in words, with what to do; the page has the text.
    let list = admin.get(&format!("{QUEUE}?estado=falhou")).expect(200).text();
    assert!(list.contains("Este número não está na rede de chat."), "{list}");
    assert!(list.contains("1 mensagem"), "{list}");
    // The menu counts those of seven days, and its list begins with them.
    let lately = admin.get(&format!("{QUEUE}?estado=falhou-7")).expect(200).text();
    assert!(lately.contains(&page) && lately.contains("Falharam em 7 dias"), "{lately}");
    let whole = admin.get(QUEUE).expect(200).text();
    assert!(whole.contains("1 falhou em 7 dias"), "{whole}");
    let shown = admin.get(&page).expect(200).text();
    for words in
        ["Corrija o número e reenvie.", "5511987654000", "Corrigir e reenviar", "(não é mostrado)"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let correct = |typed: &str| {
        let fields = [("endereco", typed)];
        admin.send(Request::new("POST", &format!("{page}/corrigir")).form(&fields))
    };
    let refused = correct("123").expect(422).text();
    assert!(refused.contains("Informe de 10 a 15 dígitos") && refused.contains("value=\"123\""));
    site.person("bia").post(&format!("{page}/corrigir"), &json!({})).expect(403);
    // The page is the first click, this the second.
    let corrected = "5511912345678";
    correct("(11) 91234-5678").expect(303);
    until("it is sent to the corrected number", PATIENCE, || {
        world.messages().iter().any(|one| one["to"] == corrected).then_some(())
    });
    assert_eq!(
        site.stored("SELECT chat_number FROM user WHERE email = 'ana@example.com'"),
        [corrected],
        "the account has it too"
    );
    assert_eq!(
        site.stored("SELECT action || ' ' || before || ' ' || after FROM audit WHERE action IN ('aluno.alterar', 'mensagem.reenviar') ORDER BY audit_id"),
        [
            r#"aluno.alterar {"chat_number":"5511987654000"} {"chat_number":"5511912345678"}"#,
            r#"mensagem.reenviar {"estado":"falhou"} {"estado":"pendente"}"#,
        ]
    );
    correct("(11) 91234-5678").expect(409);
    let log = admin.get("/admin/auditoria").expect(200).text();
    assert!(log.contains("Número de chat: 5511987654000 → 5511912345678"), "{log}");
    assert!(log.contains("<select class=\"input\" id=\"filtro-objeto\""), "one filter");
}

#[test]
fn a_number_that_is_not_there_fails_and_delays_nobody() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    welcome(&site, "ana", "5511987654000");
    welcome(&site, "rui", NUMBER);
    settled(&admin, "enviada");
    let failed = settled(&admin, "falhou");
    assert_eq!(failed["motivo"], "o número não está na rede de chat");
    let id = failed["id"].as_str().unwrap();
    let again = format!("{QUEUE}/{id}/reenviar");
    site.person("caio").post(&again, &json!({})).expect(403);
    admin.post(&again, &json!({})).ok();
    let failed = settled(&admin, "falhou");
    assert_eq!((&failed["id"], &failed["tentativas"]), (&json!(id), &json!(1)));
    let sent = settled(&admin, "enviada")["id"].clone();
    let again = format!("{QUEUE}/{}/reenviar", sent.as_str().unwrap());
    assert_eq!(admin.post(&again, &json!({})).expect(409).code(), "conflict");
    assert_eq!(
        site.stored("SELECT action || ' ' || before || ' ' || after FROM audit WHERE action = 'mensagem.reenviar'"),
        [r#"mensagem.reenviar {"estado":"falhou"} {"estado":"pendente"}"#]
    );
}

#[test]
fn a_gateway_in_trouble_loses_nothing() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    for fault in [
        json!({ "path_prefix": "/message", "kind": "status", "code": 500 }),
        json!({ "path_prefix": "/message", "kind": "garbage" }),
        json!({ "path_prefix": "/message", "kind": "status", "code": 500, "body": "<html>" }),
        json!({ "path_prefix": "/message", "kind": "rate_limited", "retry_after": 40 }),
    ] {
        world.control("/_sandbox/faults", &fault);
    }
    welcome(&site, "ana", NUMBER);
    // A try is over when its lease has ended.
    let stands = "SELECT attempts || ' ' || (lease IS NULL) FROM outbox";
    for tries in 1..=3 {
        until("the next try failed", PATIENCE, || {
            (site.stored(stands) == [format!("{tries} 1")]).then_some(())
        });
        site.clock().advance_s(600);
    }
    // A pause that the gateway asks for is not counted as a try.
    until("it asked for a pause", PATIENCE, || {
        let found = &list(&admin, QUEUE)["dados"][0];
        (found["motivo"] == "o gateway de chat pede uma pausa" && found["tentativas"] == 3)
            .then_some(())
    });
    assert!(world.messages().is_empty());
    site.clock().advance_s(41);
    assert_eq!(settled(&admin, "enviada")["tentativas"], 4);
    assert_eq!(world.messages().len(), 1);
}

#[test]
fn a_refused_key_stops_the_channel_and_says_so() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").config("chat.api_key", "recusada").start();
    let admin = site.administrator();
    welcome(&site, "ana", NUMBER);
    welcome(&site, "rui", NUMBER);
    let page = until("the channel is down", PATIENCE, || {
        let page = admin.get(QUEUE).expect(200).text();
        page.contains("Canal fora do ar: Chat").then_some(page)
    });
    assert!(page.contains("chat.api_key"), "{page}");
    // A channel that is down uses up no tries: the messages are put back.
    until("both wait, untried", PATIENCE, || {
        let waiting = list(&admin, &format!("{QUEUE}?estado=pendente"));
        let rows = waiting["dados"].as_array().unwrap();
        let untried = rows.iter().all(|one| one["tentativas"] == 0);
        (waiting["total"] == 2 && untried).then_some(())
    });
}

#[test]
fn what_cannot_reach_anybody_is_dropped_with_its_reason() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    let stuck = json!({ "path_prefix": "/message", "kind": "status", "code": 503, "times": 0 });
    world.control("/_sandbox/faults", &stuck);
    welcome(&site, "ana", NUMBER);
    until("it was tried", PATIENCE, || {
        let reason = list(&admin, QUEUE)["dados"][0]["motivo"].clone();
        (reason == "o gateway de chat respondeu 503").then_some(())
    });
    site.clock().advance_s(8 * 86_400);
    let admin = site.administrator();
    let dropped = settled(&admin, "descartada");
    assert_eq!(dropped["motivo"], "o prazo dela passou antes do envio");
}

#[test]
fn killed_at_any_moment_every_message_leaves() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let crm = site.key(&["write"]);
    for number in 0..30 {
        let body = json!({
            "nome": "Ana", "email": format!("ana{number}@example.com"),
            "chat_number": format!("55119876511{number:02}"),
        });
        crm.post("/api/v1/alunos/criar", &body).expect(201);
        if number % 6 == 5 {
            site.kill();
            site.start_again();
        }
    }
    let admin = site.administrator();
    until("all left", PATIENCE, || {
        (list(&admin, &format!("{QUEUE}?estado=enviada"))["total"] == 30).then_some(())
    });
    let mut numbers: Vec<String> =
        world.messages().iter().map(|message| message["to"].as_str().unwrap().to_owned()).collect();
    let all = numbers.len();
    numbers.sort();
    let twice = numbers.windows(2).filter(|pair| pair[0] == pair[1]);
    let flagged = "SELECT u.chat_number FROM outbox o JOIN user u USING (user_id) WHERE o.outcome LIKE 'talvez repetida%'";
    let flagged = site.stored(flagged);
    for pair in twice {
        assert!(flagged.contains(&pair[0]), "{} came twice, unsaid", pair[0]);
    }
    numbers.dedup();
    assert_eq!(numbers.len(), 30);
    // Only messages that were being sent at the kill are sent twice: at most
    // one for each thread.
    assert!(all <= 30 + 5 * 6, "{all}");
}

#[test]
fn with_the_clock_off_messages_wait_for_a_call() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").config("cron.enabled", false).start();
    let admin = site.administrator();
    let call = || {
        let path = format!("/api/v1/cron?token={CRON_SECRET}");
        let told = site.anonymous().get(&path).ok();
        ["chat_enviados", "chat_erros", "chat_ignorados"].map(|name| told[name].as_u64().unwrap())
    };
    assert_eq!(call(), [0, 0, 0]);
    welcome(&site, "ana", NUMBER);
    welcome(&site, "bia", "5511987654000");
    welcome(&site, "caio", "5511987654322");
    admin
        .post(
            &format!("/admin/alunos/{}", student(&admin, "caio")),
            &json!({ "chat_number": null }),
        )
        .ok();
    assert!(world.messages().is_empty());
    assert_eq!(call(), [1, 1, 1]);
    assert_eq!(world.messages().len(), 1);
    assert_eq!(call(), [0, 0, 0]);
    let dropped = settled(&admin, "descartada");
    assert_eq!(dropped["motivo"], "a pessoa não tem número de chat");
}

fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = list(admin, &format!("/admin/alunos?q={name}@example.com"));
    found["dados"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_alert_to_somebody_who_came_back_is_dropped() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").config("cron.enabled", false).start();
    let admin = site.administrator();
    for name in ["ana", "bia"] {
        let person = site.person(name);
        let number = json!({ "chat_number": NUMBER });
        admin.post(&format!("/admin/alunos/{}", student(&admin, name)), &number).ok();
        person.get("/painel").expect(200);
    }
    let call = || {
        let path = format!("/api/v1/cron?token={CRON_SECRET}");
        site.anonymous().get(&path).ok()
    };
    // At night the alerts are not sent; they wait for the morning.
    site.clock().set("2026-11-25T04:00:00Z");
    let told = call();
    assert_eq!((&told["inativos"], &told["chat_enviados"]), (&json!(2), &json!(0)));
    site.clock().set("2026-11-25T10:00:00Z");
    site.person("ana").get("/painel").expect(200);
    site.clock().set("2026-11-25T14:00:00Z");
    let told = call();
    assert_eq!((&told["chat_enviados"], &told["chat_ignorados"]), (&json!(1), &json!(1)));
    let admin = site.administrator();
    let dropped = settled(&admin, "descartada");
    assert_eq!(
        (&dropped["motivo"], &dropped["destinatario"]["email"]),
        (&json!("a pessoa já voltou"), &json!("ana@example.com"))
    );
}
