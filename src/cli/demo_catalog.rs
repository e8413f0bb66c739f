//! Products of the demonstration: those of the student carry the SKUs of her
//! listings, so that a sale takes them from stock.

use crate::base::{Cents, UserId};
use crate::catalog::{ProductEntry, stock, store};
use crate::db::{Result, WriteTx};

/// SKU, title, cost and price in centavos, units.
type Good = (&'static str, &'static str, i64, i64, i64);

#[rustfmt::skip] // A table: one product per row.
const STUDENTS: [Good; 14] = [
    ("GAR-INX-1L", "Garrafa térmica inox 1 litro", 3_150, 6_990, 84),
    ("POT-HER-10", "Kit 10 potes herméticos", 4_200, 8_990, 40),
    ("FAC-INX-06", "Jogo de facas 6 peças", 2_480, 5_490, 22),
    ("ORG-GAV-04", "Organizador de gavetas, 4 unidades", 1_700, 3_990, 0),
    ("VAR-CHA-01", "Varal de chão dobrável", 5_100, 9_990, 17),
    ("ESC-SIL-01", "Escorredor de louça de silicone", 1_950, 4_590, 60),
    ("MOP-GIR-08", "Mop giratório com balde 8 litros", 3_600, 7_990, 31),
    ("LUM-LED-01", "Luminária de mesa LED", 2_900, 6_490, 12),
    ("CAB-USC-2M", "Cabo USB-C reforçado 2 metros", 790, 2_990, 250),
    ("CAR-PAR-20", "Carregador de parede 20 W", 2_150, 5_990, 120),
    ("MOU-SEM-01", "Mouse sem fio recarregável", 1_980, 4_990, 3),
    ("SUP-VEI-01", "Suporte veicular magnético", 1_100, 3_490, 95),
    ("COL-ANT-01", "Coleira antipuxão com guia", 2_250, 5_490, 28),
    ("CAM-PET-0M", "Cama pet tamanho M", 3_300, 7_490, 9),
];

#[rustfmt::skip]
const SUPPLIERS: [Good; 9] = [
    ("RP-GARRAFA-1L", "Garrafa térmica inox 1 litro", 2_100, 3_150, 300),
    ("RP-POTES-10", "Kit 10 potes herméticos", 2_900, 4_200, 220),
    ("RP-MOP-8L", "Mop giratório com balde 8 litros", 2_450, 3_600, 90),
    ("RP-COPO-473", "Copo térmico 473 ml com tampa", 2_600, 3_890, 400),
    ("RP-CANECA-300", "Caneca de cerâmica 300 ml", 900, 1_490, 650),
    ("RP-TABUA-G", "Tábua de bambu grande", 2_200, 3_290, 180),
    ("RP-AVENTAL", "Avental de cozinha em sarja", 1_500, 2_390, 75),
    ("RP-LUVA-SIL", "Luva térmica de silicone, par", 1_050, 1_790, 0),
    ("RP-BALDE-10", "Balde dobrável 10 litros", 1_800, 2_690, 130),
];

/// Fills the catalogs of a student and of a supplier.
pub fn fill(tx: &WriteTx<'_>, student: UserId, supplier: UserId) -> Result<()> {
    let of = |owner, goods: &'static [Good]| goods.iter().map(move |good| (owner, good));
    for (owner, &(sku, title, cost, price, units)) in
        of(student, &STUDENTS).chain(of(supplier, &SUPPLIERS))
    {
        let entry = ProductEntry {
            sku: sku.to_owned(),
            ean: String::new(),
            title: title.to_owned(),
            cost: Cents(cost),
            price: Cents(price),
            low_stock: (units < 20).then_some(10),
        };
        let product = store::insert(tx, owner, &entry)?;
        stock::set_counted_stock(tx, product, 0, units, "Cadastro")?;
    }
    Ok(())
}
