//! Kinds of messages: one name and one row each. A new kind is a line of
//! [`MessageKind`] and its row; its text, its notice, its channels, its key, its
//! page, its preference and its urgency come from there. `messages::tell` tells a person by it.

use serde_json::Value;

use super::{Channel, NotificationKind};
use crate::base::{DAY_S, UserId};
use crate::{named, rows};

named! {
    /// What a message is about.
    #[derive(Hash)]
    pub enum MessageKind: text {
        /// A new person chooses a password.
        Welcome = "boas_vindas", "Boas-vindas";
        /// A person asked for a new password.
        PasswordLink = "link_de_senha", "Link de senha";
        /// A renewal is unpaid.
        LatePayment = "pagamento_atrasado", "Pagamento em atraso";
        /// A meet begins soon.
        MeetReminder = "lembrete_encontro", "Lembrete de encontro";
        /// A student has been away.
        Inactivity = "inatividade", "Alerta de inatividade";
        /// A student has not checked in today.
        CheckIn = "lembrete_checkin", "Lembrete do check-in";
        /// A buyer asked something at a listing.
        Question = "pergunta", "Pergunta de comprador";
        /// Little is left of a product.
        LowStock = "estoque_baixo", "Estoque baixo";
        /// Something of the platform needs an administrator.
        Alert = "alerta", "Alerta à administração";
        /// What staff writes to single students.
        Note = "recado", "Mensagem da administração";
        /// A notification from a program of the person or of a partner.
        PartnerNotice = "aviso_de_parceiro", "Aviso de parceiro";
        /// A supplier invites a seller.
        DropInvitation = "convite_de_fornecedor", "Convite de fornecedor";
        /// A supplier reminds a seller of what is owed.
        DropReminder = "cobranca_de_fornecedor", "Cobrança de fornecedor";
        /// A webhook endpoint was switched off.
        WebhookOff = "webhook_desligado", "Webhook desligado";
        /// Something that the operator tells students.
        Announcement = "comunicado", "Comunicado";
        /// A staff member tests a channel.
        Test = "teste", "Teste de canal";
    }
}

/// The fixed properties of a kind of message.
#[derive(Debug)]
pub struct MessageKindRow {
    /// Its texts in the preferences, for kinds that people may switch off.
    pub preference: Option<Preference>,
    /// Whether staff may change the text.
    pub editable: bool,
    /// Web push urgency: whether it may wake a sleeping phone (RFC 8030 §5.3).
    pub urgency: &'static str,
    /// The page that it opens, unless its parameters name one, as they do when
    /// its notice has one.
    pub page: &'static str,
    /// The parameter that identifies its subject: a newer message with the same
    /// value replaces an older one. When empty, every newer message does.
    pub topic: &'static str,
    /// The notice inside the platform that it goes with.
    pub notice: Option<NotificationKind>,
    /// Whether only the first of the channels that the person chose carries it.
    pub by_first_channel: bool,
    /// How its deduplication key is made of `{kind}`, `{cause}`, `{person}` and
    /// `{channel}`.
    pub key: &'static str,
    /// Seconds after which it is not sent, unless its cause says until when.
    pub life_s: Option<i64>,
    /// Placeholders of its text, besides those of every text.
    pub placeholders: &'static [Placeholder],
    /// Subject of an e-mail, title of a notification of the browser.
    pub subject: &'static str,
    pub body: &'static str,
}

/// A kind of message in the preferences.
#[derive(Debug)]
pub struct Preference {
    pub label: &'static str,
    pub help: &'static str,
}

/// A placeholder in a text, for a fact about the recipient or the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Its name in braces.
    pub name: &'static str,
    /// What replaces it, in words for staff.
    pub about: &'static str,
    /// Whether the text is useless without it.
    pub required: bool,
}

/// An optional placeholder.
pub const fn may(name: &'static str, about: &'static str) -> Placeholder {
    Placeholder { name, about, required: false }
}

const fn must(name: &'static str, about: &'static str) -> Placeholder {
    Placeholder { name, about, required: true }
}

/// Placeholders of texts with a link to choose a password.
const LINK: &[Placeholder] =
    &[must("link", "link para escolher a senha"), may("validade", "até quando o link vale")];

impl MessageKind {
    /// Whether people may switch it off.
    pub const fn is_optional(self) -> bool {
        self.row().preference.is_some()
    }

