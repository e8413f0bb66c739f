//! A disk that the test commands: a library (`shim.c`) that is loaded into the server
//! before all others, records what it writes and syncs, and lets its calls fail.
//!
//! It needs a dynamically linked executable, which builds for tests are.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::process::run;
use crate::support::site::Builder;

/// The system's numbers of its errors.
pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;
pub const EROFS: i32 = 30;
pub const EDQUOT: i32 = 122;

/// What the calls of the server do from now on; the default is that all is well.
#[derive(Clone, Copy, Default)]
pub struct Fault {
    pub write_error: i32,
    /// Writes that still pass before the first that fails.
    pub write_passes: i32,
    pub sync_error: i32,
    pub sync_passes: i32,
    pub sync_delay_ms: i32,
}

/// The disk of one server.
pub struct Disk(TempDir);

impl Disk {
    #[track_caller]
    pub fn new() -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/shim.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(disk.path("shim.so")).arg(source);
        let compiled = run(&mut compile, "");
        assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
        disk.does(Fault::default());
        File::create(disk.path("record")).unwrap();
        disk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts it under a server and its commands.
    pub fn under(&self, site: Builder) -> Builder {
        let text = |name| self.path(name).display().to_string();
        site.environment("LD_PRELOAD", &text("shim.so"))
            .environment("FAULTS_CONTROL", &text("control"))
    }

    /// The same, with a record of everything.
    pub fn recorded_under(&self, site: Builder) -> Builder {
        let record = self.path("record").display().to_string();
        self.under(site).environment("FAULTS_RECORD", &record)
    }

    /// From now on it does this.
    pub fn does(&self, fault: Fault) {
        let Fault { write_error, write_passes, sync_error, sync_passes, sync_delay_ms } = fault;
        let values = [write_error, write_passes, sync_error, sync_passes, sync_delay_ms];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        // The server has mapped the file, so it must stay the same one.
        let options = File::options().write(true).create(true).truncate(false).clone();
        options.open(self.path("control")).unwrap().write_all_at(&bytes, 0).unwrap();
    }

    /// Notes in the record that something was answered: all that the server did for
    /// it stands before.
    pub fn answered(&self, what: &str) {
        let mut line = vec![b'A', 0];
        line.extend(0_u64.to_ne_bytes());
        line.extend(u32::try_from(what.len()).unwrap().to_ne_bytes());
        line.extend(what.as_bytes());
        File::options().append(true).open(self.path("record")).unwrap().write_all(&line).unwrap();
    }

    /// Everything that happened, in order.
    pub fn recorded(&self) -> Vec<Step> {
        let mut bytes: VecDeque<u8> = fs::read(self.path("record")).unwrap().into();
        let mut steps = Vec::new();
        while bytes.len() >= 14 {
            let head: Vec<u8> = bytes.drain(..14).collect();
            let offset = u64::from_ne_bytes(head[2..10].try_into().unwrap());
            let length = u32::from_ne_bytes(head[10..14].try_into().unwrap());
            let name: Vec<u8> = bytes.drain(..usize::from(head[1])).collect();
            let data: Vec<u8> = bytes.drain(..usize::try_from(length).unwrap()).collect();
            let (file, at) = (String::from_utf8(name).unwrap(), usize::try_from(offset).unwrap());
            steps.push(match head[0] {
                b'W' => Step::Change { file, change: Change::Put { at, bytes: data } },
                b'T' => Step::Change { file, change: Change::Cut { at } },
                b'S' => Step::Sync { file },
                b'U' => Step::Remove { file },
                b'A' => Step::Answered { what: String::from_utf8(data).unwrap() },
                kind => panic!("a record of kind {kind}"),
            });
        }
        steps
    }
}

/// One thing that happened.
pub enum Step {
    Change { file: String, change: Change },
    Sync { file: String },
    Remove { file: String },
    Answered { what: String },
}

/// A change of a file.
#[derive(Clone)]
pub enum Change {
    Put { at: usize, bytes: Vec<u8> },
    Cut { at: usize },
}

impl Change {
    /// Makes it in a file's content.
    pub fn make(&self, content: &mut Vec<u8>) {
        match self {
            Self::Put { at, bytes } => {
                if content.len() < at + bytes.len() {
                    content.resize(at + bytes.len(), 0);
                }
                content[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Self::Cut { at } => content.resize(*at, 0),
        }
    }

    /// The first sectors of it, as a disk that loses its power in the middle.
    pub fn torn(&self, sectors: usize) -> Self {
        match self {
            Self::Put { at, bytes } => {
                let end = bytes.len().min(sectors * 512 - at % 512);
                Self::Put { at: *at, bytes: bytes[..end].to_vec() }
            }
            Self::Cut { at } => Self::Cut { at: *at },
        }
    }
}
