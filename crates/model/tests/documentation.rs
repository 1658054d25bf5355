//! The examples of the reference page are models.

use daedal_model::Model;

#[test]
fn every_example_of_the_reference_page_is_read() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/model-file.md");
    let page = std::fs::read_to_string(page).unwrap().replace("\r\n", "\n");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(examples.len() >= 6);
    for (k, text) in examples.iter().enumerate() {
        if let Err(mistakes) = Model::read(&format!("example {k}"), text, &[]) {
            panic!("{}\n{text}", mistakes.lines());
        }
    }
}
