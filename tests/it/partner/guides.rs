//! The programs of the developer pages, taken from the pages and run as a reader would run
//! them: in a folder with the ready client beside them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::keeping_up::{read, settled};
use super::mirror::happen;
use crate::support::actors::Actor;
use crate::support::agents::call;
use crate::support::dropshipping::{Trade, data};
use crate::support::random::Random;
use crate::support::shop::Shop;
use crate::support::site::{Site, lock};
use crate::support::sync::wait_until_worked;
use crate::support::wait::{pause, until, within};
use crate::support::world::LOJA;

const PATIENCE: Duration = Duration::from_secs(60);
const BASE: &str = "/api/v1/partner";

/// Text of HTML as it was before it was escaped.
fn unescaped(html: &str) -> String {
    let names = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    names.iter().chain(&named).fold(html.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The code on a page.
#[track_caller]
fn code(site: &Site, page: &str, id: &str) -> String {
    let html = site.anonymous().get(&format!("/desenvolvedores{page}")).expect(200).text();
    let begin = format!("<code id=\"{id}\">");
    let (_, rest) = html.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {id}"));
    unescaped(rest.split_once("</code>").unwrap().0)
}

/// A folder of a reader, with the ready client.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn of(site: &Site) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let client = site.anonymous().get("/desenvolvedores/cliente.py").expect(200).text();
        let desk = Self { folder };
        desk.put("seller_platform.py", &client);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A program of a page, with a token and the address of the API filled in.
    #[track_caller]
    fn put_program(&self, name: &str, code: &str, token: &str, address: SocketAddr) {
        let filled = format!("PartnerApi(\"{token}\", \"http://{address}{BASE}\")");
        let program = code.replace("PartnerApi(\"ptk_…\")", &filled);
        assert_ne!(program, code, "{name} has a place for a token");
        self.put(name, &program);
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path());
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
        command.stdin(Stdio::null());
        command
    }

    /// Runs a program to its end; returns what it printed.
    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let done = self.command(program, arguments).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let wrong = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{program} {arguments:?}\n{said}\n{wrong}");
        said
    }

    #[track_caller]
    fn python(&self, arguments: &[&str]) -> String {
        self.run("/usr/bin/python3", arguments)
    }

    /// A program that goes on.
    fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command("/usr/bin/python3", arguments);
        Running(command.stdout(Stdio::piped()).spawn().unwrap())
    }
}

/// A program under way; it is killed in the end.
struct Running(Child);

impl Running {
    /// Kills it; what it had printed.
    fn kill(mut self) -> String {
        self.0.kill().unwrap();
        let mut said = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        self.0.wait().unwrap();
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// A port that nothing listens at.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An address that stays when the server comes back at another.
struct Door {
    address: SocketAddr,
    leads_to: Arc<Mutex<Option<SocketAddr>>>,
}

impl Door {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let leads_to = Arc::new(Mutex::new(None));
        let door = Self { address: listener.local_addr().unwrap(), leads_to };
        let leads_to = Arc::clone(&door.leads_to);
        thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let server = lock(&leads_to).and_then(|it| TcpStream::connect(it).ok());
                // Without a server the caller is hung up on.
                if let Some(server) = server {
                    join(&caller, &server);
                }
            }
        });
        door
    }

    fn leads_to(&self, site: &Site) {
        *lock(&self.leads_to) = site.try_address();
    }
}

/// Carries bytes both ways until one side ends.
fn join(caller: &TcpStream, server: &TcpStream) {
    for (from, to) in [(caller, server), (server, caller)] {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || {
            _ = std::io::copy(&mut from, &mut to);
            _ = to.shutdown(std::net::Shutdown::Both);
        });
    }
}

/// Waits until the plan of an account opens the API.
#[track_caller]
fn wait_for_plan(actor: &Actor<'_>) {
    until("the plan is known", PATIENCE, || {
        (actor.get(&format!("{BASE}/usage")).status == 200
            || actor.get(&format!("{BASE}/drop/usage")).status == 200)
            .then_some(())
    });
}

