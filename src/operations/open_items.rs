//! The list of open items, which need action by a person. The verdict on the
//! operator's home is derived from it; all is well only while the list is empty.

use super::https;
use super::store::{self, Waiting};
use super::views::OpenItem;
use crate::app::App;
use crate::base::{Instant, UserId, grouped};
use crate::config::Config;
use crate::copies::{self, CopiesStatus};
use crate::db::{BackupCopy, Condition, FileKind, ReadTx, Result, Trouble};
use crate::marketplace::inbox::received::store::{self as inbox, InboxFigures};
use crate::marketplace::sync::missed::MissedOutcome;
use crate::messages::{queue, store as messages};
use crate::outbox::{Channel, channel_words};
use crate::panel::{Notice, Tone, view};
use crate::partner::accounts::{QuotaThresholds, store as partners};
use crate::privacy::erase;
use crate::services::Services;

/// The lists of late students and of failed messages.
pub const LATE: &str = "/admin/alunos?status=atrasado";
pub const FAILED: &str = "/admin/mensagens?estado=falhou-7";
/// Days over which rejected signatures are counted.
const DAYS: i64 = 7;
/// Size in bytes above which the write-ahead log becomes an open item, without and with
/// a replica, for which room is left in it.
const LARGE_LOG: [u64; 2] = [64_000_000, 128_000_000];

/// Whether the write-ahead log is larger than it becomes while all is well.
pub fn is_log_large(config: &Config, bytes: u64) -> bool {
    bytes > LARGE_LOG[usize::from(config.replica.url.is_some())]
}

/// With more waiting notifications of the marketplace, the queue is an open item.
pub const WAITING_INBOX: i64 = 1_000;
/// After at least this long without a run, the periodic tasks count as stopped.
const TICK_AGE_S: i64 = 3600;

/// Figures that are read from the database.
pub struct Figures {
    pub inbox: InboxFigures,
    /// Notifications that were rejected for their signature.
    pub refused: i64,
    /// Messages that wait, by channel.
    pub queued: Vec<(String, u64)>,
    /// Periodic tasks that keep failing.
    pub failing: Vec<String>,
    /// When the periodic tasks last ran.
    pub last_tick: Instant,
    /// Unread notifications of the operator who views the page.
    pub unread: i64,
    pub waiting: Waiting,
    /// Accounts of the Partner API that are near the quota of the month.
    pub near_quota: i64,
    /// Erasures of people that did not come to their end.
    pub unfinished_erasures: i64,
}

/// Reads the figures for an operator on a day.
pub fn figures(tx: &ReadTx<'_>, operator: UserId, thresholds: &QuotaThresholds) -> Result<Figures> {
    Ok(Figures {
        near_quota: partners::near_quota(tx, thresholds)?,
        unfinished_erasures: erase::unfinished(tx)?,
        inbox: inbox::figures(tx)?,
        refused: store::counted_since(tx, "refused_signatures", thresholds.today.plus(1 - DAYS))?,
        queued: queue::store::waiting(tx)?,
        failing: store::failing_tasks(tx)?,
        last_tick: store::last_tick(tx)?,
        unread: messages::unread_count(tx, operator)?,
        waiting: store::waiting(tx)?,
    })
}

/// All open items, the most urgent first.
pub fn open_items(
    app: &App,
    figures: &Figures,
    copies: &CopiesStatus,
    now: Instant,
) -> Vec<OpenItem> {
    let mut items = Vec::new();
    items.extend(files(app));
    items.extend(backups(app, copies, now));
    items.extend(https::open_items(app, now));
    items.extend(clock(app, figures, now));
    items.extend(people(&figures.waiting));
    items.extend(counted(
        figures.unfinished_erasures,
        "apagamento de dados não terminou",
        "apagamentos de dados não terminaram",
        "É tentado de novo a cada hora e a cada início. O motivo está no diagnóstico.",
        "/admin/diagnostico",
    ));
    items.extend(counted(
        figures.near_quota,
        "conta perto do limite da API",
        "contas perto do limite da API",
        "Sem cota, as chamadas são recusadas até o fim do mês. Veja se um plano maior serve.",
        "/admin/parceiros?uso=perto_do_limite",
    ));
    items.extend(marketplace(app, figures));
    items.extend(channels(app, figures));
    items.extend(sent(figures));
    let rank = |tone| match tone {
        Tone::Bad => 0,
        Tone::Warn => 1,
        Tone::Info | Tone::Good => 2,
    };
    items.sort_by_key(|item| rank(item.tone));
    items
}

/// The state of the service in one sentence.
pub fn verdict(items: &[OpenItem]) -> Notice {
    let Some(worst) = items.first() else {
        return Notice::new(Tone::Good, "Tudo em ordem", "Nada espera por você.");
    };
    let title = match worst.tone {
        Tone::Bad => "O serviço precisa de você agora",
        Tone::Warn => "Funcionando, com algo para resolver",
        Tone::Info | Tone::Good => "Funcionando, com algo a concluir",
    };
    Notice::new(worst.tone, title, "")
}

