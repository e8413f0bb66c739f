//! Acts on several students: chosen by boxes or by the filter, and taken back.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::client::{Reply, Request};
use crate::support::people::{faults, list, make, page};
use crate::support::site::Site;

const PATH: &str = "/admin/alunos/em-lote";

#[track_caller]
fn form(admin: &Actor<'_>, path: &str, fields: &[(&str, &str)]) -> Reply {
    admin.send(Request::new("POST", path).header("Accept", "text/html").form(fields))
}

/// Three students; their numbers.
fn crowd(admin: &Actor<'_>) -> Vec<String> {
    ["Ana", "Bia", "Caio"]
        .map(|name| make(admin, name, &format!("{name}@x.com").to_lowercase(), "pro"))
        .into()
}

/// The value of a hidden field of the notice that takes an act back.
fn undo_field(page: &str, name: &str) -> String {
    let form = page.split("/admin/alunos/desfazer").nth(1).unwrap();
    let value = form.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
    value.split('"').next().unwrap().to_owned()
}

#[track_caller]
fn undo(admin: &Actor<'_>, page: &str) {
    let [from, to] = ["de", "ate"].map(|name| undo_field(page, name));
    form(admin, "/admin/alunos/desfazer", &[("de", &from), ("ate", &to)]).expect(303);
}

#[test]
fn what_is_ticked_is_suspended_and_comes_back() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let ids = crowd(&admin);
    let asked = format!("{PATH}?acao=suspender&ids={}&ids={}&filtro=plano%3Dpro", ids[0], ids[1]);
    let asked = page(&admin, &asked).expect(200).text();
    assert!(asked.contains("Suspender 2 alunos") && asked.contains("Ana, Bia"), "{asked}");
    let fields = |reason| {
        [
            ("acao", "suspender"),
            ("ids", &*ids[0]),
            ("ids", &*ids[1]),
            ("filtro", "plano=pro"),
            ("motivo", reason),
        ]
    };
    let again = form(&admin, PATH, &fields("x")).expect(422).text();
    assert!(again.contains("Diga o motivo") && again.contains(&format!("value=\"{}\"", ids[1])));
    let done = form(&admin, PATH, &fields("não pagou")).expect(303);
    assert_eq!(done.header("location"), Some("/admin/alunos?plano=pro"));
    assert_eq!(list(&admin, "/admin/alunos?status=suspenso")["total"], 2);
    let told = page(&admin, "/admin/alunos?plano=pro").expect(200).text();
    assert!(told.contains("Acesso de 2 alunos suspenso"), "{told}");
    assert_eq!(list(&admin, "/admin/auditoria?q=suspender")["total"], 2);
    undo(&admin, &told);
    assert_eq!(list(&admin, "/admin/alunos?status=suspenso")["total"], 0);
    // Undoing the first again leaves the second, which came later, as it is.
    site.clock().advance_s(5);
    let done = form(&admin, PATH, &fields("não pagou")).expect(303);
    let newer = page(&admin, done.header("location").unwrap()).text();
    undo(&admin, &told);
    assert_eq!(list(&admin, "/admin/alunos?status=suspenso")["total"], 2);
    // Another administrator does not take back what one has done, nor does anybody later.
    undo(&site.person_as("outra", "admin"), &newer);
    site.clock().advance_s(700);
    undo(&site.administrator(), &newer);
    assert_eq!(list(&admin, "/admin/alunos?status=suspenso")["total"], 2);
}

#[test]
fn all_of_the_filter_get_a_plan_and_the_old_one_back() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    crowd(&admin);
    make(&admin, "Davi", "davi@x.com", "free");
    let plan = json!({
        "titulo": "Anual", "preco": 997, "periodicidade": "anual",
        "plano_da_conta": "vip", "plano_de_api": "starter",
    });
    let plan = admin.post("/admin/planos", &plan).expect(201).json()["id"].clone();
    let plan = format!("plano:{}", plan.as_str().unwrap());
    let ouro =
        json!({ "acao": "plano", "todos": true, "filtro": "plano=free", "plano": "papel:ouro" });
    assert_eq!(faults(&admin.post(PATH, &ouro).expect(422)), "plano");
    admin.post(PATH, &json!({ "acao": "apagar", "todos": true })).expect(404);
    let fields = [("acao", "plano"), ("todos", "1"), ("filtro", "plano=pro"), ("plano", &*plan)];
    form(&admin, PATH, &fields).expect(303);
    let vips = list(&admin, "/admin/alunos?plano=vip");
    assert_eq!(
        (&vips["total"], &vips["dados"][0]["pago_ate"]),
        (&json!(3), &json!("2027-11-20 23:59:59"))
    );
    let told = page(&admin, "/admin/alunos?plano=pro").expect(200).text();
    undo(&admin, &told);
    assert_eq!(list(&admin, "/admin/alunos?plano=pro")["total"], 3);
    assert_eq!(list(&admin, "/admin/alunos?plano=pro")["dados"][0]["pago_ate"], json!(null));
    let bad = json!({ "acao": "plano", "todos": true, "filtro": "plano=ouro", "plano": plan });
    assert_eq!(faults(&admin.post(PATH, &bad).expect(422)), "filtro");
    let nobody = page(&admin, &format!("{PATH}?acao=plano")).expect(303);
    assert_eq!(nobody.header("location"), Some("/admin/alunos"));
}

