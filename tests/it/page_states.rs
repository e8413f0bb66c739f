//! Pages in states that a walk along links does not find: forms of people who are
//! not signed in, links that are over, results that are told once, plans that open
//! less. The markup of whatever other tests see is held to the rules by `checks.rs`.

use serde_json::json;

use crate::actors::Actor;
use crate::client::Request;
use crate::page_rules::{Rules, hold};
use crate::pages::{SAMPLES, password_link, rules, walk};
use crate::site::Site;
use crate::world::World;

const LOJA: u64 = 900_000_001;
const OTHER: u64 = 900_000_002;
const HALF_AN_HOUR_S: i64 = 1801;

/// Looks at pages, and notes which rules they break.
struct Viewer {
    rules: Rules,
    wrong: Vec<String>,
}

impl Viewer {
    fn new(site: &Site) -> Self {
        Self { rules: rules(site), wrong: Vec::new() }
    }

    /// Requires a page with a status that says something.
    #[track_caller]
    fn sees(&mut self, actor: &Actor<'_>, request: Request, status: u16, said: &str) {
        let reply = actor.send(request.header("Accept", "text/html")).expect(status);
        let page = reply.text();
        assert!(page.contains(said), "{said:?} is not in\n{reply}");
        hold(&page, &format!("{status} to {}", reply.asked), &self.rules, &mut self.wrong);
    }

    #[track_caller]
    fn done(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

fn get(target: &str) -> Request {
    Request::new("GET", target)
}

#[test]
fn the_first_administrator_is_led_through_every_state() {
    let site = Site::builder().unlimited().start();
    let (link, guest) = (site.setup_link(), site.anonymous());
    let code = link.rsplit('=').next().unwrap();
    let mut viewer = Viewer::new(&site);
    viewer.sees(&guest, get("/entrar"), 200, "Ainda não há administrador");
    let sent = |name: &str, email: &str, password: &str| {
        let fields = [("codigo", code), ("nome", name), ("email", email), ("senha", password)];
        Request::new("POST", "/configurar").form(&fields)
    };
    let wrong = sent("", "ana@", "curta");
    viewer.sees(&guest, wrong, 422, "aria-invalid=\"true\"");
    viewer.sees(&guest, get("/configurar?codigo=antigo"), 404, "Este link não vale mais");
    let right = sent("Ana Souza", "ana@example.com", "uma senha comprida");
    guest.send(right).expect(303);
    viewer.sees(&guest, get(&link), 404, "A configuração já foi feita");
    viewer.done();
}

#[test]
fn whoever_cannot_enter_is_told_why() {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "nao-responda@example.com")
        .start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let mut viewer = Viewer::new(&site);
    let person = site.make_person("rui", "vip");
    let list = admin.send(get("/admin/alunos?q=rui").header("Accept", "application/json")).ok();
    let id = list["dados"][0]["id"].as_str().unwrap().to_owned();
    let reason = json!({ "motivo": "Pagamento em atraso" });
    admin.post(&format!("/admin/alunos/{id}/suspender"), &reason).ok();
    let fields = [("email", &*person.email), ("senha", &*person.password)];
    let login = Request::new("POST", "/entrar").form(&fields);
    viewer.sees(&guest, login, 403, "suspens");
    let link = password_link(&site);
    let code = link.rsplit('=').next().unwrap();
    let choose = |password: &str| {
        Request::new("POST", "/senha").form(&[("codigo", code), ("senha", password)])
    };
    viewer.sees(&guest, choose("curta"), 422, "aria-invalid=\"true\"");
    guest.send(choose("uma senha comprida")).expect(303);
    viewer.sees(&guest, get(&link), 404, "Este link não vale mais");
    let ask = Request::new("POST", "/entrar/esqueci").form(&[("email", "ana@example.com")]);
    viewer.sees(&guest, ask, 200, "Confira suas mensagens");
    viewer.done();
}

#[test]
fn the_end_of_a_link_to_an_account_is_told_once() {
    let world = World::start();
    for seller in [LOJA, OTHER] {
        world.seller(seller, "CASA&CAFE");
    }
    let site = Site::builder().unlimited().world(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let mut viewer = Viewer::new(&site);
    let mut told = |actor: &Actor<'_>, said: &str| {
        viewer.sees(actor, get("/painel/ml"), 200, said);
    };
    world.link(&ana, LOJA);
    told(&ana, "CASA&amp;CAFE");
    world.link(&rui, LOJA);
    told(&rui, "outra pessoa");
    let refused = rui.get("/painel/ml/conectar");
    let query = refused.header("location").unwrap().split_once('?').unwrap().1;
    let refusal = json!({ "ml_user_id": OTHER, "query": query, "refuse": true });
    let back = world.control("/_sandbox/authorize", &refusal)["location"].clone();
    let back = back.as_str().unwrap();
    rui.get(&back[back.find("/painel/").unwrap()..]).expect(303);
    told(&rui, "role=\"status\"");
    let late = world.consent(&rui, OTHER);
    site.clock().advance_s(HALF_AN_HOUR_S);
    rui.get(&late).expect(303);
    told(&rui, "class=\"notice");
    viewer.done();
}

#[test]
fn each_role_is_told_what_its_plan_does_not_open() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let operator = site.administrator();
    let meet = json!({
        "titulo": "Plantão", "data_hora": "2026-11-21 20:00:00",
        "link": "https://meet.exemplo.com/sala",
    });
    operator.post("/admin/meets", &meet).expect(201);
    let mut viewer = Viewer::new(&site);
    for (role, home) in [("free", "/painel"), ("pro", "/painel"), ("podio", "/painel")] {
        let person = site.person_as(&format!("leo-{role}"), role);
        for (address, reply) in walk(&person, home, &viewer.rules, SAMPLES) {
            let place = format!("{role} at {address}");
            hold(&reply.text(), &place, &viewer.rules, &mut viewer.wrong);
        }
    }
    viewer.done();
}
