//! Plans, teachers, courses, lessons and meets.

mod classroom; // Courses, lessons and meets as students see them.
mod managing; // Teachers, courses, lessons and meets, as staff manages them.
mod plans; // What a plan grants, and what is offered to who has no right.
mod public; // Public answers: shapes, freshness, and memory.
