//! What an operator enters of a key, and the form it is entered in.

use ipnet::IpNet;
use serde::Deserialize;

use super::views::{
    ExistingKey, KeyForm, LastUseWords, badge, fault_words, scope_help, scope_title,
};
use super::{
    ApiKey, KeyEntry, MOST_CALLS, MOST_NETWORKS, Scope, State, end_of, network, network_text,
};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::clock::{Day, Instant, Zone};
use crate::edge::guard::Person;
use crate::http::input::{self, Check, Field};
use crate::http::problem::Fields;
use crate::http::{Problem, Request};
use crate::panel::view::{self, Notice, Tick, When};

#[derive(Deserialize)]
struct KeyBody {
    #[serde(default)]
    nome: Field<String>,
    #[serde(default)]
    escopos: Field<Vec<String>>,
    #[serde(default)]
    ips: Field<Vec<String>>,
    #[serde(default)]
    limite: Field<i64>,
    #[serde(default)]
    expira_em: Field<String>,
}

/// What was sent of a key. A program may leave out what it does not change,
/// and takes a limit away with 0 and an end with an empty text; a browser's
/// form always says everything.
pub fn read(app: &App, request: &Request, present: Option<&ApiKey>) -> Result<KeyEntry, Problem> {
    let body: KeyBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    // What is absent stays as it is, unless a form left it empty.
    let kept = present.filter(|_| !input::is_form(request.headers()));
    let name = match kept {
        Some(key) if body.nome.is_absent() => key.name.clone(),
        _ => check.line("nome", body.nome, 1..=80),
    };
    let scopes = match kept {
        Some(key) if body.escopos.is_absent() => key.scopes.clone(),
        _ => scopes_of(&mut check, body.escopos),
    };
    let networks = match kept {
        Some(key) if body.ips.is_absent() => key.networks.clone(),
        _ => networks_of(&mut check, body.ips),
    };
    let rate_limit = match kept {
        Some(key) if body.limite.is_absent() => key.rate_limit,
        _ => {
            let least = i64::from(kept.is_none());
            let limit = check.number("limite", body.limite, least..=i64::from(MOST_CALLS));
            limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0)
        }
    };
    let expires_at = match kept {
        Some(key) if body.expira_em.is_absent() => key.expires_at,
        _ => end_read(&mut check, body.expira_em, app, request.now, present),
    };
    check.finish()?;
    Ok(KeyEntry { name, scopes, networks, rate_limit, expires_at })
}

fn scopes_of(check: &mut Check, field: Field<Vec<String>>) -> Vec<Scope> {
    let given = check.optional("escopos", field).unwrap_or_default();
    let mut scopes = Vec::new();
    for name in &given {
        match Scope::from_name(name) {
            Some(scope) if scopes.contains(&scope) => {}
            Some(scope) => scopes.push(scope),
            None => check.fail("escopos", "must be write, webhook_receive or admin"),
        }
    }
    if scopes.is_empty() {
        check.fail("escopos", "must name at least one scope");
    }
    scopes
}

/// A list, or one text with an address a line.
fn networks_of(check: &mut Check, field: Field<Vec<String>>) -> Vec<IpNet> {
    let given = check.optional("ips", field).unwrap_or_default();
    let mut networks = Vec::new();
    let words = given.iter().flat_map(|text| text.split([',', ';', ' ', '\t', '\r', '\n']));
    for word in words.filter(|word| !word.is_empty()) {
        match network(word) {
            Ok(net) if networks.contains(&net) => {}
            Ok(net) => networks.push(net),
            Err(problem) => check.fail("ips", problem),
        }
    }
    if networks.len() > MOST_NETWORKS {
        check.fail("ips", format!("must be at most {MOST_NETWORKS} addresses or blocks"));
    }
    networks
}

/// The end of a key's last day, which is to come or stays as it was.
fn end_read(
    check: &mut Check,
    field: Field<String>,
    app: &App,
    now: Instant,
    present: Option<&ApiKey>,
) -> Option<Instant> {
    let text = check.optional("expira_em", field)?;
    if text.is_empty() {
        return None;
    }
    let Some(day) = Day::parse(&text) else {
        check.fail("expira_em", "must be a day as YYYY-MM-DD");
        return None;
    };
    let end = end_of(day, app.zone());
    let is_old = present.is_some_and(|key| key.expires_at == Some(end));
    if end <= now && !is_old {
        check.fail("expira_em", "must not be over");
    }
    Some(end)
}

/// What stands in the form, as people type it.
pub struct Typed {
    name: String,
    scopes: Vec<String>,
    networks: String,
    limit: String,
    until: String,
    hours: String,
}

