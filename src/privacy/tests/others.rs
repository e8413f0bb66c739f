//! Whoever else is in the database keeps what is theirs, and what is tried again.

use std::sync::Arc;

use super::*;
use crate::accounts::self_service;
use crate::base::Instant;
use crate::base::packed::{pack, unpack};
use crate::privacy::erase;
use crate::privacy::sweeps::PIECE;

/// A service with people: number, address, name, number of chat.
fn with(people: &[(i64, &'static str, &'static str, Option<&'static str>)]) -> TestApp {
    let test = TestApp::new(config(&[]));
    let people = people.to_vec();
    test.write(move |tx| {
        people.iter().try_for_each(|(id, email, name, chat)| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, chat_number, created_at) VALUES (?1, ?2, ?3, 'pro', ?4, 1)",
                (id, email, name, chat),
            )
        })
    });
    test
}

fn run(test: &TestApp, statements: &'static [&'static str]) {
    test.write(|tx| statements.iter().try_for_each(|sql| tx.run(sql, [])));
}

/// An entry of the audit log, made by a command.
fn noted(test: &TestApp, action: &'static str, id: &str, name: &str, after: serde_json::Value) {
    let (id, name) = (id.to_owned(), name.to_owned());
    test.write(move |tx| {
        let actor = Actor::local(ActorKind::Command, "person erase");
        let object = action.split('.').next().unwrap_or_default();
        let act = Act { action, object, object_id: id, object_name: &name };
        audit::note(tx, &actor, &act, (), &after)
    });
}

fn texts(test: &TestApp, sql: &str) -> Vec<String> {
    test.ask(sql, |row| row.get(0))
}

/// What the audit log says: actor, object and the value afterwards.
fn trail(test: &TestApp) -> Vec<String> {
    texts(test, "SELECT actor_name || ' ' || object_name || ' ' || coalesce(after, '') FROM audit")
}

