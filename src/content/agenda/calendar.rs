//! A meet as a calendar file (RFC 5545).

use crate::base::Instant;

/// Octets of a line before it is folded, its end not counted.
const LINE: usize = 75;

/// An event of a calendar.
pub struct Event<'e> {
    /// Identifies the event permanently, also in a later file of it.
    pub uid: &'e str,
    /// When the event was last changed.
    pub stamp: Instant,
    pub starts_at: Instant,
    pub ends_at: Instant,
    pub summary: &'e str,
    /// May be empty.
    pub description: &'e str,
    /// Where to join; may be empty.
    pub url: &'e str,
}

/// The file of one event, made by the installation called `site`.
pub fn file(site: &str, event: &Event<'_>) -> String {
    let mut file = String::new();
    let mut line = |name: &str, value: &str| fold(&mut file, &format!("{name}:{value}"));
    line("BEGIN", "VCALENDAR");
    line("VERSION", "2.0");
    line("PRODID", &format!("-//{}//PT", text(site)));
    line("CALSCALE", "GREGORIAN");
    line("METHOD", "PUBLISH");
    line("BEGIN", "VEVENT");
    line("UID", &text(event.uid));
    line("DTSTAMP", &utc(event.stamp));
    line("DTSTART", &utc(event.starts_at));
    line("DTEND", &utc(event.ends_at));
    line("SUMMARY", &text(event.summary));
    if !event.description.is_empty() {
        line("DESCRIPTION", &text(event.description));
    }
    if !event.url.is_empty() {
        line("LOCATION", &text(event.url));
        line("URL", event.url);
    }
    line("END", "VEVENT");
    line("END", "VCALENDAR");
    file
}

/// `20261120T150000Z`.
fn utc(at: Instant) -> String {
    at.rfc3339().replace(['-', ':'], "")
}

/// A value of type TEXT (§3.3.11).
fn text(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' | ';' | ',' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            _ if c.is_control() => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Adds a content line, folded between characters (§3.1).
fn fold(file: &mut String, line: &str) {
    let mut width = 0;
    for c in line.chars() {
        if width + c.len_utf8() > LINE {
            file.push_str("\r\n ");
            width = 1;
        }
        file.push(c);
        width += c.len_utf8();
    }
    file.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'e>(summary: &'e str, description: &'e str) -> Event<'e> {
        Event {
            uid: "meet-7@example.com",
            stamp: Instant(1_795_140_600),
            starts_at: Instant(1_795_140_600 + 86_400),
            ends_at: Instant(1_795_140_600 + 86_400 + 5_400),
            summary,
            description,
            url: "https://meet.example.com/abc;d",
        }
    }

    #[test]
    fn a_file_is_as_the_rfc_says() {
        let file = file("Seller; Platform", &event("Tira-dúvidas, parte 2", "Um\nDois\\três"));
        let lines: Vec<&str> = file.split("\r\n").collect();
        assert_eq!(
            lines,
            [
                "BEGIN:VCALENDAR",
                "VERSION:2.0",
                "PRODID:-//Seller\\; Platform//PT",
                "CALSCALE:GREGORIAN",
                "METHOD:PUBLISH",
                "BEGIN:VEVENT",
                "UID:meet-7@example.com",
                "DTSTAMP:20261120T021000Z",
                "DTSTART:20261121T021000Z",
                "DTEND:20261121T034000Z",
                "SUMMARY:Tira-dúvidas\\, parte 2",
                "DESCRIPTION:Um\\nDois\\\\três",
                "LOCATION:https://meet.example.com/abc\\;d",
                "URL:https://meet.example.com/abc;d",
                "END:VEVENT",
                "END:VCALENDAR",
                "",
            ]
        );
    }

    #[test]
    fn long_lines_are_folded_between_characters() {
        let long = "maçã, pêra; uva\r\n".repeat(40);
        let file = file("Site", &event(&long, &long));
        assert!(!file.replace("\r\n", "").contains(['\r', '\n']));
        for line in file.split("\r\n") {
            assert!(line.len() <= LINE, "{line}");
        }
        let unfolded = file.replace("\r\n ", "");
        let wanted = format!("SUMMARY:{}", "maçã\\, pêra\\; uva\\n".repeat(40));
        assert!(unfolded.lines().any(|line| line == wanted));
    }
}
