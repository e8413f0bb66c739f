//! Notifications on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Notification, NotificationKind};
use crate::base::clock::Zone;
use crate::base::ids::MlUserId;

/// A notification as callers see it (contract §5).
#[derive(Serialize, JsonSchema)]
pub struct WireNotification {
    id: String,
    tipo: NotificationKind,
    titulo: String,
    mensagem: String,
    ml_user_id: Option<MlUserId>,
    referencia: Option<String>,
    criada_em: String,
}

impl WireNotification {
    /// The wire form of a notification.
    pub fn of(notification: Notification, zone: Zone) -> Self {
        Self {
            id: notification.id.to_string(),
            tipo: notification.kind,
            titulo: notification.title,
            mensagem: notification.message,
            ml_user_id: notification.ml_user_id,
            referencia: notification.reference,
            criada_em: zone.spaced(notification.created_at),
        }
    }
}
