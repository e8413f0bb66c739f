//! The operator's home: what is open, and the verdict that follows from it.

use std::time::Duration;

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::checkout::{DAY_S, Event};
use crate::support::client::Request;
use crate::support::people::list;
use crate::support::site::Site;
use crate::support::smtp::Greeter;
use crate::support::telegram::TOKEN;
use crate::support::wait::until;
use crate::support::world::World;

const GREEN: &str = "Tudo em ordem";

#[track_caller]
fn home(admin: &Actor<'_>) -> String {
    admin.get("/admin").expect(200).text()
}

#[test]
fn nothing_is_in_order_while_something_is_open() {
    let site = Site::builder()
        .unlimited()
        .config("marketplace.client_id", "")
        .config("marketplace.client_secret", "")
        .config("database.backup_dir", "")
        .start();
    let admin = site.administrator();
    let page = home(&admin);
    assert!(!page.contains(GREEN) && !page.contains("Nada espera por você"), "{page}");
    for open in [
        "Funcionando, com algo para resolver",
        "O marketplace não está configurado",
        "Nenhuma cópia de segurança",
        "Canais desligados: Chat, E-mail, Telegram e Navegador",
        "Sem chat nem e-mail, ninguém recebe links de senha.",
        "As tarefas periódicas não estão rodando",
    ] {
        assert!(page.contains(open), "{open}: {page}");
    }
    assert!(!page.contains("pagamento"), "{page}");
    // Purchases: one late, two in dispute.
    let platform = site.anonymous();
    for (name, event) in
        [("lia", "PURCHASE_DELAYED"), ("rui", "PURCHASE_PROTEST"), ("ana", "PURCHASE_PROTEST")]
    {
        let (email, number) = (format!("{name}@example.com"), format!("HP-{name}"));
        Event::approved(&format!("a-{name}"), &email, &number, 0).send(&platform).ok();
        let id = format!("b-{name}");
        let transaction = if name == "lia" { "HP-lia-2" } else { &number };
        Event::new(&id, event, &email, transaction, 0)
            .next_charge(60)
            .renewal(if name == "lia" { 2 } else { 1 })
            .send(&platform)
            .ok();
    }
    let page = home(&admin);
    for (open, href) in [
        ("1 aluno com pagamento em atraso", "/admin/alunos?status=atrasado"),
        ("2 alunos com pagamento em disputa", "/admin/alunos?em_disputa=sim"),
    ] {
        assert!(page.contains(&format!("<a href=\"{href}\">{open}</a>")), "{open}: {page}");
        admin.get(href).expect(200);
    }
    assert!(page.contains("esperam até o canal delas ser configurado"), "{page}");
}

#[test]
fn when_nothing_is_open_all_is_in_order() {
    let world = World::start();
    let mail = Greeter::start("235 welcome");
    let address = format!("http://{}", world.address());
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("copia.db");
    std::fs::write(&copy, "x").unwrap();
    let made = |days: i64| {
        let at = world.clock().now() - jiff::SignedDuration::from_hours(days * 24);
        let file = std::fs::File::options().write(true).open(&copy).unwrap();
        file.set_modified(at.try_into().unwrap()).unwrap();
    };
    made(1);
    let site = Site::builder()
        .unlimited()
        .world(&world)
        .config("cron.enabled", true)
        .config("database.backup_dir", copies.path().display().to_string())
        .config("chat.gateway", "evolution")
        .config("chat.base_url", address.clone())
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("telegram.bot_token", TOKEN)
        .config("telegram.api_base", address.clone())
        .config("push.subject", "mailto:escola@example.com")
        .config("email.smtp_url", format!("smtp://{}", mail.address))
        .start();
    let admin = site.administrator();
    until("all is in order", Duration::from_secs(20), || {
        home(&admin).contains(GREEN).then_some(())
    });
    assert!(home(&admin).contains("Nada espera por você"));
    made(3);
    let page = home(&admin);
    assert!(page.contains("A última cópia de segurança é de") && !page.contains(GREEN), "{page}");
    made(0);
    assert!(home(&admin).contains(GREEN));
    // A number that nobody has, and a mail server that accepts no mail.
    let body = json!({ "nome": "Ana", "email": "ana@example.com", "chat_number": "5511900000000" });
    site.key(&["write"]).post("/api/v1/alunos/criar", &body).expect(201);
    until("the failure is told", Duration::from_secs(20), || {
        (!home(&admin).contains(GREEN)).then_some(())
    });
    // The files beside the database.
    let key = site.database().with_file_name("seller-platform.db.key");
    let aside = key.with_extension("aside");
    std::fs::rename(&key, &aside).unwrap();
    site.expect_in_log("the key file (.key) is not beside the database");
    until("the missing key is told", Duration::from_secs(20), || {
        home(&admin).contains("O serviço precisa de você agora").then_some(())
    });
    std::fs::rename(&aside, &key).unwrap();
}

