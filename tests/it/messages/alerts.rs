//! Messages to people: what they choose, what messages say, whether the
//! channels work, and what administrators learn when something fails.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::{json_of, meet, queued, run, student};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const OWN: &str = "/perfil/avisos";
const CHANNELS: &str = "/admin/mensagens/canais";
const TEXTS: &str = "/admin/mensagens/textos";
const REMINDER: &str = "lembrete_encontro";
const INVITATION: &str = "convite_de_fornecedor";
const BILL: &str = "cobranca_de_fornecedor";
/// The longest wait for anything here.
const PATIENCE: Duration = Duration::from_mins(1);

/// A site whose messages wait: mail and chat are configured, but with no server.
fn quiet() -> Site {
    Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:1")
        .config("chat.gateway", "evolution")
        .config("chat.base_url", "http://127.0.0.1:1")
        .config("chat.instance", "escola")
        .start()
}

/// A site that sends through the sandbox's gateway, without a pace.
fn sending(world: &World) -> Site {
    Site::builder()
        .unlimited()
        .world(world)
        .config("cron.enabled", true)
        .config("chat.gateway", "evolution")
        .config("chat.base_url", format!("http://{}", world.address()))
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("messages.pace_evolution_per_s", 0)
        .start()
}

#[track_caller]
fn form(actor: &Actor<'_>, path: &str, fields: &[(&str, &str)]) -> Reply {
    actor.send(Request::new("POST", path).form(fields))
}

#[track_caller]
fn chosen(actor: &Actor<'_>) -> Vec<String> {
    let shown = json_of(actor, OWN);
    let lists = [("canais", "canal"), ("tipos", "tipo")];
    let names = lists.iter().flat_map(|(list, name)| {
        let entries = shown[list].as_array().unwrap().iter();
        let wanted = entries.filter(|entry| entry["recebe"] == true);
        wanted.map(move |entry| entry[name].as_str().unwrap().to_owned())
    });
    names.collect()
}

#[test]
fn a_person_chooses_channels_and_kinds_and_reminders_follow() {
    let site = quiet();
    let bia = site.person("bia");
    let kinds = [
        REMINDER,
        "inatividade",
        "lembrete_checkin",
        "pergunta",
        "estoque_baixo",
        INVITATION,
        BILL,
        "webhook_desligado",
        "comunicado",
    ];
    assert_eq!(chosen(&bia), [&["chat", "email"], &kinds[..]].concat());
    assert_eq!(json_of(&bia, OWN)["canais"][0]["conectado"], false);
    meet(&site, "2026-11-21 08:30:00");
    run(&site);
    assert_eq!(queued(&site, REMINDER), ["email bia@example.com"]);
    // With a number, chat replaces e-mail, until the person chooses both.
    let number = json!({ "chat_number": "11987654321", "confirmacao": bia.person().password });
    bia.post("/perfil", &number).ok();
    assert_eq!(chosen(&bia), [&["chat"], &kinds[..]].concat());
    meet(&site, "2026-11-21 08:31:00");
    run(&site);
    assert_eq!(queued(&site, REMINDER).len(), 2);
    assert_eq!(queued(&site, REMINDER)[1], "chat bia@example.com");
    let fields = [("canais", "chat"), ("canais", "email"), ("tipos", REMINDER)];
    form(&bia, OWN, &fields).expect(303);
    assert_eq!(chosen(&bia), ["chat", "email", REMINDER]);
    meet(&site, "2026-11-21 08:32:00");
    run(&site);
    assert_eq!(queued(&site, REMINDER)[2..], ["chat bia@example.com", "email bia@example.com"]);
    // No ticked box means no channel; a program may leave a list out.
    let fields = [("sobre", "canais"), ("sobre", "tipos"), ("tipos", REMINDER)];
    form(&bia, OWN, &fields).expect(303);
    form(&bia, OWN, &[("outro", "x")]).expect(422);
    assert_eq!(chosen(&bia), [REMINDER]);
    meet(&site, "2026-11-21 08:33:00");
    assert_eq!(run(&site)["meets_notif"], 0);
    bia.post(OWN, &json!({ "canais": ["chat"] })).ok();
    assert_eq!(chosen(&bia), ["chat", REMINDER]);
    bia.post(OWN, &json!({ "tipos": [] })).ok();
    meet(&site, "2026-11-21 08:34:00");
    assert_eq!(run(&site)["meets_notif"], 0, "this kind is not wanted");
}

#[test]
fn a_channel_that_is_not_connected_is_not_ticked_and_its_form_says_nothing_of_it() {
    let site = quiet();
    let bia = site.person("bia");
    let box_of = |channel: &str| {
        let page = bia.get(OWN).expect(200).text();
        let at = page.find(&format!("name=\"canais\" value=\"{channel}\"")).unwrap();
        page[at..].split_once('>').unwrap().0.to_owned()
    };
    assert!(!box_of("chat").contains("checked") && box_of("chat").contains("disabled"));
    assert!(box_of("email").contains("checked") && !box_of("email").contains("disabled"));
    // The browser sends nothing for a disabled box. Once connected, the channel
    // is on by default.
    let fields = [("sobre", "canais"), ("canais", "email")];
    form(&bia, OWN, &fields).expect(303);
    let number = json!({ "chat_number": "11987654321", "confirmacao": bia.person().password });
    bia.post("/perfil", &number).ok();
    assert!(box_of("chat").contains("checked"), "{}", box_of("chat"));
    assert!(!box_of("chat").contains("disabled"));
}

