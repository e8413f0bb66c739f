//! The command line as a new user sees it: help, options, texts for people and
//! for scripts, and addresses.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::Request;
use crate::support::process::{EXECUTABLE, Outcome, Process, run};
use crate::support::site::Site;
use crate::support::wait::until;

/// The executable in an empty folder, with nothing configured.
fn alone(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().current_dir(folder.path()).args(arguments);
    command
}

#[track_caller]
fn help(command: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["-h"]).collect();
    let Outcome { code, stdout, .. } = run(&mut alone(&folder, &arguments), "");
    assert_eq!(code, Some(0), "{command:?}");
    stdout
}

/// The lines under a heading of a help text.
fn section<'h>(help: &'h str, heading: &str) -> Vec<&'h str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Every command, found through the help texts from the top.
fn commands(from: &[String]) -> Vec<Vec<String>> {
    let text = help(from);
    let mut found = vec![from.to_vec()];
    for line in section(&text, "Commands:") {
        let name = line.split_whitespace().next().unwrap();
        if name != "help" {
            found.extend(commands(&[from, &[name.to_owned()]].concat()));
        }
    }
    found
}

#[test]
fn every_command_and_every_option_says_what_it_is_for() {
    let all = commands(&[]);
    assert!(all.len() > 25, "{all:?}");
    for command in &all {
        let text = help(command);
        let headings = ["Commands:", "Arguments:", "Options:", "Global options:"];
        for line in headings.into_iter().flat_map(|heading| section(&text, heading)) {
            let said = line.trim_start().split_once("  ").map(|(_, said)| said.trim());
            let is_sentence = said.is_some_and(|said| {
                said.starts_with(char::is_uppercase) && said.split(' ').count() > 1
            });
            assert!(is_sentence, "{command:?}: {line:?} has no sentence");
        }
        let own = section(&text, "Options:");
        let is_global = |line: &&&str| line.contains("--config") || line.contains("--db ");
        assert_eq!(own.iter().find(is_global), None, "{command:?}");
    }
}

#[test]
fn an_option_that_a_command_does_not_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), "").unwrap();
    for (arguments, option) in [
        (&["routes"][..], "--config"),
        (&["routes"], "--db"),
        (&["completions", "bash"], "--config"),
        (&["completions", "bash"], "--db"),
        (&["openapi"], "--db"),
        (&["sandbox"], "--db"),
        (&["serve", "--demo", "--listen", "127.0.0.1:0"], "--db"),
    ] {
        let given = [arguments, &[option, "a.toml"]].concat();
        let Outcome { code, stdout, stderr } = run(&mut alone(&folder, &given), "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{given:?}");
        assert!(stderr.contains(option), "{stderr}");
        if arguments.len() < 3 {
            let command = arguments[0].to_owned();
            assert!(!help(&[command]).contains(option), "{arguments:?} offers {option}");
            // Before the command `--config` is allowed, so that a shell alias can
            // name the installation.
            let given = [&[option, "a.toml"], arguments].concat();
            let Outcome { code, stdout, stderr } = run(&mut alone(&folder, &given), "");
            if option == "--config" {
                assert_eq!(code, Some(0), "{given:?}");
            } else {
                assert_eq!((code, &*stdout), (Some(2), ""), "{given:?}");
                assert!(stderr.contains("--db does nothing"), "{stderr}");
            }
        }
    }
    let demo = ["--db", "a.db", "serve", "--demo", "--listen", "127.0.0.1:0"];
    assert_eq!(run(&mut alone(&folder, &demo), "").code, Some(2));
    let taken = run(&mut alone(&folder, &["--config", "a.toml", "openapi"]), "");
    assert_eq!(taken.code, Some(0), "{}", taken.stderr);
}

#[test]
fn words_to_choose_from_are_listed_in_help_and_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let roles = ["free", "pro", "vip", "piloto_pro", "podio", "drop", "admin"].join(", ");
    let user = ["user", "create", "--email", "a@example.com", "--nome", "Ana"];
    let key = ["key", "create", "--name", "a"];
    let plan = ["partner", "plan", "--email", "a@example.com"];
    for (command, option, words) in [
        (&user[..], "--role", &*roles),
        (&["user", "list"], "--role", &roles),
        (&key, "--scope", "write, webhook_receive, admin"),
        (&plan, "--plan", "starter, pro, scale, none"),
        (&["secret", "show"], "", "cron, checkout"),
        (&["completions"], "", "bash, elvish, fish, powershell, zsh"),
        (&["migrate"], "", "up, status"),
    ] {
        let words = format!("[possible values: {words}]");
        let name: Vec<String> = command.iter().take(2).map(|&word| word.to_owned()).collect();
        assert!(help(&name).contains(&words), "{name:?}: {words}");
        let wrong = if option.is_empty() { vec!["rei"] } else { vec![option, "rei"] };
        let refused = run(&mut alone(&folder, &[command, &wrong].concat()), "");
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    }
}

