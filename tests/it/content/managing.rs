//! Teachers, courses, lessons and meets, as staff manages them: by form and by
//! JSON.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::content::{made, shown};
use crate::support::html::{Element, Page};
use crate::support::site::Site;

/// Sends a browser's form.
#[track_caller]
pub fn form(actor: &Actor<'_>, path: &str, fields: &[(&str, &str)]) -> Reply {
    let request = Request::new("POST", path).header("Accept", "text/html");
    actor.send(request.form(fields))
}

fn searching(text: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("q", text).finish()
}

#[track_caller]
pub fn location(reply: &Reply) -> &str {
    reply.header("location").unwrap_or_default()
}

fn faults(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    body["fields"].as_object().unwrap().keys().cloned().collect()
}

/// A resource with a valid body, a change, and invalid bodies with the fields
/// that are wrong in them.
struct Resource {
    path: &'static str,
    good: Value,
    /// What the form of the resource sends.
    form: Vec<(&'static str, String)>,
    change: Value,
    bad: Vec<(Value, Vec<&'static str>)>,
}

/// What a browser's form sends.
fn fields(fields: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let fields = fields.iter();
    fields.map(|(name, value)| (*name, (*value).to_owned())).collect()
}

fn resources(course: &str, teacher: &str) -> [Resource; 4] {
    [teachers(), courses(), lessons(course, teacher), meets(teacher)]
}

fn teachers() -> Resource {
    Resource {
        path: "/admin/professores",
        good: json!({
            "nome": "Rita Prado", "bio": "Vende há dez anos.\nEnsina há cinco.",
            "redes": { "instagram": "https://instagram.com/rita", "site": "https://rita.example.com" },
        }),
        form: fields(&[
            ("nome", "Beto Reis"),
            ("bio", ""),
            ("youtube", "https://youtube.com/@beto"),
        ]),
        change: json!({ "bio": "Outra história." }),
        bad: vec![
            (json!({}), vec!["nome"]),
            (json!({ "nome": "R" }), vec!["nome"]),
            (json!({ "nome": 7, "bio": [] }), vec!["bio", "nome"]),
            (json!({ "nome": "Rita", "redes": { "site": "http://x.example.com" } }), vec!["site"]),
            (json!({ "nome": "Rita", "redes": "eu" }), vec!["redes"]),
            (json!({ "nome": "Rita", "instagram": "javascript:alert(1)" }), vec!["instagram"]),
            (json!({ "nome": "Rita", "bio": "x".repeat(2001) }), vec!["bio"]),
        ],
    }
}

fn courses() -> Resource {
    Resource {
        path: "/admin/cursos",
        good: json!({
            "titulo": "Do zero à primeira venda", "descricao": "Cadastro, anúncio, envio.",
            "ordem": 3, "publicado": false, "papeis": ["pro", "vip"],
        }),
        form: fields(&[
            ("titulo", "Anúncios que vendem"),
            ("descricao", ""),
            ("ordem", ""),
            ("publicado", "1"),
            ("papeis", "podio"),
        ]),
        change: json!({ "publicado": true, "papeis": [] }),
        bad: vec![
            (json!({}), vec!["titulo"]),
            (json!({ "titulo": "x".repeat(121) }), vec!["titulo"]),
            (
                json!({ "titulo": "Curso", "ordem": 0, "publicado": "sim" }),
                vec!["ordem", "publicado"],
            ),
            (json!({ "titulo": "Curso", "papeis": ["drop"] }), vec!["papeis"]),
            (json!({ "titulo": "Curso", "papeis": "vip" }), vec!["papeis"]),
        ],
    }
}

fn lessons(course: &str, teacher: &str) -> Resource {
    Resource {
        path: "/admin/aulas",
        good: json!({
            "titulo": "Fotos que vendem", "curso_id": course, "professor_id": teacher,
            "video_url": "https://youtu.be/abcdefghijk", "ordem": 2,
        }),
        form: fields(&[
            ("titulo", "Títulos que vendem"),
            ("curso_id", course),
            ("professor_id", ""),
            ("video_url", "https://vimeo.com/76979871"),
            ("ordem", ""),
        ]),
        change: json!({ "titulo": "Fotos com o celular" }),
        bad: vec![
            (json!({}), vec!["curso_id", "titulo", "video_url"]),
            (
                json!({ "titulo": "Aula", "curso_id": "999999", "video_url": "https://youtu.be/a" }),
                vec!["curso_id"],
            ),
            (
                json!({ "titulo": "Aula", "curso_id": course, "video_url": "ftp://x.example.com" }),
                vec!["video_url"],
            ),
            (
                json!({ "titulo": "Aula", "curso_id": course, "professor_id": 999_999, "video_url": "https://youtu.be/a", "ordem": "1" }),
                vec!["ordem", "professor_id"],
            ),
        ],
    }
}

fn meets(teacher: &str) -> Resource {
    Resource {
        path: "/admin/meets",
        good: json!({
            "titulo": "Tira-dúvidas", "descricao": "Traga a sua pergunta.", "professor_id": teacher,
            "data_hora": "2026-11-25 20:00:00", "duracao_minutos": 90,
            "link": "https://meet.example.com/abc", "publico": true,
        }),
        form: fields(&[
            ("titulo", "Plantão de anúncios"),
            ("descricao", ""),
            ("data_hora", "2026-12-01T19:30"),
            ("duracao_minutos", "45"),
            ("professor_id", teacher),
            ("link", ""),
        ]),
        change: json!({ "data_hora": "2026-11-26 21:00:00" }),
        bad: vec![
            (json!({}), vec!["data_hora", "titulo"]),
            (json!({ "titulo": "Encontro", "data_hora": "amanhã" }), vec!["data_hora"]),
            (
                json!({ "titulo": "Encontro", "data_hora": "2026-02-30 20:00:00" }),
                vec!["data_hora"],
            ),
            (
                json!({ "titulo": "Encontro", "data_hora": "2026-11-25 20:00:00", "duracao_minutos": 0, "link": "meet.example.com" }),
                vec!["duracao_minutos", "link"],
            ),
            (
                json!({ "titulo": "Encontro", "data_hora": "2026-11-25 20:00:00", "professor_id": "ana" }),
                vec!["professor_id"],
            ),
        ],
    }
}

#[test]
fn staff_keeps_every_resource_by_json() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar" }));
    let teacher = made(&admin, "/admin/professores", &json!({ "nome": "Caio Luz" }));
    for Resource { path, good, change, bad, .. } in resources(&course, &teacher) {
        let before = shown(&admin, path)["total"].as_i64().unwrap();
        for (body, wrong) in bad {
            let reply = admin.post(path, &body).expect(422);
            assert_eq!(faults(&reply), wrong, "{path} {body}");
        }
        assert_eq!(shown(&admin, path)["total"], before, "{path}: half done");

        let id = made(&admin, path, &good);
        let one = format!("{path}/{id}");
        let mut expected = good.clone();
        let same = |expected: &Value| {
            let now = shown(&admin, &one);
            assert_eq!(now["id"], id);
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(&now[name], value, "{one} {name}");
            }
            now
        };
        same(&expected);
        // Fields that are left out keep their values.
        admin.post(&one, &change).ok();
        for (name, value) in change.as_object().unwrap() {
            expected[name] = value.clone();
        }
        let now = same(&expected);
        let listed = shown(&admin, &format!("{path}?por_pagina=100"));
        assert_eq!(listed["total"], before + 1);
        assert!(listed["dados"].as_array().unwrap().contains(&now), "{listed}");

        let file = admin.get(&format!("{path}?formato=csv")).expect(200);
        assert!(file.header("content-type").unwrap().starts_with("text/csv"));
        assert_eq!(
            file.text().matches("\r\n").count(),
            usize::try_from(before).unwrap() + 2,
            "{}",
            file.text()
        );

        let gone = admin.post(&format!("{one}/excluir"), &json!({})).ok();
        assert_eq!(gone, json!({ "ok": true, "id": id }));
        for method in ["GET", "POST"] {
            let asked = Request::new(method, &one).header("Accept", "application/json");
            let asked = if method == "POST" { asked.json(&good) } else { asked };
            assert_eq!(admin.send(asked).expect(404).code(), "not_found");
        }
        admin.post(&format!("{one}/excluir"), &json!({})).expect(404);
        admin.post(&format!("{path}/x/excluir"), &json!({})).expect(404);
    }
}

