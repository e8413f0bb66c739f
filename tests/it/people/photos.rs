//! Photos: checked, encoded again, served to anybody, completely replaced.

use std::io::Write as _;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::photos::{digest, send, upload};
use crate::support::site::Site;

const TURNED: &[u8] = include_bytes!("../../photos/turned.jpg");
const PLAIN: &[u8] = include_bytes!("../../photos/plain.png");
const LOSSY: &[u8] = include_bytes!("../../photos/lossy.webp");
const ANIMATED: &[u8] = include_bytes!("../../photos/animated.webp");
const GIF: &[u8] = include_bytes!("../../photos/still.gif");

/// Sets one's own photo and returns its address.
#[track_caller]
fn own_photo(actor: &Actor<'_>, file: &[u8]) -> String {
    let set = send(actor, "/perfil/foto", file).ok();
    set["foto"].as_str().unwrap().to_owned()
}

/// A PNG with one more chunk after its header.
fn with_chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(name);
    crc.update(data);
    let header = 8 + 4 + 4 + 13 + 4;
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let sum = crc.sum().to_be_bytes();
    [&PLAIN[..header], &length, name, data, &sum, &PLAIN[header..]].concat()
}

/// Photos in a copy of the database that the product made.
fn stored(site: &Site) -> i64 {
    let path = site.folder().join("copia.db");
    site.command(&["backup", "--force", &path.display().to_string()]).ok();
    let copy = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let count = "SELECT count(*) FROM photo";
    copy.query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_photo_is_served_to_anybody_for_good_and_shown() {
    let site = Site::builder().unlimited().start();
    let (ana, extension) = (site.person("ana"), site.extension("ana"));
    let nobody = site.anonymous();
    assert_eq!(extension.get("/api/ext/me").ok()["user"]["foto"], "");
    for (file, media) in [(TURNED, "image/jpeg"), (PLAIN, "image/png"), (LOSSY, "image/webp")] {
        let address = own_photo(&ana, file);
        let photo = nobody.get(&address).expect(200);
        assert_eq!(address, format!("/fotos/{}", digest(&photo.body)));
        for (name, value) in [
            ("content-type", media),
            ("cache-control", "public, max-age=31536000, immutable"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(photo.header(name), Some(value), "{photo}");
        }
        let tag = photo.header("etag").unwrap();
        let again = Request::new("GET", &address).header("If-None-Match", tag);
        assert!(nobody.send(again).expect(304).body.is_empty());
        for secret in ["SECRETO", "SEGREDO", "<script>"] {
            let found = photo.body.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{media} holds {secret}");
        }
        // The photo appears at once, wherever the person is shown.
        assert_eq!(extension.get("/api/ext/me").ok()["user"]["foto"], *address);
        assert_eq!(ana.get("/perfil").expect(200).text().matches(&*address).count(), 2);
        assert!(ana.get("/painel").expect(200).text().contains(&address));
    }
    assert_eq!(stored(&site), 1, "one a person");
    let form = upload("/perfil/foto", "x", "image/png", PLAIN);
    let answer = ana.send(form).expect(303);
    assert_eq!(answer.header("location"), Some("/perfil"));
}

/// Data that a browser would have to decompress in a photo is not served.
#[test]
fn a_photo_is_served_without_what_is_much_larger_than_it_seems() {
    let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..50 {
        bomb.write_all(&zeros).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let plain = own_photo(&ana, PLAIN);
    for (name, head) in [
        (b"iCCP", &b"perfil\0\0"[..]),
        (b"zTXt", b"Comment\0\0"),
        (b"iTXt", b"Comment\0\x01\0\0\0"),
    ] {
        let file = with_chunk(name, &[head, &bomb].concat());
        assert!(file.len() > PLAIN.len() + 40_000 && file.len() < 512 * 1024);
        assert_eq!(own_photo(&ana, &file), plain, "the same picture is left");
        let served = site.anonymous().get(&plain).expect(200).body;
        assert!(!served.windows(4).any(|part| part == name));
    }
}

#[test]
fn a_replaced_or_removed_photo_is_gone() {
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.person("ana"), site.person_as("rui", "drop"));
    let nobody = site.anonymous();
    let first = own_photo(&ana, TURNED);
    let second = own_photo(&ana, PLAIN);
    nobody.get(&first).expect(404);
    nobody.get(&second).expect(200);
    // The same picture of another person is kept.
    assert_eq!(own_photo(&rui, PLAIN), second);
    let removed = ana.send(Request::new("POST", "/perfil/foto/excluir")).expect(303);
    assert_eq!(removed.header("location"), Some("/perfil"));
    nobody.get(&second).expect(200);
    assert!(!ana.get("/perfil").expect(200).text().contains("/fotos/"));
    rui.post("/perfil/foto/excluir", &json!({})).ok();
    rui.post("/perfil/foto/excluir", &json!({})).ok();
    nobody.get(&second).expect(404);
    assert_eq!(stored(&site), 0);
}

#[test]
fn only_photos_are_taken_whatever_they_are_called() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let page = b"<!doctype html><script>alert(1)</script>";
    let behind_start = [b"\x89PNG\r\n\x1a\n", &page[..]].concat();
    let too_large = [PLAIN, &vec![0; 512 * 1024][..]].concat();
    for (what, file, words) in [
        ("SVG", &svg[..], "JPEG, PNG ou WebP"),
        ("HTML", page, "JPEG, PNG ou WebP"),
        ("GIF", GIF, "JPEG, PNG ou WebP"),
        ("half a PNG", &PLAIN[..60], "incompleto ou danificado"),
        ("a PNG by its start only", &behind_start, "incompleto ou danificado"),
        ("animated", ANIMATED, "sem animação"),
        ("over 512 KB", &too_large, "até 512 KB"),
        ("nothing", b"", "Escolha um arquivo"),
    ] {
        let refused = send(&ana, "/perfil/foto", file).expect(422);
        let fault = refused.json()["fields"]["foto"].as_str().unwrap().to_owned();
        assert!(fault.contains(words), "{what}: {fault}");
        let form = ana.send(upload("/perfil/foto", "a.jpg", "image/jpeg", file));
        assert!(form.expect(422).text().contains(words), "{what}");
    }
    let over = send(&ana, "/perfil/foto", &vec![0xff; 1024 * 1024]).expect(413);
    assert_eq!(over.code(), "payload_too_large");
    let other_field = upload("/perfil/foto", "a", "b", PLAIN);
    let renamed =
        String::from_utf8_lossy(other_field.body.as_ref().unwrap()).replace("foto", "otof");
    let request = Request::new("POST", "/perfil/foto").header("Accept", "application/json");
    let request = request.body("multipart/form-data; boundary=limite", renamed.as_bytes());
    ana.send(request).expect(422);
    ana.post("/perfil/foto", &json!({ "foto": "x" })).expect(415);
    assert_eq!(stored(&site), 0);
}

#[test]
fn an_address_is_a_digest_and_nothing_else() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let address = own_photo(&ana, PLAIN);
    let digest = address.rsplit('/').next().unwrap();
    let nobody = site.anonymous();
    for other in [
        "..%2f..%2fseller-platform.db".to_owned(),
        "..".to_owned(),
        "%00".to_owned(),
        digest.to_uppercase(),
        format!("{digest}.png"),
        format!("{digest}%2f.."),
        digest[..63].to_owned(),
        format!("{digest}0"),
        "0".repeat(64),
        "é".repeat(32),
    ] {
        let target = format!("/fotos/{}", other.replace('é', "%C3%A9"));
        nobody.get(&target).expect(404);
    }
    nobody.get(&format!("{address}?x=1")).expect(200);
}

