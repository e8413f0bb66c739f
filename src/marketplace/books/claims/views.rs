//! What the pages of claims print.

use askama::Template;

use super::store::{AtStake, Claim};
use crate::base::{Cents, DAY_S, Instant, OrderId, grouped};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::code_text::{self, CodeText};
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::outside;
use crate::panel::{Badge, Due, Happened, Layout, PageTime, Table, Tone, When};

/// `GET /painel/reclamacoes`: the claims of buyers.
#[derive(Template)]
#[template(path = "claims.html", config = "assets/askama.toml")]
pub struct ClaimsPage {
    pub layout: Layout,
    /// What the open ones come to, in one line.
    pub sum: String,
    pub claims: Vec<ShownClaim>,
    pub has_stores: bool,
    pub table: Table,
}

/// Through which door a claim is looked at.
pub struct Door {
    /// The page above it, and what that is called.
    pub list: String,
    pub label: String,
    /// Whether its seller looks at it, who has a page of the sale.
    pub is_own: bool,
}

/// One claim: `GET /painel/reclamacoes/{id}`, and of a client in the agency's panel.
#[derive(Template)]
#[template(path = "claim.html", config = "assets/askama.toml")]
pub struct ClaimPage {
    pub layout: Layout,
    pub door: Door,
    pub claim: ShownClaim,
    pub events: Vec<Happened>,
    /// Where it is handled at the marketplace.
    pub outside: String,
}

impl ClaimPage {
    /// `auth_base` is where sellers sign in at the marketplace.
    pub fn of(
        layout: Layout,
        found: Claim,
        stores: &Stores,
        time: PageTime,
        auth_base: &str,
        door: Door,
    ) -> Self {
        let outside = match found.order {
            Some(order) => outside::sale(auth_base, order),
            None => outside::sales(auth_base),
        };
        let events = events(&found.claim, time);
        Self { layout, door, claim: ShownClaim::of(found, stores, time), events, outside }
    }

    /// Who acts now, in the words of who looks at it.
    pub fn who(&self) -> &'static str {
        match self.claim.turn {
            Turn::Seller if !self.door.is_own => "O cliente",
            turn => turn.who(),
        }
    }
}

/// What happened to a claim, the latest first.
fn events(claim: &ClaimDocument, time: PageTime) -> Vec<Happened> {
    let event = |tone, at: &Instant, text: &str, detail: String| Happened {
        tone,
        when: time.when(at),
        text: text.to_owned(),
        detail,
        href: String::new(),
    };
    let mut events = Vec::new();
    if !claim.is_open() {
        let how = code_text::claim_resolution(&claim.resolution).text;
        events.push(event(Tone::Info, &claim.updated_at, "Encerrada", how));
    } else if claim.updated_at != claim.opened_at {
        let stage = code_text::claim_stage(&claim.stage).text;
        events.push(event(Tone::Info, &claim.updated_at, "Última mudança no marketplace", stage));
    }
    events.push(event(Tone::Warn, &claim.opened_at, "Aberta pelo comprador", String::new()));
    events
}

/// Whose turn it is in a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Seller,
    Buyer,
    Marketplace,
    /// It is over.
    Nobody,
}

impl Turn {
    /// The seller's when there is a deadline or something to do; in a mediation only
    /// with a deadline, because else the marketplace decides.
    pub fn of(claim: &ClaimDocument) -> Self {
        let is_mediation = claim.stage == "dispute";
        match claim {
            _ if !claim.is_open() => Self::Nobody,
            _ if claim.due_at.is_some() => Self::Seller,
            _ if is_mediation => Self::Marketplace,
            _ if !claim.action.is_empty() => Self::Seller,
            _ => Self::Buyer,
        }
    }

    /// Who that is, in a word.
    pub const fn who(self) -> &'static str {
        match self {
            Self::Seller => "Você",
            Self::Buyer => "Comprador",
            Self::Marketplace => "Marketplace",
            Self::Nobody => "Ninguém",
        }
    }

    /// What is expected of others than the seller.
    const fn waits(self) -> &'static str {
        match self {
            Self::Seller => "Responda no marketplace",
            Self::Buyer => "Aguarda o comprador",
            Self::Marketplace => "Em mediação: aguarda a decisão do marketplace",
            Self::Nobody => "Encerrada",
        }
    }
}

/// A claim as pages show it.
pub struct ShownClaim {
    pub id: i64,
    /// What the buyer complains about.
    pub reason: CodeText,
    /// `Devolução`, `Reclamação` …
    pub kind: CodeText,
    /// Of its stage; empty when it is over.
    pub stage: CodeText,
    /// What was sold; may be empty.
    pub product: String,
    pub store: String,
    pub state: Badge,
    pub turn: Turn,
    /// What is expected now, or how it ended.
    pub expected: CodeText,
    pub due: Option<Due>,
    /// `faltam 2 dias`; empty without a deadline.
    pub left: String,
    pub amount: Option<Cents>,
    pub order: Option<OrderId>,
    /// Number of the parcel, when it is about one.
    pub parcel: Option<i64>,
    pub opened: When,
    pub is_open: bool,
}

impl ShownClaim {
    /// Whether a row names the stage: what is expected says that of a mediation already.
    pub fn tells_stage(&self) -> bool {
        !self.stage.is_empty() && !matches!(self.turn, Turn::Marketplace)
    }

