//! Every page with sample data: none, one, three and many rows, long names.
//!
//! The pages are checked by the rules of `tests/it/support/page_rules.rs`, also in states
//! that are hard to reach from outside. They are also written to `target/pages`
//! with their assets, so that any static file server can show them.

// The same rules as in the black-box tests, which visit the real pages.
#[allow(dead_code, reason = "the black-box tests use more of it")]
#[path = "../tests/it/support/html.rs"]
mod html;
#[allow(dead_code, reason = "the black-box tests use more of it")]
#[path = "../tests/it/support/page_rules.rs"]
mod page_rules;

use std::path::Path;

use askama::Template;

use page_rules::{Row, Rules, hold};

use crate::accounts::views::*;
use crate::accounts::{Role, menu};
use crate::base::{Cents, Day, Instant, Zone};
use crate::checkout::views::*;
use crate::content::plans::views::*;
use crate::content::plans::{Period, Plan, PlanEntry, pages as plans};
use crate::db::Json;
use crate::fixture::html;
use crate::home::views::*;
use crate::http::Family;
use crate::marketplace::account::link::LinkOutcome;
use crate::marketplace::account::views::*;
use crate::marketplace::books::order_status::OrderState;
use crate::messages::views::*;
use crate::messages::{Notification, NotificationKind};
use crate::operations::views::*;
use crate::panel::chart::*;
use crate::panel::view::*;
use crate::profile::views::*;

const ZONE: Zone = Zone::SAO_PAULO;
const NOW: Instant = Instant(1_795_183_200);
const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

fn ago(seconds: i64) -> When {
    When::new(ZONE, NOW.minus(seconds), NOW)
}

fn outside() -> Layout {
    Layout::outside("Seller Platform", NOW)
}

fn student(here: &str) -> Layout {
    let reader = Reader {
        name: "Ana Souza",
        photo: "",
        email: "ana.souza@exemplo.com.br",
        menu: menu::of_role(Role::Pro, false),
    };
    Layout::inside("Seller Platform", NOW, reader, here)
}

fn operator(here: &str) -> Layout {
    let reader = Reader {
        name: "Operação",
        photo: "",
        email: "operacao@exemplo.com.br",
        menu: menu::of_role(Role::Admin, false),
    };
    Layout::inside("Seller Platform", NOW, reader, here)
}

fn login() -> LoginPage {
    LoginPage {
        layout: outside(),
        alert: None,
        email: Field { focus: true, ..Field::default() },
        password: Field::default(),
        back: String::new(),
        needs_setup: false,
        demo: vec![],
    }
}

fn demo() -> Vec<DemoLogin> {
    [
        ("Aluna com três lojas", "aluna@demo.local"),
        ("Fornecedor", "fornecedor@demo.local"),
        ("Administração", "admin@demo.local"),
    ]
    .map(|(who, email)| DemoLogin {
        who,
        email: email.to_owned(),
        password: "demonstracao".to_owned(),
    })
    .into()
}

fn logins() -> Vec<(&'static str, String)> {
    let kept = || Field::of("ana.souza@exemplo.com.br");
    let with = |problem: LoginProblem<'_>| LoginPage {
        alert: Some(problem.notice()),
        email: kept(),
        back: "/painel/ml?a=1&b=2".to_owned(),
        ..login()
    };
    let mut bad = LoginPage {
        email: Field::of("ana.souza")
            .fault(Some("Informe um e-mail válido, como nome@exemplo.com")),
        password: Field::default().fault(Some("Informe a sua senha")),
        ..login()
    };
    bad.alert = Notice::faults(focus_first([&mut bad.email, &mut bad.password]));
    let until = "14:32";
    vec![
        ("entrar", login().render()),
        ("entrar-errado", with(LoginProblem::Wrong).render()),
        ("entrar-suspenso", with(LoginProblem::Suspended).render()),
        ("entrar-demais", with(LoginProblem::TooMany { until }).render()),
        ("entrar-campos", bad.render()),
        ("entrar-primeiro", LoginPage { needs_setup: true, ..login() }.render()),
        ("entrar-demo", LoginPage { demo: demo(), ..login() }.render()),
    ]
    .into_iter()
    .map(|(name, page)| (name, page.unwrap()))
    .collect()
}