#[test]
fn staff_keeps_every_resource_by_form() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar" }));
    let teacher = made(&admin, "/admin/professores", &json!({ "nome": "Caio Luz" }));
    for Resource { path, form: fields, good, .. } in resources(&course, &teacher) {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = form(&admin, path, &fields).expect(303);
        assert!(!location(&reply).contains("aviso"), "{reply}");
        let page = admin.get(location(&reply)).expect(200).text();
        assert!(page.contains("criad"), "{path} tells that it was made");
        assert!(page.contains(fields[0].1), "{path} shows it");
        let listed = shown(&admin, &format!("{path}?{}", searching(fields[0].1)));
        assert_eq!(listed["total"], 1, "{path}");
        let id = listed["dados"][0]["id"].as_str().unwrap().to_owned();
        let one = format!("{path}/{id}");
        let page = admin.get(&one).expect(200).text();
        assert!(page.contains(fields[0].1));

        // The message is next to its field, and the typed values are kept.
        let mut wrong = fields.clone();
        wrong[0].1 = "";
        for place in [path, &one] {
            let reply = form(&admin, place, &wrong).expect(422);
            let page = reply.text();
            assert!(page.contains("aria-invalid=\"true\""), "{place}");
            assert!(page.contains("Falta corrigir um campo"), "{place}");
            for (name, value) in &wrong[1..] {
                assert!(page.contains(value), "{place}: {name} was lost");
            }
        }
        let mut other = fields.clone();
        other[0].1 = "Um nome novo";
        let reply = form(&admin, &one, &other).expect(303);
        assert!(!location(&reply).contains("aviso"), "{reply}");
        let now = shown(&admin, &one);
        let name = if good["nome"].is_null() { "titulo" } else { "nome" };
        assert_eq!(now[name], "Um nome novo");
        let reply = form(&admin, &format!("{one}/excluir"), &[]).expect(303);
        assert!(!location(&reply).contains("aviso"), "{reply}");
        admin.get(&one).expect(404);
    }
}

