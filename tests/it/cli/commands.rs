//! What the commands print and how they exit, and that a running server soon
//! notices what they change.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::support::client::{Client, Request};
use crate::support::process::{EXECUTABLE, Process, run};
use crate::support::site::{PROPAGATION, Site};
use crate::support::wait::until;

const HEALTH: &str = "/api/v1/partner/health";

/// Whether a text is `length` lowercase hexadecimal digits.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| b"0123456789abcdef".contains(&b))
}

#[test]
fn making_a_person_prints_the_id_and_a_password_that_was_made() {
    let site = Site::builder().unlimited().start();
    let create = |more: &[&str]| {
        let fixed = ["user", "create", "--nome", "Ana Souza"];
        site.command(&[&fixed[..], more].concat())
    };
    let printed = create(&["--email", "ana@example.com", "--role", "pro"]).ok();
    let lines: Vec<&str> = printed.lines().collect();
    let [id, password] = lines[..] else { panic!("id and password, not {printed:?}") };
    assert!(id.parse::<u64>().is_ok(), "{id}");
    let login = json!({ "email": "ana@example.com", "senha": password });
    let reply = site.anonymous().post("/api/ext/auth", &login).ok();
    assert_eq!((reply["user"]["id"].as_str(), &reply["user"]["role"]), (Some(id), &json!("pro")));
    let given = ["--email", "rui@example.com", "--role", "drop", "--password-stdin"];
    let printed = create(&given).stdin("uma senha longa\n").ok();
    assert_eq!(printed.lines().count(), 1, "{printed}");
    for (more, input, code) in [
        (&["--email", " ANA@example.com ", "--role", "pro"][..], "", 1),
        (&["--email", "sem-arroba", "--role", "pro"], "", 2),
        (&["--email", "b@example.com", "--role", "pro", "--password-stdin"], "curta", 1),
        (&["--email", "b@example.com", "--role", "king"], "", 2),
        (&["--email", "b@example.com"], "", 2),
    ] {
        let outcome = create(more).stdin(input).exits(code);
        assert_eq!(outcome.stdout, "", "{more:?}");
        assert!(!outcome.stderr.trim().is_empty(), "{more:?}");
    }
}

#[test]
fn a_new_password_ends_sessions_and_tokens_beside_the_server() {
    let site = Site::builder().unlimited().start();
    let session = site.person("ana");
    let extension = site.extension("ana");
    let partner = site.seller("ana").plan("pro");
    let other = site.person("rui");
    for actor in [&session, &other] {
        actor.get("/painel").expect(200);
    }
    extension.get("/api/ext/me").expect(200);
    let email = &session.person().email;
    let password = ["user", "password", "--email", email];
    let made = site.command(&password).ok();
    until("the session is over", PROPAGATION, || {
        (session.get("/painel").status == 303).then_some(())
    });
    until("the token is over", PROPAGATION, || {
        (extension.get("/api/ext/me").status == 401).then_some(())
    });
    partner.get(HEALTH).expect(200);
    other.get("/painel").expect(200);
    let login = json!({ "email": email, "senha": made.trim() });
    site.anonymous().post("/api/ext/auth", &login).expect(200);
    let old = json!({ "email": email, "senha": session.person().password });
    site.anonymous().post("/api/ext/auth", &old).expect(401);
    let revoking = [&password[..], &["--revoke-partner-tokens"]].concat();
    site.command(&revoking).ok();
    until("the partner token is revoked", PROPAGATION, || {
        (partner.get(HEALTH).status == 401).then_some(())
    });
    let nobody = ["user", "password", "--email", "ninguem@example.com"];
    site.command(&nobody).exits(1);
}

