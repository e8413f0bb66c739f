//! What a program says about itself, in a registration (RFC 7591) or in a
//! document of its own: a name, and the addresses to redirect people to.
//!
//! Nothing of it is proved. A client secret would prove nothing either, because
//! every copy of the program contains it.

use serde_json::{Map, Value, json};

use super::redirect::{Redirect, Targets};
use super::refusal::{Fault, Refusal};
use super::scope;
use super::store::NewClient;
use crate::base::{secrets, shortened};
use crate::db::Json;

/// Most redirect addresses of a program.
const MOST_REDIRECTS: usize = 10;
/// Longest name, in characters.
const LONGEST_NAME: usize = 80;

/// The name and redirect addresses of a program.
pub struct ClientMetadata {
    pub name: String,
    pub redirects: Vec<String>,
}

/// Reads and checks the name and redirect addresses.
pub fn parse_metadata(
    said: &Map<String, Value>,
    targets: &Targets,
) -> Result<ClientMetadata, Refusal> {
    let redirects = redirects(said, targets)?;
    let invalid = |about: &'static str| Refusal::new(Fault::InvalidClientMetadata, about);
    for (name, needed) in [("grant_types", "authorization_code"), ("response_types", "code")] {
        let Some(given) = said.get(name) else { continue };
        let list = texts(given).ok_or_else(|| invalid("a list of texts is something else"))?;
        if !list.contains(&needed) {
            return Err(invalid("the grant authorization_code with a code is the only one"));
        }
    }
    let name = match said.get("client_name") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(name)) => match shown_name(name) {
            shown if shown.is_empty() && !name.is_empty() => {
                return Err(invalid("client_name has nothing that people see"));
            }
            shown => shown,
        },
        Some(_) => return Err(invalid("client_name must be text")),
    };
    let name = if name.is_empty() { nameless(&redirects[0], targets) } else { name };
    Ok(ClientMetadata { name, redirects })
}

fn redirects(said: &Map<String, Value>, targets: &Targets) -> Result<Vec<String>, Refusal> {
    let invalid = |about: String| Refusal::new(Fault::InvalidRedirectUri, about);
    let list = said.get("redirect_uris").and_then(texts);
    let list = list.filter(|list| (1..=MOST_REDIRECTS).contains(&list.len()));
    let list = list.ok_or_else(|| {
        invalid(format!("redirect_uris must be a list of 1 to {MOST_REDIRECTS} addresses"))
    })?;
    for text in &list {
        Redirect::read(text, targets)
            .map_err(|fault| invalid(format!("an address of redirect_uris {fault}")))?;
    }
    Ok(list.into_iter().map(str::to_owned).collect())
}

fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// Characters that show nothing or change the direction of the text: those that
/// fonts leave out (`Default_Ignorable_Code_Point`), breaks of lines,
/// annotations, and letters whose picture is empty.
#[rustfmt::skip] // A table.
const fn is_hidden(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{16fe4}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// A name that is safe to show: one line, without hidden characters. Empty when
/// nothing of it is seen.
fn shown_name(name: &str) -> String {
    let seen: String = name.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let words = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&words, LONGEST_NAME).trim().to_owned()
}

/// The name of a program that has none.
fn nameless(redirect: &str, targets: &Targets) -> String {
    let host_or_scheme = Redirect::read(redirect, targets).map_or("", |it| it.host_or_scheme);
    format!("Aplicativo sem nome ({host_or_scheme})")
}

