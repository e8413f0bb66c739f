//! Instants as programs read them without knowing our zone: civil time with its offset
//! from UTC (RFC 3339).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::clock::{Instant, Zone, written};

/// An instant as `2026-11-23T09:12:44-03:00`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OffsetTime(String);

impl Zone {
    /// Civil time of an instant with its offset from UTC.
    pub fn with_offset(self, at: Instant) -> OffsetTime {
        let civil = self.civil(at);
        let minutes = Instant::in_utc(civil).since(at) / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        let minutes = minutes.abs();
        OffsetTime(format!("{}{sign}{:02}:{:02}", written(civil, b'T'), minutes / 60, minutes % 60))
    }
}

impl JsonSchema for OffsetTime {
    fn schema_name() -> Cow<'static, str> {
        "OffsetTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_comes_back_from_its_civil_time_and_offset() {
        for (zone, at, written) in [
            ("America/Sao_Paulo", "2026-11-26T12:00:00Z", "2026-11-26T09:00:00-03:00"),
            ("America/Sao_Paulo", "2018-11-26T12:00:00Z", "2018-11-26T10:00:00-02:00"),
            ("Asia/Kolkata", "2026-11-26T20:00:00Z", "2026-11-27T01:30:00+05:30"),
            ("UTC", "2026-11-26T12:00:00Z", "2026-11-26T12:00:00+00:00"),
        ] {
            let (zone, at) = (Zone::named(zone).unwrap(), Instant::parse(at).unwrap());
            let OffsetTime(text) = zone.with_offset(at);
            assert_eq!(text, written);
            assert_eq!(Instant::parse(&text), Some(at));
        }
    }
}