#[test]
fn a_key_takes_several_scopes_and_addresses_in_one_list() {
    let site = Site::start();
    for (number, scopes) in [
        &["--scope", "write,admin", "--ip", "10.0.0.0/8,::1"][..],
        &["--scope", "write", "--scope", "admin,write", "--ip", "10.0.0.0/8", "--ip", "::1"],
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("chave {number}");
        let key = site.command(&[&["key", "create", "--name", &name], scopes].concat()).ok();
        site.keep_secret("key", key.trim());
        let list = site.command(&["key", "list"]).ok();
        let row = list.lines().find(|line| line.ends_with(&name)).unwrap();
        assert!(row.contains("  write,admin  10.0.0.0/8,::1"), "{row}");
    }
    for wrong in ["write,rei", "write,", "write admin", ""] {
        site.command(&["key", "create", "--name", "a", "--scope", wrong]).exits(2);
    }
}

#[test]
fn what_scripts_read_is_explained_to_people_beside_it() {
    let site = Site::start();
    let create = ["user", "create", "--email", "ana@example.com", "--nome", "Ana", "--role", "pro"];
    let made = site.command(&create).exits(0);
    let lines: Vec<&str> = made.stdout.lines().collect();
    let [id, password] = lines[..] else { panic!("{lines:?}") };
    assert!(id.parse::<u64>().is_ok(), "{id}");
    assert_eq!(made.stderr.lines().count(), 1, "{}", made.stderr);
    for word in ["ana@example.com", "number", "password"] {
        assert!(made.stderr.contains(word), "{word}: {}", made.stderr);
    }
    assert!(!made.stderr.contains(password), "{}", made.stderr);
    let again = site.command(&["user", "password", "--email", "ana@example.com"]).exits(0);
    assert_eq!((again.stdout.lines().count(), again.stderr.lines().count()), (1, 1));
    let given = ["user", "create", "--email", "b@example.com", "--nome", "Bia", "--role", "vip"];
    let given = site.command(&[&given[..], &["--password-stdin"]].concat());
    let given = given.stdin("uma senha longa").exits(0);
    assert_eq!(given.stdout.lines().count(), 1);
    assert!(!given.stderr.contains("password"), "{}", given.stderr);
}

#[test]
fn people_are_listed_however_many_there_are() {
    let site = Site::start();
    site.make_person("ana", "pro");
    let rui = site.person_as("rui", "drop");
    rui.get("/fornecedor").expect(200);
    let admin = site.administrator();
    let caio = crate::support::people::make(&admin, "Caio Ágil", "caio@example.com", "vip");
    admin.post(&format!("/admin/alunos/{caio}/suspender"), &json!({ "motivo": "teste" })).ok();
    let read = || -> Vec<Value> {
        serde_json::from_str(&site.command(&["user", "list", "--json"]).ok()).unwrap()
    };
    // The last access is written a moment later.
    let people = until("the access is written", Duration::from_secs(20), || {
        let people = read();
        people
            .iter()
            .any(|one| one["email"] == "rui@example.com" && one["last_access"].is_string())
            .then_some(people)
    });
    let of = |email: &str| people.iter().find(|one| one["email"] == email).unwrap();
    let ana = of("ana@example.com");
    assert_eq!(ana["name"], "ana da Silva");
    assert_eq!((&ana["role"], &ana["status"]), (&json!("pro"), &json!("active")));
    assert!(ana["id"].is_string() && ana["last_access"].is_null(), "{ana}");
    assert_eq!(of("rui@example.com")["last_access"], "2026-11-20 09:00:00");
    let suspended = of("caio@example.com");
    assert_eq!((&suspended["id"], &suspended["status"]), (&json!(caio), &json!("suspended")));
    let table = site.command(&["user", "list"]).ok();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), people.len() + 1, "{table}");
    let header: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(header, ["ID", "ROLE", "STATUS", "LAST", "ACCESS", "E-MAIL", "NAME"]);
    let row = lines.iter().find(|line| line.contains("caio@example.com")).unwrap();
    assert!(row.ends_with("caio@example.com  Caio Ágil") || row.contains("caio@example.com   "));
    assert!(row.contains("vip") && row.contains("suspended"), "{row}");
    let suppliers = site.command(&["user", "list", "--role", "drop"]).ok();
    assert_eq!(suppliers.lines().count(), 2, "{suppliers}");

    site.stop();
    let file = Connection::open_with_flags(site.database(), OpenFlags::SQLITE_OPEN_READ_WRITE);
    let file = file.unwrap();
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
                INSERT INTO user (email, name, role, created_at)
                SELECT 'p' || i || '@example.com', 'Pessoa ' || i, 'free', 0 FROM n";
    file.execute(many, []).unwrap();
    drop(file);
    let all = read();
    assert_eq!(all.len(), people.len() + 2500);
    let numbers: Vec<u64> =
        all.iter().map(|one| one["id"].as_str().unwrap().parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "each once, by number");
    let table = site.command(&["user", "list", "--role", "free"]).ok();
    assert_eq!(table.lines().count(), 2501);
    site.start_again();
}

