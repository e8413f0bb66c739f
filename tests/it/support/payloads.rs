//! Two hundred texts that would run if a page, a script, a spreadsheet or a
//! template did not treat them as plain text. Each that can run sets
//! `window.ran` to its own number.

/// Texts that close the context around the payload.
const BREAKOUTS: [&str; 13] = [
    "",
    "\">",
    "'>",
    "</title>",
    "</textarea>",
    "</select></option>",
    "</script>",
    "</style>",
    "</svg>",
    "--><!-- -->",
    "]]>",
    "</a></td></table>",
    "</dialog></form>",
];

/// Texts that then run; `#` is the payload's number.
const VECTORS: [&str; 10] = [
    "<script>ran=#</script>",
    "<img src=x onerror=ran=#>",
    "<svg onload=ran=#>",
    "<svg><script>ran=#</script></svg>",
    "<details open ontoggle=ran=#>",
    "<input autofocus onfocus=ran=#>",
    "<iframe src=javascript:parent.ran=#>",
    "<video><source onerror=ran=#>",
    "<math><mi xlink:href=javascript:ran=#>x",
    "<style>@import'//evil.example/#'",
];

/// Texts that need no tag, or that are meant for something else than HTML.
const OTHERS: [&str; 70] = [
    // Out of an attribute.
    "\" autofocus onfocus=ran=# x=\"",
    "' autofocus onfocus=ran=# x='",
    "\" onmouseover=ran=# style=position:fixed;inset:0 x=\"",
    "x onerror=ran=#",
    "` onmouseover=ran=#",
    "\"popover id=\"menu",
    "\" data-copy=\"conteudo\" data-menu=\"#",
    "\" formaction=\"javascript:ran=#",
    // Elements that lead to another site.
    "<meta http-equiv=refresh content='0;url=//evil.example/#'>",
    "<base href=//evil.example/#>",
    "<link rel=stylesheet href=//evil.example/#>",
    "<a href=javascript:ran=#>x</a>",
    "<form action=//evil.example/#><button>Entrar",
    "<object data=javascript:ran=#>",
    "<embed src=javascript:ran=#>",
    "<body onpageshow=ran=#>",
    "<marquee onstart=ran=#>x",
    "<template><script>ran=#</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=ran=#>'>",
    "<svg><animate onbegin=ran=# attributeName=x dur=1s>",
    "<svg><use href=data:image/svg+xml,#>",
    "<math><mtext><mglyph><style><img src=x onerror=ran=#>",
    "<plaintext>#",
    "<!--#",
    "<![CDATA[<script>ran=#</script>]]>",
    "<?xml version='1.0'?>#",
    // Addresses.
    "javascript:ran=#",
    "JaVaScRiPt:ran=#",
    "data:text/html,<script>opener.ran=#</script>",
    "vbscript:ran=#",
    "//evil.example/#",
    "https://evil.example/#\" onclick=ran=#",
    // Already escaped once, or escaped in another way.
    "&lt;script&gt;ran=#&lt;/script&gt;",
    "&#60;script&#62;ran=#&#60;/script&#62;",
    "&amp;lt;script&amp;gt;#",
    "%3Cscript%3Eran=#%3C/script%3E",
    "\\x3cscript\\x3eran=#\\x3c/script\\x3e",
    "\\u003cscript\\u003eran=#\\u003c/script\\u003e",
    "+ADw-script+AD4-ran=#+ADw-/script+AD4-",
    "\u{ff1c}script\u{ff1e}ran=#\u{ff1c}/script\u{ff1e}",
    "\u{2039}script\u{203a}ran=#",
    "<scr<script>ipt>ran=#</scr</script>ipt>",
    "<ſcript>ran=#</ſcript>",
    "'-(ran=#)-'",
    "\\'-(ran=#)//",
    "\";ran=#;//",
    "*/ran=#/*",
    // Templates.
    "{{constructor.constructor('ran=#')()}}",
    "{{ 7*7 }}#",
    "{% raw %}#{% endraw %}",
    "${ran=#}",
    "#{ran=#}",
    "<%= 7*7 %>#",
    "[[7*7]]#",
    "%(nome)s %s %n #",
    // Spreadsheets.
    "=cmd|' /C calc'!A#",
    "=HYPERLINK(\"//evil.example/#\",\"<b>x</b>\")",
    "+1+#",
    "-1+#",
    "@SUM(1,#)",
    // Databases, paths and heads.
    "' OR 1=1; DROP TABLE user; -- #",
    "../../../../etc/passwd #",
    "%00%0d%0aSet-Cookie:%20ran=#",
    // Texts that some languages read as special values.
    "null #",
    "undefined #",
    "__proto__ #",
    "[object Object] #",
    "1e999 NaN -0 #",
    // Unusual letters.
    "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308} #",
    "👩‍👩‍👧‍👦🏳️‍🌈 ÅÄ ß İı ﷽ #",
];

/// Every payload.
pub fn all() -> Vec<String> {
    let mixed = BREAKOUTS.iter().flat_map(|out| {
        let tags = VECTORS.iter();
        tags.map(move |vector| format!("{out}{vector}"))
    });
    let texts = mixed.chain(OTHERS.iter().map(|other| (*other).to_owned()));
    texts.zip(1..).map(|(text, number)| text.replace('#', &format!("{number}"))).collect()
}

/// Checks the payloads, and that they fit the fields they are sent through.
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn there_are_two_hundred_short_ones() {
        let all = super::all();
        assert_eq!(all.len(), 200);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 200);
        for one in all {
            let length = one.chars().count();
            assert!((2..=60).contains(&length), "{length}: {one}");
            assert_eq!(one, one.trim(), "blanks around would be taken off");
        }
    }
}
