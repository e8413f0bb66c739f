//! Forms do their work once, however often they are sent, and their result is
//! shown once.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::html::{Element, Page};
use crate::support::site::Site;

const PRODUCTS: &str = "/painel/produtos";
const MADE: &str = "Produto criado";

fn page_of(actor: &Actor<'_>, path: &str) -> Page {
    Page::read(&actor.get(path).expect(200).text()).unwrap()
}

/// The random value of the form on a page that sends to `action`.
fn own_value(actor: &Actor<'_>, path: &str, action: &str) -> String {
    let page = page_of(actor, path);
    let in_form = |one: &Element| {
        page.path(one).any(|around| around.is(&["form"]) && around.get("action") == Some(action))
    };
    let mut found = page.all(&["input"]).filter(|one| one.get("name") == Some("envio"));
    let field = found.find(|one| in_form(one)).unwrap_or_else(|| panic!("no form to {action}"));
    field.get("value").unwrap().to_owned()
}

fn post(path: &str, fields: &[(&str, &str)]) -> Request {
    Request::new("POST", path).header("Accept", "text/html").form(fields)
}

fn list(actor: &Actor<'_>, path: &str) -> Value {
    actor.send(Request::new("GET", path).header("Accept", "application/json")).ok()
}

#[track_caller]
fn same(one: &Reply, other: &Reply) {
    let shown = |reply: &Reply| {
        let kept = ["location", "content-type", "set-cookie"]
            .map(|name| reply.header(name).map(str::to_owned));
        (reply.status, kept, reply.text())
    };
    assert_eq!(shown(one), shown(other));
}

#[test]
fn a_product_sent_twice_is_made_once_and_answered_alike() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let value = own_value(&ana, "/painel/produtos/novo", PRODUCTS);
    let fields = [("envio", &*value), ("titulo", "Caneca"), ("sku", "CAN-1"), ("preco", "19,90")];
    // A form with invalid fields does not use the value up.
    let mut faulty = fields;
    faulty[1].1 = "";
    ana.send(post(PRODUCTS, &faulty)).expect(422);
    let first = ana.send(post(PRODUCTS, &fields)).expect(303);
    assert!(ana.get(PRODUCTS).expect(200).text().contains(MADE));
    let second = ana.send(post(PRODUCTS, &fields)).expect(303);
    same(&first, &second);
    assert!(ana.get(PRODUCTS).expect(200).text().contains(MADE), "the same is told");
    assert_eq!(list(&ana, PRODUCTS)["total"], 1);
    // The place of the field does not matter, and a restart does not either.
    site.kill();
    site.start_again();
    let mut turned = fields;
    turned.rotate_left(1);
    same(&first, &ana.send(post(PRODUCTS, &turned)).expect(303));
    assert_eq!(list(&ana, PRODUCTS)["total"], 1);
    // The value counts only for this person and form, and for a day.
    let bia = site.person("bia");
    bia.send(post(PRODUCTS, &fields)).expect(303);
    assert_eq!(list(&bia, PRODUCTS)["total"], 1);
    ana.send(post(PRODUCTS, &[("titulo", "Caneca"), ("sku", "CAN-1"), ("preco", "1")])).expect(422);
    site.clock().advance_s(86_401);
    let ana = site.person("ana");
    ana.send(post(PRODUCTS, &fields)).expect(422);
}

#[test]
fn a_movement_counts_once_also_when_it_comes_many_times_at_once() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let body = json!({ "titulo": "Caneca", "sku": "C", "preco": 10, "estoque": 0 });
    let id = ana.post(PRODUCTS, &body).expect(201).json()["id"].as_str().unwrap().to_owned();
    let (page, path) = (format!("{PRODUCTS}/{id}"), format!("{PRODUCTS}/{id}/movimentos"));
    let value = own_value(&ana, &page, &path);
    let fields = [("envio", &*value), ("tipo", "entrada"), ("quantidade", "5")];
    std::thread::scope(|scope| {
        let sent: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| ana.send_apart(post(&path, &fields)).expect(303)))
            .collect();
        for reply in sent {
            assert_eq!(reply.join().unwrap().header("location"), Some(&*page));
        }
    });
    assert_eq!(list(&ana, &page)["estoque"], 5);
    // A request for JSON gets JSON again.
    let value = own_value(&ana, &page, &path);
    let fields = [("envio", &*value), ("tipo", "entrada"), ("quantidade", "2")];
    let asked = || Request::new("POST", &path).header("Accept", "application/json").form(&fields);
    same(&ana.send(asked()).expect(201), &ana.send(asked()).expect(201));
    assert_eq!(list(&ana, &page)["estoque"], 7);
    // Without the field, as from programs, every request counts.
    for _ in 0..2 {
        ana.send(post(&path, &[("tipo", "entrada"), ("quantidade", "1")])).expect(303);
        ana.post(&path, &json!({ "tipo": "entrada", "quantidade": 1 })).expect(201);
    }
    assert_eq!(list(&ana, &page)["estoque"], 11);
}

