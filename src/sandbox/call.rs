//! The argument of every handler of the sandbox, and the types of its results.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::state::{Sandbox, SandboxState};
use super::things::ChangeContext;
use crate::base::Instant;

/// A request, and the state of the sandbox that answers it.
pub struct Call<'c> {
    /// Fixed settings.
    pub sandbox: &'c Sandbox,
    /// The state, locked for this call.
    pub state: &'c mut SandboxState,
    pub request: &'c Request,
    pub now: Instant,
    /// The seller of the request's token; 0 when the route needs no token.
    pub seller: i64,
    /// The values of the route's path variables, in order.
    pub variables: Vec<&'c str>,
}

/// The result of a handler of a public address: a reply or an error reply.
pub type HandlerResult = Result<Reply, Reply>;

/// The result of a control: a value, or what is wrong with the request.
pub type ControlResult = Result<Value, String>;

/// The result of a button of the overview: sentences in Brazilian Portuguese.
pub type ButtonResult = Result<String, String>;

impl<'c> Call<'c> {
    /// The value of the route's first path variable.
    pub fn id(&self) -> &'c str {
        self.variables.first().copied().unwrap_or_default()
    }

    /// The value of the first path variable, as a number.
    pub fn number(&self) -> Result<i64, String> {
        number(self.id())
    }

    /// The first value of a query parameter.
    pub fn query(&self, name: &str) -> Option<&'c str> {
        self.request.query(name)
    }

    /// Whether a query parameter has that value.
    pub fn asks(&self, name: &str, value: &str) -> bool {
        self.query(name) == Some(value)
    }

    /// Records a use of the interface that the real marketplace would not accept.
    pub fn violation(&mut self, rule: &'static str, detail: impl Into<String>) {
        self.state.violation(self.now, rule, detail.into());
    }

    /// Records that a request asks for more than the marketplace allows.
    pub fn too_many(&mut self, what: &str) {
        self.violation("limit_exceeded", what);
    }

    /// Rejects a request to a user's address by any other user.
    pub fn must_be_own(&self, user: &str) -> Result<(), Reply> {
        if user == self.seller.to_string() {
            return Ok(());
        }
        Err(Reply::forbidden("the token belongs to another user"))
    }

    /// `limit` and `offset`.
    pub fn paging(&self, default: usize) -> Result<(usize, usize), Reply> {
        let number = |name: &str, default: usize| match self.query(name) {
            None => Some(default),
            Some(text) => text.parse::<u32>().ok().map(|number| number as usize),
        };
        number("limit", default)
            .zip(number("offset", 0))
            .ok_or_else(|| Reply::bad_request("limit and offset must be numbers"))
    }

    /// The 1 to 20 ids of the parameter `ids`; `things` names them in violations.
    pub fn twenty_ids(&mut self, things: &str) -> Result<Vec<&'c str>, Reply> {
        let ids = listed(self.query("ids").unwrap_or_default());
        if ids.len() > IDS_MAX {
            self.too_many(&format!("{} {things} at once", ids.len()));
        }
        if ids.is_empty() || ids.len() > IDS_MAX {
            return Err(Reply::bad_request(&format!("ids must name 1 to 20 {things}")));
        }
        Ok(ids)
    }

    /// The body of a control.
    pub fn body<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.request.body).map_err(misfit)
    }

    /// The body of a control that makes a change, and the context of the change.
    /// The optional field `notify` of the body says whether the platform is
    /// notified; the default is `notifies`.
    pub fn body_and_context<T: DeserializeOwned>(
        &self,
        notifies: bool,
    ) -> Result<(T, ChangeContext), String> {
        let mut body: Value = self.body()?;
        let notify = match body.as_object_mut().and_then(|fields| fields.remove("notify")) {
            None | Some(Value::Null) => notifies,
            Some(Value::Bool(notify)) => notify,
            Some(_) => return Err(misfit("notify must be true or false")),
        };
        let context = ChangeContext { now: self.now, notify };
        Ok((serde_json::from_value(body).map_err(misfit)?, context))
    }

    /// Runs a control that creates a record; returns the record's id.
    pub fn make<T: DeserializeOwned>(
        &mut self,
        make: fn(&mut SandboxState, T, ChangeContext) -> Result<i64, String>,
    ) -> ControlResult {
        let (new, context) = self.body_and_context(true)?;
        let id = make(self.state, new, context)?;
        Ok(json!({ "ok": true, "id": id }))
    }

    /// Runs a control that changes the record that the address names.
    pub fn change<T: DeserializeOwned>(
        &mut self,
        change: fn(&mut SandboxState, i64, T, ChangeContext) -> Result<(), String>,
    ) -> ControlResult {
        let (new, context) = self.body_and_context(true)?;
        change(self.state, self.number()?, new, context)?;
        Ok(json!({ "ok": true }))
    }

    /// A field of the button's form.
    pub fn field(&self, name: &str) -> String {
        self.request.field(name)
    }

    /// A field of the button's form; `None` when it is empty.
    pub fn filled(&self, name: &str) -> Option<String> {
        Some(self.field(name)).filter(|text| !text.trim().is_empty())
    }

    /// A number of the button's form.
    pub fn number_field(&self, name: &str) -> Result<i64, String> {
        let text = self.field(name);
        text.trim().parse().map_err(|_| format!("O campo {name} deve ser um número."))
    }

    /// The change that the form field `acao` names. Each row is a name and the
    /// JSON body of a control. `None` when no row has that name.
    pub fn chosen<T: DeserializeOwned>(&self, rows: &[(&str, &str)]) -> Option<T> {
        let name = self.field("acao");
        let (_, body) = rows.iter().find(|(row, _)| *row == name)?;
        serde_json::from_str(body).ok()
    }

    /// A change that happens now, with a notification to the platform.
    pub fn notified(&self) -> ChangeContext {
        ChangeContext { now: self.now, notify: true }
    }
}

/// Most ids of one call.
const IDS_MAX: usize = 20;

fn misfit(problem: impl std::fmt::Display) -> String {
    format!("the body does not fit: {problem}")
}

/// A number in an address.
pub fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// The entries of `a,b,c`.
pub fn listed(text: &str) -> Vec<&str> {
    text.split(',').filter(|entry| !entry.is_empty()).collect()
}
