//! E-mail against a real mail server (`tests/samples/mail_server.py`).

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::meet;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;

const QUEUE: &str = "/admin/mensagens";
const PATIENCE: Duration = Duration::from_mins(1);

/// A mail server of its own; it ends with the test.
struct MailServer {
    process: Child,
    port: u16,
    kept: TempDir,
}

impl MailServer {
    /// A server that accepts only ASCII in addresses, as many do.
    #[track_caller]
    fn start() -> Self {
        Self::at(0, "ascii")
    }

    /// At a port; 0 for any.
    #[track_caller]
    fn at(port: u16, addresses: &str) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/mail_server.py");
        // The system's Python: that is where the package is, or where
        // PYTHONPATH leads, which tests/run sets.
        let mut process = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(kept.path())
            .arg(port.to_string())
            .arg(addresses)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tests/run installs python3 and aiosmtpd");
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse();
        let port = port.expect("a port; tests/run installs python3-aiosmtpd");
        Self { process, port, kept }
    }

    /// The mails, in their order.
    fn mails(&self) -> Vec<Value> {
        let files = std::fs::read_dir(self.kept.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        names.retain(|name| name.extension().is_some_and(|kind| kind == "json"));
        names.sort();
        let read = |name: &std::path::PathBuf| std::fs::read_to_string(name).unwrap();
        names.iter().map(|name| serde_json::from_str(&read(name)).unwrap()).collect()
    }

    fn site(&self) -> Builder {
        site_with(&format!("smtp://127.0.0.1:{}", self.port))
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.process.stdin.take();
        let _ = self.process.wait();
    }
}

fn site_with(smtp_url: &str) -> Builder {
    Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("email.smtp_url", smtp_url)
        .config("email.from", "Escola São João <escola@example.com>")
}

