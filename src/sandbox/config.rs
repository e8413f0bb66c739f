//! The sandbox's switches: how notifications are sent, and which unusual
//! behaviours of the marketplace are simulated.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::Instant;
use crate::marketplace::kinds::COUNTED_TOPICS;
use crate::usual;

usual! {
    /// Switches of the sandbox. The defaults are the most usual behaviour of
    /// the real marketplace.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Config {
        /// Address of the platform's receiver; without one, notifications stay in
        /// the queue.
        pub notify_url: Option<String>,
        /// Registered redirect addresses; empty accepts any loopback address.
        pub redirect_uris: Vec<String>,
        /// Sign notifications, as the marketplace does not.
        pub sign: bool,
        /// Character between the parts of `X-Signature`.
        pub separator: char = ';',
        /// `ts` in milliseconds instead of seconds.
        pub ts_milliseconds: bool,
        /// Additional copies of each notification.
        pub duplicates: u8,
        /// Send the newest notification first.
        pub reorder: bool,
        /// Keep notifications in the queue while this is on.
        pub hold: bool,
        /// `user_id` and `application_id` as text.
        pub string_ids: bool,
        /// `resource` without its leading slash.
        pub missing_slash: bool,
        /// Delivery attempts of one notification before it counts as missed.
        pub attempts: u32 = 8,
        /// Pauses between attempts, as a share of the real ones (28 s, 57 s … 30 min).
        pub retry_scale: f64 = 0.01,
        /// How long the receiver may take.
        pub answer_within_ms: u64 = 500,
        /// Answer `GET /items?ids=`, which the marketplace has retired.
        pub old_multiget: bool,
        /// `GET /items/bulk` answers with the elements of the retired path.
        pub old_elements: bool,
        /// `GET /items/bulk` never includes the SKUs of variations.
        pub bulk_hides_codes: bool,
        /// Each page of a scan has a new scroll id.
        pub new_scroll_ids: bool,
        /// Accounts are answered with 206 and without reputation.
        pub partial_users: bool,
        /// Shipments have their old flat format.
        pub flat_shipments: bool,
        /// JSON format of the fees.
        pub fees_shape: FeesShape = FeesShape::Array,
        /// Units of a line have a fraction, as in `1.0`.
        pub decimal_quantities: bool,
        /// Fiscal notes point to another host.
        pub foreign_invoices: bool,
        /// Every call to the marketplace is answered with 503.
        pub down: bool,
        /// Delay of every answer of the marketplace.
        pub delay_ms: u64,
        /// Notifications of claims use their old topic `claims`.
        pub legacy_claims: bool,
        /// Topics the application has subscribed to.
        pub topics: Vec<String> = COUNTED_TOPICS.map(|(topic, _)| topic.to_owned()).to_vec(),
        /// A topic is switched off after so many of its notifications in a row
        /// were given up; 0 means never.
        pub silence_after: u32,
        /// Orders are answered with 206 and without buyer and feedback.
        pub partial_orders: bool,
        /// First offset that a search of orders cannot reach.
        pub orders_reach: usize = 10_000,
        /// Pages beyond that offset are empty instead of an error.
        pub silent_reach: bool,
        /// Dates have all the formats that the marketplace was seen to use.
        pub mixed_dates: bool,
        /// Errors about tokens have their older format.
        pub old_errors: bool,
        /// A refresh ends the seller's earlier access tokens.
        pub refresh_ends_access: bool,
        /// Listings are shown without their prices; `/items/{id}/sale_price` has them.
        pub hides_prices: bool,
        /// A scan that goes on refuses `limit` beside its `scroll_id`.
        pub scan_refuses_limit: bool,
        /// The seller whose application it is. Only this one may ask for missed
        /// notifications; without one, everybody may.
        pub application_owner: Option<i64>,
        /// Sellers as whom a collaborator signs in, who may not authorise.
        pub collaborators: Vec<i64>,
        /// Sellers with data that the marketplace still has to validate.
        pub pending_data: Vec<i64>,
        /// Authorisations lack `offline_access`, so that nothing renews them.
        pub no_offline_access: bool,
    }
}

/// Formats that the real `listing_prices` was seen to answer with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeesShape {
    /// An array, as documented.
    #[default]
    Array,
    /// A bare object when one kind of listing is asked for.
    Object,
    /// An array in an array.
    Nested,
}

