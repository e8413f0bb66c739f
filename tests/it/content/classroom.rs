//! Courses, lessons and meets as students see them: who may see what, watching
//! and marking, the agenda and its calendar files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::content::managing::{form, location};
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::content::{course, made, shown};
use crate::support::site::Site;
use crate::support::webdriver::Browser;

/// Titles of the courses that a student sees.
#[track_caller]
fn courses(student: &Actor<'_>) -> Vec<String> {
    let listed = shown(student, "/painel/aulas");
    let courses = listed["dados"].as_array().unwrap().iter();
    courses.map(|one| one["titulo"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_role_sees_the_courses_that_are_for_it() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let mut made = BTreeMap::new();
    for (title, roles, published) in [
        ("Pagos", json!([]), true),
        ("Abertos", json!(["free", "vip"]), true),
        ("Pódio", json!(["podio"]), true),
        ("Rascunho", json!(["free", "pro", "vip", "podio"]), false),
    ] {
        let body = json!({ "titulo": title, "papeis": roles, "publicado": published });
        made.insert(title, course(&admin, &body, &["Um"]));
    }
    for (role, sees) in [
        ("free", vec!["Abertos"]),
        ("pro", vec!["Pagos"]),
        ("vip", vec!["Pagos", "Abertos"]),
        ("piloto_pro", vec!["Pagos"]),
        ("podio", vec!["Pagos", "Pódio"]),
    ] {
        let student = site.person_as(role, role);
        assert_eq!(courses(&student), sees, "{role}");
        let page = student.get("/painel/aulas").expect(200).text();
        // A course of other plans is offered with them; what is not published is not.
        assert!(!page.contains("Rascunho"), "{role}");
        for (title, (course, lessons)) in &made {
            let may = sees.contains(title);
            let is_open = page.contains(&format!("href=\"/painel/aulas/{course}"));
            assert_eq!(is_open, may, "{role} {title}");
            let status = if may { 200 } else { 404 };
            let watch = format!("/painel/aulas/{course}/{}", lessons[0]);
            for path in [&format!("/painel/aulas/{course}"), &watch] {
                student.get(path).expect(status);
            }
            let mark = json!({ "feita": false });
            student.post(&format!("{watch}/feita"), &mark).expect(status);
        }
    }
    let (paid, open) = (&made["Pagos"], &made["Abertos"]);
    let vip = site.person_as("vip", "vip");
    // A lesson can be watched only within its own course.
    vip.get(&format!("/painel/aulas/{}/{}", paid.0, open.1[0])).expect(404);
    // A course that staff withdraws is hidden at once.
    let path = format!("/admin/cursos/{}", open.0);
    admin.post(&path, &json!({ "publicado": false })).ok();
    assert_eq!(courses(&vip), ["Pagos"]);
}

#[test]
fn lessons_are_watched_in_order_and_marked() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let titles = ["Cadastro", "Anúncio", "Envio"];
    let (course, lessons) = course(&admin, &json!({ "titulo": "Começar" }), &titles);
    let (ana, bia) = (site.person("ana"), site.person("bia"));
    let at = |index: usize| format!("/painel/aulas/{course}/{}", lessons[index]);
    let progress = |student: &Actor<'_>| {
        let course = shown(student, "/painel/aulas")["dados"][0].clone();
        (course["feitas"].as_u64().unwrap(), course["proxima_aula"].as_str().map(str::to_owned))
    };
    assert_eq!(progress(&ana), (0, Some(lessons[0].clone())));
    let middle = shown(&ana, &at(1));
    assert_eq!((&middle["anterior"], &middle["proxima"]), (&json!(lessons[0]), &json!(lessons[2])));
    assert_eq!(middle["aula"]["titulo"], "Anúncio");
    assert_eq!(middle["aula"]["feita"], false);
    let page = ana.get(&at(0)).expect(200).text();
    assert!(page.contains("Aula 1 de 3"), "{page}");
    assert!(page.contains(&format!("rel=\"next\" href=\"{}\"", at(1))));
    assert!(!page.contains("rel=\"prev\""));

    // By form, with a page that says so, and by JSON.
    let reply = form(&ana, &format!("{}/feita", at(0)), &[("feita", "1")]).expect(303);
    assert_eq!(location(&reply), at(0));
    let page = ana.get(location(&reply)).expect(200).text();
    assert!(page.contains("Aula marcada como feita"), "{page}");
    assert_eq!(progress(&ana), (1, Some(lessons[1].clone())));
    for _ in 0..2 {
        let marked = ana.post(&format!("{}/feita", at(2)), &json!({})).ok();
        let expected = json!({ "ok": true, "feita": true, "feitas": 2, "total_aulas": 3 });
        assert_eq!(marked, expected);
    }
    ana.post(&format!("{}/feita", at(1)), &json!({ "feita": true })).ok();
    assert_eq!(progress(&ana), (3, None));
    assert_eq!(progress(&bia), (0, Some(lessons[0].clone())), "a mark is one's own");
    form(&ana, &format!("{}/feita", at(0)), &[("feita", "0")]).expect(303);
    assert_eq!(progress(&ana), (2, Some(lessons[0].clone())));
    let wrong = ana.post(&format!("{}/feita", at(0)), &json!({ "feita": "talvez" }));
    assert_eq!(wrong.expect(422).json()["fields"]["feita"], "must be true or false");
    // When a lesson is removed, its mark is removed too.
    let gone = format!("/admin/aulas/{}/excluir", lessons[2]);
    admin.post(&gone, &json!({})).ok();
    assert_eq!(progress(&ana), (1, Some(lessons[0].clone())));
}

