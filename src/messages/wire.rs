//! Notifications on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Notification, NotificationKind};
use crate::base::{MlUserId, Zone};
use crate::wire;

wire! {
    /// A notification as callers see it.
    #[derive(Serialize, JsonSchema)]
    pub struct WireNotification of(notification: Notification, zone: Zone) {
        id: String = notification.id.to_string(),
        tipo: NotificationKind = notification.kind,
        titulo: String = notification.title,
        mensagem: String = notification.message,
        ml_user_id: Option<MlUserId> = notification.ml_user_id,
        referencia: Option<String> = notification.reference,
        criada_em: String = zone.spaced(notification.created_at),
    }
}