/// The client of a registration, and the answer to the program.
pub fn registration(
    said: &Map<String, Value>,
    targets: &Targets,
    now: i64,
    known: bool,
) -> Result<(NewClient, Value), Refusal> {
    let ClientMetadata { name, redirects } = parse_metadata(said, targets)?;
    // A method that is not named means a secret by RFC 7591 §2; most programs that
    // leave it out ask for none, and the answer says so.
    if said
        .get("token_endpoint_auth_method")
        .is_some_and(|method| !method.is_null() && method != "none")
    {
        let about = "token_endpoint_auth_method must be none: programs are public clients without a secret, and prove a code with PKCE";
        return Err(Refusal::new(Fault::InvalidClientMetadata, about));
    }
    let id = format!("app_{}", secrets::random_hex::<16>());
    let answer = json!({
        "client_id": id,
        "client_id_issued_at": now,
        "client_name": name,
        "redirect_uris": redirects,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": scope(true),
    });
    let client = NewClient { id, name, redirects: Json(redirects), fresh_until: None, known };
    Ok((client, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(value: Value) -> Result<ClientMetadata, Refusal> {
        let Value::Object(said) = value else { panic!("an object") };
        let targets = Targets {
            schemes: vec!["cursor".to_owned()],
            own: vec!["https://painel.example".to_owned()],
        };
        parse_metadata(&said, &targets)
    }

    #[test]
    fn what_clients_really_send_is_taken() {
        let said = said(json!({
            "client_name": "Claude",
            "redirect_uris": ["https://claude.ai/api/mcp/auth_callback", "cursor://x/cb"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
            "scope": "partner:read",
            "contacts": 7,
        }));
        let said = said.unwrap();
        assert_eq!(said.name, "Claude");
        assert_eq!(said.redirects.len(), 2);
    }

    #[test]
    fn names_are_one_line_that_is_seen() {
        let name = |text: &str| {
            said(json!({ "client_name": text, "redirect_uris": ["http://localhost:1/"] }))
                .unwrap()
                .name
        };
        assert_eq!(name("  Minha\u{202e}\n\tloja\u{200b} "), "Minha loja");
        assert_eq!(name("<b>x</b>"), "<b>x</b>", "pages escape it");
        assert_eq!(name(&"é".repeat(500)).chars().count(), 80);
        assert_eq!(name("❤\u{fe0f} Loja"), "❤ Loja");
        assert_eq!(name(""), "Aplicativo sem nome (localhost:1)");
    }

    #[test]
    fn names_of_which_nothing_is_seen_are_refused() {
        for blank in [
            " ",
            "\u{a0}",
            "\u{3000}",
            "\u{200b}",
            "\u{3164}",
            "\u{2800}",
            "\u{115f}\u{1160}",
            "\u{ffa0}",
            "\u{34f}",
            "\u{17b4}",
            "\u{180e}",
            "\u{fe0f}",
            "\u{e0100}",
            "\u{1d159}",
            " \u{3164}\u{2800} \n",
        ] {
            let body = json!({ "client_name": blank, "redirect_uris": ["http://localhost:1/"] });
            let refused = said(body).err().map(|refusal| refusal.fault);
            assert_eq!(refused, Some(Fault::InvalidClientMetadata), "{blank:?}");
        }
    }

    #[test]
    fn what_cannot_work_is_refused() {
        use Fault::{InvalidClientMetadata as Metadata, InvalidRedirectUri as Uri};
        let own = "https://a.example/";
        for (value, fault) in [
            (json!({}), Uri),
            (json!({ "redirect_uris": [] }), Uri),
            (json!({ "redirect_uris": own }), Uri),
            (json!({ "redirect_uris": [7] }), Uri),
            (json!({ "redirect_uris": vec![own; 11] }), Uri),
            (json!({ "redirect_uris": [own, "http://a.example/"] }), Uri),
            (json!({ "redirect_uris": ["javascript:alert(1)"] }), Uri),
            (json!({ "redirect_uris": [own, "https://painel.example/x"] }), Uri),
            (json!({ "redirect_uris": [own], "client_name": 7 }), Metadata),
            (json!({ "redirect_uris": [own], "grant_types": ["client_credentials"] }), Metadata),
            (json!({ "redirect_uris": [own], "grant_types": "authorization_code" }), Metadata),
            (json!({ "redirect_uris": [own], "response_types": ["token"] }), Metadata),
        ] {
            let refused = said(value.clone()).err().map(|refusal| refusal.fault);
            assert_eq!(refused, Some(fault), "{value}");
        }
    }

    #[test]
    fn registrations_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("registration", |bytes| {
            if let Ok(Value::Object(said)) = serde_json::from_slice(bytes)
                && let Ok(client) = parse_metadata(&said, &Targets::default())
            {
                assert!(!client.redirects.is_empty());
            }
        });
    }
}
