//! Every table of the database: what of it belongs to a person and goes into the
//! file of their data, or why nothing of it does. A test compares this list with
//! `schema.sql`, table by table and column by column.

/// What of a table is exported.
pub enum Part {
    /// A file of the rows of a person.
    File {
        /// Its name, without ending.
        name: &'static str,
        /// Columns that are told, by name or as `expression AS name`.
        shown: &'static [&'static str],
        /// Columns that are not: secrets, what is of others, and numbers of ours.
        #[allow(dead_code, reason = "a test compares it with the schema")]
        withheld: &'static [&'static str],
        /// Which rows: `?1` is the person's number, `?2` their e-mail address.
        which: &'static str,
    },
    /// Nothing, for this reason.
    Nothing(#[allow(dead_code, reason = "for readers, and a test")] &'static str),
}

/// A table and what is exported of it.
pub type Table = (&'static str, Part);

const fn file(
    name: &'static str,
    shown: &'static [&'static str],
    withheld: &'static [&'static str],
    which: &'static str,
) -> Part {
    Part::File { name, shown, withheld, which }
}

use Part::Nothing;

const SUMS: Part = Nothing("sums and counters, which name nobody");
const OURS: Part = Nothing("what the operator made for everybody");
const WORKING: Part = Nothing("how far work has come, of no person");
const PASSING: Part = Nothing("gone within a day, a copy of what is elsewhere");

