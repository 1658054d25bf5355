//! Many runs from the command.

use crate::support::{code, daedal, directory, refused, stderr, stdout};
use daedal_run::Sweep;
use std::fs::File;

#[test]
fn every_combination_is_a_run_of_one_file() {
    let place = directory("sweep");
    let (file, kept) = (place.join("sweep.npz"), place.join("kept"));
    let (file, kept) = (file.to_str().expect("text"), kept.to_str().expect("text"));
    let arguments =
        ["sweep", "pendulum", "--vary", "m=1..2/3", "--vary", "L=0.5,1", "--save", "5", "-o", file, "--resume", kept];
    let output = daedal(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("pendulum: 6 of 6 runs reached the end\n"), "{}", stdout(&output));
    let sweep = Sweep::read(File::open(file).expect("a file")).expect("a sweep");
    assert_eq!(sweep.parameters, ["m", "L"]);
    assert_eq!(sweep.grid, Some(vec![vec![1.0, 1.5, 2.0], vec![0.5, 1.0]]));
    assert_eq!((sweep.runs.len(), sweep.points()), (6, 5));
    assert_eq!(sweep.runs[3].parameters, [1.5, 1.0]);
    assert!(sweep.runs.iter().all(|run| run.values.iter().all(|x| x.is_finite())));
    // once more: nothing is left to do
    assert!(stdout(&daedal(&arguments)).contains("6 of them were found in the folder"));
}

#[test]
fn runs_that_stop_are_named() {
    let output = daedal(&["sweep", "slider-crank", "--vary", "l2=2,1", "--method", "geoms"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("1 of 2 runs reached the end") && said.contains("l2 = 1.0: the run stopped at t"), "{said}");
    assert_eq!(code(&daedal(&["sweep", "slider-crank", "--vary", "l2=1", "--method", "geoms"])), 1);
}

#[test]
fn what_cannot_be_swept_is_refused() {
    refused(&["sweep", "pendulum", "--vary", "M=1"], &["there is no parameter M"]);
    refused(&["sweep", "pendulum", "--vary", "m=1", "-o", "sweep.json"], &["npz, csv or html"]);
    refused(&["sweep", "pendulum", "--vary", "m=1", "-o", "a.csv", "-o", "./a.csv"], &["a.csv"]);
    refused(&["sweep", "pendulum", "--vary", "m=1..2"], &["FROM..TO/COUNT"]);
    refused(&["sweep", "pendulum", "--vary", "m=1", "--vary", "m=2"], &["m is set twice"]);
    refused(&["sweep", "pendulum", "--vary", "m=1", "--save", "steps"], &["save is end"]);
}

#[test]
fn a_sweep_is_a_table_and_a_page_as_well() {
    let place = directory("sweep-page");
    let (table, page) = (place.join("sweep.csv"), place.join("sweep.html"));
    let (table, page) = (table.to_str().expect("text"), page.to_str().expect("text"));
    let output = daedal(&["sweep", "slider-crank", "--vary", "l2=2,1", "--method", "geoms", "-o", table, "-o", page]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains(&format!("2 runs in {page}\n")), "{}", stdout(&output));
    let table = std::fs::read_to_string(table).expect("a table");
    let heads = table.lines().next().expect("a line of names");
    assert!(heads.starts_with("run,l2,t,") && heads.ends_with(",status,message"), "{heads}");
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("0,2.0,") && row.ends_with(",end,")), "{table}");
    assert_eq!(table.lines().count(), 3);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("1 of 2 runs reached the end") && page.contains("the run stopped at t"));
}