/// An item that is resolved outside the panel.
pub fn item(tone: Tone, title: impl Into<String>, text: impl Into<String>) -> OpenItem {
    OpenItem { tone, title: title.into(), text: text.into(), href: "" }
}

impl OpenItem {
    const fn done_at(mut self, href: &'static str) -> Self {
        self.href = href;
        self
    }
}

/// An item with a count; `None` when the count is zero.
fn counted(
    count: i64,
    one: &str,
    several: &str,
    text: &str,
    href: &'static str,
) -> Option<OpenItem> {
    let title = crate::base::counted(count, one, several);
    (count > 0).then(|| item(Tone::Warn, title, text).done_at(href))
}

/// What is wrong with the files, and the way on.
fn trouble(app: &App) -> Vec<OpenItem> {
    let copy = app.health.way.copy();
    let mut items = Vec::new();
    match app.db.trouble() {
        Some(Trouble::Damaged(seen)) => {
            let file = copy.as_deref().unwrap_or("ARQUIVO");
            let text = format!(
                "Nada é gravado. Pare o servidor e restaure a cópia boa mais nova: seller-platform restore {file}. O que foi visto: {seen}."
            );
            items.push(item(Tone::Bad, "O banco de dados está danificado", text));
        }
        Some(Trouble::Superseded(_)) => items.push(item(
            Tone::Bad,
            "Outro servidor assumiu este serviço",
            "Este não grava mais nada e vai parar. Para deixá-lo de reserva: seller-platform standby --rejoin.",
        )),
        Some(Trouble::Gone(kind)) => {
            let (title, text) = match kind {
                FileKind::Database => (
                    "O arquivo do banco foi removido ou trocado",
                    "Nada é gravado. Ponha no lugar o arquivo ou uma cópia, com seller-platform restore, e inicie o servidor de novo.",
                ),
                FileKind::Log => (
                    "O log de escrita foi removido ou trocado",
                    "Nada é gravado. Inicie o servidor de novo e compare com a cópia mais nova.",
                ),
                FileKind::Lock => (
                    "O arquivo de bloqueio foi removido ou trocado",
                    "Nada é gravado. Inicie o servidor de novo.",
                ),
                FileKind::Key => (
                    "O arquivo da chave não está mais ao lado do banco",
                    "Nada é gravado. Ponha-o de volta antes de parar o servidor: sem ele, as contas vinculadas se perdem.",
                ),
            };
            items.push(item(Tone::Bad, title, text));
        }
        None => {}
    }
    if app.db.condition() == Condition::ReadOnly {
        items.push(item(
            Tone::Bad,
            "O sistema de arquivos está somente para leitura",
            "Nada é gravado. Veja o log do sistema e monte o disco para gravação.",
        ));
    }
    if let Some(missing) = app.db.missing() {
        let copy = copy.as_deref().unwrap_or("a cópia mais nova");
        let text = format!(
            "O log de escrita faltava na última partida ({missing}). Compare com {copy}; depois, remova o arquivo .missing ao lado do banco."
        );
        items.push(item(Tone::Bad, "Gravações já confirmadas podem faltar", text));
    }
    items
}

fn backups(services: &Services, copies: &CopiesStatus, now: Instant) -> Vec<OpenItem> {
    let mut items = Vec::new();
    if !copies.has_folder {
        let text = "database.backup_dir está vazio: nada é copiado. Remova essa linha da configuração e reinicie o serviço.";
        items.push(item(Tone::Warn, "Nenhuma cópia de segurança", text));
    } else if copies.every_s.is_none() {
        let text = "database.backup_every_h é 0: nada é copiado sozinho. Remova essa linha da configuração e reinicie o serviço.";
        items.push(item(Tone::Warn, "As cópias automáticas estão desligadas", text));
    }
    if let Some(failure) = &copies.failure {
        items.push(item(Tone::Bad, &failure.title, &failure.detail));
    }
    if let Some((copy, _)) = copies.broken().next() {
        let text = "Ela não é mais o que era. Veja o disco, faça outra cópia e remova esta.";
        let title = format!("A cópia {} não confere", copy.name());
        items.push(item(Tone::Bad, title, text));
    }
    if copies.is_late(now) {
        let title = match copies.newest_good().and_then(BackupCopy::made_at) {
            Some(at) => format!("A última cópia de segurança é de {}", services.zone().page(at)),
            None => "Nenhuma cópia de segurança ainda".to_owned(),
        };
        let text = "Ela devia se fazer sozinha. Veja o motivo e copie agora.";
        items.push(item(Tone::Warn, title, text));
    }
    items.into_iter().map(|item| item.done_at(copies::PATH)).collect()
}

