//! A seller's tokens: shown once when made, listed with their use, ended at once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::until;

const HUB: &str = "/painel/parceiro";
const TOKENS: &str = "/painel/parceiro/tokens";
const HEALTH: &str = "/api/v1/partner/health";

#[track_caller]
fn made(actor: &Actor<'_>, name: &str) -> (String, String) {
    let made = actor.post(TOKENS, &json!({ "nome": name })).expect(201).json();
    assert_eq!(made["ok"], true);
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("id"), text("token"))
}

#[track_caller]
fn hub(actor: &Actor<'_>) -> Value {
    actor.send(Request::new("GET", HUB).header("Accept", "application/json")).expect(200).json()
}

#[test]
fn a_token_opens_the_api_until_it_is_revoked() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let (id, token) = made(&ana, "Planilha");
    assert!(token.starts_with("ptk_") && token.len() == 52, "{token}");
    site.keep_secret("token", &token);
    let program = site.bearer(&token);
    assert_eq!(program.get(HEALTH).expect(402).code(), "plan_required");
    assert!(hub(&ana)["plano"].is_null());
    site.seller("ana").plan("pro");
    // The server notices a command within half a second.
    let health = until("the plan is known", Duration::from_secs(20), || {
        let reply = program.get(HEALTH);
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!((&health["ok"], &health["token"]["name"]), (&json!(true), &json!("Planilha")));

    let seen = until("its use is known", Duration::from_secs(20), || {
        let seen = hub(&ana);
        let tokens = seen["tokens"].as_array().unwrap();
        let one = tokens.iter().find(|one| one["id"] == *id).unwrap();
        one["ultimo_uso"].is_string().then(|| (seen.clone(), one.clone()))
    });
    let (seen, one) = seen;
    assert_eq!(one["nome"], "Planilha");
    assert_eq!(one["prefixo"], token[..12]);
    assert_eq!(one["ultimo_endereco"], "127.0.0.1");
    assert_eq!(seen["plano"]["nome"], "pro");
    assert_eq!((&seen["plano"]["em_vigor"], &seen["usadas"]), (&json!(true), &json!(1)));
    assert_eq!(seen["operacoes"], json!([{ "operacao": "health", "chamadas": 1 }]));
    assert!(!seen.to_string().contains(&token), "shown once");

    let end = format!("{TOKENS}/{id}/revogar");
    ana.post(&end, &json!({})).expect(200);
    assert_eq!(program.get(HEALTH).expect(401).code(), "unauthorized");
    ana.post(&end, &json!({})).expect(200);
    let left = hub(&ana);
    assert!(left["tokens"].as_array().unwrap().iter().all(|one| one["id"] != *id), "{left}");
}

#[test]
fn a_browser_sees_its_token_once_with_calls_to_paste() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let page = ana.get(HUB).expect(200).text();
    assert!(page.contains("ainda não tem um plano") && page.contains("$TOKEN"), "{page}");
    let form = Request::new("POST", TOKENS).form(&[("nome", "Loja & Cia")]);
    let page = ana.send(form).expect(200).text();
    let (_, rest) = page.split_once("id=\"token\">").unwrap();
    let token = &rest[..52];
    site.keep_secret("token", token);
    assert!(token.starts_with("ptk_") && page.matches(token).count() == 4, "{page}");
    assert!(page.contains("Loja &#38; Cia"), "{page}");
    site.seller("ana").plan("starter");
    site.bearer(token).get(HEALTH).expect(200);
    let page = ana.get(HUB).expect(200).text();
    assert!(page.contains("Loja &#38; Cia") && !page.contains(token), "{page}");
    assert!(page.contains("Starter") && page.contains("por minuto, somando"), "{page}");
    let faulty = Request::new("POST", TOKENS).form(&[("nome", " ")]);
    let page = ana.send(faulty).expect(422).text();
    assert!(page.contains("Dê um nome de 1 a 80 letras."), "{page}");
    let audit = site.stored("SELECT action FROM audit WHERE object_kind = 'token'");
    assert_eq!(audit, ["token.criar"]);
    let stored = "SELECT count(*) || '' FROM partner_token WHERE name = 'Loja & Cia'";
    assert_eq!(site.stored(stored), ["1"], "what was at fault made nothing");
}

#[test]
fn tokens_are_their_owners_affair_and_few() {
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let (id, token) = made(&ana, "Um");
    site.keep_secret("token", &token);
    rui.post(&format!("{TOKENS}/{id}/revogar"), &json!({})).expect(404);
    ana.post(&format!("{TOKENS}/999/revogar"), &json!({})).expect(404);
    assert!(hub(&rui)["tokens"].as_array().unwrap().is_empty());
    for name in [json!(""), json!("a".repeat(81)), json!("a\nb"), json!(7), json!(null)] {
        let refused = ana.post(TOKENS, &json!({ "nome": name })).expect(422);
        assert!(refused.json()["fields"]["nome"].is_string(), "{refused}");
    }
    for number in 2..=20 {
        site.keep_secret("token", &made(&ana, &format!("Token {number}")).1);
    }
    assert_eq!(ana.post(TOKENS, &json!({ "nome": "Demais" })).expect(409).code(), "conflict");
    ana.post(&format!("{TOKENS}/{id}/revogar"), &json!({})).expect(200);
    site.keep_secret("token", &made(&ana, "Cabe de novo").1);

    let supplier = site.person_as("davi", "drop");
    for (method, path) in [("GET", HUB), ("POST", TOKENS)] {
        supplier.send(Request::new(method, path)).expect(403);
    }
    let stranger = site.anonymous();
    stranger.send(Request::new("GET", HUB).header("Accept", "application/json")).expect(401);
    let crossed = Request::new("POST", TOKENS).header("Origin", "https://outra.example");
    ana.send(crossed.json(&json!({ "nome": "Fora" }))).expect(403);
}
