//! The kinds of records at the marketplace, in one table: how a record is
//! announced, where it is fetched, how often records are read unannounced, what
//! the inbox says of them, and what of them is deleted.
//!
//! A further kind is a line of [`RecordKind`] and a row. The compiler then asks
//! how one is fetched (`inbox/fetch.rs`) and how they are read (`sync/mod.rs`).

use super::books::claims::ClaimState;
use super::books::questions::QuestionState;
use crate::{named, rows};

named! {
    /// A kind of record. Its number, name and title are also those of its area
    /// of an account's reading.
    pub enum RecordKind: number {
        Order = 1, "pedidos", "Vendas";
        Question = 3, "perguntas", "Perguntas";
        Listing = 2, "anuncios", "Anúncios";
        Claim = 4, "reclamacoes", "Reclamações";
        /// It is fetched as the orders that it carries.
        Shipment = 6, "envios", "Envios";
    }
}

/// A row of the table of kinds.
pub struct KindRow {
    /// Topics of its notifications, each with its label; the last one is the
    /// topic in use today.
    pub topics: &'static [(&'static str, &'static str)],
    /// Further topics that cause the same reading, each with its label. They say
    /// in other words what the one in use says, or say more of a record of this kind.
    /// They are counted together with all others.
    pub also: &'static [(&'static str, &'static str)],
    /// Whether the inbox can be narrowed to its topics. Notifications of
    /// these are counted topic by topic, and all others together.
    pub is_counted: bool,
    /// The path of a record up to its id, then other forms that notifications
    /// have.
    pub paths: &'static [&'static str],
    /// Whether its ids begin with the letters of a site, such as `MLB123`.
    pub has_site: bool,
    /// Seconds between two readings of its area.
    pub every_s: i64,
    /// The kind whose first reading comes before the first one of this kind.
    pub follows: Option<RecordKind>,
    /// The outcome of a notification with another kind's resource.
    pub not_one: OutcomeCode,
    /// The outcome when the marketplace has no such record.
    pub missing: OutcomeCode,
    /// The outcome when the record belongs to another account.
    pub of_another: OutcomeCode,
    /// Tables with records of a person. They go with the person.
    pub tables: &'static [BookTable],
    /// Tables with their counts, which are deleted last.
    pub counts: &'static [&'static str],
    /// Whether the records stay when their account is unlinked.
    pub outlives_link: bool,
}

/// A table with the columns `owner_id` and, unless its records outlive the link,
/// `ml_user_id`.
pub struct BookTable {
    pub name: &'static str,
    /// The columns of its key after `owner_id`.
    pub key: &'static str,
    /// All states, where the index has the state before the account.
    pub states: &'static [u8],
}

/// What became of a notification. The stored sentence is the code and never
/// changes; the words are for the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeCode {
    pub stored: &'static str,
    pub words: &'static str,
}

const QUARTER_S: i64 = 900;

const USUAL: KindRow = KindRow {
    topics: &[],
    also: &[],
    is_counted: true,
    paths: &[],
    has_site: false,
    every_s: QUARTER_S,
    follows: None,
    not_one: code("", ""),
    missing: code("", ""),
    of_another: code("", ""),
    tables: &[],
    counts: &[],
    outlives_link: false,
};

const OTHER_SALE: OutcomeCode = code("the order is another account's", "a venda é de outra conta");

rows! {
    RecordKind: KindRow = USUAL;

    Order {
        topics: &[("orders_v2", "Vendas")],
        also: &[("orders", "Vendas"), ("created_orders", "Vendas criadas")],
        paths: &["/orders/"],
        not_one: code("the resource is not an order", "o recurso não é uma venda"),
        missing: code("the marketplace has no such order", "o marketplace não tem esta venda"),
        of_another: OTHER_SALE,
        tables: &[
            table("sale_order", "created_at, order_id", &[]),
            table("sale_line", "item_id, created_at, order_id", &[]),
            table("sale_number", "number, order_id", &[]),
            table("order_count", "ml_user_id, status, day", &[]),
            table("sales_day", "ml_user_id, day", &[]),
            table("sold_sum", "ml_user_id, status, span, item_id, variation_id, item_version", &[]),
        ],
        outlives_link: true,
    }

    Question {
        topics: &[("questions", "Perguntas")],
        paths: &["/questions/"],
        not_one: code("the resource is not a question", "o recurso não é uma pergunta"),
        missing: code("the marketplace has no such question", "o marketplace não tem esta pergunta"),
        of_another: code("the question is another account's", "a pergunta é de outra conta"),
        tables: &[table("question", "asked_at, question_id", &QuestionState::NUMBERS)],
    }

    Listing {
        topics: &[("items", "Anúncios")],
        also: &[
            ("items_prices", "Preços de anúncios"),
            ("stock-locations", "Estoque por local"),
            ("stock-location", "Estoque por local"),
        ],
        paths: &["/items/"],
        has_site: true,
        every_s: 24 * QUARTER_S,
        not_one: code("the resource is not a listing", "o recurso não é um anúncio"),
        missing: code("the marketplace has no such listing", "o marketplace não tem este anúncio"),
        of_another: code("the listing is another account's", "o anúncio é de outra conta"),
        tables: &[table("listing", "item_id", &[])],
        counts: &["listing_count"],
    }

    Claim {
        topics: &[("claims", "Reclamações"), ("post_purchase", "Pós-venda")],
        paths: &["/post-purchase/v1/claims/", "/v1/claims/", "/claims/"],
        not_one: code("the resource is not a claim", "o recurso não é uma reclamação"),
        missing: code("the marketplace has no such claim", "o marketplace não tem esta reclamação"),
        of_another: code(
            "the claim is another account's",
            "a reclamação não é contra esta conta: é de outra, ou entre o comprador e o marketplace",
        ),
        tables: &[table("claim", "opened_at, claim_id", &ClaimState::NUMBERS)],
    }

    Shipment {
        topics: &[("shipments", "Envios")],
        is_counted: false,
        paths: &["/shipments/"],
        every_s: 4 * QUARTER_S,
        // Shipments to read are known only once the orders are read.
        follows: Some(RecordKind::Order),
        not_one: code("the resource is not a shipment", "o recurso não é um envio"),
        missing: code("the marketplace has no such shipment", "o marketplace não tem este envio"),
        of_another: OTHER_SALE,
        outlives_link: true,
    }
}