#[test]
fn a_marketplace_that_is_away_has_its_line() {
    let site = Site::builder().unlimited().start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    assert!(!home(&admin).contains("O marketplace não responde"));
    // Nothing listens there; each person who comes back from it makes one call.
    until("enough calls have failed", Duration::from_secs(60), || {
        let asked = ana.get("/painel/ml/conectar");
        let state = asked.header("location").and_then(|to| to.split("state=").nth(1));
        let state = state.and_then(|state| state.split('&').next()).unwrap_or_default();
        ana.get(&format!("/painel/ml/retorno?code=TG-1&state={state}"));
        home(&admin).contains("O marketplace não responde").then_some(())
    });
}

/// Sends a browser's form.
#[track_caller]
fn form(admin: &Actor<'_>, path: &str, fields: &[(&str, &str)]) -> String {
    let sent = admin.send(Request::new("POST", path).header("Accept", "text/html").form(fields));
    sent.expect(303).header("location").unwrap_or_default().to_owned()
}

#[test]
fn the_checklist_leads_through_the_first_set_up_and_goes() {
    let mail = Greeter::start("235 welcome");
    let copies = tempfile::tempdir().unwrap();
    let site = Site::builder()
        .unlimited()
        .config("database.backup_dir", copies.path().display().to_string())
        .config("marketplace.client_id", "app")
        .config("marketplace.client_secret", "segredo")
        .config("email.smtp_url", format!("smtp://{}", mail.address))
        .start();
    let admin = site.administrator();
    let page = home(&admin);
    for step in ["Para começar", "Fazer uma cópia", "Criar um plano", "Cadastrar o primeiro aluno"]
    {
        assert!(page.contains(step), "{step}: {page}");
    }
    let back = form(&admin, "/admin/diagnostico/canais/email/testar", &[("volta", "inicio")]);
    assert_eq!(back, "/admin");
    assert!(home(&admin).contains("O canal responde"));
    assert_eq!(form(&admin, "/admin/copias/copiar", &[("volta", "inicio")]), "/admin");
    admin.post("/admin/planos", &json!({ "titulo": "Pro", "preco": 97 })).expect(201);
    admin.post("/admin/cursos", &json!({ "titulo": "Primeira venda" })).expect(201);
    let ana = json!({ "nome": "Ana", "email": "ana@example.com" });
    assert!(home(&admin).contains("Cadastrar aluno"));
    admin.post("/admin/alunos", &ana).expect(201);
    until("the checklist is done", Duration::from_secs(20), || {
        (!home(&admin).contains("Para começar")).then_some(())
    });
}

#[test]
fn who_is_overdue_is_named_and_given_time_from_the_row() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let platform = site.anonymous();
    let paid = |event: Event| event.with("/data/purchase/price", json!({ "value": 97.5 }));
    paid(Event::approved("a", "lia@example.com", "HP-1", 0)).send(&platform).ok();
    Event::new("b", "PURCHASE_DELAYED", "lia@example.com", "HP-2", 1)
        .renewal(2)
        .send(&platform)
        .ok();
    assert!(!home(&admin).contains("Lia Prado"), "what is paid needs nobody");
    site.clock().advance_s(31 * DAY_S);
    let admin = site.administrator();
    let page = home(&admin);
    for part in ["Lia Prado", "pago até 20/12/2026", "97,50", "Dar prazo", "Mensagem"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let id = list(&admin, "/admin/alunos?q=lia")["dados"][0]["id"].as_str().unwrap().to_owned();
    let until = || list(&admin, &format!("/admin/alunos/{id}"))["pago_ate"].clone();
    let before = until();
    let path = format!("/admin/alunos/{id}/prazo");
    assert_eq!(form(&admin, &path, &[("dias", "7"), ("volta", "inicio")]), "/admin");
    assert_eq!(until(), "2026-12-28 23:59:59");
    let page = home(&admin);
    assert!(page.contains("Prazo dado") && page.contains("Desfazer"), "{page}");
    assert!(!home(&admin).contains("Lia Prado"), "the row is gone");
    let noted = list(&admin, "/admin/auditoria?q=dar_prazo")["dados"][0].clone();
    let entry = noted["id"].as_str().unwrap();
    let fields = [("de", entry), ("ate", entry), ("volta", "inicio")];
    form(&admin, "/admin/alunos/desfazer", &fields);
    assert!(home(&admin).contains("Desfeito"));
    assert_eq!(until(), before);
    form(&admin, "/admin/alunos/desfazer", &fields);
    assert!(home(&admin).contains("Nada foi desfeito"));
    admin.post(&path, &json!({ "dias": 61 })).expect(422);
}
