//! What messages say.
//!
//! Each kind has a text of its own, with plain placeholders in braces. Nothing
//! else is computed in them, so a text can be edited by whoever writes well.

use serde_json::Value;

use crate::clock::{Instant, Zone};
use crate::outbox::Kind;

/// A text with its placeholders.
pub struct Template {
    pub subject: &'static str,
    pub body: &'static str,
}

/// The text of a kind of message.
pub const fn template(kind: Kind) -> Template {
    match kind {
        Kind::Welcome => Template {
            subject: "Sua conta na {plataforma} está pronta",
            body: "Olá, {primeiro_nome}! Sua conta na {plataforma} está pronta.\n\n\
                   Escolha sua senha aqui: {link}\n\n\
                   O link vale até {validade} e funciona uma vez.",
        },
        Kind::PasswordLink => Template {
            subject: "Escolha uma nova senha",
            body: "Olá, {primeiro_nome}. Alguém pediu uma nova senha para a sua conta na {plataforma}.\n\n\
                   Escolha a nova senha aqui: {link}\n\n\
                   O link vale até {validade} e funciona uma vez. Se não foi você, ignore esta mensagem: \
                   sua senha continua a mesma.",
        },
        Kind::LatePayment => Template {
            subject: "O pagamento da sua renovação está pendente",
            body: "Olá, {primeiro_nome}. O pagamento da sua renovação na {plataforma} não foi confirmado.\n\n\
                   Seu acesso está pago até {pago_ate}. Depois disso você tem {dias} dias para regularizar, \
                   sem perder o acesso.\n\n\
                   Se você já pagou, desconsidere esta mensagem.",
        },
        Kind::MeetReminder => Template {
            subject: "Lembrete: {encontro}",
            body: "Olá, {primeiro_nome}! O encontro {encontro} começa em {inicio}.\n\n\
                   Entre por aqui: {endereco}/painel/meets",
        },
        Kind::Inactivity => Template {
            subject: "Sentimos sua falta",
            body: "Olá, {primeiro_nome}. Você está há {ausencia} sem aparecer na {plataforma}.\n\n\
                   Continue de onde parou: {endereco}/painel",
        },
        Kind::Alert => Template {
            subject: "{plataforma}: {titulo}",
            body: "Olá, {primeiro_nome}. {titulo}.\n\n{detalhe}\n\nVeja aqui: {endereco}{pagina}",
        },
        Kind::Test => Template {
            subject: "Teste da {plataforma}",
            body: "Olá, {primeiro_nome}! Esta é uma mensagem de teste da {plataforma}. \
                   Se você a recebeu, o canal está funcionando.",
        },
    }
}

/// What fills the placeholders of a message.
pub struct Words<'w> {
    pub name: &'w str,
    pub platform: &'w str,
    pub address: &'w str,
    /// Address of a link, empty without one.
    pub link: &'w str,
    /// Until when the link works, as people read it.
    pub until: String,
    /// What was noted when the message was queued.
    pub params: &'w Value,
}

/// Subject and text of a message.
pub fn fill(kind: Kind, words: &Words<'_>, zone: Zone) -> (String, String) {
    let Template { subject, body } = template(kind);
    (filled(subject, words, zone), filled(body, words, zone))
}

/// A text with its placeholders replaced; unknown ones stay as they are.
fn filled(text: &str, words: &Words<'_>, zone: Zone) -> String {
    let mut filled = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if let Some(value) = value(name, words, zone) => {
                filled.push_str(&one_line(&value));
                rest = after;
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn value(name: &str, words: &Words<'_>, zone: Zone) -> Option<String> {
    let day = |name: &str| {
        let at = words.params[name].as_i64().map(Instant);
        at.map(|at| zone.civil(at).format("%d/%m/%Y").to_string())
    };
    let param = |name: &str| words.params[name].as_str().unwrap_or_default().to_owned();
    Some(match name {
        "nome" => words.name.to_owned(),
        "primeiro_nome" => words.name.split(' ').next().unwrap_or_default().to_owned(),
        "plataforma" => words.platform.to_owned(),
        "endereco" => words.address.to_owned(),
        "link" => words.link.to_owned(),
        "validade" => words.until.clone(),
        "pago_ate" => day("paid_until").unwrap_or_else(|| "hoje".to_owned()),
        "dias" => words.params["grace_days"]
            .as_i64()
            .unwrap_or_default()
            .to_string(),
        "encontro" | "titulo" => param("title"),
        "detalhe" => param("detail"),
        "pagina" => param("page"),
        "inicio" => {
            let at = words.params["starts_at"].as_i64().map(Instant);
            at.map(|at| zone.page(at)).unwrap_or_default()
        }
        "ausencia" => match words.params["days"].as_i64().unwrap_or_default() {
            1 => "1 dia".to_owned(),
            days => format!("{days} dias"),
        },
        _ => return None,
    })
}

/// A value that comes from people stays within its line.
fn one_line(value: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    value.chars().map(plain).collect()
}
