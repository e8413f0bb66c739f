//! Bodies of answers: bytes in memory, pieces that are made during sending, or events.
//!
//! A piece is made on the blocking pool, and the next one only when the caller
//! has read the last, so a slow caller uses one piece of memory. A caller that
//! reads nothing for half a minute is disconnected (`connection.rs`). Then the body
//! is dropped, with everything that it holds.
//!
//! Large bodies that wait to be sent are charged to one budget for all callers.

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;

use super::budget::{Budget, charged};
use super::events::Events;

/// Bytes of a piece.
pub const PIECE: usize = 64 * 1024;
/// The charge for a body in pieces, because one piece is sent while the next is
/// made, and for a body in memory that other callers share.
const UNDER_WAY: usize = 2 * PIECE;
/// The budget of large answers that wait to be sent or are being sent, in bytes.
pub const UNSENT_BYTES: usize = 80 << 20;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    Bytes(Bytes),
    /// In one box, so that an answer is small.
    Flow(Box<Flow>),
}

/// What is made while it is sent.
#[derive(Debug)]
pub enum Flow {
    Pieces(Pieces),
    Events(Events),
}

impl From<Pieces> for Body {
    fn from(pieces: Pieces) -> Self {
        Self::Flow(Box::new(Flow::Pieces(pieces)))
    }
}

impl From<Events> for Body {
    fn from(events: Events) -> Self {
        Self::Flow(Box::new(Flow::Events(events)))
    }
}

