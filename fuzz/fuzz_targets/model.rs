//! Any text is either a model or has mistakes that can be shown; nothing panics, hangs or eats the memory.

#![no_main]

use daedal_model::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // a parameter is sometimes replaced from outside
    let overrides = if text.contains("N = ") { vec![("N".to_string(), 3.0)] } else { vec![] };
    if let Err(mistakes) = Model::read("fuzz.toml", text, &overrides) {
        assert!(!mistakes.list().is_empty());
        assert!(!mistakes.lines().is_empty());
    }
});
