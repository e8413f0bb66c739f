//! What the pages of an invitation print.

use askama::Template;

use super::Ending;
use crate::panel::{Layout, Notice, Tone};

/// `GET /convite/{code}`.
#[derive(Template)]
#[template(path = "agency/invitation.html", config = "assets/askama.toml")]
pub struct InvitationPage {
    pub layout: Layout,
    /// Where the form leads: the invitation's own path.
    pub action: String,
    /// Name of the client that is invited.
    pub client: String,
    /// Whether the marketplace is configured.
    pub configured: bool,
    /// `23/12/2026 14:05`.
    pub until: String,
}

/// `GET /convite/{code}` for a code that is unknown or has ended.
#[derive(Template)]
#[template(path = "agency/invitation_gone.html", config = "assets/askama.toml")]
pub struct InvitationGonePage {
    pub layout: Layout,
}

/// `GET /convite/pronto`: the result of a visit to the consent page.
#[derive(Template)]
#[template(path = "agency/invitation_end.html", config = "assets/askama.toml")]
pub struct EndPage {
    pub layout: Layout,
    pub title: String,
    pub text: &'static str,
    /// What is safe, or what to do next.
    pub notice: Notice,
}

impl EndPage {
    /// The page of an ending, with the name of an account that was authorised.
    pub fn of(layout: Layout, ending: Ending, account: &str) -> Self {
        let (title, text, notice) = match ending {
            Ending::Joined => (
                format!("Conta {account} autorizada"),
                "A equipe já pode acompanhar as vendas, os anúncios, as perguntas e as reclamações dela.",
                Notice::new(
                    Tone::Good,
                    "Pode fechar esta página",
                    "Para autorizar outra conta, saia desta no marketplace e abra o link do convite de novo.",
                ),
            ),
            Ending::JoinedForHours => (
                format!("Conta {account} autorizada, mas só por algumas horas"),
                "O marketplace não deu a renovação do acesso: daqui a poucas horas a equipe deixa de ver a conta.",
                Notice::new(
                    Tone::Warn,
                    "Avise quem mandou o convite",
                    "No aplicativo da plataforma falta a permissão offline_access. Depois do acerto, abra o link do convite de novo.",
                ),
            ),
            other => {
                let (title, text, next) = unjoined(other);
                let notice = Notice::new(Tone::Info, "Nada mudou na sua conta", next);
                (title.to_owned(), text, notice)
            }
        };
        Self { layout, title, text, notice }
    }
}

/// What happened when no account was authorised, more about it, and what to do next.
const fn unjoined(ending: Ending) -> (&'static str, &'static str, &'static str) {
    match ending {
        Ending::Collaborator => (
            "Entre com a conta principal",
            "Quem entrou no marketplace foi um colaborador, e só a conta principal da loja pode autorizar.",
            "Saia do marketplace, entre com a conta principal, não a de colaborador, e abra o link do convite de novo.",
        ),
        Ending::PendingData => (
            "O marketplace não confirmou a autorização",
            "Quase sempre há dados pendentes na conta: cadastro, documentos ou termos.",
            "Entre na conta no marketplace, complete o que ele pedir e abra o link do convite de novo.",
        ),
        Ending::AppRefused => (
            "O marketplace não aceita esta plataforma agora",
            "Não depende de você: o aplicativo dela precisa de acerto no marketplace.",
            "Avise quem mandou o convite.",
        ),
        Ending::Refused => (
            "A autorização não foi dada",
            "Você voltou do marketplace sem autorizar.",
            "Se foi sem querer, abra o link do convite de novo e autorize na página do marketplace.",
        ),
        Ending::OfAnother => (
            "Esta conta já está com outro cliente",
            "A equipe já cuida da conta que você escolheu, em nome de outro cliente.",
            "Confira se entrou no marketplace com a conta certa, ou fale com quem mandou o convite.",
        ),
        Ending::Full => (
            "Este convite já trouxe contas demais",
            "A equipe já cuida de tantas contas quantas um cliente pode ter.",
            "Fale com quem mandou o convite para juntar mais uma.",
        ),
        Ending::Expired => (
            "O pedido de autorização venceu",
            "Ele vale por dez minutos e uma vez só.",
            "Abra o link do convite de novo e comece outra vez. Se ele não abrir, peça um novo.",
        ),
        Ending::Elsewhere => (
            "Termine no navegador em que começou",
            "A autorização só vale no mesmo navegador em que o convite foi aberto.",
            "Abra o link do convite neste navegador e comece outra vez. Se não foi você quem pediu, feche esta página.",
        ),
        Ending::Joined | Ending::JoinedForHours | Ending::Unavailable => (
            "O marketplace não respondeu",
            "A autorização não pôde ser concluída agora.",
            "Espere alguns minutos, abra o link do convite de novo e comece outra vez.",
        ),
    }
}

/// The answer to a browser that made an invitation: the only page that shows it.
#[derive(Template)]
#[template(path = "agency/invitation_made.html", config = "assets/askama.toml")]
pub struct InvitationMade {
    pub layout: Layout,
    /// The client's number.
    pub client: i64,
    pub name: String,
    /// Address of the invitation.
    pub invitation: String,
    /// `23/12/2026 14:05`.
    pub until: String,
}
