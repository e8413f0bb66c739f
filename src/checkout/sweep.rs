//! Suspends people whose access is no longer paid: after the grace period of an
//! unpaid renewal, and at the end of a cancelled subscription.

use crate::accounts::{students, terms};
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor, ActorKind};
use crate::base::DAY_S;
use crate::db::{Result, WriteTx};

/// People that are looked up at a time.
const PIECE: usize = 100;

/// Suspends some people whose grace period or subscription is over, as many as
/// one job of the writer may; returns how many.
pub fn sweep(tx: &WriteTx<'_>, grace_days: u32) -> Result<usize> {
    let unpaid_before = tx.now().minus(i64::from(grace_days) * DAY_S);
    let actor = Actor::local(ActorKind::System, "cobrança");
    let overdue = terms::overdue(tx, unpaid_before, PIECE)?;
    let mut suspended = 0;
    for student in &overdue {
        let ended = student.terms.ends_at.is_some_and(|end| end <= tx.now());
        let reason = if ended {
            "assinatura cancelada e período pago encerrado"
        } else {
            "pagamento em atraso além do prazo"
        };
        students::suspend(tx, student.user_id, reason)?;
        let act = STUDENT.act("aluno.suspender", student.user_id, &student.name);
        let (before, after) = (student.terms.shown(false), student.terms.shown(true));
        audit::note(tx, &actor, &act, &before, &after)?;
        suspended += 1;
        if tx.is_spent() {
            break;
        }
    }
    Ok(suspended)
}