fn password_links() -> Vec<(&'static str, String)> {
    let choose = |fault: Option<&str>| {
        let mut password = Field::default().fault(fault);
        focus_first([&mut password]);
        ChoosePage {
            layout: outside(),
            code: "abc".to_owned(),
            email: "ana.souza@exemplo.com.br".to_owned(),
            valid_until: "20/11/2026 14:32".to_owned(),
            password,
        }
    };
    let forgot = |sent, sends| ForgotPage {
        layout: outside(),
        alert: None,
        email: Field::of(if sent { "ana.souza@exemplo.com.br" } else { "" }),
        sent,
        sends,
    };
    vec![
        ("senha", choose(None).render()),
        ("senha-curta", choose(Some("Use de 10 a 200 caracteres.")).render()),
        ("senha-gone", LinkGonePage { layout: outside() }.render()),
        ("esqueci", forgot(false, true).render()),
        ("esqueci-sem-canal", forgot(false, false).render()),
        ("esqueci-enviado", forgot(true, true).render()),
    ]
    .into_iter()
    .map(|(name, page)| (name, page.unwrap()))
    .collect()
}

fn setup_and_errors() -> Vec<(&'static str, String)> {
    let setup = |faults: bool| {
        let mut page = SetupPage {
            layout: outside(),
            alert: None,
            code: "c0de".to_owned(),
            valid_until: "14:32".to_owned(),
            name: Field::of(if faults { "Ana Souza" } else { "" }),
            email: Field::of(if faults { "ana@" } else { "" }),
            password: Field::default(),
        };
        if faults {
            page.email = page.email.fault(Some("Informe um e-mail válido, como nome@exemplo.com"));
            page.password = page.password.fault(Some("A senha precisa de ao menos 10 caracteres"));
        }
        page.alert =
            Notice::faults(focus_first([&mut page.name, &mut page.email, &mut page.password]));
        html(&page)
    };
    let gone = |done| html(&SetupGonePage { layout: outside(), done });
    let error = |status, retry| {
        ErrorPage::new(outside(), status, "0198b7e2-5c1e-7d40-a7be-1f5b2f6f1d11", retry)
            .render()
            .unwrap()
    };
    vec![
        ("configurar", setup(false)),
        ("configurar-campos", setup(true)),
        ("configurar-vencido", gone(false)),
        ("configurar-feito", gone(true)),
        ("erro-400", error(400, None)),
        ("erro-403", error(403, None)),
        ("erro-404", error(404, None)),
        ("erro-429", error(429, Some("/painel"))),
        ("erro-500", error(500, None)),
        ("erro-503", error(503, Some("/painel"))),
    ]
}

fn sales_of_30_days() -> Vec<i64> {
    [
        31, 42, 28, 55, 61, 20, 12, 44, 49, 52, 38, 70, 24, 15, 47, 58, 51, 66, 79, 30, 19, 62, 74,
        68, 55, 91, 41, 22, 83, 47,
    ]
    .map(|value| value * 3_190)
    .into()
}

fn stats(days: &[i64], unread: u64) -> Vec<Stat> {
    let sum: i64 = days.iter().sum();
    vec![
        Stat {
            label: "Vendas hoje",
            value: "17".to_owned(),
            note: "R$ 1.499,30 até agora".to_owned(),
            spark: Spark::new(&days[16..]),
            lead: true,
            ..Stat::default()
        },
        Stat {
            label: "Faturamento, 30 dias",
            value: Cents(sum).page(),
            change: Change::new(sum * 100 / 112, sum),
            note: "sobre os 30 dias antes".to_owned(),
            spark: Spark::new(days),
            lead: true,
            ..Stat::default()
        },
        Stat {
            label: "Contas vinculadas",
            value: "3".to_owned(),
            note: "1 precisa de atenção".to_owned(),
            href: "/painel/ml",
            ..Stat::default()
        },
        Stat {
            label: "Avisos não lidos",
            value: unread.to_string(),
            note: "desde ontem".to_owned(),
            ..Stat::default()
        },
    ]
}

