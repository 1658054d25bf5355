//! Truck of five bodies in the place of that of seven. Thesis 5.3.3, figure 5.18.

use crate::chapter::{table, thousands};
use crate::solvers::*;

#[test]
#[ignore = "the published comparisons"]
fn published_truck() {
    let case = case("truck", &[], 20.0);
    let solvers =
        [GEOMS_PSF, GEOMS_P1, GMKSSOL, RADAU_EOM1, RADAU_GGL, RADAU_EOM0, RADAU_EOM, ODASSL, DASSL, HEDOP5, MEXAX];
    let exponents = [3, 5, 7, 9, 11, 13];
    let swept = sweep(&solvers, &exponents, |solver, tolerance| run_with(&case, solver, tolerance, 1_000_000, None));
    table("published.md", "truck errors", &rows(&swept, Outcome::cell));
    table(
        "published.md",
        "truck multipliers",
        &rows(
            &swept,
            |run| {
                if run.ended() { format!("{:.0e}", run.error_of_multipliers()) } else { "fails".to_string() }
            },
        ),
    );
    table(
        "published.md",
        "truck steps",
        &rows(&swept, |run| if run.ended() { thousands(run.statistics.steps) } else { "fails".to_string() }),
    );
    // those that keep positions and velocities run for every tolerance; rounding of forces stops the others
    for (solver, runs) in &swept {
        if [GEOMS_PSF, GEOMS_P1, RADAU_EOM1, RADAU_GGL, HEDOP5].contains(solver) {
            assert!(runs.iter().all(Outcome::ended), "{}", solver.0);
        }
    }
    // "an absolute error of 1e-4 of the multiplier is a relative one of 1e-8"
    let (_, psf) = &swept[0];
    let values = &case.references[1].values;
    let (name, exact) = values.last().expect("a multiplier");
    assert!((exact.abs() - 68_056.468_148).abs() < 1e-3, "{exact}");
    let found = psf[3].solution.as_ref().expect("a run").end_value(name).expect("a multiplier");
    assert!((found / exact - 1.0).abs() < 1e-8, "{found} and {exact}");
}
