//! Every page about content with sample data: none, some and many rows, long
//! names, fields at fault. `page_samples.rs` looks at them.

use askama::Template;

use super::courses::views::{
    self as courses, CourseForm, CourseRow, CoursesPage, ExistingCourse, LessonLine,
    audience_words, role_ticks,
};
use super::form::{Form, Pick};
use super::lessons::views::{
    self as lessons, ExistingLesson, LessonForm, LessonRow, LessonsPage, video_words,
};
use super::meets::views::{self as meets, ExistingMeet, MeetForm, MeetRow, MeetsPage};
use super::teachers::Load;
use super::teachers::views::{
    self as teachers, ExistingTeacher, TeacherForm, TeacherRow, TeachersPage, busy_words,
};
use crate::accounts::Role;
use crate::http::table::{Head, Listing};
use crate::http::view::Badge;
use crate::page_samples::{LONG, operator};

type Pages = Vec<(&'static str, String)>;

/// A list with nothing to filter.
const fn listing(path: &'static str) -> Listing {
    Listing {
        path,
        hint: "Título",
        filters: &[],
        orders: &["titulo"],
    }
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
) -> Form {
    let mut form = Form::new(names, value);
    form.find_fault(&names[..faults], words);
    form
}

fn picks(names: &[&str]) -> Vec<Pick> {
    let named = names.iter().zip(1..).map(|(name, id): (&&str, u32)| Pick {
        value: id.to_string(),
        label: (*name).to_owned(),
    });
    named.collect()
}

fn teachers_page(count: usize, search: &str) -> String {
    let list = listing("/admin/professores");
    let columns = [
        Head::sorts("Nome", "nome"),
        Head::plain("Aulas publicadas").numeric(),
    ];
    TeachersPage {
        layout: operator("/admin/professores"),
        table: list.table(&list.first_page(search), &columns, count as u64),
        teachers: (0..count)
            .map(|index| TeacherRow {
                id: (index + 1).to_string(),
                name: NAMES[index % 3].to_owned(),
                bio: [BIO, "", BIO][index % 3].to_owned(),
                lessons: ["12", "0", "104"][index % 3].to_owned(),
            })
            .collect(),
    }
    .render()
    .unwrap()
}

fn teacher_form(existing: bool, faults: usize, lessons: i64) -> String {
    let names = ["nome", "bio", "instagram", "youtube", "linkedin", "site"];
    let value = |name: &str| match name {
        _ if !existing => String::new(),
        "nome" => NAMES[0].to_owned(),
        "bio" => BIO.to_owned(),
        _ => format!("https://{name}.example.com/rita"),
    };
    TeacherForm {
        layout: operator("/admin/professores/1"),
        existing: existing.then(|| ExistingTeacher {
            id: "1".to_owned(),
            name: NAMES[0].to_owned(),
            photo: String::new(),
            busy: busy_words(Load {
                lessons,
                meets: 1 - lessons.min(1),
            }),
        }),
        form: form(&names, value, teachers::fault_words, faults),
    }
    .render()
    .unwrap()
}

fn courses_page(count: usize, search: &str) -> String {
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

fn course_form(existing: bool, lessons: usize, faults: usize) -> String {
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

fn lessons_page(count: usize, course: bool) -> String {
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

fn lesson_form(existing: bool, faults: usize) -> String {
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
        existing: existing.then(|| ExistingLesson {
            id: "1".to_owned(),
            title: TITLES[2].to_owned(),
        }),
        form: form(&names, value, lessons::fault_words, faults),
        courses: picks(&TITLES),
        teachers: picks(&NAMES),
        video_help: video_words(&hosts),
    }
    .render()
    .unwrap()
}

fn meets_page(count: usize, search: &str) -> String {
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

fn meet_form(existing: bool, faults: usize) -> String {
    let names = [
        "titulo",
        "descricao",
        "data_hora",
        "duracao_minutos",
        "professor_id",
        "link",
        "publico",
    ];
    let value = |name: &str| match name {
        "duracao_minutos" => "60".to_owned(),
        _ if !existing => String::new(),
        "titulo" => "Tira-dúvidas de anúncios".to_owned(),
        "descricao" => "Traga o endereço de um anúncio seu.".to_owned(),
        "data_hora" => "2026-11-25T20:00:00".to_owned(),
        "link" => "https://meet.example.com/abc".to_owned(),
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
        zone_help: "No horário de America/Sao_Paulo.".to_owned(),
    }
    .render()
    .unwrap()
}

/// All of them, by name.
pub fn every() -> Pages {
    vec![
        ("professores-vazio", teachers_page(0, "")),
        ("professores-nada", teachers_page(0, "xícara & pires")),
        ("professores", teachers_page(3, "")),
        ("professores-muitos", teachers_page(43, "")),
        ("professor-novo", teacher_form(false, 0, 0)),
        ("professor", teacher_form(true, 0, 3)),
        ("professor-campos", teacher_form(true, 3, 0)),
        ("cursos-vazio", courses_page(0, "")),
        ("cursos-nada", courses_page(0, "xícara & pires")),
        ("cursos", courses_page(4, "")),
        ("curso-novo", course_form(false, 0, 0)),
        ("curso-vazio", course_form(true, 0, 0)),
        ("curso", course_form(true, 5, 0)),
        ("curso-campos", course_form(true, 1, 4)),
        ("aulas-vazio", lessons_page(0, false)),
        ("aulas-nada", lessons_page(0, true)),
        ("aulas", lessons_page(3, false)),
        ("aulas-muitas", lessons_page(43, true)),
        ("aula-nova", lesson_form(false, 0)),
        ("aula", lesson_form(true, 0)),
        ("aula-campos", lesson_form(true, 5)),
        ("encontros-vazio", meets_page(0, "")),
        ("encontros-nada", meets_page(0, "xícara & pires")),
        ("encontros", meets_page(3, "")),
        ("encontro-novo", meet_form(false, 0)),
        ("encontro", meet_form(true, 0)),
        ("encontro-campos", meet_form(true, 6)),
    ]
}
