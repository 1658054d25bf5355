//! One array in the NumPy file format, version 1.0 and later: magic bytes, a description such as
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`, then the numbers. Source: NumPy Enhancement Proposal 1.
//!
//! Written out because the crates for it bring a general parser of Python literals for this one line of text, and
//! multiply the lengths of a malformed description without a look at overflow.

use crate::error::ArrayFault;
use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Bytes in front of the description, in version 1.0.
const PREFIX: usize = 10;
/// Numbers begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// Longest description; that of a list has about a hundred bytes.
const MOST_DESCRIPTION: usize = 1 << 16;

/// Numbers that arrays are made of, in little-endian order.
pub trait ArrayElement: Sized {
    /// NumPy's letters for it.
    const LETTERS: &'static str;
    /// Its bytes.
    const SIZE: usize;
    /// Append its bytes.
    fn push(&self, bytes: &mut Vec<u8>);
    /// From its bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($type:ty, $letters:literal) => {
        impl ArrayElement for $type {
            const LETTERS: &'static str = $letters;
            const SIZE: usize = size_of::<$type>();
            fn push(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::from_le_bytes(own)
            }
        }
    };
}
element!(f64, "<f8");
element!(u32, "<u4");
element!(u64, "<u8");

/// Write a list of numbers.
pub fn write<T: ArrayElement>(values: &[T], file: impl Write) -> io::Result<()> {
    write_shaped(values, &[values.len()], file)
}

/// Write an array of this shape, the last index running fastest.
pub fn write_shaped<T: ArrayElement>(values: &[T], shape: &[usize], mut file: impl Write) -> io::Result<()> {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    file.write_all(&preamble(T::LETTERS, &format!("({},)", lengths.join(", "))))?;
    let mut bytes = Vec::new();
    for chunk in values.chunks(8192) {
        bytes.clear();
        for value in chunk {
            value.push(&mut bytes);
        }
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// Write a text as an array without dimensions, four bytes for each character.
pub fn write_text(text: &str, mut file: impl Write) -> io::Result<()> {
    let codes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    file.write_all(&preamble(&format!("<U{}", codes.len() / 4), "()"))?;
    file.write_all(&codes)
}

/// How much is read of an array.
#[derive(Clone, Copy, Debug)]
pub struct ArrayLimits {
    /// How many numbers it must have, where that is known.
    pub length: Option<usize>,
    /// Most bytes of numbers.
    pub bytes: u64,
}

/// Why an array could not be read.
#[derive(Debug)]
pub enum Fault {
    /// The file system or the archive said no.
    Io(io::Error),
    /// The array is wrong.
    Array(ArrayFault),
}

impl From<ArrayFault> for Fault {
    fn from(fault: ArrayFault) -> Self {
        Fault::Array(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // only the description is read by its exact length
            io::ErrorKind::UnexpectedEof => Fault::Array(ArrayFault::Magic),
            _ => Fault::Io(error),
        }
    }
}

/// Read a list of numbers.
pub fn read<T: ArrayElement>(file: impl Read, limits: ArrayLimits) -> Result<Vec<T>, Fault> {
    read_shaped(file, 1, limits)
}

/// Read an array of so many dimensions; the limit of its length is that of all its numbers. Its description is looked at first: nothing
/// longer than it says, and than the limits allow, is taken from the file, which may be a small archive of endless zeros.
pub fn read_shaped<T: ArrayElement>(
    mut file: impl Read,
    dimensions: usize,
    limits: ArrayLimits,
) -> Result<Vec<T>, Fault> {
    let description = description(&mut file)?;
    if description.letters != T::LETTERS {
        return Err(ArrayFault::Type { found: description.letters, expected: T::LETTERS }.into());
    }
    if description.shape.len() != dimensions {
        return Err(ArrayFault::Dimensions { found: description.shape.len(), expected: dimensions }.into());
    }
    let length = description.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
    let length = length.ok_or(ArrayFault::Magic)?;
    if let Some(expected) = limits.length.filter(|&expected| expected as u64 != length) {
        return Err(ArrayFault::Length { found: length, expected }.into());
    }
    let data = data(file, u128::from(length) * T::SIZE as u128, limits.bytes)?;
    Ok(data.chunks_exact(T::SIZE).map(T::from_bytes).collect())
}

/// Read a text.
pub fn read_text(mut file: impl Read, limits: ArrayLimits) -> Result<String, Fault> {
    let description = description(&mut file)?;
    let length: Option<u64> = description.letters.strip_prefix("<U").and_then(|digits| digits.parse().ok());
    let Some(length) = length else {
        return Err(ArrayFault::Type { found: description.letters, expected: "<U" }.into());
    };
    if !description.shape.is_empty() {
        return Err(ArrayFault::Dimensions { found: description.shape.len(), expected: 0 }.into());
    }
    let data = data(file, u128::from(length) * 4, limits.bytes)?;
    let codes = data.chunks_exact(4).map(u32::from_bytes);
    Ok(codes.map(|code| char::from_u32(code).ok_or(ArrayFault::Text { code })).collect::<Result<_, _>>()?)
}

/// So many bytes of numbers, no more and no fewer.
fn data(file: impl Read, expected: u128, most: u64) -> Result<Vec<u8>, Fault> {
    if expected > u128::from(most) {
        return Err(ArrayFault::TooLarge { bytes: expected, most }.into());
    }
    let mut data = Vec::new();
    // one byte more shows that there are too many
    file.take((expected as u64).saturating_add(1)).read_to_end(&mut data)?;
    if data.len() as u128 != expected {
        return Err(ArrayFault::Bytes { found: data.len(), expected }.into());
    }
    Ok(data)
}

fn preamble(letters: &str, shape: &str) -> Vec<u8> {
    let mut description = format!("{{'descr': '{letters}', 'fortran_order': False, 'shape': {shape}, }}");
    // spaces up to the alignment, a line break last
    let length = (PREFIX + description.len() + 1).next_multiple_of(ALIGNMENT);
    description.extend(std::iter::repeat_n(' ', length - PREFIX - description.len() - 1));
    description.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((description.len() as u16).to_le_bytes());
    bytes.extend(description.as_bytes());
    bytes
}

struct Description {
    letters: String,
    shape: Vec<u64>,
}

/// The description of an array; the file stands behind it then.
fn description(file: &mut impl Read) -> Result<Description, Fault> {
    let mut prefix = [0; MAGIC.len() + 2];
    file.read_exact(&mut prefix)?;
    let version = prefix.strip_prefix(MAGIC).ok_or(ArrayFault::Magic)?[0];
    // from version 2.0 on, the length of the description has four bytes
    let mut length = [0; 4];
    match version {
        1 => file.read_exact(&mut length[..2])?,
        2 | 3 => file.read_exact(&mut length)?,
        _ => return Err(ArrayFault::Magic.into()),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_DESCRIPTION {
        return Err(ArrayFault::Magic.into());
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(describe(&text).ok_or_else(|| ArrayFault::Description { text: text.trim().to_string() })?)
}

/// A description as NumPy writes it. Fortran order is the same thing for lists.
fn describe(text: &str) -> Option<Description> {
    let text = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let value = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let letters = value("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_string();
    let order = value("fortran_order")?;
    let (numbers, _) = value("shape")?.strip_prefix('(')?.split_once(')')?;
    let numbers = numbers.split(',').map(str::trim).filter(|number| !number.is_empty());
    let shape = numbers.map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    (order.starts_with("False") || order.starts_with("True")).then_some(Description { letters, shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(values, &mut bytes).expect("memory");
        bytes
    }

    const ALL: ArrayLimits = ArrayLimits { length: None, bytes: u64::MAX };

    fn fault<T>(outcome: Result<T, Fault>) -> Result<T, ArrayFault> {
        outcome.map_err(|fault| match fault {
            Fault::Array(fault) => fault,
            Fault::Io(error) => panic!("{error}"),
        })
    }

    fn read<T: ArrayElement>(bytes: &[u8]) -> Result<Vec<T>, ArrayFault> {
        fault(super::read(bytes, ALL))
    }

    fn read_text(bytes: &[u8]) -> Result<String, ArrayFault> {
        fault(super::read_text(bytes, ALL))
    }

    #[test]
    fn no_more_is_read_than_the_description_says_and_the_limits_allow() {
        let mut endless = preamble("<f8", "(2,)");
        endless.extend(vec![0; 1 << 20]);
        let mut file = &endless[..];
        assert!(matches!(
            fault(super::read::<f64>(&mut file, ALL)),
            Err(ArrayFault::Bytes { found: 17, expected: 16 })
        ));
        assert!(file.len() > (1 << 20) - 100, "the rest is not looked at");
        let other = ArrayLimits { length: Some(3), bytes: u64::MAX };
        assert_eq!(fault(super::read::<f64>(&endless[..], other)), Err(ArrayFault::Length { found: 2, expected: 3 }));
        let few = ArrayLimits { length: None, bytes: 15 };
        assert_eq!(fault(super::read::<f64>(&endless[..], few)), Err(ArrayFault::TooLarge { bytes: 16, most: 15 }));
    }

    #[test]
    fn a_list_is_written_as_numpy_writes_it() {
        let bytes = bytes(&[1.0, 2.0]);
        assert_eq!(bytes.len(), 128 + 16);
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert!(bytes[10..].starts_with(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }  "));
        assert_eq!(bytes[127], b'\n');
        assert_eq!(read::<f64>(&bytes), Ok(vec![1.0, 2.0]));
    }

    #[test]
    fn text_survives_whatever_its_characters() {
        for text in ["", "a", "λ'\"\u{10348}\\n"] {
            let mut bytes = Vec::new();
            write_text(text, &mut bytes).expect("memory");
            assert_eq!(read_text(&bytes).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let good = bytes(&[1.0, 2.0]);
        assert!(matches!(read::<f64>(&good[..good.len() - 1]), Err(ArrayFault::Bytes { found: 15, expected: 16 })));
        assert!(matches!(read::<u32>(&good), Err(ArrayFault::Type { .. })));
        assert!(matches!(read_text(&good), Err(ArrayFault::Type { .. })));
        assert!(matches!(read::<f64>(b"PK"), Err(ArrayFault::Magic)));
        let other = |shape: &str| {
            let mut bytes = preamble("<f8", shape);
            bytes.extend([0; 16]);
            read::<f64>(&bytes)
        };
        assert_eq!(other("(2,)"), Ok(vec![0.0, 0.0]));
        assert!(matches!(other("(1, 2)"), Err(ArrayFault::Dimensions { found: 2, .. })));
        assert!(matches!(other("(18446744073709551615,)"), Err(ArrayFault::TooLarge { .. })));
        assert!(matches!(other("(99999999999999999999999,)"), Err(ArrayFault::Description { .. })));
        assert!(matches!(other("2"), Err(ArrayFault::Description { .. })));
        for n in 0..good.len() {
            assert!(read::<f64>(&good[..n]).is_err());
        }
    }
}
