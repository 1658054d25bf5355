//! What the analysis says about the reference problems.

use crate::support::case;
use daedal::analysis::{Analysis, Finding, Stiffness, Verdict, analyse};
use daedal_problems::all;

fn look(name: &str) -> Analysis {
    let case = case(name);
    analyse(&*case.mechanism, &case.initial, case.tend).unwrap()
}

#[test]
fn every_reference_problem_is_possible_and_has_the_freedom_of_its_source() {
    // freedom in position and velocity
    let known = [
        ("pendulum", 1, 1),
        ("pendulum-2.9", 1, 1),
        ("pendulum-long", 1, 1),
        ("iftomm-pendulum", 1, 1),
        ("lolly", 1, 1),
        ("circle", 1, 1),
        ("slider-crank", 1, 1),
        ("slider-crank-equal-arms", 1, 1),
        ("slider-crank-redundant", 1, 1),
        ("double-four-bar", 1, 1),
        ("skateboard-1", 4, 2),
        ("skateboard-2", 4, 2),
        ("knife-edge", 3, 2),
        ("academic", 1, 1),
        ("truck", 7, 7),
        ("andrews", 1, 1),
        ("car-axis", 2, 2),
        // the crank is driven: one of the three constraints depends on time
        ("flexible-slider-crank", 4, 4),
        // one velocity, the spin, has no position
        ("wheelset", 3, 4),
    ];
    for problem in all() {
        let found = look(problem.name);
        println!("{}: {:?}", problem.name, found.findings);
        assert!(found.is_possible(), "{}: {:?}", problem.name, found.findings);
        let constraints = found.constraints.as_ref().unwrap();
        let freedom = (problem.name, constraints.position_freedom, constraints.velocity_freedom);
        assert!(known.contains(&freedom), "{freedom:?}");
        let redundant = ["slider-crank-redundant", "double-four-bar"].contains(&problem.name);
        assert_eq!(found.findings.len(), usize::from(redundant), "{}: {:?}", problem.name, found.findings);
        let index = found.index.unwrap();
        let expected = if problem.name == "knife-edge" { 2 } else { 3 };
        assert_eq!(index.differentiation, (!redundant).then_some(expected), "{}", problem.name);
        for test in &found.invariants {
            println!("{}: {test:?}", problem.name);
            assert_eq!(test.verdict, Verdict::Invariant, "{}: {test:?}", problem.name);
        }
        let scales = found.time_scales.as_ref().unwrap();
        assert_eq!(scales.dimension, freedom.1 + freedom.2 + found.sizes.dynamic, "{}", problem.name);
    }
}

#[test]
fn redundant_constraints_of_the_slider_crank_are_its_sums() {
    let found = look("slider-crank-redundant");
    let [Finding::Redundant { constraints, multipliers, .. }] = &found.findings[..] else {
        panic!("{:?}", found.findings)
    };
    let told: Vec<String> = constraints.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["sum_x", "sum_y"]);
    let told: Vec<String> = multipliers.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["lambda.sum_x", "lambda.sum_y"]);
}

#[test]
fn the_double_four_bar_is_redundant_along_its_motion() {
    let found = look("double-four-bar");
    let constraints = found.constraints.as_ref().unwrap();
    assert_eq!((constraints.all.rank, constraints.all.rows), (3, 4));
    assert_eq!(constraints.nearby.unwrap().rank, 3);
    assert!(constraints.all.gap().ratio() > 1e8);
    assert!(constraints.redundancies[0].is_consistent());
}

#[test]
fn contact_and_auxiliary_equations_are_regular() {
    let academic = look("academic");
    assert!(academic.contact.unwrap().is_regular() && academic.auxiliary.unwrap().is_regular());
    let wheelset = look("wheelset");
    assert!(wheelset.contact.unwrap().is_regular());
    // its mass matrix is not symmetric
    assert!(!wheelset.mass.unwrap().is_symmetric());
}

#[test]
fn time_scales_are_those_of_the_mechanisms() {
    // the rod of the flexible slider crank vibrates with 1277 … 24613 rad/s
    let scales = look("flexible-slider-crank").time_scales.unwrap();
    let highest = scales.highest_frequency.unwrap() * std::f64::consts::TAU;
    assert!((highest / 24613.0 - 1.0).abs() < 0.1, "{highest}");
    let lowest = scales.modes.iter().map(|mode| mode.im).fold(f64::INFINITY, f64::min);
    assert!((lowest / 1277.0 - 1.0).abs() < 0.01, "{lowest}");
    // the truck is in equilibrium: everything decays
    let scales = look("truck").time_scales.unwrap();
    assert!(scales.fastest_growth.is_none() && scales.modes.iter().all(|mode| mode.re < 0.0), "{:?}", scales.modes);
    // Andrews' mechanism turns within milliseconds
    let scales = look("andrews").time_scales.unwrap();
    println!("andrews: {scales:?}");
    assert!(scales.modes[0].magnitude() > 10.0);
    assert_eq!(scales.stiffness, Stiffness::NotStiff);
}

#[test]
fn impossible_parameters_are_found() {
    // a rod shorter than the crank cannot follow it, but the start is stretched: only where it is placed sideways
    let case = daedal_problems::find("slider-crank").unwrap().case_with(&[("l2".to_string(), 0.5)]).unwrap();
    let mut initial = case.initial.clone();
    initial.p[0] = daedal::Start::Fixed(1.5);
    let found = analyse(&*case.mechanism, &initial, 1.0).unwrap();
    assert!(!found.is_possible());
    assert!(found.findings[0].to_string().contains("slider"), "{}", found.findings[0]);
}
