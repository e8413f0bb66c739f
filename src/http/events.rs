//! A body of server-sent events: it stays open, and sends what its channel holds
//! whenever that changes.
//!
//! The channel holds the newest event only, so a caller that reads slowly misses some
//! and holds nothing up. It ends when the sender is dropped, after [`LIFE`], and when the
//! caller is gone or reads nothing (`connection.rs`, `server.rs`). It uses no thread.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Pause after which an empty line says that the connection lives.
const BEAT: Duration = Duration::from_secs(20);
/// Age at which a stream ends, so that the caller is checked anew.
const LIFE: Duration = Duration::from_mins(10);
/// Streams that begin together end over so many seconds.
const SPREAD_S: u64 = 120;

/// The empty line: a comment.
const STILL_HERE: Bytes = Bytes::from_static(b":\n\n");

/// Of the channel, and what it brought; `None` at the end.
type Next = (watch::Receiver<Bytes>, Option<Bytes>);

/// A stream of events that is being sent.
pub struct Events {
    first: Option<Bytes>,
    next: Option<Pin<Box<dyn Future<Output = Next> + Send>>>,
    ends: Instant,
    /// Dropped with the stream.
    held: Vec<Box<dyn Any + Send>>,
}

impl Events {
    /// A stream that begins with `first` and goes on with what `channel` brings. `held`
    /// is kept until it ends.
    pub fn new(first: Bytes, channel: watch::Receiver<Bytes>, held: impl Any + Send) -> Self {
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        // Successive streams get ends that lie apart.
        let apart = BEGUN.fetch_add(37, Ordering::Relaxed) % SPREAD_S;
        let ends = Instant::now() + LIFE + Duration::from_secs(apart);
        Self {
            first: Some(first),
            next: Some(Box::pin(next(channel, ends))),
            ends,
            held: vec![Box::new(held)],
        }
    }

    /// Keeps a value until the stream ends.
    pub fn hold(&mut self, held: impl Any + Send) {
        self.held.push(Box::new(held));
    }

    /// The next event; `None` at the end.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        let Some(waiting) = &mut self.next else { return Poll::Ready(None) };
        let (channel, event) = ready!(waiting.as_mut().poll(cx));
        self.next = event.is_some().then(|| Box::pin(next(channel, self.ends)) as _);
        Poll::Ready(event)
    }
}

async fn next(mut channel: watch::Receiver<Bytes>, ends: Instant) -> Next {
    let event = tokio::select! {
        changed = channel.changed() => {
            changed.ok().map(|()| channel.borrow_and_update().clone())
        }
        () = sleep(BEAT) => Some(STILL_HERE),
        () = sleep_until(ends) => None,
    };
    (channel, event)
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("events")
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn the_newest_event_comes_and_the_end_of_the_channel_ends_it() {
        let (told, channel) = watch::channel(Bytes::new());
        let held = Arc::new(());
        let mut events = Events::new("a".into(), channel, Arc::clone(&held));
        let mut read = async || poll_fn(|cx| events.poll_event(cx)).await;
        assert_eq!(read().await.unwrap(), "a");
        told.send_replace("b".into());
        told.send_replace("c".into());
        assert_eq!(read().await.unwrap(), "c");
        drop(told);
        assert_eq!((read().await, read().await), (None, None));
        drop(events);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
