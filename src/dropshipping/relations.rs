//! Relations of suppliers and sellers: invited, active, ended.
//!
//! An invitation names an e-mail address, whether or not a person here has it,
//! so a supplier cannot find out who has an account. The person with the
//! address sees the invitation and answers it. Either side can end a relation
//! at once.

use serde_json::json;

use super::links;
use crate::audit::{self, Act, Actor};
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{Db, Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::named;
use crate::row;

/// Most relations and open invitations of a supplier together, and most open
/// invitations alone.
pub const MOST: u64 = 1_000;
pub const MOST_INVITED: u64 = 100;
/// Most invitations of a supplier in 24 hours.
const MOST_A_DAY: u64 = 200;
/// An address that was invited within this time gets no second message.
const QUIET_S: i64 = 7 * DAY_S;

named! {
    /// The state of a relation. SQL has some numbers as literals, because
    /// partial indexes need that.
    pub enum RelationState: number {
        Invited = 1, "convidado", "Convidado";
        Active = 2, "ativo", "Ativo";
        Refused = 3, "recusado", "Recusado";
        Withdrawn = 4, "retirado", "Retirado";
        Ended = 5, "encerrado", "Encerrado";
    }
}

row! {
    /// The person on the other side of an active relation.
    #[derive(Clone, Debug)]
    pub struct Related {
        pub id: UserId = "u.user_id",
        pub name: String = "u.name",
        pub email: String = "u.email",
        pub since: Instant = "coalesce(r.since, r.invited_at)",
        /// Number of linked listings.
        pub links: i64 = "(SELECT count(*) FROM drop_link l WHERE l.supplier_id = r.supplier_id AND l.seller_id = r.seller_id)",
    }
}

row! {
    /// An invitation that waits for an answer.
    #[derive(Clone, Debug)]
    pub struct Invitation {
        pub id: i64 = "r.relation_id",
        /// Who invites.
        pub supplier: String = "u.name",
        /// Who is invited.
        pub email: String = "r.email",
        pub invited_at: Instant = "r.invited_at",
    }
}

row! {
    /// A relation or invitation between any two people, as the operator sees it.
    #[derive(Clone, Debug)]
    pub struct AnyRelation {
        pub id: i64 = "r.relation_id",
        pub supplier_id: UserId = "r.supplier_id",
        pub supplier: String = "u.name",
        /// None until the invitation is accepted.
        pub seller_id: Option<UserId> = "r.seller_id",
        pub seller: Option<String> = "(SELECT name FROM user s WHERE s.user_id = r.seller_id)",
        /// Who was invited.
        pub email: String = "r.email",
        pub state: RelationState = "r.state",
        /// When it entered this state.
        pub at: Instant = "coalesce(r.ended_at, r.since, r.invited_at)",
        /// Number of linked listings.
        pub links: i64 = "(SELECT count(*) FROM drop_link l
              WHERE r.state = 2 AND l.supplier_id = r.supplier_id AND l.seller_id = r.seller_id)",
    }
}

/// The result of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    /// The invitation was made; its id.
    Made(i64),
    /// An invitation to that address is open already; its id.
    Waits(i64),
    Related,
    /// A limit of invitations or relations is reached.
    Full,
}

/// The open invitation to an address, or the active relation with the person
/// who has the address.
fn open(tx: &ReadTx<'_>, supplier: UserId, email: &str) -> Result<Option<(i64, RelationState)>> {
    tx.tuple(
        "SELECT relation_id, state FROM drop_relation r
         WHERE supplier_id = ?1 AND state IN (1, 2)
           AND (email = ?2 OR seller_id = (SELECT user_id FROM user WHERE email = ?2))
         ORDER BY state DESC LIMIT 1",
        (supplier, email),
    )
}

/// Whether a supplier has an active relation with the person who has an
/// address.
pub fn is_seller(tx: &ReadTx<'_>, supplier: UserId, email: &str) -> Result<bool> {
    Ok(matches!(open(tx, supplier, email)?, Some((_, RelationState::Active))))
}

/// Invites the person who has an e-mail address; the address is in normalised
/// form.
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

/// Whether this supplier made another invitation to the address recently. So
/// withdrawing and repeating an invitation does not notify the person twice.
pub fn was_invited_recently(
    tx: &ReadTx<'_>,
    supplier: UserId,
    email: &str,
    invitation: i64,
) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation
             WHERE email = ?2 AND supplier_id = ?1 AND relation_id <> ?3 AND invited_at > ?4)",
        (supplier, email, invitation, tx.now().minus(QUIET_S)),
    )
}

/// The supplier of an open invitation to this address; `None` when there is
/// none, also when the invitation is for another address.
pub fn inviter(tx: &ReadTx<'_>, email: &str, invitation: i64) -> Result<Option<(UserId, String)>> {
    tx.tuple(
        "SELECT r.supplier_id, u.name FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.relation_id = ?1 AND r.email = ?2 AND r.state = ?3",
        (invitation, email, RelationState::Invited),
    )
}

