//! The checkup of an account: pure rules that find what is wrong with it, and
//! its findings. Those about questions and claims are found again at each look,
//! so that they say what is open now; the others stand as the last checkup
//! stored them. Decision agency-14.

use rusqlite::ToSql;

use super::open::{Open, QUESTION_S};
use super::store::JoinedAccount;
use crate::base::{DAY_S, Instant, MlUserId, UserId, grouped};
use crate::db::{Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::named;
use crate::row;

/// Seconds between two checkups of an account.
pub const EVERY_S: i64 = 6 * 3600;
/// Longest time that an account may go without being read.
const UNREAD_S: i64 = DAY_S;
/// Longest time that a claim may be open.
const CLAIM_S: i64 = 2 * DAY_S;

named! {
    /// What may be wrong with an account, the most urgent first.
    pub enum Fault: number {
        LinkLost = 1, "vinculo", "Vínculo perdido";
        Unread = 2, "leitura", "Sem leitura";
        Reputation = 3, "reputacao", "Reputação baixa";
        Claims = 4, "reclamacoes", "Reclamações antigas";
        Questions = 5, "perguntas", "Perguntas em atraso";
        NoListings = 6, "sem_anuncios", "Sem anúncio ativo";
        NoStock = 7, "sem_estoque", "Anúncios sem estoque";
    }
}

impl Fault {
    /// What to do about the fault.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::LinkLost => {
                "Envie um novo convite ao cliente para ele autorizar a conta de novo."
            }
            Self::Unread => "Sincronize a conta. Se continuar, confira o vínculo com o cliente.",
            Self::Reputation => {
                "Veja com o cliente atrasos, cancelamentos e reclamações dos últimos 60 dias."
            }
            Self::Claims => "Responda às reclamações abertas há mais de 48 horas no marketplace.",
            Self::Questions => "Responda às perguntas que esperam há mais de 24 horas.",
            Self::NoListings => "Ative ou publique ao menos um anúncio.",
            Self::NoStock => {
                "Reponha o estoque ou pause os anúncios ativos que estão sem unidades."
            }
        }
    }

    /// The fault with its age, for a message that is read later.
    pub fn tell(self, things: i64) -> String {
        let age = match (self, things) {
            (Self::Claims, 1) => " há mais de 48 horas",
            (Self::Claims, _) => ", a mais antiga há mais de 48 horas",
            (Self::Questions, 1) => " há mais de 24 horas",
            (Self::Questions, _) => ", a mais antiga há mais de 24 horas",
            _ => "",
        };
        self.describe(things) + age
    }

    /// Whether it is about what waits, which is found again at each look.
    pub const fn waits(self) -> bool {
        matches!(self, Self::Claims | Self::Questions)
    }

    /// Whether the facts of an account say since when it has this fault.
    const fn is_dated(self) -> bool {
        matches!(self, Self::Unread | Self::Claims | Self::Questions)
    }

    /// The fault in words; `things` is the number of open claims or questions,
    /// or of listings.
    pub fn describe(self, things: i64) -> String {
        let counted = |one: &str, many: &str| {
            if things == 1 { format!("1 {one}") } else { format!("{things} {many}") }
        };
        match self {
            Self::LinkLost => "A autorização da conta não vale mais".to_owned(),
            Self::Unread => "A conta não é lida há mais de 24 horas".to_owned(),
            Self::Reputation => "A reputação está vermelha ou laranja".to_owned(),
            Self::Claims => counted("reclamação aberta", "reclamações abertas"),
            Self::Questions => counted("pergunta sem resposta", "perguntas sem resposta"),
            Self::NoListings => "Nenhum anúncio está ativo".to_owned(),
            Self::NoStock => counted("anúncio ativo sem estoque", "anúncios ativos sem estoque"),
        }
    }
}

row! {
    /// A fault found in an account.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Finding {
        pub fault: Fault = "f.kind",
        /// When the fault began; when it was first found, if the facts do not say.
        pub since: Instant = "f.since",
        /// How many open claims or questions, or listings; 1 for the others.
        pub things: i64 = "f.things",
    }
}

impl Finding {
    /// What is late of that which waits at an account.
    fn late(open: &Open, now: Instant) -> impl Iterator<Item = Self> {
        let find = |fault, at: Option<Instant>, after_s, things| {
            let since = at.map(|at| at.plus(after_s)).filter(|since| *since < now);
            since.map(|since| Self { fault, since, things })
        };
        [
            find(Fault::Claims, open.opened_at, CLAIM_S, open.claims),
            find(Fault::Questions, open.asked_at, QUESTION_S, open.questions),
        ]
        .into_iter()
        .flatten()
    }
}

