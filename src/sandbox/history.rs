//! Realistic past sales: the same seed and day give the same history.
//!
//! Weekdays sell more than weekends, evenings more than mornings. Few listings
//! make most of the sales. The state of a parcel follows the age of its order.

use super::call::{Call, ControlResult};
use super::parcels::{NewParcel, enter, ship};
use super::sales;
use super::shops;
use super::state::SandboxState;
use super::things::{ChangeContext, Invoice, Item, Line, Order, ZONE};
use crate::base::{Cents, DAY_S, Day, Instant};

/// Most days of a history.
pub const DAYS_MAX: i64 = 400;

/// Title, SKU, price in centavos, category.
type GoodsRow = (&'static str, &'static str, i64, &'static str);

#[rustfmt::skip] // A table: one good per row.
const GOODS: [GoodsRow; 40] = [
    ("Garrafa Térmica Inox 1 Litro Café Chá", "GAR-INX-1L", 6_990, "MLB193837"),
    ("Kit 10 Potes Herméticos Mantimentos", "POT-HER-10", 8_990, "MLB193838"),
    ("Jogo de Facas de Cozinha 6 Peças Inox", "FAC-INX-06", 5_490, "MLB193839"),
    ("Organizador de Gavetas Ajustável 4 Unidades", "ORG-GAV-04", 3_990, "MLB193840"),
    ("Varal de Chão Dobrável com Abas", "VAR-CHA-01", 9_990, "MLB193841"),
    ("Escorredor de Louça Dobrável Silicone", "ESC-SIL-01", 4_590, "MLB193842"),
    ("Mop Giratório com Balde 8 Litros", "MOP-GIR-08", 7_990, "MLB193843"),
    ("Luminária de Mesa LED Articulada USB", "LUM-LED-01", 6_490, "MLB193844"),
    ("Cortina Blackout 2,80 x 1,80 Sala Quarto", "COR-BLK-28", 8_490, "MLB193845"),
    ("Jogo de Lençol Casal 4 Peças 200 Fios", "LEN-CAS-04", 11_990, "MLB193846"),
    ("Kit 5 Toalhas de Banho 100% Algodão", "TOA-BAN-05", 12_990, "MLB193847"),
    ("Travesseiro Antialérgico 50 x 70", "TRA-ANT-01", 4_990, "MLB193848"),
    ("Tapete de Cozinha Antiderrapante 3 Peças", "TAP-COZ-03", 5_990, "MLB193849"),
    ("Panela de Pressão 4,5 Litros Alumínio", "PAN-PRE-45", 10_990, "MLB193850"),
    ("Forma de Silicone Airfryer Redonda", "FOR-AIR-01", 2_490, "MLB193851"),
    ("Balança Digital de Cozinha 10 kg", "BAL-COZ-10", 3_290, "MLB193852"),
    ("Cabo USB-C Reforçado 2 Metros Turbo", "CAB-USC-2M", 2_990, "MLB31447"),
    ("Carregador de Parede 20 W USB-C", "CAR-PAR-20", 5_990, "MLB31448"),
    ("Fone de Ouvido Bluetooth com Estojo", "FON-BLU-01", 8_990, "MLB31449"),
    ("Suporte Veicular Magnético para Celular", "SUP-VEI-01", 3_490, "MLB31450"),
    ("Película de Vidro 3D Kit com 3", "PEL-VID-03", 1_990, "MLB31451"),
    ("Mouse Sem Fio Silencioso Recarregável", "MOU-SEM-01", 4_990, "MLB31452"),
    ("Teclado Compacto Bluetooth ABNT2", "TEC-BLU-01", 11_990, "MLB31453"),
    ("Ring Light 26 cm com Tripé 2 Metros", "RIN-LIG-26", 9_490, "MLB31454"),
    ("Smartwatch Pulseira Silicone Prova d'Água", "SMA-PUL-01", 14_990, "MLB31455"),
    ("Caixa de Som Portátil Bluetooth 10 W", "CAI-SOM-10", 9_990, "MLB31456"),
    ("Lâmpada Inteligente Wi-Fi RGB 10 W", "LAM-WIF-10", 4_490, "MLB31457"),
    ("Extensão Elétrica 5 Tomadas 3 Metros", "EXT-ELE-05", 3_990, "MLB31458"),
    ("Parafusadeira 12 V com Maleta e Brocas", "PAR-12V-01", 18_990, "MLB31459"),
    ("Fita LED 5 Metros com Controle", "FIT-LED-5M", 4_290, "MLB31460"),
    ("Cama Pet Antiderrapante Tamanho M", "CAM-PET-0M", 7_490, "MLB40112"),
    ("Bebedouro Fonte para Gatos 2 Litros", "BEB-FON-02", 9_990, "MLB40113"),
    ("Coleira Antipuxão com Guia Retrátil", "COL-ANT-01", 5_490, "MLB40114"),
    ("Tapete Higiênico para Cães 80 Unidades", "TAP-HIG-80", 8_990, "MLB40115"),
    ("Arranhador para Gatos com Bolinha", "ARR-GAT-01", 6_990, "MLB40116"),
    ("Brinquedo Mordedor Resistente Kit 3", "BRI-MOR-03", 3_490, "MLB40117"),
    ("Escova Tira Pelos a Vapor", "ESC-VAP-01", 2_990, "MLB40118"),
    ("Bolsa de Transporte Pet até 8 kg", "BOL-TRA-08", 9_490, "MLB40119"),
    ("Comedouro Lento Antivoracidade", "COM-LEN-01", 2_790, "MLB40120"),
    ("Shampoo Neutro para Cães 500 ml", "SHA-NEU-05", 2_590, "MLB40121"),
];

/// How many of a hundred orders fall into each hour of the day.
const HOURS: [u64; 24] = [2, 1, 1, 0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 6, 5, 5, 5, 5, 6, 7, 8, 7, 5, 3];

/// Sales of a day, Monday first, in percent of the mean.
const WEEKDAYS: [u64; 7] = [118, 112, 108, 104, 98, 76, 84];

/// The parameters of a seller's history.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPlan {
    /// The seller, who must exist.
    pub ml_user_id: i64,
    /// Days before today, 1 to [`DAYS_MAX`].
    pub days: i64,
    /// Seed of the random numbers.
    #[serde(default)]
    pub seed: u64,
    /// Mean sales of a day at the end of the span, 1 to 500; derived from the
    /// seed when absent.
    #[serde(default)]
    pub daily: Option<u64>,
}

