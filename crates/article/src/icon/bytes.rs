//! Type and size of a picture by its first bytes. The type that the server gives does not
//! count: many send HTML or PNG under the name of an icon.

/// Bytes of an icon.
pub const ICON_BYTES_MAX: usize = 100_000;
/// Pixels of a side. A 20 kB PNG can claim 30,000 × 30,000, which a browser would unpack.
pub const ICON_SIDE_MAX: u32 = 1024;

/// The types of pictures that are served as icons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IconType {
    Png,
    Gif,
    Jpeg,
    Webp,
    Ico,
}

impl IconType {
    pub const fn mime_type(self) -> &'static str {
        match self {
            IconType::Png => "image/png",
            IconType::Gif => "image/gif",
            IconType::Jpeg => "image/jpeg",
            IconType::Webp => "image/webp",
            IconType::Ico => "image/x-icon",
        }
    }
}

/// A picture that may be kept as an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedIcon {
    pub icon_type: IconType,
    pub width: u32,
    pub height: u32,
}

/// The reason why bytes are not kept as an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadIcon {
    #[error("the icon has more than {ICON_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the bytes are not a PNG, GIF, JPEG, WebP or ICO picture")]
    NotAPicture,
    #[error("the icon has more than {ICON_SIDE_MAX} pixels on a side")]
    TooManyPixels,
}

/// Checks the bytes of an icon.
pub fn check_icon(bytes: &[u8]) -> Result<CheckedIcon, BadIcon> {
    if bytes.len() > ICON_BYTES_MAX {
        return Err(BadIcon::TooLarge);
    }
    let (icon_type, sides) = match bytes {
        [0x89, b'P', b'N', b'G', ..] => (IconType::Png, png(bytes)),
        [b'G', b'I', b'F', b'8', ..] => (IconType::Gif, gif(bytes)),
        [0xff, 0xd8, 0xff, ..] => (IconType::Jpeg, jpeg(bytes)),
        [b'R', b'I', b'F', b'F', ..] => (IconType::Webp, webp(bytes)),
        [0, 0, 1, 0, ..] => (IconType::Ico, ico(bytes)),
        _ => return Err(BadIcon::NotAPicture),
    };
    let (width, height) = sides.ok_or(BadIcon::NotAPicture)?;
    if width == 0 || height == 0 {
        return Err(BadIcon::NotAPicture);
    }
    if width > ICON_SIDE_MAX || height > ICON_SIDE_MAX {
        return Err(BadIcon::TooManyPixels);
    }
    Ok(CheckedIcon { icon_type, width, height })
}

fn u16_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn u16_le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn u24_le(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at + 3)?;
    Some(u32::from_le_bytes([part[0], part[1], part[2], 0]))
}

fn u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_png = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16)? == b"IHDR";
    if is_png { Some((u32_be(bytes, 16)?, u32_be(bytes, 20)?)) } else { None }
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_gif = bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a");
    if is_gif { Some((u16_le(bytes, 6)?, u16_le(bytes, 8)?)) } else { None }
}

/// Walks the segments of a JPEG to the frame header, which holds the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            0xff => at += 1,
            // SOF0 to SOF15 without DHT, JPG and DAC.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((u16_be(bytes, at + 7)?, u16_be(bytes, at + 5)?));
            }
            // The picture itself: the header was missing.
            0xda | 0xd9 => return None,
            _ => at += 2 + usize::try_from(u16_be(bytes, at + 2)?.max(2)).ok()?,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((u16_le(bytes, 26)? & 0x3fff, u16_le(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let packed = u32_le(bytes, 21)?;
            Some(((packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((u24_le(bytes, 24)? + 1, u24_le(bytes, 27)? + 1)),
        _ => None,
    }
}

/// Returns the largest size in an ICO container. The pictures inside have headers of their own,
/// which count more than the directory.
fn ico(bytes: &[u8]) -> Option<(u32, u32)> {
    let n_pictures = usize::try_from(u16_le(bytes, 4)?).ok()?;
    if !(1..=64).contains(&n_pictures) {
        return None;
    }
    let mut largest = (0, 0);
    for entry in (0..n_pictures).map(|n| 6 + n * 16) {
        let len = usize::try_from(u32_le(bytes, entry + 8)?).ok()?;
        let start = usize::try_from(u32_le(bytes, entry + 12)?).ok()?;
        let picture = bytes.get(start..start.checked_add(len)?)?;
        let sides = if picture.starts_with(b"\x89PNG") {
            png(picture)?
        } else {
            // A bitmap: the height counts the mask below the picture too.
            (u32_le(picture, 4)?, u32_le(picture, 8)? / 2)
        };
        largest = (sides.0.max(largest.0), sides.1.max(largest.1));
    }
    Some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes
    }

    fn ico_of(picture: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0];
        bytes.extend(u32::try_from(picture.len()).unwrap().to_le_bytes());
        bytes.extend(22_u32.to_le_bytes());
        bytes.extend(picture);
        bytes
    }

    #[test]
    fn every_type_is_known_by_its_first_bytes() {
        let jpeg =
            [b"\xff\xd8\xff\xe0\0\x04JF\xff\xff\xc0\0\x11\x08\0\x20\0\x30".as_slice(), &[0; 20]]
                .concat();
        let webp = |kind: &[u8], rest: &[u8]| [b"RIFF\0\0\0\0WEBP", kind, rest].concat();
        let bitmap =
            [&40_u32.to_le_bytes()[..], &16_u32.to_le_bytes(), &32_u32.to_le_bytes()].concat();
        for (bytes, icon_type, width, height) in [
            (png_of(32, 16), IconType::Png, 32, 16),
            (b"GIF89a\x10\0\x20\0".to_vec(), IconType::Gif, 16, 32),
            (jpeg, IconType::Jpeg, 48, 32),
            (webp(b"VP8 ", b"\0\0\0\0\0\0\0\x9d\x01\x2a\x40\0\x41\0"), IconType::Webp, 64, 65),
            (webp(b"VP8L", b"\0\0\0\0\x2f\x0f\xc0\x03\0"), IconType::Webp, 16, 16),
            (webp(b"VP8X", b"\0\0\0\0\0\0\0\0\x1f\0\0\x2f\0\0"), IconType::Webp, 32, 48),
            (ico_of(&bitmap), IconType::Ico, 16, 16),
            (ico_of(&png_of(256, 256)), IconType::Ico, 256, 256),
        ] {
            assert_eq!(check_icon(&bytes), Ok(CheckedIcon { icon_type, width, height }));
        }
    }

    #[test]
    fn bombs_and_everything_else_are_refused() {
        assert_eq!(check_icon(&png_of(30_000, 30_000)), Err(BadIcon::TooManyPixels));
        assert_eq!(check_icon(&ico_of(&png_of(2000, 10))), Err(BadIcon::TooManyPixels));
        assert_eq!(check_icon(&vec![0; ICON_BYTES_MAX + 1]), Err(BadIcon::TooLarge));
        for bytes in [
            b"".as_slice(),
            b"<!doctype html>",
            b"<svg xmlns='http://www.w3.org/2000/svg'>",
            b"\x89PNG",
            b"GIF89a",
            b"\xff\xd8\xff",
            b"\xff\xd8\xff\xda\0\0",
            b"RIFF0000WAVE",
            b"\0\0\x01\0\xff\xff",
            b"\0\0\x01\0\x01\0\x10\x10\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
            &png_of(0, 5),
        ] {
            assert_eq!(check_icon(bytes), Err(BadIcon::NotAPicture), "{bytes:?}");
        }
    }
}