row! {
    /// The facts of an account that the rules judge.
    #[derive(Clone, Debug)]
    struct Facts {
        token_ok: bool = "a.token_ok",
        synced_at: Option<Instant> = "a.synced_at",
        linked_at: Instant = "a.linked_at",
        reputation: String = "a.reputation",
        open: Open as row,
        /// Active listings, and those of them without stock.
        listings: i64 = "(SELECT coalesce(sum(n.listings), 0) FROM listing_count n JOIN word w ON w.word_id = n.status
                 WHERE n.owner_id = ?2 AND n.ml_user_id = ?1 AND w.text = 'active')",
        empty: i64 = "(SELECT count(*) FROM listing WHERE owner_id = ?2 AND ml_user_id = ?1
                  AND status = (SELECT word_id FROM word WHERE text = 'active') AND available < 1)",
    }
}
// ?1 the account, ?2 its owner.

/// The faults of an account with these facts. `since` is `now` where the facts
/// do not say when a fault began.
fn judge(facts: &Facts, now: Instant) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |is_so: bool, fault, since: Instant, things| {
        if is_so {
            found.push(Finding { fault, since, things });
        }
    };
    let read_at = facts.synced_at.unwrap_or(facts.linked_at);
    add(!facts.token_ok, Fault::LinkLost, now, 1);
    add(now.since(read_at) > UNREAD_S, Fault::Unread, read_at, 1);
    let is_low = facts.reputation.starts_with(['1', '2']);
    add(is_low, Fault::Reputation, now, 1);
    for one in Finding::late(&facts.open, now) {
        add(true, one.fault, one.since, one.things);
    }
    add(facts.listings == 0, Fault::NoListings, now, 1);
    add(facts.empty > 0, Fault::NoStock, now, facts.empty);
    found
}

/// The result of one checkup of an account.
#[derive(Debug, Default)]
pub struct CheckupResult {
    /// Whether the account has no findings now.
    pub is_ready: bool,
    /// Faults that the last checkup did not find.
    pub new: Vec<Finding>,
    /// Whether the last checkup had findings and this one has none.
    pub recovered: bool,
}

/// Checks an account now and stores its findings.
pub fn check_account(tx: &WriteTx<'_>, account: &JoinedAccount) -> Result<CheckupResult> {
    let (now, id) = (tx.now(), account.ml_user_id);
    let facts: Option<Facts> = tx.record(
        "FROM agency_account JOIN ml_account a ON a.ml_user_id = agency_account.ml_user_id
         WHERE agency_account.ml_user_id = ?1 AND a.owner_id = ?2",
        (id, account.owner),
    )?;
    let Some(facts) = facts else { return Ok(CheckupResult::default()) };
    let before = stored(tx, id)?;
    let mut found = judge(&facts, now);
    for one in found.iter_mut().filter(|one| !one.fault.is_dated()) {
        // Such a fault began when it was first found.
        if let Some(known) = before.iter().find(|known| known.fault == one.fault) {
            one.since = known.since;
        }
    }
    for gone in before.iter().filter(|known| found.iter().all(|one| one.fault != known.fault)) {
        tx.execute(
            "DELETE FROM agency_finding WHERE ml_user_id = ?1 AND kind = ?2",
            (id, gone.fault),
        )?;
    }
    for one in found.iter().filter(|one| !before.contains(one)) {
        tx.execute(
            "INSERT INTO agency_finding (ml_user_id, kind, since, things) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET since = ?3, things = ?4",
            (id, one.fault, one.since, one.things),
        )?;
    }
    tx.execute("UPDATE agency_account SET checked_at = ?2 WHERE ml_user_id = ?1", (id, now))?;
    let is_new = |one: &Finding| before.iter().all(|known| known.fault != one.fault);
    Ok(CheckupResult {
        is_ready: found.is_empty(),
        recovered: found.is_empty() && !before.is_empty(),
        new: found.into_iter().filter(is_new).collect(),
    })
}

/// Findings of the last checkup of an account, the most urgent first.
fn stored(tx: &ReadTx<'_>, account: MlUserId) -> Result<Vec<Finding>> {
    tx.records("FROM agency_finding f WHERE f.ml_user_id = ?1 ORDER BY f.kind", [account])
}

/// What is wrong with an account now, the most urgent first; nothing before its
/// first checkup.
pub fn findings(
    tx: &ReadTx<'_>,
    (account, checked): (MlUserId, Option<Instant>),
    open: &Open,
) -> Result<Vec<Finding>> {
    if checked.is_none() {
        return Ok(Vec::new());
    }
    let mut found = stored(tx, account)?;
    found.retain(|one| !one.fault.waits());
    found.extend(Finding::late(open, tx.now()));
    found.sort_by_key(|one| one.fault.number());
    Ok(found)
}

