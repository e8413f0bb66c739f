//! The table of addresses.

use crate::sandbox::routes::{ROUTES, find};

#[test]
fn no_row_is_hidden_by_one_before_it() {
    for route in ROUTES {
        let method = if route.method == "*" { "PUT" } else { route.method };
        let path = route.path.replace("{digits}", "1").replace('*', "rest");
        let path = path.replace(['{', '}'], "");
        let (found, _) = find(method, &path).unwrap();
        assert!(std::ptr::eq(found, route), "{method} {path}: {}", found.path);
    }
}

#[test]
fn variables_are_what_stands_in_their_place() {
    let variables = |method, path| find(method, path).map(|(_, variables)| variables);
    assert_eq!(variables("DELETE", "/users/7/applications/8"), Some(vec!["7", "8"]));
    assert_eq!(variables("GET", "/imagens/MLB1.svg"), Some(vec!["MLB1.svg"]));
    assert_eq!(variables("GET", "/orders//5/"), Some(vec!["5"]), "empty segments do not count");
    assert_eq!(variables("GET", "/123"), Some(vec!["123"]));
    assert_eq!(variables("GET", "/12a"), None);
    assert_eq!(variables("PATCH", "/orders/5"), None);
}

#[test]
fn the_document_lists_every_address() {
    let document = include_str!("../../../docs/sandbox.md");
    let (_, listed) = document.split_once("## Every address").unwrap();
    let listed = listed.split("```").nth(1).unwrap();
    let listed: Vec<&str> = listed.lines().skip(1).filter(|line| !line.is_empty()).collect();
    let rows = ROUTES.iter().map(|route| format!("{} {}", route.method, route.path));
    assert_eq!(listed, rows.collect::<Vec<_>>());
}
