//! Finding a person in texts: their addresses, numbers and names, whatever the
//! case, and putting a neutral word in their place.

use crate::base::text::search_key;

/// What stands in the place of a name. It is valid inside JSON.
pub const GONE: &str = "[apagado]";
/// Fewest letters of a text in which somebody can be named.
const SHORTEST: usize = 5;
/// Fewest letters of a name that is one word.
const SHORTEST_WORD: usize = 10;

/// The words by which a person is found, in lower case.
pub struct Words {
    /// Addresses and numbers, which nobody else has.
    own: Vec<Vec<char>>,
    /// Names, which others may have too.
    names: Vec<Vec<char>>,
}

impl Words {
    /// Of texts such as an e-mail address, a number or a name. Names of one short
    /// word are left out: they are words of too many texts about others.
    pub fn of(texts: &[String]) -> Self {
        let (mut own, mut names) = (Vec::new(), Vec::new());
        for text in texts.iter().map(|text| text.trim()) {
            let is_number = text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_address = text
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
            let least = if text.contains([' ', '@']) { SHORTEST + 1 } else { SHORTEST_WORD };
            let into = match () {
                () if is_number || is_address => &mut own,
                () if text.chars().count() >= least => &mut names,
                () => continue,
            };
            into.extend([text.to_lowercase(), search_key(text)].map(|word| word.chars().collect()));
        }
        for words in [&mut own, &mut names] {
            // The longest first: a name may begin another.
            words.sort_by(|a: &Vec<char>, b| b.len().cmp(&a.len()).then(a.cmp(b)));
            words.dedup();
        }
        Self { own, names }
    }

    /// The text without the person; `None` when it does not name them.
    pub fn scrubbed(&self, text: &str) -> Option<String> {
        without(text, &[&self.own, &self.names])
    }

    /// Whether a text names the person.
    pub fn are_in(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.scrubbed(text).is_some())
    }

    /// Whether a text has an address or number of the person, not only a name that
    /// somebody else may have too.
    pub fn identify(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| without(text, &[&self.own]).is_some())
    }
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
