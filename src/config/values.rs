//! The settings read as types.
//!
//! A wrong type or a value outside its range is an error that names the key,
//! the value and its origin. Asking for a key that the shipped file does not
//! have is a mistake of the program and panics, so a test that reads the
//! defaults finds it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use toml::Value;

use super::error::ConfigError;
use super::settings::{Result, SECRETS, Setting, Settings, bad, key_path};
use crate::base::Secret;

/// The value of a text, or the problem with the text, such as "must be …".
pub type Parsed<T> = std::result::Result<T, &'static str>;

impl Settings {
    fn text(&self, key: &str) -> Result<&str> {
        let setting = self.setting(key);
        let text = setting.value.as_str();
        text.ok_or_else(|| setting.bad("must be a text in quotes"))
    }

    /// A text that is parsed by a rule.
    pub(super) fn parsed<T>(&self, key: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<T> {
        let text = self.text(key)?;
        parse(text).map_err(|problem| self.setting(key).bad(problem))
    }

    pub(super) fn one_of<T>(
        &self,
        key: &str,
        from_name: fn(&str) -> Option<T>,
        names: &[&str],
    ) -> Result<T> {
        from_name(self.text(key)?)
            .ok_or_else(|| self.setting(key).bad(format!("must be one of {}", names.join(", "))))
    }

    pub(super) fn switch(&self, key: &str) -> Result<bool> {
        let setting = self.setting(key);
        let switch = setting.value.as_bool();
        switch.ok_or_else(|| setting.bad("must be true or false"))
    }

    /// A whole number within a range that the type holds.
    pub(super) fn whole<T: TryFrom<i64>>(
        &self,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<T> {
        let setting = self.setting(key);
        setting
            .value
            .as_integer()
            .filter(|number| range.contains(number))
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                let (least, most) = range.into_inner();
                setting.bad(format!("must be a whole number from {least} to {most}"))
            })
    }

    /// A number, whole or not, within a range.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<f64>) -> Result<f64> {
        self.setting(key).number(range)
    }

    /// A list of texts, each parsed by a rule.
    pub(super) fn list<T>(&self, key: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Vec<T>> {
        const LIST: &str = "must be a list of texts, such as [\"a\", \"b\"]";
        let setting = self.setting(key);
        let items = setting.value.as_array().ok_or_else(|| setting.bad(LIST))?;
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let text = item.as_str().ok_or_else(|| setting.bad(LIST))?;
            list.push(parse(text).map_err(|problem| setting.bad(format!("each {problem}")))?);
        }
        Ok(list)
    }

    /// A text that is never shown, checked by a rule.
    pub(super) fn secret(&self, key: &str, rule: fn(&str) -> Parsed<()>) -> Result<Secret> {
        debug_assert!(SECRETS.contains(&key), "{key} must be masked");
        self.parsed(key, |text| rule(text).map(|()| Secret::new(text)))
    }

    /// A list of texts that are never shown, none of them empty.
    pub(super) fn secrets(&self, key: &str) -> Result<Vec<Secret>> {
        debug_assert!(SECRETS.contains(&key), "{key} must be masked");
        self.list(key, |text| match text {
            "" => Err("must not be empty"),
            text => Ok(Secret::new(text)),
        })
    }

    /// The texts of a table with free names.
    pub(super) fn words_by_name(
        &self,
        table: &str,
        parse: impl Fn(&str) -> Parsed<String>,
    ) -> Result<BTreeMap<String, String>> {
        self.by_name(table, |setting| {
            let text = setting.value.as_str().unwrap_or_default();
            parse(text).map_err(|problem| setting.bad(problem))
        })
    }

    /// The numbers of a table with free names.
    pub(super) fn numbers_by_name(
        &self,
        table: &str,
        range: &RangeInclusive<f64>,
    ) -> Result<BTreeMap<String, f64>> {
        self.by_name(table, |setting| setting.number(range.clone()))
    }

    fn by_name<T>(
        &self,
        table: &str,
        read: impl Fn(&Setting) -> Result<T>,
    ) -> Result<BTreeMap<String, T>> {
        let table = key_path(table);
        self.members(&table)
            .map(|setting| Ok((setting.path[table.len()].clone(), read(setting)?)))
            .collect()
    }

    fn setting(&self, key: &str) -> &Setting {
        let path = key_path(key);
        self.all
            .iter()
            .find(|setting| setting.path == path)
            .unwrap_or_else(|| panic!("the shipped file has no key {key}"))
    }
}

impl Setting {
    fn number(&self, range: RangeInclusive<f64>) -> Result<f64> {
        let number = match self.value {
            Value::Float(number) => Some(number),
            Value::Integer(number) => i32::try_from(number).ok().map(f64::from),
            _ => None,
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            self.bad(format!("must be a number from {least} to {most}"))
        })
    }

    fn bad(&self, problem: impl Into<String>) -> ConfigError {
        bad(&self.path, &self.value, &self.origin, problem)
    }
}
