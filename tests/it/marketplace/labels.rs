//! Labels: what can be printed, by whom, and the errors.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::shop::{LABELS, OTHER, Shop, refused};
use crate::support::sync::wait_until_worked;
use crate::support::world::LOJA;

const FILE: &str = "/painel/ml/etiqueta";

fn ask(actor: &Actor<'_>, account: u64, shipments: &str) -> Reply {
    actor.get(&format!("{FILE}?shipment_id={shipments}&conta={account}"))
}

#[test]
fn parcels_that_are_ready_are_listed_and_printed_together() {
    let shop = Shop::open();
    let ana = shop.ana();
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("Nenhum pacote para enviar com etiqueta a imprimir"), "{page}");
    let (first, second) = (shop.sell(LOJA, true), shop.sell(LOJA, true));
    shop.sell(OTHER, true);
    let list = shop.wait_for(&ana, 2);
    let ids: Vec<&str> = list["dados"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["shipment_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [&*second.1, &*first.1]);
    assert_eq!(list["dados"][1]["pedido_id"], json!(first.0));
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("1× Garrafa") && page.contains("Imprimir as 2<"), "{page}");
    let file = ask(&ana, LOJA, &first.1).expect(200);
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert!(file.body.starts_with(b"%PDF-"));
    assert!(file.text().contains(&first.1));
    // Each ticked box is sent as its own parameter.
    let both = format!("{FILE}?conta={LOJA}&shipment_id={}&shipment_id={}", first.1, second.1);
    let file = ana.get(&both).expect(200);
    assert!(file.text().contains(&first.1) && file.text().contains(&second.1));
    let asked = shop.world.requests();
    let asked = asked.iter().filter(|one| one["path"] == "/shipment_labels");
    assert_eq!(asked.count(), 2);
    assert_eq!(shop.world.violations(), [] as [Value; 0]);
}

#[test]
fn nobody_gets_another_ones_label() {
    let shop = Shop::open();
    let (own, others) = (shop.sell(LOJA, true).1, shop.sell(OTHER, true).1);
    shop.wait_for(&shop.ana(), 1);
    shop.wait_for(&shop.site.person("rui"), 1);
    shop.world.forget_requests();
    for (account, shipment) in [
        (LOJA, others.clone()),
        (OTHER, others.clone()),
        (OTHER, own.clone()),
        (999_999, own.clone()),
        (LOJA, format!("{own},{others}")),
        (LOJA, "1".to_owned()),
    ] {
        let said = refused(ask(&shop.ana(), account, &shipment), 404);
        assert!(!said.contains("RUI"), "{said}");
    }
    let printed = shop.world.requests();
    let printed = printed.iter().filter(|one| one["path"] == "/shipment_labels");
    assert_eq!(printed.count(), 0, "the marketplace was not asked for a file");
    let page =
        Request::new("GET", &format!("{LABELS}?conta={OTHER}")).header("Accept", "text/html");
    let page = shop.ana().send(page).expect(404);
    assert!(!page.text().contains("LOJA DO RUI"), "{page}");
}

#[test]
fn a_shipment_that_no_order_here_knows_is_asked_about() {
    let shop = Shop::open();
    let (_, shipment) = shop.sell(LOJA, false);
    let file = ask(&shop.ana(), LOJA, &shipment).expect(200);
    assert!(file.body.starts_with(b"%PDF-"));
    let many: Vec<String> = (1..=6).map(|number: u32| number.to_string()).collect();
    shop.world.forget_requests();
    refused(ask(&shop.ana(), LOJA, &many.join(",")), 404);
    let asked = shop.world.requests();
    let guessed = asked.iter().filter(|call| {
        let path = call["path"].as_str().unwrap();
        path == "/shipment_labels" || many.iter().any(|id| path == format!("/shipments/{id}"))
    });
    assert_eq!(guessed.count(), 0, "not for a list of guesses: {asked:?}");
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let shop = Shop::open();
    let fifty_one: Vec<String> = (1..=51).map(|number: u32| number.to_string()).collect();
    for query in [
        String::new(),
        format!("?conta={LOJA}"),
        "?shipment_id=1".to_owned(),
        format!("?shipment_id=&conta={LOJA}"),
        format!("?shipment_id=1,x&conta={LOJA}"),
        format!("?shipment_id=-1&conta={LOJA}"),
        format!("?shipment_id=1/../2&conta={LOJA}"),
        format!("?shipment_id=1&conta={LOJA}&conta={OTHER}"),
        format!("?shipment_id={}&conta={LOJA}", fifty_one.join(",")),
    ] {
        refused(shop.ana().get(&format!("{FILE}{query}")), 400);
    }
}

