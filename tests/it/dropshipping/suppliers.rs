//! The supplier's side in the browser: from an invitation to a paid order, the
//! errors, and what the seller sees.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::dropshipping::{Trade, listing, number, relate};
use crate::support::html::Page;
use crate::support::site::Site;
use crate::support::sync::wait_until_worked;
use crate::support::world::LOJA;

const SELLERS: &str = "/fornecedor/vendedores";
const INVITATIONS: &str = "/fornecedor/convites";
const LINKS: &str = "/fornecedor/vinculos";
const IMPORT: &str = "/fornecedor/vinculos/importar";
const UNMATCHED: &str = "/fornecedor/conferencia";
const ORDERS: &str = "/fornecedor/pedidos";
const HUB: &str = "/painel/parceiro";
const OWED: &str = "/painel/fornecedores";

#[track_caller]
fn page(actor: &Actor<'_>, target: &str) -> String {
    actor.get(target).expect(200).text()
}

/// Rows of a member of a page's JSON.
#[track_caller]
fn rows(actor: &Actor<'_>, target: &str, member: &str) -> Vec<Value> {
    json_of(actor, target)[member].as_array().unwrap().clone()
}

fn send(actor: &Actor<'_>, target: &str, fields: &[(&str, &str)]) -> Reply {
    actor.send(Request::new("POST", target).form(fields))
}

/// The page to which a successful form redirects.
#[track_caller]
fn followed(actor: &Actor<'_>, target: &str, fields: &[(&str, &str)]) -> (String, String) {
    let done = send(actor, target, fields).expect(303);
    let to = done.header("location").unwrap().to_owned();
    (page(actor, &to), to)
}

/// The message of a page about an invalid field.
#[track_caller]
fn fault(html: &str, field: &str) -> String {
    let page = Page::read(html).unwrap();
    let input = page.all(&["input", "select", "textarea"]);
    let input = input.into_iter().find(|one| one.get("name") == Some(field)).unwrap();
    assert_eq!(input.get("aria-invalid"), Some("true"), "{field} is not at fault\n{html}");
    let said = input.words("aria-describedby").filter_map(|id| page.by_id(id));
    said.map(|one| one.text.trim().to_owned()).collect::<Vec<_>>().join(" ")
}

