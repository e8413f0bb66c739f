//! Plans that people can buy, shown to anyone while active.

pub mod pages;
pub mod store;
pub mod views;

use serde::{Serialize, Serializer};

use crate::base::Cents;
use crate::db::Json;
use crate::named;
use crate::row;
use crate::usual;

named! {
    /// How often a plan is paid.
    pub enum Period: text {
        Monthly = "mensal", "Mensal";
        Yearly = "anual", "Anual";
        Once = "unico", "Pagamento único";
    }
}

row! {
    /// A plan that people can buy.
    #[derive(Clone, Debug)]
    pub struct Plan {
        pub id: i64 = "plan_id",
        pub entry: PlanEntry as row,
    }
}

usual! {
    /// What an operator enters about a plan. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct PlanEntry {
        pub slug: String,
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "preco")]
        pub price: Cents,
        #[serde(rename = "moeda")]
        pub currency: String = "BRL".to_owned(),
        #[serde(rename = "periodicidade", serialize_with = "as_name")]
        pub period: Period = Period::Monthly,
        #[serde(rename = "beneficios")]
        pub benefits: Json<Vec<String>>,
        #[serde(rename = "link_checkout")]
        pub checkout_link: String,
        #[serde(rename = "ativo")]
        pub active: bool = true,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn as_name<S: Serializer>(period: &Period, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(period.name())
}
