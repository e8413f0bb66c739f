//! No secret is readable in a copy, in the files beside the database, or in a list.

use super::figure;
use crate::support::client::Request;
use crate::support::site::CRON_SECRET;
use crate::support::sync::{mirrored, shop};
use crate::support::world::LOJA;

/// How tokens of the marketplace begin.
const TOKENS: [&[u8]; 2] = [b"APP_USR-", b"TG-"];

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// What is sealed or kept as a digest stands in no file in clear. The secrets of the
/// configuration are not copied into the database at all.
#[test]
fn no_copy_and_no_list_holds_a_secret_in_clear() {
    let world = shop();
    let site = mirrored(&world);
    let admin = site.administrator();
    let callers = [site.key(&["admin"]), site.seller("ana").plan("scale"), site.extension("ana")];
    callers[0].get("/metrics").expect(200);
    callers[1].get("/api/v1/partner/orders").expect(200);
    callers[2].get("/api/ext/me").expect(200);
    site.bearer(CRON_SECRET).get("/api/v1/cron").ok();
    world.sale(LOJA);
    world.deliveries();
    let copy = site.folder().join("copy.db");
    site.command(&["backup", &copy.display().to_string()]).ok();
    site.kill();
    let mut files = vec![copy];
    files.extend(site.data_files());
    let secrets = site.secrets();
    let mut looked = 0;
    for file in files.iter().filter(|file| !file.ends_with("seller-platform.db.key")) {
        let bytes = std::fs::read(file).unwrap();
        for secret in &secrets {
            let found = holds(&bytes, secret.text.as_bytes());
            assert!(!found, "{} holds a secret: {}", file.display(), secret.what);
        }
        let found = TOKENS.iter().any(|token| holds(&bytes, token));
        assert!(!found, "{} holds a token of the marketplace", file.display());
        looked += 1;
    }
    site.start_again();
    // Every reply is searched for them as it comes.
    for list in ["/admin/auditoria", "/admin/requisicoes", "/admin/alunos", "/admin/notificacoes"] {
        admin.send(Request::new("GET", &format!("{list}?formato=csv"))).expect(200);
    }
    figure("F26", &format!("{looked} files and 4 lists, {} secrets, 0 found", secrets.len()));
}