#[test]
fn an_unticked_box_is_no_and_an_empty_choice_nobody() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar", "papeis": ["vip"] }));
    let teacher = made(&admin, "/admin/professores", &json!({ "nome": "Caio Luz" }));
    let meet = json!({
        "titulo": "Tira-dúvidas", "data_hora": "2026-11-25 20:00:00", "professor_id": teacher, "publico": true,
    });
    let meet = made(&admin, "/admin/meets", &meet);
    form(&admin, &format!("/admin/cursos/{course}"), &[("titulo", "Começar")]).expect(303);
    let now = shown(&admin, &format!("/admin/cursos/{course}"));
    assert_eq!((&now["publicado"], &now["papeis"]), (&json!(false), &json!([])));
    let fields =
        [("titulo", "Tira-dúvidas"), ("data_hora", "2026-11-25T20:00"), ("professor_id", "")];
    form(&admin, &format!("/admin/meets/{meet}"), &fields).expect(303);
    let now = shown(&admin, &format!("/admin/meets/{meet}"));
    assert_eq!((&now["publico"], &now["professor_id"]), (&json!(false), &json!(null)));
    // Programs remove a reference with null or an empty text; leaving it out
    // keeps it.
    let path = format!("/admin/meets/{meet}");
    admin.post(&path, &json!({ "professor_id": teacher })).ok();
    admin.post(&path, &json!({ "titulo": "Plantão" })).ok();
    assert_eq!(shown(&admin, &path)["professor_id"], teacher);
    for none in [json!(null), json!("")] {
        admin.post(&path, &json!({ "professor_id": teacher })).ok();
        admin.post(&path, &json!({ "professor_id": none })).ok();
        assert_eq!(shown(&admin, &path)["professor_id"], json!(null));
    }
}

