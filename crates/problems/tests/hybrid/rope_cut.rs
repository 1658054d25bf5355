//! M5: a rope that is cut, with every solver.

use super::support::*;
use daedal::dae::Form;
use daedal::hybrid::{HybridOptions, HybridSolution, Smoothness};
use daedal::{Initial, Problem};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::rope_cut::*;

fn run(rope: RopeSolver, flight: RopeSolver) -> HybridSolution {
    let of = RopeCut::default();
    let hybrid = of.system(rope, flight);
    let problem = Problem::new(&hybrid, Initial { states: of.start(rope), ..Initial::default() }, TEND);
    solved(&problem, &tolerance(1e-10), &HybridOptions::default())
}

fn check(rope: RopeSolver, flight: RopeSolver) {
    let solution = run(rope, flight);
    println!("{rope:?}, {flight:?}: cut {:.10}; {}", solution.switches[0].t, solution.statistics);
    expect(&trajectory(&solution), &[(CUT, 1, 2)], 1e-8);
    for (name, value) in NAMES.into_iter().zip(AT_CUT) {
        close(before(&solution, 0, name), value, 2e-8);
    }
    // x, y, vx, vy go on as they are
    for name in &NAMES[..4] {
        close(after(&solution, 0, name), before(&solution, 0, name), 1e-14);
    }
    assert_eq!(solution.switches[0].smoothness, Smoothness::Smooth);
    for (name, value) in ["x", "y", "vy"].into_iter().zip(END) {
        close(solution.end_value(name).unwrap(), value, 2e-8);
    }
    assert_eq!(solution.end_value("lambda.rope"), None);
}

#[test]
fn geoms_drives_both_modes() {
    check(RopeSolver::Geoms, RopeSolver::Geoms);
}

#[test]
fn radau_and_bdf_drive_both_modes_in_every_form() {
    for method in ModeIntegrator::ALL {
        for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
            check(RopeSolver::General(form, method), RopeSolver::General(Form::Auto, method));
        }
        check(RopeSolver::General(Form::DerivativeArray, method), RopeSolver::General(Form::DerivativeArray, method));
        check(RopeSolver::General(Form::Auto, method), RopeSolver::General(Form::Plain, method));
    }
}

#[test]
fn gelda_drives_the_flight() {
    for method in ModeIntegrator::ALL {
        check(RopeSolver::Gelda(method), RopeSolver::Gelda(method));
    }
}

#[test]
fn modes_may_have_different_solvers() {
    let (radau, bdf) = (ModeIntegrator::Radau, ModeIntegrator::Bdf);
    let genda = RopeSolver::General(Form::DerivativeArray, bdf);
    check(RopeSolver::Geoms, RopeSolver::General(Form::Auto, bdf));
    check(RopeSolver::Geoms, RopeSolver::Gelda(radau));
    check(genda, RopeSolver::Geoms);
    check(genda, RopeSolver::Gelda(bdf));
    check(RopeSolver::General(Form::Auto, radau), genda);
    check(RopeSolver::General(Form::QuasiLinear, bdf), RopeSolver::Geoms);
}
