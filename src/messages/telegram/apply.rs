//! Applies updates to linked chats, and decides what the bot answers.
//!
//! Each update is applied once: the ids of the last ones are stored in the
//! transaction that applies them. Nothing else is stored about a chat that is
//! not linked.

use super::replies::Reply;
use super::store;
use super::update::{ChatCommand, Update, UpdateKind};
use crate::base::TokenHash;
use crate::db::{Result, WriteTx};

/// Most ids of applied updates that are kept.
const REMEMBERED: usize = 100;

/// The platform's name and address, for the bot's answers.
#[derive(Clone, Debug)]
pub struct PlatformInfo {
    pub platform: String,
    pub address: String,
}

/// Applies updates that were not applied yet; returns what to answer.
pub fn apply(tx: &WriteTx<'_>, info: &PlatformInfo, updates: &[Update]) -> Result<Vec<Reply>> {
    let mut handled = store::handled(tx)?;
    let before = handled.len();
    let mut replies = Vec::new();
    for update in updates {
        if handled.contains(&update.id) {
            continue;
        }
        handled.push(update.id);
        match &update.kind {
            None => {}
            Some(UpdateKind::Blocked { chat, blocked }) => {
                store::set_blocked(tx, *chat, *blocked)?;
            }
            Some(UpdateKind::Said { chat, name, order }) => {
                // A person who writes has not blocked the bot, whatever is
                // stored.
                let is_linked = store::set_blocked(tx, *chat, false)?;
                match order {
                    ChatCommand::Start { code: Some(code) } => {
                        start(tx, info, *chat, name, code, &mut replies)?;
                    }
                    ChatCommand::Stop => replies.push(stop(tx, info, *chat)?),
                    ChatCommand::Start { code: None } | ChatCommand::Other => {
                        replies.push(help(info, *chat, is_linked));
                    }
                }
            }
        }
    }
    if handled.len() > before {
        let old = handled.len().saturating_sub(REMEMBERED);
        store::keep_handled(tx, &handled[old..])?;
    }
    Ok(replies)
}

/// Links a chat to the person whose code it is.
fn start(
    tx: &WriteTx<'_>,
    info: &PlatformInfo,
    chat: i64,
    name: &str,
    code: &str,
    replies: &mut Vec<Reply>,
) -> Result<()> {
    let PlatformInfo { platform, address } = info;
    let Some(person) = store::by_code(tx, &TokenHash::of(code))? else {
        replies.push(Reply::telling(chat, format!(
            "Este link não vale mais. Peça outro em {address}/perfil/avisos e abra-o em até 15 minutos."
        )));
        return Ok(());
    };
    let owner = store::owner(tx, chat)?;
    if owner.is_some_and(|owner| owner != person.user) {
        replies.push(Reply::telling(
            chat,
            format!(
                "Esta conversa já está conectada a outra conta da {platform} e continua com ela. \
             Para trocar, envie /stop e abra o link de novo."
            ),
        ));
        return Ok(());
    }
    let earlier = store::chat(tx, person.user)?.map(|earlier| earlier.id);
    store::link(tx, person.user, chat, name)?;
    store::forget_code(tx, person.user)?;
    if let Some(earlier) = earlier.filter(|earlier| *earlier != chat) {
        replies.push(Reply::telling(
            earlier,
            format!("Os avisos da {platform} passaram para outra conversa."),
        ));
    }
    replies.push(Reply::telling(
        chat,
        format!(
            "Tudo certo: os avisos da {platform} para {} chegam agora por aqui.\n\nPara parar de recebê-los, envie /stop.",
            person.name
        ),
    ));
    Ok(())
}

fn stop(tx: &WriteTx<'_>, info: &PlatformInfo, chat: i64) -> Result<Reply> {
    let PlatformInfo { platform, address } = info;
    let owner = store::owner(tx, chat)?;
    let text = match owner {
        Some(owner) => {
            store::unlink(tx, owner, chat)?;
            format!(
                "Desconectado: a {platform} não envia mais avisos por aqui. Para voltar, conecte de novo em {address}/perfil/avisos."
            )
        }
        None => "Esta conversa não está conectada a nenhuma conta.".to_owned(),
    };
    Ok(Reply::telling(chat, text))
}

fn help(info: &PlatformInfo, chat: i64, is_linked: bool) -> Reply {
    let PlatformInfo { platform, address } = info;
    let text = if is_linked {
        format!(
            "Por aqui a {platform} só envia avisos; ninguém lê as respostas. Para parar de recebê-los, envie /stop."
        )
    } else {
        format!(
            "Para receber os avisos da {platform} por aqui, entre em {address}/perfil/avisos e conecte o Telegram."
        )
    };
    Reply::helping(chat, text)
}
