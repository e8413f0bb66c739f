//! What the platform offers: plans, shown to anyone and kept by the operator.
//!
//! Public answers are rendered once and kept ready to send until the content
//! changes, so most calls touch no database.

pub mod api;
pub mod plans;

use std::sync::Mutex;

use crate::http::conditional::Rendered;

/// Rendered public answers with the content version they were made from.
#[derive(Default)]
pub struct PublicContent {
    plans: Mutex<Option<(u64, std::sync::Arc<Rendered>)>>,
}

/// A short name for addresses, made from a title.
pub fn slug_of(title: &str) -> String {
    let mut slug = String::new();
    for c in title.to_lowercase().chars() {
        let plain = match c {
            'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
            'é' | 'ê' | 'è' | 'ë' => 'e',
            'í' | 'î' | 'ì' => 'i',
            'ó' | 'ô' | 'õ' | 'ò' | 'ö' => 'o',
            'ú' | 'û' | 'ù' | 'ü' => 'u',
            'ç' => 'c',
            'ñ' => 'n',
            other => other,
        };
        if plain.is_ascii_alphanumeric() {
            slug.push(plain);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_made_from_titles() {
        for (title, slug) in [
            ("Piloto Pró  — Anual", "piloto-pro-anual"),
            ("  Começo! ", "comeco"),
            ("***", ""),
        ] {
            assert_eq!(slug_of(title), slug);
        }
    }
}
