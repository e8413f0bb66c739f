//! `check` of HTTPS of our own: its settings, its certificate, its port, its directory.

use std::os::unix::fs::PermissionsExt as _;

use super::Context;
use super::check::{Finding, Topic, Verdict, can_listen};
use crate::config::Config;
use crate::https::end::{FEW_DAYS, days_left};
use crate::https::{self, Facts, Source};

const WHAT: Topic = Topic("https");

/// Nothing without HTTPS of our own.
pub(super) fn findings(context: &Context) -> Vec<Finding> {
    let config = context.config();
    let (Some(source), Some(seen)) = (Source::of(&config.server), https::look(config)) else {
        return Vec::new();
    };
    let mut findings = settings(config);
    let unnamed = seen.as_ref().ok().and_then(|found| unnamed(config, &found.as_ref()?.facts));
    findings.push(match seen {
        Err(fault) => WHAT.bad(format!(
            "{fault}; until that is mended, plain HTTP is served, or the certificate before"
        )),
        Ok(None) => {
            let text = "there is no certificate yet; a running server asks the directory for one";
            WHAT.note(text)
        }
        Ok(Some(certificate)) => end(context, &source, &certificate.facts),
    });
    findings.extend(unnamed);
    findings.extend(readable(&source));
    let port = can_listen(context, config.server.https_listen, "server.https_listen");
    findings.extend(port.err().map(|problem| WHAT.bad(problem)));
    findings
}

fn settings(config: &Config) -> Vec<Finding> {
    let server = &config.server;
    let mut findings = Vec::new();
    if !server.acme_domains.is_empty() && (server.tls_cert.is_some() || server.tls_key.is_some()) {
        let text = "both server.tls_cert and server.acme_domains are set: the files are served, and no directory is asked";
        findings.push(WHAT.note(text));
    }
    if server.base_url.starts_with("http://") {
        findings.push(WHAT.note(format!(
            "server.base_url is {}, and HTTPS is served: set it to the https:// address, or leave it empty",
            server.base_url
        )));
    }
    findings
}

/// That the certificate does not hold for our own name.
fn unnamed(config: &Config, facts: &Facts) -> Option<Finding> {
    let host = config.server.base_url.strip_prefix("https://")?;
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let domain = host.find('.').map(|at| &host[at..]);
    let below = |name: &str| domain.is_some() && name.strip_prefix('*') == domain;
    let is_named = facts.names.iter().any(|name| name == host || below(name));
    (!is_named).then(|| {
        let names = facts.names.join(", ");
        WHAT.note(format!("the certificate is for {names}, and not for {host} of server.base_url: browsers refuse it"))
    })
}

/// That others can read the key.
fn readable(source: &Source) -> Option<Finding> {
    let Source::Files { key, .. } = source else {
        return None;
    };
    let mode = std::fs::metadata(key).ok()?.permissions().mode() & 0o777;
    (mode & 0o007 != 0).then(|| {
        WHAT.note(format!(
            "{mode:04o}: everybody on this machine can read {}; run `chmod o=` on it",
            key.display()
        ))
    })
}

/// The names and the end of the certificate.
fn end(context: &Context, source: &Source, facts: &Facts) -> Finding {
    let now = context.clock.now();
    let until = context.config().server.timezone.spaced(facts.until);
    let names = facts.names.join(", ");
    let way = match source {
        Source::Directory => {
            "a running server renews it when a third of its time is left; see its log"
        }
        Source::Files { .. } => "put a new one into server.tls_cert and server.tls_key",
    };
    let (verdict, text) = match days_left(facts, now) {
        ..0 => (Verdict::Bad, format!("the certificate for {names} ended {until}; {way}")),
        left @ 0..=FEW_DAYS => (
            Verdict::Note,
            format!("the certificate for {names} ends {until}, in {left} days; {way}"),
        ),
        left => (Verdict::Good, format!("certificate for {names} until {until}, {left} days")),
    };
    WHAT.finding(verdict, text)
}
