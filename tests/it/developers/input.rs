//! The OpenAPI document and the server agree on every call: the server accepts
//! what the document allows, and rejects what it excludes.

use serde_json::{Value, json};

use crate::support::actors::{Actor, signed};
use crate::support::client::{Reply, Request};
use crate::support::dropshipping::relate;
use crate::support::openapi::{compile, document, follow, operations};
use crate::support::site::{CHECKOUT_TOKEN, Site};

/// Bodies of each address, right ones and wrong ones.
const BODIES: &[(&str, &[&str])] = &[
    (
        "/api/ext/auth",
        &[
            r#"{"email":"ninguem@example.com","senha":"x"}"#,
            r#"{"email":"","senha":""}"#,
            "{}",
            r#"{"email":null,"senha":"x"}"#,
            r#"{"email":"a@b.c"}"#,
            r#"{"email":"a@b.c","senha":1}"#,
            "[]",
        ],
    ),
    (
        "/api/ext/notificacoes/lidas",
        &[
            r#"{"ids":["1","000000000000000007"]}"#,
            r#"{"ids":[],"todas":null}"#,
            r#"{"ids":null,"todas":true}"#,
            r#"{"ids":[],"todas":false,"outro":1}"#,
            "{}",
            r#"{"ids":null}"#,
            r#"{"todas":false}"#,
            r#"{"ids":["um"]}"#,
            r#"{"ids":["-1"]}"#,
            r#"{"ids":["+1"]}"#,
            r#"{"ids":["1234567890123456789"]}"#,
            r#"{"ids":["x"],"todas":true}"#,
            r#"{"ids":[1]}"#,
            r#"{"todas":"true"}"#,
        ],
    ),
    (
        "/api/v1/alunos/criar",
        &[
            r#"{"nome":"Ana Lima","email":"ana@example.com"}"#,
            r#"{"nome":"\u00a0 Zé \t\n","email":"\t Ze.1+x@EXAMPLE.com\n","plano":null,"chat_number":null}"#,
            r#"{"nome":"Rui Sá","email":"rui@example.com","plano":"podio","chat_number":"5511987654321"}"#,
            r#"{"nome":"A","email":"a@example.com"}"#,
            r#"{"nome":" A ","email":"a@example.com"}"#,
            r#"{"nome":"Ana\u0007","email":"a@example.com"}"#,
            r#"{"nome":"Ana\u0085Lima","email":"a@example.com"}"#,
            r#"{"nome":"Ana Lima"}"#,
            r#"{"nome":"Ana Lima","email":"a@example"}"#,
            r#"{"nome":"Ana Lima","email":"a b@example.com"}"#,
            r#"{"nome":"Ana Lima","email":"a@example..com"}"#,
            r#"{"nome":"Ana Lima","email":"a@b@example.com"}"#,
            r#"{"nome":"Ana Lima","email":"a@example.com","plano":"admin"}"#,
            r#"{"nome":"Ana Lima","email":"a@example.com","plano":""}"#,
            r#"{"nome":"Ana Lima","email":"a@example.com","chat_number":"+5511987654321"}"#,
            r#"{"nome":"Ana Lima","email":"a@example.com","chat_number":"123456789"}"#,
            r#"{"nome":"Ana Lima","email":"a@example.com","chat_number":1234567890}"#,
        ],
    ),
    (
        "/api/v1/alunos/suspender",
        &[r#"{"email":"ninguem@example.com"}"#, "{}", r#"{"email":"ninguem"}"#, r#"{"email":7}"#],
    ),
    (
        "/api/v1/alunos/reativar",
        &[r#"{"email":" NINGUEM@example.com "}"#, "{}", r#"{"email":null}"#],
    ),
    (
        "/api/v1/partner/sandbox/events",
        &[
            r#"{"type":"order.paid"}"#,
            r#"{"type":"claim.opened","outro":1}"#,
            r#"{"type":"endpoint.test"}"#,
            r#"{"type":"drop_order.paid"}"#,
            r#"{"type":7}"#,
            "{}",
        ],
    ),
    (
        "/api/v1/partner/drop/sandbox/events",
        &[r#"{"type":"drop_order.paid"}"#, r#"{"type":"order.paid"}"#, r#"{"type":null}"#, "{}"],
    ),
    (
        "/api/v1/partner/notify",
        &[
            r#"{"channel":"email","event":"custom","title":"Oi","body":" Um\nDois\t\r\nTrês "}"#,
            r#"{"channel":"email","event":"custom","title":"\u00a0Oi ","body":"x","outro":[]}"#,
            "{}",
            r#"{"channel":"chat","event":"custom","title":"Oi","body":"x"}"#,
            r#"{"channel":"email","event":"other","title":"Oi","body":"x"}"#,
            r#"{"channel":"email","event":"custom","title":" ","body":"x"}"#,
            r#"{"channel":"email","event":"custom","title":"O\ni","body":"x"}"#,
            r#"{"channel":"email","event":"custom","title":"Oi","body":" \n "}"#,
            r#"{"channel":"email","event":"custom","title":"Oi","body":"a\u0007b"}"#,
            r#"{"channel":"email","event":"custom","title":"Oi","body":"a\rb"}"#,
            r#"{"channel":"email","event":"custom","title":"Oi","body":null}"#,
            r#"{"channel":"email","event":"custom","title":7,"body":"x"}"#,
        ],
    ),
    (
        "/api/v1/partner/webhooks",
        &[
            r#"{"url":"https://example.com/x","events":["order.paid"]}"#,
            r#"{"url":"https://example.com/y","events":["order.paid"],"outro":1}"#,
            "{}",
            r#"{"url":"https://example.com/x"}"#,
            r#"{"url":"https://example.com/x","events":[]}"#,
            r#"{"url":"https://example.com/x","events":["drop_order.paid"]}"#,
            r#"{"url":"https://example.com/x","events":"order.paid"}"#,
            r#"{"url":"","events":["order.paid"]}"#,
            r#"{"url":7,"events":["order.paid"]}"#,
        ],
    ),
    (
        "/api/v1/partner/webhooks/change",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","url":"https://example.com/x","events":["order.paid"],"enabled":false,"new_secret":true}"#,
            "{}",
            r#"{"webhook_id":"x"}"#,
            r#"{"webhook_id":"9000","enabled":"sim"}"#,
            r#"{"webhook_id":"9000","events":[]}"#,
            r#"{"webhook_id":"9000","url":""}"#,
        ],
    ),
    (
        "/api/v1/partner/webhooks/test",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","outro":1}"#,
            "{}",
            r#"{"webhook_id":"0"}"#,
            r#"{"webhook_id":null}"#,
        ],
    ),
    (
        "/api/v1/partner/webhooks/remove",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","outro":1}"#,
            "{}",
            r#"{"webhook_id":"0"}"#,
            r#"{"webhook_id":null}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/webhooks",
        &[
            r#"{"url":"https://example.com/x","events":["drop_order.paid"]}"#,
            r#"{"url":"https://example.com/y","events":["drop_order.paid"],"outro":1}"#,
            "{}",
            r#"{"url":"https://example.com/x"}"#,
            r#"{"url":"https://example.com/x","events":[]}"#,
            r#"{"url":"https://example.com/x","events":["order.paid"]}"#,
            r#"{"url":"https://example.com/x","events":"drop_order.paid"}"#,
            r#"{"url":"","events":["drop_order.paid"]}"#,
            r#"{"url":7,"events":["drop_order.paid"]}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/webhooks/change",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","url":"https://example.com/x","events":["drop_order.paid"],"enabled":false,"new_secret":true}"#,
            "{}",
            r#"{"webhook_id":"x"}"#,
            r#"{"webhook_id":"9000","enabled":"sim"}"#,
            r#"{"webhook_id":"9000","events":[]}"#,
            r#"{"webhook_id":"9000","url":""}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/webhooks/test",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","outro":1}"#,
            "{}",
            r#"{"webhook_id":"0"}"#,
            r#"{"webhook_id":null}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/webhooks/remove",
        &[
            r#"{"webhook_id":"9000"}"#,
            r#"{"webhook_id":"9000","outro":1}"#,
            "{}",
            r#"{"webhook_id":"0"}"#,
            r#"{"webhook_id":null}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/catalog/links",
        &[
            r#"{"seller_id":"7","ml_id":"MLB123","sku":" A 1 "}"#,
            r#"{"seller_id":7,"ml_id":"MLB123","product_id":9007199254740991,"outro":[]}"#,
            "{}",
            r#"{"seller_id":"7","ml_id":"MLB123"}"#,
            r#"{"seller_id":"7","ml_id":"MLB123","sku":"A","product_id":"1"}"#,
            r#"{"seller_id":"0","ml_id":"MLB123","sku":"A"}"#,
            r#"{"seller_id":7.5,"ml_id":"MLB123","sku":"A"}"#,
            r#"{"seller_id":"sete","ml_id":"MLB123","sku":"A"}"#,
            r#"{"seller_id":"7","ml_id":"mlb123","sku":"A"}"#,
            r#"{"seller_id":"7","ml_id":"MLB","sku":"A"}"#,
            r#"{"seller_id":"7","ml_id":123,"sku":"A"}"#,
            r#"{"seller_id":"7","ml_id":"MLB123","sku":" "}"#,
            r#"{"seller_id":"7","ml_id":"MLB123","sku":"A\nB"}"#,
            r#"{"seller_id":null,"ml_id":"MLB123","sku":"A"}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/catalog/links/bulk",
        &[
            r#"{"csv":"seller_id,ml_id,sku\n7,MLB123,A\n"}"#,
            r#"{"csv":"seller_id,ml_id,sku\r\n7,MLB123,A\r\n8,MLB9,B-2","outro":1}"#,
            r#"{"csv":"seller_id,ml_id,sku\n"}"#,
            r#"{"csv":"seller_id,ml_id\n7,MLB123\n"}"#,
            r#"{"csv":""}"#,
            "{}",
            r#"{"csv":null}"#,
            r#"{"csv":7}"#,
            r#"{"csv":["seller_id,ml_id,sku"]}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/catalog/links/unlink",
        &[
            r#"{"link_id":"7"}"#,
            r#"{"link_id":7,"outro":{}}"#,
            r#"{"seller_id":"7","ml_id":"MLB123"}"#,
            "{}",
            r#"{"seller_id":"7"}"#,
            r#"{"ml_id":"MLB123"}"#,
            r#"{"link_id":"-7"}"#,
            r#"{"link_id":""}"#,
            r#"{"link_id":true}"#,
            r#"{"seller_id":"7","ml_id":"123"}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/orders/remind",
        &[
            r#"{"order_id":"2000003508419013"}"#,
            r#"{"order_id":7,"outro":1}"#,
            "{}",
            r#"{"order_id":null}"#,
            r#"{"order_id":"0"}"#,
            r#"{"order_id":"+7"}"#,
            r#"{"order_id":[7]}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/orders/paid",
        &[
            r#"{"order_id":"2000003508419013"}"#,
            r#"{"order_id":"7","outro":1}"#,
            "{}",
            r#"{"order_id":"0"}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/orders/unpaid",
        &[
            r#"{"order_id":"2000003508419013"}"#,
            "{}",
            r#"{"order_id":null}"#,
            r#"{"order_id":[7]}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/orders/paid/bulk",
        &[
            r#"{"order_ids":["2000003508419013","7"]}"#,
            r#"{"order_ids":["7"],"outro":1}"#,
            "{}",
            r#"{"order_ids":[]}"#,
            r#"{"order_ids":"7"}"#,
            r#"{"order_ids":["7",""]}"#,
            r#"{"order_ids":[["7"]]}"#,
            r#"{"order_ids":null}"#,
        ],
    ),
    (
        "/api/v1/partner/drop/orders/unpaid/bulk",
        &[
            r#"{"order_ids":["2000003508419013","7"]}"#,
            r#"{"batch_id":"5501938274650192837"}"#,
            r#"{"batch_id":"9999999999999999999","outro":1}"#,
            "{}",
            r#"{"order_ids":[]}"#,
            r#"{"order_ids":["7"],"batch_id":"7"}"#,
            r#"{"batch_id":""}"#,
            r#"{"batch_id":"-7"}"#,
            r#"{"batch_id":7}"#,
            r#"{"batch_id":"12345678901234567890"}"#,
        ],
    ),
    (
        "/api/v1/partner/stock/set",
        &[
            r#"{"sku":"GAR-1","balance":0}"#,
            r#"{"product_id":"7","balance":10000000,"reason":" Contagem "}"#,
            r#"{"sku":"GAR-1","balance":-1}"#,
            r#"{"sku":"GAR-1","balance":10000001}"#,
            r#"{"sku":"GAR-1","product_id":"7","balance":1}"#,
            r#"{"balance":1}"#,
            r#"{"sku":"GAR-1"}"#,
            r#"{"sku":"GAR-1","balance":"1"}"#,
        ],
    ),
    (
        "/api/v1/partner/stock/adjust",
        &[
            r#"{"sku":"GAR-1","quantity":-10000000}"#,
            r#"{"product_id":7,"quantity":3,"reason":"Entrega"}"#,
            r#"{"sku":"GAR-1","quantity":0}"#,
            r#"{"sku":"GAR-1","quantity":1.5}"#,
            r#"{"quantity":1}"#,
            r#"{"sku":"GAR-1","quantity":10000001}"#,
        ],
    ),
    (
        "/api/v1/partner/products/price",
        &[
            r#"{"sku":"GAR-1","price":94.9}"#,
            r#"{"product_id":"7","cost":0}"#,
            r#"{"sku":"GAR-1","price":10000000,"cost":1.01}"#,
            r#"{"sku":"GAR-1"}"#,
            r#"{"product_id":"7"}"#,
            r#"{"price":1}"#,
            r#"{"sku":"GAR-1","price":-0.01}"#,
            r#"{"sku":"GAR-1","price":10000001}"#,
            r#"{"sku":"GAR-1","price":"94.90"}"#,
            r#"{"sku":"GAR-1","product_id":"7","price":1}"#,
        ],
    ),
    (
        "/api/v1/partner/questions/answer",
        &[
            r#"{"question_id":"13203204611","text":"Tem sim.\nDuas cores."}"#,
            r#"{"question_id":"13203204611","text":" \n"}"#,
            r#"{"question_id":"13203204611"}"#,
            r#"{"question_id":"x","text":"Tem sim."}"#,
            r#"{"text":"Tem sim."}"#,
        ],
    ),
    (
        "/api/v1/partner/labels/printed",
        &[
            r#"{"order_ids":["2000003508419013","7"]}"#,
            r#"{"order_ids":[]}"#,
            r#"{"order_ids":["x"]}"#,
            "{}",
        ],
    ),
    ("/api/v1/partner/drop/orders/remind-all", &["{}", r#"{"outro":1}"#, "[]", "7", "null"]),
    (
        "/api/v1/webhook/llm",
        &[
            r#"{"action":"get_planos"}"#,
            r#"{"action":"get_contexto","outro":[]}"#,
            "{}",
            r#"{"action":"get_tudo"}"#,
            r#"{"action":null}"#,
        ],
    ),
    (
        "/api/v1/webhook/checkout",
        &[
            r#"{"event":0}"#,
            r#"{"event":"CLUB_FIRST_ACCESS","data":7,"id":[],"creation_date":{}}"#,
            r#"{"event":"","data":{"purchase":{"status":"STARTED"}}}"#,
            r#"{"data":{"purchase":{"status":7.5}}}"#,
            r#"{"status":"started"}"#,
            r#"{"status":12}"#,
            "{}",
            r#"{"event":" \u2003"}"#,
            r#"{"event":true}"#,
            r#"{"event":null,"status":"started"}"#,
            r#"{"data":{},"status":"started"}"#,
            r#"{"data":{"purchase":{"status":[]}}}"#,
            r#"{"data":[]}"#,
        ],
    ),
    (
        "/ml/notificacoes",
        &[
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":777}"#,
            r#"{"resource":" orders/2 ","topic":"t","user_id":" 0777 ","sent":[],"application_id":{}}"#,
            r#"{"resource":"/orders/3","topic":"orders_v2","user_id":777.0}"#,
            r#"{"resource":"/orders/4","topic":"orders_v2","user_id":9223372036854775807}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2"}"#,
            r#"{"resource":"","topic":"orders_v2","user_id":777}"#,
            r#"{"resource":null,"topic":"orders_v2","user_id":777}"#,
            r#"{"resource":"/orders/1","topic":"a\u0000","user_id":777}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":0}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":7.5}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":9223372036854775808}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":"+7"}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":"1234567890123456789"}"#,
            r#"["/orders/1","orders_v2",777,null,null]"#,
        ],
    ),
];

/// Queries of each address, right ones and wrong ones.
const QUERIES: &[(&str, &[&str])] = &[
    (
        "/api/ext/ml/check",
        &[
            "seller_id=777",
            "seller_id=99999999999999999999999999",
            "nickname=LOJA",
            "seller_id=&nickname=LOJA",
            "seller_id=7&nickname=",
            "seller_id=7&outro=1",
            "",
            "seller_id=",
            "nickname=",
            "seller_id=&nickname=",
            "seller_id=7a",
            "seller_id=-7&nickname=LOJA",
            "outro=1",
        ],
    ),
    ("/api/v1/partner/stores", &["", "limit=1&offset=0", "limit=0", "limit=201"]),
    (
        "/api/v1/partner/products",
        &["", "q=a&sku=b", "sku=&q=a", "q=", "limit=x", "offset=-1", "offset=1000000001"],
    ),
    (
        "/api/v1/partner/announcements",
        &["", "status=active&store=7&sku=a&q=b", "status=", "status=activ", "store=0", "store=x"],
    ),
    (
        "/api/v1/partner/stock",
        &["", "movements=0", "movements=100&limit=200", "movements=101", "movements=-1"],
    ),
    (
        "/api/v1/partner/drop/orders",
        &[
            "",
            "status=overdue&seller_id=7&limit=1",
            "status=open&from=2026-02-28&to=2026-03-01",
            "from=2026-02-29",
            "to=ontem",
            "status=late",
            "seller_id=0",
            "seller_id=x",
            "limit=201",
        ],
    ),
    (
        "/api/v1/partner/drop/catalog/products",
        &["", "q=a&sku=b&limit=200", "q=", "limit=0", "offset=-1"],
    ),
    (
        "/api/v1/partner/drop/orders/totals",
        &["", "seller_id=7&from=2026-02-28&to=2026-03-01", "from=2026-02-29", "seller_id=x"],
    ),
    (
        "/api/v1/partner/drop/catalog/links",
        &["", "seller_id=7&ml_id=MLB1&sku=a&q=b", "ml_id=1", "sku=", "q=", "seller_id=0"],
    ),
    ("/api/v1/partner/drop/catalog/audit", &["", "seller_id=7", "seller_id=0", "seller_id=x"]),
    ("/api/v1/partner/notifications", &["", "limit=200", "limit=201"]),
    (
        "/api/v1/partner/questions",
        &[
            "",
            "status=unanswered&since=2026-11-20T08:41:27",
            "status=open",
            "since=ontem",
            "store=0",
        ],
    ),
    ("/api/v1/partner/claims", &["", "status=closed&limit=1", "status=open", "store=x"]),
    (
        "/api/v1/partner/orders",
        &[
            "",
            "status=paid&limit=1&offset=0",
            "limit=200&offset=1000000000&from=2026-02-28&to=0001-01-01",
            "ml_id=MLB123",
            "ml_id=A999999999999999999",
            "status=",
            "status=done",
            "store=0",
            "store=9223372036854775808",
            "store=loja",
            "from=2026-02-29",
            "from=2026-2-1",
            "to=ontem",
            "ml_id=123",
            "ml_id=MLB",
            "ml_id=mlb1",
            "ml_id=MLB1234567890123456789",
            "limit=0",
            "limit=201",
            "offset=-1",
            "offset=1000000001",
        ],
    ),
];

/// A supplier's program, with a seller for whom it may ask.
fn related(site: &Site) -> Actor<'_> {
    let supplier = site.supplier("sol").plan("scale");
    relate(site, &supplier, &site.person("rui"));
    supplier
}

/// Whether the form of a call was accepted.
#[track_caller]
fn is_taken(reply: &Reply) -> bool {
    let refused = [400, 415, 422].contains(&reply.status);
    assert!(refused || [200, 201, 401, 404, 409].contains(&reply.status), "{reply}");
    !refused
}

#[test]
fn bodies_are_taken_as_described() {
    let site = Site::builder().unlimited().config("email.smtp_url", "smtp://127.0.0.1:9").start();
    let document = document();
    let partner = site.seller("rui").plan("scale");
    let supplier = related(&site);
    let (extension, key) = (site.extension("ana"), site.key(&["admin"]));
    let tester = |actor: &Actor<'_>| {
        let arguments = ["partner", "token", "--test", "--email", &actor.person().email];
        let token = site.command(&arguments).ok().trim().to_owned();
        site.keep_secret("test token", &token);
        token
    };
    let (tester, drop_tester) = (tester(&partner), tester(&supplier));
    for (path, bodies) in BODIES {
        let operation = &document["paths"][*path]["post"];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let validator = compile(&document, body);
        let mut verdicts = [false; 2];
        for body in *bodies {
            let sent: Value = serde_json::from_str(body).unwrap();
            let request = Request::new("POST", path).body("application/json", body.as_bytes());
            let reply = match *path {
                "/api/ext/auth" => site.anonymous().send(request),
                "/ml/notificacoes" => {
                    let about = sent["resource"].as_str().unwrap_or_default().trim();
                    site.anonymous().send(signed(request, about, "openapi", 1))
                }
                "/api/v1/webhook/checkout" => {
                    site.anonymous().send(request.header("X-HOTMART-HOTTOK", CHECKOUT_TOKEN))
                }
                _ if path.starts_with("/api/ext/") => extension.send(request),
                _ if path.contains("/drop/sandbox/") => site.bearer(&drop_tester).send(request),
                _ if path.contains("/sandbox/") => site.bearer(&tester).send(request),
                _ if path.contains("/drop/") => {
                    // The window in which all sellers are reminded once.
                    site.clock().advance_s(300);
                    supplier.send(request)
                }
                _ if path.contains("/partner/") => partner.send(request),
                _ => key.send(request),
            };
            let is_partner = path.contains("/partner/");
            let described = validator.is_valid(&if is_partner { ids_as_text(sent) } else { sent });
            assert_eq!(
                is_taken(&reply),
                described,
                "{path} {body}: described {described}\n{reply}"
            );
            verdicts[usize::from(described)] = true;
        }
        assert_eq!(verdicts, [true; 2], "{path}: bodies of both kinds");
    }
}

/// A body with its ids as text: the document describes them so, and says in words that a
/// number is taken as well.
fn ids_as_text(mut sent: Value) -> Value {
    const MOST_EXACT: f64 = 9_007_199_254_740_991.0;
    for (name, value) in sent.as_object_mut().into_iter().flatten() {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number <= MOST_EXACT);
        if let Some(number) =
            number.filter(|_| name.ends_with("_id") && !["ml_id", "batch_id"].contains(&&**name))
        {
            *value = json!(format!("{number}"));
        }
    }
    sent
}

#[test]
fn every_body_has_a_sample() {
    let document = document();
    let with_body = operations(&document).into_iter().filter(|(_, _, operation)| {
        // Its body only needs an integer; `update.rs` has its tests.
        !operation["requestBody"].is_null() && operation["operationId"] != "post_webhook_telegram"
    });
    for (path, _, operation) in with_body {
        assert!(BODIES.iter().any(|(known, _)| *known == path), "{path}");
        assert_eq!(operation["requestBody"]["required"], true, "{path}");
    }
}

#[test]
fn queries_are_taken_as_described() {
    let site = Site::builder().unlimited().start();
    let document = document();
    let (extension, seller) = (site.extension("ana"), site.seller("rui").plan("scale"));
    let supplier = related(&site);
    for (path, queries) in QUERIES {
        let operation = &document["paths"][*path]["get"];
        let schema = query_schema(&document, operation);
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap();
        let mut verdicts = [false; 2];
        for query in *queries {
            let actor: &Actor<'_> = match *path {
                _ if path.contains("/drop/") => &supplier,
                _ if path.contains("/partner/") => &seller,
                _ => &extension,
            };
            let reply = actor.get(&format!("{path}?{query}"));
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let sent: Value =
                pairs.map(|(name, value)| (name.to_owned(), typed(&schema, name, value))).collect();
            let described = validator.is_valid(&sent);
            assert_eq!(is_taken(&reply), described, "{path} {query}\n{reply}");
            verdicts[usize::from(described)] = true;
        }
        assert_eq!(verdicts, [true; 2], "{path}: queries of both kinds");
    }
}

/// The parameters of a query as the fields of one object.
fn query_schema(document: &Value, operation: &Value) -> Value {
    let parameters = operation["parameters"].as_array().unwrap();
    let parameters = parameters.iter().map(|parameter| follow(document, parameter));
    let of_query: Vec<&Value> = parameters.filter(|one| one["in"] == "query").collect();
    if let [whole] = of_query[..]
        && whole["schema"]["type"] == "object"
    {
        assert_eq!((&whole["style"], &whole["explode"]), (&json!("form"), &json!(true)));
        return whole["schema"].clone();
    }
    let properties: Value = of_query
        .into_iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), one["schema"].clone()))
        .collect();
    json!({ "type": "object", "properties": properties })
}

/// A parameter's text as the value that it stands for.
fn typed(schema: &Value, name: &str, text: &str) -> Value {
    match schema["properties"][name]["type"].as_str() {
        Some("integer") => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

#[test]
fn forms_of_the_checkout_are_taken_as_described() {
    let site = Site::builder().unlimited().start();
    let document = document();
    let content = &document["paths"]["/api/v1/webhook/checkout"]["post"]["requestBody"]["content"];
    let schema = &content["application/x-www-form-urlencoded"]["schema"];
    let validator = compile(&document, schema);
    for (name, text) in [("status", "started"), ("event", "0"), ("event", " "), ("prod", "1")] {
        let request = Request::new("POST", "/api/v1/webhook/checkout")
            .header("X-HOTMART-HOTTOK", CHECKOUT_TOKEN)
            .form(&[(name, text)]);
        let reply = site.anonymous().send(request);
        assert_eq!(is_taken(&reply), validator.is_valid(&json!({ name: text })), "{name}={text}");
    }
}
