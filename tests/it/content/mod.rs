//! Plans, teachers, courses, lessons and meets.

pub mod classroom; // Courses, lessons and meets as students see them.
pub mod managing; // Teachers, courses, lessons and meets, as staff manages them.
pub mod public; // Public answers: shapes, freshness, and memory.
