//! What integrations do with a key: students registered, suspended and
//! reactivated, and what suspension ends.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

const CREATE: &str = "/api/v1/alunos/criar";
const SUSPEND: &str = "/api/v1/alunos/suspender";
const REACTIVATE: &str = "/api/v1/alunos/reativar";
const LLM: &str = "/api/v1/webhook/llm";

/// Names and messages of the invalid fields.
#[track_caller]
fn faults(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    let fields = body["fields"].as_object();
    let fields = fields.unwrap_or_else(|| panic!("no fields\n{reply}"));
    fields.keys().cloned().collect()
}

#[track_caller]
fn student(email: &str) -> Value {
    json!({ "nome": "Ana Souza", "email": email })
}

#[test]
fn a_student_is_registered_once() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let new = json!({
        "nome": "  Ana Souza ", "email": " Ana@Example.com ", "plano": "vip", "chat_number": "5511987654321",
    });
    let reply = crm.post(CREATE, &new).expect(201).json();
    assert_eq!(reply["success"], true);
    assert!(reply["message"].as_str().is_some_and(|text| !text.is_empty()));
    let data = &reply["data"];
    assert!(data["id"].as_str().unwrap().parse::<u64>().is_ok());
    assert_eq!((&data["email"], &data["plano"]), (&json!("ana@example.com"), &json!("vip")));
    assert_eq!(data.as_object().unwrap().len(), 3, "{reply}");
    for again in ["ana@example.com", "ANA@EXAMPLE.COM", "  ana@example.com"] {
        let refused = crm.post(CREATE, &student(again)).expect(409);
        assert_eq!(refused.code(), "conflict");
        assert_eq!(faults(&refused), ["email"]);
    }
    // The addresses of staff and suppliers are taken, too.
    let rui = site.make_person("rui", "drop").email;
    crm.post(CREATE, &student(&rui)).expect(409);
    let bare = crm.post(CREATE, &student("bia@example.com")).expect(201);
    assert_eq!(bare.json()["data"]["plano"], "free");
    let stored = "SELECT name || ' ' || role || ' ' || coalesce(chat_number, '-') || ' ' || (password_hash IS NULL)
                  FROM user WHERE email IN ('ana@example.com', 'bia@example.com') ORDER BY user_id";
    assert_eq!(site.stored(stored), ["Ana Souza vip 5511987654321 1", "Ana Souza free - 1"]);
}

#[test]
fn a_registered_student_chooses_the_first_password_by_the_link() {
    let site = Site::builder().unlimited().config("email.smtp_url", "smtp://127.0.0.1:9").start();
    let crm = site.key(&["write"]);
    crm.post(CREATE, &student("ana@example.com")).expect(201);
    let nobody = site.anonymous();
    let login = |email: &str, password: &str| {
        nobody.post("/api/ext/auth", &json!({ "email": email, "senha": password }))
    };
    // Nothing opens it, and it looks like an account with another password, or like none.
    let (_, rui) = (site.person("rui"), site.make_person("rui", "vip"));
    for password in ["", "uma senha qualquer", "$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA"] {
        let shown = |email: &str| {
            let reply = login(email, password);
            (reply.status, reply.code())
        };
        let alike = shown("ana@example.com");
        assert_eq!(alike, shown(&rui.email), "{password:?}");
        assert_eq!(alike, shown("ninguem@example.com"), "{password:?}");
    }
    // The welcome is queued, with a link that lasts seven days.
    assert_eq!(site.stored("SELECT CAST(count(*) AS TEXT) FROM outbox"), ["1"]);
    let left = "SELECT CAST(l.expires_at - u.created_at AS TEXT) FROM one_time_link l JOIN user u USING (user_id)";
    assert_eq!(site.stored(left), ["604800"]);
    let printed = site.command(&["user", "password-link", "--email", "ana@example.com"]).ok();
    let code = printed.trim().split_once("codigo=").unwrap().1.to_owned();
    site.keep_secret("password link", &code);
    let form = [("codigo", &*code), ("senha", "a senha que ela escolheu")];
    nobody.send(Request::new("POST", "/senha").form(&form)).expect(303);
    login("ana@example.com", "a senha que ela escolheu").expect(200);
}