fn account_rows(count: usize) -> Vec<AccountRow> {
    let names = ["CASA&CAFE", "Ana Utilidades", LONG];
    (0..count)
        .map(|index| AccountRow {
            nickname: names[index % 3].to_owned(),
            reputation: Badge::reputation(["5_green", "3_yellow", ""][index % 3]),
            sales_today: [12, 5, 0][index % 3],
            gross_30: Cents([3_212_990, 1_087_245, 0][index % 3]).page(),
            listings: ["1.204", "318", "0"][index % 3].to_owned(),
            claims: [0, 2, 0][index % 3],
            questions: [3, 0, 0][index % 3],
            link: [Badge::Linked, Badge::Attention, Badge::LinkLost][index % 3],
            trouble: (index % 3 == 1)
                .then(|| "Pedidos: sem leitura desde 20/11/2026 14:05.".to_owned()),
            error: (index % 3 == 2)
                .then(|| "O marketplace recusou a renovação do acesso.".to_owned()),
        })
        .collect()
}

fn sale_rows(count: usize) -> Vec<SaleRow> {
    let titles = [
        "Kit 6 canecas de porcelana 300 ml",
        "Garrafa térmica inox 1 litro com infusor de chá e tampa dupla, preta fosca",
        "Coador de pano nº 2",
    ];
    (0..count)
        .map(|index| SaleRow {
            title: titles[index % 3].to_owned(),
            quantity: ["1 unidade", "2 unidades"][index % 2].to_owned(),
            value: Cents([11_980, 25_790, 2_490][index % 3]).page(),
            when: ago([40, 1_900, 9_000, 100_000, 400_000][index % 5]),
            store: ["CASA&CAFE", "Ana Utilidades"][index % 2].to_owned(),
            status: OrderState::new(["paid", "payment_in_process", "cancelled", "paid"][index % 4]),
        })
        .collect()
}

fn news_rows(count: usize) -> Vec<NewsRow> {
    let texts = [
        (
            NotificationKind::Venda,
            "Venda de R$ 119,80",
            "Kit 6 canecas de porcelana 300 ml, CASA&CAFE",
        ),
        (
            NotificationKind::Pergunta,
            "Pergunta nova",
            "“Serve para micro-ondas?” em Garrafa térmica inox",
        ),
        (
            NotificationKind::Reclamacao,
            "Reclamação aberta",
            "Produto chegou com defeito, Ana Utilidades",
        ),
        (NotificationKind::Sistema, "Vínculo perdido", ""),
    ];
    (0..count)
        .map(|index| {
            let (kind, title, message) = texts[index % 4];
            let told = Notification {
                id: 1,
                kind,
                title: title.to_owned(),
                message: message.to_owned(),
                ml_user_id: None,
                reference: Some("2000010000004088".to_owned()),
                created_at: NOW.minus([40, 1_900, 9_000, 100_000][index % 4]),
                read: index >= 2,
            };
            NewsRow::of(&told, ZONE, NOW)
        })
        .collect()
}

fn tasks() -> Vec<Task> {
    let task = |tone, title: &str, detail: &str, href: &str, button| Task {
        tone,
        title: title.to_owned(),
        detail: detail.to_owned(),
        href: href.to_owned(),
        button,
    };
    vec![
        task(Tone::Bad, "Uma conta perdeu o vínculo", LONG, "/painel/ml", "Ver conta"),
        task(Tone::Warn, "2 reclamações abertas", "Ana Utilidades, a mais antiga há 30 h", "", ""),
        task(Tone::Info, "3 perguntas sem resposta", "CASA&CAFE", "", ""),
    ]
}

fn student_home(accounts: usize, rows: usize) -> String {
    let days = if rows == 0 { vec![0; 30] } else { sales_of_30_days() };
    let words = BarWords {
        title: "Faturamento por dia, 30 dias",
        unit: "Faturamento",
        value: |cents| Cents(cents).page(),
        mark: short_money,
    };
    html(&StudentHome {
        layout: student("/painel"),
        greeting: greeting(ZONE, NOW, "Ana Souza"),
        today: day_in_words(ZONE, NOW),
        checkin: crate::program::samples::card(accounts > 1),
        tasks: if accounts == 3 { tasks() } else { vec![] },
        stats: stats(&days, 2),
        chart: BarChart::new(words, Day::parse("2026-10-22").unwrap(), &days),
        accounts: account_rows(accounts),
        sales: sale_rows(rows),
        news: news_rows(rows.min(6)),
    })
}