/// Accepts an open invitation that [`inviter`] has found.
pub fn accept(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, invitation: i64) -> Result<()> {
    // A person whose address has changed may have been invited under both
    // addresses.
    if is_active(tx, supplier, seller)? {
        return close(tx, invitation, RelationState::Withdrawn);
    }
    tx.run(
        "UPDATE drop_relation SET state = ?4, seller_id = ?2, since = ?3
         WHERE relation_id = ?1 AND state = ?5",
        (invitation, seller, tx.now(), RelationState::Active, RelationState::Invited),
    )
}

/// Rejects an open invitation that [`inviter`] has found.
pub fn refuse(tx: &WriteTx<'_>, invitation: i64) -> Result<()> {
    close(tx, invitation, RelationState::Refused)
}

/// Withdraws an invitation. Returns the invited address, or `None` when the
/// supplier has no open invitation with this id.
pub fn withdraw(tx: &WriteTx<'_>, supplier: UserId, invitation: i64) -> Result<Option<String>> {
    let email: Option<String> = tx.maybe(
        "SELECT email FROM drop_relation WHERE relation_id = ?1 AND supplier_id = ?2 AND state = ?3",
        (invitation, supplier, RelationState::Invited),
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

/// Makes an active relation directly, as an administrator does. An open
/// invitation counts as accepted. False when the relation exists already.
pub fn relate(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, email: &str) -> Result<bool> {
    let id = match invite(tx, supplier, email)? {
        Invited::Related => return Ok(false),
        Invited::Made(id) | Invited::Waits(id) => id,
        // The limits are for suppliers who invite, not for administrators.
        Invited::Full => tx.insert(
            "INSERT INTO drop_relation (supplier_id, email, state, invited_at) VALUES (?1, ?2, 1, ?3)",
            (supplier, email, tx.now()),
        )?,
    };
    accept(tx, supplier, seller, id)?;
    Ok(true)
}

/// Removes the links of a relation that is to end, which can be many, piece by
/// piece.
pub fn end_links(db: &Db, supplier: UserId, seller: UserId) -> Result<()> {
    db.write_pieces(move |tx| links::end_some(tx, supplier, seller))
}

/// Ends an active relation, whose links are gone by [`end_links`]; false when
/// there is none.
pub fn end(tx: &WriteTx<'_>, supplier: UserId, seller: UserId) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE drop_relation SET state = ?4, ended_at = ?3
         WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 2",
        (supplier, seller, tx.now(), RelationState::Ended),
    )?;
    // Those that came in between are few.
    links::end_some(tx, supplier, seller)?;
    Ok(ended > 0)
}

/// Whether a supplier has an active relation with any seller.
pub fn has_any(tx: &ReadTx<'_>, supplier: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation WHERE supplier_id = ?1 AND state = 2)",
        [supplier],
    )
}

/// Whether a supplier and a seller have an active relation.
pub fn is_active(tx: &ReadTx<'_>, supplier: UserId, seller: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM drop_relation WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 2)",
        (supplier, seller),
    )
}

/// Writes an action on an invitation or a relation to the audit log, with the
/// e-mail addresses or names of both people.
pub fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    (action, id): (&'static str, i64),
    (seller, supplier): (&str, &str),
) -> Result<()> {
    let act = Act { action, object: "relacao", object_id: id.to_string(), object_name: seller };
    let pair = json!({ "fornecedor": supplier, "vendedor": seller });
    audit::note(tx, actor, &act, (), &pair)
}

/// A page of the relations of all people, the newest first, with the number of
/// all that match. They can be limited to a state, and to people whose name or
/// address contains a text, prepared by `search_key`.
pub fn page(
    tx: &ReadTx<'_>,
    state: Option<RelationState>,
    search: &str,
    window: RowWindow,
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

/// Supplier and seller of an active relation.
pub fn pair(tx: &ReadTx<'_>, relation: i64) -> Result<Option<(UserId, UserId)>> {
    tx.tuple(
        "SELECT supplier_id, seller_id FROM drop_relation WHERE relation_id = ?1 AND state = 2",
        [relation],
    )
}

/// Ends a relation or withdraws an invitation, as the operator does. Returns it
/// as it was before, or `None` when none with this id is open.
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
pub fn sellers(tx: &ReadTx<'_>, supplier: UserId) -> Result<Vec<Related>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.seller_id
         WHERE r.supplier_id = ?1 AND r.state = 2 ORDER BY u.name_key, u.user_id",
        [supplier],
    )
}

/// The suppliers of a seller, by name.
pub fn suppliers(tx: &ReadTx<'_>, seller: UserId) -> Result<Vec<Related>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.seller_id = ?1 AND r.state = 2 ORDER BY u.name_key, u.user_id",
        [seller],
    )
}

/// The open invitations of a supplier, the newest first.
pub fn invitations_of(tx: &ReadTx<'_>, supplier: UserId) -> Result<Vec<Invitation>> {
    tx.records(
        "FROM drop_relation r JOIN user u ON u.user_id = r.supplier_id
         WHERE r.supplier_id = ?1 AND r.state = 1
         ORDER BY r.relation_id DESC",
        [supplier],
    )
}

/// The open invitations to an address, the newest first.
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

/// Removes relations that were rejected, withdrawn or ended before an instant,
/// at most `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM drop_relation WHERE relation_id IN (
             SELECT relation_id FROM drop_relation WHERE ended_at < ?1 LIMIT ?2)",
        (before, i64::try_from(most).unwrap_or(1)),
    )
}
