//! Courses and other content, made as staff does.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;

/// Makes a course with lessons of these titles; returns the ids.
#[track_caller]
pub fn course(admin: &Actor<'_>, body: &Value, lessons: &[&str]) -> (String, Vec<String>) {
    let course = made(admin, "/admin/cursos", body);
    let lesson = |title: &&str| {
        let body = json!({
            "titulo": title, "curso_id": course, "video_url": "https://youtu.be/dQw4w9WgXcQ",
        });
        made(admin, "/admin/aulas", &body)
    };
    let lessons = lessons.iter().map(lesson).collect();
    (course, lessons)
}

/// Makes something and returns its id.
#[track_caller]
pub fn made(actor: &Actor<'_>, path: &str, body: &Value) -> String {
    let reply = actor.post(path, body).expect(201).json();
    assert_eq!(reply["ok"], true);
    reply["id"].as_str().unwrap().to_owned()
}

/// The JSON of an address.
#[track_caller]
pub fn shown(actor: &Actor<'_>, path: &str) -> Value {
    let request = Request::new("GET", path).header("Accept", "application/json");
    actor.send(request).ok()
}
