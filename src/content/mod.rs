//! What the platform offers: plans, teachers, courses with their lessons, and
//! meets, kept by the operator, each in a folder of its own.
//!
//! What anyone may read is rendered once and kept in memory (`public.rs`) until
//! the content changes, so most requests do not read the database.

pub mod agenda;
pub mod api;
pub mod classroom;
pub mod courses;
pub mod documents;
pub mod inputs;
pub mod lessons;
pub mod meets;
pub mod plans;
pub mod public;
pub mod schema_doc;
pub mod store;
pub mod teachers;
pub mod wire;

pub use documents::PublicContent;

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
        for (title, slug) in
            [("Piloto Pró  — Anual", "piloto-pro-anual"), ("  Começo! ", "comeco"), ("***", "")]
        {
            assert_eq!(slug_of(title), slug);
        }
    }
}
