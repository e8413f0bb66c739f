//! E-mail by SMTP.

use parking_lot::Mutex;
use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::{Error, PoolConfig};
use lettre::{Address, SmtpTransport, Transport as _};

use super::letter::Letter;
use super::mail_server::MailServer;
use super::store::Claimed;
use super::{SendOutcome, store};
use crate::base::Stop;
use crate::base::queue::EMAIL;
use crate::base::text::{has_accents, wire_email};
use crate::config::Config;

/// Longest wait for an answer of the server.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Longest wait for each answer while only the server's features are queried.
/// It is short, because a stop waits for it.
const LEARN_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two tries to query the server's features.
const LEARN_AGAIN: Duration = Duration::from_mins(1);

/// Text before the unsubscribe link.
const LEAVE: &str = "Não quer mais estes lembretes";

/// A mail server and our sender address.
pub struct Email {
    transport: SmtpTransport,
    /// The sender; its domain is in ASCII (punycode).
    from: Mailbox,
    /// For querying the server's features.
    server: MailServer,
    /// Whether the server accepts non-ASCII letters before the `@`; `None`
    /// until it was reached.
    takes_accents: Mutex<Option<bool>>,
}

impl Email {
    /// The configured server.
    pub fn new(config: &Config) -> Result<Self, String> {
        let pool = PoolConfig::new().max_size(u32::try_from(EMAIL.workers).unwrap_or(1));
        let transport = SmtpTransport::from_url(config.email.smtp_url.reveal())
            .map_err(|error| format!("email.smtp_url is no address of a mail server: {error}"))?
            .timeout(Some(TIMEOUT))
            .pool_config(pool)
            .build();
        let from: Mailbox = sender(config).parse().map_err(|_| NO_SENDER)?;
        let address = wire_email(from.email.as_ref()).and_then(|address| address.parse().ok());
        let from = Mailbox::new(from.name, address.ok_or(NO_SENDER)?);
        let server = MailServer::new(&config.email.smtp_url)
            .map_err(|error| format!("email.smtp_url is no address of a mail server: {error}"))?;
        Ok(Self { transport, from, server, takes_accents: Mutex::default() })
    }

    /// Whether the server accepts non-ASCII letters before the `@`; `None`
    /// while that is unknown.
    pub fn takes_accents(&self) -> Option<bool> {
        *self.takes_accents.lock()
    }

    fn note_accents(&self, taken: bool) {
        *self.takes_accents.lock() = Some(taken);
    }

    /// Queries the server's features, and retries until the server answered
    /// once.
    pub fn learn(&self, stop: &Stop) {
        loop {
            if let Ok(taken) = self.server.greet(false, LEARN_TIMEOUT) {
                return self.note_accents(taken);
            }
            if stop.wait(LEARN_AGAIN) {
                return;
            }
        }
    }

    pub fn send(&self, claimed: &Claimed, letter: &Letter) -> SendOutcome {
        let message = match self.message(claimed, letter) {
            Ok(message) => message,
            Err(error) => return SendOutcome::Never(error),
        };
        let (us, them) = (has_accents(self.from.email.as_ref()), has_accents(&claimed.email));
        match self.transport.send(&message) {
            Ok(answer) => {
                if us || them {
                    self.note_accents(true);
                }
                SendOutcome::Accepted(answer.message().collect::<Vec<_>>().join(" "))
            }
            Err(error) if error.is_client() && said_accents(&error) && us => {
                self.note_accents(false);
                SendOutcome::Down(ACCENTS_OF_US.to_owned())
            }
            Err(error) if error.is_client() && said_accents(&error) && them => {
                self.note_accents(false);
                SendOutcome::Never(ACCENTS.to_owned())
            }
            Err(error) => match verdict(&error) {
                SendOutcome::Never(error) => self.whose_fault(error),
                other => other,
            },
        }
    }

    /// Whether a message was rejected because of its recipient, or because the
    /// server takes nothing from our address.
    fn whose_fault(&self, said: String) -> SendOutcome {
        match self.server.offer(&self.from.email, LEARN_TIMEOUT) {
            Err(error) if error.is_permanent() => {
                let code = error.status().map(|code| code.to_string());
                let said = describe(&error, code.as_deref());
                SendOutcome::Down(store::refused_reason(&said))
            }
            // An error that is not final says nothing about the address.
            Ok(()) | Err(_) => SendOutcome::Refused(said),
        }
    }

