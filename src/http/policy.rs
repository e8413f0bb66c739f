//! The Content-Security-Policy of pages: everything comes from us, nothing is
//! inline, no other site may frame them.

use http::HeaderValue;

const PAGE: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The policy of a page.
pub const fn page() -> HeaderValue {
    HeaderValue::from_static(PAGE)
}

/// The policy of a page whose form is answered with a redirect to one more
/// origin. Browsers apply `form-action` to that redirect too.
pub fn page_with_way_to(source: &str) -> HeaderValue {
    let policy = PAGE.replace("form-action 'self'", &format!("form-action 'self' {source}"));
    // The address of the redirect is checked when it is registered.
    HeaderValue::try_from(policy).unwrap_or_else(|_| page())
}

/// The policy of the service worker, which shows our icon and calls us.
pub const fn worker() -> HeaderValue {
    HeaderValue::from_static(
        "default-src 'none'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'",
    )
}

/// The policy of a page that may frame players of these hosts, by HTTPS.
pub fn page_with_frames(hosts: &[String]) -> HeaderValue {
    if hosts.is_empty() {
        return page();
    }
    let mut policy = format!("{PAGE}; frame-src");
    for host in hosts {
        policy.push_str(" https://");
        policy.push_str(host);
    }
    // Host names are checked when the configuration is read.
    HeaderValue::try_from(policy).unwrap_or_else(|_| page())
}

/// The policy of a page that shows pictures of one more origin.
pub fn page_with_images(origin: &str) -> HeaderValue {
    // The origin is checked when the configuration is read.
    HeaderValue::try_from(format!("{PAGE}; img-src 'self' {origin}")).unwrap_or_else(|_| page())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_of_the_named_hosts_alone() {
        assert_eq!(page_with_frames(&[]), page());
        let hosts = ["a.example.com".to_owned(), "b.example.com".to_owned()];
        let policy = page_with_frames(&hosts);
        let policy = policy.to_str().unwrap();
        assert!(policy.starts_with(PAGE));
        assert!(policy.ends_with("; frame-src https://a.example.com https://b.example.com"));
    }
}