/// The number of the only invitation that waits.
#[track_caller]
fn invited(supplier: &Actor<'_>, email: &str) -> String {
    let made = supplier.post(INVITATIONS, &json!({ "email": email })).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_invitation_is_seen_by_whom_it_names_and_by_nobody_else() {
    let site = Site::builder().unlimited().start();
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let (told, _) = followed(&sol, INVITATIONS, &[("email", "Ana@Example.com")]);
    assert!(told.contains("Convite enviado") && told.contains("ana@example.com"), "{told}");
    let waiting = rows(&sol, SELLERS, "convites");
    assert_eq!(waiting.len(), 1);
    let id = waiting[0]["id"].as_str().unwrap();
    let twice = sol.post(INVITATIONS, &json!({ "email": "ana@example.com" })).expect(200);
    assert_eq!(twice.json()["id"], json!(id), "one that waits is not made again");
    for path in [HUB, OWED] {
        let shown = page(&ana, path);
        assert!(shown.contains("sol da Silva"), "{path}\n{shown}");
        assert!(shown.contains(&format!("{HUB}/convites/{id}/aceitar")), "{path}\n{shown}");
        assert!(!page(&rui, path).contains("sol da Silva"), "{path}");
    }
    assert_eq!(rows(&ana, HUB, "convites")[0]["fornecedor"], "sol da Silva");
    assert!(rows(&rui, HUB, "convites").is_empty());
    assert!(rows(&lua, SELLERS, "convites").is_empty());
    let told = "SELECT u.email FROM notification n JOIN user u ON u.user_id = n.owner_id
        WHERE n.title = 'Convite de fornecedor'";
    assert_eq!(site.stored(told), ["ana@example.com"], "told once");
    for (actor, answer) in [(&rui, "aceitar"), (&rui, "recusar")] {
        actor.post(&format!("{HUB}/convites/{id}/{answer}"), &json!({})).expect(404);
    }
    lua.post(&format!("{INVITATIONS}/{id}/retirar"), &json!({})).expect(404);
    assert_eq!(rows(&sol, SELLERS, "convites").len(), 1);
    assert!(rows(&sol, SELLERS, "vendedores").is_empty());
}

#[test]
fn an_unknown_address_is_invited_as_any_other_and_faults_are_said_at_the_field() {
    let site = Site::builder().unlimited().start();
    let sol = site.person_as("sol", "drop");
    let ana = site.person("ana");
    // A supplier cannot find out who has an account.
    let known = sol.post(INVITATIONS, &json!({ "email": "ana@example.com" })).expect(201).json();
    let unknown = sol.post(INVITATIONS, &json!({ "email": "zeca@example.com" })).expect(201).json();
    let members = |answer: &Value| answer.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&known), members(&unknown));
    let waiting = rows(&sol, SELLERS, "convites");
    assert_eq!(members(&waiting[0]), members(&waiting[1]));
    // A person who joins later finds the invitation.
    let zeca = site.person("zeca");
    assert_eq!(rows(&zeca, HUB, "convites").len(), 1);

    let accept = format!("{HUB}/convites/{}/aceitar", known["id"].as_str().unwrap());
    ana.post(&accept, &json!({})).ok();
    for (email, said) in [
        ("sol@example.com", "Este é o seu próprio e-mail."),
        ("ana@example.com", "Esta pessoa já está entre os seus vendedores."),
        ("ana", "Informe o e-mail com que a pessoa entra na plataforma."),
        ("", "Informe o e-mail com que a pessoa entra na plataforma."),
    ] {
        let shown = send(&sol, INVITATIONS, &[("email", email)]).expect(422).text();
        assert!(fault(&shown, "email").contains(said), "{email}\n{shown}");
        let refused = sol.post(INVITATIONS, &json!({ "email": email })).expect(422).json();
        assert!(refused["fields"]["email"].is_string(), "{email}: {refused}");
    }
    assert_eq!(rows(&sol, SELLERS, "convites").len(), 1, "what was at fault made nothing");
}

#[test]
fn an_invitation_is_answered_once_and_either_side_ends_what_came_of_it() {
    let site = Site::builder().unlimited().start();
    let sol = site.person_as("sol", "drop");
    let ana = site.person("ana");
    let answer = |id: &str, word: &str| format!("{HUB}/convites/{id}/{word}");

    let id = invited(&sol, "ana@example.com");
    let (told, _) = followed(&ana, &answer(&id, "recusar"), &[]);
    assert!(told.contains("Convite recusado"), "{told}");
    ana.post(&answer(&id, "aceitar"), &json!({})).expect(404);
    assert!(rows(&sol, SELLERS, "convites").is_empty());

    let id = invited(&sol, "ana@example.com");
    let (told, _) = followed(&sol, &format!("{INVITATIONS}/{id}/retirar"), &[]);
    assert!(told.contains("Convite retirado"), "{told}");
    ana.post(&answer(&id, "aceitar"), &json!({})).expect(404);
    assert!(rows(&ana, HUB, "convites").is_empty());
    sol.post(&format!("{INVITATIONS}/{id}/retirar"), &json!({})).expect(404);

    let (seller, supplier) = (number(&site, &ana), number(&site, &sol));
    for end in ["seller", "supplier"] {
        let id = invited(&sol, "ana@example.com");
        let (told, _) = followed(&ana, &answer(&id, "aceitar"), &[]);
        assert!(told.contains("Convite aceito") && told.contains("sol da Silva"), "{told}");
        let sellers = rows(&sol, SELLERS, "vendedores");
        assert_eq!((&sellers[0]["id"], sellers.len()), (&json!(seller), 1));
        assert_eq!(rows(&ana, HUB, "fornecedores")[0]["id"], json!(supplier));
        assert!(page(&sol, SELLERS).contains("ana da Silva"));
        let (by, path) = match end {
            "seller" => (&ana, format!("{HUB}/fornecedores/{supplier}/encerrar")),
            _ => (&sol, format!("{SELLERS}/{seller}/encerrar")),
        };
        let (told, _) = followed(by, &path, &[]);
        assert!(told.contains("Relação encerrada"), "{told}");
        by.post(&path, &json!({})).expect(404);
        assert!(rows(&sol, SELLERS, "vendedores").is_empty());
        assert!(rows(&ana, HUB, "fornecedores").is_empty());
        assert!(!page(&sol, SELLERS).contains("ana da Silva"));
        assert!(!page(&ana, OWED).contains("sol da Silva"));
    }
    let noted =
        site.stored("SELECT action FROM audit WHERE object_kind = 'relacao' ORDER BY audit_id");
    assert_eq!(
        noted.iter().map(|one| one.trim_start_matches("relacao.")).collect::<Vec<_>>(),
        [
            "convidar", "recusar", "convidar", "retirar", "convidar", "aceitar", "encerrar",
            "convidar", "aceitar", "encerrar"
        ]
    );
}

