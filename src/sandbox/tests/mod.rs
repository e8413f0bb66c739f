//! The sandbox over real loopback HTTP, as the platform uses it.

mod aside;
mod chat;
mod circle;
mod cut;
mod deliver;
mod oauth;
mod parcels;
mod resources;
mod routes;
mod telegram;
mod witness;

use serde_json::{Value, json};

use super::{CLIENT_ID, CLIENT_SECRET, Options, Running, http, seed_demo, start};
use crate::base::{Instant, Secret};
use crate::fixture::{NOW, TestDir};

const RETURN: &str = "http://127.0.0.1:9/painel/ml/retorno";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters-x";

/// A sandbox with one seller and a clock that the test sets.
struct Site {
    running: Running,
    agent: ureq::Agent,
    dir: TestDir,
    seller: i64,
    item: String,
}

struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    text: String,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }
}

impl Site {
    fn start() -> Self {
        let dir = TestDir::new();
        dir.now_is(NOW.plus(1_800));
        let running = start(Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            clock: dir.clock(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Secret::new(CLIENT_SECRET),
            redirect_uris: vec![RETURN.to_owned()],
            notify_url: None,
        })
        .unwrap();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(std::time::Duration::from_secs(20)))
            .build()
            .into();
        let mut site = Self { running, agent, dir, seller: 777, item: String::new() };
        site.control("sellers", &json!({ "nickname": "LOJA_X", "ml_user_id": 777 }));
        let item = json!({ "ml_user_id": 777, "title": "Cabo", "price": 59.9, "sku": "CAB-1" });
        site.item = site.control("items", &item)["id"].as_str().unwrap().to_owned();
        site
    }

    /// The same, with an access token of the seller.
    fn linked() -> (Self, String) {
        let site = Self::start();
        let (token, _) = site.connect(777);
        (site, token)
    }

    fn set_clock(&self, now: &str) {
        self.dir.now_is(Instant::parse(now).unwrap());
    }

    #[track_caller]
    fn control(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}/_sandbox/{path}", self.running.url());
        let mut answer = self.agent.post(url).send(body.to_string()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    fn get_as(&self, path: &str, token: &str) -> Result<Answer, ureq::Error> {
        let url = format!("{}{path}", self.running.url());
        let mut answer = self
            .agent
            .get(url)
            .header("authorization", format!("Bearer {token}"))
            .header("x-format-new", "true")
            .call()?;
        Ok(Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: String::from_utf8_lossy(&answer.body_mut().read_to_vec()?).into_owned(),
        })
    }

    #[track_caller]
    fn get(&self, path: &str, token: &str) -> Answer {
        self.get_as(path, token).unwrap()
    }

    fn token(&self, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("client_id", CLIENT_ID), ("client_secret", CLIENT_SECRET)])
            .extend_pairs(fields)
            .finish();
        let mut answer = self
            .agent
            .post(format!("{}/oauth/token", self.running.url()))
            .header("content-type", "application/x-www-form-urlencoded")
            .send(form)
            .unwrap();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: answer.body_mut().read_to_string().unwrap(),
        }
    }

    /// A code for the seller, through the control for the consent page.
    fn code(&self, seller: i64) -> String {
        let body = json!({ "ml_user_id": seller, "query": authorization_query(RETURN, "S256") });
        let location = self.control("authorize", &body)["location"].clone();
        let location = location.as_str().unwrap();
        let query = location.strip_prefix(RETURN).unwrap();
        let pairs = http::pairs(query.trim_start_matches('?').as_bytes());
        assert_eq!(http::first(&pairs, "state"), Some("st&te"));
        http::first(&pairs, "code").unwrap().to_owned()
    }

    fn redeem(&self, code: &str, verifier: &str) -> Answer {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", RETURN),
            ("code_verifier", verifier),
        ])
    }

    fn refresh(&self, token: &str) -> Answer {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// An access and a refresh token.
    #[track_caller]
    fn connect(&self, seller: i64) -> (String, String) {
        let pair = self.redeem(&self.code(seller), VERIFIER).json();
        assert_eq!(pair["user_id"], seller);
        let text = |name: &str| pair[name].as_str().unwrap().to_owned();
        (text("access_token"), text("refresh_token"))
    }

    fn log(&self, name: &str) -> Value {
        self.get(&format!("/_sandbox/{name}"), "").json()
    }

    fn sell(&self, more: &Value) -> i64 {
        let mut sale = json!({ "ml_user_id": self.seller, "item": self.item });
        for (name, value) in more.as_object().unwrap() {
            sale[name] = value.clone();
        }
        self.control("sales", &sale)["order"]["id"].as_i64().unwrap()
    }
}