#[test]
fn what_the_marketplace_says_stays_with_us() {
    let shop = Shop::open();
    let (order, shipment) = shop.sell(LOJA, true);
    shop.wait_for(&shop.ana(), 1);
    let label = |fault: Value| {
        let mut fault = fault;
        fault["path_prefix"] = json!("/shipment_labels");
        shop.world.fault(&fault);
        let reply = ask(&shop.ana(), LOJA, &shipment);
        shop.world.clear_faults();
        shop.site.clock().advance_s(600);
        reply
    };
    let failed = |cause: &str| {
        json!({ "kind": "status", "code": 400, "body": { "failed_shipments": [
            { "shipment_id": shipment, "message": "segredo", "cause": cause, "retry": false } ] } })
    };
    for (fault, status, part) in [
        (failed("NOT_PRINTABLE_STATUS"), 400, "ainda não pode"),
        (failed("INVALID_SHIPMENT_CALLER"), 404, "não foi encontrado"),
        (failed("INVALID_SHIPMENT_FF_PUBLIC"), 400, "depósito"),
        (failed("INVALID_SHIPMENT_MODE"), 400, "não usa etiquetas"),
        (failed("<script>segredo"), 400, "não deu a etiqueta"),
        (json!({ "kind": "status", "code": 404, "body": "segredo" }), 404, "não foi encontrado"),
        (json!({ "kind": "status", "code": 500, "body": "segredo" }), 502, "não respondeu"),
        (json!({ "kind": "status", "code": 403, "body": "segredo" }), 502, "O marketplace recusou"),
        (json!({ "kind": "garbage" }), 502, "não se entende"),
        (json!({ "kind": "truncated" }), 502, "não respondeu"),
        (json!({ "kind": "rate_limited" }), 502, "pediu uma pausa"),
        (
            json!({ "kind": "redirect", "location": "https://evil.example/segredo" }),
            502,
            "não se entende",
        ),
        (json!({ "kind": "huge", "bytes": 20 << 20 }), 502, "não se entende"),
    ] {
        let said = refused(label(fault.clone()), status);
        assert!(said.contains(part), "{fault}: {said}");
        assert!(!said.contains("segredo"), "{said}");
    }
    // The parcel is sent, and its label is no longer listed.
    let sent = json!({ "shipping_status": "shipped", "notify": false });
    shop.world.control(&format!("/_sandbox/orders/{order}"), &sent);
    let said = refused(ask(&shop.ana(), LOJA, &shipment), 400);
    assert!(said.contains("já foi enviado"), "{said}");
}

#[test]
fn parcels_that_have_left_are_ones_own_all_the_same() {
    let shop = Shop::open();
    let ana = shop.ana();
    let sold: Vec<_> = (0..7).map(|_| shop.sell(LOJA, true)).collect();
    shop.wait_for(&ana, 7);
    let sent = json!({ "shipping_status": "shipped", "notify": true });
    for (order, _) in &sold {
        shop.world.control(&format!("/_sandbox/orders/{order}"), &sent);
    }
    shop.wait_for(&ana, 0);
    wait_until_worked(&shop.world, &shop.site);
    shop.world.forget_requests();
    let ids: Vec<&str> = sold.iter().map(|(_, shipment)| &**shipment).collect();
    let reply = ask(&ana, LOJA, &ids.join(",")).expect(400);
    assert!(reply.text().contains("7 das 7 não podem"), "{reply}");
    let asked = shop.world.requests();
    let paths: Vec<&str> = asked.iter().filter_map(|call| call["path"].as_str()).collect();
    assert_eq!(paths, ["/shipment_labels"], "nothing else is asked");
    // Guessed numbers among the right ones are answered like other guesses.
    let guesses = "1,2,3,4,5,6";
    refused(ask(&ana, LOJA, &format!("{},{guesses}", ids[0])), 404);
}

