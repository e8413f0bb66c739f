//! Amounts and shares as pages of what goes off a price print them.

use crate::base::Cents;

/// An amount that is taken off.
pub fn minus(amount: Cents) -> String {
    if amount.0 == 0 { amount.page() } else { format!("− {}", amount.page()) }
}

/// `6,5%`: a share with at most two decimals.
pub fn percent(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}%", text.replace('.', ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_no_needless_zeros() {
        for (number, text) in
            [(14.0, "14%"), (6.5, "6,5%"), (0.0, "0%"), (12.345, "12,35%"), (-3.1, "-3,1%")]
        {
            assert_eq!(percent(number), text);
        }
    }
}
