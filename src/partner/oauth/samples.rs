//! The page of a request with sample data, for `page_samples.rs`.

use super::views::*;
use crate::fixture::html;
use crate::panel::{Layout, Tick};

/// Every page in its states, with this layout.
pub fn every(layout: &dyn Fn() -> Layout) -> Vec<(&'static str, String)> {
    let page = |app: &str, way: Way, acts: bool, plan: bool, may_connect: bool| {
        let whose = match way {
            Way::Site => "claude.ai",
            Way::Machine => "localhost:33418",
            Way::Installed => "cursor",
        };
        html(&ConsentPage {
            layout: layout(),
            request: "0a1b2c3d".repeat(8),
            app: app.to_owned(),
            vouched: (way == Way::Site).then(|| "claude.ai".to_owned()),
            whose: whose.to_owned(),
            way,
            person: "Ana Maria de Albuquerque Cavalcanti".to_owned(),
            email: "ana.maria.cavalcanti@exemplo.com.br".to_owned(),
            photo: String::new(),
            may_connect,
            reads: &[
                "Ler as suas vendas, os seus anúncios, produtos e estoque",
                "Ler os números das suas contas vinculadas",
            ],
            acts: if acts {
                &["Enviar avisos a você, por e-mail, Telegram ou navegador"]
            } else {
                &[]
            },
            access: if acts {
                vec![Tick::new("tudo", "Ler e agir", true), Tick::new("leitura", "Só ler", false)]
            } else {
                Vec::new()
            },
            plan: plan.then_some("Pro"),
            hub: "/painel/parceiro",
        })
    };
    let long = "Aplicativo-de-nome-comprido-sem-espaço-para-quebrar-a-linha-nem-no-celular-de-80";
    vec![
        ("conectar", page("Claude", Way::Site, true, true, true)),
        ("conectar-so-ler", page("Claude", Way::Site, false, true, true)),
        ("conectar-neste-aparelho", page(long, Way::Machine, true, false, true)),
        ("conectar-instalado", page("Cursor", Way::Installed, false, false, true)),
        ("conectar-administracao", page("Claude", Way::Site, true, false, false)),
    ]
}
