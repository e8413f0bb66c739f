//! What the student's pages of the program print: the check-in on the home, the
//! competition, the history of points, and achievements.
//!
//! The drawings are macros of `program/kit.html`; `drawing.rs` computes the
//! numbers for them.

use askama::Template;

use super::ranking::{Ranked, Ranking};
use super::rules::{LedgerTotals, Rules, sign};
use super::store::LedgerEntry;
use super::{Action, Challenge, ChallengeEntry, Milestone, cards, milestones};
use crate::base::{Day, UserId, grouped};
use crate::panel::{Layout, PageTime, Paging, Progress, Tab};

pub use super::drawing::{Emblem, Flame, Lap};
pub use crate::base::text::number_words;

/// The milestone that comes next.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Its number, 1 to 20.
    pub number: i64,
    /// The progress towards it. Its label is `Marco 8: Vitrine cheia`, its note
    /// `1.420 de 2.000 XP. Faltam 580 XP`.
    pub progress: Progress,
    /// Points that are missing.
    pub missing: i64,
}

impl Ahead {
    /// The milestone `number`, which `needed` points reach; the student has `xp`.
    pub fn new(number: i64, title: &str, xp: i64, needed: i64) -> Self {
        let [done, whole] = [xp, needed].map(|points| u64::try_from(points).unwrap_or(0));
        let label = format!("Marco {number}: {title}");
        let note = format!("{} de {}. {}", number_words(xp), points(needed), missing(needed - xp));
        Self { number, progress: Progress::new(label, done, whole, note), missing: needed - xp }
    }

    /// `faltam 580 XP`.
    pub fn left(&self) -> String {
        missing(self.missing).to_lowercase().replace("xp", "XP")
    }
}

/// The check-in on the student's home: `checkin` of `program/checkin.html`
/// prints it, in one line.
#[derive(Clone, Debug)]
pub struct CheckInCard {
    /// Whether today's is done.
    pub done: bool,
    /// Days in a row, including today when it is done; 0 after a missed day.
    pub streak: i64,
    /// Points for today's check-in; 0 is not shown.
    pub xp: i64,
    pub lap: Lap,
    /// The next milestone; `None` after the last.
    pub ahead: Option<Ahead>,
    /// Achievements of the check-in that was just done; else empty.
    pub moments: Vec<Moment>,
}

impl CheckInCard {
    pub fn flame(&self) -> Flame {
        Flame { days: self.streak }
    }

    /// `13 dias seguidos`.
    pub fn streak_words(&self) -> String {
        if self.streak == 1 {
            "1 dia seguido".to_owned()
        } else {
            format!("{} seguidos", days(self.streak))
        }
    }
}

/// An achievement, shown once with a drawing.
#[derive(Clone, Debug)]
pub enum Moment {
    /// A milestone was reached.
    Milestone {
        /// 1 to 20.
        number: i64,
        title: String,
        /// What it brings; may be empty.
        reward: String,
    },
    /// A lap was completed.
    Lap {
        /// The completed one.
        number: i64,
        /// Its check-ins.
        of: i64,
    },
    /// The streak is longer than any before.
    Record { days: i64 },
    /// A challenge's goal was reached.
    Challenge {
        title: String,
        /// What it brought, ready to read; may be empty.
        reward: String,
    },
}

impl Moment {
    /// The emblem to draw. Without one, the page draws the completed lap, else
    /// a flame, else a target.
    pub fn emblem(&self) -> Option<Emblem> {
        let Self::Milestone { number, .. } = self else { return None };
        Some(Emblem::level(*number))
    }

    pub fn lap(&self) -> Option<i64> {
        let Self::Lap { number, .. } = self else { return None };
        Some(*number)
    }

    pub fn flame(&self) -> Option<Flame> {
        let Self::Record { days } = self else { return None };
        Some(Flame { days: *days })
    }

    /// What happened.
    pub fn title(&self) -> String {
        match self {
            Self::Milestone { number, title, .. } => format!("Marco {number} conquistado: {title}"),
            Self::Lap { number, .. } => format!("Volta {number} completa!"),
            Self::Record { days: count } => format!("{} seguidos: recorde!", days(*count)),
            Self::Challenge { title, .. } => format!("Desafio cumprido: {title}"),
        }
    }

    /// The reward, or one friendly sentence.
    pub fn text(&self) -> String {
        match self {
            Self::Milestone { reward, .. } | Self::Challenge { reward, .. }
                if !reward.is_empty() =>
            {
                format!("Recompensa: {reward}")
            }
            Self::Milestone { .. } => "O selo já está na sua coleção.".to_owned(),
            Self::Lap { of, .. } => {
                format!("{} de check-in. A próxima volta já começou.", days(*of))
            }
            Self::Record { .. } => "Você nunca foi tão longe. Até amanhã.".to_owned(),
            Self::Challenge { .. } => "Meta alcançada dentro do prazo.".to_owned(),
        }
    }
}

