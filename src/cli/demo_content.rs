//! What the demonstration teaches: teachers, courses with their lessons, and
//! meets around the present day. The videos are open films.

use crate::accounts::Role;
use crate::base::{Instant, UserId, Zone};
use crate::content::classroom::store as classroom;
use crate::content::courses::{Course, CourseEntry};
use crate::content::lessons::{self, LessonEntry};
use crate::content::meets::{Meet, MeetEntry};
use crate::content::teachers::{Links, Teacher, TeacherEntry};
use crate::db::{Result, WriteTx};
use crate::noun::{Made as _, Noun as _};

const TEACHERS: [(&str, &str, &str); 3] = [
    (
        "Rita Prado",
        "Vende utilidades domésticas há dez anos e abriu três lojas no marketplace. Ensina a começar com pouco e a precificar sem medo.",
        "rita",
    ),
    (
        "Caio Nogueira",
        "Ex-analista de anúncios, hoje vive das próprias lojas. Gosta de teste, número e título curto.",
        "caio",
    ),
    (
        "Beatriz Amaral",
        "Cuida do atendimento de vinte vendedores. Sabe responder uma reclamação antes que ela vire uma.",
        "bia",
    ),
];

/// Number of the teacher, title, video.
type Lesson = (usize, &'static str, &'static str);

const FIRST_SALE: [Lesson; 5] = [
    (0, "O que vender primeiro", "https://www.youtube.com/watch?v=aqz-KE-bpKQ"),
    (0, "Cadastro, documentos e reputação", "https://www.youtube.com/watch?v=eRsGyueVLvQ"),
    (1, "Seu primeiro anúncio, do título à foto", "https://www.youtube.com/watch?v=R6MlUcmOul8"),
    (0, "Quanto cobrar: custo, frete e tarifa", "https://vimeo.com/1084537"),
    (2, "Da venda ao envio sem atraso", "https://www.youtube.com/watch?v=WhWc3b3KhnY"),
];

const LISTINGS: [Lesson; 4] = [
    (1, "Como o comprador procura", "https://www.youtube.com/watch?v=R6MlUcmOul8"),
    (1, "Fotos com o celular", "https://www.youtube.com/watch?v=aqz-KE-bpKQ"),
    (1, "Clássico ou Premium", "https://vimeo.com/1084537"),
    (1, "Ler os números de um anúncio", "https://www.youtube.com/watch?v=eRsGyueVLvQ"),
];

const CARE: [Lesson; 3] = [
    (2, "Responder em dez minutos", "https://www.youtube.com/watch?v=WhWc3b3KhnY"),
    (2, "Reclamação: o que dizer e o que não dizer", "https://www.youtube.com/watch?v=eRsGyueVLvQ"),
    (
        2,
        "Modelos de resposta que não parecem modelo",
        "https://www.youtube.com/watch?v=aqz-KE-bpKQ",
    ),
];

/// Makes all of it; `student` has begun with the first course.
pub fn fill(tx: &WriteTx<'_>, zone: Zone, student: UserId) -> Result<()> {
    let mut people = Vec::new();
    for (name, bio, handle) in TEACHERS {
        #[allow(clippy::needless_update, reason = "what else one may say of a teacher")]
        let entry = TeacherEntry {
            name: name.to_owned(),
            bio: bio.to_owned(),
            links: Links {
                instagram: format!("https://www.instagram.com/{handle}.exemplo"),
                site: format!("https://{handle}.exemplo.com"),
                ..Links::default()
            },
            ..TeacherEntry::default()
        };
        people.extend(Teacher::insert(tx, &entry)?);
    }
    let begun = course(
        tx,
        "Do zero à primeira venda",
        "O caminho inteiro, na ordem certa: escolher o produto, anunciar, cobrar e enviar.",
        &[],
        &FIRST_SALE,
        &people,
    )?;
    for lesson in begun.into_iter().take(2) {
        classroom::mark(tx, student, lesson, true)?;
    }
    course(
        tx,
        "Anúncios que vendem",
        "Título, foto, preço e tipo de anúncio: o que testar primeiro e como saber se deu certo.",
        &[],
        &LISTINGS,
        &people,
    )?;
    course(
        tx,
        "Atendimento que traz de volta",
        "Perguntas, reclamações e mensagens depois da venda, para quem já vende todo dia.",
        &[Role::Vip, Role::PilotoPro, Role::Podio],
        &CARE,
        &people,
    )?;
    agenda(tx, zone, &people)?;
    Teacher::changed(tx)
}

/// Makes a course with its lessons; returns the ids of the lessons.
fn course(
    tx: &WriteTx<'_>,
    title: &str,
    description: &str,
    roles: &[Role],
    given: &[Lesson],
    people: &[i64],
) -> Result<Vec<i64>> {
    let entry = CourseEntry {
        title: title.to_owned(),
        description: description.to_owned(),
        position: None,
        published: true,
        roles: roles.to_vec(),
    };
    let Some(course_id) = Course::insert(tx, &entry)? else {
        return Ok(Vec::new());
    };
    let mut made = Vec::new();
    for (teacher, title, video) in given {
        let entry = LessonEntry {
            title: (*title).to_owned(),
            course_id,
            teacher_id: people.get(*teacher).copied(),
            video_url: (*video).to_owned(),
            position: None,
        };
        made.extend(lessons::Lesson::insert(tx, &entry)?);
    }
    Ok(made)
}

/// Meets at eight in the evening of the days around today, and one soon.
fn agenda(tx: &WriteTx<'_>, zone: Zone, people: &[i64]) -> Result<()> {
    let now = tx.now();
    let evening = |days: i64| zone.start_of(zone.day(now).plus(days)).plus(20 * 3600);
    let half_hour = 1_800;
    let soon = Instant((now.0 / half_hour + 2) * half_hour);
    let given = [
        (
            evening(-3),
            0,
            "Como escolhi meus dez primeiros produtos",
            "Uma história com números.",
            false,
        ),
        (
            soon,
            1,
            "Plantão de anúncios",
            "Traga o endereço de um anúncio seu; melhoramos ao vivo.",
            false,
        ),
        (evening(1), 0, "Tira-dúvidas da semana", "Qualquer pergunta sobre a sua loja.", false),
        (
            evening(4),
            2,
            "Atendimento em época de festa",
            "O que muda em dezembro, com modelos de resposta.",
            false,
        ),
        (
            evening(9),
            0,
            "Aula aberta: vale a pena vender em marketplace?",
            "Para quem ainda está pensando. Convide alguém.",
            true,
        ),
    ];
    for (starts_at, teacher, title, description, public) in given {
        let entry = MeetEntry {
            title: title.to_owned(),
            description: description.to_owned(),
            teacher_id: people.get(teacher).copied(),
            starts_at,
            minutes: 60,
            link: "https://meet.exemplo.com/seller-platform".to_owned(),
            public,
        };
        Meet::insert(tx, &entry)?;
    }
    Ok(())
}
