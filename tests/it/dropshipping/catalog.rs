//! Products of sellers and suppliers: form, search, file, command; their stock,
//! changed by hand and by orders; and that nobody sees another's products.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

pub(super) const PATH: &str = "/painel/produtos";
const LOJA: u64 = 900_000_001;

pub(super) fn list(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

pub(super) fn skus(list: &Value) -> Vec<String> {
    let rows = list["dados"].as_array().unwrap();
    rows.iter().map(|row| row["sku"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
pub(super) fn make(actor: &Actor<'_>, path: &str, body: &Value) -> String {
    let made = actor.post(path, body).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

pub(super) fn product(actor: &Actor<'_>, id: &str) -> Value {
    list(actor, &format!("{PATH}/{id}"))
}

/// Changes of a product's stock, newest first.
fn changes(product: &Value) -> Vec<(String, i64, i64)> {
    let movements = product["movimentos"].as_array().unwrap();
    let change = |movement: &Value| {
        (
            movement["tipo"].as_str().unwrap().to_owned(),
            movement["mudanca"].as_i64().unwrap(),
            movement["saldo"].as_i64().unwrap(),
        )
    };
    movements.iter().map(change).collect()
}

#[test]
fn a_product_is_made_changed_found_and_removed() {
    let site = Site::start();
    let ana = site.person("ana");
    let body = json!({
        "titulo": "Água-de-colônia", "sku": "COL-1", "ean": "7891234567895",
        "custo": 12.5, "preco": 49.9, "estoque": 7,
    });
    let id = make(&ana, PATH, &body);
    make(&ana, PATH, &json!({ "titulo": "Zíper", "sku": "b" }));
    make(&ana, PATH, &json!({ "titulo": "abajur", "sku": "C" }));
    let all = list(&ana, PATH);
    assert_eq!((all["ok"].clone(), all["total"].clone()), (json!(true), json!(3)));
    assert_eq!(skus(&all), ["C", "COL-1", "b"], "by title, without case and accents");
    for (query, found) in [
        ("q=agua", vec!["COL-1"]),
        ("q=col-1", vec!["COL-1"]),
        ("q=4567895", vec!["COL-1"]),
        ("q=colonia+agua", vec!["COL-1"]),
        ("q=nada", vec![]),
        ("estoque=com", vec!["COL-1"]),
        ("estoque=sem", vec!["C", "b"]),
        ("ordem=-estoque&por_pagina=1", vec!["COL-1"]),
        ("ordem=sku&pagina=2&por_pagina=2", vec!["b"]),
        ("pagina=9", vec![]),
    ] {
        assert_eq!(skus(&list(&ana, &format!("{PATH}?{query}"))), found, "{query}");
    }
    site.clock().advance_s(60);
    let target = format!("{PATH}/{id}");
    ana.post(&target, &json!({ "preco": 59 })).ok();
    let stored = product(&ana, &id);
    assert_eq!(stored["preco"], json!(59));
    assert_eq!(stored["titulo"], json!("Água-de-colônia"));
    assert_eq!(stored["estoque"], json!(7));
    assert!(stored["atualizado_em"].as_str() > stored["criado_em"].as_str());
    assert_eq!(changes(&stored), [("ajuste".to_owned(), 7, 7)]);
    ana.post(&target, &json!({ "sku": "b" })).expect(422);
    ana.post(&format!("{target}/excluir"), &json!({})).ok();
    let gone = Request::new("GET", &target).header("Accept", "application/json");
    ana.send(gone).expect(404);
    assert_eq!(list(&ana, PATH)["total"], json!(2));
    let left = site.stored("SELECT CAST(count(*) AS TEXT) FROM stock_movement");
    assert_eq!(left, ["0"]);
}

#[test]
fn what_is_wrong_with_a_product_is_named_field_by_field() {
    let site = Site::start();
    let ana = site.person("ana");
    make(&ana, PATH, &json!({ "titulo": "Um", "sku": "A" }));
    let bad = json!({
        "titulo": "", "sku": "A", "ean": "12", "custo": -1, "preco": 1e9, "estoque": -1,
    });
    let reply = ana.post(PATH, &bad).expect(422).json();
    let named: Vec<&String> = reply["fields"].as_object().unwrap().keys().collect();
    assert_eq!(named, ["custo", "ean", "estoque", "preco", "sku", "titulo"]);
    let form = Request::new("POST", PATH).header("Accept", "text/html").form(&[
        ("titulo", "Dois"),
        ("sku", "A"),
        ("preco", "12,3,4"),
    ]);
    let page = ana.send(form).expect(422).text();
    for said in ["Você já tem um produto com este SKU.", "value=\"Dois\"", "value=\"12,3,4\""] {
        assert!(page.contains(said), "{said}");
    }
    assert_eq!(list(&ana, PATH)["total"], json!(1));
}

#[test]
fn stock_moves_by_hand_within_its_bounds() {
    let site = Site::start();
    let ana = site.person("ana");
    let id = make(&ana, PATH, &json!({ "titulo": "Um", "sku": "A" }));
    let target = format!("{PATH}/{id}/movimentos");
    let moved = |kind: &str, quantity: i64| {
        let body = json!({ "tipo": kind, "quantidade": quantity, "motivo": "Compra" });
        ana.post(&target, &body)
    };
    moved("entrada", 10).expect(201);
    moved("saida", 3).expect(201);
    moved("ajuste", 5).expect(201);
    moved("ajuste", 0).expect(201);
    let refused = moved("saida", 1).expect(422).json();
    assert!(refused["fields"]["quantidade"].is_string(), "{refused}");
    for (kind, quantity) in [("entrada", 0), ("saida", -1), ("ajuste", -1), ("outra", 1)] {
        moved(kind, quantity).expect(422);
    }
    moved("entrada", 10_000_000).expect(201);
    moved("entrada", 1).expect(422);
    let stored = product(&ana, &id);
    let expected = [
        ("entrada", 10_000_000, 10_000_000),
        ("ajuste", -5, 0),
        ("ajuste", -2, 5),
        ("saida", -3, 7),
        ("entrada", 10, 10),
    ];
    let expected = expected.map(|(kind, change, balance)| (kind.to_owned(), change, balance));
    assert_eq!(changes(&stored), expected);
    assert_eq!(stored["total_movimentos"], json!(5));
    let second = list(&ana, &format!("{PATH}/{id}?pagina=2&por_pagina=2"));
    assert_eq!(changes(&second), expected[2..4]);
}

#[test]
fn each_sees_and_changes_their_own_products_only() {
    let site = Site::start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let supplier = site.person_as("davi", "drop");
    let body = json!({ "titulo": "Segredo da Ana", "sku": "A", "estoque": 3 });
    let id = make(&ana, PATH, &body);
    let shelf = "/fornecedor/produtos";
    for (other, base) in [(&rui, PATH), (&supplier, shelf)] {
        // Another person may use the same SKU.
        let own = make(other, base, &json!({ "titulo": "Próprio", "sku": "A" }));
        assert_ne!(own, id);
        for address in [format!("{base}/{id}"), format!("{base}/{id}?pagina=2")] {
            let reply = other.get(&address).expect(404);
            assert!(!reply.text().contains("Segredo"), "{reply}");
        }
        for (rest, body) in [
            ("", json!({ "titulo": "Tomado" })),
            ("/excluir", json!({})),
            ("/movimentos", json!({ "tipo": "saida", "quantidade": 1 })),
        ] {
            other.post(&format!("{base}/{id}{rest}"), &body).expect(404);
        }
        for query in ["", "?q=segredo", "?estoque=com", "?formato=csv"] {
            let reply = other.get(&format!("{base}{query}")).expect(200);
            assert!(!reply.text().contains("Segredo"), "{reply}");
        }
        import(other, base, "sku,title,stock\nA,De outro,9\n").ok();
    }
    let stored = product(&ana, &id);
    assert_eq!(stored["titulo"], json!("Segredo da Ana"));
    assert_eq!(stored["estoque"], json!(3));
    site.administrator().get(PATH).expect(403);
}

pub(super) fn import(actor: &Actor<'_>, base: &str, csv: &str) -> Reply {
    let request = Request::new("POST", &format!("{base}/importar"))
        .header("Accept", "application/json")
        .body("text/csv", csv.as_bytes());
    actor.send(request)
}

#[test]
fn a_file_comes_in_whole_or_not_at_all() {
    let site = Site::start();
    let ana = site.person("ana");
    let id = make(&ana, PATH, &json!({ "titulo": "Um", "sku": "A", "preco": 10, "estoque": 4 }));
    let bad =
        "sku,ean,title,cost,price,stock\nA,,Um,1,2,9\n,,Sem,1,1,1\nB,x,Dois,1,1,1\nC,,,1,1,1\n";
    let refused = import(&ana, PATH, bad).expect(422).json();
    assert_eq!(refused["code"], json!("validation_failed"));
    let rows: Vec<i64> = refused["linhas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["linha"].as_i64().unwrap())
        .collect();
    // Errors that only the database finds are named together with the others.
    assert_eq!(rows, [3, 4, 5]);
    let named = refused["fields"]["csv"].as_str().unwrap();
    for said in ["row 3: sku", "\nrow 4: ean", "\nrow 5: title"] {
        assert!(named.contains(said), "{said}: {named}");
    }
    assert_eq!(product(&ana, &id)["estoque"], json!(4), "nothing was done");
    assert_eq!(list(&ana, PATH)["total"], json!(1));

    let good = "\u{feff}SKU;Título;Preço;Estoque\r\nA;;;9\r\nB;Dois;1.234,50;2\r\n";
    let done = import(&ana, PATH, good).ok();
    assert_eq!(done, json!({ "ok": true, "criados": 1, "alterados": 1, "sem_mudanca": 0 }));
    let stored = product(&ana, &id);
    assert_eq!((stored["titulo"].clone(), stored["preco"].clone()), (json!("Um"), json!(10)));
    let newest = changes(&stored).swap_remove(0);
    assert_eq!(newest, ("ajuste".to_owned(), 5, 9));

    let exported = ana.get(&format!("{PATH}?formato=csv")).expect(200).text();
    assert!(exported.contains("\nB,,Dois,0,1234.5,2\r\n"), "{exported}");
    let again = import(&ana, PATH, &exported).ok();
    assert_eq!(again, json!({ "ok": true, "criados": 0, "alterados": 0, "sem_mudanca": 2 }));
    for nonsense in ["", "title\nA\n", "sku,nada\nA,1\n", "sku\n", "sku,title\nE,\"Aberto\n"] {
        import(&ana, PATH, nonsense).expect(422);
    }
}

#[test]
fn a_bad_row_is_told_with_all_its_faults_in_the_words_of_the_file() {
    let site = Site::start();
    let ana = site.person("ana");
    make(&ana, PATH, &json!({ "titulo": "Um", "sku": "A" }));
    let both = "sku;Título;Preço;Estoque\nA;Um;caro;-1\nC;;10,999;1\nD;Dois;R$ 10,99;-2\n";
    let refused = import(&ana, PATH, both).expect(422).json();
    let said: Vec<&str> = refused["linhas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["motivo"].as_str().unwrap())
        .collect();
    let (amount, count) = (
        "“Preço” precisa ser um valor a partir de 0, com até duas casas, como 12,50",
        "“Estoque” precisa ser um número inteiro a partir de 0",
    );
    assert_eq!(
        said,
        [
            format!("{amount}; {count}."),
            format!("{amount}; falta “Título”, que um produto novo precisa ter."),
            format!("{count}."),
        ]
    );
}

#[test]
fn a_browser_sends_a_file_and_reads_what_is_wrong() {
    let site = Site::start();
    let ana = site.person("ana");
    let send = |csv: &str| {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"p.csv\"\r\n\
             Content-Type: text/csv\r\n\r\n{csv}\r\n--x--\r\n"
        );
        let request = Request::new("POST", &format!("{PATH}/importar"))
            .header("Accept", "text/html")
            .body("multipart/form-data; boundary=x", body.as_bytes());
        ana.send(request)
    };
    let page = send("sku,title\nA,Um\nA,Dois\n").expect(422).text();
    assert!(page.contains("“sku” já está na linha 2."), "{page}");
    for (file, said) in [
        ("", "O arquivo está vazio."),
        (
            "sku,title\nA,Um\nB,\"Dois\n",
            "As aspas que abrem na linha 3 não fecham; feche-as, ou tire-as.",
        ),
    ] {
        let page = send(file).expect(422).text();
        assert!(page.contains(said), "{page}");
        assert!(page.contains("Nada mudou nos seus produtos."), "{page}");
        assert!(!page.contains("O que você digitou"), "{page}");
    }
    let nothing = "--x\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"\"\r\n\
                   Content-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n";
    let nothing = Request::new("POST", &format!("{PATH}/importar"))
        .header("Accept", "text/html")
        .body("multipart/form-data; boundary=x", nothing.as_bytes());
    let page = ana.send(nothing).expect(422).text();
    assert!(page.contains("Escolha um arquivo CSV."), "{page}");
    let done = send("sku,title,price\nA,Um,1\nB,Dois,2\n").expect(303);
    let list = ana.get(done.header("location").unwrap()).expect(200).text();
    assert!(list.contains("2 criados, 0 alterados, 0 sem mudança."), "{list}");
}

#[test]
fn the_command_imports_for_sellers_and_suppliers() {
    let site = Site::start();
    let ana = site.person("ana");
    let davi = site.person_as("davi", "drop");
    let file = site.folder().join("produtos.csv");
    let run = |email: &str, csv: &str| {
        std::fs::write(&file, csv).unwrap();
        let arguments = ["catalog", "import", "--email", email, file.to_str().unwrap()];
        site.command(&arguments).run()
    };
    let csv = "sku;ean;title;cost;price;stock\nA;;Um;1,5;2;3\nB;;Dois;1;2;0\n";
    for email in [&ana.person().email, &davi.person().email] {
        let outcome = run(email, csv);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(outcome.stdout.trim(), "2 created, 0 changed, 0 unchanged");
    }
    until("the server sees it", crate::support::site::PROPAGATION, || {
        (list(&davi, "/fornecedor/produtos")["total"] == 2).then_some(())
    });
    let outcome = run(&ana.person().email, &format!("sku\n{}", "a\n".repeat(4_000_000)));
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("4000000 rows; at most 20000"), "{}", outcome.stderr);
    // A sparse file, which uses no space on the disk.
    std::fs::File::create(&file).unwrap().set_len((64 << 20) + 1).unwrap();
    let arguments = ["catalog", "import", "--email", &ana.person().email, file.to_str().unwrap()];
    let outcome = site.command(&arguments).run();
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("is larger than 64 MB"), "{}", outcome.stderr);
    let bad = "sku,title,price\nA,Um,1\nC,,1\n,x,y\n";
    let outcome = run(&ana.person().email, bad);
    assert_eq!(outcome.code, Some(1));
    for row in ["row 3: title", "row 4: sku"] {
        assert!(outcome.stderr.contains(row), "{}", outcome.stderr);
    }
    let outcome = run(&ana.person().email, "sku,title\nA,Outro\nC,\nD,\n");
    for row in ["row 3: title", "row 4: title"] {
        assert!(outcome.stderr.contains(row), "{}", outcome.stderr);
    }
    assert_eq!(list(&ana, PATH)["dados"][1]["titulo"], json!("Um"));
    // A row that ends early does not make a product without a price.
    let outcome = run(&ana.person().email, "sku,ean,title,cost,price,stock\nE,,Cinco\n");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("row 2: price is required"), "{}", outcome.stderr);
    for email in ["nobody@example.com", &*site.administrator().person().email] {
        assert_eq!(run(email, csv).code, Some(1), "{email}");
    }
    let noted = list(&site.administrator(), "/admin/auditoria?q=importar_produtos");
    assert_eq!(noted["total"], json!(2));
}

#[test]
fn a_new_product_needs_a_price_and_a_known_one_keeps_its_own() {
    let site = Site::start();
    let ana = site.person("ana");
    let whole = "sku,ean,title,cost,price,stock\n";
    let refused = import(&ana, PATH, &format!("{whole}A,,Um\nB,,Dois,1,,1\nC,,Três,1,x,1\n"));
    let rows = refused.expect(422).json()["linhas"].clone();
    let missing = "Falta “price”, que um produto novo precisa ter.";
    assert_eq!((&rows[0]["motivo"], &rows[1]["motivo"]), (&json!(missing), &json!(missing)));
    let wrong = rows[2]["motivo"].as_str().unwrap();
    assert!(wrong.starts_with("“price” precisa ser") && !wrong.contains(';'), "{wrong}");
    let refused = import(&ana, PATH, "sku,title\nA,Um\n").expect(422).json();
    assert_eq!(refused["linhas"][0]["motivo"], "Falta “preço”, que um produto novo precisa ter.");
    assert_eq!(list(&ana, PATH)["total"], json!(0));
    // A price is zero only when the file says so.
    import(&ana, PATH, &format!("{whole}A,,Um,1,9.5,1\nB,,Dois,1,0,1\n")).ok();
    import(&ana, PATH, &format!("{whole}A,,Outro\nB,,Dois,1,,4\n")).ok();
    let prices: Vec<Value> = list(&ana, PATH)["dados"]
        .as_array()
        .unwrap()
        .iter()
        .map(|product| product["preco"].clone())
        .collect();
    assert_eq!(prices, [json!(0), json!(9.5)]);
}

#[test]
fn a_file_in_another_encoding_is_told_how_to_be_saved() {
    let site = Site::start();
    let ana = site.person("ana");
    let file = site.folder().join("produtos.csv");
    let cells = "sku;t\u{ed}tulo;pre\u{e7}o\nA;Caf\u{e9};1\n";
    let windows: Vec<u8> = cells.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    std::fs::write(&file, &windows).unwrap();
    let arguments = ["catalog", "import", "--email", &ana.person().email, file.to_str().unwrap()];
    let said = site.command(&arguments).exits(1).stderr;
    assert!(said.contains("UTF-8") && said.contains("\"CSV UTF-8\""), "{said}");
    let sent = |path: &str, actor: &Actor<'_>| {
        let request = Request::new("POST", path).header("Accept", "application/json");
        actor.send(request.body("text/csv", &windows)).expect(422).text()
    };
    for said in [
        sent(&format!("{PATH}/importar"), &ana),
        sent("/admin/alunos/importar", &site.administrator()),
    ] {
        assert!(said.contains("CSV UTF-8"), "{said}");
    }
}

#[test]
fn ten_thousand_bad_rows_are_twenty_and_a_count() {
    let site = Site::start();
    let ana = site.person("ana");
    let file = site.folder().join("produtos.csv");
    let rows: Vec<String> = (0..10_000).map(|row| format!("S{row},Coisa,caro\n")).collect();
    std::fs::write(&file, format!("sku,title,price\n{}", rows.concat())).unwrap();
    let path = file.to_str().unwrap();
    let import = ["catalog", "import", "--email", &ana.person().email, path];
    let said = site.command(&import).exits(1).stderr;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 22, "{said}");
    assert!(lines[0].contains("10000 rows cannot be taken"), "{}", lines[0]);
    assert!(lines[1].contains("row 2: price") && lines[20].contains("row 21: price"), "{said}");
    assert!(lines[21].contains("9980 more") && lines[21].contains("--all-faults"), "{}", lines[21]);
    let all = site.command(&[&import[..], &["--all-faults"]].concat()).exits(1).stderr;
    assert_eq!(all.lines().count(), 10_001);
    assert!(all.contains("row 10001: price") && !all.contains("more;"), "the last one too");
    let page = Request::new("POST", &format!("{PATH}/importar"))
        .header("Accept", "text/html")
        .form(&[("csv", &std::fs::read_to_string(&file).unwrap())]);
    let page = ana.send(page).expect(422);
    assert!(page.body.len() < 100_000, "{} bytes", page.body.len());
    assert!(page.text().contains("10.000 linhas precisam"), "the count");
}

/// Publishes a listing with this SKU.
fn item(world: &World, sku: &str) -> String {
    let body = json!({
        "ml_user_id": LOJA, "title": format!("Coisa {sku}"), "price": 10, "stock": 100, "sku": sku,
    });
    let made = world.control("/_sandbox/items", &body);
    made["id"].as_str().unwrap().to_owned()
}

/// Waits until all notifications of the marketplace were handled.
#[track_caller]
fn settle(site: &Site, world: &World) {
    world.deliveries();
    let admin = site.administrator();
    until("the inbox is empty", Duration::from_mins(1), || {
        let waiting = list(&admin, "/admin/notificacoes?estado=pendente");
        if waiting["total"] == 0 {
            return Some(());
        }
        // A notification that failed waits for its retry.
        site.clock().advance_s(1);
        None
    });
}

/// Ana, with a shop that sells `A`, and a product of that SKU.
pub(super) struct Shop<'s> {
    pub(super) site: &'s Site,
    pub(super) world: &'s World,
    pub(super) ana: Actor<'s>,
    pub(super) product: String,
}