#[test]
fn what_commands_change_lands_in_the_audit_log() {
    let site = Site::start();
    let (ana, rui) = (site.make_person("ana", "vip"), site.make_person("rui", "drop"));
    for person in [&ana, &rui] {
        let email = &person.email;
        site.command(&["user", "password", "--email", email]).ok();
        site.command(&["partner", "plan", "--email", email, "--plan", "pro"]).ok();
        let token = site.command(&["partner", "token", "--email", email]).ok();
        site.keep_secret("partner token", token.trim());
    }
    let off = ["partner", "plan", "--email", &ana.email, "--plan", "none"];
    site.command(&off).ok();
    site.command(&["user", "password", "--email", "ninguem@example.com"]).exits(1);
    let noted = "SELECT action || ' ' || object_kind || ' ' || object_name || ' ' || coalesce(before, '-') || ' ' || coalesce(after, '-')
                 FROM audit WHERE actor_kind = 'comando' AND address = '' ORDER BY object_name, audit_id";
    let plan = r#"{"plano":"pro","ate":null}"#;
    let name = r#"{"nome":"command line"}"#;
    let ended = r#"{"tokens_de_parceiro_revogados":0}"#;
    let of = |kind: &str, who: &str| {
        let role = if kind == "aluno" { "vip" } else { "drop" };
        let made =
            format!(r#"{{"nome":"{who} da Silva","email":"{who}@example.com","papel":"{role}"}}"#);
        [
            format!("{kind}.criar {kind} {who} da Silva - {made}"),
            format!("{kind}.senha {kind} {who} da Silva - {ended}"),
            format!("{kind}.plano_de_api {kind} {who} da Silva - {plan}"),
            format!("{kind}.token_de_parceiro {kind} {who} da Silva - {name}"),
        ]
    };
    let taken = vec![format!("aluno.plano_de_api aluno ana da Silva {plan} -")];
    let expected = [of("aluno", "ana").to_vec(), taken, of("equipe", "rui").to_vec()].concat();
    assert_eq!(site.stored(noted), expected);
}

#[test]
fn partner_commands_print_a_token_alone_and_name_what_is_wrong() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let token = site.command(&["partner", "token", "--email", &ana.email]).ok();
    let digits = token.trim_end().strip_prefix("ptk_").unwrap_or_default();
    assert!(is_hex(digits, 48) && token.lines().count() == 1, "{token:?}");
    let plan = ["partner", "plan", "--email", &ana.email, "--plan"];
    let said = site.command(&[&plan[..], &["pro", "--until", "2026-12-31"]].concat()).ok();
    assert_eq!(said.lines().count(), 1, "{said}");
    for (more, code) in [
        (&["gold"][..], 2),
        (&["pro", "--until", "31/12/2026"], 2),
        (&["pro", "--until", "2026-02-30"], 2),
        (&["pro", "--until=-99999-1-1"], 2),
        (&["pro", "--until", "+99999-1-1"], 2),
    ] {
        site.command(&[&plan[..], more].concat()).exits(code);
    }
    for unknown in ["token", "plan"] {
        let mut arguments = vec!["partner", unknown, "--email", "ninguem@example.com"];
        if unknown == "plan" {
            arguments.extend(["--plan", "pro"]);
        }
        let refused = site.command(&arguments).exits(1);
        assert!(refused.stderr.contains("ninguem@example.com"), "{}", refused.stderr);
    }
}

#[test]
fn a_generated_secret_stays_and_a_configured_one_wins() {
    let site = Site::builder().config("cron.secret", "").start();
    let show = |name: &str| site.command(&["secret", "show", name]).ok();
    let generated = show("cron");
    assert!(is_hex(generated.trim_end(), 64), "{generated:?}");
    assert_eq!(generated, show("cron"));
    assert_eq!(show("checkout").trim_end(), crate::support::site::CHECKOUT_TOKEN);
    site.command(&["secret", "show", "other"]).exits(2);
}

#[test]
fn tables_and_documents_are_printed_whole() {
    let site = Site::start();
    let status = site.command(&["migrate", "status"]).ok();
    assert!(!status.trim().is_empty());
    assert!(!site.command(&["migrate"]).ok().trim().is_empty());
    let shown = site.command(&["config", "show"]).ok();
    let parsed: toml::Table = shown.parse().expect("`config show` prints TOML");
    assert!(parsed["server"]["timezone"].is_str(), "{shown}");
    let table = site.command(&["routes"]).ok();
    assert_eq!(table.lines().count(), site.routes().len());
    let version = site.command(&["--version"]).ok();
    assert!(version.starts_with("seller-platform "), "{version}");
    // The commit and its day, when the sources know them.
    if std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists() {
        let (_, commit) = version.trim().split_once(" (").expect(&version);
        let (hash, day) = commit.trim_end_matches(')').split_once(' ').expect(&version);
        assert!(hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
        assert!(day.len() == 10 && day.split('-').count() == 3, "{version}");
    }
    site.command(&["--help"]).ok();
    for wrong in [&[][..], &["serve", "x"], &["migrate", "down"], &["backup"], &["user"]] {
        site.command(wrong).exits(2);
    }
}

#[test]
fn check_finds_what_would_fail() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::builder()
        .config("marketplace.client_id", "")
        .config("marketplace.client_secret", "")
        .start();
    let good = site.command(&["check"]).ok();
    assert!(!good.contains("FAIL"), "{good}");
    let mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(site.database(), permissions).unwrap();
    };
    mode(0o644);
    let bad = site.command(&["check"]).exits(1).stdout;
    assert!(bad.lines().any(|line| line.starts_with("FAIL") && line.contains("0644")), "{bad}");
    mode(0o600);
    let unreachable = Site::start();
    let bad = unreachable.command(&["check"]).exits(1).stdout;
    assert!(bad.contains("127.0.0.1:9"), "{bad}");
}

