//! Linked accounts and orders on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::store::{AccountSummary, RecentOrder};
use super::words::history_from;
use crate::base::{Cents, Instant, MlUserId, OrderId, Zone};
use crate::marketplace::sync::Area;
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::sync::wire::AreaJson;
use crate::wire;

wire! {
    /// A linked account.
    #[derive(Serialize, JsonSchema)]
    pub struct LinkedAccount of(account: AccountSummary, zone: Zone) after {
        let linked = account.linked;
    } {
        ml_user_id: MlUserId = linked.ml_user_id,
        nickname: String = linked.nickname,
        token_ok: bool = linked.token_ok,
        anuncios: i64 = linked.listings,
        reputacao: String = linked.reputation,
        vendas_hoje: i64 = account.sales_today,
        gmv_30d: Cents = account.gmv_30d,
        vendas_30d: i64 = account.sales_30d,
        reclamacoes: i64 = linked.open_claims,
        perguntas: i64 = linked.open_questions,
        sincronizado_em: Option<String> = linked.synced_at.map(|at| zone.spaced(at)),
        erro: Option<String> = linked.error,
    }
}

/// A linked account as its owner's pages show it.
#[derive(Serialize)]
pub struct AccountJson {
    #[serde(flatten)]
    account: LinkedAccount,
    vinculada_em: String,
    historico_desde: Option<String>,
    /// Since when the agency looks after the account; left out where it is not
    /// shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    agencia_desde: Option<String>,
    /// How far each area is read; left out where it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    sincronizacao: Option<Vec<AreaJson>>,
}

impl AccountJson {
    /// The JSON of an account; `areas` has the areas of all accounts.
    pub fn of(account: AccountSummary, areas: &[AreaState], zone: Zone) -> Self {
        Self {
            sincronizacao: None,
            agencia_desde: None,
            vinculada_em: zone.spaced(account.linked.linked_at),
            historico_desde: history_from(&account, areas).map(|at| zone.spaced(at)),
            account: LinkedAccount::of(account, zone),
        }
    }

    /// Adds since when the agency looks after the account, if it does, and the
    /// account's areas; `areas` and `agency` have those of all accounts.
    pub fn in_full(self, areas: &[AreaState], agency: &[(MlUserId, Instant)], zone: Zone) -> Self {
        let LinkedAccount { ml_user_id, token_ok, .. } = self.account;
        let since = agency.iter().find(|(account, _)| *account == ml_user_id);
        let own = areas
            .iter()
            .filter(|state| state.account == ml_user_id)
            .filter_map(|state| Some(AreaJson::of(Area::of(state.area)?, state, token_ok, zone)));
        Self {
            agencia_desde: since.map(|(_, at)| zone.spaced(*at)),
            sincronizacao: Some(own.collect()),
            ..self
        }
    }
}

wire! {
    #[derive(Serialize)]
    pub struct SaleJson of(sale: RecentOrder, zone: Zone) {
        order_id: OrderId = sale.order_id,
        titulo: String = sale.title,
        quantidade: i64 = sale.quantity,
        valor: Cents = sale.total,
        criada_em: String = zone.spaced(sale.created_at),
        loja: String = sale.store,
        status: String = sale.status,
    }
}
