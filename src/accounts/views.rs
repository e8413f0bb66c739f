//! What the pages of signing in and setting up print.

use askama::Template;

use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Notice};

/// `GET /entrar`, and the answer to a sign-in that failed.
#[derive(Template)]
#[template(path = "login.html", config = "assets/askama.toml")]
pub struct LoginPage {
    pub layout: Layout,
    /// Why the last attempt failed.
    pub alert: Option<Notice>,
    /// The typed e-mail address, kept.
    pub email: Field,
    /// The password; its value is never sent back.
    pub password: Field,
    /// Where to go afterwards; empty for the role's home.
    pub back: String,
    /// Whether nobody can administer this installation yet.
    pub needs_setup: bool,
    /// People of the demonstration to sign in as; empty outside of it.
    pub demo: Vec<DemoLogin>,
}

/// A person of the demonstration.
#[derive(Clone, Debug)]
pub struct DemoLogin {
    /// What this person is, such as `Aluna com três lojas`.
    pub who: &'static str,
    pub email: String,
    /// Password, public by intent.
    pub password: String,
}

/// `GET /senha` with a good link, and the answer when the password is invalid.
#[derive(Template)]
#[template(path = "choose_password.html", config = "assets/askama.toml")]
pub struct ChoosePage {
    pub layout: Layout,
    /// The code of the one-time link.
    pub code: String,
    /// The person's e-mail address, for the browser that stores the password.
    pub email: String,
    /// Civil time until which the link works, such as `31/12/2026 14:05`.
    pub valid_until: String,
    /// The password; its value is never sent back.
    pub password: Field,
}

/// `GET /senha` with a link that does not work any more.
#[derive(Template)]
#[template(path = "link_gone.html", config = "assets/askama.toml")]
pub struct LinkGonePage {
    pub layout: Layout,
}

/// `GET /entrar/esqueci`, and the answer to its form.
#[derive(Template)]
#[template(path = "forgot.html", config = "assets/askama.toml")]
pub struct ForgotPage {
    pub layout: Layout,
    /// Why nothing was sent, after too many requests.
    pub alert: Option<Notice>,
    /// The typed e-mail address, kept.
    pub email: Field,
    /// Whether a link was asked for; the page does not say whether one was
    /// sent.
    pub sent: bool,
    /// Whether messages leave this installation at all.
    pub sends: bool,
}

/// `GET /configurar` with a good link: the first administrator.
#[derive(Template)]
#[template(path = "setup.html", config = "assets/askama.toml")]
pub struct SetupPage {
    pub layout: Layout,
    /// Above the form when fields are invalid.
    pub alert: Option<Notice>,
    /// The code of the one-time link.
    pub code: String,
    /// Civil time until which the link works, such as `14:32`.
    pub valid_until: String,
    /// The administrator's name.
    pub name: Field,
    /// The administrator's e-mail address.
    pub email: Field,
    /// The password; its value is never sent back.
    pub password: Field,
}

/// `GET /configurar` with a link that no longer works.
#[derive(Template)]
#[template(path = "setup_gone.html", config = "assets/askama.toml")]
pub struct SetupGonePage {
    pub layout: Layout,
    /// Whether there is an administrator already, so that no link is needed.
    pub done: bool,
}

/// The answer to an administrator who views the panel as a student and tried to
/// change something.
#[derive(Template)]
#[template(path = "view_only.html", config = "assets/askama.toml")]
pub struct ViewOnlyPage {
    pub layout: Layout,
    pub name: String,
    /// Civil time until which the view lasts, such as `14:32`.
    pub until: String,
}

/// `GET /confirmar`: the password once more.
#[derive(Template)]
#[template(path = "confirm.html", config = "assets/askama.toml")]
pub struct ConfirmPage {
    pub layout: Layout,
    /// Why it cannot be checked now.
    pub alert: Option<Notice>,
    /// The person's e-mail address, for the browser that knows the password.
    pub email: String,
    /// The password; its value is never sent back.
    pub password: Field,
    /// Own path to go on to; may be empty.
    pub back: String,
}

/// An API plan as its owner sees it.
pub struct ApiPlan {
    /// `Starter`, `Pro` or `Scale`.
    pub name: &'static str,
    /// In force or over.
    pub state: Badge,
    /// `até 31/12/2026`, or `sem data de término`.
    pub until: String,
    /// `1.204 de 10.000 chamadas neste mês`.
    pub usage: String,
}