    fn message(&self, claimed: &Claimed, letter: &Letter) -> Result<Message, String> {
        let address: Option<Address> = wire_email(&claimed.email).and_then(|it| it.parse().ok());
        let to = Mailbox::new(Some(claimed.name.clone()), address.ok_or(NO_ADDRESS)?);
        let body = match &letter.leave {
            Some(leave) => format!("{}\n\n{LEAVE}: {leave}", letter.text),
            None => letter.text.clone(),
        };
        let domain = self.from.email.domain();
        let text = SinglePart::plain(body.clone());
        let html = SinglePart::builder().header(ContentType::TEXT_HTML).body(as_html(&body));
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(letter.subject.clone())
            // The same at each try, so that a duplicate can be recognised.
            .message_id(Some(format!("<{}@{domain}>", claimed.global_id)))
            .date_now()
            .multipart(MultiPart::alternative().singlepart(text).singlepart(html))
            .map_err(|error| format!("a mensagem não pôde ser escrita: {error}"))?;
        let mut add = |name, value: String| {
            let name = HeaderName::new_from_ascii_str(name);
            let value = HeaderValue::new(name, value);
            message.headers_mut().insert_raw(value);
        };
        add("Auto-Submitted", "auto-generated".to_owned());
        if let Some(leave) = &letter.leave {
            add("List-Id", format!("Lembretes <lembretes.{domain}>"));
            add("List-Unsubscribe", format!("<{leave}>"));
            add("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned());
        }
        Ok(message)
    }
}

const NO_SENDER: &str = "email.from must be an address, such as Escola <escola@exemplo.com>";
const NO_ADDRESS: &str = "o endereço de e-mail não é válido";
const ACCENTS: &str =
    "o servidor de e-mail não aceita endereços com acento antes do @ (não oferece SMTPUTF8)";
const ACCENTS_OF_US: &str = "o servidor de e-mail não aceita o remetente configurado (email.from), que tem acento antes do @ (não oferece SMTPUTF8)";

/// Whether sending failed because the server accepts only ASCII: it lacks
/// SMTPUTF8 (for addresses), or 8BITMIME, which SMTPUTF8 requires.
fn said_accents(error: &Error) -> bool {
    let words = error.to_string();
    words.contains("SMTPUTF8") || words.contains("8BITMIME")
}

/// The configured sender; else the user name at the mail server, when it is an
/// address; else a no-reply address.
pub fn sender(config: &Config) -> String {
    if !config.email.from.is_empty() {
        return config.email.from.clone();
    }
    let url = config.email.smtp_url.reveal();
    let user = url
        .split_once("://")
        .and_then(|(_, rest)| rest.rsplit_once('@'))
        .and_then(|(login, _)| login.split(':').next());
    let user = user.map(|user| percent_encoding::percent_decode_str(user).decode_utf8_lossy());
    match user {
        Some(user) if user.contains('@') => user.into_owned(),
        _ => "nao-responda@localhost".to_owned(),
    }
}

/// What an error means for the message. 5xx answers are final, but a rejected
/// login is our fault and not the recipient's.
fn verdict(error: &Error) -> SendOutcome {
    let code = error.status().map(|code| code.to_string());
    let said = describe(error, code.as_deref());
    // Errors before the server is asked mean that encryption, or a way to sign
    // in that we know, is missing.
    let refuses_us = code.as_deref().is_some_and(|code| code.starts_with("53"))
        || error.is_tls()
        || error.is_client();
    let is_away = match code.as_deref() {
        Some(code) => code == "421",
        None => !(error.is_timeout() || error.is_response()),
    };
    if refuses_us {
        SendOutcome::Down(said)
    } else if is_away {
        SendOutcome::Away(said)
    } else if error.is_permanent() {
        SendOutcome::Never(said)
    } else {
        SendOutcome::Later(said)
    }
}

/// The server's answer in short; never the address of the server, which may
/// hold a password.
fn describe(error: &Error, code: Option<&str>) -> String {
    match code {
        Some(code) => format!("o servidor de e-mail respondeu {code}: {error}"),
        None if error.is_timeout() => "o servidor de e-mail não respondeu a tempo".to_owned(),
        None if error.is_client() && error.to_string().contains("authentication") => {
            "o servidor de e-mail não oferece um modo de entrar que conhecemos".to_owned()
        }
        None if error.is_tls() || error.is_client() => {
            "o servidor de e-mail não oferece uma conexão segura".to_owned()
        }
        None => "o servidor de e-mail está fora do ar".to_owned(),
    }
}

/// The text as HTML: paragraphs, line breaks and links.
fn as_html(text: &str) -> String {
    let word = |word: &str| {
        let safe = escaped(word);
        if word.starts_with("https://") || word.starts_with("http://") {
            format!("<a href=\"{safe}\">{safe}</a>")
        } else {
            safe
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let paragraph = |paragraph: &str| {
        let lines: Vec<String> = paragraph.split('\n').map(line).collect();
        format!("<p>{}</p>", lines.join("<br>"))
    };
    let paragraphs: String = text.split("\n\n").map(paragraph).collect();
    format!("<!doctype html><html lang=\"pt-BR\"><body>{paragraphs}</body></html>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_paragraphs_that_run_nothing() {
        let html = as_html("Olá, <b>Ana</b>!\n\nAbra https://a.b/?c=1&d=\"2\"\ne volte.");
        assert_eq!(
            html,
            "<!doctype html><html lang=\"pt-BR\"><body><p>Olá, &lt;b&gt;Ana&lt;/b&gt;!</p>\
             <p>Abra <a href=\"https://a.b/?c=1&amp;d=&quot;2&quot;\">https://a.b/?c=1&amp;d=&quot;2&quot;</a><br>e volte.</p></body></html>"
        );
    }
}
