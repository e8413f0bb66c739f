//! Finding a person in texts: their addresses, numbers and names, whatever the
//! case, and putting a neutral word in their place.

use crate::base::text::search_key;

/// What stands in the place of a name. It is valid inside JSON.
pub const GONE: &str = "[apagado]";
/// Shorter names are part of too many words of others.
const SHORTEST: usize = 5;

/// The words by which a person is found, in lower case.
pub struct Words(Vec<Vec<char>>);

impl Words {
    /// Of texts such as an e-mail address, a number or a name.
    pub fn of(texts: &[String]) -> Self {
        let mut words: Vec<Vec<char>> = texts
            .iter()
            .flat_map(|text| [text.trim().to_lowercase(), search_key(text.trim())])
            .filter(|word| word.chars().count() >= SHORTEST)
            .map(|word| word.chars().collect())
            .collect();
        // The longest first: a name may begin another.
        words.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        words.dedup();
        Self(words)
    }

    /// The text without the person; `None` when it does not name them.
    pub fn scrubbed(&self, text: &str) -> Option<String> {
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
            let Some(word) = self.0.iter().find(|word| stands(&lower, at, word)) else {
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

    /// Whether a text names the person.
    pub fn are_in(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.scrubbed(text).is_some())
    }
}

/// Whether a word stands at a place, and is not part of a longer one.
fn stands(text: &[char], at: usize, word: &[char]) -> bool {
    let joins = |index: Option<usize>| {
        index.and_then(|index| text.get(index)).is_some_and(|letter| letter.is_alphanumeric())
    };
    // An escape in JSON, such as \n, ends in a letter.
    let is_escaped = at >= 2 && text[at - 2] == '\\';
    text[at..].starts_with(word)
        && (is_escaped || !joins(at.checked_sub(1)))
        && !joins(Some(at + word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_found_whatever_the_case_and_not_inside_words() {
        let texts = ["ana.conceição@exemplo.com", "Ana Conceição", "5511987654321", "Rui"];
        let words = Words::of(&texts.map(str::to_owned));
        for (text, without) in [
            ("Oi, ANA CONCEIÇÃO!", "Oi, [apagado]!"),
            (r#"{"a":"Ana Conceição","b":"x"}"#, r#"{"a":"[apagado]","b":"x"}"#),
            ("para Ana.Conceição@exemplo.com e ana conceicao", "para [apagado] e [apagado]"),
            (r"x\nAna Conceição", r"x\n[apagado]"),
            ("+5511987654321", "+[apagado]"),
            ("İ 5511987654321 ß", "İ [apagado] ß"),
        ] {
            assert_eq!(words.scrubbed(text).as_deref(), Some(without), "{text}");
        }
        for text in ["Mariana Conceição", "Ana Conceiçãozinha", "15511987654321", "Rui", "", "Ana"]
        {
            assert_eq!(words.scrubbed(text), None, "{text}");
        }
    }
}
