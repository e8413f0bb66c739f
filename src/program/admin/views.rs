//! What the administration's pages of the program print.

use askama::Template;

use super::calendar::Calendar;
use crate::accounts::Account;
use crate::base::{Day, counted, grouped};
use crate::panel::chart::{BarChart, BarWords, Change, Stat};
use crate::panel::{Badge, FormView, Layout, PageTime, Paging, Pick, Progress, Tab, When};
use crate::program::recounting::RecountRun;
use crate::program::rules::Rules;
use crate::program::store::{self, DaySum, Leaving, LedgerEntry};
use crate::program::views::{Emblem, Lap, StudentProgress, days, number_words, points};
use crate::program::{Action, Challenge, Milestone, milestones};

pub const CHART_DAYS: i64 = 30;

/// `GET /admin/gamificacao`.
#[derive(Template)]
#[template(path = "program/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub today: Day,
    pub rules: Rules,
    pub milestones: Vec<Milestone>,
    pub challenges: Vec<Challenge>,
    /// All students, and those in the program.
    pub students: u64,
    pub enrolled: u64,
    /// By day and action, for twice the days of the charts.
    pub sums: Vec<DaySum>,
    /// Students who keep a streak today, checked in or not yet.
    pub streaks: u64,
    /// Students at risk of leaving, the longest streaks first; at most ten.
    pub leaving: Vec<Leaving>,
    /// How many students are at risk in all.
    pub leaving_count: u64,
    pub recount: Option<RecountRun>,
    /// When the last comparison ended; `None` while one runs.
    pub recounted: Option<When>,
}

impl OverviewPage {
    /// Students without program data.
    pub fn without(&self) -> u64 {
        self.students - self.enrolled
    }

    /// The numbers as cards.
    pub fn stats(&self) -> Vec<Stat> {
        let today = self.entries(Action::CheckIn.number().into()).pop().unwrap_or(0);
        let first = self.first_day();
        let given = self.points(first, self.today);
        let change = Change::new(self.points(first.plus(-CHART_DAYS), first.plus(-1)), given);
        let of_all = match self.enrolled {
            0 => String::new(),
            all => format!("de {} no programa", students(all)),
        };
        let lead = |label, value, note| Stat { label, value, note, lead: true, ..Stat::default() };
        let stat = |label, value, note: &str| Stat {
            label,
            value: grouped::<u64>(value),
            note: note.to_owned(),
            ..Stat::default()
        };
        let before = if change.is_some() { "sobre os 30 dias antes" } else { "" }.to_owned();
        let outside = match self.without() {
            0 => "todos estão no programa",
            _ => "alunos fora do programa",
        };
        vec![
            lead("Check-ins hoje", number_words(today), of_all),
            Stat { change, ..lead("XP dado, 30 dias", number_words(given), before) },
            stat("Em sequência", self.streaks, "fizeram check-in ontem ou hoje"),
            stat("Sem dados", self.without(), outside),
        ]
    }

    fn first_day(&self) -> Day {
        self.today.plus(1 - CHART_DAYS)
    }

    /// Entries of an action on each day of the charts.
    fn entries(&self, action: i64) -> Vec<i64> {
        let of = |day: Day| {
            let found = self.sums.iter().find(|sum| sum.day == day && sum.action == action);
            found.map_or(0, |sum| sum.entries)
        };
        (0..CHART_DAYS).map(|ahead| of(self.first_day().plus(ahead))).collect()
    }

    /// Points that were given from one day to another, both included.
    fn points(&self, from: Day, to: Day) -> i64 {
        let within = self.sums.iter().filter(|sum| (from..=to).contains(&sum.day));
        within.map(|sum| sum.xp).sum()
    }

    /// Check-ins by day; `None` without any.
    pub fn checkins(&self) -> Option<BarChart> {
        self.chart("Check-ins por dia, 30 dias", "Check-ins", Action::CheckIn.number().into())
    }

    /// Streaks that ended, by day; `None` without any.
    pub fn ended(&self) -> Option<BarChart> {
        let title = "Sequências perdidas por dia, 30 dias";
        self.chart(title, "Sequências", store::ENDED_STREAKS)
    }

