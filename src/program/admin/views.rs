//! What the administration's pages of the program print.

use askama::Template;

use crate::base::grouped;
use crate::panel::chart::{BarChart, BarWords, Change, Stat};
use crate::panel::{Badge, FormView, Layout, Paging, Pick, Progress, Tab, When};
use crate::program::views::{Emblem, EntryLine, Flame, Lap, days, number_words, points};

pub use super::calendar::{Calendar, Planned, left_words, period, state_of};

/// `GET /admin/gamificacao`.
#[derive(Template)]
#[template(path = "program/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub totals: Totals,
    /// By [`CHECKINS`], 30 days; `None` without any.
    pub checkins: Option<BarChart>,
    /// By [`ENDED`], 30 days; `None` without any.
    pub ended: Option<BarChart>,
    /// Students at risk of leaving, the longest streaks first; at most ten.
    pub leaving: Vec<LeavingRow>,
    /// What counts as leaving, such as `Sem check-in há 3 a 14 dias, depois de
    /// uma sequência de 7 ou mais.`
    pub leaving_words: String,
    /// How many students are at risk in all.
    pub leaving_count: u64,
    pub recount: RecountCard,
    /// `Check-in 10 XP, venda 20 XP, sem limite por dia`.
    pub rules_words: String,
    /// `2 ativos, 1 agendado`.
    pub challenges_words: String,
    /// `Do marco 1, com 100 XP, ao 20, com 32.000`.
    pub milestones_words: String,
}

/// Words of the chart of check-ins.
pub const CHECKINS: BarWords = BarWords {
    title: "Check-ins por dia, 30 dias",
    unit: "Check-ins",
    value: number_words,
    mark: number_words,
};

/// Words of the chart of streaks that ended.
pub const ENDED: BarWords = BarWords {
    title: "Sequências perdidas por dia, 30 dias",
    unit: "Sequências",
    value: number_words,
    mark: number_words,
};

/// The numbers of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Students in the program.
    pub enrolled: u64,
    /// Students without program data.
    pub without: u64,
    pub checkins_today: i64,
    /// Students who keep a streak today, checked in or not yet.
    pub streaks: u64,
    /// Points given in the last 30 days, and in the 30 before.
    pub points_30: i64,
    pub points_before: i64,
}

impl OverviewPage {
    /// The numbers as cards.
    pub fn stats(&self) -> Vec<Stat> {
        let totals = self.totals;
        let change = Change::new(totals.points_before, totals.points_30);
        let of_all = match totals.enrolled {
            0 => String::new(),
            all => format!("de {} no programa", students(all)),
        };
        vec![
            Stat {
                label: "Check-ins hoje",
                value: number_words(totals.checkins_today),
                note: of_all,
                lead: true,
                ..Stat::default()
            },
            Stat {
                label: "XP dado, 30 dias",
                value: number_words(totals.points_30),
                note: if change.is_some() { "sobre os 30 dias antes" } else { "" }.to_owned(),
                change,
                lead: true,
                ..Stat::default()
            },
            Stat {
                label: "Em sequência",
                value: grouped(totals.streaks),
                note: "fizeram check-in ontem ou hoje".to_owned(),
                ..Stat::default()
            },
            Stat {
                label: "Sem dados",
                value: grouped(totals.without),
                note: match totals.without {
                    0 => "todos estão no programa",
                    _ => "alunos fora do programa",
                }
                .to_owned(),
                ..Stat::default()
            },
        ]
    }

    /// `E mais 133 alunos`, when the list shows fewer.
    pub fn more_words(&self) -> String {
        match self.leaving_count.saturating_sub(self.leaving.len() as u64) {
            0 => String::new(),
            1 => "E mais 1 aluno".to_owned(),
            more => format!("E mais {} alunos", grouped(more)),
        }
    }
}

/// A student at risk of leaving.
#[derive(Clone, Debug)]
pub struct LeavingRow {
    pub id: i64,
    pub name: String,
    /// Whole days since the last check-in.
    pub away: i64,
    /// The student's longest streak.
    pub best: i64,
    /// 0 to 20.
    pub level: i64,
}

impl LeavingRow {
    /// `há 4 dias`.
    pub fn away_words(&self) -> String {
        format!("há {}", days(self.away))
    }

    pub fn best_words(&self) -> String {
        days(self.best)
    }

    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.level)
    }
}

/// The comparison of all students with the ledger.
#[derive(Clone, Debug, Default)]
pub struct RecountCard {
    /// The one that runs, made by [`RecountCard::progress`].
    pub running: Option<Progress>,
    /// The last finished one.
    pub last: Option<RecountOutcome>,
}

