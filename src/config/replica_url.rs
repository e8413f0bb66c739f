//! `replica.url`: where the replica is.

use std::fmt;

use super::values::Parsed;

/// Where a replica is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaUrl {
    /// `s3://BUCKET/PREFIX`
    S3 { bucket: String, prefix: String },
    /// `file:///FOLDER`
    Folder(String),
    /// `sftp://USER@HOST:PORT/FOLDER`
    Sftp { user: String, host: String, folder: String },
}

impl fmt::Display for ReplicaUrl {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::S3 { bucket, prefix } => {
                let slash = if prefix.is_empty() { "" } else { "/" };
                write!(to, "s3://{bucket}{slash}{prefix}")
            }
            Self::Folder(folder) => write!(to, "file://{folder}"),
            Self::Sftp { user, host, folder } => write!(to, "sftp://{user}@{host}{folder}"),
        }
    }
}

/// The rule of `replica.url`; empty: there is no replica.
pub fn replica_url(text: &str) -> Parsed<Option<ReplicaUrl>> {
    const PROBLEM: &str =
        "must be s3://BUCKET/PREFIX, file:///FOLDER or sftp://USER@HOST/FOLDER, without a password";
    if text.is_empty() {
        return Ok(None);
    }
    let (scheme, rest) = text.split_once("://").ok_or(PROBLEM)?;
    let is_odd = |c: char| c.is_control() || c == '?' || c == '#' || c == '%';
    if rest.contains(is_odd) || rest.split('/').any(|part| part == "..") {
        return Err(PROBLEM);
    }
    let rest = rest.trim_end_matches('/');
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let found = match scheme {
        "s3" if is_host(host) => ReplicaUrl::S3 {
            bucket: host.to_owned(),
            prefix: path.trim_start_matches('/').to_owned(),
        },
        "file" if host.is_empty() && path.len() > 1 => ReplicaUrl::Folder(path.to_owned()),
        "sftp" if path.len() > 1 => {
            let (user, host) = host.split_once('@').ok_or(PROBLEM)?;
            let (name, port) = host.split_once(':').unwrap_or((host, "22"));
            if user.is_empty()
                || user.contains(':')
                || !is_host(name)
                || port.parse::<u16>().is_err()
            {
                return Err(PROBLEM);
            }
            ReplicaUrl::Sftp {
                user: user.to_owned(),
                host: format!("{name}:{port}"),
                folder: path.to_owned(),
            }
        }
        _ => return Err(PROBLEM),
    };
    Ok(Some(found))
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_an_address_are_read_and_shown_again() {
        for text in
            ["s3://loja/um/dois", "s3://loja", "file:///srv/replica", "sftp://ana@host:2222/copia"]
        {
            assert_eq!(replica_url(text).unwrap().unwrap().to_string(), text);
        }
        let short = replica_url("sftp://ana@host/copia/").unwrap().unwrap();
        assert_eq!(short.to_string(), "sftp://ana@host:22/copia");
        assert_eq!(replica_url("").unwrap(), None);
        for text in [
            "/srv/replica",
            "file://srv/x",
            "file:///",
            "s3://",
            "s3://a?b=c",
            "gs://a/b",
            "sftp://ana:senha@host/x",
            "sftp://host/x",
            "sftp://ana@host",
            "sftp://ana@host:x/y",
            "file:///srv/../etc",
        ] {
            assert!(replica_url(text).is_err(), "{text}");
        }
    }
}