#[test]
fn choices_are_checked_and_say_nothing_about_what_must_be_sent() {
    let site = quiet();
    let bia = site.person("bia");
    for (body, field) in [
        (json!({ "canais": ["pombo"] }), "canais"),
        (json!({ "tipos": ["link_de_senha"] }), "tipos"),
        (json!({ "canais": "chat;email" }), "canais"),
        (json!({ "tipos": [7] }), "tipos"),
        (json!({}), "canais"),
    ] {
        let refused = bia.post(OWN, &body).expect(422);
        assert!(refused.json()["fields"][field].is_string(), "{refused}");
    }
    bia.post(OWN, &json!({ "canais": [], "tipos": [] })).ok();
    let asked = json!({ "email": "bia@example.com" });
    site.anonymous().post("/entrar/esqueci", &asked);
    until("the link is queued", PATIENCE, || {
        (queued(&site, "link_de_senha") == ["email bia@example.com"]).then_some(())
    });
    // Only students have reminders to choose.
    let rui = site.person_as("rui", "drop");
    assert_eq!(json_of(&rui, OWN)["tipos"], json!([]));
    rui.post(OWN, &json!({ "tipos": [REMINDER] })).ok();
    assert_eq!(
        site.stored(
            "SELECT CAST(count(*) AS TEXT) FROM message_choice WHERE about = 'lembrete_encontro' AND wanted = 1"
        ),
        ["0"]
    );
}

#[test]
fn a_text_is_changed_looked_at_and_taken_back() {
    let world = World::start();
    let site = sending(&world);
    let admin = site.administrator();
    let path = format!("{TEXTS}/boas_vindas");
    assert_eq!(json_of(&admin, TEXTS)["total"], 11);
    let shipped = json_of(&admin, &path);
    assert_eq!(shipped["alterado_em"], Value::Null);
    let new =
        json!({ "assunto": "Oi, {nome}", "texto": "Oi, {primeiro_nome}!\n\nSeu link: {link}" });
    // A preview is not saved.
    let mut look = new.clone();
    look["acao"] = json!("ver");
    let seen = admin.post(&path, &look).ok();
    assert_eq!(seen["assunto"], "Oi, Ana Souza");
    assert!(seen["texto"].as_str().unwrap().starts_with("Oi, Ana!\n\nSeu link: http"));
    assert_eq!(json_of(&admin, &path)["texto"], shipped["texto"]);
    admin.post(&path, &new).ok();
    student(&site, "rui", "pro");
    let told = until("the message came", PATIENCE, || world.messages().pop());
    assert!(told["text"].as_str().unwrap().starts_with("Oi, rui!\n\nSeu link: http"), "{told}");
    admin.post(&format!("{path}/restaurar"), &json!({})).ok();
    let back = json_of(&admin, &path);
    assert_eq!((&back["texto"], &back["alterado_em"]), (&shipped["texto"], &Value::Null));
    let acts =
        site.stored("SELECT action FROM audit WHERE object_kind = 'texto' ORDER BY audit_id");
    assert_eq!(acts, ["texto.alterar", "texto.restaurar"]);
}

#[test]
fn a_text_that_would_not_serve_is_refused_with_the_reason() {
    let site = quiet();
    let admin = site.administrator();
    let path = format!("{TEXTS}/boas_vindas");
    for (subject, text, field, said) in [
        ("Oi", "Sem o link", "texto", "{link}"),
        ("Oi", "{link} {encontro}", "texto", "{encontro}"),
        ("{saldo}", "{link}", "assunto", "{saldo}"),
        ("", "{link}", "assunto", "uma linha"),
        ("a\nb", "{link}", "assunto", "uma linha"),
        ("Oi", "", "texto", "Escreva"),
        ("Oi", "{link}\u{0}", "texto", "Escreva"),
    ] {
        let refused = admin.post(&path, &json!({ "assunto": subject, "texto": text })).expect(422);
        let fault = refused.json()["fields"][field].to_string();
        assert!(fault.contains(said), "{refused}");
    }
    let long = "ã".repeat(1_993) + "{link} ";
    admin.post(&path, &json!({ "assunto": "Oi", "texto": long })).ok();
    let longer = "ã".repeat(1_995) + "{link}";
    admin.post(&path, &json!({ "assunto": "Oi", "texto": longer })).expect(422);
    // A browser gets the form again, with the typed values.
    let fields = [("assunto", "Oi <b>"), ("texto", "Sem nada"), ("acao", "salvar")];
    let page = form(&admin, &path, &fields).expect(422).text();
    assert!(page.contains("Oi &#60;b&#62;") && page.contains("Sem nada"), "{page}");
    form(&admin, &path, &[("assunto", "Oi"), ("texto", "{link}"), ("acao", "ver")]).expect(200);
    for unknown in ["teste", "alerta", "outra"] {
        admin.get(&format!("{TEXTS}/{unknown}")).expect(404);
    }
}

