//! Photos from other programs, and files that are not photos.

use proptest::prelude::*;

use super::*;

const TURNED: &[u8] = include_bytes!("../../tests/photos/turned.jpg");
const PROGRESSIVE: &[u8] = include_bytes!("../../tests/photos/progressive.jpg");
const PLAIN: &[u8] = include_bytes!("../../tests/photos/plain.png");
const LOSSY: &[u8] = include_bytes!("../../tests/photos/lossy.webp");
const LOSSLESS: &[u8] = include_bytes!("../../tests/photos/lossless.webp");
const ALPHA: &[u8] = include_bytes!("../../tests/photos/alpha.webp");
const ANIMATED_PNG: &[u8] = include_bytes!("../../tests/photos/animated.png");
const ANIMATED_WEBP: &[u8] = include_bytes!("../../tests/photos/animated.webp");
const GIF: &[u8] = include_bytes!("../../tests/photos/still.gif");

const GOOD: [(&[u8], Media); 6] = [
    (TURNED, Media::Jpeg),
    (PROGRESSIVE, Media::Jpeg),
    (PLAIN, Media::Png),
    (LOSSY, Media::Webp),
    (LOSSLESS, Media::Webp),
    (ALPHA, Media::Webp),
];

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn photos_are_known_by_their_bytes() {
    for (file, media) in GOOD {
        let photo = check(file).unwrap();
        assert_eq!(photo.media, media);
        // Checking the result again changes nothing.
        assert_eq!(check(&photo.bytes), Ok(photo));
    }
    assert_eq!(check(PLAIN).unwrap().bytes.len(), {
        // Without the comment and the bytes after the end.
        let comment = 12 + "Comment\0COMENTARIO-SECRETO".len();
        PLAIN.len() - comment - "<script>alert(1)</script>".len()
    });
}

#[test]
fn what_a_picture_does_not_need_is_left_out() {
    for (file, _) in GOOD {
        let photo = check(file).unwrap();
        for text in ["SECRETO", "SEGREDO", "<script>", "ICC_SECRET"] {
            assert!(!holds(&photo.bytes, text), "{text} in {:?}", photo.media);
        }
    }
    assert!(holds(TURNED, "FABRICANTE-SECRETO") && holds(LOSSY, "SEGREDO-XMP"));
}

#[test]
fn how_a_telephone_turned_a_picture_is_kept() {
    let turned = check(TURNED).unwrap();
    let ours = b"\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06";
    assert!(turned.bytes.windows(ours.len()).any(|part| part == ours));
    assert!(!holds(&check(PROGRESSIVE).unwrap().bytes, "Exif"));
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let page = b"<!doctype html><script>alert(1)</script>";
    for file in [&svg[..], page, GIF, b"%PDF-1.7", b"RIFF\x04\0\0\0WAVE", b"\xff\xd8"] {
        assert_eq!(check(file), Err(PhotoFault::NoPhoto));
    }
    assert_eq!(check(b""), Err(PhotoFault::Missing));
    assert_eq!(check(ANIMATED_PNG), Err(PhotoFault::Animated));
    assert_eq!(check(ANIMATED_WEBP), Err(PhotoFault::Animated));
    assert_eq!(check(&vec![0xff; MOST_BYTES + 1]), Err(PhotoFault::TooLarge));
    for start in [jpeg::START, png::START, b"RIFF\x20\0\0\0WEBP", b"RIFF\0\0\0\0WEBP"] {
        let disguised = [start, page].concat();
        assert_eq!(check(&disguised), Err(PhotoFault::Damaged));
    }
}

#[test]
fn too_many_pixels_are_refused() {
    let mut wide = PLAIN.to_vec();
    // Width in IHDR, and its check sum made right.
    wide[16..20].copy_from_slice(&4097_u32.to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&wide[12..29]);
    wide[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    assert_eq!(check(&wide), Err(PhotoFault::TooManyPixels));
    wide[16] ^= 1;
    assert_eq!(check(&wide), Err(PhotoFault::Damaged));
    let frame = PROGRESSIVE.windows(2).position(|two| two == b"\xff\xc2").unwrap();
    let mut tall = PROGRESSIVE.to_vec();
    tall[frame + 5..frame + 7].copy_from_slice(&5000_u16.to_be_bytes());
    assert_eq!(check(&tall), Err(PhotoFault::TooManyPixels));
}

#[test]
fn half_a_photo_is_no_photo() {
    for (file, _) in GOOD {
        let photo = check(file).unwrap();
        for end in 0..photo.bytes.len() {
            assert!(check(&photo.bytes[..end]).is_err(), "{:?} {end}", photo.media);
        }
    }
}

proptest! {
    /// Random damage never causes a panic, and an accepted photo does not
    /// change when it is checked again.
    #[test]
    fn damage_is_refused_or_harmless(
        which in 0..GOOD.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = GOOD[which].0.to_vec();
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if let Ok(photo) = check(&file) {
            prop_assert!(photo.bytes.len() <= file.len() + 36);
            prop_assert_eq!(check(&photo.bytes), Ok(photo));
        }
    }
}