impl RecountCard {
    /// The progress of a comparison: `Conferindo 41.200 de 100.000 alunos`.
    pub fn progress(done: u64, of: u64) -> Progress {
        let label = format!("Conferindo {} de {}", grouped(done), students(of));
        Progress::new(label, done, of, "Continua mesmo que você saia desta página.")
    }
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct RecountOutcome {
    pub when: When,
    /// Students that were compared, and those whose data was corrected.
    pub students: u64,
    pub mended: u64,
}

impl RecountOutcome {
    pub fn words(&self) -> String {
        let seen = match self.students {
            1 => "1 aluno conferido".to_owned(),
            many => format!("{} alunos conferidos", grouped(many)),
        };
        match self.mended {
            0 => format!("{seen}, tudo batia com o histórico."),
            1 => format!("{seen}, 1 corrigido."),
            many => format!("{seen}, {} corrigidos.", grouped(many)),
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

impl MigratePage {
    pub fn without_words(&self) -> String {
        students(self.without)
    }

    pub fn enrolled_words(&self) -> String {
        students(self.enrolled)
    }
}

/// `GET /admin/gamificacao/regras`, with the rules of the query when they are
/// previewed; and the answer to a form with errors.
#[derive(Template)]
#[template(path = "program/rules.html", config = "assets/askama.toml")]
pub struct RulesPage {
    pub layout: Layout,
    /// `xp_checkin`, `xp_aula`, `xp_meet`, `xp_venda`, `xp_conta_vinculada`,
    /// `xp_desafio`, `xp_volta`, `multiplicador`, `multiplicador_streak`,
    /// `limite_diario`, `limite_venda_diario`.
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
    pub fn entries_words(&self) -> String {
        grouped(self.entries)
    }

    pub fn given_words(&self) -> String {
        number_words(self.given)
    }

    pub fn would_words(&self) -> String {
        number_words(self.would)
    }

    /// `+640`, `−20`, `0`.
    pub fn apart(&self) -> String {
        match self.would - self.given {
            0 => "0".to_owned(),
            apart @ 1.. => format!("+{}", number_words(apart)),
            apart => number_words(apart),
        }
    }

    pub fn is_same(&self) -> bool {
        self.would == self.given
    }
}

/// `GET /admin/gamificacao/desafios?quando=ativos|futuros|encerrados`.
#[derive(Template)]
#[template(path = "program/challenges.html", config = "assets/askama.toml")]
pub struct ChallengesPage {
    pub layout: Layout,
    /// Ativos, Futuros, Encerrados.
    pub tabs: Vec<Tab>,
    /// Those of the chosen tab.
    pub challenges: Vec<ChallengeRow>,
    pub paging: Paging,
    /// Whether there is none in any tab.
    pub none_at_all: bool,
    /// All that overlap the shown months, whatever the tab; `None` without any.
    pub calendar: Option<Calendar>,
}

/// A challenge in the list.
#[derive(Clone, Debug)]
pub struct ChallengeRow {
    pub id: i64,
    pub title: String,
    /// `20 vendas`.
    pub goal: String,
    /// `01/11 a 30/11/2026`, by [`period`].
    pub period: String,
    /// `faltam 7 dias`, `começa em 3 dias`, or empty: [`left_words`].
    pub left: String,
    /// `+300 XP e uma caneca`.
    pub reward: String,
    /// Students who reached it.
    pub met: u64,
    /// `Active`, `Scheduled` or `Over`.
    pub state: Badge,
}

impl ChallengeRow {
    pub fn met_words(&self) -> String {
        grouped(self.met)
    }
}

/// `GET /admin/gamificacao/desafios/{id|novo}`, and the answer to a form with
/// errors.
#[derive(Template)]
#[template(path = "program/challenge_form.html", config = "assets/askama.toml")]
pub struct ChallengeForm {
    pub layout: Layout,
    /// The stored challenge; `None` for a new one.
    pub existing: Option<ExistingChallenge>,
    /// `titulo`, `descricao`, `acao`, `meta`, `inicio`, `fim`, `recompensa_xp`,
    /// `recompensa`.
    pub form: FormView,
    /// The seven actions.
    pub actions: Vec<Pick>,
    /// What the action `desafio` gives, for the help: `150 XP`.
    pub usual_reward: String,
}

impl ChallengeForm {
    pub fn usual_words(&self) -> String {
        format!("Em branco, o das regras: {}.", self.usual_reward)
    }
}

/// The stored challenge that a form changes.
#[derive(Clone, Debug)]
pub struct ExistingChallenge {
    pub id: i64,
    /// Its stored title, whatever was typed since.
    pub title: String,
    pub state: Badge,
    pub period: String,
    /// Students who reached it.
    pub met: u64,
}

impl ExistingChallenge {
    /// `12 alunos já cumpriram`.
    pub fn met_words(&self) -> String {
        match self.met {
            0 => "Ninguém cumpriu ainda".to_owned(),
            1 => "1 aluno já cumpriu".to_owned(),
            many => format!("{} alunos já cumpriram", grouped(many)),
        }
    }
}

/// `GET /admin/gamificacao/marcos`.
#[derive(Template)]
#[template(path = "program/milestones.html", config = "assets/askama.toml")]
pub struct MilestonesPage {
    pub layout: Layout,
    /// All twenty, in their order.
    pub milestones: Vec<MilestoneRow>,
    /// Students who have reached none yet.
    pub below: u64,
}

impl MilestonesPage {
    /// A number of students in percent of the largest number at one milestone.
    pub fn share(&self, count: &u64) -> u64 {
        let most = self.milestones.iter().map(|row| row.students).fold(self.below, u64::max);
        let share = u128::from(*count) * 100 / u128::from(most.max(1));
        // Even a single student must be visible.
        u64::try_from(share).unwrap_or(100).max(u64::from(*count > 0))
    }

    pub fn below_words(&self) -> String {
        students(self.below)
    }
}

/// A milestone in the list.
#[derive(Clone, Debug)]
pub struct MilestoneRow {
    pub number: i64,
    pub title: String,
    pub badge: String,
    /// Points needed to reach it.
    pub xp: i64,
    /// May be empty.
    pub reward: String,
    /// Students whose level it is now.
    pub students: u64,
}

impl MilestoneRow {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.number)
    }

    pub fn xp_words(&self) -> String {
        points(self.xp)
    }

    pub fn students_words(&self) -> String {
        students(self.students)
    }
}

/// `GET /admin/gamificacao/marcos/{n}`, and the answer to a form with errors.
#[derive(Template)]
#[template(path = "program/milestone_form.html", config = "assets/askama.toml")]
pub struct MilestoneForm {
    pub layout: Layout,
    /// 1 to 20.
    pub number: i64,
    /// Its stored title, whatever was typed since.
    pub title: String,
    /// `titulo`, `xp`, `badge`, `recompensa`; the form also sends the number.
    pub form: FormView,
    /// Points of the milestones before and after; `None` at the ends.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// Students who have reached it.
    pub reached: u64,
}

impl MilestoneForm {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.number)
    }

