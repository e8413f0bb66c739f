//! A tool call: runs the operation with the tool's name, as a request to the
//! operation's own address would. Decision agents-1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::Serializer;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::message::RpcRequest;
use super::replies::{INVALID_PARAMS, Recipient};
use super::tools;
use super::{count_message, refused};
use crate::app::App;
use crate::edge::guard::Agent;
use crate::edge::route::Todo;
use crate::http::body::Body;
use crate::http::input::{FromField as _, RowNumber, whole};
use crate::http::limit::Verdict;
use crate::http::reply::media;
use crate::http::{Code, Family, Fields, Problem, Reply, Request};
use crate::partner::operation::{Declared, Party, all_faults};
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
        let mut answer = Answer {
            to: Recipient::of(app, asked),
            is_file: operation.docs.media.is_some(),
            address: String::new(),
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
        let begun = build_rest_request(operation, arguments, request);
        let begun = begun.and_then(|(rest_request, faults)| {
            if answer.is_file {
                let below = operation.path.strip_prefix(PATH).unwrap_or(operation.path);
                let base = &app.addresses.dev_base_url;
                answer.address = format!("{base}{PATH_DEV}{below}?{}", rest_request.query_text());
            }
            all_faults(faults, operation.begin(app, &party, &rest_request))
        });
        Ok(match begun {
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

/// The request with the same arguments, as the operation's own address would
/// get it, and what an address cannot show: arguments of another type.
fn build_rest_request<P>(
    operation: &Declared<P>,
    arguments: &Map<String, Value>,
    request: &Request,
) -> Result<(Request, Fields), Problem> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut faults = Fields::new();
    let mut text_of = |name: &str, value: &Value| {
        let text = argument_as_text(operation.name, name, value);
        text.map_err(|said| faults.push((name.to_owned().into(), said.into()))).ok()
    };
    let mut query = Serializer::new(String::new());
    let mut body = Vec::new();
    if operation.method == Method::POST {
        body = serde_json::to_vec(arguments).map_err(Problem::internal)?;
    } else {
        for name in operation.path.split(['{', '}']).skip(1).step_by(2) {
            let text = text_of(name, arguments.get(name).unwrap_or(&Value::Null));
            variables.push((name.to_owned(), text.unwrap_or_default()));
        }
        for (name, value) in arguments {
            // Models send null for arguments that they leave out.
            if !value.is_null()
                && !variables.iter().any(|(known, _)| known == name)
                && let Some(text) = text_of(name, value)
            {
                query.append_pair(name, &text);
            }
        }
    }
    let query = query.finish();
    let mark = if query.is_empty() { "" } else { "?" };
    let head = http::Request::builder()
        .method(operation.method.clone())
        .uri(format!("/{mark}{query}"))
        .header(CONTENT_TYPE, media::JSON)
        .body(())
        .map_err(|_| Problem::new(Code::UriTooLong, "the arguments are too long"))?;
    let rest_request = Request {
        head: head.into_parts().0,
        body: body.into(),
        variables,
        client: request.client,
        id: request.id.clone(),
        now: request.now,
        lane: request.lane,
        family: Family::Partner,
        notice: None,
    };
    Ok((rest_request, faults))
}

/// An argument as text for an address, when it has a type of the tool's
/// schema; otherwise what is wrong. The check is needed because the text no longer
/// shows the type.
fn argument_as_text(tool: &str, name: &str, value: &Value) -> Result<String, &'static str> {
    let schema = tools::named(tool).and_then(|tool| tool.input["properties"].get(name));
    // The operation reports that it does not know the name.
    let Some(schema) = schema else { return Ok(value.to_string()) };
    let has = |kind: &str| takes(schema, kind);
    let is_id = has("string") && has("integer");
    match value {
        Value::Null => Err("is required"),
        Value::String(text) if has("string") => Ok(text.clone()),
        Value::Number(number) if has("integer") => match whole(number) {
            Some(number) if !is_id || number <= RowNumber::MOST => Ok(number.to_string()),
            _ if is_id => Err(RowNumber::WANTED),
            _ => Err("must be a whole number"),
        },
        Value::Number(number) if has("number") => Ok(number.to_string()),
        Value::Bool(flag) if has("boolean") => Ok(flag.to_string()),
        _ if is_id => Err(RowNumber::WANTED),
        _ if has("integer") => Err("must be a whole number"),
        _ if has("number") => Err("must be a number"),
        _ if has("boolean") => Err("must be true or false"),
        _ => Err("must be text"),
    }
}

/// Whether values of a type fit a schema, which names one type or several.
fn takes(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => schema["anyOf"].as_array().into_iter().flatten().any(|one| takes(one, kind)),
    }
}

/// Turns the answer of an operation into the result of a tool.
struct Answer {
    to: Recipient,
    /// Whether the operation answers with a file.
    is_file: bool,
    /// Address of the same file; empty when the operation answers without a file.
    address: String,
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
        if self.is_file && reply.status == StatusCode::OK {
            return Ok(self.file(reply, bytes));
        }
        let said = std::str::from_utf8(bytes).map_err(Problem::internal)?;
        if reply.status != StatusCode::OK {
            return Ok(self.error(said));
        }
        let text = json!(said);
        Ok(self.result(&format!(
            r#""content":[{{"type":"text","text":{text}}}],"structuredContent":{said},"isError":false"#
        )))
    }

    fn file(&self, reply: &Reply, bytes: &[u8]) -> Reply {
        if bytes.len() > LARGEST_FILE {
            return self.error(&format!(
                "The file is too large for an answer ({} bytes). It can be fetched with the same token: GET {}",
                bytes.len(),
                self.address
            ));
        }
        let media = reply.media.as_ref().and_then(|media| media.to_str().ok()).unwrap_or_default();
        let resource = json!({
            "uri": self.address,
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
        let status = problem.code.status(Family::Partner);
        let mut reply = if self.is_file {
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
