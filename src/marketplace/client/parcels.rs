//! Parcels: the shipment, and what other calls tell of it: what it costs its sender, until
//! when it is to be handed over, and when what happened to it.

use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;

use super::{Answer, Caller, Client, Failure};
use crate::base::{Cents, DAY_S, Instant, MlUserId, Zone};
use crate::marketplace::books::document::{Shipment, amount, elements, instant, positive, text};
use crate::marketplace::books::parcel::{ParcelKnown, ParcelStage};

/// A parcel of the same day leaves within so many seconds of its sale.
const SAME_DAY_S: i64 = 25 * 60;
/// For how long the hours of an account are kept.
const HOURS_KEPT_S: i64 = DAY_S;
/// Most accounts and kinds of logistics whose hours are kept.
const MOST_HOURS: usize = 2_000;
/// How far ahead a day on which the carrier comes is looked for.
const DAYS_AHEAD: i64 = 10;
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Until which second of each day of the week, from Monday, parcels of a kind are handed
/// over; `None` on a day without work.
pub type Hours = [Option<i64>; 7];

/// When hours were read; without any where the marketplace has none.
type ReadHours = (Instant, Option<Hours>);

/// Hours of accounts by kind of logistics, as they were last read.
#[derive(Default)]
pub struct KnownHours(Mutex<HashMap<(MlUserId, String), ReadHours>>);

impl Client {
    /// A shipment, with what the books do not know of it yet. `known` is what they know.
    pub fn parcel(
        &self,
        caller: &Caller<'_>,
        shipment: i64,
        known: &ParcelKnown,
        zone: Zone,
    ) -> Answer<Shipment> {
        let mut read = Shipment::read(&self.get(caller, &format!("/shipments/{shipment}"), &[])?);
        let stage = ParcelStage::of(&read.status, &read.substatus, &read.logistic_type);
        if known.wants_cost() {
            read.cost = told(self.shipment_cost(caller, shipment))?.flatten();
        }
        let now = self.clock.now();
        if known.wants_deadline(stage, now) {
            let answer = self.get(caller, &format!("/shipments/{shipment}/sla"), &[]);
            // What is out of order may tell one yet; only the word that there is none counts.
            let is_told = answer.as_ref().map_or_else(Failure::is_refusal, |_| true);
            let deadline = told(answer)?.and_then(|sla| instant(&sla["expected_date"]));
            if is_told {
                read.dispatch_by = match deadline.or(read.dispatch_by) {
                    None if read.is_same_day => Some(known.sold_at.plus(SAME_DAY_S)),
                    None => self.by_hours(caller, &read.logistic_type, known.sold_at, zone)?,
                    deadline => deadline,
                };
                read.deadline_asked_at = Some(now);
            }
        }
        if known.wants_history(stage)
            && let Some(history) =
                told(self.get(caller, &format!("/shipments/{shipment}/history"), &[]))?
        {
            read.add_history(&history);
        }
        Ok(read)
    }

    /// What a shipment costs the caller, who sends it; `None` when the marketplace does
    /// not tell it.
    fn shipment_cost(&self, caller: &Caller<'_>, shipment: i64) -> Answer<Option<Cents>> {
        let answer = self.get(caller, &format!("/shipments/{shipment}/costs"), &[])?;
        let own = elements(&answer["senders"]).iter().filter(|sender| {
            positive(&sender["user_id"]).is_none_or(|sender| sender == caller.ml_user_id.0)
        });
        let mut costs = own.filter_map(|sender| amount(&sender["cost"]));
        let first = costs.next();
        Ok(first.map(|first| costs.fold(first, |sum, cost| Cents(sum.0.saturating_add(cost.0)))))
    }