    pub fn of(
        Claim { claim, order, title, amount }: Claim,
        stores: &Stores,
        time: PageTime,
    ) -> Self {
        let (turn, kind) = (Turn::of(&claim), code_text::claim_kind(&claim.kind));
        let expected = match turn {
            Turn::Seller => code_text::claim_action(&claim.action),
            Turn::Nobody => code_text::claim_resolution(&claim.resolution),
            _ => CodeText::default(),
        };
        let expected = if expected.is_empty() {
            CodeText { text: turn.waits().to_owned(), ..CodeText::default() }
        } else {
            expected
        };
        let reason = code_text::claim_reason(&claim.reason);
        let is_open = claim.is_open();
        let due_at = claim.due_at.filter(|_| is_open);
        // `responda`, `decida`, `comprove`: the verb of what is expected.
        let verb = expected.text.split_whitespace().next().unwrap_or("responda").to_lowercase();
        Self {
            id: claim.id,
            reason: if reason.is_empty() { kind.clone() } else { reason },
            kind,
            stage: if is_open { code_text::claim_stage(&claim.stage) } else { CodeText::default() },
            product: title,
            store: stores.name(claim.seller),
            state: if is_open { Badge::OpenClaim } else { Badge::Closed },
            turn,
            due: due_at.map(|at| time.due(&verb, at)),
            left: due_at.map(|at| left(at.since(time.now))).unwrap_or_default(),
            expected,
            amount,
            order,
            parcel: claim.resource_id.filter(|_| claim.resource == "shipment"),
            opened: time.when(&claim.opened_at),
            is_open,
        }
    }

    /// Its reason and its product.
    pub fn title(&self) -> String {
        match &*self.product {
            "" => self.reason.text.clone(),
            product => format!("{}: {product}", self.reason.text),
        }
    }

    pub fn tone(&self) -> Tone {
        match (&self.due, self.turn) {
            (Some(due), _) => due.tone,
            (None, Turn::Seller) => Tone::Warn,
            _ => Tone::Info,
        }
    }
}

/// How much time is left, in words.
fn left(seconds: i64) -> String {
    let words = |count: i64, one: &str, many: &str| match count {
        1 => format!("falta 1 {one}"),
        count => format!("faltam {count} {many}"),
    };
    match seconds {
        ..=0 => "prazo vencido".to_owned(),
        1..3600 => words((seconds + 59) / 60, "minuto", "minutos"),
        3600..DAY_S => words(seconds / 3600, "hora", "horas"),
        _ => {
            let (days, hours) = (seconds / DAY_S, seconds % DAY_S / 3600);
            let days = words(days, "dia", "dias");
            if hours == 0 { days } else { format!("{days} e {hours} h") }
        }
    }
}

impl AtStake {
    /// In one line: how many are open, how many of them wait for the seller, how much
    /// it is about.
    pub fn words(&self) -> String {
        let count = |count: i64| grouped(count.unsigned_abs());
        let open = match self.open {
            0 => return "Nenhuma reclamação aberta.".to_owned(),
            1 => "1 aberta".to_owned(),
            open => format!("{} abertas", count(open)),
        };
        let own = match self.own {
            0 => "nenhuma espera você".to_owned(),
            1 => "1 espera você".to_owned(),
            own => format!("{} esperam você", count(own)),
        };
        match self.amount {
            Cents(0) => format!("{open} · {own}"),
            amount => format!("{open} · {own} · {} em jogo", amount.page()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::MlUserId;
    use crate::marketplace::books::document::ClaimState;

    fn claim(state: ClaimState, stage: &str, action: &str, due: Option<i64>) -> ClaimDocument {
        ClaimDocument {
            id: 1,
            seller: MlUserId(7),
            state,
            kind: String::new(),
            stage: stage.to_owned(),
            reason: String::new(),
            resource: String::new(),
            resource_id: None,
            opened_at: Instant(0),
            updated_at: Instant(0),
            action: action.to_owned(),
            due_at: due.map(Instant),
            came_back: false,
            resolution: String::new(),
        }
    }

    #[test]
    fn it_is_said_whose_turn_it_is() {
        use ClaimState::{Closed, Open};
        for (state, stage, action, due, turn) in [
            (Open, "claim", "refund", Some(9), Turn::Seller),
            (Open, "claim", "refund", None, Turn::Seller),
            (Open, "claim", "", None, Turn::Buyer),
            (Open, "dispute", "", None, Turn::Marketplace),
            (Open, "dispute", "send_message_to_mediator", None, Turn::Marketplace),
            (Open, "dispute", "send_message_to_mediator", Some(9), Turn::Seller),
            (Closed, "dispute", "refund", Some(9), Turn::Nobody),
        ] {
            assert_eq!(Turn::of(&claim(state, stage, action, due)), turn, "{stage} {action}");
        }
    }

    #[test]
    fn what_is_left_is_said_in_the_largest_units() {
        for (seconds, words) in [
            (0, "prazo vencido"),
            (30, "falta 1 minuto"),
            (60, "falta 1 minuto"),
            (3_599, "faltam 60 minutos"),
            (7_300, "faltam 2 horas"),
            (DAY_S, "falta 1 dia"),
            (2 * DAY_S + 7_300, "faltam 2 dias e 2 h"),
        ] {
            assert_eq!(left(seconds), words);
        }
    }
}
