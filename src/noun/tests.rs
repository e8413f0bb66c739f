//! What a private field of a noun is kept out of.

use http::header::CONTENT_TYPE;
use serde::Serialize;

use super::{Change, FormParts, ListParts, Made, Noun, Private, Rows, removed, store};
use crate::audit::objects::{LABEL, Object};
use crate::audit::{Actor, ActorKind};
use crate::base::{Instant, Zone};
use crate::db::{DbError, Lane, ReadTx, WriteTx};
use crate::fixture::{NOW, TestApp, ZONE, config};
use crate::http::{Family, Problem, Reply, Request};
use crate::panel::{Answer, Form, Input, Listing, Rule};
use crate::row;

row! {
    /// A noun with a private field, in a table of its own.
    struct Chest {
        id: i64 = "chest_id",
        entry: ChestEntry as row,
    }
}

row! {
    #[derive(Clone, Debug, Default, Serialize)]
    struct ChestEntry: stored {
        nome: String,
        #[serde(skip)]
        segredo: Private,
    }
}

const TABLE: &str = "CREATE TABLE chest (chest_id INTEGER PRIMARY KEY, nome TEXT NOT NULL,
    segredo TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT";

impl Noun for Chest {
    type Entry = ChestEntry;
    type Beside = ();

    const OBJECT: &'static Object = &LABEL;
    const LIST: &'static Listing = &Listing { sort_keys: &["nome"], ..Listing::NONE };
    const FORM: &'static Form<ChestEntry> = &Form(&[
        Input::new("nome", "Dê um nome.", Rule::Line(1..=80, |entry| &mut entry.nome)),
        Input::new("segredo", "Até 80.", Rule::Line(0..=80, |entry| entry.segredo.typed())),
    ]);
    const ROWS: Rows = Rows {
        table: "chest",
        key: "chest_id",
        joins: "",
        searched: &["nome"],
        orders: &[("nome", "nome, chest_id")],
        most: Rows::ANY_NUMBER,
    };

    fn parts(&self) -> (i64, &ChestEntry) {
        (self.id, &self.entry)
    }
    fn title(entry: &ChestEntry) -> &str {
        &entry.nome
    }
    fn wire(self, _: Zone, _: Instant) -> impl Serialize {
        self.entry.segredo.shown().to_owned()
    }
    fn list_page(_: ListParts<'_, Self>) -> Result<Reply, Problem> {
        Err(Problem::not_found())
    }
    fn form_page(_: FormParts<'_, Self>) -> Result<Reply, Problem> {
        Err(Problem::not_found())
    }
    fn beside(_: &ReadTx<'_>, _: Option<&Self>) -> Result<(), DbError> {
        Ok(())
    }
    fn update(tx: &WriteTx<'_>, id: i64, entry: &ChestEntry) -> Result<(), DbError> {
        store::update::<Self>(tx, id, entry)
    }
}

impl Made for Chest {
    fn insert(tx: &WriteTx<'_>, entry: &ChestEntry) -> Result<Option<i64>, DbError> {
        store::insert::<Self>(tx, entry)
    }
}

fn sent(body: &'static str) -> Request {
    let head = http::Request::post("/caixas").header(CONTENT_TYPE, "application/json").body(());
    Request {
        head: head.unwrap().into_parts().0,
        body: body.into(),
        variables: Vec::new(),
        client: [127, 0, 0, 1].into(),
        id: http::HeaderValue::from_static("one"),
        now: NOW,
        lane: Lane::Slow,
        family: Family::Page,
        notice: None,
    }
}

#[test]
fn a_private_field_is_kept_and_is_in_no_audit_value_and_no_search() {
    let site = TestApp::new(config(&[]));
    let read = |body| Chest::FORM.entry(&sent(body), ZONE, None).unwrap();
    let first = read(r#"{"nome":"Caixa azul","segredo":"rubi"}"#);
    let second = read(r#"{"nome":"Caixa azul","segredo":"safira"}"#);
    assert!(!format!("{first:?}").contains("rubi"));
    let actor = Actor::local(ActorKind::System, "teste");
    let change = Change { answer: Answer::to(&sent("{}")), actor };
    site.write(move |tx| {
        tx.run(TABLE, [])?;
        let id = Chest::insert(tx, &first)?.unwrap();
        change.created::<Chest>(tx, id, &first).unwrap();
        let before = Chest::one(tx, id)?.unwrap();
        Chest::update(tx, id, &second)?;
        change.changed(tx, &before, &second).unwrap();
        Ok(())
    });
    let find = |search: &str| {
        let query = Chest::LIST.first_page(search);
        site.read(|tx| store::page::<Chest>(tx, &query, &[])).1
    };
    assert_eq!(["azul", "rubi", "safira"].map(find), [1, 0, 0]);
    let kept: Vec<String> = site.ask("SELECT segredo FROM chest", |row| row.get(0));
    assert_eq!(kept, ["safira"]);
    let actor = Actor::local(ActorKind::System, "teste");
    let change = Change { answer: Answer::to(&sent("{}")), actor };
    site.write(move |tx| {
        removed::<Chest>(tx, &change, 1).unwrap();
        Ok(())
    });
    let noted: Vec<String> = site.ask(
        "SELECT action || coalesce(before, '') || coalesce(after, '') FROM audit WHERE audit_id > 0 ORDER BY audit_id",
        |row| row.get(0),
    );
    assert_eq!(noted.len(), 3, "{noted:?}");
    for one in noted {
        assert!(one.contains("Caixa azul"), "{one}");
        assert!(!one.contains("rubi") && !one.contains("safira"), "{one}");
    }
}
