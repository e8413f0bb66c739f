//! Which product of a supplier a seller's listing most likely sells: by EAN, by SKU, by the
//! words of its title. Pure, and made for many listings against the same products: only
//! products that share a code or a word with a listing are looked at.

use std::collections::{BTreeMap, HashMap};

use crate::base::text::search_key;

/// Least points of something that is worth suggesting.
const LEAST: f64 = 45.0;
/// Points of the codes, which are above those of any words.
const SAME_EAN: f64 = 100.0;
const SAME_SKU: f64 = 95.0;
const SKU_WITHIN: f64 = 60.0;
/// Most points of words.
const WORDS: f64 = 90.0;
/// What is left of them when the numbers of both differ, such as two sizes.
const OTHER_NUMBERS: f64 = 0.5;
/// Shortest code that is looked for within another.
const LEAST_CODE: usize = 5;

/// Words that say nothing about a thing.
const IDLE: [&str; 18] = [
    "a", "com", "da", "das", "de", "do", "dos", "e", "em", "frete", "gratis", "kit", "na", "no",
    "o", "ou", "para", "por",
];
/// Units as they are written after a number, and how they are compared.
const UNITS: [(&str, &str); 15] = [
    ("litro", "l"),
    ("l", "l"),
    ("ml", "ml"),
    ("metro", "m"),
    ("m", "m"),
    ("cm", "cm"),
    ("mm", "mm"),
    ("kg", "kg"),
    ("quilo", "kg"),
    ("g", "g"),
    ("grama", "g"),
    ("w", "w"),
    ("watt", "w"),
    ("peca", "pc"),
    ("unidade", "pc"),
];

/// A product, as far as it is compared.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub sku: String,
    /// Empty when it has none.
    pub ean: String,
    pub title: String,
}

/// Why a product is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Ean,
    Sku,
    Title,
}

impl Reason {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ean => "mesmo EAN",
            Self::Sku => "SKU parecido",
            Self::Title => "título parecido",
        }
    }
}

/// A product that a listing likely sells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// Place in the candidates.
    pub place: usize,
    pub reason: Reason,
    /// From 0 to 100.
    pub points: f64,
}

/// Candidates, ready to be compared with.
pub struct Suggester {
    /// Weighed words of each candidate's title, and their sum.
    titles: Vec<(Vec<String>, f64)>,
    skus: Vec<String>,
    by_word: HashMap<String, Vec<usize>>,
    by_ean: HashMap<String, usize>,
    by_sku: HashMap<String, usize>,
}

impl Suggester {
    pub fn new(candidates: &[Candidate]) -> Self {
        let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
        let (mut by_ean, mut by_sku) = (HashMap::new(), HashMap::new());
        let mut titles = Vec::with_capacity(candidates.len());
        for (place, one) in candidates.iter().enumerate() {
            let words = words(&one.title);
            for word in &words {
                by_word.entry(word.clone()).or_default().push(place);
            }
            titles.push((words, 0.0));
            if let Some(ean) = ean(&one.ean).or_else(|| ean(&one.sku)) {
                by_ean.entry(ean).or_insert(place);
            }
            by_sku.entry(code(&one.sku)).or_insert(place);
        }
        let mut suggester = Self {
            titles,
            skus: candidates.iter().map(|one| code(&one.sku)).collect(),
            by_word,
            by_ean,
            by_sku,
        };
        for place in 0..suggester.titles.len() {
            suggester.titles[place].1 = suggester.weight_of(&suggester.titles[place].0);
        }
        suggester
    }