    /// Until when a parcel sold at an instant is to be handed over by the hours of the
    /// caller's account; `None` when it has none for this kind of logistics.
    fn by_hours(
        &self,
        caller: &Caller<'_>,
        logistic: &str,
        sold_at: Instant,
        zone: Zone,
    ) -> Answer<Option<Instant>> {
        if !matches!(logistic, "cross_docking" | "xd_drop_off" | "self_service") {
            return Ok(None);
        }
        let (now, key) = (self.clock.now(), (caller.ml_user_id, logistic.to_owned()));
        let known = self.hours.0.lock().get(&key).copied();
        let is_fresh = |at: Instant| (0..HOURS_KEPT_S).contains(&now.since(at));
        let hours = if let Some((_, hours)) = known.filter(|(at, _)| is_fresh(*at)) {
            hours
        } else {
            let path = format!("/users/{}/shipping/schedule/{logistic}", caller.ml_user_id);
            let hours = told(self.get(caller, &path, &[]))?.map(|answer| hours(&answer));
            let mut all = self.hours.0.lock();
            if all.len() >= MOST_HOURS {
                all.retain(|_, (at, _)| is_fresh(*at));
            }
            if all.len() < MOST_HOURS {
                all.insert(key, (now, hours));
            }
            hours
        };
        Ok(hours.and_then(|hours| next_hand_over(&hours, sold_at, zone)))
    }
}

/// What a call tells; `None` when the marketplace has it not. Only a token that expired and
/// a limit end the reading: what is missing is asked for with the next one.
pub(super) fn told<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(failure @ (Failure::Expired | Failure::RateLimited { .. })) => Err(failure),
        answer => Ok(answer.ok()),
    }
}

/// The hours of an answer of `/users/{id}/shipping/schedule/{type}`: of each day the first
/// cut-off, or where the carrier comes later, that.
fn hours(answer: &Value) -> Hours {
    WEEKDAYS.map(|day| {
        let day = &answer["schedule"][day];
        if day["work"] != true {
            return None;
        }
        let times = elements(&day["detail"]).iter().filter_map(|part| {
            [second_of_day(&part["cutoff"]), second_of_day(&part["from"])]
                .into_iter()
                .flatten()
                .max()
        });
        times.min()
    })
}

/// The second of a day that a text such as `14:30` names.
fn second_of_day(value: &Value) -> Option<i64> {
    let written = text(value)?;
    let (hour, minute) = written.split_once(':')?;
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.get(..2)?.parse().ok()?);
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some(hour * 3_600 + minute * 60)
}

/// The first time after an instant at which parcels are handed over.
fn next_hand_over(hours: &Hours, sold_at: Instant, zone: Zone) -> Option<Instant> {
    let today = zone.day(sold_at);
    (0..DAYS_AHEAD).map(|ahead| today.plus(ahead)).find_map(|day| {
        // The first day of 1970 was a Thursday.
        let weekday = usize::try_from((day.0 + 3).rem_euclid(7)).unwrap_or(0);
        let at = zone.start_of(day).plus(hours[weekday]?);
        (at > sold_at).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hours_lead_to_the_next_day_with_work() {
        let zone = Zone::named("America/Sao_Paulo").expect("the zone of the service");
        let answer = json!({ "schedule": {
            "friday": { "work": true, "detail": [{ "from": "13:00", "to": "15:00", "cutoff": "11:30" }] },
            "saturday": { "work": false, "detail": [] },
            "monday": { "work": true, "detail": [{ "from": "09:00", "to": "10:00", "cutoff": "08:00" }] },
        } });
        let hours = hours(&answer);
        let due =
            |sold: &str| next_hand_over(&hours, Instant::parse(sold).expect("an instant"), zone);
        // 27 November 2026 is a Friday.
        assert_eq!(due("2026-11-27T10:00:00-03:00"), Instant::parse("2026-11-27T13:00:00-03:00"));
        assert_eq!(due("2026-11-27T14:00:00-03:00"), Instant::parse("2026-11-30T09:00:00-03:00"));
        assert_eq!(next_hand_over(&[None; 7], Instant(0), zone), None);
        assert_eq!(second_of_day(&json!("25:00")), None);
    }
}
