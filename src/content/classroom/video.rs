//! Videos of lessons: which ones play on our page, and from where.
//!
//! People paste the address of the page on which they watch. For the large
//! hosts that is not the address of the player, so it is converted. Only
//! players of configured hosts are framed; anything else stays a link.

use crate::panel::form::https;

/// Names of one large host.
const YOUTUBE: [&str; 5] = [
    "youtube.com",
    "www.youtube.com",
    "m.youtube.com",
    "youtube-nocookie.com",
    "www.youtube-nocookie.com",
];
/// Its players, the one that sets no cookies first.
const YOUTUBE_PLAYERS: [&str; 2] = ["www.youtube-nocookie.com", "www.youtube.com"];
const VIMEO_PLAYER: &str = "player.vimeo.com";

/// The address of the player for a video, when its host is among `hosts`. The
/// video plays at once, because the player is loaded only after a click.
pub fn player(address: &str, hosts: &[String]) -> Option<String> {
    let uri = https(address)?;
    let host = uri.host()?.to_lowercase();
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    let allowed = |host: &str| hosts.iter().any(|known| known == host);
    if let Some(id) = youtube_id(&host, path, query) {
        let player = YOUTUBE_PLAYERS.into_iter().find(|host| allowed(host))?;
        return Some(format!("https://{player}/embed/{id}?autoplay=1&rel=0"));
    }
    if let Some((id, secret)) = vimeo_id(&host, path, query) {
        let secret = secret.map_or_else(String::new, |secret| format!("h={secret}&"));
        return allowed(VIMEO_PLAYER)
            .then(|| format!("https://{VIMEO_PLAYER}/video/{id}?{secret}autoplay=1"));
    }
    allowed(&host).then(|| uri.to_string())
}

/// A value of a query, not decoded.
fn value<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(known, value)| (known == name).then_some(value))
}

fn is_word(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn youtube_id<'u>(host: &str, path: &'u str, query: &'u str) -> Option<&'u str> {
    let mut parts = path.split('/').skip(1);
    let first = parts.next()?;
    let id = if host == "youtu.be" {
        first
    } else if !YOUTUBE.contains(&host) {
        return None;
    } else if first == "watch" {
        value(query, "v")?
    } else if matches!(first, "embed" | "shorts" | "live" | "v") {
        parts.next()?
    } else {
        return None;
    };
    is_word(id, 20).then_some(id)
}

/// The number of a video, and the secret that opens an unlisted one.
fn vimeo_id<'u>(host: &str, path: &'u str, query: &'u str) -> Option<(&'u str, Option<&'u str>)> {
    let mut parts = path.split('/').skip(1);
    let (id, secret) = match host {
        "vimeo.com" | "www.vimeo.com" => (parts.next()?, parts.next()),
        VIMEO_PLAYER if parts.next() == Some("video") => (parts.next()?, None),
        _ => return None,
    };
    let secret = secret.or_else(|| value(query, "h"));
    let secret = secret.filter(|secret| is_word(secret, 32));
    let is_number =
        id.len() <= 15 && !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((id, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn addresses_that_people_paste_become_players() {
        let usual = hosts(&["www.youtube-nocookie.com", "player.vimeo.com"]);
        let tube = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&rel=0";
        for pasted in [
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com/watch?t=42s&v=dQw4w9WgXcQ&list=PL1",
            "https://m.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://youtu.be/dQw4w9WgXcQ?si=abc",
            "https://youtube.com/shorts/dQw4w9WgXcQ",
            "https://www.youtube.com/live/dQw4w9WgXcQ?feature=share",
            "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
            "https://YOUTU.BE/dQw4w9WgXcQ",
        ] {
            assert_eq!(player(pasted, &usual).as_deref(), Some(tube), "{pasted}");
        }
        for (pasted, expected) in [
            ("https://vimeo.com/76979871", "76979871?autoplay=1"),
            ("https://vimeo.com/76979871/abc123", "76979871?h=abc123&autoplay=1"),
            ("https://player.vimeo.com/video/76979871?h=abc123", "76979871?h=abc123&autoplay=1"),
        ] {
            let expected = format!("https://player.vimeo.com/video/{expected}");
            assert_eq!(player(pasted, &usual), Some(expected), "{pasted}");
        }
    }

    #[test]
    fn only_configured_hosts_are_framed() {
        let tube = "https://youtu.be/dQw4w9WgXcQ";
        assert_eq!(player(tube, &hosts(&["player.vimeo.com"])), None);
        assert_eq!(player(tube, &[]), None);
        let other = player(tube, &hosts(&["www.youtube.com"])).unwrap();
        assert!(other.starts_with("https://www.youtube.com/embed/dQw4w9WgXcQ?"));
        let own = hosts(&["videos.example.com"]);
        let page = "https://videos.example.com/aula?id=7";
        assert_eq!(player(page, &own).as_deref(), Some(page));
        for strange in [
            "https://evil.example.com/aula",
            "https://videos.example.com.evil.com/aula",
            "https://videos.example.com@evil.com/aula",
            "http://videos.example.com/aula",
            "https://videos.example.com:8443/aula",
            "javascript:alert(1)",
        ] {
            assert_eq!(player(strange, &own), None, "{strange}");
        }
    }

    #[test]
    fn ids_stay_words() {
        let usual = hosts(&["www.youtube-nocookie.com", "player.vimeo.com"]);
        for broken in [
            "https://youtu.be/",
            "https://youtu.be/a%22b",
            "https://www.youtube.com/watch",
            "https://www.youtube.com/watch?v=",
            "https://www.youtube.com/channel/UCabc",
            "https://vimeo.com/ondemand/x",
            "https://vimeo.com/",
        ] {
            assert_eq!(player(broken, &usual), None, "{broken}");
        }
        let without = player("https://vimeo.com/1/a\"b", &usual);
        assert!(without.is_none_or(|address| !address.contains('"')));
    }
}
