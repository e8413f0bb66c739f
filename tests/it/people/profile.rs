//! What people see and change of their own account, whatever their role.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

const NEW: &str = "uma senha trocada agora";
const HOUR_S: i64 = 3600;

#[track_caller]
fn profile(actor: &Actor<'_>) -> Value {
    let request = Request::new("GET", "/perfil").header("Accept", "application/json");
    actor.send(request).ok()
}

fn form(actor: &Actor<'_>, target: &str, fields: &[(&str, &str)]) -> Reply {
    actor.send(Request::new("POST", target).form(fields))
}

fn log_in(site: &Site, email: &str, password: &str) -> Reply {
    let login = json!({ "email": email, "senha": password });
    site.anonymous().post("/api/ext/auth", &login)
}

#[test]
fn every_role_has_a_profile() {
    let site = Site::builder().unlimited().start();
    for (name, role, what) in [
        ("ana", "vip", "Plano VIP"),
        ("rui", "drop", "Fornecedor"),
        ("bia", "admin", "Administração"),
    ] {
        let actor = site.person_as(name, role);
        let page = actor.get("/perfil").expect(200).text();
        assert!(page.contains(what) && page.contains(&actor.person().email));
        let own = profile(&actor);
        assert_eq!((&own["email"], &own["role"]), (&json!(actor.person().email), &json!(role)));
        assert_eq!(own["sessoes"].as_array().unwrap().len(), 1);
        assert_eq!(own["sessoes"][0]["atual"], true);
        // Every page has a link to the profile.
        let home = actor.get("/").expect(303).header("location").unwrap().to_owned();
        assert!(actor.get(&home).expect(200).text().contains("href=\"/perfil\""));
    }
    let asked = site.anonymous().get("/perfil").expect(303);
    assert_eq!(asked.header("location"), Some("/entrar?volta=%2Fperfil"));
}

#[test]
fn a_name_is_changed_at_once_and_typed_values_are_kept() {
    let site = Site::builder().unlimited().start();
    let (ana, extension) = (site.person("ana"), site.extension("ana"));
    let saved =
        form(&ana, "/perfil", &[("nome", "  Ana Lúcia  "), ("chat_number", "")]).expect(303);
    assert_eq!(saved.header("location"), Some("/perfil"));
    assert!(ana.get("/perfil").expect(200).text().contains("Dados salvos"));
    assert_eq!(extension.get("/api/ext/me").ok()["user"]["nome"], "Ana Lúcia");
    ana.post("/perfil", &json!({ "nome": "Ana L." })).ok();
    assert_eq!(profile(&ana)["nome"], "Ana L.");
    for bad in ["", "A", &"a".repeat(121), "a\u{7}b"] {
        let refused = form(&ana, "/perfil", &[("nome", bad), ("chat_number", "123")]).expect(422);
        let text = refused.text();
        assert!(text.contains("Informe o seu nome"), "{bad:?}");
        assert!(text.contains("de 10 a 15 dígitos") && text.contains("value=\"123\""), "{bad:?}");
        let body = json!({ "nome": bad, "chat_number": "123" });
        let fields = ana.post("/perfil", &body).expect(422).json()["fields"].clone();
        assert!(fields["nome"].is_string() && fields["chat_number"].is_string(), "{fields}");
    }
    assert_eq!(profile(&ana)["nome"], "Ana L.");
}

#[test]
fn another_chat_number_asks_for_the_password() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let password = ana.person().password.clone();
    let number = |number: &str, confirmation: &str| {
        let body = json!({ "chat_number": number, "confirmacao": confirmation });
        ana.post("/perfil", &body)
    };
    for wrong in ["", "errada errada"] {
        let fields = number("(11) 98765-4321", wrong).expect(422).json()["fields"].clone();
        assert!(fields["confirmacao"].is_string(), "{fields}");
    }
    assert_eq!(profile(&ana)["chat_number"], Value::Null);
    for (typed, kept) in [
        ("(11) 98765-4321", "5511987654321"),
        ("11 8765-4321", "5511987654321"),
        ("+55 55 99876-5432", "5555998765432"),
        ("11 3333-4444", "551133334444"),
        ("+351 912 345 678", "351912345678"),
    ] {
        number(typed, &password).expect(200);
        assert_eq!(profile(&ana)["chat_number"], kept, "{typed}");
        // The same number in any form is no change.
        number(typed, "").expect(200);
    }
    form(&ana, "/perfil", &[("nome", "Ana"), ("chat_number", "")]).expect(422);
    let removed = [("nome", "Ana"), ("chat_number", ""), ("confirmacao", &*password)];
    form(&ana, "/perfil", &removed).expect(303);
    assert_eq!(profile(&ana)["chat_number"], Value::Null);
}

