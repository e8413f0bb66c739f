//! Debian's Caddy and nginx in front of us, with the snippets of `docs/operations.md`.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use jiff::SignedDuration;
use tempfile::TempDir;

use crate::support::authority::{Answer, Authority, Session, now};
use crate::support::site::{Person, Site};
use crate::support::wait::until;

const NAME: &str = "vendas.example.com";
const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy that ends with the test.
struct Proxy {
    child: Child,
    to: SocketAddr,
    _folder: TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The block of code of a kind in the documentation, leading to a server.
#[track_caller]
fn snippet(kind: &str, server: SocketAddr) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("```{kind}\n")).expect("a snippet");
    let (code, _) = rest.split_once("```").unwrap();
    assert!(code.contains("127.0.0.1:8080"), "{code}");
    code.replace("127.0.0.1:8080", &server.to_string())
}

fn caddy(server: SocketAddr) -> Proxy {
    let (folder, to) = (tempfile::tempdir().unwrap(), free());
    let options = format!(
        "{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttps_port {}\n\tauto_https disable_redirects\n\tlocal_certs\n\tskip_install_trust\n}}\n",
        to.port()
    );
    let file = folder.path().join("Caddyfile");
    std::fs::write(&file, options + &snippet("caddyfile", server)).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file);
    command.env("HOME", folder.path()).env("XDG_DATA_HOME", folder.path());
    started(command, to, folder)
}

fn nginx(server: SocketAddr) -> Proxy {
    let (folder, to) = (tempfile::tempdir().unwrap(), free());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let issued = Authority::new().issue(&[NAME], now() + SignedDuration::from_hours(30 * 24));
    std::fs::write(path("fullchain.pem"), issued.chain).unwrap();
    std::fs::write(path("privkey.pem"), issued.key).unwrap();
    let server = snippet("nginx", server)
        .replace("listen 443 ssl", &format!("listen {to} ssl"))
        .replace("/etc/letsencrypt/live/vendas.example.com/", &path(""));
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {};\n", path(kind)))
        .concat();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {};\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{kept}{server}}}\n",
        path("pid")
    );
    std::fs::write(path("nginx.conf"), text).unwrap();
    let mut command = Command::new("/usr/sbin/nginx");
    command.arg("-p").arg(folder.path()).arg("-c").arg(path("nginx.conf"));
    started(command, to, folder)
}

#[track_caller]
fn started(mut command: Command, to: SocketAddr, folder: TempDir) -> Proxy {
    let child = command.spawn().expect("tests/run installs caddy and nginx");
    let proxy = Proxy { child, to, _folder: folder };
    until("the proxy listens", PATIENCE, || TcpStream::connect(to).ok());
    proxy
}

#[track_caller]
fn asked(to: SocketAddr, request: &str) -> Answer {
    until("the proxy has a certificate", PATIENCE, || {
        Session::trusting(to, NAME, &rustls::version::TLS12).ok()
    })
    .finish(request)
    .unwrap()
}

/// A page, and a login.
fn try_it(proxy: &Proxy, person: &Person) {
    let answer = asked(
        proxy.to,
        &format!("GET /entrar HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n"),
    );
    assert_eq!(answer.status(), 200, "{}", answer.text);
    let text = answer.text.to_ascii_lowercase();
    assert!(text.contains("strict-transport-security: max-age="), "{text}");

    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("email", &person.email)
        .append_pair("senha", &person.password)
        .finish();
    let login = format!(
        "POST /entrar HTTP/1.1\r\nHost: {NAME}\r\nOrigin: https://{NAME}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = asked(proxy.to, &login);
    assert_eq!(answer.status(), 303, "{}", answer.text);
    assert!(answer.text.contains("__Host-sessao="), "{}", answer.text);
}

#[test]
#[ignore = "needs Caddy and nginx; tests/run installs them"]
fn the_snippets_of_the_documentation_work() {
    let site = Site::builder()
        .unlimited()
        .config("server.base_url", format!("https://{NAME}"))
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .start();
    let person = site.make_person("eva", "vip");
    try_it(&caddy(site.address()), &person);
    try_it(&nginx(site.address()), &person);
}
