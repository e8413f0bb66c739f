//! The official API: what is sent, and what its error codes mean.
//!
//! The codes come with the answer, later by webhook (`messages/receipts/`), or both ways.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

use super::{Answer, LONGEST, accepted, held};
use crate::base::shortened;
use crate::messages::delivery::SendOutcome;
use crate::messages::delivery::store::Claimed;

/// Longest text of a template's parameter, in characters. One without header, footer and
/// buttons takes more, but we do not know what else a template has.
const LONGEST_PARAMETER: usize = 1_024;
/// Error code for free text outside of the 24-hour window.
const OUTSIDE_WINDOW: i64 = 131_047;

/// Our name for a message, which the API repeats in what it tells of it later: the number
/// of the message, which finds it, and its random id, which nobody can guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    pub message: i64,
    pub global_id: String,
}

impl Tracking {
    /// That of a message under way.
    pub fn of(claimed: &Claimed) -> Self {
        Self { message: claimed.id, global_id: claimed.global_id.clone() }
    }

    /// Reads what its `Display` wrote.
    pub fn read(text: &str) -> Option<Self> {
        let (message, global_id) = text.split_once('.')?;
        Some(Self { message: message.parse().ok()?, global_id: global_id.to_owned() })
    }
}

impl fmt::Display for Tracking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.message, self.global_id)
    }
}

/// The body of a message. With an approved template, which is always allowed, the whole
/// text is its one parameter. Without one it is free text, which the network accepts only
/// within 24 hours of the person's last message.
pub fn message(number: &str, template: &str, text: &str, tracking: &str) -> Value {
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": number,
        "biz_opaque_callback_data": tracking,
    });
    if template.is_empty() {
        body["type"] = "text".into();
        body["text"] = json!({ "preview_url": false, "body": shortened(text, LONGEST) });
    } else {
        body["type"] = "template".into();
        body["template"] = json!({
            "name": template,
            "language": { "code": "pt_BR" },
            "components": [{
                "type": "body",
                "parameters": [{ "type": "text", "text": parameter(text) }],
            }],
        });
    }
    body
}

/// A text as a template takes it: in one line, and cut. The last link stays, because
/// the message may be worthless without it.
fn parameter(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = cut(&line, LONGEST_PARAMETER);
    let is_link = |word: &&str| word.starts_with("https://") || word.starts_with("http://");
    match line.split(' ').rfind(is_link) {
        Some(link) if !short.split(' ').any(|word| word == link) => {
            let room = LONGEST_PARAMETER.saturating_sub(link.chars().count() + 1);
            format!("{} {link}", cut(&line, room))
        }
        _ => short.into_owned(),
    }
}

/// A text of at most so many characters, the last an ellipsis where something is cut off.
fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if shortened(text, limit).len() == text.len() {
        return text.into();
    }
    format!("{}…", shortened(text, limit.saturating_sub(1)).trim_end()).into()
}

/// What an answer to a message means.
pub fn answered(answer: &Answer) -> SendOutcome {
    let Answer { status, body, after_s } = answer;
    if (200..=299).contains(status) {
        return accepted(&body["messages"][0]["id"]);
    }
    let error = &body["error"];
    let how = format!("respondeu {status}");
    match (verdict(error, &how, *after_s), error["code"].as_i64()) {
        (Some(verdict), _) => verdict,
        // No code of the API's: what the status says.
        (None, code) => {
            let said = said(error, &how);
            match status {
                429 => held(said, *after_s, 60),
                400..=499 if code.is_none() => SendOutcome::Never(said),
                502..=504 => SendOutcome::Away(said),
                _ => SendOutcome::Later(said),
            }
        }
    }
}

/// What an error that came later means for a message that was taken before.
pub fn told_later(error: &Value) -> SendOutcome {
    const HOW: &str = "avisou depois";
    match (verdict(error, HOW, None), error["code"].as_i64()) {
        (Some(verdict), _) => verdict,
        (None, Some(_)) => SendOutcome::Later(said(error, HOW)),
        (None, None) => SendOutcome::Never(said(error, HOW)),
    }
}

/// What the API said, in a line. `how` it was said is a verb.
fn said(error: &Value, how: &str) -> String {
    let code = error["code"]
        .as_i64()
        .map_or(Cow::from("sem código"), |code| Cow::from(format!("código {code}")));
    let texts = [&error["message"], &error["title"], &error["error_data"]["details"]];
    let text = texts.into_iter().find_map(Value::as_str).unwrap_or("sem explicação");
    format!("a API de chat {how}, {code}: {text}")
}

