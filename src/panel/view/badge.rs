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
    Suspended = "Suspenso", Bad;
    /// A token for sample data.
    Test = "Teste", Info;
    Pending = "Pendente", Info;
    Sent = "Enviado", Good;
    Processed = "Processado", Good;
    /// Recognised as something that this service does not handle.
    Ignored = "Ignorado", Info;
    Kept = "Guardado", Info;
    Failed = "Falhou", Bad;
    /// Not sent, because it was no longer wanted.
    Dropped = "Descartado", Info;
    Running = "Em andamento", Info;
    /// An import, or a run of a task, that is complete.
    ImportDone = "Concluída", Good;
    // Rows of a file that is imported.
    ToImport = "A importar", Info;
    Imported = "Importado", Good;
    Exists = "Já existe", Info;
    Faulty = "Com erro", Bad;
    ToLink = "A vincular", Info;
    // Invitations.
    Invited = "Convite enviado", Info;
    Refused = "Convite recusado", Warn;
    Withdrawn = "Convite retirado", Info;
    /// An amount that was to be paid by now.
    Overdue = "Em atraso", Warn;
    /// An amount that is not due yet.
    Due = "A vencer", Info;
    Settled = "Pago", Good;
    /// A debt whose sale was cancelled.
    CalledOff = "Cancelado", Info;
    Disputed = "Em disputa", Warn;
    Expired = "Vencido", Warn;
    /// Ended by its owner; does not come back.
    Revoked = "Revogado", Bad;
    /// A key that was exchanged for another and still works.
    Leaving = "Em troca", Warn;
    /// An event changed an account.
    Applied = "Aplicado", Good;
    /// An event counts and changed nothing.
    NoEffect = "Sem efeito", Info;
    NoPlan = "Sem plano", Warn;
    /// No student has the buyer's e-mail address.
    NoStudent = "Sem aluno", Warn;
    /// The buyer's e-mail address is that of a supplier or an administrator.
    NotStudent = "Não é aluno", Warn;
    // Marketplace accounts.
    Linked = "Vinculada", Good;
    /// A marketplace account that must be linked again.
    LinkLost = "Vínculo perdido", Bad;
    // Sales.
    Paid = "Paga", Good;
    AwaitingPayment = "Aguardando pagamento", Warn;
    /// A sale that was agreed; nothing was paid yet.
    Confirmed = "Confirmada", Info;
    PaymentInReview = "Pagamento em análise", Warn;
    PartlyPaid = "Paga em parte", Warn;
    BeingCancelled = "Em cancelamento", Warn;
    /// A sale that the marketplace declared invalid.
    Invalid = "Inválida", Bad;
    PartlyRefunded = "Reembolso parcial", Warn;
    Cancelled = "Cancelada", Bad;
    // Reputations.
    ReputationBest = "Verde-escuro", Good;
    ReputationGood = "Verde-claro", Good;
    ReputationFair = "Amarela", Warn;
    ReputationPoor = "Laranja", Bad;
    ReputationWorst = "Vermelha", Bad;
    /// Not enough sales for a reputation yet.
    ReputationNone = "Ainda sem nível", Info;
    // Parts of the service.
    Healthy = "Em ordem", Good;
    Attention = "Atenção", Warn;
    /// A client whose checkup found nothing wrong.
    InOrder = "Em dia", Good;
    /// A client of whom no account is known.
    NoAccount = "Sem conta", Info;
    Broken = "Com falha", Bad;
    /// Visible to the people it is meant for.
    Published = "Publicado", Good;
    /// Visible to staff only.
    Draft = "Rascunho", Info;
    /// A lesson that its student has marked.
    Done = "Feita", Good;
    /// A challenge whose goal was reached.
    Met = "Cumprido", Good;
    // What has its time.
    Scheduled = "Agendado", Info;
    Live = "Ao vivo", Good;
    Over = "Encerrado", Info;
    /// A periodic task that was paused.
    Paused = "Pausada", Warn;
    /// A listing that is not for sale for now.
    OnHold = "Pausado", Warn;
    UnderReview = "Em revisão", Warn;
    // Questions and claims.
    Unanswered = "Sem resposta", Warn;
    Answered = "Respondida", Good;
    OpenClaim = "Aberta", Warn;
    /// A claim, a question or a relation that has ended.
    Closed = "Encerrada", Info;
    /// A webhook endpoint that receives events.
    Telling = "Ligado", Good;
    /// An endpoint whose last deliveries failed.
    Failing = "Falhando", Warn;
    /// An endpoint that the service switched off.
    Stopped = "Parado", Bad;
    Delivered = "Entregue", Good;
    /// Not configured, so it does nothing.
    Off = "Desligado", Info;
    // Products and their stock.
    InStock = "Em estoque", Good;
    /// A product of which no more is left than its owner wants to be warned of.
    LowStock = "Estoque baixo", Warn;
    OutOfStock = "Sem estoque", Warn;
    /// A product of which more units were sold than there were.
    Oversold = "Vendido a mais", Bad;
    CameIn = "Entrada", Good;
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
