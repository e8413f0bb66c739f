//! The labels of the developer pages, in both languages.

use super::language::Language;

macro_rules! words {
    ($($name:ident: $portuguese:literal, $english:literal;)*) => {
        /// Labels, headings and buttons.
        pub struct Words {
            $(pub $name: &'static str,)*
        }

        const PORTUGUESE: Words = Words { $($name: $portuguese,)* };
        const ENGLISH: Words = Words { $($name: $english,)* };
    };
}

words! {
    skip: "Pular para o conteúdo", "Skip to the content";
    pages: "Páginas", "Pages";
    on_this_page: "Nesta página", "On this page";
    guide: "Guia", "Guide";
    reference: "Referência", "Reference";
    agents: "Assistentes", "Assistants";
    webhooks: "Webhooks", "Webhooks";
    sandbox: "Testar", "Try";
    changelog: "Mudanças", "Changelog";
    status: "Situação", "Status";
    other_language: "English", "Português";
    theme: "Tema", "Theme";
    theme_auto: "Tema do sistema", "The system's theme";
    theme_light: "Tema claro", "Light theme";
    theme_dark: "Tema escuro", "Dark theme";
    copy: "Copiar", "Copy";
    code: "código", "code";
    enter: "Entrar no painel", "Sign in";

    reference_about: "Cada operação da API de parceiros, lida do mesmo documento OpenAPI que os programas leem.", "Every operation of the Partner API, read from the same OpenAPI document that programs read.";
    production: "Produção", "Production";
    development: "Desenvolvimento", "Development";
    download: "Baixar o OpenAPI", "Download the OpenAPI document";
    postman: "Coleção do Postman", "Postman collection";
    of_sellers: "Para programas de vendedores", "For programs of sellers";
    of_suppliers: "Para programas de fornecedores", "For programs of suppliers";
    operations: "Operações", "Operations";
    try_title: "Experimente com o seu token", "Try it with your own token";
    try_about: "O token vale para todas as páginas da referência nesta aba, até você fechá-la ou esquecer o token. Ele só vai no cabeçalho Authorization da chamada que você fizer. Cada chamada conta na sua cota.", "The token serves all pages of the reference in this tab, until you close it or forget the token. It goes nowhere but into the Authorization header of the call that you make. Each call counts against your quota.";
    forget_token: "Esquecer o token", "Forget the token";
    try_without: "Com JavaScript desligado não dá para experimentar daqui: cole o curl de cada operação no terminal.", "Without JavaScript nothing can be tried from here: paste the curl line of an operation into a terminal.";
    token: "Token de parceiro", "Partner token";
    try_it: "Experimentar", "Try it";
    call: "Chamar", "Call";
    result: "Resposta", "Answer";
    any: "qualquer", "any";
    no_token: "Informe o seu token no campo desta página.", "Fill in your token in the field on this page.";
    no_answer: "O servidor não respondeu. Confira a conexão e tente de novo.", "The server did not answer. Check the connection and try again.";
    parameters: "Parâmetros", "Parameters";
    body: "Corpo do pedido", "Body";
    answer: "Resposta 200", "Answer 200";
    errors: "Erros", "Errors";
    name: "Nome", "Name";
    kind: "Tipo", "Type";
    about: "O que é", "What it is";
    required: "obrigatório", "required";
    maybe: "pode faltar", "may be absent";
    example_call: "Exemplo de chamada", "Example call";
    example_answer: "Exemplo de resposta", "Example answer";
    tool: "Ferramenta", "Tool";
    effect: "O que faz", "What it does";
    errors_about: "O que cada código quer dizer está no", "What each code means is in the";

    changelog_about: "O que mudou na API de parceiros, do mais novo ao mais antigo. Campos novos podem aparecer em qualquer resposta sem aviso; o que existe não muda de sentido.", "What changed in the Partner API, the newest first. New fields may appear in any answer without notice; what is there does not change its meaning.";

    status_about: "Como os serviços estão agora e como estiveram em cada um dos últimos 90 dias.", "How the services are now, and how they were on each of the last 90 days.";
    all_good: "Tudo funcionando", "All systems operational";
    some_bad: "Parte do serviço está com falhas", "Part of the service is degraded";
    much_bad: "Parte do serviço está fora do ar", "Part of the service is down";
    as_of: "Visto em", "As of";
    good_share: "do tempo observado sem falhas", "of the observed time without failures";
    no_history: "Ainda sem histórico", "No history yet";
    no_data: "sem dados", "no data";
    without_failures: "sem falhas", "without failures";
    with_failures: "com falhas por", "impaired for";
    days_ago: "há 90 dias", "90 days ago";
    today: "hoje", "today";
    legend: "Cada traço é um dia: passe o ponteiro ou use as setas para ler um deles, ou abra a lista.", "Each bar is a day: point at one or use the arrow keys to read it, or open the list.";
    bars: "um traço por dia; os mesmos dias estão na lista abaixo", "a bar for each day; the same days are in the list below";
    day_list: "Ver os dias em lista", "See the days as a list";
    json_hint: "A mesma informação para programas: peça esta página com Accept: application/json.", "The same for programs: ask for this page with Accept: application/json.";
}

impl Words {
    /// The labels in a language.
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
        }
    }
}
