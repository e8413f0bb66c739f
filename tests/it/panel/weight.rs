//! What the first view of a page costs a browser: few bytes, few requests.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::furnish::furnish;
use crate::support::receiver::with_push;
use crate::support::world::World;

/// Most bytes as they are sent, and most requests.
const MOST_BYTES: usize = 40 * 1024;
const MOST_REQUESTS: usize = 8;

/// Assets that a page names and a browser fetches later, or for a home screen only.
const LATER: &[&str] = &["/assets/js/palette.", "/assets/js/push.", "/assets/img/icon-"];

#[test]
fn the_first_view_of_every_page_of_the_menus_is_light() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, operator) = furnish(&site, &world);
    let rui = site.person_as("rui", "drop");
    let mut heavy = Vec::new();
    let mut sizes = BTreeMap::new();
    for (who, home) in [(&ana, "/painel"), (&operator, "/admin"), (&rui, "/fornecedor")] {
        let page = who.get(home).expect(200).text();
        let mut pages: BTreeSet<&str> = named(&page, "class=\"place\" href=\"", '"').collect();
        assert!(pages.len() > 5, "{home} has no menu");
        pages.insert(home);
        for path in pages {
            let (bytes, requests) = weight(who, path, &mut sizes);
            if bytes > MOST_BYTES || requests > MOST_REQUESTS {
                heavy.push(format!("{path}: {bytes} bytes in {requests} requests"));
            }
        }
    }
    assert!(heavy.is_empty(), "{heavy:#?}");
}

/// Bytes and requests of the first view of a page; `sizes` has those of assets.
fn weight(who: &Actor<'_>, path: &str, sizes: &mut BTreeMap<String, usize>) -> (usize, usize) {
    let page = who.send(html(path)).expect(200).text();
    let sent = who.send(html(path).header("Accept-Encoding", "gzip")).expect(200).body.len();
    let assets: BTreeSet<&str> = named(&page, "=\"/assets/", '"')
        .map(|rest| rest.split('#').next().unwrap())
        .filter(|rest| !LATER.iter().any(|later| format!("/assets/{rest}").starts_with(later)))
        .collect();
    let of = |asset: &&str| {
        let address = format!("/assets/{asset}");
        *sizes.entry(address.clone()).or_insert_with(|| {
            let request = Request::new("GET", &address).header("Accept-Encoding", "gzip");
            who.send(request).expect(200).body.len()
        })
    };
    let bytes: usize = assets.iter().map(of).sum();
    (sent + bytes, 1 + assets.len())
}

fn html(path: &str) -> Request {
    Request::new("GET", path).header("Accept", "text/html")
}

/// What stands behind each place of `begin`, up to `end`.
fn named<'p>(page: &'p str, begin: &str, end: char) -> impl Iterator<Item = &'p str> {
    page.split(begin).skip(1).filter_map(move |rest| rest.split(end).next())
}