#[test]
fn the_time_of_a_login_does_not_tell_who_has_a_password() {
    let site = Site::builder().unlimited().start();
    site.key(&["write"]).post(CREATE, &student("ana@example.com")).expect(201);
    let rui = site.make_person("rui", "vip").email;
    let nobody = site.anonymous();
    let time = |email: &str| {
        let body = json!({ "email": email, "senha": "uma senha qualquer" });
        let before = std::time::Instant::now();
        nobody.post("/api/ext/auth", &body).expect(401);
        before.elapsed()
    };
    // By turns, so that other work on the machine falls on all alike; the fastest
    // of each is the least disturbed. An answer without a hash takes a tenth.
    let emails = ["ana@example.com", &*rui, "ninguem@example.com"];
    let mut fastest = [std::time::Duration::MAX; 3];
    for _ in 0..15 {
        for (place, email) in emails.iter().enumerate() {
            fastest[place] = fastest[place].min(time(email));
        }
    }
    let (least, most) = (fastest.iter().min().unwrap(), fastest.iter().max().unwrap());
    assert!(*most < *least * 5, "{fastest:?} of {emails:?}");
}

#[test]
fn every_field_at_fault_is_named() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let with = |name: &str, value: Value| {
        let mut body = student("ana@example.com");
        body[name] = value;
        body
    };
    for (body, at_fault) in [
        (json!({}), vec!["email", "nome"]),
        (json!({ "nome": null, "email": "" }), vec!["email", "nome"]),
        (
            json!({ "nome": 7, "email": [], "plano": {}, "chat_number": 5_511_987_654_321_i64 }),
            vec!["chat_number", "email", "nome", "plano"],
        ),
        (with("nome", json!("A")), vec!["nome"]),
        (with("nome", json!("  A  ")), vec!["nome"]),
        (with("nome", json!("á".repeat(121))), vec!["nome"]),
        (with("nome", json!("Ana\nSouza")), vec!["nome"]),
        (with("email", json!("ana")), vec!["email"]),
        (with("email", json!("ana@example")), vec!["email"]),
        (with("email", json!("a@b@example.com")), vec!["email"]),
        (with("plano", json!("drop")), vec!["plano"]),
        (with("plano", json!("admin")), vec!["plano"]),
        (with("plano", json!("VIP")), vec!["plano"]),
        (with("plano", json!("")), vec!["plano"]),
        (with("chat_number", json!("+5511987654321")), vec!["chat_number"]),
        (with("chat_number", json!("123456789")), vec!["chat_number"]),
        (with("chat_number", json!("1234567890123456")), vec!["chat_number"]),
        (with("chat_number", json!("")), vec!["chat_number"]),
    ] {
        let reply = crm.post(CREATE, &body).expect(422);
        assert_eq!(reply.code(), "validation_failed");
        assert_eq!(faults(&reply), at_fault, "{body}");
    }
    for (path, body, at_fault) in [
        (SUSPEND, json!({}), "email"),
        (SUSPEND, json!({ "email": "ana" }), "email"),
        (REACTIVATE, json!({ "email": 7 }), "email"),
    ] {
        let reply = crm.post(path, &body).expect(422);
        assert_eq!(faults(&reply), [at_fault]);
    }
    let form = [("nome", "Ana Souza"), ("email", "ana@example.com")];
    crm.send(Request::new("POST", CREATE).form(&form)).expect(415);
    for edge in ["Al", &"á".repeat(120)] {
        let mut body = student(&format!("a{}@example.com", edge.len()));
        body["nome"] = json!(edge);
        crm.post(CREATE, &body).expect(201);
    }
    assert_eq!(site.stored("SELECT count(*) || '' FROM user"), ["2"]);
}

#[test]
fn fifty_at_once_make_one_student() {
    let site = Site::builder().unlimited().start();
    let keys: Vec<Actor<'_>> = (0..10).map(|_| site.key(&["write"])).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let running: Vec<_> = keys
            .iter()
            .map(|key| {
                scope.spawn(move || {
                    let call = |turn: usize| {
                        let email = if turn.is_multiple_of(2) {
                            "ana@example.com"
                        } else {
                            "ANA@example.com"
                        };
                        key.post(CREATE, &student(email)).status
                    };
                    (0..5).map(call).collect::<Vec<u16>>()
                })
            })
            .collect();
        running.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1);
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 49);
}