fn files(app: &App) -> Vec<OpenItem> {
    let mut items = Vec::new();
    items.extend(trouble(app));
    items.extend(replica(app));
    if is_log_large(&app.config, app.db.wal_bytes()) {
        items.push(item(
            Tone::Warn,
            format!("O log de escrita tem {}", view::size(app.db.wal_bytes())),
            "Ele encolhe sozinho. Se não encolher em alguns minutos, veja o log do servidor.",
        ));
    }
    items
}

/// With a replica this far behind, that is an open item.
const REPLICA_LAG_S: i64 = 120;

fn replica(app: &App) -> Option<OpenItem> {
    let status = app.health.replica.status()?;
    if status.trouble.is_none() && status.lag_s <= REPLICA_LAG_S {
        return None;
    }
    let why = status.trouble.map(|fault| format!(" Motivo: {fault}.")).unwrap_or_default();
    let text =
        format!("O serviço continua, mas o que foi gravado por último só está nesta máquina.{why}");
    let title = format!("A réplica está {} atrás", view::span(status.lag_s));
    Some(item(Tone::Warn, title, text))
}

fn clock(app: &App, figures: &Figures, now: Instant) -> Vec<OpenItem> {
    const PAGE: &str = "/admin/cron";
    let mut items: Vec<OpenItem> = figures
        .failing
        .iter()
        .map(|task| {
            let text = "Ela falhou várias vezes seguidas. O último erro está na página Cron.";
            item(Tone::Warn, format!("Tarefa com falha: {task}"), text).done_at(PAGE)
        })
        .collect();
    let interval = i64::try_from(app.config.cron.interval_s).unwrap_or(i64::MAX);
    let patience = interval.saturating_mul(3).max(TICK_AGE_S);
    // After a start the first run is still to come: count from the start.
    let since = figures.last_tick.max(app.started_at);
    let is_late = now.since(since) > patience;
    if is_late || !app.config.cron.enabled && figures.last_tick == Instant(0) {
        let text = if app.config.cron.enabled {
            "Lembretes, vencimentos e leituras param. Reinicie o servidor e veja o log dele."
        } else {
            "O relógio interno está desligado: ligue cron.enabled, ou chame /api/v1/cron a cada minuto."
        };
        items.push(item(Tone::Warn, "As tarefas periódicas não estão rodando", text).done_at(PAGE));
    }
    items
}

fn people(waiting: &Waiting) -> impl Iterator<Item = OpenItem> {
    [
        counted(
            waiting.late,
            "aluno com pagamento em atraso",
            "alunos com pagamento em atraso",
            "Fale com a pessoa antes que o acesso termine.",
            LATE,
        ),
        counted(
            waiting.disputed,
            "aluno com pagamento em disputa",
            "alunos com pagamento em disputa",
            "Responda à disputa na plataforma de pagamento.",
            "/admin/alunos?em_disputa=sim",
        ),
        counted(
            waiting.without_plan,
            "compra sem plano",
            "compras sem plano",
            "Ponha o código do produto em um plano, em Planos, e processe de novo.",
            "/admin/compras?resultado=sem-plano",
        ),
    ]
    .into_iter()
    .flatten()
}

fn marketplace(app: &App, figures: &Figures) -> Vec<OpenItem> {
    let config = &app.config.marketplace;
    let mut items = Vec::new();
    if config.client_id.is_empty() || config.client_secret.is_empty() {
        items.push(item(
            Tone::Info,
            "O marketplace não está configurado",
            "Preencha marketplace.client_id e marketplace.client_secret para que as pessoas possam vincular contas.",
        ));
    }
    if app.marketplace.client.is_away() {
        items.push(item(
            Tone::Warn,
            "O marketplace não responde",
            "As chamadas falham ou não terminam. O que chega espera e é lido quando ele voltar; nada se perde.",
        ));
    }
    items.extend(counted(
        figures.waiting.refused_accounts,
        "conta vinculada perdeu a autorização",
        "contas vinculadas perderam a autorização",
        "Cada pessoa vincula a sua de novo na página Contas; até lá, nada dela é lido.",
        "",
    ));
    items.extend(counted(
        figures.waiting.unrenewed_accounts,
        "conta vinculada só por algumas horas",
        "contas vinculadas só por algumas horas",
        "O aplicativo no marketplace não tem a permissão offline_access, e nada renova estes vínculos. Ligue-a lá; depois cada pessoa vincula de novo.",
        "",
    ));
    if !config.client_id.is_empty() && config.refuses_all_notifications() {
        items.push(item(
            Tone::Bad,
            "Todas as notificações do marketplace são recusadas",
            "O marketplace não assina notificações, e a configuração exige assinatura. Ponha marketplace.signature = \"optional\" e reinicie o serviço.",
        ));
    }
    if app.marketplace.last_missed.get() == Some(MissedOutcome::Refused) {
        items.push(item(
            Tone::Warn,
            "Notificações perdidas não são recuperadas",
            "O marketplace só as devolve à conta dona do aplicativo, e ela não está vinculada aqui. Vincule-a na página Contas; até lá, o que se perder chega com a próxima leitura.",
        ));
    }
    items.extend(counted(
        figures.inbox.failed,
        "notificação do marketplace falhou",
        "notificações do marketplace falharam",
        "Foram tentadas por dias. Veja o motivo e tente de novo.",
        "/admin/notificacoes?estado=falhou",
    ));
    items.extend(
        counted(
            figures.inbox.waiting,
            "notificação espera",
            "notificações do marketplace esperam",
            "A fila está longa. Veja se o marketplace responde.",
            "/admin/notificacoes?estado=pendente",
        )
        .filter(|_| figures.inbox.waiting > WAITING_INBOX),
    );
    items.extend(counted(
        figures.refused,
        "assinatura recusada em 7 dias",
        "assinaturas recusadas em 7 dias",
        "O marketplace real não assina notificações: use marketplace.signature = \"optional\".",
        "",
    ));
    items
}

