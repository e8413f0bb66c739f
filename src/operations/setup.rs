//! The operator's checklist: what a new platform still needs. It stands on the home
//! until all of it is done.

use super::outside::Service;
use super::store::SetUp;
use crate::app::App;
use crate::copies::{self, CopiesStatus};
use crate::db::BackupCopy;
use crate::panel::{Badge, Step};

/// The steps; none once all are done.
pub fn steps(app: &App, found: &SetUp, copies: &CopiesStatus) -> Vec<Step> {
    let steps = vec![
        copy(app, copies),
        email(app, found),
        marketplace(app),
        step(
            found.plan,
            "Criar um plano",
            "O que se compra, quanto custa e o que a compra dá.",
            "/admin/planos/novo",
            "Criar plano",
        ),
        step(
            found.course,
            "Publicar um curso",
            "Com as aulas que os alunos veem.",
            "/admin/cursos/novo",
            "Criar curso",
        ),
        step(
            found.student,
            "Cadastrar o primeiro aluno",
            "Ou deixe que chegue pela compra de um plano.",
            "/admin/alunos/novo",
            "Cadastrar aluno",
        ),
    ];
    if steps.iter().all(|step| step.done) { Vec::new() } else { steps }
}

fn step(done: bool, title: &str, text: &str, href: &str, button: &'static str) -> Step {
    let (title, text, href) = (title.to_owned(), text.to_owned(), href.to_owned());
    let href = if done { String::new() } else { href };
    Step { done, title, text, href, button, posts: None }
}

/// A step whose button sends a form that comes back here.
fn posted(done: bool, title: &str, text: &str, href: &str, button: &'static str) -> Step {
    let posts = Some(vec![("volta", "inicio".to_owned())]);
    Step { posts, ..step(done, title, text, href, button) }
}

fn copy(app: &App, copies: &CopiesStatus) -> Step {
    let newest = copies.newest_good().and_then(BackupCopy::made_at);
    let text = match newest {
        Some(at) => format!("A última, conferida, é de {}.", app.zone().page(at)),
        None if copies.has_folder => "Feita e conferida aqui mesmo, em um minuto.".to_owned(),
        None => "Antes, diga em database.backup_dir onde ela fica.".to_owned(),
    };
    if newest.is_some() || !copies.has_folder {
        let is_made = newest.is_some();
        return step(is_made, "Fazer uma cópia de segurança", &text, copies::PATH, "Ver como");
    }
    posted(false, "Fazer uma cópia de segurança", &text, "/admin/copias/copiar", "Fazer cópia")
}

/// E-mail is done once its server took us, in a test or with a message.
fn email(app: &App, found: &SetUp) -> Step {
    let last = app.messages.channel_tests.last(Service::Email);
    let answered = last.as_ref().is_some_and(|last| last.state == Badge::Healthy);
    let is_on = !app.config.email.smtp_url.is_empty();
    let title = "Ligar o e-mail e testar";
    if !is_on {
        let text = "Preencha email.smtp_url e reinicie o serviço. Sem e-mail, quem não tem número de chat não recebe nada.";
        return step(false, title, text, "/admin/mensagens/canais", "Ver como");
    }
    let text = match &last {
        Some(last) if !answered => last.words.clone(),
        _ if answered || found.email => "O servidor responde e nos aceita.".to_owned(),
        _ => "Pergunta ao servidor se nos aceita. Nada é enviado.".to_owned(),
    };
    posted(
        answered || found.email,
        title,
        &text,
        "/admin/diagnostico/canais/email/testar",
        "Testar",
    )
}

fn marketplace(app: &App) -> Step {
    let config = &app.config.marketplace;
    let is_on = !config.client_id.is_empty() && !config.client_secret.is_empty();
    let refuses_all = config.refuses_all_notifications();
    let text = match (is_on, refuses_all) {
        (true, false) => "As pessoas podem vincular contas.",
        (true, true) => {
            "Falta marketplace.signature = \"optional\": o marketplace não assina notificações, e todas são recusadas. Escreva a linha e reinicie o serviço."
        }
        (false, true) => {
            "Preencha marketplace.client_id, marketplace.client_secret e marketplace.signature = \"optional\", e reinicie o serviço."
        }
        (false, false) => {
            "Preencha marketplace.client_id e marketplace.client_secret e reinicie o serviço."
        }
    };
    step(
        is_on && !refuses_all,
        "Dar as credenciais do marketplace",
        text,
        "/admin/diagnostico",
        "Ver como",
    )
}
