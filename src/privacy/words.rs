//! Finding a person in texts: their addresses, numbers and names, whatever the
//! case, and putting a neutral word in their place. Of JSON only values are looked
//! at, so its fields stay and it stays valid. Decision privacy-3.

use std::collections::HashSet;

use serde_json::Value;

use crate::base::text::search_key;

/// What stands in the place of a name.
pub const GONE: &str = "[apagado]";
/// Fewest letters of a text in which somebody can be named.
const SHORTEST: usize = 5;
/// Fields of JSON that hold nothing but the name of a person.
const NAMED: [&str; 6] = ["nome", "seller_name", "supplier", "fornecedor", "vendedor", "quem_via"];

/// The words by which a person is found, in lower case.
#[derive(Clone, Default)]
pub struct Words {
    /// Addresses and numbers, which nobody else has.
    own: Vec<Vec<char>>,
    /// Names of several words, which others may have too.
    names: Vec<Vec<char>>,
    /// All names, also those of one word: such a word is no name in a sentence,
    /// so it is looked for only where nothing but a name stands.
    whole: HashSet<String>,
}

impl Words {
    /// Of texts such as an e-mail address, a number or a name.
    pub fn of(texts: &[String]) -> Self {
        let mut words = Self::default();
        for text in texts.iter().map(|text| text.trim()) {
            let is_number = text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_address = text
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
            let is_long = text.chars().count() >= SHORTEST;
            let is_handle = text.starts_with('@') && is_long && !text.contains(' ');
            let into = if is_number || is_address || is_handle {
                &mut words.own
            } else {
                words.whole.insert(search_key(text));
                if !is_long || !text.contains(' ') {
                    continue;
                }
                &mut words.names
            };
            into.extend([text.to_lowercase(), search_key(text)].map(|word| word.chars().collect()));
        }
        words.whole.remove("");
        for words in [&mut words.own, &mut words.names] {
            // The longest first: a name may begin another.
            words.sort_by(|a: &Vec<char>, b| b.len().cmp(&a.len()).then(a.cmp(b)));
            words.dedup();
        }
        words
    }

    /// Only addresses and numbers.
    pub fn without_names(&self) -> Self {
        Self { own: self.own.clone(), ..Self::default() }
    }

    /// The text without the person; `None` when it does not name them.
    pub fn scrubbed(&self, text: &str) -> Option<String> {
        match json(text) {
            Some(mut value) => self.is_taken_out("", &mut value).then(|| value.to_string()),
            None => without(text, &[&self.own, &self.names]),
        }
    }

    /// The same of a text that is nothing but a name.
    pub fn scrubbed_name(&self, text: &str) -> Option<String> {
        if self.is_name(text) { Some(GONE.to_owned()) } else { self.scrubbed(text) }
    }

    /// Whether a text is the person's name and nothing else.
    pub fn is_name(&self, text: &str) -> bool {
        self.whole.contains(&search_key(text.trim()))
    }

    /// Whether a text names the person.
    pub fn are_in(&self, text: &str) -> bool {
        self.scrubbed(text).is_some()
    }

    /// Whether a text has an address or number of the person, not only a name that
    /// somebody else may have too.
    pub fn identify(&self, text: &str) -> bool {
        match json(text) {
            Some(value) => self.identify_in(&value, &[]),
            None => self.is_own_in(text),
        }
    }

