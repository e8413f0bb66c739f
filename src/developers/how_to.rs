//! Guides for a purpose: a mirror, an ERP, a supplier, tests. Their text is in
//! `templates/developers/how_to`; tests take the programs from the pages and run them.

use super::guide::Sample;
use super::titles::{Guided, TITLES};

/// A guide with its addresses and its code.
pub struct HowTo {
    /// Name of its texts.
    pub id: &'static str,
    pub path: &'static str,
    /// The same page as Markdown.
    pub markdown: &'static str,
    /// Files of its code with their titles.
    samples: &'static [(&'static str, &'static str)],
}

pub const MIRROR: HowTo = HowTo {
    id: "mirror",
    path: "/desenvolvedores/espelho",
    markdown: "/desenvolvedores/espelho.md",
    samples: &[("espelho-python.py", "Python, espelho.py")],
};

pub const ERP: HowTo = HowTo {
    id: "erp",
    path: "/desenvolvedores/erp",
    markdown: "/desenvolvedores/erp.md",
    samples: &[("erp-python.py", "Python, vendas.py"), ("estoque-python.py", "Python, estoque.py")],
};

pub const SUPPLIERS: HowTo = HowTo {
    id: "suppliers",
    path: "/desenvolvedores/fornecedores",
    markdown: "/desenvolvedores/fornecedores.md",
    samples: &[("fornecedor-python.py", "Python, fornecedor.py")],
};

pub const TESTING: HowTo = HowTo {
    id: "testing",
    path: "/desenvolvedores/testes",
    markdown: "/desenvolvedores/testes.md",
    samples: &[
        ("imitar-python.py", "Python, imitar.py"),
        ("assinar-python.py", "Python, assinar.py"),
    ],
};

pub static ALL: [HowTo; 4] = [MIRROR, ERP, SUPPLIERS, TESTING];

impl HowTo {
    /// The guide at an address, be it of the page or of its Markdown.
    pub fn at(path: &str) -> Option<&'static Self> {
        ALL.iter().find(|one| one.path == path || one.markdown == path)
    }

    /// Its title, what it is about, and its sections.
    pub fn texts(&self) -> &'static Guided {
        &TITLES.how_to[self.id]
    }

    /// Its code, for the address of an installation.
    pub fn samples(&self, address: &str) -> Vec<Sample> {
        self.samples.iter().map(|(file, title)| Sample::of(file, title, address)).collect()
    }
}