/// All tables, in the order of `schema.sql`.
#[rustfmt::skip] // A table.
pub const TABLES: &[Table] = &[
    ("setting", OURS),
    ("rate_window", Nothing("digests of who called, for minutes")),
    ("daily_count", SUMS),
    ("component_day", SUMS),
    ("audit", file("auditoria", &[
        "audit_id", "at", "action", "object_kind",
        "iif(object_kind IN ('aluno', 'equipe') AND object_id = CAST(?1 AS TEXT), object_id, NULL) AS object_id",
        "iif(object_kind IN ('aluno', 'equipe') AND object_id = CAST(?1 AS TEXT), object_name, NULL) AS object_name",
        "iif(object_kind IN ('aluno', 'equipe') AND object_id = CAST(?1 AS TEXT), before, NULL) AS before",
        "iif(object_kind IN ('aluno', 'equipe') AND object_id = CAST(?1 AS TEXT), after, NULL) AS after",
        "iif(actor_kind = 'pessoa' AND actor_id = ?1, 'você', actor_kind) AS actor_kind",
        "iif(actor_kind = 'pessoa' AND actor_id = ?1, address, NULL) AS address",
    ], &["actor_id", "actor_name", "request_id", "who", "what", "link"],
        "audit_id > 0 AND (object_kind IN ('aluno', 'equipe') AND object_id = CAST(?1 AS TEXT) OR actor_kind = 'pessoa' AND actor_id = ?1)")),
    ("audit_searched", WORKING),
    ("word", OURS),
    ("user", file("conta", &[
        "user_id", "email", "name", "role", "photo", "chat_number", "created_at", "last_access_at", "suspended_at",
        "suspended_for", "paid_until", "late_since", "disputed_at", "ends_at",
        "password_hash IS NOT NULL AS tem_senha",
    ], &["password_hash", "removed_at", "kind", "standing", "disputed", "name_key", "search"], "user_id = ?1")),
    ("person_count", SUMS),
    ("person_unsearched", WORKING),
    ("form_sent", PASSING),
    ("student_import", Nothing("an operator's list, for a week; who was made of it is an account")),
    ("role_permission", OURS),
    ("user_permission", file("permissoes", &["permission", "granted"], &["user_id"], "user_id = ?1")),
    ("session", file("sessoes", &["created_at", "last_seen_at", "address", "user_agent", "ended_at"],
        &["session_hash", "user_id", "viewing_id", "viewing_until", "ordinal"], "user_id = ?1")),
    ("extension_token", file("extensao", &["created_at", "expires_at", "last_used_at", "revoked_at"],
        &["token_hash", "user_id"], "user_id = ?1")),
    ("one_time_link", file("links_de_senha", &["purpose", "created_at", "expires_at", "used_at"],
        &["link_hash", "user_id", "code"], "user_id = ?1")),
    ("good_login", file("enderecos_de_entrada", &["address", "last_at"], &["user_id"], "user_id = ?1")),
    ("erasure", Nothing("keyed digests of people who were erased")),
    ("api_key", Nothing("keys of the installation, of no person")),
    ("photo", file("foto", &["media", "created_at", "length(bytes) AS bytes"],
        &["photo_id", "digest", "user_id", "teacher_id"], "user_id = ?1")),
    ("plan", OURS),
    ("teacher", Nothing("what the operator tells everybody about who teaches")),
    ("course", OURS),
    ("course_role", OURS),
    ("lesson", OURS),
    ("lesson_done", file("aulas_feitas", &[
        "lesson_id", "(SELECT title FROM lesson l WHERE l.lesson_id = lesson_done.lesson_id) AS titulo", "done_at",
    ], &["user_id"], "user_id = ?1")),
    ("meet", OURS),
    ("program_rule", OURS),
    ("milestone", OURS),
    ("milestone_lowered", WORKING),
    ("program_entry", file("programa_pontos", &["day", "at", "action", "cause", "turn", "xp", "note"], &["student_id"], "student_id = ?1")),
    ("program_student", file("programa", &[
        "joined_at", "ranked", "entries", "xp", "xp_at", "month_xp", "week_xp", "checkins", "last_checkin AS ultimo_checkin_day",
        "checked_at", "streak", "best_streak", "sales", "sales_at",
    ], &["student_id", "month", "month_at", "week", "week_at", "last_checkin"], "student_id = ?1")),
    ("program_day", SUMS),
    ("challenge", OURS),
    ("program_recount", WORKING),
    ("program_mend", WORKING),
    ("ml_account", file("contas_do_marketplace", &[
        "ml_user_id", "nickname", "token_expires_at", "token_ok", "error", "reputation", "listings", "open_claims",
        "open_questions", "linked_at", "synced_at", "power_seller", "claims_rate", "late_rate", "cancel_rate",
    ], &["owner_id", "access_token", "refresh_token"], "owner_id = ?1")),
    ("total", SUMS),
    ("ml_link_attempt", Nothing("secrets of a linking under way, for ten minutes")),
    ("sold_item", Nothing("words of listings, told with each order")),
    ("sale_order", file("vendas", &[
        "order_id", "ml_user_id", "created_at", "(SELECT text FROM word w WHERE w.word_id = sale_order.status) AS status",
        "total_cents", "(SELECT text FROM word w WHERE w.word_id = sale_order.currency) AS currency", "closed_at", "updated_at",
        "item_id", "variation_id", "quantity", "shipping_id",
        "(SELECT text FROM word w WHERE w.word_id = sale_order.shipping_status) AS shipping_status",
        "(SELECT text FROM word w WHERE w.word_id = sale_order.logistic_type) AS logistic_type",
        "(SELECT title FROM sold_item i WHERE i.item_id = sale_order.item_id
            AND i.variation_id = sale_order.variation_id AND i.version = sale_order.item_version) AS titulo",
        "(SELECT sku FROM sold_item i WHERE i.item_id = sale_order.item_id
            AND i.variation_id = sale_order.variation_id AND i.version = sale_order.item_version) AS sku",
        "fee_cents", "freight_cents", "paid_at", "printed_at", "sent_at", "delivered_at",
        "dispatch_by", "pack_id", "(SELECT text FROM word w WHERE w.word_id = sale_order.substatus) AS shipping_substatus",
        "refunded_cents", "marks",
        "(SELECT json_group_array(json_object('item_id', b.item_id, 'variation_id', b.variation_id, 'units', b.units,
            'unit_cents', b.unit_cents, 'fee_cents', b.fee_cents)) FROM basket_line b WHERE b.basket_id = sale_order.basket_id) AS itens",
    ], &["changed", "owner_id", "buyer_nickname", "shipment_at", "item_version", "basket_id", "stage", "deadline_asked_at"],
        "owner_id = ?1")),
    ("basket", Nothing("compositions of orders, which name nobody; told with each order")),
    ("basket_line", Nothing("compositions of orders, which name nobody; told with each order")),
    ("sale_line", Nothing("where orders are found, told with each order")),
    ("sale_number", file("numeros_das_vendas", &["number", "order_id", "ml_user_id", "kind"], &["owner_id"], "owner_id = ?1")),
    ("label_batch", file("lotes_de_etiquetas", &["batch_id", "ml_user_id", "printed_at"], &["owner_id", "printed_by"], "owner_id = ?1")),
    ("label_print", file("etiquetas_impressas", &["shipping_id", "ml_user_id", "batch_id", "order_id"], &["owner_id", "place"], "owner_id = ?1")),
    ("order_count", SUMS),
    ("sales_day", SUMS),
    ("sold_sum", SUMS),
    ("listing_cost", file("custos_de_anuncios", &["item_id", "cost_cents", "updated_at"], &["owner_id"], "owner_id = ?1")),
    ("owner_change", WORKING),
    ("ml_notification", file("notificacoes_do_marketplace", &["received_at", "topic", "resource", "ml_user_id", "state", "outcome"],
        &["notification_id", "body", "delivery_key", "event_key", "attempts", "next_try_at", "counted"],
        "notification_id > 0 AND ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)")),
    ("ml_notification_count", SUMS),
    ("ml_sync", WORKING),
    ("ml_seen", WORKING),
    ("listing", file("anuncios", &[
        "item_id", "ml_user_id", "site", "title", "(SELECT text FROM word w WHERE w.word_id = listing.status) AS status",
        "sub_status", "price_cents", "(SELECT text FROM word w WHERE w.word_id = listing.currency) AS currency",
        "available", "sold", "(SELECT text FROM word w WHERE w.word_id = listing.listing_type) AS listing_type",
        "(SELECT text FROM word w WHERE w.word_id = listing.logistic_type) AS logistic_type", "category", "sku", "ean",
        "permalink", "thumbnail", "created_at", "updated_at",
    ], &["owner_id"], "owner_id = ?1")),
    ("listing_count", SUMS),
    ("question", file("respostas_a_perguntas", &[
        "question_id", "ml_user_id", "item_id", "status", "asked_at", "answer", "answered_at", "updated_at",
    ], &["owner_id", "state", "text", "asker_id"], "owner_id = ?1")),
    ("answer_sent", WORKING),
    ("claim", file("reclamacoes", &[
        "claim_id", "ml_user_id", "opened_at", "state", "kind", "stage", "reason", "resource", "resource_id", "due_at",
        "action", "resolution", "updated_at", "order_id", "came_back",
    ], &["owner_id"], "owner_id = ?1")),
    ("ml_unlinked", WORKING),
    ("ml_fee", OURS),
    ("own_tax", file("imposto", &["rate_bp", "updated_at"], &["user_id"], "user_id = ?1")),
    ("product", file("produtos", &[
        "product_id", "sku", "ean", "title", "cost_cents", "price_cents", "stock", "created_at", "updated_at",
        "low_stock",
    ], &["owner_id", "search_key"], "owner_id = ?1")),
    ("product_import", WORKING),
    ("product_import_part", WORKING),
    ("stock_movement", file("estoque", &[
        "product_id", "movement_id", "kind", "quantity", "change", "balance", "reason", "order_id", "created_at",
    ], &["number"], "product_id IN (SELECT product_id FROM product WHERE owner_id = ?1)")),
    ("stock_movement_last", WORKING),
    ("notification", file("notificacoes", &[
        "notification_id", "created_at", "kind", "title", "message", "ml_user_id", "reference", "read_at",
    ], &["owner_id"], "owner_id = ?1")),
    ("notification_key", WORKING),
    ("notification_count", SUMS),
    ("outbox", file("mensagens", &[
        "message_id", "channel", "kind", "params", "state", "created_at", "run_at", "expires_at", "done_at", "outcome", "attempts",
        "receipt", "receipt_at",
    ], &["user_id", "dedup_key", "lease", "provider", "global_id", "request_id"], "user_id = ?1 AND state IN (0, 1, 2, 3)")),
    ("chat_unreachable", file("numero_sem_alcance", &["number", "times", "since", "reason"], &["user_id"], "user_id = ?1")),
    ("outbox_count", SUMS),
    ("message_choice", file("escolhas_de_mensagens", &["about", "wanted"], &["user_id"], "user_id = ?1")),
    ("saved_view", file("visoes_salvas", &["path", "name", "query", "created_at"], &["view_id", "user_id"], "user_id = ?1")),
    ("message_text", OURS),
    ("outbox_done_count", SUMS),
    ("announcement", OURS),
    ("announcement_told", file("comunicados", &["announcement_id", "read_at"], &["user_id", "notification_id"], "user_id = ?1")),
    ("telegram_chat", file("telegram", &["chat_id", "name", "linked_at", "blocked_at"], &["user_id"], "user_id = ?1")),
    ("telegram_code", Nothing("the digest of a code, for minutes")),
    ("push_device", file("navegadores_com_avisos", &["agent", "created_at", "sent_at"],
        &["device_id", "user_id", "endpoint", "p256dh", "auth"], "user_id = ?1")),
    ("checkout_event", file("compras", &[
        "event_id", "received_at", "event", "outcome", "email", "purchase", "subscriber", "product", "happened_ms", "role",
        "paid_until", "recurrence", "product_name", "amount_cents", "currency",
        "(SELECT body FROM checkout_body b WHERE b.event_id = checkout_event.event_id) AS conteudo",
    ], &["dedup_key", "kind", "state", "user_id", "apart"],
        "event_id > 0 AND (user_id = ?1 OR email = ?2 AND user_id IS NULL)")),
    ("checkout_body", Nothing("told with its event")),
    ("checkout_count", SUMS),
    ("partner_account", file("plano_de_api", &["plan", "until_day", "updated_at"], &["user_id"], "user_id = ?1")),
    ("partner_token", file("tokens_de_api", &["token_id", "name", "created_at", "last_used_at", "revoked_at", "last_address", "may_change", "test"],
        &["token_hash", "user_id", "prefix"], "user_id = ?1")),
    ("oauth_client", Nothing("programs, of no person")),
    ("oauth_request", Nothing("what a program asks for, for minutes")),
    ("oauth_grant", file("aplicativos_conectados", &[
        "client_name", "may_write", "may_change", "created_at", "ends_at", "last_used_at", "last_address",
    ], &["grant_id", "user_id", "client_no", "code_hash", "redirect_uri", "challenge", "family_hash", "refresh_hash"], "user_id = ?1")),
    ("oauth_token", Nothing("digests of tokens, for half an hour")),
    ("partner_usage", file("uso_da_api", &["day", "operation", "calls"], &["user_id"], "user_id = ?1")),
    ("partner_summary", SUMS),
    ("partner_notification", file("avisos_pela_api", &[
        "notification_id", "channel", "event", "title", "body", "created_at", "state", "done_at", "outcome", "receipt",
    ], &["owner_id", "message_id"], "owner_id = ?1")),
    ("partner_call", PASSING),
    ("webhook_endpoint", file("webhooks", &[
        "endpoint_id", "url", "events", "created_at", "state", "off_at", "failing_since", "error", "delivered_at", "lost",
    ], &["user_id", "secret", "old_secret", "old_until", "last_number", "next_at", "paused_until", "client_no"], "user_id = ?1")),
    ("webhook_event", PASSING),
    ("partner_event", file("eventos_da_api", &["number", "kind", "at"], &["user_id", "message", "body"], "user_id = ?1")),
    ("webhook_delivery", file("entregas_de_webhooks", &[
        "endpoint_id", "number", "kind", "object", "state", "created_at", "tries", "tried_at", "status", "ms", "error",
    ], &["message", "body", "run_at", "answer", "early"],
        "endpoint_id IN (SELECT endpoint_id FROM webhook_endpoint WHERE user_id = ?1)")),
    ("webhook_attempt", file("tentativas_de_webhooks", &[
        "endpoint_id", "number", "attempt", "at", "ms", "status", "error",
    ], &[], "endpoint_id IN (SELECT endpoint_id FROM webhook_endpoint WHERE user_id = ?1)")),
    ("webhook_count", SUMS),
    ("drop_relation", file("relacoes_de_fornecimento", &[
        "relation_id", "iif(supplier_id = ?1, 'fornecedor', 'vendedor') AS lado", "iif(email = ?2, email, NULL) AS email",
        "state", "invited_at", "since", "ended_at",
    ], &["supplier_id", "seller_id"],
        "relation_id IN (SELECT relation_id FROM drop_relation WHERE supplier_id = ?1
            UNION SELECT relation_id FROM drop_relation WHERE seller_id = ?1
            UNION SELECT relation_id FROM drop_relation
            WHERE email = ?2 AND state IN (1, 2, 3, 4, 5) AND seller_id IS NULL)")),
    ("drop_link", file("vinculos_de_fornecimento", &[
        "link_id", "iif(supplier_id = ?1, 'fornecedor', 'vendedor') AS lado", "item_id", "site", "product_id", "created_at",
    ], &["supplier_id", "seller_id"],
        "link_id IN (SELECT link_id FROM drop_link WHERE supplier_id = ?1 UNION SELECT link_id FROM drop_link WHERE seller_id = ?1)")),
    ("drop_foreign", file("anuncios_de_outros_fornecedores", &["item_id", "noted_at"], &["supplier_id", "seller_id"],
        "supplier_id = ?1")),
    ("drop_order", file("pedidos_de_fornecimento", &[
        "drop_order_id", "iif(supplier_id = ?1, 'fornecedor', 'vendedor') AS lado", "order_id", "ordered_at", "sku", "title",
        "quantity", "unit_cents", "amount_cents", "state", "due_at", "paid_at", "reminded_at",
        "(SELECT json_group_array(json_object('sku', l.sku, 'title', l.title, 'quantity', l.quantity, 'unit_cents', l.unit_cents))
            FROM drop_order_line l WHERE l.drop_order_id = drop_order.drop_order_id) AS outros_itens",
    ], &["supplier_id", "seller_id", "batch", "item_id"],
        "drop_order_id IN (SELECT drop_order_id FROM drop_order WHERE supplier_id = ?1
            UNION SELECT drop_order_id FROM drop_order WHERE seller_id = ?1)")),
    ("drop_order_line", Nothing("told with each drop order")),
    ("drop_order_count", SUMS),
    ("agency_client", Nothing("the agency's notes on its clients, who need no account")),
    ("agency_account", file("contas_na_agencia", &["ml_user_id", "joined_at", "checked_at"], &["client_id", "owner_id"],
        "ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)")),
    ("agency_day", SUMS),
    ("agency_finding", WORKING),
    ("agency_question", WORKING),
    ("agency_question_count", SUMS),
    ("saved_reply", file("respostas_salvas", &["title", "text", "updated_at"], &["reply_id", "owner_id"], "owner_id = ?1")),
    ("buyer_name", Nothing("names of buyers at the marketplace, who are no people of the platform")),
    ("cron_run", WORKING),
    ("cron_run_count", SUMS),
    ("cron_task", WORKING),
    ("cron_mark", WORKING),
    ("inactivity_alert", file("alertas_de_inatividade", &["active_at", "queued_at"], &["user_id"], "user_id = ?1")),
    ("request_log", file("requisicoes", &["at", "request_id", "method", "path", "status", "us", "caller", "address", "sampled"],
        &["entry_id", "caller_id"], "entry_id > 0 AND caller_id = ?1 AND caller <> 'chave'")),
    ("request_log_count", SUMS),
    ("outside_call", Nothing("calls of ours to services, without their words, for 30 days")),
    ("error_log", Nothing("what went wrong in the service, without addresses and secrets, for 30 days")),
    ("log_batch", Nothing("packed logs without names or texts; addresses leave them after 180 days")),
];
