//! Small PDF documents, so that labels and fiscal notes are real PDF files: a page
//! of 10 by 15 cm for each list of lines.

use std::fmt::Write as _;

/// 10 and 15 cm, in points.
const WIDTH: u32 = 283;
const HEIGHT: u32 = 425;

/// A document with a page for each list of lines. The first line of a page is also
/// drawn as bars above the text.
pub fn document(pages: &[Vec<String>]) -> Vec<u8> {
    // Objects: 1 the catalogue, 2 the pages, 3 the font, then a page and its
    // content for each.
    let page_number = |index: usize| 4 + 2 * index;
    let kids: Vec<String> =
        (0..pages.len()).map(|index| format!("{} 0 R", page_number(index))).collect();
    let mut objects: Vec<Vec<u8>> = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len())
            .into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    ];
    for (index, lines) in pages.iter().enumerate() {
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] \
                 /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
                page_number(index) + 1
            )
            .into_bytes(),
        );
        let content = content(lines);
        let mut stream = format!("<< /Length {} >>\nstream\n", content.len()).into_bytes();
        stream.extend(content);
        stream.extend(b"\nendstream");
        objects.push(stream);
    }
    assemble(&objects)
}

fn assemble(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        let _infallible = writeln!(table, "{:010} 00000 n ", file.len());
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(table.into_bytes());
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend(trailer.into_bytes());
    file
}

fn content(lines: &[String]) -> Vec<u8> {
    let mut content = b"10 10 263 405 re S\n".to_vec();
    let mut at = 24;
    for byte in lines.first().map(String::as_str).unwrap_or_default().bytes() {
        let width = 2 + u32::from(byte % 4);
        content.extend(format!("{at} 340 {width} 60 re f\n").into_bytes());
        at += width + 4;
    }
    content.extend(b"BT /F1 11 Tf 24 320 Td 18 TL\n");
    for line in lines {
        content.push(b'(');
        for character in line.chars().take(44) {
            // The encoding extends Latin 1; other characters become a dot.
            let byte = u8::try_from(u32::from(character)).unwrap_or(b'.');
            if matches!(byte, b'(' | b')' | b'\\') {
                content.push(b'\\');
            }
            content.push(byte);
        }
        content.extend(b") Tj T*\n");
    }
    content.extend(b"ET");
    content
}
