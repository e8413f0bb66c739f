//! `list_questions` and `get_question`: questions of buyers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{MlUserId, OffsetTime, UserId, Zone};
use crate::db::Lane;
use crate::http::schema::INSTANT;
use crate::http::{Check, Code, Field, Problem, RowNumber};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::listed;
use crate::marketplace::books::questions::QuestionState;
use crate::marketplace::books::questions::store::{self, Question, QuestionFilter};
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

const WORDS: [&str; 3] =
    [word(QuestionState::Open), word(QuestionState::Answered), word(QuestionState::Closed)];

const fn word(state: QuestionState) -> &'static str {
    match state {
        QuestionState::Open => "unanswered",
        QuestionState::Answered => "answered",
        QuestionState::Closed => "closed",
    }
}

list_arguments! {
    /// Which questions are asked for.
    pub struct ListQuestions {
        /// `unanswered` for those that wait, `answered`, or `closed` for those that take no answer.
        #[schemars(extend("enum" = WORDS))]
        status: String,
        /// Marketplace seller id of one connected account.
        store: MlUserId,
        /// Questions asked since: a time as `date_created` has it, or with an offset.
        #[schemars(regex(pattern = INSTANT), extend("examples" = ["2026-11-20T08:41:27"]))]
        since: String,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

/// Which question is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetQuestion {
    /// Number of the question at the marketplace.
    #[schemars(extend("examples" = ["13203204611"]))]
    question_id: Field<RowNumber>,
}

wire! {
    /// A question of a buyer.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Question")]
    pub struct WireQuestion of(question: Question, site: &str, zone: Zone) after {
        let Question { row, title } = question;
    } {
        /// Number of the question at the marketplace.
        question_id: String = row.id.to_string(),
        /// Marketplace listing id that it was asked at.
        ml_id: String = format!("{site}{}", row.item_id),
        /// Marketplace seller id of the account.
        ml_user_id: MlUserId = row.ml_user_id,
        /// Title of the listing; empty when it is not known.
        title: String = title,
        /// What the buyer asks; empty when the marketplace banned it.
        text: String = row.text,
        /// Whether it waits for an answer, has one, or takes none.
        #[schemars(extend("enum" = WORDS))]
        status: &'static str = word(row.state),
        /// The answer; null without one.
        answer: Option<String> = row.answer,
        /// When it was answered, as civil time of the service; null until then.
        answered_at: Option<String> = row.answered_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        answered_at_rfc3339: Option<OffsetTime> = row.answered_at.map(|at| zone.with_offset(at)),
        /// When it was asked, as civil time of the service.
        date_created: String = zone.partner(row.asked_at),
        /// The same instant with its offset from UTC.
        date_created_at: OffsetTime = zone.with_offset(row.asked_at),
    }
}

impl WireQuestion {
    /// Whether it was answered with this text.
    pub(super) fn has_answer(&self, text: &str) -> bool {
        self.answer.as_deref().map(str::trim) == Some(text)
    }

    /// Why it takes no answer now.
    pub(super) fn why_not(&self) -> &'static str {
        match self.status {
            "unanswered" => "another answer to this question is being sent just now",
            "answered" => "this question has another answer already",
            _ => "this question takes no answer: it was closed, removed or banned",
        }
    }
}

/// One question of the caller.
pub(super) fn read(app: &App, lane: Lane, owner: UserId, id: i64) -> Result<WireQuestion, Problem> {
    let found = app.db.read(lane, |tx| listed::one::<Question>(tx, owner, id))?;
    let found = found.ok_or_else(Problem::not_found)?;
    Ok(WireQuestion::of(found, &app.config.marketplace.site, app.zone()))
}

impl Operation for ListQuestions {
    type By = Seller;
    type Reply = CursorListOf<WireQuestion>;

    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let owner = seller.account.user_id;
        let states = QuestionState::ALL.map(|state| (word(state), state));
        let state = check.one_of("status", self.status, &states);
        let account = check.optional("store", self.store);
        let since = check.instant("since", self.since, app.zone());
        let window = Window::read(&mut check, self.limit, self.offset);
        let filters = format!("{:?}", (state, account, since));
        let scope = ListScope::of(app, owner, "questions", &filters);
        let walk: Walk<(i64, i64)> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        // Those of one account are searched among all.
        let is_slow = window.is_far() || account.is_some() && state.is_none();
        reading(app, is_slow, move |app, lane| {
            let wanted = QuestionFilter { owner, state, account, since, after: walk.after };
            let page = app.db.read(lane, |tx| {
                stores::require(tx, owner, account)?;
                Ok::<_, Problem>(store::page(tx, &wanted, walk.rows())?)
            })?;
            let place = |one: &Question| (one.row.asked_at.0, one.row.id);
            let site = &app.config.marketplace.site;
            Ok(walk.page(page, place, |one| WireQuestion::of(one, site, app.zone())))
        })
    }
}

impl Operation for GetQuestion {
    type By = Seller;
    type Reply = WireQuestion;

    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let RowNumber(id) = check.required("question_id", self.question_id);
        check.finish()?;
        let owner = seller.account.user_id;
        reading(app, false, move |app, lane| read(app, lane, owner, id))
    }
}