fn upload(path: &str, value: &str, file: &str) -> Request {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"envio\"\r\n\r\n{value}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"a.csv\"\r\n\
         Content-Type: text/csv\r\n\r\n{file}\r\n--b--\r\n"
    );
    Request::new("POST", path)
        .header("Accept", "text/html")
        .body("multipart/form-data; boundary=b", body.as_bytes())
}

#[test]
fn a_file_sent_twice_is_taken_once() {
    let site = Site::builder().unlimited().start();
    let (ana, operator) = (site.person("ana"), site.administrator());
    let path = "/admin/alunos/importar";
    let value = own_value(&operator, path, path);
    let file = "nome,email,plano\nLia Prado,lia@example.com,pro\n";
    let first = operator.send(upload(path, &value, file)).expect(303);
    same(&first, &operator.send(upload(path, &value, file)).expect(303));
    assert_eq!(list(&operator, path)["total"], 1);
    let path = "/painel/produtos/importar";
    let value = own_value(&ana, path, path);
    let file = "titulo,sku,preco,estoque\nCaneca,C,10,3\n";
    let told = |reply: &Reply| {
        let page = ana.get(reply.header("location").unwrap()).expect(200).text();
        assert!(page.contains("Produtos importados"), "{page}");
    };
    let first = ana.send(upload(path, &value, file)).expect(303);
    told(&first);
    let second = ana.send(upload(path, &value, file)).expect(303);
    same(&first, &second);
    told(&second);
}

#[test]
fn a_key_sent_for_twice_is_one_key_shown_twice_and_not_at_rest() {
    let site = Site::builder().unlimited().start();
    let operator = site.administrator();
    let value = own_value(&operator, "/admin/chaves/nova", "/admin/chaves");
    let fields = [("envio", &*value), ("nome", "Chave do CRM"), ("escopos", "write")];
    let first = operator.send_apart(post("/admin/chaves", &fields));
    let second = operator.send_apart(post("/admin/chaves", &fields));
    same(&first, &second);
    assert_eq!(list(&operator, "/admin/chaves")["total"], 1);
    // The searched text is long: an encrypted answer can contain three given
    // letters by chance, one time in some thousands.
    let readable =
        "SELECT CAST(count(*) AS TEXT) FROM form_sent WHERE instr(reply, 'Chave do CRM') > 0";
    assert_eq!(site.stored(readable), ["0"]);
    // Only few answers are kept for a person.
    for number in 0..40 {
        let value = format!("{number:032}");
        let name = format!("Curso {number}");
        operator.send(post("/admin/cursos", &[("envio", &value), ("titulo", &name)])).expect(303);
    }
    let kept: u32 = site.stored("SELECT CAST(count(*) AS TEXT) FROM form_sent")[0].parse().unwrap();
    assert!((2..=33).contains(&kept), "{kept}");
}