/// What the mirror of the page holds.
#[expect(clippy::disallowed_methods, reason = "a file of the program, not of the service")]
fn mirrored(desk: &Desk) -> BTreeMap<String, Value> {
    let Ok(file) = rusqlite::Connection::open(desk.path("espelho.db")) else {
        return BTreeMap::new();
    };
    let Ok(mut rows) = file.prepare("SELECT order_id, whole FROM sale") else {
        return BTreeMap::new();
    };
    let sale = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let sales = rows.query_map([], sale).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    let sales = sales.unwrap_or_default().into_iter();
    sales.map(|(id, whole)| (id, serde_json::from_str(&whole).unwrap())).collect()
}

#[test]
#[ignore = "needs Python; tests/run runs it"]
fn the_mirror_of_the_page_is_exact_after_an_hour_of_trade_with_restarts() {
    let shop = Shop::open();
    let ana = shop.site.seller("ana").plan("scale");
    wait_for_plan(&ana);
    let (mut random, mut orders) = (Random::new(60), Vec::new());
    for _ in 0..5 {
        happen(&shop, &mut random, &mut orders);
    }
    wait_until_worked(&shop.world, &shop.site);
    let (desk, door) = (Desk::of(&shop.site), Door::open());
    door.leads_to(&shop.site);
    let program = code(&shop.site, "/espelho", "espelho-python");
    let faster = program.replace("PAUSE_S, COMPARE_S = 30,", "PAUSE_S, COMPARE_S = 0.1,");
    assert_ne!(faster, program);
    let token = ana.bearer_token();
    desk.put_program("espelho.py", &faster, token, door.address);
    let mut running = Some(desk.start(&["espelho.py"]));
    for minute in 0..60 {
        shop.site.clock().advance_s(60);
        for _ in 0..2 {
            happen(&shop, &mut random, &mut orders);
        }
        match minute % 10 {
            // The program dies at some moment, and is started again a little later.
            3 | 7 => drop(running.take()),
            4 | 8 => running = Some(desk.start(&["espelho.py"])),
            // So does the server, under the eyes of the program.
            5 => {
                wait_until_worked(&shop.world, &shop.site);
                shop.site.kill();
                door.leads_to(&shop.site);
                shop.site.start_again();
                door.leads_to(&shop.site);
            }
            _ => {}
        }
    }
    wait_until_worked(&shop.world, &shop.site);
    settled(&shop);
    let books: BTreeMap<String, Value> =
        orders.iter().map(|id| (id.clone(), read(&ana, &format!("/orders/{id}")))).collect();
    assert!(books.len() > 20, "{} orders", books.len());
    let equal = within(PATIENCE, || (mirrored(&desk) == books).then_some(()));
    if equal.is_none() {
        let said = running.take().map(Running::kill);
        assert_eq!(mirrored(&desk), books, "{said:?}");
    }
    // It is still there, and goes on.
    assert!(running.as_mut().is_some_and(|it| it.0.try_wait().unwrap().is_none()));
}

