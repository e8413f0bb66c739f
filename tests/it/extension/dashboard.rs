//! The extension's dashboard comes from memory and is never stale: whatever
//! changes its content, and in whatever way, the very next request shows it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::content::made;
use crate::support::cron;
use crate::support::people::list;
use crate::support::site::Site;
use crate::support::sync::{joined, wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const ME: &str = "/api/ext/me";
const OTHER_SHOP: u64 = 900_000_002;
/// Real time that the workers get.
const PATIENCE: Duration = Duration::from_mins(1);

/// Requests the dashboard twice, so that the second answer may come from
/// memory, makes a change, and requires that the very next request shows it.
#[track_caller]
fn shows_at_once(ana: &Actor<'_>, place: &str, expected: &Value, change: impl FnOnce()) {
    let before = ana.get(ME).ok();
    assert_eq!(ana.get(ME).ok(), before, "nothing changed");
    assert_ne!(before.pointer(place), Some(expected), "{place} before");
    change();
    let after = ana.get(ME).ok();
    assert_eq!(after.pointer(place), Some(expected), "{place} after");
}

#[test]
fn what_is_changed_of_a_person_shows_at_once() {
    let site = Site::builder().unlimited().start();
    let (admin, panel, ana) = (site.administrator(), site.person("ana"), site.extension("ana"));
    let rows = list(&admin, "/admin/alunos?q=ana@");
    let student = format!("/admin/alunos/{}", rows["dados"][0]["id"].as_str().unwrap());
    let exceptions = format!("{student}/permissoes");
    let sends = |actor: &Actor<'_>, path: &str, body: Value| {
        actor.post(path, &body).ok();
    };
    for (place, expected, actor, path, body) in [
        ("/user/nome", json!("Ana L."), &panel, "/perfil", json!({ "nome": "Ana L." })),
        ("/user/nome", json!("Ana Lima"), &admin, &*student, json!({ "nome": "Ana Lima" })),
        ("/user/role", json!("podio"), &admin, &student, json!({ "plano": "podio" })),
        ("/user/role", json!("vip"), &admin, &student, json!({ "plano": "vip" })),
        (
            "/permissoes/ml_clonar",
            json!(true),
            &admin,
            &exceptions,
            json!({ "ml_clonar": "permitir" }),
        ),
        (
            "/permissoes/ml_clonar",
            json!(false),
            &admin,
            &exceptions,
            json!({ "ml_clonar": "herdar" }),
        ),
        (
            "/permissoes/fotos_ia",
            json!(true),
            &admin,
            "/admin/papeis",
            json!({ "vip": ["extensao_browser", "fotos_ia"] }),
        ),
        ("/tem_acesso", json!(false), &admin, "/admin/papeis", json!({ "vip": [] })),
    ] {
        shows_at_once(&ana, place, &expected, || sends(actor, path, body));
    }
    let photo = include_bytes!("../../photos/plain.png");
    let change = || drop(crate::support::photos::send(&panel, "/perfil/foto", photo).ok());
    ana.get(ME).ok();
    change();
    let address = ana.get(ME).ok()["user"]["foto"].take();
    assert!(address.as_str().unwrap().starts_with("/fotos/"), "{address}");
    shows_at_once(&ana, "/user/foto", &json!(""), || {
        sends(&panel, "/perfil/foto/excluir", json!({}));
    });
    // A purchase sets the plan that was bought.
    let email = &ana.person().email;
    shows_at_once(&ana, "/user/role", &json!("pro"), || {
        Event::approved("1", email, "HP1", 0).send(&site.anonymous()).ok();
    });
    site.key(&["write"]).post("/api/v1/alunos/suspender", &json!({ "email": email })).ok();
    ana.get(ME).expect(401);
}

#[test]
fn a_command_beside_the_server_shows_as_soon_as_it_is_noticed() {
    let site = Site::builder().unlimited().start();
    let ana = site.extension("ana");
    ana.get(ME).ok();
    ana.get(ME).ok();
    site.command(&["user", "password", "--email", &ana.person().email]).ok();
    until("the token is over", PATIENCE, || (ana.get(ME).status == 401).then_some(()));
}