#[test]
fn an_operator_changes_students_photos_on_the_record() {
    let site = Site::builder().unlimited().start();
    let (ana, rui, bia) = (site.person("ana"), site.person("rui"), site.administrator());
    let id = |actor: &Actor<'_>| {
        let request = Request::new("GET", "/perfil").header("Accept", "application/json");
        actor.send(request).ok()["id"].as_str().unwrap().to_owned()
    };
    let target = format!("/admin/alunos/{}/foto", id(&ana));
    // Only operators may do this, and here only for students.
    for actor in [&rui, &ana] {
        send(actor, &target, PLAIN).expect(403);
        actor.get(&target).expect(403);
    }
    let refused = send(&bia, &target, GIF).expect(422);
    assert!(refused.json()["fields"]["foto"].is_string());
    let form = upload(&target, "a.jpg", "image/jpeg", GIF);
    assert!(bia.send(form).expect(422).text().contains("JPEG, PNG ou WebP"));
    let set = send(&bia, &target, PLAIN).ok();
    let address = set["foto"].as_str().unwrap().to_owned();
    assert!(ana.get("/perfil").expect(200).text().contains(&address));
    assert!(bia.get(&target).expect(200).text().contains(&address));
    bia.post(&format!("{target}/excluir"), &json!({})).ok();
    site.anonymous().get(&address).expect(404);
    let duda = site.person_as("duda", "drop");
    for nobody in [&*id(&duda), &id(&bia), "999999", "0", "x", "-1"] {
        send(&bia, &format!("/admin/alunos/{nobody}/foto"), PLAIN).expect(404);
    }
    let noted = "SELECT action || ' ' || object_name || ' ' || before || ' ' || after FROM audit
        WHERE action LIKE 'aluno.foto%' ORDER BY audit_id";
    assert_eq!(
        site.stored(noted),
        [
            format!(r#"aluno.foto ana da Silva {{"foto":""}} {{"foto":"{address}"}}"#),
            format!(r#"aluno.foto_excluir ana da Silva {{"foto":"{address}"}} {{"foto":""}}"#),
        ]
    );
    // Staff and suppliers have pages of their own.
    let target = format!("/admin/equipe/{}/foto", id(&duda));
    let address = send(&bia, &target, PLAIN).ok()["foto"].as_str().unwrap().to_owned();
    assert!(duda.get("/perfil").expect(200).text().contains(&address));
    send(&bia, &format!("/admin/equipe/{}/foto", id(&ana)), PLAIN).expect(404);
}

#[test]
fn a_teachers_photo_is_public_at_once_and_goes_with_the_teacher() {
    let site = Site::builder().unlimited().start();
    let bia = site.administrator();
    let nobody = site.anonymous();
    let made = bia.post("/admin/professores", &json!({ "nome": "Lia Prado" })).expect(201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let shown = || nobody.get("/api/v1/professores").ok()["data"][0]["foto"].clone();
    assert_eq!(shown(), "");
    let before = nobody.get("/api/v1/professores");
    let before = before.header("last-modified").unwrap().to_owned();
    let target = format!("/admin/professores/{id}/foto");
    site.person("ana").get(&target).expect(403);
    let form = bia.send(upload(&target, "lia.webp", "image/webp", LOSSY)).expect(303);
    let page = format!("/admin/professores/{id}");
    assert_eq!(form.header("location"), Some(&*page));
    let address = shown().as_str().unwrap().to_owned();
    nobody.get(&address).expect(200);
    let again = Request::new("GET", "/api/v1/professores").header("If-Modified-Since", &before);
    nobody.send(again).expect(200);
    for list in [&*page, "/admin/professores", &target] {
        assert!(bia.get(list).expect(200).text().contains(&address), "{list}");
    }
    bia.post(&format!("{target}/excluir"), &json!({})).ok();
    assert_eq!(shown(), "");
    nobody.get(&address).expect(404);
    send(&bia, &target, PLAIN).ok();
    bia.post(&format!("{page}/excluir"), &json!({})).ok();
    assert_eq!(stored(&site), 0, "it goes with the teacher");
    send(&bia, &target, PLAIN).expect(404);
}
