//! Relations of suppliers and sellers: invited, active, ended.
//!
//! An invitation names an e-mail address, whether somebody has it or not, so
//! that it tells a supplier nothing about who is here. Whoever has the address
//! sees the invitation and answers it. Either side ends a relation at once.

use serde::Serialize;

use super::links;
use crate::audit::{self, Act, Actor};
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{Filters, ReadTx, Result, WriteTx};
use crate::named;
use crate::row;

/// Relations and open invitations that a supplier has at a time, and
/// invitations alone.
pub const MOST: u64 = 1_000;
pub const MOST_INVITED: u64 = 100;
/// Invitations that a supplier makes in 24 hours.
const MOST_A_DAY: u64 = 200;
/// Whoever was invited in this time is not written to again.
const QUIET_S: i64 = 7 * DAY_S;

named! {
    /// How far a relation is. Indexes hold those that are open or active, so SQL writes
    /// the numbers.
    pub enum RelationState: number {
        Invited = 1, "convidado", "Convidado";
        Active = 2, "ativo", "Ativo";
        Refused = 3, "recusado", "Recusado";
        Withdrawn = 4, "retirado", "Retirado";
        Ended = 5, "encerrado", "Encerrado";
    }
}

/// A seller with whom a supplier has an active relation.
#[derive(Clone, Debug)]
pub struct RelatedSeller {
    pub id: UserId,
    pub name: String,
    pub email: String,
    pub since: Instant,
    /// Listings that are linked.
    pub links: i64,
}
row!(RelatedSeller {
    id = "r.seller_id",
    name = "u.name",
    email = "u.email",
    since = "coalesce(r.since, r.invited_at)",
    links = "(SELECT count(*) FROM drop_link l WHERE l.supplier_id = r.supplier_id AND l.seller_id = r.seller_id)",
});

/// A supplier with whom a seller has an active relation.
#[derive(Clone, Debug)]
pub struct RelatedSupplier {
    pub id: UserId,
    pub name: String,
    pub since: Instant,
    pub links: i64,
}
row!(RelatedSupplier {
    id = "r.supplier_id",
    name = "u.name",
    since = "coalesce(r.since, r.invited_at)",
    links = "(SELECT count(*) FROM drop_link l WHERE l.supplier_id = r.supplier_id AND l.seller_id = r.seller_id)",
});

/// An invitation that waits for an answer.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub id: i64,
    /// Who invites.
    pub supplier: String,
    /// Who is invited.
    pub email: String,
    pub invited_at: Instant,
}
row!(Invitation { id = "r.relation_id", supplier = "u.name", email = "r.email", invited_at = "r.invited_at" });

/// A relation or invitation of anybody, as the operator sees it.
#[derive(Clone, Debug)]
pub struct AnyRelation {
    pub id: i64,
    pub supplier_id: UserId,
    pub supplier: String,
    /// None until the invitation is accepted.
    pub seller_id: Option<UserId>,
    pub seller: Option<String>,
    /// Who was invited.
    pub email: String,
    pub state: RelationState,
    /// When it became what it is.
    pub at: Instant,
    /// Listings that are linked.
    pub links: i64,
}
row!(AnyRelation {
    id = "r.relation_id",
    supplier_id = "r.supplier_id",
    supplier = "u.name",
    seller_id = "r.seller_id",
    seller = "(SELECT name FROM user s WHERE s.user_id = r.seller_id)",
    email = "r.email",
    state = "r.state",
    at = "coalesce(r.ended_at, r.since, r.invited_at)",
    links = "(SELECT count(*) FROM drop_link l
              WHERE r.state = 2 AND l.supplier_id = r.supplier_id AND l.seller_id = r.seller_id)",
});

/// What became of an invitation that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    /// It waits; the number is that of the invitation.
    Made(i64),
    /// One to that address waits already.
    Waits(i64),
    /// That person is related already.
    Related,
    /// Too many are open.
    Full,
}

/// The invitation to an address or the relation with whoever has it, while it is open.
fn open(tx: &ReadTx<'_>, supplier: UserId, email: &str) -> Result<Option<(i64, RelationState)>> {
    tx.tuple(
        "SELECT relation_id, state FROM drop_relation r
         WHERE supplier_id = ?1 AND state IN (1, 2)
           AND (email = ?2 OR seller_id = (SELECT user_id FROM user WHERE email = ?2))
         ORDER BY state DESC LIMIT 1",
        (supplier, email),
    )
}

/// Whether a supplier is related to whoever has an address.
pub fn is_seller(tx: &ReadTx<'_>, supplier: UserId, email: &str) -> Result<bool> {
    Ok(matches!(open(tx, supplier, email)?, Some((_, RelationState::Active))))
}