/// What the error's code means for the message; `None` when it decides nothing. The vendor
/// says to use the code, not the status or the text.
fn verdict(error: &Value, how: &str, after_s: Option<i64>) -> Option<SendOutcome> {
    let said = said(error, how);
    Some(match error["code"].as_i64()? {
        OUTSIDE_WINDOW => SendOutcome::Never(
            "fora da janela de 24 horas só se envia com um modelo aprovado (chat.template)".into(),
        ),
        // Token and permissions; our number, its name or its country; the account is
        // locked; billing; our one template is paused.
        0
        | 3
        | 10
        | 190
        | 200..=299
        | 368
        | 130_497
        | 131_005
        | 131_031
        | 131_037
        | 131_042
        | 131_045
        | 132_015
        | 132_016
        | 133_010 => SendOutcome::Down(said),
        // Rate limits: of this recipient; of our number; of the account. Maintenance.
        131_056 => SendOutcome::Held { error: said, after_s: after_s.unwrap_or(30), all: false },
        4 | 80_007 | 130_429 => held(said, after_s, 60),
        131_057 => held(said, after_s, 300),
        131_048 => held(said, after_s, 1800),
        131_026 => SendOutcome::NotThere(said),
        131_050 => SendOutcome::Unwanted(said),
        // The recipient may not get this message; the message or its template is wrong.
        131_049 | 100 | 131_008 | 131_009 | 132_000..=132_099 => SendOutcome::Never(said),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::delivery::chat::sample;

    fn verdict(code: i64, status: u16) -> SendOutcome {
        let body = json!({ "error": { "code": code, "message": "x" } });
        answered(&Answer { status, body, after_s: None })
    }

    #[test]
    fn codes_of_the_official_api_decide() {
        for code in
            [0, 190, 10, 200, 368, 130_497, 131_005, 131_031, 131_037, 131_042, 131_045, 132_015]
        {
            assert!(matches!(verdict(code, 400), SendOutcome::Down { .. }), "{code}");
        }
        for code in [131_047, 131_049, 100, 132_001, 132_005] {
            assert!(matches!(verdict(code, 400), SendOutcome::Never { .. }), "{code}");
        }
        assert!(matches!(verdict(131_026, 400), SendOutcome::NotThere(_)));
        assert!(matches!(verdict(131_050, 400), SendOutcome::Unwanted(_)));
        for (code, whole) in [(130_429, true), (131_056, false), (131_048, true), (131_057, true)] {
            let SendOutcome::Held { all, .. } = verdict(code, 400) else { panic!("{code}") };
            assert_eq!(all, whole, "{code}");
        }
        for (code, status) in [(1, 500), (131_000, 500), (999_999, 400)] {
            assert!(matches!(verdict(code, status), SendOutcome::Later { .. }), "{code}");
        }
        let without = |status| answered(&Answer { status, body: Value::Null, after_s: None });
        assert!(matches!(without(502), SendOutcome::Away { .. }));
        assert!(matches!(without(429), SendOutcome::Held { .. }));
        assert!(matches!(without(400), SendOutcome::Never { .. }));
        assert!(matches!(without(200), SendOutcome::Later { .. }), "taken or not");
    }

    #[test]
    fn what_comes_later_is_judged_by_the_same_codes() {
        let later = |code: i64| told_later(&json!({ "code": code, "title": "x" }));
        assert!(matches!(later(131_026), SendOutcome::NotThere(_)));
        assert!(matches!(later(131_042), SendOutcome::Down(_)));
        assert!(matches!(later(131_049), SendOutcome::Never(_)));
        assert!(matches!(later(131_000), SendOutcome::Later(_)));
        let said = "a API de chat avisou depois, sem código: sem explicação";
        assert_eq!(told_later(&json!({})), SendOutcome::Never(said.to_owned()));
    }

    #[test]
    fn documented_answers_are_read() {
        let read = |status, name| answered(&Answer { status, body: sample(name), after_s: None });
        let id = sample("cloud_accepted")["messages"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(read(200, "cloud_accepted"), SendOutcome::Accepted(id));
        assert!(matches!(read(401, "cloud_token_error"), SendOutcome::Down(_)));
        let SendOutcome::Never(said) = read(400, "cloud_error") else { panic!() };
        assert!(said.starts_with("a API de chat respondeu 400, código 132012: "), "{said}");
    }

    #[test]
    fn a_template_parameter_is_one_line_of_1024_characters_that_keeps_its_link() {
        let text = |long: &str| {
            let body = message("5511987654321", "aviso", long, "7.ab");
            assert_eq!(body["biz_opaque_callback_data"], "7.ab");
            let text = &body["template"]["components"][0]["parameters"][0]["text"];
            text.as_str().unwrap().to_owned()
        };
        assert_eq!(text("Olá,\n\n  Ana\t!     Fim"), "Olá, Ana ! Fim");
        let whole = "é".repeat(LONGEST_PARAMETER);
        assert_eq!(text(&whole), whole);
        let cut = text(&format!("{whole}é"));
        assert_eq!(cut.chars().count(), LONGEST_PARAMETER);
        assert!(cut.ends_with("é…"));
        let link = "https://vendas.example.com/senha?codigo=abc";
        let cut = text(&format!("{} {link}\n{}", "a".repeat(2_000), "b".repeat(2_000)));
        assert_eq!(cut.chars().count(), LONGEST_PARAMETER);
        assert!(cut.ends_with(&format!("… {link}")), "{cut}");
        let early = text(&format!("{link} {}", "a".repeat(2_000)));
        assert!(early.starts_with(link) && early.ends_with("a…"), "{early}");
        // Free text may be four times as long, and in several lines.
        let free = message("5511987654321", "", &format!("Olá,\n{}", "a".repeat(5_000)), "7.ab");
        assert_eq!(free["text"]["body"].as_str().unwrap().chars().count(), LONGEST);
    }

    #[test]
    fn our_name_for_a_message_is_read_back() {
        let tracking = Tracking { message: 42, global_id: "ab12".to_owned() };
        assert_eq!(Tracking::read(&tracking.to_string()), Some(tracking));
        for text in ["", "42", "x.ab", "."] {
            assert_eq!(Tracking::read(text), None, "{text}");
        }
    }
}
