//! Random trouble: notifications, odd behaviour of the marketplace, faults,
//! broken records, ended tokens, kills; and time that passes.

use serde_json::json;

use crate::support::chance::{Play, SHOPS};
use crate::support::client::Request;
use crate::support::cron;
use crate::support::site::CRON_SECRET;

impl Play<'_> {
    pub fn configure_delivery(&mut self) {
        self.holds = !self.holds && self.chance(60);
        let switches = json!({
            "duplicates": self.random.below(3), "reorder": self.chance(50), "hold": self.holds,
            "string_ids": self.chance(50), "missing_slash": self.chance(50),
            "legacy_claims": self.chance(50), "ts_milliseconds": self.chance(50),
        });
        self.note(format!("  {switches}"));
        self.world.configure(&switches);
    }

    pub fn configure_habits(&mut self) {
        let switches = json!({
            "bulk_hides_codes": self.chance(50), "new_scroll_ids": self.chance(50), "partial_users": self.chance(30),
            "partial_orders": self.chance(30), "mixed_dates": self.chance(50),
            "old_errors": self.chance(50), "old_elements": self.chance(50),
            "refresh_ends_access": self.chance(50), "delay_ms": self.random.below(3),
        });
        self.note(format!("  {switches}"));
        self.world.configure(&switches);
    }

    pub fn fault(&mut self) {
        let paths = [
            "/orders/search",
            "/orders/",
            "/orders/",
            "/shipments/",
            "/items/bulk",
            "/items/",
            "/users/",
            "/users/me",
            "/questions/search",
            "/questions/",
            "/post-purchase/v1/claims/search",
            "/post-purchase/v1/claims/",
            "/answers",
            "/oauth/token",
            "/missed_feeds",
            "/",
        ];
        let path = *self.random.pick(&paths);
        let mut fault = match self.random.below(12) {
            0..=2 => json!({ "kind": "status", "code": self.random.pick(&[500, 502, 503, 504]) }),
            3 => json!({ "kind": "status", "code": self.random.pick(&[400, 401, 403, 404, 409]) }),
            4 => json!({ "kind": "hang", "ms": 30 }),
            5 => json!({ "kind": "truncated" }),
            6 => json!({ "kind": "garbage" }),
            7 => json!({ "kind": "slow", "ms": 40 }),
            8 => json!({ "kind": "rate_limited", "retry_after": self.random.below(120) }),
            9 => json!({ "kind": "rate_limited" }),
            10 => json!({ "kind": "redirect", "location": "http://127.0.0.1:9/" }),
            _ => json!({ "kind": "lost_response" }),
        };
        fault["path_prefix"] = path.into();
        // That something does not exist is believed only the second time.
        let times = if fault["code"] == 404 { 1 } else { 1 + self.random.below(3) };
        fault["times"] = times.into();
        fault["skip"] = self.random.below(3).into();
        let kind = fault["kind"].as_str().unwrap();
        if matches!(kind, "truncated" | "lost_response") && matches!(path, "/" | "/oauth/token") {
            self.losses += 3;
        }
        self.note(format!("  {fault}"));
        self.world.may_control("/_sandbox/faults", &fault);
    }

    pub fn clear_faults(&mut self) {
        self.world.clear_faults();
    }

    pub fn spoil(&mut self) {
        let shop = self.shop();
        let of = &self.shops[shop];
        let (kind, ids): (_, Vec<String>) = match self.random.below(5) {
            0 => ("items", of.items.clone()),
            1 => ("questions", of.questions.clone()),
            2 => ("claims", of.claims.clone()),
            _ => {
                ("orders", of.orders.iter().rev().take(20).map(|order| order.id.clone()).collect())
            }
        };
        if let Some(id) = self.picked(&ids) {
            let record = format!("{kind}/{id}");
            self.set_spoiled(&record, true);
            self.spoiled.push(record);
        }
    }

    pub fn set_spoiled(&mut self, record: &str, spoiled: bool) {
        self.note(format!("  {record} {spoiled}"));
        self.world.control("/_sandbox/spoil", &json!({ "record": record, "spoiled": spoiled }));
    }

    pub fn mend(&mut self) {
        if let Some(record) = self.picked(&self.spoiled.clone()) {
            self.spoiled.retain(|other| *other != record);
            self.set_spoiled(&record, false);
        }
    }

    pub fn switch_down(&mut self) {
        self.is_down = !self.is_down && self.chance(70);
        self.note(format!("  down: {}", self.is_down));
        self.world.configure(&json!({ "down": self.is_down }));
    }

    pub fn expire_access(&mut self) {
        let shop = self.shop();
        self.world.end_tokens(SHOPS[shop].0, "expire_access");
    }

    pub fn revoke(&mut self) {
        let shop = self.shop();
        let action = *self.random.pick(&["revoke", "expire_refresh"]);
        self.note(format!("  {action} {}", SHOPS[shop].0));
        self.world.end_tokens(SHOPS[shop].0, action);
        self.losses += 1;
    }

    /// Owners link lost accounts again, if the marketplace allows it; returns
    /// how many.
    pub fn link_again(&mut self) {
        if !self.is_running() || self.is_down {
            return;
        }
        for (id, name) in SHOPS {
            let check = Request::new("GET", "/painel/ml").header("Accept", "application/json");
            let shown = self.person(name).send(check).ok();
            let accounts = shown["contas"].as_array().unwrap();
            let number = id.to_string();
            let is_well = accounts.iter().any(|account| {
                (account["ml_user_id"] == number || account["ml_user_id"] == id)
                    && account["token_ok"] == true
            });
            if !is_well {
                self.note(format!("  {id} is linked again"));
                let target = self.world.consent(self.person(name), id);
                let reply = self.person(name).get(&target);
                assert!(matches!(reply.status, 303 | 502 | 503), "{reply}");
            }
        }
    }

    pub fn unlink(&mut self) {
        if !self.is_running() {
            return;
        }
        let (id, name) = SHOPS[self.shop()];
        let path = format!("/painel/ml/contas/{id}/desvincular");
        let reply = self.person(name).post(&path, &json!({}));
        assert!(matches!(reply.status, 200 | 404), "{reply}");
        self.losses += 1;
    }

    pub fn ask_for_reading(&mut self) {
        if !self.is_running() {
            return;
        }
        let (id, name) = SHOPS[self.shop()];
        let path = format!("/painel/ml/contas/{id}/sincronizar");
        let reply = self.person(name).post(&path, &json!({}));
        assert!(matches!(reply.status, 200 | 404 | 409 | 429), "{reply}");
    }

    pub fn kill(&mut self) {
        self.kills += usize::from(self.is_running());
        self.site.kill();
    }

    #[track_caller]
    pub fn stop(&mut self) {
        self.site.stop();
    }

    #[track_caller]
    pub fn start(&mut self) {
        if !self.is_running() {
            self.site.start_again();
        }
    }

    pub fn let_time_pass(&mut self) {
        let seconds = 1 + self.random.below(300);
        self.site.clock().advance_s(i64::try_from(seconds).unwrap());
    }

    pub fn let_hours_pass(&mut self) {
        let seconds = 600 + self.random.below(7_200);
        self.site.clock().advance_s(i64::try_from(seconds).unwrap());
    }

    pub fn run_tasks(&mut self) {
        if self.is_running() {
            let reply = self.site.bearer(CRON_SECRET).get("/api/v1/cron").expect(200);
            self.note(format!("  {}", reply.json()["ml_sync"]));
        }
    }

    pub fn let_arrive(&mut self) {
        if self.is_running() && !self.holds {
            self.world.deliveries();
        }
    }

    /// Ends all trouble, and delivers everything that waits.
    #[track_caller]
    pub fn calm_down(&mut self) {
        self.world.clear_faults();
        for record in std::mem::take(&mut self.spoiled) {
            self.set_spoiled(&record, false);
        }
        self.world.configure(&json!({
            "hold": false, "down": false, "duplicates": 0, "delay_ms": 0, "partial_orders": false,
            "partial_users": false,
        }));
        (self.is_down, self.holds) = (false, false);
        self.start();
        self.world.deliveries();
        self.link_again();
        cron::run(self.site);
    }
}