/// Invites whoever has an e-mail address, in its usual form.
pub fn invite(tx: &WriteTx<'_>, supplier: UserId, email: &str) -> Result<Invited> {
    let open = open(tx, supplier, email)?;
    match open {
        Some((_, RelationState::Active)) => return Ok(Invited::Related),
        Some((id, _)) => return Ok(Invited::Waits(id)),
        None => {}
    }
    let of_late = tx.count(
        "SELECT count(*) FROM drop_relation WHERE supplier_id = ?1 AND invited_at > ?2",
        (supplier, tx.now().minus(DAY_S)),
    )?;
    let waiting = count(tx, supplier, RelationState::Invited)?;
    if waiting >= MOST_INVITED || of_late >= MOST_A_DAY || is_full(tx, supplier)? {
        return Ok(Invited::Full);
    }
    let id = tx.insert(
        "INSERT INTO drop_relation (supplier_id, email, state, invited_at) VALUES (?1, ?2, 1, ?3)",
        (supplier, email, tx.now()),
    )?;
    Ok(Invited::Made(id))
}

fn count(tx: &ReadTx<'_>, supplier: UserId, state: RelationState) -> Result<u64> {
    tx.count(
        "SELECT count(*) FROM drop_relation WHERE supplier_id = ?1 AND state = ?2",
        (supplier, state),
    )
}

fn is_full(tx: &ReadTx<'_>, supplier: UserId) -> Result<bool> {
    let open = count(tx, supplier, RelationState::Invited)?;
    Ok(open + count(tx, supplier, RelationState::Active)? >= MOST)
}

/// Whether an address was invited by this supplier before an invitation, not
/// long ago: an invitation that is taken back and made again tells nobody twice.
pub fn was_told(tx: &ReadTx<'_>, supplier: UserId, email: &str, invitation: i64) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation
             WHERE email = ?2 AND supplier_id = ?1 AND relation_id <> ?3 AND invited_at > ?4)",
        (supplier, email, invitation, tx.now().minus(QUIET_S)),
    )
}

/// Who made an invitation that waits for the person with this address; `None`
/// when there is none, as when it is somebody else's.
pub fn inviter(tx: &ReadTx<'_>, email: &str, invitation: i64) -> Result<Option<(UserId, String)>> {
    tx.tuple(
        "SELECT r.supplier_id, u.name FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.relation_id = ?1 AND r.email = ?2 AND r.state = 1",
        (invitation, email),
    )
}

/// Accepts an invitation that waits; what [`inviter`] found.
pub fn accept(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, invitation: i64) -> Result<()> {
    // Somebody who had another address may have been invited by both.
    if is_active(tx, supplier, seller)? {
        return close(tx, invitation, RelationState::Withdrawn);
    }
    tx.run(
        "UPDATE drop_relation SET state = 2, seller_id = ?2, since = ?3
         WHERE relation_id = ?1 AND state = 1",
        (invitation, seller, tx.now()),
    )
}

/// Refuses an invitation that waits; what [`inviter`] found.
pub fn refuse(tx: &WriteTx<'_>, invitation: i64) -> Result<()> {
    close(tx, invitation, RelationState::Refused)
}

/// Takes an invitation back; to whom it was, or `None` when the supplier has
/// none of this number that waits.
pub fn withdraw(tx: &WriteTx<'_>, supplier: UserId, invitation: i64) -> Result<Option<String>> {
    let email: Option<String> = tx.maybe(
        "SELECT email FROM drop_relation WHERE relation_id = ?1 AND supplier_id = ?2 AND state = 1",
        (invitation, supplier),
    )?;
    if email.is_some() {
        close(tx, invitation, RelationState::Withdrawn)?;
    }
    Ok(email)
}

fn close(tx: &WriteTx<'_>, relation: i64, state: RelationState) -> Result<()> {
    tx.run(
        "UPDATE drop_relation SET state = ?2, ended_at = ?3 WHERE relation_id = ?1",
        (relation, state, tx.now()),
    )
}

/// Relates two people at once, as an administrator does. An invitation
/// that waits is taken as accepted. False when they were related.
pub fn relate(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, email: &str) -> Result<bool> {
    let id = match invite(tx, supplier, email)? {
        Invited::Related => return Ok(false),
        Invited::Made(id) | Invited::Waits(id) => id,
        // The bound is for those who invite strangers.
        Invited::Full => tx.insert(
            "INSERT INTO drop_relation (supplier_id, email, state, invited_at) VALUES (?1, ?2, 1, ?3)",
            (supplier, email, tx.now()),
        )?,
    };
    accept(tx, supplier, seller, id)?;
    Ok(true)
}

/// Ends an active relation with its links; false when there is none.
pub fn end(tx: &WriteTx<'_>, supplier: UserId, seller: UserId) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE drop_relation SET state = 5, ended_at = ?3
         WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 2",
        (supplier, seller, tx.now()),
    )?;
    links::end_all(tx, supplier, seller)?;
    Ok(ended > 0)
}