fn accounts_page(count: usize, configured: bool, flash: Option<Notice>) -> String {
    html(&AccountsPage {
        layout: student("/painel/ml").with_flash(flash),
        configured,
        look_after_s: Some(2),
        accounts: account_rows(count)
            .into_iter()
            .zip(91_234_567_u64..)
            .map(|(row, id)| LinkedAccount {
                ml_user_id: id.to_string(),
                nickname: row.nickname,
                link: row.link,
                reputation: row.reputation,
                relink: row.error.is_some(),
                error: row.error,
                trouble: row.trouble,
                linked: ago(9_000_000),
                agency: (id % 2 == 0).then(|| ago(600_000)),
                synced: (id % 2 == 1).then(|| ago(200)),
                history: (id % 3 == 0).then(|| "desde 12/08/2026, buscando mais".to_owned()),
                progress: vec![Progress::new(
                    "Lendo pedidos",
                    1_204,
                    5_000,
                    "1.204 de 5.000 pedidos, falta cerca de 5 min",
                )],
                areas: vec![AreaRow {
                    title: "Pedidos",
                    state: Badge::Running,
                    note: "1.204 de 5.000".to_owned(),
                    read: Some(ago(200)),
                }],
            })
            .collect(),
    })
}

fn student_pages() -> Vec<(&'static str, String)> {
    let nickname = "CASA&CAFE";
    let said = |outcome: LinkOutcome| outcome.notice(nickname);
    vec![
        ("painel-vazio", student_home(0, 0)),
        ("painel-novo", student_home(1, 0)),
        ("painel", student_home(3, 5)),
        ("painel-muitas", student_home(12, 10)),
        ("contas-vazio", accounts_page(0, true, said(LinkOutcome::Refused))),
        ("contas-desligado", accounts_page(0, false, None)),
        ("contas", accounts_page(3, true, said(LinkOutcome::Linked))),
        ("contas-outra", accounts_page(1, true, said(LinkOutcome::BelongsToAnother))),
    ]
}

fn health(troubled: bool) -> Vec<HealthRow> {
    let row = |label, value: &str, note: &str, state| HealthRow {
        label,
        value: value.to_owned(),
        note: note.to_owned(),
        state,
        href: "",
    };
    let (copied, copy) = if troubled {
        ("17/11/2026 03:00", Badge::Broken)
    } else {
        ("hoje, 03:00", Badge::Healthy)
    };
    let concern = if troubled { Badge::Attention } else { Badge::Healthy };
    let failed = if troubled { "2" } else { "0" };
    let refused = if troubled { "312 nas últimas 24 h" } else { "Nenhuma" };
    let (database, log) = (size(482_000_000), size(3_100_000));
    vec![
        row("Banco de dados", &database, "seller-platform.db", Badge::Healthy),
        row("Registro de escrita (WAL)", &log, "", Badge::Healthy),
        row("Última cópia de segurança", copied, "480,1 MB, conferida", copy),
        row("Mensagens na fila", "14", "a mais antiga há 20 s", Badge::Healthy),
        row("Avisos do marketplace à espera", "0", "", Badge::Healthy),
        row("Avisos que falharam", failed, "", concern),
        row("Assinaturas recusadas", refused, "", concern),
        row("E-mail", "Sem servidor configurado", "As mensagens esperam na fila.", Badge::Off),
    ]
}

