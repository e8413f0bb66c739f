//! Lists in panels: the query parameters of a list, and the frame that a page
//! draws around its rows. Search, filters, order, page and the CSV export are
//! all part of the URL, so a link to a list can be sent to a colleague.

use std::borrow::Cow;
use std::collections::HashMap;

use super::days::{self, Days};
use super::view::{Column, Flash, Paging, Sort, address};
use crate::db::RowWindow;
use crate::http::{Check, Field, Problem, Request, input};

/// Default and largest number of rows on a page.
const ROWS: u32 = 20;
/// Numbers of rows that a page offers.
const SIZES: [u32; 3] = [ROWS, 50, 100];
const MOST_ROWS: i64 = 100;
/// A page that ends within this many rows is read in place.
const NEAR_ROWS: u64 = 10_000;
const LONGEST_SEARCH: usize = 100;

/// A filter whose values come from the database, such as a person's accounts.
#[derive(Clone, Debug)]
pub struct Choice {
    pub name: &'static str,
    pub label: &'static str,
    /// Label of the choice that filters nothing, such as `Todas`.
    pub all: &'static str,
    /// Value in the URL, and the word that people read.
    pub values: Vec<(String, String)>,
    /// The chosen value; empty for all.
    pub present: String,
}

/// A filter of a list: its parameter, its name, and its values with their words.
pub struct Filter {
    pub name: &'static str,
    pub label: &'static str,
    /// Label of the choice that filters nothing, such as `Todas`.
    pub all: &'static str,
    /// Value in the URL and word that people read, in the order of the page.
    pub values: &'static [(&'static str, &'static str)],
}

impl Filter {
    pub const fn of(
        name: &'static str,
        label: &'static str,
        all: &'static str,
        values: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, label, all, values }
    }
}

/// Filters of a list, a row for each: its parameter, its name, the choice that filters nothing, and
/// its values with their words.
macro_rules! filters {
    ($($name:literal: $label:literal, $all:literal, $values:expr;)*) => {
        &[$($crate::panel::Filter::of($name, $label, $all, $values)),*]
    };
}
pub(crate) use filters;

/// The declaration of a list.
pub struct Listing {
    pub path: &'static str,
    /// Fields that the search covers, such as `Nome ou e-mail`; empty without a search.
    pub hint: &'static str,
    pub filters: &'static [Filter],
    /// Values of `ordem`, without direction. The first is the default; with
    /// `-` before it the default is descending.
    pub sort_keys: &'static [&'static str],
    /// Headers of its table, where they do not depend on the reader.
    pub heads: &'static [Head],
    /// Name of its file, such as `alunos.csv`, and the file's columns as
    /// [`CsvFile::of`](super::csv::CsvFile::of) takes them.
    pub file: &'static str,
    pub csv: &'static [&'static str],
    /// The notices about the last action that the page can show.
    pub flashes: &'static [Flash],
}

/// Whether a request gives a parameter a value of a kind.
fn gives(request: &Request, name: &str, is_kind: impl Fn(&str) -> bool) -> bool {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    given.any(|(known, value)| known == name && is_kind(&value))
}

/// Whether a request wants all rows of a list as a CSV file.
pub fn exports(request: &Request) -> bool {
    gives(request, "formato", |format| format == "csv")
}

/// Whether a request to a list has a search.
pub fn searches(request: &Request) -> bool {
    gives(request, "q", |search| !search.trim().is_empty())
}

/// Whether a request to a list has an order.
pub fn asks_to_sort(request: &Request) -> bool {
    gives(request, "ordem", |order| !order.is_empty())
}

/// The query parameters of a list, checked.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// Trimmed; empty without a search.
    pub search: String,
    pub page: u32,
    pub per_page: u32,
    /// One of the sort keys, without its sign.
    pub sort_key: &'static str,
    pub descending: bool,
    pub csv: bool,
    filters: Vec<(&'static str, &'static str)>,
}

impl Listing {
    /// An empty declaration, for the fields that a list leaves to `..Listing::NONE`.
    pub const NONE: Self = Self {
        path: "",
        hint: "",
        filters: &[],
        sort_keys: &[],
        heads: &[],
        file: "",
        csv: &[],
        flashes: &[],
    };

