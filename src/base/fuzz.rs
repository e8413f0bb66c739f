//! Bytes for parsers, in tests: seeds that lie in `tests/fuzz/`, and what becomes of
//! them when they are changed at random.
//!
//! A parser may refuse anything, and must neither panic nor take long. `FUZZ_CASES` is
//! the number of inputs of each target, for longer runs. An input that failed is told
//! in its smallest form; it belongs into the folder of its target, so that it is tried
//! for ever.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

/// Inputs of each target where nothing else is said.
const CASES: u32 = 2_000;
/// The longest that one input may take, in a build for tests on a busy machine.
const LONGEST: Duration = Duration::from_secs(2);

/// Pieces that mean something to one parser or another.
const PIECES: [&[u8]; 30] = [
    b"\r\n",
    b"\n",
    b"\0",
    b"\"",
    b"\\",
    b"'",
    b";",
    b",",
    b"=",
    b"&",
    b"%",
    b"%00",
    b"%ff",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"null",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"--",
    b"/../",
    b"Transfer-Encoding: chunked\r\n",
    b"\x00\x00",
];

/// A change of an input.
#[derive(Clone, Debug)]
enum Change {
    Byte(Index, u8),
    Piece(Index, Index),
    Bytes(Index, Vec<u8>),
    Cut(Index, Index),
    Repeat(Index, u8, u8),
    Append(Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, piece)| Change::Piece(at, piece)),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, bytes)| Change::Bytes(at, bytes)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Cut(from, to)),
        (any::<Index>(), 1..40_u8, 1..60_u8)
            .prop_map(|(at, long, times)| Change::Repeat(at, long, times)),
        any::<Index>().prop_map(Change::Append),
    ]
}

impl Change {
    fn make(&self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        match self {
            Self::Byte(at, byte) => {
                if !input.is_empty() {
                    let at = at.index(input.len());
                    input[at] = *byte;
                }
            }
            Self::Piece(at, piece) => insert(input, at, PIECES[piece.index(PIECES.len())]),
            Self::Bytes(at, bytes) => insert(input, at, bytes),
            Self::Cut(from, to) => {
                let (from, to) = (from.index(input.len() + 1), to.index(input.len() + 1));
                input.drain(from.min(to)..from.max(to));
            }
            Self::Repeat(at, long, times) => {
                let from = at.index(input.len() + 1);
                let end = input.len().min(from + usize::from(*long));
                let again = input[from..end].repeat(usize::from(*times));
                insert(input, at, &again);
            }
            Self::Append(seed) => input.extend(seed.get(seeds)),
        }
    }
}

fn insert(input: &mut Vec<u8>, at: &Index, bytes: &[u8]) {
    let at = at.index(input.len() + 1);
    input.splice(at..at, bytes.iter().copied());
}

/// Gives a parser every seed of its folder, then changed ones and bytes at random.
#[track_caller]
pub fn fuzz(target: &str, parse: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz").join(target);
    let files = std::fs::read_dir(folder).expect("the target's seeds");
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for seed in &seeds {
        within_time(&parse, seed);
    }
    let changed =
        (any::<Index>(), prop::collection::vec(change(), 0..6)).prop_map(|(seed, changes)| {
            let mut input = seed.get(&seeds).clone();
            for change in &changes {
                change.make(&mut input, &seeds);
            }
            input
        });
    let input = prop_oneof![9 => changed, 1 => prop::collection::vec(any::<u8>(), 0..200)];
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&input, |input| {
        within_time(&parse, &input);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{target}: {error}");
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
fn cases() -> u32 {
    let given = std::env::var("FUZZ_CASES").ok();
    given.map_or(CASES, |text| text.parse().expect("a number"))
}

#[track_caller]
fn within_time(parse: &impl Fn(&[u8]), input: &[u8]) {
    let began = Instant::now();
    parse(input);
    let took = began.elapsed();
    assert!(took < LONGEST, "{took:?} for {:?}", String::from_utf8_lossy(input));
}