#[test]
fn a_listing_is_linked_by_hand_and_each_fault_has_its_words() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    sol.post("/fornecedor/produtos", &json!({ "sku": "OUTRA", "titulo": "Outra", "preco": 5 }))
        .expect(201);
    let (seller, anuncio) = (&*trade.seller, &*trade.listing);
    let rui = number(site, &site.person("rui"));
    let ruis = listing(site, &site.person("rui"));
    let link = |vendedor: &str, anuncio: &str, sku: &str| {
        send(&sol, LINKS, &[("vendedor", vendedor), ("anuncio", anuncio), ("sku", sku)])
    };
    let done = link(seller, &anuncio.to_lowercase(), "GAR-1").expect(303);
    let shown = page(&sol, done.header("location").unwrap());
    assert!(shown.contains("Anúncio vinculado") && shown.contains(anuncio), "{shown}");
    for (vendedor, anuncio, sku, field, said) in [
        (&*rui, &*ruis, "GAR-1", "vendedor", "Este vendedor não está entre os seus."),
        ("", anuncio, "GAR-1", "vendedor", "Escolha o vendedor."),
        (seller, &*ruis, "GAR-1", "anuncio", "O vendedor não tem este anúncio."),
        (seller, "garrafa", "GAR-1", "anuncio", "Informe o código do anúncio, como MLB123."),
        (seller, anuncio, "OUTRA", "anuncio", "Este anúncio já está vinculado a outro produto."),
        (seller, anuncio, "LUA-1", "sku", "Não há produto seu com este SKU."),
        (seller, anuncio, "", "sku", "Informe o SKU de um produto seu."),
    ] {
        let shown = link(vendedor, anuncio, sku).expect(422).text();
        let words = fault(&shown, field);
        assert!(words.contains(said), "{vendedor} {anuncio} {sku}: {words}");
        let body = json!({ "vendedor": vendedor, "anuncio": anuncio, "sku": sku });
        let refused = sol.post(LINKS, &body).expect(422).json();
        assert!(refused["fields"][field].is_string(), "{refused}");
    }
    let links = rows(&sol, LINKS, "dados");
    assert_eq!(links.len(), 1);
    assert_eq!((&links[0]["ml_id"], &links[0]["sku"]), (&json!(anuncio), &json!("GAR-1")));
    assert_eq!(links[0]["vendedor"], "ana da Silva");
    let id = links[0]["id"].as_str().unwrap();
    let lua = site.person_as("lua", "drop");
    lua.post(&format!("{LINKS}/{id}/excluir"), &json!({})).expect(404);
    assert!(rows(&lua, LINKS, "dados").is_empty());
    for (query, found) in [("q=garrafa", 1), ("q=gar-1", 1), ("q=copo", 0)] {
        assert_eq!(rows(&sol, &format!("{LINKS}?{query}"), "dados").len(), found, "{query}");
    }
    assert_eq!(rows(&sol, &format!("{LINKS}?vendedor={seller}"), "dados").len(), 1);
    assert!(rows(&sol, &format!("{LINKS}?vendedor={rui}"), "dados").is_empty());
    let (told, _) = followed(&sol, &format!("{LINKS}/{id}/excluir"), &[]);
    assert!(told.contains("Vínculo removido"), "{told}");
    assert!(rows(&sol, LINKS, "dados").is_empty());
    sol.post(&format!("{LINKS}/{id}/excluir"), &json!({})).expect(404);
}

