//! Codes of the marketplace in words that people read. Each list has the
//! documented codes; a code that is new gets a neutral sentence, with the code
//! itself in its title.

/// A code in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeText {
    /// What people read; empty when the marketplace says nothing.
    pub text: String,
    /// The marketplace's code, when we have no words for it.
    pub code: String,
}

impl CodeText {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The words for a code: the known ones, or the sentence `new`.
    fn of(code: &str, known: Option<&str>, new: &str) -> Self {
        match known {
            _ if code.is_empty() => Self::default(),
            Some(text) => Self { text: text.to_owned(), code: String::new() },
            None => Self { text: new.to_owned(), code: code.to_owned() },
        }
    }
}

/// Sentences for new codes: of a state, of an action, of the end of a claim.
const NEW: &str = "Situação nova no marketplace";
const NEW_ACTION: &str = "Veja no marketplace o que fazer";
const NEW_RESOLUTION: &str = "Encerrada pelo marketplace";

/// Declares functions from codes to words, each with the sentence for a new
/// code.
macro_rules! code_texts {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident or $new:ident { $($($code:literal)|+ => $words:literal,)* })*) => {
        $($(#[$doc])*
        $vis fn $name(code: &str) -> CodeText {
            let known = match code { $($($code)|+ => Some($words),)* _ => None };
            CodeText::of(code, known, $new)
        })*
    };
}

