//! How the agency gets and loses accounts: invitations, consents that are bound
//! to a browser, leaving, and the labels of clients' parcels.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::people::{list, page};
use crate::support::shop::{OTHER, Shop, refused};
use crate::support::site::Site;
use crate::support::sync::{PATIENCE, joined};
use crate::support::wait::until;
use crate::support::webdriver::Browser;
use crate::support::world::{CONSENT_S, LOJA, World};

/// Two shops at the marketplace.
fn shops() -> World {
    let world = World::start();
    for (seller, nickname) in [(LOJA, "LOJA DA ANA"), (OTHER, "LOJA DO RUI")] {
        world.seller(seller, nickname);
        world.item(seller, "Garrafa", 89.9);
    }
    world
}

/// Makes a client of the agency; returns its number and the path of its invitation.
#[track_caller]
fn client(admin: &Actor<'_>, name: &str) -> (String, String) {
    let made = admin.post("/admin/agencia/clientes", &json!({ "nome": name }));
    let made = made.expect(201).json();
    (text(&made["id"]), path_of(&made))
}

/// The path of the invitation in an answer.
#[track_caller]
fn path_of(made: &Value) -> String {
    let address = made["convite"].as_str().unwrap();
    address[address.find("/convite/").unwrap()..].to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A visit to the consent page that started with an invitation.
struct Visit {
    /// `convite=…`.
    cookie: String,
    /// The query of the consent page.
    query: String,
}

#[track_caller]
fn begin(guest: &Actor<'_>, invitation: &str) -> Visit {
    let begun = guest.send(Request::new("POST", invitation).form(&[])).expect(303);
    let cookie = begun.session_cookie().expect("a cookie that scripts cannot read").to_owned();
    let query = begun.header("location").unwrap().split_once('?').unwrap().1.to_owned();
    Visit { cookie, query }
}

impl Visit {
    /// What the consent page does; returns the redirect back, which is not
    /// followed yet.
    #[track_caller]
    fn decide(&self, world: &World, seller: u64, refuse: bool) -> String {
        let said = json!({ "ml_user_id": seller, "query": self.query, "refuse": refuse });
        let back = text(&world.control("/_sandbox/authorize", &said)["location"]);
        back[back.find("/painel/ml/retorno").unwrap()..].to_owned()
    }

    fn back(&self, guest: &Actor<'_>, target: &str) -> Reply {
        guest.send(Request::new("GET", target).header("Cookie", &self.cookie))
    }
}

/// Follows an invitation to its end; returns the result.
#[track_caller]
fn follow(world: &World, guest: &Actor<'_>, invitation: &str, seller: u64) -> Value {
    let visit = begin(guest, invitation);
    let back = visit.decide(world, seller, false);
    ended(guest, &visit.back(guest, &back))
}

/// The JSON of the page to which a reply redirects; the page itself keeps the rules.
#[track_caller]
fn ended(guest: &Actor<'_>, reply: &Reply) -> Value {
    let place = reply.header("location").unwrap_or_else(|| panic!("no way on\n{reply}"));
    assert!(place.starts_with("/convite/pronto?fim="), "{reply}");
    page(guest, place).expect(200);
    guest.send(Request::new("GET", place).header("Accept", "application/json")).ok()
}

/// Accounts of the agency: number, client and owner's address.
fn looked_after(site: &Site) -> Vec<String> {
    site.stored(
        "SELECT ml_user_id || ' ' || j.client_id || ' ' || u.email
         FROM agency_account j JOIN user u ON u.user_id = j.owner_id ORDER BY ml_user_id",
    )
}

/// Titles of a person's notifications about the agency.
fn told(site: &Site, email: &str) -> Vec<String> {
    site.stored(&format!(
        "SELECT title FROM notification n JOIN user u ON u.user_id = n.owner_id
         WHERE n.kind = 8 AND n.ml_user_id IS NULL AND u.email = '{email}' ORDER BY notification_id"
    ))
}

const ADMIN: &str = "administradora@example.com";

#[test]
fn a_client_follows_the_invitation_and_the_agency_looks_after_the_account() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (id, invitation) = client(&admin, "Casa da Maré");
    let shown = page(&guest, &invitation).expect(200);
    for (name, value) in [("cache-control", "no-store"), ("x-robots-tag", "noindex, nofollow")] {
        assert_eq!(shown.header(name), Some(value), "{shown}");
    }
    assert_eq!(shown.header("referrer-policy"), Some("same-origin"), "forms need an origin");
    let policy = shown.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("form-action 'self' http://{}", world.address())), "{policy}");
    let shown = shown.text();
    assert!(
        shown.contains("Casa da Maré") && shown.contains("Autorizar no marketplace"),
        "{shown}"
    );
    assert_eq!(
        list(&guest, &invitation),
        json!({ "ok": true, "cliente": "Casa da Maré", "expira_em": "2026-12-20 09:00:00" })
    );
    world.sale_with(LOJA, &json!({ "notify": false }));
    let end = follow(&world, &guest, &invitation, LOJA);
    assert_eq!(end, json!({ "ok": true, "resultado": "autorizada", "conta": "LOJA DA ANA" }));
    assert_eq!(looked_after(&site), [format!("{LOJA} {id} agencia:{id}")]);
    assert_eq!(told(&site, ADMIN), ["LOJA DA ANA foi autorizada"]);
    let news = page(&admin, "/admin/avisos").expect(200).text();
    assert!(news.contains(&format!("href=\"/admin/agencia/clientes/{id}\"")), "{news}");
    // It is read like any other account. Its owner is no person who could sign
    // in or take part in the program.
    until("the sale is read", PATIENCE, || {
        site.clock().advance_s(1);
        (site.stored("SELECT count(*) || '' FROM sale_order") == ["1"]).then_some(())
    });
    assert_eq!(site.stored("SELECT count(*) || '' FROM program_student"), ["0"]);
    assert_eq!(list(&admin, "/admin/alunos")["total"], 0);
    assert_eq!(list(&admin, "/admin/equipe")["total"], 1);
    // The same link works for another account, and again for the first one.
    assert_eq!(follow(&world, &guest, &invitation, OTHER)["conta"], "LOJA DO RUI");
    assert_eq!(follow(&world, &guest, &invitation, LOJA)["resultado"], "autorizada");
    assert_eq!(looked_after(&site).len(), 2);
    assert_eq!(told(&site, ADMIN).len(), 2);
    let entries = list(&admin, "/admin/auditoria?objeto=cliente");
    let entries = entries["dados"].as_array().unwrap();
    let joined: Vec<&Value> =
        entries.iter().filter(|one| one["acao"] == "cliente.conta_entrou").collect();
    assert_eq!(joined.len(), 2, "{entries:?}");
    assert_eq!(joined[0]["depois"]["conta"], OTHER.to_string());
    world.no_violations();
    // A reader of the log cannot use the invitation.
    let code = invitation.strip_prefix("/convite/").unwrap();
    assert!(!site.log().contains(code), "{}", site.log());
    site.stop();
    let asked = "SELECT DISTINCT path FROM request_log WHERE path LIKE '/convite/%' ORDER BY path";
    assert_eq!(site.stored(asked), ["/convite/pronto", "/convite/{code}"]);
}