#[test]
fn a_channel_is_tried_out_with_a_message_to_oneself() {
    let world = World::start();
    let site = sending(&world);
    let admin = site.administrator();
    let test = format!("{CHANNELS}/chat/teste");
    admin.post(&test, &json!({ "numero": "123" })).expect(422);
    form(&admin, &test, &[("numero", "123")]).expect(422);
    let queued = admin.post(&test, &json!({ "numero": "(11) 98765-4321" })).expect(201);
    let id = queued.json()["id"].as_str().unwrap().to_owned();
    let told = until("the test came", PATIENCE, || world.messages().pop());
    assert_eq!(told["to"], "5511987654321");
    until("it is noted", PATIENCE, || {
        let message = json_of(&admin, &format!("/admin/mensagens/{id}"));
        (message["estado"] == "enviada").then_some(())
    });
    // A channel that is not configured, or would reach nobody, is not tried.
    for channel in ["email", "telegram", "push"] {
        let refused = admin.post(&format!("{CHANNELS}/{channel}/teste"), &json!({}));
        assert_eq!(refused.expect(409).code(), "conflict");
    }
    admin.post(&format!("{CHANNELS}/pombo/teste"), &json!({})).expect(404);
    let shown = json_of(&admin, CHANNELS);
    let chat = &shown["dados"][0];
    assert_eq!(
        (&chat["canal"], &chat["configurado"], &chat["em_ordem"]),
        (&json!("chat"), &json!(true), &json!(true))
    );
    assert_eq!(shown["dados"][1]["configurado"], false);
}

#[test]
fn one_test_a_channel_waits_at_a_time() {
    let site = quiet();
    let admin = site.administrator();
    let test = format!("{CHANNELS}/email/teste");
    admin.post(&test, &json!({})).expect(201);
    site.clock().advance_s(1);
    admin.post(&test, &json!({})).expect(409);
    form(&admin, &test, &[]).expect(303);
    assert_eq!(queued(&site, "teste").len(), 1);
}

#[test]
fn a_channel_that_refuses_us_is_told_to_administrators_by_another_once_a_day() {
    let world = World::start();
    let site = Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("email.smtp_url", "smtp://127.0.0.1:1")
        .config("chat.gateway", "evolution")
        .config("chat.base_url", format!("http://{}", world.address()))
        .config("chat.api_key", "recusada")
        .config("chat.instance", "escola")
        .config("messages.pace_evolution_per_s", 0)
        .start();
    let admin = site.administrator();
    student(&site, "ana", "pro");
    student(&site, "rui", "pro");
    let told = until("the administrator is told", PATIENCE, || {
        let told = json_of(&admin, "/admin/avisos");
        (told["total"] == 1).then(|| told["dados"][0].clone())
    });
    assert_eq!(told["titulo"], "Canal fora do ar: Chat");
    assert!(told["mensagem"].as_str().unwrap().contains("chat.api_key"), "{told}");
    let alerts = site.stored("SELECT channel FROM outbox WHERE kind = 'alerta'");
    assert_eq!(alerts, ["email"], "not by the channel itself");
    admin.post("/admin/avisos/lidos", &json!({})).ok();
    let page = admin.get("/admin/avisos").expect(200).text();
    assert!(!page.contains("Marcar todos como lidos"), "{page}");
    site.person("bia").get("/admin/avisos").expect(403);
    let shown = json_of(&admin, CHANNELS);
    assert_eq!(shown["dados"][0]["em_ordem"], false);
}

#[test]
fn the_page_of_messages_counts_by_day_and_channel() {
    let world = World::start();
    let site = sending(&world);
    // A minute before midnight in Brasília.
    site.clock().set("2026-11-21T02:59:00Z");
    let admin = site.administrator();
    student(&site, "ana", "pro");
    student(&site, "rui", "pro");
    until("both left", PATIENCE, || (world.messages().len() == 2).then_some(()));
    let page = until("both are counted", PATIENCE, || {
        let page = admin.get("/admin/mensagens").expect(200).text();
        page.contains("20/11: 2 · Chat 2").then_some(page)
    });
    assert!(page.contains("Mensagens enviadas por dia, últimos 30 dias"));
    site.clock().set("2026-11-21T03:00:00Z");
    let again = admin.get("/admin/mensagens").expect(200).text();
    assert!(again.contains("21/11: 0 · Chat 0") && again.contains("20/11: 2 · Chat 2"), "{again}");
    let narrowed = admin.get("/admin/mensagens?canal=chat").expect(200).text();
    assert!(!narrowed.contains("últimos 30 dias"), "the chart is of all messages");
}
