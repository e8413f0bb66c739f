//! Every `code` of the Partner API in words: what happened, and what a program
//! does about it. The documents take their examples from here, the guide its
//! table.

use serde_json::{Value, json};

use super::language::Bilingual;
use crate::http::{Code, Family, Problem};

/// Stands for the request id in examples.
const REQUEST_ID: &str = "0198b7e2-5c1e-7d40-a7be-1f5b2f6f1d11";

/// A code with what there is to know about it.
pub struct Explained {
    pub code: Code,
    /// A message that comes with it.
    pub message: &'static str,
    /// A field at fault and what is said of it, where fields are.
    pub field: Option<(&'static str, &'static str)>,
    /// What happened.
    pub what: Bilingual,
    /// What to do.
    pub then: Bilingual,
}

impl Explained {
    const fn new(code: Code, message: &'static str, what: Bilingual, then: Bilingual) -> Self {
        Self { code, message, field: None, what, then }
    }

    const fn about(mut self, field: &'static str, fault: &'static str) -> Self {
        self.field = Some((field, fault));
        self
    }
}

const fn bilingual(portuguese: &'static str, english: &'static str) -> Bilingual {
    Bilingual { portuguese, english }
}

/// All of them, by status.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub const CODES: &[Explained] = &[
    Explained::new(Code::ValidationFailed, "some fields are missing or invalid",
        bilingual("Um parâmetro ou um campo falta, é desconhecido ou está fora do permitido.", "A parameter or a field is missing, unknown or out of range."),
        bilingual("Corrija o que `fields` aponta. Repetir igual não adianta.", "Correct what `fields` names. Repeating it as it is does not help."))
        .about("limit", "must be a whole number from 1 to 200"),
    Explained::new(Code::InvalidBody, "the body must be a JSON object with each field once",
        bilingual("O corpo não é um objeto JSON bem formado.", "The body is not a well-formed JSON object."),
        bilingual("Confira como o corpo é montado.", "Look at how the body is made.")),
    Explained::new(Code::IdempotencyKeyReused, "this Idempotency-Key was sent with another body before",
        bilingual("A mesma `Idempotency-Key` veio antes com outro corpo.", "The same `Idempotency-Key` came with another body before."),
        bilingual("Use uma chave nova para cada pedido diferente.", "Take a new key for each different call.")),
    Explained::new(Code::BadRequest, "this server does not answer for that host",
        bilingual("O pedido está malformado: outro `Host`, endereço ou cabeçalhos grandes demais.", "The request is malformed: another `Host`, an address or headers that are too large."),
        bilingual("Confira o endereço e os cabeçalhos.", "Check the address and the headers.")),
    Explained::new(Code::ChannelNotConnected, "the owner of the token has not connected telegram",
        bilingual("O dono do token não conectou o canal pedido.", "The owner of the token has not connected that channel."),
        bilingual("Peça que o conecte no perfil, ou use outro canal.", "Ask them to connect it in their profile, or take another channel.")),
    Explained::new(Code::AlreadyLinked, "the listing is linked to another product",
        bilingual("O anúncio já está vinculado a outro produto.", "The listing is linked to another product."),
        bilingual("Desvincule-o antes, se o vínculo é seu.", "Unlink it first, if the link is yours.")),
    Explained::new(Code::Unauthorized, "token missing, invalid or expired",
        bilingual("O token falta, está errado ou foi revogado.", "The token is missing, wrong or revoked."),
        bilingual("Peça um token novo ao dono da conta. Não insista: recusas contam contra o seu endereço.", "Ask the owner of the account for a new one. Do not insist: refusals count against your address.")),
    Explained::new(Code::AccountSuspended, "this account is suspended",
        bilingual("A conta do dono do token está suspensa.", "The account of the token's owner is suspended."),
        bilingual("Pare e avise o dono. O token volta a valer se a conta for reativada.", "Stop and tell the owner. The token works again once the account does.")),
    Explained::new(Code::PlanRequired, "this account has no active API plan; contract or renew one",
        bilingual("A conta não tem um plano da API em vigor.", "The account has no API plan in force."),
        bilingual("Contrate ou renove o plano.", "Contract or renew a plan.")),
    Explained::new(Code::Forbidden, "this token does not open this operation",
        bilingual("O token não abre esta operação: as de vendedores e as de fornecedores são separadas, e um fornecedor precisa de um vendedor vinculado.", "The token does not open this operation: those of sellers and of suppliers are apart, and a supplier needs a linked seller."),
        bilingual("Use o token de uma conta do tipo certo.", "Use a token of the right kind of account.")),
    Explained::new(Code::InsufficientScope, "this app may only read; ask its owner to connect it again with partner:write",
        bilingual("O dono conectou o aplicativo só para ler, e esta operação age.", "The owner connected the app to read alone, and this operation acts."),
        bilingual("Peça o escopo que `WWW-Authenticate` diz: o dono decide de novo.", "Ask for the scope that `WWW-Authenticate` names: the owner decides again.")),
    Explained::new(Code::NotFound, "not found",
        bilingual("Não existe, ou não é do dono do token. A resposta não diz qual dos dois.", "Not there, or not the token owner's. The answer does not say which."),
        bilingual("Confira o endereço e o número.", "Check the address and the number.")),
    Explained::new(Code::MethodNotAllowed, "this address has other methods",
        bilingual("O endereço existe, mas com outro método.", "The address is there, with another method."),
        bilingual("Veja o cabeçalho `Allow`.", "See the header `Allow`.")),
    Explained::new(Code::Conflict, "there are too many links; remove some first",
        bilingual("O pedido não cabe no que já existe, ou já foi feito com essa `Idempotency-Key` e a resposta não está mais guardada.", "The request does not fit what is there already, or was done with this `Idempotency-Key` before and its answer is no longer kept."),
        bilingual("Leia `message`: ela diz o que mudar antes.", "Read `message`: it says what to change first.")),
    Explained::new(Code::PayloadTooLarge, "the body is too large",
        bilingual("O corpo é maior que o permitido.", "The body is larger than what is taken."),
        bilingual("Envie menos de cada vez.", "Send less at a time.")),
    Explained::new(Code::UnsupportedMediaType, "send the body as application/json",
        bilingual("O corpo veio em um tipo que a operação não aceita.", "The body is of a type that the operation does not take."),
        bilingual("Envie `Content-Type: application/json`.", "Send `Content-Type: application/json`.")),
    Explained::new(Code::RateLimited, "too many requests; wait until the window ends",
        bilingual("Foram chamadas demais neste minuto.", "There were too many calls in this minute."),
        bilingual("Espere os segundos de `Retry-After` e repita.", "Wait the seconds of `Retry-After` and repeat it.")),
    Explained::new(Code::QuotaExceeded, "the plan's monthly quota is used up",
        bilingual("As chamadas do mês acabaram.", "The calls of the month are used up."),
        bilingual("Espere o mês virar (`X-RateLimit-Reset`) ou mude de plano.", "Wait for the next month (`X-RateLimit-Reset`), or take a larger plan.")),
    Explained::new(Code::Internal, "internal error; quote the request id when reporting it",
        bilingual("Uma falha nossa.", "A failure of ours."),
        bilingual("Repita com pausas crescentes. Se continuar, avise com o `request_id`.", "Repeat it with growing pauses. If it stays, report it with the `request_id`.")),
    Explained::new(Code::Unavailable, "the service is busy; try again in a moment",
        bilingual("O serviço não consegue agora. Nada foi feito.", "The service cannot do it now. Nothing was done."),
        bilingual("Espere os segundos de `Retry-After` e repita.", "Wait the seconds of `Retry-After` and repeat it.")),
];

/// What there is to know about a code.
pub fn explained(code: Code) -> Option<&'static Explained> {
    let name = code.name(Family::Partner);
    CODES.iter().find(|one| one.code.name(Family::Partner) == name)
}

/// A body with this code, as the Partner API answers it.
pub fn example(code: Code) -> Value {
    let message = match code {
        Code::UriTooLong => "the address is too long",
        Code::HeadersTooLarge => "the headers are too large or too many",
        _ => explained(code).map_or("", |one| one.message),
    };
    let mut problem = Problem::new(code, message);
    let field = explained(code).and_then(|one| one.field);
    problem.fields.extend(field.map(|(name, fault)| (name.into(), fault.into())));
    let body = serde_json::from_slice(&problem.body(Family::Partner, REQUEST_ID));
    json!({
        "summary": code.name(Family::Partner),
        "value": body.unwrap_or(Value::Null),
    })
}
