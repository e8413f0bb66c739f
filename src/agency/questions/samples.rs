//! Sample pages of the queue.
