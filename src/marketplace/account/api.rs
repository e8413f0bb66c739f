//! `GET /api/ext/ml/check`: whether an account is linked to the caller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::{self, LinkedAccount};
use crate::app::App;
use crate::base::{MlUserId, Zone};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::ExtensionUser;
use crate::wire;

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [
    { "required": ["seller_id"], "properties": { "seller_id": { "minLength": 1 } } },
    { "required": ["nickname"], "properties": { "nickname": { "minLength": 1 } } },
]))]
// Other parameters are ignored, but each may be given only once.
#[schemars(extend("additionalProperties" = { "type": "string" }))]
pub struct CheckQuery {
    /// Number of a seller account; decides when both are given.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]*$"))]
    seller_id: Field<String>,
    /// Nickname of a seller account, in any case.
    #[serde(default)]
    nickname: Field<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MarketplaceCheck")]
pub struct CheckReply {
    ok: bool,
    /// Whether the account is among the user's.
    vinculada: bool,
    conta: Option<CheckAccount>,
    /// How many accounts the user has linked.
    total_contas: usize,
}

wire! {
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "MarketplaceCheckAccount")]
    struct CheckAccount of(account: LinkedAccount, zone: Zone) {
        ml_user_id: MlUserId = account.ml_user_id,
        nickname: String = account.nickname,
        /// False until the account is linked again.
        token_ok: bool = account.token_ok,
        /// Civil time of the last reading; null before the first.
        sincronizado_em: Option<String> = account.synced_at.map(|at| zone.spaced(at)),
        /// Active and paused listings.
        anuncios: i64 = account.listings,
        /// Such as `5_green`; empty without one.
        reputacao: String = account.reputation,
        /// Open claims.
        reclamacoes: i64 = account.open_claims,
        /// Why the account must be linked again.
        erro: Option<String> = account.error,
    }
}

enum Asked {
    Number(MlUserId),
    Nickname(String),
}

/// Searches the caller's accounts, of which there are few.
pub fn check(app: &App, user: &ExtensionUser, request: &Request) -> Result<Reply, Problem> {
    let asked = asked(request.query()?)?;
    let accounts =
        app.db.read(request.lane, |tx| store::linked_accounts(tx, user.account.user_id))?;
    let total_contas = accounts.len();
    let found = accounts.into_iter().find(|one| match &asked {
        Asked::Number(number) => one.ml_user_id == *number,
        Asked::Nickname(nickname) => one.nickname.to_lowercase() == nickname.to_lowercase(),
    });
    Reply::json(&CheckReply {
        ok: true,
        vinculada: found.is_some(),
        conta: found.map(|account| CheckAccount::of(account, app.zone())),
        total_contas,
    })
}

fn asked(query: CheckQuery) -> Result<Asked, Problem> {
    let mut check = Check::text();
    let seller_id = check.optional("seller_id", query.seller_id);
    let nickname = check.optional("nickname", query.nickname);
    match (seller_id, nickname) {
        (Some(digits), _) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            // A number that does not fit an `i64` belongs to no account.
            Ok(Asked::Number(MlUserId(digits.parse().unwrap_or(0))))
        }
        (Some(_), _) => Err(Problem::field("seller_id", "must be a number")),
        (None, Some(nickname)) => Ok(Asked::Nickname(nickname)),
        (None, None) => Err(Problem::field("seller_id", "seller_id or nickname is required")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(query: &str) -> String {
        match crate::http::input::query(query).and_then(asked) {
            Ok(Asked::Number(number)) => format!("number {number}"),
            Ok(Asked::Nickname(nickname)) => format!("nickname {nickname}"),
            Err(problem) => format!("{:?}", problem.fields),
        }
    }

    #[test]
    fn the_number_decides_and_one_of_both_is_needed() {
        assert_eq!(said("seller_id=777&nickname=LOJA"), "number 777");
        assert_eq!(said("nickname=LOJA%20X&other=1"), "nickname LOJA X");
        assert_eq!(said(&format!("seller_id={}", "9".repeat(40))), "number 0");
        for bad in ["", "seller_id=", "seller_id=7a", "seller_id=-7", "seller_id=+7&nickname=x"] {
            assert!(said(bad).contains("seller_id"), "{bad}");
        }
    }
}
