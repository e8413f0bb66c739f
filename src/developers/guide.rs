//! Data of the guide: limits, codes and code samples. The text of the guide is in
//! `guide_pt.html` and `guide_en.html`.

use super::error_codes::CODES;
use super::how_to;
use super::language::{Language, Text};
use super::openapi::{PARTNER, PARTNER_DEV};
use super::views::Guide;
use crate::app::App;
use crate::base::{Zone, grouped};
use crate::config;
use crate::http::Family;
use crate::partner::{PlanName, texts};

/// A plan with its limits.
pub struct PlanRow {
    pub name: &'static str,
    pub monthly: String,
    pub per_minute: String,
}

/// An error code with its explanation.
pub struct CodeRow {
    pub status: u16,
    pub code: &'static str,
    pub what: Text,
    pub then: Text,
}

/// A code sample to copy.
pub struct Sample {
    pub id: &'static str,
    pub title: &'static str,
    pub code: String,
}

impl Sample {
    /// The sample in a file of `assets/api/samples`, for the address of an installation.
    pub fn of(file: &'static str, title: &'static str, address: &str) -> Self {
        let id = file.split('.').next().unwrap_or_default();
        Self { id, title, code: code(file).replace("{address}", address) }
    }
}

/// The text of a file in `assets/api/samples`.
pub fn code(file: &str) -> String {
    let mut code = texts::text(&format!("samples/{file}"));
    code.truncate(code.trim_end().len());
    code
}

/// The guide's data for this installation.
pub fn guide(app: &App, language: Language) -> Guide {
    let addresses = &app.server.addresses;
    let (base, dev_base) = (&addresses.base_url, &addresses.dev_base_url);
    let time_zone = app.zone().name();
    let plans = &app.config.partner.plans;
    Guide { time_zone, ..of(base, dev_base, plans, app.config.limits.partner_post, language) }
}

/// The guide's data for the given addresses and limits.
pub fn of(
    base: &str,
    dev_base: &str,
    plans: &config::Plans,
    posts: u32,
    language: Language,
) -> Guide {
    let base_url = format!("{base}{PARTNER}");
    let number = |number: u64| match language {
        Language::Portuguese => grouped(number),
        Language::English => grouped(number).replace('.', ","),
    };
    let plans = PlanName::ALL.map(|name| {
        let limits = name.limits(plans);
        PlanRow {
            name: name.words(),
            monthly: number(limits.quota),
            per_minute: number(limits.per_minute.into()),
        }
    });
    let how_to = how_to::ALL.iter().map(|one| {
        let texts = one.texts();
        (one.path, language.say(&texts.title), language.say(&texts.about))
    });
    Guide {
        how_to: how_to.collect(),
        time_zone: Zone::SAO_PAULO.name(),
        plans: plans.into(),
        posts,
        error: code("error.json"),
        first_calls: vec![
            Sample::of("curl.sh", "curl", &base_url),
            Sample::of("python.py", "Python", &base_url),
            Sample::of("javascript.js", "JavaScript", &base_url),
        ],
        clients: vec![
            Sample::of("cliente-python.py", "Python, seller_platform.py", &base_url),
            Sample::of("cliente-typescript.ts", "TypeScript, seller-platform.ts", &base_url),
        ],
        polling: Sample::of("acompanhar-python.py", "Python, ETag", &base_url),
        repeatable: Sample::of("repetir-curl.sh", "curl, Idempotency-Key", &base_url),
        paging: Sample::of("listas-javascript.js", "JavaScript, cursor", &base_url),
        codes: codes(language),
        dev_base_url: format!("{dev_base}{PARTNER_DEV}"),
        base_url,
    }
}

/// Every error code, ordered by status.
pub fn codes(language: Language) -> Vec<CodeRow> {
    let rows = CODES.iter().filter_map(|one| {
        let family = Family::Partner;
        let code = family.codes().find(|code| code.name(family) == one.code)?;
        Some(CodeRow {
            status: code.status(family).as_u16(),
            code: &one.code,
            what: Text::translated(language.say(&one.what)),
            then: Text::translated(language.say(&one.then)),
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::developers::agents::agents;
    use crate::developers::sandbox_guide::Sandbox;
    use crate::developers::webhook_guide::Webhooks;

    #[test]
    fn every_code_sample_is_on_a_page() {
        let (base, language) = ("https://escola.example", Language::English);
        let plans = &crate::fixture::config(&[]).partner.plans;
        let guide = of(base, base, plans, 20, language);
        let (agents, webhooks) = (agents(base, language), Webhooks::of(language));
        let mut shown = vec![guide.polling, guide.repeatable, guide.paging, webhooks.receiver];
        shown.extend(guide.first_calls.into_iter().chain(guide.clients));
        shown.extend(how_to::ALL.iter().flat_map(|one| one.samples(base)));
        shown.push(agents.whole);
        shown.extend(agents.clients.into_iter().chain(agents.with_token));
        shown.extend(webhooks.verification);
        let sandbox = Sandbox::of(base);
        shown.extend([sandbox.calls, sandbox.trigger, sandbox.listen]);
        let shown = shown.iter().map(|sample| sample.id).chain(["error", "message"]);
        let mut shown: Vec<String> = shown.map(str::to_owned).collect();
        shown.sort_unstable();
        let files = texts::files();
        let files = files.filter_map(|file| Some(file.strip_prefix("samples/")?.to_owned()));
        let mut there: Vec<String> =
            files.filter_map(|file| Some(file.split_once('.')?.0.to_owned())).collect();
        there.sort_unstable();
        assert_eq!(shown, there);
    }
}
