//! Switches of the overview: those of `config.rs` that are on or off, in words.

use super::config::Config;

/// A switch of the overview.
pub struct Switch {
    /// Field of the form.
    pub name: &'static str,
    /// What people read.
    pub label: &'static str,
    /// Whether it is on.
    pub read: fn(&Config) -> bool,
    /// Turns it.
    pub write: fn(&mut Config, bool),
}

/// The switches that the overview shows, in its order.
pub const SWITCHES: [Switch; 15] = [
    Switch {
        name: "signed",
        label: "Assinar as notificações",
        read: |config| config.signed,
        write: |config, on| config.signed = on,
    },
    Switch {
        name: "comma",
        label: "Separar a assinatura com vírgula",
        read: |config| config.separator == ',',
        write: |config, on| config.separator = if on { ',' } else { ';' },
    },
    Switch {
        name: "hold",
        label: "Segurar as notificações",
        read: |config| config.hold,
        write: |config, on| config.hold = on,
    },
    Switch {
        name: "reorder",
        label: "Entregar as mais novas primeiro",
        read: |config| config.reorder,
        write: |config, on| config.reorder = on,
    },
    Switch {
        name: "duplicates",
        label: "Enviar cada notificação três vezes",
        read: |config| config.duplicates > 0,
        write: |config, on| config.duplicates = if on { 2 } else { 0 },
    },
    Switch {
        name: "string_ids",
        label: "Números como texto nas notificações",
        read: |config| config.string_ids,
        write: |config, on| config.string_ids = on,
    },
    Switch {
        name: "missing_slash",
        label: "Recurso sem a barra inicial",
        read: |config| config.missing_slash,
        write: |config, on| config.missing_slash = on,
    },
    Switch {
        name: "partial_orders",
        label: "Pedidos incompletos (206)",
        read: |config| config.partial_orders,
        write: |config, on| config.partial_orders = on,
    },
    Switch {
        name: "mixed_dates",
        label: "Datas em formatos variados",
        read: |config| config.mixed_dates,
        write: |config, on| config.mixed_dates = on,
    },
    Switch {
        name: "legacy_claims",
        label: "Reclamações no tópico antigo (claims)",
        read: |config| config.legacy_claims,
        write: |config, on| config.legacy_claims = on,
    },
    Switch {
        name: "partial_users",
        label: "Contas incompletas (206)",
        read: |config| config.partial_users,
        write: |config, on| config.partial_users = on,
    },
    Switch {
        name: "flat_shipments",
        label: "Envios no formato antigo",
        read: |config| config.flat_shipments,
        write: |config, on| config.flat_shipments = on,
    },
    Switch {
        name: "old_elements",
        label: "Lista de anúncios no formato antigo",
        read: |config| config.old_elements,
        write: |config, on| config.old_elements = on,
    },
    Switch {
        name: "new_scroll_ids",
        label: "Novo scroll_id a cada página",
        read: |config| config.new_scroll_ids,
        write: |config, on| config.new_scroll_ids = on,
    },
    Switch {
        name: "silence",
        label: "Desligar o tópico após 3 avisos perdidos",
        read: |config| config.silence_after > 0,
        write: |config, on| config.silence_after = if on { 3 } else { 0 },
    },
];
