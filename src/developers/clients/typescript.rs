//! The operations and types of the API in TypeScript.

use std::fmt::Write as _;

use super::shape::{Answer, Api, Field, Kind, Operation, PLACES, pascal};

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Whole | Kind::Number => "number".to_owned(),
        Kind::Flag => "boolean".to_owned(),
        Kind::Any => "unknown".to_owned(),
        Kind::OneOf(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            values.join(" | ")
        }
        Kind::List(entry) => format!("Array<{}>", self::kind(entry)),
        Kind::Map(value) => format!("Record<string, {}>", self::kind(value)),
        Kind::Named(name) => name.clone(),
        Kind::Maybe(inner) => format!("{} | null", self::kind(inner)),
    }
}

/// A text inside a comment.
fn said(text: &str) -> String {
    text.replace("*/", "* /")
}

fn members(fields: &[Field]) -> String {
    let mut code = String::new();
    for field in fields {
        if !field.about.is_empty() {
            _ = writeln!(code, "  /** {} */", said(&field.about));
        }
        let mark = if field.is_required { "" } else { "?" };
        _ = writeln!(code, "  {}{mark}: {};", field.name, kind(&field.kind));
    }
    code
}

pub fn types(api: &Api) -> String {
    let mut code = String::new();
    for (name, (about, fields)) in &api.types {
        let members = members(fields);
        _ = writeln!(code, "/** {} */\nexport interface {name} {{\n{members}}}\n", said(about));
    }
    for operation in &api.operations {
        for (part, fields) in [("Query", &operation.query), ("Body", body(operation))] {
            if !fields.is_empty() {
                let name = format!("{}{part}", pascal(&operation.name));
                // No interface: those cannot be read by any name.
                _ = writeln!(code, "export type {name} = {{\n{}}};\n", members(fields));
            }
        }
    }
    code
}

fn body(operation: &Operation) -> &Vec<Field> {
    static NONE: Vec<Field> = Vec::new();
    operation.body.as_ref().unwrap_or(&NONE)
}

/// `drop_health` as `dropHealth`.
fn camel(name: &str) -> String {
    let name = pascal(name);
    let (first, rest) = name.split_at_checked(1).unwrap_or(("", &name));
    first.to_lowercase() + rest
}

/// The path with its variables in their places.
fn path(operation: &Operation) -> String {
    if operation.in_path.is_empty() {
        return format!("{:?}", operation.path);
    }
    let mut path = operation.path.clone();
    for field in &operation.in_path {
        let place = format!("{{{}}}", field.name);
        path = path.replace(&place, &format!("${{encodeURIComponent({})}}", field.name));
    }
    format!("`{path}`")
}

fn argument(operation: &Operation, name: &str, part: &str, fields: &[Field]) -> Option<String> {
    let is_needed = fields.iter().any(|field| field.is_required);
    let end = if is_needed { "" } else { " = {}" };
    let kind = format!("{}{part}", pascal(&operation.name));
    (!fields.is_empty()).then(|| format!("{name}: {kind}{end}"))
}

pub fn operations(api: &Api) -> String {
    let mut code = String::new();
    for operation in &api.operations {
        let answer = match &operation.answer {
            Answer::Json(it) => kind(it),
            Answer::File => "ArrayBuffer".to_owned(),
            Answer::Nothing => "void".to_owned(),
        };
        let in_path = operation.in_path.iter();
        let mut head: Vec<String> =
            in_path.map(|one| format!("{}: {}", one.name, kind(&one.kind))).collect();
        head.extend(argument(operation, "body", "Body", body(operation)));
        head.extend(argument(operation, "query", "Query", &operation.query));
        let mut asked = Vec::new();
        if !operation.query.is_empty() {
            asked.push("query");
        }
        if operation.body.is_some() {
            asked.push(if body(operation).is_empty() { "body: {}" } else { "body" });
        }
        if operation.is_keyed {
            head.push("{ idempotencyKey = crypto.randomUUID() }: Repeatable = {}".to_owned());
            asked.push("key: idempotencyKey");
        }
        if matches!(operation.answer, Answer::File) {
            asked.push("isFile: true");
        }
        let (name, head) = (camel(&operation.name), head.join(", "));
        let (method, path, about) = (&operation.method, path(operation), &operation.about);
        let asked =
            if asked.is_empty() { String::new() } else { format!(", {{ {} }}", asked.join(", ")) };
        _ = write!(
            code,
            "  /** {}. */\n  {name}({head}): Promise<{answer}> {{\n    return this.call({method:?}, {path}{asked});\n  }}\n\n",
            said(about.trim_end_matches('.')),
        );
        if let Some(entry) = &operation.entries {
            code.push_str(&all(operation, entry));
        }
    }
    code
}

/// The method that reads all pages.
fn all(operation: &Operation, entry: &Kind) -> String {
    let (name, entry, path) = (camel(&operation.all_name()), kind(entry), path(operation));
    let asked = format!("{}Query", pascal(&operation.name));
    let places = PLACES.map(|place| format!("{place:?}")).join(" | ");
    let limit = operation.largest_page().map_or_else(String::new, |it| format!("limit: {it}, "));
    let mut head: Vec<String> =
        operation.in_path.iter().map(|one| format!("{}: string", one.name)).collect();
    head.push(format!("query: Omit<{asked}, {places}> = {{}}"));
    format!(
        "  /** The entries of `{}`, page after page. */\n  {name}({}): AsyncGenerator<{entry}> {{\n    \
         return this.all({path}, {{ {limit}...query }});\n  }}\n\n",
        operation.name,
        head.join(", "),
    )
}
