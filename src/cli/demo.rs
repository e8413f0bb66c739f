//! `serve --demo`: the whole service on throw-away data, with the sandbox
//! inside. Data comes in by the usual ways of the product: people are made as
//! the commands make them, and accounts are linked through the consent page.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use super::demo_folder::{self, ThrowAway};
use super::seal::NewKey;
use super::serve::Server;
use super::{
    Context, demo_agency, demo_catalog, demo_content, demo_data, demo_drop, demo_messages,
    demo_program, hint, log, sandbox, tell,
};
use crate::accounts::Role;
use crate::accounts::passwords::Hasher;
use crate::accounts::store::{self as accounts, NewUser};
use crate::accounts::views::DemoLogin;
use crate::app::App;
use crate::base::{Cents, Secret};
use crate::config::{Config, Gateway, SignatureMode, Updates};
use crate::content::plans::{Period, Plan, PlanEntry};
use crate::db::{DbError, Json, Lane};
use crate::keys::{self, KeyEntry, Scope, Words};
use crate::marketplace::kinds::RecordKind;
use crate::noun::{Made as _, Noun as _};
use crate::partner::{self, PlanName, store as partners};
use crate::program::ProgramSettings;
use crate::sandbox::DemoShops;
use crate::services::Services;

/// The demonstration's only password, public by intent.
const PASSWORD: &str = "demonstracao";
/// How long reading the demonstration's sales may take.
const PATIENCE: Duration = Duration::from_secs(60);

struct Cast {
    who: &'static str,
    name: &'static str,
    email: &'static str,
    role: Role,
}

const STUDENT: Cast = Cast {
    who: "Aluna com três lojas",
    name: "Ana Souza",
    email: "ana@exemplo.com",
    role: Role::PilotoPro,
};
const SUPPLIER: Cast =
    Cast { who: "Fornecedor", name: "Rui Prado", email: "rui@exemplo.com", role: Role::Drop };
const OPERATOR: Cast =
    Cast { who: "Administração", name: "Bia Lima", email: "bia@exemplo.com", role: Role::Admin };

pub fn run(mut context: Context) -> anyhow::Result<()> {
    hint("preparing the demonstration; its addresses and logins follow in a moment");
    log::start(&context.config().log, &context.clock);
    // The log lines of the requests that enter data would hide the summary.
    let hush = log::Hush::begin(&context.config().log);
    let folder = ThrowAway::new()?;
    let inside = sandbox::start(&context, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), None)
        .context("cannot start the sandbox")?;
    let inside = Arc::new(inside);
    let shops = crate::sandbox::seed_demo(&inside);
    let config = &mut context.loaded.config;
    config.database.path = folder.path().join(demo_folder::DATABASE);
    config.database.backup_dir = None;
    config.replica.url = None;
    let checkout_token = crate::base::secrets::random_hex::<12>();
    config.checkout.tokens = vec![Secret::new(checkout_token.clone())];
    config.checkout.plans.clear();
    Role::Pro.name().clone_into(&mut config.checkout.default_plan);
    forget_installation(config);
    // Real browsers are reached through their makers' services.
    "mailto:demonstracao@exemplo.com".clone_into(&mut config.push.subject);
    config.marketplace.api_base = inside.url();
    config.marketplace.auth_base = inside.url();
    config.marketplace.image_host = inside.url();
    crate::sandbox::CLIENT_ID.clone_into(&mut config.marketplace.client_id);
    config.marketplace.client_secret = Secret::new(crate::sandbox::CLIENT_SECRET);
    // As in life, nothing is signed.
    config.marketplace.signature = SignatureMode::Optional;
    config.chat.gateway = Gateway::Evolution;
    config.chat.base_url = inside.url();
    config.chat.api_key = Secret::new("demonstracao");
    "demonstracao".clone_into(&mut config.chat.instance);
    config.email.smtp_url = Secret::default();
    config.telegram.bot_token = Secret::new(crate::sandbox::BOT_TOKEN);
    config.telegram.api_base = inside.url();
    config.telegram.link_base = format!("{}/t.me", inside.url());
    config.telegram.updates = Updates::Polling;
    config.webhooks.extra_hosts = vec!["loopback".to_owned()];
    let logins = [STUDENT, SUPPLIER, OPERATOR].map(|cast| DemoLogin {
        who: cast.who,
        email: cast.email.to_owned(),
        password: PASSWORD.to_owned(),
    });
    let server = Server::prepare(context, logins.to_vec(), NewKey::default())?;
    let credentials = people_and_plans(server.app())?;
    let sandbox_url = inside.url();
    // The sandbox lives as long as the server.
    let outside_world = Arc::clone(&inside);
    server.run(move |app| {
        outside_world.notify(&format!("{}/ml/notificacoes", app.server.addresses.base_url));
        let agent = agent();
        link(app, &agent, &sandbox_url, &shops.own)?;
        supply(app)?;
        let base = &app.server.addresses.base_url;
        let cookie = sign_in(&agent, base, OPERATOR.email)?;
        let (agent, cookie) = (&agent, &*cookie);
        let operator = demo_data::Operator {
            agent,
            base,
            cookie,
            checkout_token: &checkout_token,
            now: app.clock.now(),
        };
        demo_data::enter(&operator)?;
        supply_others(app)?;
        play(app)?;
        look_after(app, &operator, &sandbox_url, &shops)?;
        sell(agent, &sandbox_url, &shops.own)?;
        leave(agent, base, cookie)?;
        drop(hush);
        announce(app, &sandbox_url, &credentials);
        Ok(())
    })
}

