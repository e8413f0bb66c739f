//! The navigation of each role: entries grouped by task, at most seven per
//! group. An entry is added here once its page exists.

use super::{Account, Role};
use crate::panel::view::{Group, Place};

/// The navigation of a person; its first entry is the home of the role.
pub const fn of(account: &Account) -> &'static [Group] {
    of_role(account.role, account.agency)
}

/// The navigation of a role; `agency` says whether the person may use the
/// agency's pages.
pub const fn of_role(role: Role, agency: bool) -> &'static [Group] {
    match (role, agency) {
        (Role::Admin, _) => OPERATOR,
        (Role::Drop, _) => SUPPLIER,
        (_, true) => STAFF,
        (_, false) => STUDENT,
    }
}

/// The pages for the daily work of the agency's team.
const AGENCY: Group = Group {
    title: "Agência",
    places: &[
        Place::new("Visão geral", "/admin/agencia", "pulse"),
        Place::new("Clientes", "/admin/agencia/clientes", "store"),
        Place::new("Perguntas", "/admin/agencia/central-perguntas", "question"),
        Place::new("Etiquetas", "/admin/agencia/etiquetas", "printer"),
        Place::new("Checkup", "/admin/agencia/checkup", "check"),
        Place::new("Respostas", "/admin/agencia/respostas", "copy"),
    ],
};

const START: Group = Group {
    title: "",
    places: &[
        Place::new("Início", "/painel", "home").handy(),
        Place::new("Avisos", "/painel/avisos", "bell").handy(),
    ],
};

const SHOPS: Group = Group {
    title: "Lojas",
    places: &[
        Place::new("Contas", "/painel/ml", "store"),
        Place::new("Vendas", "/painel/vendas", "cart").handy(),
        Place::new("Anúncios", "/painel/anuncios", "tag"),
        Place::new("Perguntas", "/painel/perguntas", "question"),
        Place::new("Reclamações", "/painel/reclamacoes", "claim"),
        Place::new("Produtos", "/painel/produtos", "box"),
    ],
};

const TOOLS: Group = Group {
    title: "Ferramentas",
    places: &[
        Place::new("Calculadora", "/painel/ml/calculadora", "calculator"),
        Place::new("Etiquetas", "/painel/ml/etiquetas", "printer"),
        Place::new("Fornecedores", "/painel/fornecedores", "people"),
        Place::new("API de parceiros", "/painel/parceiro", "code"),
    ],
};

const LEARNING: Group = Group {
    title: "Aprender",
    places: &[
        Place::new("Aulas", "/painel/aulas", "lesson").handy(),
        Place::new("Encontros", "/painel/meets", "meet"),
        Place::new("Competição", "/painel/competicao", "trophy"),
    ],
};

const STUDENT: &[Group] = &[START, SHOPS, TOOLS, LEARNING];

/// A student who may use the agency's pages.
const STAFF: &[Group] = &[START, AGENCY, SHOPS, TOOLS, LEARNING];

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
    AGENCY,
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
