//! What a channel said when a message failed, in words, with what to do about it.
//! What is stored stays as the channel said it.

use super::Message;
use crate::outbox::Channel;

/// What happened, and what an operator does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureHint {
    pub what: &'static str,
    pub remedy: &'static str,
}

/// A part of what is stored, in lower case, and what it means. The first that is found counts.
type Row = (&'static str, &'static str, &'static str);

const FIX_ADDRESS: &str = "Corrija o e-mail e reenvie.";
const FIX_NUMBER: &str = "Corrija o número e reenvie.";
const WAIT: &str = "Nada a fazer: a mensagem sai sozinha quando ele voltar.";

#[rustfmt::skip] // A table.
const EMAIL: &[Row] = &[
    ("todos os destinatários são recusados", "O servidor de e-mail não aceita o nosso remetente.", "Confira email.from na configuração e a conta no servidor de e-mail."),
    ("email.from", "O servidor de e-mail não aceita o nosso remetente.", "Troque email.from por um endereço sem acento."),
    ("smtputf8", "O servidor de e-mail não aceita acento antes do @.", "Peça à pessoa um e-mail sem acento, corrija e reenvie."),
    ("5.2.2", "A caixa de e-mail está cheia.", "Reenvie quando a pessoa liberar espaço, ou use outro e-mail."),
    ("respondeu 552", "A caixa de e-mail está cheia.", "Reenvie quando a pessoa liberar espaço, ou use outro e-mail."),
    ("respondeu 53", "O servidor de e-mail não aceitou o nosso nome e senha.", "Confira email.smtp_url na configuração e reinicie o serviço."),
    ("5.7.", "O servidor de e-mail bloqueou a mensagem.", "Confira SPF e DKIM do domínio do remetente, e reenvie."),
    ("respondeu 554", "O servidor de e-mail bloqueou a mensagem.", "Confira SPF e DKIM do domínio do remetente, e reenvie."),
    ("5.1.", "Esta caixa de e-mail não existe.", FIX_ADDRESS),
    ("respondeu 550", "Esta caixa de e-mail não existe.", FIX_ADDRESS),
    ("respondeu 551", "Esta caixa de e-mail não existe.", FIX_ADDRESS),
    ("respondeu 553", "O endereço de e-mail não é válido.", FIX_ADDRESS),
    ("respondeu 501", "O endereço de e-mail não é válido.", FIX_ADDRESS),
    ("não é válido", "O endereço de e-mail não é válido.", FIX_ADDRESS),
    ("respondeu 5", "O servidor de e-mail recusou a mensagem.", "Confira o endereço e reenvie."),
    ("respondeu 4", "O servidor de e-mail adiou a mensagem.", "Tentamos por um tempo. Se ela falhou, reenvie."),
    ("modo de entrar", "O servidor de e-mail não aceita o nosso modo de entrar.", "Confira email.smtp_url na configuração."),
    ("conexão segura", "O servidor de e-mail não oferece conexão segura.", "Confira email.smtp_url na configuração."),
    ("não respondeu a tempo", "O servidor de e-mail não respondeu a tempo.", WAIT),
    ("fora do ar", "O servidor de e-mail está fora do ar.", WAIT),
];

#[rustfmt::skip] // A table.
const CHAT: &[Row] = &[
    ("sem conexão", "O telefone do gateway de chat está sem conexão.", "Conecte-o de novo no painel do gateway. As mensagens esperam e saem sozinhas."),
    ("a rede de chat não respondeu ao gateway", "O WhatsApp não respondeu ao gateway de chat.", WAIT),
    ("não está na rede de chat", "Este número não está na rede de chat.", FIX_NUMBER),
    ("não tem número", "A pessoa não tem número de chat.", "Informe o número e reenvie."),
    ("código 131026", "Este número não recebe mensagens.", FIX_NUMBER),
    ("código 131050", "A pessoa pediu para não receber mensagens por chat.", "Avise por outro canal."),
    ("código 131049", "O WhatsApp limitou mensagens a esta pessoa.", "Reenvie amanhã, ou avise por outro canal."),
    ("código 131047", "A janela de 24 horas da conversa fechou.", "Configure um modelo aprovado em chat.template e reenvie."),
    ("chat.template", "A janela de 24 horas da conversa fechou.", "Configure um modelo aprovado em chat.template e reenvie."),
    ("código 132015", "O modelo de mensagem foi pausado.", "Veja o motivo no painel do WhatsApp. As mensagens esperam."),
    ("código 132016", "O modelo de mensagem foi desativado.", "Aprove outro modelo e troque chat.template. As mensagens esperam."),
    ("código 132", "O modelo de mensagem não foi aceito.", "Confira o modelo em chat.template e reenvie."),
    ("código 131005", "A conta do WhatsApp não tem permissão para enviar.", "Confira as permissões da chave em chat.api_key. As mensagens esperam."),
    ("código 131031", "A conta do WhatsApp está bloqueada.", "Veja o motivo no painel do WhatsApp. As mensagens esperam."),
    ("código 131037", "O nome de exibição do nosso número não foi aprovado.", "Aprove o nome no painel do WhatsApp. As mensagens esperam."),
    ("código 131045", "O nosso número não está registrado no WhatsApp.", "Registre o número no painel do WhatsApp. As mensagens esperam."),
    ("código 133010", "O nosso número não está registrado no WhatsApp.", "Registre o número no painel do WhatsApp. As mensagens esperam."),
    ("código 130497", "A conta do WhatsApp não pode enviar mensagens a este país.", "Veja as restrições da conta no painel do WhatsApp. As mensagens esperam."),
    ("código 131057", "O WhatsApp está em manutenção.", WAIT),
    ("código 131042", "A conta de chat tem um pagamento pendente.", "Regularize o pagamento na conta do WhatsApp. As mensagens esperam."),
    ("código 190", "A chave do chat venceu.", "Gere outra, troque chat.api_key e reinicie o serviço."),
    ("chat.api_key", "O gateway de chat não aceita a nossa chave.", "Confira chat.api_key na configuração e reinicie o serviço."),
    ("chat.instance", "O gateway de chat não conhece a nossa instância.", "Confira chat.instance na configuração e reinicie o serviço."),
    ("pede uma pausa", "O gateway de chat pediu uma pausa.", WAIT),
    ("recusou a mensagem", "O gateway de chat recusou a mensagem.", "Confira o número e reenvie."),
    ("código", "O WhatsApp recusou a mensagem.", "Confira o número e reenvie."),
    ("não respondeu", "O gateway de chat está fora do ar.", WAIT),
    ("respondeu 5", "O gateway de chat está fora do ar.", WAIT),
];

#[rustfmt::skip] // A table.
const TELEGRAM: &[Row] = &[
    ("blocked", "A pessoa bloqueou o bot no Telegram.", "Só ela pode desbloquear. Avise por outro canal."),
    ("deactivated", "A conta do Telegram da pessoa não existe mais.", "Avise por outro canal."),
    ("chat not found", "A conversa no Telegram não existe mais.", "A pessoa conecta de novo em Perfil, Avisos."),
    ("não tem um telegram", "A pessoa não tem um Telegram conectado.", "Ela conecta em Perfil, Avisos."),
    ("bot_token", "O Telegram não aceita o nosso bot.", "Confira telegram.bot_token na configuração e reinicie o serviço."),
    ("não respondeu", "O Telegram está fora do ar.", WAIT),
    ("forbidden", "O Telegram não deixa o bot escrever a esta pessoa.", "Avise por outro canal."),
];

#[rustfmt::skip] // A table.
const PUSH: &[Row] = &[
    ("nenhum navegador", "A pessoa não recebe avisos em nenhum navegador.", "Ela liga em Perfil, Avisos."),
    ("chaves de avisos", "As chaves dos avisos no navegador não foram feitas.", "Confira push.subject na configuração e reinicie o serviço."),
    ("serviço do navegador", "O serviço do navegador recusou a mensagem.", "Se repetir, a pessoa desliga e liga os avisos nesse navegador."),
];

/// The words for what is stored of a message; `None` where there are none.
pub fn hint(message: &Message) -> Option<FailureHint> {
    let (channel, said) = (&*message.channel, message.outcome.as_deref()?);
    if message.waits() { of(Channel::from_name(channel)?, said) } else { of_failed(channel, said) }
}

/// The words for why a message failed, which does not go by itself any more.
pub fn of_failed(channel: &str, said: &str) -> Option<FailureHint> {
    let found = of(Channel::from_name(channel)?, said)?;
    let remedy = if found.remedy == WAIT { "Reenvie quando ele voltar." } else { found.remedy };
    Some(FailureHint { remedy, ..found })
}

/// The words for what a channel said.
pub fn of(channel: Channel, said: &str) -> Option<FailureHint> {
    let said = said.to_lowercase();
    let rows = match channel {
        Channel::Email => EMAIL,
        Channel::Chat => CHAT,
        Channel::Telegram => TELEGRAM,
        Channel::Push => PUSH,
    };
    let (_, what, remedy) = rows.iter().find(|(part, ..)| said.contains(part))?;
    Some(FailureHint { what, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_lower_case_and_every_row_can_be_found() {
        for rows in [EMAIL, CHAT, TELEGRAM, PUSH] {
            for (index, (part, what, remedy)) in rows.iter().enumerate() {
                assert_eq!(*part, part.to_lowercase());
                let hidden = rows[..index].iter().any(|(before, ..)| part.contains(before));
                assert!(!hidden, "{part} is never found");
                assert!(what.ends_with('.') && remedy.ends_with('.'), "{what} {remedy}");
            }
        }
    }
}
