//! Every page of the program with sample data: nobody, one, three and many,
//! long names, fields with errors. `page_samples.rs` checks them.

use askama::Template;

use super::views::*;
use crate::base::grouped;
use crate::fixture::html;
use crate::panel::{Layout, Paging, Progress, Tab, When};

type Pages = Vec<(&'static str, String)>;

/// Makes the layout of a page at an address.
type Frame<'f> = &'f dyn Fn(&str) -> Layout;

pub const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

pub const TITLES: [&str; 20] = [
    "Largada",
    "Primeira marcha",
    "Loja aberta",
    "Primeira volta",
    "Ritmo de treino",
    "Vitrine cheia",
    "Box organizado",
    "Grid definido",
    "Curva dominada",
    "Entrega no prazo",
    "Ultrapassagem",
    "Meio da prova",
    "Reta oposta",
    "Pit stop perfeito",
    "Pelotão da frente",
    "Asa aberta",
    "Caça ao líder",
    "Pole position",
    "Última volta",
    "Bandeirada",
];
pub const NEEDED: [i64; 20] = [
    100, 250, 450, 700, 1_000, 1_400, 1_900, 2_500, 3_200, 4_000, 5_000, 6_200, 7_600, 9_200,
    11_000, 13_500, 16_500, 20_000, 25_000, 32_000,
];

/// Draws the card of the check-in alone, as the student's home does.
#[derive(Template)]
#[template(
    source = r#"{% extends "layout.html" %}{% import "program/checkin.html" as program %}
{% block head %}<link rel="stylesheet" href="{{ crate::http::assets::url("css/program.css") }}">{% endblock %}
{% block title %}Início{% endblock %}{% block description %}O check-in de hoje e o que ele traz.{% endblock %}
{% block main %}<h1>Bom dia, Ana</h1>{{ program::checkin(card) }}{% endblock %}"#,
    ext = "html",
    config = "assets/askama.toml"
)]
struct CheckInSample {
    layout: Layout,
    card: CheckInCard,
}

fn level_of(xp: i64) -> usize {
    NEEDED.iter().filter(|needed| **needed <= xp).count()
}

fn ahead(xp: i64) -> Option<Ahead> {
    let level = level_of(xp);
    let needed = *NEEDED.get(level)?;
    let number = i64::try_from(level).unwrap() + 1;
    Some(Ahead::new(number, TITLES[level], (xp, needed)))
}

fn check_in(
    student: Frame<'_>,
    done: bool,
    (streak, best): (i64, i64),
    xp: i64,
    moments: Vec<Moment>,
) -> String {
    let lap = Lap { number: 1 + streak / 30, done: streak % 30, of: 30 };
    let layout = student("/painel");
    html(&CheckInSample {
        layout,
        card: CheckInCard {
            done,
            streak,
            best,
            xp: 10 + streak % 5,
            lap,
            ahead: ahead(xp),
            moments,
        },
    })
}

fn moments() -> Vec<Moment> {
    vec![
        Moment::Milestone {
            number: 7,
            title: TITLES[6].to_owned(),
            reward: "Mentoria em grupo".to_owned(),
        },
        Moment::Lap { number: 2, of: 30 },
        Moment::Record { days: 31 },
        Moment::Challenge { title: "Semana das fotos".to_owned(), reward: "+300 XP".to_owned() },
    ]
}

fn rows(first: u64, count: u64, mine: u64) -> Vec<RankRow> {
    (first..first + count).map(|position| rank_row(position, mine)).collect()
}

fn rank_row(position: u64, mine: u64) -> RankRow {
    let at = i64::try_from(position).unwrap();
    let level = (20 - at / 3).max(0);
    let index = usize::try_from(position).unwrap() % 5;
    RankRow {
        position,
        name: if position == mine {
            "Ana Souza".to_owned()
        } else {
            ["Bruno C.", "Maria A.", LONG, "Zé", "Élcio R."][index].to_owned()
        },
        level,
        badge: if level == 0 {
            String::new()
        } else {
            TITLES[usize::try_from(level).unwrap() - 1].to_owned()
        },
        value: number_words((34_000 - at * 700).max(12)),
        mine: position == mine,
    }
}

fn challenges(count: usize) -> Vec<ChallengeCard> {
    let card = |(index, id): (usize, i64)| {
        let (done, goal, words) =
            [(7, 20, "vendas"), (5, 5, "aulas"), (0, 12, "check-ins")][index % 3];
        ChallengeCard {
            id,
            title: ["Mês das 20 vendas", "Semana das fotos", LONG][index % 3].to_owned(),
            description: ["Venda vinte vezes em novembro, em qualquer loja sua.", "", LONG]
                [index % 3]
                .to_owned(),
            progress: Progress::new(format!("{done} de {goal} {words}"), done, goal, ""),
            left: days_left([7, 0, 1][index % 3]),
            reward: ["+300 XP e uma caneca", "+150 XP", ""][index % 3].to_owned(),
            met: done >= goal,
        }
    };
    (0..count).zip(1..).map(card).collect()
}

fn wall(xp: i64) -> Vec<MilestoneCard> {
    let level = level_of(xp);
    (0..20)
        .zip(1..)
        .map(|(index, number): (usize, i64)| MilestoneCard {
            emblem: Emblem { number, earned: index < level },
            title: if index == 11 { LONG } else { TITLES[index] }.to_owned(),
            badge: if index % 4 == 3 {
                format!("Selo {}", TITLES[index].to_lowercase())
            } else {
                String::new()
            },
            xp: NEEDED[index],
            reward: ["", "", "Mentoria em grupo", "Caneca da plataforma"][index % 4].to_owned(),
            missing: (NEEDED[index] - xp).max(0),
            next: index == level,
        })
        .collect()
}

