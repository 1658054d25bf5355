//! Numbers of equations and unknowns, and the highest derivatives.

use super::files::{folder, read, system};
use daedal_model::ModelKind;
use std::collections::BTreeSet;
use std::fs;

/// Name, number of equations, and for each run of states with the same highest derivative: that derivative and their number.
type Size = (&'static str, usize, &'static [(u32, usize)]);

const SIZES: [Size; 61] = [
    // test set for initial value problems
    ("transistor-amplifier", 8, &[(1, 8)]),
    ("ring-modulator", 15, &[(1, 15)]),
    ("ring-modulator-index-2", 15, &[(1, 2), (0, 4), (1, 9)]),
    ("hires", 8, &[(1, 8)]),
    ("robertson", 3, &[(1, 3)]),
    ("oregonator", 3, &[(1, 3)]),
    ("pollution", 20, &[(1, 20)]),
    ("pleiades", 14, &[(2, 14)]),
    ("medical-akzo-nobel", 400, &[(1, 400)]),
    ("andrews-dae", 20, &[(1, 14), (0, 6)]),
    ("car-axis-dae", 10, &[(1, 8), (0, 2)]),
    ("water-tube", 49, &[(1, 18), (0, 18), (1, 2), (0, 11)]),
    ("nand-gate", 14, &[(1, 14)]),
    (
        "two-bit-adder",
        350,
        &[
            (1, 17),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 30),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 21),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 4),
            (0, 1),
            (1, 13),
            (0, 1),
            (1, 21),
            (0, 1),
            (1, 8),
            (0, 1),
            (1, 4),
            (0, 1),
            (1, 4),
            (0, 175),
        ],
    ),
    ("e5", 4, &[(1, 4)]),
    ("beam", 120, &[(1, 80), (0, 40)]),
    ("emep", 66, &[(1, 66)]),
    // formulations of the pendulum
    ("pendulum-dae", 5, &[(1, 4), (0, 1)]),
    ("pendulum-second-order", 3, &[(2, 2), (0, 1)]),
    ("pendulum-velocity", 5, &[(1, 4), (0, 1)]),
    ("pendulum-acceleration", 5, &[(1, 4), (0, 1)]),
    ("pendulum-ggl", 6, &[(1, 4), (0, 2)]),
    ("pendulum-overdetermined", 7, &[(1, 4), (0, 1)]),
    ("pendulum-energy", 6, &[(1, 4), (0, 1)]),
    ("pendulum-twice", 6, &[(1, 4), (0, 2)]),
    ("pendulum-horizontal", 5, &[(1, 4), (0, 1)]),
    // examples
    ("multiple-root", 1, &[(0, 1)]),
    ("varying-rank", 3, &[(1, 1), (0, 1), (1, 1)]),
    ("singular-pencil", 2, &[(1, 2)]),
    ("regular-pencil", 2, &[(1, 2)]),
    ("implicit-circle", 2, &[(1, 2)]),
    ("semi-explicit", 3, &[(1, 2), (0, 1)]),
    ("prescribed-output", 2, &[(1, 1), (0, 1)]),
    ("singular-point", 1, &[(1, 1)]),
    ("overdetermined", 2, &[(1, 1)]),
    ("redundant-underdetermined", 3, &[(1, 2), (0, 1)]),
    ("hessenberg-3", 5, &[(1, 4), (0, 1)]),
    ("crossing-lines", 2, &[(1, 2)]),
    ("stirred-tank", 8, &[(1, 4), (0, 4)]),
    ("steering-wheel", 3, &[(1, 2), (0, 1)]),
    ("nilpotent", 3, &[(0, 1), (1, 2)]),
    ("perturbation-index", 3, &[(1, 3)]),
    ("second-order-linear", 3, &[(2, 3)]),
    ("second-order-mixed", 4, &[(2, 2), (1, 2)]),
    ("second-order-varying-rank", 3, &[(2, 1), (0, 1), (1, 1)]),
    ("gyroscopic-chain", 4, &[(2, 3), (0, 1)]),
    ("prescribed-jerk", 3, &[(3, 1), (0, 1), (3, 1)]),
    ("inconsistent-start", 2, &[(0, 1), (1, 1)]),
    ("saddle-point", 4, &[(1, 3), (0, 1)]),
    ("kronecker-blocks", 3, &[(1, 2), (0, 1)]),
    ("spring-chain-inverse", 7, &[(1, 6), (0, 1)]),
    // practice
    ("three-joint-arm", 9, &[(1, 6), (0, 3)]),
    ("crane", 11, &[(1, 8), (0, 3)]),
    ("quadrotor", 8, &[(1, 6), (0, 2)]),
    ("sallen-key", 6, &[(0, 1), (1, 3), (0, 2)]),
    ("tank-temperature", 3, &[(1, 2), (0, 1)]),
    ("enzyme-kinetics", 4, &[(1, 2), (0, 2)]),
    ("hydraulic-cylinder", 6, &[(1, 4), (0, 2)]),
    ("heat-equation", 51, &[(0, 1), (1, 49), (0, 1)]),
    ("varactor-delta", 3, &[(1, 3)]),
    ("valve-servo", 2, &[(1, 1), (0, 1)]),
];

#[test]
fn every_general_system_has_the_size_of_its_source() {
    for (name, equations, orders) in SIZES {
        let model = read(name, &[]);
        let (formulas, initial) = system(&model);
        let orders: Vec<u32> = orders.iter().flat_map(|&(order, count)| vec![order; count]).collect();
        assert_eq!(formulas.equations.len(), equations, "{name}");
        assert_eq!(formulas.orders, orders, "{name}");
        assert_eq!(formulas.states.len(), orders.len(), "{name}");
        assert_eq!(initial.states.len(), orders.len(), "{name}");
        assert!(model.time.is_some() && model.description.is_some() && model.source.is_some(), "{name}");
    }
}

#[test]
fn every_general_system_in_the_folder_has_its_size_here() {
    let known: BTreeSet<String> = SIZES.iter().map(|(name, ..)| (*name).to_string()).collect();
    let names = fs::read_dir(folder()).expect("the models").filter_map(|entry| {
        let path = entry.expect("a file").path();
        path.file_stem()?.to_str().map(ToString::to_string)
    });
    let found: BTreeSet<String> = names.filter(|name| matches!(read(name, &[]).kind, ModelKind::Dae { .. })).collect();
    assert_eq!(found, known);
}

#[test]
fn large_systems_grow_with_their_number() {
    for n in [1, 10, 200] {
        let model = read("medical-akzo-nobel", &[("N", n as f64)]);
        assert_eq!(system(&model).0.states.len(), 2 * n);
        assert_eq!(system(&model).0.equations.len(), 2 * n);
    }
    for n in 1..=5 {
        let model = read("spring-chain-inverse", &[("N", n as f64)]);
        assert_eq!(system(&model).0.equations.len(), 2 * n + 1);
        assert_eq!(system(&model).0.states.len(), 2 * n + 1);
    }
}
