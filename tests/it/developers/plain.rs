//! The developer pages for programs: Markdown, the list for assistants, the feed.

use crate::support::site::Site;

#[test]
fn pages_are_there_as_markdown_and_what_is_new_as_a_feed() {
    let site = Site::builder().config("server.base_url", "https://escola.example").start();
    let nobody = site.anonymous();
    let llms = nobody.get("/llms.txt").expect(200);
    assert!(llms.header("content-type").unwrap().starts_with("text/plain"), "{llms}");
    let llms = llms.text();
    assert!(llms.starts_with("# ") && llms.contains("\n> "), "{llms}");
    let linked: Vec<&str> = llms
        .split("](https://escola.example")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
        .collect();
    assert!(linked.len() >= 7, "{linked:?}");
    for path in &linked {
        nobody.get(path).expect(200);
    }
    for path in linked.iter().filter(|path| path.contains(".md")) {
        let reply = nobody.get(path).expect(200);
        assert_eq!(reply.header("content-type"), Some("text/markdown; charset=utf-8"));
        let (text, html) = (reply.text(), nobody.get(&path.replace(".md", "")).expect(200).text());
        assert!(text.starts_with("# "), "{path}: {text}");
        let heads = text.lines().filter(|line| line.starts_with("## ")).count();
        // The reference is one text, with a heading for what has a page of its own.
        let shown = if path.contains("/referencia.md") { "<li id=" } else { "<h2" };
        assert_eq!(heads, html.split("<main").nth(1).unwrap().matches(shown).count(), "{path}");
        assert_eq!(text.matches("```").count() % 2, 0, "{path}");
        assert!(!text.contains("</") || path.contains("webhooks"), "{path}: {text}");
    }
    let one = nobody.get("/desenvolvedores/referencia/list_orders.md?lang=en").expect(200);
    assert_eq!(one.header("content-type"), Some("text/markdown; charset=utf-8"));
    let one = one.text();
    assert!(one.starts_with("# ") && one.contains("\nGET `/orders`\n"), "{one}");
    assert!(one.contains("updated_since"), "{one}");
    nobody.get("/desenvolvedores/referencia/list_nothing.md").expect(404);
    let guide = nobody.get("/desenvolvedores.md").expect(200).text();
    assert!(guide.contains("](https://escola.example/openapi.json)"), "{guide}");
    assert!(guide.contains("| --- |") && guide.contains("X-RateLimit-Limit"), "{guide}");

    let feed = nobody.get("/desenvolvedores/changelog.atom?lang=en").expect(200);
    assert_eq!(feed.header("content-type"), Some("application/atom+xml; charset=utf-8"));
    let feed = feed.text();
    let changelog = nobody.get("/desenvolvedores/changelog?lang=en").expect(200).text();
    assert_eq!(feed.matches("<entry>").count(), changelog.matches("<li id=\"m-").count(), "{feed}");
    assert!(feed.contains("<link rel=\"self\"") && feed.contains("<updated>2026-"), "{feed}");
}
