//! Strangeness index and characteristic values of every file at its own initial values.

use super::files::{read, system};
use daedal::dae::{AnalysisError, CharacteristicValues, Depth, System, characterise};
use daedal::graph::Interpreted;

fn found(name: &str, changes: &[(&str, f64)], confirm: bool) -> Result<CharacteristicValues, AnalysisError> {
    let model = read(name, changes);
    let (formulas, initial) = system(&model);
    let depth = Depth { confirm, ..Depth::default() };
    characterise(&System::new(formulas, Interpreted), initial, depth).map(|characteristics| characteristics.values)
}

/// A file with changed parameters, and μ, d, a, v, u.
type Expected<'e> = (&'e str, &'e [(&'e str, f64)], [usize; 5]);

/// The values are found, and confirmed one level further; all failures are told together.
fn assert_values(list: &[Expected]) {
    let mut wrong = Vec::new();
    for &(name, changes, [mu, d, a, v, u]) in list {
        let wanted = CharacteristicValues { mu, d, a, v, u };
        for confirm in [false, true] {
            let message = match found(name, changes, confirm) {
                Ok(values) if values == wanted => continue,
                Ok(values) => format!("{values} instead of {wanted}"),
                Err(error) => error.to_string(),
            };
            wrong.push(format!("{name} {changes:?}, confirmed: {confirm}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{} failures\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_test_set_has_the_known_indices() {
    assert_values(&[
        ("transistor-amplifier", &[], [0, 5, 3, 0, 0]),
        ("ring-modulator", &[], [0, 15, 0, 0, 0]),
        ("ring-modulator-index-2", &[], [1, 10, 5, 0, 0]),
        ("hires", &[], [0, 8, 0, 0, 0]),
        ("robertson", &[], [0, 3, 0, 0, 0]),
        ("oregonator", &[], [0, 3, 0, 0, 0]),
        ("pollution", &[], [0, 20, 0, 0, 0]),
        ("pleiades", &[], [0, 28, 0, 0, 0]),
        ("andrews-dae", &[], [2, 2, 18, 0, 0]),
        ("car-axis-dae", &[], [2, 4, 6, 0, 0]),
        ("medical-akzo-nobel", &[("N", 20.0)], [0, 40, 0, 0, 0]),
    ]);
}

#[test]
fn formulations_of_the_pendulum_have_the_known_indices() {
    assert_values(&[
        ("pendulum-dae", &[], [2, 2, 3, 0, 0]),
        ("pendulum-second-order", &[], [2, 2, 3, 0, 0]),
        ("pendulum-velocity", &[], [1, 3, 2, 0, 0]),
        ("pendulum-acceleration", &[], [0, 4, 1, 0, 0]),
        ("pendulum-ggl", &[], [1, 2, 4, 0, 0]),
        ("pendulum-overdetermined", &[], [1, 2, 3, 2, 0]),
        ("pendulum-energy", &[], [2, 1, 4, 1, 0]),
        ("pendulum-twice", &[], [2, 2, 3, 1, 1]),
        ("pendulum-horizontal", &[], [2, 2, 3, 0, 0]),
    ]);
}

#[test]
fn examples_have_the_characteristic_values_of_their_sources() {
    assert_values(&[
        ("varying-rank", &[], [1, 1, 2, 0, 0]),
        ("singular-pencil", &[], [1, 0, 2, 0, 0]),
        ("regular-pencil", &[], [1, 0, 1, 1, 1]),
        ("implicit-circle", &[], [0, 1, 1, 0, 0]),
        ("semi-explicit", &[], [1, 1, 2, 0, 0]),
        ("prescribed-output", &[], [1, 0, 2, 0, 0]),
        ("singular-point", &[], [0, 1, 0, 0, 0]),
        ("overdetermined", &[], [1, 0, 1, 1, 0]),
        ("redundant-underdetermined", &[], [2, 0, 2, 1, 1]),
        ("hessenberg-3", &[], [2, 2, 3, 0, 0]),
        ("crossing-lines", &[], [1, 0, 1, 1, 1]),
        ("stirred-tank", &[], [1, 2, 6, 0, 0]),
        ("steering-wheel", &[], [1, 1, 2, 0, 0]),
        ("nilpotent", &[], [2, 0, 3, 0, 0]),
        ("perturbation-index", &[], [0, 1, 2, 0, 0]),
        // T2.3 with all first derivatives as unknowns
        ("second-order-linear", &[], [3, 2, 4, 0, 0]),
        // T2.5 with x1' and x2' as unknowns: 2, not 3, because x1'' need not be known
        ("second-order-mixed", &[], [2, 3, 3, 0, 0]),
        ("second-order-varying-rank", &[], [1, 2, 2, 0, 0]),
        ("gyroscopic-chain", &[], [2, 4, 3, 0, 0]),
        ("prescribed-jerk", &[], [3, 3, 4, 0, 0]),
        ("inconsistent-start", &[], [1, 0, 2, 0, 0]),
        ("saddle-point", &[], [1, 2, 2, 0, 0]),
        ("kronecker-blocks", &[], [1, 1, 1, 1, 1]),
    ]);
}

#[test]
fn a_multiple_root_looks_redundant_to_first_order() {
    assert_values(&[("multiple-root", &[], [0, 0, 0, 1, 1]), ("multiple-root", &[("q", 1.0)], [0, 0, 1, 0, 0])]);
}

#[test]
fn every_mass_of_the_chain_costs_two_differentiations() {
    for n in 1..=4 {
        assert_values(&[("spring-chain-inverse", &[("N", n as f64)], [2 * n, 0, 2 * n + 1, 0, 0])]);
    }
}
