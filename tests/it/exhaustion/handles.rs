//! No file handle is left.

use crate::support::client::{Reply, Request};
use crate::support::site::Site;

/// Lets the server open `more` more files; `None` lets it open as many as it
/// ever needs.
fn leave(site: &Site, more: Option<usize>) {
    let pid = site.pid();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let open: Vec<u64> =
        open.map(|entry| entry.unwrap().file_name().to_string_lossy().parse().unwrap()).collect();
    // The limit is on handle numbers, and a new handle gets the lowest free one.
    let next = more.and_then(|more| (0..).filter(|number| !open.contains(number)).nth(more));
    site.limit_handles(next.unwrap_or(1024));
}

fn is_served_or_put_off(what: &str, reply: &Reply) -> bool {
    if reply.status == 503 {
        let seconds = reply.header("retry-after").unwrap_or_default();
        assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0), "{what}\n{reply}");
    }
    assert!(reply.status < 500 || reply.status == 503, "{what}\n{reply}");
    reply.status == 503
}

#[test]
fn a_copy_is_put_off_while_no_file_can_be_opened() {
    let site = Site::builder().unlimited().start();
    let keeper = site.key(&["admin"]);
    keeper.get("/metrics").expect(200);
    let mut put_off = 0;
    for more in 0..16 {
        leave(&site, Some(more));
        let copy = keeper.get("/api/v1/admin/backup");
        put_off += u32::from(is_served_or_put_off(&format!("{more} handles left"), &copy));
    }
    assert!(put_off > 2, "the limit was never reached");
    leave(&site, None);
    keeper.get("/api/v1/admin/backup").expect(200);
    let beside = std::fs::read_dir(site.folder().join("data")).unwrap();
    let left = beside
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".sent"));
    assert_eq!(left.count(), 0);
}

#[test]
fn pages_and_figures_come_without_a_handle() {
    let site = Site::builder().unlimited().start();
    let (ana, admin, keeper) = (site.person("ana"), site.administrator(), site.key(&["admin"]));
    let nobody = site.anonymous();
    let ask = |put_off: &mut u32| {
        for (actor, paths) in [
            (&nobody, &["/healthz", "/readyz", "/entrar", "/api/v1/planos", "/assets/ui.css"][..]),
            (
                &ana,
                &[
                    "/painel",
                    "/painel/produtos",
                    "/painel/produtos?formato=csv",
                    "/painel/ml",
                    "/perfil",
                ],
            ),
            (
                &admin,
                &[
                    "/admin",
                    "/admin/alunos",
                    "/admin/auditoria",
                    "/admin/requisicoes",
                    "/admin/cron",
                ],
            ),
            (&keeper, &["/metrics"]),
        ] {
            for path in paths {
                *put_off += u32::from(is_served_or_put_off(path, &actor.get(path)));
            }
            let photo = Request::new("POST", "/perfil/foto").header("Accept", "application/json");
            let photo = photo.body("multipart/form-data; boundary=x", b"--x--");
            *put_off += u32::from(is_served_or_put_off("a form", &actor.send(photo)));
        }
    };
    let mut put_off = 0;
    ask(&mut put_off);
    assert_eq!(put_off, 0);
    leave(&site, Some(0));
    ask(&mut put_off);
    leave(&site, None);
    assert_eq!(put_off, 0);
}
