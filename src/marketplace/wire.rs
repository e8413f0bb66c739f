//! What the pages show, as JSON: names as in the contract's section 5.

use serde::Serialize;

use super::store::{AccountSummary, RecentOrder};
use crate::clock::Zone;
use crate::ids::{MlUserId, OrderId};
use crate::money::Cents;

/// A linked account.
#[derive(Serialize)]
pub struct AccountJson {
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
    vinculada_em: String,
    sincronizado_em: Option<String>,
    historico_desde: Option<String>,
    erro: Option<String>,
}

impl AccountJson {
    /// The wire form of an account.
    pub fn of(account: AccountSummary, zone: Zone) -> Self {
        Self {
            ml_user_id: account.ml_user_id,
            nickname: account.nickname,
            token_ok: account.token_ok,
            anuncios: account.listings,
            reputacao: account.reputation,
            vendas_hoje: account.sales_today,
            gmv_30d: account.gmv_30d,
            vendas_30d: account.sales_30d,
            reclamacoes: account.open_claims,
            perguntas: account.open_questions,
            vinculada_em: zone.spaced(account.linked_at),
            sincronizado_em: account.synced_at.map(|at| zone.spaced(at)),
            historico_desde: account.history_from.map(|at| zone.spaced(at)),
            erro: account.error,
        }
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
