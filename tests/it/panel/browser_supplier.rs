//! What suppliers do all day, in a real browser, counted in clicks.

use serde_json::json;

use crate::support::dropshipping::Trade;
use crate::support::webdriver::{Browser, ENTER};

const ORDERS: &str = "/fornecedor/pedidos";

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_suppliers_work_takes_few_clicks() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    let good = json!({ "sku": "GAR-2", "titulo": "Garrafa", "preco": 20 });
    sol.post("/fornecedor/produtos", &good).expect(201);
    let browser = Browser::start();
    site.sign_in(&browser, sol.person(), "/fornecedor");

    // A suggested product: one press, or Enter where the focus already is.
    browser.go(&site.url("/fornecedor/conferencia"));
    browser.press("Aceitar");
    browser.see("Anúncio vinculado");
    browser.press("Desfazer");
    browser.see("Vínculo desfeito");
    browser.wait_until("the focus", "document.activeElement.textContent === 'Aceitar'");
    browser.key(ENTER);
    browser.see("Anúncio vinculado");
    browser.see("Nada a conferir");
    browser.expect_no_complaints();

    site.clock().advance_s(60);
    for _ in 0..10 {
        trade.sell(1);
    }
    site.clock().advance_s(4 * 86_400);
    let sol = site.person_as("sol", "drop");
    site.sign_in(&browser, sol.person(), "/fornecedor");

    // All are reminded by one click.
    browser.press("Lembrar todos");
    browser.see("Lembretes a caminho");

    // Ten orders are paid by three, and owed again by one.
    browser.go(&site.url(ORDERS));
    browser.click(".chips.quick a[href*='vencido']");
    browser.see("10 pedidos · R$ 200,00 em atraso");
    browser.click("[data-bulk-all]");
    browser.see("10 marcados · R$ 200,00");
    browser.press("Marcar como pagos");
    browser.see("Pagamento de 10 pedidos anotado");
    assert!(browser.url().ends_with("?situacao=vencido"), "{}", browser.url());
    browser.press("Desfazer");
    browser.see("Pagamento de 10 pedidos desfeito");

    // From the home, where they are ticked from the start, it takes two.
    browser.go(&site.url("/fornecedor"));
    browser.press("Recebi");
    browser.see("10 marcados · R$ 200,00");
    browser.click("table input[name='ids']");
    browser.see("9 marcados");
    browser.press("Marcar como pagos");
    browser.see("Pagamento de 9 pedidos anotado");
    browser.expect_no_complaints();
}