#[test]
fn the_end_of_a_visit_is_a_page_that_nobody_else_can_make() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (_, invitation) = client(&admin, "Casa da Maré");
    let visit = begin(&guest, &invitation);
    let back = visit.back(&guest, &visit.decide(&world, LOJA, false)).expect(303);
    let place = back.header("location").unwrap().to_owned();
    for _ in 0..2 {
        let shown = page(&guest, &place).expect(200).text();
        assert!(shown.contains("Conta LOJA DA ANA autorizada"), "{shown}");
        assert!(shown.contains("Pode fechar esta página"), "{shown}");
    }
    for forged in ["/convite/pronto", "/convite/pronto?fim=autorizada", "/convite/pronto?fim=00ff"]
    {
        page(&guest, forged).expect(404);
    }
    let mut spoiled = place.clone();
    let last = if spoiled.ends_with('0') { "1" } else { "0" };
    spoiled.replace_range(place.len() - 1.., last);
    page(&guest, &spoiled).expect(404);
    // Coming back a second time fails: the attempt was used.
    let again = visit.decide(&world, LOJA, true);
    assert_eq!(ended(&guest, &visit.back(&guest, &again))["resultado"], "expirada");
}

#[test]
fn an_invitation_ends_when_it_is_over_renewed_or_ended() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (id, first) = client(&admin, "Casa da Maré");
    let renew = format!("/admin/agencia/clientes/{id}/convite");
    let made = admin.post(&renew, &json!({})).ok();
    assert_eq!((&made["ok"], text(&made["id"])), (&json!(true), id.clone()));
    let second = path_of(&made);
    // A visit that began with a link ends when another takes its place.
    let visit = begin(&guest, &second);
    let back = visit.decide(&world, LOJA, false);
    let second = path_of(&admin.post(&renew, &json!({})).ok());
    assert_eq!(ended(&guest, &visit.back(&guest, &back))["resultado"], "expirada");
    assert_eq!(looked_after(&site), [""; 0]);
    let gone = |invitation: &str| {
        let shown = page(&guest, invitation).expect(404).text();
        assert!(shown.contains("Este convite não vale mais"), "{shown}");
        let json = Request::new("GET", invitation).header("Accept", "application/json");
        assert_eq!(guest.send(json).expect(404).code(), "not_found");
        guest.send(Request::new("POST", invitation).form(&[])).expect(404);
    };
    gone(&first);
    gone("/convite/0");
    page(&guest, &second).expect(200);
    // In a browser it is shown once, with a button to copy it.
    let form = Request::new("POST", &renew).header("Accept", "text/html").form(&[]);
    let shown = admin.send(form).expect(200).text();
    let third =
        format!("/convite/{}", shown.split("/convite/").nth(1).unwrap().split('<').next().unwrap());
    assert!(shown.contains("data-copy=\"convite\""), "{shown}");
    gone(&second);
    site.clock().advance_s(30 * 86_400 - 1);
    page(&guest, &third).expect(200);
    site.clock().advance_s(1);
    gone(&third);
    // When it is ended, a visit that is at the consent page ends too.
    let admin = site.administrator();
    let fourth = path_of(&admin.post(&renew, &json!({})).ok());
    let visit = begin(&guest, &fourth);
    let back = visit.decide(&world, LOJA, false);
    admin.post(&format!("{renew}/encerrar"), &json!({})).ok();
    admin.post(&format!("{renew}/encerrar"), &json!({})).ok();
    gone(&fourth);
    assert_eq!(ended(&guest, &visit.back(&guest, &back))["resultado"], "expirada");
    assert_eq!(looked_after(&site), [""; 0]);
    admin.post("/admin/agencia/clientes/999/convite", &json!({})).expect(404);
    admin.post("/admin/agencia/clientes/999/convite/encerrar", &json!({})).expect(404);
    let entries = list(&admin, "/admin/auditoria?objeto=cliente");
    let acts: Vec<&str> = entries["dados"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["acao"].as_str().unwrap())
        .collect();
    let renewed = ["cliente.convite"; 5];
    let acts: Vec<&str> = acts.into_iter().filter(|act| *act != "cliente.criar").collect();
    assert_eq!(acts[0], "cliente.convite_encerrar");
    assert_eq!(acts[1..], renewed);
}

