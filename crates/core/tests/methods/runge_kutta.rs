//! Orders of implicit Runge–Kutta methods on semi-explicit systems of index 1 and 2, measured against theory: Hairer & Wanner, Solving ODEs II,
//! VI.1 and table VII.4.1; Steinbrecher (2006), table 3.2.
//!
//! With u = y₂ − 0.3 y₁² both systems run along y = (cos t, sin t + 0.3 cos² t), z = y₁y₂, which is no conic: Gauss keeps those exactly.

use daedal::dae::{Dae, Pencil, Point};
use daedal::method::{Integrator, RungeKuttaFamily, Steps};
use daedal::motion::Undefined;
use daedal::{ImplicitRungeKutta, Options, Residuals, StepFailure, Tolerance};

/// y' = f(y, z), 0 = g: of index 1 with g = (1 + z)³ − (1 + y₁y₂)³, of index 2 with g = y₁² + u² − 1.
#[derive(Clone, Copy)]
struct OnCurve {
    index: u8,
}

/// Difference that a Jacobian of Newton's iteration is made with.
const DELTA: f64 = 1e-6;

impl OnCurve {
    fn exact(t: f64) -> [f64; 3] {
        let (s, c) = t.sin_cos();
        let y2 = s + 0.3 * c * c;
        [c, y2, c * y2]
    }

    fn rows(self, x: &[f64], xdot: &[f64]) -> [f64; 3] {
        let (y1, y2, z) = (x[0], x[1], x[2]);
        let u = y2 - 0.3 * y1 * y1;
        let beside = z - y1 * y2;
        let gradient = [2.0 * y1 - 1.2 * u * y1, 2.0 * u];
        let speed = 1.0 + beside;
        let across = if self.index == 1 { 0.0 } else { beside };
        let f = [-u * speed + across * gradient[0], (y1 - 0.6 * y1 * u) * speed + across * gradient[1]];
        let g = if self.index == 1 { (1.0 + z).powi(3) - (1.0 + y1 * y2).powi(3) } else { y1 * y1 + u * u - 1.0 };
        [xdot[0] - f[0], xdot[1] - f[1], g]
    }
}

impl Dae for OnCurve {
    fn dim(&self) -> usize {
        3
    }
    fn new_pencil(&self) -> Pencil {
        Pencil::dense(3, 3)
    }
    fn algebraic(&self, row: usize) -> bool {
        row == 2
    }
    fn quasilinear(&self) -> bool {
        true
    }
    fn index(&self, unknown: usize) -> u8 {
        if unknown == 2 { self.index } else { 1 }
    }
    fn residual(&mut self, _: usize, _: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        r.copy_from_slice(&self.rows(x, xdot));
        Ok(())
    }
    fn pencil(&mut self, _: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let [E, A] = out.dense_mut();
        E.fill(0.0);
        (E[(0, 0)], E[(1, 1)]) = (1.0, 1.0);
        for j in 0..3 {
            let moved = |by: f64| {
                let mut x = [x[0], x[1], x[2]];
                x[j] += by;
                self.rows(&x, xdot)
            };
            let (ahead, behind) = (moved(DELTA), moved(-DELTA));
            (0..3).for_each(|i| A[(i, j)] = -(ahead[i] - behind[i]) / (2.0 * DELTA));
        }
        Ok(())
    }
    fn accepted(&mut self, _: usize, _: f64, _: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        Ok(())
    }
    fn residuals(&self) -> Residuals {
        Residuals::default()
    }
}

/// Errors of y and z at t = 1 after n steps.
fn errors(method: &ImplicitRungeKutta, index: u8, n: u32) -> [f64; 2] {
    let method = ImplicitRungeKutta { steps: Steps::Fixed, max_newton: 50, ..method.clone() };
    let options =
        Options { tolerance: Tolerance::new(1e-11, 1e-11), h0: Some(1.0 / f64::from(n)), ..Options::default() };
    let at = Point { t: 0.0, x: OnCurve::exact(0.0).to_vec(), xdot: vec![0.0, 1.0, 1.0] };
    let mut stepper = method.start(Box::new(OnCurve { index }), at, &options).unwrap();
    while stepper.state().t < 1.0 {
        stepper.advance(1.0).unwrap();
    }
    assert_eq!(stepper.statistics().steps, u64::from(n));
    let (x, exact) = (&stepper.state().x, OnCurve::exact(1.0));
    [(x[0] - exact[0]).hypot(x[1] - exact[1]), (x[2] - exact[2]).abs()]
}

fn orders(method: &ImplicitRungeKutta, index: u8, n: u32) -> [f64; 2] {
    let (coarse, fine) = (errors(method, index, n), errors(method, index, 2 * n));
    [0, 1].map(|k: usize| (coarse[k] / fine[k]).log2())
}

fn of(family: RungeKuttaFamily, stages: usize, project: bool) -> ImplicitRungeKutta {
    ImplicitRungeKutta { stages, project, ..ImplicitRungeKutta::of(family) }
}

/// Not looked at: no convergence, or nothing is known.
const NONE: f64 = f64::NAN;

