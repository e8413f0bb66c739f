//! A strict parser of the pages that the server makes: every element is closed,
//! in order. What it rejects, a browser would have to guess.

/// Elements without content.
const VOID: [&str; 8] = ["br", "col", "hr", "img", "input", "link", "meta", "wbr"];
/// Elements whose text is not markup.
const RAW: [&str; 2] = ["script", "style"];
/// Elements whose text is not markup either, but has character references.
const TEXT_ONLY: [&str; 2] = ["textarea", "title"];

/// One element, with its direct content.
#[derive(Debug)]
pub struct Element {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    /// Its own text and that of everything inside, as people read it.
    pub text: String,
    /// The index of its parent in the list.
    pub parent: Option<usize>,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The words of an attribute with several words.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        self.get(name).unwrap_or_default().split_whitespace()
    }

    pub fn is(&self, tags: &[&str]) -> bool {
        tags.contains(&&*self.tag)
    }
}

/// A page: its elements in the order in which they open.
pub struct Page(pub Vec<Element>);

impl Page {
    /// Parses a page; the error says what no browser should have to guess.
    pub fn read(html: &str) -> Result<Self, String> {
        let rest =
            html.strip_prefix("<!doctype html>").ok_or("it does not begin with its doctype")?;
        let mut reader = Reader { rest, elements: Vec::new(), open: Vec::new() };
        while !reader.rest.is_empty() {
            reader.step()?;
        }
        match reader.open.last() {
            None => Ok(Self(reader.elements)),
            Some(left) => Err(format!("<{}> stays open", reader.elements[*left].tag)),
        }
    }

    pub fn all<'p>(&'p self, tags: &'p [&str]) -> impl Iterator<Item = &'p Element> {
        self.0.iter().filter(|element| element.is(tags))
    }

    /// The element with this id.
    pub fn by_id(&self, id: &str) -> Option<&Element> {
        self.0.iter().find(|element| element.get("id") == Some(id))
    }

    /// The element and all elements around it, from the inside.
    pub fn path<'p>(&'p self, element: &'p Element) -> impl Iterator<Item = &'p Element> {
        std::iter::successors(Some(element), |one| one.parent.map(|at| &self.0[at]))
    }
}

struct Reader<'h> {
    rest: &'h str,
    elements: Vec<Element>,
    /// Open elements, from the outside.
    open: Vec<usize>,
}

impl<'h> Reader<'h> {
    fn step(&mut self) -> Result<(), String> {
        let Some(markup) = self.rest.strip_prefix('<') else {
            let end = self.rest.find('<').unwrap_or(self.rest.len());
            let text = self.take(end);
            return self.say(&decoded(text)?);
        };
        if let Some(closing) = markup.strip_prefix('/') {
            let (tag, rest) = closing.split_once('>').ok_or("a closing tag without its end")?;
            self.rest = rest;
            let open = self.open.pop();
            let open = open.map(|at| self.elements[at].tag.as_str());
            return match open {
                Some(open) if open == tag => Ok(()),
                _ => Err(format!("</{tag}> closes {open:?}")),
            };
        }
        if markup.starts_with('!') {
            return Err(format!("a comment or declaration: {}", start(self.rest)));
        }
        self.rest = markup;
        self.opening()
    }

    fn opening(&mut self) -> Result<(), String> {
        let tag = self.word();
        if tag.is_empty() {
            return Err(format!("a stray <{}", start(self.rest)));
        }
        let mut attributes: Vec<(String, String)> = Vec::new();
        let closed = loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix("/>") {
                self.rest = rest;
                break true;
            }
            if let Some(rest) = self.rest.strip_prefix('>') {
                self.rest = rest;
                break false;
            }
            let name = self.word();
            if name.is_empty() {
                return Err(format!("in <{tag}>: {}", start(self.rest)));
            }
            if attributes.iter().any(|(known, _)| *known == name) {
                return Err(format!("<{tag}> has {name} twice"));
            }
            let value = self.value().map_err(|wrong| format!("<{tag} {name}>: {wrong}"))?;
            attributes.push((name.to_owned(), value));
        };
        let at = self.elements.len();
        self.elements.push(Element {
            tag: tag.to_owned(),
            attributes,
            text: String::new(),
            parent: self.open.last().copied(),
        });
        if closed || VOID.contains(&tag) {
            return Ok(());
        }
        if RAW.contains(&tag) || TEXT_ONLY.contains(&tag) {
            let close = format!("</{tag}>");
            let end = self.rest.find(&close).ok_or(format!("<{tag}> stays open"))?;
            let text = self.take(end);
            self.rest = &self.rest[close.len()..];
            self.open.push(at);
            let said = if RAW.contains(&tag) { Ok(()) } else { self.say(&decoded(text)?) };
            self.open.pop();
            return said;
        }
        self.open.push(at);
        Ok(())
    }

    /// The value after `=`, in quotes of either kind; empty without one.
    fn value(&mut self) -> Result<String, String> {
        let Some(rest) = self.rest.strip_prefix('=') else {
            return Ok(String::new());
        };
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or("its value has no quotes")?;
        let (value, rest) = rest[1..].split_once(quote).ok_or("its value has no end")?;
        self.rest = rest;
        decoded(value)
    }

    fn word(&mut self) -> &'h str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn take(&mut self, length: usize) -> &'h str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Adds a text to every element that is open.
    fn say(&mut self, text: &str) -> Result<(), String> {
        if self.open.is_empty() && !text.trim().is_empty() {
            return Err(format!("text outside of the page: {}", start(text)));
        }
        for at in &self.open {
            self.elements[*at].text.push_str(text);
        }
        Ok(())
    }
}

/// A text with its references resolved; only those that our templates write.
fn decoded(text: &str) -> Result<String, String> {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        whole.push_str(&rest[..at]);
        let (name, after) = rest[at + 1..]
            .split_once(';')
            .filter(|(name, _)| name.len() < 8)
            .ok_or_else(|| format!("a bare & in {:?}", start(&rest[at..])))?;
        let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        });
        whole.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "nbsp" => '\u{a0}',
            _ => number.and_then(char::from_u32).ok_or(format!("&{name};"))?,
        });
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

mod tests {
    use super::Page;

    #[test]
    fn elements_texts_and_attributes_are_read() {
        let page = Page::read(
            "<!doctype html>\n<html><body class=\"a b\"><p id='x'>1 &lt; 2<br>&#60;i&#x3e;</p><svg><path d=\"M0\"/></svg></body></html>",
        )
        .unwrap();
        let tags: Vec<&str> = page.0.iter().map(|one| one.tag.as_str()).collect();
        assert_eq!(tags, ["html", "body", "p", "br", "svg", "path"]);
        let text = page.by_id("x").unwrap();
        assert_eq!(text.text, "1 < 2<i>");
        let outside: Vec<&str> = page.path(text).map(|one| one.tag.as_str()).collect();
        assert_eq!(outside, ["p", "body", "html"]);
        assert_eq!(page.0[1].words("class").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn what_a_browser_would_have_to_guess_is_refused() {
        for wrong in [
            "<html></html>",
            "<!doctype html><p>",
            "<!doctype html><b><i></b></i>",
            "<!doctype html><p a=b></p>",
            "<!doctype html><p a='1' a='2'></p>",
            "<!doctype html><p>a & b</p>",
            "<!doctype html><p a='x></p>",
            "<!doctype html><p>&unknown;</p>",
            "<!doctype html><!-- x -->",
            "<!doctype html><textarea>",
            "<!doctype html></p>",
            "<!doctype html>text",
        ] {
            assert!(Page::read(wrong).is_err(), "{wrong}");
        }
    }
}
