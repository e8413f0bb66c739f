INSERT INTO user (user_id, email, name, role, password_hash, photo, chat_number, created_at, suspended_for)
VALUES (7, 'ana@zorbaxinha.com', 'Ana Zorbaxinha', 'pro', 'SEGREDO', '/fotos/zorbaxinha', '5511987654321', 1, NULL);
INSERT INTO user (user_id, email, name, role, created_at) VALUES (8, 'bia@exemplo.com', 'Bia Pública', 'drop', 1);
INSERT INTO user_permission VALUES (7, 'ml_analisar', 1);
INSERT INTO form_sent (digest, user_id, sent_at, reply) VALUES (x'01', 7, 1, CAST('Zorbaxinha' AS BLOB));
INSERT INTO student_import (file_name, by_name, created_at, total, to_make, made, existing, faulty, rows)
VALUES ('de Ana Zorbaxinha.csv', 'Ana Zorbaxinha', 1, 1, 1, 0, 0, 0, '[{"linha":2,"nome":"Ana Zorbaxinha","email":"ana@zorbaxinha.com","plano":"pro","situacao":"criar"}]');
INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
VALUES (CAST('SEGREDO' AS BLOB), 7, 1, 1, '203.0.113.7', 'Zorbaxinha/1');
INSERT INTO extension_token (token_hash, user_id, created_at, expires_at) VALUES (CAST('SEGREDO' AS BLOB), 7, 1, 2);
INSERT INTO one_time_link (link_hash, purpose, user_id, code, created_at, expires_at) VALUES (x'02', 'senha', 7, CAST('SEGREDO' AS BLOB), 1, 2);
INSERT INTO good_login VALUES (7, 'zorbaxinha', 1);
INSERT INTO photo (digest, user_id, media, created_at, bytes) VALUES (x'01', 7, 'image/png', 1, CAST('Zorbaxinha' AS BLOB));
INSERT INTO course (course_id, title, position, published, created_at, updated_at) VALUES (1, 'Curso', 1, 1, 1, 1);
INSERT INTO lesson (lesson_id, course_id, title, video_url, position, created_at, updated_at) VALUES (1, 1, 'Aula', 'https://x', 1, 1, 1);
INSERT INTO lesson_done VALUES (7, 1, 1);
INSERT INTO program_entry VALUES (7, 1, 1, 8, 1, 0, 5, 'Zorbaxinha');
INSERT INTO program_student VALUES (7, 1, 1, 1, 5, 1, 1, 5, 1, 1, 5, 1, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO ml_account (ml_user_id, owner_id, nickname, access_token, token_expires_at, token_ok, error, linked_at)
VALUES (701, 7, 'LOJA ZORBAXINHA', CAST('SEGREDO' AS BLOB), 1, 1, 'Zorbaxinha', 1);
INSERT INTO ml_link_attempt VALUES (x'03', 7, CAST('Zorbaxinha' AS BLOB), 1, 2);
INSERT INTO sold_item VALUES (5, 0, 0, 'MLB', 'Garrafa', 'GAR');
INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents, currency, updated_at, item_id, variation_id, quantity, buyer_nickname)
VALUES (7, 1, 9, 701, 5, 4560, 20, 1, 5, 0, 1, 'COMPRADOR DA ZORBAXINHA');
INSERT INTO basket VALUES (1, x'05');
INSERT INTO basket_line VALUES (1, 0, 5, 0, 0, 1, 4560, NULL);
INSERT INTO sale_line VALUES (7, 6, 1, 9, 701, 5);
INSERT INTO sale_number VALUES (7, 99, 9, 701, 2);
INSERT INTO label_batch VALUES (1, 7, 701, 1, 7);
INSERT INTO label_print VALUES (7, 701, 77, 1, 0, 9);
INSERT INTO order_count VALUES (7, 701, 5, 1, 1);
INSERT INTO sales_day VALUES (7, 701, 1, 1, 1, 4560);
INSERT INTO owner_change VALUES (7, 1, 1);
INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, state, next_try_at, outcome)
VALUES (1, 'orders_v2', '/orders/9', 701, CAST('{"x":"Zorbaxinha"}' AS BLOB), 1, 1, 'Zorbaxinha');
INSERT INTO listing VALUES (7, 5, 701, 'MLB', 'Garrafa da Zorbaxinha', 5, '', 1, 20, 1, 1, 5, NULL, '', '', '', 'https://zorbaxinha', '', 1, 1);
INSERT INTO question VALUES (7, 1, 3, 701, 5, 2, 'ANSWERED', 'Tem COMPRADOR?', 'Sim, Zorbaxinha', 1, 44, 1);
INSERT INTO claim VALUES (7, 1, 4, 701, 1, 'mediations', 'claim', 'Zorbaxinha', 'order', 9, NULL, '', '', 1, 9, 0);
INSERT INTO own_tax VALUES (7, 600, 1);
INSERT INTO product (product_id, owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
VALUES (1, 7, 'ZORBAXINHA', '', 'Zorbaxinha', 1, 1, 1, 1, 1, 'zorbaxinha');
INSERT INTO stock_movement (product_id, movement_id, kind, quantity, change, balance, reason, created_at) VALUES (1, 1, 1, 1, 1, 1, 'Zorbaxinha', 1);
INSERT INTO product_import VALUES (7, x'01', 1, 1, 0, 0, 0, 1);
INSERT INTO product_import_part VALUES (7, 1, '["Zorbaxinha"]');
INSERT INTO notification VALUES (7, 1, 1, 8, 'Olá, Zorbaxinha', 'Zorbaxinha', NULL, 'zorbaxinha', NULL);
INSERT INTO notification VALUES (8, 1, 1, 7, 'Ana Zorbaxinha aceitou o convite', 'ana@zorbaxinha.com', NULL, NULL, NULL);
INSERT INTO notification_key VALUES (7, 'zorbaxinha', 1);
INSERT INTO announcement (title, body, roles, channels, state, by_name, created_at)
VALUES ('Parabéns, Ana Zorbaxinha', 'Ana Zorbaxinha vendeu muito', '', '', 4, 'Ana Zorbaxinha', 1);
INSERT INTO announcement_told VALUES (1, 7, 1, NULL);
INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, outcome, provider)
VALUES ('email', 7, 'boas_vindas', '{"nome":"Zorbaxinha"}', 'zorbaxinha-1', 1, 1, 1, 'Zorbaxinha', 'Zorbaxinha');
INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
VALUES ('email', 8, 'lembrete', '{"vendedor":"ANA ZORBAXINHA"}', 'x-1', 0, 1, 1);
INSERT INTO chat_unreachable VALUES (7, '5511900000007', 1, 1, 'Zorbaxinha');
INSERT INTO message_choice VALUES (7, 'email', 1);
INSERT INTO saved_view (user_id, path, name, query, created_at) VALUES (7, '/painel/vendas', 'Zorbaxinha', 'q=zorbaxinha', 1);
INSERT INTO telegram_chat VALUES (7, 55, '@zorbaxinha', 1, NULL);
INSERT INTO telegram_code VALUES (7, x'04', 1);
INSERT INTO push_device (user_id, endpoint, p256dh, auth, agent, created_at)
VALUES (7, 'https://push/SEGREDO', zeroblob(65), zeroblob(16), 'Zorbaxinha', 1);
INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, user_id, email, purchase, subscriber, happened_ms)
VALUES (1, 1, x'01', 'PURCHASE_APPROVED', 1, 1, 'liberou Ana Zorbaxinha', 7, 'ana@zorbaxinha.com', 'HP1', 'ZORBAXINHA', 1);
INSERT INTO checkout_body VALUES (1, 1, '{"data":{"buyer":{"name":"Ana Zorbaxinha"},"producer":{"name":"Produtor"},"purchase":{"transaction":"HP1","price":{"value":97,"currency_value":"BRL"}}}}');
INSERT INTO partner_account VALUES (7, 'pro', NULL, 1);
INSERT INTO partner_token (token_hash, user_id, name, prefix, created_at, last_address) VALUES (CAST('SEGREDO' AS BLOB), 7, 'Zorbaxinha', 'ptk_', 1, 'zorbaxinha');
INSERT INTO oauth_client (client_no, client_id, name, redirects, created_at, keep_until) VALUES (1, 'app_1', 'App', '[]', 1, 2);
INSERT INTO oauth_grant (user_id, client_no, client_name, may_write, created_at, ends_at, code_hash, redirect_uri, challenge)
VALUES (7, 1, 'App da Zorbaxinha', 1, 1, 2, CAST('SEGREDO' AS BLOB), 'https://zorbaxinha', x'05');
INSERT INTO partner_usage VALUES (7, 1, 'list_orders', 1);
INSERT INTO partner_notification VALUES (7, 1, 1, 'email', 'custom', 'Zorbaxinha', 'Zorbaxinha', 1, 1, 1, 'Zorbaxinha', 0);
INSERT INTO partner_notification VALUES (8, 1, 2, 'email', 'custom', 'De Ana Zorbaxinha', 'x', 1, 1, 1, NULL, 0);
INSERT INTO partner_call (user_id, key, body, made_at, reply) VALUES (7, x'06', x'07', 1, CAST('{"Zorbaxinha":1}' AS BLOB));
INSERT INTO partner_call (user_id, key, body, made_at, reply) VALUES (8, x'06', x'07', 1, CAST('{"seller_name":"Ana Zorbaxinha"}' AS BLOB));
INSERT INTO webhook_endpoint (endpoint_id, user_id, url, events, secret, created_at, state, error) VALUES (1, 7, 'https://zorbaxinha/x', 1, CAST('SEGREDO' AS BLOB), 1, 1, 'Zorbaxinha');
INSERT INTO webhook_endpoint (endpoint_id, user_id, url, events, secret, created_at, state) VALUES (2, 8, 'https://bia/x', 1, x'08', 1, 1);
INSERT INTO webhook_event (user_id, kind, object, at) VALUES (7, 11, 1, 1);
INSERT INTO partner_event VALUES (7, 1, zeroblob(16), 11, 1, '{"a":"Zorbaxinha"}');
INSERT INTO partner_event VALUES (8, 1, zeroblob(16), 50, 1, '{"seller_name":"Ana Zorbaxinha"}');
INSERT INTO webhook_delivery (endpoint_id, number, message, kind, object, body, state, created_at, run_at, answer, error)
VALUES (1, 1, zeroblob(16), 11, 1, '{"a":"Zorbaxinha"}', 1, 1, 1, 'Zorbaxinha', 'Zorbaxinha');
INSERT INTO webhook_delivery (endpoint_id, number, message, kind, object, body, state, created_at, run_at)
VALUES (2, 1, zeroblob(16), 11, 1, '{"seller_name":"Ana Zorbaxinha"}', 1, 1, 1);
INSERT INTO webhook_attempt VALUES (1, 1, 1, 1, 1, NULL, 'Zorbaxinha');
INSERT INTO drop_relation (supplier_id, seller_id, email, state, invited_at, since) VALUES (8, 7, 'ana@zorbaxinha.com', 2, 1, 1);
INSERT INTO product (product_id, owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
VALUES (2, 8, 'FOR', '', 'Fornecido', 1, 1, 1, 1, 1, 'fornecido');
INSERT INTO drop_link (supplier_id, seller_id, item_id, site, product_id, created_at) VALUES (8, 7, 5, 'MLB', 2, 1);
INSERT INTO drop_foreign (supplier_id, seller_id, item_id, noted_at) VALUES (7, 8, 6, 1);
INSERT INTO drop_order (supplier_id, seller_id, order_id, ordered_at, sku, title, quantity, unit_cents, amount_cents, state, due_at)
VALUES (8, 7, 9, 1, 'FOR', 'Fornecido', 1, 990, 990, 1, 1);
INSERT INTO drop_order_line SELECT drop_order_id, 1, 6, 'FOR-2', 'Outro', 1, 10 FROM drop_order;
INSERT INTO agency_client (client_id, name, search, notes, tags, keeper_id, created_at, error)
VALUES (1, 'Ana Zorbaxinha', 'ana zorbaxinha', 'fala com ana@zorbaxinha.com', 'x', 7, 1, 'Ana Zorbaxinha');
INSERT INTO agency_account VALUES (701, 1, 7, 1, NULL);
INSERT INTO listing_cost VALUES (7, 5, 1, 1);
INSERT INTO saved_reply (owner_id, title, text, updated_at) VALUES (7, 'Zorbaxinha', 'Zorbaxinha', 1);
INSERT INTO cron_run (run_id, started_at, ended_at, ms, origin, outcome, counts, errors) VALUES (1, 1, 1, 1, 'painel', 2, '{}', '[{"mensagem":"ana@zorbaxinha.com"}]');
INSERT INTO cron_task (name, title, error) VALUES ('x', 'X', 'ana@zorbaxinha.com');
INSERT INTO inactivity_alert VALUES (7, 1, 1);
INSERT INTO request_log VALUES (1, 1, 'r-1', 'GET', '/painel', 200, 1, 'sessao', 7, 'zorbaxinha', 1);
INSERT INTO request_log VALUES (2, 1, 'r-2', 'GET', '/painel', 200, 1, 'chave', 7, '203.0.113.9', 1);
INSERT INTO saved_reply (owner_id, title, text, updated_at) VALUES (NULL, 'Assina Ana Zorbaxinha', 'Fale com @zorbaxinha', 1);
INSERT INTO outside_call (at, request_id, service, what, status, us, error) VALUES (1, 'r-3', 'email', 'boas_vindas', 550, 1, 'no mailbox for Ana Zorbaxinha');
INSERT INTO error_log (at, is_error, message, cause, request_id) VALUES (1, 0, 'not sent to Ana Zorbaxinha', 'ANA ZORBAXINHA is unknown', '');