#[test]
fn guesses_are_few() {
    let site = Site::builder().unlimited().start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (_, invitation) = client(&admin, "Casa da Maré");
    for guess in 0..60 {
        page(&guest, &format!("/convite/{guess:064x}")).expect(404);
    }
    page(&guest, "/convite/ff").expect(429);
    page(&guest, &invitation).expect(429);
    site.clock().advance_s(3_600);
    // Without a marketplace the page says so, and its form leads back to it.
    let closed = page(&guest, &invitation).expect(200).text();
    assert!(
        closed.contains("Ainda não dá para autorizar") || closed.contains("<button"),
        "{closed}"
    );
}

#[test]
fn a_consent_counts_in_the_browser_it_began_in() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (id, invitation) = client(&admin, "Casa da Maré");
    let visit = begin(&guest, &invitation);
    let back = visit.decide(&world, LOJA, false);
    // Other people, to whom the address of the consent page was forwarded.
    let ana = site.person("ana");
    for stranger in [&guest, &ana, &admin] {
        let reply = stranger.get(&back).expect(303);
        assert_eq!(ended(&guest, &reply)["resultado"], "outro_navegador");
    }
    let other = begin(&guest, &invitation);
    assert_eq!(ended(&guest, &other.back(&guest, &back))["resultado"], "outro_navegador");
    assert_eq!(looked_after(&site), [""; 0]);
    // In the browser where it started it works, signed in or not.
    assert_eq!(ended(&guest, &visit.back(&ana, &back))["resultado"], "autorizada");
    assert_eq!(looked_after(&site), [format!("{LOJA} {id} agencia:{id}")]);
    // Without an invitation the address of the way back is for students, as before.
    let unknown = "/painel/ml/retorno?state=nada&code=TG-1-2";
    let login = page(&guest, unknown).expect(303);
    let way = "/entrar?volta=%2Fpainel%2Fml%2Fretorno%3Fstate%3Dnada%26code%3DTG-1-2";
    assert_eq!(login.header("location"), Some(way));
    let json = Request::new("GET", unknown).header("Accept", "application/json");
    guest.send(json).expect(401);
    admin.get(unknown).expect(403);
    assert_eq!(ana.get(unknown).expect(303).header("location"), Some("/painel/ml"));
    let late = begin(&guest, &invitation);
    let back = late.decide(&world, OTHER, false);
    site.clock().advance_s(CONSENT_S + 1);
    assert_eq!(ended(&guest, &late.back(&guest, &back))["resultado"], "expirada");
}

