//! The queue against a model of it.