#[test]
fn an_empty_list_is_a_list() {
    let site = Site::start();
    assert_eq!(site.command(&["user", "list"]).ok().lines().count(), 1);
    let none: Vec<Value> =
        serde_json::from_str(&site.command(&["user", "list", "--json"]).ok()).unwrap();
    assert!(none.is_empty());
}

#[test]
fn shells_are_told_what_there_is_wherever_they_ask() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seller-platform.toml"), "broken =").unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let Outcome { code, stdout, stderr } =
            run(&mut alone(&folder, &["completions", shell]), "");
        assert_eq!((code, &*stderr), (Some(0), ""), "{shell}");
        for word in ["seller-platform", "setup-link", "password-stdin"] {
            assert!(stdout.contains(word), "{shell} knows no {word}");
        }
        // The other shells complete no values.
        if matches!(shell, "bash" | "zsh" | "fish") {
            assert!(stdout.contains("piloto_pro"), "{shell} knows no roles");
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn addresses_are_listed_by_path_within_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let table = run(&mut alone(&folder, &["routes"]), "").stdout;
    let keys: Vec<(&str, &str)> = table
        .lines()
        .map(|line| {
            assert!(line.len() <= 120, "{line}");
            let mut words = line.split_whitespace();
            let method = words.next().unwrap();
            (words.next().unwrap(), method)
        })
        .collect();
    assert!(keys.len() > 100 && keys.is_sorted(), "{keys:?}");
    let whole: Vec<Value> =
        serde_json::from_str(&run(&mut alone(&folder, &["routes", "--json"]), "").stdout).unwrap();
    let same: Vec<(&str, &str)> = whole
        .iter()
        .map(|row| (row["path"].as_str().unwrap(), row["method"].as_str().unwrap()))
        .collect();
    assert_eq!(same, keys);
}

#[test]
fn this_machine_need_not_be_named_to_listen_on_it() {
    let folder = tempfile::tempdir().unwrap();
    for listen in [":0", "localhost:0"] {
        for command in ["serve", "sandbox"] {
            let mut started = Process::start(&mut alone(&folder, &[command, "--listen", listen]));
            assert!(started.address.ip().is_loopback() && started.address.port() > 0);
            assert!(started.stop(Duration::from_secs(30)).success(), "{}", started.log());
        }
    }
    let mut serve = alone(&folder, &["serve"]);
    let mut started = Process::start(serve.env("SELLER_PLATFORM__SERVER__LISTEN", "localhost:0"));
    assert!(started.stop(Duration::from_secs(30)).success());
    for wrong in ["localhost", "exemplo.com:80", "8080x", ":99999"] {
        let refused = run(&mut alone(&folder, &["serve", "--listen", wrong]), "");
        assert_eq!(refused.code, Some(2), "{wrong}");
        assert!(refused.stderr.contains(":8080"), "{}", refused.stderr);
    }
}

#[test]
fn why_an_address_cannot_be_used_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for command in ["serve", "sandbox"] {
        let refused = |listen: &str| {
            let Outcome { code, stdout, stderr } =
                run(&mut alone(&folder, &[command, "--listen", listen]), "");
            assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
            assert!(stderr.contains(&format!("cannot listen on {listen}")), "{stderr}");
            stderr
        };
        let said = refused(&taken);
        assert!(said.contains("stop what uses it") && !said.contains("does not have"), "{said}");
        // An address for documentation, which no machine has.
        let said = refused("192.0.2.1:8080");
        assert!(said.contains("does not have") && !said.contains("stop what"), "{said}");
    }
}

