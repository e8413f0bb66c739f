//! HTTPS of our own on the operator's home and in `/metrics`.

use super::open_items::item;
use super::views::{Fact, OpenItem, fact};
use crate::app::App;
use crate::base::{Instant, grouped};
use crate::https::CertificateStatus;
use crate::https::end::{FEW_DAYS, days_left, is_late};
use crate::panel::{Badge, Tone};
use crate::services::Services;

/// When the served certificate ends; `None` without HTTPS of our own, 0 without a
/// certificate.
pub fn ends_at(app: &App) -> Option<Instant> {
    let served = app.server.https.as_ref()?.status().served;
    Some(served.map_or(Instant(0), |facts| facts.until))
}

/// The certificate among the figures of the service.
pub fn row(app: &App, now: Instant) -> Option<Fact> {
    let status = app.server.https.as_ref()?.status();
    let (value, state) = match &status.served {
        None => ("Nenhum ainda".to_owned(), Badge::Attention),
        Some(facts) => {
            let state = match days_left(facts, now) {
                ..0 => Badge::Broken,
                0..=FEW_DAYS if is_late(facts, now) => Badge::Attention,
                _ => Badge::Healthy,
            };
            (format!("Até {}", app.zone().page(facts.until)), state)
        }
    };
    let names = status.served.map_or_else(String::new, |facts| facts.names.join(", "));
    Some(fact("Certificado HTTPS", value).noted(names).state(state))
}

/// What is wrong with HTTPS.
pub fn open_items(app: &App, now: Instant) -> Vec<OpenItem> {
    let Some(https) = &app.server.https else {
        return Vec::new();
    };
    let status = https.status();
    let mut items = Vec::new();
    if let Some(fault) = &status.port_fault {
        let text = format!(
            "O motivo: {fault}. Até isso mudar, a plataforma atende por HTTP comum; ela tenta de novo a cada poucos segundos."
        );
        items.push(item(Tone::Bad, "A porta do HTTPS não está livre", text));
    }
    if let Some(fault) = &status.unwritten {
        let text = format!(
            "O motivo: {fault}. Ele já vale; a plataforma tenta gravar de novo a cada poucos segundos. Não a reinicie antes disso."
        );
        items.push(item(Tone::Warn, "O certificado HTTPS novo não foi gravado", text));
    }
    items.extend(certificate(app, &status, https.is_renewed(), now));
    items
}

fn certificate(
    services: &Services,
    status: &CertificateStatus,
    is_renewed: bool,
    now: Instant,
) -> Option<OpenItem> {
    let reason = match (&status.fault, status.next_try) {
        (Some(fault), Some(next)) => {
            format!("O motivo: {fault}. Nova tentativa em {}.", services.zone().page(next))
        }
        (Some(fault), None) => format!("O motivo: {fault}."),
        (None, _) if is_renewed => "O pedido está em andamento.".to_owned(),
        (None, _) => {
            "Ponha um novo nos arquivos de server.tls_cert e server.tls_key; ele passa a valer sozinho."
                .to_owned()
        }
    };
    let Some(facts) = &status.served else {
        let text = format!("Até ele vir, a plataforma atende por HTTP comum. {reason}");
        return Some(item(Tone::Bad, "Ainda não há certificado HTTPS", text));
    };
    let left = days_left(facts, now);
    let end = services.zone().page(facts.until);
    match left {
        ..0 => {
            let text = format!("Acabou em {end}, e os navegadores recusam a página. {reason}");
            Some(item(Tone::Bad, "O certificado HTTPS venceu", text))
        }
        0..=FEW_DAYS if is_late(facts, now) => {
            let title = match u64::try_from(left) {
                Ok(1) => "O certificado HTTPS vence em 1 dia".to_owned(),
                Ok(left @ 2..) => format!("O certificado HTTPS vence em {} dias", grouped(left)),
                _ => "O certificado HTTPS vence em menos de um dia".to_owned(),
            };
            let tone = if left < 3 { Tone::Bad } else { Tone::Warn };
            Some(item(tone, title, format!("Vale até {end}. {reason}")))
        }
        _ if status.fault.is_some() => {
            let title = "O certificado HTTPS novo não serve".to_owned();
            Some(item(Tone::Warn, title, format!("O atual vale até {end}. {reason}")))
        }
        _ => None,
    }
}