fn operator_home(troubled: bool) -> String {
    let calm = Notice::new(Tone::Good, "Tudo em ordem", "Nada espera por você.");
    let warning = Notice::new(
        Tone::Bad,
        "O serviço precisa de você agora",
        "5 pontos estão em aberto, os mais urgentes primeiro.",
    );
    let item = |tone, title: &str, text: &str, href| OpenItem {
        tone,
        title: title.to_owned(),
        text: text.to_owned(),
        href,
    };
    let open = vec![
        item(
            Tone::Bad,
            "O arquivo da chave não está mais ao lado do banco",
            "Ponha-o de volta antes de parar o servidor: sem ele, as contas vinculadas se perdem.",
            "",
        ),
        item(
            Tone::Warn,
            "Canal fora do ar: E-mail",
            "As mensagens esperam e saem quando ele voltar. O motivo: o servidor de e-mail está fora do ar.",
            "/admin/mensagens/canais",
        ),
        item(
            Tone::Warn,
            "A última cópia de segurança é de 17/11/2026 03:00",
            "Copie todo dia para database.backup_dir com seller-platform backup.",
            "",
        ),
        item(
            Tone::Warn,
            "12 alunos com pagamento atrasado",
            "Fale com a pessoa antes que o acesso termine.",
            "/admin/alunos?status=atrasado",
        ),
        item(
            Tone::Info,
            "Canais desligados: Telegram e Navegador",
            "Configure os que as pessoas usam.",
            "/admin/mensagens/canais",
        ),
    ];
    let people = [
        ("Gratuito", 1_830),
        ("Pro", 640),
        ("VIP", 212),
        ("Piloto Pro", 48),
        ("Pódio", 7),
        ("Fornecedor", 15),
        ("Administração", 2),
    ];
    html(&OperatorHome {
        layout: operator("/admin"),
        verdict: if troubled { warning } else { calm },
        open: if troubled { open } else { vec![] },
        health: health(troubled),
        signature_hint: troubled,
        people: people.map(|(role, count)| RoleCount::new(role, count, 2_754)).into(),
        people_total: "2.754 no total".to_owned(),
        version: "0.1.0",
        uptime: span(273_600),
    })
}

fn plan(index: usize) -> Plan {
    Plan {
        id: i64::try_from(index).unwrap() + 1,
        entry: PlanEntry {
            slug: format!("plano-{}", index + 1),
            title: ["Plano Anual", "Plano Mensal", LONG][index % 3].to_owned(),
            price: Cents([97_000, 9_790, 123_456_700][index % 3]),
            currency: "BRL".to_owned(),
            period: [Period::Yearly, Period::Monthly, Period::Once][index % 3],
            benefits: Json(
                ["Todas as aulas", "Extensão do navegador", "Encontros ao vivo"]
                    .map(str::to_owned)
                    .into(),
            ),
            checkout_link: "https://pagamento.exemplo.com.br/anual".to_owned(),
            active: index % 3 != 2,
        },
    }
}

fn plans_page(count: usize, search: &str, total: u64) -> String {
    html(&PlansPage {
        layout: operator("/admin/planos"),
        table: plans::LIST.table(&plans::LIST.first_page(search), plans::LIST.heads, total),
        plans: (0..count).map(plan).collect(),
    })
}

fn plan_form(existing: bool, faults: bool) -> String {
    let existing = existing.then(|| plan(0));
    html(&PlanForm {
        layout: operator("/admin/planos/1"),
        form: plans::FORM
            .sample(existing.as_ref().map(|plan| &plan.entry), if faults { 3 } else { 0 }),
        existing,
    })
}

fn profile(count: usize, faults: bool) -> ProfilePage {
    let devices = [
        ("Chrome no Windows", "203.0.113.7"),
        ("Safari no iPhone", "2001:db8:85a3:8d3:1319:8a2e:370:7348"),
        ("Navegador desconhecido", "198.51.100.23"),
    ];
    let sessions = (0..count).zip(0_i64..).map(|(index, age)| {
        let (device, address) = devices[index % devices.len()];
        SessionRow {
            id: format!("{index:064x}"),
            device: device.to_owned(),
            address: address.to_owned(),
            opened: ago(age * 50_000 + 600),
            seen: ago(age * 1_000),
            here: index == 0,
        }
    });
    let many = count > 1;
    let mut page = ProfilePage {
        layout: student("/perfil"),
        tabs: account_tabs(0),
        alert: None,
        what: "Plano Pro".to_owned(),
        email: "ana.souza@exemplo.com.br".to_owned(),
        photo: String::new(),
        stored_name: if many { LONG } else { "Ana Souza" }.to_owned(),
        file: Field::default(),
        name: Field::of(if many { LONG } else { "Ana Souza" }),
        chat_number: Field::of("5511987654321"),
        confirmation: Field::default(),
        present: Field::default(),
        password: Field::default(),
        has_tokens: many,
        sessions: sessions.collect(),
        more_sessions: if count > 10 { "e mais 12 sessões".to_owned() } else { String::new() },
        extension: many.then(|| ExtensionRow {
            since: ago(500_000),
            used: Some(ago(60)),
            until: "20/12/2026 14:05".to_owned(),
        }),
        api_plan: many.then(|| ApiPlan {
            name: "Starter",
            state: Badge::Active,
            until: "até 31/12/2026".to_owned(),
            usage: "1.204 de 10.000 chamadas neste mês".to_owned(),
        }),
    };
    if faults {
        page.file.error = Some("Envie uma foto em JPEG, PNG ou WebP.".to_owned());
        page.confirmation.error = Some("A senha atual não confere.".to_owned());
        page.password.error = Some("Use de 10 a 200 caracteres.".to_owned());
    }
    page
}

