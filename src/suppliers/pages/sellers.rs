//! `/fornecedor/vendedores`: invitations and the sellers who accepted them.

use serde::Serialize;
use serde_json::json;

use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::{App, Visit};
use crate::audit::Actor;
use crate::base::{Cents, UserId, Zone};
use crate::db::WriteTx;
use crate::dropshipping::debts::{self, Owed};
use crate::dropshipping::orders::Whose;
use crate::dropshipping::relations::{self, Invitation, Invited, Related};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::MessageKind;
use crate::panel::{Answer, Flash, Form, FormView, PageTime, flashes, form};
use crate::suppliers::views::SellersPage;
use crate::suppliers::{end_relation, with_owed};
use crate::wire;

const PATH: &str = "/fornecedor/vendedores";

const FLASHES: &[Flash] = flashes! {
    "convidado": good "Convite enviado", "Quando a pessoa aceitar, os anúncios dela aparecem aqui.";
    "retirado": good "Convite retirado";
    "encerrado": good "Relação encerrada",
        "Os vínculos acabaram. O que já era devido continua em Pedidos.";
    "cheio": warn "O convite não foi enviado",
        "Há convites demais à espera de resposta. Retire alguns antes.";
};

/// Errors for people who cannot be invited: for API clients, and for the panel.
const SELF: (&str, &str) = ("is your own", "Este é o seu próprio e-mail.");
const KNOWN: (&str, &str) =
    ("is a seller of yours already", "Esta pessoa já está entre os seus vendedores.");

/// An invitation to be made.
#[derive(Clone, Default)]
pub struct NewInvitation {
    email: String,
}

const FORM: Form<NewInvitation> = form! {
    "email": Email(|new| &mut new.email), "Informe o e-mail com que a pessoa entra na plataforma.";
};

wire! {
    /// A seller as the supplier's programs read it.
    #[derive(Serialize)]
    struct SellerJson of(seller: Related, owed: Owed, zone: Zone) {
        id: String = seller.id.to_string(),
        nome: String = seller.name,
        email: String = seller.email,
        vinculos: i64 = seller.links,
        a_vencer: Cents = owed.pending.amount,
        vencido: Cents = owed.overdue.amount,
        desde: String = zone.spaced(seller.since),
    }
}

wire! {
    /// An invitation that waits.
    #[derive(Serialize)]
    struct InvitationJson of(invitation: Invitation, zone: Zone) {
        id: String = invitation.id.to_string(),
        email: String = invitation.email,
        convidado_em: String = zone.spaced(invitation.invited_at),
    }
}

#[derive(Serialize)]
struct SellersJson {
    vendedores: Vec<SellerJson>,
    convites: Vec<InvitationJson>,
}

/// The sellers of a supplier with what each owes, and the open invitations.
type SellersData = (Vec<(Related, Owed)>, Vec<Invitation>);

fn read((app, person, request): Visit<'_>) -> Result<SellersData, Problem> {
    let owner = person.account.user_id;
    app.db.read(request.lane, |tx| {
        let owed = debts::owed_by_other(tx, Whose::Related(owner), request.now)?;
        let sellers = with_owed(relations::sellers(tx, owner)?, &owed);
        Ok((sellers, relations::invitations_of(tx, owner)?))
    })
}

/// `GET /fornecedor/vendedores`, as page or JSON.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let own = read((app, person, request))?;
    if request.wants_json() {
        let zone = app.zone();
        let (sellers, invitations) = (own.0.into_iter(), own.1.into_iter());
        return Reply::ok(&SellersJson {
            vendedores: sellers.map(|(one, owed)| SellerJson::of(one, owed, zone)).collect(),
            convites: invitations.map(|one| InvitationJson::of(one, zone)).collect(),
        });
    }
    let form = FORM.show(None, app.zone()).unfocused();
    page((app, person, request), own, form)
}

fn page(
    (app, person, request): Visit<'_>,
    (sellers, invitations): SellersData,
    form: FormView,
) -> Result<Reply, Problem> {
    Reply::page(&SellersPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        form,
        sellers,
        invitations,
        time: PageTime::of(app, request),
    })
}

/// `POST /fornecedor/convites`: invites the person who has an e-mail address.
pub fn invite(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let read = FORM.entry(request, app.zone(), None).and_then(|new| {
        if new.email == person.account.email {
            return Err(Problem::field("email", SELF.0));
        }
        let owner = person.account.user_id;
        if app.db.read(request.lane, |tx| relations::is_seller(tx, owner, &new.email))? {
            return Err(Problem::field("email", KNOWN.0));
        }
        Ok(new)
    });
    let new = match read {
        Ok(new) => new,
        Err(problem) => return faulty(visit, problem),
    };
    let (owner, name) = (person.account.user_id, person.account.name.clone());
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let channel_set = ChannelSet::of(&app.config);
    Ok(Box::new(move |tx| match relations::invite(tx, owner, &new.email)? {
        Invited::Made(id) => {
            relations::note(tx, &actor, "relacao.convidar", id, &new.email, &name)?;
            tell(tx, channel_set, owner, &name, &new.email, id)?;
            answer.made(id, PATH, "convidado")
        }
        Invited::Waits(id) => answer.done(id, PATH, "convidado"),
        Invited::Related => Err(Problem::field("email", KNOWN.0)),
        Invited::Full => {
            let said = "Há convites demais em aberto. Retire algum antes.";
            answer.refused(Problem::conflict(ForPeople(said)), PATH, "cheio")
        }
    }))
}

/// Notifies the invited person, if they have an account that can accept.
fn tell(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    supplier: UserId,
    name: &str,
    email: &str,
    invitation: i64,
) -> Result<(), Problem> {
    let found = accounts::by_email(tx, email)?;
    let Some(seller) = found.filter(|one| one.role.is_student() && !one.suspended) else {
        return Ok(());
    };
    if relations::was_invited_recently(tx, supplier, email, invitation)? {
        return Ok(());
    }
    let cause = format!("convite:{invitation}");
    let news = News {
        title: "Convite de fornecedor",
        text: &format!("{name} convidou você para vender os produtos dele"),
        params: json!({ "supplier_id": supplier.0, "supplier": name }),
        ..News::message(MessageKind::DropInvitation, channel_set, &cause)
    };
    messages::tell(tx, seller.user_id, news)?;
    Ok(())
}

fn faulty(visit: Visit<'_>, problem: Problem) -> Result<Job, Problem> {
    let request = visit.2;
    form::show_again(request, problem, |faults| {
        let mut form = FORM.again(request, faults);
        for (name, said) in faults {
            for (_, words) in [SELF, KNOWN].into_iter().filter(|(fault, _)| said == fault) {
                form.say(name, words);
            }
        }
        page(visit, read(visit)?, form)
    })
}

/// `POST /fornecedor/convites/{id}/retirar`: withdraws an invitation.
pub fn withdraw(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let name = person.account.name.clone();
    Ok(Box::new(move |tx| {
        let email = relations::withdraw(tx, owner, id)?.ok_or_else(Problem::not_found)?;
        relations::note(tx, &actor, "relacao.retirar", id, &email, &name)?;
        answer.done(id, PATH, "retirado")
    }))
}

/// `POST /fornecedor/vendedores/{id}/encerrar`: ends the relation with a seller.
pub fn end(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    end_relation((app, person, request), true, PATH)
}
