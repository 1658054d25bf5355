//! What the command says where a robot is not imported.

use crate::{daedal, folder, robot};
use std::fs;

#[test]
fn a_mistake_is_marked_in_the_file_of_the_robot() {
    let file = folder("refused").join("robot.urdf");
    fs::write(&file, "<robot name=\"r\">\n  <link name=\"base\"/>\n  <link name=\"arm\"/>\n  <joint name=\"j\" type=\"revolute\">\n    <parent link=\"bse\"/><child link=\"arm\"/>\n  </joint>\n</robot>\n").unwrap();
    let output = daedal(&["import", file.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(output.stdout.is_empty());
    for part in ["nothing is called `bse`", "robot.urdf:5", "<parent link=\"bse\"/>", "did you mean `base`?"] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
}

#[test]
fn files_that_are_not_there_and_bases_that_do_not_exist_are_refused() {
    let output = daedal(&["import", "no-such-robot.urdf"]);
    assert_eq!(output.status.code(), Some(2));
    let output = daedal(&["import", robot("arm.urdf").to_str().unwrap(), "--base", "flying"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fixed, floating"));
}

#[test]
fn a_floating_base_is_a_body_that_nothing_holds() {
    let output = daedal(&["import", robot("delta.urdf").to_str().unwrap(), "--base", "floating"]);
    // the base of the delta robot weighs nothing
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the link `base` moves and has no mass"));
}