    /// Reads the query parameters. Unknown ones are ignored, because other
    /// services add theirs to links; a wrong value is an error.
    pub fn read(&self, request: &Request) -> Result<ListQuery, Problem> {
        let given: HashMap<String, String> =
            input::unrepeated(request.query_text())?.into_iter().collect();
        let text = |name: &str| given.get(name).cloned().unwrap_or_default();
        let mut check = Check::text();
        let search = check.optional_line("q", Field::of(text("q")), LONGEST_SEARCH);
        let page = check.number("pagina", Field::of(text("pagina")), 1..=1_000_000);
        let per_page = check.capped("por_pagina", Field::of(text("por_pagina")), MOST_ROWS);
        let mut filters = Vec::new();
        for filter in self.filters {
            let value = text(filter.name);
            match filter.values.iter().find(|(known, _)| *known == value) {
                Some((known, _)) => filters.push((filter.name, *known)),
                None if value.is_empty() => {}
                None => check.fail(filter.name, "is not one of the filter's values"),
            }
        }
        let wanted = text("ordem");
        let (sort_key, descending) = self.sort_key_of(&wanted).unwrap_or_else(|| {
            if !wanted.is_empty() {
                check.fail("ordem", "is not an order of this list");
            }
            self.default_sort_key()
        });
        let csv = match &*text("formato") {
            "" => false,
            "csv" => true,
            _ => {
                check.fail("formato", "must be csv");
                false
            }
        };
        check.finish()?;
        Ok(ListQuery {
            search,
            page: page.and_then(|page| u32::try_from(page).ok()).unwrap_or(1),
            per_page: per_page.and_then(|rows| u32::try_from(rows).ok()).unwrap_or(ROWS),
            sort_key,
            descending,
            csv,
            filters,
        })
    }

    /// The query for the first page with a search and nothing else.
    pub fn first_page(&self, search: &str) -> ListQuery {
        let (sort_key, descending) = self.default_sort_key();
        ListQuery {
            search: search.to_owned(),
            page: 1,
            per_page: ROWS,
            sort_key,
            descending,
            csv: false,
            filters: Vec::new(),
        }
    }

    fn sort_key_of(&self, word: &str) -> Option<(&'static str, bool)> {
        let (bare, descending) = split_order(word);
        let mut known = self.sort_keys.iter().map(|key| split_order(key).0);
        let known = known.find(|known| !bare.is_empty() && *known == bare)?;
        Some((known, descending))
    }

    fn default_sort_key(&self) -> (&'static str, bool) {
        split_order(self.sort_keys.first().copied().unwrap_or_default())
    }

    /// The frame of a page of this list.
    pub fn table(&self, query: &ListQuery, columns: &[Head], total: u64) -> Table {
        self.table_within(query, columns, total, &[])
    }

    /// The same for a list with a filter whose values come from the database,
    /// and that may be narrowed to days.
    pub fn table_by(
        &self,
        query: &ListQuery,
        columns: &[Head],
        total: u64,
        (choice, days): (&Choice, Option<Days>),
    ) -> Table {
        let typed = |name| days.as_ref().map(|days| days.typed(name)).unwrap_or_default();
        let [from, to] = days::NAMES.map(typed);
        let more =
            [(choice.name, &*choice.present), (days::NAMES[0], &*from), (days::NAMES[1], &*to)];
        let mut table = self.table_within(query, columns, total, &more);
        if choice.values.len() > 1 {
            let (order, params) = (self.order(query), params(query, &more));
            let chip = |value: &str, label: &str| Chip {
                value: value.to_owned().into(),
                count: None,
                label: label.to_owned().into(),
                href: address(
                    self.path,
                    &with(&params, &[(choice.name, value), ("ordem", &order)]),
                ),
                on: choice.present == value,
            };
            let values = choice.values.iter().map(|(value, label)| chip(value, label));
            let chips = std::iter::once(chip("", choice.all)).chain(values).collect();
            let (name, label) = (choice.name, choice.label);
            table.filters.push(Chips { name, label, leads: false, chips });
            // The choice goes first, so that the shortcuts for days stay last,
            // next to the fields for days.
            if days.is_some() {
                table.filters.rotate_right(1);
            }
        }
        table.narrowed |= days.as_ref().is_some_and(Days::is_given);
        table.days = days;
        table
    }

