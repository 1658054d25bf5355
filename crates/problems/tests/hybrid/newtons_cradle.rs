//! Newton's cradle: blows that run through all balls at once.

use super::support::*;
use daedal::hybrid::{HybridOptions, SwitchKind};
use daedal::{Initial, Problem};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::newtons_cradle::NewtonsCradle;

#[test]
fn the_blow_of_the_first_ball_runs_through_to_the_last() {
    for method in ModeIntegrator::ALL {
        for balls in [2, 3, 5] {
            let cradle = NewtonsCradle { balls, ..NewtonsCradle::default() };
            let hybrid = cradle.system(method);
            let period = cradle.period();
            let blows = 6;
            let tend = period * (0.5 * f64::from(blows));
            let start = cradle.start();
            let solution = solved(
                &Problem::new(&hybrid, Initial::new(0.0, &start), tend),
                &tolerance(1e-10),
                &HybridOptions::default(),
            );
            let chain = balls - 1;
            assert_eq!(
                solution.switches.len(),
                blows as usize * chain,
                "{method:?}, {balls} balls: {:?}",
                solution.switches.iter().map(|s| (s.t, s.condition.clone())).collect::<Vec<_>>()
            );
            for (k, switch) in solution.switches.iter().enumerate() {
                let (blow, link) = (k / chain, k % chain);
                close(switch.t, period * (0.25 + 0.5 * blow as f64), 1e-7);
                assert_eq!(switch.t, solution.switches[blow * chain].t);
                let wanted = if link == 0 { SwitchKind::Regular } else { SwitchKind::Immediate };
                assert_eq!(switch.kind, wanted, "switch {k}");
                // there and back
                let pair = if blow % 2 == 0 { link } else { chain - 1 - link };
                assert_eq!(switch.transition, Some(pair), "switch {k}");
                // the velocities are exchanged, nothing else changes
                let mut exchanged = switch.before.clone();
                exchanged.swap(balls + pair, balls + pair + 1);
                assert_eq!(switch.after, exchanged, "switch {k}");
            }
            close(cradle.energy(&solution.end.x), cradle.energy(&start), 1e-6);
            // three periods later the first ball is where it began
            close(solution.end_value("phi1").unwrap(), -cradle.angle, 1e-6);
        }
    }
}