fn upload(actor: &Actor<'_>, csv: &[u8], name: &str) -> Reply {
    let mut body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n"
    )
    .into_bytes();
    body.extend(csv);
    body.extend(b"\r\n--x--\r\n");
    let request = Request::new("POST", IMPORT).header("Accept", "text/html");
    actor.send(request.body("multipart/form-data; boundary=x", &body))
}

#[test]
fn a_list_is_looked_at_first_and_changes_nothing_until_it_is_applied() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    let (seller, anuncio) = (&trade.seller, &trade.listing);
    let list = format!(
        "seller_id;ml_id;sku\r\n{seller};{anuncio};GAR-1\r\n{seller};MLB1;GAR-1\r\n\
         999999;{anuncio};GAR-1\r\n{seller};{anuncio};NADA\r\n"
    );
    let seen = upload(&sol, list.as_bytes(), "v.csv").expect(200).text();
    assert!(seen.contains("Nada mudou ainda"), "{seen}");
    assert!(seen.contains("1 a vincular, 0 já vinculados, 3 com erro."), "{seen}");
    for said in [
        "O vendedor não tem este anúncio.",
        "Não há vendedor seu com este número.",
        "Não há produto seu com este SKU.",
    ] {
        assert!(seen.contains(said), "{said}\n{seen}");
    }
    let looked = sol.post(IMPORT, &json!({ "csv": list })).expect(200).json();
    assert_eq!((&looked["criados"], &looked["falhos"]), (&json!(1), &json!(3)), "{looked}");
    assert_eq!(looked["linhas"][1]["linha"], 2);
    assert!(rows(&sol, LINKS, "dados").is_empty(), "a look changes nothing");
    // The page sends the list of the preview on.
    let read = Page::read(&seen).unwrap();
    let hidden = read.all(&["input"]).find(|one| one.get("name") == Some("csv")).unwrap();
    let csv = hidden.get("value").unwrap().to_owned();
    let apply = format!("{IMPORT}/aplicar");
    let (told, to) = followed(&sol, &apply, &[("csv", &csv)]);
    assert_eq!(to, LINKS);
    assert!(told.contains("1 vinculados agora, 0 já estavam, 3 não puderam ser."), "{told}");
    assert_eq!(rows(&sol, LINKS, "dados").len(), 1);
    let again = sol.post(&apply, &json!({ "csv": list })).expect(200).json();
    assert_eq!((&again["criados"], &again["sem_mudanca"]), (&json!(0), &json!(1)), "{again}");
    for (file, name, said) in [
        (
            &b"sku\nA\n"[..],
            "v.csv",
            "A primeira linha precisa ter as colunas seller_id, ml_id e sku.",
        ),
        (b"seller_id,ml_id,sku\n", "v.csv", "O arquivo não tem linhas."),
        (b"seller_id,ml_id,sku\n1,\"MLB2,A\n", "v.csv", "Há aspas que abrem e não fecham."),
        (b"seller_id,ml_id,sku\n1,MLB2,\xff\n", "v.csv", "O arquivo não é um texto em UTF-8."),
        (b"", "", "Escolha um arquivo CSV."),
    ] {
        let shown = upload(&sol, file, name).expect(422).text();
        assert!(fault(&shown, "arquivo").contains(said), "{said}\n{shown}");
    }
    let long = format!("seller_id,ml_id,sku\n{}", "1,MLB2,A\n".repeat(501));
    let shown = upload(&sol, long.as_bytes(), "v.csv").expect(422).text();
    assert!(fault(&shown, "arquivo").contains("mais de 500 linhas"), "{shown}");
    sol.post(&apply, &json!({ "csv": long })).expect(422);
}