/// Clears the settings of a real installation, which must not apply to the demonstration.
fn forget_installation(config: &mut Config) {
    config.server.base_url.clear();
    config.server.dev_base_url.clear();
    config.server.trusted_proxies.clear();
    config.server.acme_domains.clear();
    (config.server.tls_cert, config.server.tls_key) = (None, None);
    config.security.secret_key = Secret::default();
}

/// The credentials of other systems in the demonstration.
#[derive(Clone)]
struct Credentials {
    partner_token: String,
    supplier_token: String,
    api_key: String,
}

/// Makes the cast, content for it, the plans on sale, a partner token and an API key.
fn people_and_plans(services: &Services) -> anyhow::Result<Credentials> {
    let hash = Hasher::default().hash(PASSWORD);
    let credentials = Credentials {
        partner_token: partner::new_token(),
        supplier_token: partner::new_token(),
        api_key: keys::new_key(),
    };
    let Credentials { partner_token, supplier_token, api_key } = credentials.clone();
    let zone = services.zone();
    services.db.write(move |tx| {
        let mut catalogs = Vec::new();
        for cast in [STUDENT, SUPPLIER, OPERATOR] {
            let new = NewUser {
                email: cast.email.to_owned(),
                name: cast.name.to_owned(),
                role: cast.role,
                password_hash: Some(hash.clone()),
            };
            let Some(user) = accounts::insert(tx, &new)? else {
                continue;
            };
            if cast.role != Role::Admin {
                catalogs.push(user);
                partners::set_plan(tx, user, Some(PlanName::Starter), None)?;
            }
            if cast.role == Role::Drop {
                partners::insert_token(tx, user, &supplier_token, "Demonstração", true)?;
            }
            if cast.role.is_student() {
                partners::insert_token(tx, user, &partner_token, "Demonstração", true)?;
                demo_content::fill(tx, zone, user)?;
            }
        }
        if let [student, supplier] = *catalogs {
            demo_catalog::fill(tx, student, supplier)?;
        }
        demo_messages::fill(tx)?;
        for plan in plans() {
            Plan::insert(tx, &plan)?;
        }
        Plan::changed(tx)?;
        let crm = KeyEntry {
            name: "CRM da demonstração".to_owned(),
            scopes: Words(vec![Scope::Write, Scope::WebhookReceive]),
            networks: Words::default(),
            rate_limit: None,
            expires_at: None,
        };
        keys::store::insert(tx, &api_key, &crm)?;
        Ok::<_, DbError>(())
    })?;
    services.versions.raise_everything();
    Ok(credentials)
}

