//! What an operator gives a student: another plan, more time. The state before and
//! after goes into the audit log, and undoing an act reads it there.

use serde::{Deserialize, Serialize};

use crate::accounts::Role;
use crate::accounts::terms::{self, Terms};
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor};
use crate::base::{DAY_S, Day, Instant, UserId, Zone};
use crate::content::plans::{Period, Plan, store as plans};
use crate::db::{ReadTx, Result, WriteTx};
use crate::partner::{PlanName, store as partners};

/// What a student has, in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedTerms {
    plano: String,
    pago_ate: Option<String>,
    atrasado_desde: Option<String>,
    termina_em: Option<String>,
    plano_de_api: Option<String>,
    ate: Option<String>,
}

impl AuditedTerms {
    fn of(terms: &Terms, api: Option<(PlanName, Option<Day>)>) -> Self {
        let at = |at: Option<Instant>| at.map(Instant::rfc3339);
        Self {
            plano: terms.role.name().to_owned(),
            pago_ate: at(terms.paid_until),
            atrasado_desde: at(terms.late_since),
            termina_em: at(terms.ends_at),
            plano_de_api: api.map(|(plan, _)| plan.name().to_owned()),
            ate: api.and_then(|(_, until)| until).map(Day::iso),
        }
    }

    /// What a student has now; `None` when nobody is there.
    pub fn read(tx: &ReadTx<'_>, user: UserId) -> Result<Option<(Self, Terms, String)>> {
        let Some(holder) = terms::by_id(tx, user)? else { return Ok(None) };
        let api = partners::plan(tx, user)?;
        Ok(Some((Self::of(&holder.terms, api), holder.terms, holder.name)))
    }

    /// Gives it back to a student; false when it names a plan that is not known.
    pub fn set(&self, tx: &WriteTx<'_>, user: UserId) -> Result<bool> {
        let Some((_, terms, _)) = Self::read(tx, user)? else { return Ok(false) };
        let at = |text: &Option<String>| text.as_deref().and_then(Instant::parse);
        let Some(role) = Role::STUDENTS.into_iter().find(|role| role.name() == self.plano) else {
            return Ok(false);
        };
        let terms = Terms {
            role,
            paid_until: at(&self.pago_ate),
            late_since: at(&self.atrasado_desde),
            ends_at: at(&self.termina_em),
            ..terms
        };
        let api = self.plano_de_api.as_deref().and_then(PlanName::from_name);
        let until = self.ate.as_deref().and_then(Day::parse);
        partners::set_plan(tx, user, api, until)?;
        terms::set(tx, user, &terms)?;
        Ok(true)
    }
}

/// What is given.
#[derive(Clone)]
pub enum Gift {
    /// A plan of the account, and until when it counts as paid, if that is said.
    Role(Role, Option<Day>),
    /// What a plan on sale grants.
    Plan(Box<Plan>, Option<Day>),
    /// Some days more.
    Days(i64),
}

impl Gift {
    /// By the word of the form: `papel:vip` or `plano:7`.
    pub fn of(tx: &ReadTx<'_>, word: &str, until: Option<Day>) -> Result<Option<Self>> {
        if let Some(name) = word.strip_prefix("papel:") {
            let role = Role::STUDENTS.into_iter().find(|role| role.name() == name);
            return Ok(role.map(|role| Self::Role(role, until)));
        }
        let id = word.strip_prefix("plano:").and_then(|id| id.parse().ok());
        let plan = id.map(|id| plans::one(tx, id)).transpose()?.flatten();
        let plan = plan.filter(|plan| plan.entry.grants_role.is_some());
        Ok(plan.map(|plan| Self::Plan(Box::new(plan), until)))
    }

    const fn action(&self) -> &'static str {
        match self {
            Self::Role(..) | Self::Plan(..) => "aluno.trocar_plano",
            Self::Days(_) => "aluno.dar_prazo",
        }
    }

    /// The terms with what is given, and the API plan that comes with it.
    fn applied(
        &self,
        terms: &Terms,
        zone: Zone,
        now: Instant,
    ) -> (Terms, Option<(PlanName, Option<Day>)>) {
        let end = |day: Day| zone.start_of(day.plus(1)).minus(1);
        let mut terms = terms.clone();
        match self {
            Self::Role(role, until) => {
                terms.role = *role;
                if let Some(day) = until {
                    (terms.paid_until, terms.late_since, terms.ends_at) =
                        (Some(end(*day)), None, None);
                }
                (terms, None)
            }
            Self::Plan(plan, until) => {
                terms.role = plan.entry.grants_role.unwrap_or(terms.role);
                let until = until.or_else(|| paid_by(plan.entry.period, zone.day(now)));
                (terms.paid_until, terms.late_since, terms.ends_at) = (until.map(end), None, None);
                let api = plan.entry.grants_api.as_deref().and_then(PlanName::from_name);
                (terms, api.map(|api| (api, until)))
            }
            Self::Days(days) => {
                let from = terms.paid_until.unwrap_or(now).max(now);
                let until = end(zone.day(from.plus(days.saturating_mul(DAY_S))));
                terms.paid_until = Some(until);
                if terms.ends_at.is_some_and(|ends| ends < until) {
                    terms.ends_at = Some(until);
                }
                (terms, None)
            }
        }
    }

    /// Gives it to a student, with its entry in the audit log; false when nothing changes.
    pub fn give(&self, tx: &WriteTx<'_>, actor: &Actor, zone: Zone, user: UserId) -> Result<bool> {
        let Some((before, terms, name)) = AuditedTerms::read(tx, user)? else { return Ok(false) };
        if !terms.role.is_student() {
            return Ok(false);
        }
        let (new, api) = self.applied(&terms, zone, tx.now());
        if let Some((plan, until)) = api {
            partners::set_plan(tx, user, Some(plan), until)?;
        }
        let after = AuditedTerms::of(&new, api.or(partners::plan(tx, user)?));
        if before == after {
            return Ok(false);
        }
        terms::set(tx, user, &new)?;
        audit::note(tx, actor, &STUDENT.act(self.action(), user, &name), &before, &after)?;
        Ok(true)
    }
}

/// The last day that a payment of today pays.
fn paid_by(period: Period, today: Day) -> Option<Day> {
    let months = match period {
        Period::Monthly => 1,
        Period::Yearly => 12,
        Period::Once => return None,
    };
    Some(Day::of(today.date().saturating_add(jiff::Span::new().months(months))))
}
