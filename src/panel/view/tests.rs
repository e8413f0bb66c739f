//! Rules of the values that pages share.

use super::*;

const SAO_PAULO: Zone = Zone::SAO_PAULO;

static MENU: &[NavGroup] = &[NavGroup {
    title: "",
    items: &[
        NavItem::new("Início", "/admin", "home"),
        NavItem::new("Planos", "/admin/planos", "tag"),
    ],
}];

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

#[test]
fn a_page_below_a_list_marks_the_list_only() {
    for (here, marked) in [
        ("/admin", vec!["Início"]),
        ("/admin/planos", vec!["Planos"]),
        ("/admin/planos/novo", vec!["Planos"]),
        ("/admin/planosx", vec!["Início"]),
        ("/painel", vec![]),
    ] {
        let reader = Reader { name: "Ana", photo: "", email: "ana@exemplo.com", menu: MENU };
        let layout = Layout::inside("Loja", Instant(0), reader, here);
        let found: Vec<_> = MENU[0]
            .items
            .iter()
            .filter(|place| layout.is_here(place))
            .map(|place| place.label)
            .collect();
        assert_eq!(found, marked, "{here}");
    }
}

#[test]
fn initials_are_of_the_first_and_last_name() {
    for (name, expected) in
        [("Ana Souza", "AS"), ("Ana Maria de Souza", "AS"), ("élcio", "É"), ("", "")]
    {
        assert_eq!(initials(name), expected);
    }
}

#[test]
fn instants_are_relative_for_a_day_and_then_dated() {
    let now = at("2026-11-20T15:00:00Z"); // noon in São Paulo
    for (text, expected) in [
        ("2026-11-20T14:59:30Z", "agora"),
        ("2026-11-20T14:55:00Z", "há 5 min"),
        ("2026-11-19T15:00:01Z", "há 23 h"),
        ("2026-11-19T14:59:59Z", "ontem, 11:59"),
        ("2026-11-18T15:00:00Z", "18/11, 12:00"),
        ("2025-12-31T15:00:00Z", "31/12/2025"),
        ("2026-11-21T15:00:00Z", "amanhã, 12:00"),
        ("2026-11-20T16:00:00Z", "20/11, 13:00"),
    ] {
        assert_eq!(When::new(SAO_PAULO, at(text), now).text, expected, "{text}");
    }
}

#[test]
fn the_greeting_follows_the_civil_hour() {
    for (text, expected) in [
        ("2026-11-20T07:59:59Z", "Boa noite, Ana"),
        ("2026-11-20T08:00:00Z", "Bom dia, Ana"),
        ("2026-11-20T15:00:00Z", "Boa tarde, Ana"),
        ("2026-11-20T21:00:00Z", "Boa noite, Ana"),
    ] {
        assert_eq!(greeting(SAO_PAULO, at(text), "Ana Souza"), expected);
    }
    assert_eq!(day_in_words(SAO_PAULO, at("2026-11-21T02:59:59Z")), "sexta-feira, 20 de novembro");
}

#[test]
fn paging_tells_its_rows_and_keeps_the_filters() {
    let params = [("q", "caneca & copo"), ("ordem", "")];
    let page = Paging::new("/admin/planos", &params, 2, 20, 12_480);
    assert_eq!(page.span, "21–40 de 12.480");
    assert_eq!(page.previous.as_deref(), Some("/admin/planos?q=caneca+%26+copo"));
    assert_eq!(page.next.as_deref(), Some("/admin/planos?q=caneca+%26+copo&pagina=3"));

    let last = Paging::new("/x", &[], 3, 20, 43);
    assert_eq!((last.span.as_str(), last.next), ("41–43 de 43", None));
    for (total, span) in [(0, "Nenhum resultado"), (1, "1 resultado"), (20, "20 resultados")] {
        let only = Paging::new("/x", &[], 9, 20, total);
        assert_eq!(only.span, span);
        assert!(only.previous.is_none() && only.next.is_none());
        assert_eq!(only.past_end.is_some(), total > 0);
    }
    let behind = Paging::new("/x", &params, 4, 20, 43).past_end;
    assert_eq!(behind.as_deref(), Some("/x?q=caneca+%26+copo&pagina=3"));
}

#[test]
fn sizes_and_spans_read_well() {
    for (bytes, text) in [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1,0 kB"),
        (1_449_999, "1,4 MB"),
        (999_999, "1,0 MB"),
        (48_200_000_000, "48,2 GB"),
    ] {
        assert_eq!(size(bytes), text);
    }
    for (seconds, text) in [
        (59, "menos de um minuto"),
        (60, "1 min"),
        (3_660, "1 h e 1 min"),
        (90_000, "1 dia e 1 h"),
        (273_600, "3 dias e 4 h"),
    ] {
        assert_eq!(span(seconds), text);
    }
}

#[test]
fn the_cursor_starts_at_the_first_fault() {
    let mut fields = [
        Field::default(),
        Field::of("x").fault(Some("Curto demais")),
        Field::default().fault(Some("Informe o preço")),
    ];
    assert_eq!(focus_first(&mut fields), 2);
    assert!(fields[1].focus && !fields[0].focus && !fields[2].focus);

    let mut clean = [Field::of("x"), Field::default()];
    assert_eq!(focus_first(&mut clean), 0);
    assert!(clean[1].focus);
}

#[test]
fn every_badge_has_a_word_of_its_own() {
    let mut words: Vec<_> = Badge::ALL.iter().map(|badge| badge.word()).collect();
    words.sort_unstable();
    let all = words.len();
    words.dedup();
    assert_eq!(words.len(), all);
    assert_eq!(Badge::reputation("5_green"), Badge::ReputationBest);
    assert_eq!(Badge::reputation(""), Badge::ReputationNone);
}

#[test]
fn every_error_says_what_is_safe() {
    for status in [400, 403, 404, 405, 429, 500, 502, 503] {
        let (title, text) = error_words(status);
        assert!(!title.is_empty() && text.ends_with('.'), "{status}");
    }
}