#[test]
fn only_the_page_of_a_lesson_may_frame_the_configured_hosts() {
    let hosts = vec!["www.youtube-nocookie.com", "videos.example.com"];
    let site = Site::builder().unlimited().config("content.video_hosts", hosts).start();
    let admin = site.administrator();
    let (course, lessons) = course(&admin, &json!({ "titulo": "Começar" }), &["Um"]);
    let ana = site.person("ana");
    let watch = format!("/painel/aulas/{course}/{}", lessons[0]);
    let policy = |path: &str| {
        let reply = ana.get(path).expect(200);
        reply.header("content-security-policy").unwrap().to_owned()
    };
    let base = policy("/painel/aulas");
    assert!(!base.contains("frame-src"), "{base}");
    assert_eq!(policy(&format!("/painel/aulas/{course}")), base);
    assert_eq!(
        policy(&watch),
        format!("{base}; frame-src https://www.youtube-nocookie.com https://videos.example.com")
    );
    let set = |url: &str| {
        let path = format!("/admin/aulas/{}", lessons[0]);
        admin.post(&path, &json!({ "video_url": url })).ok();
        ana.get(&watch).expect(200).text()
    };
    let player = "data-player=\"https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?";
    for url in ["https://youtu.be/dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"] {
        let page = set(url);
        assert!(page.contains(player), "{page}");
        // Without a script it is a link, and nothing is loaded automatically.
        assert!(page.contains(&format!("href=\"{url}\"")) && !page.contains("<iframe"));
    }
    let page = set("https://videos.example.com/a?b=1&c=2");
    assert!(page.contains("data-player=\"https://videos.example.com/a?b=1&#38;c=2\""), "{page}");
    for elsewhere in ["https://vimeo.com/76979871", "https://evil.example.com/a"] {
        let page = set(elsewhere);
        assert!(!page.contains("data-player"), "{page}");
        assert!(page.contains(&format!("href=\"{elsewhere}\" target=\"_blank\" rel=\"noopener")));
    }
}

/// Makes a meet and returns its id.
#[track_caller]
fn meet(admin: &Actor<'_>, title: &str, at: &str, open: bool) -> String {
    let body = json!({
        "titulo": title, "data_hora": at, "duracao_minutos": 90, "publico": open,
        "link": format!("https://meet.example.com/{}", title.to_lowercase()),
    });
    made(admin, "/admin/meets", &body)
}