/// `GET /painel/competicao`.
#[derive(Template)]
#[template(path = "program/competition.html", config = "assets/askama.toml")]
pub struct CompetitionPage {
    pub layout: Layout,
    pub reader: UserId,
    pub today: Day,
    pub rules: Rules,
    /// All twenty, in their order.
    pub milestones: Vec<Milestone>,
    pub progress: StudentProgress,
    /// Those that are active today, in the order in which they end.
    pub challenges: Vec<OwnChallenge>,
    pub tabs: Vec<Tab>,
    pub kind: Ranking,
    /// The rows of the ranking on this page, with their positions.
    pub rows: Vec<(u64, Ranked)>,
    /// The reader's own row and the address of its page, when it is not among
    /// `rows`; `None` also for readers who are not in the ranking.
    pub own: Option<(u64, Ranked, String)>,
    pub paging: Paging,
}

impl CompetitionPage {
    /// The next milestone; `None` after the last.
    pub fn ahead(&self) -> Option<Ahead> {
        cards::ahead(&self.milestones, self.progress.totals.xp)
    }

    pub fn emblem_of(&self, row: &Ranked) -> Emblem {
        Emblem::level(milestones::level_number(&self.milestones, row.xp))
    }

    /// `Nível 7, Vitrine cheia`.
    pub fn level_of(&self, row: &Ranked) -> String {
        let level = milestones::level(&self.milestones, row.xp);
        match (level, milestones::badge(&self.milestones, level).unwrap_or_default()) {
            (0, _) => "Ainda sem nível".to_owned(),
            (level, "") => format!("Nível {level}"),
            (level, badge) => format!("Nível {level}, {badge}"),
        }
    }

    /// `1.204º`.
    pub fn place(&self, position: &u64) -> String {
        format!("{}º", grouped(*position))
    }

    pub fn is_first(&self, position: &u64) -> bool {
        *position <= 3
    }

    pub fn is_own(&self, row: &Ranked) -> bool {
        row.student == self.reader
    }

    /// What the number of a row is.
    pub fn unit(&self) -> &'static str {
        match self.kind {
            Ranking::Overall => "XP",
            Ranking::Month => "XP no mês",
            Ranking::Week => "XP na semana",
            Ranking::Streak => "Dias seguidos",
            Ranking::Sales => "Vendas",
        }
    }

    /// Shown when the ranking is empty.
    pub fn nobody(&self) -> &'static str {
        match self.kind {
            Ranking::Overall => "O primeiro check-in já aparece aqui.",
            Ranking::Month => "O mês acabou de começar. O primeiro check-in já aparece aqui.",
            Ranking::Week => "A semana acabou de começar. O primeiro check-in já aparece aqui.",
            Ranking::Streak => "Um check-in hoje começa a primeira sequência.",
            Ranking::Sales => "A primeira venda de uma conta vinculada aparece aqui.",
        }
    }

    pub fn emblem(&self, one: &Milestone) -> Emblem {
        Emblem { number: one.number, earned: one.xp <= self.progress.totals.xp }
    }

    pub fn is_next(&self, one: &Milestone) -> bool {
        one.number == self.progress.level + 1
    }

    pub fn missing(&self, one: &Milestone) -> String {
        missing(one.xp - self.progress.totals.xp)
    }
}

/// A student's points, level and place.
pub struct StudentProgress {
    pub totals: LedgerTotals,
    /// 0 to 20.
    pub level: i64,
    /// Title of the last milestone that was reached; empty at level 0.
    pub title: String,
    /// `12º de 1.340` in the general ranking; empty when not in it.
    pub position: String,
    /// Days in a row up to today.
    pub streak: i64,
}

impl StudentProgress {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.level)
    }

    pub fn flame(&self) -> Flame {
        Flame { days: self.streak }
    }
}

/// A challenge with what one student did of it.
pub struct OwnChallenge {
    pub challenge: Challenge,
    pub done: i64,
    /// Whether the student has its reward.
    pub met: bool,
}

impl OwnChallenge {
    /// `7 de 20 vendas`, and the share.
    pub fn progress(&self) -> Progress {
        let goal = self.challenge.entry.goal;
        let done = self.done.clamp(0, goal);
        let label = format!("{} de {}", number_words(done), self.challenge.entry.goal_words());
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let whole = count(goal);
        Progress::new(label, if self.met { whole } else { count(done) }, whole, "")
    }
}

impl ChallengeEntry {
    /// `20 vendas`.
    pub fn goal_words(&self) -> String {
        format!("{} {}", number_words(self.goal), self.action.counted(self.goal))
    }