#[test]
fn a_message_is_in_the_notices_and_by_the_channels_that_are_on() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let lia = site.person("lia");
    let id = list(&admin, "/admin/alunos?q=lia")["dados"][0]["id"].as_str().unwrap().to_owned();
    let asked =
        page(&admin, &format!("{PATH}?acao=mensagem&ids={id}&volta={id}")).expect(200).text();
    assert!(asked.contains("Mensagem para"), "{asked}");
    let fields = [
        ("acao", "mensagem"),
        ("ids", &*id),
        ("volta", &*id),
        ("titulo", "Sobre a mentoria"),
        ("texto", "Começa às nove."),
    ];
    let back = form(&admin, PATH, &fields).expect(303);
    assert_eq!(back.header("location"), Some(&*format!("/admin/alunos/{id}")));
    let record = page(&admin, &format!("/admin/alunos/{id}")).text();
    assert!(record.contains("Mensagem enviada") && !record.contains("Desfazer"), "{record}");
    assert!(record.contains("Enviar uma mensagem a"), "{record}");
    let notices = page(&lia, "/painel/avisos").expect(200).text();
    assert!(notices.contains("Sobre a mentoria") && notices.contains("Começa às nove."));
}

#[test]
fn the_record_tells_what_happened_in_words_and_by_pages() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let lia = site.person_as("lia", "pro");
    let email = lia.person().email.clone();
    let price = json!({ "value": 97 });
    let bought = Event::approved("a", &email, "HP-1", 0).with("/data/purchase/price", price);
    bought.send(&site.anonymous()).ok();
    let id = list(&admin, "/admin/alunos?q=lia")["dados"][0]["id"].as_str().unwrap().to_owned();
    let target = format!("/admin/alunos/{id}");
    let record = page(&admin, &target).expect(200).text();
    for part in ["Compra aprovada: R$", "97,00", "Entrou", "pago até", "Plano de API"] {
        assert!(record.contains(part), "{part}: {record}");
    }
    for (part, says) in [
        ("loja", "Vendas em 30 dias"),
        ("aprendizado", "id=\"programa\""),
        ("acesso", "Sessões abertas"),
    ] {
        let shown = page(&admin, &format!("{target}?aba={part}")).expect(200).text();
        assert!(shown.contains(says), "{part}: {shown}");
    }
    for number in 0..40 {
        site.clock().advance_s(60);
        admin.post(&target, &json!({ "nome": format!("Lia {number}") })).ok();
    }
    let first = page(&admin, &target).text();
    let older = first.split("href=\"").find_map(|link| {
        let link = link.split('"').next()?;
        link.contains("?antes=").then(|| link.to_owned())
    });
    let older = page(&admin, &older.unwrap()).expect(200).text();
    assert!(older.contains("Compra aprovada") && !first.contains("Compra aprovada"), "{older}");
}

#[test]
fn a_student_without_a_channel_has_a_link_to_copy_once() {
    let site = Site::builder().unlimited().config("email.smtp_url", "").start();
    let admin = site.administrator();
    let made =
        form(&admin, "/admin/alunos", &[("nome", "Bia"), ("email", "bia@x.com"), ("plano", "vip")]);
    let record = made.expect(303).header("location").unwrap().to_owned();
    let shown = page(&admin, &record).expect(200).text();
    let link = shown.split("/senha?codigo=").nth(1).expect("the link");
    let code: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    site.anonymous().get(&format!("/senha?codigo={code}")).expect(200);
    assert!(!page(&admin, &record).text().contains("/senha?codigo="), "shown once");
    let again = admin.post(&format!("{record}/link-de-senha"), &json!({ "copiar": true })).ok();
    assert!(again["link"].as_str().unwrap().contains("/senha?codigo="), "{again}");
    let form = page(&admin, "/admin/alunos/novo").text();
    assert!(form.contains("link para escolher a senha, para copiar e entregar"), "{form}");
}
