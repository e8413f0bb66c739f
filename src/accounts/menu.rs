//! The navigation of each role: entries grouped by task, at most seven per
//! group. An entry is added here once its page exists.

use super::{Account, Role};
use crate::audit::objects;
use crate::panel::live::{Desk, Watcher};
use crate::panel::view::{NavGroup, NavItem};

/// The navigation of a person; its first entry is the home of the role.
pub const fn of(account: &Account) -> &'static [NavGroup] {
    of_role(account.role, account.agency)
}

/// Whose numbers stand beside the entries of a person's navigation.
pub const fn watcher(account: &Account) -> Watcher {
    let desk = match (account.role, account.agency) {
        (Role::Admin, _) => Desk::Operator,
        (Role::Drop, _) => Desk::Supplier,
        (_, true) => Desk::Staff,
        (_, false) => Desk::Student,
    };
    Watcher { person: account.user_id, desk }
}

/// The navigation of a role; `agency` says whether the person may use the
/// agency's pages.
pub const fn of_role(role: Role, agency: bool) -> &'static [NavGroup] {
    match (role, agency) {
        (Role::Admin, _) => OPERATOR,
        (Role::Drop, _) => SUPPLIER,
        (_, true) => STAFF,
        (_, false) => STUDENT,
    }
}

/// The pages for the daily work of the agency's team.
const AGENCY: NavGroup = NavGroup {
    title: "Agência",
    items: &[
        NavItem::new("Visão geral", "/admin/agencia", "pulse"),
        NavItem::new("Clientes", objects::CLIENT.list, "store"),
        NavItem::new("Perguntas", "/admin/agencia/central-perguntas", "question"),
        NavItem::new("Etiquetas", "/admin/agencia/etiquetas", "printer"),
        NavItem::new("Checkup", "/admin/agencia/checkup", "check"),
        NavItem::new("Respostas", "/admin/agencia/respostas", "copy"),
    ],
};

const START: NavGroup = NavGroup {
    title: "",
    items: &[
        NavItem::new("Início", "/painel", "home").handy(),
        NavItem::new("Avisos", "/painel/avisos", "bell"),
    ],
};

const SHOPS: NavGroup = NavGroup {
    title: "Lojas",
    items: &[
        NavItem::new("Contas", "/painel/ml", "store"),
        NavItem::new("Vendas", "/painel/vendas", "cart").handy(),
        NavItem::new("Anúncios", "/painel/anuncios", "tag"),
        NavItem::new("Perguntas", "/painel/perguntas", "question")
            .handy()
            .with("/painel/respostas"),
        NavItem::new("Reclamações", "/painel/reclamacoes", "claim"),
        NavItem::new("Produtos", "/painel/produtos", "box"),
    ],
};

const TOOLS: NavGroup = NavGroup {
    title: "Ferramentas",
    items: &[
        NavItem::new("Calculadora", "/painel/ml/calculadora", "calculator"),
        NavItem::new("Etiquetas", "/painel/ml/etiquetas", "printer").handy(),
        NavItem::new("Fornecedores", "/painel/fornecedores", "people"),
        NavItem::new("API de parceiros", "/painel/parceiro", "code"),
    ],
};

const LEARNING: NavGroup = NavGroup {
    title: "Aprender",
    items: &[
        NavItem::new("Aulas", "/painel/aulas", "lesson"),
        NavItem::new("Encontros", "/painel/meets", "meet"),
        NavItem::new("Competição", "/painel/competicao", "trophy"),
    ],
};

const STUDENT: &[NavGroup] = &[START, SHOPS, TOOLS, LEARNING];

/// A student who may use the agency's pages.
const STAFF: &[NavGroup] = &[START, AGENCY, SHOPS, TOOLS, LEARNING];

const SUPPLIER: &[NavGroup] = &[
    NavGroup {
        title: "",
        items: &[
            NavItem::new("Início", "/fornecedor", "home").handy(),
            NavItem::new("Pedidos", "/fornecedor/pedidos", "cart").handy(),
            NavItem::new("Produtos", "/fornecedor/produtos", "box").handy(),
        ],
    },
    NavGroup {
        title: "Vendedores",
        items: &[
            NavItem::new("Vendedores", "/fornecedor/vendedores", "people").handy(),
            NavItem::new("Vínculos", "/fornecedor/vinculos", "link"),
            NavItem::new("Conferência", "/fornecedor/conferencia", "search"),
        ],
    },
    NavGroup {
        title: "Ferramentas",
        items: &[NavItem::new("API de parceiros", "/fornecedor/parceiro", "code")],
    },
];

const OPERATOR: &[NavGroup] = &[
    NavGroup {
        title: "",
        items: &[
            NavItem::new("Início", "/admin", "home").handy(),
            NavItem::new("Avisos", "/admin/avisos", "bell"),
        ],
    },
    NavGroup {
        title: "Pessoas",
        items: &[
            NavItem::new("Alunos", objects::STUDENT.list, "people").handy(),
            NavItem::new("Equipe", objects::STAFF.list, "staff"),
            NavItem::new("Papéis", "/admin/papeis", "shield"),
        ],
    },
    AGENCY,
    NavGroup {
        title: "Conteúdo",
        items: &[
            NavItem::new("Planos", objects::PLAN.list, "tag"),
            NavItem::new("Professores", objects::TEACHER.list, "teacher"),
            NavItem::new("Cursos", objects::COURSE.list, "course").with(objects::LESSON.list),
            NavItem::new("Encontros", objects::MEET.list, "meet"),
        ],
    },
    NavGroup {
        title: "Programa",
        items: &[
            NavItem::new("Gamificação", "/admin/gamificacao", "trophy"),
            NavItem::new("Regras", "/admin/gamificacao/regras", "calculator"),
            NavItem::new("Desafios", "/admin/gamificacao/desafios", "target"),
            NavItem::new("Marcos", "/admin/gamificacao/marcos", "flag"),
        ],
    },
    NavGroup {
        title: "Movimento",
        items: &[
            NavItem::new("Compras", "/admin/compras", "cart").handy(),
            NavItem::new("Notificações", "/admin/notificacoes", "inbox"),
            NavItem::new("Mensagens", "/admin/mensagens", "mail").handy(),
            NavItem::new("Comunicados", objects::ANNOUNCEMENT.list, "megaphone"),
        ],
    },
    NavGroup {
        title: "Integrações",
        items: &[
            NavItem::new("Chaves", objects::KEY.list, "key"),
            NavItem::new("API de parceiros", "/admin/parceiros", "code"),
        ],
    },
    NavGroup {
        title: "Sistema",
        items: &[
            NavItem::new("Cópias", "/admin/copias", "database"),
            NavItem::new("Cron", "/admin/cron", "clock").with("/admin/retencao"),
            NavItem::new("Auditoria", "/admin/auditoria", "audit"),
            NavItem::new("Requisições", "/admin/requisicoes", "pulse"),
            NavItem::new("Diagnóstico", "/admin/diagnostico", "eye"),
        ],
    },
];
