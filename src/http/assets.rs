//! Embedded files under addresses that change with their content.
//!
//! An address contains a digest (`/assets/css/app.3f9c2a1b.css`), so browsers
//! may keep the file for a year. Text is compressed once, at the first request
//! for it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue};
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

use super::pack::accepts;
use super::problem::Problem;
use super::reply::Reply;
use crate::base::text::hex;

#[derive(RustEmbed)]
#[folder = "assets/"]
#[include = "css/*"]
#[include = "js/*"]
#[include = "img/*"]
#[include = "vendor/*"]
struct Files;

/// The path under which assets are served.
const PREFIX: &str = "/assets/";
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

struct Asset {
    address: String,
    media: HeaderValue,
    plain: Bytes,
    /// The same compressed; `None` when that is not smaller.
    gzip: OnceLock<Option<Bytes>>,
}

/// The style sheets of all pages, in their order: one file for browsers.
const SHEETS: [&str; 6] = ["reset", "tokens", "components", "pages", "program", "agency"];
/// Its name.
const STYLE: &str = "css/app.css";

static ASSETS: LazyLock<HashMap<String, Asset>> = LazyLock::new(|| {
    let files =
        Files::iter().filter_map(|name| load(&name).map(|asset| (name.into_owned(), asset)));
    files.chain(asset(STYLE, style().into()).map(|asset| (STYLE.to_owned(), asset))).collect()
});

/// All style sheets, without comments and indentation.
fn style() -> String {
    let sheets = SHEETS.iter().filter_map(|name| Files::get(&format!("css/{name}.css")));
    let text: String =
        sheets.map(|file| String::from_utf8_lossy(&file.data).into_owned()).collect();
    let mut style = String::with_capacity(text.len());
    for (place, part) in text.split("/*").enumerate() {
        let code = if place == 0 { part } else { part.split_once("*/").map_or("", |two| two.1) };
        for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
            style.push_str(line);
            style.push('\n');
        }
    }
    style
}

/// Assets by the part of their address after the prefix.
static ADDRESSES: LazyLock<HashMap<&'static str, &'static Asset>> = LazyLock::new(|| {
    ASSETS.values().map(|asset| (&asset.address[PREFIX.len()..], asset)).collect()
});

fn load(name: &str) -> Option<Asset> {
    let plain = match Files::get(name)?.data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    asset(name, plain)
}

fn asset(name: &str, plain: Bytes) -> Option<Asset> {
    let digest = hex(&Sha256::digest(&plain)[..4]);
    let (stem, extension) = name.rsplit_once('.')?;
    Some(Asset {
        address: format!("{PREFIX}{stem}.{digest}.{extension}"),
        media: HeaderValue::from_static(media_of(extension)),
        plain,
        gzip: OnceLock::new(),
    })
}

fn media_of(extension: &str) -> &'static str {
    match extension {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The address of an asset by its name under `assets/`, such as `css/app.css`.
///
/// # Panics
/// When there is no such asset: templates name only assets that exist, which
/// a test checks.
pub fn url(name: &str) -> &'static str {
    ASSETS.get(name).map_or_else(|| panic!("there is no asset {name}"), |asset| &asset.address)
}

/// The asset at an address below `/assets/`.
pub fn answer(rest: &str, headers: &HeaderMap) -> Result<Reply, Problem> {
    let asset = ADDRESSES.get(rest).ok_or_else(Problem::not_found)?;
    Ok(asset.reply(headers).with(CACHE_CONTROL, FOREVER))
}

/// An asset by its name, for an address that does not change with its content.
pub fn named(name: &str, headers: &HeaderMap) -> Result<Reply, Problem> {
    const ASK: HeaderValue = HeaderValue::from_static("no-cache");
    let asset = ASSETS.get(name).ok_or_else(Problem::not_found)?;
    Ok(asset.reply(headers).with(CACHE_CONTROL, ASK))
}

impl Asset {
    fn reply(&self, headers: &HeaderMap) -> Reply {
        let (body, encoding) = self.encoded(headers);
        let mut reply = Reply::of(self.media.clone(), body);
        if self.is_text() {
            reply = reply.with(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if let Some(encoding) = encoding {
            reply = reply.with(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        reply
    }

    fn is_text(&self) -> bool {
        self.media.to_str().is_ok_and(|media| media.starts_with("text/") || media.ends_with("+xml"))
    }

    fn encoded(&self, headers: &HeaderMap) -> (Bytes, Option<&'static str>) {
        if self.is_text()
            && accepts(headers, "gzip")
            && let Some(bytes) = self.gzip.get_or_init(|| gzip(&self.plain))
        {
            return (bytes.clone(), Some("gzip"));
        }
        (self.plain.clone(), None)
    }
}

/// The bytes as gzip; `None` when that is not smaller.
fn gzip(plain: &[u8]) -> Option<Bytes> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(plain).ok()?;
    packer.finish().ok().filter(|packed| packed.len() < plain.len()).map(Bytes::from)
}