impl Typed {
    pub fn fresh() -> Self {
        Self {
            name: String::new(),
            scopes: Vec::new(),
            networks: String::new(),
            limit: String::new(),
            until: String::new(),
            hours: "24".to_owned(),
        }
    }

    pub fn of(key: &ApiKey, zone: Zone) -> Self {
        let networks: Vec<String> = key.networks.iter().map(network_text).collect();
        Self {
            name: key.name.clone(),
            scopes: key.scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            networks: networks.join("\n"),
            limit: key.rate_limit.map(|limit| limit.to_string()).unwrap_or_default(),
            until: key.last_day(zone).map(Day::iso).unwrap_or_default(),
            ..Self::fresh()
        }
    }

    /// What a browser sent, whether or not it is right.
    pub fn sent(request: &Request) -> Self {
        let sent: Vec<(String, String)> =
            form_urlencoded::parse(&request.body).into_owned().collect();
        let all = |name: &'static str| {
            let found = sent.iter().filter(move |(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let text = |name| all(name).next().unwrap_or_default();
        Self {
            name: text("nome"),
            scopes: all("escopos").collect(),
            networks: text("ips"),
            limit: text("limite"),
            until: text("expira_em"),
            ..Self::fresh()
        }
    }

    /// The same with the hours of an exchange as they were sent.
    pub fn with_hours(self, request: &Request) -> Self {
        let hours = form_urlencoded::parse(&request.body).find(|(name, _)| name == "horas");
        Self { hours: hours.map(|(_, hours)| hours.into_owned()).unwrap_or_default(), ..self }
    }

    /// The form of a key, or of a new one.
    pub fn form(
        self,
        app: &App,
        person: &Person,
        request: &Request,
        key: Option<&ApiKey>,
    ) -> KeyForm {
        let ticks = Scope::ALL.map(|scope| {
            let on = self.scopes.iter().any(|name| name == scope.name());
            Tick::new(scope.name(), scope_title(scope), on).help(scope_help(scope))
        });
        let mut form = KeyForm {
            layout: layout(app, person, request),
            existing: key.map(|key| existing(key, app.zone(), request.now)),
            alert: None,
            name: view::Field::of(self.name),
            scopes: view::Field::default(),
            ticks: ticks.into(),
            networks: view::Field::of(self.networks),
            limit: view::Field::of(self.limit),
            until: view::Field::of(self.until),
            limit_help: format!("Em branco, {}.", usual_limit(app)),
            hours: view::Field::of(self.hours),
        };
        // Empty is right for most of the others.
        form.name.focus = key.is_none();
        form
    }
}

impl KeyForm {
    /// The same form with what is wrong in it.
    pub fn faulty(mut self, faults: &Fields) -> Self {
        let fields = [
            ("nome", &mut self.name),
            ("escopos", &mut self.scopes),
            ("ips", &mut self.networks),
            ("limite", &mut self.limit),
            ("expira_em", &mut self.until),
            ("horas", &mut self.hours),
        ];
        let mut count = 0;
        for (name, field) in fields {
            field.focus = false;
            if faults.iter().any(|(known, _)| known == name) {
                field.error = Some(fault_words(name).to_owned());
                field.focus = count == 0;
                count += 1;
            }
        }
        self.alert = Notice::faults(count);
        self
    }
}

/// `60 a cada 60 segundos`: the limit of keys without one of their own.
pub fn usual_limit(app: &App) -> String {
    let limits = &app.config.limits;
    let calls = crate::base::text::grouped(limits.requests.into());
    format!("{calls} a cada {} segundos", limits.window_s)
}

fn existing(key: &ApiKey, zone: Zone, now: Instant) -> ExistingKey {
    let state = key.state(now);
    let end = key.end().map(|end| zone.page(end)).unwrap_or_default();
    let note = match state {
        State::Active => String::new(),
        State::Leaving => format!("Foi trocada por outra e ainda funciona até {end}."),
        State::Expired => format!("Deixou de funcionar em {end}."),
        State::Revoked => {
            let at = key.revoked_at.map(|at| zone.page(at)).unwrap_or_default();
            format!("Deixou de funcionar em {at}.")
        }
    };
    ExistingKey {
        id: key.id.to_string(),
        name: key.name.clone(),
        prefix: key.prefix.clone(),
        state: badge(state),
        note,
        created: When::new(zone, key.created_at, now),
        last_use: last_use(key, zone, now),
        successor: key.replaced_by.map(|id| id.to_string()),
        revoked: state == State::Revoked,
        exchangeable: state == State::Active,
    }
}

/// The last call with a key, in words.
pub fn last_use(key: &ApiKey, zone: Zone, now: Instant) -> Option<LastUseWords> {
    key.last_use.as_ref().map(|last| LastUseWords {
        when: When::new(zone, last.at, now),
        address: last.address.clone(),
        route: last.route.clone(),
    })
}