row! {
    pub struct AccountFinding {
        pub finding: Finding as row,
        pub ml_user_id: MlUserId = "f.ml_user_id",
        pub owner: UserId = "j.owner_id",
        pub nickname: String = "a.nickname",
        pub client: i64 = "j.client_id",
        pub client_name: String = "c.name",
    }
}

/// What [`findings`] finds, of all accounts; `:opened` and `:asked` are the
/// instants from which claims and questions are late.
const FOUND: &str = "(
    SELECT ml_user_id, kind, since, things FROM agency_finding WHERE kind NOT IN (4, 5)
    UNION ALL
    SELECT ml_user_id, 4,
        (SELECT min(l.opened_at) FROM claim l WHERE l.owner_id = agency_account.owner_id
             AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id) + 172800,
        (SELECT count(*) FROM claim l WHERE l.owner_id = agency_account.owner_id
             AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id)
    FROM agency_account WHERE checked_at IS NOT NULL
        AND EXISTS (SELECT 1 FROM claim l WHERE l.owner_id = agency_account.owner_id
             AND l.state = 1 AND l.ml_user_id = agency_account.ml_user_id AND l.opened_at < :opened)
    UNION ALL
    SELECT ml_user_id, 5,
        (SELECT min(q.asked_at) FROM question q WHERE q.owner_id = agency_account.owner_id
             AND q.state = 1 AND q.ml_user_id = agency_account.ml_user_id) + 86400,
        (SELECT count(*) FROM question q WHERE q.owner_id = agency_account.owner_id
             AND q.state = 1 AND q.ml_user_id = agency_account.ml_user_id)
    FROM agency_account WHERE checked_at IS NOT NULL
        AND EXISTS (SELECT 1 FROM question q WHERE q.owner_id = agency_account.owner_id
             AND q.state = 1 AND q.ml_user_id = agency_account.ml_user_id AND q.asked_at < :asked)
    ) f";
const _: () = assert!(CLAIM_S == 172_800 && QUESTION_S == 86_400);

const JOINS: &str = "JOIN agency_account j ON j.ml_user_id = f.ml_user_id
    JOIN ml_account a ON a.ml_user_id = f.ml_user_id
    JOIN agency_client c ON c.client_id = j.client_id";

/// The values of [`FOUND`].
struct Late {
    opened: Instant,
    asked: Instant,
}

impl Late {
    fn of(tx: &ReadTx<'_>) -> Self {
        Self { opened: tx.now().minus(CLAIM_S), asked: tx.now().minus(QUESTION_S) }
    }

    fn values(&self) -> [(&'static str, &dyn ToSql); 2] {
        [(":opened", &self.opened), (":asked", &self.asked)]
    }
}

/// What a list of findings is narrowed to; what is `None` does not narrow it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Narrowed {
    pub fault: Option<Fault>,
    /// Who looks after the client.
    pub keeper: Option<UserId>,
    /// Leaves out what waits at accounts, for a page that says that already.
    pub is_rest: bool,
}

/// One page of all findings and their total: the most urgent first, then the
/// oldest.
pub fn all(
    tx: &ReadTx<'_>,
    narrowed: Narrowed,
    window: RowWindow,
) -> Result<(Vec<AccountFinding>, u64)> {
    let late = Late::of(tx);
    let condition = if narrowed.is_rest { "f.kind NOT IN (4, 5)" } else { "1 = 1" };
    let mut filters = Filters::new(condition, &late.values());
    filters.and_if("f.kind = :kind", ":kind", &narrowed.fault);
    filters.and_if("c.keeper_id = :keeper", ":keeper", &narrowed.keeper);
    filters.page(tx, (&format!("{FOUND} {JOINS}"), ""), "f.kind, f.since, f.ml_user_id", window)
}

/// How many accounts have each fault; faults that no account has are left out.
pub fn counted(tx: &ReadTx<'_>) -> Result<Vec<(Fault, i64)>> {
    let sql = format!("SELECT f.kind, count(*) FROM {FOUND} GROUP BY f.kind ORDER BY f.kind");
    tx.tuples(&sql, &Late::of(tx).values()[..])
}

/// The clients with findings.
pub fn clients(tx: &ReadTx<'_>) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT DISTINCT j.client_id FROM {FOUND} JOIN agency_account j ON j.ml_user_id = f.ml_user_id"
    );
    tx.values(&sql, &Late::of(tx).values()[..])
}

/// Totals of the checkup over the agency's accounts.
pub struct CheckupTotals {
    pub accounts: i64,
    /// Accounts that were checked, and those of them with findings.
    pub checked: i64,
    pub faulty: i64,
    /// The last checkup of the account that was checked longest ago.
    pub oldest: Option<Instant>,
}

