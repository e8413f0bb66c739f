//! Password hashing: argon2id on one thread of its own.
//!
//! The thread runs only when no other thread needs the processor, and has its
//! own buffer. So logins neither slow other requests down nor use more memory
//! than one hash needs. Its queue is short: when it is full, callers are told
//! to retry. The buffer is freed within a minute without logins.
//! Decisions accounts-1, accounts-4.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use subtle::ConstantTimeEq as _;
use thread_priority::unix::NormalThreadSchedulePolicy;
use thread_priority::{ThreadPriority, ThreadSchedulePolicy};

use crate::base::secrets;
use crate::http::Problem;

/// What to correct in a password.
pub const LENGTH_WORDS: &str = "Use de 10 a 200 caracteres.";
/// Memory of one hash in KiB, passes and lanes (OWASP's first choice).
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Highest parameters that a stored hash may have.
const MAX_MEMORY_KIB: u32 = 65_536;
const MAX_PASSES: u32 = 6;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;
/// Logins that may wait.
const QUEUE: usize = 32;
/// How long the buffer is kept without logins.
const KEEP_BUFFER: Duration = Duration::from_secs(30);
/// A block of this size is allocated and freed after each wait without logins:
/// the allocator returns memory that was freed earlier to the system only when
/// more is freed.
const NUDGE: usize = 1 << 20;

/// Fewest and most characters of a password.
pub const LENGTH: std::ops::RangeInclusive<usize> = 10..=200;

type Job = Box<dyn FnOnce(&mut Hasher) + Send>;

/// Sends jobs to the password thread.
pub struct Passwords {
    jobs: SyncSender<Job>,
}

impl Passwords {
    /// Starts the thread. It ends when this value is dropped.
    pub fn start() -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        std::thread::Builder::new().name("passwords".to_owned()).spawn(move || work(&queue))?;
        Ok(Self { jobs })
    }

    /// Runs a job on the password thread and waits for it.
    pub fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Hasher) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, result) = sync_channel(1);
        let job: Job = Box::new(move |hasher| {
            // The send fails when the caller no longer waits.
            let _ = answer.send(job(hasher));
        });
        let busy = || Problem::unavailable("too many logins at once; try again in a moment", 2);
        self.jobs.try_send(job).map_err(|_| busy())?;
        result.recv().map_err(Problem::internal)
    }
}

/// Puts this thread into the scheduling class for idle work: a request that
/// wakes up gets the processor at once, and does not wait for the end of a time
/// slice.
fn run_when_idle() -> Result<(), thread_priority::Error> {
    thread_priority::set_thread_priority_and_policy(
        thread_priority::thread_native_id(),
        ThreadPriority::Min,
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle),
    )
}

