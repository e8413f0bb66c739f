//! The page of the copies with sample data, for `page_samples.rs`.

use super::Doing;
use super::pages::progress;
use super::views::{CopiesPage, CopyRow, DrillPart};
use crate::fixture::html;
use crate::panel::{Badge, Layout, Notice, Tone, When};

/// The page in its states, with this frame and these times.
pub fn all(
    layout: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let page = |count: usize, troubled: bool| {
        let row = |index: usize| {
            let is_broken = troubled && index == 0;
            let name = format!("seller-platform-202611{:02}-060000.db", 20 - index);
            CopyRow {
                name,
                size: "482,0 MB".to_owned(),
                made: Some(ago(3_600 * 24 * i64::try_from(index).unwrap_or(0) + 7_200)),
                checked: (index < 5).then(|| ago(7_200)),
                schema: "26".to_owned(),
                state: if is_broken { Badge::Broken } else { Badge::Healthy },
                fault: if is_broken {
                    "Não é mais o que era quando foi feita.".to_owned()
                } else {
                    String::new()
                },
            }
        };
        CopiesPage {
            layout: layout(super::PATH),
            attention: if troubled {
                vec![Notice::new(
                    Tone::Bad,
                    "Falta espaço para a cópia de segurança (20/11/2026 06:00)",
                    "Há 120,0 MB livres em /var/lib/seller-platform/backups e a cópia, com a reserva do serviço, precisa de 546,0 MB. Nada foi copiado; libere espaço ou mude database.backup_dir.",
                )]
            } else {
                vec![]
            },
            progress: (!troubled && count > 0).then(|| progress(Doing::Copying, 62)),
            folder: "/var/lib/seller-platform/backups".to_owned(),
            rule: "A cada 24 h; as 7 mais novas ficam".to_owned(),
            next: "21/11/2026 06:00".to_owned(),
            checked: (count > 0).then(|| ago(7_200)),
            bytes: "3,4 GB".to_owned(),
            copies: (0..count).map(row).collect(),
            drill: troubled.then(|| DrillPart {
                file: "seller-platform-20261119-060000.db".to_owned(),
                at: ago(120),
                notice: Notice::new(
                    Tone::Good,
                    "O ensaio deu certo",
                    "Levou 2,3 s. A cópia restaurada abriu e tem 1.203.944 linhas em 84 tabelas, como diz o manifesto. Desde então, 2 tabelas mudaram de tamanho. O que foi restaurado já foi removido.",
                ),
                changed: vec![
                    ("ml_order".to_owned(), "81.204".to_owned(), "81.960".to_owned()),
                    ("audit".to_owned(), "9.120".to_owned(), "9.131".to_owned()),
                ],
                more: String::new(),
            }),
        }
    };
    vec![
        ("copias-vazio", html(&page(0, false))),
        ("copias", html(&page(7, false))),
        ("copias-problema", html(&page(7, true))),
    ]
}
