//! Consistent initialisation from disturbed starting values, for every reference problem.

use daedal::Start;
use daedal::motion::Form;
use daedal::motion::consistent::initialise;

/// Numbers in [−1, 1] that look random and are the same every time.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[test]
fn starting_values_disturbed_by_a_hundredth_are_made_consistent() {
    let mut seed = 742;
    for problem in daedal_problems::all() {
        let case = problem.case();
        let mut initial = case.initial.clone();
        for value in initial.p.iter_mut().chain(&mut initial.v).chain(&mut initial.r).chain(&mut initial.s) {
            if let Start::Guess(x) = value {
                *x += 1e-2 * noise(&mut seed);
            }
        }
        let consistent = initialise(&*case.mechanism, &initial, Form::StrangenessFree)
            .unwrap_or_else(|e| panic!("{}: {e}", problem.name));
        let mut array = case.mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(consistent.state.t, &consistent.state.x, &mut rows).unwrap();
        let largest = |range: std::ops::Range<usize>| rows[range].iter().fold(0.0_f64, |m, r| m.max(r.abs()));
        let (position, velocity) = (
            largest(layout.row_contact().start..layout.row_g().end),
            largest(layout.row_g1().start..layout.row_h().end),
        );
        let acceleration = largest(layout.row_g2().start..layout.row_h1().end);
        println!(
            "{:24} {} iterations, {position:.1e} {velocity:.1e} {acceleration:.1e}",
            problem.name, consistent.iterations
        );
        assert!(position < 1e-10 && velocity < 1e-9 && acceleration < 1e-5, "{}", problem.name);
        // repaired nearby, not somewhere else
        let before = initial.values(&layout, &[]).unwrap();
        for j in layout.p() {
            if let Start::Guess(x) = before[j] {
                assert!((consistent.state.x[j] - x).abs() < 0.2, "{}: variable {j}", problem.name);
            }
        }
    }
}
