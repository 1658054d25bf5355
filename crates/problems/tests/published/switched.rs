//! Systems that switch: the runs of the second thesis, chapter 7.

use crate::chapter::{table, thousands};
use daedal::hybrid::{Detection, Hybrid, HybridOptions, HybridSolution, Hysteresis, Restart};
use daedal::{Initial, Options, Problem, Save, Tolerance, solve};
use daedal_problems::hybrid::belt::{self, Belt};
use daedal_problems::hybrid::boost_converter::{self, BoostConverter, ConverterForm};
use daedal_problems::hybrid::friction_bodies::{self, FrictionBodies, FrictionForm};
use daedal_problems::hybrid::{ModeIntegrator, SlidingBy};

const CHAPTER: &str = "published-switched.md";

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), max_steps: 10_000_000, ..Options::default() }
}

fn solved(problem: &Problem<Hybrid>, options: &Options, hybrid: &HybridOptions) -> HybridSolution {
    solve(problem, hybrid, options).unwrap_or_else(|error| panic!("{error}"))
}

fn without() -> HybridOptions {
    HybridOptions { detection: Detection::Off, max_switches: 1_000_000, ..HybridOptions::default() }
}

fn with() -> HybridOptions {
    HybridOptions { hysteresis: Hysteresis::Limit, ..HybridOptions::default() }
}

/// Switches 396 and 12, steps 8209 and 4737 in the source.
#[test]
#[ignore = "the published comparisons"]
fn published_friction_bodies() {
    let mut rows = Vec::new();
    for (how, sliding) in [("without sliding", without()), ("with sliding", with())] {
        for method in ModeIntegrator::ALL {
            let hybrid = FrictionBodies::default().system(SlidingBy::Generated, FrictionForm::Equations, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &friction_bodies::START), friction_bodies::TEND);
            let solution = solved(&problem, &options(1e-8), &sliding);
            let (switches, steps) = (solution.switches.len(), solution.statistics.steps);
            rows.push(vec![
                how.to_string(),
                format!("{method:?}"),
                thousands(switches as u64),
                thousands(steps),
                format!("{:.1}", steps as f64 / (switches as f64 + 1.0)),
            ]);
        }
    }
    table(CHAPTER, "friction bodies", &rows);
    // all times of the source that its closed form allows are found, to its four digits
    let hybrid = FrictionBodies::default().system(SlidingBy::Generated, FrictionForm::Equations, ModeIntegrator::Bdf);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &friction_bodies::START), friction_bodies::TEND);
    let solution = solved(&problem, &options(1e-8), &with());
    let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
    for published in [0.0038, 0.9273, 4.0689, 6.0340, 7.2105] {
        assert!(times.iter().any(|t| (t - published).abs() < 6e-5), "{published}: {times:?}");
    }
    let free = solved(&problem, &options(1e-8), &without());
    for (published, switch) in [0.0038, 0.0112, 0.0188].into_iter().zip(&free.switches) {
        assert!((switch.t - published).abs() < 6e-5, "{published}: {}", switch.t);
    }
}

/// "The error of vD is largest right after each switch point."
#[test]
#[ignore = "the published comparisons"]
fn published_boost_converter() {
    let run = |tolerance: f64| {
        let hybrid = BoostConverter::default().system(ConverterForm::Linear, ModeIntegrator::Bdf);
        let start = Initial::new(0.0, &boost_converter::GUESS).restart(Restart::LeastChange);
        let problem = Problem::new(&hybrid, start, boost_converter::TEND);
        solved(&problem, &Options { save: Save::Dense, ..options(tolerance) }, &HybridOptions::default())
    };
    let (coarse, fine) = (run(1e-8), run(1e-12));
    let mut rows = Vec::new();
    let mut earlier = 0;
    let times: Vec<f64> = coarse.switches.iter().map(|s| s.t).collect();
    for (k, window) in times.windows(2).enumerate() {
        let (from, to) = (window[0], window[1]);
        let error = |part: f64| {
            let t = from + part * (to - from);
            (coarse.value("vD", t).expect("a value") - fine.value("vD", t).expect("a value")).abs()
        };
        let largest = |parts: std::ops::Range<u32>| parts.map(|j| error(f64::from(j) / 200.0)).fold(0.0, f64::max);
        // the first and the last quarter of a phase; what is exact says nothing
        let (begin, end) = (largest(1..50), largest(150..199));
        if begin > 1e-13 {
            earlier += u32::from(begin > end);
            rows.push(vec![
                format!("{from:.4}"),
                format!("{}", coarse.switches[k].to + 1),
                format!("{begin:.0e}"),
                format!("{end:.0e}"),
            ]);
        }
    }
    table(CHAPTER, "boost converter error", &rows);
    assert_eq!(coarse.switches.len(), 13);
    assert!(rows.len() >= 4 && earlier as usize == rows.len(), "{earlier} of {} phases", rows.len());
}

/// Switches 247,709 and 9, steps 272,864 and 9,276 in the source.
#[test]
#[ignore = "the published comparisons"]
fn published_belt() {
    let mut rows = Vec::new();
    let hmax = Some(belt::HMAX);
    for method in ModeIntegrator::ALL {
        let hybrid = Belt::default().system(SlidingBy::Generated, method);
        let problem = Problem::new(&hybrid, Initial::new(0.0, &belt::START), belt::TEND);
        let solution = solved(&problem, &Options { hmax, ..options(1e-8) }, &with());
        rows.push(vec![
            format!("{method:?}"),
            thousands(solution.switches.len() as u64),
            thousands(solution.statistics.steps),
        ]);
    }
    table(CHAPTER, "mass on a belt", &rows);
}
