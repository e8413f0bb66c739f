//! Data of the hub's templates.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::base::{Instant, Zone, counted, grouped};
use crate::content::plans::views::Offer;
use crate::dropshipping::relations::{Invitation, Related};
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{FormView, Layout, PageTime, When};
use crate::partner::Plan;
use crate::partner::oauth::views::AppRow;
use crate::partner::store::OwnToken;
use crate::wire;

/// `GET …/parceiro`, also with errors in the form.
#[derive(Template)]
#[template(path = "hub.html", config = "assets/askama.toml")]
pub struct HubPage {
    pub layout: Layout,
    pub plan: Option<ApiPlan>,
    /// The plans with an API plan, for a seller who has none.
    pub offer: Option<Offer>,
    /// `120 por minuto, somando todos os tokens`.
    pub rate: String,
    /// Calls that remain this month, in words.
    pub left: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
    /// The form with `nome` of a new token.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    /// Whether one of them opens sample data.
    pub has_test: bool,
    pub apps: Vec<AppRow>,
    /// The address at which assistants connect.
    pub connector: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
    pub is_supplier: bool,
    pub invitations: Vec<Invitation>,
    pub time: PageTime,
    /// The people on the other side of active relations.
    pub related: Vec<RelatedRow>,
}

wire! {
    /// The person on the other side of an active relation.
    pub struct RelatedRow of(one: Related, zone: Zone, now: Instant) {
        pub id: String = one.id.to_string(),
        pub name: String = one.name,
        /// Linked listings.
        pub links: String = grouped(one.links),
        pub since: When = When::new(zone, one.since, now),
    }
}

wire! {
    /// An operation that was called this month.
    pub struct OperationRow of(called: (&'static str, u64)) {
        pub name: &'static str = called.0,
        /// What it is for.
        pub about: &'static str = about(called.0),
        pub calls: String = grouped(called.1),
    }
}

wire! {
    /// A token that is not revoked.
    pub struct TokenRow of(token: OwnToken, zone: Zone, now: Instant) {
        pub id: String = token.id.to_string(),
        pub name: String = token.name,
        /// Its first characters.
        pub prefix: String = token.prefix,
        pub created: When = When::new(zone, token.created_at, now),
        pub used: Option<When> = token.last_used_at.map(|at| When::new(zone, at, now)),
        /// Address that the last call came from; empty while unknown.
        pub address: String = token.last_address.unwrap_or_default(),
        /// Whether it may change the shop.
        pub may_change: bool = token.may_change,
        /// Whether the page lets its reader, who sells, change that.
        pub is_own: bool = false,
        /// Whether it opens sample data.
        pub is_test: bool = token.is_test,
    }
}

/// The calls of a plan in a minute, in words.
pub fn rate(plan: Plan) -> String {
    format!("{} por minuto, somando todos os tokens", grouped(plan.per_minute))
}

/// The words of a chart of calls.
pub const fn bar_words(title: &'static str) -> BarWords {
    BarWords {
        title,
        unit: "Chamadas",
        value: |calls| counted(calls, "chamada", "chamadas"),
        mark: |calls| grouped(calls.unsigned_abs()),
    }
}

/// A call to copy and paste.
#[derive(Clone)]
pub struct FirstCall {
    /// HTML id, used by the copy button.
    pub id: &'static str,
    pub title: &'static str,
    pub call: String,
}

/// The answer to a browser that made a token. No other page shows the token.
#[derive(Template)]
#[template(path = "token_made.html", config = "assets/askama.toml")]
pub struct TokenMade {
    pub layout: Layout,
    pub name: String,
    /// Whether it opens sample data.
    pub is_test: bool,
    pub token: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
}

/// What an operation is for, in the panel's language.
fn about(operation: &str) -> &'static str {
    match operation {
        "health" | "drop_health" => "Situação do token",
        "list_stores" => "Contas vinculadas",
        "get_store_metrics" => "Números de uma conta",
        "list_orders" => "Vendas",
        "get_order" => "Uma venda",
        "list_products" | "drop_list_products" => "Produtos",
        "list_announcements" => "Anúncios",
        "get_stock" => "Estoque",
        "list_notifications" => "Avisos enviados",
        "notify_seller" => "Enviar aviso",
        "list_events" | "drop_list_events" => "Eventos",
        "get_usage" | "drop_get_usage" => "Consumo da API",
        "list_questions" => "Perguntas",
        "get_question" => "Uma pergunta",
        "answer_question" => "Responder pergunta",
        "list_claims" => "Reclamações",
        "get_claim" => "Uma reclamação",
        "set_stock" => "Contar estoque",
        "adjust_stock" => "Mover estoque",
        "set_product_price" => "Mudar preço",
        "get_label" | "get_labels" => "Etiquetas de vendas",
        "get_invoice" => "Nota fiscal de uma venda",
        "mark_labels_printed" => "Anotar impressão",
        "trigger_event" | "drop_trigger_event" => "Evento de exemplo",
        "list_webhooks" | "drop_list_webhooks" => "Webhooks",
        "get_webhook" | "drop_get_webhook" => "Um webhook",
        "create_webhook" | "drop_create_webhook" => "Criar webhook",
        "change_webhook" | "drop_change_webhook" => "Alterar webhook",
        "test_webhook" | "drop_test_webhook" => "Testar webhook",
        "remove_webhook" | "drop_remove_webhook" => "Excluir webhook",
        "list_webhook_deliveries" | "drop_list_webhook_deliveries" => "Entregas de webhooks",
        "summary" => "Resumo do dia",
        "top_products" => "Mais vendidos",
        "drop_audit_catalog" => "Conferência de anúncios",
        "drop_list_links" => "Vínculos",
        "drop_link_listing" => "Vincular anúncio",
        "drop_link_listings_bulk" => "Vincular lista",
        "drop_unlink_listing" => "Desvincular anúncio",
        "drop_list_orders" => "Pedidos",
        "drop_get_totals" => "Totais por vendedor",
        "drop_mark_paid" => "Anotar pagamento",
        "drop_mark_unpaid" => "Desfazer pagamento",
        "drop_mark_paid_bulk" => "Anotar pagamentos",
        "drop_mark_unpaid_bulk" => "Desfazer pagamentos",
        "drop_remind_order" => "Lembrar de um pedido",
        "drop_remind_all" => "Lembrar todos",
        "drop_get_label" => "Etiquetas",
        "drop_get_invoice" => "Notas fiscais",
        _ => "Outras",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partner::operation_names;

    #[test]
    fn every_operation_is_told_in_words() {
        for name in operation_names() {
            assert_ne!(about(name), "Outras", "{name}");
        }
    }
}