    fn chart(&self, title: &'static str, unit: &'static str, action: i64) -> Option<BarChart> {
        let words = BarWords { title, unit, value: number_words, mark: number_words };
        BarChart::new(words, self.first_day(), &self.entries(action))
    }

    /// `há 4 dias`.
    pub fn away(&self, one: &Leaving) -> String {
        format!("há {}", days(self.today.0 - one.last_checkin.0))
    }

    pub fn emblem(&self, one: &Leaving) -> Emblem {
        Emblem::level(milestones::level_number(&self.milestones, one.xp))
    }

    /// `E mais 133 alunos`, when the list shows fewer.
    pub fn more_words(&self) -> String {
        match self.leaving_count.saturating_sub(self.leaving.len() as u64) {
            0 => String::new(),
            more => format!("E mais {}", students(more)),
        }
    }

    /// `Check-in 10 XP, venda 20 XP, sem limite por dia`.
    pub fn rules_words(&self) -> String {
        let limit = match self.rules.day_limit {
            0 => "sem limite por dia".to_owned(),
            limit => format!("até {} por dia", points(limit)),
        };
        let give = |action: Action| points(self.rules.points(action, (0, 1)));
        format!("Check-in {}, venda {}, {limit}", give(Action::CheckIn), give(Action::Sale))
    }

    /// `2 ativos, 1 agendado`.
    pub fn challenges_words(&self) -> String {
        let count = |badge: Badge| {
            let all = self.challenges.iter();
            all.filter(|one| one.entry.state(&self.today) == badge).count()
        };
        let active = match count(Badge::Active) {
            0 => "Nenhum ativo".to_owned(),
            1 => "1 ativo".to_owned(),
            many => format!("{many} ativos"),
        };
        match count(Badge::Scheduled) {
            0 => active,
            1 => format!("{active}, 1 agendado"),
            many => format!("{active}, {many} agendados"),
        }
    }

    /// `Do marco 1, com 100 XP, ao 20, com 32.000 XP`.
    pub fn milestones_words(&self) -> String {
        let told = |one: &Milestone| format!("{}, com {}", one.number, points(one.xp));
        match (self.milestones.first(), self.milestones.last()) {
            (Some(first), Some(last)) => format!("Do marco {}, ao {}", told(first), told(last)),
            _ => String::new(),
        }
    }
}

impl RecountRun {
    /// `Conferindo 41.200 de 100.000 alunos`.
    pub fn progress(&self) -> Progress {
        let [done, of] =
            [self.compared, self.students].map(|count| u64::try_from(count).unwrap_or(0));
        let label = format!("Conferindo {} de {}", grouped(done), students(of));
        Progress::new(label, done, of, "Continua mesmo que você saia desta página.")
    }

    /// What a comparison found.
    pub fn words(&self) -> String {
        let seen = counted(self.compared, "aluno conferido", "alunos conferidos");
        match self.mended {
            0 => format!("{seen}, tudo batia com o histórico."),
            many => format!("{seen}, {}.", counted(many, "corrigido", "corrigidos")),
        }
    }
}

/// `GET /admin/gamificacao/migrar`: asks for confirmation.
#[derive(Template)]
#[template(path = "program/migrate.html", config = "assets/askama.toml")]
pub struct MigratePage {
    pub layout: Layout,
    /// Students without the program's data, and with it.
    pub without: u64,
    pub enrolled: u64,
}

/// `GET /admin/gamificacao/regras`, with the rules of the query when they are
/// previewed; and the answer to a form with errors.
#[derive(Template)]
#[template(path = "program/rules.html", config = "assets/askama.toml")]
pub struct RulesPage {
    pub layout: Layout,
    pub form: FormView,
    /// What the typed rules would have given; `None` until asked for.
    pub effect: Option<Effect>,
}

/// What other rules would have given in the last 30 days.
#[derive(Clone, Debug)]
pub struct Effect {
    /// By action, in the order of the form.
    pub rows: Vec<EffectRow>,
    /// Whether the typed rules are those in force.
    pub same: bool,
    /// One in this many students was used; 1 means all.
    pub one_in: u64,
}

impl Effect {
    /// Points given, and points with the typed rules.
    pub fn totals(&self) -> (i64, i64) {
        let sum = |of: fn(&EffectRow) -> i64| self.rows.iter().map(of).fold(0, i64::saturating_add);
        (sum(|row| row.given), sum(|row| row.would))
    }

