//! Webhook events for programs of sellers and suppliers: the types of events,
//! and how a domain raises one.
//!
//! [`raise`] writes one small row in the transaction of the cause. So there is
//! no event without its cause and no cause without its event. Milliseconds
//! later `partner/webhooks/` decides which endpoints get the event, builds its
//! body and delivers it.

use crate::base::UserId;
use crate::db::{Result, WriteTx};
use crate::named;

named! {
    /// A type of event. The tens of its number are the kind of its object:
    /// events about one object are delivered in order.
    #[derive(Hash)]
    pub enum EventType: number {
        OrderCreated = 10, "order.created", "Venda criada";
        OrderPaid = 11, "order.paid", "Venda paga";
        OrderCancelled = 12, "order.cancelled", "Venda cancelada";
        OrderShipped = 13, "order.shipped", "Venda enviada";
        OrderUpdated = 14, "order.updated", "Venda atualizada";
        QuestionReceived = 20, "question.received", "Pergunta recebida";
        ClaimOpened = 30, "claim.opened", "Reclamação aberta";
        StockChanged = 40, "stock.changed", "Estoque alterado";
        DropOrderCreated = 50, "drop_order.created", "Pedido ao fornecedor criado";
        DropOrderPaid = 51, "drop_order.paid", "Pedido ao fornecedor pago";
        DropOrderCancelled = 52, "drop_order.cancelled", "Pedido ao fornecedor cancelado";
        /// Sent when a person tests an endpoint; it cannot be subscribed to.
        Test = 60, "endpoint.test", "Teste";
    }
}

/// Whether an event is for programs of sellers or of suppliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Seller,
    Supplier,
}

impl EventType {
    /// Who may subscribe to it, its bit, and when it happens.
    #[rustfmt::skip] // A table: one type a line, columns in the same order.
    const fn row(self) -> (Option<Audience>, i64, &'static str) {
        use Audience::{Seller, Supplier};
        match self {
            Self::OrderCreated => (Some(Seller), 1, "Uma venda nova chegou, paga ou não."),
            Self::OrderPaid => (Some(Seller), 1 << 1, "O pagamento de uma venda foi aprovado."),
            Self::OrderCancelled => (Some(Seller), 1 << 2, "Uma venda foi cancelada."),
            Self::OrderShipped => (Some(Seller), 1 << 3, "O pacote de uma venda saiu."),
            Self::OrderUpdated => (Some(Seller), 1 << 11, "Algo mudou em uma venda: situação, envio, valor ou o que a API mostra dela."),
            Self::QuestionReceived => (Some(Seller), 1 << 4, "Um comprador perguntou num anúncio."),
            Self::ClaimOpened => (Some(Seller), 1 << 5, "Um comprador abriu ou reabriu uma reclamação."),
            Self::StockChanged => (Some(Seller), 1 << 6, "O saldo de um produto mudou, por venda, por arquivo ou à mão."),
            Self::DropOrderCreated => (Some(Supplier), 1 << 7, "Um vendedor vendeu um produto seu."),
            Self::DropOrderPaid => (Some(Supplier), 1 << 8, "Um pedido foi marcado como pago."),
            Self::DropOrderCancelled => (Some(Supplier), 1 << 9, "A venda de um pedido foi cancelada."),
            Self::Test => (None, 1 << 10, "Alguém testou o endereço."),
        }
    }

    /// Who may subscribe to it; nobody subscribes to a test.
    pub const fn audience(self) -> Option<Audience> {
        self.row().0
    }

    /// When it happens, as shown where the types are chosen.
    pub const fn about(self) -> &'static str {
        self.row().2
    }

    /// Its bit in the set of types that an endpoint wants.
    pub const fn bit(self) -> i64 {
        self.row().1
    }

    /// The types that an audience may subscribe to.
    pub fn of(audience: Audience) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |one| one.audience() == Some(audience))
    }

    /// The values of a filter by type, for sellers and for suppliers.
    pub const SELLERS_FILTER: [(&'static str, &'static str); 9] = [
        Self::OrderCreated.choice(),
        Self::OrderPaid.choice(),
        Self::OrderCancelled.choice(),
        Self::OrderShipped.choice(),
        Self::OrderUpdated.choice(),
        Self::QuestionReceived.choice(),
        Self::ClaimOpened.choice(),
        Self::StockChanged.choice(),
        Self::Test.choice(),
    ];
    pub const SUPPLIERS_FILTER: [(&'static str, &'static str); 4] = [
        Self::DropOrderCreated.choice(),
        Self::DropOrderPaid.choice(),
        Self::DropOrderCancelled.choice(),
        Self::Test.choice(),
    ];

    const fn choice(self) -> (&'static str, &'static str) {
        (self.name(), self.words())
    }
}

/// Records an event about an object of a person, if the person has an API plan, with which
/// programs can pull it, or an endpoint that subscribes to its type; otherwise costs two
/// index lookups. Where a
/// type can happen again to the same object, `occasion` tells the times apart;
/// where it happens once, `occasion` is 0.
pub fn raise(
    tx: &WriteTx<'_>,
    user: UserId,
    kind: EventType,
    (object, occasion): (i64, i64),
) -> Result<()> {
    tx.run(
        "INSERT INTO webhook_event (user_id, kind, object, occasion, at)
         SELECT ?1, ?2, ?3, ?4, ?5
         WHERE EXISTS (SELECT 1 FROM partner_account WHERE user_id = ?1)
             OR EXISTS (SELECT 1 FROM webhook_endpoint
                        WHERE user_id = ?1 AND state = 1 AND events & ?6 <> 0)
         ON CONFLICT DO NOTHING",
        (user, kind, object, occasion, tx.now(), kind.bit()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_a_bit_of_its_own() {
        let bits = EventType::ALL.map(EventType::bit);
        assert_eq!(bits.iter().fold(0, |all, bit| all | bit).count_ones(), 12);
        assert!(bits.iter().all(|bit| bit.count_ones() == 1));
    }

    #[test]
    fn a_type_is_for_one_audience() {
        let (sellers, suppliers) =
            (EventType::of(Audience::Seller).count(), EventType::of(Audience::Supplier).count());
        assert_eq!((sellers, suppliers), (8, 3));
    }
}
