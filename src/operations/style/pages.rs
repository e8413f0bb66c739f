//! `/admin/estilo`: every component in all its states. The page uses the same
//! macros as all other pages, so a changed macro is visible here. The sample list
//! can be searched, filtered, sorted and paged; nothing is stored.

use serde_json::json;

use super::views::{Sample, StylePage};
use crate::db::RowWindow;
use crate::operations::palette;

use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, DAY_S, Instant};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::chart::{BarChart, BarWords, Change, Spark, Stat, short_money};
use crate::panel::view::Field;
use crate::panel::{
    Answer, Badge, Choice, Layout, ListQuery, Listing, Notice, PageTime, Progress, Tab, Tick, Tone,
    columns, export, filters, flashes, heads,
};
use crate::program::drawing::{Emblem, Flame, Lap};
use crate::services::Services;

const LIST: Listing = Listing {
    path: "/admin/estilo",
    hint: "Nome",
    filters: filters! {
        "status": "Situação", "Todos",
            &[("ativo", "Ativo"), ("atrasado", "Em atraso"), ("suspenso", "Suspenso")];
    },
    sort_keys: &["nome", "vendas"],
    file: "estilo.csv",
    csv: columns![nome status vendas],
    heads: heads!["Nome" => "nome", "Situação", "Vendas" numeric => "vendas", "Último acesso"],
    flashes: flashes! {
        "pronto": good "Pronto",
            "Assim se conta o resultado de uma ação. Nesta página nada é guardado.";
    },
};

const NAMES: [&str; 12] = [
    "Ana Souza",
    "Bruno Cardoso",
    "Carla Nogueira",
    "Daniel Prado",
    "Élcio Ramos",
    "Fernanda Lima",
    "Gustavo Melo",
    "Helena Duarte",
    "Ícaro Bastos",
    "Joana Prates",
    "Maria Aparecida da Conceição Albuquerque de Mendonça Furtado",
    "Zoé",
];
const ROWS: usize = 43;

static OPTIONS: &[Choice] =
    &[Choice { value: "mensal", label: "Mensal" }, Choice { value: "anual", label: "Anual" }];

/// Steps of the type scale: class, size in words, what it is for.
static SIZES: &[(&str, &str, &str)] = &[
    ("size-32", "32", "o número mais importante da página"),
    ("size-24", "24", "título da página, números"),
    ("size-18", "18", "título de uma parte"),
    ("size-15", "15", "texto, botões, campos"),
    ("size-13", "13", "apoio, rótulos, ajuda"),
    ("size-12", "12", "cabeçalho de tabela, selos"),
];

/// Steps of space in pixels, and where they are used.
static SPACES: &[(u32, &str)] = &[
    (4, "entre linhas do mesmo assunto"),
    (8, "dentro de um componente"),
    (12, "entre partes de um cartão"),
    (16, "entre componentes"),
    (20, "margem interna de um cartão"),
    (24, "entre grupos próximos"),
    (32, "entre grupos"),
    (48, "fim da página"),
];

/// Every icon of `img/icons.svg` except the logo (`mark`).
static ICONS: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| {
    let sprite = include_str!("../../../assets/img/icons.svg");
    let names = sprite.split("<symbol id=\"").skip(1);
    let names = names.filter_map(|rest| rest.split('"').next());
    names.filter(|name| *name != "mark").collect()
});

/// `GET /admin/estilo`: the page that shows the design language.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let found = select(samples(request.now), &query);
    if query.csv {
        return export::list(app, person, &LIST, found, |_, _, one| {
            Ok(Some(json!({ "nome": one.name, "status": one.status, "vendas": one.sales })))
        });
    }
    let layout = layout(app, person, request).telling(LIST.flashes, request);
    Reply::page(&made(app, layout, &query, found, request.now))
}

/// `POST /admin/estilo`: the target of the sample forms; it changes nothing.
pub fn nothing(_: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    Answer::to(request).with(LIST.path, "pronto", &[])
}

fn samples(now: Instant) -> Vec<Sample> {
    let states = ["ativo", "ativo", "atrasado", "ativo", "suspenso"];
    (0..ROWS)
        .map(|index| Sample {
            id: index + 1,
            name: match index / NAMES.len() {
                0 => NAMES[index].to_owned(),
                turn => format!("{} {}", NAMES[index % NAMES.len()], turn + 1),
            },
            status: states[index % states.len()],
            sales: (index as u64 * 7_919) % 2_500,
            seen: now.minus(i64::try_from(index).unwrap_or(0).pow(3) * 97),
        })
        .collect()
}

fn select(mut all: Vec<Sample>, query: &ListQuery) -> Vec<Sample> {
    let search = query.search.to_lowercase();
    all.retain(|one| {
        let status = query.filter("status");
        one.name.to_lowercase().contains(&search)
            && status.is_none_or(|status| status == one.status)
    });
    match query.sort_key {
        "vendas" => all.sort_by_key(|one| one.sales),
        _ => all.sort_by_key(|one| one.name.to_lowercase()),
    }
    if query.descending {
        all.reverse();
    }
    all
}

