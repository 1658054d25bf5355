//! Files that are no runs: every error says what is wrong and where.

use daedal_run::{ReadError, Run, csv, json, npz};
use std::error::Error;
use std::io::{Cursor, Write};

/// The message with its causes.
fn said(outcome: Result<Run, ReadError>) -> String {
    let error = outcome.expect_err("the file is malformed");
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn json_said(rest: &str) -> String {
    said(json::read(format!("{{\"format\":\"daedal run\",\"version\":1,{rest}}}").as_bytes()))
}

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in {text:?}");
    }
}

#[test]
fn json_of_another_kind_is_told_from_a_broken_one() {
    assert_says(&said(json::read(&b"{\"format\":\"x\",\"version\":1}"[..])), &["no run file", "\"x\""]);
    assert_says(
        &said(json::read(&b"{\"format\":\"daedal run\",\"version\":2,\"names\":7}"[..])),
        &["version 2", "up to 1"],
    );
    assert_says(&said(json::read(&b"[1, 2]"[..])), &["not written as a run file"]);
    assert_says(&said(json::read(&b"{\"model\":\"x\"}"[..])), &["missing field `format`"]);
    assert_says(&said(json::read(&b""[..])), &["cut off"]);
    assert_says(
        &said(json::read(&b"{\"format\":\"daedal run\",\"version\":1,\"names\":[],\"times\":[],\"states\":[]} x"[..])),
        &["line 1"],
    );
}