#[test]
fn a_listing_without_a_product_is_mended_beside_its_row() {
    let trade = Trade::open();
    let sol = trade.shop.site.person_as("sol", "drop");
    let found = rows(&sol, UNMATCHED, "dados");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["ml_id"], &found[0]["motivo"]),
        (&json!(trade.listing), &json!("no_sku"))
    );
    for (reason, count) in [("no_sku", 1), ("sku_unknown", 0), ("ean_unknown", 0)] {
        let target = format!("{UNMATCHED}?motivo={reason}");
        assert_eq!(rows(&sol, &target, "dados").len(), count, "{reason}");
    }
    assert_eq!(rows(&sol, &format!("{UNMATCHED}?vendedor={}", trade.seller), "dados").len(), 1);
    let rui = number(&trade.shop.site, &trade.shop.site.person("rui"));
    assert!(rows(&sol, &format!("{UNMATCHED}?vendedor={rui}"), "dados").is_empty());
    // The form beside the row needs nothing but the SKU.
    let html = page(&sol, UNMATCHED);
    let read = Page::read(&html).unwrap();
    let typed = read.all(&["input"]).find(|one| one.get("placeholder") == Some("SKU"));
    let form = read.path(typed.unwrap()).find(|one| one.is(&["form"])).unwrap();
    let hidden = read.all(&["input"]).filter(|one| {
        one.get("type") == Some("hidden") && read.path(one).any(|up| std::ptr::eq(up, form))
    });
    let mut fields: Vec<(&str, &str)> = hidden
        .filter_map(|one| Some((one.get("name")?, one.get("value")?)))
        .filter(|(name, _)| ["volta", "vendedor", "anuncio"].contains(name))
        .collect();
    assert_eq!(fields.len(), 3, "{html}");
    fields.push(("sku", "GAR-1"));
    let (told, to) = followed(&sol, LINKS, &fields);
    assert_eq!(to, UNMATCHED, "back to where it came from");
    assert!(told.contains("Anúncio vinculado") && told.contains("Nada a conferir"), "{told}");
    assert!(rows(&sol, UNMATCHED, "dados").is_empty());
    assert_eq!(rows(&sol, LINKS, "dados").len(), 1);
}