impl Body {
    pub const fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }

    /// The bytes in memory; empty for another body.
    #[cfg(test)]
    pub fn in_memory(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Flow(_) => &[],
        }
    }

    /// The same body. If it is larger than a piece, it is charged to the budget
    /// until it was sent or dropped; `None` when the budget is used up.
    pub fn charged(self, unsent: &Arc<Budget>) -> Option<Self> {
        Some(match self {
            Self::Bytes(bytes) if bytes.len() <= PIECE => Self::Bytes(bytes),
            Self::Bytes(bytes) => {
                let own = if bytes.is_unique() { bytes.len() } else { UNDER_WAY };
                let held = unsent.take(own)?;
                Self::Bytes(charged(bytes, held))
            }
            Self::Flow(mut flow) => {
                // Events are small, and counted where they begin.
                if let Flow::Pieces(pieces) = &mut *flow {
                    pieces.hold(unsent.take(UNDER_WAY)?);
                }
                Self::Flow(flow)
            }
        })
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Bytes(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Flow(flow) => match &mut **flow {
                Flow::Pieces(pieces) => {
                    pieces.poll_piece(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
                }
                Flow::Events(events) => {
                    events.poll_event(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
                }
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Flow(flow) => match &**flow {
                Flow::Pieces(pieces) => pieces.left == Some(0),
                Flow::Events(_) => false,
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Flow(flow) => match &**flow {
                Flow::Pieces(pieces) => {
                    pieces.left.map_or_else(SizeHint::default, SizeHint::with_exact)
                }
                Flow::Events(_) => SizeHint::default(),
            },
        }
    }
}

/// Makes the next piece; an empty one is the end. An error closes the connection.
type Source = Box<dyn FnMut() -> io::Result<Bytes> + Send>;

/// A body in pieces that is being sent.
pub struct Pieces {
    making: Making,
    /// Bytes that are still to be sent, where that is known.
    left: Option<u64>,
    /// Limits how many bodies make a piece at the same time.
    turns: Option<Arc<Semaphore>>,
    /// Dropped when everything was sent or the caller has disconnected.
    held: Vec<Box<dyn Any + Send>>,
}

/// A piece, and the source of the next one.
type Made = (Option<Source>, io::Result<Bytes>);

enum Making {
    /// `None` after the end or an error.
    Idle(Option<Source>),
    Piece(Pin<Box<dyn Future<Output = Made> + Send>>),
}

impl Pieces {
    /// The first `bytes` bytes of a file. `held` is kept until they are sent.
    pub fn of_file(file: File, bytes: u64, held: impl Any + Send) -> Self {
        let mut left = bytes;
        let source = move || {
            let length = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
            let mut piece = vec![0; length];
            (&file).read_exact(&mut piece)?;
            left -= length as u64;
            Ok(piece.into())
        };
        let mut pieces = Self::new(Box::new(source), None);
        pieces.left = Some(bytes);
        pieces.hold(held);
        pieces
    }

    /// The pieces that `source` makes until it makes an empty one. Each piece
    /// waits for a permit of `turns`.
    pub fn made(
        source: impl FnMut() -> io::Result<Bytes> + Send + 'static,
        turns: Arc<Semaphore>,
    ) -> Self {
        Self::new(Box::new(source), Some(turns))
    }

    fn new(source: Source, turns: Option<Arc<Semaphore>>) -> Self {
        Self { making: Making::Idle(Some(source)), left: None, turns, held: Vec::new() }
    }

    /// Keeps a value until everything was sent or the caller has disconnected.
    pub fn hold(&mut self, held: impl Any + Send) {
        self.held.push(Box::new(held));
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == Some(0) {
            return Poll::Ready(None);
        }
        loop {
            match &mut self.making {
                Making::Idle(source) => {
                    let Some(source) = source.take() else {
                        return Poll::Ready(None);
                    };
                    self.making = Making::Piece(Box::pin(make(source, self.turns.clone())));
                }
                Making::Piece(piece) => {
                    let (source, piece) = ready!(piece.as_mut().poll(cx));
                    let is_end = piece.as_ref().is_ok_and(Bytes::is_empty);
                    self.making = Making::Idle(source.filter(|_| piece.is_ok() && !is_end));
                    if is_end {
                        return Poll::Ready(None);
                    }
                    if let (Ok(piece), Some(left)) = (&piece, &mut self.left) {
                        *left -= piece.len() as u64;
                    }
                    return Poll::Ready(Some(piece));
                }
            }
        }
    }
}

/// Makes a piece on the blocking pool, with a permit of `turns`.
async fn make(mut source: Source, turns: Option<Arc<Semaphore>>) -> Made {
    let turn = match turns {
        Some(turns) => turns.acquire_owned().await.ok(),
        None => None,
    };
    let work = tokio::task::spawn_blocking(move || {
        let _held = turn;
        let piece = source();
        (source, piece)
    });
    match work.await {
        Ok((source, piece)) => (Some(source), piece),
        Err(error) => (None, Err(io::Error::other(error))),
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pieces, {:?} bytes left", self.left)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use http_body_util::BodyExt as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    #[test]
    fn a_file_comes_whole_and_in_pieces() {
        let bytes: Vec<u8> = (0..=250).cycle().take(PIECE * 2 + 7).collect();
        let held = Arc::new(());
        let body = Pieces::of_file(file(&bytes), bytes.len() as u64, Arc::clone(&held));
        let mut body = Body::from(body);
        let mut pieces = Vec::new();
        run(async {
            while let Some(frame) = body.frame().await {
                pieces.push(frame.unwrap().into_data().unwrap());
            }
        });
        assert_eq!(pieces.len(), 3);
        assert!(pieces.concat() == bytes, "other bytes came");
        drop(body);
        assert_eq!(Arc::strong_count(&held), 1, "something is still held");
    }

    #[test]
    fn a_file_that_is_shorter_than_promised_breaks_off() {
        let mut body = Body::from(Pieces::of_file(file(b"abc"), 4, ()));
        run(async {
            let frame = body.frame().await.unwrap();
            assert_eq!(frame.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(body.frame().await.is_none());
        });
    }

    #[test]
    fn what_is_made_ends_with_an_empty_piece_and_breaks_off_with_an_error() {
        for (last, breaks) in [(Ok(Bytes::new()), false), (Err(io::Error::other("no")), true)] {
            let mut pieces = vec![last, Ok("b".into()), Ok("a".into())];
            let made = Pieces::made(move || pieces.pop().unwrap(), Arc::new(Semaphore::new(1)));
            let mut body = Body::from(made);
            assert!(hyper::body::Body::size_hint(&body).exact().is_none());
            let collected = run(async {
                let mut text = Vec::new();
                while let Some(frame) = body.frame().await {
                    text.extend(frame?.into_data().unwrap());
                }
                Ok::<_, io::Error>(text)
            });
            assert_eq!(collected.is_err(), breaks);
            assert!(breaks || collected.unwrap() == b"ab");
        }
    }

    #[test]
    fn large_bodies_are_charged_until_they_are_gone() {
        let unsent = Budget::new(PIECE * 5);
        let large = || Body::Bytes(vec![7; PIECE * 2 + 1].into());
        let small = Body::Bytes(vec![7; PIECE].into()).charged(&unsent).unwrap();
        assert_eq!((unsent.held(), small.in_memory().len()), (0, PIECE));
        let mut first = large().charged(&unsent).unwrap();
        assert_eq!(unsent.held(), PIECE * 2 + 1);
        let shared = Bytes::from(vec![7; PIECE * 9]);
        let second = Body::Bytes(shared.clone()).charged(&unsent).unwrap();
        assert_eq!(unsent.held(), PIECE * 4 + 1);
        assert!(large().charged(&unsent).is_none());
        let lengths = run(async {
            let mut lengths = Vec::new();
            while let Some(frame) = first.frame().await {
                lengths.push(frame.unwrap().into_data().unwrap().len());
            }
            lengths
        });
        assert_eq!(lengths, [PIECE * 2 + 1], "as a whole: nothing copies it");
        assert_eq!(unsent.held(), PIECE * 2, "sent, and so given back");
        drop(second);
        assert_eq!(unsent.held(), 0);
    }
}