code_texts! {
    /// The state of a shipment.
    pub fn shipping or NEW {
        "to_be_agreed" => "A combinar com o comprador",
        "pending" => "Aguardando",
        "handling" => "Em preparação",
        "ready_to_ship" => "Pronto para envio",
        "shipped" => "A caminho",
        "delivered" => "Entregue",
        "not_delivered" => "Não entregue",
        "not_verified" => "Entrega não confirmada",
        "cancelled" => "Envio cancelado",
        "closed" => "Envio encerrado",
        "error" => "Com erro no marketplace",
        "active" => "Envio em andamento",
        "not_specified" => "Envio ainda sem situação",
        "stale_ready_to_ship" => "Pronto para envio, parado há dias",
        "stale_shipped" => "A caminho, sem notícia há dias",
    }

    /// A finer state of a shipment.
    pub fn parcel_step or NEW {
        "buffered" => "O marketplace segura a etiqueta até a data marcada",
        "invoice_pending" => "Falta a nota fiscal",
        "waiting_for_label_generation" | "regenerating" => "O marketplace prepara a etiqueta",
        "ready_to_print" => "Etiqueta a imprimir",
        "printed" => "Etiqueta impressa",
        "ready_for_pickup" | "in_pickup_list" | "ready_for_pkl_creation" => "Espera a coleta",
        "ready_for_dropoff" => "Leve ao ponto de entrega",
        "delayed" => "Atrasado",
        "stale" => "Parado há dias",
        "claimed_me" => "Com reclamação",
        "picked_up" | "authorized_by_carrier" => "Coletado",
        "dropped_off" => "Deixado na agência",
        "in_hub" | "in_warehouse" => "No centro de distribuição",
        "in_packing_list" | "in_plp" | "packed" | "ready_to_pack" => "Na lista da transportadora",
        "in_transit" => "Em trânsito",
        "on_hold" => "Retido",
        "out_for_delivery" => "Saiu para entrega",
        "receiver_absent" => "Ninguém para receber",
        "waiting_for_withdrawal" => "Espera o comprador retirar",
        "returning_to_sender" => "Voltando para você",
        "returned" => "Devolvido a você",
        "lost" => "Extraviado",
        "stolen" => "Roubado",
        "damaged" => "Danificado",
        "cancelled_manually" | "closed_by_user" => "Cancelado",
        "pack_splitted" | "pack_partially_cancelled" => "Dividido ou cancelado em parte",
    }

    /// A kind of shipping.
    pub fn logistic or NEW {
        "drop_off" => "Agência do marketplace",
        "xd_drop_off" => "Ponto de coleta",
        "cross_docking" => "Coleta",
        "self_service" => "Entrega própria no dia",
        "fulfillment" => "Armazém do marketplace",
        "turbo" => "Turbo",
        "default" => "Envio pelo vendedor",
        "custom" => "Combinado com o comprador",
        "not_specified" => "Tipo de envio não informado",
    }

    /// The meaning of a listing's state, used when the marketplace gives no
    /// reason.
    fn listing_state or NEW {
        "active" | "paused" | "closed" => "",
        "under_review" => "em análise: veja no marketplace se falta corrigir algo",
        "payment_required" => "falta pagar a publicação no marketplace",
        "inactive" => "fora do ar: veja o motivo no marketplace",
        "not_yet_active" => "ainda não publicado: entra no ar sozinho",
    }

    /// A kind of listing.
    pub fn listing_kind or NEW {
        "gold_special" => "Clássico",
        "gold_pro" => "Premium",
        "free" => "Grátis",
    }

    fn known_claim_kind or NEW {
        "mediations" => "Reclamação",
        "return" | "returns" => "Devolução",
        "cancel_sale" | "cancel_purchase" => "Pedido de cancelamento",
        "change" => "Troca",
        "fulfillment" => "Problema no armazém",
        "ml_case" => "Caso do marketplace",
        "service" => "Problema com serviço",
    }

    /// The stage of a claim.
    pub fn claim_stage or NEW {
        "none" => "",
        "claim" => "Em conversa com o comprador",
        "dispute" => "Em mediação do marketplace",
        "recontact" => "Comprador voltou a reclamar",
        "stale" => "Parada",
    }

    /// What the seller has to do.
    pub fn claim_action or NEW_ACTION {
        "refund" => "Decida sobre o reembolso",
        "allow_partial_refund" => "Decida sobre o reembolso de uma parte",
        "send_message" | "send_message_to_complainant" | "send_attachments" | "recontact" =>
            "Responda ao comprador",
        "send_message_to_mediator" => "Responda ao mediador",
        "open_dispute" => "Peça mediação, se precisar",
        "allow_return" | "allow_return_label" | "generate_return" => "Decida sobre a devolução",
        "return_review_ok" | "return_review_fail" | "return_review" =>
            "Confira o que foi devolvido",
        "send_potential_shipping" => "Diga quando envia",
        "send_tracking" | "send_tracking_number" | "add_shipping_evidence" => "Comprove o envio",
    }

    /// How a claim ended.
    pub fn claim_resolution or NEW_RESOLUTION {
        "payment_refunded" | "reimbursed" => "Comprador reembolsado",
        "partial_refunded" => "Comprador reembolsado em parte",
        "item_returned" => "Produto devolvido",
        "item_changed" => "Produto trocado",
        "product_delivered" | "already_shipped" | "seller_sent_product" => "Produto entregue",
        "not_delivered" => "Produto não entregue",
        "found_missing_parts" => "Comprador achou o que faltava",
        "prefered_to_keep_product" => "Comprador ficou com o produto",
        "opened_claim_by_mistake" => "Aberta por engano",
        "worked_out_with_seller" => "Resolvida com o vendedor",
        "seller_explained_functions" => "Vendedor explicou como usar",
        "seller_asked_to_close_claim" => "Encerrada a pedido do vendedor",
        "seller_did_not_help" => "Vendedor não resolveu",
        "respondent_timeout" => "Prazo do vendedor venceu",
        "timeout" | "buyer_claim_opening_timeout" | "buyer_dispute_opening_timeout" =>
            "Prazo venceu",
        "coverage_decision" | "rep_resolution" | "no_bpp" | "low_cost" =>
            "Decidida pelo marketplace",
        "charged_back" => "Compra contestada no cartão",
        "return_expired" | "change_expired" => "Prazo da devolução ou troca venceu",
        "return_canceled" => "Devolução cancelada",
        "change_cancelled_buyer" | "change_cancelled_seller" | "change_cancelled_meli" =>
            "Troca cancelada",
        "shipment_not_stopped" => "O envio não pôde ser detido",
        "warehouse_decision" | "warehouse_timeout" => "Decidida pelo armazém do marketplace",
    }
}

