//! Every page about content with sample data: none, some and many rows, long
//! names, fields with faults. Checked by `page_samples.rs`.

use askama::Template;

use super::agenda::views::{AgendaPage, MeetCard, PastMeet, without_meets};
use super::classroom::views::{
    StudentCourseCard, StudentCoursePage, StudentCoursesPage, StudentLessonLine, WatchPage,
};
use super::courses::views::{CourseForm, CoursesPage, role_ticks};
use super::courses::{self, Course, CourseEntry};
use super::lessons::views::{LessonForm, LessonsPage, video_words};
use super::lessons::{self, Lesson, LessonEntry};
use super::meets::views::{MeetForm, MeetRow, MeetsPage};
use super::meets::{self, Meet, MeetEntry};
use super::teachers::views::{ExistingTeacher, TeacherForm, TeacherRow, TeachersPage, busy_words};
use super::teachers::{self, Links, Load, TeacherEntry};
use crate::accounts::Role;
use crate::base::Instant;
use crate::fixture::html;
use crate::panel::{Badge, Layout, Pick, Progress};

type Pages = Vec<(&'static str, String)>;

/// The frame of a person's page at an address.
type Frame<'f> = &'f dyn Fn(&str) -> Layout;

const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

const NAMES: [&str; 3] = ["Rita Prado", LONG, "Zé"];
const TITLES: [&str; 3] = [
    "Do zero à primeira venda",
    LONG,
    "Fotos com o celular que vendem mais do que fotos de estúdio",
];
const BIO: &str =
    "Vende utilidades domésticas há dez anos e abriu três lojas. Ensina a precificar sem medo.";

fn picks(names: &[&str]) -> Vec<Pick> {
    let named = names
        .iter()
        .zip(1..)
        .map(|(name, id): (&&str, u32)| Pick { value: id.to_string(), label: (*name).to_owned() });
    named.collect()
}

fn teachers_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = &teachers::LIST;
    html(&TeachersPage {
        layout: operator(list.path),
        table: list.table(&list.first_page(search), list.heads, count as u64),
        teachers: (0..count)
            .map(|index| TeacherRow {
                id: (index + 1).to_string(),
                name: NAMES[index % 3].to_owned(),
                photo: String::new(),
                bio: [BIO, "", BIO][index % 3].to_owned(),
                lessons: ["12", "0", "104"][index % 3].to_owned(),
            })
            .collect(),
    })
}

fn teacher_form(operator: Frame<'_>, existing: bool, faults: usize, lessons: i64) -> String {
    let link = |name: &str| format!("https://{name}.exemplo.com/rita");
    #[allow(clippy::needless_update, reason = "what else one may say of a teacher")]
    let entry = existing.then(|| TeacherEntry {
        name: NAMES[0].to_owned(),
        bio: BIO.to_owned(),
        links: Links {
            instagram: link("instagram"),
            youtube: link("youtube"),
            linkedin: link("linkedin"),
            site: link("site"),
        },
        ..TeacherEntry::default()
    });
    html(&TeacherForm {
        layout: operator("/admin/professores/1"),
        existing: existing.then(|| ExistingTeacher {
            id: "1".to_owned(),
            name: NAMES[0].to_owned(),
            photo: String::new(),
            busy: busy_words(Load { lessons, meets: 1 - lessons.min(1) }),
        }),
        form: teachers::FORM.sample(entry.as_ref(), faults),
    })
}

fn course(index: usize) -> Course {
    let description = "Cadastro, anúncio, envio e atendimento, na ordem certa.".to_owned();
    let position = i64::try_from(index).unwrap() + 1;
    Course {
        id: position,
        entry: CourseEntry {
            title: TITLES[index % 3].to_owned(),
            description,
            position: Some(position),
            published: index.is_multiple_of(2),
            roles: [Role::Vip, Role::PilotoPro, Role::Podio][..index % 4].to_vec(),
        },
        lessons: [12, 0, 104][index % 3],
    }
}

fn courses_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = &courses::LIST;
    html(&CoursesPage {
        layout: operator(list.path),
        table: list.table(&list.first_page(search), list.heads, count as u64),
        courses: (0..count).map(course).collect(),
    })
}

fn course_form(operator: Frame<'_>, existing: bool, lessons: usize, faults: usize) -> String {
    let existing = existing.then(|| (course(0), (0..lessons).map(lesson).collect::<Vec<_>>()));
    html(&CourseForm {
        layout: operator("/admin/cursos/1"),
        form: courses::FORM.sample(existing.as_ref().map(|(it, _)| &it.entry), faults),
        existing,
        ticks: role_ticks(|role| role == Role::Vip),
    })
}

fn lesson(index: usize) -> Lesson {
    let position = i64::try_from(index).unwrap() + 1;
    Lesson {
        id: position,
        entry: LessonEntry {
            title: TITLES[index % 3].to_owned(),
            course_id: 2,
            teacher_id: Some(2),
            video_url: "https://www.youtube.com/watch?v=abcdefghijk".to_owned(),
            position: Some(position),
        },
        course: TITLES[(index + 1) % 3].to_owned(),
        teacher: [Some(NAMES[0]), None, Some(LONG)][index % 3].map(str::to_owned),
    }
}

