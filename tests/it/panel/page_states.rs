//! Pages in states that a walk along links does not find: forms of people who are
//! not signed in, links that are over, results that are told once, plans that open
//! less. The markup of whatever other tests see is held to the rules by `checks.rs`.

use serde_json::json;

use super::pages::{SAMPLES, password_link, walk};
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::page_rules::{Rules, hold};
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::world::World;

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
    viewer.sees(&guest, login, 401, "Seu acesso está suspenso");
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
    told(&ana, "CASA&#38;CAFE foi vinculada");
    world.link(&rui, LOJA);
    told(&rui, "Esta conta já é de outra pessoa daqui");
    let refused = rui.get("/painel/ml/conectar");
    let query = refused.header("location").unwrap().split_once('?').unwrap().1;
    let refusal = json!({ "ml_user_id": OTHER, "query": query, "refuse": true });
    let back = world.control("/_sandbox/authorize", &refusal)["location"].clone();
    let back = back.as_str().unwrap();
    rui.get(&back[back.find("/painel/").unwrap()..]).expect(303);
    told(&rui, "A autorização não foi dada");
    let late = world.consent(&rui, OTHER);
    site.clock().advance_s(HALF_AN_HOUR_S);
    rui.get(&late).expect(303);
    told(&rui, "O pedido de vínculo venceu");
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
    for role in ["free", "pro", "podio"] {
        let person = site.person_as(&format!("leo-{role}"), role);
        for (address, reply) in walk(&person, "/painel", &viewer.rules, SAMPLES) {
            let place = format!("{role} at {address}");
            hold(&reply.text(), &place, &viewer.rules, &mut viewer.wrong);
        }
    }
    viewer.done();
}

#[test]
fn a_check_in_shows_what_it_brought() {
    let site = Site::builder().unlimited().config("program.lap_days", 1).start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    let points = json!({ "acao": "checkin", "xp": 160 });
    admin.post("/admin/gamificacao/editar-xp", &points).ok();
    let challenge = json!({
        "titulo": "<b>Um dia</b>", "descricao": "", "acao": "checkin", "meta": 1,
        "inicio": "2026-11-20", "fim": "2026-11-22", "recompensa": "Caneca", "recompensa_xp": 500,
    });
    admin.post("/admin/gamificacao/desafio/salvar", &challenge).ok();
    let mut viewer = Viewer::new(&site);
    viewer.sees(&ana, get("/painel"), 200, "Fazer check-in");
    ana.send(Request::new("POST", "/painel/checkin").form(&[])).expect(303);
    viewer.sees(&ana, get("/painel"), 200, "class=\"card moment\"");
    viewer.sees(&ana, get("/painel"), 200, "Check-in de hoje feito");
    viewer.sees(&ana, get("/painel/competicao"), 200, "&#60;b&#62;Um dia&#60;/b&#62;");
    let rules = Request::new("POST", "/admin/gamificacao/config/salvar")
        .form(&[("xp_aula", "muito"), ("multiplicador", "9999")]);
    viewer.sees(&admin, rules, 422, "aria-invalid=\"true\"");
    let actions = ["checkin", "aula", "meet", "venda", "conta_vinculada", "desafio", "volta"];
    let tried = actions.map(|action| format!("xp_{action}=90")).join("&")
        + "&multiplicador=2&multiplicador_streak=1,5&limite_diario=0&limite_venda_diario=0";
    let tried = get(&format!("/admin/gamificacao/regras?{tried}"));
    viewer.sees(&admin, tried, 200, "Nada foi salvo ainda.");
    viewer.done();
}

#[test]
fn what_is_shown_once_is_shown_on_a_page_of_its_own() {
    let site = Site::builder().unlimited().start();
    let mut viewer = Viewer::new(&site);
    site.seller("ana").plan("pro");
    site.supplier("zoe").plan("starter");
    for (person, base) in
        [(site.person("ana"), "/painel/parceiro"), (site.person("zoe"), "/fornecedor/parceiro")]
    {
        let name = "Integração-de-nome-comprido-sem-espaço-para-quebrar-a-linha";
        let token = Request::new("POST", &format!("{base}/tokens")).form(&[("nome", name)]);
        viewer.sees(&person, token, 200, "ptk_");
        let url = format!("https://gancho.exemplo.com/{}", "x/".repeat(60));
        let event = if base.starts_with("/painel") { "stock.changed" } else { "drop_order.paid" };
        let fields = [("url", &*url), ("eventos", event)];
        let endpoint = Request::new("POST", &format!("{base}/webhooks")).form(&fields);
        viewer.sees(&person, endpoint, 200, "whsec_");
        viewer.sees(&person, get(base), 200, name);
    }
    let operator = site.administrator();
    let key = Request::new("POST", "/admin/chaves").form(&[
        ("nome", "<CRM>"),
        ("escopos", "write"),
        ("expira_em", "2027-12-31"),
    ]);
    viewer.sees(&operator, key, 200, "spk_");
    viewer.done();
}
