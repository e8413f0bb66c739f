//! The browser and system that opened a session, in words: `Chrome no Windows`.

/// Browsers by a word of their user agent. The first match wins, because user
/// agents of earlier ones also contain words of later ones.
const BROWSERS: [(&str, &str); 10] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

/// Systems, found in the same way.
const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// The browser and the system of a user agent, if they are known.
pub fn in_words(user_agent: &str) -> String {
    let find = |known: &[(&str, &'static str)]| {
        let found = known.iter().find(|(word, _)| user_agent.contains(word));
        found.map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} no {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => format!("Navegador no {system}"),
        (None, None) => "Navegador desconhecido".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_apart() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, words) in [
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/142.0.0.0 Safari/537.36"),
                "Chrome no Windows",
            ),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"),
                "Edge no Windows",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 10; K) {webkit} Chrome/142.0.0.0 Mobile Safari/537.36"),
                "Chrome no Android",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 15) {webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36"),
                "Samsung Internet no Android",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0".to_owned(),
                "Firefox no Linux",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15".to_owned(),
                "Safari no macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1".to_owned(),
                "Chrome no iPhone",
            ),
            ("curl/8.14".to_owned(), "curl"),
            ("Linux".to_owned(), "Navegador no Linux"),
            (String::new(), "Navegador desconhecido"),
        ] {
            assert_eq!(in_words(&agent), words, "{agent}");
        }
    }
}
