//! Every page of the program in the administration with sample data.
//! `page_samples.rs` checks them.

use super::views::*;
use crate::base::Day;
use crate::fixture::html;
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{FormView, Layout, Paging, Pick, Tab, When};
use crate::program::samples::{LONG, NEEDED, TITLES, entry};
use crate::program::views::{Lap, action_icon};

type Pages = Vec<(&'static str, String)>;

/// Makes the layout of a page at an address.
type Frame<'f> = &'f dyn Fn(&str) -> Layout;

const ACTIONS: [(&str, &str); 7] = [
    ("checkin", "Check-in"),
    ("aula", "Aula concluída"),
    ("meet", "Encontro ao vivo"),
    ("venda", "Venda"),
    ("conta_vinculada", "Conta vinculada"),
    ("desafio", "Desafio cumprido"),
    ("volta", "Volta completa"),
];

fn today() -> Day {
    Day::parse("2026-11-20").unwrap()
}

fn chart(words: BarWords, scale: i64) -> Option<BarChart> {
    let values: Vec<i64> = (0..30).map(|day| scale * (40 + day * 7 % 31 + day) / 40).collect();
    BarChart::new(words, today().plus(-29), &values)
}

fn form(values: &[(&'static str, &str)], faults: &[&str], words: &'static str) -> FormView {
    let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let value = |name: &str| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned()).unwrap_or_default()
    };
    let mut form = FormView::new(&names, value);
    if !faults.is_empty() {
        form.find_fault(faults, |_| words);
    }
    form
}

fn leaving(count: usize) -> Vec<LeavingRow> {
    let row = |(index, id): (usize, i64)| LeavingRow {
        id,
        name: ["Bruno Cardoso", LONG, "Zé"][index % 3].to_owned(),
        away: [3, 4, 9][index % 3],
        best: [41, 120, 7][index % 3],
        level: [7, 18, 0][index % 3],
    };
    (0..count).zip(1..).map(row).collect()
}

fn overview(operator: Frame<'_>, totals: Totals, away: usize, recount: RecountCard) -> String {
    html(&OverviewPage {
        layout: operator("/admin/gamificacao"),
        totals,
        checkins: chart(CHECKINS, totals.checkins_today),
        ended: chart(ENDED, totals.checkins_today / 12),
        leaving: leaving(away.min(10)),
        leaving_words: "Sem check-in há 3 a 14 dias, depois de 7 dias seguidos ou mais.".to_owned(),
        leaving_count: away as u64,
        recount,
        rules_words: "Check-in 10 XP, aula 30, venda 20. Sem limite por dia.".to_owned(),
        challenges_words: "2 ativos, 1 agendado".to_owned(),
        milestones_words: "Do primeiro, com 100 XP, ao 20, com 32.000".to_owned(),
    })
}

fn overviews(operator: Frame<'_>, ago: &dyn Fn(i64) -> When) -> Pages {
    let many = Totals {
        enrolled: 12_480,
        without: 312,
        checkins_today: 4_102,
        streaks: 6_318,
        points_30: 1_204_330,
        points_before: 1_090_120,
    };
    let found = |mended| RecountOutcome { when: ago(9_000), students: 12_480, mended };
    let last = |mended| RecountCard { running: None, last: Some(found(mended)) };
    let running =
        RecountCard { running: Some(RecountCard::progress(41_200, 100_000)), last: Some(found(0)) };
    vec![
        ("gamificacao-vazia", overview(operator, Totals::default(), 0, RecountCard::default())),
        (
            "gamificacao-um",
            overview(
                operator,
                Totals { enrolled: 1, without: 1, checkins_today: 1, ..Totals::default() },
                1,
                last(1),
            ),
        ),
        ("gamificacao", overview(operator, Totals { without: 0, ..many }, 3, last(0))),
        ("gamificacao-muitos", overview(operator, many, 143, running)),
    ]
}

fn migrate(operator: Frame<'_>, without: u64) -> String {
    html(&MigratePage { layout: operator("/admin/gamificacao/migrar"), without, enrolled: 12_168 })
}

fn rules(operator: Frame<'_>, effect: Option<Effect>, faults: &[&str]) -> String {
    let values = [
        ("xp_checkin", "10"),
        ("xp_aula", "30"),
        ("xp_meet", "50"),
        ("xp_venda", if effect.is_some() { "25" } else { "20" }),
        ("xp_conta_vinculada", "200"),
        ("xp_desafio", "150"),
        ("xp_volta", "100"),
        ("multiplicador", "1"),
        ("multiplicador_streak", "0,5"),
        ("limite_diario", "0"),
        ("limite_venda_diario", "400"),
    ];
    html(&RulesPage {
        layout: operator("/admin/gamificacao/regras"),
        form: form(&values, faults, "Informe um número inteiro de 0 a 1.000.000."),
        effect,
    })
}

fn effect(scale: i64, more: i64) -> Effect {
    let rows = ACTIONS.iter().zip(0_i64..).map(|((name, label), index)| {
        let entries = scale * (40 - index * 5);
        let given = entries * [10, 30, 50, 20, 200, 150, 100][usize::try_from(index).unwrap()];
        EffectRow {
            icon: action_icon(name),
            label,
            entries: u64::try_from(entries).unwrap(),
            given,
            would: if index == 3 { given + more * entries } else { given },
        }
    });
    Effect { rows: rows.collect(), same: more == 0, one_in: 1 }
}

fn planned() -> Vec<Planned> {
    let one = |id, title: &str, from: &str, to: &str| Planned {
        id,
        title: title.to_owned(),
        starts_on: Day::parse(from).unwrap(),
        ends_on: Day::parse(to).unwrap(),
    };
    vec![
        one(1, "Mês das 20 vendas", "2026-11-01", "2026-11-30"),
        one(2, LONG, "2026-11-16", "2026-11-22"),
        one(3, "Férias em dia", "2026-12-20", "2027-01-20"),
        one(4, "Semana das fotos", "2026-10-05", "2026-10-11"),
        one(5, "Natal", "2026-12-24", "2026-12-24"),
    ]
}

fn challenges(operator: Frame<'_>, shown: usize, kind: &str) -> String {
    let tab = |(label, value): (&'static str, &str)| Tab {
        label,
        href: format!("/admin/gamificacao/desafios?quando={value}"),
        on: value == kind,
    };
    let row = |(index, id): (usize, i64)| {
        let all = planned();
        let one = &all[index % all.len()];
        let (state, _) = state_of(today(), one.starts_on, one.ends_on);
        ChallengeRow {
            id,
            title: one.title.clone(),
            goal: ["20 vendas", "5 aulas", "1 check-in"][index % 3].to_owned(),
            period: period(one.starts_on, one.ends_on),
            left: left_words(today(), one.starts_on, one.ends_on),
            reward: ["+300 XP e uma caneca", "+150 XP", LONG][index % 3].to_owned(),
            met: [312, 0, 1][index % 3],
            state,
        }
    };
    let none = kind.is_empty();
    html(&ChallengesPage {
        layout: operator("/admin/gamificacao/desafios"),
        tabs: [("Ativos", "ativos"), ("Futuros", "futuros"), ("Encerrados", "encerrados")]
            .map(tab)
            .into(),
        challenges: (0..shown.min(20)).zip(1..).map(row).collect(),
        paging: Paging::new(
            "/admin/gamificacao/desafios",
            &[("quando", kind)],
            1,
            20,
            shown as u64,
        ),
        none_at_all: none,
        calendar: if none { None } else { Calendar::new(today(), &planned()) },
    })
}

fn challenge(operator: Frame<'_>, existing: bool, faults: &[&str]) -> String {
    let text = |value| if existing { value } else { "" };
    let values = [
        ("titulo", text("Mês das 20 vendas")),
        ("descricao", text("Venda vinte vezes em novembro, em qualquer loja sua.")),
        ("acao", if existing { "venda" } else { "checkin" }),
        ("meta", text("20")),
        ("inicio", text("2026-11-01")),
        ("fim", text("2026-11-30")),
        ("recompensa_xp", text("300")),
        ("recompensa", text("Uma caneca")),
    ];
    html(&ChallengeForm {
        layout: operator("/admin/gamificacao/desafios/1"),
        existing: existing.then(|| ExistingChallenge {
            id: 1,
            title: "Mês das 20 vendas".to_owned(),
            state: crate::panel::Badge::Active,
            period: "01/11 a 30/11/2026".to_owned(),
            met: 312,
        }),
        form: form(&values, faults, "Informe um dia que não venha antes do início."),
        actions: ACTIONS
            .iter()
            .map(|(value, label)| Pick { value: (*value).to_owned(), label: (*label).to_owned() })
            .collect(),
        usual_reward: "150 XP".to_owned(),
    })
}

fn milestones(operator: Frame<'_>, scale: u64) -> String {
    let row = |(index, number): (usize, i64)| MilestoneRow {
        number,
        title: if index == 11 { LONG } else { TITLES[index] }.to_owned(),
        badge: TITLES[index].to_owned(),
        xp: NEEDED[index],
        reward: ["", "Mentoria em grupo", "", LONG][index % 4].to_owned(),
        students: scale * (400 / (index as u64 + 1)),
    };
    html(&MilestonesPage {
        layout: operator("/admin/gamificacao/marcos"),
        milestones: (0..20).zip(1..).map(row).collect(),
        below: scale * 130,
    })
}

fn milestone(operator: Frame<'_>, number: i64, faults: &[&str]) -> String {
    let index = usize::try_from(number).unwrap() - 1;
    let xp = NEEDED[index].to_string();
    let values = [
        ("titulo", TITLES[index]),
        ("xp", &*xp),
        ("badge", TITLES[index]),
        ("recompensa", "Mentoria em grupo"),
    ];
    html(&MilestoneForm {
        layout: operator("/admin/gamificacao/marcos/1"),
        number,
        title: TITLES[index].to_owned(),
        form: form(&values, faults, "Informe mais pontos do que o marco anterior pede."),
        before: index.checked_sub(1).map(|before| NEEDED[before]),
        after: NEEDED.get(index + 1).copied(),
        reached: [0, 1, 312][index % 3],
    })
}

fn ledger(operator: Frame<'_>, count: usize, faults: &[&str], ago: &dyn Fn(i64) -> When) -> String {
    let values = [("xp", if faults.is_empty() { "" } else { "muito" }), ("motivo", "")];
    let empty = count == 0;
    let typed = form(&values, faults, "Diga o motivo, de 3 a 200 letras.");
    html(&LedgerPage {
        layout: operator("/admin/gamificacao/alunos/7"),
        student: LedgerStudent {
            id: 7,
            name: if count == 1 { LONG } else { "Bruno Cardoso" }.to_owned(),
            email: "bruno.cardoso@exemplo.com.br".to_owned(),
            photo: String::new(),
            xp: if empty { 0 } else { 3_420 },
            level: if empty { 0 } else { 9 },
            milestone: if empty { String::new() } else { TITLES[8].to_owned() },
            position: if empty { String::new() } else { "1.204º de 12.480".to_owned() },
            streak: if empty { 0 } else { 33 },
            best: if empty { 0 } else { 41 },
            lap: Lap { number: 2, done: 3, of: 30 },
            last: if empty { "nunca" } else { "há 3 dias" }.to_owned(),
        },
        count: count as u64,
        entries: (0..count.min(20)).map(|index| entry(index, ago)).collect(),
        paging: Paging::new("/admin/gamificacao/alunos/7", &[], 1, 20, count as u64),
        form: if faults.is_empty() { typed.unfocused() } else { typed },
    })
}

/// All sample pages, by name.
pub fn every(operator: Frame<'_>, ago: &dyn Fn(i64) -> When) -> Pages {
    let pages = vec![
        ("migrar", migrate(operator, 312)),
        ("migrar-um", migrate(operator, 1)),
        ("migrar-nada", migrate(operator, 0)),
        ("regras", rules(operator, None, &[])),
        ("regras-efeito", rules(operator, Some(effect(90, 5)), &[])),
        ("regras-iguais", rules(operator, Some(effect(90, 0)), &[])),
        ("regras-nada", rules(operator, Some(effect(0, 5)), &[])),
        ("regras-campos", rules(operator, None, &["xp_aula", "multiplicador"])),
        ("desafios-vazio", challenges(operator, 0, "")),
        ("desafios-nenhum", challenges(operator, 0, "encerrados")),
        ("desafios", challenges(operator, 3, "ativos")),
        ("desafios-muitos", challenges(operator, 43, "encerrados")),
        ("desafio-novo", challenge(operator, false, &[])),
        ("desafio", challenge(operator, true, &[])),
        ("desafio-campos", challenge(operator, true, &["meta", "fim"])),
        ("marcos-vazio", milestones(operator, 0)),
        ("marcos", milestones(operator, 7)),
        ("marco-1", milestone(operator, 1, &[])),
        ("marco", milestone(operator, 12, &[])),
        ("marco-campos", milestone(operator, 20, &["xp"])),
        ("lancamentos-vazio", ledger(operator, 0, &[], ago)),
        ("lancamentos-um", ledger(operator, 1, &[], ago)),
        ("lancamentos", ledger(operator, 214, &[], ago)),
        ("lancamentos-campos", ledger(operator, 3, &["xp", "motivo"], ago)),
    ];
    [overviews(operator, ago), pages].concat()
}
