//! Links: consent, history, tokens.

use serde_json::json;

use super::*;

#[test]
fn an_account_is_linked_once_and_its_history_read() {
    let world = World::new();
    world.control("history", &json!({ "ml_user_id": SHOP.0, "days": 70, "daily": 20 }));
    assert_eq!(world.link(ANA), "/painel/ml: vinculada");
    world.read_history();

    assert_eq!(
        world.rows("SELECT owner_id, nickname, token_ok, ended_at FROM ml_account JOIN ml_sync USING (ml_user_id) WHERE area = 1"),
        [format!("1 LOJA_X 1 {}", NOW.0)]
    );
    let span =
        format!("SELECT count(*) > 900, min(created_at) < {} FROM sale_order", NOW.0 - 68 * DAY_S);
    assert_eq!(world.rows(&span), ["1 1"]);
    assert_eq!(
        world.rows("SELECT count(*) > 0 FROM sale_order WHERE status = 8"),
        ["1"],
        "cancelled ones too"
    );
    assert_eq!(world.rows("SELECT count(*) FROM notification"), ["0"], "history is not told");
    let asked = world.calls("/orders/search");
    world.read_history();
    assert_eq!(world.calls("/orders/search"), asked, "what is read is not read again");
    for token in world
        .rows("SELECT access_token FROM ml_account UNION ALL SELECT refresh_token FROM ml_account")
    {
        assert!(!token.contains("APP_USR") && !token.contains("TG-"), "{token}");
    }
    assert_eq!(world.log("violations")["violations"], json!([]));
}

#[test]
fn history_goes_on_where_it_stopped() {
    let world = World::new();
    world.control("history", &json!({ "ml_user_id": SHOP.0, "days": 50, "daily": 3 }));
    world.link(ANA);
    let skip_first_window = json!({
        "path_prefix": "/orders/search", "skip": 6, "times": 1, "kind": "status", "code": 503,
    });
    world.control("faults", &skip_first_window);
    world.read_history();
    let partly = world.rows(
        "SELECT good_until IS NOT NULL, count(*) > 0 FROM ml_sync, sale_order WHERE area = 1",
    );
    assert_eq!(partly, ["0 1"]);
    world.advance(60);
    world.read_history();
    assert_eq!(world.rows("SELECT good_until IS NOT NULL FROM ml_sync WHERE area = 1"), ["1"]);
}

#[test]
fn a_consent_works_once_and_for_its_own_person() {
    let world = World::new();
    let begin = |person| location(&world.begin(person));
    let consent = |query: &str, refuse: bool| {
        let answer = world.control(
            "authorize",
            &json!({ "query": query, "ml_user_id": SHOP.0, "refuse": refuse }),
        );
        answer["location"].as_str().unwrap().to_owned()
    };
    let refused = consent(&begin(ANA), true);
    assert_eq!(world.finish_link(ANA, &refused), "/painel/ml: recusada");

    let agreed = consent(&begin(ANA), false);
    assert_eq!(world.finish_link(RUI, &agreed), "/painel/ml: expirada", "somebody else's state");
    assert_eq!(world.finish_link(ANA, &agreed), "/painel/ml: vinculada");
    assert_eq!(world.finish_link(ANA, &agreed), "/painel/ml: expirada", "used before");

    let late = consent(&begin(ANA), false);
    world.advance(601);
    assert_eq!(world.finish_link(ANA, &late), "/painel/ml: expirada");

    for _ in 0..15 {
        begin(ANA);
    }
    assert_eq!(world.rows("SELECT count(*) FROM ml_link_attempt"), ["10"]);
    let down = consent(&begin(ANA), false);
    world.control("faults", &json!({ "path_prefix": "/oauth", "kind": "status", "code": 503 }));
    assert_eq!(world.finish_link(ANA, &down), "/painel/ml: indisponivel");
}

#[test]
fn an_account_belongs_to_one_person_until_unlinked() {
    let world = World::linked();
    assert_eq!(world.link(RUI), "/painel/ml: de_outra_pessoa");
    let me = || with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller));
    assert!(me().is_ok(), "the refused consent left Ana's link alone");
    assert_eq!(world.link(ANA), "/painel/ml: revinculada");

    let unlink = |person| {
        account::pages::unlink(
            &world.app,
            &person_of(&world, person),
            &world.request("/painel/ml/contas/777/desvincular", b""),
        )
    };
    assert_eq!(unlink(RUI).unwrap_err().code, crate::http::Code::NotFound);
    assert_eq!(location(&unlink(ANA).unwrap()), "/painel/ml: desvinculada");
    assert!(matches!(me(), Err(CallError::NotLinked)));
    assert_eq!(world.link(RUI), "/painel/ml: vinculada");
}