#[test]
fn what_can_go_wrong_at_the_marketplace_is_said() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let (_, invitation) = client(&admin, "Casa da Maré");
    let visit = begin(&guest, &invitation);
    let back = visit.back(&guest, &visit.decide(&world, LOJA, true));
    assert_eq!(ended(&guest, &back)["resultado"], "recusada");
    world.fault(&json!({ "path_prefix": "/oauth", "times": 1, "kind": "status", "code": 503 }));
    assert_eq!(follow(&world, &guest, &invitation, LOJA)["resultado"], "indisponivel");
    world.clear_faults();
    site.clock().advance_s(60);
    // An account that cannot be read yet is shown with its number as name.
    world.fault(&json!({ "path_prefix": "/users/me", "times": 1, "kind": "garbage" }));
    let end = follow(&world, &guest, &invitation, LOJA);
    assert_eq!(
        (&end["resultado"], &end["conta"]),
        (&json!("autorizada"), &json!(LOJA.to_string()))
    );
}

#[test]
fn a_students_account_stays_the_students_and_anothers_client_keeps_theirs() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    crate::support::sync::wait_until_read(&site, &ana);
    let (first, invitation) = client(&admin, "Casa da Maré");
    assert_eq!(follow(&world, &guest, &invitation, LOJA)["resultado"], "autorizada");
    assert_eq!(looked_after(&site), [format!("{LOJA} {first} ana@example.com")]);
    assert_eq!(told(&site, "ana@example.com"), ["A agência cuida de LOJA DA ANA"]);
    // The new tokens belong to her, and they work.
    let works = || {
        crate::support::sync::run_after(&site, 7 * 3_600);
        let ana = site.person("ana");
        crate::support::sync::wait_until_read(&site, &ana);
        crate::support::sync::accounts(&ana)[0]["token_ok"].clone()
    };
    assert_eq!(works(), true);
    // For another client it is rejected, and nothing ends.
    let admin = site.administrator();
    let (_, other) = client(&admin, "Bazar");
    assert_eq!(follow(&world, &guest, &other, LOJA)["resultado"], "de_outro_cliente");
    assert_eq!(looked_after(&site), [format!("{LOJA} {first} ana@example.com")]);
    assert_eq!(works(), true);
    world.no_violations();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_browser_goes_from_the_invitation_to_the_marketplace_and_back() {
    let world = shops();
    let site = joined(&world).start();
    let (id, invitation) = client(&site.administrator(), "Casa da Maré");
    let browser = Browser::start();
    for (end, decision) in
        [("Nada foi autorizado", "Recusar"), ("Conta LOJA DA ANA autorizada", "Autorizar")]
    {
        browser.go(&site.url(&invitation));
        browser.see("Casa da Maré");
        browser.press("Autorizar no marketplace");
        browser.see("Autorizar a plataforma");
        browser.press(decision);
        browser.see(end);
        browser.expect_no_complaints();
    }
    assert_eq!(looked_after(&site), [format!("{LOJA} {id} agencia:{id}")]);
}

