//! What the student's pages of the program print.