    /// The value of `ordem`; empty for the default.
    fn order(&self, query: &ListQuery) -> String {
        let sign = if query.descending { "-" } else { "" };
        let order = format!("{sign}{}", query.sort_key);
        if self.sort_keys.first() == Some(&&*order) { String::new() } else { order }
    }

    /// The same for a list whose URL has more parameters, which all links and
    /// the search keep.
    pub fn table_within(
        &self,
        query: &ListQuery,
        columns: &[Head],
        total: u64,
        more: &[(&'static str, &str)],
    ) -> Table {
        let (order, params) = (&*self.order(query), params(query, more));
        let mut kept: Vec<(&'static str, String)> =
            query.filters.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let more = more.iter().filter(|(_, value)| !value.is_empty());
        kept.extend(more.clone().map(|(name, value)| (*name, (*value).to_owned())));
        if !order.is_empty() {
            kept.push(("ordem", order.to_owned()));
        }
        let ordered = with(&params, &[("ordem", order)]);
        let size = |rows: u32| {
            let given = if rows == ROWS { String::new() } else { rows.to_string() };
            let href = address(self.path, &with(&ordered, &[("por_pagina", &given)]));
            (rows, href, rows == query.per_page)
        };
        let per_page = query.per_page.to_string();
        let mut paged = ordered.clone();
        if query.per_page != ROWS {
            paged.push(("por_pagina", &per_page));
        }
        Table {
            path: self.path.into(),
            hint: self.hint,
            search: query.search.clone(),
            filters: self.chips(query, &params, order),
            kept,
            columns: self.columns(query, columns, &params),
            paging: Paging::new(self.path, &paged, query.page.into(), query.per_page.into(), total),
            export: address(self.path, &with(&params, &[("ordem", order), ("formato", "csv")])),
            narrowed: query.is_narrowed() || more.clone().count() > 0,
            days: None,
            sizes: SIZES.map(size).to_vec(),
            query: self
                .address(query, &more.clone().copied().collect::<Vec<_>>())
                .split_off(self.path.len()),
        }
    }

    /// The address of the page that a query asks for, to which an act comes back.
    /// `more` are further parameters, as in [`Self::table_within`].
    pub fn address(&self, query: &ListQuery, more: &[(&'static str, &str)]) -> String {
        let (order, page) = (self.order(query), query.page.to_string());
        let rows = query.per_page.to_string();
        let mut all = with(&params(query, more), &[("ordem", &order)]);
        if query.per_page != ROWS {
            all.push(("por_pagina", &rows));
        }
        if query.page > 1 {
            all.push(("pagina", &page));
        }
        address(self.path, &all)
    }

    fn columns(&self, query: &ListQuery, columns: &[Head], params: &[(&str, &str)]) -> Vec<Column> {
        let column = |head: &Head| {
            let sorted = (!head.sort_key.is_empty() && head.sort_key == query.sort_key)
                .then_some(if query.descending { Sort::Descending } else { Sort::Ascending });
            let word = if sorted == Some(Sort::Ascending) {
                format!("-{}", head.sort_key)
            } else {
                head.sort_key.to_owned()
            };
            Column {
                label: head.label,
                numeric: head.numeric,
                href: if head.sort_key.is_empty() {
                    String::new()
                } else {
                    address(self.path, &with(params, &[("ordem", &word)]))
                },
                sorted,
            }
        };
        columns.iter().map(column).collect()
    }

    fn chips(&self, query: &ListQuery, params: &[(&str, &str)], order: &str) -> Vec<Chips> {
        let days_given =
            params.iter().any(|(name, value)| days::NAMES.contains(name) && !value.is_empty());
        let chips = |filter: &Filter| {
            let present = query.filter(filter.name).unwrap_or_default();
            let mut others = with(params, &[("ordem", order)]);
            let is_shortcut = filter.name == days::SHORTCUT;
            if is_shortcut {
                others.retain(|(name, _)| !days::NAMES.contains(name));
            }
            let chip = |value: &'static str, label: &'static str| Chip {
                value: value.into(),
                count: None,
                label: label.into(),
                href: address(self.path, &with(&others, &[(filter.name, value)])),
                on: present == value && !(is_shortcut && days_given),
            };
            Chips {
                name: filter.name,
                label: filter.label,
                leads: self.filters.first().is_some_and(|first| first.name == filter.name),
                chips: std::iter::once(chip("", filter.all))
                    .chain(filter.values.iter().map(|(value, word)| chip(value, word)))
                    .collect(),
            }
        };
        self.filters.iter().map(chips).collect()
    }
}

/// Whether a request wants all rows of a list, or rows far from its start.
/// Such requests belong in the slow lane.
pub fn asks_for_much(request: &Request) -> bool {
    let mut rows = u64::from(ROWS);
    let mut page = 1;
    for (name, value) in form_urlencoded::parse(request.query_text().as_bytes()) {
        match &*name {
            "formato" => return true,
            "pagina" => page = value.parse().unwrap_or(1),
            "por_pagina" => rows = value.parse().unwrap_or(rows),
            _ => {}
        }
    }
    rows.saturating_mul(page) > NEAR_ROWS
}

/// A sort key without its sign, and whether it descends.
fn split_order(word: &str) -> (&str, bool) {
    word.strip_prefix('-').map_or((word, false), |bare| (bare, true))
}

/// The parameters of a list's address, without order and page.
fn params<'q>(query: &'q ListQuery, more: &[(&'q str, &'q str)]) -> Vec<(&'q str, &'q str)> {
    let search = std::iter::once(("q", &*query.search));
    search.chain(query.filters.iter().copied()).chain(more.iter().copied()).collect()
}

/// The parameters with those of `more` added. One of `more` replaces one of the
/// same name.
fn with<'a>(params: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let others = params.iter().filter(|(name, _)| !more.iter().any(|(other, _)| other == name));
    others.chain(more).copied().collect()
}

impl ListQuery {
    /// Whether a search or a filter is given.
    pub fn is_narrowed(&self) -> bool {
        !self.search.is_empty() || !self.filters.is_empty()
    }

    /// Turns to the last page of `total` rows, if there are none on this one: an act may
    /// have taken them out of the list.
    pub fn end_at(&mut self, total: u64) {
        let last = total.div_ceil(self.per_page.max(1).into()).max(1);
        self.page = self.page.min(u32::try_from(last).unwrap_or(u32::MAX));
    }

    /// Removes a filter, because something else replaces it.
    pub fn forget(&mut self, name: &str) {
        self.filters.retain(|(known, _)| *known != name);
    }

    /// The value of a filter, if the URL has one.
    pub fn filter(&self, name: &str) -> Option<&'static str> {
        self.filters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Number of rows to show and of rows to skip; all rows for CSV.
    pub const fn window(&self) -> RowWindow {
        if self.csv {
            RowWindow { limit: u32::MAX, offset: 0 }
        } else {
            let offset = (self.page - 1).saturating_mul(self.per_page);
            RowWindow { limit: self.per_page, offset }
        }
    }
}

/// A header of a list, before it is known how the list is sorted.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub label: &'static str,
    /// Numbers stand on the right.
    pub numeric: bool,
    /// Value of `ordem` that sorts by it; empty when the column does not sort.
    pub sort_key: &'static str,
}

/// Headers of a list: `heads!["Pedido" => "data", "Conta", "Valor" numeric]`. What stands behind
/// the arrow sorts by it.
macro_rules! heads {
    ($($label:literal $($numeric:ident)? $(=> $sort_key:expr)?),* $(,)?) => {
        &[$($crate::panel::Head::plain($label)$(.sorts($sort_key))?$(.$numeric())?),*]
    };
}
pub(crate) use heads;

impl Head {
    /// A column of text that does not sort.
    pub const fn plain(label: &'static str) -> Self {
        Self { label, numeric: false, sort_key: "" }
    }

    /// The same column, which sorts by this value of `ordem`.
    pub const fn sorts(mut self, sort_key: &'static str) -> Self {
        self.sort_key = sort_key;
        self
    }

    /// The same column with numbers in it.
    pub const fn numeric(mut self) -> Self {
        self.numeric = true;
        self
    }
}

/// The frame around the rows of a list, as pages print it (`ui.html`).
pub struct Table {
    pub path: Cow<'static, str>,
    /// Fields that the search covers; empty without a search.
    pub hint: &'static str,
    pub search: String,
    pub filters: Vec<Chips>,
    /// Filters and order, which the search form sends along.
    pub kept: Vec<(&'static str, String)>,
    pub columns: Vec<Column>,
    pub paging: Paging,
    /// Address of the same list as CSV.
    pub export: String,
    /// Whether a search or filter hides rows.
    pub narrowed: bool,
    /// The days to which it is narrowed, for a list that can be.
    pub days: Option<Days>,
    /// Numbers of rows that a page may have, and the addresses of the pages that have them.
    pub sizes: Vec<(u32, String, bool)>,
    /// What the page's address has after its path, such as `?situacao=pago&pagina=2`.
    /// Forms add it to their action, so that an act comes back to the page as it is.
    pub query: String,
}

impl Table {
    /// The number of filters that narrow the list and do not stand beside the search.
    pub fn tucked(&self) -> usize {
        let is_on = |filter: &&Chips| {
            filter.chips.iter().skip(1 + filter.quick().len()).any(|chip| chip.on)
        };
        self.filters.iter().filter(is_on).count()
            + usize::from(self.days.as_ref().is_some_and(Days::is_given))
    }

    /// The same frame with the number of rows that each value of the first filter has.
    #[must_use]
    pub fn counted(mut self, count: impl Fn(&str) -> Option<u64>) -> Self {
        for chip in self.filters.iter_mut().filter(|one| one.leads).flat_map(|one| &mut one.chips) {
            chip.count = count(&chip.value);
        }
        self
    }

    /// The same frame with its links moved to `path`, for a list that exists
    /// several times, such as once for each webhook.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        let declared = std::mem::replace(&mut self.path, path.to_owned().into());
        let chips = self.filters.iter_mut().flat_map(|filter| &mut filter.chips);
        let links = chips
            .map(|chip| &mut chip.href)
            .chain(self.columns.iter_mut().map(|column| &mut column.href))
            .chain(&mut self.paging.previous)
            .chain(&mut self.paging.next)
            .chain(&mut self.paging.past_end)
            .chain(self.sizes.iter_mut().map(|(_, href, _)| href))
            .chain([&mut self.export]);
        for href in links {
            if let Some(rest) = href.strip_prefix(&*declared) {
                *href = format!("{path}{rest}");
            }
        }
        self
    }

    /// The address of what is kept of this list under a name, and of its form.
    pub fn views(&self) -> String {
        let present = self.export.trim_end_matches("formato=csv").trim_end_matches(['?', '&']);
        address("/visoes", &[("lista", present)])
    }

    /// Whether there may be rows although this page has none.
    pub const fn hides_rows(&self) -> bool {
        self.narrowed || self.paging.past_end.is_some()
    }
}

/// The values of one filter.
#[expect(clippy::struct_field_names, reason = "the chips themselves, beside their label")]
pub struct Chips {
    /// The filter's parameter.
    pub name: &'static str,
    pub label: &'static str,
    /// Whether its first values stand beside the search.
    pub leads: bool,
    pub chips: Vec<Chip>,
}

impl Chips {
    /// The values that stand beside the search: at most three.
    pub fn quick(&self) -> &[Chip] {
        if self.leads { &self.chips[1..self.chips.len().min(4)] } else { &[] }
    }

    /// Whether it has so many values that people choose from a list.
    pub const fn is_long(&self) -> bool {
        self.chips.len() > 9
    }
}

/// One value of a filter.
pub struct Chip {
    /// As in the address; empty for all.
    pub value: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub href: String,
    pub on: bool,
    /// Number of rows, where the page tells it.
    pub count: Option<u64>,
}
