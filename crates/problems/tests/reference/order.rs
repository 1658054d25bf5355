//! Orders of convergence at fixed steps, per decomposition and group of components.

use crate::support::{case, options, order};
use daedal::formulation::{Formulation, Selectors};
use daedal::method::Control;
use daedal::method::Stages;
use daedal::method::{Decomposition, Polish, Selection};
use daedal::motion::consistent::initialise;
use daedal::motion::{Form, Layout};
use daedal::{Geoms, Options, Problem, Save, Solution, solve};
use daedal_problems::Case;

/// A run with fixed steps, Newton's iteration carried to rounding.
fn fixed(case: &Case, tend: f64, h: f64, method: &Geoms) -> Solution {
    let s = method.stages.range().1 as f64;
    // the more stages, the less is left of a step besides rounding
    let (rtol, rounding) = if s > 3.0 { (1e-12_f64, 1e-14) } else { (1e-9, 1e-13) };
    let used = 0.1 * rtol.powf((s + 1.0) / (2.0 * s));
    let newton_tolerance = Some(rounding / used);
    let method = Geoms { control: Control::Fixed, newton_tolerance, max_newton: 40, ..method.clone() };
    let options = Options { h0: Some(h), save: Save::Dense, ..options(rtol) };
    solve(&Problem::new(&*case.mechanism, case.initial.clone(), tend), &method, &options).unwrap()
}

fn largest(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Errors in p, v and all others (λ, μ, r, w, s) at the end of runs with these steps, against a run with far smaller ones.
fn errors(name: &str, tend: f64, steps: [f64; 2], method: &Geoms) -> [[f64; 3]; 2] {
    let case = case(name);
    let exact = fixed(&case, tend, steps[1] / 8.0, &Geoms { stages: Stages::Fixed(7), ..Geoms::default() });
    let errors = steps.map(|h| {
        let solution = fixed(&case, tend, h, method);
        let (x, e) = (solution.at_end(), exact.at_end());
        let pair = |a: &[f64], b: &[f64]| largest(a.iter().copied().zip(b.iter().copied()));
        let others = [(x.lambda, e.lambda), (x.mu, e.mu), (x.r, e.r), (x.w, e.w), (x.s, e.s)];
        let others = others.iter().map(|(a, b)| pair(a, b)).fold(0.0, f64::max);
        [pair(x.p, e.p), pair(x.v, e.v), others]
    });
    println!("{name}: errors {errors:?}");
    errors
}

/// The orders that they show.
fn observed(name: &str, tend: f64, steps: [f64; 2], method: &Geoms) -> [f64; 3] {
    let [coarse, fine] = errors(name, tend, steps, method);
    std::array::from_fn(|k| order(&[(steps[0], coarse[k]), (steps[1], fine[k])]))
}

const PROBLEMS: [(&str, f64, [f64; 2]); 3] =
    [("pendulum", 1.0, [0.025, 0.0125]), ("skateboard-1", 8.0, [0.2, 0.1]), ("academic", 1.0, [0.05, 0.025])];

#[test]
fn order_five_in_positions_velocities_and_multipliers_for_every_decomposition() {
    for (name, tend, steps) in PROBLEMS {
        for constraints in [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd] {
            let method = Geoms { constraint_decomposition: Some(constraints), ..Geoms::default() };
            let orders = observed(name, tend, steps, &method);
            println!("{name} {constraints:?}: {orders:.2?}");
            assert!(orders.iter().all(|&o| o > 4.7), "{name} {constraints:?}: {orders:.2?}");
        }
    }
}

#[test]
fn forty_steps_leave_the_error_of_the_digest_in_the_multiplier() {
    // specification of GEOMS, 20.3
    let [[.., multiplier], _] = errors("pendulum", 1.0, [0.025, 0.0125], &Geoms::default());
    assert!((multiplier / 1.4e-8 - 1.0).abs() < 0.03, "{multiplier:e}");
}

#[test]
fn order_five_with_least_squares_selectors() {
    for (name, tend, steps) in PROBLEMS {
        let method = Geoms { differential_decomposition: Some(Decomposition::Qr), ..Geoms::default() };
        let orders = observed(name, tend, steps, &method);
        println!("{name} QR: {orders:.2?}");
        assert!(orders.iter().all(|&o| o > 4.7), "{name}: {orders:.2?}");
    }
}

#[test]
fn order_five_with_the_energy_as_invariant() {
    let method = Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..Geoms::default() };
    let orders = observed("pendulum", 1.0, [0.025, 0.0125], &method);
    println!("invariants: {orders:.2?}");
    assert!(orders.iter().all(|&o| o > 4.7), "{orders:.2?}");
}

