//! Counters of Radau IIa against those published for RADAU5 and RADAU, on index-3 and index-2 forms of mechanisms.
//!
//! Lioen & de Swart (1999), Test Set for Initial Value Problem Solvers, release 2.1, tables 5.2, 13.2 and 16.3; rtol = atol. The published forms
//! of Andrews' mechanism and of the slider crank have the accelerations as unknowns that count, the car axis does not. The Jacobian of Andrews'
//! mechanism that was used neglects the derivatives of M, f and Gᵀλ with respect to positions and velocities, Hairer & Wanner, VII.7; the others are
//! difference quotients. That is seen in the counters: with the exact Jacobian of the car axis the first iterations converge to rounding, the
//! next ones are trusted too much, and five steps more are needed at 1e-4.

use daedal::dae::{Dae, Pencil, Point};
use daedal::formulation::Formulation;
use daedal::linalg::Matrix;
use daedal::method::Stages;
use daedal::method::{Integrator, State};
use daedal::motion::{Form, Layout, Mechanism, Undefined};
use daedal::{Options, RadauIIa, Residuals, Statistics, StepFailure, Tolerance};
use daedal_problems::{andrews, car_axis, flexible_slider_crank};

/// A formulation as it was published.
struct Published<'p> {
    form: Box<dyn Dae + 'p>,
    layout: Layout,
    accelerations_count: bool,
    jacobian: Jacobian,
}

#[derive(Clone, Copy, PartialEq)]
enum Jacobian {
    /// Without derivatives of the dynamics with respect to p and v.
    Simplified,
    /// One-sided difference quotients with the increments of RADAU5.
    Differences,
}

/// A = −∂F/∂x by one-sided difference quotients with the increments of RADAU5.
pub fn differences(system: &mut dyn Dae, t: f64, x: &[f64], xdot: &[f64], A: &mut Matrix) -> Result<(), StepFailure> {
    let n = x.len();
    let undefined = |_| StepFailure::Undefined { t };
    let (mut here, mut there, mut beside) = (vec![0.0; n], vec![0.0; n], x.to_vec());
    system.residual(0, t, x, xdot, &mut here).map_err(undefined)?;
    for j in 0..n {
        let delta = (1e-16 * x[j].abs().max(1e-5)).sqrt();
        beside[j] = x[j] + delta;
        system.residual(0, t, &beside, xdot, &mut there).map_err(undefined)?;
        (0..n).for_each(|i| A[(i, j)] = (here[i] - there[i]) / delta);
        beside[j] = x[j];
    }
    Ok(())
}

impl Dae for Published<'_> {
    fn dim(&self) -> usize {
        self.form.dim()
    }
    fn new_pencil(&self) -> Pencil {
        self.form.new_pencil()
    }
    fn algebraic(&self, row: usize) -> bool {
        self.form.algebraic(row)
    }
    fn quasilinear(&self) -> bool {
        self.form.quasilinear()
    }
    fn residual(&mut self, stage: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.form.residual(stage, t, x, xdot, r)
    }
    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.form.pencil(t, x, xdot, out)?;
        let [_, A] = out.dense_mut();
        match self.jacobian {
            Jacobian::Simplified => {
                for row in self.layout.row_dynamics() {
                    self.layout.v().chain(self.layout.p()).for_each(|column| A[(row, column)] = 0.0);
                }
            }
            Jacobian::Differences => differences(&mut *self.form, t, x, xdot, A)?,
        }
        Ok(())
    }
    fn accepted(&mut self, stage: usize, t: f64, x: &mut [f64], xdot: &[f64]) -> Result<(), StepFailure> {
        self.form.accepted(stage, t, x, xdot)
    }
    fn residuals(&self) -> Residuals {
        self.form.residuals()
    }
    fn in_error_norm(&self, unknown: usize) -> bool {
        self.accelerations_count || self.form.in_error_norm(unknown)
    }
    fn index(&self, unknown: usize) -> u8 {
        self.form.index(unknown)
    }
}

/// A problem with its published initial values.
struct Start<'p> {
    mechanism: &'p dyn Mechanism,
    formulation: Formulation,
    p: &'p [f64],
    v: &'p [f64],
    a: &'p [f64],
    lambda: &'p [f64],
    tend: f64,
    accelerations_count: bool,
    jacobian: Jacobian,
}

