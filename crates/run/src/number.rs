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

/// Data in which numbers may be NaN or infinite, and the form in which it is written: fields say `serde(with = "number::exact")`.
pub trait Numeric: Sized {
    /// With a [`Number`] in place of each number.
    type Written: Serialize + de::DeserializeOwned;
    fn wrap(&self) -> Self::Written;
    fn unwrap(written: Self::Written) -> Self;
}

impl Numeric for f64 {
    type Written = Number;
    fn wrap(&self) -> Number {
        Number(*self)
    }
    fn unwrap(Number(x): Number) -> Self {
        x
    }
}

impl<T: Numeric> Numeric for Option<T> {
    type Written = Option<T::Written>;
    fn wrap(&self) -> Self::Written {
        self.as_ref().map(T::wrap)
    }
    fn unwrap(written: Self::Written) -> Self {
        written.map(T::unwrap)
    }
}

impl<T: Numeric> Numeric for Vec<T> {
    type Written = Vec<T::Written>;
    fn wrap(&self) -> Self::Written {
        self.iter().map(T::wrap).collect()
    }
    fn unwrap(written: Self::Written) -> Self {
        written.into_iter().map(T::unwrap).collect()
    }
}

impl Numeric for (String, f64) {
    type Written = (String, Number);
    fn wrap(&self) -> Self::Written {
        (self.0.clone(), Number(self.1))
    }
    fn unwrap((name, Number(x)): Self::Written) -> Self {
        (name, x)
    }
}

/// Numbers as they are written.
pub mod exact {
    use super::{Deserialize, Deserializer, Numeric, Serialize, Serializer};

    pub fn serialize<T: Numeric, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.wrap().serialize(serializer)
    }

    pub fn deserialize<'de, T: Numeric, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::Written::deserialize(deserializer).map(T::unwrap)
    }
}

/// Lists of them that may be `null`.
pub mod exact_or_absent {
    pub use super::exact::serialize;
    use super::{Deserializer, Numeric, absent};

    pub fn deserialize<'de, T: Numeric, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        T::Written: Default,
    {
        absent(deserializer).map(T::unwrap)
    }
}

/// An object of numbers whose keys keep their order, and which may be `null`.
pub mod object {
    use super::{Deserializer, Number, Numeric, Ordered, Serialize, Serializer, absent};

    pub fn serialize<S: Serializer>(entries: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
        Ordered(entries.iter().map(Numeric::wrap).collect()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, f64)>, D::Error> {
        let Ordered(entries): Ordered<Number> = absent(deserializer)?;
        Ok(Numeric::unwrap(entries))
    }
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
