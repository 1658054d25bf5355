//! The published pendulum tables: Steinbrecher (2006), Tables 5.8 and 5.9; (2007), Tables 3 and 4.

use crate::support::{case, error, is_motion, options, run};
use daedal::formulation::{Formulation, Selectors};
use daedal::method::Method;
use daedal::motion::Form;
use daedal::motion::consistent::initialise;
use daedal::{Geoms, Options, Solution};

/// Published counters: tolerance, accepted, rejected by the error test, by Newton, solves, selectors.
#[allow(clippy::type_complexity)] // a table, written out where it is read
const TABLES: [(&str, u64, [(f64, [u64; 5]); 3]); 2] = [
    ("pendulum", 1, [(1e-7, [187, 16, 1, 660, 2]), (1e-8, [270, 13, 1, 897, 2]), (1e-9, [391, 9, 1, 1250, 2])]),
    (
        "pendulum-2.9",
        13,
        [(1e-7, [207, 7, 13, 841, 26]), (1e-8, [303, 12, 6, 1142, 19]), (1e-9, [441, 12, 6, 1589, 19])],
    ),
];

fn pendulum(name: &str, tolerance: f64, method: &Geoms) -> Solution {
    let options = Options { h0: Some(0.01), ..options(tolerance) };
    run(&case(name), 5.0, method, &options).unwrap()
}

fn within(value: u64, published: u64, part: f64) -> bool {
    (value as f64 - published as f64).abs() <= part * published as f64
}

#[test]
fn the_reproduction_setting_meets_all_six_published_runs() {
    for (name, crossings, rows) in TABLES {
        for (tolerance, [accepted, by_error, newton, solves, selectors]) in rows {
            let s = pendulum(name, tolerance, &Geoms::reproduction()).statistics;
            let run = format!("{name} at {tolerance:e}: {s:?}");
            assert!(within(s.steps, accepted, 0.04) && within(s.solves, solves, 0.04), "{run}");
            assert!(s.rejected_error.abs_diff(by_error) <= 4 && s.selectors.abs_diff(selectors) <= 2, "{run}");
            assert!(s.rejected_newton.abs_diff(newton) <= 2, "{run}");
            // selectors: at the start, after Newton failures, and where |p₁| = |p₂| is passed
            assert_eq!(s.selectors - s.rejected_newton, crossings, "{run}");
        }
    }
}

/// The step size that is printed behind the last step: the one proposed for the next.
#[test]
fn the_last_step_sizes_of_the_published_runs_are_proposed() {
    // that of the fifth run is a multiple of what the end of the interval left of the last step
    let published = [Some(0.0254), Some(0.0176), Some(0.0118), Some(0.0236), None, Some(0.0109)];
    let digest = [0.0259, 0.0174, 0.0119, 0.0236, 0.0083, 0.0111];
    let runs = TABLES.into_iter().flat_map(|(name, _, rows)| rows.map(|(tolerance, _)| (name, tolerance)));
    for (((name, tolerance), published), digest) in runs.zip(published).zip(digest) {
        let case = case(name);
        let start = initialise(&*case.mechanism, &case.initial, Form::StrangenessFree).unwrap().state;
        let options = Options { h0: Some(0.01), ..options(tolerance) };
        let mut stepper = Geoms::reproduction().start(&*case.mechanism, start, &options).unwrap();
        while stepper.state().t < 5.0 {
            stepper.advance(5.0).unwrap();
        }
        let h = stepper.proposed_step();
        println!("{name} at {tolerance:e}: {h}, published {published:?}, digest {digest}");
        assert!((h / digest - 1.0).abs() < 0.02, "{h} and {digest}");
        assert!(published.is_none_or(|published| (h / published - 1.0).abs() < 0.03), "{h} and {published:?}");
    }
}

#[test]
fn the_bookkeeping_identities_of_the_published_runs_hold() {
    for (name, _, rows) in TABLES {
        for (tolerance, _) in rows {
            let s = pendulum(name, tolerance, &Geoms::reproduction()).statistics;
            assert_eq!(s.decompositions, s.steps + s.rejected_error + s.rejected_newton);
            assert_eq!(s.residuals, 3 * s.solves + s.steps);
            assert_eq!((s.jacobians, s.predecompositions), (s.steps, s.steps));
            assert_eq!(s.masses, 1);
        }
    }
}

#[test]
fn evaluations_and_decompositions_are_as_many_as_published() {
    // NEOM and NEDEC of the six runs
    let published = [[2167, 204], [2961, 284], [4141, 401], [2730, 227], [3729, 321], [5208, 459]];
    let runs = TABLES.into_iter().flat_map(|(name, _, rows)| rows.map(|(tolerance, _)| (name, tolerance)));
    for ((name, tolerance), [evaluations, decompositions]) in runs.zip(published) {
        let s = pendulum(name, tolerance, &Geoms::reproduction()).statistics;
        assert!(within(s.residuals, evaluations, 0.04), "{name} at {tolerance:e}: {s:?}");
        assert!(within(s.decompositions, decompositions, 0.04), "{name} at {tolerance:e}: {s:?}");
    }
}

