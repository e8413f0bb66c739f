//! What the OpenAPI documents say about a row of the route table in addition to
//! the row itself.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::http::Code;

/// A schema of the OpenAPI document.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type, written out where it is used.
pub fn in_place<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// A reference to the schema of a type among the shared schemas.
pub fn referred<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What the OpenAPI document says about a row in addition to the table.
#[derive(Clone, Copy)]
pub struct Docs {
    pub query: Option<SchemaOf>,
    pub body: Option<SchemaOf>,
    /// The body as a browser form, where a form is accepted too.
    pub form: Option<SchemaOf>,
    pub reply: Option<SchemaOf>,
    /// The body in other media types, where they are accepted too.
    pub others: &'static [(&'static str, SchemaOf)],
    /// Media types of the answer, when it is a file; ", " between several.
    pub media: Option<&'static str>,
    /// Status of the described answer.
    pub status: u16,
    /// Errors that only this row has.
    pub errors: &'static [Code],
    /// Whether answers say when the content last changed.
    pub dated: bool,
}

impl Docs {
    /// For rows that programs do not call.
    pub const NONE: Self = Self {
        query: None,
        body: None,
        form: None,
        reply: None,
        others: &[],
        media: None,
        status: 200,
        errors: &[],
        dated: false,
    };
}
