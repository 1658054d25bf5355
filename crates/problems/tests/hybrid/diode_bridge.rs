//! The rectifier against its closed form.

use super::support::*;
use daedal::dae::{Depth, System, characterise};
use daedal::hybrid::HybridOptions;
use daedal::{Initial, Problem};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::diode_bridge::*;

#[test]
fn the_index_is_two_while_diodes_conduct() {
    for (conducting, wanted) in
        [(Conducting::Positive, (1, 0, 2)), (Conducting::Negative, (1, 0, 2)), (Conducting::None, (0, 1, 1))]
    {
        let system = System::of(&Bridge { of: DiodeBridge::default(), conducting });
        let found = characterise(&system, &Initial::new(0.001, &[1.0, 0.1]), Depth::default()).unwrap().values;
        assert_eq!((found.mu, found.d, found.a), wanted, "{conducting:?}");
    }
}

#[test]
fn diodes_switch_when_the_closed_form_says() {
    let bridge = DiodeBridge::default();
    for method in ModeIntegrator::ALL {
        let hybrid = bridge.system(method);
        let tend = 0.1;
        let solution = solved(
            &Problem::new(&hybrid, Initial::new(0.0, &[0.0, 0.0]), tend),
            &dense(1e-8),
            &HybridOptions::default(),
        );
        // positive → blocking → negative → blocking → …
        let cycle = [(1, 3), (3, 2), (2, 3), (3, 1)];
        let wanted: Vec<_> = bridge
            .switches(20)
            .into_iter()
            .filter(|&t| t < tend)
            .enumerate()
            .map(|(k, t)| (t, cycle[k % 4].0, cycle[k % 4].1))
            .collect();
        assert_eq!(wanted.len(), 19);
        expect(&trajectory(&solution), &wanted, 1e-7);
        // the voltage follows the source while diodes conduct
        for phase in solution.phases.iter().filter(|p| p.mode < 2) {
            for (k, &t) in phase.times.iter().enumerate() {
                close(phase.state(k)[0], bridge.source(t).abs(), 1e-9);
            }
        }
        // and never falls below it
        let shortfall = |t: f64| bridge.source(t).abs() - solution.value("v", t).unwrap();
        let grid = (0..1000).map(|k| 1e-4 * f64::from(k)).map(|t| (shortfall(t), t));
        let (worst, t) = grid.fold((0.0, 0.0), |worst, here| if here.0 > worst.0 { here } else { worst });
        let mode = solution.phases.iter().rev().find(|p| p.t0 <= t).unwrap().mode;
        println!("{method:?}: {worst:.1e} below the source at {t}, mode {mode}, {} steps", solution.statistics.steps);
        assert!(worst < 2e-6, "{method:?}: {worst:e}");
    }
}
