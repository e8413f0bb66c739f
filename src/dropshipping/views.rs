//! Template data about relations that several pages share.

use super::relations::Invitation;
use crate::base::{Instant, Zone};
use crate::panel::When;

/// An open invitation.
pub struct InvitationRow {
    pub id: String,
    /// Who is invited.
    pub email: String,
    /// Who invites.
    pub supplier: String,
    pub made: When,
}

/// Invitations as pages show them.
pub fn invitation_rows(
    invitations: Vec<Invitation>,
    zone: Zone,
    now: Instant,
) -> Vec<InvitationRow> {
    let row = |one: Invitation| InvitationRow {
        id: one.id.to_string(),
        email: one.email,
        supplier: one.supplier,
        made: When::new(zone, one.invited_at, now),
    };
    invitations.into_iter().map(row).collect()
}
