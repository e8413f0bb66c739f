//! Documentation for integrators: the OpenAPI documents, and the pages that
//! explain the Partner API.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::html::{Element, Page};
use crate::support::openapi::{PARTNER, compile, follow, operations, printed};
use crate::support::page_rules::hold;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::wait::until;

const ADDRESSES: [(&str, &str); 2] =
    [("partner", "/openapi.json"), ("platform", "/openapi/platform.json")];

#[test]
fn both_documents_are_public_and_a_good_copy_is_not_sent_again() {
    let site = Site::builder()
        .config("server.base_url", "https://escola.example")
        .config("server.dev_base_url", "https://dev.escola.example")
        .start();
    let nobody = site.anonymous();
    let ask = |address: &str| Request::new("GET", address);
    for (name, address) in ADDRESSES {
        let reply = nobody.send(ask(address).header("Origin", "https://a.example")).expect(200);
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{reply}");
        assert!(reply.header("content-type").unwrap().starts_with("application/json"), "{reply}");
        let etag = reply.header("etag").expect("an ETag").to_owned();
        let again = nobody.send(ask(address).header("If-None-Match", &etag)).expect(304);
        assert_eq!(again.header("etag"), Some(&*etag));
        nobody.send(ask(address).header("If-None-Match", "\"other\"")).expect(200);
        // The command prints the same document, except addresses that it does
        // not know.
        let (served, alone) = (reply.json(), printed(name));
        assert_eq!(served["paths"], alone["paths"], "{name}");
        assert_eq!(served["components"], alone["components"], "{name}");
        let by_command: Value =
            serde_json::from_str(&site.command(&["openapi", name]).ok()).unwrap();
        assert_eq!(served, by_command, "{name}");
        let servers = served["servers"].as_array().unwrap();
        let urls: Vec<&str> = servers.iter().map(|one| one["url"].as_str().unwrap()).collect();
        let expected: &[&str] = match name {
            "partner" => {
                &["https://dev.escola.example/v1/partner", "https://escola.example/api/v1/partner"]
            }
            _ => &["https://escola.example"],
        };
        assert_eq!(urls, expected);
        assert!(
            servers.iter().all(|one| one["description"].as_str().is_some_and(|it| it.len() > 8))
        );
    }
}

#[test]
fn partner_paths_answer_below_both_servers() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    let document = site.anonymous().get("/openapi.json").expect(200).json();
    for server in document["servers"].as_array().unwrap() {
        let url = server["url"].as_str().unwrap();
        let below = url.strip_prefix(&format!("http://{}", site.address())).unwrap_or(url);
        ana.get(&format!("{below}/health")).expect(200);
    }
    let described: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| (method.to_uppercase(), format!("{PARTNER}{path}")))
        .collect();
    let rows: BTreeSet<(String, String)> = site
        .routes()
        .into_iter()
        .filter(|row| row.path.starts_with(PARTNER))
        .map(|row| (row.method, row.path))
        .collect();
    assert_eq!(described, rows, "every operation, and nothing else");
}

#[test]
fn no_text_for_callers_speaks_of_our_own_papers() {
    let site = Site::builder().unlimited().start();
    let (ana, sol) = (site.seller("ana").plan("scale"), site.supplier("sol").plan("scale"));
    crate::support::dropshipping::relate(&site, &sol, &site.person("ana"));
    let nobody = site.anonymous();
    let mut texts = Vec::new();
    for (_, address) in ADDRESSES {
        texts.push((address.to_owned(), nobody.get(address).expect(200).text()));
    }
    let pages = ["", "/referencia", "/agentes", "/webhooks", "/changelog"];
    for page in pages.into_iter().chain(HOW_TO) {
        for language in ["pt", "en"] {
            let address = format!("/desenvolvedores{page}?lang={language}");
            let reply = nobody.send(Request::new("GET", &address).header("Accept", "text/html"));
            if reply.status == 200 {
                texts.push((address, reply.text()));
            }
        }
    }
    assert!(texts.len() == 20, "{} texts", texts.len());
    for actor in [&ana, &sol] {
        let tools = Value::Object(crate::support::agents::tools(actor));
        texts.push((format!("tools of {actor}"), tools.to_string()));
    }
    texts.push(("/status".to_owned(), nobody.get("/status").text()));
    for (place, text) in texts {
        let text = text.to_lowercase();
        for words in
            ["§", "contract 9", "the contract", "o contrato", "(specification", "da especificação"]
        {
            let at = text.find(words);
            let around = at.map(|at| text[..at].chars().rev().take(80).collect::<String>());
            let around = around.map(|text| text.chars().rev().collect::<String>());
            assert!(at.is_none(), "{place} says {words:?} after {around:?}");
        }
    }
}