fn work(queue: &Receiver<Job>) {
    if let Err(error) = run_when_idle() {
        tracing::warn!(%error, "the password thread may slow requests down");
    }
    let mut hasher = Hasher::default();
    loop {
        match queue.recv_timeout(KEEP_BUFFER) {
            Ok(job) => {
                let job = std::panic::AssertUnwindSafe(|| job(&mut hasher));
                if std::panic::catch_unwind(job).is_err() {
                    tracing::error!("a login panicked");
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                drop(std::hint::black_box(Vec::<u8>::with_capacity(NUDGE)));
                hasher.memory = Vec::new();
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Hashes and verifies in a reused buffer.
#[derive(Default)]
pub struct Hasher {
    memory: Vec<Block>,
}

impl Hasher {
    /// The hash of a new password, in PHC form.
    pub fn hash(&mut self, password: &str) -> String {
        let salt: [u8; SALT_BYTES] = secrets::random();
        let digest = self
            .digest(password, &salt, (MEMORY_KIB, PASSES, LANES))
            .expect("our own parameters are valid");
        let (salt, digest) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(digest));
        format!("$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${salt}${digest}")
    }

    /// Whether a password belongs to a stored hash. Without a stored hash the
    /// same work is done, so that the time does not show whether an account
    /// exists.
    pub fn verify(&mut self, password: &str, stored: Option<&str>) -> bool {
        let parsed = stored.and_then(parse);
        let known = parsed.is_some();
        let (costs, salt, digest) = parsed.unwrap_or((
            (MEMORY_KIB, PASSES, LANES),
            vec![0; SALT_BYTES],
            vec![0; HASH_BYTES],
        ));
        match self.digest(password, &salt, costs) {
            Some(found) => bool::from(found.ct_eq(&digest[..])) && known,
            None => false,
        }
    }

    fn digest(
        &mut self,
        password: &str,
        salt: &[u8],
        costs: (u32, u32, u32),
    ) -> Option<[u8; HASH_BYTES]> {
        let (memory, passes, lanes) = costs;
        let params = Params::new(memory, passes, lanes, Some(HASH_BYTES)).ok()?;
        let blocks = params.block_count();
        if self.memory.len() < blocks {
            self.memory.resize(blocks, Block::default());
        }
        let mut digest = [0; HASH_BYTES];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into_with_memory(
                password.as_bytes(),
                salt,
                &mut digest,
                &mut self.memory[..blocks],
            )
            .ok()?;
        Some(digest)
    }
}

type Parsed = ((u32, u32, u32), Vec<u8>, Vec<u8>);

/// The parts of a PHC string; `None` when its parameters exceed our bounds.
fn parse(stored: &str) -> Option<Parsed> {
    let mut parts = stored.strip_prefix("$argon2id$v=19$")?.split('$');
    let (costs, salt, digest) = (parts.next()?, parts.next()?, parts.next()?);
    let mut costs = costs.split(',');
    let mut cost = |name: &str| costs.next()?.strip_prefix(name)?.parse::<u32>().ok();
    let costs = (cost("m=")?, cost("t=")?, cost("p=")?);
    let salt = STANDARD_NO_PAD.decode(salt).ok()?;
    let digest = STANDARD_NO_PAD.decode(digest).ok()?;
    let bounded = costs.0 <= MAX_MEMORY_KIB && costs.1 <= MAX_PASSES && costs.2 == LANES;
    (bounded && digest.len() == HASH_BYTES && parts.next().is_none())
        .then_some((costs, salt, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let mut hasher = Hasher::default();
        let stored = hasher.hash("correta-e-longa");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(hasher.verify("correta-e-longa", Some(&stored)));
        assert!(!hasher.verify("Correta-e-longa", Some(&stored)));
        assert!(!hasher.verify("correta-e-longa", None));
        assert_ne!(hasher.hash("correta-e-longa"), stored);
    }

    #[test]
    fn costs_out_of_bounds_are_not_computed() {
        let mut hasher = Hasher::default();
        let stored = hasher.hash("correta-e-longa");
        for (ours, theirs) in [("m=19456", "m=4000000"), ("t=2", "t=100"), ("p=1", "p=8")] {
            assert!(!hasher.verify("correta-e-longa", Some(&stored.replace(ours, theirs))));
        }
        assert_eq!(hasher.memory.len(), 19_456);
    }

    #[test]
    fn hashes_of_other_programs_verify() {
        // Made with the reference tool: argon2 "somesalt" -id -t 2 -k 65536 -p 1, password "password".
        let stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(Hasher::default().verify("password", Some(stored)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn hashing_gives_way_to_everything_else() {
        let stat = Passwords::start()
            .unwrap()
            .run(|_| std::fs::read_to_string("/proc/thread-self/stat").unwrap())
            .unwrap();
        // proc_pid_stat(5): field 41 is the policy, counted here from field 3; SCHED_IDLE is 5.
        let after_name = stat.rsplit_once(") ").unwrap().1;
        assert_eq!(after_name.split(' ').nth(38), Some("5"), "{stat}");
    }

    #[test]
    fn a_full_queue_says_so() {
        let passwords = Passwords::start().unwrap();
        let (release, gate) = sync_channel::<()>(0);
        let (entered, inside) = sync_channel::<()>(0);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                passwords.run(move |_| {
                    entered.send(()).unwrap();
                    gate.recv().unwrap();
                })
            });
            inside.recv().unwrap();
            let waiting: Vec<_> =
                (0..QUEUE).map(|_| passwords.jobs.try_send(Box::new(|_| ()))).collect();
            assert!(waiting.iter().all(Result::is_ok));
            assert_eq!(passwords.run(|_| ()).unwrap_err().code, crate::http::Code::Unavailable);
            release.send(()).unwrap();
            first.join().unwrap().unwrap();
        });
    }
}
