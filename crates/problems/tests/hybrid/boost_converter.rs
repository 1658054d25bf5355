//! 15.1: 13 switches, the diode at 0.182225.

use super::support::*;
use daedal::dae::{Depth, System, characterise};
use daedal::hybrid::{Detection, HybridOptions, Restart, Smoothness, SwitchKind};
use daedal::linear::{RankOptions, strangeness_free};
use daedal::{Initial, Problem};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::boost_converter::*;

#[test]
fn characteristic_values_are_those_of_the_corrected_table() {
    let converter = BoostConverter::default();
    for (mode, wanted) in [(1, (0, 2, 5, 0, 0)), (2, (0, 2, 5, 0, 0)), (3, (1, 1, 6, 0, 0)), (4, (1, 1, 6, 0, 0))] {
        let linear = strangeness_free(&mut converter.linear(mode), 0.0, &RankOptions::default()).unwrap().values;
        assert_eq!((linear.mu, linear.d, linear.a, linear.v, linear.u), wanted, "mode {mode}");
        let system = System::of(&Circuit { of: converter, mode });
        let general = characterise(&system, &Initial::new(0.0, &GUESS), Depth::default()).unwrap().values;
        assert_eq!((general.mu, general.d, general.a, general.v, general.u), wanted, "mode {mode}");
    }
}

#[test]
fn the_published_run_has_thirteen_switches_at_the_right_times() {
    for modes in [ConverterForm::Linear, ConverterForm::Equations] {
        for method in ModeIntegrator::ALL {
            let hybrid = BoostConverter::default().system(modes, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &GUESS).restart(Restart::LeastChange), TEND);
            let solution = solved(&problem, &dense(1e-8), &HybridOptions::default());
            let mut from = 1;
            let wanted: Vec<_> =
                TIMES.into_iter().zip(MODES).map(|(t, to)| (t, std::mem::replace(&mut from, to), to)).collect();
            expect(&trajectory(&solution), &wanted, 1e-6);
            // the start, exactly
            for (name, value) in NAMES.into_iter().zip(NEAREST) {
                let j = solution.modes[0].unknowns.iter().position(|n| n == name).unwrap();
                close(solution.phases[0].state(0)[j], value, 1e-12);
            }
            // at t = 0.1 the voltage jumps, the current does not
            close(before(&solution, 0, "vC"), 10.181552, 2e-6);
            close(before(&solution, 0, "iL"), 3.958951, 2e-6);
            close(after(&solution, 0, "vC"), 0.0, 1e-12);
            close(after(&solution, 0, "iL"), before(&solution, 0, "iL"), 1e-12);
            close(after(&solution, 1, "iL"), 1.078951, 2e-6);
            close(before(&solution, 2, "vC"), 0.593621, 2e-6);
            close(before(&solution, 3, "vC"), 0.012152, 2e-6);
            // whenever the switch opens, the current of 0.06 · 48 is cut off
            for k in [4, 6, 8, 10, 12] {
                close(before(&solution, k, "iL"), -2.88, 1e-6);
                close(after(&solution, k, "iL"), 0.0, 1e-12);
                close(after(&solution, k, "vS"), 48.0, 1e-9);
                assert_eq!(solution.switches[k].smoothness, Smoothness::Restart);
                assert_eq!(solution.switches[k].kind, SwitchKind::Scheduled);
            }
            assert_eq!(solution.switches[2].kind, SwitchKind::Regular);
            println!("{modes:?} {method:?}: diode {:.9}, {}", solution.switches[2].t, solution.statistics);
        }
    }
}

#[test]
fn with_voltage_and_current_kept_the_diode_blocks_earlier() {
    for modes in [ConverterForm::Linear, ConverterForm::Equations] {
        for method in ModeIntegrator::ALL {
            let hybrid = BoostConverter::default().system(modes, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &GUESS).restart(Restart::Differential), TEND);
            let solution = solved(&problem, &dense(1e-8), &detection(Detection::Off));
            assert_eq!(solution.switches.len(), 13);
            close(solution.switches[2].t, DIODE_FROM_KEPT, 1e-6);
            close(solution.value("vC", 0.0).unwrap(), 10.0, 1e-9);
            close(solution.value("iL", 0.0).unwrap(), 10.0, 1e-9);
        }
    }
}

#[test]
fn with_the_source_reversed_the_voltage_is_boosted() {
    for modes in [ConverterForm::Linear, ConverterForm::Equations] {
        for method in ModeIntegrator::ALL {
            let hybrid = BoostConverter { voltage: -48.0, ..BoostConverter::default() }.system(modes, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &GUESS).restart(Restart::LeastChange), TEND);
            let solution = solved(&problem, &tolerance(1e-8), &HybridOptions::default());
            assert_eq!(solution.switches.len(), 12, "{:?}", trajectory(&solution));
            assert!(solution.switches.iter().all(|s| s.kind == SwitchKind::Scheduled));
            close(solution.end_value("vC").unwrap(), 59.75, 5e-3);
        }
    }
}
