//! Linked accounts and orders on the wire: names as in the contract's section 5.

use schemars::JsonSchema;
use serde::Serialize;

use super::store::{AccountSummary, RecentOrder};
use crate::base::clock::Zone;
use crate::base::ids::{MlUserId, OrderId};
use crate::base::money::Cents;
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::sync::wire::AreaJson;

/// A linked account (contract §5).
#[derive(Serialize, JsonSchema)]
pub struct LinkedAccount {
    ml_user_id: MlUserId,
    nickname: String,
    token_ok: bool,
    anuncios: i64,
    reputacao: String,
    vendas_hoje: i64,
    gmv_30d: Cents,
    vendas_30d: i64,
    reclamacoes: i64,
    perguntas: i64,
    sincronizado_em: Option<String>,
    erro: Option<String>,
}

impl LinkedAccount {
    /// The wire form of an account.
    pub fn of(account: AccountSummary, zone: Zone) -> Self {
        let linked = account.linked;
        Self {
            ml_user_id: linked.ml_user_id,
            nickname: linked.nickname,
            token_ok: linked.token_ok,
            anuncios: linked.listings,
            reputacao: linked.reputation,
            vendas_hoje: account.sales_today,
            gmv_30d: account.gmv_30d,
            vendas_30d: account.sales_30d,
            reclamacoes: linked.open_claims,
            perguntas: linked.open_questions,
            sincronizado_em: linked.synced_at.map(|at| zone.spaced(at)),
            erro: linked.error,
        }
    }
}

/// A linked account as its owner's pages show it.
#[derive(Serialize)]
pub struct AccountJson {
    #[serde(flatten)]
    account: LinkedAccount,
    vinculada_em: String,
    historico_desde: Option<String>,
    /// How far each area is read, on the page that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    sincronizacao: Option<Vec<AreaJson>>,
}

impl AccountJson {
    /// The wire form of an account.
    pub fn of(account: AccountSummary, zone: Zone) -> Self {
        Self {
            sincronizacao: None,
            vinculada_em: zone.spaced(account.linked.linked_at),
            historico_desde: account.linked.history_from.map(|at| zone.spaced(at)),
            account: LinkedAccount::of(account, zone),
        }
    }

    /// The same with its areas, of those of all accounts.
    pub fn with_areas(self, areas: &[(MlUserId, AreaState)], zone: Zone) -> Self {
        let LinkedAccount { ml_user_id, token_ok, .. } = self.account;
        let own = areas.iter().filter(|(account, _)| *account == ml_user_id);
        let own = own.filter_map(|(_, state)| AreaJson::of(state.clone(), token_ok, zone));
        Self { sincronizacao: Some(own.collect()), ..self }
    }
}

/// An order of a list.
#[derive(Serialize)]
pub struct SaleJson {
    order_id: OrderId,
    titulo: String,
    quantidade: i64,
    valor: Cents,
    criada_em: String,
    loja: String,
    status: String,
}

impl SaleJson {
    /// The wire form of an order.
    pub fn of(sale: RecentOrder, zone: Zone) -> Self {
        Self {
            order_id: sale.order_id,
            titulo: sale.title,
            quantidade: sale.quantity,
            valor: sale.total,
            criada_em: zone.spaced(sale.created_at),
            loja: sale.store,
            status: sale.status,
        }
    }
}
