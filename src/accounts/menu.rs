//! Where each role can go: the entries of the navigation, grouped by task, at
//! most seven a group. An entry stands here once its page exists.

use super::Role;
use crate::panel::view::{Group, Place};

/// The navigation of a role; its first entry is the role's home.
pub const fn of(role: Role) -> &'static [Group] {
    match role {
        Role::Admin => OPERATOR,
        Role::Drop => SUPPLIER,
        _ => STUDENT,
    }
}

const STUDENT: &[Group] = &[
    Group {
        title: "",
        places: &[
            Place::new("Início", "/painel", "home").handy(),
            Place::new("Avisos", "/painel/avisos", "bell").handy(),
        ],
    },
    Group {
        title: "Lojas",
        places: &[
            Place::new("Contas", "/painel/ml", "store"),
            Place::new("Vendas", "/painel/vendas", "cart").handy(),
            Place::new("Anúncios", "/painel/anuncios", "tag"),
            Place::new("Perguntas", "/painel/perguntas", "question"),
            Place::new("Reclamações", "/painel/reclamacoes", "claim"),
            Place::new("Produtos", "/painel/produtos", "box"),
        ],
    },
    Group {
        title: "Ferramentas",
        places: &[
            Place::new("Calculadora", "/painel/ml/calculadora", "calculator"),
            Place::new("Etiquetas", "/painel/ml/etiquetas", "printer"),
            Place::new("Fornecedores", "/painel/fornecedores", "people"),
            Place::new("API de parceiros", "/painel/parceiro", "code"),
        ],
    },
    Group {
        title: "Aprender",
        places: &[
            Place::new("Aulas", "/painel/aulas", "lesson").handy(),
            Place::new("Encontros", "/painel/meets", "meet"),
            Place::new("Competição", "/painel/competicao", "trophy"),
        ],
    },
];

const SUPPLIER: &[Group] = &[
    Group {
        title: "",
        places: &[
            Place::new("Início", "/fornecedor", "home").handy(),
            Place::new("Pedidos", "/fornecedor/pedidos", "cart").handy(),
            Place::new("Produtos", "/fornecedor/produtos", "box").handy(),
        ],
    },
    Group {
        title: "Vendedores",
        places: &[
            Place::new("Vendedores", "/fornecedor/vendedores", "people").handy(),
            Place::new("Vínculos", "/fornecedor/vinculos", "link"),
            Place::new("Conferência", "/fornecedor/conferencia", "search"),
        ],
    },
    Group {
        title: "Ferramentas",
        places: &[Place::new("API de parceiros", "/fornecedor/parceiro", "code")],
    },
];

const OPERATOR: &[Group] = &[
    Group {
        title: "",
        places: &[
            Place::new("Início", "/admin", "home").handy(),
            Place::new("Avisos", "/admin/avisos", "bell"),
        ],
    },
    Group {
        title: "Pessoas",
        places: &[
            Place::new("Alunos", "/admin/alunos", "people").handy(),
            Place::new("Equipe", "/admin/equipe", "staff"),
            Place::new("Papéis", "/admin/papeis", "shield"),
        ],
    },
    Group {
        title: "Conteúdo",
        places: &[
            Place::new("Planos", "/admin/planos", "tag"),
            Place::new("Professores", "/admin/professores", "teacher"),
            Place::new("Cursos", "/admin/cursos", "course"),
            Place::new("Aulas", "/admin/aulas", "lesson"),
            Place::new("Encontros", "/admin/meets", "meet"),
        ],
    },
    Group {
        title: "Programa",
        places: &[
            Place::new("Gamificação", "/admin/gamificacao", "trophy"),
            Place::new("Regras", "/admin/gamificacao/regras", "calculator"),
            Place::new("Desafios", "/admin/gamificacao/desafios", "target"),
            Place::new("Marcos", "/admin/gamificacao/marcos", "flag"),
        ],
    },
    Group {
        title: "Movimento",
        places: &[
            Place::new("Compras", "/admin/compras", "cart").handy(),
            Place::new("Notificações", "/admin/notificacoes", "inbox"),
            Place::new("Mensagens", "/admin/mensagens", "mail").handy(),
        ],
    },
    Group {
        title: "Sistema",
        places: &[
            Place::new("Chaves", "/admin/chaves", "key"),
            Place::new("API de parceiros", "/admin/parceiros", "code"),
            Place::new("Cron", "/admin/cron", "clock"),
            Place::new("Auditoria", "/admin/auditoria", "audit"),
            Place::new("Requisições", "/admin/requisicoes", "pulse"),
            Place::new("Estilo", "/admin/estilo", "style"),
        ],
    },
];