#[test]
fn one_that_cannot_be_printed_is_named_and_left_out_of_the_rest() {
    let shop = Shop::open();
    let ana = shop.ana();
    let sold: Vec<_> = (0..3).map(|_| shop.sell(LOJA, true)).collect();
    shop.wait_for(&ana, 3);
    let (order, gone) = &sold[1];
    let target = format!("/_sandbox/orders/{order}");
    let sent = json!({ "shipping_status": "shipped", "notify": false });
    shop.world.control(&target, &sent);
    let ids: Vec<&str> = sold.iter().map(|(_, shipment)| &**shipment).collect();
    let reply = ask(&ana, LOJA, &ids.join(",")).expect(400);
    let kind = reply.header("content-type");
    assert_eq!(kind, Some("text/plain; charset=utf-8"), "{reply}");
    let said = reply.text();
    assert!(said.contains("uma das 3 não pode ser impressa"), "{said}");
    assert!(said.contains(&format!("Envio {gone}: ")), "{said}");
    assert!(!said.contains(ids[0]) && !said.contains("status is"), "{said}");

    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("Imprimir as 2<") && page.contains("já foi enviado"), "{page}");
    let listed = shop.wait_for(&ana, 3);
    let told = listed["dados"][1]["impedimento"].as_str().unwrap();
    assert!(told.contains("já foi enviado"), "{listed}");
    assert_eq!(listed["dados"][0]["impedimento"], Value::Null);

    // After it was printed alone it is listed with the others again.
    let ready = json!({
        "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print", "notify": false,
    });
    shop.world.control(&target, &ready);
    ask(&ana, LOJA, gone).expect(200);
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("Imprimir as 3<") && !page.contains("já foi enviado"), "{page}");
}

#[test]
fn nothing_marked_is_said_in_words_for_sellers() {
    let shop = Shop::open();
    let said = refused(shop.ana().get(&format!("{FILE}?conta={LOJA}")), 400);
    assert!(said.contains("Nenhum pacote foi marcado"), "{said}");
}

#[test]
fn whoever_has_no_shop_is_refused_in_plain_text() {
    let shop = Shop::open();
    let target = format!("{FILE}?conta={LOJA}&shipment_id=1");
    let davi = shop.site.person_as("davi", "drop");
    for target in [&*target, "/painel/vendas/1/nota"] {
        let request = Request::new("GET", target).header("Accept", "text/html");
        let said = refused(davi.send(request), 403);
        assert!(said.starts_with("Sua conta não abre"), "{said}");
    }
    let request = Request::new("GET", &target).header("Accept", "text/html");
    let login = shop.site.anonymous().send(request).expect(303);
    let place = login.header("location").unwrap();
    assert!(place.starts_with("/entrar?volta="), "{place}");
}

#[test]
fn a_lost_link_is_said_where_labels_are_printed() {
    let shop = Shop::open();
    let ana = shop.ana();
    let (_, shipment) = shop.sell(LOJA, true);
    shop.wait_for(&ana, 1);
    shop.world.end_tokens(LOJA, "revoke");
    let said = refused(ask(&ana, LOJA, &shipment), 502);
    assert!(said.contains("perdeu o vínculo"), "{said}");
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("A conta LOJA DA ANA perdeu o vínculo"), "{page}");
    assert!(!page.contains("Imprimir a"), "{page}");
    // Pressed nevertheless, it says so, and the label stays to be printed.
    let said = press(&ana, &[("ids", &format!("{LOJA}-{shipment}"))]);
    assert_eq!(said.header("location"), Some(LABELS));
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("A etiqueta não saiu") && page.contains("perdeu o vínculo"), "{page}");
    assert!(page.contains("1 etiqueta a imprimir"), "{page}");
    // All that can be printed leaves it out.
    let said = press(&ana, &[("todos", "1")]);
    assert_eq!(said.header("location"), Some(LABELS));
    assert!(ana.get(LABELS).expect(200).text().contains("Não há etiqueta para imprimir agora"));
}

const PRINT: &str = "/painel/ml/etiquetas/imprimir";
const UNDO: &str = "/painel/ml/etiquetas/desfazer";
const PRINTED: &str = "/painel/ml/etiquetas?parte=impressas";

fn press(actor: &Actor<'_>, fields: &[(&str, &str)]) -> Reply {
    actor.send(Request::new("POST", PRINT).form(fields)).expect(303)
}

/// Where each of some words stands in a text.
fn places(text: &str, words: &[&str]) -> Vec<usize> {
    words.iter().map(|word| text.find(word).unwrap_or_else(|| panic!("no {word}"))).collect()
}

