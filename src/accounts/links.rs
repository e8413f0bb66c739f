//! Links with which a person chooses a password: making, finding and using
//! them.
//!
//! A person has one valid link at a time; it works once. Only the digest of its
//! code is stored. The code itself is stored, encrypted, only until the message
//! with it was sent. Decisions accounts-18, accounts-19.

use crate::base::retention::LINKS;
use crate::base::secrets::SealContext;
use crate::base::text::{from_hex, hex};
use crate::base::{DAY_S, Instant, Sealer, TokenHash, UserId, secrets};
use crate::db::{ReadTx, Result, WriteTx};
use crate::outbox;
use crate::row;

/// Lifetime of a link for a person who has no password yet, or is new here.
pub const FIRST_S: i64 = 7 * DAY_S;
/// Lifetime of a link for a person who forgot the password.
pub const FORGOTTEN_S: i64 = 2 * 3600;

/// Bytes of a code, written as hexadecimal digits.
const CODE_BYTES: usize = PERSON_BYTES + 24;
/// The first of these bytes, which are the person's number.
const PERSON_BYTES: usize = 6;

/// A link just made.
pub struct NewLink {
    /// The secret in the link's address.
    pub code: String,
    /// The key under which the link is stored; it does not open the link.
    pub name: String,
}

/// Makes a link that replaces the earlier ones of the person.
pub fn make(
    tx: &WriteTx<'_>,
    user: UserId,
    expires_at: Instant,
    sealer: Option<&Sealer>,
) -> Result<NewLink> {
    end_earlier(tx, user)?;
    issue(tx, user, expires_at, sealer)
}

/// Ends the links of a person, and drops waiting messages that contain one of
/// them.
pub fn end_earlier(tx: &WriteTx<'_>, user: UserId) -> Result<()> {
    tx.execute(
        "UPDATE one_time_link SET used_at = ?2 WHERE user_id = ?1 AND purpose = 'senha' AND used_at IS NULL",
        (user, tx.now()),
    )?;
    outbox::drop_links(tx, user)?;
    Ok(())
}

/// Makes a link for a person who has no other. With a sealer the code is
/// stored, encrypted, for the message that contains it.
pub fn issue(
    tx: &WriteTx<'_>,
    user: UserId,
    expires_at: Instant,
    sealer: Option<&Sealer>,
) -> Result<NewLink> {
    let code = format!("{:012x}{}", user.0, secrets::random_hex::<24>());
    let hash = key(&code);
    let name = hex(&hash.0);
    let sealed = sealer.map(|sealer| sealer.seal(code.as_bytes(), place(&name)));
    tx.execute(
        "INSERT INTO one_time_link (link_hash, purpose, user_id, code, created_at, expires_at)
         VALUES (?1, 'senha', ?2, ?3, ?4, ?5)",
        (hash, user, sealed, tx.now(), expires_at),
    )?;
    Ok(NewLink { code, name })
}

/// The key under which a link is stored: the digest of its code. A code begins
/// with the person's number, and this number replaces the first bytes of the
/// digest. So the links of people who were created one after the other are
/// stored next to each other in the file, and rows named after these links too.
/// Codes of earlier versions are entirely random.
pub fn key(code: &str) -> TokenHash {
    let mut key = TokenHash::of(code);
    let person = code.get(..2 * PERSON_BYTES).filter(|_| code.len() == 2 * CODE_BYTES);
    if let Some(person) = person.and_then(from_hex) {
        key.0[..PERSON_BYTES].copy_from_slice(&person);
    }
    key
}

/// How many encrypted codes are stored for messages that were not sent yet.
pub fn count_sealed(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value(
        "SELECT count(*) FROM one_time_link
         WHERE code IS NOT NULL AND used_at IS NULL AND expires_at > ?1",
        [tx.now()],
    )
}

/// Whether the sealer can decrypt all codes of messages that were not sent yet;
/// `None` when there are none.
pub fn all_open(tx: &ReadTx<'_>, sealer: &Sealer) -> Result<Option<bool>> {
    let mut all = None;
    tx.each(
        "SELECT link_hash, code FROM one_time_link
         WHERE code IS NOT NULL AND used_at IS NULL AND expires_at > ?1",
        [tx.now()],
        |row| {
            let (hash, code): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let opens = sealer.open(&code, place(&hex(&hash))).is_ok();
            all = Some(opens && all.unwrap_or(true));
            Ok(())
        },
    )?;
    Ok(all)
}