fn made(
    app: &App,
    layout: Layout,
    query: &ListQuery,
    found: Vec<Sample>,
    now: Instant,
) -> StylePage {
    let total = found.len() as u64;
    let RowWindow { limit, offset } = query.window();
    let rows = found.into_iter().skip(offset as usize).take(limit as usize);
    StylePage {
        layout,
        colours: &palette::COLOURS,
        pairs: palette::pairs(),
        sizes: SIZES,
        spaces: SPACES,
        icons: &ICONS,
        badges: Badge::ALL,
        notices: notices(),
        plain: Field::default(),
        faulty: Field::of("ana.souza")
            .fault(Some("Informe um e-mail válido, como nome@exemplo.com")),
        typed: Field::of("Plano Anual"),
        options: OPTIONS,
        scopes: scopes(),
        levels: vec![
            Tick::new("todos", "Todos os alunos", true),
            Tick::new("pagantes", "Só quem paga", false),
        ],
        table: LIST.table(query, LIST.heads, total),
        rows: rows.collect(),
        stats: stats(),
        chart: chart(app, now),
        progress: vec![
            Progress::new(
                "Importando alunos",
                6_210,
                10_000,
                "Faltam uns 20 segundos. Pode sair desta página.",
            ),
            Progress::new("Cópia do banco de dados", 10, 10, ""),
        ],
        tabs: tabs(),
        log: [
            ("pencil", "Bia Lima alterou o plano de Ana Souza", "De Gratuito para Pro", 300),
            ("pause", "Bia Lima suspendeu Ana Souza", "Motivo: pedido da própria aluna", 7_400),
            ("people", "Ana Souza foi cadastrada", "Pela chave de API “Planilha”", 12 * DAY_S),
        ]
        .map(|(icon, title, detail, ago)| (icon, title, detail, now.minus(ago))),
        fresh: now.minus(130),
        emblems: (1..=20).map(Emblem::level).collect(),
        locked: [1, 5, 9, 13, 17].map(|number| Emblem { number, earned: false }).into(),
        flames: [0, 3, 12, 41, 120].map(|days| Flame { days }).into(),
        lap: Lap { number: 2, done: 12, of: 30 },
        time: PageTime { zone: app.zone(), now },
    }
}

fn scopes() -> Vec<Tick> {
    vec![
        Tick::new("read", "Ler", true).help("Vê alunos, planos e encontros."),
        Tick::new("write", "Gravar", false).help("Cria e suspende alunos."),
        Tick::new("admin", "Administrar", false).help("Tudo, e a cópia do banco de dados."),
    ]
}

fn tabs() -> Vec<Tab> {
    ["Cadastro", "Acessos", "Mensagens"]
        .into_iter()
        .enumerate()
        .map(|(index, label)| Tab { label, href: format!("{}#abas", LIST.path), on: index == 0 })
        .collect()
}

fn notices() -> Vec<Notice> {
    [
        (Tone::Info, "Os dados são de ontem", "A próxima atualização é às 15:00."),
        (Tone::Good, "Aluno cadastrado", "A mensagem de boas-vindas está na fila."),
        (Tone::Warn, "O marketplace está lento", "As vendas chegam com alguns minutos de atraso."),
        (
            Tone::Bad,
            "Falta corrigir um campo",
            "Nada foi salvo ainda. O que você digitou continua aqui.",
        ),
    ]
    .map(|(tone, title, text)| Notice::new(tone, title, text))
    .into()
}

fn stats() -> Vec<Stat> {
    let course = [3, 5, 4, 8, 6, 9, 12, 10, 14];
    vec![
        Stat {
            label: "Faturamento, 30 dias",
            value: Cents(4_812_390).page(),
            change: Change::new(100, 112),
            note: "ante os 30 dias antes".to_owned(),
            spark: Spark::new(&course),
            href: "/admin/estilo#cartoes",
            lead: true,
        },
        Stat {
            label: "Vendas hoje",
            value: "17".to_owned(),
            change: Change::new(20, 17),
            note: "ante ontem à mesma hora".to_owned(),
            ..Stat::default()
        },
        Stat {
            label: "Alunos",
            value: "2.754".to_owned(),
            change: Change::new(10, 10),
            ..Stat::default()
        },
        Stat {
            label: "Reclamações",
            value: "0".to_owned(),
            note: "nenhuma aberta".to_owned(),
            ..Stat::default()
        },
    ]
}

fn chart(services: &Services, now: Instant) -> Option<BarChart> {
    let words = BarWords {
        title: "Faturamento por dia, 30 dias",
        unit: "Faturamento",
        value: |cents| Cents(cents).page(),
        mark: short_money,
    };
    let values: Vec<i64> =
        (0..30_i64).map(|day| (day * 7_919 + 31) % 211 * 100 * (day % 6)).collect();
    BarChart::new(words, services.day(now).plus(-29), &values)
}
