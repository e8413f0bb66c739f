//! Layers, origins and messages of the configuration.

use super::*;
use toml::Value;

const FILE: &str = "seller-platform.toml";

fn layers(file: &str, env: &[(&str, &str)], flags: &Overrides) -> Result<Loaded, Faults> {
    let env = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    assemble(Some((Path::new(FILE), file)), env, flags, Vec::new())
}

fn from_file(text: &str) -> Result<Loaded, Faults> {
    layers(text, &[], &Overrides::default())
}

fn from_env(name: &str, value: &str) -> Result<Loaded, Faults> {
    layers("", &[(name, value)], &Overrides::default())
}

/// The configuration as text, with secrets masked.
fn shown(loaded: &Loaded) -> String {
    format!("{:?}", loaded.config)
}

fn defaults() -> Settings {
    Settings::defaults(SHIPPED).unwrap()
}

#[test]
fn the_shipped_file_changes_nothing_commented_or_not() {
    let built_in = assemble(None, std::iter::empty(), &Overrides::default(), Vec::new()).unwrap();
    let mut uncommented = String::new();
    for line in SHIPPED.lines() {
        let setting = line.strip_prefix('#').unwrap_or_default();
        let is_setting = !setting.starts_with(' ') && setting.contains(" = ");
        uncommented.push_str(if is_setting { setting } else { line });
        uncommented.push('\n');
    }
    for text in [SHIPPED, &uncommented] {
        assert_eq!(shown(&from_file(text).unwrap()), shown(&built_in));
    }
    let all = from_file(&uncommented).unwrap().origins.all;
    assert!(all.iter().all(|setting| setting.origin != Origin::Default));
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let config = from_file("").unwrap().config;
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.server.timezone.name(), "America/Sao_Paulo");
    assert_eq!(config.server.max_body_bytes, 1_048_576);
    assert_eq!(config.database.path, Path::new("seller-platform.db"));
    assert_eq!(config.database.backup_dir, Some("backups".into()));
    assert!(config.cron.enabled && config.cron.secret.is_empty());
    assert_eq!(config.marketplace.signature, SignatureMode::Required);
    assert_eq!(config.checkout.token_header, "x-hotmart-hottok");
    assert_eq!(config.checkout.default_plan, "pro");
    assert!(config.checkout.plans.is_empty());
    assert_eq!(config.chat.gateway, Gateway::None);
    assert_eq!(config.telegram.updates, Updates::Polling);
    assert_eq!(config.telegram.link_base, "https://t.me");
    let pro = PlanLimits { quota: 100_000, per_minute: 120 };
    assert_eq!(config.partner.plans.pro, pro);
    assert_eq!(config.limits.partner_post, 20);
    assert_eq!(config.limits.session_post, 600);
    assert_eq!(config.messages.quiet_from.to_string(), "21:00:00");
    assert!((config.messages.pace_evolution_per_s - 0.5).abs() < f64::EPSILON);
    assert_eq!(config.log.format, LogFormat::Text);
}