fn authorization_query(redirect: &str, method: &str) -> String {
    form_urlencoded::Serializer::new(String::new())
        .append_pair("response_type", "code")
        .append_pair("client_id", CLIENT_ID)
        .append_pair("redirect_uri", redirect)
        .append_pair("state", "st&te")
        .append_pair("code_challenge", &super::oauth::challenge_of(VERIFIER))
        .append_pair("code_challenge_method", method)
        .finish()
}

#[test]
fn an_order_has_the_documented_shape() {
    let (site, token) = Site::linked();
    let id = site.sell(&json!({ "quantity": 2, "shipping": "later" }));
    let order = site.get(&format!("/orders/{id}"), &token).json();
    assert_eq!(order["total_amount"], 119.8);
    assert_eq!(order["date_created"], "2026-11-20T08:30:00.000-04:00");
    assert_eq!(order["order_items"][0]["item"]["seller_sku"], "CAB-1");
    assert_eq!(order["order_items"][0]["sale_fee"], 7.18);
    assert_eq!(order["seller"]["id"], 777);
    assert_eq!(order["shipping"], json!({ "id": null }));
    assert!(order["buyer"]["id"].is_i64() && order["buyer"].get("nickname").is_none());

    site.control(&format!("orders/{id}"), &json!({ "shipping_status": "shipped" }));
    let order = site.get(&format!("/orders/{id}"), &token).json();
    let shipment = order["shipping"]["id"].as_i64().unwrap();
    let shipment = site.get(&format!("/shipments/{shipment}"), &token).json();
    assert_eq!(shipment["status"], "shipped");
    assert_eq!(shipment["logistic"]["type"], "drop_off");

    site.control("config", &json!({ "partial_orders": true }));
    let partial = site.get(&format!("/orders/{id}"), &token);
    assert_eq!(partial.status, 206);
    assert_eq!(partial.headers["x-content-missing"], "buyer, feedback");
    assert!(partial.json().get("buyer").is_none());
}