#[test]
fn a_backup_brings_back_what_was_there_and_nothing_later() {
    let site = Site::builder().unlimited().start();
    let ana = site.extension("ana");
    let backup = site.folder().join("copia.db").display().to_string();
    let said = site.command(&["backup", &backup]).ok();
    assert!(said.contains(&backup), "{said}");
    let rui = site.extension("rui");
    rui.get("/api/ext/me").expect(200);
    site.command(&["restore", &backup]).exits(1);
    site.stop();
    assert!(!site.command(&["restore", &backup]).ok().trim().is_empty());
    let kept: Vec<_> = site
        .data_files()
        .into_iter()
        .filter(|path| *path != site.database() && !path.to_string_lossy().contains("key"))
        .collect();
    assert!(!kept.is_empty(), "the present database was not kept aside");
    site.start_again();
    ana.get("/api/ext/me").expect(200);
    rui.get("/api/ext/me").expect(401);
    // Moved away, because the clean stop expects one database file.
    for path in kept {
        std::fs::rename(&path, site.folder().join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn the_demonstration_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(EXECUTABLE);
    command
        .env_clear()
        // The page is requested repeatedly until the sales are there.
        .env("SELLER_PLATFORM__LIMITS__REQUESTS", "1000000")
        .current_dir(&folder)
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"]);
    let mut demo = Process::start(&mut command);
    let login = json!({ "email": "ana@exemplo.com", "senha": "demonstracao" });
    let auth = Request::new("POST", "/api/ext/auth").json(&login);
    let mut client = Client::default();
    let token = until("the demonstration's person is there", Duration::from_secs(30), || {
        let reply = client.send(demo.address, &auth).unwrap();
        (reply.status == 200).then(|| reply.json()["token"].as_str().unwrap().to_owned())
    });
    let me = Request::new("GET", "/api/ext/me").header("Authorization", &format!("Bearer {token}"));
    until("her shops sell", Duration::from_secs(60), || {
        let me = client.send(demo.address, &me).unwrap();
        (me.status == 200 && me.json()["ml"]["contas"].as_array().unwrap().len() == 3).then_some(())
    });
    let status = demo.stop(Duration::from_secs(15));
    assert!(status.success(), "{status}\n{}", demo.log());
    assert!(
        !demo.log().contains("/admin/alunos"),
        "what it furnishes buries its summary\n{}",
        demo.log()
    );
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, 0, "the demonstration left files behind");
}

#[test]
fn a_database_is_chosen_by_flag_over_everything() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(EXECUTABLE);
    command
        .env_clear()
        .env("SELLER_PLATFORM__DATABASE__PATH", "do-ambiente.db")
        .current_dir(&folder)
        .args(["--db", "da-bandeira.db", "migrate"]);
    let outcome = run(&mut command, "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(folder.path().join("da-bandeira.db").exists());
    assert!(!folder.path().join("do-ambiente.db").exists());
}

#[test]
fn the_sandbox_says_how_a_platform_joins_it() {
    let folder = tempfile::tempdir().unwrap();
    let says = |listen: &str, last: &str| {
        let mut child = Command::new(EXECUTABLE)
            .env_clear()
            .current_dir(folder.path())
            .args(["sandbox", "--listen", listen])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).try_for_each(|line| tell.send(line))
        });
        let mut said = Vec::new();
        while let Ok(line) = told.recv_timeout(Duration::from_mins(1)) {
            let is_last = line.contains(last);
            said.push(line);
            if is_last {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        said
    };
    let platform = "127.0.0.1:8080";
    let server = format!("[server]\nlisten = \"{platform}\"\n");
    let config = folder.path().join("seller-platform.toml");
    let said = until("it listens twice", Duration::from_mins(1), || {
        let introduced = says("127.0.0.1:0", "client_secret");
        let listen = introduced[0].strip_prefix("listening on http://").unwrap();
        // The printed text is used without changes.
        let snippet: Vec<&str> = introduced
            .iter()
            .map(String::as_str)
            .skip_while(|line| !line.contains("[marketplace]"))
            .collect();
        std::fs::write(&config, server.clone() + &snippet.join("\n")).unwrap();
        let said = says(listen, "notifications go to");
        std::fs::remove_file(&config).unwrap();
        // Another program may have taken the port in the meantime.
        (!said.is_empty()).then_some(said)
    });
    let expected = format!("notifications go to http://{platform}/ml/notificacoes");
    assert_eq!(said.last(), Some(&expected), "{said:?}");
}