/// The number of a student, in the operator's panel.
#[track_caller]
fn number(admin: &Actor<'_>, name: &str) -> String {
    text(&list(admin, &format!("/admin/alunos?q={name}@"))["dados"][0]["id"])
}

#[test]
fn a_student_ends_the_agencys_care_at_once() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    world.link(&ana, LOJA);
    let name = json!({ "nome": "Casa da Maré", "ml_user_id": LOJA });
    let id = text(&admin.post("/admin/agencia/clientes", &name).expect(201).json()["id"]);
    assert_eq!(told(&site, "ana@example.com").len(), 1);
    let shown = page(&ana, "/painel/ml").expect(200).text();
    assert!(shown.contains("cuida desta conta desde"), "{shown}");
    assert_eq!(crate::support::sync::accounts(&ana)[0]["agencia_desde"], "2026-11-20 09:00:00");
    let end = format!("/painel/ml/contas/{LOJA}/agencia/encerrar");
    site.person("rui").post(&end, &json!({})).expect(404);
    let left = ana.send(Request::new("POST", &end).form(&[])).expect(303);
    let shown = page(&ana, left.header("location").unwrap()).expect(200).text();
    assert!(shown.contains("A agência não cuida mais desta conta"), "{shown}");
    assert!(!shown.contains("cuida desta conta desde"), "{shown}");
    ana.post(&end, &json!({})).expect(404);
    assert_eq!(looked_after(&site), [""; 0]);
    assert_eq!(crate::support::sync::accounts(&ana)[0]["token_ok"], true);
    assert_eq!(told(&site, ADMIN), ["LOJA DA ANA saiu da agência"]);
    let entry = &list(&admin, "/admin/auditoria?objeto=cliente")["dados"][0];
    assert_eq!((&entry["acao"], &entry["objeto_id"]), (&json!("cliente.conta_saiu"), &json!(id)));
}

#[test]
fn whoever_unlinks_or_is_removed_leaves_the_agency() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, ana, rui) = (site.administrator(), site.person("ana"), site.person("rui"));
    world.link(&ana, LOJA);
    world.link(&rui, OTHER);
    for account in [LOJA, OTHER] {
        let client = json!({ "nome": format!("Cliente {account}"), "ml_user_id": account });
        admin.post("/admin/agencia/clientes", &client).expect(201);
    }
    assert_eq!(looked_after(&site).len(), 2);
    ana.post(&format!("/painel/ml/contas/{LOJA}/desvincular"), &json!({})).ok();
    assert_eq!(looked_after(&site).len(), 1);
    let removed = format!("/admin/alunos/{}/excluir", number(&admin, "rui"));
    admin.post(&removed, &json!({})).ok();
    assert_eq!(looked_after(&site), [""; 0]);
    let left = "SELECT count(*) || '' FROM agency_question UNION ALL SELECT count(*) || '' FROM agency_finding";
    assert_eq!(site.stored(left), ["0", "0"]);
}

