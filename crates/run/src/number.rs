//! Numbers in JSON, which has neither NaN nor infinity: these three are written as the strings "NaN", "Infinity" and
//! "-Infinity", which `float` of Python and `Number` of JavaScript read. All others are written with the fewest digits
//! that give the same number back.

use serde::de::{self, Deserializer, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// A number that may be NaN or infinite.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_nan() => serializer.serialize_str("NaN"),
            f64::INFINITY => serializer.serialize_str("Infinity"),
            f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
            x => serializer.serialize_f64(x),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
    }
    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Number, E> {
        Ok(Number(x))
    }
    fn visit_u64<E: de::Error>(self, x: u64) -> Result<Number, E> {
        Ok(Number(x as f64))
    }
    fn visit_i64<E: de::Error>(self, x: i64) -> Result<Number, E> {
        Ok(Number(x as f64))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        match text {
            "NaN" => Ok(Number(f64::NAN)),
            "Infinity" => Ok(Number(f64::INFINITY)),
            "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

/// A value that may be `null`, which means the same as a key that is not there.
pub fn absent<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

pub fn wrap(values: &[f64]) -> Vec<Number> {
    values.iter().map(|&x| Number(x)).collect()
}

pub fn unwrap(values: Vec<Number>) -> Vec<f64> {
    values.into_iter().map(|Number(x)| x).collect()
}

/// An object whose keys keep their order.
#[derive(Clone, Debug)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OrderedVisitor(PhantomData))
    }
}

struct OrderedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrderedVisitor<T> {
    type Value = Ordered<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Ordered(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_to_the_last_bit() {
        for x in [0.0, -0.0, 0.1, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, 1.0 / 3.0] {
            let text = serde_json::to_string(&Number(x)).expect("text");
            let Number(read) = serde_json::from_str(&text).expect("a number");
            assert_eq!(read.to_bits(), x.to_bits(), "{text}");
        }
        let text = serde_json::to_string(&Number(f64::NAN)).expect("text");
        assert_eq!(text, "\"NaN\"");
        assert!(serde_json::from_str::<Number>(&text).expect("a number").0.is_nan());
        assert!(serde_json::from_str::<Number>("\"nan\"").is_err());
        assert_eq!(serde_json::from_str::<Number>("3").expect("a number").0, 3.0);
    }

    #[test]
    fn keys_keep_their_order() {
        let text = r#"{"z":1,"a":2}"#;
        let object: Ordered<u64> = serde_json::from_str(text).expect("an object");
        assert_eq!(serde_json::to_string(&object).expect("text"), text);
    }
}