#[test]
fn the_agenda_shows_links_to_those_who_may_join() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    // It is 09:00 in São Paulo.
    meet(&admin, "Ontem", "2026-11-19 20:00:00", false);
    meet(&admin, "Agora", "2026-11-20 08:00:00", false);
    meet(&admin, "Fechado", "2026-11-21 20:00:00", false);
    meet(&admin, "Aberto", "2026-11-30 20:00:00", true);
    let (vip, free) = (site.person_as("ana", "vip"), site.person_as("eva", "free"));
    let links = |student: &Actor<'_>| {
        let listed = shown(student, "/painel/meets");
        let meets = listed["dados"].as_array().unwrap().iter();
        let pairs =
            meets.map(|one| (one["titulo"].as_str().unwrap().to_owned(), !one["link"].is_null()));
        pairs.collect::<Vec<_>>()
    };
    let expected = |may: bool| {
        let rows = [("Agora", may), ("Fechado", may), ("Aberto", true)];
        rows.map(|(title, link)| (title.to_owned(), link)).to_vec()
    };
    assert_eq!(links(&vip), expected(true));
    assert_eq!(links(&free), expected(false));
    let page = vip.get("/painel/meets").expect(200).text();
    for words in [
        "Ao vivo",
        "Agendado",
        "sábado, 21 de novembro, 20:00 às 21:30",
        "começa em 1 dia e 11 h",
        "/entrar\" target=\"_blank\" rel=\"noopener noreferrer\"",
        "Últimos encontros",
        "Ontem",
    ] {
        assert!(page.contains(words), "{words:?} is missing\n{page}");
    }
    let doors = |page: &str| page.matches("/entrar\" target").count();
    assert_eq!(doors(&page), 3);
    let page = free.get("/painel/meets").expect(200).text();
    assert!(page.contains("Seu plano não inclui os encontros"));
    assert_eq!(doors(&page), 1);
    assert!(!page.contains("meet.example.com"), "{page}");
    // A meet that is over is listed at the end.
    site.clock().advance_s(30 * 60);
    assert_eq!(links(&vip).len(), 2);
}

