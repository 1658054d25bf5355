//! Academic example with a singular contact equation at π/2. Thesis 5.3.6.

use crate::chapter::table;
use crate::solvers::*;

#[test]
#[ignore = "the published comparisons"]
fn published_academic() {
    let solvers = [GEOMS_PSF, GEOMS_P1, RADAU_GGL, RADAU_EOM1, DASSL, ODASSL, RADAU_EOM0, RADAU_EOM];
    let exponents: Vec<i32> = (1..=14).collect();
    for tend in [1.5, 2.0] {
        let case = case("academic", &[], tend);
        let swept = sweep(&solvers, &exponents, |solver, tolerance| run(&case, solver, tolerance));
        let ended = |run: &Outcome| if run.ended() { "yes".to_string() } else { "no".to_string() };
        table("published.md", &format!("academic to {tend}"), &rows(&swept, ended));
        for (solver, runs) in &swept {
            // at [0, 1.5] everything runs; psf passes π/2
            assert!((tend == 2.0 && *solver != GEOMS_PSF) || runs.iter().all(Outcome::ended), "{} {tend}", solver.0);
            for run in runs.iter().filter(|run| !run.ended()) {
                let t = run.failure.as_ref().expect("a failure").0;
                assert!((t - std::f64::consts::FRAC_PI_2).abs() < 0.02, "{} stops at {t}", solver.0);
            }
        }
    }
}
