//! HTTPS of our own with files of the operator: what is served where, files that
//! change, files that are wrong, the end, and what handshakes may cost.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::authority::{Answer, Authority, Issued, Session, now};
use crate::support::client::Request;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;

const NAME: &str = "loja.example.test";
const PATIENCE: Duration = Duration::from_secs(30);

/// The files of a certificate, with the authority that gave it.
struct Files {
    folder: TempDir,
    authority: Authority,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), authority: Authority::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, issued: &Issued) {
        std::fs::write(self.path("chain.pem"), &issued.chain).unwrap();
        std::fs::write(self.path("key.pem"), &issued.key).unwrap();
    }

    /// A certificate that ends so many days from now, by the machine's clock.
    fn ending(&self, days: i64) -> Issued {
        self.authority.issue(&[NAME, "127.0.0.1"], now() + SignedDuration::from_hours(days * 24))
    }

    fn builder(&self) -> Builder {
        Site::builder()
            .unlimited()
            .config("server.https_listen", "127.0.0.1:0")
            .config("server.tls_cert", self.path("chain.pem").display().to_string())
            .config("server.tls_key", self.path("key.pem").display().to_string())
    }

    /// Asks by HTTPS, trusting the authority.
    #[track_caller]
    fn ask(&self, to: SocketAddr, path: &str) -> Answer {
        self.authority.ask(to, NAME, now(), &get(to, path)).unwrap()
    }
}

fn get(to: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {NAME}:{}\r\nConnection: close\r\n\r\n", to.port())
}

/// Where plain HTTP leads, once it does.
#[track_caller]
fn secure(site: &Site) -> SocketAddr {
    let location = until("plain HTTP leads to HTTPS", PATIENCE, || {
        let reply = site.anonymous().get("/entrar");
        (reply.status == 308).then(|| reply.header("location").unwrap().to_owned())
    });
    let port = location.strip_prefix("https://127.0.0.1:").unwrap().strip_suffix("/entrar");
    SocketAddr::from(([127, 0, 0, 1], port.unwrap().parse().unwrap()))
}

/// What `check` finds of HTTPS: the verdict and the text.
#[track_caller]
fn checked(site: &Site) -> (String, String) {
    let report = site.command(&["check", "--json"]).run().stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["what"] == "https").expect("a line");
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("verdict"), text("text"))
}

#[test]
fn https_is_served_and_plain_http_leads_there() {
    let files = Files::new();
    files.put(&files.ending(60));
    let site = files.builder().start();
    let person = site.make_person("eva", "admin");
    let to = secure(&site);

    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let answer = Session::trusting(to, NAME, version).unwrap();
        let answer = answer.finish(&get(to, "/entrar")).unwrap();
        assert_eq!((answer.status(), answer.version), (200, version.version));
    }
    let answer = files.ask(to, "/entrar");
    // Other machines below the name need not have HTTPS.
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=63072000"));
    assert!(answer.header("x-request-id").is_some());

    // Plain HTTP leads to the same address, whatever the method; probes stay.
    let plain = site.anonymous();
    let reply = plain.get("/desenvolvedores?a=1&b=%2F").expect(308);
    let expected = format!("https://127.0.0.1:{}/desenvolvedores?a=1&b=%2F", to.port());
    assert_eq!(reply.header("location"), Some(&*expected));
    assert_eq!(reply.header("strict-transport-security"), None);
    let named = Request::new("POST", "/entrar").header("Host", NAME).form(&[("email", "x")]);
    let reply = plain.send(named).expect(308);
    assert_eq!(reply.header("location").unwrap(), format!("https://{NAME}:{}/entrar", to.port()));
    let stranger = Request::new("GET", "/entrar").header("Host", "elsewhere.example");
    assert_eq!(plain.send(stranger).status, 400);
    plain.get("/healthz").expect(200);
    plain.get("/readyz").expect(200);
    plain.get("/.well-known/acme-challenge/nothing").expect(404);

    // The name of the certificate is the public address, and cookies are for it alone.
    let link = site.command(&["check", "--json"]).run().stdout;
    assert!(!link.contains("base_url is empty"), "{link}");
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("email", &person.email)
        .append_pair("senha", &person.password)
        .finish();
    let login = format!(
        "POST /entrar HTTP/1.1\r\nHost: {NAME}:{port}\r\nOrigin: https://{NAME}:{port}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
        port = to.port(),
    );
    let answer = files.authority.ask(to, NAME, now(), &login).unwrap();
    assert_eq!(answer.status(), 303, "{}", answer.text);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-sessao=") && cookie.contains("; Secure"), "{cookie}");

    let (verdict, text) = checked(&site);
    assert!(verdict == "ok" && text.contains(NAME), "{verdict} {text}");
}