/// Every named field of a schema and of those within it, with its schema.
fn fields<'d>(schema: &'d Value, place: &str, found: &mut Vec<(String, &'d Value)>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (name, field) in properties {
            let place = format!("{place}.{name}");
            found.push((place.clone(), field));
            fields(field, &place, found);
        }
    }
    if schema["items"].is_object() {
        fields(&schema["items"], place, found);
    }
    for kind in ["allOf", "anyOf", "oneOf"] {
        for one in schema[kind].as_array().into_iter().flatten() {
            fields(one, place, found);
        }
    }
}

#[test]
fn everything_of_the_partner_document_is_described() {
    let document = printed("partner");
    let mut missing = Vec::new();
    let is_said = |value: &Value| value.as_str().is_some_and(|text| text.len() > 3);
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        fields(schema, name, &mut found);
    }
    for (path, method, operation) in operations(&document) {
        let place = format!("{method} {path}");
        let (summary, about) = (&operation["summary"], &operation["description"]);
        if !is_said(summary) || !is_said(about) || summary == about {
            missing.push(format!("{place}: details in its data file"));
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = follow(&document, parameter);
            if !is_said(&parameter["description"]) {
                missing.push(format!("{place}: parameter {}", parameter["name"]));
            }
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = follow(&document, response);
            for (name, header) in response["headers"].as_object().unwrap() {
                if !is_said(&header["description"]) {
                    missing.push(format!("{place} {status}: header {name}"));
                }
            }
            let schema = &response["content"]["application/json"]["schema"];
            fields(schema, &format!("{place} {status}"), &mut found);
        }
        // Labels and notes of a seller show buyers' addresses.
        let is_file =
            ["label", "labels", "invoice"].iter().any(|end| place.ends_with(&format!("/{end}")));
        let writes = place.starts_with("post") || is_file && !place.contains("/drop/");
        let scope = if writes { "partner:write" } else { "partner:read" };
        assert_eq!(operation["x-required-scope"], scope, "{place}");
        assert_eq!(operation["security"], json!([{ "partnerToken": [] }]), "{place}");
    }
    assert!(found.len() > 100, "{} fields", found.len());
    let bare = found.into_iter().filter(|(_, field)| !is_said(&field["description"]));
    missing.extend(bare.map(|(place, _)| place));
    assert!(missing.is_empty(), "without a description:\n{}", missing.join("\n"));
}

/// Requires that an example fits its schema and shows every field of it.
#[track_caller]
fn fits(document: &Value, place: &str, schema: &Value, example: &Value) {
    let errors: Vec<String> = compile(document, schema)
        .iter_errors(example)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{place}\n{}", errors.join("\n"));
    shows_all(document, place, schema, example);
}

#[track_caller]
fn shows_all(document: &Value, place: &str, schema: &Value, example: &Value) {
    let schema = follow(document, schema);
    if let Some(properties) = schema["properties"].as_object() {
        let known: BTreeSet<&String> = properties.keys().collect();
        let shown: BTreeSet<&String> =
            example.as_object().unwrap_or_else(|| panic!("{place}: {example}")).keys().collect();
        // Fields of which only one may be sent are not shown together.
        let has_choice = !schema["if"].is_null();
        if has_choice {
            assert!(shown.is_subset(&known), "{place}: the example shows no other field");
        } else {
            assert_eq!(known, shown, "{place}: the example shows every field, and no other");
        }
        for (name, field) in properties.iter().filter(|(name, _)| shown.contains(name)) {
            shows_all(document, &format!("{place}.{name}"), field, &example[name]);
        }
    }
    if schema["items"].is_object() {
        let items = example.as_array().unwrap_or_else(|| panic!("{place}: {example}"));
        assert!(!items.is_empty(), "{place}: the example has an entry");
        for item in items {
            shows_all(document, place, &schema["items"], item);
        }
    }
}

