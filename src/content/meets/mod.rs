//! Meets: live mentoring sessions, kept by the operator (contract §6).

pub mod store;
pub mod views;

use serde::{Serialize, Serializer};

use self::views::{MeetForm, MeetsPage};
use super::teachers;
use crate::audit::objects::MEET;
use crate::base::{Instant, Zone};
use crate::content::inputs;
use crate::db::{Column, DbError, ReadTx, WriteTx};
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::noun::{self, FormParts, ListParts, Made, Noun, Rows, declares};
use crate::panel::{Form, ListQuery, Listing, Pick, Sent, columns, filters, flashes, form, heads};
use crate::row;
use crate::usual;
use crate::wire;

row! {
    /// A live mentoring session.
    #[derive(Clone, Debug)]
    pub struct Meet {
        pub id: i64 = "meet_id",
        pub entry: MeetEntry as row,
        pub teacher: Option<String> = "(SELECT name FROM teacher WHERE teacher.teacher_id = meet.teacher_id)",
        pub updated_at: Instant,
    }
}

impl Meet {
    /// When the meet ends.
    pub const fn ends_at(&self) -> Instant {
        self.entry.starts_at.plus(self.entry.minutes * 60)
    }
}

usual! {
    /// What an operator enters about a meet. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct MeetEntry {
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "descricao")]
        pub description: String,
        #[serde(rename = "professor_id")]
        pub teacher_id: Option<i64>,
        #[serde(rename = "data_hora", serialize_with = "as_text")]
        pub starts_at: Instant = Instant(0),
        #[serde(rename = "duracao_minutos")]
        pub minutes: i64 = 60,
        /// Where to join, empty until it is known.
        pub link: String,
        /// Whether anyone may join.
        #[serde(rename = "publico")]
        pub public: bool,
    }
}

fn as_text<S: Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.rfc3339())
}

row!(stored MeetEntry {
    title,
    description,
    teacher_id,
    starts_at,
    minutes,
    link,
    public,
});

pub const FORM: Form<MeetEntry> = form! {
    (inputs::title(|entry| &mut entry.title));
    (inputs::description(|entry| &mut entry.description));
    "data_hora": Own(read_start, |entry, zone| match entry.starts_at {
        Instant(0) => String::new(),
        at => zone.partner(at),
    }), "Informe um dia e uma hora que existam, como 31/12/2026 20:00.";
    "duracao_minutos": Number(5..=1_440, |entry| &mut entry.minutes),
        "Informe de 5 a 1440 minutos.";
    (teachers::input(|entry| &mut entry.teacher_id));
    "link": Address(|entry| &mut entry.link), "Informe um endereço que comece com https://.";
    "publico": Tick(|entry| &mut entry.public), "Confira este campo.";
};

fn read_start(sent: &mut Sent<'_>, name: &'static str, entry: &mut MeetEntry) {
    let text: String = sent.required(name);
    entry.starts_at = sent.zone.read(&text).unwrap_or_else(|| {
        sent.check.fail(name, "must be a civil time that exists, as YYYY-MM-DD HH:MM:SS");
        Instant(0)
    });
}

pub const LIST: Listing = Listing {
    path: MEET.list,
    hint: "Título",
    filters: filters! {
        "quando": "Quando", "Tudo", &[("proximos", "Próximos"), ("passados", "Passados")];
    },
    sort_keys: &["-data", "titulo"],
    heads: heads!["Título" => "titulo", "Quando" => "data", "Duração" numeric, "Situação"],
    file: "encontros.csv",
    csv: columns![id titulo data_hora duracao_minutos professor link publico descricao],
    flashes: flashes! {
        "criado": good "Encontro criado", "Os alunos já o veem na agenda.";
        "alterado": good "Encontro alterado", "A agenda já mostra os novos dados.";
        "excluido": good "Encontro excluído", "Ele não aparece mais na agenda.";
    },
};

impl Noun for Meet {
    declares!(MEET, MeetEntry, title);
    /// The teachers to choose from.
    type Beside = Vec<Pick>;

    const ROWS: Rows = Rows {
        table: "meet",
        key: "meet_id",
        joins: "",
        searched: &["title"],
        orders: &[("data", "starts_at, meet_id"), ("titulo", "title COLLATE NOCASE, meet_id")],
        // Past ones included.
        most: (10_000, ForPeople("Já há 10.000 encontros, o máximo. Exclua os antigos antes.")),
    };

    fn wire(self, zone: Zone, _: Instant) -> impl Serialize {
        MeetDetails::of(self, zone)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        let (table, (app, _, request)) = (list.table(), list.visit);
        let (zone, now) = (app.zone(), request.now);
        Reply::page(&MeetsPage { table, layout: list.layout, meets: list.rows, zone, now })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        Reply::page(&MeetForm {
            layout: parts.layout,
            existing: parts.existing,
            form: parts.form,
            teachers: parts.beside,
            zone_help: format!("No horário de {}.", parts.visit.0.zone().city()),
        })
    }

    fn page(
        tx: &ReadTx<'_>,
        request: &Request,
        query: &ListQuery,
    ) -> Result<(Vec<Self>, u64), Problem> {
        let now: Column<'_> = (":now", &request.now);
        let when = query.filter("quando").map(|when| match when {
            "proximos" => ("starts_at > :now", now),
            _ => ("starts_at <= :now", now),
        });
        Ok(noun::store::page(tx, query, when.as_slice())?)
    }
    fn beside(tx: &ReadTx<'_>, _: Option<&Self>) -> Result<Vec<Pick>, DbError> {
        teachers::picks(tx)
    }
    fn read_entry(
        sent: &mut Sent<'_>,
        present: Option<&MeetEntry>,
        teachers: &Vec<Pick>,
    ) -> MeetEntry {
        let entry = FORM.read(sent, present);
        teachers::check(sent, entry.teacher_id, teachers);
        entry
    }
    fn check(tx: &WriteTx<'_>, _: Option<&Self>, entry: &MeetEntry) -> Result<(), Problem> {
        teachers::still_there(tx, entry.teacher_id)
    }

    fn update(tx: &WriteTx<'_>, id: i64, entry: &MeetEntry) -> Result<(), DbError> {
        noun::store::update::<Self>(tx, id, entry)
    }
}

impl Made for Meet {
    fn insert(tx: &WriteTx<'_>, entry: &MeetEntry) -> Result<Option<i64>, DbError> {
        noun::store::insert::<Self>(tx, entry)
    }
}

wire! {
    /// A meet as programs of the operator read it.
    #[derive(Serialize)]
    struct MeetDetails of(meet: Meet, zone: Zone) after {
        let entry = meet.entry;
    } {
        id: String = meet.id.to_string(),
        titulo: String = entry.title,
        descricao: String = entry.description,
        professor_id: Option<String> = entry.teacher_id.map(|id| id.to_string()),
        professor: Option<String> = meet.teacher,
        data_hora: String = zone.spaced(entry.starts_at),
        duracao_minutos: i64 = entry.minutes,
        link: String = entry.link,
        publico: bool = entry.public,
    }
}
