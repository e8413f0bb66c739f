//! Open pages follow what happens: the numbers of the menu and what comes to lists, as
//! server-sent events.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::memory;
use crate::support::shop::Shop;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::LOJA;

const STREAM: &str = "/painel/ao-vivo";
/// Within this time a change is on an open page.
const SOON: Duration = Duration::from_secs(1);
/// The same with what the test's machine may need for the sale itself.
const PATIENCE: Duration = Duration::from_secs(20);
/// Streams of one account.
const MOST_OF_ONE: usize = 6;

/// An open stream of events.
struct Stream {
    lines: BufReader<TcpStream>,
    newest: Option<Value>,
    /// Opens the same again.
    again: (String, String),
}

impl Stream {
    fn open(who: &Actor<'_>, path: &str) -> Self {
        let (host, cookie) = (who.site().address(), who.cookie());
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\nCookie: {cookie}\r\n\r\n"
        );
        Self::sent((host.to_string(), request))
    }

    fn sent(again: (String, String)) -> Self {
        let mut socket = TcpStream::connect(&again.0).unwrap();
        socket.write_all(again.1.as_bytes()).unwrap();
        Self { lines: BufReader::new(socket), newest: None, again }
    }

    /// The next line; `None` at the end of the stream. Panics at the deadline, naming what
    /// was `awaited`; one for each read would not do, since empty lines come for ever.
    #[track_caller]
    fn line(&mut self, awaited: &str, deadline: Instant) -> Option<String> {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut line = String::new();
        let read = if left.is_zero() {
            Err(ErrorKind::TimedOut.into())
        } else {
            self.lines.get_ref().set_read_timeout(Some(left)).unwrap();
            self.lines.read_line(&mut line)
        };
        match read {
            Ok(0) => None,
            Ok(_) => Some(line),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => {
                panic!("waited in vain: {awaited}: {error}; newest event: {:?}", self.newest)
            }
        }
    }

    /// The status, and the head in lower case.
    #[track_caller]
    fn head(&mut self) -> (u16, String) {
        let deadline = Instant::now() + PATIENCE;
        let mut head = String::new();
        loop {
            let line = self.line("the head of the answer", deadline).expect("an answer");
            if line == "\r\n" {
                break;
            }
            head.push_str(&line.to_lowercase());
        }
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
    }

    /// The next event; `None` at the end of the stream.
    #[track_caller]
    fn event(&mut self, awaited: &str) -> Option<Value> {
        self.event_by(awaited, Instant::now() + PATIENCE)
    }

    #[track_caller]
    fn event_by(&mut self, awaited: &str, deadline: Instant) -> Option<Value> {
        loop {
            let line = self.line(awaited, deadline)?;
            if line == "0\r\n" {
                return None;
            }
            if let Some(text) = line.strip_prefix("data: ") {
                self.newest = Some(serde_json::from_str(text).unwrap());
                return self.newest.clone();
            }
        }
    }

    /// The newest event, or the first after it, of which something holds. Each event has
    /// all numbers, and several changes may have come with one. A stream that ends is opened
    /// again, as browsers do: the service ends all when it notices what a command changed,
    /// such as the one that made a person.
    #[track_caller]
    fn until(&mut self, awaited: &str, what: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let mut event = self.newest.clone();
        loop {
            if let Some(event) = event.filter(&what) {
                return event;
            }
            event = self.event_by(awaited, deadline);
            if event.is_none() {
                *self = Self::sent(self.again.clone());
                assert_eq!(self.head().0, 200, "the stream ended before this: {awaited}");
            }
        }
    }
}

fn came(event: &Value, list: &str) -> i64 {
    event["came"][list][0].as_i64().unwrap()
}

#[test]
fn a_sale_and_a_question_are_on_an_open_page_at_once() {
    let shop = Shop::open();
    let ana = shop.ana();
    let mut stream = Stream::open(&ana, STREAM);
    let (status, head) = stream.head();
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let first = stream.event("the first numbers").unwrap();
    let sales = came(&first, "/painel/vendas");
    let mut rui = Stream::open(&shop.site.person("rui"), STREAM);
    rui.head();
    let of_rui = came(&rui.event("the first numbers").unwrap(), "/painel/vendas");

    shop.world.sale(LOJA);
    let event = stream.until("the sale", |event| came(event, "/painel/vendas") > sales);
    assert_eq!(came(&event, "/painel/vendas"), sales + 1);
    assert_eq!(event["came"]["/painel/vendas"][1], "venda nova");

    let item = shop.world.item(LOJA, "Copo", 19.9);
    let asked = json!({ "ml_user_id": LOJA, "item": item, "text": "Tem azul?", "notify": true });
    shop.world.control("/_sandbox/questions", &asked);
    let event = stream.until("the question", |event| event["menu"]["/painel/perguntas"] == 1);
    assert_eq!(came(&event, "/painel/perguntas"), 1);

    // The notices of both came with them. What was read is told to the other pages within a
    // second.
    stream.until("the notices", |event| event["menu"]["/painel/avisos"].as_i64() > Some(0));
    let began = Instant::now();
    ana.send(Request::new("POST", "/painel/avisos/lidos").form(&[])).expect(303);
    stream.until("the notices are read", |event| event["menu"]["/painel/avisos"] == 0);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());

    // The same numbers stand on the page, and nobody else was told of them.
    let page = ana.get("/painel/perguntas").expect(200).text();
    assert!(page.contains("data-count=\"/painel/perguntas\">1</span>"), "{page}");
    let mut again = Stream::open(&shop.site.person("rui"), STREAM);
    again.head();
    assert_eq!(came(&again.event("the first numbers").unwrap(), "/painel/vendas"), of_rui);
    shop.world.no_violations();
}

