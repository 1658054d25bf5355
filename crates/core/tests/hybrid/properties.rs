//! What holds for every run.

use super::support::*;
use daedal::hybrid::{ActiveMode, Hybrid, HybridOptions, HybridSolution, Smoothness, Transition};
use daedal::{Ended, Initial, Options, Problem, Save, solve, solve_observed};
use daedal::{Observer, StepView};
use std::ops::ControlFlow;

/// An oscillator whose equilibrium moves to where it is not, with a jump of the velocity at one of the two switches.
fn oscillator(method: Method) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    let towards = |place: f64| Affine { A: vec![vec![0.0, 1.0], vec![-1.0, -0.1]], ..Affine::constant(&[0.0, place]) };
    hybrid.mode(mode("left", &towards(-1.0), method));
    hybrid.mode(mode("right", &towards(1.0), method));
    hybrid.transition(Transition::when(0, 1, "x <= -0.3", |_, x| x[0] + 0.3));
    hybrid.transition(
        Transition::when(1, 0, "x >= 0.7", |_, x| 0.7 - x[0]).transfer(|_, old, _, new| new[1] = 0.9 * old[1]),
    );
    hybrid
}

fn solved(method: Method, save: Save) -> HybridSolution {
    let hybrid = oscillator(method);
    let options = Options { save, ..tolerance(1e-8) };
    solve(&Problem::new(&hybrid, Initial::new(0.0, &[1.0, 0.0]), 20.0), &HybridOptions::default(), &options)
        .unwrap_or_else(|e| panic!("{}", told(&e)))
}

#[test]
fn switches_do_not_depend_on_what_is_saved() {
    for method in METHODS {
        let reference = solved(method, Save::End);
        assert!(reference.switches.len() > 8);
        let times: Vec<f64> = (0..=200).map(|k| 0.1 * f64::from(k)).collect();
        for save in [Save::Steps, Save::Dense, Save::At(times)] {
            let other = solved(method, save);
            assert_eq!(other.switches, reference.switches);
            assert_eq!(other.end, reference.end);
            // values between steps may be ends of shorter steps, which are work but no steps of the run
            let steps = |s: &HybridSolution| [s.statistics.steps, s.statistics.attempts, s.statistics.jacobians];
            assert_eq!(steps(&other), steps(&reference));
        }
    }
}

#[test]
fn the_same_run_has_the_same_bits() {
    for method in METHODS {
        let (first, second) = (solved(method, Save::Dense), solved(method, Save::Dense));
        assert_eq!(first.switches, second.switches);
        assert_eq!(first.phases, second.phases);
        assert_eq!(first.end, second.end);
        assert_eq!(first.statistics, second.statistics);
    }
}

#[test]
fn phases_cover_the_interval_and_meet_at_the_switches() {
    for method in METHODS {
        for save in [Save::Steps, Save::Dense] {
            let solution = solved(method, save);
            assert_eq!(solution.phases.len(), solution.switches.len() + 1);
            assert_eq!(solution.phases[0].t0, 0.0);
            assert_eq!(solution.phases.last().unwrap().t1, 20.0);
            assert_eq!((solution.ended.clone(), solution.end.t), (Ended::AtEnd, 20.0));
            for (k, switch) in solution.switches.iter().enumerate() {
                let (old, new) = (&solution.phases[k], &solution.phases[k + 1]);
                assert_eq!((old.t1, new.t0), (switch.t, switch.t));
                assert_eq!((old.mode, new.mode), (switch.from, switch.to));
                assert_eq!(old.state(old.len() - 1), switch.before);
                assert_eq!(new.state(0), switch.after);
            }
            for phase in &solution.phases {
                assert!(phase.times.windows(2).all(|t| t[0] < t[1]), "{:?}", phase.times);
                assert_eq!((phase.times[0], *phase.times.last().unwrap()), (phase.t0, phase.t1));
            }
        }
    }
}

