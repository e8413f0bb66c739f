//! What acts are done to: the kinds of objects, their words, and the panel page
//! that has the list of them. The address of a list is written here only.

use std::fmt::Display;

use super::Act;

/// A kind of object.
pub struct Object {
    /// In the audit log.
    pub name: &'static str,
    /// As people read it.
    pub words: &'static str,
    /// The panel's list, below which each of them has its page; empty without one.
    pub list: &'static str,
    /// The acts of an operator on one of them.
    pub created: &'static str,
    pub changed: &'static str,
    pub removed: &'static str,
}

impl Object {
    /// An act on one of them, by its number and name.
    pub fn act<'n>(&self, action: &'static str, id: impl Display, name: &'n str) -> Act<'n> {
        Act { action, object: self.name, object_id: id.to_string(), object_name: name }
    }
}

macro_rules! objects {
    (@list) => { "" };
    (@list $list:literal) => { $list };
    ($($constant:ident = $name:literal, $words:literal $(, $list:literal)?;)*) => {
        $(
            pub const $constant: Object = Object {
                name: $name,
                words: $words,
                list: objects!(@list $($list)?),
                created: concat!($name, ".criar"),
                changed: concat!($name, ".alterar"),
                removed: concat!($name, ".excluir"),
            };
        )*

        /// All kinds.
        pub const ALL: &[Object] = &[$($constant),*];
        /// Their names and words, as a filter of the audit log.
        pub const NAMED: &[(&str, &str)] = &[$(($name, $words)),*];
    };
}

objects! {
    STUDENT = "aluno", "Aluno", "/admin/alunos";
    STAFF = "equipe", "Pessoa da equipe", "/admin/equipe";
    PLAN = "plano", "Plano", "/admin/planos";
    TEACHER = "professor", "Professor", "/admin/professores";
    COURSE = "curso", "Curso", "/admin/cursos";
    LESSON = "aula", "Aula", "/admin/aulas";
    MEET = "encontro", "Encontro", "/admin/meets";
    KEY = "chave", "Chave", "/admin/chaves";
    ROLE = "papel", "Papel";
    IMPORT = "importacao", "Importação";
    PURCHASE = "compra", "Compra", "/admin/compras";
    MESSAGE = "mensagem", "Mensagem", "/admin/mensagens";
    ANNOUNCEMENT = "comunicado", "Comunicado", "/admin/comunicados";
    TEXT = "texto", "Texto de mensagem";
    NOTIFICATION = "notificacao", "Notificação", "/admin/notificacoes";
    TASK = "tarefa", "Tarefa";
    RELATION = "relacao", "Relação com fornecedor";
    BACKUP = "backup", "Backup";
    CHANNEL = "canal", "Canal";
    TOKEN = "token", "Token de parceiro";
    PROGRAM_APP = "aplicativo", "Aplicativo conectado";
    WEBHOOK = "webhook", "Webhook";
    PROGRAM = "programa", "Programa";
    MILESTONE = "marco", "Marco";
    CHALLENGE = "desafio", "Desafio";
    CLIENT = "cliente", "Cliente da agência", "/admin/agencia/clientes";
    QUESTION = "pergunta", "Pergunta";
    ANSWER = "resposta", "Resposta salva";
    REQUEST = "requisicao", "Requisição";
    AUDIT = "auditoria", "Auditoria";
    LABEL = "etiqueta", "Etiqueta";
    INVOICE = "nota", "Nota fiscal";
    PRODUCT = "produto", "Produto";
    DROP_ORDER = "pedido", "Pedido a fornecedor";
}