/// Relates the supplier and the student, with orders and payments.
fn supply(services: &Services) -> anyhow::Result<()> {
    let days = services.config.drop.payment_days;
    services.db.write(move |tx| {
        let id = |email| Ok::<_, DbError>(accounts::by_email(tx, email)?.map(|one| one.user_id));
        if let (Some(supplier), Some(student)) = (id(SUPPLIER.email)?, id(STUDENT.email)?) {
            demo_drop::fill(tx, supplier, student, STUDENT.email, days)?;
        }
        Ok::<_, DbError>(())
    })?;
    Ok(())
}

/// Relates the supplier and further students.
fn supply_others(services: &Services) -> anyhow::Result<()> {
    let days = services.config.drop.payment_days;
    services.db.write(move |tx| match accounts::by_email(tx, SUPPLIER.email)? {
        Some(supplier) => demo_drop::fill_others(tx, supplier.user_id, days),
        None => Ok::<_, DbError>(()),
    })?;
    Ok(())
}

/// Enters what students did in the program.
fn play(services: &Services) -> anyhow::Result<()> {
    let settings = ProgramSettings::of(&services.config);
    services.db.write(move |tx| {
        let own = accounts::by_email(tx, STUDENT.email)?.map(|one| one.user_id);
        demo_program::fill(tx, settings, own)
    })?;
    Ok(())
}

/// Has the agency look after clients.
fn look_after(
    services: &Services,
    operator: &demo_data::Operator<'_>,
    sandbox_url: &str,
    shops: &DemoShops,
) -> anyhow::Result<()> {
    let own = shops.own.first().copied().context("the sandbox opened no shop")?;
    demo_agency::invite(operator, sandbox_url, own, &shops.clients)?;
    wait_for_sales(services, shops.own.len() + shops.clients.len())?;
    demo_agency::look(operator)?;
    let today = services.day(services.clock.now());
    services.db.write(move |tx| demo_agency::remember(tx, today))?;
    Ok(())
}

fn plans() -> [PlanEntry; 3] {
    let plan = |slug: &str, title: &str, cents, benefits: &[&str]| PlanEntry {
        slug: slug.to_owned(),
        title: title.to_owned(),
        price: Cents(cents),
        currency: "BRL".to_owned(),
        period: Period::Monthly,
        benefits: Json(benefits.iter().map(|&line| line.to_owned()).collect()),
        checkout_link: format!("https://checkout.exemplo.com/{slug}"),
        active: true,
        grants_role: Role::ALL.into_iter().find(|role| role.name().replace('_', "-") == slug),
        grants_api: (cents > 10_000).then(|| "starter".to_owned()),
        codes: Json(vec![format!("of-{slug}")]),
    };
    [
        plan(
            "pro",
            "Pro",
            9_700,
            &["Extensão do navegador", "Análise de anúncios", "Mentorias ao vivo"],
        ),
        plan("vip", "VIP", 19_700, &["Tudo do Pro", "Tendências e raio-x", "Grupo de avisos"]),
        plan(
            "piloto-pro",
            "Piloto Pro",
            49_700,
            &["Tudo do VIP", "Clonagem de anúncios", "Fotos com IA"],
        ),
    ]
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        // A build without optimisation on a busy machine takes its time.
        .timeout_global(Some(Duration::from_mins(1)))
        .build()
        .into()
}

/// Signs in a person of the cast; returns the cookie of the session.
fn sign_in(agent: &ureq::Agent, base: &str, email: &str) -> anyhow::Result<String> {
    let body = serde_json::json!({ "email": email, "senha": PASSWORD });
    let login = agent.post(format!("{base}/entrar")).send_json(body)?;
    let cookie = login.headers().get("set-cookie").and_then(|value| value.to_str().ok());
    let cookie = cookie.and_then(|value| value.split(';').next());
    cookie.map(str::to_owned).context("the demonstration's login failed")
}

