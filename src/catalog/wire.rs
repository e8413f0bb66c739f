//! Products as their owners' programs read them in the panels.

use serde::Serialize;

use super::Product;
use super::stock::Movement;
use crate::base::clock::Zone;
use crate::base::ids::OrderId;
use crate::base::money::Cents;

/// A product as its owner's programs read it.
#[derive(Serialize)]
pub struct ProductDetails {
    id: String,
    sku: String,
    ean: String,
    titulo: String,
    custo: Cents,
    preco: Cents,
    estoque: i64,
    criado_em: String,
    atualizado_em: String,
}

impl ProductDetails {
    /// It, with times in the zone.
    pub fn of(product: Product, zone: Zone) -> Self {
        Self {
            id: product.id.to_string(),
            sku: product.entry.sku,
            ean: product.entry.ean,
            titulo: product.entry.title,
            custo: product.entry.cost,
            preco: product.entry.price,
            estoque: product.stock,
            criado_em: zone.spaced(product.created_at),
            atualizado_em: zone.spaced(product.updated_at),
        }
    }
}

/// A movement as its owner's programs read it.
#[derive(Serialize)]
pub struct MovementDetails {
    id: String,
    tipo: &'static str,
    quantidade: i64,
    mudanca: i64,
    saldo: i64,
    motivo: String,
    pedido_id: Option<OrderId>,
    criado_em: String,
}

impl MovementDetails {
    /// It, with times in the zone.
    pub fn of(movement: Movement, zone: Zone) -> Self {
        Self {
            id: movement.id.to_string(),
            tipo: movement.kind.name(),
            quantidade: movement.change.abs(),
            mudanca: movement.change,
            saldo: movement.balance,
            motivo: movement.reason,
            pedido_id: movement.order_id,
            criado_em: zone.spaced(movement.created_at),
        }
    }
}

/// A product with some of its movements.
#[derive(Serialize)]
pub struct ProductReply {
    #[serde(flatten)]
    pub product: ProductDetails,
    pub total_movimentos: u64,
    pub movimentos: Vec<MovementDetails>,
}