    /// The same of JSON, without some fields of the uppermost object.
    pub fn identify_in(&self, value: &Value, passed_over: &[&str]) -> bool {
        match value {
            Value::String(text) => self.is_own_in(text),
            Value::Number(number) => self.is_own_in(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.identify_in(item, &[])),
            Value::Object(fields) => fields.iter().any(|(name, value)| {
                !passed_over.contains(&&**name) && self.identify_in(value, &[])
            }),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn is_own_in(&self, text: &str) -> bool {
        without(text, &[&self.own]).is_some()
    }

    /// Takes the person out of a value; false when it does not name them.
    fn is_taken_out(&self, field: &str, value: &mut Value) -> bool {
        let gone = match value {
            Value::String(text) if NAMED.contains(&field) && self.is_name(text) => {
                Some(GONE.to_owned())
            }
            Value::String(text) => without(text, &[&self.own, &self.names]),
            Value::Number(number) => without(&number.to_string(), &[&self.own]),
            Value::Array(items) => {
                let mut is_found = false;
                for item in items {
                    is_found |= self.is_taken_out(field, item);
                }
                return is_found;
            }
            Value::Object(fields) => {
                let mut is_found = false;
                for (name, value) in fields {
                    is_found |= self.is_taken_out(name, value);
                }
                return is_found;
            }
            Value::Null | Value::Bool(_) => None,
        };
        let is_found = gone.is_some();
        if let Some(text) = gone {
            *value = text.into();
        }
        is_found
    }
}

/// A text that is an object or a list in JSON.
pub fn json(text: &str) -> Option<Value> {
    let is_it = text.trim_start().starts_with(['{', '[']);
    is_it.then(|| serde_json::from_str(text).ok()).flatten()
}

/// A text without some words; `None` when it has none of them.
fn without(text: &str, lists: &[&[Vec<char>]]) -> Option<String> {
    if text.len() < SHORTEST {
        return None;
    }
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    // One for one: letters whose lower case is several are compared as they are.
    let lower: Vec<char> = letters
        .iter()
        .map(|(_, letter)| {
            let mut all = letter.to_lowercase();
            all.next().filter(|_| all.next().is_none()).unwrap_or(*letter)
        })
        .collect();
    let mut out: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while at < lower.len() {
        let mut words = lists.iter().copied().flatten();
        let Some(word) = words.find(|word| stands(&lower, at, word)) else {
            at += 1;
            continue;
        };
        let out = out.get_or_insert_with(String::new);
        out.push_str(&text[copied..letters[at].0]);
        out.push_str(GONE);
        at += word.len();
        copied = letters.get(at).map_or(text.len(), |(index, _)| *index);
    }
    out.map(|out| out + &text[copied..])
}

/// Whether a word stands at a place, and is not part of a longer one.
fn stands(text: &[char], at: usize, word: &[char]) -> bool {
    if !text[at..].starts_with(word) {
        return false;
    }
    let is_letter = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphanumeric());
    let is_address = word.contains(&'@');
    let ahead = |by: usize| at.checked_sub(by).and_then(|at| text.get(at));
    let (before, after) = (ahead(1), text.get(at + word.len()));
    // An escape in JSON, such as \n, ends in a letter.
    let is_escaped = at >= 2 && text[at - 2] == '\\';
    let longer_before = is_letter(before)
        // x-ana@exemplo.com is somebody else.
        || is_address && is_letter(ahead(2)) && before.is_some_and(|letter| "._%+-".contains(*letter));
    let longer_after = is_letter(after)
        || is_address && after.is_some_and(|letter| "_-".contains(*letter))
        // ana@exemplo.com.br is somebody else.
        || is_address && after == Some(&'.') && is_letter(text.get(at + word.len() + 1));
    (is_escaped || !longer_before) && !longer_after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Words {
        Words::of(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_person_is_found_whatever_the_case_and_not_inside_words() {
        let words = words(&["ana.conceição@exemplo.com", "Ana Conceição", "5511987654321", "Rui"]);
        for (text, without) in [
            ("Oi, ANA CONCEIÇÃO!", "Oi, [apagado]!"),
            (r#"{"a":"Ana Conceição","b":"x"}"#, r#"{"a":"[apagado]","b":"x"}"#),
            ("para Ana.Conceição@exemplo.com e ana conceicao", "para [apagado] e [apagado]"),
            (r"x\nAna Conceição", r"x\n[apagado]"),
            ("+5511987654321", "+[apagado]"),
            ("İ 5511987654321 ß", "İ [apagado] ß"),
            // Fields that hold nothing but a name, and a number without quotes.
            (r#"{"nome":" RUI "}"#, r#"{"nome":"[apagado]"}"#),
            (r#"[{"x":5511987654321}]"#, r#"[{"x":"[apagado]"}]"#),
            (r#"{"x":"a\nAna Concei\u00e7\u00e3o"}"#, r#"{"x":"a\n[apagado]"}"#),
        ] {
            assert_eq!(words.scrubbed(text).as_deref(), Some(without), "{text}");
        }
        for text in ["Mariana Conceição", "Ana Conceiçãozinha", "15511987654321", "Rui", "", "Ana"]
        {
            assert_eq!(words.scrubbed(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_of_one_word_is_no_word_of_sentences_and_fields_are_no_names() {
        let words = words(&["Fornecedor", "Vendedor", "Ana \"Nina\" Souza", "@fornecedora"]);
        for text in [
            "Pagamento a fornecedor",
            r#"{"fornecedor":"Bia","vendedor":"Rui"}"#,
            r#"{"ana \"nina\" souza":1}"#,
            "fornecedora",
        ] {
            assert_eq!(words.scrubbed(text), None, "{text}");
            assert!(!words.identify(text));
        }
        assert!(words.is_name(" fornecedor ") && !words.is_name("Bom fornecedor"));
        assert_eq!(words.scrubbed_name("FORNECEDOR").as_deref(), Some(GONE));
        assert!(words.are_in(r#"{"x":"Ana \"Nina\" Souza"}"#));
        assert!(
            words.identify("de @fornecedora a Bia") && !words.without_names().is_name("vendedor")
        );
    }
}
