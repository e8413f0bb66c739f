//! Certificates by ACME, from Debian's `pebble` with its own DNS server.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::authority::{Authority, Session, now};
use crate::support::site::{Builder, Site};
use crate::support::wait::until;

const NAMES: [&str; 2] = ["loja.example.test", "api.example.test"];
const PATIENCE: Duration = Duration::from_mins(1);

/// A port that is free now.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A directory of certificates at fixed ports, which may be away.
struct Directory {
    folder: TempDir,
    address: SocketAddr,
    plain: SocketAddr,
    secure: SocketAddr,
    running: Option<(Child, Child)>,
}

impl Directory {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let issued = authority
            .issue(&["localhost", "127.0.0.1"], now() + SignedDuration::from_hours(80 * 24));
        let files =
            [("root.pem", authority.pem()), ("own.pem", issued.chain), ("key.pem", issued.key)];
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder, address: free(), plain: free(), secure: free(), running: None }
    }

    /// Starts it; it looks at plain HTTP and HTTPS at these ports.
    #[track_caller]
    fn open(&mut self, plain: SocketAddr, secure: SocketAddr) {
        let names = free();
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let config = json!({ "pebble": {
            "listenAddress": self.address.to_string(),
            "managementListenAddress": "",
            "certificate": path("own.pem"),
            "privateKey": path("key.pem"),
            "httpPort": plain.port(),
            "tlsPort": secure.port(),
            "certificateValidityPeriod": 90 * 86_400,
        } });
        std::fs::write(path("config.json"), config.to_string()).unwrap();
        let dns = Command::new("pebble-challtestsrv")
            .args(["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", ""])
            .args(["-tlsalpn01", "", "-management", "", "-dns01", &names.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("tests/run installs pebble");
        let pebble = Command::new("pebble")
            .args(["-config", &path("config.json"), "-dnsserver", &names.to_string()])
            .env("PEBBLE_VA_NOSLEEP", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("tests/run installs pebble");
        self.running = Some((dns, pebble));
    }

    fn close(&mut self) {
        if let Some((mut dns, mut pebble)) = self.running.take() {
            for child in [&mut dns, &mut pebble] {
                child.kill().ok();
                child.wait().ok();
            }
        }
    }

    fn builder(&self) -> Builder {
        let root = self.folder.path().join("root.pem").display().to_string();
        Site::builder()
            .config("server.https_listen", self.secure.to_string())
            .config("server.acme_domains", NAMES.to_vec())
            .config("server.acme_email", "eva@example.com")
            .config("server.acme_directory", format!("https://{}/dir", self.address))
            .config("server.acme_root", root)
    }

    /// What is served, once plain HTTP leads there.
    #[track_caller]
    fn served(&self, site: &Site) -> Vec<u8> {
        until("there is a certificate", PATIENCE, || {
            // The pause after a failure is over at last.
            site.clock().advance_s(1);
            (site.anonymous().get("/entrar").status == 308).then_some(())
        });
        self.shown()
    }

    #[track_caller]
    fn shown(&self) -> Vec<u8> {
        let session = Session::trusting(self.secure, NAMES[0], &rustls::version::TLS13).unwrap();
        let request =
            format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", NAMES[0]);
        session.finish(&request).unwrap().certificate
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.close();
    }
}

fn checked(site: &Site, what: &str) -> Value {
    let report = site.command(&["check", "--json"]).run().stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let found = report["findings"].as_array().unwrap().iter().find(|found| found["what"] == what);
    found.cloned().unwrap_or_default()
}

#[test]
#[ignore = "needs pebble; tests/run installs it"]
fn a_directory_that_was_away_gives_a_certificate_and_renews_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut directory = Directory::new();
    let site = directory.builder().start();
    site.expect_in_log("no certificate; plain HTTP is served");
    site.clock().set(&format!("{:.0}", now()));
    let operator = site.administrator();
    site.wait_for_log("no certificate; plain HTTP is served", PATIENCE);
    assert!(operator.get("/admin").expect(200).text().contains("Ainda não há certificado HTTPS"));
    assert_eq!(checked(&site, "acme")["state"], "not_reached");

    // It is back, and looks at the port of HTTPS; nothing answers at that of plain HTTP.
    directory.open(directory.plain, directory.secure);
    site.clock().advance_s(60);
    let first = directory.served(&site);
    assert_eq!(checked(&site, "acme")["state"], "reached");
    assert_eq!(checked(&site, "https")["verdict"], "ok");
    for end in [".https.pem", ".acme-account.json"] {
        let path = format!("{}{end}", site.database().display());
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{end}");
    }

    // A restart serves it at once, without the directory.
    directory.close();
    site.stop();
    site.start_again();
    assert_eq!(directory.served(&site), first);

    // A renewal that fails keeps it, and tells administrators.
    site.expect_in_log("the one before is served on");
    let told =
        || site.stored("SELECT title FROM notification ORDER BY created_at, notification_id");
    site.clock().advance_s(61 * 86_400);
    site.wait_for_log("the one before is served on", PATIENCE);
    assert_eq!(told(), [""; 0]);
    for (days, title) in [(10, "dias"), (10, "8 dias"), (7, "1 dia")] {
        site.clock().advance_s(days * 86_400);
        let before = told().len();
        until(title, PATIENCE, || {
            let told = told();
            (told.len() > before && told.last().unwrap().contains(title)).then_some(())
        });
    }
    assert_eq!((told().len(), directory.shown()), (3, first.clone()));

    // It is back: the certificate is renewed, with a new account if need be.
    directory.open(directory.plain, directory.secure);
    until("the certificate is renewed", PATIENCE, || {
        site.clock().advance_s(60);
        (directory.shown() != first).then_some(())
    });
}

#[test]
#[ignore = "needs pebble; tests/run installs it"]
fn a_directory_may_look_at_plain_http() {
    let mut directory = Directory::new();
    // Plain HTTP of this test listens anywhere, so the directory is told where.
    let site = directory.builder().start();
    site.expect_in_log_if_any("no certificate; plain HTTP is served");
    let nowhere = free();
    directory.open(site.address(), nowhere);
    site.clock().advance_s(60);
    assert!(!directory.served(&site).is_empty());
    assert!(site.log().contains("TLS-ALPN-01"), "the other way was tried first");
}
