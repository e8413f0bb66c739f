//! Every page about content with sample data: none, some and many rows, long
//! names, fields at fault. `page_samples.rs` looks at them.

use askama::Template;

use super::agenda::views::{AgendaPage, MeetCard, PastMeet, without_meets};
use super::classroom::views::{ShelfCard, ShelfPage, ShelvesPage, StepLine, WatchPage};
use super::courses::views::{
    self as courses, CourseForm, CourseRow, CoursesPage, ExistingCourse, LessonLine,
    audience_words, role_ticks,
};
use super::lessons::views::{
    self as lessons, ExistingLesson, LessonForm, LessonRow, LessonsPage, video_words,
};
use super::meets::views::{self as meets, ExistingMeet, MeetForm, MeetRow, MeetsPage};
use super::teachers::Load;
use super::teachers::views::{ExistingTeacher, TeacherForm, TeacherRow, TeachersPage, busy_words};
use crate::accounts::Role;
use crate::panel::form::{FormView, Pick};
use crate::panel::list::{Head, Listing};
use crate::panel::view::{Badge, Layout, Progress};

type Pages = Vec<(&'static str, String)>;

/// The frame of somebody's page at an address.
type Frame<'f> = &'f dyn Fn(&str) -> Layout;

const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

/// A list with nothing to filter.
const fn listing(path: &'static str) -> Listing {
    Listing { path, hint: "Título", filters: &[], orders: &["titulo"], ..Listing::NONE }
}

const NAMES: [&str; 3] = ["Rita Prado", LONG, "Zé"];
const TITLES: [&str; 3] = [
    "Do zero à primeira venda",
    LONG,
    "Fotos com o celular que vendem mais do que fotos de estúdio",
];
const BIO: &str =
    "Vende utilidades domésticas há dez anos e abriu três lojas. Ensina a precificar sem medo.";

/// A form whose fields hold what `value` says; the first `faults` are wrong.
fn form(
    names: &[&'static str],
    value: impl Fn(&str) -> String,
    words: fn(&str) -> &'static str,
    faults: usize,
) -> FormView {
    let mut form = FormView::new(names, value);
    form.find_fault(&names[..faults], words);
    form
}

fn picks(names: &[&str]) -> Vec<Pick> {
    let named = names
        .iter()
        .zip(1..)
        .map(|(name, id): (&&str, u32)| Pick { value: id.to_string(), label: (*name).to_owned() });
    named.collect()
}

fn teachers_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = listing("/admin/professores");
    let columns = [Head::sorts("Nome", "nome"), Head::plain("Aulas publicadas").numeric()];
    TeachersPage {
        layout: operator("/admin/professores"),
        table: list.table(&list.first_page(search), &columns, count as u64),
        teachers: (0..count)
            .map(|index| TeacherRow {
                id: (index + 1).to_string(),
                name: NAMES[index % 3].to_owned(),
                photo: String::new(),
                bio: [BIO, "", BIO][index % 3].to_owned(),
                lessons: ["12", "0", "104"][index % 3].to_owned(),
            })
            .collect(),
    }
    .render()
    .unwrap()
}

fn teacher_form(operator: Frame<'_>, existing: bool, faults: usize, lessons: i64) -> String {
    let value = |name: &str| match name {
        _ if !existing => String::new(),
        "nome" => NAMES[0].to_owned(),
        "bio" => BIO.to_owned(),
        _ => format!("https://{name}.exemplo.com/rita"),
    };
    TeacherForm {
        layout: operator("/admin/professores/1"),
        existing: existing.then(|| ExistingTeacher {
            id: "1".to_owned(),
            name: NAMES[0].to_owned(),
            photo: String::new(),
            busy: busy_words(Load { lessons, meets: 1 - lessons.min(1) }),
        }),
        form: crate::content::teachers::pages::FORM.sample(value, faults),
    }
    .render()
    .unwrap()
}

fn courses_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = listing("/admin/cursos");
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::plain("Ordem").numeric(),
        Head::plain("Aulas").numeric(),
        Head::plain("Situação"),
    ];
    CoursesPage {
        layout: operator("/admin/cursos"),
        table: list.table(&list.first_page(search), &columns, count as u64),
        courses: (0..count)
            .map(|index| CourseRow {
                id: (index + 1).to_string(),
                title: TITLES[index % 3].to_owned(),
                audience: audience_words(&[Role::Vip, Role::PilotoPro, Role::Podio][..index % 4]),
                position: (index + 1).to_string(),
                lessons: [12, 0, 104][index % 3],
                state: [Badge::Published, Badge::Draft][index % 2],
            })
            .collect(),
    }
    .render()
    .unwrap()
}