#[test]
fn many_calls_at_once_refresh_once() {
    let world = World::linked();
    world.control("tokens", &json!({ "ml_user_id": SHOP.0, "action": "expire_access" }));
    let before = world.calls("/oauth/token");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller))
                    .unwrap()
            });
        }
    });
    assert_eq!(world.calls("/oauth/token"), before + 1);
    world.advance(6 * 3600);
    with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller)).unwrap();
    assert_eq!(
        world.calls("/oauth/token"),
        before + 2,
        "a token that is about to end is replaced before the call"
    );
    assert_eq!(world.log("violations")["violations"], json!([]));
}

#[test]
fn a_refused_refresh_is_told_once_and_ends_the_calls() {
    let world = World::linked();
    world.control("tokens", &json!({ "ml_user_id": SHOP.0, "action": "revoke" }));
    let me = || with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller));
    assert!(matches!(me(), Err(CallError::LinkLost)));
    let calls = world.calls("/");
    assert!(matches!(me(), Err(CallError::LinkLost)));
    assert_eq!(world.calls("/"), calls, "no further call");
    assert_eq!(
        world.rows("SELECT token_ok, access_token, refresh_token, error LIKE '%Vincule a conta de novo.' FROM ml_account"),
        ["0 - - 1"],
    );
    assert_eq!(world.rows("SELECT kind, title FROM notification"), ["8 Vínculo perdido"]);
    world.link(ANA);
    assert!(me().is_ok());
}

#[test]
fn an_unreachable_token_endpoint_is_no_lost_link() {
    let world = World::linked();
    world.control("tokens", &json!({ "ml_user_id": SHOP.0, "action": "expire_access" }));
    world.control(
        "faults",
        &json!({ "path_prefix": "/oauth", "times": 1, "kind": "status", "code": 500 }),
    );
    let me = || with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller));
    assert!(matches!(me(), Err(CallError::Failed(client::Failure::Unreachable))));
    assert!(me().is_ok());
}

#[test]
fn tokens_of_another_key_are_an_error_and_stay() {
    let world = World::linked();
    let kept = "SELECT token_ok, hex(refresh_token), error FROM ml_account";
    let before = world.rows(kept);
    let other = crate::base::secrets::Sealer::new([8; 32]).seal(
        b"APP_USR-1",
        crate::base::secrets::SealContext {
            table: "ml_account",
            column: "access_token",
            row: "777",
        },
    );
    world.write(move |tx| tx.execute("UPDATE ml_account SET access_token = ?1", [other]));
    let me = with_token(&world.app, SHOP, |caller| world.app.marketplace.client.me(caller));
    assert!(matches!(me, Err(CallError::Db(DbError::Sealed(_)))));
    assert_eq!(world.rows(kept), before);
    assert_eq!(world.rows("SELECT count(*) FROM ml_account WHERE access_token IS NULL"), ["0"]);
}

#[test]
fn linked_accounts_are_read_for_what_a_newer_program_reads() {
    let world = World::linked();
    let areas = "SELECT area, next_at < 9223372036854775807, at_once FROM ml_sync WHERE area IN (4, 6) ORDER BY area";
    let plan = || {
        world.app.db.write_pieces(sync::store::plan_new_areas).unwrap();
        world.rows(areas)
    };
    world.write(|tx| tx.run("DELETE FROM ml_sync WHERE area IN (4, 6)", []));
    assert_eq!(plan(), ["4 1 0", "6 1 0"]);
    sync::sweep(&world.app, &|| false).unwrap();
    assert_eq!(world.rows("SELECT count(good_until) FROM ml_sync"), ["6"]);
    let known = world.rows("SELECT * FROM ml_sync");
    plan();
    assert_eq!(world.rows("SELECT * FROM ml_sync"), known, "what is planned stays");

    // Shipments wait for the orders, and everything for a lost link.
    world.write(|tx| tx.run("DELETE FROM ml_sync WHERE area IN (4, 6)", []));
    world.write(|tx| tx.run("UPDATE ml_sync SET good_until = NULL WHERE area = 1", []));
    assert_eq!(plan(), ["4 1 0", "6 0 0"]);
    world.write(|tx| tx.run("DELETE FROM ml_sync WHERE area IN (4, 6)", []));
    world.write(|tx| tx.run("UPDATE ml_account SET token_ok = 0", []));
    assert_eq!(plan(), ["4 0 0", "6 0 0"]);
    assert_eq!(world.log("violations")["violations"], json!([]));
}