#[test]
fn a_notice_is_shown_once_and_stands_in_no_address() {
    let site = Site::builder().unlimited().start();
    let (ana, phone) = (site.person("ana"), site.person("ana"));
    let made = |sku: &str| {
        let fields = [("titulo", "Caneca"), ("sku", sku), ("preco", "1")];
        let reply = ana.send(post(PRODUCTS, &fields)).expect(303);
        assert_eq!(reply.header("location"), Some(PRODUCTS));
    };
    let says = |actor: &Actor<'_>, request: Request| {
        let page = actor.send(request.header("Accept", "text/html")).expect(200);
        page.text().contains(MADE)
    };
    let view = || Request::new("GET", PRODUCTS);
    made("A");
    assert!(!says(&phone, view()), "another session of the same person");
    assert!(says(&ana, view()));
    assert!(!says(&ana, view()), "reloaded");
    // Other requests than a view of the page do not show the notice.
    made("B");
    list(&ana, PRODUCTS);
    ana.get("/painel/produtos?formato=csv").expect(200);
    ana.send(Request::new("HEAD", PRODUCTS)).expect(200);
    ana.get("/sw.js").expect(200);
    ana.get("/painel").expect(200);
    says(&ana, view().header("Sec-Fetch-Dest", "empty"));
    says(&ana, view().header("Sec-Purpose", "prefetch;prerender"));
    assert!(says(&ana, view().header("Sec-Fetch-Dest", "document")));
    // A parameter in the address shows no notice, and a notice expires.
    assert!(!says(&ana, Request::new("GET", "/painel/produtos?aviso=criado")));
    made("C");
    site.clock().advance_s(601);
    assert!(!says(&ana, view()));
    // After a change of the password the notice is shown in the new session.
    let password = ana.person().password.clone();
    let fields = [("atual", &*password), ("senha", "outra senha longa")];
    let changed = ana.send_apart(post("/perfil/senha", &fields)).expect(303);
    let cookie = changed.session_cookie().unwrap().to_owned();
    let page = Request::new("GET", "/perfil").header("Cookie", &cookie);
    let page = site.anonymous().send_apart(page).expect(200).text();
    assert!(page.contains("Senha trocada"), "{page}");
}

#[test]
fn pages_are_sent_compressed_to_who_takes_it() {
    use std::io::Read as _;
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let ask = |method: &str, path: &str, accept: &str| {
        let request = Request::new(method, path).header("Accept", "text/html");
        ana.send_apart(request.header("Accept-Encoding", accept))
    };
    let plain = ask("GET", "/perfil", "identity").expect(200);
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("vary"), Some("Accept-Encoding"));
    for accepted in ["gzip", "br;q=1, gzip;q=0.5"] {
        let packed = ask("GET", "/perfil", accepted).expect(200);
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert_eq!(packed.header("vary"), Some("Accept-Encoding"));
        assert!(packed.body.len() * 3 < plain.body.len(), "{} bytes", packed.body.len());
        let mut page = String::new();
        flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut page).unwrap();
        assert!(page.ends_with("</html>") && page.contains("Seus dados"), "{page}");
    }
    assert_eq!(ask("GET", "/perfil", "gzip;q=0").header("content-encoding"), None);
    let head = ask("HEAD", "/perfil", "gzip").expect(200);
    assert_eq!(head.header("content-encoding"), Some("gzip"));
    assert!(head.body.is_empty());
    // Pages of errors too; JSON and redirects stay as they were.
    assert_eq!(ask("GET", "/nada", "gzip").expect(404).header("content-encoding"), Some("gzip"));
    let json = Request::new("GET", "/perfil").header("Accept", "application/json");
    let json = ana.send(json.header("Accept-Encoding", "gzip")).expect(200);
    assert_eq!((json.header("content-encoding"), json.header("vary")), (None, None));
    assert_eq!(ask("GET", "/", "gzip").expect(303).header("content-encoding"), None);
}

#[test]
fn the_address_of_somebody_else_is_a_fault_at_its_field() {
    let site = Site::start();
    site.make_person("bia", "vip");
    let printed = site.command(&["setup-link"]).ok();
    let code = printed.trim().rsplit('=').next().unwrap().to_owned();
    let fields = |email: &'static str| {
        [
            ("codigo", code.clone()),
            ("nome", "Lia Prado".to_owned()),
            ("email", email.to_owned()),
            ("senha", "uma senha bem longa".to_owned()),
        ]
    };
    let send = |email: &'static str, accept: &str| {
        let fields = fields(email);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, &**value)).collect();
        let request = Request::new("POST", "/configurar").form(&fields);
        site.anonymous().send(request.header("Accept", accept))
    };
    let page = Page::read(&send("bia@example.com", "text/html").expect(409).text()).unwrap();
    let value = |id: &str| page.by_id(id).and_then(|one| one.get("value")).map(str::to_owned);
    assert_eq!(value("nome").as_deref(), Some("Lia Prado"));
    assert_eq!(value("email").as_deref(), Some("bia@example.com"));
    assert_eq!(value("senha"), None);
    let fault = page.by_id("email-erro").unwrap();
    assert!(fault.text.contains("Já existe uma conta com este e-mail"), "{}", fault.text);
    assert!(page.by_id("email").unwrap().has("autofocus"));
    let refused = send("bia@example.com", "application/json").expect(409);
    assert_eq!(refused.code(), "conflict");
    send("lia@example.com", "text/html").expect(303);
}

