//! Any text is either a model or has mistakes that can be shown; nothing panics, hangs or eats the memory.

#![no_main]

use daedal_model::{ReadingLimits, Model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // a parameter is sometimes replaced from outside
    let overrides = if text.contains("N = ") { vec![("N".to_string(), 3.0)] } else { vec![] };
    // small limits: work must be bounded by them, whatever the text says
    let limits = ReadingLimits { entries: 20_000, operations: 200_000 };
    if let Err(mistakes) = Model::read_within("fuzz.toml", text, &overrides, limits) {
        assert!(!mistakes.list().is_empty());
        assert!(!mistakes.lines().is_empty());
    }
});