#[test]
fn meets_and_the_time_until_them_show_at_once() {
    let site = Site::builder().unlimited().start();
    let (admin, ana) = (site.administrator(), site.extension("ana"));
    let rows = list(&admin, "/admin/alunos?q=ana@");
    let exceptions =
        format!("/admin/alunos/{}/permissoes", rows["dados"][0]["id"].as_str().unwrap());
    let new = json!({
        "titulo": "Mentoria", "data_hora": "2026-11-20 10:00:00", "duracao_minutos": 60,
        "publico": false, "link": "https://meet.example.com/a",
    });
    let mut meet = String::new();
    shows_at_once(&ana, "/meets/0/titulo", &json!("Mentoria"), || {
        meet = format!("/admin/meets/{}", made(&admin, "/admin/meets", &new));
    });
    for (place, expected, path, body) in [
        ("/meets/0/titulo", json!("Tira-dúvidas"), &meet, json!({ "titulo": "Tira-dúvidas" })),
        (
            "/meets/0/link",
            json!("https://meet.example.com/b"),
            &meet,
            json!({ "link": "https://meet.example.com/b" }),
        ),
        (
            "/meets/0/minutos_restantes",
            json!(90),
            &meet,
            json!({ "data_hora": "2026-11-20 10:30:00" }),
        ),
        ("/meets", json!([]), &exceptions, json!({ "meets": "negar" })),
        ("/meets/0/minutos_restantes", json!(90), &meet, json!({ "publico": true })),
        ("/meets", json!([]), &format!("{meet}/excluir"), json!({})),
    ] {
        shows_at_once(&ana, place, &expected, || drop(admin.post(path, &body).ok()));
    }
    // Changes by time alone: the minutes left, the start of the meet, and 48
    // hours before another one.
    let clock = site.clock();
    admin.post("/admin/meets", &new).expect(201);
    let set = |civil: &str| json!({ "data_hora": civil, "publico": true });
    let list = list(&admin, "/admin/meets");
    let meet = format!("/admin/meets/{}", list["dados"][0]["id"].as_str().unwrap());
    admin.post(&meet, &set("2026-11-20 10:00:00")).ok();
    shows_at_once(&ana, "/meets/0/minutos_restantes", &json!(59), || {
        clock.set("2026-11-20T12:01:00Z");
    });
    clock.set("2026-11-20T12:59:59Z");
    shows_at_once(&ana, "/meets", &json!([]), || clock.set("2026-11-20T13:00:00Z"));
    admin.post(&meet, &set("2026-11-22 10:00:01")).ok();
    shows_at_once(&ana, "/meets/0/minutos_restantes", &json!(2880), || {
        clock.set("2026-11-20T13:00:01Z");
    });
    // A clock that is set back shows what was true then.
    shows_at_once(&ana, "/meets", &json!([]), || clock.set("2026-11-20T12:00:00Z"));
}

