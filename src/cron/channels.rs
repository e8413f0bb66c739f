//! By which channels a person is told what the clock has to say.

use crate::outbox::Channel;

/// What channels a person has.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Whether the person has a chat number.
    pub has_number: bool,
    /// Whether e-mail is configured; everybody has an address.
    pub email_works: bool,
}

/// The channels a message takes: chat when the person has a number, else
/// e-mail. Empty when nothing reaches the person.
pub fn chosen(reach: Reach) -> Vec<Channel> {
    if reach.has_number {
        vec![Channel::Chat]
    } else if reach.email_works {
        vec![Channel::Email]
    } else {
        Vec::new()
    }
}