/// Specification of GEOMS, 20.2: rows joint or in blocks, with the control of the thesis or that of RADAU5.
#[test]
fn both_selections_with_both_controls_take_the_steps_of_the_digest() {
    use daedal::method::{Control, Selection};
    // accepted, rejected by the error test, by Newton, solves, selectors
    let wanted = [
        [[188, 19, 1, 675, 2], [200, 4, 1, 636, 2], [186, 20, 0, 657, 1], [197, 3, 0, 610, 1]],
        [[268, 11, 1, 887, 2], [292, 5, 1, 920, 2], [265, 11, 0, 855, 1], [287, 5, 0, 887, 1]],
        [[390, 8, 1, 1238, 2], [426, 5, 1, 1327, 2], [386, 8, 0, 1198, 1], [420, 5, 0, 1285, 1]],
        [[205, 6, 13, 813, 26], [229, 2, 10, 834, 23], [187, 24, 0, 661, 13], [199, 6, 0, 608, 13]],
        [[301, 12, 6, 1131, 19], [333, 6, 5, 1161, 18], [268, 19, 0, 877, 13], [290, 6, 0, 888, 13]],
        [[440, 12, 6, 1591, 19], [488, 6, 6, 1671, 19], [389, 12, 0, 1204, 13], [425, 6, 0, 1294, 13]],
    ];
    let runs = TABLES.into_iter().flat_map(|(name, _, rows)| rows.map(|(tolerance, _)| (name, tolerance)));
    for ((name, tolerance), wanted) in runs.zip(wanted) {
        let settings = [Selection::Joint, Selection::Blockwise]
            .into_iter()
            .flat_map(|selection| [Control::Thesis, Control::Radau5].map(|control| (selection, control)));
        for ((selection, control), wanted) in settings.zip(wanted) {
            let s = pendulum(name, tolerance, &Geoms { selection, control, ..Geoms::reproduction() }).statistics;
            let found = [s.steps, s.rejected_error, s.rejected_newton, s.solves, s.selectors];
            println!("{name} {tolerance:e} {selection:?} {control:?}: {found:?} {wanted:?}");
            // three columns are met exactly here. With joint rows and RADAU5's control steps grow more slowly after failures than there, and
            // failures near the turning points are fewer
            let (part, few) =
                if (selection, control) == (Selection::Joint, Control::Radau5) { (0.04, 4) } else { (0.01, 1) };
            assert!(within(found[0], wanted[0], part) && within(found[3], wanted[3], part), "{found:?} {wanted:?}");
            assert!([1, 2, 4].iter().all(|&k| found[k].abs_diff(wanted[k]) <= few), "{found:?} {wanted:?}");
        }
    }
}

#[test]
fn the_default_setting_has_no_newton_rejections_and_fewer_solves() {
    for ((name, _, rows), most) in TABLES.into_iter().zip([1.04, 0.85]) {
        for (tolerance, [_, _, _, solves, _]) in rows {
            let s = pendulum(name, tolerance, &Geoms::default()).statistics;
            assert_eq!(s.rejected_newton, 0, "{name} at {tolerance:e}");
            assert!(s.solves as f64 <= most * solves as f64, "{name} at {tolerance:e}: {} solves", s.solves);
        }
    }
}

#[test]
fn the_default_setting_is_three_times_as_accurate_as_the_reproduction() {
    for (name, _, _) in TABLES {
        let reference = &case(name).references[0];
        let [default, joint] =
            [Geoms::default(), Geoms::reproduction()].map(|m| error(&pendulum(name, 1e-9, &m), reference, |_| true));
        assert!(3.0 * default < joint, "{name}: {default:e} against {joint:e}");
    }
}

#[test]
fn constraint_decompositions_give_the_same_run() {
    use daedal::method::Decomposition::{Lu, Qr, Svd};
    for name in ["pendulum", "pendulum-2.9", "academic"] {
        let reference = &case(name).references[0];
        let options = Options { h0: Some(0.01), ..options(1e-8) };
        let runs = [Lu, Qr, Svd].map(|kind| {
            let method = Geoms { constraint_decomposition: Some(kind), ..Geoms::default() };
            run(&case(name), reference.t, &method, &options).unwrap()
        });
        for other in &runs[1..] {
            assert_eq!(runs[0].statistics.solves, other.statistics.solves, "{name}");
            assert_eq!(runs[0].statistics.steps, other.statistics.steps, "{name}");
            let [a, b] = [&runs[0], other].map(|s| error(s, reference, is_motion));
            assert!((a - b).abs() < 1e-8, "{name}: {a:e} and {b:e}");
        }
    }
}

#[test]
fn invariants_cost_no_more_accepted_steps_than_specified() {
    // QR runs in the specification of GEOMS: 93/5/4, 189/12/0, 383/9/0 accepted / rejected by error / by Newton
    for (tolerance, accepted, newton) in [(1e-5, 93, 4), (1e-7, 189, 0), (1e-9, 383, 0)] {
        let method =
            Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..Geoms::default() };
        let solution = pendulum("pendulum", tolerance, &method);
        let s = solution.statistics;
        assert!(s.steps <= accepted && s.rejected_newton <= newton, "{tolerance:e}: {s}");
        // at 1e-5 there are three error rejections more than specified
        assert!(s.rejected_error <= if tolerance > 1e-6 { 8 } else { 12 }, "{tolerance:e}: {s}");
        assert!(solution.max_residuals.invariant.unwrap() < 1e-9);
    }
}

#[test]
fn multipliers_that_are_not_wanted_save_steps_and_iterations() {
    use daedal::method::Multipliers;
    let [wanted, unwanted] = [Multipliers::Wanted, Multipliers::Unwanted].map(|multipliers| {
        let method = Geoms { multipliers, ..Geoms::default() };
        run(&case("iftomm-pendulum"), 10.0, &method, &options(1e-7)).unwrap().statistics
    });
    assert!(unwanted.steps < wanted.steps, "{unwanted} instead of {wanted}");
    assert!(20 * unwanted.solves < 19 * wanted.solves, "{unwanted} instead of {wanted}");
}
