//! A damped arm of two links whose tip moves up and down by a given law: M depends on q, the constraint on t.
//!
//! ```text
//! q = (a, b), u = (c, d),   M = [3 + 2 cos b, 1 + cos b; 1 + cos b, 1],   g = sin a + sin(a + b) − 1/2 − sin(t)/5,
//! f = (sin b (2cd + d²) − 2 cos a − cos(a + b) − c/5,   −sin b c² − cos(a + b) − d/5).
//! ```

use super::mechanism::{Mechanism, State};
use super::observed::distance;
use super::projection::{project_position, project_velocity};
use daedal::scalar::Scalar;

/// The arm.
pub struct Arm;

/// A consistent start.
pub const START: State = [0.1715478115219354, 0.1640062224046174, 0.4552206159677778, -0.7184396245979667];

/// The solution at t = 1 and its multiplier.
pub const AT_ONE: (State, f64) =
    ([0.1417747385776198, 0.4132848321670626, -0.3516861289846907, 0.8884959448833724], -1.3554658524981404);

impl Mechanism for Arm {
    fn mass<S: Scalar>(&self, [_, b]: [S; 2]) -> [[S; 2]; 2] {
        let coupling = b.cos() + 1.0;
        [[coupling * 2.0 + 1.0, coupling], [coupling, S::from(1.0)]]
    }
    fn force<S: Scalar>(&self, _: S, [a, b]: [S; 2], [c, d]: [S; 2]) -> [S; 2] {
        [
            b.sin() * (c * d * 2.0 + d.square()) - a.cos() * 2.0 - (a + b).cos() - c / 5.0,
            -b.sin() * c.square() - (a + b).cos() - d / 5.0,
        ]
    }
    fn constraint<S: Scalar>(&self, t: S, [a, b]: [S; 2]) -> S {
        a.sin() + (a + b).sin() - 0.5 - t.sin() / 5.0
    }
}

#[test]
fn the_start_is_the_projection_of_round_numbers() {
    let mut y = [0.2, 0.3, 0.5, 0.0];
    project_position(&Arm, 0.0, &mut y);
    project_velocity(&Arm, 0.0, &mut y);
    assert!(distance(&y, &START) < 1e-13, "{y:?}");
    assert!((Arm.accelerations(0.0, &START).1 + 1.026205876354094).abs() < 1e-13);
}

#[test]
fn the_reference_solution_has_twelve_digits() {
    let y = Arm.reference(0.0, &START, 1.0);
    assert!(distance(&y, &AT_ONE.0) < 1e-12, "{y:?}");
    assert!((Arm.accelerations(1.0, &y).1 - AT_ONE.1).abs() < 1e-11);
}