    /// All actions as the last line of the table.
    pub fn all(&self) -> EffectRow {
        let (given, would) = self.totals();
        let entries = self.rows.iter().map(|row| row.entries).sum();
        EffectRow { icon: "", label: "Ao todo", entries, given, would }
    }

    /// `Teriam dado 3.120 XP nos últimos 30 dias`.
    pub fn title(&self) -> String {
        let (_, would) = self.totals();
        format!("Estas regras teriam dado {} nos últimos 30 dias", points(would))
    }

    /// `As de hoje deram 2.480 XP. São 640 XP a mais (+26%).`
    pub fn text(&self) -> String {
        let (given, would) = self.totals();
        if self.rows.iter().all(|row| row.entries == 0) {
            return "Ninguém pontuou no período, então não há o que comparar.".to_owned();
        }
        let share = match Change::new(given, would) {
            Some(change) if given != would => format!(" ({})", change.text),
            _ => String::new(),
        };
        let apart = points((would - given).abs());
        let guessed = match self.one_in {
            1 => String::new(),
            many => format!(" Estimativa a partir de 1 em cada {many} alunos."),
        };
        let said = match would - given {
            0 if self.same => "São as regras em vigor.".to_owned(),
            0 => format!("O mesmo que as de hoje: {}.", points(given)),
            1.. => format!("As de hoje deram {}. São {apart} a mais{share}.", points(given)),
            _ => format!("As de hoje deram {}. São {apart} a menos{share}.", points(given)),
        };
        format!("{said}{guessed}")
    }
}

/// An action in the comparison.
#[derive(Clone, Debug)]
pub struct EffectRow {
    /// By [`crate::program::views::action_icon`].
    pub icon: &'static str,
    pub label: &'static str,
    /// Entries of the ledger in the 30 days.
    pub entries: u64,
    pub given: i64,
    pub would: i64,
}

impl EffectRow {
    /// `+640`, `−20`, `0`.
    pub fn apart(&self) -> String {
        match self.would - self.given {
            0 => "0".to_owned(),
            apart @ 1.. => format!("+{}", number_words(apart)),
            apart => number_words(apart),
        }
    }
}

/// `GET /admin/gamificacao/desafios?quando=ativos|futuros|encerrados`.
#[derive(Template)]
#[template(path = "program/challenges.html", config = "assets/askama.toml")]
pub struct ChallengesPage {
    pub layout: Layout,
    pub today: Day,
    pub rules: Rules,
    /// Ativos, Futuros, Encerrados.
    pub tabs: Vec<Tab>,
    /// Those of the chosen tab.
    pub challenges: Vec<Challenge>,
    pub paging: Paging,
    /// Whether there is none in any tab.
    pub none_at_all: bool,
    /// All that overlap the shown months, whatever the tab; `None` without any.
    pub calendar: Option<Calendar>,
}

/// `GET /admin/gamificacao/desafios/{id|novo}`, and the answer to a form with
/// errors.
#[derive(Template)]
#[template(path = "program/challenge_form.html", config = "assets/askama.toml")]
pub struct ChallengeForm {
    pub layout: Layout,
    pub today: Day,
    /// The stored challenge; `None` for a new one.
    pub existing: Option<Challenge>,
    pub form: FormView,
    /// What the action `desafio` gives, for the help.
    pub usual_words: String,
}

impl ChallengeForm {
    /// What `acao` offers.
    pub fn actions(&self) -> [Pick; Action::ALL.len()] {
        Action::ALL.map(|action| Pick {
            value: action.name().to_owned(),
            label: action.words().to_owned(),
        })
    }
}

impl Challenge {
    /// `12 alunos já cumpriram`.
    pub fn met_words(&self) -> String {
        match self.met {
            0 => "Ninguém cumpriu ainda".to_owned(),
            many => counted(many, "aluno já cumpriu", "alunos já cumpriram"),
        }
    }
}

/// `GET /admin/gamificacao/marcos`.
#[derive(Template)]
#[template(path = "program/milestones.html", config = "assets/askama.toml")]
pub struct MilestonesPage {
    pub layout: Layout,
    /// All twenty, in their order, with the students whose level each is now.
    pub milestones: Vec<(Milestone, u64)>,
    /// Students who have reached none yet.
    pub below: u64,
}