#[test]
fn one_press_prints_all_by_deadline_and_can_be_taken_back_or_repeated() {
    let shop = Shop::open();
    let ana = shop.ana();
    let sold: Vec<_> = (0..3).map(|_| shop.sell(LOJA, true)).collect();
    shop.wait_for(&ana, 3);
    let ids: Vec<&str> = sold.iter().map(|(_, shipment)| &**shipment).collect();
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("3 etiquetas a imprimir · despache até amanhã 18:00"), "{page}");
    let listed = places(
        &page,
        &ids.iter()
            .map(|id| format!("envio {id}<"))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    assert!(listed.is_sorted(), "oldest first at the same deadline: {listed:?}");
    shop.world.forget_requests();

    let pressed = press(&ana, &[("todos", "1")]);
    let place = pressed.header("location").unwrap().to_owned();
    let file = ana.get(&place).expect(200);
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert!(places(&file.text(), &ids).is_sorted(), "the order of the list");
    let asked = shop.world.requests();
    let asked = asked.iter().filter(|one| one["path"] == "/shipment_labels").count();
    assert_eq!(asked, 1, "the file was kept for its reader");
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("3 etiquetas impressas") && page.contains("Desfazer"), "{page}");
    assert!(page.contains("Nenhuma etiqueta a imprimir"), "{page}");
    let page = ana.get(PRINTED).expect(200).text();
    assert!(
        page.contains("Lote de 3 etiquetas<")
            && page.contains(">1 lote<")
            && page.contains("Imprimir de novo"),
        "{page}"
    );
    let again = press(&ana, &[("todos", "1")]);
    assert_eq!(again.header("location"), Some(LABELS));
    assert!(ana.get(LABELS).expect(200).text().contains("Não há etiqueta para imprimir agora"));

    // Repeated after the file is gone from memory: without what has left.
    shop.site.clock().advance_s(601);
    let file = shop.ana().get(&place).expect(200).text();
    assert!(places(&file, &ids).is_sorted(), "{file}");
    let batch = place.rsplit('/').next().unwrap();
    let undo = |actor: &Actor<'_>| actor.send(Request::new("POST", UNDO).form(&[("lote", batch)]));
    let ana = shop.ana();
    undo(&ana).expect(303);
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("3 etiquetas voltaram para A imprimir"), "{page}");
    assert!(page.contains("Imprimir as 3<"), "{page}");
    undo(&ana).expect(404);
    refused(ana.get(&place), 404);
    assert_eq!(shop.world.violations(), [] as [Value; 0]);
}

