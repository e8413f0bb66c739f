//! A browser that a test drives: headless Chromium behind `chromedriver`,
//! spoken to in the W3C `WebDriver` protocol, which is JSON over HTTP.
//!
//! A browser belongs to one test, has a fresh profile and ends with the test.
//! Every step waits for its result, so no test sleeps. If the result never
//! comes, the test fails with the page's content, and leaves a screenshot in
//! `target/tmp/`.

use std::cell::RefCell;
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::{Client, Request};
use crate::support::wait::within;

/// How long a page may take to show what a test waits for.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// How long `chromedriver` may take to listen.
const START_LIMIT: Duration = Duration::from_secs(30);
/// The name of an element's id in the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Headless, alone, and silent towards the network.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// Keys by the names that the protocol gives them.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const CONTROL: &str = "\u{e009}";
pub const ALT: &str = "\u{e00a}";

/// The two themes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

/// Why a command failed, in the driver's words.
#[derive(Debug)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A line of the browser's console.
#[derive(Debug)]
pub struct Complaint {
    pub source: String,
    pub message: String,
}

/// A running browser with one window.
pub struct Browser {
    driver: Child,
    address: SocketAddr,
    /// The path of the session, `/session/…`.
    session: String,
    client: RefCell<Client>,
    /// Removed when the browser has ended.
    profile: TempDir,
}