fn course_form(operator: Frame<'_>, existing: bool, lessons: usize, faults: usize) -> String {
    let names = ["titulo", "descricao", "ordem", "papeis", "publicado"];
    let value = |name: &str| match name {
        "papeis" | "publicado" => "1".to_owned(),
        _ if !existing => String::new(),
        "titulo" => TITLES[0].to_owned(),
        "descricao" => "Cadastro, anúncio, envio e atendimento, na ordem certa.".to_owned(),
        _ => "3".to_owned(),
    };
    CourseForm {
        layout: operator("/admin/cursos/1"),
        existing: existing.then(|| ExistingCourse {
            id: "1".to_owned(),
            title: TITLES[0].to_owned(),
            lessons: (0..lessons)
                .map(|index| LessonLine {
                    id: (index + 1).to_string(),
                    title: TITLES[index % 3].to_owned(),
                    teacher: [NAMES[0], "", LONG][index % 3].to_owned(),
                })
                .collect(),
        }),
        form: form(&names, value, courses::fault_words, faults),
        ticks: role_ticks(|role| role == Role::Vip),
    }
    .render()
    .unwrap()
}

fn lessons_page(operator: Frame<'_>, count: usize, course: bool) -> String {
    let list = listing("/admin/aulas");
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::plain("Professor"),
        Head::plain("Ordem no curso").numeric(),
    ];
    let only = if course { "1" } else { "" };
    let query = list.first_page("");
    LessonsPage {
        layout: operator("/admin/aulas"),
        table: list.table_within(&query, &columns, count as u64, &[("curso", only)]),
        course: picks(&TITLES).into_iter().next().filter(|_| course),
        lessons: (0..count)
            .map(|index| LessonRow {
                id: (index + 1).to_string(),
                title: TITLES[index % 3].to_owned(),
                course: TITLES[(index + 1) % 3].to_owned(),
                teacher: [NAMES[0], "", LONG][index % 3].to_owned(),
                position: (index + 1).to_string(),
            })
            .collect(),
    }
    .render()
    .unwrap()
}

fn lesson_form(operator: Frame<'_>, existing: bool, faults: usize) -> String {
    let names = ["titulo", "video_url", "curso_id", "professor_id", "ordem"];
    let value = |name: &str| match name {
        _ if !existing => String::new(),
        "titulo" => TITLES[2].to_owned(),
        "video_url" => "https://www.youtube.com/watch?v=abcdefghijk".to_owned(),
        _ => "2".to_owned(),
    };
    let hosts = ["www.youtube-nocookie.com", "player.vimeo.com"].map(str::to_owned);
    LessonForm {
        layout: operator("/admin/aulas/1"),
        existing: existing
            .then(|| ExistingLesson { id: "1".to_owned(), title: TITLES[2].to_owned() }),
        form: form(&names, value, lessons::fault_words, faults),
        courses: picks(&TITLES),
        teachers: picks(&NAMES),
        video_help: video_words(&hosts),
    }
    .render()
    .unwrap()
}