#[test]
fn a_welcome_message_waits_and_holds_no_secret() {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "escola@example.com")
        .start();
    let crm = site.key(&["write"]);
    let mut with_chat = student("ana@example.com");
    with_chat["chat_number"] = json!("5511987654321");
    crm.post(CREATE, &with_chat).expect(201);
    crm.post(CREATE, &student("bia@example.com")).expect(201);
    let waiting = "SELECT email || ' ' || channel || ' ' || outbox.kind || ' ' || outbox.state || ' ' || (expires_at - outbox.created_at)
                   FROM outbox JOIN user USING (user_id) ORDER BY message_id";
    let week = 7 * 86_400;
    let expected = [
        format!("ana@example.com chat boas_vindas 0 {week}"),
        format!("ana@example.com email boas_vindas 0 {week}"),
        format!("bia@example.com email boas_vindas 0 {week}"),
    ];
    assert_eq!(site.stored(waiting), expected);
    // The name in the queue does not work as a link: it is the digest of the
    // code, and the code is encrypted.
    let names = "SELECT count(*) || '' FROM outbox JOIN one_time_link ON json_extract(params, '$.link') = lower(hex(link_hash))
                 WHERE code IS NOT NULL AND instr(hex(code), upper(json_extract(params, '$.link'))) = 0";
    assert_eq!(site.stored(names), ["3"]);
    let quiet = Site::start();
    quiet.key(&["write"]).post(CREATE, &student("ana@example.com")).expect(201);
    assert_eq!(quiet.stored("SELECT count(*) || '' FROM outbox"), ["0"]);
}

#[test]
fn students_are_suspended_and_reactivated_any_number_of_times() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let made = crm.post(CREATE, &student("ana@example.com")).expect(201).json();
    let expected = json!({ "id": made["data"]["id"], "email": "ana@example.com" });
    for (path, email) in [
        (SUSPEND, "ana@example.com"),
        (SUSPEND, " ANA@Example.com "),
        (REACTIVATE, "ana@example.com"),
        (REACTIVATE, "ana@example.com"),
        (SUSPEND, "ana@example.com"),
    ] {
        let reply = crm.post(path, &json!({ "email": email })).ok();
        assert_eq!((&reply["success"], &reply["data"]), (&json!(true), &expected), "{path}");
    }
    let administrator = site.administrator();
    let rui = site.make_person("rui", "drop").email;
    for nobody in ["ninguem@example.com", &rui, &administrator.person().email] {
        for path in [SUSPEND, REACTIVATE] {
            let reply = crm.post(path, &json!({ "email": nobody })).expect(404);
            assert_eq!(reply.code(), "not_found", "{nobody}");
        }
    }
    administrator.get("/admin").expect(200);
    let audit = "SELECT actor_kind || ' ' || actor_id || ' ' || actor_name || ' ' || (address <> '') || (request_id <> '') || ' '
                     || action || ' ' || object_name || ' ' || coalesce(before, '-') || ' ' || after
                 FROM audit WHERE actor_kind = 'chave' ORDER BY audit_id";
    let line = |action: &str, change: &str| format!("chave 1 CRM 11 {action} Ana Souza {change}");
    let suspended = line("aluno.suspender", r#"{"suspenso":false} {"suspenso":true}"#);
    let expected = [
        line(
            "aluno.criar",
            r#"- {"nome":"Ana Souza","email":"ana@example.com","plano":"free","chat_number":null}"#,
        ),
        suspended.clone(),
        line("aluno.reativar", r#"{"suspenso":true} {"suspenso":false}"#),
        suspended,
    ];
    assert_eq!(site.stored(audit), expected);
}

/// Every credential of a student, and a call of each group for which it is valid.
struct Credentials<'s> {
    session: Actor<'s>,
    extension: Actor<'s>,
    partner: Actor<'s>,
}

impl<'s> Credentials<'s> {
    #[track_caller]
    fn of(site: &'s Site, name: &str) -> Self {
        Self {
            session: site.person(name),
            extension: site.extension(name),
            partner: site.seller(name).plan("pro"),
        }
    }

    /// Status and code of each route group, with each credential that is valid
    /// for it.
    fn calls(&self) -> Vec<(String, u16, String)> {
        let page = |path: &str| Request::new("GET", path);
        let json = |path: &str| page(path).header("Accept", "application/json");
        let calls = [
            (&self.session, json("/painel/avisos")),
            (&self.session, Request::new("POST", "/painel/avisos/lidos").json(&json!({}))),
            (&self.extension, page("/api/ext/me")),
            (&self.extension, page("/api/ext/ml/check?seller_id=1")),
            (
                &self.extension,
                Request::new("POST", "/api/ext/notificacoes/lidas").json(&json!({ "todas": true })),
            ),
            (&self.partner, page("/api/v1/partner/health")),
            (&self.partner, page("/v1/partner/orders")),
        ];
        let calls = calls.into_iter().map(|(actor, request)| {
            let what = format!("{actor} {} {}", request.method, request.target);
            let reply = actor.send(request);
            (what, reply.status, reply.code())
        });
        calls.collect()
    }
}

