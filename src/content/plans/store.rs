//! Plans in the database.

use super::Plan;
use crate::accounts::Role;
use crate::base::Cents;
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

/// Plans on sale, the cheapest first.
pub fn active_plans(tx: &ReadTx<'_>) -> Result<Vec<Plan>> {
    tx.records("FROM plan WHERE active = 1 ORDER BY price_cents, plan_id", [])
}

/// The plan with a slug.
pub fn holder(tx: &ReadTx<'_>, slug: &str) -> Result<Option<i64>> {
    tx.maybe("SELECT plan_id FROM plan WHERE slug = ?1", [slug])
}

/// All plans, those on sale first.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Plan>> {
    tx.records("FROM plan WHERE active IN (0, 1) ORDER BY active DESC, price_cents, plan_id", [])
}

/// A plan by its number.
pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Plan>> {
    tx.record("FROM plan WHERE plan_id = ?1", [id])
}

/// The plans that stand for one of the checkout's codes.
pub fn by_codes(tx: &ReadTx<'_>, codes: &[String]) -> Result<Vec<Plan>> {
    let mut plans = if codes.is_empty() { Vec::new() } else { all(tx)? };
    plans.retain(|plan| plan.entry.codes.0.iter().any(|code| codes.contains(code)));
    Ok(plans)
}

/// The lowest price in reais on sale of each plan of the account.
pub fn prices(tx: &ReadTx<'_>) -> Result<Vec<(Role, Cents)>> {
    let mut prices: Vec<(Role, Cents)> = Vec::new();
    for plan in active_plans(tx)? {
        if let Some(role) = plan.entry.grants_role
            && plan.entry.currency == "BRL"
            && !prices.iter().any(|(known, _)| *known == role)
        {
            prices.push((role, plan.entry.price));
        }
    }
    Ok(prices)
}

/// Whether a plan is on sale.
pub fn has_active(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM plan WHERE active = 1)", [])
}

/// Whether a course is seen by students.
pub fn has_course(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM course WHERE published = 1)", [])
}

row! {
    /// A course, and the roles that it is for; none for all but the free one.
    #[derive(Clone, Debug)]
    pub struct CourseOfPlan {
        pub id: i64 = "course_id",
        pub title: String,
        pub published: bool,
        pub roles: String = "coalesce((SELECT group_concat(role) FROM course_role r WHERE r.course_id = course.course_id), '')",
    }
}

impl CourseOfPlan {
    /// Whether students of a role see it.
    pub fn is_for(&self, role: Role) -> bool {
        match &*self.roles {
            "" => role != Role::Free,
            roles => roles.split(',').any(|name| name == role.name()),
        }
    }

    /// The roles that see it.
    pub fn seen_by(&self) -> Vec<Role> {
        Role::STUDENTS.into_iter().filter(|role| self.is_for(*role)).collect()
    }
}

/// All courses, in their order.
pub fn courses(tx: &ReadTx<'_>) -> Result<Vec<CourseOfPlan>> {
    tx.records("FROM course ORDER BY position, course_id", [])
}

/// Sets the roles that see a course; at least one.
pub fn set_roles(tx: &WriteTx<'_>, course: i64, roles: &[Role]) -> Result<()> {
    tx.execute("DELETE FROM course_role WHERE course_id = ?1", [course])?;
    for role in roles {
        tx.execute("INSERT INTO course_role (course_id, role) VALUES (?1, ?2)", (course, role))?;
    }
    Ok(())
}

/// How many students have a role, as their list counts them.
pub fn students_of(tx: &ReadTx<'_>, role: Role) -> Result<i64> {
    tx.value(
        "SELECT coalesce(sum(people), 0) FROM person_count WHERE kind = 0 AND role = ?1",
        [role],
    )
}