#[test]
fn examples_fit_their_schemas_and_show_every_field() {
    let document = printed("partner");
    let is_json = |content: &Value| content["application/json"]["schema"].is_object();
    for (path, method, operation) in operations(&document) {
        let place = format!("{method} {path}");
        let sent = &operation["requestBody"]["content"];
        if is_json(sent) {
            let sent = &sent["application/json"];
            fits(&document, &format!("{place}, sent"), &sent["schema"], &sent["example"]);
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = follow(&document, response);
            if !is_json(&response["content"]) {
                continue;
            }
            let content = &response["content"]["application/json"];
            let place = format!("{place} {status}");
            if status == "200" {
                fits(&document, &place, &content["schema"], &content["example"]);
                continue;
            }
            let examples = content["examples"].as_object();
            let examples = examples.unwrap_or_else(|| panic!("{place} has no example"));
            for (code, example) in examples {
                let body = &example["value"];
                assert_eq!(body["error"]["code"], **code, "{place}");
                assert!(
                    body["error"]["message"].as_str().is_some_and(|it| !it.is_empty()),
                    "{place}: {code}"
                );
                let validator = compile(&document, &content["schema"]);
                assert!(validator.is_valid(body), "{place}: {body}");
            }
        }
    }
}

#[test]
fn headers_are_described_where_they_are_sent() {
    let document = printed("partner");
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    for (path, method, operation) in operations(&document) {
        let described = &operation["responses"]["200"]["headers"];
        let has = |name: &str| described[name].is_object();
        for name in
            ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
        {
            assert!(has(name), "{method} {path}: {name}");
        }
        let names: Vec<&Value> = operation["parameters"].as_array().unwrap().iter().collect();
        let takes = |name: &str| names.iter().any(|one| follow(&document, one)["name"] == name);
        assert_eq!(takes("Idempotency-Key"), method == "post", "{method} {path}");
        assert_eq!(takes("If-None-Match"), method == "get", "{method} {path}");
        if method != "get" || path.contains('{') {
            continue;
        }
        let reply = ana.get(&format!("{PARTNER}{path}"));
        // A seller cannot call the operations of suppliers, and labels are of orders.
        if reply.status != 200 {
            let refused = if path == "/labels" { 400 } else { 403 };
            assert_eq!(reply.status, refused, "{reply}");
            continue;
        }
        for name in ["ETag", "Last-Modified"] {
            let sent = reply.header(&name.to_lowercase()).is_some();
            assert_eq!(sent, has(name), "{path} {name}\n{reply}");
        }
        assert_eq!(has("Last-Modified"), takes("If-Modified-Since"), "{path}");
    }
    let late = follow(&document, &operations(&document)[0].2["responses"]["429"]);
    assert_eq!(late["headers"]["Retry-After"]["required"], true);
}

const GUIDE: &str = "/desenvolvedores";
const REFERENCE: &str = "/desenvolvedores/referencia";
const CHANGELOG: &str = "/desenvolvedores/changelog";
/// The guides for a purpose.
const HOW_TO: [&str; 4] = ["/espelho", "/erp", "/fornecedores", "/testes"];
pub(super) const STATUS: &str = "/status";

/// A page in both languages, Portuguese first, checked by the rules for every page.
#[track_caller]
pub(super) fn in_both(site: &Site, path: &str) -> [Page; 2] {
    let rules = rules(site);
    [(path.to_owned(), "pt-BR"), (format!("{path}?lang=en"), "en")].map(|(address, language)| {
        let reply = site.anonymous().get(&address).expect(200);
        let mut wrong = Vec::new();
        hold(&reply.text(), &address, &rules, &mut wrong);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let page = Page::read(&reply.text()).unwrap();
        assert_eq!(page.all(&["html"]).next().unwrap().get("lang"), Some(language));
        for (other, lang) in [(path.to_owned(), "pt-BR"), (format!("{path}?lang=en"), "en")] {
            let leads = |one: &Element| {
                one.get("hreflang") == Some(lang)
                    && one.get("href").is_some_and(|href| href.ends_with(&other))
            };
            assert!(page.all(&["link"]).any(leads), "{address} does not name {other}");
            let is_other = lang != language;
            assert_eq!(page.all(&["a"]).any(leads), is_other, "{address} to {other}");
        }
        page
    })
}

fn ids<'p>(page: &'p Page, tags: &'p [&str]) -> Vec<&'p str> {
    page.all(tags).filter_map(|one| one.get("id")).collect()
}