#[test]
fn batches_are_of_one_store_and_what_is_refused_stays_to_be_printed() {
    let shop = Shop::open();
    let ana = shop.ana();
    shop.world.seller(900_000_003, "OUTRA DA ANA");
    shop.world.item(900_000_003, "Caneca", 49.9);
    shop.world.link(&ana, 900_000_003);
    crate::support::sync::wait_until_read(&shop.site, &ana);
    let sold: Vec<_> = (0..3).map(|_| shop.sell(LOJA, true)).collect();
    let other = shop.sell(900_000_003, true).1;
    shop.wait_for(&ana, 3);
    wait_until_worked(&shop.world, &shop.site);
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("4 etiquetas a imprimir"), "all stores together: {page}");
    let only = ana.get(&format!("{LABELS}?conta=900000003")).expect(200).text();
    assert!(only.contains("1 etiqueta a imprimir") && !only.contains(&sold[0].1), "{only}");
    let (order, gone) = &sold[1];
    let sent = json!({ "shipping_status": "shipped", "notify": false });
    shop.world.control(&format!("/_sandbox/orders/{order}"), &sent);

    let pressed = ana.post(PRINT, &json!({ "todos": true })).ok();
    let batches = pressed["lotes"].as_array().unwrap();
    let counts: Vec<_> = batches.iter().map(|one| (&one["conta"], &one["etiquetas"])).collect();
    let own = (LOJA.to_string(), "900000003".to_owned());
    assert_eq!(counts, [(&json!(own.0), &json!(2)), (&json!(own.1), &json!(1))]);
    assert_eq!(pressed["falharam"][0]["shipment_id"], json!(gone));
    assert_eq!(
        (pressed["restam"].as_u64(), pressed["falharam"].as_array().unwrap().len()),
        (Some(0), 1)
    );
    let file = ana.get(batches[1]["arquivo"].as_str().unwrap()).expect(200).text();
    assert!(file.contains(&other) && !file.contains(&sold[0].1), "{file}");
    let page = ana.get(LABELS).expect(200).text();
    assert!(page.contains("1 etiqueta a imprimir") && page.contains("já foi enviado"), "{page}");
    assert!(page.contains(&format!("envio {gone}<")), "{page}");
    let page = ana.get(PRINTED).expect(200).text();
    assert!(
        page.contains("Lote de 2 etiquetas<") && page.contains("Lote de 1 etiqueta<"),
        "{page}"
    );
    assert!(page.contains(">Imprimir de novo<") && !page.contains("Abrir o arquivo"), "{page}");
    // One file of the press is taken back alone, then the rest of the press.
    let id = |at: usize| batches[at]["id"].as_str().unwrap();
    for (named, words) in [
        (id(1).to_owned(), "1 etiqueta voltou para A imprimir"),
        (format!("{},{}", id(0), id(1)), "2 etiquetas voltaram para A imprimir"),
    ] {
        ana.send(Request::new("POST", UNDO).form(&[("lote", &named)])).expect(303);
        let page = ana.get(LABELS).expect(200).text();
        assert!(page.contains(words), "{words}: {page}");
    }
    // The page that follows a press has the files that nobody has opened yet.
    let place = press(&ana, &[("todos", "1")]).header("location").unwrap().to_owned();
    assert_eq!(place, PRINTED);
    let told = ana.get(PRINTED).expect(200).text();
    assert_eq!(told.matches("Abrir o arquivo</a>").count(), 2, "{told}");
    let later = ana.get(PRINTED).expect(200).text();
    assert_eq!(later.matches(">Imprimir de novo</a>").count(), 2, "{later}");
}

#[test]
fn nobody_prints_undoes_or_reads_anothers_batch() {
    let shop = Shop::open();
    let (own, others) = (shop.sell(LOJA, true).1, shop.sell(OTHER, true).1);
    let (ana, rui) = (shop.ana(), shop.site.person("rui"));
    shop.wait_for(&ana, 1);
    shop.wait_for(&rui, 1);
    let foreign = format!("{OTHER}-{others}");
    assert_eq!(press(&ana, &[("ids", &foreign)]).header("location"), Some(LABELS));
    assert!(ana.get(LABELS).expect(200).text().contains("Nenhum pacote foi marcado"));
    let place = press(&ana, &[("so", &format!("{LOJA}-{own}"))]);
    let place = place.header("location").unwrap().to_owned();
    refused(rui.get(&place), 404);
    let batch = place.rsplit('/').next().unwrap();
    rui.send(Request::new("POST", UNDO).form(&[("lote", batch)])).expect(404);
    ana.get(&place).expect(200);
    assert!(!rui.get(PRINTED).expect(200).text().contains(&own));
    assert!(rui.get(LABELS).expect(200).text().contains("1 etiqueta a imprimir"));
}

#[test]
fn the_home_prints_all_parcels_in_one_press_and_compares_the_day() {
    let shop = Shop::open();
    let ana = shop.ana();
    for hour in ["08:00", "20:00"] {
        let created = format!("2026-11-19T{hour}:00-03:00");
        let yesterday = json!({ "date_created": created, "shipping": "later", "notify": true });
        shop.world.sale_with(LOJA, &yesterday);
    }
    for _ in 0..2 {
        shop.sell(LOJA, true);
    }
    shop.wait_for(&ana, 2);
    wait_until_worked(&shop.world, &shop.site);
    let home = ana.get("/painel").expect(200).text();
    assert!(home.contains("2 pacotes para enviar") && home.contains("2 vendas hoje"), "{home}");
    assert!(home.contains("ontem até 9:") && home.contains(": 1 · R$"), "{home}");
    let pressed = press(&ana, &[("todos", "1"), ("volta", "inicio")]);
    let place = pressed.header("location").unwrap();
    assert!(ana.get(place).expect(200).body.starts_with(b"%PDF-"));
    let home = ana.get("/painel").expect(200).text();
    assert!(home.contains("2 etiquetas impressas") && home.contains(UNDO), "{home}");
    assert!(home.contains("Nada espera por você") && !home.contains("para enviar<"), "{home}");
}