#[test]
fn links_have_the_port_that_is_in_use() {
    let site = Site::builder().config("server.listen", "127.0.0.1:1").start();
    let person = site.make_person("ana", "pro");
    let links = [&["setup-link"][..], &["user", "password-link", "--email", &person.email]];
    for arguments in links {
        let printed = site.command(arguments).exits(0);
        let begins = format!("http://{}/", site.address());
        assert!(printed.stdout.starts_with(&begins), "{}", printed.stdout);
        assert_eq!(printed.stderr, "");
        let target = printed.stdout.trim().strip_prefix(begins.trim_end_matches('/')).unwrap();
        site.anonymous()
            .send(Request::new("GET", target).header("Accept", "text/html"))
            .expect(200);
    }
    // What a crash left behind does not count for the present state.
    site.kill();
    for arguments in links {
        let printed = site.command(arguments).exits(0);
        assert!(printed.stdout.starts_with("http://127.0.0.1:1/"), "{}", printed.stdout);
    }
    site.start_again();
    let printed = site.command(&["setup-link"]).ok();
    assert!(printed.starts_with(&format!("http://{}/", site.address())), "{printed}");
}

#[test]
fn a_public_address_stands_in_links_whatever_is_bound() {
    let public = "https://loja.example.com";
    let site = Site::builder().config("server.base_url", public).start();
    let printed = site.command(&["setup-link"]).ok();
    assert!(printed.starts_with(&format!("{public}/")), "{printed}");
}

#[test]
fn a_port_that_nobody_knows_yet_is_not_passed_off_as_one() {
    let site = Site::builder().config("server.listen", "127.0.0.1:0").start();
    site.stop();
    let printed = site.command(&["setup-link"]).exits(0);
    assert_eq!(printed.stdout.lines().count(), 1, "{}", printed.stdout);
    assert!(printed.stderr.contains("no server runs"), "{}", printed.stderr);
    site.start_again();
}

#[test]
fn the_sandbox_tells_a_running_platform_where_it_is() {
    let site = Site::builder().config("server.listen", "127.0.0.1:0").start();
    let database = site.database().display().to_string();
    let says = || {
        // Another program may take the port in the meantime.
        until("the sandbox listens", Duration::from_mins(1), || {
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let config = format!(
                "[server]\nlisten = \"127.0.0.1:0\"\n[database]\npath = \"{database}\"\n[marketplace]\napi_base = \"http://{free}\"\n"
            );
            std::fs::write(folder.path().join("seller-platform.toml"), config).unwrap();
            let output = folder.path().join("said");
            let mut child = alone(&folder, &["sandbox", "--listen", &free.to_string()])
                .stdout(std::fs::File::create(&output).unwrap())
                .spawn()
                .unwrap();
            let said = until("it says so", Duration::from_mins(1), || {
                let said = std::fs::read_to_string(&output).unwrap();
                let is_over = child.try_wait().unwrap().is_some();
                (is_over || said.lines().count() > 1).then_some(said)
            });
            child.kill().ok();
            child.wait().unwrap();
            (!said.is_empty()).then_some(said)
        })
    };
    let receiver = format!("notifications go to http://{}/ml/notificacoes\n", site.address());
    let said = says();
    assert!(said.ends_with(&receiver), "{said}");
    site.stop();
    let said = says();
    assert!(said.contains("notifications go nowhere") && !said.contains(":0/"), "{said}");
    site.start_again();
}

#[test]
fn a_plan_that_is_over_is_refused_and_a_token_without_one_says_so() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let plan = |until: &str| {
        site.command(&["partner", "plan", "--email", &ana.email, "--plan", "pro", "--until", until])
    };
    let token = || {
        let made = site.command(&["partner", "token", "--email", &ana.email]).exits(0);
        site.keep_secret("partner token", made.stdout.trim());
        assert_eq!(made.stdout.lines().count(), 1, "{}", made.stdout);
        assert!(made.stdout.starts_with("ptk_"), "{}", made.stdout);
        made.stderr
    };
    assert!(token().contains("no API plan"));
    for over in ["2020-01-01", "2026-11-19"] {
        let refused = plan(over).exits(1);
        assert_eq!(refused.stdout, "");
        assert!(refused.stderr.contains(over), "{}", refused.stderr);
    }
    assert!(token().contains("no API plan"), "a refused plan is none");
    // The plan is still valid on its last day.
    plan("2026-11-20").ok();
    assert_eq!(token(), "");
    site.clock().advance_s(86_400);
    assert!(token().contains("no API plan"), "it ended yesterday");
}

#[test]
fn numbers_have_one_form() {
    let site = Site::start();
    let copy = site.folder().join("copia.db").display().to_string();
    let said = site.command(&["backup", &copy]).ok();
    let figures = said.lines().next().unwrap().strip_prefix(&copy).unwrap();
    assert!(figures.contains('.'), "{figures}");
    let between_digits = figures
        .as_bytes()
        .windows(3)
        .any(|three| three[0].is_ascii_digit() && three[1] == b',' && three[2].is_ascii_digit());
    assert!(!between_digits, "{figures}");
}