impl Config {
    /// The switches with some of them changed.
    pub fn changed(&self, changes: Map<String, Value>) -> Result<Self, String> {
        let mut merged = json!(self);
        for (name, value) in changes {
            // Its name before it was off by default.
            let name = if name == "signed" { "sign" } else { &*name };
            merged[name] = value;
        }
        let config: Self = serde_json::from_value(merged)
            .map_err(|error| format!("the switches do not fit: {error}"))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let is_web = |url: &str| url.starts_with("http://") || url.starts_with("https://");
        let rules = [
            (matches!(self.separator, ';' | ','), "separator must be ; or ,"),
            ((1..=20).contains(&self.attempts), "attempts must be from 1 to 20"),
            ((0.0..=1.0).contains(&self.retry_scale), "retry_scale must be from 0 to 1"),
            (
                (1..=60_000).contains(&self.answer_within_ms),
                "answer_within_ms must be from 1 to 60000",
            ),
            (self.delay_ms <= 600_000, "delay_ms must be at most 600000"),
            (
                self.notify_url.as_deref().is_none_or(is_web),
                "notify_url must begin with http:// or https://",
            ),
        ];
        let broken = rules.into_iter().find(|(is_kept, _)| !is_kept);
        broken.map_or(Ok(()), |(_, problem)| Err(problem.to_owned()))
    }

    /// A date in the format of the marketplace: usually with `-04:00`. With
    /// `mixed_dates` the format depends on the record's id.
    pub fn date(&self, id: i64, at: Instant) -> String {
        match (self.mixed_dates, id.rem_euclid(4)) {
            (false, _) | (true, 0) => in_form(at, 4, "%Y-%m-%dT%H:%M:%S.000-04:00"),
            (true, 1) => in_form(at, 3, "%Y-%m-%dT%H:%M:%S.000-03:00"),
            (true, 2) => in_form(at, 0, "%Y-%m-%dT%H:%M:%S.123456789Z"),
            (true, _) => date_without_colon(at),
        }
    }

    /// The check boxes of the overview: name, label and whether it is checked.
    pub fn boxes(&self) -> Vec<(&'static str, &'static str, bool)> {
        let config = json!(self);
        let checked = |switch: &CheckBox| config[switch.field] != switch.value(false);
        BOXES.iter().map(|switch| (switch.name, switch.label, checked(switch))).collect()
    }

    /// The values of the switches that have check boxes on the overview;
    /// `is_checked` says which boxes are checked.
    pub fn boxes_changed(is_checked: impl Fn(&str) -> bool) -> Map<String, Value> {
        let value = |switch: &CheckBox| switch.value(is_checked(switch.name));
        BOXES.iter().map(|switch| (switch.field.to_owned(), value(switch))).collect()
    }
}

/// A date whose offset has no colon.
pub fn date_without_colon(at: Instant) -> String {
    in_form(at, 4, "%Y-%m-%dT%H:%M:%S.000-0400")
}

fn in_form(at: Instant, hours: i64, form: &str) -> String {
    at.minus(hours * 3600).utc().strftime(form).to_string()
}

/// A check box of the overview.
struct CheckBox {
    /// Field of the form.
    name: &'static str,
    label: &'static str,
    /// The switch, and its JSON values for an unchecked and a checked box.
    field: &'static str,
    values: [&'static str; 2],
}

impl CheckBox {
    fn value(&self, is_checked: bool) -> Value {
        serde_json::from_str(self.values[usize::from(is_checked)]).unwrap_or_default()
    }
}

/// A check box for a switch that is on or off.
const fn on_off(field: &'static str, label: &'static str) -> CheckBox {
    CheckBox { name: field, label, field, values: ["false", "true"] }
}

const BOXES: [CheckBox; 15] = [
    on_off("sign", "Assinar as notificações"),
    CheckBox {
        name: "comma",
        label: "Separar a assinatura com vírgula",
        field: "separator",
        values: ["\";\"", "\",\""],
    },
    on_off("hold", "Segurar as notificações"),
    on_off("reorder", "Entregar as mais novas primeiro"),
    CheckBox {
        name: "duplicates",
        label: "Enviar cada notificação três vezes",
        field: "duplicates",
        values: ["0", "2"],
    },
    on_off("string_ids", "Números como texto nas notificações"),
    on_off("missing_slash", "Recurso sem a barra inicial"),
    on_off("partial_orders", "Pedidos incompletos (206)"),
    on_off("mixed_dates", "Datas em formatos variados"),
    on_off("legacy_claims", "Reclamações no tópico antigo (claims)"),
    on_off("partial_users", "Contas incompletas (206)"),
    on_off("flat_shipments", "Envios no formato antigo"),
    on_off("old_elements", "Lista de anúncios no formato antigo"),
    on_off("new_scroll_ids", "Novo scroll_id a cada página"),
    CheckBox {
        name: "silence",
        label: "Desligar o tópico após 3 avisos perdidos",
        field: "silence_after",
        values: ["0", "3"],
    },
];
