//! What the pages of clients print.

use askama::Template;

use super::{Client, ClientAccount, ListedClient};
use crate::agency::charts::Charts;
use crate::agency::checkup::Finding;
use crate::panel::PageTime;
use crate::panel::{FormView, Layout, Pick, Progress, Table};

/// `GET /admin/agencia/clientes`.
#[derive(Template)]
#[template(path = "agency/clients.html", config = "assets/askama.toml")]
pub struct ClientsPage {
    pub layout: Layout,
    pub time: PageTime,
    pub table: Table,
    pub clients: Vec<ListedClient>,
    /// Progress of reading all clients, while it runs.
    pub progress: Option<Progress>,
    /// Whether there is a client that can be read.
    pub can_read: bool,
}

/// `GET /admin/agencia/clientes/{id}`.
#[derive(Template)]
#[template(path = "agency/client.html", config = "assets/askama.toml")]
pub struct ClientPage {
    pub layout: Layout,
    pub time: PageTime,
    pub client: Client,
    /// Whether the reader may include accounts of students and remove the client.
    pub is_admin: bool,
    /// Whether an invitation works.
    pub invited: bool,
    pub charts: Charts,
    pub accounts: Vec<(ClientAccount, Vec<Finding>)>,
}

/// `GET /admin/agencia/clientes/novo` and the form of a client that exists.
#[derive(Template)]
#[template(path = "agency/client_form.html", config = "assets/askama.toml")]
pub struct ClientForm<'c> {
    pub layout: Layout,
    /// The client that is changed.
    pub existing: Option<&'c Client>,
    /// Whether the reader may include an account of a student.
    pub is_admin: bool,
    pub team: Vec<Pick>,
    pub form: FormView,
    /// The form that adds an account.
    pub account: FormView,
}