#[test]
fn an_account_that_is_taken_away_stays_linked_to_a_student_alone() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest, rui) = (site.administrator(), site.anonymous(), site.person("rui"));
    world.link(&rui, OTHER);
    let (id, invitation) = client(&admin, "Casa da Maré");
    for account in [LOJA, OTHER] {
        assert_eq!(follow(&world, &guest, &invitation, account)["ok"], true);
    }
    world.forget_requests();
    for account in [LOJA, OTHER] {
        let away = format!("/admin/agencia/clientes/{id}/contas/{account}/retirar");
        admin.post(&away, &json!({})).ok();
        admin.post(&away, &json!({})).expect(404);
    }
    assert_eq!(looked_after(&site), [""; 0]);
    assert_eq!(site.stored("SELECT ml_user_id || '' FROM ml_account"), [OTHER.to_string()]);
    let calls = world.requests();
    assert_eq!(calls.iter().filter(|call| call["method"] == "DELETE").count(), 1);
    // The client may authorize it again with the same invitation.
    assert_eq!(follow(&world, &guest, &invitation, LOJA)["ok"], true);
}

#[test]
fn a_client_that_is_removed_takes_its_shell_along() {
    let world = shops();
    let site = joined(&world).start();
    let (admin, guest, rui) = (site.administrator(), site.anonymous(), site.person("rui"));
    world.link(&rui, OTHER);
    crate::support::sync::wait_until_read(&site, &rui);
    let (id, invitation) = client(&admin, "Casa da Maré");
    world.sale_with(LOJA, &json!({ "notify": false }));
    for account in [LOJA, OTHER] {
        assert_eq!(follow(&world, &guest, &invitation, account)["ok"], true);
    }
    until("the sale is read", PATIENCE, || {
        site.clock().advance_s(1);
        (site.stored("SELECT count(*) || '' FROM sale_order") == ["1"]).then_some(())
    });
    let visit = begin(&guest, &invitation);
    let back = visit.decide(&world, LOJA, false);
    world.forget_requests();
    admin.post(&format!("/admin/agencia/clientes/{id}/excluir"), &json!({})).ok();
    admin.post(&format!("/admin/agencia/clientes/{id}/excluir"), &json!({})).expect(404);
    page(&guest, &invitation).expect(404);
    assert_eq!(ended(&guest, &visit.back(&guest, &back))["resultado"], "expirada");
    // Only the account of the client without a student was given back to the
    // marketplace; the student keeps theirs.
    let calls = world.requests();
    let given_back = calls.iter().filter(|call| call["method"] == "DELETE");
    let given_back: Vec<&str> = given_back.map(|call| call["path"].as_str().unwrap()).collect();
    assert!(given_back[0].starts_with(&format!("/users/{LOJA}/applications/")), "{given_back:?}");
    assert_eq!(given_back.len(), 1);
    assert_eq!(site.stored("SELECT ml_user_id || '' FROM ml_account"), [OTHER.to_string()]);
    let told = told(&site, "rui@example.com");
    assert_eq!(
        told,
        ["A agência cuida de LOJA DO RUI", "A agência deixou de cuidar de LOJA DO RUI"]
    );
    let rest =
        "SELECT count(*) || '' FROM sale_order UNION ALL SELECT count(*) || '' FROM agency_account
                UNION ALL SELECT count(*) || '' FROM agency_client
                UNION ALL SELECT count(*) || '' FROM user WHERE email LIKE 'agencia:%'";
    assert_eq!(site.stored(rest), ["0", "0", "0", "0"]);
    // A new client with the same number starts empty.
    let (again, invitation) = client(&admin, "Bazar");
    assert_eq!(again, id);
    assert_eq!(follow(&world, &guest, &invitation, LOJA)["resultado"], "autorizada");
    let entries = list(&admin, "/admin/auditoria?q=excluir&objeto=cliente");
    assert_eq!(entries["total"], 1, "{entries}");
}

