//! A connection of either kind: plain, or with our own TLS in between.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// The bytes of a peer, and those to it.
pub enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Io {
    /// Whether our own TLS is in between.
    pub const fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

/// Calls a function of whichever stream it is.
macro_rules! with {
    ($io:expr, $function:path $(, $with:expr)*) => {
        match $io.get_mut() {
            Io::Plain(io) => $function(Pin::new(io) $(, $with)*),
            Io::Tls(io) => $function(Pin::new(&mut **io) $(, $with)*),
        }
    };
}

impl AsyncRead for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with!(self, AsyncRead::poll_read, cx, out)
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with!(self, AsyncWrite::poll_write, cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with!(self, AsyncWrite::poll_write_vectored, cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, AsyncWrite::poll_flush, cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, AsyncWrite::poll_shutdown, cx)
    }
}
