//! How much memory a child process has, and a limit on it.

use std::fs;
use std::path::{Path, PathBuf};

/// The most memory that a process has had resident since it started, in bytes,
/// without the code of its executable: a build for tests has thirty megabytes
/// more of it than one that is installed.
#[track_caller]
pub fn peak_resident(pid: u32) -> u64 {
    without_code(pid, "VmHWM:")
}

/// The same for this moment.
#[track_caller]
pub fn resident(pid: u32) -> u64 {
    without_code(pid, "VmRSS:")
}

#[track_caller]
fn without_code(pid: u32, figure: &str) -> u64 {
    let of = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).expect("it lives");
    let status = of("status");
    let all = status.lines().find_map(|line| line.strip_prefix(figure).map(kilobytes));
    let executable = fs::read_link(format!("/proc/{pid}/exe")).expect("it lives");
    let executable = executable.to_str().expect("a path of UTF-8");
    // A mapping has a line with its file, and then one for each figure.
    let mut is_code = false;
    let mut code = 0;
    for line in of("smaps").lines() {
        if let Some(resident) = line.strip_prefix("Rss:") {
            code += if is_code { kilobytes(resident) } else { 0 };
        } else if line.as_bytes()[0].is_ascii_hexdigit() && line.contains('-') {
            is_code = line.ends_with(executable);
        }
    }
    all.expect("a figure") - code
}

/// A figure such as `  1234 kB` in bytes.
fn kilobytes(text: &str) -> u64 {
    text.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// A control group that kills its process when it needs more than a limit. It
/// is removed when this value is dropped, which must be after the process
/// ended.
pub struct Ceiling(PathBuf);

impl Ceiling {
    /// Limits a running process, where this machine lets us make groups;
    /// elsewhere the tests rely on [`peak_resident`] alone.
    pub fn over(pid: u32, bytes: u64) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let (folder, limit) = own.lines().find_map(|line| {
            // `4:memory:/path` in the first version of control groups, `0::/path` in the second.
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let path = path.trim_start_matches('/');
            if controllers.split(',').any(|name| name == "memory") {
                Some((Path::new("/sys/fs/cgroup/memory").join(path), "memory.limit_in_bytes"))
            } else if controllers.is_empty() {
                let folder = Path::new("/sys/fs/cgroup").join(path);
                folder.join("memory.max").exists().then_some((folder, "memory.max"))
            } else {
                None
            }
        })?;
        let folder = folder.join(format!("seller-platform-{pid}"));
        fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        fs::write(group.0.join(limit), bytes.to_string()).ok()?;
        fs::write(group.0.join("cgroup.procs"), pid.to_string()).ok()?;
        Some(group)
    }
}

impl Drop for Ceiling {
    fn drop(&mut self) {
        // A group with a process in it cannot be removed; it ends with the machine.
        fs::remove_dir(&self.0).ok();
    }
}
