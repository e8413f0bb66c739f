//! `GET /painel/buscar`, `/fornecedor/buscar` and `/admin/buscar`, and the page for browsers
//! without a connection.

use http::Method;
use serde::{Deserialize, Serialize};

use super::views::{FindPage, OfflinePage};
use super::{Hits, found_acts, found_pages, store, words};
use crate::accounts::menu;
use crate::accounts::page_layout::layout;
use crate::accounts::person::Group;
use crate::app::App;
use crate::http::router::Found;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::{Person, Visitor};
use crate::panel::Layout;
use crate::panel::live::Desk;

/// Longest search.
const LONGEST: usize = 100;

#[derive(Deserialize)]
struct Query {
    #[serde(default)]
    q: Field<String>,
}

#[derive(Serialize)]
struct FoundJson {
    grupos: Vec<Hits>,
}

/// What a search finds, as page or JSON; without one, the acts and the pages.
pub fn find(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let asked: Query = request.query()?;
    let mut check = Check::text();
    let search = check.optional_line("q", asked.q, LONGEST);
    check.finish()?;
    let words = words(&search);
    let watcher = menu::watcher(&person.account);
    let exists = |href: &str| {
        let path = href.split('?').next().unwrap_or_default();
        matches!(app.server.router.find(&Method::GET, path), Found::Row(..))
    };
    let pages = Hits { title: "Páginas", items: found_pages(menu::of(&person.account), &words) };
    let acts = Hits { title: "Ações", items: found_acts(watcher.desk, &words, exists) };
    let mut groups = Vec::new();
    if words.is_empty() {
        groups.extend([acts, pages]);
    } else {
        groups.extend([pages, acts]);
        groups.extend(things(app, person, watcher.desk, request, &search, &words)?);
    }
    groups.retain(|group| !group.items.is_empty());
    if request.wants_json() {
        return Reply::json(&FoundJson { grupos: groups });
    }
    Reply::page(&FindPage {
        layout: layout(app, person, request),
        path: request.path().to_owned(),
        search,
        groups,
    })
}

/// The things that a search finds.
fn things(
    app: &App,
    person: &Person,
    desk: Desk,
    request: &Request,
    search: &str,
    words: &[String],
) -> Result<Vec<Hits>, Problem> {
    let (owner, zone) = (person.account.user_id, app.zone());
    let hits = |title, items| Hits { title, items };
    app.db.read(request.lane, |tx| {
        let mut found = Vec::new();
        match desk {
            Desk::Student | Desk::Staff => {
                if desk == Desk::Staff {
                    found.push(hits("Clientes", store::clients(tx, search)?));
                }
                found.push(hits("Vendas", store::sales(tx, owner, search, zone)?));
                let products = store::products(tx, owner, search, "/painel/produtos")?;
                found.push(hits("Produtos", products));
                found.push(hits("Anúncios", store::listings(tx, owner, search)?));
            }
            Desk::Supplier => {
                found.push(hits("Pedidos", store::drop_orders(tx, owner, search)?));
                found.push(hits("Vendedores", store::sellers(tx, owner, words)?));
                let products = store::products(tx, owner, search, "/fornecedor/produtos")?;
                found.push(hits("Produtos", products));
            }
            Desk::Operator => {
                found.push(hits("Alunos", store::persons(tx, Group::Students, search)?));
                found.push(hits("Equipe", store::persons(tx, Group::Staff, search)?));
                found.push(hits("Clientes", store::clients(tx, search)?));
            }
        }
        Ok(found)
    })
}

/// `GET /sem-conexao`: what the service worker shows while nothing is reached.
pub fn offline(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    Reply::page(&OfflinePage { layout: Layout::outside(&app.config.server.name, request.now) })
}
