//! Sample pages of questions.
