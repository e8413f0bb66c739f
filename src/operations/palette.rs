//! The colours of the design language, read from the style sheet, and their
//! contrast ratios (WCAG 2.2).

use std::sync::LazyLock;

use crate::panel::Badge;

/// The only file that names colours.
const TOKENS: &str = include_str!("../../assets/css/tokens.css");

/// Least contrast with the background: of text, and of control outlines and the
/// focus ring.
const TEXT: f64 = 4.5;
const SHAPE: f64 = 3.0;

/// A colour as the style sheet writes it, and its brightness.
#[derive(Clone, Debug)]
pub struct Colour {
    /// `oklch(50% 0.2 275)`.
    pub css: String,
    luminance: f64,
}

/// A colour with a meaning, in both themes.
#[derive(Clone, Debug)]
pub struct Token {
    /// `ink-soft`.
    pub name: String,
    pub light: Colour,
    pub dark: Colour,
}

/// A foreground colour with all backgrounds that it is used on.
pub struct Pair {
    pub front: &'static Token,
    pub backs: Vec<&'static Token>,
    /// What the foreground colour is used for.
    pub what: &'static str,
    /// The worst ratio of each theme, and the least that is allowed.
    pub light: f64,
    pub dark: f64,
    pub least: f64,
}

/// A ratio of contrast, `4,5`.
pub fn ratio_in_words(ratio: &f64) -> String {
    format!("{ratio:.1}").replace('.', ",")
}

impl Pair {
    /// The badge of the pair.
    pub fn badge(&self) -> Badge {
        if self.holds() { Badge::Healthy } else { Badge::Attention }
    }

    /// Whether both themes reach the least ratio.
    pub fn holds(&self) -> bool {
        self.light >= self.least && self.dark >= self.least
    }
}

/// Every opaque colour, in the order of the style sheet.
pub static COLOURS: LazyLock<Vec<Token>> =
    LazyLock::new(|| TOKENS.lines().filter_map(token).collect());

/// Colours that pages use together: foreground, backgrounds, least ratio, use.
const USES: &[(&str, &[&str], f64, &str)] = &[
    ("ink", &["page", "surface", "raised", "sunk"], TEXT, "Texto"),
    ("ink-soft", &["page", "surface", "raised", "sunk"], TEXT, "Texto de apoio"),
    ("ink", &["good-soft", "warn-soft", "bad-soft"], TEXT, "Texto em aviso"),
    ("accent", &["page", "surface", "sunk", "accent-soft"], TEXT, "Link e lugar atual"),
    ("on-accent", &["accent-solid", "accent-solid-over"], TEXT, "Botão principal"),
    ("on-accent", &["bad-solid", "bad-solid-over"], TEXT, "Botão que exclui"),
    ("on-stage", &["stage"], TEXT, "Texto sobre vídeo"),
    ("on-tier", &["tier-1", "tier-2", "tier-3", "tier-4", "tier-5"], TEXT, "Número de um selo"),
    ("good", &["surface", "good-soft"], TEXT, "Em ordem"),
    ("warn", &["surface", "warn-soft"], TEXT, "Atenção"),
    ("bad", &["surface", "raised", "bad-soft"], TEXT, "Falha"),
    ("edge", &["page", "surface", "raised"], SHAPE, "Contorno de campo"),
    ("accent", &["raised"], SHAPE, "Anel do foco"),
];

/// Every entry of `USES` with its worst ratios.
///
/// # Panics
/// When `USES` names a colour that is not in the style sheet; a test covers this.
pub fn pairs() -> Vec<Pair> {
    let find = |name: &str| {
        let found = COLOURS.iter().find(|token| token.name == name);
        found.unwrap_or_else(|| panic!("no colour {name}"))
    };
    USES.iter()
        .map(|(front, backs, least, what)| {
            let front = find(front);
            let backs: Vec<_> = backs.iter().map(|back| find(back)).collect();
            let worst = |side: fn(&Token) -> &Colour| {
                let ratios = backs.iter().map(|back| ratio(side(front), side(back)));
                ratios.fold(f64::INFINITY, f64::min)
            };
            Pair {
                light: worst(|token| &token.light),
                dark: worst(|token| &token.dark),
                front,
                backs,
                what,
                least: *least,
            }
        })
        .collect()
}

