//! Integrators for square systems of index at most one.

#[path = "support/systems.rs"]
mod systems;

use daedal::dae::{Dae, Equations, Point};
use daedal::method::controller::Control;
use daedal::method::radau::RadauIIa;
use daedal::method::{Integrator, Stepper};
use daedal::{Options, Tolerance};
use systems::*;

fn dense<E: Equations>(equations: E, algebraic: &[usize]) -> Box<Differentiated<E>> {
    Box::new(Differentiated::new(equations, algebraic, Form::Dense))
}

fn options(rtol: f64, atol: f64, h0: Option<f64>) -> Options {
    Options { tolerance: Tolerance::new(rtol, atol), h0, max_steps: 1_000_000, ..Options::default() }
}

/// A stepper that has arrived at the end.
fn run<'p>(
    method: &dyn Integrator,
    system: Box<dyn Dae + 'p>,
    at: Point,
    tend: f64,
    options: &Options,
) -> Box<dyn Stepper + 'p> {
    let mut stepper = method.start(system, at, options).unwrap();
    while stepper.state().t < tend {
        stepper.advance(tend).unwrap();
    }
    assert_eq!(stepper.state().t, tend);
    stepper
}

fn relative(found: &[f64], exact: &[f64]) -> f64 {
    found.iter().zip(exact).map(|(f, e)| ((f - e) / e).abs()).fold(0.0, f64::max)
}

fn absolute(found: &[f64], exact: &[f64]) -> f64 {
    found.iter().zip(exact).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max)
}

#[test]
fn explore() {
    let radau = RadauIIa::default();
    for (tol, h0) in [(1e-4, 1e-6), (1e-7, 1e-9), (1e-10, 1e-12)] {
        let s = run(
            &radau,
            dense(Hires, &[]),
            point(&Hires::START, &Hires::SLOPE),
            Hires::TEND,
            &options(tol, tol, Some(h0)),
        );
        println!("hires {tol} {:?} {:e}", s.statistics(), relative(&s.state().x, &Hires::END));
    }
    for (tol, h0) in [(1e-4, 1e-6), (1e-7, 1e-9), (1e-10, 1e-12)] {
        for conserved in [false, true] {
            let s = run(
                &radau,
                dense(Robertson { conserved }, if conserved { &[2] } else { &[] }),
                point(&Robertson::START, &Robertson::SLOPE),
                1e11,
                &options(tol, 1e-4 * tol, Some(h0)),
            );
            println!("rober {conserved} {tol} {:?} {:e}", s.statistics(), relative(&s.state().x, &Robertson::END));
        }
    }
    for (tol, h0) in [(1e-5, 1e-7), (1e-7, 1e-9)] {
        let s = run(
            &radau,
            dense(Amplifier, &[]),
            point(&Amplifier::START, &Amplifier::SLOPE),
            Amplifier::TEND,
            &options(tol, tol, Some(h0)),
        );
        println!("amp {tol} {:?} {:e}", s.statistics(), relative(&s.state().x, &Amplifier::END));
    }
    for (tol, h0) in [(1e-4, 1e-6), (1e-7, 1e-9), (1e-10, 1e-12)] {
        let s = run(
            &radau,
            dense(VanDerPol, &[]),
            point(&VanDerPol::START, &VanDerPol::SLOPE),
            2.0,
            &options(tol, tol, Some(h0)),
        );
        println!("vdp {tol} {:?} {:e}", s.statistics(), relative(&s.state().x, &VanDerPol::END));
    }
}
