//! Paths as logs may show them: segments that look like a secret are masked.
//!
//! Rows with a secret in their path are shown by their pattern. But people also
//! mistype addresses, and a code in a path that no row knows is still a code.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// What stands for a masked segment.
const MASK: &str = "***";
/// A run of so many hexadecimal digits, with a letter among them, is masked.
const HEX: usize = 16;
/// A run of so many decimal digits is masked: no number of ours is as long.
const DECIMAL: usize = 20;
/// A run of so many characters of base64url in both cases is masked.
const BASE64: usize = 20;
/// A run of so many letters and digits is masked, whatever their case.
const BASE32: usize = 24;
/// Of these, so many must be digits: words have none.
const DIGITS: usize = 2;

/// A path with its secrets masked.
pub fn masked(path: &str) -> Cow<'_, str> {
    if !path.split('/').any(is_secret) {
        return Cow::Borrowed(path);
    }
    let shown = path.split('/').map(|segment| if is_secret(segment) { MASK } else { segment });
    Cow::Owned(shown.collect::<Vec<_>>().join("/"))
}

/// Whether a segment of a path contains something like a token or a code.
pub fn is_secret(segment: &str) -> bool {
    if segment.len() < HEX {
        return false;
    }
    // Encoded twice is decoded twice, as whoever logs in front of us may do.
    let once = percent_decode_str(segment).decode_utf8_lossy();
    let plain = percent_decode_str(&once).decode_utf8_lossy();
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "-_+=".contains(c);
    has_run(&plain, |c| c.is_ascii_hexdigit() || c == '-', is_hex)
        || has_run(&plain, is_base64, is_mixed)
        || has_run(&plain, |c| c.is_ascii_alphanumeric(), is_code)
}

fn has_run(text: &str, is_part: impl Fn(char) -> bool, is_it: fn(&str) -> bool) -> bool {
    text.split(|c: char| !is_part(c)).any(is_it)
}

fn is_hex(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let letters = run.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= DECIMAL || digits > 0 && letters > 0 && digits + letters >= HEX
}

fn is_mixed(run: &str) -> bool {
    run.len() >= BASE64
        && run.bytes().any(|byte| byte.is_ascii_lowercase())
        && run.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_code(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    run.len() >= BASE32 && digits >= DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_tokens_are_masked_wherever_they_stand() {
        let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
        let base64 = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        for (path, shown) in [
            (format!("/convites/{hex}"), "/convites/***"),
            (format!("/Convite/{hex}"), "/Convite/***"),
            (format!("/convite/{hex}/"), "/convite/***/"),
            (format!("/convite/{}", hex.to_uppercase()), "/convite/***"),
            (format!("/convite%2F{hex}"), "/***"),
            (format!("/convite/{hex}."), "/convite/***"),
            (format!("/a/{}/b", &hex[..16]), "/a/***/b"),
            (format!("/a/{}%2d{}", &hex[..9], &hex[9..20]), "/a/***"),
            (format!("/a/%30{}", &hex[1..16]), "/a/***"),
            (format!("/a/%2530{}", &hex[1..16]), "/a/***"),
            (format!("/{base64}"), "/***"),
            (format!("/x/ptk_{}", &hex[..48]), "/x/***"),
            (format!("/x/whsec_{base64}="), "/x/***"),
            ("/x/f81d4fae-7dec-11d0-a765-00a0c91e6bf6".to_owned(), "/x/***"),
            ("/x/mfrggzdfmztwq2lknnwg23tpoa".to_owned(), "/x/***"),
            (format!("/x/{}", "7".repeat(20)), "/x/***"),
        ] {
            assert_eq!(masked(&path), shown, "{path}");
        }
    }

    #[test]
    fn addresses_of_ours_stay() {
        for path in [
            "/",
            "/painel/ml/calculadora/taxas-json",
            "/painel/vendas/2000009123456789/nota",
            "/v1/partner/stores/1234567890/metrics",
            "/desenvolvedores/referencia/drop_link_listings_bulk",
            "/x/calculadora-de-taxas-do-mercado-livre-2026",
            "/x/MLB1234567890123",
            "/x/2026-11-20",
            "/fornecedor/parceiro/webhooks/12/entregas/7/reenviar",
            "/.well-known/oauth-protected-resource/mcp",
        ] {
            assert_eq!(masked(path), path);
        }
        let long = format!("/{}", "x".repeat(500));
        assert_eq!(masked(&long), long);
        for row in crate::routes::all() {
            assert_eq!(masked(row.path), row.path);
        }
    }
}
