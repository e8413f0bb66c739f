//! E-mail against a real mail server (`tests/samples/mail_server.py`).

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::actors::Actor;
use crate::client::Request;
use crate::cron_rules::meet;
use crate::process::until;
use crate::site::{Builder, Site};

const QUEUE: &str = "/admin/mensagens";
const PATIENCE: Duration = Duration::from_mins(1);

/// A mail server of its own; it ends with the test.
struct MailServer {
    process: Child,
    port: u16,
    kept: TempDir,
}

impl MailServer {
    #[track_caller]
    fn start() -> Self {
        Self::at(0)
    }

    /// At a port; 0 for any.
    #[track_caller]
    fn at(port: u16) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/mail_server.py");
        // The system's Python: that is where the package is, or where
        // PYTHONPATH leads, which tests/run sets.
        let mut process = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(kept.path())
            .arg(port.to_string())
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
    let id = sent["id"].as_str().unwrap();
    for line in [
        &format!("Message-ID: <mensagem-{id}@example.com>"),
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
    assert!(!content(&server.mails()[0]).contains("List-Unsubscribe"));
    meet(&site, "2026-11-21 08:30:00");
    admin.post("/admin/cron/rodar", &json!({})).ok();
    let mails = until("the reminder came", PATIENCE, || {
        let mails = server.mails();
        (mails.len() == 2).then_some(mails)
    });
    let reminder = content(&mails[1]);
    assert!(reminder.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{reminder}");
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
    let back = MailServer::at(port);
    site.clock().advance_s(60);
    // Where nobody is there is nothing to try.
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
        (reason != "aguarda a vez").then_some(())
    });
    assert!(server.mails().is_empty());
}