#[test]
fn the_guide_says_the_same_in_both_languages_and_explains_every_code() {
    let site = Site::builder().unlimited().start();
    let [portuguese, english] = in_both(&site, GUIDE);
    let sections = ids(&portuguese, &["h2"]);
    assert!(sections.len() > 10, "{sections:?}");
    assert_eq!(sections, ids(&english, &["h2"]));
    for tags in [&["p"][..], &["pre"], &["li"], &["tr"], &["dd"]] {
        let count = |page: &Page| page.all(tags).count();
        assert_eq!(count(&portuguese), count(&english), "{tags:?}");
    }
    let document = printed("partner");
    let responses = document["components"]["responses"].as_object().unwrap();
    let of_response = |response: &Value| -> Vec<String> {
        let examples = &response["content"]["application/json"]["examples"];
        examples.as_object().into_iter().flatten().map(|(code, _)| code.clone()).collect()
    };
    let mut codes: BTreeSet<String> = responses.values().flat_map(of_response).collect();
    codes.insert("method_not_allowed".to_owned());
    for (page, most) in [(&portuguese, "1.000.000"), (&english, "1,000,000")] {
        let told = ids(page, &["tr"]).into_iter().filter_map(|id| id.strip_prefix("erro-"));
        let told: BTreeSet<String> = told.map(str::to_owned).collect();
        assert_eq!(told, codes);
        let text = &page.all(&["main"]).next().unwrap().text;
        let headers = ["If-None-Match", "Idempotency-Key", "Retry-After", "X-RateLimit-Remaining"];
        for needed in headers.into_iter().chain(["X-Request-Id", most]) {
            assert!(text.contains(needed), "{needed}");
        }
        for base in ["/api/v1/partner", "/v1/partner"] {
            assert!(text.contains(&format!("http://{}{base}", site.address())), "{base}");
        }
    }
    site.anonymous().get("/desenvolvedores?lang=xx").expect(200);
}

#[test]
fn the_guides_for_a_purpose_say_the_same_in_both_languages_and_are_found() {
    let site = Site::builder().unlimited().start();
    let [guide, _] = in_both(&site, GUIDE);
    let llms = site.anonymous().get("/llms.txt").expect(200).text();
    for path in HOW_TO {
        let address = format!("{GUIDE}{path}");
        let [portuguese, english] = in_both(&site, &address);
        assert_eq!(ids(&portuguese, &["h2"]), ids(&english, &["h2"]), "{address}");
        for tags in [&["p"][..], &["pre"], &["li"], &["tr"], &["dd"]] {
            let count = |page: &Page| page.all(tags).count();
            assert_eq!(count(&portuguese), count(&english), "{address} {tags:?}");
        }
        assert!(guide.all(&["a"]).any(|one| one.get("href") == Some(&*address)), "{address}");
        assert!(llms.contains(&format!("{address}.md?lang=en")), "{address}");
    }
}

#[test]
fn the_reference_leads_to_every_operation_and_is_light() {
    let site = Site::builder().unlimited().start();
    let document = printed("partner");
    for page in in_both(&site, REFERENCE) {
        assert!(page.0.len() <= 3_000, "{}", page.0.len());
        let text = &page.all(&["main"]).next().unwrap().text;
        for (path, _, operation) in operations(&document) {
            let name = operation["operationId"].as_str().unwrap();
            // The anchors of the former page are here and lead on.
            let row = page.by_id(name).unwrap();
            let to = format!("{REFERENCE}/{name}");
            let leads = |link: &&Element| {
                link.get("href").is_some_and(|href| href.split('?').next() == Some(&to))
            };
            let link = page.all(&["a"]).find(leads).unwrap();
            assert!(page.path(link).any(|around| around.get("id") == row.get("id")), "{name}");
            assert!(text.contains(path), "{path}");
        }
    }
    site.anonymous().get(&format!("{REFERENCE}/nothing")).expect(404);
    site.anonymous().get(&format!("{REFERENCE}/")).expect(404);
}

