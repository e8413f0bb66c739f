//! The sections of the services outside: marketplace, checkout, messages.
//!
//! A service without its address or key is off, and features that need it say so.
//! So an incomplete section does not prevent the start.

use std::collections::BTreeMap;

use http::HeaderName;

use super::rules;
use super::sections::sections;
use super::settings::{Result, Settings};
use crate::base::Secret;

sections! {
    /// `[marketplace]`
    "marketplace" => Marketplace {
        /// Address of the API, without a trailing slash.
        api_base: String = parsed(rules::web_address),
        /// Address of the consent pages, without a trailing slash.
        auth_base: String = parsed(rules::web_address),
        /// Origin that listing photos are loaded from.
        image_host: String = parsed(rules::origin),
        /// The registered application; empty: the marketplace is off.
        client_id: String = parsed(rules::or_empty(rules::line)),
        /// The application's secret.
        client_secret: Secret = secret(rules::any),
        /// Site code, such as `MLB`.
        site: String = parsed(rules::site),
        /// Whether notifications must be signed.
        signature: SignatureMode = one_of(SignatureMode::from_name, &SignatureMode::NAMES),
        /// Oldest accepted signature in seconds; 0: any age.
        signature_max_age_s: i64 = whole(0..=31_536_000),
        /// Percent off the commission, by reputation level.
        reputation_discount: BTreeMap<String, f64> = numbers_by_name(&(0.0..=100.0)),
    }

    /// `[checkout]`
    "checkout" => Checkout {
        /// What purchase events may carry; none: one is generated.
        tokens: Vec<Secret> = secrets(),
        /// Header of the token.
        token_header: HeaderName = parsed(rules::header_name),
        /// Days of access after a failed payment.
        late_grace_days: u32 = whole(0..=365),
        /// Role for products that `plans` does not name; empty: no action.
        default_plan: String = parsed(rules::or_empty(rules::student_role)),
        /// Role by offer code, plan id or product id.
        plans: BTreeMap<String, String> = words_by_name(rules::student_role),
    }

    /// `[chat]`
    "chat" => Chat {
        /// Which kind of gateway delivers.
        gateway: Gateway = one_of(Gateway::from_name, &Gateway::NAMES),
        /// Its address, without a trailing slash; may be empty.
        base_url: String = parsed(rules::or_empty(rules::web_address)),
        /// Its key.
        api_key: Secret = secret(rules::any),
        /// Instance name or phone number id.
        instance: String = parsed(rules::or_empty(rules::line)),
        /// Approved template of the official API; may be empty.
        template: String = parsed(rules::or_empty(rules::line)),
        /// Signs what the official API tells later; empty: it is not heard.
        app_secret: Secret = secret(rules::any),
        /// What the official API shows when the address of the webhook is entered there.
        verify_token: Secret = secret(rules::any),
        /// Digits; empty: no link for people without access.
        upgrade_number: String = parsed(rules::or_empty(rules::chat_number)),
    }

    /// `[telegram]`
    "telegram" => Telegram {
        /// Empty: Telegram is off.
        bot_token: Secret = secret(rules::bot_token),
        /// Address of the API, without a trailing slash.
        api_base: String = parsed(rules::web_address),
        /// Address of the links that open a chat, without a trailing slash.
        link_base: String = parsed(rules::web_address),
        /// How what people say to the bot comes here.
        updates: Updates = one_of(Updates::from_name, &Updates::NAMES),
    }

    /// `[email]`
    "email" => Email {
        /// Begins with `smtp://` or `smtps://` and holds the password; empty: e-mail is off.
        smtp_url: Secret = secret(rules::mail_server),
        /// Sender; may be empty.
        from: String = parsed(rules::or_empty(rules::mail_sender)),
    }

    /// `[push]`
    "push" => Push {
        /// `mailto:` or `https:` contact; empty: push is off.
        subject: String = parsed(rules::or_empty(rules::push_contact)),
        /// Hosts of push services besides those of the known browsers: a name, all
        /// names below one (`*.example.com`), or a host with its port.
        extra_hosts: Vec<String> = list(rules::push_host),
    }

    /// `[webhooks]`
    "webhooks" => Webhooks {
        /// Hosts with their ports that may be anywhere and speak plain HTTP, and
        /// `loopback` for this machine at any port.
        extra_hosts: Vec<String> = list(rules::webhook_host),
    }
}

impl Chat {
    /// Whether we hear what became of the messages that the official API took: it signs with
    /// the secret, and shows the token when our address is entered there.
    pub fn hears_receipts(&self) -> bool {
        let is_set_up = !self.app_secret.is_empty() && !self.verify_token.is_empty();
        self.gateway == Gateway::Cloud && is_set_up
    }
}

crate::named! {
    /// Whether a notification must be signed.
    pub enum SignatureMode: text {
        /// Unsigned notifications are refused.
        Required = "required";
        /// Unsigned ones are accepted; a wrong signature is still refused.
        Optional = "optional";
    }
}

crate::named! {
    /// Which kind of gateway delivers chat messages.
    pub enum Gateway: text {
        /// Chat is off.
        None = "none";
        /// The official API.
        Cloud = "cloud";
        /// A self-hosted gateway.
        Evolution = "evolution";
    }
}

crate::named! {
    /// How messages to the bot reach this service.
    pub enum Updates: text {
        /// This service asks Telegram for it.
        Polling = "polling";
        /// Telegram sends it.
        Webhook = "webhook";
    }
}