/// The multiplier of the pendulum as the stepper itself has it, by steps of one size.
fn own_multiplier(method: &Geoms, h: f64) -> f64 {
    let case = case("pendulum");
    let method = Geoms { control: Control::Fixed, newton_tolerance: Some(1e-6), max_newton: 40, ..method.clone() };
    let start = initialise(&*case.mechanism, &case.initial, Form::StrangenessFree).unwrap().state;
    let options = Options { h0: Some(h), ..options(1e-9) };
    let mut stepper = method.start_as_discretised(&*case.mechanism, start, &options).unwrap();
    while stepper.state().t < 1.0 {
        stepper.advance(1.0).unwrap();
    }
    let layout = Layout::new(case.mechanism.sizes(), method.form(), false);
    stepper.state().x[layout.lambda().start]
}

#[test]
fn multipliers_of_the_s_index_one_form_have_order_three_and_are_shown_with_order_five() {
    let method = Geoms {
        formulation: Formulation::ProjectedIndexOne(Selectors::default()),
        polish: Polish::Off,
        ..Geoms::default()
    };
    let shown = observed("pendulum", 1.0, [0.025, 0.0125], &method);
    println!("s-index 1: {shown:.2?}");
    assert!(shown.iter().all(|&o| o > 4.7), "{shown:.2?}");
    let exact = own_multiplier(&Geoms::default(), 0.0125 / 8.0);
    let own = order(&[0.025, 0.0125].map(|h| (h, (own_multiplier(&method, h) - exact).abs())));
    // 2.96 in the specification
    assert!((own - 2.96).abs() < 0.02, "{own:.3}");
}

/// Joint selection can pick both dynamic equations and no kinematic one. Then the position follows from the velocity through
/// v = const only, and near v = 0 the order falls: the published row selection loses order at turning points.
#[test]
fn joint_selection_loses_order_near_turning_points() {
    let case = case("pendulum");
    let joint = Geoms { selection: Selection::Joint, ..Geoms::reproduction() };
    let exact = fixed(&case, 1.0, 0.0125 / 8.0, &Geoms::default());
    let error = |h: f64, method: &Geoms| {
        // variable steps are needed here: with fixed steps the iteration fails at the turning point
        let method = Geoms { newton_tolerance: Some(1e-9), max_newton: 40, ..method.clone() };
        let options = Options { h0: Some(h), hmax: Some(h), ..options(1e-5) };
        let solution = solve(&Problem::new(&*case.mechanism, case.initial.clone(), 1.0), &method, &options).unwrap();
        let (x, e) = (solution.at_end(), exact.at_end());
        largest(x.p.iter().chain(x.v).copied().zip(e.p.iter().chain(e.v).copied()))
    };
    let steps = [0.025, 0.0125, 0.00625];
    let joint_order = order(&steps.map(|h| (h, error(h, &joint))));
    let block_order = order(&steps.map(|h| (h, error(h, &Geoms::default()))));
    println!("joint {joint_order:.2}, blockwise {block_order:.2}");
    // in the specification, by steps of one size where those that fail are halved: 3.4, and errors 4 to 180 times as large, more with smaller steps
    assert!(block_order > 4.7 && (joint_order - 3.4).abs() < 0.5, "joint {joint_order:.2}, blockwise {block_order:.2}");
    let larger = steps.map(|h| error(h, &joint) / error(h, &Geoms::default()));
    assert!(larger[0] > 4.0 && larger[2] > 180.0, "{larger:?}");
}

