//! The dashboard in JSON, from the cache or from the database.

use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::cache::{Cached, DashboardBase};
use crate::accounts::wire::WireUser;
use crate::accounts::{Account, Permissions, store as people};
use crate::app::App;
use crate::base::{Day, Instant, UserId};
use crate::content::agenda;
use crate::db::{self, ReadTx};
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::identity::ExtensionUser;
use crate::marketplace::account::store::{self as marketplace, AccountSummary};
use crate::marketplace::account::wire::LinkedAccount;
use crate::messages::wire::WireNotification;
use crate::messages::{Notification, store as messages};
use crate::program::rules::LedgerTotals;
use crate::program::wire::Progress;
use crate::program::{ProgramSettings, store as program};
use crate::services::Services;

/// Unread notifications that the dashboard shows.
const NOTIFICATIONS: u32 = 15;
/// First size of the buffer for the body; enough for most dashboards.
const USUAL_BYTES: usize = 6 * 1024;

/// The user's whole dashboard.
#[derive(Serialize, JsonSchema)]
pub struct Dashboard<'m> {
    ok: bool,
    tem_acesso: bool,
    user: WireUser,
    permissoes: Permissions,
    program: Progress,
    ml: MarketplaceSide,
    /// Meets of the next 48 hours.
    meets: Vec<WireMeet<'m>>,
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
struct WireMeet<'m> {
    titulo: &'m str,
    /// `YYYY-MM-DD HH:MM:SS`.
    data_hora: String,
    /// Empty until it is known.
    link: &'m str,
    minutos_restantes: i64,
}

/// `GET /api/ext/me`: the user's whole dashboard.
pub fn me(app: &App, user: &ExtensionUser, request: &Request) -> Result<Reply, Problem> {
    let (owner, now) = (user.account.user_id, request.now);
    // Versions are read before the data, so that the next request notices a
    // change in between.
    let content = app.versions.content();
    let version = user.version + app.versions.books(owner) + content;
    let day = app.day(now);
    if let Some(body) = app.caches.dashboards.whole.get(owner, version, day, now) {
        return Ok(Reply::of(media::JSON, body));
    }
    let known = app.caches.dashboards.bases.get(owner, user.version + content, day, now);
    let (books, base) = app.db.read(request.lane, |tx| {
        let base = if let Some(base) = known {
            base
        } else {
            let value = Arc::new(read_base(tx, &user.account, now)?);
            let kept = Cached { day, made_at: now, until: value.ahead.until, value };
            let bytes = kept.value.bytes();
            app.caches.dashboards.bases.keep(owner, user.version + content, kept, bytes)
        };
        Ok::<_, db::DbError>((books(tx, owner, day)?, base))
    })?;
    let (value, until) = written(app, &user.account, now, books, &base)?;
    let (bytes, kept) = (value.len(), Cached { day, made_at: now, until, value });
    Ok(Reply::of(media::JSON, app.caches.dashboards.whole.keep(owner, version, kept, bytes)))
}

/// The dashboard in JSON, and when it expires within the day without a change.
fn written(
    services: &Services,
    user: &Account,
    now: Instant,
    Books { accounts, notifications, unread, progress }: Books,
    DashboardBase { permissions, ahead }: &DashboardBase,
) -> Result<(Bytes, Option<Instant>), Problem> {
    let zone = services.zone();
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
        permissoes: *permissions,
        program: Progress::of(
            progress.as_ref(),
            services.day(now),
            ProgramSettings::of(&services.config).lap_days,
        ),
        ml,
        meets: ahead
            .meets
            .iter()
            .map(|meet| WireMeet {
                titulo: &meet.entry.title,
                data_hora: zone.spaced(meet.entry.starts_at),
                link: &meet.entry.link,
                minutos_restantes: meet.entry.starts_at.minute() - now.minute(),
            })
            .collect(),
    };
    let mut body = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut body, &dashboard).map_err(Problem::internal)?;
    // Spare capacity is removed, because it would stay in the cache, too.
    let body = Bytes::from(body.into_boxed_slice());
    Ok((body, ahead.until.into_iter().chain(counts_down).min()))
}

/// The owner's accounts, notifications and progress in a dashboard.
pub(super) struct Books {
    accounts: Vec<AccountSummary>,
    notifications: Vec<Notification>,
    unread: i64,
    progress: Option<LedgerTotals>,
}

/// Reads [`Books`]. `invalidation.rs` watches each table and column that is read here
/// and in [`read_base`].
pub(super) fn books(tx: &ReadTx<'_>, owner: UserId, today: Day) -> db::Result<Books> {
    let unread = messages::unread_count(tx, owner)?;
    Ok(Books {
        accounts: marketplace::accounts_of(tx, owner, today)?,
        notifications: messages::newest_unread(tx, owner, unread, NOTIFICATIONS)?,
        unread,
        progress: program::check_ins(tx, owner)?,
    })
}

/// Reads the permissions and meets that a dashboard shows.
pub(super) fn read_base(
    tx: &ReadTx<'_>,
    user: &Account,
    now: Instant,
) -> db::Result<DashboardBase> {
    let (owner, role) = (user.user_id, user.role);
    Ok(DashboardBase {
        permissions: people::permissions(tx, owner, role)?,
        ahead: agenda::ahead(tx, owner, role, now)?,
    })
}