impl Start<'_> {
    fn run(&self, stages: Stages, tolerance: f64, h0: f64) -> Statistics {
        let layout = Layout::new(self.mechanism.sizes(), Form::StrangenessFree, false);
        let (mut x, mut xdot) = (vec![0.0; layout.dim()], vec![0.0; layout.dim()]);
        x[layout.p()].copy_from_slice(self.p);
        x[layout.v()].copy_from_slice(self.v);
        x[layout.a()].copy_from_slice(self.a);
        x[layout.lambda()].copy_from_slice(self.lambda);
        xdot[layout.p()].copy_from_slice(self.v);
        xdot[layout.v()].copy_from_slice(self.a);
        let form = self.formulation.system(self.mechanism, &State { t: 0.0, x: x.clone() }).unwrap();
        let (accelerations_count, jacobian) = (self.accelerations_count, self.jacobian);
        let dae = Box::new(Published { form, layout, accelerations_count, jacobian });
        let method = RadauIIa { stages, ..RadauIIa::reproduction() };
        let options = Options {
            tolerance: Tolerance::new(tolerance, tolerance),
            h0: Some(h0),
            hmax: Some(self.tend),
            ..Options::default()
        };
        let mut stepper = method.start(dae, Point { t: 0.0, x, xdot }, &options).unwrap();
        while stepper.state().t < self.tend {
            if let Err(failure) = stepper.advance(self.tend) {
                println!("{failure}");
                break;
            }
        }
        stepper.statistics()
    }

    /// Attempts, accepted steps, evaluations, Jacobians and decompositions.
    fn compare(&self, name: &str, stages: Stages, tolerance: f64, h0: f64, published: [u64; 5]) -> f64 {
        let s = self.run(stages, tolerance, h0);
        let found = [s.attempts, s.steps, s.residuals, s.jacobians, s.decompositions];
        println!("{name} {stages:?} {tolerance:e}: {found:?}, published {published:?}");
        found.iter().zip(published).map(|(f, p)| (*f as f64 - p as f64).abs() / p as f64).fold(0.0, f64::max)
    }
}

const RADAU5: Stages = Stages::Fixed(3);
const RADAU: Stages = Stages::VARIABLE;

#[test]
fn car_axis_takes_the_steps_of_radau5_and_radau() {
    let mechanism = car_axis::CarAxis { l: 1.0, l0: 0.5, eps: 0.01, m: 10.0, h: 0.1, omega: 10.0 };
    let start = Start {
        mechanism: &mechanism,
        formulation: Formulation::Eom,
        p: &[0.0, 0.5, 1.0, 0.5],
        v: &[-0.5, 0.0, -0.5, 0.0],
        a: &[0.0, -1.0, 0.0, -1.0],
        lambda: &[0.0, 0.0],
        tend: 3.0,
        accelerations_count: false,
        jacobian: Jacobian::Differences,
    };
    let mut worst = 0.0_f64;
    for (stages, tolerance, published) in [
        (RADAU5, 1e-4, [98, 97, 850, 95, 98]),
        (RADAU5, 1e-7, [289, 288, 2559, 282, 288]),
        (RADAU5, 1e-10, [884, 883, 8101, 861, 883]),
        (RADAU, 1e-4, [98, 97, 850, 95, 98]),
        (RADAU, 1e-7, [289, 288, 2559, 282, 288]),
        (RADAU, 1e-10, [179, 178, 4281, 170, 179]),
    ] {
        worst = worst.max(start.compare("car axis", stages, tolerance, tolerance, published));
    }
    assert!(worst <= 0.05, "{worst}");
}

#[test]
fn andrews_mechanism_takes_the_steps_of_radau5() {
    let mechanism = andrews::Andrews::default();
    let start = Start {
        mechanism: &mechanism,
        formulation: Formulation::Eom,
        p: &andrews::Q0,
        v: &[0.0; 7],
        a: &andrews::A0,
        lambda: &andrews::LAMBDA0,
        tend: 0.03,
        accelerations_count: true,
        jacobian: Jacobian::Simplified,
    };
    let mut worst = 0.0_f64;
    for (stages, tolerance, published) in [
        (RADAU5, 1e-4, [96, 56, 810, 54, 96]),
        (RADAU5, 1e-7, [117, 97, 1321, 92, 117]),
        (RADAU, 1e-7, [117, 97, 1321, 92, 117]),
    ] {
        worst = worst.max(start.compare("Andrews", stages, tolerance, tolerance, published));
    }
    assert!(worst <= 0.05, "{worst}");
}

#[test]
fn the_flexible_slider_crank_takes_the_steps_of_radau5_and_radau() {
    let mechanism = flexible_slider_crank::FlexibleSliderCrank::default();
    // the smooth initial values of release 2.1
    let start = Start {
        mechanism: &mechanism,
        formulation: Formulation::Eom1,
        p: &flexible_slider_crank::P0,
        v: &[150.0, -74.995767, -2.68938672e-6, 0.444896105, 0.00463434311, -1.78591076e-6, -2.68938672e-6],
        a: &[
            0.0,
            -0.001344541576008661,
            -5062.194923138079,
            -6.833142732779555e-5,
            1.449382650173157e-8,
            -4.268463211410861,
            0.2098334687947376,
        ],
        lambda: &[-6.397251492537153e-8, 382.4589508329281, -4.376060460948886e-9],
        tend: 0.1,
        accelerations_count: true,
        jacobian: Jacobian::Differences,
    };
    let mut worst = 0.0_f64;
    for (stages, tolerance, published) in [
        (RADAU5, 1e-4, [108, 93, 745, 90, 108]),
        (RADAU5, 1e-6, [294, 289, 2077, 275, 290]),
        (RADAU5, 1e-8, [1957, 1799, 13526, 1422, 1880]),
        (RADAU, 1e-6, [172, 171, 2660, 161, 171]),
        (RADAU, 1e-8, [417, 415, 10492, 396, 412]),
    ] {
        worst = worst.max(start.compare("slider crank", stages, tolerance, 0.01 * tolerance, published));
    }
    assert!(worst <= 0.05, "{worst}");
}