/// Status and code of each login that accepts a password.
fn doors(site: &Site, name: &str) -> Vec<(u16, String)> {
    let person = site.make_person(name, "vip");
    let login = json!({ "email": person.email, "senha": person.password });
    let nobody = site.anonymous();
    let replies = [nobody.post("/api/ext/auth", &login), nobody.post("/entrar", &login)];
    replies.iter().map(|reply| (reply.status, reply.code())).collect()
}

#[test]
fn suspended_means_suspended() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let (ana, rui) = (Credentials::of(&site, "ana"), Credentials::of(&site, "rui"));
    let all = |who: &Credentials<'_>, expected: (u16, &str)| {
        for (what, status, code) in who.calls() {
            assert_eq!((status, &*code), expected, "{what}");
        }
    };
    all(&ana, (200, ""));
    let email = json!({ "email": "ana@example.com" });
    crm.post(SUSPEND, &email).ok();
    // It holds immediately after the answer.
    all(&ana, (401, "account_suspended"));
    let closed = (401, "account_suspended".to_owned());
    assert_eq!(doors(&site, "ana"), [closed.clone(), closed]);
    let wrong = json!({ "email": "ana@example.com", "senha": "uma senha errada" });
    let reply = site.anonymous().post("/api/ext/auth", &wrong).expect(401);
    assert_eq!(reply.code(), "invalid_credentials", "a stranger learns nothing");
    all(&rui, (200, ""));

    crm.post(REACTIVATE, &email).ok();
    // Ended sessions and tokens stay ended; the partner token was only rejected
    // meanwhile.
    for (what, status, code) in ana.calls() {
        let expected = if what.starts_with("seller") { (200, "") } else { (401, "unauthorized") };
        assert_eq!((status, &*code), expected, "{what}");
    }
    let statuses = doors(&site, "ana").into_iter().map(|(status, _)| status);
    assert_eq!(statuses.collect::<Vec<_>>(), [200, 303]);
    all(&Credentials::of(&site, "ana"), (200, ""));
}

#[test]
fn calls_under_way_stop_with_the_answer() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let ana = Credentials::of(&site, "ana");
    let done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for actor in [&ana.extension, &ana.partner] {
            let path = if actor.to_string() == "extension" {
                "/api/ext/me"
            } else {
                "/api/v1/partner/health"
            };
            let done = &done;
            scope.spawn(move || {
                loop {
                    let was_done = done.load(order);
                    let status = actor.get(path).status;
                    if was_done {
                        assert_eq!(status, 401, "served after the answer");
                        return;
                    }
                }
            });
        }
        for _ in 0..20 {
            ana.session.get("/painel").expect(200);
        }
        crm.post(SUSPEND, &json!({ "email": "ana@example.com" })).ok();
        done.store(true, order);
    });
}

#[test]
fn an_assistant_gets_what_the_public_endpoints_give() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let plan = json!({ "titulo": "Plano anual", "preco": 970 });
    administrator.post("/admin/planos", &plan).expect(201);
    let assistant = site.key(&["webhook_receive"]);
    let ask = |action: &str| assistant.post(LLM, &json!({ "action": action }));
    for (action, path) in [
        ("get_planos", "/api/v1/planos"),
        ("get_meets", "/api/v1/meets"),
        ("get_contexto", "/api/v1/contexto"),
    ] {
        let given = ask(action).expect(200);
        assert_eq!(given.body, site.anonymous().get(path).expect(200).body, "{action}");
        // It is an answer for a key, not a public document.
        assert_eq!(given.header("cache-control"), Some("no-store"));
        assert_eq!(given.header("etag"), None);
        let conditional = Request::new("POST", LLM)
            .json(&json!({ "action": action }))
            .header("If-None-Match", "*");
        assistant.send(conditional).expect(200);
    }
    // A change is seen at once.
    let other = json!({ "titulo": "Plano mensal", "preco": 97 });
    administrator.post("/admin/planos", &other).expect(201);
    assert_eq!(ask("get_planos").ok()["data"].as_array().map(Vec::len), Some(2));
    for action in [json!("get_professores"), json!(""), json!("GET_PLANOS"), json!(7), Value::Null]
    {
        let reply = assistant.post(LLM, &json!({ "action": action })).expect(422);
        assert_eq!(faults(&reply), ["action"], "{action}");
    }
    let writer = site.key(&["write"]);
    let refused = writer.post(LLM, &json!({ "action": "get_planos" })).expect(403);
    assert_eq!(refused.code(), "insufficient_scope");
    site.key(&["admin"]).post(LLM, &json!({ "action": "get_planos" })).ok();
}