#[test]
#[ignore = "needs Python; tests/run runs it"]
fn the_programs_for_an_erp_write_each_sale_once_as_it_is_now() {
    let shop = Shop::open();
    let ana = shop.site.seller("ana").plan("scale");
    wait_for_plan(&ana);
    let sell = || shop.world.sale_with(LOJA, &json!({ "notify": true }))["id"].to_string();
    let (first, second) = (sell(), sell());
    wait_until_worked(&shop.world, &shop.site);
    let (desk, address) = (Desk::of(&shop.site), shop.site.address());
    let program = code(&shop.site, "/erp", "erp-python");
    desk.put_program("vendas.py", &program, ana.bearer_token(), address);
    let lines = || -> Vec<String> {
        let sheet = std::fs::read_to_string(desk.path("vendas.csv")).unwrap();
        sheet.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(desk.python(&["vendas.py"]), "2 vendas novas ou mudadas\n");
    let known: Vec<String> = lines();
    for order in [&first, &second] {
        assert!(known.iter().any(|line| line.starts_with(&format!("{order};paid;"))), "{known:?}");
    }
    shop.site.clock().advance_s(60);
    let path = format!("/_sandbox/orders/{first}");
    shop.world.control(&path, &json!({ "status": "cancelled", "notify": true }));
    wait_until_worked(&shop.world, &shop.site);
    desk.python(&["vendas.py"]);
    assert!(lines().iter().any(|line| line.starts_with(&format!("{first};cancelled;"))));
    let product = json!({ "sku": "GAR-7", "titulo": "Garrafa", "estoque": 4 });
    shop.ana().post("/painel/produtos", &product).expect(201);
    let program = code(&shop.site, "/erp", "estoque-python");
    desk.put_program("estoque.py", &program, ana.bearer_token(), address);
    let stock = desk.python(&["estoque.py"]);
    assert!(stock.lines().any(|line| line.starts_with("GAR-7 ")), "{stock}");
}

#[test]
#[ignore = "needs Python; tests/run runs it"]
fn the_suppliers_program_links_is_owed_reminds_and_marks_paid() {
    let trade = Trade::open();
    let (site, sol) = (&trade.shop.site, trade.sol());
    wait_for_plan(&sol);
    let desk = Desk::of(site);
    let program = code(site, "/fornecedores", "fornecedor-python");
    desk.put_program("fornecedor.py", &program, sol.bearer_token(), site.address());
    let links = format!(
        "seller_id,ml_id,sku\n{seller},{},GAR-1\n{seller},MLB1,GAR-1\n",
        trade.listing,
        seller = trade.seller
    );
    desk.put("vinculos.csv", &links);
    let said = desk.python(&["fornecedor.py", "link", "vinculos.csv"]);
    assert_eq!(said, "1 linked, 0 known\nfailed: listing_not_found MLB1\n");
    let again = desk.python(&["fornecedor.py", "link", "vinculos.csv"]);
    assert!(again.starts_with("0 linked, 1 known\n"), "{again}");
    site.clock().advance_s(60);
    let (first, second) = (trade.sell(1), trade.sell(2));
    let owed = desk.python(&["fornecedor.py", "owed"]);
    assert!(owed.contains(&first) && owed.ends_with("60 pending, 0 overdue\n"), "{owed}");
    site.clock().advance_s(4 * 86_400);
    let reminded = desk.python(&["fornecedor.py", "remind"]);
    assert_eq!(reminded, "1 sellers reminded of 2 orders\n");
    desk.put("extrato.csv", &format!("{first};20,00\n{second}\n7\n").replace(';', ","));
    let paid = desk.python(&["fornecedor.py", "paid", "extrato.csv"]);
    assert!(paid.starts_with("2 paid, 60 in all;"), "{paid}");
    assert!(paid.ends_with("failed: not_found 7\n"), "{paid}");
    for order in data(&sol, "/orders") {
        assert_eq!(order["status"], "paid", "{order}");
    }
    let owed = desk.python(&["fornecedor.py", "owed"]);
    assert_eq!(owed, "0 pending, 0 overdue\n");
}

#[test]
#[ignore = "needs Python; tests/run runs it"]
fn the_programs_for_tests_imitate_the_api_and_sign_as_we_do() {
    let site = Site::start();
    let desk = Desk::of(&site);
    let port = free_port().to_string();
    let imitation = code(&site, "/testes", "imitar-python");
    let filled = imitation.replace("9000", &port).replace("failing = []", "failing = [429, 503]");
    desk.put("imitar.py", &filled);
    let _imitation = desk.start(&["imitar.py"]);
    let listens = |port: &str| TcpStream::connect(format!("127.0.0.1:{port}")).ok();
    until("the imitation listens", PATIENCE, || listens(&port));
    desk.put(
        "usar.py",
        &format!(
            "from seller_platform import ApiError, PartnerApi\n\
             api = PartnerApi('ptk_teste', 'http://127.0.0.1:{port}')\n\
             print(api.list_orders()['data'][0]['status'], api.get_order('7')['currency'])\n\
             print(api.drop_mark_paid(order_id='7')['data']['status'])\n"
        ),
    );
    assert_eq!(desk.python(&["usar.py"]), "paid BRL\npaid\n");

    // Under the receiver of the page about webhooks.
    let port = free_port().to_string();
    let [verify, receive] =
        ["conferir-python", "receber-python"].map(|id| code(&site, "/webhooks", id));
    let sign = code(&site, "/testes", "assinar-python");
    let secret = sign.split('"').nth(1).unwrap().to_owned();
    let receiver = format!("{verify}\n{receive}").replace("whsec_…", &secret);
    desk.put("receber.py", &receiver.replace("8000", &port));
    desk.put("assinar.py", &sign.replace("8000", &port));
    let receiver = desk.start(&["receber.py"]);
    until("the receiver listens", PATIENCE, || listens(&port));
    assert_eq!(desk.python(&["assinar.py"]), "204 204\n");
    let wrong = sign.replace("8000", &port).replace("whsec_c2V", "whsec_d2V");
    desk.put("errado.py", &wrong);
    assert!(!desk.command("/usr/bin/python3", &["errado.py"]).output().unwrap().status.success());
    let told = receiver.kill();
    assert_eq!(told.matches("order.paid").count(), 1, "{told}");
}

#[test]
#[ignore = "needs Python; tests/run runs it"]
fn a_short_answer_becomes_whole_by_the_code_of_the_page() {
    let shop = Shop::open();
    let ana = shop.site.seller("ana").plan("scale");
    wait_for_plan(&ana);
    for _ in 0..3 {
        shop.world.sale_with(LOJA, &json!({ "notify": true }));
    }
    wait_until_worked(&shop.world, &shop.site);
    let desk = Desk::of(&shop.site);
    let told = call(&ana, "list_orders", &json!({}));
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"columns\""), "{text}");
    desk.put("resposta.json", text);
    let program = code(&shop.site, "/agentes", "inteiro-python");
    let around = "\nimport json\nprint(json.dumps(whole(json.load(open('resposta.json')))))\n";
    desk.put("inteiro.py", &format!("{program}{around}"));
    let whole: Value = serde_json::from_str(&desk.python(&["inteiro.py"])).unwrap();
    assert_eq!(whole, read(&ana, "/orders"));
}