fn account_tabs(here: usize) -> Vec<Tab> {
    let tab = |(index, label)| Tab { label, href: "/perfil".to_owned(), on: index == here };
    ["Conta", "Avisos"].into_iter().enumerate().map(tab).collect()
}

fn alerts(reached: bool) -> AlertsPage {
    let tick = |(value, label, help): (&str, &str, &str)| Tick {
        help: help.to_owned(),
        ..Tick::new(value, label, reached)
    };
    let channels = [
        ("chat", "Chat", "No número do seu perfil."),
        ("email", "E-mail", "No endereço com que você entra."),
    ];
    let kinds = [("lembrete_encontro", "Lembretes de encontros", "")];
    AlertsPage {
        layout: student("/perfil"),
        tabs: account_tabs(1),
        channels: if reached { channels.map(tick).into() } else { vec![] },
        channels_field: Field::default(),
        kinds: kinds.map(tick).into(),
        kinds_field: Field::default(),
        telegram: reached.then(telegram_section),
        push: reached.then(|| push_section(3)),
    }
}

fn push_section(devices: i64) -> PushSection {
    let device = |id: i64| PushDevice {
        id,
        mark: format!("{id:032x}"),
        name: if id == 2 { "Navegador desconhecido" } else { "Samsung Internet no Android" }
            .to_owned(),
        since: ago(id * 400_000),
        sent: (id != 2).then(|| ago(id * 60)),
    };
    PushSection { key: "B".repeat(87), person: 1, devices: (1..=devices).map(device).collect() }
}

fn telegram_section() -> TelegramSection {
    TelegramSection {
        chat: Some(TelegramChat {
            name: "Ana Souza".to_owned(),
            since: ago(86_400),
            blocked: Some(ago(3_600)),
        }),
        link: Some(TelegramLink {
            address: format!("https://t.me/escola_bot?start={}", "a".repeat(43)),
            until: "20/11/2026 14:05".to_owned(),
        }),
        trouble: Some(Notice::new(Tone::Warn, "O Telegram não responde agora", "")),
    }
}

fn own_pages() -> Vec<(&'static str, String)> {
    vec![
        ("perfil", profile(1, false).render().unwrap()),
        ("perfil-sessoes", profile(3, false).render().unwrap()),
        ("perfil-campos", profile(12, true).render().unwrap()),
        ("perfil-avisos", alerts(true).render().unwrap()),
        ("perfil-avisos-nada", alerts(false).render().unwrap()),
    ]
}

fn supplier(here: &str) -> Layout {
    let reader = Reader {
        name: "Rui Distribuidora",
        photo: "",
        email: "rui@exemplo.com.br",
        menu: menu::of_role(Role::Drop, false),
    };
    Layout::inside("Seller Platform", NOW, reader, here)
}

fn purchase_row(index: i64) -> PurchaseRow {
    let at = usize::try_from(index).unwrap() % 4;
    let (what, email) = [
        ("Compra aprovada", "ana.souza@exemplo.com.br"),
        ("Assinatura cancelada", "rui@exemplo.com.br"),
        ("CLUB_FIRST_ACCESS", ""),
        ("Pagamento atrasado", "maria.aparecida.de.jesus.do.araguaia@importados.exemplo.com.br"),
    ][at];
    PurchaseRow {
        id: index + 1,
        what: what.to_owned(),
        transaction: [format!("HP{}", 1_000_000_000 + index), String::new()][at % 2].clone(),
        email: email.to_owned(),
        when: ago(400 * (index + 1) * (index + 1)),
        state: [Badge::Applied, Badge::NoEffect, Badge::Kept, Badge::NoPlan][at],
    }
}

