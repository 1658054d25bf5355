//! Lolly: the work of GEOMS hardly depends on the sharpness β of the ridge. Steinbrecher (2006), 5.3.2.

use crate::support::{options, run};
use daedal::method::SlowNewton;
use daedal::{Geoms, Solution};
use daedal_problems::find;

fn lolly(beta: f64, tolerance: f64, method: &Geoms) -> Solution {
    let case = find("lolly").unwrap().case_with(&[("beta".to_string(), beta)]).unwrap();
    run(&case, case.tend, method, &options(tolerance)).unwrap()
}

/// Largest error at t = 10: the motion is that of a point on a circle, whatever β is.
fn error(solution: &Solution) -> f64 {
    let (sin, cos) = 10.0_f64.sin_cos();
    let exact = [cos, sin, 0.0, -sin, cos, 0.0, 0.5, 9.81];
    let names = ["x", "y", "z", "vx", "vy", "vz", "lambda.circle", "lambda.ridge"];
    names.iter().zip(exact).map(|(name, x)| (solution.end_value(name).unwrap() - x).abs()).fold(0.0, f64::max)
}

#[test]
fn steps_and_errors_hardly_depend_on_the_sharpness_of_the_ridge() {
    for power in 4..=10 {
        let tolerance = 10.0_f64.powi(-power);
        let runs = [1.0, 10.0, 50.0, 100.0, 140.0].map(|beta| lolly(beta, tolerance, &Geoms::default()));
        let steps = runs.each_ref().map(|run| run.statistics.steps);
        println!("{tolerance:e}: {steps:?}");
        let (least, most) = (steps[1..].iter().min().unwrap(), steps[1..].iter().max().unwrap());
        assert!(10 * most <= 13 * least, "{tolerance:e}: {steps:?}");
        for run in &runs {
            assert!(error(run) < 100.0 * tolerance, "{tolerance:e}: {:e}", error(run));
            assert!(run.statistics.rejected_newton <= 1, "{tolerance:e}: {:?}", run.statistics);
        }
    }
}

#[test]
fn newton_on_linearised_constraints_needs_short_steps_on_a_sharp_ridge() {
    let linearised = Geoms { slow_newton: SlowNewton::ShorterStep, ..Geoms::default() };
    for (tolerance, times) in [(1e-4, 5), (1e-6, 6), (1e-8, 5)] {
        let [before, now] = [&linearised, &Geoms::default()].map(|method| lolly(140.0, tolerance, method).statistics);
        assert!(before.steps > times * now.steps, "{tolerance:e}: {} and {}", before.steps, now.steps);
        assert!(before.rejected_newton > 20 && before.newton_updates == 0, "{before:?}");
        assert!(before.residuals > now.residuals, "{before:?}, {now:?}");
    }
}
