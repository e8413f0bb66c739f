//! Listings whose price the marketplace leaves out, and scans that take no limit.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::shops::{LISTINGS, listed};
use crate::support::sync::{PATIENCE, joined, mirrored, run_after, shop, wait_until_read};
use crate::support::wait::until;
use crate::support::world::LOJA;

/// After this long listings are read again.
const NEXT_S: i64 = 7 * 3_600;

fn first(ana: &Actor<'_>) -> Value {
    listed(ana, LISTINGS, 1).remove(0)
}

#[test]
fn a_price_that_listings_leave_out_is_asked_for() {
    let world = shop();
    world.configure(&json!({ "hides_prices": true }));
    let site = mirrored(&world);
    let ana = site.person("ana");
    let row = first(&ana);
    assert_eq!(row["preco"], json!(89.9));
    let item = row["id"].as_str().unwrap().to_owned();
    let asked = || {
        let path = format!("/items/{item}/sale_price");
        world.requests().iter().filter(|call| call["path"] == *path).count()
    };
    assert_eq!(asked(), 1);
    // While nothing of the listing changed, the next reading does not ask again.
    run_after(&site, NEXT_S);
    wait_until_read(&site, &ana);
    assert_eq!((asked(), &first(&ana)["preco"]), (1, &json!(89.9)));
    // What a notification brings is asked for at once.
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "price": 95 }));
    until("the new price is there", PATIENCE, || {
        // A call that failed is made again.
        site.clock().advance_s(1);
        (first(&ana)["preco"] == json!(95)).then_some(())
    });
    world.no_violations();
}

#[test]
fn a_listing_without_a_price_is_shown_as_one_everywhere() {
    let world = shop();
    world.configure(&json!({ "hides_prices": true }));
    let none = json!({ "path_prefix": "/items/MLB", "method": "GET", "times": 0, "kind": "status", "code": 404 });
    world.fault(&none);
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let row = first(&ana);
    assert_eq!((&row["preco"], &row["disponivel"]), (&Value::Null, &json!(100)));
    let item = row["id"].as_str().unwrap().to_owned();
    let list = ana.get(LISTINGS).expect(200).text();
    assert!(list.contains(">sem preço</td>"), "{list}");
    assert!(list.contains("disponíveis · 1 sem preço") && !list.contains("R$ 0,00"), "{list}");
    ana.get(&format!("{LISTINGS}?ordem=preco")).expect(200);
    let csv = ana.get(&format!("{LISTINGS}?formato=csv")).expect(200).text();
    let line = csv.lines().nth(1).unwrap();
    assert!(line.contains(&item) && !line.contains("0,00"), "{csv}");
    let page = ana.get(&format!("{LISTINGS}/{item}")).expect(200).text();
    assert!(page.contains("sem preço") && !page.contains("R$ 0,00</strong>"), "{page}");
    // A new product of it waits for its price, and the calculator takes another.
    let form = ana.get(&format!("/painel/produtos/novo?anuncio={item}")).expect(200).text();
    assert!(!form.contains("value=\"0,00\""), "{form}");
    ana.get(&format!("/painel/ml/calculadora?anuncio={item}")).expect(200);
    ana.get("/painel/ml/calculadora?busca=garrafa").expect(303);
    world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA, "text": "Tem azul?" }));
    let queue = until("the question waits", PATIENCE, || {
        let page = ana.get("/painel/perguntas").expect(200).text();
        page.contains("Tem azul?").then_some(page)
    });
    assert!(queue.contains("sem preço") && queue.contains("data-preco=\"\""), "{queue}");
    let seller = site.seller("ana").plan("starter");
    let told = seller.send(Request::new("GET", "/api/v1/partner/announcements")).ok();
    let told = &told["data"][0];
    assert_eq!((&told["ml_id"], &told["price"]), (&json!(item), &Value::Null));
    assert_eq!(json_of(&ana, &format!("{LISTINGS}/{item}"))["preco"], Value::Null);
}

#[test]
fn a_scan_that_takes_no_limit_goes_on_without_one() {
    let world = shop();
    for number in 0..120 {
        world.item(LOJA, &format!("Peça {number}"), 10.0);
    }
    world.configure(&json!({ "scan_refuses_limit": true }));
    let site = mirrored(&world);
    assert_eq!(site.stored("SELECT count(*) || '' FROM listing"), ["121"]);
}
