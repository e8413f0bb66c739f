//! Tests of the channels from the diagnostics page: each really asks its service, as
//! `check` does, and changes nothing outside.

use std::time::{Duration, Instant as Monotonic};

use parking_lot::Mutex;
use serde_json::json;

use super::findings::{Finding, ServiceState, Verdict};
use super::outside::{self, Service};
use crate::app::App;
use crate::audit::objects::CHANNEL;
use crate::audit::{self, Actor};
use crate::base::Instant;
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::journal::{self, Ending};
use crate::panel::{Answer, Badge, form};

/// The page with the buttons.
pub const PAGE: &str = "/admin/diagnostico";
/// The operator's home, whose checklist has a button too.
const HOME: &str = "/admin";
/// Shortest time between two tests of a channel.
const PAUSE: Duration = Duration::from_secs(10);

/// Tests of all channels, in the order of [`Service::ALL`].
#[derive(Default)]
pub struct ChannelTests(Mutex<[Slot; Service::ALL.len()]>);

#[derive(Default)]
struct Slot {
    /// When the last began.
    began: Option<Monotonic>,
    is_running: bool,
    last: Option<Tested>,
}

/// What came of a test.
#[derive(Clone, Debug)]
pub struct Tested {
    pub at: Instant,
    pub state: Badge,
    /// What it means, for people.
    pub words: String,
    /// What was found, as `check` says it.
    pub detail: String,
}

impl ChannelTests {
    /// The last test of a channel.
    pub fn last(&self, service: Service) -> Option<Tested> {
        self.0.lock()[place(service)].last.clone()
    }

    /// Begins a test; `None` while one runs, and soon after one.
    fn begin(&self, service: Service) -> Option<Running<'_>> {
        let slot = &mut self.0.lock()[place(service)];
        let is_soon = slot.began.is_some_and(|began| began.elapsed() < PAUSE);
        if slot.is_running || is_soon {
            return None;
        }
        (slot.began, slot.is_running) = (Some(Monotonic::now()), true);
        Some(Running(self, service))
    }
}

/// A test that is under way; over when it is dropped, also by a panic.
struct Running<'t>(&'t ChannelTests, Service);

impl Running<'_> {
    fn end(self, tested: Tested) {
        self.0.0.lock()[place(self.1)].last = Some(tested);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.0.lock()[place(self.1)].is_running = false;
    }
}

fn place(service: Service) -> usize {
    Service::ALL.iter().position(|known| *known == service).unwrap_or_default()
}

/// `POST /admin/diagnostico/canais/{canal}/testar`: tries a channel out.
pub fn test(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let service = Service::from_name(request.variable("canal")).ok_or_else(Problem::not_found)?;
    let answer = Answer::to(request);
    let page = if form::all_sent(request, "volta").any(|to| to == "inicio") { HOME } else { PAGE };
    let Some(running) = app.messages.channel_tests.begin(service) else {
        let problem = Problem {
            retry_after_s: i64::try_from(PAUSE.as_secs()).ok(),
            ..Problem::new(Code::RateLimited, "this channel was tested a moment ago")
        };
        return answer.refused(problem, page, "espere");
    };
    let (at, began) = (app.clock.now(), Monotonic::now());
    let found = outside::one(service, &app.config, &app.clock, &app.server.addresses.base_url);
    let tested = judged(service, &found, app.clock.now());
    journal::note_call(at, began.elapsed(), service.name(), "teste", || Ending {
        status: None,
        error: if tested.state == Badge::Broken { tested.detail.clone() } else { String::new() },
    });
    let (state, words, detail) = (tested.state, tested.words.clone(), tested.detail.clone());
    let actor = Actor::person(person, request);
    let result = json!({ "resultado": state.word() });
    app.db.write(move |tx| {
        let act = CHANNEL.act("canal.testar", service.name(), service.words());
        audit::note(tx, &actor, &act, (), &result)
    })?;
    running.end(tested);
    let word = if state == Badge::Healthy { "respondeu" } else { "falhou" };
    let members = [
        ("canal", service.name().into()),
        ("situacao", state.word().into()),
        ("mensagem", words.into()),
        ("detalhe", detail.into()),
    ];
    answer.with(page, word, &members)
}

/// What the findings about a service mean.
fn judged(service: Service, found: &[Finding], at: Instant) -> Tested {
    let worst = found.iter().max_by_key(|one| match (one.verdict, one.state) {
        (Verdict::Bad, _) => 3,
        (_, Some(_)) => 2,
        (Verdict::Note, None) => 1,
        (Verdict::Good, None) => 0,
    });
    let settings = settings_of(service);
    let (state, words) = match worst.map(|one| (one.verdict, one.state)) {
        Some((Verdict::Bad, Some(ServiceState::Refused))) => (
            Badge::Broken,
            format!("Respondeu, mas não nos aceita como estamos configurados. Confira {settings}."),
        ),
        Some((Verdict::Bad, Some(_))) => {
            (Badge::Broken, format!("Não respondeu como devia. Confira a rede e {settings}."))
        }
        Some((Verdict::Bad, None)) => {
            (Badge::Broken, format!("A configuração não está completa. Confira {settings}."))
        }
        Some((_, Some(_))) if service == Service::Checkout => (
            Badge::Healthy,
            "O endereço público chega até aqui e recusa quem não traz o token.".to_owned(),
        ),
        Some((_, Some(_))) => {
            (Badge::Healthy, "Respondeu e nos aceita. Nada foi enviado.".to_owned())
        }
        _ => (Badge::Off, format!("Não está configurado. Para ligar, preencha {settings}.")),
    };
    let details = found.iter().map(|one| format!("{}: {}", one.what, one.text));
    Tested { at, state, words, detail: details.collect::<Vec<_>>().join("\n") }
}

/// The settings that decide whether a service works.
pub const fn settings_of(service: Service) -> &'static str {
    match service {
        Service::Email => "email.smtp_url",
        Service::Chat => "chat.gateway, chat.base_url, chat.api_key e chat.instance",
        Service::Telegram => "telegram.bot_token",
        Service::Push => "push.subject",
        Service::Marketplace => "marketplace.client_id e marketplace.client_secret",
        Service::Checkout => "server.base_url",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::findings::finding;

    #[test]
    fn one_test_of_a_channel_at_a_time_and_a_pause_after_it() {
        let tests = ChannelTests::default();
        let running = tests.begin(Service::Email).unwrap();
        assert!(tests.begin(Service::Email).is_none());
        assert!(tests.begin(Service::Chat).is_some());
        running.end(judged(Service::Email, &[], Instant(1)));
        assert_eq!(tests.last(Service::Email).unwrap().at, Instant(1));
        assert!(tests.begin(Service::Email).is_none(), "too soon");
        tests.0.lock()[place(Service::Email)].began = None;
        assert!(tests.begin(Service::Email).is_some());
    }

    #[test]
    fn the_worst_finding_decides() {
        let with = |state, verdict| Finding { state, ..finding("x", verdict, "y") };
        let reached = || with(Some(ServiceState::Reached), Verdict::Good);
        for (found, state) in [
            (vec![], Badge::Off),
            (vec![with(None, Verdict::Note)], Badge::Off),
            (vec![with(None, Verdict::Bad)], Badge::Broken),
            (vec![reached()], Badge::Healthy),
            (vec![reached(), with(None, Verdict::Note)], Badge::Healthy),
            (vec![reached(), with(Some(ServiceState::Refused), Verdict::Bad)], Badge::Broken),
        ] {
            assert_eq!(judged(Service::Chat, &found, Instant(0)).state, state);
        }
    }
}
