//! What events did and why, in words for staff.

use super::EventKind;
use super::purchase_state::{Access, PurchaseState};
use crate::accounts::terms::{Holder, Terms};
use crate::base::{Instant, Zone};

pub const TEST: &str = "É o teste da própria plataforma de pagamento. Guardado sem ação.";
pub const NO_ACTION: &str = "Este evento não muda o acesso de ninguém. Guardado sem ação.";
pub const NOT_STUDENT: &str =
    "Este e-mail é de um fornecedor ou da administração. Compras não alteram essas contas.";
pub const NO_PLAN: &str = "O produto não está ligado a um plano. Em Planos, ponha o código dele em um plano que diga o \
                           plano da conta, e processe de novo.";
pub const NO_STUDENT: &str =
    "Ninguém tem este e-mail ainda. O evento passa a contar quando a compra aprovada chegar.";
pub const REACTIVATED: &str = "Reativou o acesso.";
pub const REMINDED: &str = "Lembrou pelo chat.";
pub const PART_REFUND: &str =
    "Uma parte do valor voltou ao comprador. O acesso continua, e a equipe foi avisada.";

/// A student was created.
pub fn created(student: &Holder) -> String {
    format!("Criou a conta no plano {}.", student.terms.role.words())
}

/// A student was suspended.
pub fn suspended(reason: &str) -> String {
    format!("Suspendeu o acesso: {reason}.")
}

/// One sentence for each difference between two terms.
pub fn changes(old: &Terms, new: &Terms, zone: Zone) -> Vec<String> {
    let day = |at: Instant| zone.civil(at).strftime("%d/%m/%Y").to_string();
    let mut said = Vec::new();
    if old.role != new.role {
        let (from, to) = (old.role.words(), new.role.words());
        said.push(format!("Mudou o plano de {from} para {to}."));
    }
    if let Some(until) = new.paid_until.filter(|_| old.paid_until != new.paid_until) {
        said.push(format!("Pago até {}.", day(until)));
    }
    match (old.late_since, new.late_since) {
        (None, Some(_)) => said.push("Pôs o pagamento em atraso.".to_owned()),
        (Some(_), None) => said.push("Tirou a marca de atraso.".to_owned()),
        (Some(one), Some(other)) if one != other => {
            said.push(format!("Em atraso desde {}.", day(other)));
        }
        _ => {}
    }
    match (old.ends_at, new.ends_at) {
        (before, Some(end)) if before != Some(end) => {
            said.push(format!("O acesso vai até {}.", day(end)));
        }
        (Some(_), None) => said.push("O acesso não tem mais data para terminar.".to_owned()),
        _ => {}
    }
    match (old.disputed_at, new.disputed_at) {
        (None, Some(_)) => said.push("Marcou em disputa.".to_owned()),
        (Some(_), None) => said.push("Tirou a marca de disputa.".to_owned()),
        _ => {}
    }
    said
}

/// Why purchases keep a person out.
pub fn reason(access: &Access) -> String {
    let Access::Closed(kind, transaction) = access else {
        return String::new();
    };
    let purchase = match transaction {
        Some(transaction) => format!("compra {transaction}"),
        None => "compra".to_owned(),
    };
    match kind {
        EventKind::Refunded => format!("{purchase} reembolsada"),
        EventKind::Chargeback => format!("chargeback da {purchase}"),
        EventKind::Cancellation => "assinatura cancelada".to_owned(),
        _ => format!("{purchase} cancelada"),
    }
}

/// Why an event that counts changed nothing.
pub fn no_effect(kind: EventKind, after: &PurchaseState) -> &'static str {
    match kind {
        EventKind::Approved if after.is_closed() => {
            "A mesma transação já foi devolvida ou cancelada, por isso não abre o acesso."
        }
        EventKind::Approved => "Esta aprovação já contava, ou há um pagamento mais novo.",
        EventKind::Complete => "A aprovação desta transação já contava.",
        EventKind::Refunded | EventKind::Chargeback | EventKind::Canceled if after.is_closed() => {
            "O acesso já estava encerrado."
        }
        EventKind::Refunded | EventKind::Chargeback => "Esta transação não paga o período atual.",
        EventKind::Canceled => "Foi uma tentativa sem pagamento, ou há um pagamento mais novo.",
        EventKind::Protest => "A disputa já estava marcada, ou o dinheiro já voltou.",
        EventKind::Delayed | EventKind::Expired => {
            "Não é a renovação de uma assinatura em vigor, ou há um pagamento mais novo."
        }
        EventKind::Cancellation => {
            "A assinatura já estava encerrada, ou há um pagamento mais novo."
        }
        EventKind::PartRefund => "Uma parte do valor voltou ao comprador. O acesso continua.",
        EventKind::SwitchPlan => "O plano já era este, ou há uma troca mais nova.",
        EventKind::Other | EventKind::Printed | EventKind::ChargeDate | EventKind::Cart => {
            NO_ACTION
        }
    }
}