const fn code(stored: &'static str, words: &'static str) -> OutcomeCode {
    OutcomeCode { stored, words }
}

const fn table(name: &'static str, key: &'static str, states: &'static [u8]) -> BookTable {
    BookTable { name, key, states }
}

/// The topics that the inbox can be narrowed to, each with its label.
pub const COUNTED_TOPICS: [(&str, &str); count_topics(&mut [])] = {
    let mut found = [("", ""); count_topics(&mut [])];
    count_topics(&mut found);
    found
};

/// How many topics are counted; as many of them as there is room for are put in `found`.
const fn count_topics(found: &mut [(&'static str, &'static str)]) -> usize {
    let (mut count, mut kind) = (0, 0);
    while kind < RecordKind::ALL.len() {
        let row = RecordKind::ALL[kind].row();
        let mut topic = 0;
        while row.is_counted && topic < row.topics.len() {
            if count < found.len() {
                found[count] = row.topics[topic];
            }
            count += 1;
            topic += 1;
        }
        kind += 1;
    }
    count
}

impl RecordKind {
    /// The number of its area, as it is stored.
    pub const fn area(self) -> i64 {
        self as i64
    }

    /// The kind that a topic is about; `None` for a topic that is not processed.
    pub fn of_topic(topic: &str) -> Option<Self> {
        let has = |topics: &[(&str, &str)]| topics.iter().any(|(name, _)| *name == topic);
        Self::ALL.into_iter().find(|kind| has(kind.row().topics) || has(kind.row().also))
    }

    /// Topic and path with which a record is announced.
    pub fn announcement(self, id: impl std::fmt::Display) -> (&'static str, String) {
        let KindRow { topics, paths, .. } = self.row();
        let topic = topics.last().map_or("", |(topic, _)| topic);
        (topic, format!("{}{id}", paths.first().map_or("", |path| path)))
    }
}

/// All topics that are processed, each with its label. Those that the marketplace has
/// no more come last.
pub fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = || RecordKind::ALL.into_iter().map(RecordKind::row);
    let in_use = rows().flat_map(|row| row.topics.iter().rev().take(1).chain(row.also));
    let retired = rows().flat_map(|row| row.topics.iter().rev().skip(1));
    in_use.chain(retired).copied()
}

/// The outcome of one kind of record that a stored sentence is.
pub fn outcome_of(stored: &str) -> Option<OutcomeCode> {
    let rows = RecordKind::ALL.into_iter().map(RecordKind::row);
    rows.flat_map(|row| [row.not_one, row.missing, row.of_another])
        .find(|code| code.stored == stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestDir;

    #[test]
    fn tables_have_the_columns_by_which_they_are_emptied() {
        let dir = TestDir::new();
        let db = dir.database();
        for BookTable { name, key, .. } in
            RecordKind::ALL.map(RecordKind::row).iter().flat_map(|row| row.tables)
        {
            let sql = format!(
                "DELETE FROM {name} WHERE owner_id = 1 AND ml_user_id = 1
                     AND ({key}) IN (SELECT {key} FROM {name})"
            );
            db.write(move |tx| tx.run(&sql, [])).unwrap();
        }
    }

    #[test]
    fn every_topic_path_and_outcome_is_there_and_means_one_thing() {
        let rows = RecordKind::ALL.map(RecordKind::row);
        let mut paths: Vec<_> = rows.iter().flat_map(|row| row.paths).collect();
        let mut names: Vec<_> = topics().map(|(topic, _)| topic).collect();
        let mut codes: Vec<_> = rows.iter().flat_map(|row| [row.not_one, row.missing]).collect();
        assert!(rows.iter().all(|row| !row.topics.is_empty() && !row.paths.is_empty()));
        assert!(codes.iter().all(|code| !code.stored.is_empty() && !code.words.is_empty()));
        let all = (paths.len(), names.len(), codes.len());
        paths.sort_unstable();
        paths.dedup();
        names.sort_unstable();
        names.dedup();
        codes.sort_unstable_by_key(|code| code.stored);
        codes.dedup_by_key(|code| code.stored);
        assert_eq!((paths.len(), names.len(), codes.len()), all);
        assert_eq!(topics().last(), Some(("claims", "Reclamações")), "retired ones are last");
        assert!(topics().all(|(topic, _)| RecordKind::of_topic(topic).is_some()));
        assert_eq!(
            RecordKind::Claim.announcement(7),
            ("post_purchase", "/post-purchase/v1/claims/7".to_owned())
        );
    }
}
