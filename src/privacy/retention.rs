//! What is kept, why, how long, and what removes it: the panel and
//! `docs/SECURITY.md` show this one list.

/// A text in Portuguese, for the panel, and in English, for the document.
pub type Words = (&'static str, &'static str);

/// One purpose for which data is kept.
pub struct RetentionRule {
    pub what: Words,
    pub why: Words,
    pub until: Words,
    pub by: Words,
}

const fn rule(what: Words, why: Words, until: Words, by: Words) -> RetentionRule {
    RetentionRule { what, why, until, by }
}

const ERASURE: Words = ("exclusão ou apagamento da pessoa", "removal or erasure of the person");
const CRON: Words = ("tarefa diária", "a daily task");
const WITH_PERSON: Words = ("enquanto a conta existe", "as long as the account");

/// The list, by purpose.
#[rustfmt::skip] // A table.
pub const RETENTION: &[RetentionRule] = &[
    rule(("Conta: nome, e-mail, número de chat, foto, plano", "Account: name, e-mail, chat number, photo, plan"),
        ("entrar e ser atendido", "signing in and being served"), WITH_PERSON, ERASURE),
    rule(("Check-ins, pontos, aulas feitas", "Check-ins, points, lessons done"),
        ("o programa e o ranking", "the program and its ranking"), WITH_PERSON, ERASURE),
    rule(("Contas vinculadas, vendas, anúncios, perguntas, reclamações, produtos", "Linked accounts, sales, listings, questions, claims, products"),
        ("mostrar e sincronizar a loja", "showing and following the shop"), WITH_PERSON,
        ("desvincular a conta; exclusão ou apagamento da pessoa", "unlinking; removal or erasure of the person")),
    rule(("Quais etiquetas foram impressas, quando e por quem", "Which labels were printed, when and by whom"),
        ("imprimir de novo ou desfazer", "printing again or undoing"), ("90 dias", "90 days"), CRON),
    rule(("Sessões e tokens da extensão, com endereço e navegador", "Sessions and extension tokens, with address and browser"),
        ("segurança do acesso", "security of access"), ("30 dias depois do fim", "30 days after their end"), CRON),
    rule(("Endereços de onde a pessoa entrou", "Addresses a person signed in from"),
        ("não deixar estranhos bloquearem a conta", "so that strangers cannot shut a person out"), ("30 dias", "30 days"), CRON),
    rule(("Conteúdo das mensagens", "Content of messages"),
        ("entregar e reenviar", "delivering and sending again"), ("30 dias", "30 days"), CRON),
    rule(("Fila de mensagens, sem conteúdo", "Queue of messages, without content"),
        ("saber o que foi entregue", "knowing what was delivered"), ("90 dias, depois arquivada sem nomes", "90 days, then archived without names"), CRON),
    rule(("Número de chat que o WhatsApp recusou, e por quê", "Chat number that the network refused, and why"),
        ("não escrever a quem não recebe", "not writing where nothing arrives"), ("até uma mensagem chegar ou o número mudar", "until a message arrives or the number changes"),
        ("mensagem entregue; outra recusa; exclusão ou apagamento da pessoa", "a message that arrives; another refusal; removal or erasure of the person")),
    rule(("Quem recebeu e leu cada comunicado", "Who was told and who read each announcement"),
        ("saber se foi lido", "knowing whether it was read"), ("400 dias", "400 days"), CRON),
    rule(("Notificações do marketplace como chegaram", "Notifications of the marketplace as received"),
        ("processar e conferir", "processing and looking into"), ("30 dias", "30 days"), CRON),
    rule(("Eventos e entregas de webhooks, com o conteúdo e cada tentativa", "Events and deliveries of webhooks, with their bodies and every attempt"),
        ("entregar, reenviar e conferir", "delivering, sending again and looking into"), ("30 dias", "30 days"), CRON),
    rule(("Conteúdo dos eventos de compra", "Bodies of purchase events"),
        ("processar e conferir", "processing and looking into"), ("30 dias", "30 days"), CRON),
    rule(("Compras: evento, plano, transação", "Purchases: event, plan, transaction"),
        ("acesso pago e contabilidade", "paid access and the books"), ("sem prazo; sem o nome depois de apagada a pessoa", "no end; without the name once the person is erased"), ERASURE),
    rule(("Pedidos de fornecimento e valores", "Drop orders and amounts"),
        ("contas entre fornecedor e vendedor", "accounts between supplier and seller"), ("sem prazo, só com números", "no end, with numbers only"), ERASURE),
    rule(("Auditoria: ato e número", "Audit log: number and act"),
        ("provar quem fez o quê", "proving who did what"), ("sem prazo", "no end"), ("nada: só se acrescenta", "nothing: it is only added to")),
    rule(("Auditoria: nomes, endereços, valores antes e depois", "Audit log: names, addresses, values before and after"),
        ("provar quem fez o quê", "proving who did what"), ("até o apagamento da pessoa", "until the person is erased"), ("apagamento da pessoa", "erasure of the person")),
    rule(("Requisições, com endereço", "Requests, with address"),
        ("diagnóstico e abuso", "diagnosis and abuse"), ("90 dias, depois arquivadas", "90 days, then archived"), CRON),
    rule(("Endereços em requisições arquivadas", "Addresses in archived requests"),
        ("abuso", "abuse"), ("180 dias", "180 days"), CRON),
    rule(("Chamadas a outros serviços, sem conteúdo", "Calls to services outside, without content"),
        ("diagnóstico", "diagnosis"), ("30 dias", "30 days"), CRON),
    rule(("Erros e alertas do log, sem endereços nem segredos", "Errors and warnings of the log, without addresses and secrets"),
        ("diagnóstico", "diagnosis"), ("30 dias", "30 days"), CRON),
    rule(("Listas de alunos importadas", "Imported lists of students"),
        ("conferir a importação", "looking into the import"), ("7 dias", "7 days"), CRON),
    rule(("Quem foi apagado, por resumo com chave", "Who was erased, by keyed digest"),
        ("apagar de novo ao restaurar uma cópia de segurança antiga", "erasing again when an older copy is restored"), ("sem prazo", "no end"), ("nada", "nothing")),
    rule(("Backups", "Copies"),
        ("recuperar de perdas", "recovering from losses"), ("os mais novos, pelo número configurado", "the newest, by the number configured"), ("cópia seguinte", "the next copy")),
    rule(("Bancos postos de lado: ….before-vN.db, ….before-restore-…, ….of-replaced", "Databases set aside: `….before-vN.db`, `….before-restore-…`, `….of-replaced`"),
        ("voltar atrás", "going back"), ("até serem removidos à mão", "until they are removed by hand"), ("quem opera", "the operator")),
    rule(("Histórico da réplica", "The replica's history"),
        ("recuperar de perdas", "recovering from losses"), ("pelas horas de replica.retention_h", "for the hours of `replica.retention_h`"), ("Litestream", "Litestream")),
    rule(("Log do processo, com endereço e número de quem chamou", "The process's log, with address and number of callers"),
        ("diagnóstico", "diagnosis"), ("enquanto o sistema guarda o journal", "as long as the system keeps its journal"), ("o sistema", "the system")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_tells_the_same() {
        let document = include_str!("../../docs/SECURITY.md");
        for RetentionRule { what, why, until, by } in RETENTION {
            let line = format!("| {} | {} | {} | {} |", what.1, why.1, until.1, by.1);
            assert!(document.contains(&line), "no line {line:?}");
            assert!([what, why, until, by].iter().all(|words| !words.0.is_empty()));
        }
        let section = document.split("## What is kept").nth(1).expect("a section");
        let section = section.split("\n## ").next().unwrap_or_default();
        let lines = section.lines().filter(|line| line.starts_with("| ")).count();
        // Its head is a line more.
        assert_eq!(lines, RETENTION.len() + 1);
    }
}