/// The team prints all that waits at its clients, which their owner sees; what is of
/// nobody's client is not printed.
#[track_caller]
fn printed_and_taken_back(
    shop: &Shop,
    (admin, ana): (&Actor<'_>, &Actor<'_>),
    (own, others): (&str, &str),
) {
    let labels = "/admin/agencia/etiquetas";
    let press = |path: &str, field: (&str, &str)| {
        admin.send(Request::new("POST", &format!("{labels}/{path}")).form(&[field])).expect(303)
    };
    let foreign = format!("{OTHER}-{others}");
    assert_eq!(press("imprimir", ("ids", &foreign)).header("location"), Some(labels));
    let file = press("imprimir", ("todos", "1")).header("location").unwrap().to_owned();
    let text = admin.get(&file).expect(200).text();
    assert!(text.contains(own) && !text.contains(others));
    let waits = || page(admin, "/admin/agencia/clientes").expect(200).text();
    assert!(!waits().contains("1\u{a0}pacote"), "what is printed waits no more");
    let seen = page(ana, "/painel/ml/etiquetas?parte=impressas").expect(200).text();
    assert!(seen.contains("impressas pela agência"), "{seen}");
    shop.site.person("rui").get(&file).expect(403);
    press("desfazer", ("lote", file.rsplit('/').next().unwrap()));
    let shown = page(admin, labels).expect(200).text();
    assert!(shown.contains("1 etiqueta voltou para A imprimir"), "{shown}");
    assert!(waits().contains("1\u{a0}pacote"));
    let entry = &list(admin, "/admin/auditoria?objeto=etiqueta")["dados"][0];
    assert_eq!(entry["acao"], "etiqueta.desfazer_impressao", "{entry}");
}

#[test]
fn labels_of_clients_parcels_are_printed_while_the_agency_looks_after_them() {
    let shop = Shop::open();
    let (site, ana) = (&shop.site, shop.ana());
    let admin = site.administrator();
    let list_of = |query: &str| list(&admin, &format!("/admin/agencia/etiquetas{query}"));
    assert_eq!(list_of("")["total"], 0);
    assert!(
        page(&admin, "/admin/agencia/etiquetas").expect(200).text().contains("Nenhuma conta ainda")
    );
    let (own, others) = (shop.sell(LOJA, true), shop.sell(OTHER, true));
    shop.wait_for(&ana, 1);
    let name = json!({ "nome": "Casa da Maré", "ml_user_id": LOJA });
    admin.post("/admin/agencia/clientes", &name).expect(201);
    let shown = page(&admin, "/admin/agencia/etiquetas").expect(200).text();
    assert!(
        shown.contains("Casa da Maré · LOJA DA ANA") && shown.contains("1× Garrafa"),
        "{shown}"
    );
    assert!(shown.contains("action=\"/admin/agencia/etiquetas/imprimir\""), "{shown}");
    assert_eq!(list_of(&format!("?conta={LOJA}"))["dados"][0]["shipment_id"], json!(own.1));
    page(&admin, &format!("/admin/agencia/etiquetas?conta={OTHER}")).expect(404);
    let ask = |account: u64, shipment: &str| {
        admin.get(&format!("/admin/agencia/etiqueta?conta={account}&shipment_id={shipment}"))
    };
    let file = ask(LOJA, &own.1).expect(200);
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert!(file.text().contains(&own.1));
    for (account, shipment) in [(OTHER, &others.1), (LOJA, &others.1), (7, &own.1)] {
        refused(ask(account, shipment), 404);
    }
    refused(ask(LOJA, "x"), 400);
    printed_and_taken_back(&shop, (&admin, &ana), (&own.1, &others.1));
    shop.world.end_tokens(LOJA, "revoke");
    let lost = refused(ask(LOJA, &own.1), 502);
    assert!(lost.contains("Peça ao cliente"), "{lost}");
    let end = format!("/painel/ml/contas/{LOJA}/agencia/encerrar");
    ana.post(&end, &json!({})).ok();
    refused(ask(LOJA, &own.1), 404);
}
