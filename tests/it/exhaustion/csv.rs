//! Lists that are made to be expensive: millions of rows, cells and quotes in
//! eight megabytes.

use serde_json::json;

use super::{besieged, narrow};
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

const PRODUCTS: &str = "/painel/produtos/importar";
const STUDENTS: &str = "/admin/alunos/importar";
/// Largest file.
const MOST: usize = 8 * 1024 * 1024;

/// A file of `bytes` bytes that begins with `head` and is filled up with `piece`.
fn filled(bytes: usize, head: &str, piece: &str, tail: &str) -> String {
    let count = (bytes - head.len() - tail.len()) / piece.len();
    format!("{head}{}{tail}", piece.repeat(count))
}

fn send(actor: &Actor<'_>, path: &str, file: &str) -> Reply {
    let request = Request::new("POST", path).header("Accept", "application/json");
    actor.send(request.body("text/csv", file.as_bytes()))
}

/// Sends a file as a browser's form does.
fn upload(actor: &Actor<'_>, path: &str, file: &str) -> Reply {
    let body = format!(
        "--limite\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"a.csv\"\r\n\r\n{file}\r\n--limite--\r\n"
    );
    let request = Request::new("POST", path).header("Accept", "application/json");
    actor.send(request.body("multipart/form-data; boundary=limite", body.as_bytes()))
}

#[test]
fn four_million_short_lines_are_counted_and_not_kept() {
    let site = narrow(Site::builder().unlimited());
    let (ana, eve, admin) = (site.person("ana"), site.person("eve"), site.administrator());
    let products = filled(MOST, "sku\n", "a\n", "");
    let students = filled(MOST, "nome,email,plano\n", "a\n", "");
    let (form, text) =
        (filled(MOST - 1024, "sku\n", "a\n", ""), filled(MOST / 2, "sku\n", "a\n", ""));
    besieged(&site, &ana, "/painel", || {
        let refused = send(&eve, PRODUCTS, &products).expect(422).text();
        assert!(refused.contains("4194302 rows; at most 20000"), "{refused}");
        let refused = upload(&eve, PRODUCTS, &form).expect(422).text();
        assert!(refused.contains("at most 20000"), "{refused}");
        let refused = send(&admin, STUDENTS, &students).expect(422).text();
        assert!(
            refused.contains("4.194.295 linhas; divida-o em partes de até 20.000"),
            "{refused}"
        );
        eve.post(PRODUCTS, &json!({ "csv": text })).expect(422);
    });
}

#[test]
fn a_list_of_any_shape_costs_little() {
    let site = narrow(Site::builder().unlimited());
    let (ana, eve, admin) = (site.person("ana"), site.person("eve"), site.administrator());
    besieged(&site, &ana, "/painel", || {
        for (head, piece, tail, said) in [
            ("sku\n", "\n", "", "no row besides the header"),
            ("", "\r\n", "", "the file is empty"),
            ("sku,title\n", ",\n", "", "no row besides the header"),
            ("sku\nA", ",", "", "row 2: has more cells than the header row"),
            ("sku\n", ",", "A", "row 2: sku must have 1 to 80 characters"),
            ("sku\n", ",", "", "no row besides the header"),
            ("", ",", "\n", "more than 16384 columns"),
            ("", "sku,", "\nA\n", "more than 16384 columns"),
            ("sku\n", "a", "", "row 2: sku must have 1 to 80 characters"),
            ("sku\n\"", "\"\"", "\"", "row 2: sku must have 1 to 80 characters"),
            ("sku\n\"", "a\n", "", "a quote that opens in row 2 is never closed"),
            ("sku\n", "\"\"\n", "", "no row besides the header"),
            ("sku\n'", "'=;", "", "row 2: "),
        ] {
            let file = filled(MOST / 4, head, piece, tail);
            let refused = send(&eve, PRODUCTS, &file).expect(422).text();
            assert!(refused.contains(said), "{head:?} {piece:?}: {refused}");
        }
        for (head, piece, tail, said) in [
            ("nome,email,plano\n", ",,\n", "", "nenhuma linha além do cabeçalho"),
            ("nome,email,plano\n\"", "a\n", "", "as aspas que abrem na linha 2 não fecham"),
            ("", ",", "\n", "mais de 16.384 colunas"),
        ] {
            let refused =
                send(&admin, STUDENTS, &filled(MOST / 4, head, piece, tail)).expect(422).text();
            assert!(refused.contains(said), "{head:?} {piece:?}: {refused}");
        }
    });
}

/// As many rows as are accepted, with errors in all of them.
#[test]
fn a_list_of_bad_rows_alone_is_reported_in_little() {
    let site = narrow(Site::builder().unlimited());
    let (ana, eve, admin) = (site.person("ana"), site.person("eve"), site.administrator());
    let rows = |row: String| row.repeat(20_000);
    let products = format!(
        "sku,ean,title,cost,price,stock\n{}",
        rows(format!(",x,{},x,x,x,x\n", "t".repeat(380)))
    );
    // Each byte of these becomes two or six in JSON.
    let students = ["\\", "\u{1}"].map(|letter| {
        format!(
            "nome,email,plano\n{}",
            rows(format!("{},{}\n", letter.repeat(200), letter.repeat(200)))
        )
    });
    besieged(&site, &ana, "/painel", || {
        let refused = send(&eve, PRODUCTS, &products).expect(422);
        assert!(refused.body.len() < 1024 * 1024, "{} bytes", refused.body.len());
        let told = refused.json();
        assert_eq!(told["linhas"].as_array().unwrap().len(), 1_000);
        assert!(told["message"].as_str().unwrap().starts_with("20000 rows"), "{}", told["message"]);
        for list in &students {
            let import = send(&admin, STUDENTS, list).expect(201).json();
            assert_eq!(import["erros"], 20_000);
            let id = import["id"].as_str().unwrap();
            let report = admin.get(&format!("{STUDENTS}/{id}?por_pagina=1")).expect(200);
            assert!(report.body.len() < 64 * 1024, "{} bytes", report.body.len());
        }
    });
    // A value that the report shortens is used in full.
    let long = format!("nome,email,plano\n{},a@x.com,pro\n", "Ana ".repeat(29));
    assert_eq!(send(&admin, STUDENTS, &long).expect(201).json()["criar"], 1);
}
