//! 15.2: two bodies with friction; 395 switches without sliding, 7 with it.

use super::support::*;
use daedal::dae::{Depth, System, characterise};
use daedal::hybrid::{Detection, HybridOptions, SwitchKind};
use daedal::linear::{RankOptions, strangeness_free};
use daedal::{Initial, Problem};
use daedal_problems::hybrid::friction_bodies::*;
use daedal_problems::hybrid::{ModeIntegrator, SlidingBy};

/// Time of every switch without sliding: vrel' = sin t ∓ 2μF in closed form, scanned and bisected.
fn exact_without_sliding(bodies: &FrictionBodies) -> Vec<f64> {
    let (mut sign, mut t, mut vrel, mut times) = (1.0, 0.0_f64, 0.0, Vec::new());
    loop {
        let from = t;
        let relative = |s: f64| vrel + from.cos() - s.cos() - 2.0 * sign * bodies.friction * (s - from);
        let g = |s: f64| sign * relative(s) + bodies.epsilon;
        let mut step = from;
        while step < TEND && g(step + 1e-5) > 0.0 {
            step += 1e-5;
        }
        if step >= TEND {
            return times;
        }
        let (mut low, mut high) = (step, step + 1e-5);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if g(middle) > 0.0 { low = middle } else { high = middle }
        }
        (vrel, t) = (relative(high), high);
        sign = -sign;
        times.push(t);
    }
}

#[test]
fn characteristic_values_are_those_of_the_corrected_table() {
    let bodies = FrictionBodies::default();
    for (sign, wanted) in [(Some(1.0), (0, 4, 0, 0, 0)), (Some(-1.0), (0, 4, 0, 0, 0)), (None, (1, 3, 2, 0, 0))] {
        let linear = strangeness_free(&mut bodies.linear(sign), 0.3, &RankOptions::default()).unwrap().values;
        assert_eq!((linear.mu, linear.d, linear.a, linear.v, linear.u), wanted);
        let system = System::of(&Bodies { of: bodies, sign });
        let guess = vec![0.5; if sign.is_some() { 4 } else { 5 }];
        let general = characterise(&system, &Initial::new(0.3, &guess), Depth::default()).unwrap().values;
        assert_eq!((general.mu, general.d, general.a, general.v, general.u), wanted);
    }
}

#[test]
fn without_sliding_there_are_395_switches() {
    let exact = exact_without_sliding(&FrictionBodies::default());
    assert_eq!(exact.len(), WITHOUT_SLIDING);
    for modes in [FrictionForm::Linear, FrictionForm::Equations] {
        for method in ModeIntegrator::ALL {
            let hybrid = FrictionBodies::default().system(SlidingBy::Generated, modes, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &START), TEND);
            let solution = solved(&problem, &tolerance(1e-8), &detection(Detection::Off));
            let count = solution.switches.len();
            assert!(count.abs_diff(WITHOUT_SLIDING) <= 1, "{modes:?} {method:?}: {count} switches");
            let worst = solution.switches.iter().zip(&exact).map(|(s, t)| (s.t - t).abs()).fold(0.0, f64::max);
            println!(
                "{modes:?} {method:?}: {count} switches, times to {worst:.1e}, {} steps",
                solution.statistics.steps
            );
            assert!(worst < 1e-5, "{modes:?} {method:?}: {worst:e}");
            for (switch, t) in solution.switches.iter().zip([0.003759, 0.011189, 0.018833, 0.026128]) {
                close(switch.t, t, 1e-6);
            }
            let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
            let slips: Vec<&[f64]> = times.windows(2).filter(|pair| pair[1] - pair[0] > 1.0).collect();
            assert_eq!(slips.len(), 3);
            for (slip, wanted) in slips.iter().zip([[0.9045, 2.8976], [3.9603, 6.0328], [7.1956, 9.1809]]) {
                close(slip[0], wanted[0], 7e-5);
                close(slip[1], wanted[1], 7e-5);
            }
        }
    }
}

