//! The relay against its closed form.

use super::support::*;
use daedal::hybrid::HybridOptions;
use daedal::{Initial, Problem};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::relay::Relay;

#[test]
fn a_relay_switches_when_the_closed_form_says() {
    for method in ModeIntegrator::ALL {
        for relay in [Relay::default(), Relay { tau: 0.1, low: 0.6, high: 0.61 }] {
            let hybrid = relay.system(method);
            let exact = relay.switches(40);
            let tend = exact[30] + 0.5 * (exact[31] - exact[30]);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &[relay.low]), tend);
            let solution = solved(&problem, &tolerance(1e-10), &HybridOptions::default());
            let wanted: Vec<_> = (0..31).map(|k| (exact[k], 1 + k % 2, 2 - k % 2)).collect();
            expect(&trajectory(&solution), &wanted, 1e-7);
        }
    }
}
