//! 15.3: a mass on a belt; a quarter of a million switches without sliding, eight with it.

use super::support::*;
use daedal::dae::{Depth, System, characterise};
use daedal::hybrid::{Detection, HybridOptions, SwitchKind};
use daedal::{Initial, Options, Problem};
use daedal_problems::hybrid::belt::*;
use daedal_problems::hybrid::{ModeIntegrator, SlidingBy};

fn options() -> Options {
    Options { hmax: Some(HMAX), ..dense(1e-8) }
}

#[test]
fn characteristic_values_are_those_of_the_table() {
    for (sign, wanted) in [(Some(1.0), (0, 2, 0, 0, 0)), (Some(-1.0), (0, 2, 0, 0, 0)), (None, (1, 1, 2, 0, 0))] {
        let system = System::of(&BeltMode { of: Belt::default(), sign });
        let guess = vec![0.1; if sign.is_some() { 2 } else { 3 }];
        let found = characterise(&system, &Initial::new(0.0, &guess), Depth::default()).unwrap().values;
        assert_eq!((found.mu, found.d, found.a, found.v, found.u), wanted);
    }
}

fn check_sliding(sliding: SlidingBy, method: ModeIntegrator) {
    let hybrid = Belt::default().system(sliding, method);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &START), TEND);
    let solution = solved(&problem, &options(), &limit());
    expect(&trajectory(&solution), &WITH_SLIDING, 1e-5);
    assert_eq!(solution.switches[0].kind, SwitchKind::Immediate);
    assert!(solution.switches.len() < 12);
    // every slip begins at the same state, so all last the same time; likewise what sticks in between
    let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
    let slips = [times[3] - times[2], times[5] - times[4], times[7] - times[6]];
    let sticks = [times[4] - times[3], times[6] - times[5]];
    println!("{sliding:?} {method:?}: slips {slips:?}, sticks {sticks:?}, {} steps", solution.statistics.steps);
    for slip in slips {
        close(slip, slips[0], 1e-6);
        close(slip, SLIP, 2e-6);
    }
    for stick in sticks {
        close(stick, STICK, 2e-6);
    }
    close(times[5] - times[3], 5.146590, 2e-6);
    // sliding is used in all phases of sticking
    let sticking: Vec<usize> = (0..8).filter(|&k| solution.switches[k].kind == SwitchKind::SlidingBegins).collect();
    assert_eq!(sticking, [1, 3, 5, 7]);
    for (name, value) in ["x", "v"].into_iter().zip(END) {
        close(solution.end_value(name).unwrap(), value, 1e-5);
    }
    if sliding == SlidingBy::ByHand {
        close(solution.end_value("lambda").unwrap(), END[2], 1e-5);
    }
    close(after(&solution, 3, "x"), -0.167995, 1e-5);
    close(before(&solution, 4, "x"), 1.0 / 3.0, 1e-6);
    let grid = || (0..=30000).map(|k| 5e-4 * f64::from(k));
    let (x, v) = (|t| solution.value("x", t).unwrap(), |t| solution.value("v", t).unwrap());
    close(grid().map(x).fold(f64::INFINITY, f64::min), -0.182652, 1e-5);
    close(grid().map(x).fold(f64::NEG_INFINITY, f64::max), 0.422831, 1e-5);
    close(grid().map(v).fold(f64::INFINITY, f64::min), -0.522259, 1e-5);
    assert!(solution.statistics.steps < 2000, "{} steps", solution.statistics.steps);
}

#[test]
fn with_a_sliding_mode_by_hand_the_mass_sticks() {
    for method in ModeIntegrator::ALL {
        check_sliding(SlidingBy::ByHand, method);
    }
}

#[test]
fn with_a_generated_sliding_mode_the_mass_sticks() {
    for method in ModeIntegrator::ALL {
        check_sliding(SlidingBy::Generated, method);
    }
}

/// The source prints v(0) = 1; its immediate switch, its first time and its number of switches belong to v(0) = 0.
#[test]
fn with_the_printed_velocity_the_first_switch_comes_later() {
    let hybrid = Belt::default().system(SlidingBy::Generated, ModeIntegrator::Bdf);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.0, 1.0]), 1.0);
    let solution = solved(&problem, &options(), &detection(Detection::Off));
    close(solution.switches[0].t, 0.6417, 6e-5);
}

#[test]
fn with_three_points_every_begin_of_sticking_costs_two_switches_more() {
    let hybrid = Belt::default().system(SlidingBy::ByHand, ModeIntegrator::Bdf);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &START), TEND);
    let three_points = HybridOptions { chatter_time: Some(1e-3), ..detection(Detection::ThreePoints) };
    let solution = solved(&problem, &options(), &three_points);
    assert_eq!(solution.switches.len(), 16, "{:?}", trajectory(&solution));
}

/// Switches that the rate predicts between the first one and tend < 1.8.
fn predicted(belt: &Belt, first: f64, x: f64, tend: f64) -> f64 {
    let n = 1000;
    let h = (tend - first) / f64::from(n);
    (0..n).map(|k| h * belt.chattering_rate(x + belt.speed * h * (f64::from(k) + 0.5))).sum()
}

#[test]
fn without_sliding_the_mass_chatters_at_the_rate_of_the_theory() {
    for (epsilon, methods) in [(1e-4, &ModeIntegrator::ALL[..]), (1e-5, &[ModeIntegrator::Radau])] {
        for &method in methods {
            let belt = Belt { epsilon, ..Belt::default() };
            let hybrid = belt.system(SlidingBy::Generated, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &START), 1.0);
            let options = Options { hmax: Some(HMAX), max_steps: 1_000_000, ..tolerance(1e-8) };
            let solution = solved(&problem, &options, &detection(Detection::Off));
            let (first, x) = (solution.switches[1].t, solution.switches[1].after[0]);
            let (count, wanted) = (solution.switches.len() as f64 - 1.0, predicted(&belt, first, x, 1.0));
            println!(
                "{method:?}, {epsilon:e}: {count} switches, {wanted:.0} predicted, {} steps",
                solution.statistics.steps
            );
            assert!(
                (count / wanted - 1.0).abs() < 2e-3,
                "{method:?}, {epsilon:e}: {count} switches, {wanted} predicted"
            );
        }
    }
}

#[test]
#[ignore = "a quarter of a million switches"]
fn without_sliding_the_mass_chatters_a_quarter_of_a_million_times() {
    let hybrid = Belt::default().system(SlidingBy::Generated, ModeIntegrator::Radau);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &START), TEND);
    let options = Options { hmax: Some(HMAX), max_steps: 10_000_000, ..tolerance(1e-8) };
    let hybrid_options = HybridOptions { max_switches: 1_000_000, ..detection(Detection::Off) };
    let solution = solved(&problem, &options, &hybrid_options);
    let count = solution.switches.len() as f64;
    println!("{count} switches, {} steps", solution.statistics.steps);
    for known in WITHOUT_SLIDING {
        assert!((count / known - 1.0).abs() < 2e-3, "{count} switches");
    }
}