#[test]
fn dense_output_has_order_five_between_the_steps() {
    // where the cubic through four points of a step is not good enough, a polynomial through ends of shorter steps is kept
    let case = case("pendulum");
    let exact = fixed(&case, 1.0, 0.025 / 32.0, &Geoms::default());
    let mut x = vec![0.0; exact.layout.dim()];
    let mut y = x.clone();
    let mut errors = Vec::new();
    for h in [0.05, 0.025] {
        let solution = fixed(&case, 1.0, h, &Geoms::default());
        let mut worst = 0.0_f64;
        for k in 0..97 {
            let t = 0.003 + f64::from(k) * 0.0101;
            solution.eval(t, &mut x).unwrap();
            exact.eval(t, &mut y).unwrap();
            worst = worst.max(largest(x.iter().copied().zip(y.iter().copied())));
        }
        errors.push((h, worst));
    }
    let observed = order(&errors);
    println!("dense output: {observed:.2}");
    assert!((observed - 5.0).abs() < 0.3, "{observed:.2}");
}

/// Stages, step sizes that are clear of rounding and of the region where no order shows, and the order that must be seen. With seven stages
/// little room is left between the two: errors fall to rounding by halving the step; on Andrews' mechanism with five stages, too, and with seven all steps that converge are exact.
#[allow(clippy::type_complexity)] // a table
const STAGES: [(&str, f64, &[(usize, [f64; 2], f64)]); 3] = [
    (
        "pendulum",
        1.0,
        &[(1, [0.002, 0.001], 0.9), (3, [0.025, 0.0125], 4.7), (5, [0.2, 0.1], 8.7), (7, [0.25, 0.125], 9.0)],
    ),
    (
        "slider-crank",
        1.0,
        &[(1, [0.002, 0.001], 0.9), (3, [0.025, 0.0125], 4.7), (5, [0.1, 0.05], 8.7), (7, [0.1, 0.0625], 10.0)],
    ),
    ("andrews", 0.008, &[(1, [4e-6, 2e-6], 0.9), (3, [1e-4, 5e-5], 4.7), (5, [8e-4, 4e-4], 5.3)]),
];

#[test]
fn the_order_is_twice_the_number_of_stages_less_one() {
    for (name, tend, rows) in STAGES {
        for &(stages, steps, least) in rows {
            let method = Geoms { stages: Stages::Fixed(stages), ..Geoms::default() };
            let orders = observed(name, tend, steps, &method);
            println!("{name}, {stages} stages: {orders:.2?}");
            assert!(orders.iter().all(|&o| o > least), "{name}, {stages} stages: {orders:.2?}");
        }
    }
}

#[test]
fn more_stages_need_less_work_at_small_tolerances() {
    // evaluations of variable order against three stages, as the design tells them
    for (name, tend, told) in [("pendulum", 5.0, 0.43), ("slider-crank", 5.0, 0.81), ("andrews", 0.03, 0.52)] {
        let case = case(name);
        let run = |stages: Stages, tolerance: f64| {
            let method = Geoms { stages, ..Geoms::default() };
            let options = Options { save: Save::End, ..options(tolerance) };
            solve(&Problem::new(&*case.mechanism, case.initial.clone(), tend), &method, &options).unwrap()
        };
        let exact = run(Stages::Fixed(7), 1e-13);
        let mut work = Vec::new();
        for stages in [Stages::Fixed(3), Stages::Fixed(5), Stages::Fixed(7), Stages::VARIABLE] {
            let solution = run(stages, 1e-10);
            let error = largest(solution.at_end().p.iter().copied().zip(exact.at_end().p.iter().copied()));
            println!("{name} {stages:?}: error {error:.1e}, {}", solution.statistics);
            assert!(error < 1e-7, "{name} {stages:?}: {error:e}");
            work.push(solution.statistics.residuals);
        }
        let ratio = work[3] as f64 / work[0] as f64;
        assert!(work[1] < work[0] && (ratio - told).abs() < 0.02, "{name}: {work:?}, {ratio:.3}");
    }
}
