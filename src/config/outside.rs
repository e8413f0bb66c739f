//! The sections of the services outside: marketplace, checkout, messages.
//!
//! A service without its address or key is off; what depends on it says so,
//! so an incomplete section does not stop the start.

#![allow(
    dead_code,
    reason = "every key is read and checked from the start; some features that use one come later"
)]

use std::collections::BTreeMap;

use http::HeaderName;
use lettre::SmtpTransport;

use super::rules;
use super::settings::{Result, Settings};
use crate::base::secrets::Secret;

/// `[marketplace]`
#[derive(Clone, Debug)]
pub struct Marketplace {
    /// Address of the API, without a trailing slash.
    pub api_base: String,
    /// Address of the consent pages, without a trailing slash.
    pub auth_base: String,
    /// Origin that listing photos are loaded from.
    pub image_host: String,
    /// The registered application; empty: the marketplace is off.
    pub client_id: String,
    /// The application's secret.
    pub client_secret: Secret,
    /// Site code, such as `MLB`.
    pub site: String,
    /// Whether notifications must be signed.
    pub signature: SignatureMode,
    /// Oldest accepted signature in seconds; 0: any age.
    pub signature_max_age_s: i64,
    /// Percent off the commission, by reputation level.
    pub reputation_discount: BTreeMap<String, f64>,
}

/// Whether a notification must be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureMode {
    /// Unsigned notifications are refused.
    Required,
    /// Unsigned ones are taken; a wrong signature is still refused.
    Optional,
}

impl Marketplace {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        let signature =
            [("required", SignatureMode::Required), ("optional", SignatureMode::Optional)];
        Ok(Self {
            api_base: settings.parsed("marketplace.api_base", rules::web_address)?,
            auth_base: settings.parsed("marketplace.auth_base", rules::web_address)?,
            image_host: settings.parsed("marketplace.image_host", rules::origin)?,
            client_id: settings.parsed("marketplace.client_id", rules::or_empty(rules::line))?,
            client_secret: settings.secret("marketplace.client_secret")?,
            site: settings.parsed("marketplace.site", rules::site)?,
            signature: settings.one_of("marketplace.signature", &signature)?,
            signature_max_age_s: settings
                .whole("marketplace.signature_max_age_s", 0..=31_536_000)?,
            reputation_discount: settings
                .numbers_by_name("marketplace.reputation_discount", &(0.0..=100.0))?,
        })
    }
}

/// `[checkout]`
#[derive(Clone, Debug)]
pub struct Checkout {
    /// What purchase events may carry; none: one is generated.
    pub tokens: Vec<Secret>,
    /// Header of the token.
    pub token_header: HeaderName,
    /// Days of access after a failed payment.
    pub late_grace_days: u32,
    /// Role for products that `plans` does not name; empty: no action.
    pub default_plan: String,
    /// Role by offer code, plan id or product id.
    pub plans: BTreeMap<String, String>,
}

impl Checkout {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        let optional_role = rules::or_empty(rules::student_role);
        Ok(Self {
            tokens: settings.secrets("checkout.tokens")?,
            token_header: settings.parsed("checkout.token_header", rules::header_name)?,
            late_grace_days: settings.whole("checkout.late_grace_days", 0..=365)?,
            default_plan: settings.parsed("checkout.default_plan", optional_role)?,
            plans: settings.words_by_name("checkout.plans", rules::student_role)?,
        })
    }
}

/// `[chat]`
#[derive(Clone, Debug)]
pub struct Chat {
    /// Which kind of gateway delivers.
    pub gateway: Gateway,
    /// Its address, without a trailing slash; may be empty.
    pub base_url: String,
    /// Its key.
    pub api_key: Secret,
    /// Instance name or phone number id.
    pub instance: String,
    /// Approved template of the official API; may be empty.
    pub template: String,
    /// Digits; empty: no link for people without access.
    pub upgrade_number: String,
}

/// Which kind of gateway delivers chat messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateway {
    /// Chat is off.
    None,
    /// The official API.
    Cloud,
    /// A self-hosted gateway.
    Evolution,
}

impl Chat {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        let gateways =
            [("none", Gateway::None), ("cloud", Gateway::Cloud), ("evolution", Gateway::Evolution)];
        let optional_line = rules::or_empty(rules::line);
        Ok(Self {
            gateway: settings.one_of("chat.gateway", &gateways)?,
            base_url: settings.parsed("chat.base_url", rules::or_empty(rules::web_address))?,
            api_key: settings.secret("chat.api_key")?,
            instance: settings.parsed("chat.instance", &optional_line)?,
            template: settings.parsed("chat.template", &optional_line)?,
            upgrade_number: settings
                .parsed("chat.upgrade_number", rules::or_empty(rules::chat_number))?,
        })
    }
}

/// `[telegram]`
#[derive(Clone, Debug)]
pub struct Telegram {
    /// Empty: Telegram is off.
    pub bot_token: Secret,
    /// Address of the API, without a trailing slash.
    pub api_base: String,
    /// Address of the links that open a chat, without a trailing slash.
    pub link_base: String,
    /// How what people say to the bot comes here.
    pub updates: Updates,
}

/// How what people say to the bot comes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// It is asked for.
    Polling,
    /// Telegram sends it.
    Webhook,
}

impl Telegram {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        settings.parsed("telegram.bot_token", bot_token)?;
        let ways = [("polling", Updates::Polling), ("webhook", Updates::Webhook)];
        Ok(Self {
            bot_token: settings.secret("telegram.bot_token")?,
            api_base: settings.parsed("telegram.api_base", rules::web_address)?,
            link_base: settings.parsed("telegram.link_base", rules::web_address)?,
            updates: settings.one_of("telegram.updates", &ways)?,
        })
    }
}

/// Digits, a colon, and a key: it becomes part of an address.
fn bot_token(text: &str) -> std::result::Result<(), &'static str> {
    let of_address = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_token = |(number, key): (&str, &str)| {
        !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
            && !key.is_empty()
            && key.chars().all(of_address)
    };
    if text.is_empty() || text.split_once(':').is_some_and(is_token) {
        Ok(())
    } else {
        Err("must be the token of a bot, such as 123456:ABC-def")
    }
}

/// `[email]`
#[derive(Clone, Debug)]
pub struct Email {
    /// Begins with `smtp://` or `smtps://` and holds the password; empty: e-mail is off.
    pub smtp_url: Secret,
    /// Sender; may be empty.
    pub from: String,
}

impl Email {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        settings.parsed("email.smtp_url", |text| {
            let known = text.starts_with("smtp://") || text.starts_with("smtps://");
            if text.is_empty() || known && SmtpTransport::from_url(text).is_ok() {
                Ok(())
            } else if known {
                Err("must be the address of a mail server; percent-encode its name and password")
            } else {
                Err("must begin with smtp:// or smtps://")
            }
        })?;
        Ok(Self {
            smtp_url: settings.secret("email.smtp_url")?,
            from: settings.parsed("email.from", rules::or_empty(rules::mail_sender))?,
        })
    }
}

/// `[push]`
#[derive(Clone, Debug)]
pub struct Push {
    /// `mailto:` or `https:` contact; empty: push is off.
    pub subject: String,
    /// Hosts of push services besides those of the known browsers: a name, all
    /// names below one (`*.example.com`), or a host with its port.
    pub extra_hosts: Vec<String>,
}

impl Push {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            subject: settings.parsed("push.subject", rules::or_empty(rules::push_contact))?,
            extra_hosts: settings.list("push.extra_hosts", rules::push_host)?,
        })
    }
}
