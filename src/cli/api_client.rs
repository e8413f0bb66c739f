//! Calls of the Partner API by commands that run at a developer's own machine.

use std::time::Duration;

use anyhow::{anyhow, bail};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Response;
use ureq::http::header::{AUTHORIZATION, ETAG, IF_NONE_MATCH, RETRY_AFTER};

use super::Context;
use crate::partner;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The Partner API, as it is called with a token.
pub struct ApiClient {
    pub agent: Agent,
    base: String,
    token: String,
}

/// An answer of the API.
pub struct Answer {
    pub status: u16,
    pub body: String,
    pub etag: Option<String>,
    /// Seconds to wait before another call.
    pub retry_after_s: Option<u64>,
}

/// The options of commands that call the API.
#[derive(clap::Args)]
pub struct Access {
    /// The token to call with: a test token for sample data, another for one's own.
    #[arg(long, value_name = "TOKEN", value_parser = parse_token)]
    token: String,
    /// Address of the platform [default: that of this machine's installation].
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<String>,
}

impl Access {
    pub fn token(&self) -> &str {
        &self.token
    }
}

fn parse_token(text: &str) -> Result<String, &'static str> {
    let is_token = partner::is_token(text);
    if is_token {
        Ok(text.to_owned())
    } else {
        Err("must be a partner token, ptk_test_… or ptk_…")
    }
}

/// An address such as `https://loja.exemplo.com`.
pub fn parse_url(text: &str) -> Result<String, &'static str> {
    let uri: http::Uri = text.parse().map_err(|_| "must be an http:// or https:// address")?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.host().is_some() {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("must be an http:// or https:// address")
    }
}

impl ApiClient {
    /// A client of the platform that the options name.
    pub fn new(context: &Context, access: Access) -> anyhow::Result<Self> {
        let base = access.url.unwrap_or_else(|| context.base_url());
        if base.ends_with(":0") {
            bail!("no server runs on this machine's database; name the platform with --url");
        }
        let agent = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("seller-platform/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: agent.into(), base, token: access.token })
    }

    pub fn get(&self, target: &str, etag: Option<&str>) -> Result<Answer, ureq::Error> {
        let mut request = self.agent.get(self.address(target)).header(AUTHORIZATION, self.bearer());
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        Answer::read(request.call()?)
    }

    pub fn post(&self, target: &str, body: &Value) -> Result<Answer, ureq::Error> {
        let request = self.agent.post(self.address(target)).header(AUTHORIZATION, self.bearer());
        Answer::read(request.send_json(body)?)
    }

    /// What is said of an address that cannot be reached.
    pub fn unreachable(&self, error: &ureq::Error) -> anyhow::Error {
        anyhow!("cannot reach {}: {error}; is it right, and does the platform run?", self.base)
    }

    fn address(&self, target: &str) -> String {
        format!("{}{}{target}", self.base, partner::PATH)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

impl Answer {
    fn read(mut answer: Response<ureq::Body>) -> Result<Self, ureq::Error> {
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let retry_after_s = header(RETRY_AFTER).and_then(|text| text.parse().ok());
        let etag = header(ETAG).map(str::to_owned);
        let status = answer.status().as_u16();
        Ok(Self { status, etag, retry_after_s, body: answer.body_mut().read_to_string()? })
    }

    /// The code of an error, empty where there is none.
    pub fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// What the API says of a refused call.
    pub fn refusal(&self) -> anyhow::Error {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let error = &body["error"];
        let Some(message) = error["message"].as_str() else {
            return anyhow!("the address answered {} and no JSON of the Partner API", self.status);
        };
        let fields = error["fields"].as_object().into_iter().flatten();
        let fields =
            fields.filter_map(|(name, fault)| Some(format!("; {name} {}", fault.as_str()?)));
        anyhow!("{} ({}): {message}{}", self.status, self.code(), fields.collect::<String>())
    }
}
