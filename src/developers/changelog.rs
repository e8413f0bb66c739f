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
        title: Bilingual { portuguese: "Limites, identificadores e estoque ditos com exatidão", english: "Limits, ids and stock, exactly as told" },
        points: &[
            Bilingual { portuguese: "Um 429 diz em `X-RateLimit-Scope` qual limite acabou.", english: "A 429 says in `X-RateLimit-Scope` which limit was hit." },
            Bilingual { portuguese: "Uma venda cancelada e depois paga de novo tira as unidades outra vez: o saldo segue a situação presente da venda, e uma venda pode ter vários movimentos.", english: "An order that is cancelled and then paid again takes its units out again: the balance follows the order's present state, and an order may have several movements." },
            Bilingual { portuguese: "Um corpo JSON tem no máximo 10.000 valores, e cada campo uma vez em todos os níveis; em `/mcp`, 256 KB.", english: "A body of JSON has at most 10,000 values, and each field once at every level; at `/mcp`, 256 KB." },
            Bilingual { portuguese: "A mesma `Idempotency-Key` com outro corpo é 400 `idempotency_key_reused`; uma resposta repetida traz `Idempotency-Replayed: true`. De cada conta são guardados 2 MB de respostas: além disso, repetir uma chamada antiga é 409 `conflict`, e nada é feito de novo.", english: "The same `Idempotency-Key` with another body is 400 `idempotency_key_reused`; a repeated answer carries `Idempotency-Replayed: true`. 2 MB of answers are kept of an account: above that, repeating an old call is 409 `conflict`, and nothing is done again." },
            Bilingual { portuguese: "Valores em dinheiro não têm mais `multipleOf` nos esquemas: clientes que validam recusavam respostas certas.", english: "Amounts no longer have `multipleOf` in schemas: clients that validate refused correct answers." },
            Bilingual { portuguese: "Números de contas, vendedores, vendas, envios, vínculos e produtos são textos de algarismos também em parâmetros e em ferramentas; um número sem aspas continua valendo. Um texto que não é número recebe `validation_failed`, não `invalid_body`.", english: "Ids of accounts, sellers, orders, parcels, links and products are text of digits in parameters and tools too; a number without quotes goes on working. A text that is no id is answered `validation_failed`, not `invalid_body`." },
            Bilingual { portuguese: "`fields` aponta de uma vez tudo que está errado em uma consulta: nomes desconhecidos, nomes repetidos e valores.", english: "`fields` names at once all that is wrong with a query: unknown names, repeated names and values." },
            Bilingual { portuguese: "Um 304 não gasta mais a cota do mês.", english: "A 304 no longer costs the month's quota." },
            Bilingual { portuguese: "Um aplicativo conectado só fica fora da cota em `/mcp`; nos outros endereços as chamadas dele contam.", english: "A connected app is outside the quota at `/mcp` alone; its calls of other addresses count." },
            Bilingual { portuguese: "`drop_remind_all` tem a janela de cinco minutos por token, não por conta.", english: "`drop_remind_all` has its window of five minutes for each token, not for the account." },
            Bilingual { portuguese: "Cada movimento de estoque tem um `id` só dele, que não volta a ser usado.", english: "Each movement of stock has an `id` of its own that is not used again." },
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