/// Deletes all encrypted codes; the messages that need one are not sent.
pub fn forget_sealed(tx: &WriteTx<'_>) -> Result<()> {
    tx.run("UPDATE one_time_link SET code = NULL WHERE code IS NOT NULL", [])
}

/// Where the encrypted code of a link is stored, by the link's name.
pub const fn place(name: &str) -> SealContext<'_> {
    SealContext { table: "one_time_link", column: "code", row: name }
}

pub fn address(base_url: &str, code: &str) -> String {
    format!("{base_url}/senha?codigo={code}")
}

/// The encrypted code of a link by its name, and the link's end, while the link
/// works and its message was not sent yet.
pub fn sealed(tx: &ReadTx<'_>, name: &str) -> Result<Option<(Vec<u8>, Instant)>> {
    let Some(hash) = from_hex(name) else {
        return Ok(None);
    };
    tx.tuple(
        "SELECT code, expires_at FROM one_time_link
         WHERE link_hash = ?1 AND purpose = 'senha' AND used_at IS NULL AND expires_at > ?2
             AND code IS NOT NULL",
        (hash, tx.now()),
    )
}

row! {
    /// A link that works, and its person.
    pub struct ValidLink {
        pub user: UserId = "u.user_id",
        pub email: String = "u.email",
        pub expires_at: Instant = "l.expires_at",
    }
}

/// The link of a code, while it works: not used, not expired, its person not
/// suspended.
pub fn find_valid(tx: &ReadTx<'_>, link: &TokenHash) -> Result<Option<ValidLink>> {
    tx.record(
        "FROM one_time_link l JOIN user u ON u.user_id = l.user_id
         WHERE l.link_hash = ?1 AND l.purpose = 'senha' AND l.used_at IS NULL AND l.expires_at > ?2
             AND u.suspended_at IS NULL",
        (link, tx.now()),
    )
}

/// Marks a link as used and deletes its code; returns its person, if it still
/// worked.
pub fn use_up(tx: &WriteTx<'_>, link: &TokenHash) -> Result<Option<UserId>> {
    let Some(valid) = find_valid(tx, link)? else {
        return Ok(None);
    };
    tx.execute(
        "UPDATE one_time_link SET used_at = ?2, code = NULL WHERE link_hash = ?1",
        (link, tx.now()),
    )?;
    Ok(Some(valid.user))
}

/// Removes links that ended long ago, at most `most` of them; returns their
/// number.
pub fn forget_ended(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    // No link lives longer than a first one.
    let made_before = LINKS.before(tx.now()).minus(FIRST_S);
    let mut removed = 0;
    for purpose in ["senha", "setup"] {
        removed += tx.execute(
            "DELETE FROM one_time_link WHERE link_hash IN (
                 SELECT link_hash FROM one_time_link WHERE purpose = ?1 AND created_at < ?2 LIMIT ?3)",
            (purpose, made_before, i64::try_from(most).unwrap_or(1)),
        )?;
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestApp, config};

    #[test]
    fn links_lie_in_the_order_of_their_people_and_only_codes_open_them() {
        let test = TestApp::new(config(&[]));
        let made = |tx: &WriteTx<'_>| {
            (1..=300)
                .map(|number| {
                    let email = format!("{number}@exemplo.test");
                    let user = tx.insert(
                        "INSERT INTO user (email, name, role, created_at) VALUES (?1, 'Lia', 'pro', 1)",
                        [email],
                    )?;
                    let link = issue(tx, UserId(user), tx.now().plus(60), None)?;
                    Ok((UserId(user), link))
                })
                .collect::<Result<Vec<_>>>()
        };
        let links = test.app.db.write(made).unwrap();
        assert!(links.is_sorted_by(|(_, one), (_, next)| one.name < next.name));
        for (user, link) in &links {
            let opened =
                |code: &str| test.read(|tx| find_valid(tx, &key(code))).map(|one| one.user);
            assert_eq!(opened(&link.code), Some(*user));
            let (person, secret) = link.code.split_at(2 * PERSON_BYTES);
            for wrong in [&link.name, secret, &format!("{person}{}", "0".repeat(secret.len()))] {
                assert_eq!(opened(wrong), None, "{wrong}");
            }
        }
    }

    #[test]
    fn codes_of_earlier_versions_are_found_by_their_digest() {
        for code in ["", "x", &"a1".repeat(24), &"\u{e9}".repeat(30), &"g".repeat(60)] {
            assert_eq!(key(code), TokenHash::of(code), "{code}");
        }
    }
}