/// The source prints 2.8719, 2.8776, 2.8886 and 9.1465, 9.1521 for switches that follow from leaving stiction with relative velocity zero, by
/// its hysteresis alone: too early by 0.020 to 0.029 for the closed form, which these are.
#[test]
fn switches_behind_stiction_come_when_the_closed_form_says() {
    use std::f64::consts::TAU;
    let from = 0.8_f64.asin();
    for (from, wanted, published) in [
        (from, &[2.892451, 2.898199, 2.908834][..], &[2.8719, 2.8776, 2.8886][..]),
        (from + TAU, &[9.175636, 9.181384], &[9.1465, 9.1521]),
    ] {
        for method in ModeIntegrator::ALL {
            let hybrid = FrictionBodies::default().system(SlidingBy::Generated, FrictionForm::Equations, method);
            let problem = Problem::new(&hybrid, Initial::new(from, &START), TEND);
            let solution = solved(&problem, &tolerance(1e-8), &detection(Detection::Off));
            for ((switch, wanted), published) in solution.switches.iter().zip(wanted).zip(published) {
                close(switch.t, *wanted, 2e-6);
                assert!(switch.t - published > 0.019 && switch.t - published < 0.030, "{} {published}", switch.t);
            }
        }
    }
}

fn check_sliding(sliding: SlidingBy, modes: FrictionForm, method: ModeIntegrator) {
    let hybrid = FrictionBodies::default().system(sliding, modes, method);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &START), TEND);
    let solution = solved(&problem, &dense(1e-8), &limit());
    expect(&trajectory(&solution), &WITH_SLIDING, 1e-5);
    for (k, name) in ["p1", "p2", "v1", "v2"].into_iter().enumerate() {
        close(solution.end_value(name).unwrap(), END[k], 1e-5);
    }
    if sliding == SlidingBy::ByHand {
        close(solution.end_value("lambda").unwrap(), END[4], 1e-5);
    }
    // exits are those of the theory
    for (k, t) in [(1, 0.8_f64.asin()), (3, std::f64::consts::PI + 0.8_f64.asin())] {
        close(solution.switches[k].t, t, 1e-6);
    }
    // momentum in every mode and across the projections
    let (mut fastest, value) = (0.0_f64, |name: &str, t: f64| solution.value(name, t).unwrap());
    for k in 0..=1000 {
        let t = 0.01 * f64::from(k);
        close(value("v1", t) + value("v2", t), 1.0 - t.cos(), 1e-6);
        close(value("p1", t) + value("p2", t), 2.0 + t - t.sin(), 1e-6);
        fastest = fastest.max(value("v1", t) - value("v2", t));
    }
    close(fastest, FASTEST, 1e-5);
    let kinds: Vec<SwitchKind> = solution.switches.iter().map(|s| s.kind).collect();
    assert!(kinds.iter().step_by(2).all(|kind| *kind == SwitchKind::SlidingBegins), "{kinds:?}");
    println!("{sliding:?} {modes:?} {method:?}: {} steps", solution.statistics.steps);
    assert!(solution.statistics.steps < 2000);
}

#[test]
fn with_a_sliding_mode_by_hand_there_are_seven_switches() {
    for modes in [FrictionForm::Linear, FrictionForm::Equations] {
        for method in ModeIntegrator::ALL {
            check_sliding(SlidingBy::ByHand, modes, method);
        }
    }
}

#[test]
fn with_a_generated_sliding_mode_there_are_seven_switches() {
    for method in ModeIntegrator::ALL {
        check_sliding(SlidingBy::Generated, FrictionForm::Equations, method);
    }
}

#[test]
fn with_three_points_only_the_number_of_switches_depends_on_their_distance() {
    for (chatter_time, published) in [(0.01, 33), (0.02, 15)] {
        let hybrid = FrictionBodies::default().system(SlidingBy::ByHand, FrictionForm::Linear, ModeIntegrator::Bdf);
        let options = HybridOptions { chatter_time: Some(chatter_time), ..detection(Detection::ThreePoints) };
        let solution = solved(&Problem::new(&hybrid, Initial::new(0.0, &START), TEND), &tolerance(1e-8), &options);
        assert_eq!(solution.switches.len(), published, "{:?}", trajectory(&solution));
    }
}
