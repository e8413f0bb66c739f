//! `/admin/parceiros/{id}`: one account with its plan, tokens and calls, as
//! page and as JSON.

use serde::Serialize;

use super::changes::{FLASHES, FORM, PlanEntry};
use crate::accounts::Account;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{Day, Instant, UserId, Zone};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{BarChart, FormView};
use crate::partner::accounts::views::{AccountPage, MonthLink, Use};
use crate::partner::accounts::{PATH, PlanState, store};
use crate::partner::hub::views::{OperationRow, TokenRow, bar_words, rate};
use crate::partner::oauth::store as oauth;
use crate::partner::oauth::views::AppRow;
use crate::partner::oauth::wire::WireApp;
use crate::partner::shown::shown;
use crate::partner::store::{self as partner, OwnToken};
use crate::partner::usage::Calls;
use crate::partner::wire::{OperationJson, PlanJson, WireToken};
use crate::partner::{Plan, PlanName};
use crate::services::Services;
use crate::wire;

/// All data of the page.
pub(in crate::partner::accounts) struct Stored {
    pub account: Account,
    pub plan: Option<(PlanName, Option<Day>)>,
    tokens: Vec<OwnToken>,
    apps: Vec<oauth::App>,
    months: Vec<Day>,
    /// First day of the month that is shown.
    month: Day,
    calls: Calls,
    /// Calls of the present month.
    used: u64,
}

/// The account in the request's path.
pub(in crate::partner::accounts) fn id_of(request: &Request) -> Result<UserId, Problem> {
    request.id().map(UserId)
}

/// The month in the request's query, or else the present month.
fn month_of(request: &Request, today: Day) -> Result<Day, Problem> {
    let Some(text) = request.parameter("mes") else { return Ok(today.month_start()) };
    let first = Day::parse(&format!("{text}-01"));
    first.filter(|first| *first <= today).ok_or_else(|| {
        Problem::invalid(vec![("mes".into(), "must be a month as YYYY-MM, not to come".into())])
    })
}

impl Stored {
    pub(in crate::partner::accounts) fn read(
        (app, _, request): Visit<'_>,
        month: Option<Day>,
    ) -> Result<Self, Problem> {
        let (id, today) = (id_of(request)?, app.day(request.now));
        let present = today.month_start();
        let month = match month {
            Some(month) => month,
            None => month_of(request, today)?,
        };
        let mut stored = app.db.read(request.lane, |tx| {
            let account = store::account(tx, id)?.ok_or_else(Problem::not_found)?;
            let mut months = store::months(tx, id)?;
            if months.first() != Some(&present) {
                months.insert(0, present);
            }
            let calls = partner::calls_by_day(tx, id, month, month.next_month_start())?;
            Ok::<_, Problem>(Self {
                account,
                plan: partner::plan(tx, id)?,
                tokens: partner::tokens(tx, id)?,
                apps: oauth::apps(tx, id)?,
                months,
                month,
                calls: Calls::of(&calls),
                used: 0,
            })
        })?;
        // Takes the present month from memory: the newest calls are not in the
        // database yet.
        let now = app.callers.usage.month(app, id, request.now)?;
        stored.used = now.used;
        if month == present {
            stored.calls = now.calls;
        }
        Ok(stored)
    }

    fn limits(&self, services: &Services) -> Option<Plan> {
        self.plan.map(|plan| partner::plan_of(plan, &services.config, services.zone()))
    }
}

wire! {
    #[derive(Serialize)]
    struct AccountJson of(stored: Stored, plan: Option<Plan>, now: Instant, zone: Zone) {
        id: UserId = stored.account.user_id,
        nome: String = stored.account.name,
        email: String = stored.account.email,
        papel: &'static str = stored.account.role.name(),
        /// Null without a plan.
        plano: Option<PlanJson> = plan.map(|plan| PlanJson::of(plan, now)),
        /// Calls of the present month.
        usadas: u64 = stored.used,
        /// The requested month as `YYYY-MM`, and its calls.
        mes: String = stored.month.iso()[..7].to_owned(),
        chamadas: u64 = stored.calls.days.values().sum(),
        /// Days with calls.
        dias: Vec<DayJson> = stored.calls.days.iter().map(DayJson::of).collect(),
        operacoes: Vec<OperationJson> =
            stored.calls.most_used().into_iter().map(OperationJson::of).collect(),
        tokens: Vec<WireToken> =
            stored.tokens.into_iter().map(|one| WireToken::of(one, zone)).collect(),
        aplicativos: Vec<WireApp> =
            stored.apps.into_iter().map(|one| WireApp::of(one, zone)).collect(),
    }
}

wire! {
    #[derive(Serialize)]
    struct DayJson of(calls: (&Day, &u64)) {
        dia: String = calls.0.iso(),
        chamadas: u64 = *calls.1,
    }
}

/// `GET /admin/parceiros/{id}`: one account, as page or JSON.
pub fn account(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    let stored = Stored::read(visit, None)?;
    if request.wants_json() {
        let plan = stored.limits(app);
        return Reply::ok(&AccountJson::of(stored, plan, request.now, app.zone()));
    }
    let entry = stored.plan.map(PlanEntry::of);
    let mut page = page(visit, stored, FORM.show(entry.as_ref(), app.zone()).unfocused());
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

/// The page of an account with the form of its plan.
pub(in crate::partner::accounts) fn page(
    (app, person, request): Visit<'_>,
    stored: Stored,
    form: FormView,
) -> AccountPage {
    let (zone, now, today) = (app.zone(), request.now, app.day(request.now));
    let limits = stored.limits(app);
    let path = format!("{PATH}/{}", stored.account.user_id);
    let list = if stored.account.role.is_student() { "alunos" } else { "equipe" };
    AccountPage {
        layout: layout(app, person, request),
        person: format!("/admin/{list}/{}", stored.account.user_id),
        plan: stored.plan.map(|plan| shown(&app.config.partner.plans, plan, stored.used, today)),
        state: PlanState::of(stored.plan, today).badge(),
        rate: limits.map(rate).unwrap_or_default(),
        calls: Use::of(stored.used, limits.map(|plan| plan.quota)),
        form,
        months: stored
            .months
            .iter()
            .map(|month| MonthLink::of(&path, *month, stored.month))
            .collect(),
        month: stored.month.date().strftime("%m/%Y").to_string(),
        chart: BarChart::new(
            bar_words("Chamadas por dia"),
            stored.month,
            &stored
                .calls
                .each_day(stored.month, stored.month.next_month_start().min(today.plus(1))),
        ),
        operations: stored.calls.most_used().into_iter().map(OperationRow::of).collect(),
        tokens: stored.tokens.into_iter().map(|one| TokenRow::of(one, zone, now)).collect(),
        apps: stored.apps.into_iter().map(|one| AppRow::of(one, zone, now)).collect(),
        id: stored.account.user_id.to_string(),
        name: stored.account.name,
        email: stored.account.email,
        photo: stored.account.photo,
        role: stored.account.role.words(),
    }
}