    /// How many days are left on a day within its period.
    pub fn left(&self, today: &Day) -> String {
        days_left(self.ends_on.0 - today.0)
    }

    /// What reaching the goal brings: `+300 XP e uma caneca`.
    pub fn reward_words(&self, rules: &Rules) -> String {
        match (self.points(rules), &*self.reward) {
            (0, reward) => reward.to_owned(),
            (xp, "") => signed(xp),
            (xp, reward) => format!("{} e {reward}", signed(xp)),
        }
    }
}

/// How many days a challenge has left, from its last day: 0 is today.
pub fn days_left(left: i64) -> String {
    match left {
        ..0 => "encerrado".to_owned(),
        0 => "termina hoje".to_owned(),
        1 => "falta 1 dia".to_owned(),
        _ => format!("faltam {left} dias"),
    }
}

/// `GET /painel/competicao/historico`: what gave and took points.
#[derive(Template)]
#[template(path = "program/history.html", config = "assets/askama.toml")]
pub struct HistoryPage {
    pub layout: Layout,
    pub totals: LedgerTotals,
    /// Newest first.
    pub entries: Vec<LedgerEntry>,
    pub time: PageTime,
    pub paging: Paging,
}

impl HistoryPage {
    /// `em 214 lançamentos`.
    pub fn count_words(&self) -> String {
        match self.totals.entries {
            1 => "em 1 lançamento".to_owned(),
            many => format!("em {} lançamentos", grouped(many)),
        }
    }
}

impl LedgerEntry {
    /// `None` for a correction.
    pub fn action(&self) -> Option<Action> {
        Action::from_number(self.action)
    }

    /// Whether it takes back what was given.
    pub fn is_back(&self) -> bool {
        sign(self.reversals) < 0
    }

    pub fn icon(&self) -> &'static str {
        action_icon(self.action().map_or("", Action::name))
    }

    /// `Check-in`, `Aula concluída`, `Correção`, `Venda cancelada`.
    pub fn what(&self) -> String {
        match self.action() {
            None => "Correção".to_owned(),
            Some(Action::Sale) if self.is_back() => "Venda cancelada".to_owned(),
            Some(action) if self.is_back() => format!("{} (estorno)", action.words()),
            Some(action) => action.words().to_owned(),
        }
    }

    /// A lesson's title, an order's number, a correction's reason; may be empty.
    pub fn why(&self) -> String {
        match (self.about.as_ref().or(self.note.as_ref()), self.action()) {
            (Some(said), _) => said.clone(),
            (None, Some(Action::Sale)) => self.cause.to_string(),
            (None, Some(Action::Lap)) => format!("{} check-ins", number_words(self.cause)),
            (None, _) => String::new(),
        }
    }

    /// Whether its cause is an order, which its student has a page for.
    pub fn is_sale(&self) -> bool {
        self.action() == Some(Action::Sale)
    }
}

/// The drawing of an action in `img/icons.svg`; of a correction by default.
pub fn action_icon(action: &str) -> &'static str {
    match action {
        "checkin" => "flame",
        "aula" => "lesson",
        "meet" => "meet",
        "venda" => "cart",
        "conta_vinculada" => "link",
        "desafio" => "target",
        "volta" => "flag",
        _ => "pencil",
    }
}

/// `3.420 XP`.
pub fn points(xp: i64) -> String {
    format!("{} XP", number_words(xp))
}

/// `+10 XP`, `−50 XP`.
pub fn signed(xp: i64) -> String {
    let sign = if xp < 0 { "−" } else { "+" };
    format!("{sign}{} XP", grouped(xp.unsigned_abs()))
}

/// `1 dia`, `13 dias`.
pub fn days(count: i64) -> String {
    if count == 1 { "1 dia".to_owned() } else { format!("{} dias", number_words(count)) }
}

fn missing(xp: i64) -> String {
    if xp == 1 { "Falta 1 XP".to_owned() } else { format!("Faltam {}", points(xp.max(0))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_signs_and_days_their_number() {
        assert_eq!(signed(1_200), "+1.200 XP");
        assert_eq!(signed(-50), "−50 XP");
        assert_eq!(points(0), "0 XP");
        assert_eq!([1, 2].map(days), ["1 dia", "2 dias"]);
        assert_eq!([0, 1, 12].map(days_left), ["termina hoje", "falta 1 dia", "faltam 12 dias"]);
    }

    #[test]
    fn the_way_to_a_milestone_says_what_is_missing() {
        let ahead = Ahead::new(8, "Vitrine cheia", 1_250, 2_000);
        assert_eq!(ahead.progress.percent, 62);
        assert_eq!(ahead.progress.note, "1.250 de 2.000 XP. Faltam 750 XP");
    }
}