#[test]
fn files_that_change_are_read_again_and_no_connection_is_lost() {
    let files = Files::new();
    files.put(&files.ending(60));
    let site = files.builder().config("server.max_connections_per_address", 1000).start();
    let to = secure(&site);
    let (ended, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    assert_eq!(files.ask(to, "/healthz").status(), 200);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut kept = Session::trusting(to, NAME, &rustls::version::TLS13).unwrap();
        let ping = format!("GET /healthz HTTP/1.1\r\nHost: {NAME}\r\n\r\n");
        let mut shown = files.ask(to, "/healthz").certificate;
        for days in [61, 62, 63] {
            assert!(kept.exchange(&ping).unwrap().starts_with("HTTP/1.1 200"));
            let next = files.ending(days);
            // First the certificate, and the key a moment later: never both at once.
            std::fs::write(files.path("chain.pem"), &next.chain).unwrap();
            let before = asked.load(Ordering::Relaxed);
            until("requests go on meanwhile", PATIENCE, || {
                (asked.load(Ordering::Relaxed) > before + 2).then_some(())
            });
            std::fs::write(files.path("key.pem"), &next.key).unwrap();
            shown = until("the new certificate is shown", PATIENCE, || {
                let now = files.ask(to, "/healthz").certificate;
                (now != shown).then_some(now)
            });
        }
        // A wrong file keeps the one before, and is said.
        site.expect_in_log("holds no certificate");
        site.expect_in_log_if_any("does not belong to the certificate");
        std::fs::write(files.path("chain.pem"), "nothing").unwrap();
        site.wait_for_log("chain.pem holds no certificate", PATIENCE);
        assert_eq!(files.ask(to, "/healthz").certificate, shown);
        assert!(kept.exchange(&ping).unwrap().starts_with("HTTP/1.1 200"));
        ended.store(true, Ordering::Relaxed);
    });
    let (verdict, text) = checked(&site);
    assert!(verdict == "fail" && text.contains("holds no certificate"), "{verdict} {text}");
}

#[test]
fn without_a_good_file_plain_http_is_served_until_one_comes() {
    let files = Files::new();
    let site = files.builder().start();
    site.expect_in_log("cannot read");
    let operator = site.administrator();
    let home = operator.get("/admin").expect(200).text();
    assert!(home.contains("Ainda não há certificado HTTPS"), "{home}");
    let (verdict, text) = checked(&site);
    assert!(verdict == "fail" && text.contains("chain.pem"), "{verdict} {text}");

    files.put(&files.ending(60));
    let to = secure(&site);
    assert_eq!(files.ask(to, "/entrar").status(), 200);
    assert_eq!(checked(&site).0, "ok");
}

#[test]
fn a_port_that_is_taken_is_waited_for() {
    let files = Files::new();
    files.put(&files.ending(60));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = taken.local_addr().unwrap();
    let site = files.builder().config("server.https_listen", to.to_string()).start();
    site.expect_in_log("HTTPS is not served");
    let home = site.administrator().get("/admin").expect(200).text();
    assert!(home.contains("A porta do HTTPS não está livre"), "{home}");
    drop(taken);
    assert_eq!(secure(&site), to);
    assert_eq!(files.ask(to, "/entrar").status(), 200);
}

