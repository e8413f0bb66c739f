//! The first callers of a server that has just started: compressing the assets
//! once needs little memory.

use std::collections::BTreeSet;

use super::narrow;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

/// More than the memory of a server that has shown its first pages. Memory that
/// compressing needed stays with the process, and adds to every attack.
const AFTER_THE_FIRST: u64 = 64 << 20;

fn ask(site: &Site, address: &str) -> Reply {
    let request = Request::new("GET", address).header("Accept-Encoding", "gzip, br");
    site.anonymous().send(request).expect(200)
}

#[test]
fn the_first_browsers_cost_little_memory() {
    let site = narrow(Site::builder().unlimited());
    let page = site.anonymous().get("/entrar").expect(200).text();
    let addresses: BTreeSet<&str> = page
        .split('"')
        .filter(|text| text.starts_with("/assets/"))
        .map(|text| text.split('#').next().unwrap_or_default())
        .collect();
    assert!(addresses.len() > 4, "{addresses:?}");
    std::thread::scope(|scope| {
        for address in addresses.iter().copied().cycle().take(4 * addresses.len()) {
            let site = &site;
            scope.spawn(move || ask(site, address));
        }
    });
    let sheet = addresses.iter().find(|address| address.contains("css/app")).unwrap();
    assert_eq!(ask(&site, sheet).header("content-encoding"), Some("gzip"));
    let peak = site.peak_memory();
    assert!(peak < AFTER_THE_FIRST, "{} MB were resident", peak >> 20);
}