impl Browser {
    /// A browser of the width of a laptop, in the light theme.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with further arguments of Chromium.
    #[track_caller]
    pub fn start_with(arguments: &[String]) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (driver, address) = start_driver();
        let mut browser =
            Self { driver, address, session: String::new(), client: RefCell::default(), profile };
        let opened = browser
            .command("POST", "/session", &capabilities(browser.profile.path(), arguments))
            .unwrap_or_else(|refused| panic!("no browser: {refused}"));
        let id = opened["sessionId"].as_str().expect("a session id");
        browser.session = format!("/session/{id}");
        browser.resize(1280, 800);
        browser.prefer(Theme::Light);
        // Some versions keep a window without a screen out of focus.
        let focused = json!({ "enabled": true });
        browser.devtools("Emulation.setFocusEmulationEnabled", &focused);
        browser
    }

    /// Opens an address and waits until it is loaded.
    #[track_caller]
    pub fn go(&self, url: &str) {
        self.must("POST", "/url", &json!({ "url": url }));
    }

    /// The address in the window.
    #[track_caller]
    pub fn url(&self) -> String {
        let url = self.must("GET", "/url", &Value::Null);
        url.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the path and query in the window are these.
    #[track_caller]
    pub fn wait_for_path(&self, wanted: &str) {
        self.patiently(&format!("the address is {wanted}"), || {
            let url = self.url();
            let path = url.splitn(4, '/').nth(3).unwrap_or_default();
            if path == wanted.trim_start_matches('/') { Ok(()) } else { Err(Refused(url)) }
        });
    }

    /// Loads the page anew.
    #[track_caller]
    pub fn reload(&self) {
        self.must("POST", "/refresh", &json!({}));
    }

    /// Sets the size of the page, in CSS pixels.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets the theme that the reader's system prefers. The system never wants
    /// motion, so that no test sees a colour in transition.
    #[track_caller]
    pub fn prefer(&self, theme: Theme) {
        let value = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let features = json!([
            { "name": "prefers-color-scheme", "value": value },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Clicks the first visible element of a CSS selector.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.patiently(&format!("{selector} can be clicked"), || {
            self.click_first(&self.find("css selector", selector)?)
        });
    }

    /// Clicks the first visible link or button with this text.
    #[track_caller]
    pub fn press(&self, words: &str) {
        let path = format!("//*[self::a or self::button][normalize-space()='{words}']");
        self.patiently(&format!("“{words}” can be pressed"), || {
            self.click_first(&self.find("xpath", &path)?)
        });
    }

    /// Replaces the text in the field of that name.
    #[track_caller]
    pub fn fill(&self, name: &str, text: &str) {
        let selector = format!("[name='{name}']:not([type='hidden'])");
        self.patiently(&format!("the field {name} takes a text"), || {
            let fields = self.find("css selector", &selector)?;
            let field = fields.first().ok_or(Refused("no such field".to_owned()))?;
            self.ask("POST", &format!("/element/{field}/clear"), &json!({}))?;
            let keys = json!({ "text": text });
            self.ask("POST", &format!("/element/{field}/value"), &keys)
        });
    }

    /// Presses and releases a key on the element with the focus.
    #[track_caller]
    pub fn key(&self, key: &str) {
        let stroke = json!([
            { "type": "keyDown", "value": key },
            { "type": "keyUp", "value": key },
        ]);
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": stroke });
        self.must("POST", "/actions", &json!({ "actions": [keyboard] }));
    }

    /// Presses keys one after the other and releases them all.
    #[track_caller]
    pub fn chord(&self, keys: &[&str]) {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let strokes: Vec<Value> = down.chain(up).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.must("POST", "/actions", &json!({ "actions": [keyboard] }));
    }

    /// Runs a script in the page and returns its result.
    #[track_caller]
    pub fn script(&self, body: &str) -> Value {
        let call = json!({ "script": body, "args": [] });
        self.must("POST", "/execute/sync", &call)
    }

    /// Runs a script that returns a promise, and waits for it.
    #[track_caller]
    pub fn script_async(&self, promise: &str) -> Value {
        let script = format!(
            "const done = arguments[0]; ({promise}).then(done, (error) => done(String(error)));"
        );
        let call = json!({ "script": script, "args": [] });
        self.must("POST", "/execute/async", &call)
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: &str) {
        self.patiently(what, || {
            let call = json!({ "script": format!("return {condition};"), "args": [] });
            match self.ask("POST", "/execute/sync", &call)? {
                Value::Bool(true) => Ok(()),
                other => Err(Refused(other.to_string())),
            }
        });
    }

    /// Waits until the page shows this text.
    #[track_caller]
    pub fn see(&self, text: &str) {
        let words = "document.body.innerText.replaceAll('\\u00a0', ' ')";
        let condition = format!("{words}.includes({})", json!(text));
        self.wait_until(&format!("the page shows “{text}”"), &condition);
    }

    /// The visible text of the page.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.script("return document.body.innerText;");
        text.as_str().unwrap_or_default().replace("R$\u{a0}", "R$ ")
    }

    /// Warnings and errors of the console since the last call: failed
    /// scripts, missing files, violations of the content policy.
    #[track_caller]
    pub fn complaints(&self) -> Vec<Complaint> {
        let own_status = |complaint: &Complaint| {
            complaint.source == "network"
                && complaint.message.contains("responded with a status of 4")
                && !complaint.message.contains("/assets/")
        };
        let log = self.must("POST", "/se/log", &json!({ "type": "browser" }));
        let lines = log.as_array().cloned().unwrap_or_default();
        let severe = |line: &&Value| matches!(line["level"].as_str(), Some("SEVERE" | "WARNING"));
        let complaint = |line: &Value| Complaint {
            source: line["source"].as_str().unwrap_or_default().to_owned(),
            message: line["message"].as_str().unwrap_or_default().to_owned(),
        };
        let mut complaints: Vec<_> = lines.iter().filter(severe).map(complaint).collect();
        complaints.retain(|complaint| !own_status(complaint));
        complaints
    }

    /// The whole page as a PNG, beyond the window too.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        let beyond = json!({ "captureBeyondViewport": true, "format": "png" });
        let call = json!({ "cmd": "Page.captureScreenshot", "params": beyond });
        let found = self.must("POST", "/goog/cdp/execute", &call);
        let picture = found["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(picture).expect("Base64")
    }

    /// Requires a console without complaints.
    #[track_caller]
    pub fn expect_no_complaints(&self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "at {}: {complaints:#?}", self.url());
    }

    /// Allows or forbids notifications to the site of an address.
    #[track_caller]
    pub fn let_notify(&self, origin: &str, allowed: bool) {
        let permission = json!({
            "origin": origin,
            "permission": { "name": "notifications" },
            "setting": if allowed { "granted" } else { "denied" },
        });
        self.devtools("Browser.setPermission", &permission);
    }

    /// Runs a script in every page before the page's own scripts.
    #[track_caller]
    pub fn prepare(&self, script: &str) {
        let source = json!({ "source": script });
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &source);
    }

    #[track_caller]
    fn devtools(&self, method: &str, parameters: &Value) {
        let call = json!({ "cmd": method, "params": parameters });
        self.must("POST", "/goog/cdp/execute", &call);
    }

    fn find(&self, using: &str, value: &str) -> Result<Vec<String>, Refused> {
        let found = self.ask("POST", "/elements", &json!({ "using": using, "value": value }))?;
        let found = found.as_array().cloned().unwrap_or_default();
        let id = |element: &Value| element[ELEMENT].as_str().map(str::to_owned);
        Ok(found.iter().filter_map(id).collect())
    }

    fn click_first(&self, elements: &[String]) -> Result<(), Refused> {
        let mut refused = Refused("no such element".to_owned());
        for element in elements {
            match self.ask("POST", &format!("/element/{element}/click"), &json!({})) {
                Ok(_) => return Ok(()),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// Repeats a step until it works; panics with the page's content if it
    /// never does.
    #[track_caller]
    fn patiently<T>(&self, what: &str, mut action: impl FnMut() -> Result<T, Refused>) -> T {
        let mut refused = None;
        let done = within(PATIENCE, || match action() {
            Ok(value) => Some(value),
            Err(reason) => {
                refused = Some(reason);
                None
            }
        });
        done.unwrap_or_else(|| {
            let (url, text) = (self.url(), self.text());
            let refused = refused.expect("a reason");
            panic!("waited in vain: {what}\n{refused}\n--- {url}\n{text}");
        })
    }

    /// Runs a command; the test fails if the command does.
    #[track_caller]
    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, path, body).unwrap_or_else(|refused| panic!("{method} {path}: {refused}"))
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        self.command(method, &format!("{}{path}", self.session), body)
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        let mut request = Request::new(method, path);
        if !body.is_null() {
            request = request.json(body);
        }
        let sent = self.client.borrow_mut().send(self.address, &request);
        let reply = sent.map_err(|error| Refused(format!("chromedriver: {error}")))?;
        let mut answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let value = answer["value"].take();
        match (reply.status, value["error"].as_str()) {
            (200, _) => Ok(value),
            (_, Some(error)) => Err(Refused(format!("{error}: {}", value["message"]))),
            (status, None) => Err(Refused(format!("chromedriver answered {status}"))),
        }
    }

    /// Saves a picture of the window in `target/tmp/`.
    fn keep_picture(&self) {
        let Ok(Value::String(picture)) = self.ask("GET", "/screenshot", &Value::Null) else {
            return;
        };
        let test = std::thread::current();
        let name = test.name().unwrap_or("browser").replace("::", "-");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture);
        if bytes.is_ok_and(|bytes| std::fs::write(&path, bytes).is_ok()) {
            eprintln!("--- the window when the test failed: {}", path.display());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            if std::thread::panicking() {
                self.keep_picture();
            }
            // Ends Chromium; the driver alone would leave it behind.
            self.ask("DELETE", "", &Value::Null).ok();
        }
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

fn capabilities(profile: &Path, more: &[String]) -> Value {
    let mut arguments = ARGUMENTS.map(str::to_owned).to_vec();
    arguments.extend_from_slice(more);
    arguments.push(format!("--user-data-dir={}", profile.display()));
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "unhandledPromptBehavior": "ignore",
        "timeouts": { "pageLoad": 25_000, "script": 25_000 },
        "goog:chromeOptions": { "args": arguments },
        "goog:loggingPrefs": { "browser": "ALL" },
    } } })
}

/// Starts `chromedriver` on a free port and reads from its output which.
#[track_caller]
fn start_driver() -> (Child, SocketAddr) {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("chromedriver does not start ({error}): run tests/run, which installs it")
        });
    let stdout = driver.stdout.take().unwrap();
    let (found, port) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let port = line
                .split_once("successfully on port ")
                .and_then(|(_, rest)| rest.trim_end_matches('.').parse::<u16>().ok());
            if let Some(port) = port {
                found.send(port).ok();
            }
        }
    });
    let Ok(port) = port.recv_timeout(START_LIMIT) else {
        driver.kill().ok();
        driver.wait().ok();
        panic!("chromedriver did not say where it listens");
    };
    (driver, SocketAddr::from(([127, 0, 0, 1], port)))
}
