//! A mixed load for a while: memory, handles and the log of the database must not grow
//! with time. Some seconds with all other tests; `tests/run --soak` lasts half an hour.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::figures::table;
use super::notify;
use super::state::{HEAD, State};
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::pause;

/// Looks at the server, after the first.
const LOOKS: u32 = 10;
/// Pause of each of the four callers: together they send some two hundred requests a second.
const PAUSE: Duration = Duration::from_millis(18);
/// Memory that may come later than the first third, when caches and threads are there.
const MORE_MEMORY: u64 = 24 << 20;
/// Most that the log of the database may have.
const MOST_LOG: u64 = 128 << 20;

#[test]
fn a_mixed_load_leaves_memory_and_handles_as_they_were() {
    let seconds = super::setting("PROOF_SOAK_S").map_or(5, |text| text.parse().expect("seconds"));
    let site = Site::builder().unlimited().start();
    let (ana, extension, seller) =
        (site.person("ana"), site.extension("rui"), site.seller("bia").plan("scale"));
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    let again = |work: &dyn Fn(u64)| {
        for turn in 0.. {
            if over.load(Ordering::Acquire) {
                return;
            }
            work(turn);
            sent.fetch_add(1, Ordering::Relaxed);
            pause(PAUSE);
        }
    };
    let again = &again;
    let states = std::thread::scope(|scope| {
        scope.spawn(move || {
            again(&|turn| {
                let page = ["/painel", "/painel/produtos", "/painel/ml", "/perfil"];
                ana.get(page[usize::try_from(turn % 4).unwrap()]).expect(200);
            });
        });
        scope.spawn(move || {
            again(&|turn| {
                if turn % 2 == 0 {
                    seller.get("/api/v1/partner/orders").expect(200);
                } else {
                    extension.get("/api/ext/me").expect(200);
                }
            });
        });
        scope.spawn(|| again(&|turn| assert_eq!(notify(&site, turn), Some(200))));
        scope.spawn(|| {
            again(&|turn| {
                let anyone = site.anonymous();
                if turn % 40 == 0 {
                    let person = site.make_person("eva", "vip");
                    let fields = [("email", &*person.email), ("senha", &*person.password)];
                    anyone.send(Request::new("POST", "/entrar").form(&fields)).expect(303);
                } else {
                    anyone.get("/api/v1/planos").expect(200);
                }
            });
        });
        let states: Vec<State> = (0..=LOOKS)
            .map(|look| {
                let due = Duration::from_secs(seconds) * look / LOOKS;
                pause(due.saturating_sub(begun.elapsed()));
                State::of(&site)
            })
            .collect();
        over.store(true, Ordering::Release);
        states
    });
    let settled = states[usize::try_from(LOOKS / 3).unwrap()];
    let end = states.last().unwrap();
    assert!(end.memory < settled.memory + MORE_MEMORY, "{settled:?} became {end:?}");
    assert!(end.handles <= settled.handles + 16, "{settled:?} became {end:?}");
    assert!(states.iter().all(|state| state.log < MOST_LOG), "{states:#?}");
    let requests = sent.load(Ordering::Relaxed);
    let mut lines = HEAD.map(|head| head.replace("| when", "| second")).to_vec();
    for (look, state) in (0..).zip(&states) {
        lines.push(state.row(&(seconds * look / u64::from(LOOKS)).to_string()));
    }
    lines.extend([String::new(), format!("{requests} requests in {seconds} s, none refused.")]);
    if seconds > 60 {
        table("soak", &lines);
    }
}