#[test]
fn json_errors_name_the_key() {
    assert_says(&json_said(r#""names":["x"],"times":[0],"states":[["one"]]"#), &["states[0][0]", "\"one\"", "line 1"]);
    assert_says(&json_said(r#""names":["x"],"kinds":["speed"]"#), &["kinds[0]", "speed"]);
    assert_says(&json_said(r#""names":[],"ended":"late""#), &["ended", "late"]);
    assert_says(&json_said(r#""names":[],"statistics":{"steps":-1}"#), &["statistics", "-1"]);
    assert_says(&json_said(r#""names":[],"states":[]"#), &["no key times"]);
    assert_says(&json_said(r#""times":[]"#), &["missing field `names`"]);
}

#[test]
fn json_lists_of_other_lengths_are_told() {
    assert_says(&json_said(r#""names":["x"],"times":[0,1],"states":[[1]]"#), &["states has 1 values", "2 times"]);
    assert_says(&json_said(r#""names":["x"],"times":[0,1],"states":[[1],[]]"#), &["state at place 1", "1 names"]);
    assert_says(&json_said(r#""names":["x"],"units":[],"times":[],"states":[]"#), &["list of units"]);
    assert_says(&json_said(r#""names":[],"times":[1,0,2],"states":[[],[],[]]"#), &["falls from 1.0 to 0.0 at place 1"]);
    assert_says(&json_said(r#""names":[],"times":[1,2,0],"states":[[],[],[]]"#), &["rises from 1.0 to 2.0 at place 1"]);
    assert_says(&json_said(r#""names":[],"times":["NaN"],"states":[[]]"#), &["place 0 is NaN"]);
    let steps = r#""names":[],"times":[],"states":[],"steps":{"t":[1],"h":[1,2],"order":[5]}"#;
    assert_says(&json_said(steps), &["step sizes has 2 values", "1 steps"]);
    let event = r#""names":[],"times":[],"states":[],"events":[{"name":"hit","t":1,"state":[1]}]"#;
    assert_says(&json_said(event), &["event hit", "0 columns"]);
}

#[test]
fn what_json_need_not_say_may_be_absent() {
    let text =
        r#"{"format":"daedal run","version":1,"names":["x"],"times":[0,1],"states":[[1],["NaN"]],"note":"mine"}"#;
    let run = json::read(text.as_bytes()).expect("a run");
    assert_eq!(run.times, [0.0, 1.0]);
    assert!(run.columns[0].values[1].is_nan());
    assert_eq!(run.header, daedal_run::Header::default());
}

#[test]
fn what_json_need_not_say_may_be_null() {
    let keys = [
        "model",
        "description",
        "source",
        "parameters",
        "formulation",
        "method",
        "rtol",
        "atol",
        "atol_of",
        "t0",
        "tend",
        "ended",
        "message",
        "decisions",
        "warnings",
        "undetermined",
        "statistics",
        "kinds",
        "units",
        "t_end",
        "final",
        "events",
        "hybrid",
        "steps",
    ];
    let nulls: Vec<String> = keys.iter().map(|key| format!("\"{key}\":null")).collect();
    let text = format!(
        "{{\"format\":\"daedal run\",\"version\":1,\"names\":[],\"times\":[],\"states\":[],{}}}",
        nulls.join(",")
    );
    assert_eq!(json::read(text.as_bytes()).expect("a run"), Run::default());
}

#[test]
fn tables_end_outside_of_quotes() {
    assert_says(&said(csv::read(&b"t,y\n0,1\n1,\"2"[..])), &["line 3", "never closed"]);
    assert_says(&said(csv::read(&b"t,\"y\n0,1\n1,2\n"[..])), &["line 1", "never closed"]);
    assert!(csv::read(&b"t,\"a \"\"name\"\"\"\n0,\"1\"\n"[..]).is_ok());
}

#[test]
fn tables_say_the_line_and_the_column() {
    assert_says(&said(csv::read(&b""[..])), &["called t"]);
    assert_says(&said(csv::read(&b"x,y\n0,1\n"[..])), &["called t", "\"x\""]);
    assert_says(&said(csv::read(&b"t,y\n0,1\n1,one\n"[..])), &["line 3", "column y", "\"one\""]);
    assert_says(&said(csv::read(&b"t,y\n0,1\n1,2,3\n"[..])), &["line 3", "3 cells", "2 names"]);
    assert_says(&said(csv::read(&b"t,y\n0,\xff\n"[..])), &["table is broken"]);
    assert_says(&said(csv::read(&b"t,y\n1,0\n0,0\n2,0\n"[..])), &["falls"]);
    let run = csv::read(&b"t, y,\"a,b\"\n0, 1 ,-inf\n1,NaN,inf\n"[..]).expect("a table");
    assert_eq!(run.columns[1].name, "a,b");
    assert_eq!(run.columns[1].values, [f64::NEG_INFINITY, f64::INFINITY]);
}

/// An archive with these entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut archive = zip::ZipWriter::new(&mut file);
    for (name, bytes) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        archive.write_all(bytes).expect("memory");
    }
    archive.finish().expect("an archive");
    file.into_inner()
}

#[test]
fn an_archive_of_endless_zeros_is_refused_before_it_is_unpacked() {
    let header = |arrays: &str| {
        let text = format!("{{\"format\":\"daedal run\",\"version\":1,\"names\":[{arrays}],\"arrays\":[{arrays}]}}");
        let mut bytes = array(&format!("<U{}", text.len()), "()");
        bytes.extend(text.bytes().flat_map(|byte| u32::from(byte).to_le_bytes()));
        bytes
    };
    // a gigabyte and more of zeros would fit into a megabyte
    let mut many = array("<f8", "(200000000,)");
    many.extend(vec![0; 1 << 16]);
    let zeros = archive(&[("header.npy", &header("")), ("t.npy", &many)]);
    assert_says(&said(npz::read(Cursor::new(zeros))), &["array t", "1600000000 bytes"]);
    // a column is as long as the times, whatever stands behind it
    let mut one = array("<f8", "(1,)");
    one.extend([0; 8]);
    let longer = archive(&[("header.npy", &header("\"x\"")), ("t.npy", &one), ("x.npy", &many)]);
    assert_says(&said(npz::read(Cursor::new(longer))), &["array x", "200000000 numbers, expected 1"]);
}

/// The begin of an array of these letters and this shape.
fn array(letters: &str, shape: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let description = format!("{{'descr': '{letters}', 'fortran_order': False, 'shape': {shape}, }}");
    bytes.extend(format!("{description:<117}\n").as_bytes());
    bytes
}

#[test]
fn archives_say_which_array() {
    assert_says(&said(npz::read(Cursor::new(b"no archive"))), &["archive is broken"]);
    assert_says(&said(npz::read(Cursor::new(archive(&[])))), &["no array header"]);
    let junk = archive(&[("header.npy", b"junk")]);
    assert_says(&said(npz::read(Cursor::new(junk))), &["array header", "NumPy"]);
    let mut preamble = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    preamble.extend(format!("{:<69}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }").as_bytes());
    let numbers = archive(&[("header.npy", &preamble)]);
    assert_says(&said(npz::read(Cursor::new(numbers))), &["array header", "<f8", "<U"]);
}
