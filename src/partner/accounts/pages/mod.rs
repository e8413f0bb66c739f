//! `/admin/parceiros`: the list of accounts, as page, JSON and CSV.

pub(in crate::partner) mod changes;
pub(in crate::partner) mod one;
pub(in crate::partner) mod relations;

use serde::Serialize;

use super::store::{self, AccountQuery};
use super::views::{AccountRow, AccountsPage};
use super::{Listed, PATH, PlanState, QuotaThresholds};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Day, UserId, Zone};
use crate::config::Plans;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{ListReply, Listing, columns, export, filters, heads};
use crate::partner::PlanName;
use crate::wire;

pub(super) const LIST: Listing = Listing {
    path: PATH,
    hint: "Nome ou e-mail",
    filters: filters! {
        "situacao": "Situação", "Todas",
            &[("ativo", "Ativo"), ("vencido", "Vencido"), ("sem_plano", "Sem plano")];
        "uso": "Uso", "Qualquer", &[("perto_do_limite", "Perto do limite")];
        "plano": "Plano", "Todos", &PlanName::FILTER;
    },
    sort_keys: &["-uso", "nome", "fim"],
    heads: heads![
        "Conta" => "nome", "Plano" => "fim", "Uso no mês" => "uso", "Tokens" numeric, "Último uso",
    ],
    file: "parceiros.csv",
    csv: columns![
        id nome email papel plano situacao valido_ate chamadas chamadas_por_mes tokens ultimo_uso
    ],
    ..Listing::NONE
};

wire! {
    /// An account in the panel's JSON and its file.
    #[derive(Serialize)]
    struct WireAccount of(row: Listed, plans: &Plans, zone: Zone, today: Day) after {
        let plan = row.plan();
        let used = row.used(today.month_start());
    } {
        id: UserId = row.id,
        nome: String = row.name,
        email: String = row.email,
        papel: &'static str = row.role.name(),
        /// `starter`, `pro` or `scale`; null without one.
        plano: Option<&'static str> = row.plan.map(PlanName::name),
        /// `ativo`, `vencido` or `sem_plano`.
        situacao: &'static str = PlanState::of(plan, today).name(),
        /// Last day, `YYYY-MM-DD`; null without an end.
        valido_ate: Option<String> = row.until.map(Day::iso),
        /// Calls of this month.
        chamadas: u64 = used,
        chamadas_por_mes: Option<u64> = row.plan.map(|plan| plan.limits(plans).quota),
        /// How many work.
        tokens: i64 = row.tokens,
        ultimo_uso: Option<String> = row.last_used_at.map(|at| zone.spaced(at)),
    }
}

/// Whether a request may read many rows: searches, exports and further pages do.
pub fn needs_slow_lane(request: &Request) -> bool {
    !request.query_text().is_empty()
}

/// `GET /admin/parceiros`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let today = app.day(request.now);
    let plans = &app.config.partner.plans;
    let wanted = AccountQuery {
        search: &query.search,
        plan: query.filter("plano"),
        state: query.filter("situacao").and_then(PlanState::from_name),
        thresholds: query.filter("uso").is_some(),
        order: query.sort_key,
        descending: query.descending,
        window: query.window(),
    };
    let thresholds = QuotaThresholds::of(plans, today);
    let (accounts, total) =
        app.db.read(request.lane, |tx| store::page(tx, &wanted, &thresholds))?;
    let zone = app.zone();
    if query.csv {
        let plans = plans.clone();
        return export::list(app, person, &LIST, accounts, move |_, _, account| {
            Ok(Some(WireAccount::of(account, &plans, zone, today)))
        });
    }
    if request.wants_json() {
        let shown = |account| WireAccount::of(account, plans, zone, today);
        return ListReply::of(total, accounts, shown);
    }
    Reply::page(&AccountsPage {
        layout: layout(app, person, request),
        table: LIST.table(&query, LIST.heads, total),
        accounts: accounts
            .into_iter()
            .map(|account| AccountRow::of(account, plans, zone, request.now))
            .collect(),
    })
}