impl CheckupTotals {
    /// The totals now.
    pub fn of(tx: &ReadTx<'_>) -> Result<Self> {
        let (accounts, checked, oldest) = tx.one(
            "SELECT count(*), count(checked_at), min(checked_at) FROM agency_account",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let sql = format!("SELECT count(DISTINCT f.ml_user_id) FROM {FOUND}");
        let faulty = tx.one(&sql, &Late::of(tx).values()[..], |row| row.get(0))?;
        Ok(Self { accounts, checked, faulty, oldest })
    }

    /// Accounts that were checked and have no findings.
    pub const fn ready(&self) -> i64 {
        self.checked - self.faulty
    }

    /// `3 de 4 contas em dia`.
    pub fn words(&self) -> String {
        match (self.ready(), self.checked) {
            (_, 0) => "Nenhuma conta verificada ainda".to_owned(),
            (1, 1) => "A conta está em dia".to_owned(),
            (_, 1) => "A conta precisa de atenção".to_owned(),
            (ready, checked) if ready == checked => {
                format!("As {} contas estão em dia", grouped(checked))
            }
            (ready, checked) => format!("{} de {} contas em dia", grouped(ready), grouped(checked)),
        }
    }
}

/// Accounts that are due for a checkup, those that waited longest first.
pub fn due(tx: &ReadTx<'_>, checked_before: Instant) -> Result<Vec<MlUserId>> {
    tx.values(
        "SELECT ml_user_id FROM agency_account
         WHERE checked_at IS NULL OR checked_at <= ?1
         ORDER BY checked_at, ml_user_id",
        [checked_before],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_795_183_200);

    /// Facts with so many open questions and claims, each the oldest of its kind.
    fn with(questions: (i64, Instant), claims: (i64, Instant)) -> Facts {
        let at = |(count, at): (i64, Instant)| (count > 0).then_some(at);
        let open = Open {
            questions: questions.0,
            asked_at: at(questions),
            claims: claims.0,
            opened_at: at(claims),
            ..Open::default()
        };
        Facts { open, ..well() }
    }

    fn well() -> Facts {
        Facts {
            token_ok: true,
            synced_at: Some(NOW),
            linked_at: NOW.minus(DAY_S),
            reputation: "5_green".to_owned(),
            open: Open::default(),
            listings: 3,
            empty: 0,
        }
    }

    #[test]
    fn each_rule_finds_its_fault_alone() {
        let old = NOW.minus(3 * DAY_S);
        for (facts, fault, since, things) in [
            (Facts { token_ok: false, ..well() }, Fault::LinkLost, NOW, 1),
            (
                Facts { synced_at: Some(NOW.minus(DAY_S + 1)), ..well() },
                Fault::Unread,
                NOW.minus(DAY_S + 1),
                1,
            ),
            (Facts { synced_at: None, linked_at: old, ..well() }, Fault::Unread, old, 1),
            (Facts { reputation: "1_red".to_owned(), ..well() }, Fault::Reputation, NOW, 1),
            (Facts { reputation: "2_orange".to_owned(), ..well() }, Fault::Reputation, NOW, 1),
            (with((0, old), (2, old)), Fault::Claims, NOW.minus(DAY_S), 2),
            (with((1, old), (0, old)), Fault::Questions, NOW.minus(2 * DAY_S), 1),
            (Facts { listings: 0, ..well() }, Fault::NoListings, NOW, 1),
            (Facts { empty: 4, ..well() }, Fault::NoStock, NOW, 4),
        ] {
            assert_eq!(judge(&facts, NOW), [Finding { fault, since, things }], "{facts:?}");
        }
    }

    #[test]
    fn what_is_in_time_is_well() {
        for facts in [
            well(),
            Facts { synced_at: Some(NOW.minus(DAY_S)), ..well() },
            Facts { reputation: "3_yellow".to_owned(), ..well() },
            Facts { reputation: String::new(), ..well() },
            // Open claims and questions that are not too old yet.
            with((4, NOW.minus(3600)), (2, NOW.minus(3600))),
        ] {
            assert_eq!(judge(&facts, NOW), [], "{facts:?}");
        }
    }

    #[test]
    fn words_agree_with_numbers() {
        for fault in Fault::ALL {
            for things in [1, 2] {
                let said = fault.describe(things);
                assert!(!said.ends_with('.') && !said.is_empty(), "{said}");
            }
            assert!(fault.remedy().ends_with('.'));
        }
        assert_eq!(Fault::NoStock.describe(1), "1 anúncio ativo sem estoque");
        assert_eq!(Fault::Claims.describe(3), "3 reclamações abertas");
        assert_eq!(
            Fault::Claims.tell(3),
            "3 reclamações abertas, a mais antiga há mais de 48 horas"
        );
        assert_eq!(Fault::Questions.tell(1), "1 pergunta sem resposta há mais de 24 horas");
    }
}