/// Situations of a supplier's orders, by number.
fn situations(actor: &Actor<'_>) -> Vec<(String, String)> {
    let mut all: Vec<_> = rows(actor, ORDERS, "dados")
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap().to_owned();
            (text("id"), text("situacao"))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn orders_are_marked_as_paid_one_by_one_and_together() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    trade.link_and_sell(&[1, 2, 3]);
    let ids: Vec<String> = situations(&sol).into_iter().map(|(id, _)| id).collect();
    let states = || situations(&sol).into_iter().map(|(_, state)| state).collect::<Vec<_>>();
    let is = |wanted: [&str; 3]| assert_eq!(states(), wanted);
    is(["pending", "pending", "pending"]);
    let act = |id: &str, what: &str| format!("{ORDERS}/{id}/{what}");

    let (told, _) = followed(&sol, &act(&ids[0], "pago"), &[]);
    assert!(told.contains("Pagamento anotado"), "{told}");
    is(["paid", "pending", "pending"]);
    sol.post(&act(&ids[0], "pago"), &json!({})).ok();
    let paid = || site.stored("SELECT coalesce(paid_at, 0) || '' FROM drop_order ORDER BY 1");
    let before = paid();
    let (told, _) = followed(&sol, &act(&ids[0], "desfazer"), &[]);
    assert!(told.contains("Pagamento desfeito"), "{told}");
    is(["pending", "pending", "pending"]);
    assert_ne!(paid(), before);

    // All or none.
    let unknown = json!({ "ids": [ids[0], ids[1], "999999"] });
    sol.post(&format!("{ORDERS}/pagos"), &unknown).expect(404);
    is(["pending", "pending", "pending"]);
    for wrong in [json!({}), json!({ "ids": [] }), json!({ "ids": ["um"] })] {
        let refused = sol.post(&format!("{ORDERS}/pagos"), &wrong).expect(422).json();
        assert!(refused["fields"]["ids"].is_string(), "{refused}");
    }
    let (told, _) = followed(&sol, &format!("{ORDERS}/pagos"), &[]);
    assert!(told.contains("Nada foi marcado"), "{told}");
    let many = [("ids", &*ids[0]), ("ids", &*ids[1])];
    let (told, _) = followed(&sol, &format!("{ORDERS}/pagos"), &many);
    assert!(told.contains("Pagamento de 2 pedidos anotado"), "{told}");
    is(["paid", "paid", "pending"]);
    let all = sol.post(&format!("{ORDERS}/pagos"), &json!({ "ids": ids })).ok();
    assert_eq!(all["pagos"], 1, "those that were paid stay as they are");
    is(["paid", "paid", "paid"]);

    let home = page(&sol, "/fornecedor");
    assert!(home.contains("R$ 120,00") || home.contains("R$\u{a0}120,00"), "{home}");
    // Orders of another supplier are not found.
    let lua = site.person_as("lua", "drop");
    for what in ["pago", "desfazer", "lembrar"] {
        lua.post(&act(&ids[0], what), &json!({})).expect(404);
    }
    lua.post(&format!("{ORDERS}/pagos"), &json!({ "ids": ids })).expect(404);
    sol.post(&act(&ids[0], "lembrar"), &json!({})).expect(409);
    let (told, _) = followed(&sol, &act(&ids[0], "lembrar"), &[]);
    assert!(told.contains("Nada a lembrar"), "{told}");
}

#[test]
fn what_was_called_off_is_not_paid() {
    let trade = Trade::open();
    let sol = trade.shop.site.person_as("sol", "drop");
    trade.link();
    trade.shop.site.clock().advance_s(60);
    let order = trade.sell(1);
    trade.change(&order, &json!({ "status": "cancelled", "notify": true }));
    let (id, state) = situations(&sol).remove(0);
    assert_eq!(state, "cancelled");
    sol.post(&format!("{ORDERS}/{id}/pago"), &json!({})).expect(409);
    let (told, _) = followed(&sol, &format!("{ORDERS}/{id}/pago"), &[]);
    assert!(told.contains("por ela nada é devido"), "{told}");
    sol.post(&format!("{ORDERS}/pagos"), &json!({ "ids": [id] })).expect(409);
    let (told, _) = followed(&sol, &format!("{ORDERS}/pagos"), &[("ids", &*id)]);
    assert!(told.contains("Nada mudou"), "what was called off since is passed over\n{told}");
    assert_eq!(situations(&sol)[0].1, "cancelled");
}

