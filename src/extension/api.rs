//! The extension's dashboard.

use schemars::JsonSchema;
use serde::Serialize;

use super::Progress;
use crate::accounts::wire::WireUser;
use crate::accounts::{Permissions, store as accounts};
use crate::app::App;
use crate::content::agenda;
use crate::edge::guard::ExtensionUser;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::store as marketplace;
use crate::marketplace::account::wire::LinkedAccount;
use crate::messages::store as messages;
use crate::messages::wire::WireNotification;

/// Unread notifications that the dashboard shows.
const NOTIFICATIONS: u32 = 15;

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
    let account = &user.account;
    let (owner, today, zone) = (account.user_id, app.day(request.now), app.zone());
    let (permissions, accounts, notifications, unread, meets) =
        app.db.read(request.lane, |tx| {
            Ok::<_, Problem>((
                accounts::permissions(tx, owner, account.role)?,
                marketplace::accounts_of(tx, owner, today)?,
                messages::newest_unread(tx, owner, NOTIFICATIONS)?,
                messages::unread_count(tx, owner)?,
                agenda::ahead(tx, owner, account.role, request.now)?,
            ))
        })?;
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
    Reply::json(&Dashboard {
        ok: true,
        tem_acesso: permissions.extensao_browser,
        user: WireUser::of(account),
        permissoes: permissions,
        program: Progress::never(),
        ml,
        meets: meets
            .into_iter()
            .map(|meet| WireMeet {
                titulo: meet.entry.title,
                data_hora: zone.spaced(meet.entry.starts_at),
                link: meet.entry.link,
                minutos_restantes: meet.entry.starts_at.minute() - request.now.minute(),
            })
            .collect(),
    })
}
