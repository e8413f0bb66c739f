//! Whatever happens at the marketplace, and in whatever order notifications,
//! readings, faults and restarts come: in the end the mirror has what the
//! marketplace has, in every table and column, and every effect has happened
//! once.
//!
//! `CONVERGENCE_SEED` gives another run, `CONVERGENCE_STEPS` a shorter one. The
//! steps of a seed are always the same; how the platform's threads interleave
//! with them is not.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use serde_json::Value;

use crate::support::chance::{Play, SHOPS};
use crate::support::cron;
use crate::support::site::Site;
use crate::support::truth::Mirror;
use crate::support::wait::until;
use crate::support::world::World;

const SEED: u64 = 20_261_120;
const STEPS: u64 = 2_000;
/// Real time that the workers get to finish.
const PATIENCE: Duration = Duration::from_mins(3);

#[expect(clippy::disallowed_methods, reason = "a play that failed is played again by its seed")]
fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_happens_the_mirror_ends_as_the_marketplace_is() {
    let seed = number("CONVERGENCE_SEED", SEED);
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let mut play = Play::begin(&world, &site, seed);
    let mut done = 0;
    let played = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..number("CONVERGENCE_STEPS", STEPS) {
            done += 1;
            play.step();
        }
        settle(&mut play);
        compare(&play);
    }));
    if let Err(panic) = played {
        eprintln!("--- seed {seed}, step {done}; the last steps:\n{}", play.trail());
        resume_unwind(panic);
    }
}

/// Lets everything that waits run.
#[track_caller]
fn settle(play: &mut Play<'_>) {
    let site = play.site;
    play.calm_down();
    wait_for_quiet(play);
    // A day, in which every area is read more than once.
    for _ in 0..9 {
        site.clock().advance_s(3 * 3_600);
        // A run reads for 20 s at most; the next one continues.
        until("everything had its turn", PATIENCE, || {
            cron::run(site);
            wait_for_quiet(play);
            let left = "SELECT count(*) || '' FROM ml_sync WHERE ended_at IS NULL OR attempts > 0";
            (site.stored(left) == ["0"]).then_some(())
        });
    }
    let failed = site.stored(
        "SELECT topic || ' ' || resource || ' ' || outcome FROM ml_notification WHERE state = 3",
    );
    assert_eq!(failed, [""; 0], "notifications were given up");
}

/// Waits until nothing waits; owners renew lost links.
#[track_caller]
fn wait_for_quiet(play: &mut Play<'_>) {
    until("what waits is worked", PATIENCE, || {
        play.site.clock().advance_s(60);
        play.link_again();
        let waiting = play.site.stored(
            "SELECT ((SELECT count(*) FROM ml_notification WHERE state = 0)
                 + (SELECT count(*) FROM ml_sync WHERE at_once = 1)) || ''",
        );
        (waiting == ["0"]).then_some(())
    });
}

#[track_caller]
fn compare(play: &Play<'_>) {
    let sellers = SHOPS.map(|(id, _)| id);
    let mirror = Mirror::of(play.site);
    let found = mirror.differences(play.world, &sellers);
    assert!(
        found.is_empty(),
        "the mirror differs:\n{}\n--- what was received about it:\n{}",
        found.join("\n"),
        received(&mirror, &found).join("\n")
    );
    // A run in which nothing happens proves nothing.
    let all = mirror.texts(
        "SELECT concat_ws(' ', (SELECT count(*) FROM sale_order), (SELECT count(*) FROM question),
             (SELECT count(*) FROM claim), (SELECT count(*) FROM ml_notification WHERE attempts > 1))",
    );
    let steps = usize::try_from(number("CONVERGENCE_STEPS", STEPS)).unwrap();
    for count in all[0].split(' ') {
        assert!(count.parse::<usize>().unwrap() >= steps / 100, "{all:?}");
    }
    let wrong = play.shown_wrong();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let lost = "SELECT count(*) || '' FROM notification WHERE title = 'Vínculo perdido'";
    let lost: usize = mirror.texts(lost)[0].parse().unwrap();
    assert!(
        lost <= play.losses + play.kills,
        "{lost} links were lost, with {} reasons and {} kills",
        play.losses,
        play.kills
    );
    // A kill after the marketplace's answer and before it is stored is the one
    // moment in which a refresh token is lost without a trace.
    let broken = play.world.violations();
    let (reused, others): (Vec<&Value>, Vec<&Value>) =
        broken.iter().partition(|violation| violation["rule"] == "refresh_reused");
    assert!(others.is_empty(), "{others:#?}");
    assert!(reused.len() <= play.kills, "{reused:#?}");
    play.world.forget_violations();
}

/// The notifications about records that differ, for the message.
fn received(mirror: &Mirror, differences: &[String]) -> Vec<String> {
    let numbers = differences.iter().filter_map(|text| {
        let mut words = text.split(|c: char| !c.is_ascii_digit());
        words.find(|word| word.len() > 7)
    });
    let rows = numbers.flat_map(|number| {
        mirror.texts(&format!(
            "SELECT concat_ws(' ', received_at, topic, resource, 'state', state, 'attempts', attempts, outcome)
             FROM ml_notification WHERE resource LIKE '%{number}' ORDER BY notification_id"
        ))
    });
    rows.collect()
}