#[test]
fn a_seller_sees_what_is_owed_to_whom_and_is_reminded() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, ana) = (site.person_as("sol", "drop"), site.person("ana"));
    trade.link();
    site.clock().advance_s(60);
    let order = trade.sell(2);
    let owed = rows(&ana, OWED, "dados");
    assert_eq!(owed.len(), 1);
    assert_eq!((&owed[0]["pedido"], &owed[0]["situacao"]), (&json!(order), &json!("pending")));
    assert_eq!(owed[0]["fornecedor"], "sol da Silva");
    assert_eq!(owed[0]["valor"].as_f64(), Some(40.0));
    let shown = page(&ana, OWED);
    assert!(shown.contains("sol da Silva") && shown.contains("40,00"), "{shown}");
    assert!(rows(&site.person("rui"), OWED, "dados").is_empty());
    assert!(!page(&site.person("rui"), OWED).contains("sol da Silva"));
    let id = situations(&sol).remove(0).0;
    let told = || {
        let sql = "SELECT count(*) || '' FROM notification WHERE title = 'Pagamento a fornecedor'";
        site.stored(sql).remove(0)
    };
    let reminded = sol.post(&format!("{ORDERS}/{id}/lembrar"), &json!({})).ok();
    assert_eq!(reminded["canal"], "panel");
    let (said, _) = followed(&sol, &format!("{ORDERS}/{id}/lembrar"), &[]);
    assert!(said.contains("Vendedor lembrado") && said.contains("lembrado "), "{said}");
    assert_eq!(told(), "1", "a reminder stands for a day");

    site.clock().advance_s(4 * 86_400);
    // The sessions have ended in the meantime.
    let (sol, ana) = (site.person_as("sol", "drop"), site.person("ana"));
    let html = page(&sol, ORDERS);
    assert!(html.contains("Lembrar todos") && !html.contains("De novo às"), "{html}");
    assert!(html.contains("Em atraso <span class=\"count\">1</span>"), "{html}");
    assert!(page(&sol, "/fornecedor").contains("1 pedido em atraso"));
    let all = format!("{ORDERS}/lembrar");
    let (said, _) = followed(&sol, &all, &[]);
    assert!(said.contains("Vendedores com pedidos em atraso: 1. Pedidos: 1."), "{said}");
    assert!(said.contains("De novo às"), "the page tells when the window ends\n{said}");
    assert_eq!(told(), "2");
    let refused = sol.post(&all, &json!({})).expect(429);
    let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=300).contains(&wait), "{wait}");
    let (said, _) = followed(&sol, &all, &[]);
    assert!(said.contains("Todos foram lembrados há pouco"), "{said}");
    site.clock().advance_s(wait);
    assert!(!page(&sol, ORDERS).contains("De novo às"));
    assert_eq!(sol.post(&all, &json!({})).ok()["vendedores"], 1);
    assert_eq!(told(), "2", "a reminder stands for a day");
    for (filter, count) in [("vencido", 1), ("a_vencer", 0), ("pago", 0), ("cancelado", 0)] {
        for (actor, path) in [(&sol, ORDERS), (&ana, OWED)] {
            let target = format!("{path}?situacao={filter}");
            assert_eq!(rows(actor, &target, "dados").len(), count, "{target}");
        }
    }
}

#[test]
fn labels_and_notes_come_by_the_panel() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    trade.link();
    site.clock().advance_s(60);
    let (order, _) = trade.shop.sell(LOJA, true);
    wait_until_worked(&trade.shop.world, site);
    let id = situations(&sol).remove(0).0;
    let html = page(&sol, ORDERS);
    let label = format!("{ORDERS}/{id}/etiqueta");
    assert!(html.contains(&label), "{html}");
    assert!(sol.get(&label).expect(200).body.starts_with(b"%PDF-"));
    let note = format!("{ORDERS}/{id}/nota");
    assert!(matches!(sol.get(&note).status, 400 | 404 | 409), "there is none as yet");
    let issued = json!({ "invoice": "issued", "notify": false });
    trade.shop.world.control(&format!("/_sandbox/orders/{order}"), &issued);
    assert!(sol.get(&note).expect(200).body.starts_with(b"%PDF-"));
    for target in [&label, &note] {
        lua.get(target).expect(404);
    }
    // A relation ends at once; open orders are kept.
    sol.post(&format!("{SELLERS}/{}/encerrar", trade.seller), &json!({})).ok();
    for target in [&label, &note] {
        sol.get(target).expect(404);
    }
    sol.post(&format!("{ORDERS}/{id}/lembrar"), &json!({})).expect(404);
    assert!(page(&sol, ORDERS).contains("ana da Silva"));
    sol.post(&format!("{ORDERS}/{id}/pago"), &json!({})).ok();
}

