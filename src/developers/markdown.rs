//! Turns the main part of a developer page into Markdown. It reads the HTML of our own
//! templates, which is well-formed, and nothing else.

use std::fmt::Write as _;

/// Elements of which nothing is shown: what is pressed or filled in has no use as text.
const LEFT_OUT: [&str; 6] = ["button", "form", "label", "script", "style", "svg"];

/// The text of a page, with addresses of this service made whole.
pub fn of(html: &str, base_url: &str) -> String {
    let main = html.split_once("<main").map_or(html, |(_, rest)| rest);
    let main = main.split_once('>').map_or(main, |(_, rest)| rest);
    let main = main.split_once("</main>").map_or(main, |(main, _)| main);
    let mut page = Writer { base_url, ..Writer::default() };
    page.read(main);
    let mut text = page.out.trim().to_owned();
    text.push('\n');
    text
}

#[derive(Default)]
struct Writer<'p> {
    base_url: &'p str,
    out: String,
    /// Whether spaces count.
    is_code: bool,
    /// Lists around, the innermost last: whether it is numbered, and its items so far.
    lists: Vec<(bool, usize)>,
    /// The cells of the row so far, and where the present one begins.
    cells: Vec<String>,
    cell_at: Option<usize>,
    is_head: bool,
    /// Where the links around lead; `None` for places of the page itself.
    links: Vec<Option<String>>,
}

impl Writer<'_> {
    fn read(&mut self, html: &str) {
        let mut rest = html;
        while let Some((text, after)) = rest.split_once('<') {
            self.text(text);
            let Some((tag, after)) = after.split_once('>') else { return };
            rest = after;
            let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty());
            let name = name.unwrap_or_default();
            if tag.starts_with('/') {
                self.close(name);
            } else if LEFT_OUT.contains(&name) || has_attribute(tag, "hidden") {
                rest = after_element(rest, name);
            } else {
                self.open(name, tag);
            }
        }
        self.text(rest);
    }

    fn text(&mut self, html: &str) {
        let text = unescaped(html);
        if self.is_code {
            self.out.push_str(&text);
            return;
        }
        for (at, word) in text.split(|c: char| c.is_ascii_whitespace()).enumerate() {
            if at > 0 {
                self.space();
            }
            self.out.push_str(word);
        }
    }

    fn space(&mut self) {
        let begins = self.cell_at == Some(self.out.len());
        if !begins && !self.out.is_empty() && !self.out.ends_with([' ', '\n', '[']) {
            self.out.push(' ');
        }
    }

    /// Begins a paragraph; within an item or a cell, a word.
    fn block(&mut self) {
        if self.cell_at.is_some() || !self.lists.is_empty() {
            return self.space();
        }
        self.paragraph();
    }

    /// Begins a line, also within an item.
    fn line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Begins a paragraph, also within an item.
    fn paragraph(&mut self) {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
    }

    fn open(&mut self, name: &str, tag: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" => {
                self.paragraph();
                let level = name[1..].parse().unwrap_or(1);
                self.out.push_str(&"#".repeat(level));
                self.out.push(' ');
            }
            "p" | "div" | "section" | "header" | "figure" | "figcaption" | "dl" | "table" => {
                self.block();
            }
            "ul" | "ol" => {
                if self.lists.is_empty() {
                    self.block();
                }
                self.lists.push((name == "ol", 0));
            }
            "li" => self.item(),
            "dt" => {
                self.block();
                self.out.push_str("- ");
            }
            "dd" => self.out.push_str(": "),
            "thead" => self.is_head = true,
            "th" | "td" => self.cell_at = Some(self.out.len()),
            "pre" => {
                self.block();
                self.line();
                self.out.push_str("```\n");
                self.is_code = true;
            }
            "code" if !self.is_code => self.out.push('`'),
            "strong" => self.out.push_str("**"),
            "span" | "br" => self.space(),
            "a" => self.link(tag),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "p" | "div" | "section" | "header" | "figure"
            | "figcaption" | "table" => self.block(),
            "ul" | "ol" => {
                self.lists.pop();
                self.block();
            }
            "thead" => self.is_head = false,
            "th" | "td" => {
                let begin = self.cell_at.take().unwrap_or(self.out.len());
                let cell = self.out.split_off(begin);
                self.cells.push(cell.trim().replace('|', "\\|"));
            }
            "tr" => self.row(),
            "pre" => {
                self.is_code = false;
                self.line();
                self.out.push_str("```\n\n");
            }
            "code" if !self.is_code => self.out.push('`'),
            "strong" => self.out.push_str("**"),
            "a" => {
                if let Some(Some(to)) = self.links.pop() {
                    let _ = write!(self.out, "]({to})");
                }
            }
            _ => {}
        }
    }

    fn item(&mut self) {
        self.line();
        let depth = self.lists.len().saturating_sub(1);
        self.out.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some((true, items)) => {
                *items += 1;
                let _ = write!(self.out, "{items}. ");
            }
            _ => self.out.push_str("- "),
        }
    }

    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        self.line();
        let _ = writeln!(self.out, "| {} |", cells.join(" | "));
        if self.is_head {
            let _ = writeln!(self.out, "|{}", " --- |".repeat(cells.len()));
        }
    }

    fn link(&mut self, tag: &str) {
        let to = attribute(tag, "href").unwrap_or_default();
        let to = match to {
            "" => None,
            to if to.starts_with('#') => None,
            to if to.starts_with('/') => Some(format!("{}{}", self.base_url, unescaped(to))),
            to => Some(unescaped(to)),
        };
        if to.is_some() {
            self.out.push('[');
        }
        self.links.push(to);
    }
}

/// What follows an element, which may hold others of its name.
fn after_element<'h>(html: &'h str, name: &str) -> &'h str {
    if matches!(name, "input" | "br" | "img" | "hr") {
        return html;
    }
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let (mut rest, mut depth) = (html, 1);
    while let Some(end) = rest.find(&close) {
        depth += rest[..end].matches(&open).count();
        depth -= 1;
        rest = rest[end..].split_once('>').map_or("", |(_, after)| after);
        if depth == 0 {
            break;
        }
    }
    rest
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    after.split_once('"').map(|(value, _)| value)
}

fn has_attribute(tag: &str, name: &str) -> bool {
    tag.split(' ').any(|part| part == name)
}

/// The characters behind the references that templates write.
fn unescaped(html: &str) -> String {
    let mut text = html.to_owned();
    for (written, meant) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&nbsp;", "\u{a0}"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ] {
        if text.contains('&') {
            text = text.replace(written, meant);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_as_text() {
        let html = "<nav>x</nav><main id=\"a\"><h1>Guide</h1>\n<p>One  <code>a &lt; b</code>,\n<a href=\"/x?y=1&amp;z\">two</a>.</p>
            <h2 id=\"b\"><a href=\"#b\">Lists</a></h2><ol><li><span>first</span></li><li>next</li></ol>
            <table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1|2</td><td><code>x</code></td></tr></tbody></table>
            <div><button>Copy</button><pre><code>one &amp;\n  two</code></pre></div><form><p>no<form></form></p></form><p hidden>no</p>
            <dl><div><dt>Key</dt><dd>value</dd></div></dl></main><p>no</p>";
        let text = of(html, "https://e.example");
        let expected = "# Guide\n\nOne `a < b`, [two](https://e.example/x?y=1&z).\n\n## Lists\n\n1. first\n2. next\n\n| A | B |\n| --- | --- |\n| 1\\|2 | `x` |\n\n```\none &\n  two\n```\n\n- Key: value\n";
        assert_eq!(text, expected);
    }
}
