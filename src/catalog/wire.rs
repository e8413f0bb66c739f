//! JSON of products and movements in the panels.

use serde::Serialize;

use super::Product;
use super::stock::Movement;
use crate::base::{Cents, OrderId, Zone};
use crate::wire;

wire! {
    /// A product as its owner's programs read it.
    #[derive(Serialize)]
    pub struct ProductDetails of(product: Product, zone: Zone) {
        id: String = product.id.to_string(),
        sku: String = product.entry.sku,
        ean: String = product.entry.ean,
        titulo: String = product.entry.title,
        custo: Cents = product.entry.cost,
        preco: Cents = product.entry.price,
        estoque: i64 = product.stock,
        criado_em: String = zone.spaced(product.created_at),
        atualizado_em: String = zone.spaced(product.updated_at),
        estoque_baixo: Option<i64> = product.entry.low_stock,
    }
}

wire! {
    /// A movement as its owner's programs read it.
    #[derive(Serialize)]
    pub struct MovementDetails of(movement: Movement, zone: Zone) {
        id: String = movement.id.to_string(),
        tipo: &'static str = movement.kind.name(),
        quantidade: i64 = movement.change.abs(),
        mudanca: i64 = movement.change,
        saldo: i64 = movement.balance,
        motivo: String = movement.reason,
        pedido_id: Option<OrderId> = movement.order_id,
        criado_em: String = zone.spaced(movement.created_at),
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
