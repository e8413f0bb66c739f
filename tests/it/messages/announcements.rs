//! Announcements: written, looked at, sent to those whom they are for, read.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::{json_of, queued};
use crate::support::site::Site;
use crate::support::wait::until;

const LIST: &str = "/admin/comunicados";
const KIND: &str = "comunicado";
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

/// Writes a draft; returns its page.
#[track_caller]
fn draft(operator: &Actor<'_>, more: &Value) -> String {
    let mut entry = json!({ "titulo": "Aula nova", "texto": "Começa hoje.\n\nAté lá." });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = operator.post(LIST, &entry).expect(201).json();
    format!("{LIST}/{}", made["id"].as_str().unwrap())
}

#[track_caller]
fn send(operator: &Actor<'_>, page: &str) {
    operator.post(&format!("{page}/enviar"), &json!({})).expect(200);
}

/// Waits until everybody was told.
#[track_caller]
fn sent(operator: &Actor<'_>, page: &str) -> Value {
    until("the announcement is sent", PATIENCE, || {
        let one = json_of(operator, page);
        (one["estado"] == "enviado").then_some(one)
    })
}

fn notices(person: &Actor<'_>) -> Vec<Value> {
    json_of(person, "/painel/avisos")["dados"].as_array().unwrap().clone()
}

#[test]
fn an_announcement_is_written_looked_at_sent_and_read() {
    let site = quiet();
    let operator = site.administrator();
    let empty = operator.get(LIST).expect(200).text();
    assert!(empty.contains("Nenhum comunicado ainda"), "{empty}");
    let (vip, pro) = (site.person_as("vera", "vip"), site.person_as("paulo", "pro"));
    let supplier = site.person_as("rui", "drop");
    let page = draft(&operator, &json!({ "planos": ["vip"] }));
    // Nobody is told of a draft; its page says to how many it goes.
    let shown = operator.get(&page).expect(200).text();
    assert!(shown.contains("Enviar a 1 pessoa") && shown.contains("Começa hoje."), "{shown}");
    assert_eq!(notices(&vip).len(), 0);
    send(&operator, &page);
    let one = sent(&operator, &page);
    assert_eq!(
        (&one["pessoas"], &one["avisadas"], &one["leram"]),
        (&json!(1), &json!(1), &json!(0))
    );
    let told = notices(&vip);
    assert_eq!((told.len(), notices(&pro).len()), (1, 0));
    assert_eq!(told[0]["titulo"], "Aula nova");
    assert!(told[0].to_string().contains("Começa hoje. Até lá."), "{told:?}");
    assert_eq!(queued(&site, KIND), [""; 0], "no channel was chosen");
    // Who was told reads all of it, and that is seen.
    let reading = page.replace("/admin/", "/painel/");
    let list = vip.get("/painel/avisos").expect(200).text();
    assert!(list.contains(&reading), "{list}");
    let text = vip.get(&reading).expect(200).text();
    assert!(text.contains("Começa hoje.") && text.contains("Até lá."), "{text}");
    // So does who comes from the page of a mail service.
    let from_mail = Request::new("GET", &reading).header("Accept", "text/html");
    vip.send(from_mail.header("Sec-Fetch-Site", "cross-site")).expect(200);
    pro.get(&reading).expect(404);
    supplier.get(&reading).expect(403);
    supplier.get(&page).expect(403);
    vip.get(&page).expect(403);
    assert_eq!(json_of(&operator, &page)["leram"], 1);
    let shown = operator.get(&page).expect(200).text();
    assert!(shown.contains("vera@example.com"), "{shown}");
    let others = operator.get(&format!("{page}?leram=nao")).expect(200).text();
    assert!(others.contains("Todas as pessoas avisadas leram."), "{others}");
    let csv = operator.get(&format!("{page}/leitores")).expect(200).text();
    assert!(csv.contains("vera@example.com") && csv.lines().count() == 2, "{csv}");
    let list = operator.get(LIST).expect(200).text();
    assert!(list.contains("1 comunicado · 1 aviso · 100% lidos"), "{list}");
    assert_eq!(
        site.stored("SELECT action FROM audit WHERE object_kind = 'comunicado' AND action <> 'comunicado.baixar_lista' ORDER BY audit_id"),
        ["comunicado.criar", "comunicado.enviar"]
    );
}

#[test]
fn chosen_channels_carry_it_as_each_person_chose() {
    let site = quiet();
    let operator = site.administrator();
    let names = ["ana", "bia", "caio"];
    let [ana, bia, _caio] = names.map(|name| site.person(name));
    let number = json!({ "chat_number": "11987654321", "confirmacao": bia.person().password });
    bia.post("/perfil", &number).ok();
    // Ana wants no announcements outside of the platform.
    ana.post("/perfil/avisos", &json!({ "tipos": ["lembrete_encontro"] })).ok();
    let page = draft(&operator, &json!({ "canais": ["email"] }));
    send(&operator, &page);
    assert_eq!(sent(&operator, &page)["mensagens"], 2);
    assert_eq!(queued(&site, KIND), ["email bia@example.com", "email caio@example.com"]);
    assert_eq!(notices(&ana).len(), 1);
    let page = draft(&operator, &json!({ "canais": ["email", "chat"] }));
    send(&operator, &page);
    sent(&operator, &page);
    assert_eq!(queued(&site, KIND).len(), 4);
    assert!(queued(&site, KIND).contains(&"chat bia@example.com".to_owned()));
    // The text stands once, in the announcement.
    assert!(!site.stored("SELECT params FROM outbox").concat().contains("Começa"));
    let message = json_of(&operator, "/admin/mensagens?tipo=comunicado")["dados"][0]["id"].clone();
    let shown = operator.get(&format!("/admin/mensagens/{}", message.as_str().unwrap()));
    let shown = shown.expect(200).text();
    assert!(shown.contains("Começa hoje."), "{shown}");
}