#[test]
fn saved_times_are_those_asked_for() {
    for method in METHODS {
        let times: Vec<f64> = (0..=200).map(|k| 0.1 * f64::from(k)).collect();
        let solution = solved(method, Save::At(times.clone()));
        let saved: Vec<f64> = solution.phases.iter().flat_map(|p| p.times.iter().copied()).collect();
        assert_eq!(saved, times);
        let dense = solved(method, Save::Dense);
        for phase in &solution.phases {
            for (k, &t) in phase.times.iter().enumerate() {
                let value = dense.value("x.0", t).unwrap();
                // each may be off by ten tolerances
                assert!((value - phase.state(k)[0]).abs() < 2e-7, "at {t}: {value} and {:?}", phase.state(k));
            }
        }
    }
}

#[test]
fn the_dense_output_satisfies_the_conditions_of_its_modes() {
    for method in METHODS {
        let solution = solved(method, Save::Dense);
        for phase in &solution.phases {
            for k in 1..100 {
                let t = phase.t0 + (phase.t1 - phase.t0) * f64::from(k) / 100.0;
                let x = solution.value("x.0", t).unwrap();
                let g = if phase.mode == 0 { x + 0.3 } else { 0.7 - x };
                assert!(g > -1e-7, "{method:?} at {t}, mode {}: {x}", phase.mode);
            }
        }
    }
}

#[test]
fn states_before_and_after_and_jumps_are_reported() {
    for method in METHODS {
        let solution = solved(method, Save::End);
        for switch in &solution.switches {
            if switch.from == 0 {
                assert_eq!(switch.smoothness, Smoothness::Smooth);
                assert_eq!(switch.before, switch.after);
                assert!(switch.jumps.is_empty());
                assert!((switch.before[0] + 0.3).abs() < 1e-9);
                assert_eq!((switch.transition, switch.condition.as_str()), (Some(0), "x <= -0.3"));
            } else {
                assert_eq!(switch.smoothness, Smoothness::Transfer);
                assert!(
                    (switch.after[1] - 0.9 * switch.before[1]).abs() < 1e-12 && switch.after[0] == switch.before[0]
                );
                let [jump] = &switch.jumps[..] else { panic!("{:?}", switch.jumps) };
                assert_eq!((jump.name.as_str(), jump.before, jump.after), ("x.1", switch.before[1], switch.after[1]));
                assert_eq!((switch.transition, switch.condition.as_str()), (Some(1), "x >= 0.7"));
            }
        }
    }
}

#[test]
fn switch_times_converge_with_the_tolerance() {
    let times = |method, tol: f64| -> Vec<f64> {
        let hybrid = oscillator(method);
        let problem = Problem::new(&hybrid, Initial::new(0.0, &[1.0, 0.0]), 20.0);
        let solution = solve(&problem, &HybridOptions::default(), &tolerance(tol)).unwrap();
        solution.switches.iter().map(|s| s.t).collect()
    };
    let reference = times(Method::Radau, 1e-12);
    for method in METHODS {
        for tol in [1e-5, 1e-7, 1e-9] {
            let found = times(method, tol);
            assert_eq!(found.len(), reference.len());
            let worst = found.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{method:?} {tol:e}: {worst:.1e}");
            assert!(worst < 100.0 * tol, "{method:?} {tol:e}: {worst:e}");
        }
    }
}

struct Watch {
    modes: Vec<String>,
    until: f64,
}
impl Observer<ActiveMode> for Watch {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        if self.modes.last() != Some(&step.layout.name) {
            self.modes.push(step.layout.name.clone());
        }
        if step.t >= self.until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn observers_see_every_mode_and_may_stop_the_run() {
    for method in METHODS {
        let hybrid = oscillator(method);
        let problem = Problem::new(&hybrid, Initial::new(0.0, &[1.0, 0.0]), 20.0);
        let mut watch = Watch { modes: Vec::new(), until: f64::INFINITY };
        let solution =
            solve_observed(&problem, &HybridOptions::default(), &tolerance(1e-8), &mut [&mut watch]).unwrap();
        assert_eq!(watch.modes.len(), solution.phases.len());
        let mut watch = Watch { modes: Vec::new(), until: 5.0 };
        let solution =
            solve_observed(&problem, &HybridOptions::default(), &tolerance(1e-8), &mut [&mut watch]).unwrap();
        assert_eq!(solution.ended, Ended::ByObserver);
        assert!((5.0..20.0).contains(&solution.end.t));
    }
}
