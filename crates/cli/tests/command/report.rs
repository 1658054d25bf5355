//! Pages of runs, and files that are no runs.

use crate::support::{code, daedal, directory, refused, stderr};
use std::fs;

#[test]
fn a_table_gives_a_page_that_says_what_is_missing() {
    let place = directory("table");
    let file = place.join("own.csv");
    fs::write(&file, "t,x\n0,1\n1,NaN\n2,3\n").expect("a file");
    // without a name the page stands beside the run
    let output = daedal(&["report", file.to_str().expect("text")]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = fs::read_to_string(place.join("own.html")).expect("the page");
    assert!(page.contains("does not say") && page.contains("\"values\":[1.0,null,3.0]"));
}

#[test]
fn a_page_of_a_run_that_stopped_says_why() {
    let path = directory("stopped").join("run.html");
    let file = path.to_str().expect("text");
    let output = daedal(&["solve", "slider-crank-equal-arms", "--tend", "2", "-o", file]);
    assert_eq!(code(&output), 1);
    let page = fs::read_to_string(&path).expect("the page");
    assert!(page.contains("class=\"ending failure\"") && page.contains("singular configuration"));
}

#[test]
fn files_that_are_no_runs_are_refused() {
    let place = directory("malformed");
    let refuse = |name: &str, content: &[u8], said: &[&str]| {
        let file = place.join(name);
        fs::write(&file, content).expect("a file");
        let page = place.join("page.html");
        refused(&["report", file.to_str().expect("text"), "-o", page.to_str().expect("text")], said);
        assert!(!page.exists(), "no page is left behind");
    };
    refuse("cut.json", b"{\"format\":\"daedal run\"", &["cut.json", "cut off"]);
    refuse("other.json", b"{\"format\":\"recipe\",\"version\":1}", &["no run file", "recipe"]);
    refuse("broken.npz", b"PK nothing", &["archive"]);
    refuse("words.csv", b"t,x\n0,1\n1,two\n", &["line 3", "column x", "two"]);
    refuse("short.csv", b"t,x\n0,1\n1\n", &["line 3", "1 cells"]);
    refused(&["report", "run.txt"], &["run.txt", "json, npz or csv"]);
    refused(&["report", "absent.json"], &["absent.json"]);
    refused(&["report", "absent.json", "-o", "page.pdf"], &["page.pdf", "html"]);
}