#[test]
fn the_end_is_shown_and_told() {
    let files = Files::new();
    let clock = crate::support::site::Clock::new(files.folder.path());
    let end = clock.now() + SignedDuration::from_hours(25 * 24);
    files.put(&files.authority.issue(&[NAME, "127.0.0.1"], end));
    let site = files.builder().start();
    let keeper = site.key(&["admin"]);
    let figures = |at: SocketAddr| {
        let request = format!(
            "GET /metrics HTTP/1.1\r\nHost: {NAME}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            keeper.bearer_token()
        );
        files.authority.ask(at, NAME, site.clock().now(), &request).unwrap().text
    };
    site.make_person("eva", "admin");
    let to = secure(&site);
    let line = format!("\nseller_platform_certificate_expires_at {}\n", end.as_second());
    assert!(figures(to).contains(&line));
    assert_eq!(checked(&site).0, "ok");

    let told =
        || site.stored("SELECT title FROM notification ORDER BY created_at, notification_id");
    for (days, title) in [(6, " 18 dias"), (10, " 8 dias"), (7, " 1 dia")] {
        site.clock().advance_s(days * 86_400 + 60);
        until(title, PATIENCE, || {
            told().last().is_some_and(|last| last.contains(title)).then_some(())
        });
    }
    assert_eq!(told().len(), 3, "{:?}", told());
    assert_eq!(checked(&site).0, "note");
    site.clock().advance_s(3 * 86_400);
    let (verdict, text) = checked(&site);
    assert!(verdict == "fail" && text.contains("ended"), "{verdict} {text}");
}

#[test]
fn handshakes_are_counted_and_end() {
    let files = Files::new();
    files.put(&files.ending(60));
    let site = files.builder().config("server.max_connections_per_address", 4).start();
    let to = secure(&site);
    let began = Instant::now();
    let silent: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(to).unwrap()).collect();
    // The kept-alive connection of `secure` has a place, too.
    let closed = |mut io: &TcpStream| {
        io.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        matches!(io.read(&mut [0; 1]), Ok(0))
    };
    until("those over the limit are closed at once", Duration::from_secs(5), || {
        (silent.iter().filter(|io| closed(io)).count() >= 4).then_some(())
    });
    until("the others when they said nothing for ten seconds", PATIENCE, || {
        silent.iter().all(closed).then_some(())
    });
    assert!(began.elapsed() >= Duration::from_secs(9), "{:?}", began.elapsed());
    assert_eq!(files.ask(to, "/healthz").status(), 200);
}

#[test]
fn files_are_read_again_when_too_many_files_were_open() {
    let files = Files::new();
    files.put(&files.ending(60));
    let site = files.builder().start();
    let to = secure(&site);
    let before = files.ask(to, "/healthz").certificate;
    site.expect_in_log("Too many open files");
    site.expect_in_log_if_any("does not belong to the certificate");
    // Those of a process's three standard files.
    site.limit_handles(3);
    files.put(&files.ending(61));
    site.wait_for_log("chain.pem: Too many open files", PATIENCE);
    site.limit_handles(1024);
    until("the new certificate is shown", PATIENCE, || {
        (files.ask(to, "/healthz").certificate != before).then_some(())
    });
    assert_eq!(checked(&site).0, "ok");
}

#[test]
fn a_directory_is_not_asked_for_what_the_disk_would_not_take() {
    let directory = TcpListener::bind("127.0.0.1:0").unwrap();
    directory.set_nonblocking(true).unwrap();
    let builder = Site::builder()
        .config("server.https_listen", "127.0.0.1:0")
        .config("server.acme_domains", vec![NAME])
        .config("server.acme_directory", format!("https://{}/dir", directory.local_addr().unwrap()))
        .config("server.acme_email", "eva@example.com");
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let root = folder.path().join("root.pem");
    std::fs::write(&root, authority.pem()).unwrap();
    let site = builder.config("server.acme_root", root.display().to_string()).start();
    site.expect_in_log("no certificate");
    until("it was asked", PATIENCE, || directory.accept().ok());
    site.stop();
    while directory.accept().is_ok() {}
    // Something lies where it would be written.
    let next = format!("{}.https.pem.next", site.database().display());
    std::fs::create_dir(&next).unwrap();
    site.start_again();
    site.wait_for_log("no certificate was asked for", PATIENCE);
    assert!(directory.accept().is_err(), "it was asked");
    std::fs::remove_dir(&next).unwrap();
}
