//! Writing ZIP archives: files that are packed one after the other, to any
//! writer. Sizes and checksums follow each file, so nothing is written twice.

use std::io::{Result, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// General purpose bits: sizes follow the file; its name is UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
/// The version that is needed to unpack.
const VERSION: u16 = 20;
const DEFLATED: u16 = 8;
/// The oldest day that the format knows, because the archive's own time says nothing.
const DAY: u16 = 1 << 5 | 1;

/// An archive that is being written.
pub struct Archive<W: Write> {
    out: Counted<W>,
    directory: Vec<u8>,
    files: u16,
}

struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// A file of the archive while it is being written.
pub struct Member<'a, W: Write> {
    packer: DeflateEncoder<&'a mut Counted<W>>,
    crc: Crc,
}

impl<W: Write> Write for Member<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.packer.write(bytes)?;
        self.crc.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.packer.flush()
    }
}

/// A size as the format has it. Larger archives are not made.
fn size(bytes: u64) -> Result<[u8; 4]> {
    let bytes = u32::try_from(bytes)
        .map_err(|_| std::io::Error::other("the archive would be larger than 4 GB"))?;
    Ok(bytes.to_le_bytes())
}

impl<W: Write> Archive<W> {
    pub fn new(out: W) -> Self {
        Self { out: Counted { out, written: 0 }, directory: Vec::new(), files: 0 }
    }

    /// Adds a file, whose content `write` writes.
    pub fn add<E: From<std::io::Error>>(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Member<'_, W>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let at = size(self.out.written)?;
        let too_long = |_| std::io::Error::other("the name of a file is too long");
        let length = u16::try_from(name.len()).map_err(too_long)?.to_le_bytes();
        let mut head = Vec::new();
        for field in [VERSION, FLAGS, DEFLATED, 0, DAY] {
            head.extend(field.to_le_bytes());
        }
        self.out.write_all(b"PK\x03\x04")?;
        self.out.write_all(&head)?;
        self.out.write_all(&[0; 12])?;
        self.out.write_all(&length)?;
        self.out.write_all(&[0; 2])?;
        self.out.write_all(name.as_bytes())?;
        let before = self.out.written;
        let (plain, sum) = pack(&mut self.out, write)?;
        let packed = self.out.written - before;
        let sizes = [sum.to_le_bytes(), size(packed)?, size(plain)?].concat();
        self.out.write_all(b"PK\x07\x08")?;
        self.out.write_all(&sizes)?;
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(head);
        self.directory.extend(sizes);
        self.directory.extend(length);
        self.directory.extend([0; 12]);
        self.directory.extend(at);
        self.directory.extend(name.as_bytes());
        self.files += 1;
        Ok(())
    }

    /// Writes the directory and returns the writer.
    pub fn finish(mut self) -> Result<W> {
        let (at, bytes) = (size(self.out.written)?, size(self.directory.len() as u64)?);
        self.out.write_all(&self.directory)?;
        self.out.write_all(b"PK\x05\x06\0\0\0\0")?;
        self.out.write_all(&self.files.to_le_bytes())?;
        self.out.write_all(&self.files.to_le_bytes())?;
        self.out.write_all(&bytes)?;
        self.out.write_all(&at)?;
        self.out.write_all(&[0; 2])?;
        self.out.flush()?;
        Ok(self.out.out)
    }
}

/// Packs what `write` writes; returns its size and checksum.
fn pack<W: Write, E: From<std::io::Error>>(
    out: &mut Counted<W>,
    write: impl FnOnce(&mut Member<'_, W>) -> std::result::Result<(), E>,
) -> std::result::Result<(u64, u32), E> {
    let packer = DeflateEncoder::new(out, Compression::default());
    let mut member = Member { packer, crc: Crc::new() };
    write(&mut member)?;
    let Member { packer, crc } = member;
    let plain = packer.total_in();
    packer.finish()?;
    Ok((plain, crc.sum()))
}