#[test]
fn a_new_password_ends_everything_but_this_browser() {
    let site = Site::builder().unlimited().start();
    let (here, there, extension) = (site.person("ana"), site.person("ana"), site.extension("ana"));
    let seller = site.seller("ana").plan("starter");
    let person = here.person().clone();
    for (present, new, fault) in [
        ("", NEW, "Informe a sua senha atual."),
        ("errada errada", NEW, "A senha atual não confere."),
        (&*person.password, "curta", "Use de 10 a 200 caracteres."),
    ] {
        let page = form(&here, "/perfil/senha", &[("atual", present), ("senha", new)]);
        assert!(page.expect(422).text().contains(fault), "{fault}");
        let body = json!({ "atual": present, "senha": new });
        here.post("/perfil/senha", &body).expect(422);
    }
    there.get("/painel").expect(200);

    let body = json!({ "atual": person.password, "senha": NEW });
    let changed = here.post("/perfil/senha", &body).expect(200);
    site.keep_secret("password", NEW);
    let cookie = changed.session_cookie().expect("a new session").to_owned();
    site.keep_secret("session cookie", cookie.split_once('=').unwrap().1);
    for ended in [&here, &there] {
        ended.get("/painel").expect(303);
    }
    extension.get("/api/ext/me").expect(401);
    let goes_on = Request::new("GET", "/perfil").header("Cookie", &cookie);
    site.anonymous().send(goes_on.clone()).expect(200);
    log_in(&site, &person.email, &person.password).expect(401);
    log_in(&site, &person.email, NEW).expect(200);
    seller.get("/api/v1/partner/health").expect(200);
    // Partner tokens are revoked only when their owner asks for it.
    let form = [("atual", NEW), ("senha", "e mais uma senha"), ("revogar_tokens", "1")];
    let request = Request::new("POST", "/perfil/senha").form(&form).header("Cookie", &cookie);
    let changed = site.anonymous().send(request).expect(303);
    assert_eq!(changed.header("location"), Some("/perfil"));
    seller.get("/api/v1/partner/health").expect(401);
}

#[test]
fn guesses_of_the_present_password_are_throttled_with_the_logins() {
    let site = Site::start();
    let ana = site.person("ana");
    let person = ana.person().clone();
    let guess = |password: &str| {
        let body = json!({ "atual": password, "senha": NEW });
        ana.post("/perfil/senha", &body)
    };
    for turn in 0..10 {
        // The same where the password confirms another change.
        let reply = if turn % 2 == 0 {
            guess("errada errada")
        } else {
            let body = json!({ "chat_number": "11987654321", "confirmacao": "errada errada" });
            ana.post("/perfil", &body)
        };
        reply.expect(422);
    }
    let closed = guess(&person.password).expect(429);
    assert_eq!(closed.header("retry-after"), Some("900"));
    let page = form(&ana, "/perfil/senha", &[("atual", &person.password), ("senha", NEW)]);
    assert!(page.expect(429).text().contains("Muitas tentativas"));
    log_in(&site, &person.email, &person.password).expect(429);
    // This ends no session, and the password is unchanged.
    site.clock().advance_s(900);
    log_in(&site, &person.email, &person.password).expect(200);
    guess(&person.password).expect(200);
}

