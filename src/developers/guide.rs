//! Data of the guide: sections, limits and code samples. The text of the guide is
//! in `guide_pt.html` and `guide_en.html`.

use super::explained::CODES;
use super::language::{Bilingual, Language, Text};
use super::openapi::{PARTNER, PARTNER_DEV};
use super::views::Guide;
use crate::app::App;
use crate::base::grouped;
use crate::config;
use crate::http::Family;
use crate::partner::PlanName;

/// The sections in order. Both languages use the same ids.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub const SECTIONS: &[(&str, Bilingual)] = &[
    ("comecar", Bilingual { portuguese: "A primeira chamada em um minuto", english: "The first call in one minute" }),
    ("enderecos", Bilingual { portuguese: "Os dois endereços", english: "The two base addresses" }),
    ("autenticacao", Bilingual { portuguese: "Autenticação", english: "Authentication" }),
    ("limites", Bilingual { portuguese: "Limites e cota", english: "Limits and quota" }),
    ("erros", Bilingual { portuguese: "Erros", english: "Errors" }),
    ("listas", Bilingual { portuguese: "Listas e páginas", english: "Lists and pages" }),
    ("acompanhar", Bilingual { portuguese: "Acompanhar novidades", english: "Following what is new" }),
    ("idempotencia", Bilingual { portuguese: "Repetir sem medo: Idempotency-Key", english: "Safe to repeat: Idempotency-Key" }),
    ("repetir", Bilingual { portuguese: "O que repetir, e quando", english: "What to repeat, and when" }),
    ("formatos", Bilingual { portuguese: "Datas, dinheiro e números", english: "Dates, money and numbers" }),
    ("navegador", Bilingual { portuguese: "No navegador", english: "From a browser" }),
    ("ajuda", Bilingual { portuguese: "Quando pedir ajuda", english: "When asking for help" }),
];

/// An error, as the guide shows it.
pub const ERROR: &str = r#"{
  "error": {
    "code": "validation_failed",
    "message": "some fields are missing or invalid",
    "request_id": "0198b7e2-5c1e-7d40-a7be-1f5b2f6f1d11",
    "fields": { "limit": "must be a whole number from 1 to 200" }
  }
}"#;

/// A plan with its limits.
pub struct PlanRow {
    pub name: &'static str,
    pub monthly: String,
    pub per_minute: String,
}

/// An error code with its explanation.
pub struct CodeRow {
    pub status: u16,
    pub code: &'static str,
    pub what: Text,
    pub then: Text,
}

/// A code sample to copy.
pub struct Sample {
    pub id: &'static str,
    pub title: &'static str,
    pub code: String,
}

/// The guide's data for this installation.
pub fn guide(app: &App, language: Language) -> Guide {
    let addresses = (&*app.addresses.base_url, &*app.addresses.dev_base_url);
    of(addresses, &app.config.partner.plans, app.config.limits.partner_post, language)
}

/// The guide's data for the given addresses and limits.
pub fn of(
    (base, dev_base): (&str, &str),
    plans: &config::Plans,
    posts: u32,
    language: Language,
) -> Guide {
    let base_url = format!("{base}{PARTNER}");
    let number = |number: u64| match language {
        Language::Portuguese => grouped(number),
        Language::English => grouped(number).replace('.', ","),
    };
    let plans = PlanName::ALL.map(|name| {
        let limits = name.limits(plans);
        PlanRow {
            name: name.words(),
            monthly: number(limits.quota),
            per_minute: number(limits.per_minute.into()),
        }
    });
    Guide {
        plans: plans.into(),
        posts,
        first_calls: first_calls(&base_url),
        polling: polling(&base_url),
        repeatable: repeatable(&base_url),
        paging: paging(&base_url),
        codes: codes(language),
        dev_base_url: format!("{dev_base}{PARTNER_DEV}"),
        base_url,
    }
}

/// Every error code, ordered by status.
pub fn codes(language: Language) -> Vec<CodeRow> {
    let rows = CODES.iter().map(|one| CodeRow {
        status: one.code.status(Family::Partner).as_u16(),
        code: one.code.name(Family::Partner),
        what: Text::own(one.what.text(language)),
        then: Text::own(one.then.text(language)),
    });
    rows.collect()
}

fn first_calls(base: &str) -> Vec<Sample> {
    vec![
        Sample {
            id: "curl",
            title: "curl",
            code: format!(
                "TOKEN=ptk_…\ncurl '{base}/orders?limit=5' \\\n  -H \"Authorization: Bearer $TOKEN\""
            ),
        },
        Sample {
            id: "python",
            title: "Python",
            code: format!(
                r#"import json, urllib.request

request = urllib.request.Request(
    "{base}/orders?limit=5",
    headers={{"Authorization": "Bearer ptk_…"}},
)
with urllib.request.urlopen(request) as answer:
    for order in json.load(answer)["data"]:
        print(order["order_id"], order["title"], order["total_amount"])"#
            ),
        },
        Sample {
            id: "javascript",
            title: "JavaScript",
            code: format!(
                r#"const answer = await fetch("{base}/orders?limit=5", {{
  headers: {{ Authorization: "Bearer ptk_…" }},
}});
const {{ data }} = await answer.json();
console.table(data);"#
            ),
        },
    ]
}

fn polling(base: &str) -> Sample {
    let code = format!(
        r#"import json, time, urllib.error, urllib.request

URL, TOKEN = "{base}/orders?limit=50", "ptk_…"
etag, seen = "", set()

while True:
    request = urllib.request.Request(URL, headers={{"Authorization": f"Bearer {{TOKEN}}"}})
    if etag:
        request.add_header("If-None-Match", etag)
    pause = 30
    try:
        with urllib.request.urlopen(request) as answer:
            etag = answer.headers["ETag"]
            for order in json.load(answer)["data"]:
                state = (order["order_id"], order["status"], order["shipping"]["status"])
                if state not in seen:
                    seen.add(state)
                    print(*state)
    except urllib.error.HTTPError as error:
        if error.code in (429, 503):
            pause = int(error.headers["Retry-After"])
        elif error.code != 304:
            raise
    time.sleep(pause)"#
    );
    Sample { id: "acompanhar-python", title: "Python, ETag", code }
}

fn repeatable(base: &str) -> Sample {
    let code = format!(
        r#"curl --retry 5 --retry-all-errors '{base}/notify' \
  -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: estoque-GAR-500-2026-11-20' \
  -d '{{"channel":"email","event":"custom","title":"Estoque baixo","body":"Restam 3."}}'"#
    );
    Sample { id: "repetir-curl", title: "curl, Idempotency-Key", code }
}

fn paging(base: &str) -> Sample {
    let code = format!(
        r#"async function* all(path) {{
  for (let offset = 0; ; offset += 200) {{
    const answer = await fetch(`{base}${{path}}?limit=200&offset=${{offset}}`, {{
      headers: {{ Authorization: `Bearer ${{TOKEN}}` }},
    }});
    const {{ data, pagination }} = await answer.json();
    yield* data;
    if (offset + data.length >= pagination.total || data.length === 0) return;
  }}
}}

for await (const product of all("/products")) console.log(product.sku, product.stock);"#
    );
    Sample { id: "listas-javascript", title: "JavaScript, offset", code }
}
