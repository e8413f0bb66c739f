//! Photos in the database: one for each person and teacher.

use super::{Media, Photo, address};
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// The owner of a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Person(UserId),
    Teacher(i64),
}

impl Owner {
    /// Column of the photo and table of the owner, and the owner's number.
    const fn place(self) -> (&'static str, &'static str, i64) {
        match self {
            Self::Person(user) => ("user_id", "user", user.0),
            Self::Teacher(teacher) => ("teacher_id", "teacher", teacher),
        }
    }
}

/// Sets the photo of a person or teacher; returns its address.
pub fn set(tx: &WriteTx<'_>, owner: Owner, photo: &Photo) -> Result<String> {
    let (column, table, id) = owner.place();
    let digest = photo.digest();
    tx.execute(
        &format!(
            "INSERT INTO photo (digest, {column}, media, created_at, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT ({column}) DO UPDATE SET digest = ?1, media = ?3, created_at = ?4, bytes = ?5"
        ),
        (&digest, id, photo.media, tx.now(), &photo.bytes),
    )?;
    let address = address(&digest);
    tx.execute(&format!("UPDATE {table} SET photo = ?2 WHERE {column} = ?1"), (id, &address))?;
    Ok(address)
}

/// Removes the photo of a person or teacher; false when there was none.
pub fn remove(tx: &WriteTx<'_>, owner: Owner) -> Result<bool> {
    let (column, table, id) = owner.place();
    let removed = tx.execute(&format!("DELETE FROM photo WHERE {column} = ?1"), [id])?;
    tx.execute(&format!("UPDATE {table} SET photo = '' WHERE {column} = ?1"), [id])?;
    Ok(removed == 1)
}

/// The photo with a digest, of any owner.
pub fn by_digest(tx: &ReadTx<'_>, digest: &[u8; 32]) -> Result<Option<(Media, Vec<u8>)>> {
    tx.tuple("SELECT media, bytes FROM photo WHERE digest = ?1 LIMIT 1", [digest])
}