#[test]
fn every_key_of_the_shipped_file_is_read_and_checked() {
    let shipped = defaults();
    for index in 0..shipped.all.len() {
        let mut settings = shipped.clone();
        // No key is a date, so reading this value must fail.
        settings.all[index].value = Value::Datetime("2026-11-20".parse().unwrap());
        let key = settings.all[index].path.join(".");
        let error = Config::read(&settings).expect_err(&key).to_string();
        let is_secret = settings::SECRETS.contains(&key.as_str());
        let value = if is_secret { "\"***\"" } else { "2026-11-20" };
        let start = format!("{key} = {value} (from default): must be ");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn each_layer_wins_over_the_ones_below_and_is_named() {
    #[track_caller]
    fn check(loaded: &Result<Loaded, Faults>, port: u16, origin: &str) {
        let loaded = loaded.as_ref().unwrap();
        assert_eq!(loaded.config.server.listen.port(), port);
        let found = loaded.origins.origin("server.listen").unwrap();
        assert_eq!(found.to_string(), origin);
    }

    const NAME: &str = "SELLER_PLATFORM__SERVER__LISTEN";
    let flags = Overrides {
        database: Some("flag.db".into()),
        listen: Some("127.0.0.1:4".to_owned()),
        ..Overrides::default()
    };
    let none = Overrides::default();
    let file = "[server]\nname = \"Loja\"\nlisten = \"127.0.0.1:2\"\n";
    let env = [(NAME, "127.0.0.1:3")];

    check(&from_file(""), 8080, "default");
    check(&from_file(file), 2, "seller-platform.toml:3");
    check(&layers(file, &env, &none), 3, NAME);
    let all = layers(file, &env, &flags);
    check(&all, 4, "--listen");
    let all = all.unwrap();
    assert_eq!(all.config.server.name, "Loja");
    assert_eq!(all.config.database.path, Path::new("flag.db"));
    assert_eq!(all.origins.origin("server.nothing"), None);
}

#[test]
fn variables_take_the_type_of_their_key() {
    let env = [
        ("SELLER_PLATFORM__PARTNER__PLANS__STARTER__QUOTA", "5"),
        ("SELLER_PLATFORM__CRON__ENABLED", "false"),
        ("SELLER_PLATFORM__TAX__RATE", "7"),
        ("SELLER_PLATFORM__SERVER__NAME", "42"),
        ("SELLER_PLATFORM__SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("SELLER_PLATFORM__CHECKOUT__TOKENS", "[\"a,b\", \"c\"]"),
        ("SELLER_PLATFORM__CHECKOUT__PLANS", "{ \"Ab.1\" = \"vip\" }"),
        ("SELLER_PLATFORM__MARKETPLACE__REPUTATION_DISCOUNT", "{ 5_green = 10 }"),
        ("SELLER_PLATFORM__CONTENT__VIDEO_HOSTS", ""),
        ("SELLER_PLATFORM_OTHER", "ignored"),
    ];
    let file = "[checkout.plans]\n77 = \"podio\"\n\"Ab.1\" = \"free\"\n";
    let config = layers(file, &env, &Overrides::default()).unwrap().config;
    assert_eq!(config.partner.plans.starter.quota, 5);
    assert!(!config.cron.enabled);
    assert!((config.tax.rate - 7.0).abs() < f64::EPSILON);
    assert_eq!(config.server.name, "42");
    let proxies = config.server.trusted_proxies.iter().map(ToString::to_string);
    assert_eq!(proxies.collect::<Vec<_>>(), ["10.0.0.0/8", "::1/128"]);
    let tokens = config.checkout.tokens.iter().map(crate::base::secrets::Secret::reveal);
    assert_eq!(tokens.collect::<Vec<_>>(), ["a,b", "c"]);
    assert_eq!(config.checkout.plans["Ab.1"], "vip");
    assert_eq!(config.checkout.plans["77"], "podio");
    let discount = config.marketplace.reputation_discount;
    assert!((discount["5_green"] - 10.0).abs() < f64::EPSILON);
    assert_eq!(discount.len(), 5);
    assert!(config.content.video_hosts.is_empty());
}

#[test]
fn a_secret_may_stand_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, "from-file\n").unwrap();
    let path = path.to_str().unwrap();
    let of_file = ("SELLER_PLATFORM__CRON__SECRET_FILE", path);
    let plain = ("SELLER_PLATFORM__CRON__SECRET", "plain");
    let none = Overrides::default();

    let loaded = layers("[cron]\nsecret = \"toml\"", &[of_file], &none).unwrap();
    assert_eq!(loaded.config.cron.secret.reveal(), "from-file");
    let loaded = layers("", &[plain, of_file], &none).unwrap();
    assert_eq!(loaded.config.cron.secret.reveal(), "plain");
    let error = from_env("SELLER_PLATFORM__CRON__SECRET_FILE", "/missing").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read /missing (from SELLER_PLATFORM__CRON__SECRET_FILE): \
         No such file or directory (os error 2)"
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once_in_order_of_its_place() {
    let file = "[servre]\nname = \"x\"\n[limits]\nrequests = 0\nwindow_s = 5\n\
                [checkout.plans]\nA = \"gold\"\nB = \"vip\"\n[log]\nlevle = \"info\"\n\
                [server]\nname = \" \"\n";
    let env = [
        ("SELLER_PLATFORM__CRON__ENABLED", "yes"),
        ("SELLER_PLATFORM__CRON__SECRET_FILE", "/missing"),
        ("SELLER_PLATFORM__TAX__RATE", "101"),
        ("SELLER_PLATFORM__SECURITY__SECRET_KEY", "hidden"),
    ];
    let flags = Overrides {
        database: Some("".into()),
        listen: Some("here".to_owned()),
        ..Overrides::default()
    };
    let said = layers(file, &env, &flags).unwrap_err().to_string();
    assert!(!said.contains("hidden"), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "11 faults in the configuration:");
    let begins = [
        "unknown key servre = {…} (from seller-platform.toml:1)",
        "limits.requests = 0 (from seller-platform.toml:4)",
        "checkout.plans.A = \"gold\" (from seller-platform.toml:7)",
        "unknown key log.levle = \"info\" (from seller-platform.toml:10)",
        "server.name = \" \" (from seller-platform.toml:12)",
        "cron.enabled = \"yes\" (from SELLER_PLATFORM__CRON__ENABLED)",
        "cannot read /missing (from SELLER_PLATFORM__CRON__SECRET_FILE)",
        "security.secret_key = \"***\" (from SELLER_PLATFORM__SECURITY__SECRET_KEY)",
        "tax.rate = 101.0 (from SELLER_PLATFORM__TAX__RATE)",
        "database.path = \"\" (from --db)",
        "server.listen = \"here\" (from --listen)",
    ];
    assert_eq!(lines.len(), begins.len() + 1, "{said}");
    for (line, begin) in lines[1..].iter().zip(begins) {
        assert!(line.starts_with(&format!("  {begin}")), "{line} is not {begin}");
    }
}

#[test]
fn a_file_that_is_no_toml_hides_no_other_fault() {
    let env = [("SELLER_PLATFORM__LIMITS__REQUESTS", "0")];
    let said = layers("[server\n", &env, &Overrides::default()).unwrap_err().to_string();
    assert!(said.contains("not valid TOML") && said.contains("limits.requests = 0"), "{said}");
}

#[test]
fn variables_that_are_almost_ours_are_warned_of() {
    let warned = |names: &[&str]| {
        let env: Vec<_> = names.iter().map(|name| (*name, "hidden")).collect();
        layers("", &env, &Overrides::default()).unwrap().warnings
    };
    for (given, meant) in [
        ("SELLER_PLATFORM_SERVER_LISTEN", "SELLER_PLATFORM__SERVER__LISTEN"),
        ("SELLER_PLATFORM_SERVER__LISTEN", "SELLER_PLATFORM__SERVER__LISTEN"),
        ("SELLER_PLATFORM_CHECKOUT_PLANS", "SELLER_PLATFORM__CHECKOUT__PLANS"),
        (
            "SELLER_PLATFORM_PARTNER_PLANS_STARTER_PER_MINUTE",
            "SELLER_PLATFORM__PARTNER__PLANS__STARTER__PER_MINUTE",
        ),
        ("SELLER_PLATFORM_CRON_SECRET_FILE", "SELLER_PLATFORM__CRON__SECRET_FILE"),
    ] {
        let expected = format!("the variable {given} is not read; write {meant}");
        assert_eq!(warned(&[given]), [expected]);
    }
    let expected = "the variable SELLER_PLATFORM_OTHER is not read; \
                    a setting is written SELLER_PLATFORM__<SECTION>__<KEY>";
    assert_eq!(warned(&["SELLER_PLATFORM_OTHER"]), [expected]);
    let others =
        ["PATH", "SELLER_PLATFORMS", "MY_SELLER_PLATFORM_X", "SELLER_PLATFORM__CRON__SECRET"];
    assert_eq!(warned(&others), [""; 0]);
    let error = from_env("SELLER_PLATFORM__SERVER_LISTEN", "x").unwrap_err().to_string();
    assert!(error.ends_with("; write SELLER_PLATFORM__SERVER__LISTEN"), "{error}");
}

#[test]
fn an_address_to_listen_on_may_leave_this_machine_unsaid() {
    for (given, meant) in [
        ("localhost:8080", Some("127.0.0.1:8080")),
        ("LOCALHOST:0", Some("127.0.0.1:0")),
        (":8080", Some("127.0.0.1:8080")),
        ("0.0.0.0:80", Some("0.0.0.0:80")),
        ("[::]:80", Some("[::]:80")),
        ("localhost", None),
        ("localhost:", None),
        (":", None),
        (":x", None),
        (":70000", None),
        (":+80", None),
        ("", None),
        ("8080", None),
        ("::1:8080", None),
        ("example.com:8080", None),
    ] {
        let found = parse_listen(given).ok().map(|address| address.to_string());
        assert_eq!(found.as_deref(), meant, "{given:?}");
    }
}

#[test]
fn mistakes_in_the_file_name_key_value_and_line() {
    #[track_caller]
    fn check(file: &str, message: &str) {
        assert_eq!(from_file(file).unwrap_err().to_string(), message);
    }

    check(
        "[server]\n\nlisten = \"localhost\"",
        "server.listen = \"localhost\" (from seller-platform.toml:3): must be an IP address and \
         a port, such as 127.0.0.1:8080, [::1]:8080 or :8080",
    );
    check(
        "[limits]\nrequests = 0",
        "limits.requests = 0 (from seller-platform.toml:2): must be a whole number \
         from 1 to 1000000000",
    );
    check(
        "[tax]\nrate = 100.5",
        "tax.rate = 100.5 (from seller-platform.toml:2): must be a number from 0 to 100",
    );
    check(
        "[cron]\nenabled = \"yes\"",
        "cron.enabled = \"yes\" (from seller-platform.toml:2): must be true or false",
    );
    check(
        "[chat]\ngateway = \"pigeon\"",
        "chat.gateway = \"pigeon\" (from seller-platform.toml:2): must be one of \
         none, cloud, evolution",
    );
    check(
        "[checkout.plans]\nAB = \"gold\"",
        "checkout.plans.AB = \"gold\" (from seller-platform.toml:2): must be one of \
         free, pro, vip, piloto_pro, podio",
    );
    check(
        "checkout = { plans = { \"A B\" = 1 } }",
        "checkout.plans.\"A B\" = 1 (from seller-platform.toml:1): must be one of \
         free, pro, vip, piloto_pro, podio",
    );
    check(
        "[server]\ntrusted_proxies = [\"10.0.0.1\", \"proxy\"]",
        "server.trusted_proxies = [\"10.0.0.1\", \"proxy\"] (from seller-platform.toml:2): \
         each must be an IP address or a network, such as 10.0.0.0/8",
    );
}

#[test]
fn keys_that_do_not_exist_are_answered_with_those_that_do() {
    #[track_caller]
    fn check(file: &str, message: &str) {
        assert_eq!(from_file(file).unwrap_err().to_string(), message);
    }

    check(
        "log = \"info\"",
        "log = \"info\" (from seller-platform.toml:1): is a section with level, format",
    );
    check(
        "[server.listen]\nport = 1",
        "server.listen = {} (from seller-platform.toml:1): must be a value, not a table",
    );
    check(
        "[log]\nlevle = \"info\"\n",
        "unknown key log.levle = \"info\" (from seller-platform.toml:2); \
         [log] has level, format",
    );
    check(
        "[partner.plans]\ngold = 3\n",
        "unknown key partner.plans.gold = 3 (from seller-platform.toml:2); \
         [partner.plans] has starter, pro, scale",
    );
    check(
        "[log]\nlevel = \"info\"\nlevel = \"warn\"",
        "seller-platform.toml:3: not valid TOML: duplicate key",
    );
    check(
        "[limits]\nrequests = 99999999999999999999",
        "seller-platform.toml:2: not valid TOML: the number is too large",
    );
    let error = from_file("[logs]").unwrap_err().to_string();
    let start = "unknown key logs = {…} (from seller-platform.toml:1); the sections are server, ";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn mistakes_in_the_environment_name_the_variable() {
    #[track_caller]
    fn check(name: &str, value: &str, message: &str) {
        assert_eq!(from_env(name, value).unwrap_err().to_string(), message);
    }

    check(
        "SELLER_PLATFORM__CRON__INTERVAL_S",
        "soon",
        "cron.interval_s = \"soon\" (from SELLER_PLATFORM__CRON__INTERVAL_S): \
         must be a whole number",
    );
    check(
        "SELLER_PLATFORM__LOG__COLOR",
        "red",
        "unknown key log.color = \"red\" (from SELLER_PLATFORM__LOG__COLOR); \
         [log] has level, format",
    );
    check(
        "SELLER_PLATFORM__LOG",
        "info",
        "log = \"info\" (from SELLER_PLATFORM__LOG): is a section with level, format",
    );
    for name in ["SELLER_PLATFORM__CHECKOUT__PLANS", "SELLER_PLATFORM__CHECKOUT__PLANS__AB"] {
        let message = format!(
            "checkout.plans = \"vip\" (from {name}): \
             must be an inline table, such as {{ \"name\" = \"value\" }}"
        );
        check(name, "vip", &message);
    }
}

#[test]
fn secrets_show_in_no_error() {
    for (key, value) in [
        ("security.secret_key", "\"hidden\""),
        ("email.smtp_url", "\"hidden@host\""),
        ("checkout.tokens", "\"hidden\""),
        ("checkout.tokens", "[\"hidden\", \"\"]"),
        ("chat.api_key", "[\"hidden\"]"),
        ("chat.api_kee", "\"hidden\""),
        ("secruity", "\"hidden\""),
        ("cron.secret", "{ value = \"hidden\" }"),
    ] {
        let error = from_file(&format!("{key} = {value}")).expect_err(key);
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hidden"), "{text}");
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn a_named_file_must_exist_and_its_paths_are_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let none = Overrides::default();
    let error = load(Some(&file), std::iter::empty(), &none).unwrap_err();
    let message = format!(
        "cannot read {} (from --config): No such file or directory (os error 2)",
        file.display()
    );
    assert_eq!(error.to_string(), message);

    std::fs::write(&file, "[database]\npath = \"a.db\"\nbackup_dir = \"/b\"\n").unwrap();
    let config = load(Some(&file), std::iter::empty(), &none).unwrap().config;
    assert_eq!(config.database.path, folder.path().join("a.db"));
    assert_eq!(config.database.backup_dir, Some("/b".into()));
    // A relative folder of copies lies beside the database, wherever that is.
    std::fs::write(&file, "[database]\npath = \"/x/a.db\"\nbackup_dir = \"b\"\n").unwrap();
    let config = load(Some(&file), std::iter::empty(), &none).unwrap().config;
    assert_eq!(config.database.backup_dir, Some("/x/b".into()));
    let named = Overrides { database: Some("/y/c.db".into()), ..Overrides::default() };
    let config = load(Some(&file), std::iter::empty(), &named).unwrap().config;
    assert_eq!(config.database.backup_dir, Some("/y/b".into()));
    // Copies among the database's own files would be mistaken for one another.
    let settings = "[database]\npath = \"a.db\"\nbackup_dir = \".\"\n";
    std::fs::write(&file, settings).unwrap();
    let said = load(Some(&file), std::iter::empty(), &none).unwrap_err().to_string();
    assert!(said.contains("database.backup_dir = \".\"") && said.contains("my.toml:3"), "{said}");
    assert!(said.contains("is the folder of the database itself"), "{said}");
    let config = from_file("[database]\nbackup_dir = \"\"").unwrap().config;
    assert_eq!(config.database.backup_dir, None);
    let name = "SELLER_PLATFORM__DATABASE__PATH";
    let config = from_env(name, "a.db").unwrap().config;
    assert_eq!(config.database.path, Path::new("a.db"));
}

#[test]
fn show_is_toml_with_origins_and_without_secrets() {
    let file = "[server]\nname = \"Loja \\\"A\\\"\"\n[checkout.plans]\n\"a b\" = \"vip\"\n";
    let env = [("SELLER_PLATFORM__TAX__RATE", "7.5")];
    let loaded = layers(file, &env, &Overrides::default()).unwrap();
    let toml = loaded.origins.show();
    assert_eq!(shown(&from_file(&toml).unwrap()), shown(&loaded));
    for line in [
        "[server]\nlisten = \"127.0.0.1:8080\" # from default\n",
        "name = 'Loja \"A\"' # from seller-platform.toml:2\n",
        "\n[checkout.plans]\n\"a b\" = \"vip\" # from seller-platform.toml:4\n",
        "\n[tax]\nrate = 7.5 # from SELLER_PLATFORM__TAX__RATE\n",
        "\n[cron]\nenabled = true # from default\n",
        "secret = \"\" # from default\n",
    ] {
        assert!(toml.contains(line), "{line} in {toml}");
    }

    let mut settings = defaults();
    for key in settings::SECRETS {
        let path = settings::key_path(key);
        let place = settings.all.iter_mut().find(|setting| setting.path == path);
        place.unwrap().value = Value::from("hidden");
    }
    let masked = settings.show();
    assert!(!masked.contains("hidden"));
    assert!(!format!("{settings:?}").contains("hidden"));
    assert_eq!(masked.matches("\"***\"").count(), settings::SECRETS.len());
}

#[test]
fn addresses_are_origins_in_the_form_of_browsers() {
    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let loaded = from_env("SELLER_PLATFORM__SERVER__BASE_URL", given);
        let found = loaded.ok().map(|loaded| loaded.config.server.base_url);
        assert_eq!(found.as_deref(), expected, "{given}");
    }

    check("https://App.Example.com/", Some("https://app.example.com"));
    check("https://example.com:443", Some("https://example.com"));
    check("http://[::1]:8080", Some("http://[::1]:8080"));
    check("", Some(""));
    for wrong in [
        "example.com",
        "ftp://example.com",
        "https://example.com/app",
        "https://example.com?x=1",
        "https://example.com#x",
        "https://user@example.com",
        "https://example.com:99999",
        "https://example.com:",
        "https://",
    ] {
        check(wrong, None);
    }
}

#[test]
fn texts_that_other_systems_read_are_checked() {
    for (key, wrong) in [
        ("server.timezone", "Mars/Base"),
        ("server.name", " "),
        ("server.acme_domains", "https://example.com"),
        ("marketplace.api_base", "api.example.com"),
        ("marketplace.site", "mlb"),
        ("checkout.token_header", "two words"),
        ("chat.upgrade_number", "+55 11 98765-4321"),
        ("email.from", "Loja <contato>"),
        ("email.smtp_url", "smtp://"),
        ("telegram.bot_token", "sem dois pontos"),
        ("telegram.bot_token", "123:a/b"),
        ("telegram.link_base", "t.me"),
        ("telegram.updates", "push"),
        ("push.subject", "http://example.com"),
        ("push.extra_hosts", "https://push.example.com"),
        ("push.extra_hosts", "push.example.com/a"),
        ("push.extra_hosts", "10.0.0.5"),
        ("push.extra_hosts", "a@10.0.0.5:8443"),
        ("push.extra_hosts", "*.example.com:8443"),
        ("push.extra_hosts", "10.0.0.5:0"),
        ("content.video_hosts", "player.example.com; script-src *"),
        ("agents.allowed_origins", "*"),
        ("agents.redirect_schemes", "javascript"),
        ("agents.redirect_schemes", "https"),
        ("agents.redirect_schemes", "Cursor"),
        ("agents.redirect_schemes", "cursor:"),
        ("agents.document_hosts", "a.example"),
        ("agents.document_hosts", "http://127.0.0.1:9001"),
        ("agents.document_hosts", "a@127.0.0.1:9001"),
        ("messages.quiet_from", "25:00"),
        ("messages.pace_email_per_s", "nan"),
        ("database.path", ""),
    ] {
        let name = format!("SELLER_PLATFORM__{}", key.replace('.', "__").to_uppercase());
        let error = from_env(&name, wrong).expect_err(key).to_string();
        assert!(error.starts_with(&format!("{key} = ")), "{error}");
        assert!(error.contains("must be "), "{error}");
    }
}