fn channels(app: &App, figures: &Figures) -> Vec<OpenItem> {
    const PAGE: &str = "/admin/mensagens/canais";
    let mut items = Vec::new();
    for outlet in &app.messages.delivery.outlets {
        if let Some(error) = outlet.gate.error() {
            let title = format!("Canal fora do ar: {}", channel_words(outlet.channel.name()));
            let text = format!("As mensagens esperam e saem quando ele voltar. O motivo: {error}.");
            items.push(item(Tone::Warn, title, text).done_at(PAGE));
        }
    }
    let is_off = |channel: &Channel| !queue::is_configured(&app.config, channel.name());
    let off: Vec<Channel> = Channel::ALL.into_iter().filter(is_off).collect();
    let held: u64 = figures
        .queued
        .iter()
        .filter(|(name, _)| off.iter().any(|channel| channel.name() == name))
        .map(|(_, count)| count)
        .sum();
    let names: Vec<&str> = off.iter().map(|channel| channel_words(channel.name())).collect();
    let title = match names.split_last() {
        None => return items,
        Some((one, [])) => format!("Canal desligado: {one}"),
        Some((last, rest)) => format!("Canais desligados: {} e {last}", rest.join(", ")),
    };
    let reaches_everybody = [Channel::Chat, Channel::Email].iter().any(|one| !is_off(one));
    let (tone, text) = match held {
        1 => (Tone::Warn, "Uma mensagem espera até o canal dela ser configurado.".to_owned()),
        2.. => {
            let text =
                format!("{} mensagens esperam até o canal delas ser configurado.", grouped(held));
            (Tone::Warn, text)
        }
        0 if reaches_everybody => (Tone::Info, "Configure os que as pessoas usam.".to_owned()),
        0 => {
            let text = "Sem chat nem e-mail, ninguém recebe links de senha.";
            (Tone::Warn, text.to_owned())
        }
    };
    items.push(item(tone, title, text).done_at(PAGE));
    items
}

fn sent(figures: &Figures) -> impl Iterator<Item = OpenItem> {
    let unread = counted(
        figures.unread,
        "aviso não lido",
        "avisos não lidos",
        "Leia o que a plataforma tem a dizer a você.",
        "/admin/avisos",
    );
    let failed = counted(
        figures.waiting.given_up,
        "mensagem falhou em 7 dias",
        "mensagens falharam em 7 dias",
        "Veja o motivo de cada uma e envie de novo.",
        FAILED,
    );
    [unread.map(|item| OpenItem { tone: Tone::Info, ..item }), failed].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_follows_from_what_is_open() {
        let open = |tones: &[Tone]| {
            let items: Vec<OpenItem> = tones.iter().map(|tone| item(*tone, "x", "y")).collect();
            verdict(&items).tone
        };
        assert_eq!(verdict(&[]).title, "Tudo em ordem");
        assert_eq!(open(&[Tone::Info]), Tone::Info);
        assert_eq!(open(&[Tone::Warn, Tone::Info]), Tone::Warn);
        assert_eq!(open(&[Tone::Bad, Tone::Info]), Tone::Bad);
    }

    #[test]
    fn nothing_is_no_item_and_one_is_no_many() {
        let titled = |count| counted(count, "aluno", "alunos", "", "").map(|item| item.title);
        assert_eq!((titled(0), titled(-1)), (None, None));
        assert_eq!(titled(1).unwrap(), "1 aluno");
        assert_eq!(titled(1_200).unwrap(), "1.200 alunos");
    }
}