/// `POST /_sandbox/history`.
pub fn control_write(call: &mut Call<'_>) -> ControlResult {
    let orders = write(call.state, call.body()?, call.now)?;
    Ok(serde_json::json!({ "ok": true, "orders": orders }))
}

/// Makes 8 to 25 listings of a seller and the sales of `days` days up to now;
/// returns the number of orders.
pub fn write(state: &mut SandboxState, plan: HistoryPlan, now: Instant) -> Result<usize, String> {
    state.check_seller(plan.ml_user_id)?;
    if !(1..=DAYS_MAX).contains(&plan.days) {
        return Err(format!("days must be from 1 to {DAYS_MAX}"));
    }
    if plan.daily.is_some_and(|daily| !(1..=500).contains(&daily)) {
        return Err("daily must be from 1 to 500".to_owned());
    }
    let mut dice = Dice(plan.seed);
    let items = stock_up(state, plan, &mut dice, now)?;
    let daily = plan.daily.unwrap_or(6 + dice.below(14));
    let mut orders = Vec::new();
    let today = ZONE.day(now);
    for age in (0..=plan.days).rev() {
        let day = today.plus(-age);
        // The shop grows by a quarter over the span.
        let growth = 100 - 25 * u64::try_from(age).unwrap_or(0) / plan.days.unsigned_abs();
        let mean = daily * weekday(day) * growth / 100;
        let count = mean * (70 + dice.below(61)) / 10_000;
        let mut times: Vec<Instant> = (0..count).map(|_| time_of_day(day, &mut dice)).collect();
        times.sort();
        for at in times.into_iter().filter(|at| *at <= now) {
            let item = items[dice.favourite(items.len())];
            orders.push(order(state, plan.ml_user_id, item, at, &mut dice));
        }
    }
    let count = orders.len();
    for order in orders {
        let at = order.created;
        let (item, quantity, status) = (order.item(), order.units(), order.status.clone());
        let id = sales::record(state, order)?;
        if let Some(item) = state.items.get_mut(&item)
            && status != "cancelled"
        {
            item.sold += quantity;
        }
        if status == "paid" || status == "partially_refunded" {
            send(state, id, at, now);
        }
    }
    Ok(count)
}

fn stock_up(
    state: &mut SandboxState,
    plan: HistoryPlan,
    dice: &mut Dice,
    now: Instant,
) -> Result<Vec<i64>, String> {
    let count = usize::try_from(8 + dice.below(18)).unwrap_or(8);
    // Rows that follow each other in the table fit one kind of shop.
    let first = usize::try_from(plan.seed.wrapping_mul(16) % GOODS.len() as u64).unwrap_or(0);
    let published = now.minus((plan.days + 30) * DAY_S);
    let mut numbers = Vec::with_capacity(count);
    for index in 0..count {
        let (title, sku, price, category) = GOODS[(first + index) % GOODS.len()];
        let premium = dice.below(3) == 0;
        let item = Item {
            seller: plan.ml_user_id,
            title: title.to_owned(),
            price: Cents(price),
            stock: i64::try_from(4 + dice.below(120)).unwrap_or(4),
            // A few listings have no SKU, as in most shops.
            sku: (dice.below(8) != 0).then(|| sku.to_owned()),
            ean: Some(ean(dice)),
            category: category.to_owned(),
            listing_type: if premium { "gold_pro" } else { "gold_special" }.to_owned(),
            ..Item::default()
        };
        numbers.push(shops::publish(state, item, ChangeContext::silent(published))?);
    }
    Ok(numbers)
}

