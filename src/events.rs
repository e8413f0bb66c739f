//! Webhook events for programs of sellers and suppliers: the types of events,
//! and how a domain raises one.
//!
//! [`raise`] writes one small row in the transaction of the cause. So there is
//! no event without its cause and no cause without its event. Milliseconds
//! later `partner/webhooks/` decides which endpoints get the event, builds its
//! body and delivers it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::{MlUserId, UserId};
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
        OrderDelivered = 15, "order.delivered", "Venda entregue";
        QuestionReceived = 20, "question.received", "Pergunta recebida";
        QuestionAnswered = 21, "question.answered", "Pergunta respondida";
        ClaimOpened = 30, "claim.opened", "Reclamação aberta";
        ClaimClosed = 31, "claim.closed", "Reclamação encerrada";
        StockChanged = 40, "stock.changed", "Estoque alterado";
        DropOrderCreated = 50, "drop_order.created", "Pedido ao fornecedor criado";
        DropOrderPaid = 51, "drop_order.paid", "Pedido ao fornecedor pago";
        DropOrderCancelled = 52, "drop_order.cancelled", "Pedido ao fornecedor cancelado";
        /// Sent when a person tests an endpoint; it cannot be subscribed to.
        Test = 60, "endpoint.test", "Teste";
        ListingChanged = 70, "listing.changed", "Anúncio alterado";
        StoreDisconnected = 80, "store.disconnected", "Conta desvinculada";
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
            Self::OrderCancelled => (Some(Seller), 1 << 2, "Uma venda foi cancelada. A que teve o pacote dividido em outras não é uma delas."),
            Self::OrderShipped => (Some(Seller), 1 << 3, "O pacote de uma venda saiu."),
            Self::OrderUpdated => (Some(Seller), 1 << 11, "Algo mudou em uma venda: situação, envio, valor ou o que a API mostra dela."),
            Self::OrderDelivered => (Some(Seller), 1 << 12, "O pacote de uma venda chegou ao comprador."),
            Self::QuestionReceived => (Some(Seller), 1 << 4, "Um comprador perguntou num anúncio."),
            Self::QuestionAnswered => (Some(Seller), 1 << 13, "Uma pergunta foi respondida, aqui ou no marketplace."),
            Self::ClaimOpened => (Some(Seller), 1 << 5, "Um comprador abriu ou reabriu uma reclamação."),
            Self::ClaimClosed => (Some(Seller), 1 << 14, "Uma reclamação foi encerrada."),
            Self::StockChanged => (Some(Seller), 1 << 6, "O saldo de um produto mudou, por venda, por arquivo ou à mão."),
            Self::ListingChanged => (Some(Seller), 1 << 15, "Um anúncio novo chegou, algo mudou em um (preço, estoque, situação ou texto), ou o marketplace não o tem mais."),
            Self::StoreDisconnected => (Some(Seller), 1 << 16, "Uma conta do marketplace foi desvinculada, ou o marketplace recusou o acesso a ela."),
            Self::DropOrderCreated => (Some(Supplier), 1 << 7, "Um vendedor vendeu um produto seu, ou uma venda cancelada voltou a valer."),
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
    pub const SELLERS_FILTER: [(&'static str, &'static str); 14] = [
        Self::OrderCreated.choice(),
        Self::OrderPaid.choice(),
        Self::OrderCancelled.choice(),
        Self::OrderShipped.choice(),
        Self::OrderUpdated.choice(),
        Self::OrderDelivered.choice(),
        Self::QuestionReceived.choice(),
        Self::QuestionAnswered.choice(),
        Self::ClaimOpened.choice(),
        Self::ClaimClosed.choice(),
        Self::StockChanged.choice(),
        Self::ListingChanged.choice(),
        Self::StoreDisconnected.choice(),
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
/// index lookups. Each call is an event of its own: who raises one says that something
/// happened, not how something is. Decision webhooks-18.
pub fn raise(tx: &WriteTx<'_>, user: UserId, kind: EventType, object: i64) -> Result<()> {
    raise_with(tx, user, kind, object, Told::Object)
}

/// Records that a movement, by its number within its product, changed the product's stock.
pub fn raise_moved(tx: &WriteTx<'_>, user: UserId, product: i64, movement: i64) -> Result<()> {
    raise_with(tx, user, EventType::StockChanged, product, Told::Movement(movement))
}

/// A marketplace account from which nothing is read any more.
#[derive(Serialize, JsonSchema)]
pub struct DisconnectedStore<'s> {
    /// Marketplace seller id of the account.
    pub ml_user_id: MlUserId,
    /// Name of the store at the marketplace.
    pub nickname: &'s str,
    /// `unlinked` by its owner, or `refused` by the marketplace.
    #[schemars(extend("enum" = ["unlinked", "refused"]))]
    pub reason: &'static str,
    /// What its owner reads of it; null when the owner unlinked it.
    pub error: Option<&'s str>,
}

/// Records that an account was disconnected, with what is told of it: its row may be gone
/// when the event is spread.
pub fn raise_disconnected(
    tx: &WriteTx<'_>,
    user: UserId,
    store: &DisconnectedStore<'_>,
) -> Result<()> {
    let data = serde_json::to_string(store).expect("a store becomes JSON");
    let (kind, account) = (EventType::StoreDisconnected, store.ml_user_id.0);
    raise_with(tx, user, kind, account, Told::Written(&data))
}

/// Records that the marketplace does not have a listing any more, with what is told of it.
pub fn raise_gone_listing(tx: &WriteTx<'_>, user: UserId, item: i64, data: &str) -> Result<()> {
    raise_with(tx, user, EventType::ListingChanged, item, Told::Written(data))
}

/// What programs are told of an event.
#[derive(Clone, Copy)]
enum Told<'t> {
    /// Its object, as it is when it is told.
    Object,
    /// A product with this movement.
    Movement(i64),
    /// What was written down when it happened.
    Written(&'t str),
}

fn raise_with(
    tx: &WriteTx<'_>,
    user: UserId,
    kind: EventType,
    object: i64,
    told: Told<'_>,
) -> Result<()> {
    let (movement, data) = match told {
        Told::Object => (None, None),
        Told::Movement(number) => (Some(number), None),
        Told::Written(data) => (None, Some(data)),
    };
    tx.run(
        "INSERT INTO webhook_event (user_id, kind, object, movement, at, data)
         SELECT ?1, ?2, ?3, ?4, ?5, ?7
         WHERE EXISTS (SELECT 1 FROM partner_account WHERE user_id = ?1)
             OR EXISTS (SELECT 1 FROM webhook_endpoint
                        WHERE user_id = ?1 AND state = 1 AND events & ?6 <> 0)",
        (user, kind, object, movement, tx.now(), kind.bit(), data),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_a_bit_of_its_own() {
        let bits = EventType::ALL.map(EventType::bit);
        assert_eq!(bits.iter().fold(0, |all, bit| all | bit).count_ones(), 17);
        assert!(bits.iter().all(|bit| bit.count_ones() == 1));
    }

    #[test]
    fn a_type_is_for_one_audience() {
        let (sellers, suppliers) =
            (EventType::of(Audience::Seller).count(), EventType::of(Audience::Supplier).count());
        assert_eq!((sellers, suppliers), (13, 3));
    }
}