/// A line such as `--ink: light-dark(oklch(24% 0.022 275), oklch(93% 0.008 275));`.
fn token(line: &str) -> Option<Token> {
    let (name, value) = line.trim().strip_prefix("--")?.split_once(": ")?;
    let mut colours = value.split("oklch(").skip(1).map(|rest| {
        let inside = rest.split(')').next().unwrap_or_default();
        colour(inside)
    });
    let light = colours.next()??;
    let dark = match colours.next() {
        Some(dark) => dark?,
        None => light.clone(),
    };
    Some(Token { name: name.to_owned(), light, dark })
}

/// A colour such as `50% 0.2 275`; `None` for a transparent one.
fn colour(inside: &str) -> Option<Colour> {
    let mut numbers = inside.split(' ').map(|text| text.trim_end_matches('%').parse::<f64>());
    let (lightness, chroma, hue) =
        (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    if inside.contains('/') {
        return None;
    }
    Some(Colour {
        css: format!("oklch({inside})"),
        luminance: luminance(lightness / 100.0, chroma, hue.to_radians()),
    })
}

/// Relative luminance of an OKLCH colour, as a screen shows it.
fn luminance(lightness: f64, chroma: f64, hue: f64) -> f64 {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let cube = |by_a: f64, by_b: f64| (lightness + by_a * a + by_b * b).powi(3);
    let long = cube(0.396_337_777_4, 0.215_803_757_3);
    let middle = cube(-0.105_561_345_8, -0.063_854_172_8);
    let short = cube(-0.089_484_177_5, -1.291_485_548_0);
    let red = 4.076_741_662_1 * long - 3.307_711_591_3 * middle + 0.230_969_929_2 * short;
    let green = -1.268_438_004_6 * long + 2.609_757_401_1 * middle - 0.341_319_396_5 * short;
    let blue = -0.004_196_086_3 * long - 0.703_418_614_7 * middle + 1.707_614_701_0 * short;
    0.2126 * red.clamp(0.0, 1.0) + 0.7152 * green.clamp(0.0, 1.0) + 0.0722 * blue.clamp(0.0, 1.0)
}

fn ratio(one: &Colour, other: &Colour) -> f64 {
    let (high, low) = if one.luminance > other.luminance {
        (one.luminance, other.luminance)
    } else {
        (other.luminance, one.luminance)
    };
    (high + 0.05) / (low + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_ratios_come_out() {
        let of = |inside| colour(inside).unwrap();
        let (black, white, grey) = (of("0% 0 0"), of("100% 0 0"), of("59.99% 0 0"));
        assert!((ratio(&black, &white) - 21.0).abs() < 0.01);
        assert!((ratio(&grey, &white) - ratio(&white, &grey)).abs() < f64::EPSILON);
        // sRGB #808080 is oklch(59.99% 0 0); against white that is 3.95.
        assert!((ratio(&grey, &white) - 3.95).abs() < 0.02);
        // #0000ff against white is 8.59.
        let blue = of("45.201% 0.313214 264.052");
        assert!((ratio(&blue, &white) - 8.59).abs() < 0.03);
    }

    #[test]
    fn every_pair_can_be_told_apart_in_both_themes() {
        assert!(COLOURS.len() > 20, "the style sheet was not read");
        for pair in pairs() {
            assert!(
                pair.holds(),
                "{} ({}): {:.2} light, {:.2} dark, at least {}",
                pair.what,
                pair.front.name,
                pair.light,
                pair.dark,
                pair.least
            );
        }
    }
}
