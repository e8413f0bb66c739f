//! What the student's pages of the program print: the check-in on the home, the
//! competition, the history of points, and achievements.
//!
//! The drawings are macros of `program/kit.html`; `drawing.rs` computes the
//! numbers for them.

use askama::Template;

use crate::base::grouped;
use crate::panel::{Layout, Paging, Progress, Tab, When};

pub use super::drawing::{Emblem, Flame, Lap};

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
    pub fn new(number: i64, title: &str, (xp, needed): (i64, i64)) -> Self {
        let [done, whole] = [xp, needed].map(|points| u64::try_from(points).unwrap_or(0));
        let label = format!("Marco {number}: {title}");
        let note = format!("{} de {}. {}", number_words(xp), points(needed), missing(needed - xp));
        Self { number, progress: Progress::new(label, done, whole, note), missing: needed - xp }
    }

    pub fn emblem(&self) -> Emblem {
        Emblem { number: self.number, earned: false }
    }

    /// `faltam 580 XP`.
    pub fn left(&self) -> String {
        missing(self.missing).to_lowercase().replace("xp", "XP")
    }
}

/// The check-in on the student's home: `checkin` of `program/checkin.html`
/// prints it. Before the check-in it is the largest thing on the page,
/// afterwards one line.
#[derive(Clone, Debug)]
pub struct CheckInCard {
    /// Whether today's is done.
    pub done: bool,
    /// Days in a row, including today when it is done; 0 after a missed day.
    pub streak: i64,
    /// The longest streak, this one included.
    pub best: i64,
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

    /// One sentence about the streak, before the check-in.
    pub fn words(&self) -> String {
        match (self.streak, self.best) {
            (0, 0) => "O primeiro leva um segundo e começa a sua sequência.".to_owned(),
            (0, best) => {
                format!("Hoje começa uma sequência nova. A sua maior foi de {}.", days(best))
            }
            (streak, best) if streak >= best => {
                format!("Com o de hoje são {} seguidos, o seu recorde.", days(streak + 1))
            }
            (streak, best) => {
                format!(
                    "Com o de hoje são {} seguidos. O seu recorde é {}.",
                    days(streak + 1),
                    days(best)
                )
            }
        }
    }

    /// `13 dias seguidos`.
    pub fn streak_words(&self) -> String {
        if self.streak == 1 {
            "1 dia seguido".to_owned()
        } else {
            format!("{} seguidos", days(self.streak))
        }
    }

    /// ` +12 XP` for the button, or nothing.
    pub fn gain(&self) -> String {
        if self.xp > 0 { signed(self.xp) } else { String::new() }
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
    pub moments: Vec<Moment>,
    pub standing: StandingCard,
    /// Those that are active today, in the order in which they end.
    pub challenges: Vec<ChallengeCard>,
    /// The five types: Geral, Mês, Semana, Sequência, Vendas.
    pub tabs: Vec<Tab>,
    /// What the number of a row is: `XP`, `XP no mês`, `XP na semana`, `Dias
    /// seguidos`, `Vendas`.
    pub unit: &'static str,
    /// Shown when the list is empty, such as `A semana acabou de começar. O
    /// primeiro check-in já aparece aqui.`
    pub nobody: &'static str,
    /// The rows of the ranking on this page.
    pub rows: Vec<RankRow>,
    /// The reader's own row when it is not among `rows`; `None` otherwise, and
    /// for readers who are not in the ranking.
    pub own: Option<RankRow>,
    /// Address of the page with the reader's own row; empty when that is this
    /// page, or there is no such row.
    pub own_page: String,
    pub paging: Paging,
    /// All twenty, in their order.
    pub wall: Vec<MilestoneCard>,
}

impl CompetitionPage {
    /// How many milestones were reached.
    pub fn reached(&self) -> usize {
        self.wall.iter().filter(|card| card.emblem.earned).count()
    }
}

/// The reader's level, points and streak.
#[derive(Clone, Debug)]
pub struct StandingCard {
    /// 0 to 20.
    pub level: i64,
    /// Title of the last milestone that was reached; empty at level 0.
    pub title: String,
    pub xp: i64,
    /// `12º de 1.340` in the general ranking; empty when not in it.
    pub position: String,
    pub streak: i64,
    /// The next milestone; `None` after the last.
    pub ahead: Option<Ahead>,
}

impl StandingCard {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.level)
    }

    pub fn flame(&self) -> Flame {
        Flame { days: self.streak }
    }

    pub fn xp_words(&self) -> String {
        number_words(self.xp)
    }

    pub fn streak_words(&self) -> String {
        days(self.streak)
    }
}