fn purchases_page(count: i64, search: &str, total: u64) -> String {
    html(&PurchasesPage {
        layout: operator("/admin/compras"),
        table: LIST.table(&LIST.first_page(search), LIST.heads, total),
        events: (0..count).map(purchase_row).collect(),
        address: "https://plataforma.exemplo.com.br/api/v1/webhook/checkout".to_owned(),
    })
}

fn purchase_page(body: Option<&str>) -> String {
    html(&PurchasePage {
        layout: operator("/admin/compras/1"),
        event: purchase_row(0),
        name: "PURCHASE_APPROVED".to_owned(),
        outcome: "Criou a conta no plano Pro. Pago até 31/12/2026.".to_owned(),
        happened: ago(500),
        subscriber: "SUB00001".to_owned(),
        product: "77001".to_owned(),
        student: Some("/admin/alunos/1".to_owned()),
        body: body.map(str::to_owned),
    })
}

fn staff_pages() -> Vec<(&'static str, String)> {
    vec![
        ("admin", operator_home(false)),
        ("admin-atencao", operator_home(true)),
        ("planos-vazio", plans_page(0, "", 0)),
        ("planos-nada", plans_page(0, "xícara & pires", 0)),
        ("planos", plans_page(3, "", 3)),
        ("planos-muitos", plans_page(20, "", 43)),
        ("compras-vazio", purchases_page(0, "", 0)),
        ("compras-nada", purchases_page(0, "xícara & pires", 0)),
        ("compras", purchases_page(20, "", 12_480)),
        (
            "compra",
            purchase_page(Some("{\n  \"event\": \"<script>PURCHASE_APPROVED</script>\"\n}")),
        ),
        ("compra-sem-corpo", purchase_page(None)),
        ("plano-novo", plan_form(false, false)),
        ("plano", plan_form(true, false)),
        ("plano-campos", plan_form(true, true)),
    ]
}

fn every_page() -> Vec<(&'static str, String)> {
    [
        logins(),
        password_links(),
        own_pages(),
        setup_and_errors(),
        student_pages(),
        staff_pages(),
        crate::keys::samples::all(&operator, &ago),
        crate::copies::samples::all(&operator, &ago),
        crate::content::samples::every(&operator, &student),
        crate::catalog::samples::every(&student, &ago),
        crate::marketplace::tools::samples::every(&student, &ago),
        crate::marketplace::books::questions::samples::every(&student, &ago),
        crate::agency::questions::samples::every(&operator, &ago),
        crate::partner::hub::samples::every(&student, &ago),
        crate::suppliers::samples::every(&supplier, &student, &ago),
        crate::developers::samples::every(&outside),
        crate::partner::oauth::samples::every(&outside),
        crate::agency::invites::samples::every(&outside, &operator, &ago),
        crate::partner::accounts::samples::every(&operator, &ago),
        crate::partner::webhooks::samples::every(&student, &ago),
        crate::program::samples::every(&student, &ago),
        crate::program::admin::samples::every(&operator, &ago),
        crate::agency::samples::every(&operator),
    ]
    .concat()
}

#[test]
fn every_sample_keeps_the_rules_of_all_pages() {
    let rows = crate::routes::all().into_iter().map(|route| Row {
        is_page: route.family() == Family::Page,
        method: route.method.to_string(),
        path: route.path.to_owned(),
        changes_state: route.changes_state,
    });
    let rules = Rules::new(rows.collect());
    let mut wrong = Vec::new();
    for (name, page) in every_page() {
        hold(&page, name, &rules, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_people_typed_stays_text() {
    let page = LoginPage { email: Field::of("\"><script>alert(1)</script>"), ..login() };
    assert!(!html(&page).contains("<script>alert"));
}

#[test]
fn pages_are_written_for_looking_at() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = root.join("target/pages");
    std::fs::create_dir_all(&out).unwrap();
    for (name, page) in every_page() {
        std::fs::write(out.join(format!("{name}.html")), page).unwrap();
    }
    for folder in ["css", "js", "img"] {
        for entry in std::fs::read_dir(root.join("assets").join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().display());
            let address = crate::http::assets::url(&name);
            let target = out.join(address.trim_start_matches('/'));
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
