//! What changed in the Partner API, the newest first. The one list of it.

use super::language::Bilingual;

/// What changed on a day.
pub struct Change {
    /// Civil day, as `YYYY-MM-DD`.
    pub day: &'static str,
    pub title: Bilingual,
    /// One sentence each; code stands between backticks.
    pub points: &'static [Bilingual],
}

/// Everything so far.
#[rustfmt::skip] // A table: both languages of a point beside each other.
pub const CHANGES: &[Change] = &[
    Change {
        day: "2026-11-25",
        title: Bilingual { portuguese: "Aplicativos veem todas as ferramentas; webhooks pedem um plano", english: "Apps see every tool; webhooks need a plan" },
        points: &[
            Bilingual { portuguese: "Um 401 cita os dois escopos em `WWW-Authenticate`; o dono da conta pode dar menos.", english: "A 401 names both scopes in `WWW-Authenticate`; the owner of the account may give less." },
            Bilingual { portuguese: "Webhooks precisam de um plano da API em vigor. O que acontece sem ele não é enviado, nem depois.", english: "Webhooks need an API plan in force. What happens without one is not sent, also not later." },
        ],
    },
    Change {
        day: "2026-11-23",
        title: Bilingual { portuguese: "API completa para vendedores e fornecedores, assistentes e webhooks", english: "The whole API for sellers and suppliers, assistants and webhooks" },
        points: &[
            Bilingual { portuguese: "Operações novas: `list_stores`, `get_store_metrics`, `list_products`, `list_announcements`, `get_stock`, `list_notifications`, `notify_seller` e `get_usage`.", english: "New operations: `list_stores`, `get_store_metrics`, `list_products`, `list_announcements`, `get_stock`, `list_notifications`, `notify_seller` and `get_usage`." },
            Bilingual { portuguese: "Fornecedores têm a API deles: `drop_health`, `drop_audit_catalog`, `drop_list_products`, `drop_link_listing`, `drop_link_listings_bulk`, `drop_unlink_listing`, `drop_list_orders`, `drop_remind_order`, `drop_remind_all`, `drop_get_label` e `drop_get_invoice`.", english: "Suppliers have an API of their own: `drop_health`, `drop_audit_catalog`, `drop_list_products`, `drop_link_listing`, `drop_link_listings_bulk`, `drop_unlink_listing`, `drop_list_orders`, `drop_remind_order`, `drop_remind_all`, `drop_get_label` and `drop_get_invoice`." },
            Bilingual { portuguese: "POST aceita `Idempotency-Key`: repetir não faz o trabalho duas vezes.", english: "POST takes an `Idempotency-Key`: repeating it does not do the work twice." },
            Bilingual { portuguese: "O documento OpenAPI da API de parceiros está em `/openapi.json`, com exemplos; o das outras APIs, em `/openapi/platform.json`.", english: "The OpenAPI document of the Partner API is at `/openapi.json`, with examples; that of the other APIs at `/openapi/platform.json`." },
            Bilingual { portuguese: "Todas as operações são também ferramentas de assistentes de IA, em `/mcp`, pelo Model Context Protocol.", english: "All operations are also tools of AI assistants, at `/mcp`, by the Model Context Protocol." },
            Bilingual { portuguese: "Webhooks assinados avisam de vendas, perguntas, reclamações, estoque e pedidos a repassar.", english: "Signed webhooks tell of orders, questions, claims, stock and drop orders." },
            Bilingual { portuguese: "Aplicativos conectam-se por OAuth 2.1, e o dono da conta decide o que podem: `partner:read` ou também `partner:write`. Um aplicativo que só lê recebe 403 `insufficient_scope` em um POST.", english: "Apps connect by OAuth 2.1, and the owner of the account decides what they may do: `partner:read`, or `partner:write` as well. An app that may only read is answered 403 `insufficient_scope` to a POST." },
            Bilingual { portuguese: "Um 401 diz em `WWW-Authenticate` onde está descrito como conseguir acesso.", english: "A 401 says in `WWW-Authenticate` where it is described how to get in." },
            Bilingual { portuguese: "Estas páginas: guia, referência, histórico de mudanças e situação dos serviços.", english: "These pages: guide, reference, changelog and status." },
        ],
    },
    Change {
        day: "2026-11-22",
        title: Bilingual { portuguese: "Limites contados depois do corpo", english: "Limits count after the body" },
        points: &[
            Bilingual { portuguese: "Uma chamada recusada com 413 não gasta mais do limite por minuto nem da cota.", english: "A call that is refused with 413 no longer costs anything of the minute's limit or of the quota." },
            Bilingual { portuguese: "Filtrar por uma conta que não é do dono do token responde 404, como em todo lugar.", english: "A filter by an account that is not the token owner's is answered 404, as everywhere else." },
        ],
    },
    Change {
        day: "2026-11-20",
        title: Bilingual { portuguese: "Primeira versão", english: "First version" },
        points: &[
            Bilingual { portuguese: "`health` e `list_orders`, com `ETag`, `Last-Modified` e 304.", english: "`health` and `list_orders`, with `ETag`, `Last-Modified` and 304." },
        ],
    },
];