    /// The best candidate for a listing, if one is good enough. Of equals it is the first.
    pub fn best(&self, title: &str, sku: &str, own_ean: &str) -> Option<Suggestion> {
        let found = |place: &usize, reason, points| Suggestion { place: *place, reason, points };
        let mut eans = [own_ean, sku].into_iter().filter_map(ean);
        if let Some(place) = eans.find_map(|ean| self.by_ean.get(&ean)) {
            return Some(found(place, Reason::Ean, SAME_EAN));
        }
        let own = code(sku);
        if let Some(place) = self.by_sku.get(&own).filter(|_| !own.is_empty()) {
            return Some(found(place, Reason::Sku, SAME_SKU));
        }
        let own_words = words(title);
        let own_weight = self.weight_of(&own_words);
        let mut shared: BTreeMap<usize, f64> = BTreeMap::new();
        for word in &own_words {
            for place in self.by_word.get(word).into_iter().flatten() {
                *shared.entry(*place).or_default() += self.weight(word);
            }
        }
        let is_within = |place: usize| {
            let known = &*self.skus[place];
            own.len().min(known.len()) >= LEAST_CODE
                && (known.contains(&*own) || own.contains(known))
        };
        for place in (0..self.skus.len()).filter(|place| is_within(*place)) {
            shared.entry(place).or_default();
        }
        let mut best: Option<Suggestion> = None;
        for (place, shared) in shared {
            let (known, weight) = &self.titles[place];
            let by_words = points_of_words(shared, own_weight, &own_words, *weight, known);
            let (reason, points) = if is_within(place) {
                (Reason::Sku, by_words.mul_add(0.3, SKU_WITHIN))
            } else {
                (Reason::Title, by_words)
            };
            if points >= LEAST && best.is_none_or(|best| points > best.points) {
                best = Some(found(&place, reason, points));
            }
        }
        best
    }

    /// A word that few titles have says more.
    #[expect(clippy::cast_precision_loss, reason = "numbers of products are small")]
    fn weight(&self, word: &str) -> f64 {
        let titles = self.by_word.get(word).map_or(0, Vec::len);
        ((self.titles.len() as f64 + 1.0) / (titles as f64 + 0.5)).ln().max(0.1)
    }

    fn weight_of(&self, words: &[String]) -> f64 {
        words.iter().map(|word| self.weight(word)).sum()
    }
}

/// Points for words in common. What the product is called counts more than what else the
/// listing says, which sellers fill with words that are searched for.
fn points_of_words(
    shared: f64,
    own_weight: f64,
    own: &[String],
    weight: f64,
    known: &[String],
) -> f64 {
    if weight <= 0.0 || own_weight <= 0.0 {
        return 0.0;
    }
    let points = WORDS * (0.75 * shared / weight + 0.25 * shared / own_weight);
    let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
    let has_numbers = |words: &[String]| words.iter().any(|word| is_number(&word));
    let agree = known.iter().filter(is_number).all(|word| own.contains(word));
    let clash = has_numbers(own) && has_numbers(known) && !agree;
    // A single common word proves little, and numbers alone nothing.
    let said = known.iter().filter(|word| !is_number(word));
    let is_thin = said.clone().count() > 1 && said.filter(|word| own.contains(word)).count() < 2;
    points * if clash { OTHER_NUMBERS } else { 1.0 } * if is_thin { OTHER_NUMBERS } else { 1.0 }
}

/// The words of a title that say something, each once: without case, accents and plural,
/// with numbers and their units as one.
fn words(title: &str) -> Vec<String> {
    let key = search_key(title);
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if !word.is_empty() && !IDLE.contains(&&*word) && !words.contains(&word) {
            words.push(word);
        }
    };
    let mut number = String::new();
    for part in key.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let is_digit = |c: char| c.is_ascii_digit();
        let rest = part.trim_start_matches(is_digit);
        // What mixes both, such as the name of a model, is one word.
        let rest = if rest.contains(is_digit) { part } else { rest };
        let digits = part.strip_suffix(rest).unwrap_or_default();
        if !digits.is_empty() {
            add(std::mem::take(&mut number));
            digits.clone_into(&mut number);
            if rest.is_empty() {
                continue;
            }
        }
        let word = singular(rest);
        let unit = UNITS.iter().find(|(written, _)| *written == word).map(|(_, unit)| *unit);
        match unit {
            Some(unit) if !number.is_empty() => {
                add(format!("{}{unit}", std::mem::take(&mut number)));
            }
            _ => {
                add(std::mem::take(&mut number));
                add(word.to_owned());
            }
        }
    }
    add(number);
    words
}

fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if one.chars().count() > 2 => one,
        _ => word,
    }
}

/// A code of a product as it is compared: letters and digits, without case.
fn code(sku: &str) -> String {
    search_key(sku).chars().filter(char::is_ascii_alphanumeric).collect()
}

/// An EAN as it is compared: without the zeros that some write before it, or in its place.
fn ean(text: &str) -> Option<String> {
    let digits = text.trim();
    let is_ean = (8..=14).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    (is_ean && !digits.is_empty()).then(|| digits.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<Candidate> {
        let goods = [
            ("RP-GARRAFA-1L", "7891000000017", "Garrafa térmica inox 1 litro"),
            ("RP-GARRAFA-500", "", "Garrafa térmica inox 500 ml"),
            ("RP-POTES-10", "", "Kit 10 potes herméticos"),
            ("RP-CANECA-300", "", "Caneca de cerâmica 300 ml"),
            ("RP-COPO-473", "", "Copo térmico 473 ml com tampa"),
            ("RP-BALDE-10", "", "Balde dobrável 10 litros"),
        ];
        let one = |(sku, ean, title): (&str, &str, &str)| Candidate {
            sku: sku.to_owned(),
            ean: ean.to_owned(),
            title: title.to_owned(),
        };
        goods.map(one).to_vec()
    }

    #[track_caller]
    fn suggested(title: &str, sku: &str, ean: &str) -> Option<(String, Reason)> {
        let candidates = candidates();
        let best = Suggester::new(&candidates).best(title, sku, ean)?;
        Some((candidates[best.place].sku.clone(), best.reason))
    }

    #[test]
    fn codes_come_before_words() {
        let is = |sku: &str, reason| Some((sku.to_owned(), reason));
        let title = "Caneca de cerâmica 300ml";
        assert_eq!(suggested(title, "", "07891000000017"), is("RP-GARRAFA-1L", Reason::Ean));
        assert_eq!(suggested(title, "7891000000017", ""), is("RP-GARRAFA-1L", Reason::Ean));
        assert_eq!(suggested(title, "rp potes 10", ""), is("RP-POTES-10", Reason::Sku));
        let within = suggested("Kit de potes herméticos", "LOJA-RP-POTES-10", "");
        assert_eq!(within, is("RP-POTES-10", Reason::Sku));
    }

    #[test]
    fn words_are_compared_without_case_accents_plural_and_spelling_of_units() {
        let is = |sku: &str| Some((sku.to_owned(), Reason::Title));
        assert_eq!(suggested("GARRAFAS TERMICAS INOX 1L academia", "", ""), is("RP-GARRAFA-1L"));
        assert_eq!(
            suggested("Garrafa Térmica Inox 500ml Preta Frete Grátis", "", ""),
            is("RP-GARRAFA-500")
        );
        assert_eq!(suggested("10 Potes herméticos para cozinha", "X", ""), is("RP-POTES-10"));
        assert_eq!(suggested("Balde 10 l dobrável de silicone", "", ""), is("RP-BALDE-10"));
    }

    #[test]
    fn nothing_is_suggested_for_little() {
        for title in
            ["Mouse sem fio recarregável", "Térmica", "", "300 ml", "Tampa de inox", "Kit 10 facas"]
        {
            assert_eq!(suggested(title, "", ""), None, "{title}");
        }
        assert_eq!(suggested("Camiseta", "RP", "123"), None, "codes that are too short");
        assert_eq!(ean("0000000000000"), None, "zeros stand for none");
        assert!(Suggester::new(&[]).best("Garrafa", "A", "").is_none());
    }

    #[test]
    fn words_of_a_title() {
        let of = |title: &str| words(title).join(" ");
        assert_eq!(of("Garrafa Térmica de 1 Litro"), "garrafa termica 1l");
        assert_eq!(of("Cabo USB-C 2m, kit com 2 unidades"), "cabo usb c 2m 2pc");
        assert_eq!(of("Nº 12345"), "nº 12345");
        assert_eq!(of("12 12 ml ml"), "12 12ml ml");
        assert_eq!(of("Kit 2 A1B"), "2 a1b");
    }
}
