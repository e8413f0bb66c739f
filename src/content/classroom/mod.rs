//! The students' side of courses and lessons: what a role may see, what the
//! student has done, and how a video is shown.

pub mod pages;
pub mod store;
pub mod video;
pub mod views;

crate::row! {
    /// A course on a student's list.
    #[derive(Clone, Debug)]
    pub struct StudentCourse {
        pub course_id: i64 = "course.course_id",
        pub title: String = "course.title",
        pub description: String = "course.description",
        pub lessons: u32 = "(SELECT count(*) FROM lesson WHERE lesson.course_id = course.course_id)",
        /// Lessons that the student has marked.
        pub done: u32 = "(SELECT count(*) FROM lesson JOIN lesson_done
         ON lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id
     WHERE lesson.course_id = course.course_id)",
        /// The first lesson that is not marked.
        pub next: Option<i64> = "(SELECT lesson.lesson_id FROM lesson
     WHERE lesson.course_id = course.course_id AND NOT EXISTS
         (SELECT 1 FROM lesson_done
          WHERE lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id)
     ORDER BY lesson.position, lesson.lesson_id LIMIT 1)",
    }
}

crate::row! {
    /// A lesson of a course, as one student sees it.
    #[derive(Clone, Debug)]
    pub struct StudentLesson {
        pub lesson_id: i64 = "lesson.lesson_id",
        pub title: String = "lesson.title",
        /// Who gives it.
        pub teacher: Option<String> = "teacher.name",
        pub video_url: String = "lesson.video_url",
        pub done: bool = "lesson_done.done_at IS NOT NULL",
    }
}
