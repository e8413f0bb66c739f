//! How the instants of a page are shown.

use super::When;
use crate::base::{Instant, Zone};
use crate::http::Request;
use crate::services::Services;

/// When and in which time zone a page is read.
#[derive(Clone, Copy)]
pub struct PageTime {
    pub zone: Zone,
    pub now: Instant,
}

impl PageTime {
    pub fn of(services: &Services, request: &Request) -> Self {
        Self { zone: services.zone(), now: request.now }
    }

    pub fn when(self, at: &Instant) -> When {
        When::new(self.zone, *at, self.now)
    }
}