fn lessons_page(operator: Frame<'_>, count: usize, course: bool) -> String {
    let list = &lessons::LIST;
    let (only, query) = (if course { "1" } else { "" }, list.first_page(""));
    html(&LessonsPage {
        layout: operator(list.path),
        table: list.table_within(&query, list.heads, count as u64, &[("curso", only)]),
        course: picks(&TITLES).into_iter().next().filter(|_| course),
        lessons: (0..count).map(lesson).collect(),
    })
}

fn lesson_form(operator: Frame<'_>, existing: bool, faults: usize) -> String {
    let hosts = ["www.youtube-nocookie.com", "player.vimeo.com"].map(str::to_owned);
    let existing = existing.then(|| lesson(2));
    html(&LessonForm {
        layout: operator("/admin/aulas/1"),
        form: lessons::FORM.sample(existing.as_ref().map(|it| &it.entry), faults),
        existing,
        courses: picks(&TITLES),
        teachers: picks(&NAMES),
        video_help: video_words(&hosts),
    })
}

fn meets_page(operator: Frame<'_>, count: usize, search: &str) -> String {
    let list = &meets::LIST;
    html(&MeetsPage {
        layout: operator(list.path),
        table: list.table(&list.first_page(search), list.heads, count as u64),
        meets: (1..)
            .take(count)
            .zip(0..)
            .map(|(id, index): (i64, usize)| MeetRow {
                id,
                title: TITLES[index % 3].to_owned(),
                about: ["Rita Prado · Aberto ao público", "", "Sem link"][index % 3].to_owned(),
                starts: "25/11/2026 20:00".to_owned(),
                minutes: 90,
                state: [Badge::Scheduled, Badge::Live, Badge::Over][index % 3],
            })
            .collect(),
    })
}

fn meet_form(operator: Frame<'_>, existing: bool, faults: usize) -> String {
    let existing = existing.then(|| Meet {
        id: 1,
        entry: MeetEntry {
            title: "Tira-dúvidas de anúncios".to_owned(),
            description: "Traga o endereço de um anúncio seu.".to_owned(),
            teacher_id: Some(1),
            starts_at: Instant(1_795_647_600),
            minutes: 60,
            link: "https://meet.exemplo.com/abc".to_owned(),
            public: true,
        },
        teacher: Some(NAMES[0].to_owned()),
        updated_at: Instant(1_795_183_200),
    });
    html(&MeetForm {
        layout: operator("/admin/meets/1"),
        form: meets::FORM.sample(existing.as_ref().map(|it| &it.entry), faults),
        existing,
        teachers: picks(&NAMES),
        zone_help: "No horário de Brasília.".to_owned(),
    })
}

fn student_course_card(index: usize) -> StudentCourseCard {
    let (done, lessons) = [(0, 12), (7, 12), (12, 12), (0, 0)][index % 4];
    let label = format!("{done} de {lessons} aulas feitas");
    StudentCourseCard {
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

fn student_lesson_lines(count: usize, here: usize) -> Vec<StudentLessonLine> {
    let line = |index: usize| StudentLessonLine {
        href: format!("/painel/aulas/1/{}", index + 1),
        title: TITLES[index % 3].to_owned(),
        teacher: [NAMES[0], "", LONG][index % 3].to_owned(),
        done: index < 2,
        here: index == here,
    };
    (0..count).map(line).collect()
}

fn student_courses(student: Frame<'_>, count: usize) -> String {
    StudentCoursesPage {
        layout: student("/painel/aulas"),
        courses: (0..count).map(student_course_card).collect(),
    }
    .render()
    .unwrap()
}

fn student_course(student: Frame<'_>, lessons: usize) -> String {
    html(&StudentCoursePage {
        layout: student("/painel/aulas/1"),
        course: student_course_card(if lessons == 0 { 3 } else { 1 }),
        lessons: student_lesson_lines(lessons, usize::MAX),
    })
}

fn watch(student: Frame<'_>, plays: bool, done: bool) -> String {
    let host = if plays { "youtu.be" } else { "exemplo.com" };
    html(&WatchPage {
        layout: student("/painel/aulas/1/3"),
        course: student_course_card(1),
        lessons: student_lesson_lines(12, 2),
        title: TITLES[2].to_owned(),
        place: "Aula 3 de 12, com Rita Prado".to_owned(),
        video_url: format!("https://{host}/dQw4w9WgXcQ"),
        player: plays.then(|| "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ".to_owned()),
        host: host.to_owned(),
        mark: "/painel/aulas/1/3/feita".to_owned(),
        done,
        previous: "/painel/aulas/1/2".to_owned(),
        next: if done { String::new() } else { "/painel/aulas/1/4".to_owned() },
    })
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
    html(&AgendaPage {
        layout: student("/painel/meets"),
        hint: (!may).then(without_meets),
        coming: (0..count).map(card).collect(),
        past: (0..count).map(past).collect(),
    })
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
        ("cursos-de-aluno-vazio", student_courses(student, 0)),
        ("cursos-de-aluno", student_courses(student, 4)),
        ("curso-de-aluno-vazio", student_course(student, 0)),
        ("curso-de-aluno", student_course(student, 5)),
        ("assistir", watch(student, true, false)),
        ("assistir-feita", watch(student, true, true)),
        ("assistir-fora", watch(student, false, false)),
        ("agenda-vazia", agenda(student, 0, true)),
        ("agenda", agenda(student, 3, true)),
        ("agenda-sem-plano", agenda(student, 3, false)),
    ];
    [staff, students].concat()
}
