//! Every malformed file beside its message: `malformed/*.toml` and `malformed/*.txt`.
//!
//! `DAEDAL_BLESS=1 cargo test -p daedal-model --test malformed` writes the messages anew; read them before keeping them.

use daedal_model::{Mistakes, Model};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::path::Path;

fn shown(mistakes: &Mistakes) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::none()).with_width(100);
    handler.render_report(&mut text, mistakes).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn malformed_files_get_the_expected_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed");
    let bless = std::env::var_os("DAEDAL_BLESS").is_some();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 40);
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let text = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
        let found = match Model::read(&name, &text, &[]) {
            Ok(_) => "no mistake was found\n".to_string(),
            Err(mistakes) => shown(&mistakes),
        };
        let expected = path.with_extension("txt");
        if bless {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default().replace("\r\n", "\n") != found {
            wrong.push(format!("{name}:\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unknown_overrides_are_refused() {
    let text = "[model]\nname = 'a'\n[parameters]\nmass = 1\nk = [1, 2]\n[motion]\npositions = ['x']\nvelocities = ['v']\nmass = [1]\n";
    let refuse = |name: &str, value: f64| {
        let mistakes = Model::read("a.toml", text, &[(name.to_string(), value)]).unwrap_err();
        mistakes.lines()
    };
    assert_eq!(
        refuse("mas", 1.0),
        "a.toml: `mas` cannot be set: the model has no such parameter (did you mean `mass`?)"
    );
    assert_eq!(refuse("k", 1.0), "a.toml: `k` cannot be set: it is a list (set its entries: `k[1]` and `k[2]`)");
    assert_eq!(refuse("mass", f64::NAN), "a.toml: `mass` cannot be set: NaN is not a finite number");
    assert!(Model::read("a.toml", text, &[("k[2]".to_string(), 5.0)]).is_ok());
}

#[test]
fn plain_lines_give_file_line_and_column() {
    let text =
        "[model]\nname = 'a'\n[motion]\npositions = ['x']\nvelocities = ['v']\nmass = [1]\nforces = ['v*ä + u)']\n";
    let mistakes = Model::read("a.toml", text, &[]).unwrap_err();
    assert_eq!(mistakes.lines(), "a.toml:7:19: `)` closes a bracket that was never opened");
}