#[test]
fn lessons_keep_their_order_and_change_places() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar" }));
    let other = made(&admin, "/admin/cursos", &json!({ "titulo": "Crescer" }));
    let lesson = |title: &str| {
        let body = json!({ "titulo": title, "curso_id": course, "video_url": "https://youtu.be/abcdefghijk" });
        made(&admin, "/admin/aulas", &body)
    };
    let ids: Vec<String> = ["Um", "Dois", "Três"].iter().map(|title| lesson(title)).collect();
    let order = |course: &str| {
        let listed = shown(&admin, &format!("/admin/aulas?curso={course}"));
        let rows = listed["dados"].as_array().unwrap().clone();
        rows.iter().map(|row| row["titulo"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(&course), ["Um", "Dois", "Três"]);
    let shift =
        |id: &str, way: &str| form(&admin, &format!("/admin/aulas/{id}/{way}"), &[]).expect(303);
    let reply = shift(&ids[2], "subir");
    assert_eq!(location(&reply), format!("/admin/cursos/{course}"));
    assert_eq!(order(&course), ["Um", "Três", "Dois"]);
    shift(&ids[0], "descer");
    assert_eq!(order(&course), ["Três", "Um", "Dois"]);
    // The first cannot move up, and the last cannot move down.
    shift(&ids[2], "subir");
    shift(&ids[1], "descer");
    assert_eq!(order(&course), ["Três", "Um", "Dois"]);
    // Lessons with the same place can be moved as well.
    for id in &ids {
        admin.post(&format!("/admin/aulas/{id}"), &json!({ "ordem": 5 })).ok();
    }
    assert_eq!(order(&course), ["Um", "Dois", "Três"]);
    shift(&ids[2], "subir");
    assert_eq!(order(&course), ["Um", "Três", "Dois"]);
    // A lesson that moves to another course becomes its last one.
    for id in &ids[..2] {
        admin.post(&format!("/admin/aulas/{id}"), &json!({ "curso_id": other })).ok();
    }
    assert_eq!(
        (order(&course), order(&other)),
        (vec!["Três".into()], vec!["Um".into(), "Dois".into()])
    );
    admin.post(&format!("/admin/aulas/{}", ids[0]), &json!({ "titulo": "Uma" })).ok();
    assert_eq!(order(&other), ["Uma", "Dois"]);
    let gone = Request::new("POST", "/admin/aulas/999999/subir").json(&json!({}));
    admin.send(gone).expect(404);
}

#[test]
fn what_is_in_use_is_not_removed() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar" }));
    let teacher = made(&admin, "/admin/professores", &json!({ "nome": "Caio Luz" }));
    let lesson = json!({
        "titulo": "Um", "curso_id": course, "professor_id": teacher, "video_url": "https://youtu.be/abcdefghijk",
    });
    let lesson = made(&admin, "/admin/aulas", &lesson);
    let meet =
        json!({ "titulo": "Plantão", "data_hora": "2026-11-25 20:00:00", "professor_id": teacher });
    let meet = made(&admin, "/admin/meets", &meet);
    for (path, hint) in [
        (format!("/admin/cursos/{course}"), "ainda tem 1 aula"),
        (format!("/admin/professores/{teacher}"), "1 aula e 1 encontro"),
    ] {
        let reply = admin.post(&format!("{path}/excluir"), &json!({})).expect(409);
        assert_eq!(reply.code(), "conflict");
        assert!(reply.text().contains(hint), "{reply}");
        let reply = form(&admin, &format!("{path}/excluir"), &[]).expect(303);
        assert_eq!(location(&reply), path);
        let page = admin.get(location(&reply)).expect(200).text();
        assert!(page.contains("Nada foi excluído"), "{page}");
        assert!(page.contains("Não dá para excluir agora"), "{page}");
    }
    for path in [format!("/admin/aulas/{lesson}"), format!("/admin/meets/{meet}")] {
        admin.post(&format!("{path}/excluir"), &json!({})).ok();
    }
    for path in [format!("/admin/cursos/{course}"), format!("/admin/professores/{teacher}")] {
        admin.post(&format!("{path}/excluir"), &json!({})).ok();
    }
}

/// What to type into a text field of a form; each value is found again.
fn typed(field: &Element) -> String {
    let name = field.get("name").unwrap_or_default();
    match field.get("type").unwrap_or("text") {
        "email" => format!("{name}@exemplo.com"),
        "url" => format!("https://{name}.exemplo.com/rita"),
        "tel" => "5511912345678".to_owned(),
        _ => format!("Escrito em {name}"),
    }
}

#[test]
fn every_text_of_a_teacher_and_a_student_is_on_the_page_and_in_the_file() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    for path in ["/admin/professores", "/admin/alunos"] {
        let page = Page::read(&admin.get(&format!("{path}/novo")).expect(200).text()).unwrap();
        let in_form = |one: &Element| {
            page.path(one).any(|around| around.is(&["form"]) && around.get("action") == Some(path))
        };
        let texts: Vec<(&str, String)> = page
            .all(&["input", "textarea"])
            .filter(|one| in_form(one) && one.get("type") != Some("hidden"))
            .map(|one| (one.get("name").unwrap(), typed(one)))
            .collect();
        assert!(texts.len() > 2, "{path}: {texts:?}");
        let mut sent: Vec<(&str, &str)> =
            texts.iter().map(|(name, value)| (*name, &**value)).collect();
        sent.push(("plano", "pro"));
        form(&admin, path, &sent).expect(303);
        let id = shown(&admin, path)["dados"][0]["id"].as_str().unwrap().to_owned();
        let shown = admin.get(&format!("{path}/{id}")).expect(200).text();
        let file = admin.get(&format!("{path}?formato=csv")).expect(200).text();
        for (name, value) in &texts {
            assert!(shown.contains(&**value), "{path}: no {name} on the page");
            assert!(file.contains(&**value), "{path}: no {name} in the file");
        }
    }
}