#[test]
fn every_operation_has_a_page_and_the_token_is_in_no_form() {
    let site = Site::builder().unlimited().start();
    let document = printed("partner");
    let mut texts = [String::new(), String::new()];
    for (path, _, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        for (page, texts) in in_both(&site, &format!("{REFERENCE}/{name}")).iter().zip(&mut texts) {
            assert_eq!(ids(page, &["h1"]), [name]);
            let text = &page.all(&["main"]).next().unwrap().text;
            assert!(text.contains(path) && text.contains("curl 'http://"), "{path}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = follow(&document, parameter)["name"].as_str().unwrap();
                assert!(text.contains(name), "{path}: {name}");
            }
            let action = format!("{PARTNER}{path}");
            let form = page.all(&["form"]).find(|form| form.get("action") == Some(&*action));
            let reads =
                operation["requestBody"].is_null() && document["paths"][path]["get"] == *operation;
            assert_eq!(form.is_some(), reads, "{path}");
            assert!(form.is_none_or(|form| form.has("hidden") && form.has("data-try")), "{path}");
            let token = page.by_id("token");
            assert_eq!(token.is_some(), reads, "{path}");
            if let Some(token) = token {
                let kind = (token.get("type"), token.get("autocomplete"));
                assert_eq!(kind, (Some("password"), Some("off")));
                assert!(!page.path(token).any(|around| around.is(&["form"])) && !token.has("form"));
            }
            texts.push_str(text);
        }
    }
    for text in texts {
        let mut names = Vec::new();
        // What webhooks alone show is in their guide.
        let told = ["WebhookQuestion", "WebhookClaim", "DisconnectedStore", "EndpointTest"];
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (_, schema) in schemas.iter().filter(|(name, _)| !told.contains(&name.as_str())) {
            names.extend(
                schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name),
            );
        }
        assert!(names.len() > 60, "{names:?}");
        let error = ["code", "fields", "message", "request_id", "error"];
        for name in names.iter().filter(|name| !error.contains(&name.as_str())) {
            assert!(text.contains(&**name), "no field {name}");
        }
    }
}

#[test]
fn the_changelog_is_dated_and_the_newest_stands_first() {
    let site = Site::builder().unlimited().start();
    let [portuguese, english] = in_both(&site, CHANGELOG);
    let days = |page: &Page| -> Vec<String> {
        page.all(&["time"]).map(|one| one.get("datetime").unwrap().to_owned()).collect()
    };
    let told = days(&portuguese);
    assert!(told.len() > 1 && told.is_sorted_by(|one, next| one > next), "{told:?}");
    assert_eq!(told, days(&english));
    let points = |page: &Page| page.all(&["li"]).count();
    assert_eq!(points(&portuguese), points(&english));
}

#[test]
fn the_pages_are_found_from_the_login_and_from_the_hub() {
    let site = Site::builder().unlimited().start();
    let leads = |page: &Page, to: &str| page.all(&["a"]).any(|one| one.get("href") == Some(to));
    let login = Page::read(&site.anonymous().get("/entrar").expect(200).text()).unwrap();
    assert!(leads(&login, GUIDE) && leads(&login, STATUS));
    let hub = Page::read(&site.person("ana").get("/painel/parceiro").expect(200).text()).unwrap();
    assert!(leads(&hub, GUIDE) && leads(&hub, REFERENCE));
}

/// Lines of the first fenced block below a heading of the README.
fn commands_below(heading: &str) -> Vec<&'static str> {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once(heading).expect("the heading");
    let (_, rest) = rest.split_once("```sh\n").expect("a block");
    let (block, _) = rest.split_once("\n```").expect("its end");
    block.lines().collect()
}

#[test]
fn the_four_commands_of_the_readme_do_what_they_say() {
    let commands = commands_below("### Give your partners the API\n");
    let [plan, token, call, document] = commands[..] else { panic!("{commands:?}") };
    let site = Site::start();
    let email = site.make_person("ana", "pro").email;
    let run = |line: &str| {
        let (_, arguments) = line.split_once("seller-platform ").unwrap();
        let arguments = arguments.trim_end_matches(')').replace("ana@example.com", &email);
        // A name in quotes is one argument.
        let parts = arguments.split('\'').enumerate().flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        let parts: Vec<String> = parts.collect();
        site.command(&parts.iter().map(String::as_str).collect::<Vec<_>>()).ok()
    };
    run(plan);
    assert!(token.starts_with("TOKEN=$("), "{token}");
    let token = run(token).trim().to_owned();
    site.keep_secret("token", &token);
    let path = |line: &str| {
        let (_, rest) = line.split_once("http://127.0.0.1:8080").unwrap();
        rest.trim_end_matches('\'').to_owned()
    };
    assert!(call.contains("Authorization: Bearer $TOKEN"), "{call}");
    let program = site.bearer(&token);
    let orders = until("the plan is known", std::time::Duration::from_secs(20), || {
        let reply = program.get(&path(call));
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!(orders["data"], json!([]));
    let served = site.anonymous().get(&path(document)).expect(200).json();
    assert_eq!(served["paths"], printed("partner")["paths"]);
}
