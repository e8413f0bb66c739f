//! Telling people of an announcement, in small jobs of the writer.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::{Announcement, NOTICE_LETTERS, State, store};
use crate::app::App;
use crate::base::{Stop, UserId, shortened, worker};
use crate::db::{DbError, Lane, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::{MessageKind, NotificationKind};

/// How long the worker sleeps while nothing is to be sent, and while something
/// waits for its time.
const IDLE: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_secs(1);
/// Pause after a job failed, such as for want of space.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
/// People that one job tells at most.
const PIECE: usize = 250;

/// Starts the worker. It continues an announcement that a stop interrupted.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let app = Arc::clone(app);
    worker::start("announcements", stop, move |stop| {
        let mut rings = 0;
        while !stop.is_set() {
            match step(&app) {
                Ok(Next::More) => {}
                Ok(Next::Wait(at_most)) => {
                    (rings, _) = app.work.announcements.wait_ring(rings, at_most);
                }
                Err(error) => {
                    if !error.is_told() {
                        tracing::warn!(%error, "an announcement waits");
                    }
                    stop.wait(AFTER_FAILURE);
                }
            }
        }
    })
}

/// What the worker does next.
enum Next {
    More,
    Wait(Duration),
}

fn step(app: &App) -> Result<Next> {
    let (due, next_at) =
        app.db.read(Lane::Slow, |tx| Ok::<_, DbError>((store::due(tx)?, store::next_at(tx)?)))?;
    if due.is_none() {
        return Ok(Next::Wait(if next_at.is_some() { LOOK } else { IDLE }));
    }
    let configured = ChannelSet::of(&app.config);
    app.db.write_piece(move |tx| tell_some(tx, configured))?;
    Ok(Next::More)
}

/// Tells the next people of the announcement that is due.
fn tell_some(tx: &WriteTx<'_>, configured: ChannelSet) -> Result<()> {
    // Read again: it may have been cancelled.
    let Some(one) = store::due(tx)? else { return Ok(()) };
    if one.state == State::Scheduled {
        store::begin(tx, &one)?;
    }
    let people = store::next_people(tx, &one, PIECE)?;
    let (cause, page) = (format!("comunicado:{}", one.id), one.reading_page());
    let text = notice_text(&one.body);
    let (mut at, mut told, mut messages) = (UserId(one.position), 0, 0);
    let mut is_last = people.len() < PIECE;
    for (index, person) in people.iter().enumerate() {
        let channels = messages::tell(tx, *person, news(&one, configured, (&cause, &text, &page)))?;
        told += i64::from(store::note_told(tx, one.id, *person, &cause)?);
        messages += i64::try_from(channels.len()).unwrap_or(0);
        at = *person;
        if tx.is_spent() && index + 1 < people.len() {
            is_last = false;
            break;
        }
    }
    store::move_on(tx, one.id, (at, told, messages))?;
    if is_last { store::finish(tx, one.id) } else { Ok(()) }
}

fn news<'n>(
    one: &'n Announcement,
    configured: ChannelSet,
    (cause, text, page): (&'n str, &'n str, &'n str),
) -> News<'n> {
    let among = one.channel_set();
    let base = if among.all().next().is_none() {
        News::notice(NotificationKind::Sistema, cause)
    } else {
        News::message(MessageKind::Announcement, configured, cause)
    };
    News {
        title: &one.title,
        text,
        reference: Some(page),
        params: json!({ "announcement_id": one.id }),
        among: Some(among),
        ..base
    }
}

