//! Inputs that forms of several nouns have.

use crate::panel::{Input, Rule};

/// The title of what people see.
pub const fn title<E>(at: fn(&mut E) -> &mut String) -> Input<E> {
    Input::new("titulo", "Dê um título de 2 a 120 letras.", Rule::Line(2..=120, at))
}

/// What it is about.
pub const fn description<E>(at: fn(&mut E) -> &mut String) -> Input<E> {
    Input::new("descricao", "Use até 2.000 letras.", Rule::Lines(2_000, at))
}
