//! When the end of a certificate is to be told.

use super::x509::Facts;
use super::{CertificateStatus, Https};
use crate::app::App;
use crate::base::{DAY_S, Instant};
use crate::db::Result;
use crate::messages::alerts::{self, Alert};
use crate::messages::choices::ChannelSet;
use crate::services::Services;

/// Days before the end at which it is told when no newer certificate came.
const STEPS: [i64; 3] = [3, 10, 20];
/// Days before the end from which it is pointed out.
pub const FEW_DAYS: i64 = 20;

/// Full days until the end; negative when it is over.
pub fn days_left(facts: &Facts, now: Instant) -> i64 {
    facts.until.since(now).div_euclid(DAY_S)
}

/// Whether a newer certificate should be there: a third of the lifetime is left.
pub fn is_late(facts: &Facts, now: Instant) -> bool {
    facts.until.since(now) <= facts.until.since(facts.from) / 3
}

/// The step that is to be told now.
fn step(status: &CertificateStatus, is_renewed: bool, now: Instant) -> Option<(Instant, i64)> {
    let facts = status.served.as_ref()?;
    // A directory's is told when it could not be renewed, that of a file when nobody
    // did. Of one that lives for days only, twenty days say nothing.
    let is_missed = if is_renewed { status.fault.is_some() } else { true };
    let left = facts.until.since(now);
    let step = STEPS.into_iter().find(|days| left <= days * DAY_S)?;
    (is_missed && is_late(facts, now)).then_some((facts.until, step))
}

/// Tells administrators what was not told yet.
pub fn tell(app: &App, https: &Https, told: &mut Option<(Instant, i64)>) {
    let now = app.clock.now();
    let status = https.status();
    let due = step(&status, https.is_renewed(), now);
    if due.is_none() || due == *told {
        return;
    }
    let Some((until, step)) = due else { return };
    match alert(app, https, &status, until, step, now) {
        Ok(()) => *told = due,
        Err(error) if error.is_told() => {}
        Err(error) => tracing::warn!(%error, "administrators were not told"),
    }
}

fn alert(
    services: &Services,
    https: &Https,
    status: &CertificateStatus,
    until: Instant,
    step: i64,
    now: Instant,
) -> Result<()> {
    let channel_set = ChannelSet::of(&services.config);
    let left = status.served.as_ref().map_or(0, |facts| days_left(facts, now));
    let title = match left {
        ..0 => "O certificado HTTPS venceu".to_owned(),
        0 => "O certificado HTTPS vence em menos de um dia".to_owned(),
        1 => "O certificado HTTPS vence em 1 dia".to_owned(),
        left => format!("O certificado HTTPS vence em {left} dias"),
    };
    let end = services.zone().page(until);
    let detail = match &status.fault {
        Some(fault) if https.is_renewed() => {
            format!("Vale até {end}, e a renovação falha. O último motivo: {fault}.")
        }
        Some(fault) => {
            format!("Vale até {end}, e o arquivo novo não serve: {fault}.")
        }
        None => format!(
            "Vale até {end}. Ponha um novo nos arquivos de server.tls_cert e server.tls_key; ele passa a valer sozinho."
        ),
    };
    services.db.write(move |tx| {
        let alert = Alert {
            title: &title,
            detail: &detail,
            page: "/admin",
            cause: &format!("https:{}:{step}", until.0),
            without: None,
        };
        alerts::tell(tx, channel_set, &alert)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Instant = Instant(1_795_183_200);

    fn status(days: i64, fault: Option<&str>) -> CertificateStatus {
        let until = FROM.plus(days * DAY_S);
        CertificateStatus {
            served: Some(Facts { names: Vec::new(), from: FROM, until }),
            fault: fault.map(str::to_owned),
            ..CertificateStatus::default()
        }
    }

    #[test]
    fn the_end_is_told_at_twenty_ten_and_three_days() {
        let due = |status: &CertificateStatus, is_renewed, day| {
            step(status, is_renewed, FROM.plus(day * DAY_S)).map(|(_, step)| step)
        };
        let failing = status(90, Some("away"));
        let days = [0, 61, 69, 70, 79, 80, 86, 87, 91];
        let told = days.map(|day| due(&failing, true, day));
        let expected = [None, None, None, Some(20), Some(20), Some(10), Some(10), Some(3), Some(3)];
        assert_eq!(told, expected);
        assert_eq!(due(&status(90, None), true, 88), None, "its renewal is not failing");
        assert_eq!(due(&status(90, None), false, 88), Some(3), "nobody replaced the file");
        assert_eq!(due(&status(6, None), false, 2), None, "it lives for six days");
        assert_eq!(due(&status(6, None), false, 5), Some(3));
    }
}