    /// Kinds whose texts staff may change; the others are about the platform itself.
    pub fn editable() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.row().editable)
    }

    /// The deduplication key of a message about a cause. Without the channel, or
    /// without both, it is the beginning of the keys of all those messages.
    pub fn key(self, cause: &str, person: Option<UserId>, channel: Option<Channel>) -> String {
        let mut key = self.row().key.replace("{kind}", self.name());
        let person = person.map(|person| person.to_string());
        for (name, value) in
            [("{channel}", channel.map(Channel::name)), ("{person}", person.as_deref())]
        {
            match value {
                Some(value) => key = key.replace(name, value),
                None => key.truncate(key.find(name).unwrap_or(key.len())),
            }
        }
        key.replace("{cause}", cause)
    }

    /// Path of the page that a message with these parameters opens.
    pub fn page(self, params: &Value) -> &str {
        params["page"].as_str().unwrap_or(self.row().page)
    }
}

/// What most kinds are like.
const USUAL: MessageKindRow = MessageKindRow {
    preference: None,
    editable: true,
    urgency: "normal",
    page: "/painel",
    topic: "",
    notice: None,
    by_first_channel: false,
    key: "",
    life_s: None,
    placeholders: &[],
    subject: "",
    body: "",
};

rows! {
    MessageKind: MessageKindRow = USUAL;

    Welcome {
        page: "/",
        key: "{kind}:{channel}:{cause}",
        placeholders: LINK,
        subject: "Sua conta na {plataforma} está pronta",
        body: "Olá, {primeiro_nome}! Sua conta na {plataforma} está pronta.\n\n\
               Escolha sua senha aqui: {link}\n\n\
               O link vale até {validade} e funciona uma vez.",
    }

    PasswordLink {
        page: "/",
        key: "{kind}:{channel}:{cause}",
        placeholders: LINK,
        subject: "Escolha uma nova senha",
        body: "Olá, {primeiro_nome}. Alguém pediu uma nova senha para a sua conta na {plataforma}.\n\n\
               Escolha a nova senha aqui: {link}\n\n\
               O link vale até {validade} e funciona uma vez. Se não foi você, ignore esta mensagem: \
               sua senha continua a mesma.",
    }

    LatePayment {
        key: "{kind}:{person}:{cause}",
        placeholders: &[
            may("pago_ate", "dia até o qual o acesso está pago"),
            may("dias", "dias para regularizar depois disso"),
        ],
        subject: "O pagamento da sua renovação está pendente",
        body: "Olá, {primeiro_nome}. O pagamento da sua renovação na {plataforma} não foi confirmado.\n\n\
               Seu acesso está pago até {pago_ate}. Depois disso você tem {dias} dias para regularizar, \
               sem perder o acesso.\n\n\
               Se você já pagou, desconsidere esta mensagem.",
    }

    MeetReminder {
        preference: Some(Preference {
            label: "Lembretes de encontros",
            help: "Um dia antes e cinco minutos antes de cada um.",
        }),
        urgency: "high",
        page: "/painel/meets",
        topic: "meet_id",
        key: "{kind}:{cause}:{person}:{channel}",
        placeholders: &[
            may("encontro", "título do encontro"),
            may("inicio", "dia e hora em que ele começa"),
        ],
        subject: "Lembrete: {encontro}",
        body: "Olá, {primeiro_nome}! O encontro {encontro} começa em {inicio}.\n\n\
               Entre por aqui: {endereco}/painel/meets",
    }

    Inactivity {
        preference: Some(Preference {
            label: "Quando eu ficar dias sem aparecer",
            help: "Uma mensagem por ausência, nunca de noite.",
        }),
        urgency: "low",
        key: "{kind}:{person}:{cause}:{channel}",
        life_s: Some(3 * DAY_S),
        placeholders: &[may("ausencia", "há quanto tempo a pessoa não aparece")],
        subject: "Sentimos sua falta",
        body: "Olá, {primeiro_nome}. Você está há {ausencia} sem aparecer na {plataforma}.\n\n\
               Continue de onde parou: {endereco}/painel",
    }

    CheckIn {
        preference: Some(Preference {
            label: "Lembrete do check-in",
            help: "À noite, nos dias em que você ainda não fez o seu.",
        }),
        key: "{kind}:{person}:{cause}:{channel}",
        placeholders: &[may("sequencia", "a sequência que continua, ou que começa hoje")],
        subject: "Seu check-in de hoje",
        body: "Olá, {primeiro_nome}! Falta o seu check-in de hoje. Sua sequência: {sequencia}.\n\n\
               Leva um segundo: {endereco}/painel",
    }

    Question {
        preference: Some(Preference {
            label: "Perguntas de compradores",
            help: "Uma mensagem por pergunta nova, assim que ela chega.",
        }),
        page: "/painel/perguntas",
        topic: "question_id",
        notice: Some(NotificationKind::Pergunta),
        key: "{cause}:{person}:{channel}",
        life_s: Some(DAY_S),
        placeholders: &[
            may("pergunta", "o que o comprador escreveu, encurtado"),
            may("anuncio", "título do anúncio"),
            may("loja", "loja em que se perguntou"),
            may("pagina", "onde se responde, depois de {endereco}"),
        ],
        subject: "Nova pergunta: {anuncio}",
        body: "Olá, {primeiro_nome}. Um comprador perguntou na loja {loja}, sobre o anúncio {anuncio}:\n\n\
               “{pergunta}”\n\n\
               Responda aqui: {endereco}{pagina}",
    }

    LowStock {
        preference: Some(Preference {
            label: "Estoque baixo",
            help: "Quando um produto chega ao mínimo que você definiu nele.",
        }),
        page: "/painel/produtos",
        topic: "product_id",
        notice: Some(NotificationKind::Sistema),
        key: "{kind}:{cause}:{person}:{channel}",
        life_s: Some(DAY_S),
        placeholders: &[
            may("produto", "título do produto"),
            may("saldo", "quanto resta, em uma frase"),
            may("pagina", "a página do produto, depois de {endereco}"),
        ],
        subject: "Estoque baixo: {produto}",
        body: "Olá, {primeiro_nome}. O estoque de {produto} está baixo. {saldo}\n\n\
               Veja aqui: {endereco}{pagina}",
    }

    Alert {
        editable: false,
        urgency: "high",
        page: "/admin",
        topic: "title",
        notice: Some(NotificationKind::Sistema),
        key: "{kind}:{cause}:{person}:{channel}",
        life_s: Some(DAY_S),
        placeholders: &[
            may("titulo", "o que aconteceu"),
            may("detalhe", "mais sobre isso"),
            may("pagina", "onde isso se vê"),
        ],
        subject: "{plataforma}: {titulo}",
        body: "Olá, {primeiro_nome}. {titulo}.\n\n{detalhe}\n\nVeja aqui: {endereco}{pagina}",
    }

    Note {
        editable: false,
        page: "/painel/avisos",
        topic: "title",
        notice: Some(NotificationKind::Sistema),
        key: "{cause}:{person}:{channel}",
        life_s: Some(3 * DAY_S),
        placeholders: &[may("titulo", "o título da mensagem"), may("corpo", "o texto dela")],
        subject: "{titulo}",
        body: "Olá, {primeiro_nome}.\n\n{corpo}",
    }

    PartnerNotice {
        editable: false,
        topic: "notification_id",
        key: "{kind}:{cause}",
        placeholders: &[may("titulo", "o título do aviso"), may("corpo", "o texto do aviso")],
        subject: "{titulo}",
        body: "{titulo}\n\n{corpo}",
    }

    DropInvitation {
        preference: Some(Preference {
            label: "Convites de fornecedores",
            help: "Uma mensagem quando um fornecedor convida você.",
        }),
        page: "/painel/parceiro",
        topic: "supplier_id",
        notice: Some(NotificationKind::Parceiro),
        key: "{cause}:{channel}",
        placeholders: &[may("fornecedor", "nome do fornecedor")],
        subject: "{fornecedor} convidou você",
        body: "Olá, {primeiro_nome}. {fornecedor} convidou você para vender os produtos dele \
               pela {plataforma}.\n\n\
               Aceite ou recuse aqui: {endereco}/painel/parceiro",
    }

    DropReminder {
        preference: Some(Preference {
            label: "Cobranças de fornecedores",
            help: "Uma mensagem quando um fornecedor lembra você de um pagamento.",
        }),
        page: "/painel/fornecedores",
        topic: "supplier_id",
        notice: Some(NotificationKind::Parceiro),
        by_first_channel: true,
        key: "{cause}",
        life_s: Some(DAY_S),
        placeholders: &[
            may("fornecedor", "nome do fornecedor"),
            may("valor", "quanto é devido"),
            may("pedidos", "o que é devido, em poucas palavras"),
        ],
        subject: "{fornecedor} aguarda {valor}",
        body: "Olá, {primeiro_nome}. {fornecedor} aguarda o pagamento de {valor}: {pedidos}.\n\n\
               Veja aqui: {endereco}/painel/fornecedores\n\n\
               Se você já pagou, avise o fornecedor.",
    }

    WebhookOff {
        preference: Some(Preference {
            label: "Webhooks desligados",
            help: "Uma mensagem quando um endereço seu deixa de ser avisado.",
        }),
        page: "/painel/parceiro/webhooks",
        topic: "endpoint_id",
        notice: Some(NotificationKind::Parceiro),
        key: "{cause}:{channel}",
        life_s: Some(7 * DAY_S),
        placeholders: &[
            may("webhook", "endereço que era avisado"),
            may("detalhe", "por que foi desligado"),
            may("pagina", "onde se liga de novo, depois de {endereco}"),
        ],
        subject: "Webhook desligado: {webhook}",
        body: "Olá, {primeiro_nome}. Deixamos de avisar {webhook}: {detalhe}.\n\n\
               Confira o seu sistema e ligue-o de novo aqui: {endereco}{pagina}",
    }

    Announcement {
        preference: Some(Preference {
            label: "Comunicados",
            help: "O que quem administra a plataforma diz aos alunos. O aviso aqui dentro chega sempre.",
        }),
        editable: false,
        page: "/painel/avisos",
        topic: "announcement_id",
        notice: Some(NotificationKind::Sistema),
        key: "{cause}:{person}:{channel}",
        life_s: Some(3 * DAY_S),
        placeholders: &[
            may("titulo", "o título do comunicado"),
            may("corpo", "o texto do comunicado"),
            may("pagina", "onde se lê, depois de {endereco}"),
        ],
        subject: "{titulo}",
        body: "Olá, {primeiro_nome}. {titulo}\n\n{corpo}\n\nTambém está aqui: {endereco}{pagina}",
    }

    Test {
        editable: false,
        urgency: "high",
        page: "/perfil/avisos",
        key: "{kind}:{person}:{channel}:{cause}",
        life_s: Some(3600),
        subject: "Teste da {plataforma}",
        body: "Olá, {primeiro_nome}! Esta é uma mensagem de teste da {plataforma}. \
               Se você a recebeu, o canal está funcionando.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_as_the_rows_say_and_begin_alike() {
        let (ana, chat) = (Some(UserId(7)), Some(Channel::Chat));
        for (kind, key) in [
            (MessageKind::Welcome, "boas_vindas:chat:x:1"),
            (MessageKind::LatePayment, "pagamento_atrasado:7:x:1"),
            (MessageKind::MeetReminder, "lembrete_encontro:x:1:7:chat"),
            (MessageKind::CheckIn, "lembrete_checkin:7:x:1:chat"),
            (MessageKind::Question, "x:1:7:chat"),
            (MessageKind::Alert, "alerta:x:1:7:chat"),
            (MessageKind::PartnerNotice, "aviso_de_parceiro:x:1"),
            (MessageKind::DropInvitation, "x:1:chat"),
            (MessageKind::DropReminder, "x:1"),
            (MessageKind::Test, "teste:7:chat:x:1"),
        ] {
            assert_eq!(kind.key("x:1", ana, chat), key);
        }
        assert_eq!(MessageKind::Question.key("x:1", ana, None), "x:1:7:");
        assert_eq!(MessageKind::MeetReminder.key("x:1", None, None), "lembrete_encontro:x:1:");
    }

    #[test]
    fn a_message_by_several_channels_has_a_key_for_each() {
        for kind in MessageKind::ALL {
            let row = kind.row();
            let by_one = matches!(
                kind,
                MessageKind::LatePayment | MessageKind::DropReminder | MessageKind::PartnerNotice
            );
            assert_eq!(row.key.contains("{channel}"), !by_one, "{kind:?}");
            assert!(row.key.contains("{cause}"), "{kind:?}");
        }
    }
}