#[test]
fn a_name_that_is_a_word_of_others_blanks_nothing_of_theirs() {
    let test = with(&[
        (7, "f@exemplo.com", "Fornecedor", None),
        (6, "p@exemplo.com", "permissoes", None),
        (5, "o@exemplo.com", "Plano Ouro", None),
        (4, "c@exemplo.com", "person erase", None),
        (8, "bia@exemplo.com", "Bia", None),
    ]);
    run(
        &test,
        &[
            "INSERT INTO notification VALUES (8, 1, 1, 7, 'Pagamento a fornecedor', 'permissoes', NULL, NULL, NULL)",
            "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
             VALUES ('email', 8, 'lembrete', '{\"fornecedor\":\"Bia\",\"total\":2}', 'x-1', 0, 1, 1)",
        ],
    );
    noted(
        &test,
        "relacao.criar",
        "3",
        "Rui",
        serde_json::json!({ "fornecedor": "Bia", "vendedor": "Rui" }),
    );
    noted(&test, "papel.alterar", "pro", "Pro", serde_json::json!({ "permissoes": ["meets"] }));
    noted(&test, "plano.alterar", "1", "Plano Ouro", serde_json::json!({ "preco": "10.00" }));
    let before = trail(&test);
    for id in [7, 6, 5, 4] {
        eraser(&test).erase(UserId(id), &command()).unwrap();
    }
    assert_eq!(trail(&test)[..3], before, "acts of before keep their words");
    let kept = "SELECT title || message FROM notification UNION ALL SELECT params FROM outbox";
    assert_eq!(
        texts(&test, kept),
        ["Pagamento a fornecedorpermissoes", r#"{"fornecedor":"Bia","total":2}"#]
    );
}

#[test]
fn what_a_namesake_goes_by_stays_theirs() {
    let test = with(&[
        (7, "nova@exemplo.com", "Maria da Silva", Some("5511987654321")),
        (8, "maria@exemplo.com", "Maria da Silva", Some("5511987654321")),
        (9, "rui@exemplo.com", "Rui", None),
    ]);
    // The address that is somebody else's now was once this person's.
    noted(&test, "aluno.alterar", "7", "x", serde_json::json!({ "email": "maria@exemplo.com" }));
    let of_namesake =
        serde_json::json!({ "email": "maria@exemplo.com", "chat_number": "5511987654321" });
    noted(&test, "aluno.criar", "8", "Maria da Silva", of_namesake);
    // And somebody had before the address that this person has now.
    noted(&test, "aluno.alterar", "9", "Rui", serde_json::json!({ "email": "nova@exemplo.com" }));
    noted(
        &test,
        "cliente.criar",
        "1",
        "Maria da Silva",
        serde_json::json!({ "nome": "Maria da Silva" }),
    );
    run(
        &test,
        &[
            "INSERT INTO notification VALUES (9, 1, 1, 7, 'Maria da Silva aceitou', 'fale com 5511987654321', NULL, NULL, NULL)",
            "INSERT INTO agency_client (client_id, name, search, created_at) VALUES (1, 'Maria da Silva', 'maria da silva', 1)",
        ],
    );
    eraser(&test).erase(UserId(7), &command()).unwrap();
    let trail = trail(&test);
    assert_eq!(trail[0], "person erase  ", "the person's own entry");
    assert!(trail[1].contains("maria@exemplo.com") && trail[1].contains("5511987654321"));
    assert!(trail[2].contains("Rui") && trail[2].contains("nova@exemplo.com"));
    assert!(trail[3].contains("Maria da Silva"));
    let kept = "SELECT title || message FROM notification UNION ALL SELECT name FROM agency_client";
    let kept = texts(&test, kept);
    assert_eq!(kept, ["Maria da Silva aceitoufale com 5511987654321", "Maria da Silva"]);
    // Once the namesake goes as well, nobody else is called so.
    eraser(&test).erase(UserId(8), &command()).unwrap();
    let left = texts(&test, "SELECT title || message FROM notification");
    assert_eq!(left, ["[apagado] aceitoufale com [apagado]"]);
}

#[test]
fn purchases_with_an_address_that_is_somebody_elses_now_stay_whose_they_are() {
    let test = with(&[
        (8, "x@exemplo.com", "Xavier", None),
        (7, "x2@exemplo.com", "Ana", None),
        (9, "bia@exemplo.com", "Bia", None),
    ]);
    run(
        &test,
        &[
            "INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, user_id, email, purchase, subscriber, happened_ms, apart)
             VALUES (1, 1, x'01', 'PURCHASE_APPROVED', 1, 1, 'x', 8, 'x@exemplo.com', 'HP1', 'SUB', 1, 0)",
            "INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, user_id, email, purchase, happened_ms)
             VALUES (2, 1, x'02', 'PURCHASE_APPROVED', 1, 3, 'x', NULL, 'x@exemplo.com', 'HP2', 1)",
            "INSERT INTO checkout_body VALUES (1, 1, '{\"data\":{\"buyer\":{\"email\":\"x@exemplo.com\",\"document\":\"CPF\"}}}')",
            "INSERT INTO drop_relation (supplier_id, seller_id, email, state, invited_at, since) VALUES (9, 8, 'x@exemplo.com', 2, 1, 1)",
            "UPDATE user SET email = 'novo@exemplo.com' WHERE user_id = 8",
            "UPDATE user SET email = 'x@exemplo.com' WHERE user_id = 7",
        ],
    );
    let owner = Owner { id: UserId(7), email: "x@exemplo.com".to_owned() };
    let mut file = Vec::new();
    export::write(&test.app.db, ZONE, &owner, &mut file).unwrap();
    let text = unzipped(&file);
    assert!(text.contains("HP2") && !text.contains("HP1") && !text.contains("CPF"), "{text}");
    assert!(!text.contains("\"vendedor\""), "{text}");
    let kept = "SELECT email || subscriber FROM checkout_event WHERE event_id = 1
        UNION ALL SELECT body FROM checkout_body
        UNION ALL SELECT seller_id || ' ' || email FROM drop_relation";
    let before = texts(&test, kept);
    assert_eq!(before.len(), 3);
    // Removed from the panel, and erased.
    test.write(|tx| {
        let forgotten = crate::checkout::store::forget_person(tx, UserId(0), "x@exemplo.com", 9)?;
        assert_eq!(forgotten, 1);
        Ok(())
    });
    assert_eq!(texts(&test, kept), before);
    eraser(&test).erase(UserId(7), &command()).unwrap();
    assert_eq!(texts(&test, kept), before);
}

#[test]
fn an_erasure_that_fails_is_told_and_done_as_soon_as_it_can_be() {
    let test = with(&[
        (7, "ana@exemplo.com", "Ana Souza", None),
        (6, "eva@exemplo.com", "Eva Prado", None),
        (8, "bia@exemplo.com", "Bia", None),
    ]);
    run(
        &test,
        &[
            "INSERT INTO notification VALUES (8, 1, 1, 7, 'Ana Souza aceitou', '', NULL, NULL, NULL)",
            "CREATE TRIGGER fails BEFORE UPDATE OF title ON notification BEGIN SELECT RAISE(ABORT, 'no'); END",
        ],
    );
    assert!(eraser(&test).erase(UserId(7), &command()).is_err());
    // The start is not kept up, nor is another person's erasure.
    assert_eq!(eraser(&test).reconcile().unwrap(), 0);
    eraser(&test).erase(UserId(6), &command()).unwrap();
    let open = |test: &TestApp| test.read(erase::unfinished);
    assert_eq!(open(&test), 0, "it may be under way");
    test.dir.now_is(NOW.plus(601));
    assert_eq!(open(&test), 1);
    assert!(eraser(&test).resume().is_err());
    run(&test, &["DROP TRIGGER fails"]);
    assert_eq!(eraser(&test).resume().unwrap(), 1);
    assert_eq!(open(&test), 0);
    assert_eq!(texts(&test, "SELECT title FROM notification"), ["[apagado] aceitou"]);
}

#[test]
fn whatever_names_an_address_is_a_reason_to_erase_it() {
    for names_it in [
        "INSERT INTO student_import (file_name, by_name, created_at, total, to_make, made, existing, faulty, rows)
         VALUES ('a.csv', 'Rui', 1, 1, 1, 0, 0, 0, '[{\"linha\":2,\"nome\":\"Ana\",\"email\":\"ana@exemplo.com\"}]')",
        "INSERT INTO agency_client (client_id, name, search, notes, created_at) VALUES (1, 'Loja', 'loja', 'ana@exemplo.com', 1)",
        "INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, email, happened_ms)
         VALUES (1, 1, x'01', 'PURCHASE_OUT_OF_SHOPPING_CART', 13, 3, 'x', 'ana@exemplo.com', 1)",
    ] {
        let test = with(&[]);
        let erase = || eraser(&test).erase_address("ana@exemplo.com", &command());
        assert!(matches!(erase(), Err(erase::Refusal::Nobody)));
        test.write(move |tx| tx.run(names_it, []));
        erase().unwrap();
        assert!(matches!(erase(), Err(erase::Refusal::Nobody)), "{names_it}");
    }
}

#[test]
fn an_account_that_was_removed_before_is_erased_by_its_address_also_in_copies() {
    let test = with(&[(8, "bia@exemplo.com", "Bia", None)]);
    let removed = serde_json::json!({
        "nome": "Ana Souza", "email": "ana@exemplo.com", "criado_em": Instant(5).rfc3339(),
    });
    test.write(move |tx| {
        let act = Act {
            action: "aluno.excluir",
            object: "aluno",
            object_id: "7".to_owned(),
            object_name: "Ana Souza",
        };
        audit::note(tx, &command(), &act, &removed, ())?;
        tx.run("INSERT INTO user (user_id, email, name, role, created_at, removed_at) VALUES (7, 'removida:7', 'Pessoa removida', 'free', 9, 9)", [])?;
        tx.run("INSERT INTO notification VALUES (8, 1, 1, 7, 'Ana Souza aceitou', '', NULL, NULL, NULL)", [])
    });
    eraser(&test).erase_address("ana@exemplo.com", &command()).unwrap();
    assert_eq!(trail(&test)[0], "teste  ");
    assert_eq!(texts(&test, "SELECT coalesce(before, '') FROM audit WHERE audit_id = 1"), [""]);
    assert_eq!(texts(&test, "SELECT title FROM notification"), ["[apagado] aceitou"]);
    // A copy has the account, from before it was removed.
    run(
        &test,
        &[
            "DELETE FROM erasure",
            "UPDATE user SET email = 'ana@exemplo.com', name = 'Ana Souza', removed_at = NULL, created_at = 5 WHERE user_id = 7",
        ],
    );
    assert_eq!(eraser(&test).reconcile().unwrap(), 1);
    assert!(test.read(|tx| by_email(tx, "ana@exemplo.com")).is_none());
}

#[test]
fn names_of_before_are_found_however_often_somebody_looked() {
    let test = with(&[
        (7, "ana@exemplo.com", "Ana \"Nina\" Souza", None),
        (8, "bia@exemplo.com", "Bia", None),
    ]);
    test.write(|tx| {
        let actor = Actor::local(ActorKind::Command, "teste");
        self_service::rename(tx, &actor, UserId(7), "Ana Prado", Some("5511987654321"))?;
        self_service::rename(tx, &actor, UserId(7), "Ana Prado", Some("5511987654321"))?;
        self_service::rename(tx, &actor, UserId(7), "Zoé", None)?;
        for _ in 0..1_000 {
            let act = Act { action: "aluno.consultar", object: "aluno", object_id: "7".to_owned(), object_name: "Zoé" };
            audit::note(tx, &actor, &act, (), ())?;
        }
        tx.run("INSERT INTO notification VALUES (8, 1, 1, 7, 'Ana Prado aceitou', 'Ligue: 5511987654321', NULL, NULL, NULL)", [])?;
        tx.run(
            "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
             VALUES ('email', 8, 'lembrete', ?1, 'x-1', 0, 1, 1)",
            [serde_json::json!({ "supplier": "Zoé", "x": "de Ana \"Nina\" Souza" }).to_string()],
        )?;
        // Bought with another address.
        tx.run(
            "INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, user_id, email, happened_ms)
             VALUES (1, 1, x'01', 'x', 1, 1, 'x', 7, 'outra@exemplo.com', 1)",
            [],
        )?;
        tx.run("INSERT INTO notification VALUES (8, 2, 2, 7, 'Compra', 'de outra@exemplo.com', NULL, NULL, NULL)", [])
    });
    let changes = "SELECT count(*) || '' FROM audit WHERE action = 'aluno.alterar'";
    assert_eq!(texts(&test, changes), ["2"], "what stays the same is no change");
    eraser(&test).erase(UserId(7), &command()).unwrap();
    assert_eq!(
        texts(&test, "SELECT title || '/' || message FROM notification ORDER BY created_at"),
        ["[apagado] aceitou/Ligue: [apagado]", "Compra/de [apagado]"]
    );
    assert_eq!(
        texts(&test, "SELECT params FROM outbox"),
        [r#"{"supplier":"[apagado]","x":"de [apagado]"}"#]
    );
}

#[test]
fn an_address_that_was_erased_again_is_so_in_copies_from_in_between() {
    let test = with(&[]);
    let buys = |at: i64| {
        test.write(move |tx| {
            tx.run(
                "INSERT INTO checkout_event (received_at, dedup_key, event, kind, state, outcome, email, happened_ms)
                 VALUES (?1, randomblob(16), 'x', 1, 4, 'x', 'ana@exemplo.com', 1)",
                [at],
            )
        });
    };
    let erase = || eraser(&test).erase_address("ana@exemplo.com", &command()).unwrap();
    buys(NOW.0 - 5);
    erase();
    test.dir.now_is(NOW.plus(100));
    buys(NOW.0 + 50);
    erase();
    // The copy was made after the first erasure and before the second.
    buys(NOW.0 + 50);
    test.write(move |tx| tx.run("UPDATE erasure SET at = ?1", [NOW]));
    assert_eq!(eraser(&test).reconcile().unwrap(), 1);
    assert_eq!(texts(&test, "SELECT DISTINCT email FROM checkout_event"), [""]);
    // Who buys after it is somebody new.
    buys(NOW.0 + 200);
    assert_eq!(eraser(&test).reconcile().unwrap(), 0);
    assert_eq!(texts(&test, "SELECT max(email) FROM checkout_event"), ["ana@exemplo.com"]);
}

#[test]
fn packed_days_of_requests_lose_the_person_too() {
    let test = with(&[(7, "ana@exemplo.com", "Ana", None), (8, "bia@exemplo.com", "Bia", None)]);
    let line = |id: i64| {
        format!(
            "{{\"address\":\"203.0.113.{id}\",\"caller\":\"sessao\",\"caller_id\":{id},\"path\":\"/painel\"}}\n"
        )
    };
    let packed = Arc::new(pack(&(line(7) + &line(8))).unwrap());
    for part in 1..=i64::try_from(PIECE).unwrap() + 2 {
        let packed = Arc::clone(&packed);
        test.write(move |tx| {
            tx.run(
                "INSERT INTO log_batch (kind, day, part, entries, first_id, last_id, bytes, digest, created_at, body)
                 VALUES ('requisicoes', 1, ?1, 2, 1, 2, ?2, ?3, 1, ?4)",
                (part, packed.bytes, packed.digest, &packed.body),
            )
        });
    }
    eraser(&test).erase(UserId(7), &command()).unwrap();
    let kept = test.ask("SELECT bytes, body FROM log_batch", |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    });
    for (bytes, body) in kept {
        let lines = unpack(&body, bytes.unsigned_abs()).expect("it is whole");
        assert!(!lines.contains("203.0.113.7") && lines.contains("203.0.113.8"), "{lines}");
    }
}