#[test]
fn strangers_and_other_roles_are_refused_and_leaving_ends_the_stream() {
    let site = Site::start();
    let nobody = site.anonymous().get(STREAM).expect(401);
    assert!(nobody.is_json());
    let (ana, rui) = (site.person("ana"), site.person_as("rui", "drop"));
    for path in ["/fornecedor/ao-vivo", "/admin/ao-vivo"] {
        ana.get(path).expect(403);
    }
    rui.get(STREAM).expect(403);
    let mut streams = [Stream::open(&ana, STREAM), Stream::open(&rui, "/fornecedor/ao-vivo")];
    for stream in &mut streams {
        assert_eq!(stream.head().0, 200);
        stream.event("the first numbers").unwrap();
    }
    ana.send(Request::new("POST", "/sair").form(&[])).expect(303);
    assert_eq!(streams[0].event("the end"), None, "the session is over");
    let id = &site.stored("SELECT CAST(user_id AS TEXT) FROM user WHERE role = 'drop'")[0];
    let suspend = format!("/admin/equipe/{id}/suspender");
    site.administrator().post(&suspend, &json!({ "motivo": "teste" })).ok();
    assert_eq!(streams[1].event("the end"), None, "the account is suspended");
}

#[test]
fn an_account_has_few_streams_and_gets_its_places_back() {
    let site = Site::start();
    let ana = site.person("ana");
    let mut open: Vec<Stream> = (0..MOST_OF_ONE).map(|_| Stream::open(&ana, STREAM)).collect();
    for stream in &mut open {
        assert_eq!(stream.head().0, 200);
    }
    let (status, head) = Stream::open(&ana, STREAM).head();
    assert_eq!(status, 429);
    assert!(head.contains("retry-after: "), "{head}");
    assert_eq!(Stream::open(&site.person("bia"), STREAM).head().0, 200, "others have their own");
    for stream in open.drain(..) {
        stream.lines.get_ref().shutdown(Shutdown::Both).unwrap();
    }
    until("the places are given back", PATIENCE, || {
        (Stream::open(&ana, STREAM).head().0 == 200).then_some(())
    });
}

/// 1,000 open pages of 167 people, while somebody sells.
#[test]
fn open_streams_cost_little_memory_no_thread_and_end_with_the_service() {
    const PEOPLE: usize = 166;
    const MOST_EACH: u64 = 40 * 1024;
    let Shop { world, site } =
        Shop::open_with(|site| site.config("server.max_connections_per_address", 2_000));
    let people: Vec<Actor<'_>> =
        (0..PEOPLE).map(|number| site.person(&format!("p{number}"))).collect();
    let threads = || std::fs::read_dir(format!("/proc/{}/task", site.pid())).unwrap().count();
    let open = |people: &[Actor<'_>]| {
        let streams = people.iter().flat_map(|who| (0..MOST_OF_ONE).map(move |_| who));
        let mut streams: Vec<_> = streams.map(|who| Stream::open(who, STREAM)).collect();
        for stream in &mut streams {
            assert_eq!(stream.head().0, 200);
            stream.event("the first numbers").unwrap();
        }
        streams
    };
    // The first ones warm up what all share.
    let first = open(&people[..4]);
    let (memory, before) = (memory::resident(site.pid()), threads());
    let rest = open(&people[4..]);
    let each = memory::resident(site.pid()).saturating_sub(memory) / rest.len() as u64;
    assert!(each < MOST_EACH, "{each} bytes a stream");
    assert!(threads() <= before + 2, "{before} threads became {}", threads());

    let ana = site.person("ana");
    let mut seller = Stream::open(&ana, STREAM);
    assert_eq!(seller.head().0, 200);
    let sales = came(&seller.event("the first numbers").unwrap(), "/painel/vendas");
    let began = Instant::now();
    world.sale(LOJA);
    seller.until("the sale", |event| came(event, "/painel/vendas") > sales);
    eprintln!(
        "{} streams of {each} bytes; a sale after {:?}",
        first.len() + rest.len(),
        began.elapsed()
    );
    let began = Instant::now();
    site.stop();
    assert!(began.elapsed() < Duration::from_secs(8), "streams hold up the stop");
    for mut stream in first.into_iter().chain(rest) {
        assert_eq!(stream.event("the end"), None);
    }
}