#[test]
fn a_search_hides_cancelled_orders_and_drops_minutes() {
    let (site, token) = Site::linked();
    let kept = site.sell(&json!({}));
    let gone = site.sell(&json!({}));
    site.control(&format!("orders/{gone}"), &json!({ "status": "cancelled" }));
    let ids = |query: &str| -> Vec<i64> {
        let page = site.get(&format!("/orders/search?seller=777{query}"), &token);
        assert_eq!(page.status, 200, "{}", page.text);
        let results = page.json()["results"].as_array().unwrap().clone();
        results.iter().map(|order| order["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(""), [kept]);
    assert_eq!(ids("&order.status=cancelled"), [gone]);
    assert_eq!(ids("&order.status=paid,cancelled&sort=date_desc"), [gone, kept]);
    assert_eq!(ids("&order.status=paid,cancelled&limit=1&offset=1"), [gone]);
    // The sales were at 12:30. Minutes are dropped, so 12:59 counts as 12:00.
    assert!(ids("&order.date_created.to=2026-11-20T12:59:00Z").is_empty());
    assert_eq!(ids("&order.date_created.to=2026-11-20T13:00:00Z"), [kept]);
    assert_eq!(ids("&order.date_created.from=2026-11-20T12:59:00Z"), [kept]);
    assert!(ids("&order.date_last_updated.from=2026-11-20T09:00:00.000-04:00").is_empty());
    assert_eq!(ids("&order.last_updated.from=2026-11-20T14:00:00Z"), [kept]);
    assert_eq!(site.get("/orders/search?seller=777&limit=51", &token).status, 400);
    assert_eq!(site.get("/orders/search?seller=778", &token).status, 403);
}

#[test]
fn sellers_see_their_own_things_only() {
    let site = Site::start();
    site.control("sellers", &json!({ "nickname": "OUTRA", "ml_user_id": 888 }));
    let id = site.sell(&json!({}));
    let (token, _) = site.connect(888);
    assert_eq!(site.get(&format!("/orders/{id}"), &token).status, 403);
    assert_eq!(site.get("/users/777/items/search", &token).status, 403);
    let item = site.get(&format!("/items/{}", site.item), &token).json();
    assert!(item.get("available_quantity").is_none());
    let public = site.get("/users/777", &token).json();
    assert_eq!(public["seller_reputation"]["level_id"], "5_green");
    assert!(public.get("email").is_none());
    let many = site.get(&format!("/items/bulk?ids={},MLB1", site.item), &token).json();
    assert_eq!((&many[0]["status_code"], &many[1]["status_code"]), (&json!(403), &json!(404)));
}

#[test]
fn listings_are_counted_paged_and_scanned() {
    let (site, token) = Site::linked();
    for number in 0..5 {
        let title = format!("Pote {number}");
        site.control("items", &json!({ "ml_user_id": 777, "title": title, "price": 10 }));
    }
    site.control(&format!("items/{}", site.item), &json!({ "status": "paused" }));
    let search = |query: &str| site.get(&format!("/users/777/items/search?{query}"), &token);
    assert_eq!(search("").json()["paging"]["total"], 6);
    assert_eq!(search("status=active").json()["paging"]["total"], 5);
    assert_eq!(search("limit=101").status, 400);
    let mut seen = 0;
    let mut scroll = String::new();
    loop {
        let page = search(&format!("search_type=scan&limit=4{scroll}")).json();
        let count = page["results"].as_array().unwrap().len();
        if count == 0 {
            break;
        }
        seen += count;
        scroll = format!("&scroll_id={}", page["scroll_id"].as_str().unwrap());
    }
    assert_eq!(seen, 6);
    let bulk = format!("/items/bulk?ids={}&attributes=body.price,body.status", site.item);
    assert_eq!(
        site.get(&bulk, &token).json(),
        json!([{ "id": site.item, "status_code": 200, "body": { "price": 59.9, "status": "paused" } }])
    );
}

#[test]
fn faults_are_played_as_scripted() {
    let site = Site::start();
    let (token, refresh) = site.connect(777);
    let script = |fault: Value| {
        let mut whole = json!({ "path_prefix": "/users" });
        for (name, value) in fault.as_object().unwrap() {
            whole[name] = value.clone();
        }
        site.control("faults", &whole);
    };
    script(json!({ "kind": "status", "code": 503, "times": 2, "skip": 1 }));
    let statuses = [(); 4].map(|()| site.get("/users/me", &token).status);
    assert_eq!(statuses, [200, 503, 503, 200]);

    script(json!({ "kind": "rate_limited", "retry_after": 7 }));
    let limited = site.get("/users/me", &token);
    assert_eq!((limited.status, limited.headers["retry-after"].as_bytes()), (429, &b"7"[..]));

    script(json!({ "kind": "garbage" }));
    let garbage = site.get("/users/me", &token);
    assert_eq!(garbage.status, 200);
    assert!(serde_json::from_str::<Value>(&garbage.text).is_err());

    script(json!({ "kind": "truncated" }));
    assert!(site.get_as("/users/me", &token).is_err());
    script(json!({ "kind": "hang", "ms": 20 }));
    assert!(site.get_as("/users/me", &token).is_err());
    script(json!({ "kind": "slow", "ms": 80 }));
    assert_eq!(site.get("/users/me", &token).json()["id"], 777);

    // The token was replaced although the answer was lost.
    site.control("faults", &json!({ "path_prefix": "/oauth/token", "kind": "lost_response" }));
    let form = format!(
        "grant_type=refresh_token&client_id={CLIENT_ID}&client_secret={CLIENT_SECRET}&refresh_token={refresh}"
    );
    let url = format!("{}/oauth/token", site.running.url());
    let kind = "application/x-www-form-urlencoded";
    assert!(site.agent.post(url).header("content-type", kind).send(form).is_err());
    assert_eq!(site.refresh(&refresh).json()["error"], "invalid_grant");
}

#[test]
fn calls_are_logged_without_secrets_and_misuse_is_noted() {
    let (site, token) = Site::linked();
    site.get(&format!("/users/me?access_token={token}"), &token);
    site.get("/items?ids=MLB1", &token);
    site.get("/reviews/1", &token);
    let rules: Vec<Value> = site.log("violations")["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["rule"].clone())
        .collect();
    assert_eq!(rules, ["token_in_query", "retired_path", "unknown_path"]);
    let requests = site.log("requests");
    assert!(!requests.to_string().contains(&token));
    let last = requests["requests"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["path"], &last["status"]), (&json!("/reviews/1"), &json!(404)));
    assert_eq!((&last["bearer"], &last["ml_user_id"]), (&json!(true), &json!(777)));
}

#[test]
fn stock_falls_with_a_sale_and_comes_back_with_its_cancellation() {
    let (site, token) = Site::linked();
    let item = || {
        let item = site.get(&format!("/items/{}", site.item), &token).json();
        (item["available_quantity"].clone(), item["status"].clone())
    };
    let id = site.sell(&json!({ "quantity": 10 }));
    assert_eq!(item(), (json!(0), json!("paused")));
    site.control(&format!("orders/{id}"), &json!({ "status": "cancelled" }));
    assert_eq!(item(), (json!(10), json!("active")));
}

#[test]
fn the_overview_shows_shops_and_takes_its_buttons() {
    let site = Site::start();
    let press = |action: &str, form: &str, from: &str| {
        site.agent
            .post(format!("{}/acoes/{action}", site.running.url()))
            .header("sec-fetch-site", from)
            .send(form)
            .unwrap()
            .status()
            .as_u16()
    };
    let sale = format!("ml_user_id=777&item={}&quantidade=2", site.item);
    assert_eq!(press("venda", &sale, "same-origin"), 303);
    assert_eq!(press("venda", &sale, "cross-site"), 403);
    let page = site.get("/", "");
    assert!(page.text.contains("LOJA_X") && page.text.contains("Simular venda"));
    assert!(page.text.contains("R$ 119,80"), "{}", page.text);
    assert!(page.headers["content-security-policy"].to_str().unwrap().contains("'none'"));
    assert_eq!(site.log("state")["orders"], 1);
    assert_eq!(press("loja", "apelido=Nova", "same-origin"), 303);
    assert_eq!(site.log("state")["sellers"].as_array().unwrap().len(), 2);
}

/// Presses a button of the overview and requires that it did something.
#[track_caller]
fn press(site: &Site, action: &str, form: &str) {
    let url = format!("{}/acoes/{action}", site.running.url());
    let sent = site.agent.post(url).send(form).unwrap();
    let back = sent.headers()["location"].to_str().unwrap().to_owned();
    assert!(back.starts_with("/?feito="), "{action} {form}: {back}");
}

#[test]
fn every_button_does_what_it_says() {
    let site = Site::start();
    let order = site.sell(&json!({}));
    let press = |action: &str, form: &str| press(&site, action, form);
    let item = format!("ml_user_id=777&item={}&quantidade=1", site.item);
    press("perguntar", &item);
    for act in ["preco", "esgotar", "reativar", "pausar", "reativar"] {
        press("anuncio", &format!("{item}&acao={act}"));
    }
    for act in ["enviar", "entregar", "reembolsar"] {
        press("pedido", &format!("pedido={order}&acao={act}"));
    }
    press("reclamar", &format!("pedido={order}"));
    let truth = site.log("truth?ml_user_id=777");
    assert_eq!(truth["listings"][0]["price_cents"], 6_589);
    assert_eq!(truth["listings"][0]["available"], 10);
    assert_eq!(truth["orders"][0]["status"], "partially_refunded");
    assert_eq!(truth["orders"][0]["shipping_status"], "delivered");
    let question = &truth["questions"][0]["question_id"];
    let claim = &truth["claims"][0]["claim_id"];
    for act in ["mediar", "encerrar", "reabrir"] {
        press("reclamacao", &format!("reclamacao={claim}&acao={act}"));
    }
    press("pergunta", &format!("pergunta={question}&acao=responder&texto=Tem"));
    let truth = site.log("truth?ml_user_id=777");
    assert_eq!(truth["questions"][0]["answer"], "Tem");
    assert_eq!(truth["claims"][0]["stage"], "dispute");
    assert_eq!(truth["account"]["open_claims"], 1);
    press("revogar", "ml_user_id=777");
    press("vencer", "ml_user_id=777");
    press("topico", "topico=items");
    press("anuncio", &format!("{item}&acao=encerrar"));
    for act in ["frear", "acelerar", "derrubar", "levantar"] {
        press("mercado", &format!("acao={act}"));
    }
    let page = site.get("/", "");
    for word in ["Respondida", "Em mediação", "O mercado está no ar"] {
        assert!(page.text.contains(word), "{word}\n{}", page.text);
    }
}

#[test]
fn carts_and_labels_and_a_lost_refresh_have_their_buttons() {
    let site = Site::start();
    let order = site.sell(&json!({}));
    let press = |action: &str, form: &str| press(&site, action, form);
    let item = format!("ml_user_id=777&item={}&quantidade=1", site.item);
    press("carrinho", &item);
    press("venda/sem-envio", &item);
    let truth = site.log("truth?ml_user_id=777");
    let parcels: Vec<&Value> = truth["orders"].as_array().unwrap().iter().collect();
    let parcels: Vec<&Value> = parcels.iter().map(|order| &order["shipping_id"]).collect();
    let [_, one, other, later] = parcels[..] else { panic!("{truth}") };
    assert_eq!(one, other, "{truth}");
    assert_eq!((one.is_null(), later.is_null()), (false, true), "{truth}");
    for (act, status) in
        [("reter", "pending"), ("nota", "ready_to_ship"), ("liberar", "ready_to_ship")]
    {
        press("pedido", &format!("pedido={order}&acao={act}"));
        let truth = site.log("truth?ml_user_id=777");
        assert_eq!(truth["orders"][0]["shipping_status"], status);
    }
    press("perder", "ml_user_id=777");
    assert_eq!(site.log("faults")["faults"][0]["kind"], "lost_response");
    assert!(site.get("/", "").text.contains("resposta perdida em /oauth/token"));
    press("falhas/limpar", "");
}

#[test]
fn the_demo_has_three_shops() {
    let site = Site::start();
    let shops = seed_demo(&site.running);
    assert_eq!(shops.own.len(), 3);
    let (token, _) = site.connect(shops.own[0]);
    let page = site.get(&format!("/orders/search?seller={}", shops.own[0]), &token).json();
    assert!(page["paging"]["total"].as_i64().unwrap() > 300);
    assert_eq!(page["results"].as_array().unwrap().len(), 50);
}

#[test]
fn the_document_tells_of_every_control_and_switch() {
    let document = include_str!("../../../docs/sandbox.md");
    let site = Site::start();
    let config = site.log("config");
    let kinds = [
        "status",
        "hang",
        "truncated",
        "garbage",
        "slow",
        "rate_limited",
        "lost_response",
        "redirect",
        "huge",
    ];
    let names = config.as_object().unwrap().keys().map(String::as_str);
    for name in names.chain(kinds) {
        assert!(document.contains(&format!("| `{name}` |")), "{name}");
    }
    let mut controls = 0;
    for line in document.lines().filter_map(|line| line.strip_prefix("| `POST /_sandbox/")) {
        let path = line.split('`').next().unwrap().replace("{id}", "1");
        let url = format!("{}/_sandbox/{path}", site.running.url());
        let status = site.agent.post(url).send("x").unwrap().status();
        assert_eq!(status, 400, "{path}");
        controls += 1;
    }
    assert!(controls > 15, "{controls}");
}
