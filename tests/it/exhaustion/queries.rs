//! Addresses and forms with thousands of names.

use std::fmt::Write as _;

use crate::support::client::{Reply, Request};
use crate::support::site::{CRON_SECRET, Site};

use super::{besieged, narrow};

/// An address with `count` parameters.
fn asking(path: &str, count: usize) -> String {
    let mut address = path.to_owned();
    for number in 0..count {
        write!(address, "{}{number:x}", if number == 0 { '?' } else { '&' }).unwrap();
    }
    address
}

#[test]
fn thousands_of_names_cost_others_nothing() {
    let site = narrow(Site::builder().unlimited());
    let ana = site.person("ana");
    let address = asking("/entrar", 2_000);
    assert!(address.len() > 7 * 1024 && address.len() < 8 * 1024, "{}", address.len());
    besieged(&site, &ana, "/painel", || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let nobody = site.anonymous();
                    for _ in 0..250 {
                        nobody.get(&address).expect(422);
                    }
                });
            }
        });
    });
}

#[test]
fn an_address_has_at_most_64_parameters() {
    let site = Site::builder().unlimited().start();
    let (ana, seller, extension) =
        (site.person("ana"), site.seller("bia").plan("pro"), site.extension("caio"));
    let (nobody, cron, admin) = (site.anonymous(), site.bearer(CRON_SECRET), site.administrator());
    let too_many = |reply: Reply, status: u16| {
        let reply = reply.expect(status);
        assert_eq!(reply.code(), "validation_failed", "{reply}");
        assert!(reply.text().contains("too many parameters; at most 64"), "{reply}");
    };
    too_many(seller.get(&asking("/api/v1/partner/orders", 65)), 400);
    too_many(nobody.get(&asking("/api/v1/planos", 65)), 422);
    too_many(extension.get(&asking("/api/ext/me", 65)), 422);
    too_many(cron.get(&asking("/api/v1/cron", 65)), 422);
    too_many(ana.get(&asking("/painel/vendas", 65)), 422);
    too_many(admin.get(&asking("/admin/alunos", 2_000)), 422);
    too_many(nobody.get(&asking("/healthz", 65)), 422);
    // Escaped and repeated names count, too; empty pieces do not.
    too_many(nobody.get(&format!("/api/v1/planos?{}", "%61&".repeat(65))), 422);
    nobody.get(&format!("/api/v1/planos?a{}", "&".repeat(200))).expect(200);
    for (actor, path) in
        [(&nobody, "/api/v1/planos"), (&ana, "/painel/vendas"), (&nobody, "/entrar")]
    {
        actor.get(&asking(path, 64)).expect(200);
    }
    let repeated = ana.get("/painel/vendas?q=a&q=b").expect(422);
    assert!(repeated.text().contains("must be given once"), "{repeated}");
    // A caller without access gets that error first.
    nobody.get(&asking("/api/v1/partner/orders", 65)).expect(401);
    nobody.get(&asking("/nada", 65)).expect(404);
    let page = Request::new("GET", &asking("/entrar", 65)).header("Accept", "text/html");
    let page = nobody.send(page).expect(422).text();
    assert!(page.contains("tem campos demais"), "{page}");
    let file = ana.get(&asking("/painel/ml/etiqueta", 65)).expect(422);
    assert!(file.text().contains("tem campos demais"), "{file}");
}

#[test]
fn a_form_has_as_many_fields_as_ours_need() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    let ana = site.person("ana");
    let form = |target: &str, body: &str| {
        let request = Request::new("POST", target).header("Accept", "application/json");
        request.body("application/x-www-form-urlencoded", body.as_bytes())
    };
    let fields = |count: usize| asking("", count)[1..].to_owned();
    let refused = nobody.send(form("/entrar", &fields(65))).expect(422);
    assert!(refused.text().contains("too many fields; at most 64"), "{refused}");
    let refused = nobody.send(form("/entrar", &fields(64))).expect(422);
    assert!(!refused.text().contains("too many"), "{refused}");
    // Boxes to tick share a name.
    let refused = nobody.send(form("/entrar", &"ids=1&".repeat(257))).expect(422);
    assert!(refused.text().contains("too many fields; at most 256"), "{refused}");
    let refused = nobody.send(form("/entrar", &"ids=1&".repeat(256))).expect(422);
    assert!(!refused.text().contains("too many"), "{refused}");
    let parts = |count: usize| {
        let part = "--limite\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n";
        let body = format!("{}--limite--\r\n", part.repeat(count));
        let request = Request::new("POST", "/painel/produtos/importar");
        let request = request.header("Accept", "application/json");
        ana.send(request.body("multipart/form-data; boundary=limite", body.as_bytes())).expect(422)
    };
    assert!(parts(32).text().contains("choose a CSV file"));
    assert!(parts(33).text().contains("a form has at most 32 parts"));
    assert!(parts(20_000).text().contains("a form has at most 32 parts"));
}