/// A Brazilian EAN-13 with its check digit.
fn ean(dice: &mut Dice) -> String {
    let digits = format!("789{:09}", dice.below(1_000_000_000));
    let sum: u32 = digits
        .chars()
        .filter_map(|c| c.to_digit(10))
        .zip([1, 3].into_iter().cycle())
        .map(|(digit, weight)| digit * weight)
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn weekday(day: Day) -> u64 {
    WEEKDAYS[usize::from(day.date().weekday().to_monday_zero_offset().unsigned_abs())]
}

fn time_of_day(day: Day, dice: &mut Dice) -> Instant {
    let mut share = dice.below(HOURS.iter().sum());
    let hour = HOURS
        .iter()
        .position(|hour| {
            let here = share < *hour;
            share = share.saturating_sub(*hour);
            here
        })
        .unwrap_or(20);
    let second = i64::try_from(dice.below(3600)).unwrap_or(0);
    let hour = i64::try_from(hour).unwrap_or(20);
    ZONE.start_of(day).plus(hour * 3600 + second)
}

fn order(state: &SandboxState, seller: i64, item: i64, at: Instant, dice: &mut Dice) -> Order {
    let price = state.items.get(&item).map_or(Cents(1000), |item| item.price);
    let quantity = match dice.below(20) {
        0 => 3,
        1..=3 => 2,
        _ => 1,
    };
    let (status, changed) = match dice.below(100) {
        0..=4 => ("cancelled", 5 * 3600),
        5..=6 => ("partially_refunded", 6 * DAY_S),
        _ => ("paid", 4),
    };
    let named = dice.below(3) != 0;
    let nickname = named.then(|| nickname(dice));
    Order {
        id: 0,
        seller,
        status: status.to_owned(),
        created: at,
        closed: Some(at.plus(4)),
        updated: at.plus(changed),
        pack: None,
        buyer: 0,
        buyer_nickname: nickname,
        lines: vec![Line { item, variation: None, quantity, unit_price: price, sku: None }],
        currency: "BRL".into(),
        refunded: if status == "partially_refunded" {
            Cents(price.0 * quantity / 2)
        } else {
            Cents(0)
        },
        tags: Vec::new(),
        cancel_code: None,
        shipment: None,
        invoice: Invoice::None,
    }
}

fn nickname(dice: &mut Dice) -> String {
    const NAMES: [&str; 16] = [
        "ANA", "BRUNO", "CARLA", "DIEGO", "ELISA", "FABIO", "GABI", "HUGO", "IVONE", "JOAO",
        "KARINA", "LUCAS", "MARTA", "NEI", "PAULA", "RAFA",
    ];
    let name = NAMES[usize::try_from(dice.below(16)).unwrap_or(0)];
    format!("{name}{}", 1000 + dice.below(9000))
}

/// Sends an order's parcel, as far as it has come by now: it is handed over some hours
/// after the sale, leaves a day after it, and arrives after five.
fn send(state: &mut SandboxState, order: i64, ordered: Instant, now: Instant) {
    let made = ordered.plus(60);
    let parcel =
        NewParcel { order, logistic: "drop_off", status: "ready_to_ship".into(), at: made };
    let parcel = ship(state, parcel).and_then(|id| state.shipments.get_mut(&id));
    let Some(parcel) = parcel else { return };
    let age = now.since(ordered) / DAY_S;
    if age >= 1 {
        enter(parcel, "ready_to_ship".into(), Some("dropped_off".into()), ordered.plus(DAY_S / 2));
        enter(parcel, "shipped".into(), None, ordered.plus(DAY_S));
    }
    if age >= 5 {
        enter(parcel, "delivered".into(), None, ordered.plus(5 * DAY_S));
    }
    parcel.history.shrink_to_fit();
    parcel.created = made;
    parcel.updated = parcel.history.last().map_or(made, |step| step.at);
}

/// A small random number generator (SplitMix64): the same seed gives the same
/// numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number from 0 to `end` - 1.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A random index of a list; the first entries are chosen more often.
    fn favourite(&mut self, length: usize) -> usize {
        let end = length as u64;
        let pick = self.below(end).min(self.below(end)).min(self.below(end));
        usize::try_from(pick).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::shops::NewSeller;

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let now = Instant::parse("2026-11-20T15:00:00Z").unwrap();
        let write_one = |seed| {
            let mut state = SandboxState::default();
            let shop = NewSeller { ml_user_id: Some(777), ..NewSeller::named("LOJA".to_owned()) };
            shops::open(&mut state, shop, now).unwrap();
            let plan = HistoryPlan { ml_user_id: 777, days: 60, seed, daily: None };
            let count = write(&mut state, plan, now).unwrap();
            assert_eq!(state.orders.len(), count);
            assert!(state.orders.values().all(|order| order.created <= now));
            format!("{:?}", state.orders)
        };
        assert_eq!(write_one(5), write_one(5));
        assert_ne!(write_one(5), write_one(6));
    }

    #[test]
    fn bar_codes_carry_their_check_digit() {
        let code = ean(&mut Dice(3));
        let sum: u32 = code
            .chars()
            .zip([1, 3].into_iter().cycle())
            .map(|(c, weight)| c.to_digit(10).unwrap() * weight)
            .sum();
        assert_eq!((code.len(), sum % 10), (13, 0));
    }
}
