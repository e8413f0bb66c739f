//! Small rules about text that several folders share.

use std::fmt::Write as _;

/// An e-mail address in the form it is stored and compared in: trimmed, in
/// lower case, its domain as people read it (`exämple.com`, also where
/// `xn--exmple-cua.com` was typed). `None` unless it looks like one (one `@`,
/// a dotted domain, no blanks, at most 254 bytes).
pub fn email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.split_once('@')?;
    let domain = readable_domain(domain)?;
    let text = format!("{local}@{domain}");
    let plausible = !local.is_empty()
        && text.len() <= 254
        && !domain.contains('@')
        && domain.contains('.')
        && domain.split('.').all(|label| !label.is_empty())
        && !text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || "<>\"(),;:\\[]".contains(c));
    plausible.then_some(text)
}

/// A domain as people read it. A plain ASCII domain stays as it is; `None` for
/// another one that is not valid (IDNA).
fn readable_domain(domain: &str) -> Option<String> {
    if domain.is_ascii() && !domain.split('.').any(|label| label.starts_with("xn--")) {
        return Some(domain.to_owned());
    }
    let ascii = idna::domain_to_ascii_strict(domain).ok()?;
    let (readable, sound) = idna::domain_to_unicode(&ascii);
    sound.ok().map(|()| readable)
}

/// An e-mail address as mail servers accept it, with its domain in ASCII
/// (punycode). The part before the `@` has no such form.
pub fn wire_email(address: &str) -> Option<String> {
    let (local, domain) = address.rsplit_once('@')?;
    let domain = idna::domain_to_ascii(domain).ok()?;
    Some(format!("{local}@{domain}"))
}

/// Whether an e-mail address needs a mail server that accepts more than ASCII
/// before the `@` (SMTPUTF8), which many do not.
pub fn has_accents(address: &str) -> bool {
    address.rsplit_once('@').is_some_and(|(local, _)| !local.is_ascii())
}

/// A person's name as typed, trimmed; `None` outside 2 to 120 characters or
/// with control characters.
pub fn person_name(text: &str) -> Option<&str> {
    let text = text.trim();
    let length = text.chars().count();
    ((2..=120).contains(&length) && !text.chars().any(char::is_control)).then_some(text)
}