#[test]
fn what_the_marketplace_tells_shows_at_once() {
    let world = World::start();
    for (shop, name) in [(LOJA, "LOJA DA ANA"), (OTHER_SHOP, "OUTRA LOJA")] {
        world.seller(shop, name);
        world.item(shop, "Garrafa térmica", 89.9);
    }
    let site = joined(&world).start();
    let (panel, ana) = (site.person("ana"), site.extension("ana"));
    shows_at_once(&ana, "/ml/contas/0/ml_user_id", &json!(LOJA.to_string()), || {
        world.link(&panel, LOJA);
    });
    wait_until_read(&site, &panel);
    let control = |path: &str, body: Value| {
        let answer = world.control(path, &body);
        wait_until_worked(&world, &site);
        answer
    };
    let of_shop = |fields: Value| {
        let mut body = fields;
        body["ml_user_id"] = LOJA.into();
        body
    };
    site.clock().advance_s(60);
    let mut id = String::new();
    shows_at_once(&ana, "/ml/vendas_hoje", &json!(1), || {
        world.sale(LOJA);
        wait_until_worked(&world, &site);
    });
    shows_at_once(&ana, "/ml/total_notifs", &json!(2), || {
        let asked = control("/_sandbox/questions", of_shop(json!({ "text": "Tem azul?" })));
        id = asked["id"].to_string();
    });
    assert_eq!(ana.get(ME).ok()["ml"]["contas"][0]["perguntas"], 1);
    shows_at_once(&ana, "/ml/contas/0/perguntas", &json!(0), || {
        control(&format!("/_sandbox/questions/{id}"), json!({ "answer": "Tem" }));
    });
    shows_at_once(&ana, "/ml/total_reclam", &json!(1), || {
        id = control("/_sandbox/claims", of_shop(json!({})))["id"].to_string();
    });
    shows_at_once(&ana, "/ml/total_reclam", &json!(0), || {
        let closed = json!({ "status": "closed", "resolution": "payment_refunded" });
        control(&format!("/_sandbox/claims/{id}"), closed);
    });
    shows_at_once(&ana, "/ml/contas/0/anuncios", &json!(2), || {
        world.item(LOJA, "Caneca", 35.5);
        panel.post(&format!("/painel/ml/contas/{LOJA}/sincronizar"), &json!({})).ok();
        wait_until_read(&site, &panel);
    });
    let first = ana.get(ME).ok()["ml"]["notificacoes"][0]["id"].take();
    shows_at_once(&ana, "/ml/total_notifs", &json!(2), || {
        ana.post("/api/ext/notificacoes/lidas", &json!({ "ids": [first] })).ok();
    });
    shows_at_once(&ana, "/ml/notificacoes", &json!([]), || {
        panel.post("/painel/avisos/lidos", &json!({ "todas": true })).ok();
    });
    // The periodic tasks find a sale without a notification.
    shows_at_once(&ana, "/ml/vendas_hoje", &json!(2), || {
        world.sale_with(LOJA, &json!({ "notify": false }));
        site.clock().advance_s(3600);
        assert_eq!(cron::run(&site)["ml_sync"]["vendas_novas"], 1);
    });
    // At midnight today's sales become yesterday's.
    shows_at_once(&ana, "/ml/vendas_hoje", &json!(0), || {
        site.clock().set("2026-11-21T03:00:00Z");
    });
    links_show_at_once(&world, &site, &ana);
}

#[test]
fn what_was_sold_today_ends_with_the_civil_day() {
    let (_world, site) = crate::support::shops::shops();
    let ana = site.extension("ana");
    // A minute before midnight and at midnight, three hours later in UTC.
    site.clock().set("2026-11-21T02:59:00Z");
    shows_at_once(&ana, "/ml/vendas_hoje", &json!(0), || {
        site.clock().set("2026-11-21T03:00:00Z");
    });
}

/// A lost link, a new link, and a link that its owner removes.
#[track_caller]
fn links_show_at_once(world: &World, site: &Site, ana: &Actor<'_>) {
    shows_at_once(ana, "/ml/contas/0/token_ok", &json!(false), || {
        world.end_tokens(LOJA, "revoke");
        world.sale(LOJA);
        let refused = "SELECT token_ok || '' FROM ml_account";
        until("the link is lost", PATIENCE, || {
            site.clock().advance_s(5);
            (site.stored(refused) == ["0"]).then_some(())
        });
    });
    assert_eq!(ana.get(ME).ok()["ml"]["notificacoes"][0]["tipo"], "sistema");
    // The session of the morning has ended.
    let panel = site.person("ana");
    shows_at_once(ana, "/ml/contas/1/ml_user_id", &json!(OTHER_SHOP.to_string()), || {
        world.link(&panel, OTHER_SHOP);
    });
    shows_at_once(ana, "/ml/contas/0/ml_user_id", &json!(OTHER_SHOP.to_string()), || {
        panel.post(&format!("/painel/ml/contas/{LOJA}/desvincular"), &json!({})).ok();
    });
}
