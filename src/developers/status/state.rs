//! The parts of the service that can fail by themselves, and how they can be.

use crate::developers::language::Bilingual;
use crate::panel::view::Tone;

crate::named! {
    /// A part of the service that can fail by itself.
    pub enum Component: text {
        Api = "api";
        Database = "database";
        Tasks = "tasks";
        Marketplace = "marketplace";
        Messages = "messages";
    }
}

impl Component {
    pub const fn title(self) -> Bilingual {
        match self {
            Self::Api => Bilingual { portuguese: "API e painel", english: "API and panel" },
            Self::Database => {
                Bilingual { portuguese: "Gravação de dados", english: "Storing data" }
            }
            Self::Tasks => {
                Bilingual { portuguese: "Tarefas periódicas", english: "Background work" }
            }
            Self::Marketplace => Bilingual {
                portuguese: "Ligação com o marketplace",
                english: "Marketplace connection",
            },
            Self::Messages => {
                Bilingual { portuguese: "Envio de mensagens", english: "Message delivery" }
            }
        }
    }

    /// What the part does, in one sentence.
    pub const fn about(self) -> Bilingual {
        match self {
            Self::Api => Bilingual {
                portuguese: "Responde a programas e navegadores.",
                english: "Answers programs and browsers.",
            },
            Self::Database => Bilingual {
                portuguese: "Guarda o que chega antes de responder.",
                english: "Stores what arrives before it is answered.",
            },
            Self::Tasks => Bilingual {
                portuguese: "Lembretes, vencimentos e releituras.",
                english: "Reminders, due dates and readings again.",
            },
            Self::Marketplace => Bilingual {
                portuguese: "Lê vendas, anúncios, perguntas e reclamações.",
                english: "Reads sales, listings, questions and claims.",
            },
            Self::Messages => Bilingual {
                portuguese: "E-mail, Telegram, navegador e chat.",
                english: "E-mail, Telegram, browser and chat.",
            },
        }
    }
}

crate::named! {
    /// State of a part, from good to bad.
    #[derive(PartialOrd, Ord)]
    pub enum State: text {
        Operational = "operational";
        Degraded = "degraded";
        Down = "down";
    }
}

impl State {
    /// The word that people read.
    pub const fn word(self) -> Bilingual {
        match self {
            Self::Operational => Bilingual { portuguese: "Funcionando", english: "Operational" },
            Self::Degraded => Bilingual { portuguese: "Com falhas", english: "Degraded" },
            Self::Down => Bilingual { portuguese: "Fora do ar", english: "Down" },
        }
    }

    pub const fn tone(self) -> Tone {
        match self {
            Self::Operational => Tone::Good,
            Self::Degraded => Tone::Warn,
            Self::Down => Tone::Bad,
        }
    }
}