    /// What the points must lie between.
    pub fn bounds(&self) -> String {
        match (self.before, self.after) {
            (Some(before), Some(after)) => format!(
                "Entre o marco {}, com {}, e o {}, com {}.",
                self.number - 1,
                points(before),
                self.number + 1,
                points(after)
            ),
            (None, Some(after)) => format!("Menos do que o marco 2, com {}.", points(after)),
            (Some(before), None) => {
                format!("Mais do que o marco {}, com {}.", self.number - 1, points(before))
            }
            (None, None) => String::new(),
        }
    }

    pub fn reached_words(&self) -> String {
        match self.reached {
            0 => "Ninguém chegou aqui ainda.".to_owned(),
            1 => "1 aluno já chegou aqui.".to_owned(),
            many => format!("{} alunos já chegaram aqui.", grouped(many)),
        }
    }
}

/// `GET /admin/gamificacao/alunos/{id}`: a student's points and their entries;
/// and the answer to a correction with errors.
#[derive(Template)]
#[template(path = "program/ledger.html", config = "assets/askama.toml")]
pub struct LedgerPage {
    pub layout: Layout,
    pub student: LedgerStudent,
    /// Entries in all.
    pub count: u64,
    /// Newest first.
    pub entries: Vec<EntryLine>,
    pub paging: Paging,
    /// `xp`, `motivo`.
    pub form: FormView,
}

/// The student whose ledger is shown.
#[derive(Clone, Debug)]
pub struct LedgerStudent {
    pub id: i64,
    pub name: String,
    pub email: String,
    pub photo: String,
    pub xp: i64,
    /// 0 to 20, with the title of its milestone.
    pub level: i64,
    pub milestone: String,
    /// `12º de 1.340`; empty when not in the ranking.
    pub position: String,
    pub streak: i64,
    pub best: i64,
    pub lap: Lap,
    /// `hoje`, `há 3 dias (20/11/2026)`, `nunca`.
    pub last: String,
}

impl LedgerStudent {
    pub fn emblem(&self) -> Emblem {
        Emblem::level(self.level)
    }

    pub fn flame(&self) -> Flame {
        Flame { days: self.streak }
    }

    pub fn xp_words(&self) -> String {
        points(self.xp)
    }

    pub fn level_words(&self) -> String {
        match self.level {
            0 => "Ainda sem nível".to_owned(),
            level => format!("Nível {level}: {}", self.milestone),
        }
    }

    /// `13 dias, recorde de 41`.
    pub fn streak_words(&self) -> String {
        format!("{}, recorde de {}", days(self.streak), number_words(self.best))
    }
}

fn students(count: u64) -> String {
    if count == 1 { "1 aluno".to_owned() } else { format!("{} alunos", grouped(count)) }
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
