//! The configuration of an installed service, which commands find by themselves.

use std::path::{Path, PathBuf};

/// Where `install.sh` puts the configuration. A program that was installed below
/// another root finds the one that was installed with it.
pub fn configuration() -> PathBuf {
    root().join("etc/seller-platform/seller-platform.toml")
}

/// The root below which this program was installed.
fn root() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let root = exe.parent().filter(|folder| folder.ends_with("usr/local/bin"));
    root.and_then(|folder| folder.ancestors().nth(3)).unwrap_or(Path::new("/")).to_owned()
}

/// Whether the unit of an installed service, of `install.sh` or of the package, gives it
/// ports below 1024.
pub fn gives_low_ports() -> bool {
    let folders = ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];
    let units = folders.map(|folder| root().join(folder).join("seller-platform.service"));
    // The first one that is there is the one in force.
    let unit = units.iter().find_map(|unit| std::fs::read_to_string(unit).ok());
    let gives = |line: &str| {
        line.strip_prefix("AmbientCapabilities=")
            .is_some_and(|given| given.split_whitespace().any(|one| one == "CAP_NET_BIND_SERVICE"))
    };
    unit.is_some_and(|unit| unit.lines().any(gives))
}

/// The file of the configuration, for people.
pub fn shown(file: Option<&Path>) -> String {
    file.map_or("defaults alone (no file)".to_owned(), |file| file.display().to_string())
}
