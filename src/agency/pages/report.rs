//! A client's report: the last 30 days, to print or to send.

use crate::accounts::page_layout::layout;
use crate::agency::charts::{Figures, Span};
use crate::agency::clients::store as clients;
use crate::agency::days::SOLD_DAYS;
use crate::agency::views::ReportPage;
use crate::agency::{open, page_of, store};
use crate::app::App;
use crate::base::{DAY_S, Day};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::PageTime;

/// `GET /admin/agencia/clientes/{id}/relatorio`: a client's last 30 days, to
/// print or to send.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (id, today) = (request.id()?, app.day(request.now));
    let (client, accounts, figures, top) = app.db.read(request.lane, |tx| {
        let client = clients::existing(tx, id)?;
        let accounts = clients::accounts(tx, id)?;
        let waiting = open::sum(accounts.iter().map(|account| &account.waiting));
        let figures = Figures::read(tx, id, &waiting.open, Span::MONTH, today)?;
        Ok::<_, Problem>((
            client,
            accounts,
            figures,
            store::top_listings(tx, id, request.now.minus(SOLD_DAYS * DAY_S))?,
        ))
    })?;
    let (from, to) = Span::MONTH.days(today);
    let day = |day: Day| day.date().strftime("%d/%m/%Y").to_string();
    Reply::page(&ReportPage {
        layout: layout(app, person, request),
        time: PageTime::of(app, request),
        back: page_of(id),
        name: client.entry.name,
        period: format!("{} a {}", day(from), day(to)),
        made: app.zone().page(request.now),
        charts: figures.charts(""),
        accounts,
        top,
    })
}
