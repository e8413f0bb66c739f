//! Kinds of messages: one name and one row each. A new kind is a line of
//! [`MessageKind`] and an arm of [`MessageKind::row`]; its text, its page, its
//! preference and its urgency come from there.

crate::named! {
    /// What a message is about.
    #[derive(Hash)]
    pub enum MessageKind: text {
        /// A new person chooses a password.
        Welcome = "boas_vindas", "Boas-vindas";
        /// A person asked for a new password.
        PasswordLink = "link_de_senha", "Link de senha";
        /// A renewal is unpaid.
        LatePayment = "pagamento_atrasado", "Pagamento atrasado";
        /// A meet begins soon.
        MeetReminder = "lembrete_encontro", "Lembrete de encontro";
        /// A student has been away.
        Inactivity = "inatividade", "Alerta de inatividade";
        /// A student has not checked in today.
        CheckIn = "lembrete_checkin", "Lembrete do check-in";
        /// A buyer asked something at a listing.
        Question = "pergunta", "Pergunta de comprador";
        /// Something of the platform needs an administrator.
        Alert = "alerta", "Alerta à administração";
        /// A notification from a program of the person or of a partner.
        PartnerNotice = "aviso_de_parceiro", "Aviso de parceiro";
        /// A supplier invites a seller.
        DropInvitation = "convite_de_fornecedor", "Convite de fornecedor";
        /// A supplier reminds a seller of what is owed.
        DropReminder = "cobranca_de_fornecedor", "Cobrança de fornecedor";
        /// A webhook endpoint was switched off.
        WebhookOff = "webhook_desligado", "Webhook desligado";
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
    /// The page that it opens, unless its parameters name one.
    pub page: &'static str,
    /// The parameter that identifies its subject: a newer message with the same
    /// value replaces an older one. When empty, every newer message does.
    pub topic: &'static str,
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

    /// The fixed properties of the kind.
    #[expect(clippy::too_many_lines, reason = "one table")]
    pub const fn row(self) -> &'static MessageKindRow {
        match self {
            Self::Welcome => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: true,
                        urgency: "normal",
                        page: "/",
                        topic: "",
                        placeholders: LINK,
                        subject: "Sua conta na {plataforma} está pronta",
                        body: "Olá, {primeiro_nome}! Sua conta na {plataforma} está pronta.\n\n\
                       Escolha sua senha aqui: {link}\n\n\
                       O link vale até {validade} e funciona uma vez.",
                    }
                }
            }
            Self::PasswordLink => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: true,
                        urgency: "normal",
                        page: "/",
                        topic: "",
                        placeholders: LINK,
                        subject: "Escolha uma nova senha",
                        body: "Olá, {primeiro_nome}. Alguém pediu uma nova senha para a sua conta na {plataforma}.\n\n\
                       Escolha a nova senha aqui: {link}\n\n\
                       O link vale até {validade} e funciona uma vez. Se não foi você, ignore esta mensagem: \
                       sua senha continua a mesma.",
                    }
                }
            }
            Self::LatePayment => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: true,
                        urgency: "normal",
                        page: "/painel",
                        topic: "",
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
                }
            }
            Self::MeetReminder => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Lembretes de encontros",
                            help: "Um dia antes e cinco minutos antes de cada um.",
                        }),
                        editable: true,
                        urgency: "high",
                        page: "/painel/meets",
                        topic: "meet_id",
                        placeholders: &[
                            may("encontro", "título do encontro"),
                            may("inicio", "dia e hora em que ele começa"),
                        ],
                        subject: "Lembrete: {encontro}",
                        body: "Olá, {primeiro_nome}! O encontro {encontro} começa em {inicio}.\n\n\
                       Entre por aqui: {endereco}/painel/meets",
                    }
                }
            }
            Self::Inactivity => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Quando eu ficar dias sem aparecer",
                            help: "Uma mensagem por ausência, nunca de noite.",
                        }),
                        editable: true,
                        urgency: "low",
                        page: "/painel",
                        topic: "",
                        placeholders: &[may("ausencia", "há quanto tempo a pessoa não aparece")],
                        subject: "Sentimos sua falta",
                        body: "Olá, {primeiro_nome}. Você está há {ausencia} sem aparecer na {plataforma}.\n\n\
                       Continue de onde parou: {endereco}/painel",
                    }
                }
            }
            Self::CheckIn => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Lembrete do check-in",
                            help: "À noite, nos dias em que você ainda não fez o seu.",
                        }),
                        editable: true,
                        urgency: "normal",
                        page: "/painel",
                        topic: "",
                        placeholders: &[may(
                            "sequencia",
                            "a sequência que continua, ou que começa hoje",
                        )],
                        subject: "Seu check-in de hoje",
                        body: "Olá, {primeiro_nome}! Falta o seu check-in de hoje. Sua sequência: {sequencia}.\n\n\
                       Leva um segundo: {endereco}/painel",
                    }
                }
            }
            Self::Question => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Perguntas de compradores",
                            help: "Uma mensagem por pergunta nova, assim que ela chega.",
                        }),
                        editable: true,
                        urgency: "normal",
                        page: "/painel/perguntas",
                        topic: "question_id",
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
                }
            }
            Self::Alert => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: false,
                        urgency: "high",
                        page: "/admin",
                        topic: "title",
                        placeholders: &[
                            may("titulo", "o que aconteceu"),
                            may("detalhe", "mais sobre isso"),
                            may("pagina", "onde isso se vê"),
                        ],
                        subject: "{plataforma}: {titulo}",
                        body: "Olá, {primeiro_nome}. {titulo}.\n\n{detalhe}\n\nVeja aqui: {endereco}{pagina}",
                    }
                }
            }
            Self::PartnerNotice => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: false,
                        urgency: "normal",
                        page: "/painel",
                        topic: "notification_id",
                        placeholders: &[
                            may("titulo", "o título do aviso"),
                            may("corpo", "o texto do aviso"),
                        ],
                        subject: "{titulo}",
                        body: "{titulo}\n\n{corpo}",
                    }
                }
            }
            Self::DropInvitation => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Convites de fornecedores",
                            help: "Uma mensagem quando um fornecedor convida você.",
                        }),
                        editable: true,
                        urgency: "normal",
                        page: "/painel/parceiro",
                        topic: "supplier_id",
                        placeholders: &[may("fornecedor", "nome do fornecedor")],
                        subject: "{fornecedor} convidou você",
                        body: "Olá, {primeiro_nome}. {fornecedor} convidou você para vender os produtos dele \
                       pela {plataforma}.\n\n\
                       Aceite ou recuse aqui: {endereco}/painel/parceiro",
                    }
                }
            }
            Self::DropReminder => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Cobranças de fornecedores",
                            help: "Uma mensagem quando um fornecedor lembra você de um pagamento.",
                        }),
                        editable: true,
                        urgency: "normal",
                        page: "/painel/fornecedores",
                        topic: "supplier_id",
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
                }
            }
            Self::WebhookOff => {
                const {
                    &MessageKindRow {
                        preference: Some(Preference {
                            label: "Webhooks desligados",
                            help: "Uma mensagem quando um endereço seu deixa de ser avisado.",
                        }),
                        editable: true,
                        urgency: "normal",
                        page: "/painel/parceiro/webhooks",
                        topic: "endpoint_id",
                        placeholders: &[
                            may("webhook", "endereço que era avisado"),
                            may("detalhe", "por que foi desligado"),
                            may("pagina", "onde se liga de novo, depois de {endereco}"),
                        ],
                        subject: "Webhook desligado: {webhook}",
                        body: "Olá, {primeiro_nome}. Deixamos de avisar {webhook}: {detalhe}.\n\n\
                       Confira o seu sistema e ligue-o de novo aqui: {endereco}{pagina}",
                    }
                }
            }
            Self::Test => {
                const {
                    &MessageKindRow {
                        preference: None,
                        editable: false,
                        urgency: "high",
                        page: "/perfil/avisos",
                        topic: "",
                        placeholders: &[],
                        subject: "Teste da {plataforma}",
                        body: "Olá, {primeiro_nome}! Esta é uma mensagem de teste da {plataforma}. \
                       Se você a recebeu, o canal está funcionando.",
                    }
                }
            }
        }
    }
}