#[test]
fn sessions_are_listed_and_ended() {
    let site = Site::builder().unlimited().start();
    let here = site.person("ana");
    let person = here.person().clone();
    let open = |agent: &str| {
        let fields = [("email", &*person.email), ("senha", &*person.password)];
        let login = Request::new("POST", "/entrar").form(&fields).header("User-Agent", agent);
        let reply = site.anonymous().send(login).expect(303);
        reply.session_cookie().unwrap().to_owned()
    };
    site.clock().advance_s(60);
    let phone =
        open("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1");
    site.clock().advance_s(60);
    let laptop = open("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0");
    let home = |cookie: &str| {
        let request = Request::new("GET", "/painel").header("Cookie", cookie);
        site.anonymous().send(request).status
    };
    let listed = || profile(&here)["sessoes"].as_array().unwrap().clone();
    let devices: Vec<Value> = listed().iter().map(|one| one["aparelho"].clone()).collect();
    assert_eq!(devices, ["Firefox no Linux", "Safari no iPhone", "Navegador desconhecido"]);
    let present: Vec<Value> = listed().iter().map(|one| one["atual"].clone()).collect();
    assert_eq!(present, [false, false, true]);
    assert_eq!(listed()[0]["endereco"], "127.0.0.1");
    assert_eq!(listed()[1]["aberta_em"], "2026-11-20 09:01:00");
    let page = here.get("/perfil").expect(200).text();
    assert!(page.contains("Safari no iPhone") && page.contains("Esta sessão"), "{page}");

    // Another person's session cannot be ended, nor one that has ended.
    let id = listed()[1]["id"].as_str().unwrap().to_owned();
    let end = format!("/perfil/sessoes/{id}/encerrar");
    let rui = site.person("rui");
    rui.post(&end, &json!({})).expect(404);
    assert_eq!(home(&phone), 200);
    let ended = here.send(Request::new("POST", &end)).expect(303);
    assert_eq!(ended.header("location"), Some("/perfil"));
    assert_eq!((home(&phone), home(&laptop)), (303, 200));
    here.post(&end, &json!({})).expect(404);
    here.post("/perfil/sessoes/x/encerrar", &json!({})).expect(404);

    let others = here.post("/perfil/sessoes/encerrar", &json!({})).ok();
    assert_eq!(others["encerradas"], 1);
    assert_eq!(home(&laptop), 303);
    assert_eq!(listed().len(), 1);
    rui.get("/painel").expect(200);
    // Expired sessions are not listed.
    site.clock().advance_s(11 * HOUR_S);
    here.get("/painel").expect(200);
    let again = site.person("ana");
    site.clock().advance_s(11 * HOUR_S);
    again.get("/painel").expect(200);
    site.clock().advance_s(2 * HOUR_S);
    assert_eq!(profile(&again)["sessoes"].as_array().unwrap().len(), 1);
}

#[test]
fn the_extensions_access_is_shown_and_ended() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    assert_eq!(profile(&ana)["extensao"], Value::Null);
    let extension = site.extension("ana");
    let token = &profile(&ana)["extensao"];
    assert_eq!(token["desde"], "2026-11-20 09:00:00");
    assert_eq!(token["ate"], "2026-12-20 09:00:00");
    assert!(ana.get("/perfil").expect(200).text().contains("Encerrar acesso da extensão"));
    let revoked = ana.send(Request::new("POST", "/perfil/extensao/revogar")).expect(303);
    assert_eq!(revoked.header("location"), Some("/perfil"));
    extension.get("/api/ext/me").expect(401);
    assert_eq!(profile(&ana)["extensao"], Value::Null);
    assert_eq!(ana.post("/perfil/extensao/revogar", &json!({})).ok()["revogados"], 0);
}

#[test]
fn an_api_plan_is_shown_to_who_has_one() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    assert_eq!(profile(&ana)["plano_api"], Value::Null);
    assert!(!ana.get("/perfil").expect(200).text().contains("Plano de API"));
    let seller = site.seller("ana").plan("starter");
    seller.get("/api/v1/partner/health").expect(200);
    assert_eq!(profile(&ana)["plano_api"]["plano"], "starter");
    let page = ana.get("/perfil").expect(200).text();
    assert!(page.contains("Starter") && page.contains("sem data de término"));
}