/// A change that came too late is told as what it is, in the words of its place.
#[test]
fn a_conflict_says_what_changed_meanwhile() {
    let site = Site::start();
    let admin = site.administrator();
    let made = admin.post("/admin/chaves", &json!({ "nome": "CRM", "escopos": ["write"] }));
    site.keep_secret("API key", made.expect(201).json()["chave"].as_str().unwrap());
    admin.post("/admin/chaves/1/excluir", &json!({})).ok();
    for (path, fields, words) in [
        ("/admin/chaves/1", &[("nome", "CRM")][..], "Esta chave já foi revogada."),
        ("/admin/chaves/1/trocar", &[("horas", "24")], "Só se troca uma chave em vigor"),
    ] {
        let page = admin.send(post(path, fields)).expect(409).text();
        assert!(page.contains(words) && page.contains("Nada foi alterado."), "{path}: {page}");
        assert!(!page.contains("chegou incompleto"), "{path}: {page}");
        let body: serde_json::Map<_, _> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let told = admin.post(path, &json!(body));
        if told.status == 409 {
            assert!(told.json()["message"].as_str().unwrap().contains(words), "{told}");
        }
    }
}

#[test]
fn a_foreign_host_is_told_which_addresses_are_served() {
    let site = Site::builder()
        .config("server.base_url", "https://loja.example.com")
        .config("server.dev_base_url", "https://teste.example.com")
        .start();
    let ask = |path: &str, host: &str| {
        let request = Request::new("GET", path).header("Host", host);
        site.anonymous().send(request.header("Accept", "text/html"))
    };
    let page = ask("/entrar", "outra.example.com").expect(400).text();
    for part in [
        "não atende por este endereço",
        "https://loja.example.com",
        "https://teste.example.com",
        "outra.example.com",
        "server.base_url",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    assert!(!page.contains("Não entendemos o que chegou"));
    let long = format!("<script>{}", "x".repeat(3_000));
    let page = ask("/entrar", &long).expect(400).text();
    assert!(!page.contains("<script>x") && !page.contains(&"x".repeat(200)), "{page}");
    let json = ask("/api/v1/planos", "outra.example.com").expect(400);
    assert_eq!(json.code(), "bad_request");
}

#[test]
fn a_new_key_may_do_nothing_until_somebody_says_what() {
    let site = Site::start();
    let page = page_of(&site.administrator(), "/admin/chaves/nova");
    let scopes = || page.all(&["input"]).filter(|one| one.get("name") == Some("escopos"));
    assert_eq!((scopes().count(), scopes().filter(|one| one.has("checked")).count()), (3, 0));
}

#[test]
fn students_read_nothing_that_is_for_operators() {
    for (key, value) in [("signature", "required"), ("client_id", "")] {
        let site = Site::builder().config(&format!("marketplace.{key}"), value).start();
        let page = site.person("ana").get("/painel/ml").expect(200).text();
        for word in [
            "marketplace.signature",
            "marketplace.client",
            "arquivo de configuração",
            "administra a plataforma",
            "reiniciar",
        ] {
            assert!(!page.contains(word), "{key}: {word} in {page}");
        }
    }
}

#[test]
fn the_audit_log_names_fields_as_the_forms_do() {
    let site = Site::start();
    let operator = site.administrator();
    let student = json!({ "nome": "Lia Prado", "email": "lia@example.com", "plano": "pro" });
    let made = operator.post("/admin/alunos", &student).expect(201).json();
    let change = json!({ "chat_number": "5511987654321" });
    operator.post(&format!("/admin/alunos/{}", made["id"].as_str().unwrap()), &change).ok();
    let id = list(&operator, "/admin/auditoria?por_pagina=1")["dados"][0]["id"].clone();
    let page = page_of(&operator, &format!("/admin/auditoria/{}", id.as_str().unwrap()));
    let fields: Vec<&str> = page
        .all(&["th"])
        .filter(|one| one.get("scope") == Some("row"))
        .map(|one| one.text.trim())
        .collect();
    assert!(fields.contains(&"Número de chat") && fields.contains(&"E-mail"), "{fields:?}");
    assert!(!fields.iter().any(|field| field.contains('_')), "{fields:?}");
}
