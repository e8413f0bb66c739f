//! What an operator enters about a key, and its form.

use super::views::{KeyForm, scope_help};
use super::{
    ApiKey, KeyEntry, LONGEST_OVERLAP_H, MOST_CALLS, MOST_NETWORKS, Scope, end_of, network,
};
use crate::accounts::page_layout::layout;
use crate::app::Visit;
use crate::base::Day;
use crate::panel::{Form, FormView, PageTime, Sent, Tick, form};
use crate::services::Services;

pub const FORM: Form<KeyEntry> = form! {
    "nome": Line(1..=80, |entry| &mut entry.name), "Dê um nome de 1 a 80 letras.";
    // Each box has its own value.
    "escopos": Own(read_scopes, |_, _| String::new()), "Marque pelo menos uma permissão.";
    "ips": Own(read_networks, |entry, _| entry.networks.texts().join("\n")),
        "Informe um endereço ou bloco por linha, como 203.0.113.7 ou 10.0.0.0/8. Para aceitar qualquer endereço, deixe em branco.";
    "limite": Own(read_limit, |entry, _| {
        entry.rate_limit.map(|limit| limit.to_string()).unwrap_or_default()
    }), "Informe um número de 1 a 100.000.";
    "expira_em": Own(read_end, |entry, zone| entry.last_day(zone).map(Day::iso).unwrap_or_default()),
        "Informe um dia a partir de hoje.";
};

/// How many hours an exchanged key still works.
#[derive(Clone, Copy, Debug)]
pub struct Overlap(pub i64);

impl Default for Overlap {
    fn default() -> Self {
        Self(24)
    }
}

pub const EXCHANGE: Form<Overlap> = form! {
    "horas": Number(0..=LONGEST_OVERLAP_H, |overlap| &mut overlap.0), "Informe de 0 a 168 horas.";
};

fn read_scopes(sent: &mut Sent<'_>, name: &'static str, entry: &mut KeyEntry) {
    let given: Vec<String> = sent.optional(name).unwrap_or_default();
    let scopes = &mut entry.scopes.0;
    scopes.clear();
    for word in &given {
        match Scope::from_name(word) {
            Some(scope) if scopes.contains(&scope) => {}
            Some(scope) => scopes.push(scope),
            None => sent.check.fail(name, "must be write, webhook_receive or admin"),
        }
    }
    if scopes.is_empty() {
        sent.check.fail(name, "must name at least one scope");
    }
}

/// A list, or one text with one address per line.
fn read_networks(sent: &mut Sent<'_>, name: &'static str, entry: &mut KeyEntry) {
    let given: Vec<String> = sent.optional(name).unwrap_or_default();
    let networks = &mut entry.networks.0;
    networks.clear();
    let words = given.iter().flat_map(|text| text.split([',', ';', ' ', '\t', '\r', '\n']));
    for word in words.filter(|word| !word.is_empty()) {
        match network(word) {
            Ok(net) if networks.contains(&net) => {}
            Ok(net) => networks.push(net),
            Err(problem) => sent.check.fail(name, problem),
        }
    }
    if networks.len() > MOST_NETWORKS {
        sent.check.fail(name, format!("must be at most {MOST_NETWORKS} addresses or blocks"));
    }
}

/// A program that changes a key removes its limit with 0.
fn read_limit(sent: &mut Sent<'_>, name: &'static str, entry: &mut KeyEntry) {
    let least = i64::from(!sent.is_partial);
    let field = sent.take(name);
    let limit = sent.check.number(name, field, least..=i64::from(MOST_CALLS));
    entry.rate_limit = limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0);
}

/// A program removes the end with an empty text.
fn read_end(sent: &mut Sent<'_>, name: &'static str, entry: &mut KeyEntry) {
    let text: Option<String> = sent.optional(name);
    let text = text.filter(|text| !text.is_empty());
    let day = text.as_deref().map(Day::parse);
    if day == Some(None) {
        sent.check.fail(name, "must be a day as YYYY-MM-DD");
    }
    entry.expires_at = day.flatten().map(|day| end_of(day, sent.zone));
}

/// Reads the data of a key.
pub fn read(sent: &mut Sent<'_>, present: Option<&KeyEntry>) -> KeyEntry {
    let entry = FORM.read(sent, present);
    // The last day must be in the future, or unchanged.
    let is_old = present.is_some_and(|present| present.expires_at == entry.expires_at);
    if entry.expires_at.is_some_and(|end| end <= sent.request.now) && !is_old {
        sent.check.fail("expira_em", "must not be over");
    }
    entry
}

/// The page of a key or of a new one.
pub fn page(
    (app, person, request): Visit<'_>,
    existing: Option<ApiKey>,
    form: FormView,
    ticks: Vec<Tick>,
    exchange: FormView,
) -> KeyForm {
    KeyForm {
        layout: layout(app, person, request),
        existing,
        form,
        ticks,
        limit_help: format!("Em branco, {}.", usual_limit(app)),
        exchange,
        time: PageTime::of(app, request),
    }
}

/// The boxes of `escopos`.
pub fn scope_ticks(ticked: impl Fn(Scope) -> bool) -> Vec<Tick> {
    let tick = |scope: Scope| {
        Tick::new(scope.name(), scope.words(), ticked(scope)).help(scope_help(scope))
    };
    Scope::ALL.map(tick).into()
}

/// `60 a cada 60 segundos`: the limit of keys without one of their own.
pub fn usual_limit(services: &Services) -> String {
    let limits = &services.config.limits;
    let calls = crate::base::text::grouped(ApiKey::usual_limit(limits));
    format!("{calls} a cada {} segundos", limits.window_s)
}