#[test]
fn every_list_is_a_file_too() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, ana) = (site.person_as("sol", "drop"), site.person("ana"));
    let file = |actor: &Actor<'_>, path: &str| {
        let reply = actor.get(&format!("{path}?formato=csv")).expect(200);
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        assert!(kind.starts_with("text/csv"), "{reply}");
        reply.text().trim_start_matches('\u{feff}').to_owned()
    };
    assert!(file(&sol, UNMATCHED).contains(&trade.listing));
    trade.link();
    site.clock().advance_s(60);
    let order = trade.sell(1);
    for (actor, path, columns, holds) in [
        (&sol, LINKS, "seller_id,ml_id,sku,vendedor,anuncio,produto,criado_em", &trade.listing),
        (&sol, UNMATCHED, "seller_id,vendedor,ml_id,titulo,sku,ean,motivo", &String::new()),
        (
            &sol,
            ORDERS,
            "id,pedido,seller_id,vendedor,sku,produto,quantidade,custo,valor,situacao,vence_em,pago_em,lembrado_em",
            &order,
        ),
        (
            &ana,
            OWED,
            "id,pedido,fornecedor,sku,produto,quantidade,custo,valor,situacao,vence_em,pago_em",
            &order,
        ),
    ] {
        let text = file(actor, path);
        let header = text.lines().next().unwrap();
        assert_eq!(header.replace(';', ","), columns, "{path}");
        assert!(text.contains(&**holds), "{path}\n{text}");
    }
    assert!(!file(&site.person_as("lua", "drop"), ORDERS).contains(&order));
    assert!(!file(&site.person("rui"), OWED).contains(&order));
    // An exported file has the columns for importing it again.
    let links = file(&sol, LINKS);
    assert!(links.lines().next().unwrap().contains("ml_id"), "{links}");
}

#[test]
fn nobody_else_is_served_a_suppliers_pages() {
    let site = Site::builder().unlimited().start();
    let sol = site.person_as("sol", "drop");
    relate(&site, &sol, &site.person("ana"));
    sol.post("/fornecedor/produtos", &json!({ "sku": "SEGREDO", "titulo": "Segredo", "preco": 5 }))
        .expect(201);
    let others = [site.person("ana"), site.administrator(), site.anonymous()];
    let routes = site.routes();
    let rows: Vec<_> = routes
        .iter()
        .filter(|route| route.path == "/fornecedor" || route.path.starts_with("/fornecedor/"))
        .collect();
    assert!(rows.len() > 25, "{}", rows.len());
    for route in rows {
        for actor in &others {
            let path = route.sample_path();
            let request = Request::new(&route.method, &path);
            let request = if route.method == "GET" { request } else { request.form(&[]) };
            let reply = actor.send(request.header("Accept", "text/html"));
            let is_stranger = actor.to_string() == "anonymous";
            if is_stranger {
                assert!(matches!(reply.status, 303 | 401), "{} {path}\n{reply}", route.method);
                let to = reply.header("location").unwrap_or("/entrar");
                assert!(to.starts_with("/entrar"), "{reply}");
            } else {
                assert_eq!(reply.status, 403, "{} {path} as {actor}\n{reply}", route.method);
            }
            let text = reply.text();
            assert!(!text.contains("SEGREDO") && !text.contains("sol da Silva"), "{reply}");
        }
    }
}
