//! Finds the row of the route table for a method and a path.
//!
//! It is built once from all rows. When two rows conflict, the program does not
//! start.

use http::{HeaderValue, Method};

/// The result of looking up a method and a path.
pub enum Found<'p> {
    /// A row, by its number in the table, with its path variables.
    Row(usize, Variables<'p>),
    /// The path exists with other methods: the value for `Allow`, and one of
    /// its rows.
    OtherMethods(HeaderValue, usize),
    /// No row has this path.
    Nothing,
}

/// Path variables by name, percent-decoded on reading.
pub type Variables<'p> = Vec<(String, &'p str)>;

struct Methods {
    rows: Vec<(Method, usize)>,
    allow: HeaderValue,
}

/// The matcher for all rows.
pub struct Router {
    paths: matchit::Router<usize>,
    methods: Vec<Methods>,
}

impl Router {
    /// A router for rows given as number, method, path and whether a `GET` row
    /// also answers `HEAD`. The same method and path twice, or two paths that
    /// match the same request, are an error.
    pub fn new<'r>(
        rows: impl Iterator<Item = (usize, &'r Method, &'r str, bool)>,
    ) -> Result<Self, String> {
        let mut by_path: Vec<(&str, Vec<(Method, usize)>)> = Vec::new();
        for (number, method, path, head) in rows {
            let place = by_path.iter().position(|(known, _)| *known == path).unwrap_or_else(|| {
                by_path.push((path, Vec::new()));
                by_path.len() - 1
            });
            let methods = &mut by_path[place].1;
            if methods.iter().any(|(known, _)| known == method) {
                return Err(format!("two rows for {method} {path}"));
            }
            methods.push((method.clone(), number));
            if *method == Method::GET && head {
                methods.push((Method::HEAD, number));
            }
        }
        let mut paths = matchit::Router::new();
        let mut methods = Vec::with_capacity(by_path.len());
        for (path, rows) in by_path {
            paths.insert(path, methods.len()).map_err(|error| format!("{path}: {error}"))?;
            let mut names: Vec<&str> = rows.iter().map(|(method, _)| method.as_str()).collect();
            names.push("OPTIONS");
            let allow =
                HeaderValue::from_str(&names.join(", ")).map_err(|error| error.to_string())?;
            methods.push(Methods { rows, allow });
        }
        Ok(Self { paths, methods })
    }

    /// The row for a method and a path.
    pub fn find<'p>(&self, method: &Method, path: &'p str) -> Found<'p> {
        let Ok(matched) = self.paths.at(path) else {
            return Found::Nothing;
        };
        let methods = &self.methods[*matched.value];
        match methods.rows.iter().find(|(known, _)| known == method) {
            Some((_, row)) => {
                let variables =
                    matched.params.iter().map(|(name, value)| (name.to_owned(), value)).collect();
                Found::Row(*row, variables)
            }
            None => Found::OtherMethods(methods.allow.clone(), methods.rows[0].1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_paths_lead_to_rows() {
        let rows = [(Method::GET, "/a"), (Method::POST, "/a"), (Method::GET, "/a/{id}")];
        let router = Router::new(
            rows.iter().enumerate().map(|(row, (method, path))| (row, method, *path, true)),
        )
        .unwrap();
        let row = |method: Method, path: &str| match router.find(&method, path) {
            Found::Row(row, variables) => format!("{row} {variables:?}"),
            Found::OtherMethods(allow, _) => format!("allow {}", allow.to_str().unwrap()),
            Found::Nothing => "nothing".to_owned(),
        };
        assert_eq!(row(Method::GET, "/a"), "0 []");
        assert_eq!(row(Method::HEAD, "/a"), "0 []");
        assert_eq!(row(Method::POST, "/a"), "1 []");
        assert_eq!(row(Method::GET, "/a/7"), r#"2 [("id", "7")]"#);
        assert_eq!(row(Method::DELETE, "/a"), "allow GET, HEAD, POST, OPTIONS");
        for path in ["/b", "/a/", "/A", "//a", "/a/7/8", ""] {
            assert_eq!(row(Method::GET, path), "nothing", "{path}");
        }
    }

    #[test]
    fn two_rows_for_one_request_are_refused() {
        let twice = [(0, &Method::GET, "/a", true), (1, &Method::GET, "/a", true)];
        assert!(Router::new(twice.into_iter()).is_err());
    }
}