impl Shop<'_> {
    pub(super) fn sell(&self, item: &str, quantity: i64, status: &str) -> String {
        let body = json!({ "item": item, "quantity": quantity, "status": status });
        let order = self.world.sale_with(LOJA, &body);
        settle(self.site, self.world);
        order["id"].to_string()
    }

    /// The marketplace sends three more notifications of an order.
    pub(super) fn tell_again(&self, order: &str) {
        for _ in 0..3 {
            let resource = format!("/orders/{order}");
            let body = json!({ "ml_user_id": LOJA, "topic": "orders_v2", "resource": resource });
            self.world.control("/_sandbox/notifications", &body);
            self.site.clock().advance_s(1);
        }
        settle(self.site, self.world);
    }

    pub(super) fn becomes(&self, order: &str, status: &str) {
        self.site.clock().advance_s(2);
        let target = format!("/_sandbox/orders/{order}");
        self.world.control(&target, &json!({ "status": status }));
        settle(self.site, self.world);
    }

    pub(super) fn stock(&self) -> i64 {
        product(&self.ana, &self.product)["estoque"].as_i64().unwrap()
    }
}

/// Makes a world, a site, and a [`Shop`] whose product has ten in stock; passes
/// on the shop's listing and an order that is older than the product.
pub(super) fn with_shop(check: impl FnOnce(&Shop<'_>, &str, &str)) {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    let listing = item(&world, "A");
    let site = Site::builder().unlimited().world(&world).start();
    let ana = site.person("ana");
    let early = json!({ "item": listing, "quantity": 9, "notify": false });
    let early = world.sale_with(LOJA, &early)["id"].to_string();
    world.link(&ana, LOJA);
    site.clock().advance_s(5);
    let body = json!({ "titulo": "Um", "sku": "A", "estoque": 10 });
    let product = make(&ana, PATH, &body);
    site.clock().advance_s(5);
    let shop = Shop { site: &site, world: &world, ana, product };
    check(&shop, &listing, &early);
}

#[test]
fn stock_goes_out_with_a_paid_order_and_back_with_its_end_once() {
    with_shop(|shop, listing, early| {
        let first = shop.sell(listing, 3, "paid");
        assert_eq!(shop.stock(), 7);
        shop.tell_again(&first);
        assert_eq!(shop.stock(), 7, "told again");
        shop.sell(&item(shop.world, "Z"), 5, "paid");
        assert_eq!(shop.stock(), 7, "another SKU");
        shop.tell_again(early);
        assert_eq!(shop.stock(), 7, "older than the product's record");
        let second = shop.sell(listing, 2, "payment_required");
        assert_eq!(shop.stock(), 7, "not paid yet");
        shop.becomes(&second, "cancelled");
        assert_eq!(shop.stock(), 7, "never paid");
        shop.becomes(&first, "partially_refunded");
        assert_eq!(shop.stock(), 7, "the goods are still with the buyer");
        shop.becomes(&first, "cancelled");
        assert_eq!(shop.stock(), 10);
        shop.tell_again(&first);
        assert_eq!(shop.stock(), 10, "told again");
        shop.becomes(&first, "paid");
        assert_eq!(shop.stock(), 7, "paid again");
        shop.becomes(&first, "pending_cancel");
        assert_eq!(shop.stock(), 10, "no longer a sale");
        shop.becomes(&first, "paid");
        shop.becomes(&first, "cancelled");
        assert_eq!(shop.stock(), 10);
    });
}

#[test]
fn stock_follows_the_product_that_an_order_took() {
    with_shop(|shop, listing, _| {
        let order = shop.sell(listing, 3, "paid");
        let renamed = json!({ "titulo": "Um", "sku": "B" });
        shop.ana.post(&format!("{PATH}/{}", shop.product), &renamed).ok();
        shop.becomes(&order, "partially_refunded");
        assert_eq!(shop.stock(), 7, "its product has another SKU now");
        shop.becomes(&order, "cancelled");
        assert_eq!(shop.stock(), 10);
    });
}

#[test]
fn more_can_be_sold_than_there_is() {
    with_shop(|shop, listing, _| {
        let order = shop.sell(listing, 12, "paid");
        assert_eq!(shop.stock(), -2);
        let stored = product(&shop.ana, &shop.product);
        let newest = &stored["movimentos"][0];
        assert_eq!(newest["pedido_id"], json!(order));
        assert_eq!(newest["motivo"], json!(format!("Venda {order}")));
        assert_eq!(stored["total_movimentos"], json!(2));
        let list = shop.ana.get(PATH).expect(200).text();
        assert!(list.contains("Vendido a mais"), "{list}");
        // An exported file can be imported again, also with a stock below zero.
        let exported = shop.ana.get(&format!("{PATH}?formato=csv")).expect(200).text();
        let again = import(&shop.ana, PATH, &exported).ok();
        assert_eq!(again["sem_mudanca"], json!(1));
        // A product that is made again ignores older orders.
        let old = format!("{PATH}/{}/excluir", shop.product);
        shop.ana.post(&old, &json!({})).ok();
        let body = json!({ "titulo": "Um", "sku": "A", "estoque": 1 });
        let anew = make(&shop.ana, PATH, &body);
        shop.becomes(&order, "cancelled");
        assert_eq!(product(&shop.ana, &anew)["estoque"], json!(1));
    });
}