/// Whether a supplier has an active relation with anybody.
pub fn has_any(tx: &ReadTx<'_>, supplier: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation WHERE supplier_id = ?1 AND state = 2)",
        [supplier],
    )
}

/// Whether two people are related now.
pub fn is_active(tx: &ReadTx<'_>, supplier: UserId, seller: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 2)",
        (supplier, seller),
    )
}

/// Two people in the audit log.
#[derive(Serialize)]
struct Pair<'p> {
    fornecedor: &'p str,
    vendedor: &'p str,
}

/// Notes in the audit log what was done to an invitation or a relation, by the
/// e-mail addresses or names of both.
pub fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    (action, id): (&'static str, i64),
    (seller, supplier): (&str, &str),
) -> Result<()> {
    let act = Act { action, object: "relacao", object_id: id.to_string(), object_name: seller };
    let pair = Pair { fornecedor: supplier, vendedor: seller };
    audit::note(tx, actor, &act, None::<&()>, Some(&pair))
}

/// A page of the relations of everybody, the newest first, with the number of
/// all that match: those in a state, and those of people with a name or an
/// address that holds a text, prepared by `search_key`.
pub fn page(
    tx: &ReadTx<'_>,
    state: Option<RelationState>,
    search: &str,
    window: (u32, u32),
) -> Result<(Vec<AnyRelation>, u64)> {
    let mut filters = Filters::new("TRUE", &[]);
    filters.and_if("r.state = :state", ":state", &state);
    if !search.is_empty() {
        filters.and(
            "(instr(r.email, :search) > 0 OR EXISTS (SELECT 1 FROM user p
                  WHERE p.user_id IN (r.supplier_id, r.seller_id) AND instr(p.search, :search) > 0))",
            &[(":search", &search)],
        );
    }
    let joins = "JOIN user u ON u.user_id = r.supplier_id";
    filters.page(tx, ("drop_relation r", joins), "r.relation_id DESC", window)
}

/// Ends a relation, or takes an invitation back, as the operator does; what it
/// was, or `None` when none of this number is open.
pub fn end_any(tx: &WriteTx<'_>, relation: i64) -> Result<Option<AnyRelation>> {
    let found: Option<AnyRelation> = tx.record(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.relation_id = ?1 AND r.state IN (1, 2)",
        [relation],
    )?;
    if let Some(found) = &found {
        match found.seller_id {
            Some(seller) => {
                end(tx, found.supplier_id, seller)?;
            }
            None => close(tx, relation, RelationState::Withdrawn)?,
        }
    }
    Ok(found)
}

/// The sellers of a supplier, by name.
pub fn sellers(tx: &ReadTx<'_>, supplier: UserId) -> Result<Vec<RelatedSeller>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.seller_id
         WHERE r.supplier_id = ?1 AND r.state = 2 ORDER BY u.name_key, u.user_id",
        [supplier],
    )
}

/// The suppliers of a seller, by name.
pub fn suppliers(tx: &ReadTx<'_>, seller: UserId) -> Result<Vec<RelatedSupplier>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.seller_id = ?1 AND r.state = 2 ORDER BY u.name_key, u.user_id",
        [seller],
    )
}

/// What a supplier's invitations wait for, the newest first.
pub fn invitations_of(tx: &ReadTx<'_>, supplier: UserId) -> Result<Vec<Invitation>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.supplier_id = ?1 AND r.state = 1
         ORDER BY r.relation_id DESC",
        [supplier],
    )
}

/// The invitations that wait for whoever has an address, the newest first.
pub fn invitations_to(tx: &ReadTx<'_>, email: &str) -> Result<Vec<Invitation>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.email = ?1 AND r.state = 1 AND u.suspended_at IS NULL
         ORDER BY r.relation_id DESC LIMIT 100",
        [email],
    )
}

/// The linked accounts of a supplier's sellers: seller, number and name of each.
pub fn stores(tx: &ReadTx<'_>, supplier: UserId) -> Result<Vec<(UserId, i64, String)>> {
    tx.tuples(
        "SELECT a.owner_id, a.ml_user_id, a.nickname
         FROM drop_relation r JOIN ml_account a ON a.owner_id = r.seller_id
         WHERE r.supplier_id = ?1 AND r.state = 2 ORDER BY a.owner_id, a.ml_user_id",
        [supplier],
    )
}

/// Removes what was refused, withdrawn or ended before an instant, at most
/// `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM drop_relation WHERE relation_id IN (
             SELECT relation_id FROM drop_relation WHERE ended_at < ?1 LIMIT ?2)",
        (before, i64::try_from(most).unwrap_or(1)),
    )
}