#[test]
#[ignore = "needs Python, Node and curl; tests/run installs them"]
fn the_samples_of_the_guide_do_what_they_say() {
    let shop = Shop::open_with(|site| {
        // Nobody takes the mails, which does not matter here.
        site.config("email.smtp_url", "smtp://127.0.0.1:9").config("email.from", "a@example.com")
    });
    let ana = shop.site.seller("ana").plan("scale");
    wait_for_plan(&ana);
    let sale = || shop.world.sale_with(LOJA, &json!({ "notify": true }))["id"].to_string();
    let orders = [sale(), sale()];
    wait_until_worked(&shop.world, &shop.site);
    let desk = Desk::of(&shop.site);
    let token = ana.bearer_token();
    let sample = |id: &str| code(&shop.site, "", id).replace("ptk_…", token);
    let shows = |said: &str| {
        assert!(orders.iter().all(|order| said.contains(order)), "{said}");
    };
    shows(&desk.run("sh", &["-c", &sample("curl")]));
    shows(&desk.python(&["-c", &sample("python")]));
    desk.put("primeira.mjs", &sample("javascript"));
    shows(&desk.run("node", &["primeira.mjs"]));
    desk.put("listas.mjs", &format!("const TOKEN = \"{token}\";\n{}", sample("listas-javascript")));
    shows(&desk.run("node", &["listas.mjs"]));
    let client = code(&shop.site, "", "cliente-python");
    desk.put_program("cliente.py", &client, token, shop.site.address());
    shows(&desk.python(&["cliente.py"]));
    let repeat = format!("TOKEN={token}\n{}", sample("repetir-curl"));
    let first: Value = serde_json::from_str(&desk.run("sh", &["-c", &repeat])).unwrap();
    let second: Value = serde_json::from_str(&desk.run("sh", &["-c", &repeat])).unwrap();
    assert!(first["data"].is_object() && first == second, "{first} {second}");
    desk.put("acompanhar.py", &sample("acompanhar-python"));
    let follows = desk.start(&["acompanhar.py"]);
    pause(Duration::from_secs(2));
    shows(&follows.kill());
}
