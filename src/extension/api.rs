//! The extension's dashboard.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::Progress;
use super::kept::Kept;
use crate::accounts::wire::WireUser;
use crate::accounts::{Account, Permissions, store as people};
use crate::app::App;
use crate::base::clock::{Day, Instant};
use crate::content::agenda::{self, Ahead};
use crate::db::{self, ReadTx};
use crate::edge::guard::ExtensionUser;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::store::{self as marketplace, AccountSummary};
use crate::marketplace::account::wire::LinkedAccount;
use crate::messages::wire::WireNotification;
use crate::messages::{Notification, store as messages};

/// Unread notifications that the dashboard shows.
const NOTIFICATIONS: u32 = 15;
/// Room for the body of most dashboards.
const USUAL_BYTES: usize = 6 * 1024;

/// The user's whole dashboard (specification, "Extension API").
#[derive(Serialize, JsonSchema)]
pub struct Dashboard {
    ok: bool,
    tem_acesso: bool,
    user: WireUser,
    permissoes: Permissions,
    program: Progress,
    ml: MarketplaceSide,
    /// Meets of the next 48 hours.
    meets: Vec<WireMeet>,
}

#[derive(Serialize, JsonSchema)]
struct MarketplaceSide {
    contas: Vec<LinkedAccount>,
    /// The newest fifteen unread.
    notificacoes: Vec<WireNotification>,
    /// All unread.
    total_notifs: i64,
    vendas_hoje: i64,
    total_reclam: i64,
}

/// A live mentoring session of the next 48 hours that the user may join.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DashboardMeet")]
struct WireMeet {
    titulo: String,
    /// `YYYY-MM-DD HH:MM:SS`.
    data_hora: String,
    /// Empty until it is known.
    link: String,
    minutos_restantes: i64,
}

/// `GET /api/ext/me`: the user's whole dashboard.
pub fn me(app: &App, user: &ExtensionUser, request: &Request) -> Result<Reply, Problem> {
    let (owner, now) = (user.account.user_id, request.now);
    // Read before the data, so that a change in between is seen next time.
    let version = user.version + app.versions.content();
    let today = app.day(now);
    let body = if let Some(body) = app.dashboards.get(owner, version, today, now) {
        body
    } else {
        let (body, until) = read(app, &user.account, today, request)?;
        app.dashboards.keep(owner, version, Kept { day: today, made_at: now, until, body })
    };
    Ok(Reply::of(media::JSON, body))
}

/// The dashboard as it is now, and when time alone changes it within the day.
fn read(
    app: &App,
    user: &Account,
    today: Day,
    request: &Request,
) -> Result<(Bytes, Option<Instant>), Problem> {
    let (now, zone) = (request.now, app.zone());
    let Facts { permissions, accounts, notifications, unread, ahead } =
        app.db.read(request.lane, |tx| facts(tx, user, today, now))?;
    let ml = MarketplaceSide {
        vendas_hoje: accounts.iter().map(|account| account.sales_today).sum(),
        total_reclam: accounts.iter().map(|account| account.linked.open_claims).sum(),
        contas: accounts.into_iter().map(|account| LinkedAccount::of(account, zone)).collect(),
        notificacoes: notifications
            .into_iter()
            .map(|one| WireNotification::of(one, zone))
            .collect(),
        total_notifs: unread,
    };
    let next_minute = now.start_of_minute().plus(60);
    let counts_down = (!ahead.meets.is_empty()).then_some(next_minute);
    let dashboard = Dashboard {
        ok: true,
        tem_acesso: permissions.extensao_browser,
        user: WireUser::of(user),
        permissoes: permissions,
        program: Progress::never(),
        ml,
        meets: ahead
            .meets
            .into_iter()
            .map(|meet| WireMeet {
                titulo: meet.entry.title,
                data_hora: zone.spaced(meet.entry.starts_at),
                link: meet.entry.link,
                minutos_restantes: meet.entry.starts_at.minute() - now.minute(),
            })
            .collect(),
    };
    let mut body = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut body, &dashboard).map_err(Problem::internal)?;
    // Without spare room, which would be kept too.
    let body = Bytes::from(body.into_boxed_slice());
    Ok((body, ahead.until.into_iter().chain(counts_down).min()))
}

/// What the database says of a dashboard.
pub(super) struct Facts {
    permissions: Permissions,
    accounts: Vec<AccountSummary>,
    notifications: Vec<Notification>,
    unread: i64,
    ahead: Ahead,
}

/// Reads a dashboard. `stale.rs` watches each table and column.
pub(super) fn facts(
    tx: &ReadTx<'_>,
    user: &Account,
    today: Day,
    now: Instant,
) -> db::Result<Facts> {
    let owner = user.user_id;
    Ok(Facts {
        permissions: people::permissions(tx, owner, user.role)?,
        accounts: marketplace::accounts_of(tx, owner, today)?,
        notifications: messages::newest_unread(tx, owner, NOTIFICATIONS)?,
        unread: messages::unread_count(tx, owner)?,
        ahead: agenda::ahead(tx, owner, user.role, now)?,
    })
}