/// The text as the notice shows it: its beginning, in one line.
fn notice_text(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = shortened(&line, NOTICE_LETTERS);
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::RowWindow;
    use crate::fixture::{TestApp, config};

    #[test]
    fn a_notice_shows_the_beginning_in_one_line() {
        assert_eq!(notice_text("Um\n\ndois  três"), "Um dois três");
        let long = notice_text(&"palavra ".repeat(100));
        assert!(long.ends_with('…') && long.chars().count() <= NOTICE_LETTERS + 1, "{long}");
    }

    /// Students 1 to `count`, every second of them with the plan `vip`; 3 is suspended.
    fn world(count: i64) -> TestApp {
        let world = TestApp::new(config(&[]));
        world.write(move |tx| {
            for number in 1..=count {
                let role = if number % 2 == 0 { "vip" } else { "pro" };
                let suspended = (number == 3).then(|| tx.now());
                tx.run(
                    "INSERT INTO user (user_id, email, name, role, created_at, suspended_at)
                     VALUES (?1, ?2, 'Ana', ?3, ?4, ?5)",
                    (number, format!("{number}@example.com"), role, tx.now(), suspended),
                )?;
            }
            tx.run(
                "INSERT INTO announcement (title, body, roles, channels, state, by_name, created_at, send_at)
                 VALUES ('Olá', 'Texto', '', '', 2, 'Bia', 1, 1),
                        ('Só VIP', 'Texto', 'vip', '', 2, 'Bia', 1, 2)",
                [],
            )
        });
        world
    }

    #[test]
    fn everybody_is_told_once_in_pieces() {
        let world = world(600);
        let mut jobs = 0;
        while world.read(store::due).is_some() {
            world.write(|tx| tell_some(tx, ChannelSet::default()));
            jobs += 1;
        }
        assert!(jobs >= 5, "{jobs} jobs");
        let [all, vip] = [1, 2].map(|id| world.read(|tx| store::one(tx, id)).unwrap());
        assert_eq!((all.state, all.audience, all.told), (State::Sent, 599, 599));
        assert_eq!((vip.state, vip.audience, vip.told), (State::Sent, 300, 300));
        let notices: i64 = world.read(|tx| tx.value("SELECT count(*) FROM notification", []));
        assert_eq!(notices, 899);
    }

    #[test]
    fn who_goes_while_it_is_sent_is_left_out() {
        let world = world(600);
        world.write(|tx| tell_some(tx, ChannelSet::default()));
        let first = world.read(|tx| store::one(tx, 1)).unwrap();
        assert!((1..=250).contains(&first.told), "{first:?}");
        world.write(|tx| tx.run("UPDATE user SET suspended_at = 1 WHERE user_id = 500", []));
        // One who was told, and one who was not.
        world.write(|tx| tx.run("DELETE FROM user WHERE user_id IN (1, 510)", []));
        while world.read(store::due).is_some() {
            world.write(|tx| tell_some(tx, ChannelSet::default()));
        }
        let all = world.read(|tx| store::one(tx, 1)).unwrap();
        assert_eq!((all.state, all.told), (State::Sent, 597));
        assert_eq!(world.read(|tx| store::read_and_unread(tx, 1)), (0, 596));
    }

    #[test]
    fn one_that_is_stopped_tells_nobody_else() {
        let world = world(600);
        world.write(|tx| tell_some(tx, ChannelSet::default()));
        let told = world.read(|tx| store::one(tx, 1)).unwrap().told;
        assert!(world.write(|tx| store::cancel(tx, 1)));
        assert!(!world.write(|tx| store::cancel(tx, 1)), "it is over");
        assert!(!world.write(|tx| store::delete(tx, 1)), "somebody has it");
        while world.read(store::due).is_some() {
            world.write(|tx| tell_some(tx, ChannelSet::default()));
        }
        let [all, vip] = [1, 2].map(|id| world.read(|tx| store::one(tx, id)).unwrap());
        assert_eq!((all.state, all.told), (State::Cancelled, told));
        assert_eq!((vip.state, vip.told), (State::Sent, 300));
    }

    #[test]
    fn reading_the_notice_counts_once() {
        let world = world(4);
        while world.read(store::due).is_some() {
            world.write(|tx| tell_some(tx, ChannelSet::default()));
        }
        for _ in 0..2 {
            world.write(|tx| {
                let (_, notice) = store::for_reader(tx, 1, UserId(2))?.unwrap();
                messages::store::mark_read(tx, UserId(2), &[notice])
            });
        }
        assert_eq!(world.read(|tx| store::one(tx, 1)).unwrap().readers, 1);
        assert_eq!(world.read(|tx| store::one(tx, 2)).unwrap().readers, 0);
        let readers = world.read(|tx| store::people(tx, 1, true, RowWindow::first(20)));
        assert_eq!(readers.iter().map(|one| one.user.0).collect::<Vec<_>>(), [2]);
        assert_eq!(world.read(|tx| store::people(tx, 1, false, RowWindow::first(20))).len(), 2);
    }
}
