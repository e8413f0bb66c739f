//! The operations and types of the API in Python.

use std::fmt::Write as _;

use super::shape::{Answer, Api, Field, Kind, Operation, PLACES};

/// Words that no argument and no field of a class can have.
const KEYWORDS: [&str; 9] =
    ["from", "in", "is", "class", "import", "global", "pass", "not", "return"];

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Text => "str".to_owned(),
        Kind::Whole => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Any => "Any".to_owned(),
        Kind::OneOf(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("Literal[{}]", values.join(", "))
        }
        Kind::List(entry) => format!("list[{}]", self::kind(entry)),
        Kind::Map(value) => format!("dict[str, {}]", self::kind(value)),
        Kind::Named(name) => name.clone(),
        Kind::Maybe(inner) => format!("{} | None", self::kind(inner)),
    }
}

/// A text inside three quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

pub fn types(api: &Api) -> String {
    let mut code = String::new();
    for (name, (about, fields)) in &api.types {
        let kind_of = |field: &Field| {
            let kind = kind(&field.kind);
            if field.is_required { kind } else { format!("NotRequired[{kind}]") }
        };
        if fields.iter().any(|field| KEYWORDS.contains(&&*field.name)) {
            _ = write!(code, "\n# {about}\n{name} = TypedDict(\"{name}\", {{\n");
            for field in fields {
                _ = writeln!(code, "    \"{}\": '{}',", field.name, kind_of(field));
            }
            code.push_str("})\n\n");
            continue;
        }
        _ = write!(code, "\nclass {name}(TypedDict):\n    \"\"\"{}\"\"\"\n\n", quoted(about));
        for field in fields {
            _ = writeln!(code, "    {}: {}", field.name, kind_of(field));
            if !field.about.is_empty() {
                _ = writeln!(code, "    \"\"\"{}\"\"\"", quoted(&field.about));
            }
        }
        code.push('\n');
    }
    code
}

/// The name of an argument.
fn name(field: &Field) -> String {
    let mark = if KEYWORDS.contains(&&*field.name) { "_" } else { "" };
    format!("{}{mark}", field.name)
}

fn parameter(field: &Field) -> String {
    let (name, kind) = (name(field), kind(&field.kind));
    if field.is_required {
        return format!("{name}: {kind}");
    }
    match field.kind {
        Kind::Maybe(_) => format!("{name}: {kind} = None"),
        _ => format!("{name}: {kind} | None = None"),
    }
}

/// What fits on a line stands on one, and otherwise each on its own.
fn listed(items: &[String], indent: usize) -> String {
    let line = items.join(", ");
    if line.len() <= 90 {
        return line;
    }
    let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 4));
    let items: Vec<String> = items.iter().map(|item| format!("\n{inner}{item},")).collect();
    format!("{}\n{outer}", items.concat())
}

/// Arguments as the names and values of a call.
fn given<'f>(fields: impl Iterator<Item = &'f Field>) -> String {
    let fields: Vec<String> =
        fields.map(|field| format!("\"{}\": {}", field.name, name(field))).collect();
    format!("{{{}}}", listed(&fields, 8))
}

/// The path with its variables in their places.
fn path(operation: &Operation) -> String {
    let mut path = operation.path.clone();
    for field in &operation.in_path {
        let place = format!("{{{}}}", field.name);
        path = path.replace(&place, &format!("{{_in_path({})}}", name(field)));
    }
    let mark = if operation.in_path.is_empty() { "" } else { "f" };
    format!("{mark}\"{path}\"")
}

fn head<'f>(operation: &Operation, named: impl Iterator<Item = &'f Field> + Clone) -> String {
    let mut arguments = vec!["self".to_owned()];
    arguments.extend(operation.in_path.iter().map(parameter));
    let mut named: Vec<String> = named.map(parameter).collect();
    if operation.is_keyed {
        named.push("idempotency_key: str | None = None".to_owned());
    }
    if !named.is_empty() {
        arguments.push("*".to_owned());
        arguments.append(&mut named);
    }
    listed(&arguments, 4)
}

fn about<'f>(said: &str, fields: impl Iterator<Item = &'f Field>) -> String {
    let mut code = format!("        \"\"\"{}.", quoted(said.trim_end_matches('.')));
    let fields: Vec<&Field> = fields.filter(|field| !field.about.is_empty()).collect();
    if fields.is_empty() {
        return code + "\"\"\"\n";
    }
    code.push_str("\n\n");
    for field in fields {
        _ = writeln!(code, "        {}: {}", name(field), quoted(&field.about));
    }
    code + "        \"\"\"\n"
}

pub fn operations(api: &Api) -> String {
    let mut code = String::new();
    for operation in &api.operations {
        let fields = operation.body.iter().flatten().chain(&operation.query);
        let answer = match &operation.answer {
            Answer::Json(it) => kind(it),
            Answer::File => "bytes".to_owned(),
            Answer::Nothing => "None".to_owned(),
        };
        let head = head(operation, fields.clone());
        _ = writeln!(code, "    def {}({head}) -> {answer}:", operation.name);
        code.push_str(&about(&operation.about, operation.in_path.iter().chain(fields)));
        let mut arguments = format!(
            "\"{}\", {}, {}",
            operation.method,
            path(operation),
            given(operation.query.iter())
        );
        if let Some(body) = &operation.body {
            _ = write!(arguments, ", {}", given(body.iter()));
        }
        if operation.is_keyed {
            arguments.push_str(", key=idempotency_key or uuid.uuid4().hex");
        }
        _ = match &operation.answer {
            Answer::Json(_) => {
                writeln!(code, "        return cast({answer}, self.call({arguments}))\n")
            }
            Answer::File => {
                writeln!(code, "        return cast(bytes, self.call({arguments}, is_file=True))\n")
            }
            Answer::Nothing => writeln!(code, "        self.call({arguments})\n"),
        };
        if let Some(entry) = &operation.entries {
            code.push_str(&all(operation, entry));
        }
    }
    code
}

/// The method that reads all pages.
fn all(operation: &Operation, entry: &Kind) -> String {
    let asked = operation.query.iter().filter(|one| !PLACES.contains(&&*one.name));
    let mut head = head(operation, asked.clone());
    if let Some(most) = operation.largest_page() {
        head = head.replace("limit: int | None = None", &format!("limit: int = {most}"));
    }
    let (name, entry) = (operation.all_name(), kind(entry));
    let path = path(operation);
    format!(
        "    def {name}({head}) -> Iterator[{entry}]:\n        \"\"\"The entries of `{}`, page after page.\"\"\"\n\
         \x20       return cast(Iterator[{entry}], self._all({path}, {}))\n\n",
        operation.name,
        given(asked)
    )
}
