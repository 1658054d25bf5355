//! The examples of the reference pages are models.

use daedal_model::{Model, ModelKind};

fn page(name: &str) -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/src/{name}.md"));
    std::fs::read_to_string(page).unwrap().replace("\r\n", "\n")
}

#[test]
fn every_example_of_the_reference_page_is_read() {
    let page = page("model-file");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(examples.len() >= 6);
    for (k, text) in examples.iter().enumerate() {
        if let Err(mistakes) = Model::read(&format!("example {k}"), text, &[]) {
            panic!("{}\n{text}", mistakes.lines());
        }
    }
}

#[test]
fn the_examples_of_the_page_on_switching_have_modes() {
    let page = page("hybrid");
    let examples: Vec<&str> = page.split("```toml,file=").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for text in examples {
        let text = text.split_once('\n').unwrap().1;
        let model = Model::read("example", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
        assert!(matches!(model.kind, ModelKind::Hybrid(_)));
    }
}