#[test]
fn the_dashboard_has_the_meets_of_the_next_two_days_that_one_may_join() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    meet(&admin, "Agora", "2026-11-20 08:00:00", true);
    meet(&admin, "Hoje", "2026-11-20 20:00:00", false);
    meet(&admin, "Aberto", "2026-11-21 20:00:00", true);
    meet(&admin, "Limite", "2026-11-22 09:00:00", false);
    meet(&admin, "Depois", "2026-11-22 09:00:01", false);
    site.make_person("eva", "free");
    let meets = |name: &str| site.extension(name).get("/api/ext/me").ok()["meets"].clone();
    let titles = |meets: &Value| {
        let meets = meets.as_array().unwrap().iter();
        meets.map(|one| one["titulo"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let now = meets("ana");
    assert_eq!(titles(&now), ["Hoje", "Aberto", "Limite"]);
    assert_eq!(
        now[0],
        json!({
            "titulo": "Hoje", "data_hora": "2026-11-20 20:00:00",
            "link": "https://meet.example.com/hoje", "minutos_restantes": 660,
        })
    );
    assert_eq!(titles(&meets("eva")), ["Aberto"]);
    site.clock().advance_s(60);
    assert_eq!(meets("ana")[0]["minutos_restantes"], 659);
}

/// The properties of a calendar file, unfolded; each line is checked.
#[track_caller]
fn properties(file: &str) -> Vec<(String, String)> {
    assert!(file.ends_with("\r\n"), "{file:?}");
    let mut unfolded: Vec<String> = Vec::new();
    for line in file.trim_end_matches("\r\n").split("\r\n") {
        assert!(line.len() <= 75, "a line of {} octets: {line}", line.len());
        assert!(!line.contains(['\r', '\n']), "{line:?}");
        match line.strip_prefix(' ') {
            Some(rest) => unfolded.last_mut().unwrap().push_str(rest),
            None => unfolded.push(line.to_owned()),
        }
    }
    let pair = |line: String| {
        let (name, value) = line.split_once(':').expect("a name and a value");
        (name.to_owned(), value.to_owned())
    };
    unfolded.into_iter().map(pair).collect()
}

#[test]
fn a_meet_goes_into_the_students_own_calendar() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let rita = made(&admin, "/admin/professores", &json!({ "nome": "Rita Prado" }));
    let title = "Tira-dúvidas; preço, frete e anúncio \\ com exemplos de quem vende de verdade";
    let body = json!({
        "titulo": title, "descricao": "Traga perguntas.\nE um anúncio seu, se tiver.", "professor_id": rita,
        "data_hora": "2026-11-21 20:00:00", "duracao_minutos": 90, "link": "https://meet.example.com/sala",
    });
    let id = made(&admin, "/admin/meets", &body);
    let path = format!("/painel/meets/{id}.ics");
    let (vip, free) = (site.person_as("ana", "vip"), site.person_as("eva", "free"));
    let reply = vip.get(&path).expect(200);
    let header = |name| reply.header(name).unwrap_or_default();
    assert_eq!(header("content-type"), "text/calendar; charset=utf-8");
    assert!(header("content-disposition").contains(&format!("encontro-{id}.ics")));
    let found = properties(&reply.text());
    let value = |name: &str| {
        let mut values = found.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next().unwrap_or_else(|| panic!("no {name}"));
        value.as_str()
    };
    assert_eq!(value("VERSION"), "2.0");
    assert!(!value("PRODID").is_empty());
    assert_eq!(value("UID"), format!("meet-{id}@{}", site.address()));
    assert_eq!(value("DTSTAMP"), "20261120T120000Z");
    assert_eq!(value("DTSTART"), "20261121T230000Z");
    assert_eq!(value("DTEND"), "20261122T003000Z");
    assert_eq!(
        value("SUMMARY"),
        "Tira-dúvidas\\; preço\\, frete e anúncio \\\\ com exemplos de quem vende de verdade"
    );
    assert_eq!(
        value("DESCRIPTION"),
        "Com Rita Prado.\\nTraga perguntas.\\nE um anúncio seu\\, se tiver."
    );
    assert_eq!(value("URL"), "https://meet.example.com/sala");
    let order: Vec<&str> = found
        .iter()
        .filter(|(name, _)| name == "BEGIN" || name == "END")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(order, ["VCALENDAR", "VEVENT", "VEVENT", "VCALENDAR"]);

    // A student who may not join gets the date without the link.
    let free = free.get(&path).expect(200).text();
    assert!(free.contains("SUMMARY") && !free.contains("meet.example.com"), "{free}");
    // The same event after a change, and 404 for a meet that does not exist.
    site.clock().advance_s(3600);
    let change = json!({ "data_hora": "2026-11-22 20:00:00" });
    admin.post(&format!("/admin/meets/{id}"), &change).ok();
    let now = properties(&vip.get(&path).expect(200).text());
    assert!(now.contains(&("UID".to_owned(), format!("meet-{id}@{}", site.address()))));
    assert!(now.contains(&("DTSTAMP".to_owned(), "20261120T130000Z".to_owned())));
    for nothing in ["/painel/meets/999999.ics", "/painel/meets/x.ics", "/painel/meets/1"] {
        vip.send(Request::new("GET", nothing)).expect(404);
    }
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_video_is_loaded_by_a_press() {
    // A host that does not exist: nothing is requested from outside.
    let hosts = vec!["player.invalid.example"];
    let site = Site::builder().config("content.video_hosts", hosts).start();
    let admin = site.administrator();
    let (course, lessons) = course(&admin, &json!({ "titulo": "Começar" }), &["Um"]);
    let video = json!({ "video_url": "https://player.invalid.example/v/1" });
    admin.post(&format!("/admin/aulas/{}", lessons[0]), &video).ok();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    site.sign_in(&browser, &ana, "/painel");
    browser.go(&site.url(&format!("/painel/aulas/{course}/{}", lessons[0])));
    let frames = "return [...document.querySelectorAll('.player iframe')].map((one) => one.src);";
    assert_eq!(browser.script(frames), json!([]));
    browser.press("Assistir");
    assert_eq!(browser.script(frames), json!(["https://player.invalid.example/v/1"]));
    let title = "return document.querySelector('.player iframe').title;";
    assert_eq!(browser.script(title), "Um");
    browser.press("Marcar como feita");
    browser.see("Curso concluído");
}
