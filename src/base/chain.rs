//! The chain of the audit log: every entry has a hash over itself and the entry
//! before.
//!
//! What an entry says in words is in two parts: who acted from where, and what
//! it was about. The hash covers a digest of each part, not the words. So the
//! words of a person who is erased can go and the chain still fits: the digest
//! stays in their place. While the words are there, a random salt stands where
//! the digest would, so that nobody can guess words from a digest later.

use sha2::{Digest as _, Sha256};

/// A hash of the chain, or the digest of a part.
pub type Link = [u8; 32];

/// What the first entry has before it.
pub const START: Link = [0; 32];
/// Bytes of a salt.
pub const SALT: usize = 16;

/// What of an entry is never blanked.
pub struct FixedFields<'e> {
    pub number: i64,
    /// Unix seconds.
    pub at: i64,
    pub actor_kind: &'e str,
    pub actor_id: Option<i64>,
    pub action: &'e str,
    pub object_kind: &'e str,
    pub object_id: &'e str,
}

/// The hash of an entry, with the digests of its parts.
pub fn link(previous: &Link, fields: &FixedFields<'_>, [who, what]: [&Link; 2]) -> Link {
    let mut hash = Sha256::new_with_prefix(b"seller-platform audit entry 1");
    hash.update(previous);
    hash.update(fields.number.to_be_bytes());
    hash.update(fields.at.to_be_bytes());
    text(&mut hash, Some(fields.actor_kind));
    text(&mut hash, fields.actor_id.map(|id| id.to_string()).as_deref());
    for word in [fields.action, fields.object_kind, fields.object_id] {
        text(&mut hash, Some(word));
    }
    hash.update(who);
    hash.update(what);
    hash.finalize().into()
}

/// The digest of a part. `seal` is its salt, or the digest itself when the words
/// were blanked; `None` when it is neither, or when words stand where there
/// should be none.
pub fn digest(seal: &[u8], words: &[Option<&str>]) -> Option<Link> {
    if let Ok(fields) = Link::try_from(seal) {
        let is_blank = words.iter().all(|word| word.is_none_or(str::is_empty));
        return is_blank.then_some(fields);
    }
    if seal.len() != SALT {
        return None;
    }
    let mut hash = Sha256::new_with_prefix(b"seller-platform audit words 1");
    hash.update(seal);
    for word in words {
        text(&mut hash, *word);
    }
    Some(hash.finalize().into())
}

/// Adds a text with its length, so that no two lists of texts look alike.
fn text(hash: &mut Sha256, text: Option<&str>) {
    hash.update(text.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
    hash.update(text.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(number: i64) -> FixedFields<'static> {
        FixedFields {
            number,
            at: 5,
            actor_kind: "pessoa",
            actor_id: Some(1),
            action: "aluno.criar",
            object_kind: "aluno",
            object_id: "7",
        }
    }

    #[test]
    fn a_blanked_part_has_the_digest_that_it_had() {
        let salt = [9; SALT];
        let words = [Some("Ana"), None, Some("192.0.2.7")];
        let before = digest(&salt, &words).unwrap();
        assert_eq!(digest(&before, &[Some(""), None, Some("")]), Some(before));
        // Other words in the place of blanked ones are noticed.
        assert_eq!(digest(&before, &[Some("Bia"), None, Some("")]), None);
        assert_eq!(digest(&[], &words), None);
    }

    #[test]
    fn every_field_counts() {
        let salt = [9; SALT];
        let words = digest(&salt, &[Some("a"), Some("b")]).unwrap();
        for other in [[Some("ab"), Some("")], [Some("a"), None], [Some("b"), Some("a")]] {
            assert_ne!(digest(&salt, &other), Some(words));
        }
        let one = link(&START, &fields(1), [&words, &words]);
        assert_ne!(link(&one, &fields(1), [&words, &words]), one);
        assert_ne!(link(&START, &fields(2), [&words, &words]), one);
        assert_ne!(
            link(&START, &FixedFields { actor_id: None, ..fields(1) }, [&words, &words]),
            one
        );
        assert_ne!(
            link(&START, &FixedFields { object_id: "8", ..fields(1) }, [&words, &words]),
            one
        );
        assert_ne!(link(&START, &fields(1), [&words, &one]), one);
    }
}