fn tabs(present: &str) -> Vec<Tab> {
    [
        ("Geral", "geral"),
        ("Mês", "mensal"),
        ("Semana", "semanal"),
        ("Sequência", "streak"),
        ("Vendas", "vendas"),
    ]
    .map(|(label, kind)| Tab {
        label,
        href: format!("/painel/competicao?tipo={kind}"),
        on: kind == present,
    })
    .into()
}

fn competition(
    student: Frame<'_>,
    xp: i64,
    (page, total, mine): (u64, u64, u64),
    running: usize,
) -> String {
    let level = level_of(xp);
    let first = (page - 1) * 20 + 1;
    let count = total.saturating_sub(first - 1).min(20);
    let away = total > 0 && !(first..first + count).contains(&mine);
    html(&CompetitionPage {
        layout: student("/painel/competicao"),
        moments: if page == 2 { moments()[..1].to_vec() } else { vec![] },
        standing: StandingCard {
            level: i64::try_from(level).unwrap(),
            title: if level == 0 { String::new() } else { TITLES[level - 1].to_owned() },
            xp,
            position: if mine == 0 {
                String::new()
            } else {
                format!("{}º de {}", grouped(mine), grouped(total))
            },
            streak: if xp == 0 { 0 } else { 12 },
            ahead: ahead(xp),
        },
        challenges: challenges(running),
        tabs: tabs("geral"),
        unit: "XP",
        nobody: "O primeiro check-in, a primeira aula ou a primeira venda já aparece aqui.",
        rows: rows(first, count, mine),
        own: (away && mine > 0).then(|| rank_row(mine, mine)),
        own_page: if away {
            format!("/painel/competicao?pagina={}", mine.div_ceil(20))
        } else {
            String::new()
        },
        paging: Paging::new("/painel/competicao", &[], page, 20, total),
        wall: wall(xp),
    })
}

pub fn entry(index: usize, ago: &dyn Fn(i64) -> When) -> EntryLine {
    let (action, what, why, href, xp) = [
        ("checkin", "Check-in", "12 dias seguidos", "", 12),
        ("venda", "Venda", "Pedido 2000010000004088", "/painel/vendas/2000010000004088", 20),
        ("venda", "Venda cancelada", "Pedido 2000010000004101", "", -20),
        ("aula", "Aula concluída", LONG, "", 30),
        ("", "Correção", "Encontro de 12/11 que não foi contado", "", 1_250),
        ("meet", "Encontro ao vivo", "Tira-dúvidas de anúncios", "", 50),
        ("desafio", "Desafio cumprido", "Semana das fotos", "", 150),
        ("volta", "Volta completa", "Volta 2, de 30 check-ins", "", 100),
        ("conta_vinculada", "Conta vinculada", "", "", 200),
    ][index % 9];
    EntryLine {
        icon: action_icon(action),
        what: what.to_owned(),
        why: why.to_owned(),
        href: href.to_owned(),
        xp,
        when: ago([40, 9_000, 100_000, 400_000, 40_000_000][index % 5]),
    }
}

fn history(student: Frame<'_>, count: usize, page: u64, ago: &dyn Fn(i64) -> When) -> String {
    html(&HistoryPage {
        layout: student("/painel/competicao/historico"),
        total: if count == 0 { 0 } else { 3_420 },
        count: count as u64,
        entries: (0..count.min(20)).map(|index| entry(index, ago)).collect(),
        paging: Paging::new("/painel/competicao/historico", &[], page, 20, count as u64),
    })
}

/// All sample pages, by name.
pub fn every(student: Frame<'_>, ago: &dyn Fn(i64) -> When) -> Pages {
    vec![
        ("checkin-primeiro", check_in(student, false, (0, 0), 0, vec![])),
        ("checkin-de-novo", check_in(student, false, (0, 41), 2_600, vec![])),
        ("checkin", check_in(student, false, (12, 41), 1_620, vec![])),
        ("checkin-recorde", check_in(student, false, (29, 29), 31_999, vec![])),
        ("checkin-cem", check_in(student, false, (103, 120), 40_000, vec![])),
        ("checkin-feito", check_in(student, true, (13, 41), 1_630, vec![])),
        ("checkin-momentos", check_in(student, true, (31, 31), 1_905, moments())),
        ("competicao-vazia", competition(student, 0, (1, 0, 0), 0)),
        ("competicao-uma", competition(student, 120, (1, 1, 1), 1)),
        ("competicao-tres", competition(student, 2_600, (1, 3, 2), 3)),
        ("competicao", competition(student, 5_400, (1, 340, 12), 3)),
        ("competicao-longe", competition(student, 700, (2, 100_000, 38_214), 1)),
        ("competicao-fim", competition(student, 40_000, (1, 340, 1), 2)),
        ("historico-vazio", history(student, 0, 1, ago)),
        ("historico-um", history(student, 1, 1, ago)),
        ("historico", history(student, 214, 2, ago)),
    ]
}

/// The card of a check-in on the home, done or not.
pub fn card(done: bool) -> CheckInCard {
    CheckInCard {
        done,
        streak: 12,
        best: 31,
        xp: 10,
        lap: Lap { number: 2, done: 12, of: 30 },
        ahead: ahead(1_250),
        moments: Vec::new(),
    }
}
