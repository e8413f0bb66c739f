//! Kinds of notices inside the platform, and the page that each opens.

use serde::Serialize;

crate::named! {
    /// What a notification is about.
    #[derive(Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum NotificationKind: number {
        Venda = 1, "venda";
        Reclamacao = 2, "reclamacao";
        Pergunta = 3, "pergunta";
        Anuncio = 4, "anuncio";
        Meet = 5, "meet";
        Programa = 6, "programa";
        Parceiro = 7, "parceiro";
        Sistema = 8, "sistema";
    }
}

impl NotificationKind {
    /// Path of the page that a notice opens, by what it refers to and whether it
    /// is about an account at the marketplace; empty when it has none.
    pub fn page(self, reference: &str, of_account: bool) -> String {
        match self {
            // For staff, the agency and whoever has webhooks, it is a path.
            _ if reference.starts_with('/') => reference.to_owned(),
            Self::Venda => format!("/painel/vendas/{reference}"),
            Self::Pergunta => format!("/painel/perguntas/{reference}"),
            Self::Reclamacao => format!("/painel/reclamacoes/{reference}"),
            Self::Anuncio => format!("/painel/anuncios/{reference}"),
            Self::Meet => "/painel/meets".to_owned(),
            Self::Sistema if of_account => "/painel/ml".to_owned(),
            Self::Programa | Self::Parceiro | Self::Sistema => String::new(),
        }
    }
}