#[test]
fn orders_on_constraints_are_those_of_theory() {
    use RungeKuttaFamily::{Gauss, LobattoIIIC, RadauIA, Trapezoidal};
    // family, stages, steps, index 1: y, z, index 2: y, z
    let table = [
        (Trapezoidal, 1, 32, [2.0, 2.0], [2.0, NONE]),
        (Gauss, 1, 32, [2.0, 2.0], [2.0, NONE]),
        (Gauss, 2, 16, [4.0, 2.0], [2.0, NONE]),
        (Gauss, 3, 10, [6.0, 4.0], [4.0, 2.0]),
        (RadauIA, 1, 128, [1.0, 1.0], [1.0, NONE]),
        (RadauIA, 2, 64, [3.0, 2.0], [2.0, 1.0]),
        (RadauIA, 3, 16, [5.0, 3.0], [3.0, 2.0]),
        (LobattoIIIC, 2, 64, [2.0, 2.0], [2.0, 1.0]),
        (LobattoIIIC, 3, 16, [4.0, 4.0], [4.0, 2.0]),
        (LobattoIIIC, 4, 12, [6.0, 6.0], [6.0, 3.0]),
    ];
    let mut wrong = Vec::new();
    for (family, stages, n, of_index_1, of_index_2) in table {
        for (index, expected) in [(1, of_index_1), (2, of_index_2)] {
            let found = orders(&of(family, stages, false), index, n);
            println!("{family:?} {stages}, index {index}: {found:.2?} for {expected:?}");
            // four stages of Lobatto IIIC are still better than their order here
            let above = if (family, stages) == (LobattoIIIC, 4) { 0.95 } else { 0.1 };
            let off = |(found, expected): (&f64, f64)| *found < expected - 0.1 || *found > expected + above;
            let off = found.iter().zip(expected).any(off);
            if off {
                wrong.push(format!("{family:?} {stages}, index {index}: {found:.2?} for {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn projection_gives_back_the_order_of_ordinary_equations() {
    for (family, stages, n, order) in [
        (RungeKuttaFamily::Gauss, 1, 32, 2.0),
        (RungeKuttaFamily::Gauss, 2, 16, 4.0),
        (RungeKuttaFamily::Gauss, 3, 6, 6.0),
        (RungeKuttaFamily::RadauIA, 2, 32, 3.0),
        (RungeKuttaFamily::RadauIA, 3, 10, 5.0),
    ] {
        let [y, z] = orders(&of(family, stages, true), 1, n);
        println!("{family:?} {stages}: {y:.2} {z:.2}");
        assert!((y - order).abs() < 0.1 && (z - order).abs() < 0.1, "{family:?} {stages}: {y} {z}");
    }
}

#[test]
fn error_control_keeps_the_tolerance_and_refuses_what_never_forgets() {
    use RungeKuttaFamily::{Gauss, LobattoIIIC, RadauIA, Trapezoidal};
    for family in [Trapezoidal, Gauss, RadauIA, LobattoIIIC] {
        for index in [1, 2] {
            let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
            let at = Point { t: 0.0, x: OnCurve::exact(0.0).to_vec(), xdot: vec![0.0, 1.0, 1.0] };
            let started = ImplicitRungeKutta::of(family).start(Box::new(OnCurve { index }), at, &options);
            let mut stepper = match started {
                Ok(stepper) => stepper,
                Err(refused) => {
                    assert!(index == 2 && refused.to_string().contains("one size"), "{family:?}: {refused}");
                    assert!([Trapezoidal, Gauss].contains(&family), "{family:?}");
                    continue;
                }
            };
            while stepper.state().t < 3.0 {
                stepper.advance(3.0).unwrap();
            }
            let (x, exact) = (&stepper.state().x, OnCurve::exact(3.0));
            let error = x.iter().zip(exact).take(if index == 1 { 3 } else { 2 }).map(|(x, e)| (x - e).abs());
            let error = error.fold(0.0, f64::max);
            println!("{family:?}, index {index}: {error:.1e}, {}", stepper.statistics());
            // steps of the trapezoidal rule use more of the tolerance
            let bound = if family == Trapezoidal { 4e-7 } else { 5e-8 };
            assert!(error < bound, "{family:?}, index {index}: {error:e}");
            // values between the steps are ends of shorter ones, as exact as the steps
            let (t0, t1) = (stepper.segment().t0, stepper.segment().t1);
            let mut between = vec![0.0; 3];
            stepper.inside(0.7 * t0 + 0.3 * t1, &mut between);
            let exact = OnCurve::exact(0.7 * t0 + 0.3 * t1);
            let error = (between[0] - exact[0]).hypot(between[1] - exact[1]);
            assert!(error < bound, "{family:?}, index {index}: {error:e}");
            stepper.refine();
            stepper.segment().eval(0.4 * t0 + 0.6 * t1, &mut between);
            let exact = OnCurve::exact(0.4 * t0 + 0.6 * t1);
            let error = (between[0] - exact[0]).hypot(between[1] - exact[1]);
            assert!(error < bound, "{family:?}, index {index}: {error:e}");
        }
    }
}