fn meets_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = listing("/admin/meets");
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::plain("Quando"),
        Head::plain("Duração").numeric(),
        Head::plain("Situação"),
    ];
    MeetsPage {
        layout: operator("/admin/meets"),
        table: list.table(&list.first_page(search), &columns, count as u64),
        meets: (0..count)
            .map(|index| MeetRow {
                id: (index + 1).to_string(),
                title: TITLES[index % 3].to_owned(),
                about: ["Rita Prado · Aberto ao público", "", "Sem link"][index % 3].to_owned(),
                starts: "25/11/2026 20:00".to_owned(),
                length: "90 min".to_owned(),
                state: [Badge::Scheduled, Badge::Live, Badge::Over][index % 3],
            })
            .collect(),
    }
    .render()
    .unwrap()
}

fn meet_form(operator: Frame<'_>, existing: bool, faults: usize) -> String {
    let names =
        ["titulo", "descricao", "data_hora", "duracao_minutos", "professor_id", "link", "publico"];
    let value = |name: &str| match name {
        "duracao_minutos" => "60".to_owned(),
        _ if !existing => String::new(),
        "titulo" => "Tira-dúvidas de anúncios".to_owned(),
        "descricao" => "Traga o endereço de um anúncio seu.".to_owned(),
        "data_hora" => "2026-11-25T20:00:00".to_owned(),
        "link" => "https://meet.exemplo.com/abc".to_owned(),
        _ => "1".to_owned(),
    };
    MeetForm {
        layout: operator("/admin/meets/1"),
        existing: existing.then(|| ExistingMeet {
            id: "1".to_owned(),
            title: "Tira-dúvidas de anúncios".to_owned(),
        }),
        form: form(&names, value, meets::fault_words, faults),
        teachers: picks(&NAMES),
        zone_help: "No horário de Brasília.".to_owned(),
    }
    .render()
    .unwrap()
}

fn shelf_card(index: usize) -> ShelfCard {
    let (done, lessons) = [(0, 12), (7, 12), (12, 12), (0, 0)][index % 4];
    let label = format!("{done} de {lessons} aulas feitas");
    ShelfCard {
        id: (index + 1).to_string(),
        title: TITLES[index % 3].to_owned(),
        description: ["Cadastro, anúncio, envio e atendimento, na ordem certa.", "", BIO]
            [index % 3]
            .to_owned(),
        progress: (lessons > 0).then(|| Progress::new(label, done, lessons, "")),
        next: if done < lessons { format!("/painel/aulas/{}/3", index + 1) } else { String::new() },
        button: if done == 0 { "Começar" } else { "Continuar" },
    }
}

fn step_lines(count: usize, here: usize) -> Vec<StepLine> {
    let line = |index: usize| StepLine {
        href: format!("/painel/aulas/1/{}", index + 1),
        title: TITLES[index % 3].to_owned(),
        teacher: [NAMES[0], "", LONG][index % 3].to_owned(),
        done: index < 2,
        here: index == here,
    };
    (0..count).map(line).collect()
}

fn shelves(student: Frame<'_>, count: usize) -> String {
    ShelvesPage { layout: student("/painel/aulas"), courses: (0..count).map(shelf_card).collect() }
        .render()
        .unwrap()
}

fn shelf(student: Frame<'_>, lessons: usize) -> String {
    ShelfPage {
        layout: student("/painel/aulas/1"),
        course: shelf_card(if lessons == 0 { 3 } else { 1 }),
        lessons: step_lines(lessons, usize::MAX),
    }
    .render()
    .unwrap()
}

fn watch(student: Frame<'_>, plays: bool, done: bool) -> String {
    let host = if plays { "youtu.be" } else { "exemplo.com" };
    WatchPage {
        layout: student("/painel/aulas/1/3"),
        course: shelf_card(1),
        lessons: step_lines(12, 2),
        title: TITLES[2].to_owned(),
        place: "Aula 3 de 12, com Rita Prado".to_owned(),
        video_url: format!("https://{host}/dQw4w9WgXcQ"),
        player: plays.then(|| "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ".to_owned()),
        host: host.to_owned(),
        mark: "/painel/aulas/1/3/feita".to_owned(),
        done,
        previous: "/painel/aulas/1/2".to_owned(),
        next: if done { String::new() } else { "/painel/aulas/1/4".to_owned() },
    }
    .render()
    .unwrap()
}

