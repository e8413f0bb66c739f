//! Bodies of answers: bytes in memory, or a file that is read as it is sent.
//!
//! A file is read piece by piece on the blocking pool, the next piece when the
//! caller took the last, so a slow caller costs one piece of memory. A caller
//! that takes nothing for half a minute loses its connection (`wire.rs`), and
//! with it the body; whatever the body held is let go of then.

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::task::JoinHandle;

/// Bytes of a piece.
const PIECE: usize = 256 * 1024;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    Bytes(Bytes),
    File(Box<FileBody>),
}

impl Body {
    /// No body.
    pub const fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }

    /// What is in memory; nothing of a file.
    #[cfg(test)]
    pub fn in_memory(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::File(_) => &[],
        }
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
            Self::File(file) => {
                file.poll_piece(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::File(file) => file.left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.left,
        })
    }
}

/// A file on its way to a caller.
pub struct FileBody {
    reading: Reading,
    /// Bytes that are still to be sent.
    left: u64,
    /// Let go of when all is sent or the caller is gone.
    _held: Box<dyn Any + Send>,
}

enum Reading {
    /// `None` after an error.
    Idle(Option<File>),
    Piece(JoinHandle<(File, io::Result<Bytes>)>),
}

impl FileBody {
    /// The first `bytes` bytes of a file. `held` is kept until then.
    pub fn new(file: File, bytes: u64, held: impl Any + Send) -> Self {
        Self { reading: Reading::Idle(Some(file)), left: bytes, _held: Box::new(held) }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        loop {
            match &mut self.reading {
                Reading::Idle(file) => {
                    let Some(file) = file.take() else {
                        return Poll::Ready(None);
                    };
                    let length = usize::try_from(self.left).map_or(PIECE, |left| left.min(PIECE));
                    self.reading =
                        Reading::Piece(tokio::task::spawn_blocking(move || read(file, length)));
                }
                Reading::Piece(piece) => {
                    let (file, piece) = match ready!(Pin::new(piece).poll(cx)) {
                        Ok((file, piece)) => (Some(file), piece),
                        Err(error) => (None, Err(io::Error::other(error))),
                    };
                    self.reading = Reading::Idle(file.filter(|_| piece.is_ok()));
                    if let Ok(piece) = &piece {
                        self.left -= piece.len() as u64;
                    }
                    return Poll::Ready(Some(piece));
                }
            }
        }
    }
}

fn read(mut file: File, length: usize) -> (File, io::Result<Bytes>) {
    let mut piece = vec![0; length];
    let read = file.read_exact(&mut piece);
    (file, read.map(|()| piece.into()))
}

impl fmt::Debug for FileBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a file, {} bytes left", self.left)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};
    use std::sync::Arc;

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
        let body = FileBody::new(file(&bytes), bytes.len() as u64, Arc::clone(&held));
        let mut body = Body::File(Box::new(body));
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
        let mut body = Body::File(Box::new(FileBody::new(file(b"abc"), 4, ())));
        run(async {
            let frame = body.frame().await.unwrap();
            assert_eq!(frame.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(body.frame().await.is_none());
        });
    }
}