/// Signs out, so that the profile does not list this session.
fn leave(agent: &ureq::Agent, base: &str, cookie: &str) -> anyhow::Result<()> {
    let request = agent.post(format!("{base}/sair")).header("cookie", cookie);
    request.send_empty()?;
    Ok(())
}

/// Links the sellers to the student, as a browser would.
fn link(app: &App, agent: &ureq::Agent, sandbox_url: &str, sellers: &[i64]) -> anyhow::Result<()> {
    let base = &app.server.addresses.base_url;
    let cookie = sign_in(agent, base, STUDENT.email)?;
    for seller in sellers {
        let consent =
            agent.get(format!("{base}/painel/ml/conectar")).header("cookie", &cookie).call()?;
        let query = location(&consent)?
            .split_once('?')
            .map(|(_, query)| query.to_owned())
            .unwrap_or_default();
        let body = serde_json::json!({ "ml_user_id": seller, "query": query });
        let mut answer = agent.post(format!("{sandbox_url}/_sandbox/authorize")).send_json(body)?;
        let answer: serde_json::Value = answer.body_mut().read_json()?;
        let back = answer["location"]
            .as_str()
            .ok_or_else(|| anyhow!("the sandbox did not authorise: {answer}"))?;
        agent.get(back).header("cookie", &cookie).call()?;
    }
    leave(agent, base, &cookie)?;
    wait_for_sales(app, sellers.len())
}

/// Makes a sale in each shop, so that something has just arrived.
fn sell(agent: &ureq::Agent, sandbox_url: &str, sellers: &[i64]) -> anyhow::Result<()> {
    for seller in sellers {
        let sale = serde_json::json!({ "ml_user_id": seller });
        agent.post(format!("{sandbox_url}/_sandbox/sales")).send_json(sale)?;
    }
    Ok(())
}

fn location(answer: &http::Response<ureq::Body>) -> anyhow::Result<&str> {
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
    location.ok_or_else(|| anyhow!("the consent page was not reached (status {})", answer.status()))
}

/// Waits until the sales and listings of all linked accounts are here.
fn wait_for_sales(services: &Services, accounts: usize) -> anyhow::Result<()> {
    let started = Instant::now();
    let never_rung = crate::base::worker::Stop::default();
    loop {
        let ready: i64 = services.db.read(Lane::Slow, |tx| {
            tx.value(
                "SELECT count(DISTINCT ml_user_id) FROM ml_sync s
                 WHERE good_until IS NOT NULL AND area = ?2
                   AND EXISTS (SELECT 1 FROM ml_sync l
                               WHERE l.ml_user_id = s.ml_user_id AND l.area = ?1
                                 AND l.good_until IS NOT NULL)",
                [RecordKind::Listing, RecordKind::Order],
            )
        })?;
        if usize::try_from(ready) == Ok(accounts) {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            bail!("the demonstration's sales did not arrive; look at the log above");
        }
        never_rung.wait(Duration::from_millis(50));
    }
}

fn announce(app: &App, sandbox_url: &str, credentials: &Credentials) {
    let Credentials { partner_token: token, supplier_token: drop, api_key: key } = credentials;
    let base = &app.server.addresses.base_url;
    tell(format_args!(
        "
demonstration on throw-away data; it is gone when you stop it

  open      {base}/entrar
  sandbox   {sandbox_url}   (make a sale arrive here)

  student   {}   password {PASSWORD}
  supplier  {}   password {PASSWORD}
  operator  {}   password {PASSWORD}

  partner   curl -H 'Authorization: Bearer {token}' '{base}/api/v1/partner/orders?limit=5'
  drop      curl -H 'Authorization: Bearer {drop}' '{base}/api/v1/partner/drop/orders?limit=5'
  crm       curl -H 'Authorization: Bearer {key}' {base}/api/v1/alunos/criar -H 'Content-Type: application/json' -d '{{\"nome\":\"Eva Lima\",\"email\":\"eva@exemplo.com\"}}'
",
        STUDENT.email, SUPPLIER.email, OPERATOR.email
    ));
}
