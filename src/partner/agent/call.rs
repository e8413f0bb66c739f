//! A tool call: begins the operation with the tool's name and gives it the arguments
//! as they were sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::Serializer;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::api::{count_message, refused};
use super::compact;
use super::message::RpcRequest;
use super::replies::{INVALID_PARAMS, Recipient};
use crate::app::App;
use crate::edge::route::Todo;
use crate::http::input::whole;
use crate::http::limit::Verdict;
use crate::http::{Body, Family, Problem, Reply, Request};
use crate::identity::Agent;
use crate::partner::operation::{self, Declared, Party};
use crate::partner::{PATH, PATH_DEV, seller, supplier};

/// Largest file that is included in an answer.
const LARGEST_FILE: usize = 1024 * 1024;

/// Begins a call.
pub fn begin(
    app: &App,
    agent: &Agent,
    request: &Request,
    asked: &RpcRequest<'_>,
) -> Result<Todo<Reply>, Problem> {
    let invalid = |message: String| {
        let verdict = count_message(app, &agent.talk(app), Some(asked))?;
        let reply = asked.fault(INVALID_PARAMS, message, None).reply();
        Ok(Todo::Now(Reply { verdict: verdict.map(Box::new), ..reply }))
    };
    let Some(Value::String(name)) = asked.param("name") else {
        return invalid("`name` must be the name of a tool".to_owned());
    };
    let none = Map::new();
    let arguments = match asked.param("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return invalid("`arguments` must be an object".to_owned()),
    };
    let call = Call { app, agent, request, asked, arguments };
    let run = if agent.owner().role.is_student() {
        let found = seller::OPERATIONS.iter().find(|one| one.name == name);
        found.map(|operation| call.run(operation, agent.seller()))
    } else {
        let found = supplier::OPERATIONS.iter().find(|one| one.name == name);
        found.map(|operation| call.run(operation, agent.supplier(app)))
    };
    run.unwrap_or_else(|| {
        invalid(format!("there is no tool {name:?}; `tools/list` names those there are"))
    })
}

struct Call<'c> {
    app: &'c App,
    agent: &'c Agent,
    request: &'c Request,
    asked: &'c RpcRequest<'c>,
    arguments: &'c Map<String, Value>,
}

impl Call<'_> {
    fn run<P: Party>(
        &self,
        operation: &'static Declared<P>,
        party: Result<P, Problem>,
    ) -> Result<Todo<Reply>, Problem> {
        let Self { app, agent, request, asked, arguments } = *self;
        let is_file = operation.docs.media.is_some();
        let mut answer = Answer {
            to: Recipient::of(app, asked),
            address: is_file.then(|| address(app, operation, arguments)),
            request_id: request.id.to_str().unwrap_or_default().to_owned(),
            verdict: None,
        };
        let party = match party {
            Ok(party) => party,
            Err(problem) => {
                answer.verdict = count_message(app, &agent.talk(app), Some(asked))?;
                return Err(answer.problem(problem));
            }
        };
        if let Err(problem) = agent.check_scope(app, request, operation) {
            let verdict = count_message(app, &agent.talk(app), Some(asked))?;
            return Err(refused(asked, verdict, problem));
        }
        answer.verdict = count_message(app, &agent.call(app, operation), Some(asked))?;
        let call = operation::Call { request, tool: Some(arguments) };
        Ok(match operation.begin(app, &party, &call) {
            Err(problem) => return Err(answer.problem(problem)),
            Ok(Todo::Now(reply)) => Todo::Now(answer.reply(&reply)?),
            Ok(Todo::Slow(work)) => Todo::Slow(Box::new(move |app| answer.of(work(app)))),
            Ok(Todo::Outside(work) | Todo::Fetch(work)) => {
                Todo::Outside(Box::new(move |app| answer.of(work(app))))
            }
            Ok(Todo::Write(work)) => Todo::Write(Box::new(move |tx| answer.of(work(tx)))),
        })
    }
}

/// The operation's own address with these arguments.
fn address<P>(app: &App, operation: &Declared<P>, arguments: &Map<String, Value>) -> String {
    let mut query = Serializer::new(String::new());
    let mut below = operation.path.strip_prefix(PATH).unwrap_or(operation.path).to_owned();
    for (name, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => whole(number).map_or_else(String::new, |id| id.to_string()),
            other => other.to_string(),
        };
        let variable = format!("{{{name}}}");
        if below.contains(&variable) {
            below = below.replace(&variable, &text);
        } else {
            query.append_pair(name, &text);
        }
    }
    let query = query.finish();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{}{PATH_DEV}{below}{mark}{query}", app.server.addresses.dev_base_url)
}

/// Turns the answer of an operation into the result of a tool.
struct Answer {
    to: Recipient,
    /// Address of the same file, where the operation answers with one.
    address: Option<String>,
    request_id: String,
    verdict: Option<Verdict>,
}

impl Answer {
    fn of(&self, outcome: Result<Reply, Problem>) -> Result<Reply, Problem> {
        match outcome {
            Ok(reply) => self.reply(&reply),
            Err(problem) => Err(self.problem(problem)),
        }
    }

    /// The result for an operation that answered.
    fn reply(&self, reply: &Reply) -> Result<Reply, Problem> {
        let Body::Bytes(bytes) = &reply.body else {
            return Err(Problem::internal("an operation answered in pieces"));
        };
        if let Some(address) = &self.address
            && reply.status == StatusCode::OK
        {
            return Ok(self.file(reply, bytes, address));
        }
        let said = std::str::from_utf8(bytes).map_err(Problem::internal)?;
        if reply.status != StatusCode::OK {
            return Ok(self.error(said));
        }
        let text = json!(compact::of(said));
        Ok(self.result(&format!(
            r#""content":[{{"type":"text","text":{text}}}],"structuredContent":{said},"isError":false"#
        )))
    }

    fn file(&self, reply: &Reply, bytes: &[u8], address: &str) -> Reply {
        if bytes.len() > LARGEST_FILE {
            return self.error(&format!(
                "The file is too large for an answer ({} bytes). It can be fetched with the same token: GET {address}",
                bytes.len(),
            ));
        }
        let media = reply.media.as_ref().and_then(|media| media.to_str().ok()).unwrap_or_default();
        let resource = json!({
            "uri": address,
            "mimeType": media,
            "blob": STANDARD.encode(bytes),
        });
        self.result(&format!(
            r#""content":[{{"type":"resource","resource":{resource}}}],"isError":false"#
        ))
    }

    /// The result for an operation that failed. The model reads the same error
    /// text as at the operation's own address, so that it can act on it. It
    /// stays a [`Problem`], so that the write that failed is undone.
    fn problem(&self, problem: Problem) -> Problem {
        let family = if self.address.is_some() { Family::PartnerFile } else { Family::Partner };
        let status = problem.code.status(family);
        let mut reply = if self.address.is_some() {
            self.error(&problem.text())
        } else {
            self.error(&String::from_utf8_lossy(&problem.body(Family::Partner, &self.request_id)))
        };
        if let (Some(seconds), true) = (problem.retry_after_s, status.is_server_error()) {
            reply = reply.with(http::header::RETRY_AFTER, seconds.into());
        }
        Problem { answer: Some(Box::new(reply)), ..problem }
    }

    fn error(&self, said: &str) -> Reply {
        let text = json!(said);
        self.result(&format!(r#""content":[{{"type":"text","text":{text}}}],"isError":true"#))
    }

    fn result(&self, members: &str) -> Reply {
        Reply { verdict: self.verdict.map(Box::new), ..self.to.result(members) }
    }
}
