//! The parts of the service that can fail by themselves, and how they can be.

use crate::developers::titles::TITLES;
use crate::panel::view::Tone;
use crate::partner::texts::Bilingual;

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
    pub fn title(self) -> &'static Bilingual {
        &TITLES.parts[self.name()].title
    }

    /// What the part does, in one sentence.
    pub fn about(self) -> &'static Bilingual {
        &TITLES.parts[self.name()].about
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
    pub fn word(self) -> &'static Bilingual {
        &TITLES.states[self.name()]
    }

    pub const fn tone(self) -> Tone {
        match self {
            Self::Operational => Tone::Good,
            Self::Degraded => Tone::Warn,
            Self::Down => Tone::Bad,
        }
    }
}
