//! Words for states: one fixed word each, the same on every page.

use super::Tone;

macro_rules! badges {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $tone:ident;)*) => {
        /// State of a thing: one fixed word each, the same on every page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(dead_code, reason = "one list of words for all pages, also those to come")]
        pub enum Badge {
            $($(#[$doc])* $name,)*
        }

        impl Badge {
            /// Every badge there is.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word people read.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What it means.
            pub fn tone(self) -> Tone {
                match self { $(Self::$name => Tone::$tone,)* }
            }
        }
    };
}

badges! {
    /// In force, on sale or able to sign in.
    Active = "Ativo", Good;
    /// Switched off by its owner.
    Inactive = "Inativo", Info;
    /// May not sign in.
    Suspended = "Suspenso", Bad;
    /// Past its due date.
    Late = "Atrasado", Warn;
    /// Waits for its turn.
    Pending = "Pendente", Info;
    /// Sent to its recipient.
    Sent = "Enviado", Good;
    /// Handled successfully.
    Processed = "Processado", Good;
    /// Recognised as something that this service does not handle.
    Ignored = "Ignorado", Info;
    /// Kept without action, or for a later version.
    Kept = "Guardado", Info;
    /// Given up after all attempts.
    Failed = "Falhou", Bad;
    /// Not sent, because it was no longer wanted.
    Dropped = "Descartado", Info;
    /// A long task that is running.
    Running = "Em andamento", Info;
    /// An import, or a run of a task, that is complete.
    ImportDone = "Concluída", Good;
    /// A row of a file that will be imported.
    ToImport = "A importar", Info;
    /// A row of a file that was imported.
    Imported = "Importado", Good;
    /// A row of a file that exists already.
    Exists = "Já existe", Info;
    /// A row of a file that has an error.
    Faulty = "Com erro", Bad;
    /// A row of a file whose link will be made.
    ToLink = "A vincular", Info;
    /// An invitation that waits for an answer.
    Invited = "Convite enviado", Info;
    /// An invitation that was not accepted.
    Refused = "Convite recusado", Warn;
    /// An invitation that was taken back.
    Withdrawn = "Convite retirado", Info;
    /// An amount that is not due yet.
    Due = "A vencer", Info;
    /// An amount that was paid.
    Settled = "Pago", Good;
    /// A debt whose sale was cancelled.
    CalledOff = "Cancelado", Info;
    /// A payment is disputed.
    Disputed = "Em disputa", Warn;
    /// Its time is over.
    Expired = "Vencido", Warn;
    /// Ended by its owner; does not come back.
    Revoked = "Revogado", Bad;
    /// A key that was exchanged for another and still works.
    Leaving = "Em troca", Warn;
    /// An event changed an account.
    Applied = "Aplicado", Good;
    /// An event counts and changed nothing.
    NoEffect = "Sem efeito", Info;
    /// An event whose product has no configured plan.
    NoPlan = "Sem plano", Warn;
    /// No student has the buyer's e-mail address.
    NoStudent = "Sem aluno", Warn;
    /// The buyer's e-mail address is that of a supplier or an administrator.
    NotStudent = "Não é aluno", Warn;
    /// A marketplace account whose authorisation works.
    Linked = "Vinculada", Good;
    /// A marketplace account that must be linked again.
    LinkLost = "Vínculo perdido", Bad;
    /// A sale that was paid.
    Paid = "Paga", Good;
    /// A sale that waits for its payment.
    AwaitingPayment = "Aguardando pagamento", Warn;
    /// A sale that was agreed; nothing was paid yet.
    Confirmed = "Confirmada", Info;
    /// A sale whose payment the marketplace is reviewing.
    PaymentInReview = "Pagamento em análise", Warn;
    /// A sale of which a part was paid.
    PartlyPaid = "Paga em parte", Warn;
    /// A sale that is being cancelled.
    BeingCancelled = "Em cancelamento", Warn;
    /// A sale that the marketplace declared invalid.
    Invalid = "Inválida", Bad;
    /// A sale that was partly refunded.
    PartlyRefunded = "Reembolso parcial", Warn;
    /// A sale that was cancelled.
    Cancelled = "Cancelada", Bad;
    /// Dark green reputation.
    ReputationBest = "Verde-escuro", Good;
    /// Light green reputation.
    ReputationGood = "Verde-claro", Good;
    /// Yellow reputation.
    ReputationFair = "Amarela", Warn;
    /// Orange reputation.
    ReputationPoor = "Laranja", Bad;
    /// Red reputation.
    ReputationWorst = "Vermelha", Bad;
    /// Not enough sales for a reputation yet.
    ReputationNone = "Ainda sem nível", Info;
    /// Works as it should.
    Healthy = "Em ordem", Good;
    /// Works, but needs attention.
    Attention = "Atenção", Warn;
    /// A client whose checkup found nothing wrong.
    InOrder = "Em dia", Good;
    /// A client of whom no account is known.
    NoAccount = "Sem conta", Info;
    /// Does not work.
    Broken = "Com falha", Bad;
    /// Visible to the people it is meant for.
    Published = "Publicado", Good;
    /// Visible to staff only.
    Draft = "Rascunho", Info;
    /// A lesson that its student has marked.
    Done = "Feita", Good;
    /// A challenge whose goal was reached.
    Met = "Cumprido", Good;
    /// Has not begun.
    Scheduled = "Agendado", Info;
    /// Is going on.
    Live = "Ao vivo", Good;
    /// Is over.
    Over = "Encerrado", Info;
    /// A periodic task that was paused.
    Paused = "Pausada", Warn;
    /// A listing that is not for sale for now.
    OnHold = "Pausado", Warn;
    /// A listing that the marketplace is reviewing.
    UnderReview = "Em revisão", Warn;
    /// A question that waits for its answer.
    Unanswered = "Sem resposta", Warn;
    /// A question with its answer.
    Answered = "Respondida", Good;
    /// A claim that is not closed yet.
    OpenClaim = "Aberta", Warn;
    /// A claim, a question or a relation that has ended.
    Closed = "Encerrada", Info;
    /// A webhook endpoint that receives events.
    Telling = "Ligado", Good;
    /// An endpoint whose last deliveries failed.
    Failing = "Falhando", Warn;
    /// An endpoint that the service switched off.
    Stopped = "Parado", Bad;
    /// Accepted by the program that it was sent to.
    Delivered = "Entregue", Good;
    /// Not configured, so it does nothing.
    Off = "Desligado", Info;
    /// A product with no units left.
    OutOfStock = "Sem estoque", Warn;
    /// A product of which more units were sold than there were.
    Oversold = "Vendido a mais", Bad;
    /// Units that came into stock.
    CameIn = "Entrada", Good;
    /// Units that left stock.
    WentOut = "Saída", Info;
    /// A stock level that was set by a count.
    Counted = "Ajuste", Warn;
    /// The session of the present request.
    Here = "Esta sessão", Good;
}

impl Badge {
    /// The badge of a reputation level as the marketplace names it, such as `5_green`.
    pub fn reputation(level: &str) -> Self {
        match level.split('_').next() {
            Some("5") => Self::ReputationBest,
            Some("4") => Self::ReputationGood,
            Some("3") => Self::ReputationFair,
            Some("2") => Self::ReputationPoor,
            Some("1") => Self::ReputationWorst,
            _ => Self::ReputationNone,
        }
    }
}
