//! The configuration of an installed service, which commands find by themselves.

use std::path::{Path, PathBuf};

/// Where `install.sh` puts the configuration. A program that was installed below
/// another root finds the one that was installed with it.
pub fn configuration() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let root = exe.parent().filter(|folder| folder.ends_with("usr/local/bin"));
    let root = root.and_then(|folder| folder.ancestors().nth(3)).unwrap_or(Path::new("/"));
    root.join("etc/seller-platform/seller-platform.toml")
}

/// The file of the configuration, for people.
pub fn shown(file: Option<&Path>) -> String {
    file.map_or("defaults alone (no file)".to_owned(), |file| file.display().to_string())
}