/// Why a listing is in its state: the words for the marketplace's reasons,
/// which are separated by spaces. Without a reason, the meaning of the state.
pub fn listing_reason(status: &str, reasons: &str) -> CodeText {
    let mut texts: Vec<&str> = Vec::new();
    let mut codes: Vec<&str> = Vec::new();
    for reason in reasons.split_whitespace() {
        match listing_reason_words(reason) {
            Some(text) => texts.push(text),
            None => codes.push(reason),
        }
    }
    if texts.is_empty() && codes.is_empty() {
        return listing_state(status);
    }
    if !codes.is_empty() {
        texts.push("motivo novo no marketplace");
    }
    CodeText { text: texts.join(", "), code: codes.join(", ") }
}

fn listing_reason_words(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "out_of_stock" => "sem estoque",
        "paused_by_seller" => "pausado por você",
        "picture_download_pending" => "fotos ainda chegando ao marketplace",
        "warning" => "com aviso: veja no marketplace o que corrigir",
        "waiting_for_patch" => "precisa de correção no marketplace",
        "held" => "retido para análise do marketplace",
        "pending_documentation" => "faltam documentos: envie-os no marketplace",
        "forbidden" => "proibido pelas regras do marketplace",
        "expired" => "venceu: publique de novo no marketplace",
        "deleted" => "excluído",
        "suspended" => "suspenso pelo marketplace",
        "freezed" => "congelado pelo marketplace",
        _ => return None,
    })
}

/// A kind of claim.
pub fn claim_kind(kind: &str) -> CodeText {
    known_claim_kind(if kind.is_empty() { "mediations" } else { kind })
}

/// What a buyer complains about. The marketplace's codes have a family and a
/// number, such as `PDD9939`; a new family gives an empty text.
pub fn claim_reason(reason: &str) -> CodeText {
    let family = reason.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = match family {
        "PNR" => "Produto não recebido",
        "PDD" => "Produto diferente ou com defeito",
        "CS" => "Compra cancelada",
        _ => return CodeText::default(),
    };
    CodeText::of(reason, Some(known), NEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_codes_have_words() {
        let all = |speak: fn(&str) -> CodeText, codes: &str| {
            for code in codes.split(' ') {
                let said = speak(code);
                assert!(said.code.is_empty() && !said.is_empty(), "{code}: {said:?}");
                assert!(!said.text.contains('_'), "{code}");
            }
        };
        all(
            shipping,
            "to_be_agreed pending handling ready_to_ship shipped delivered not_delivered not_verified \
             cancelled closed error active not_specified stale_ready_to_ship stale_shipped",
        );
        all(
            logistic,
            "drop_off xd_drop_off cross_docking self_service turbo fulfillment default custom not_specified",
        );
        all(
            |reason| listing_reason("paused", reason),
            "out_of_stock paused_by_seller picture_download_pending warning waiting_for_patch held \
             pending_documentation forbidden expired deleted suspended freezed",
        );
        all(
            |status| listing_reason(status, ""),
            "under_review inactive payment_required not_yet_active",
        );
        all(
            claim_kind,
            "mediations return fulfillment ml_case cancel_sale cancel_purchase change service",
        );
        all(claim_stage, "claim dispute recontact stale");
        all(claim_action, "refund open_dispute send_message send_tracking");
        all(claim_resolution, "payment_refunded item_returned");
        all(claim_reason, "PDD1 PNR3430");
    }

    #[test]
    fn new_codes_get_a_sentence_and_keep_their_code() {
        for speak in [shipping, logistic, listing_kind, claim_stage, claim_action, claim_resolution]
        {
            let said = speak("brand_new");
            assert!(!said.is_empty() && !said.text.contains("brand_new"), "{said:?}");
            assert_eq!(said.code, "brand_new");
            assert!(speak("").is_empty());
        }
        let mixed = listing_reason("paused", "out_of_stock brand_new");
        assert_eq!(mixed.text, "sem estoque, motivo novo no marketplace");
        assert_eq!(mixed.code, "brand_new");
        assert!(listing_reason("active", "").is_empty());
        assert_eq!(listing_reason("brand_new", "").code, "brand_new");
    }
}