#[track_caller]
fn list(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

#[track_caller]
fn welcome(site: &Site, name: &str, email: &str) {
    let crm = site.key(&["write"]);
    let body = json!({ "nome": name, "email": email });
    crm.post("/api/v1/alunos/criar", &body).expect(201);
}

#[track_caller]
fn settled(admin: &Actor<'_>, state: &str) -> Value {
    until(&format!("a message is {state}"), PATIENCE, || {
        let found = list(admin, &format!("{QUEUE}?estado={state}"));
        (found["total"] == 1).then(|| found["dados"][0].clone())
    })
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn a_welcome_leaves_as_text_and_html() {
    let server = MailServer::start();
    let site = server.site().start();
    let admin = site.administrator();
    welcome(&site, "Ana Conceição", "ana@example.com");
    let sent = settled(&admin, "enviada");
    assert_eq!(sent["canal"], "email");
    let mails = server.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(
        (&mails[0]["from"], &mails[0]["to"]),
        (&json!("escola@example.com"), &json!(["ana@example.com"]))
    );
    let content = mails[0]["content"].as_str().unwrap();
    let head = content.split("\r\n\r\n").next().unwrap();
    message_id(&mails[0]);
    for line in [
        "Auto-Submitted: auto-generated",
        "Content-Type: multipart/alternative;",
        "MIME-Version: 1.0",
        "Date: ",
        "From: =?utf-8?b?",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    for part in ["text/plain; charset=utf-8", "text/html; charset=utf-8"] {
        assert!(content.contains(part), "{part}: {content}");
    }
}

/// The left part of a mail's Message-ID: 32 hexadecimal digits.
#[track_caller]
fn message_id(mail: &Value) -> String {
    let content = mail["content"].as_str().unwrap();
    let line = content.lines().find_map(|line| line.strip_prefix("Message-ID: <"));
    let id = line.and_then(|line| line.strip_suffix("@example.com>")).expect(content);
    assert!(id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    id.to_owned()
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn no_two_messages_have_one_id_and_a_repetition_keeps_its_own() {
    let server = MailServer::start();
    let site = server.site().start();
    let admin = site.administrator();
    welcome(&site, "Ana", "engasga@example.com");
    until("it was tried", PATIENCE, || (server.mails().len() == 1).then_some(()));
    until("and put back", PATIENCE, || {
        let found = list(&admin, &format!("{QUEUE}?estado=pendente"));
        found["dados"][0]["motivo"].as_str()?.contains("451").then_some(())
    });
    site.clock().advance_s(60);
    let first = settled(&admin, "enviada");
    let mails = server.mails();
    let ids: Vec<String> = mails.iter().map(message_id).collect();
    assert_eq!(ids[0], ids[1], "a retry keeps its own");
    // She is removed with her messages, whose numbers are not used again.
    let ana = first["destinatario"]["id"].as_str().unwrap();
    admin.post(&format!("/admin/alunos/{ana}/excluir"), &json!({})).ok();
    welcome(&site, "Rui", "rui@example.com");
    let second = settled(&admin, "enviada");
    let number = |message: &Value| message["id"].as_str().unwrap().parse::<i64>().unwrap();
    assert!(number(&second) > number(&first), "{second}");
    // Another database with the same mail server.
    let other = server.site().start();
    welcome(&other, "Ana", "ana@example.com");
    settled(&other.administrator(), "enviada");
    let mut ids: Vec<String> = server.mails().iter().map(message_id).collect();
    assert_eq!(ids.len(), 4);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn a_domain_beyond_ascii_goes_as_punycode() {
    let server = MailServer::start();
    let url = format!("smtp://127.0.0.1:{}", server.port);
    let site = site_with(&url).config("email.from", "Escola <escola@exämple.org>").start();
    let admin = site.administrator();
    welcome(&site, "Maria", "maria@exämple.com");
    assert_eq!(settled(&admin, "enviada")["tentativas"], 1);
    let mails = server.mails();
    assert_eq!(
        (&mails[0]["from"], &mails[0]["to"]),
        (&json!("escola@xn--exmple-cua.org"), &json!(["maria@xn--exmple-cua.com"]))
    );
    let content = mails[0]["content"].as_str().unwrap();
    assert!(content.contains("To: Maria <maria@xn--exmple-cua.com>"), "{content}");
    let head = content.split("\r\n\r\n").next().unwrap();
    assert!(head.is_ascii(), "{head}");
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn an_address_that_the_server_cannot_take_fails_at_once() {
    let server = MailServer::start();
    let site = server.site().start();
    let admin = site.administrator();
    welcome(&site, "João", "joão@example.com");
    let failed = settled(&admin, "falhou");
    assert_eq!(
        failed["motivo"],
        "o servidor de e-mail não aceita endereços com acento antes do @ (não oferece SMTPUTF8)"
    );
    assert_eq!(failed["tentativas"], 1);
    // The channel still works.
    welcome(&site, "Ana", "ana@example.com");
    settled(&admin, "enviada");
    // The panel says so wherever the address is typed.
    let typed = [("nome", "José"), ("email", "josé@example.com"), ("plano", "pro")];
    let made = admin.send(Request::new("POST", "/admin/alunos").form(&typed));
    let page = admin.get(made.expect(303).header("location").unwrap()).expect(200).text();
    let told = "O servidor de e-mail não aceita acento antes do @";
    assert!(page.contains(told), "{page}");
    let form = admin.get("/admin/equipe/novo").expect(200).text();
    assert!(form.contains(&format!("data-accents='{told}")), "{form}");
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn a_server_that_takes_every_letter_gets_them() {
    let server = MailServer::at(0, "utf8");
    let site = server.site().start();
    let admin = site.administrator();
    welcome(&site, "João", "joão@exämple.com");
    let sent = settled(&admin, "enviada");
    assert_eq!(server.mails()[0]["to"], json!(["joão@xn--exmple-cua.com"]));
    let person = sent["destinatario"]["id"].as_str().unwrap();
    let page = admin.get(&format!("/admin/alunos/{person}")).expect(200).text();
    assert!(!page.contains("acento antes do @"), "{page}");
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn a_reminder_can_be_left_in_one_click_and_a_welcome_cannot() {
    let server = MailServer::start();
    let site = server.site().start();
    let admin = site.administrator();
    let crm = site.key(&["write"]);
    let body = json!({ "nome": "Ana", "email": "ana@example.com", "plano": "vip" });
    crm.post("/api/v1/alunos/criar", &body).expect(201);
    settled(&admin, "enviada");
    let content = |mail: &Value| mail["content"].as_str().unwrap().replace("\r\n ", " ");
    let welcome = content(&server.mails()[0]);
    assert!(!welcome.contains("List-Unsubscribe") && !welcome.contains("List-Id"), "{welcome}");
    meet(&site, "2026-11-21 08:30:00");
    admin.post("/admin/cron/rodar", &json!({})).ok();
    let mails = until("the reminder came", PATIENCE, || {
        let mails = server.mails();
        (mails.len() == 2).then_some(mails)
    });
    let reminder = content(&mails[1]);
    assert!(reminder.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{reminder}");
    assert!(reminder.contains("\r\nList-Id: Lembretes <lembretes.example.com>\r\n"), "{reminder}");
    let (_, rest) = reminder.split_once("List-Unsubscribe: <").expect("an address");
    let (address, _) = rest.split_once('>').unwrap();
    let path = address.split_once("/avisos/").unwrap().1;
    let path = format!("/avisos/{path}");
    site.anonymous().get(&path).expect(200);
    let click = Request::new("POST", &path).form(&[("List-Unsubscribe", "One-Click")]);
    site.anonymous().send(click).expect(200);
    meet(&site, "2026-11-21 08:40:00");
    let run = admin.post("/admin/cron/rodar", &json!({}));
    assert_eq!(run.json()["meets_notif"], 0, "{run}");
    site.anonymous().get("/avisos/sair?codigo=xyz").expect(404);
    let bad = Request::new("POST", "/avisos/sair?codigo=xyz");
    site.anonymous().send(bad).expect(404);
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn refused_for_good_and_refused_for_now() {
    let server = MailServer::start();
    let site = server.site().start();
    let admin = site.administrator();
    welcome(&site, "Ana", "nao-existe@example.com");
    let failed = settled(&admin, "falhou");
    let reason = failed["motivo"].as_str().unwrap();
    assert!(reason.contains("550"), "{reason}");
    welcome(&site, "Rui", "ocupada@example.com");
    until("it was tried", PATIENCE, || {
        let found = list(&admin, &format!("{QUEUE}?estado=pendente"));
        let reason = found["dados"][0]["motivo"].as_str()?.to_owned();
        reason.contains("451").then_some(())
    });
    assert!(server.mails().is_empty());
    site.clock().advance_s(60);
    assert_eq!(settled(&admin, "enviada")["tentativas"], 2);
    assert_eq!(server.mails().len(), 1);
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn what_waited_for_the_server_leaves_when_it_is_back() {
    let gone = MailServer::start();
    let site = gone.site().start();
    let admin = site.administrator();
    let port = gone.port;
    drop(gone);
    welcome(&site, "Ana", "ana@example.com");
    until("it was tried in vain", PATIENCE, || {
        let found = list(&admin, &format!("{QUEUE}?estado=pendente"));
        let reason = found["dados"][0]["motivo"].as_str()?.to_owned();
        (reason == "o servidor de e-mail está fora do ar").then_some(())
    });
    let back = MailServer::at(port, "ascii");
    site.clock().advance_s(60);
    // Without a server no try is counted.
    assert_eq!(settled(&admin, "enviada")["tentativas"], 1);
    assert_eq!(back.mails().len(), 1);
}

#[test]
#[ignore = "needs aiosmtpd; tests/run installs it"]
fn a_server_without_the_encryption_asked_for_gets_nothing() {
    let server = MailServer::start();
    let url = format!("smtp://127.0.0.1:{}?tls=required", server.port);
    let site = site_with(&url).start();
    let admin = site.administrator();
    welcome(&site, "Ana", "ana@example.com");
    until("the reason is told", PATIENCE, || {
        let found = list(&admin, &format!("{QUEUE}?estado=pendente"));
        let reason = found["dados"][0]["motivo"].as_str()?.to_owned();
        (reason == "o servidor de e-mail não oferece uma conexão segura").then_some(())
    });
    assert!(server.mails().is_empty());
}
