//! What operators keep in the panel: a noun is declared once, and its list (page,
//! JSON, CSV), its form, and what creates, changes and removes one with their
//! audit log entries follow ([`pages`]).
//!
//! Handlers in the route table are plain functions, so a noun is a type, and its
//! declaration the constants and functions of [`Noun`].

pub mod change;
mod found;
pub mod pages;
pub mod private;
pub mod store;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::app::Visit;
use crate::audit::objects::Object;
use crate::base::{Instant, Zone};
use crate::db::{DbError, ReadTx, Record, WriteTx};
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::panel::{Form, FormView, Layout, ListQuery, Listing, Sent, Table};

pub use change::{Change, removed};
pub use found::Found;
#[cfg(test)]
use private::Private;
pub use store::Rows;

/// A noun, as it is stored.
pub trait Noun: Record + Send + 'static {
    /// What an operator enters. The audit log has it as it is serialized.
    type Entry: Clone + Default + Serialize + Send + 'static;
    /// What the form shows besides, such as names to choose from.
    type Beside;

    const OBJECT: &'static Object;
    const LIST: &'static Listing;
    const FORM: &'static Form<Self::Entry>;
    const ROWS: Rows;
    /// What the address of the form of a new one ends with.
    const NEW: &'static str = "novo";
    /// The outcomes of creating, changing and removing one, in [`Self::LIST`].
    const FLASHES: [&'static str; 3] = ["criado", "alterado", "excluido"];
    /// A field whose value no two may have, and the words for one who tries.
    const UNIQUE: Option<(&'static str, &'static str)> = None;

    /// Its number and what was entered.
    fn parts(&self) -> (i64, &Self::Entry);
    fn id(&self) -> i64 {
        self.parts().0
    }
    fn entry(&self) -> &Self::Entry {
        self.parts().1
    }
    /// Its name at the time of an act.
    fn title(entry: &Self::Entry) -> &str;

    /// One as programs read it, and as the columns of the file.
    fn wire(self, zone: Zone, now: Instant) -> impl Serialize;
    /// The page of the list.
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem>;
    /// The page of one or of a new one.
    fn form_page(form: FormParts<'_, Self>) -> Result<Reply, Problem>;

    /// One page of the list, with the total.
    fn page(tx: &ReadTx<'_>, _: &Request, query: &ListQuery) -> Result<(Vec<Self>, u64), Problem> {
        Ok(store::page(tx, query, &[])?)
    }
    fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Self>, DbError> {
        store::one(tx, id)
    }
    /// What the form of `one`, or of a new one, shows besides.
    fn beside(tx: &ReadTx<'_>, one: Option<&Self>) -> Result<Self::Beside, DbError>;

    /// The values with which the form of a new one begins.
    fn begin(_: &Request) -> Result<Self::Entry, Problem> {
        Ok(Self::Entry::default())
    }
    /// Reads the form over the values of `present`, and checks them.
    fn read_entry(
        sent: &mut Sent<'_>,
        present: Option<&Self::Entry>,
        _: &Self::Beside,
    ) -> Self::Entry {
        Self::FORM.read(sent, present)
    }
    /// Checks once more what may have changed since the form was read.
    fn check(_: &WriteTx<'_>, _before: Option<&Self>, _: &Self::Entry) -> Result<(), Problem> {
        Ok(())
    }

    /// Why one cannot be changed any more.
    fn may_change(&self) -> Result<(), Problem> {
        Ok(())
    }
    fn update(tx: &WriteTx<'_>, id: i64, entry: &Self::Entry) -> Result<(), DbError>;
    /// What follows when one was created, changed or removed.
    fn changed(_: &WriteTx<'_>) -> Result<(), DbError> {
        Ok(())
    }
}

/// What nearly every [`Noun`] says alike: `declares!(MEET, MeetEntry, title)` names its kind of
/// object, its entry, and the entry's field with its name. `LIST` and `FORM` stand beside it.
macro_rules! declares {
    ($object:ident, $entry:ident, $name:ident) => {
        type Entry = $entry;
        const OBJECT: &'static $crate::audit::objects::Object = &$crate::audit::objects::$object;
        const LIST: &'static $crate::panel::Listing = &LIST;
        const FORM: &'static $crate::panel::Form<$entry> = &FORM;
        fn parts(&self) -> (i64, &$entry) {
            (self.id, &self.entry)
        }
        fn title(entry: &$entry) -> &str {
            &entry.$name
        }
    };
}
pub(crate) use declares;

/// A noun that is made by its form alone, and removed with its row.
pub trait Made: Noun {
    /// Makes one; `None` when there are too many.
    fn insert(tx: &WriteTx<'_>, entry: &Self::Entry) -> Result<Option<i64>, DbError>;
    /// Where a browser goes when one was made.
    fn page_of_new(_: i64) -> String {
        Self::LIST.path.to_owned()
    }
    /// Why one cannot be removed now.
    fn in_use(_: &ReadTx<'_>, _: &Self) -> Result<Option<ForPeople<String>>, DbError> {
        Ok(None)
    }
}

/// What the page of a list is made of.
pub struct ListParts<'p, N> {
    pub visit: Visit<'p>,
    pub layout: Layout,
    pub query: ListQuery,
    pub rows: Vec<N>,
    pub total: u64,
}

impl<N: Noun> ListParts<'_, N> {
    /// The frame around the rows.
    pub fn table(&self) -> Table {
        N::LIST.table(&self.query, N::LIST.heads, self.total)
    }
}

/// What the page of one, or of a new one, is made of.
pub struct FormParts<'p, N: Noun> {
    pub visit: Visit<'p>,
    pub layout: Layout,
    /// As it is stored; `None` for a new one.
    pub existing: Option<N>,
    pub beside: N::Beside,
    pub form: FormView,
    /// Whether the form shows what was sent, because something is wrong with it.
    pub is_again: bool,
}
