//! Consent, codes, tokens and their errors.

use serde_json::json;

use super::{RETURN, Site, VERIFIER, authorization_query};
use crate::sandbox::oauth;

#[test]
fn the_challenge_is_that_of_rfc_7636() {
    assert_eq!(
        oauth::challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
}

#[test]
fn the_consent_page_checks_the_request() {
    let site = Site::start();
    let page = |query: &str| site.get(&format!("/authorization?{query}"), "");
    let good = page(&authorization_query(RETURN, "S256"));
    assert_eq!(good.status, 200);
    assert!(good.text.contains("LOJA_X") && good.text.contains("Recusar"));
    assert_eq!(page(&authorization_query(RETURN, "plain")).status, 400);
    let elsewhere = format!("{RETURN}/x");
    assert_eq!(page(&authorization_query(&elsewhere, "S256")).status, 400);
    assert_eq!(page("response_type=code").status, 400);

    let press = |form: &str| {
        let query = authorization_query(RETURN, "S256");
        let url = format!("{}/authorization?{query}", site.running.url());
        let answer = site.agent.post(url).send(form).unwrap();
        let place = answer.headers().get("location").map(|place| place.to_str().unwrap());
        (answer.status().as_u16(), place.unwrap_or_default().to_owned())
    };
    let agree = "decisao=autorizar&ml_user_id=777";
    let (status, place) = press(agree);
    assert!(status == 303 && place.contains("code=TG-"), "{status} {place}");
    // What is refused is said here: no way back is documented.
    let stays = |status: u16| (status, String::new());
    assert_eq!(press("decisao=recusar&ml_user_id=777"), stays(200));
    site.control("config", &json!({ "collaborators": [777] }));
    assert_eq!(press(agree), stays(403));
    site.control("config", &json!({ "collaborators": [], "pending_data": [777] }));
    assert_eq!(press(agree), stays(403));
}

#[test]
fn who_may_not_authorise_gets_no_token() {
    let site = Site::start();
    for (switches, error) in [
        (json!({ "collaborators": [777] }), "invalid_operator_user_id"),
        (json!({ "collaborators": [], "pending_data": [777] }), "invalid_grant"),
    ] {
        site.control("config", &switches);
        assert_eq!(site.redeem(&site.code(777), VERIFIER).json()["error"], error);
    }
    site.control("config", &json!({ "pending_data": [], "no_offline_access": true }));
    let pair = site.redeem(&site.code(777), VERIFIER).json();
    assert_eq!((&pair["scope"], pair.get("refresh_token")), (&json!("read write"), None));
}

#[test]
fn a_code_needs_its_verifier_and_works_once() {
    let site = Site::start();
    let refused = site.redeem(&site.code(777), &"x".repeat(43));
    assert_eq!((refused.status, &refused.json()["error"]), (400, &json!("invalid_grant")));

    let code = site.code(777);
    let pair = site.redeem(&code, VERIFIER).json();
    assert_eq!(pair["expires_in"], 21_600);
    assert_eq!(pair["token_type"], "bearer");
    assert_eq!(site.redeem(&code, VERIFIER).json()["error"], "invalid_grant");

    let late = site.code(777);
    site.set_clock("2026-11-20T12:40:00Z");
    assert_eq!(site.redeem(&late, VERIFIER).json()["error"], "invalid_grant");
}

#[track_caller]
fn check_refused(site: &Site, fields: &[(&str, &str)], code: &str) {
    let answer = site.token(fields);
    assert_eq!((answer.status, &answer.json()["error"]), (400, &json!(code)));
    assert!(answer.json()["error_description"].is_string());
}

#[test]
fn token_errors_have_the_documented_codes() {
    let site = Site::start();
    check_refused(&site, &[("grant_type", "password")], "unsupported_grant_type");
    check_refused(&site, &[("grant_type", "refresh_token")], "invalid_request");
    check_refused(
        &site,
        &[("grant_type", "authorization_code"), ("code", "TG-1")],
        "invalid_request",
    );
    check_refused(
        &site,
        &[("grant_type", "refresh_token"), ("refresh_token", "TG-1")],
        "invalid_grant",
    );
    check_refused(&site, &[("grant_type", "refresh_token"), ("scope", "root")], "invalid_scope");
    check_refused(
        &site,
        &[("grant_type", "refresh_token"), ("client_secret", "doubled")],
        "invalid_request",
    );
}

#[test]
fn a_refresh_token_works_once() {
    let site = Site::start();
    let (_, first) = site.connect(777);
    let second = site.refresh(&first).json();
    assert_eq!(site.refresh(&first).json()["error"], "invalid_grant");
    assert_eq!(site.log("violations")["violations"][0]["rule"], "refresh_reused");
    // The reuse of an old token does not end the newer pair.
    let second = second["refresh_token"].as_str().unwrap();
    assert_eq!(site.refresh(second).status, 200);
}

#[test]
fn tokens_end_by_time_and_by_revocation() {
    let site = Site::start();
    let (access, refresh) = site.connect(777);
    assert_eq!(site.get("/users/me", &access).json()["id"], 777);
    assert_eq!(site.get("/users/me", "wrong").status, 401);
    site.set_clock("2026-11-20T18:30:00Z");
    let expired = site.get("/users/me", &access);
    assert_eq!((expired.status, &expired.json()["code"]), (401, &json!("unauthorized")));
    let access = site.refresh(&refresh).json()["access_token"].clone();
    let access = access.as_str().unwrap();
    assert_eq!(site.get("/users/me", access).status, 200);
    site.control("tokens", &json!({ "ml_user_id": 777, "action": "revoke" }));
    assert_eq!(site.get("/users/me", access).status, 401);
}