/// A text without case and Portuguese accents, for sorting and searching; the
/// same rule as the column `name_key` of `user`.
pub fn search_key(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'á' | 'Á' | 'à' | 'À' | 'â' | 'Â' | 'ã' | 'Ã' => 'a',
            'é' | 'É' | 'ê' | 'Ê' => 'e',
            'í' | 'Í' => 'i',
            'ó' | 'Ó' | 'ô' | 'Ô' | 'õ' | 'Õ' => 'o',
            'ú' | 'Ú' | 'ü' | 'Ü' => 'u',
            'ç' | 'Ç' => 'c',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// Whether every word of a search, itself a [`search_key`], is in a text,
/// without case and Portuguese accents.
pub fn holds(text: &str, key: &str) -> bool {
    let text = search_key(text);
    key.split_whitespace().all(|word| text.contains(word))
}

/// At most `limit` characters of a text, cut between characters.
pub fn shortened(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// As many whole words from the start as fit into `limit` characters, but at
/// least the first. A small word such as `de` is not left at the end.
pub fn first_words(text: &str, limit: usize) -> &str {
    const SMALL: [&str; 9] = ["de", "da", "do", "das", "dos", "e", "a", "o", "em"];
    let ends = text.char_indices().filter(|(_, c)| *c == ' ').map(|(end, _)| end);
    let fits = |end: &usize| text[..*end].chars().count() <= limit;
    let is_whole = |end: &usize| {
        let last = text[..*end].rsplit(' ').next().unwrap_or_default();
        !SMALL.contains(&&*last.to_lowercase())
    };
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    let best = ends.iter().copied().rfind(|end| fits(end) && is_whole(end));
    &text[..best.unwrap_or(ends[0])]
}

/// The text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).collect()
}

/// A fault as a sentence: a capital first letter, and a full stop.
pub fn sentence(said: &str) -> String {
    capitalised(said) + "."
}

/// A count with points between thousands, as Brazilians write it; 0 for a
/// negative one.
pub fn grouped<N: TryInto<u64>>(count: N) -> String {
    let digits = count.try_into().unwrap_or(0).to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    grouped
}

/// `3.420`, `−50`.
pub fn number_words(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// `1 unidade`, `1.200 unidades`.
pub fn counted<N: TryInto<u64>>(count: N, one: &str, several: &str) -> String {
    let count = count.try_into().unwrap_or(0);
    format!("{} {}", grouped(count), if count == 1 { one } else { several })
}

/// A pattern for `LIKE … ESCAPE '\\'` that finds values that begin with a text.
pub fn like_beginning(text: &str) -> String {
    like_pattern(text).split_off(1)
}

/// A pattern for `LIKE … ESCAPE '\\'` that finds values that contain a text.
pub fn like_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// Whether two texts are the same, also while the program is compiled.
pub const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes of a hexadecimal text; `None` when it is not one.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits?;
    (digits.len() % 2 == 0)
        .then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Whether a text is so many characters of lower-case hexadecimal.
pub fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// An error with all its causes, in one line.
pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_compare_without_case_and_blanks() {
        assert_eq!(
            email("  Ana.Souza@Exemplo.COM.br ").as_deref(),
            Some("ana.souza@exemplo.com.br")
        );
        for bad in [
            "",
            "ana",
            "@x.com",
            "ana@",
            "ana@x",
            "a b@x.com",
            "a@b@c.com",
            "a@x..com",
            "<a@x.com>",
        ] {
            assert_eq!(email(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_domain_is_one_however_it_is_written() {
        for typed in [
            "maria@exämple.com",
            "Maria@EXÄMPLE.com",
            "maria@xn--exmple-cua.com",
            "maria@exa\u{308}mple.com",
            "maria@exämple。com",
        ] {
            let stored = email(typed);
            assert_eq!(stored.as_deref(), Some("maria@exämple.com"), "{typed}");
            assert_eq!(wire_email("maria@exämple.com").unwrap(), "maria@xn--exmple-cua.com");
        }
        for (typed, stored) in [
            ("joão@example.com", "joão@example.com"),
            ("ana@sub_domain.example.com", "ana@sub_domain.example.com"),
            ("ana@straße.de", "ana@straße.de"),
        ] {
            assert_eq!(email(typed).as_deref(), Some(stored), "{typed}");
        }
        for bad in ["a@xn--.com", "a@xn--0.com", "a@-ä.com", "a@ä..com", "a@ä b.com", "a@ä"] {
            assert_eq!(email(bad), None, "{bad}");
        }
        assert!(has_accents("joão@example.com") && !has_accents("joao@exämple.com"));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1.000"), (12_480, "12.480"), (1_234_567, "1.234.567")]
        {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn searches_pass_over_case_and_accents() {
        let title = "Suporte Antipuxão";
        for search in ["antipuxao", "ANTIPUXÃO", "Antipuxão", "  puxão sup", ""] {
            assert!(holds(title, &search_key(search)), "{search}");
        }
        assert!(!holds(title, &search_key("antipuxao preto")));
    }

    #[test]
    fn searches_find_signs_as_they_are() {
        assert_eq!(like_pattern("10%_a\\b"), "%10\\%\\_a\\\\b%");
    }

    #[test]
    fn hexadecimal_reads_back() {
        assert_eq!(from_hex(&hex(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("abc"), None);
        assert_eq!(from_hex("é"), None);
    }

    #[test]
    fn a_name_is_shortened_between_words() {
        for (name, short) in [
            ("Seller Platform", "Seller"),
            ("Loja", "Loja"),
            ("Escola de Vendas", "Escola"),
            ("Vendas Ágeis", "Vendas Ágeis"),
            ("Empreendedorismo Digital", "Empreendedorismo"),
        ] {
            assert_eq!(first_words(name, 12), short);
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shortened("ação", 3), "açã");
        assert_eq!(shortened("oi", 3), "oi");
    }
}