impl MilestonesPage {
    /// A number of students in percent of the largest number at one milestone.
    pub fn share(&self, count: &u64) -> u64 {
        let most = self.milestones.iter().map(|(_, students)| *students).fold(self.below, u64::max);
        let share = u128::from(*count) * 100 / u128::from(most.max(1));
        // Even a single student must be visible.
        u64::try_from(share).unwrap_or(100).max(u64::from(*count > 0))
    }

    pub fn words(&self, count: &u64) -> String {
        students(*count)
    }
}

impl Milestone {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.number)
    }
}

/// `GET /admin/gamificacao/marcos/{n}`, and the answer to a form with errors.
#[derive(Template)]
#[template(path = "program/milestone_form.html", config = "assets/askama.toml")]
pub struct MilestoneForm {
    pub layout: Layout,
    /// As it is stored, whatever was typed since.
    pub milestone: Milestone,
    pub form: FormView,
    /// Points of the milestones before and after; `None` at the ends.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// Students who have reached it.
    pub reached: u64,
}

impl MilestoneForm {
    /// What the points must lie between.
    pub fn bounds(&self) -> String {
        let number = self.milestone.number;
        match (self.before, self.after) {
            (Some(before), Some(after)) => format!(
                "Entre o marco {}, com {}, e o {}, com {}.",
                number - 1,
                points(before),
                number + 1,
                points(after)
            ),
            (None, Some(after)) => format!("Menos do que o marco 2, com {}.", points(after)),
            (Some(before), None) => {
                format!("Mais do que o marco {}, com {}.", number - 1, points(before))
            }
            (None, None) => String::new(),
        }
    }

    pub fn reached_words(&self) -> String {
        match self.reached {
            0 => "Ninguém chegou aqui ainda.".to_owned(),
            many => counted(many, "aluno já chegou aqui.", "alunos já chegaram aqui."),
        }
    }
}

/// `GET /admin/gamificacao/alunos/{id}`: a student's points and their entries;
/// and the answer to a correction with errors.
#[derive(Template)]
#[template(path = "program/ledger.html", config = "assets/askama.toml")]
pub struct LedgerPage {
    pub layout: Layout,
    pub today: Day,
    pub student: Account,
    pub progress: StudentProgress,
    pub lap: Lap,
    /// Newest first.
    pub entries: Vec<LedgerEntry>,
    pub time: PageTime,
    pub paging: Paging,
    pub form: FormView,
}

impl LedgerPage {
    pub fn level_words(&self) -> String {
        match self.progress.level {
            0 => "Ainda sem nível".to_owned(),
            level => format!("Nível {level}: {}", self.progress.title),
        }
    }

    /// `13 dias, recorde de 41`.
    pub fn streak_words(&self) -> String {
        let best = number_words(self.progress.totals.best_streak);
        format!("{}, recorde de {best}", days(self.progress.streak))
    }

    /// `hoje`, `há 3 dias (20/11/2026)`, `nunca`.
    pub fn last_words(&self) -> String {
        let totals = &self.progress.totals;
        match (totals.last_checkin, totals.days_away(self.today)) {
            (Some(_), Some(0)) => "hoje".to_owned(),
            (Some(last), Some(away)) => {
                format!("há {} ({})", days(away), last.date().strftime("%d/%m/%Y"))
            }
            _ => "nunca".to_owned(),
        }
    }
}

/// `1 aluno`, `1.200 alunos`.
pub fn students(count: u64) -> String {
    counted(count, "aluno", "alunos")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_told_in_one_sentence() {
        let effect = |given, would| Effect {
            rows: vec![EffectRow { icon: "cart", label: "Venda", entries: 9, given, would }],
            same: false,
            one_in: 1,
        };
        assert_eq!(
            effect(2_480, 3_120).text(),
            "As de hoje deram 2.480 XP. São 640 XP a mais (+26%)."
        );
        assert_eq!(effect(100, 40).text(), "As de hoje deram 100 XP. São 60 XP a menos (−60%).");
        assert_eq!(effect(100, 100).text(), "O mesmo que as de hoje: 100 XP.");
        assert_eq!(effect(100, 40).rows[0].apart(), "−60");
    }
}