/// A student in the ranking.
#[derive(Clone, Debug)]
pub struct RankRow {
    pub position: u64,
    /// First name and initial; the own name in full.
    pub name: String,
    /// 0 to 20.
    pub level: i64,
    /// What the badge of the level is called; empty at level 0.
    pub badge: String,
    /// The number of the type, ready to print, such as `3.420`.
    pub value: String,
    /// Whether it is the reader.
    pub mine: bool,
}

impl RankRow {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.level)
    }

    /// `1.204º`.
    pub fn position_words(&self) -> String {
        format!("{}º", grouped(self.position))
    }

    /// `Nível 7, Vitrine cheia`.
    pub fn level_words(&self) -> String {
        match (self.level, &*self.badge) {
            (0, _) => "Ainda sem nível".to_owned(),
            (level, "") => format!("Nível {level}"),
            (level, badge) => format!("Nível {level}, {badge}"),
        }
    }
}

/// An active challenge.
#[derive(Clone, Debug)]
pub struct ChallengeCard {
    pub id: i64,
    pub title: String,
    /// May be empty.
    pub description: String,
    /// The progress: its label is `7 de 20 vendas`, its note empty.
    pub progress: Progress,
    /// `termina hoje`, `falta 1 dia`, `faltam 12 dias`.
    pub left: String,
    /// `+300 XP`, `+300 XP e uma caneca`.
    pub reward: String,
    /// Whether the goal was reached.
    pub met: bool,
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

/// A milestone on the wall.
#[derive(Clone, Debug)]
pub struct MilestoneCard {
    pub emblem: Emblem,
    pub title: String,
    /// What its badge is called.
    pub badge: String,
    /// Points needed to reach it.
    pub xp: i64,
    /// What it brings; may be empty.
    pub reward: String,
    /// Points that are missing; 0 when reached.
    pub missing: i64,
    /// Whether it is the next one.
    pub next: bool,
}

impl MilestoneCard {
    pub fn xp_words(&self) -> String {
        points(self.xp)
    }

    pub fn missing_words(&self) -> String {
        missing(self.missing)
    }
}

/// `GET /painel/competicao/historico`: what gave and took points.
#[derive(Template)]
#[template(path = "program/history.html", config = "assets/askama.toml")]
pub struct HistoryPage {
    pub layout: Layout,
    /// All points.
    pub total: i64,
    /// How many entries there are.
    pub count: u64,
    /// Newest first.
    pub entries: Vec<EntryLine>,
    pub paging: Paging,
}

impl HistoryPage {
    pub fn total_words(&self) -> String {
        points(self.total)
    }

    /// `em 214 lançamentos`.
    pub fn count_words(&self) -> String {
        match self.count {
            1 => "em 1 lançamento".to_owned(),
            many => format!("em {} lançamentos", grouped(many)),
        }
    }
}

/// An entry of the ledger.
#[derive(Clone, Debug)]
pub struct EntryLine {
    /// Drawing of the action: [`action_icon`].
    pub icon: &'static str,
    /// What it was: `Check-in`, `Aula concluída`, `Correção`, `Venda cancelada`.
    pub what: String,
    /// Why: a lesson's title, an order's number, a correction's reason; may be empty.
    pub why: String,
    /// Address of what it is about; empty without one.
    pub href: String,
    /// Points, negative when taken.
    pub xp: i64,
    pub when: When,
}

impl EntryLine {
    pub fn points(&self) -> String {
        signed(self.xp)
    }

    pub fn is_minus(&self) -> bool {
        self.xp < 0
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

/// `3.420`, `−50`.
pub fn number_words(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
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
        let ahead = Ahead::new(8, "Vitrine cheia", (1_250, 2_000));
        assert_eq!(ahead.progress.percent, 62);
        assert_eq!(ahead.progress.note, "1.250 de 2.000 XP. Faltam 750 XP");
    }
}