fn agenda(student: Frame<'_>, count: usize, may: bool) -> String {
    let card = |index: usize| MeetCard {
        id: (index + 1).to_string(),
        title: ["Tira-dúvidas de anúncios", LONG, "Plantão"][index % 3].to_owned(),
        day: "sexta-feira, 20 de novembro".to_owned(),
        hours: "20:00 às 21:30".to_owned(),
        left: ["", "começa em 1 dia e 11 h", "começa em 9 dias e 3 h"][index % 3].to_owned(),
        teacher: [NAMES[0], LONG, ""][index % 3].to_owned(),
        description: [BIO, "", "Traga um anúncio seu.\nLevamos os nossos."][index % 3].to_owned(),
        link: if may && index < 2 {
            "https://meet.exemplo.com/sala".to_owned()
        } else {
            String::new()
        },
        instead: if may {
            "O link aparece aqui antes de começar."
        } else {
            "Para quem tem encontros no plano."
        },
        state: [Badge::Live, Badge::Scheduled, Badge::Scheduled][index % 3],
    };
    let past = |index: usize| PastMeet {
        title: TITLES[index % 3].to_owned(),
        about: "13/11/2026 20:00, com Rita Prado".to_owned(),
    };
    AgendaPage {
        layout: student("/painel/meets"),
        hint: (!may).then(without_meets),
        coming: (0..count).map(card).collect(),
        past: (0..count).map(past).collect(),
    }
    .render()
    .unwrap()
}

/// All of them, by name.
pub fn every(operator: Frame<'_>, student: Frame<'_>) -> Pages {
    let staff = vec![
        ("professores-vazio", teachers_page(operator, 0, "")),
        ("professores-nada", teachers_page(operator, 0, "xícara & pires")),
        ("professores", teachers_page(operator, 3, "")),
        ("professores-muitos", teachers_page(operator, 43, "")),
        ("professor-novo", teacher_form(operator, false, 0, 0)),
        ("professor", teacher_form(operator, true, 0, 3)),
        ("professor-campos", teacher_form(operator, true, 3, 0)),
        ("cursos-vazio", courses_page(operator, 0, "")),
        ("cursos-nada", courses_page(operator, 0, "xícara & pires")),
        ("cursos", courses_page(operator, 4, "")),
        ("curso-novo", course_form(operator, false, 0, 0)),
        ("curso-vazio", course_form(operator, true, 0, 0)),
        ("curso", course_form(operator, true, 5, 0)),
        ("curso-campos", course_form(operator, true, 1, 4)),
        ("aulas-vazio", lessons_page(operator, 0, false)),
        ("aulas-nada", lessons_page(operator, 0, true)),
        ("aulas", lessons_page(operator, 3, false)),
        ("aulas-muitas", lessons_page(operator, 43, true)),
        ("aula-nova", lesson_form(operator, false, 0)),
        ("aula", lesson_form(operator, true, 0)),
        ("aula-campos", lesson_form(operator, true, 5)),
        ("encontros-vazio", meets_page(operator, 0, "")),
        ("encontros-nada", meets_page(operator, 0, "xícara & pires")),
        ("encontros", meets_page(operator, 3, "")),
        ("encontro-novo", meet_form(operator, false, 0)),
        ("encontro", meet_form(operator, true, 0)),
        ("encontro-campos", meet_form(operator, true, 6)),
    ];
    let students = vec![
        ("cursos-de-aluno-vazio", shelves(student, 0)),
        ("cursos-de-aluno", shelves(student, 4)),
        ("curso-de-aluno-vazio", shelf(student, 0)),
        ("curso-de-aluno", shelf(student, 5)),
        ("assistir", watch(student, true, false)),
        ("assistir-feita", watch(student, true, true)),
        ("assistir-fora", watch(student, false, false)),
        ("agenda-vazia", agenda(student, 0, true)),
        ("agenda", agenda(student, 3, true)),
        ("agenda-sem-plano", agenda(student, 3, false)),
    ];
    [staff, students].concat()
}