#[test]
fn one_with_a_time_waits_for_it_over_a_restart_and_can_be_cancelled() {
    let site = quiet();
    site.person("ana");
    let operator = site.administrator();
    let later = json!({ "enviar_em": "2026-11-20 18:00:00" });
    let (page, other) = (draft(&operator, &later), draft(&operator, &later));
    let shown = operator.get(&page).expect(200).text();
    assert!(shown.contains("Agendar para hoje 18:00"), "{shown}");
    send(&operator, &page);
    send(&operator, &other);
    assert_eq!(operator.post(&format!("{page}/enviar"), &json!({})).expect(409).code(), "conflict");
    operator.post(&format!("{page}/excluir"), &json!({})).expect(409);
    operator.post(&page, &json!({ "titulo": "Outro", "texto": "Outro" })).expect(409);
    operator.post(&format!("{other}/cancelar"), &json!({})).expect(200);
    assert_eq!(json_of(&operator, &page)["estado"], "agendado");
    drop(operator);
    site.stop();
    site.clock().advance_s(10 * 3600);
    site.start_again();
    let operator = site.administrator();
    assert_eq!(sent(&operator, &page)["avisadas"], 1);
    assert_eq!(json_of(&operator, &other)["estado"], "cancelado");
    operator.post(&format!("{page}/cancelar"), &json!({})).expect(409);
    operator.post(&format!("{other}/excluir"), &json!({})).expect(200);
    operator.get(&other).expect(404);
    assert_eq!(
        site.stored("SELECT count(*) || '' FROM notification WHERE title = 'Aula nova'"),
        ["1"]
    );
}

#[test]
fn what_cannot_be_sent_is_refused_in_words() {
    let site = quiet();
    let operator = site.administrator();
    let fine = json!({ "titulo": "Aula nova", "texto": "Hoje." });
    for (name, value) in [
        ("titulo", json!("")),
        ("texto", json!("")),
        ("texto", json!("x".repeat(2_001))),
        ("planos", json!(["drop"])),
        ("canais", json!(["fax"])),
        ("canais", json!(["telegram"])),
        ("enviar_em", json!("2026-11-20 08:59:59")),
        ("enviar_em", json!("ontem")),
    ] {
        let mut entry = fine.clone();
        entry[name] = value;
        let refused = operator.post(LIST, &entry).expect(422).json();
        assert!(refused.to_string().contains(name), "{name}: {refused}");
    }
    // A browser gets its form again, with what was typed and ticked.
    let fields = [("titulo", "Aula nova"), ("texto", ""), ("planos", "vip"), ("canais", "email")];
    let again = operator.send(Request::new("POST", LIST).form(&fields)).expect(422).text();
    assert!(again.contains("Escreva o texto") && again.contains("value=\"Aula nova\""), "{again}");
    let ticked = |value: &str| {
        let at = again.find(&format!("value=\"{value}\"")).unwrap();
        again[at..].split('>').next().unwrap().contains("checked")
    };
    assert!(ticked("vip") && ticked("email") && !ticked("pro") && !ticked("chat"));
    // Nobody has the plan.
    let page = draft(&operator, &json!({ "planos": ["podio"] }));
    operator.post(&format!("{page}/enviar"), &json!({})).expect(409);
    assert_eq!(json_of(&operator, &page)["estado"], "rascunho");
    let student = site.person("ana");
    student.post(LIST, &fine).expect(403);
}

#[test]
fn a_draft_is_sent_in_three_clicks_and_once() {
    let site = quiet();
    site.person("ana");
    let operator = site.administrator();
    // 1: the form; 2: what it looks like; 3: sent.
    assert!(operator.get(LIST).expect(200).text().contains("href=\"/admin/comunicados/novo\""));
    let form = operator.get("/admin/comunicados/novo").expect(200).text();
    assert!(form.contains("action=\"/admin/comunicados\"") && form.contains("Conferir"), "{form}");
    let fields = [("titulo", "Aula nova"), ("texto", "Hoje."), ("enviar_em", "")];
    let kept = operator.send(Request::new("POST", LIST).form(&fields)).expect(303);
    let page = kept.header("location").unwrap().to_owned();
    let send = || operator.send(Request::new("POST", &format!("{page}/enviar")).form(&[]));
    assert_eq!(send().expect(303).header("location"), Some(&*page));
    send().expect(303);
    sent(&operator, &page);
    assert_eq!(
        site.stored("SELECT count(*) || '' FROM notification WHERE title = 'Aula nova'"),
        ["1"]
    );
}
