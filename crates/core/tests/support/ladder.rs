//! A ladder of parallelograms: one constraint too many to a cell.

use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;

pub const GRAVITY: f64 = 9.81;
/// Length and mass of cranks and couplers.
const CRANK: [f64; 2] = [0.6, 0.5];
const COUPLER: [f64; 2] = [0.9, 0.8];

/// Cranks on the ground, side by side in a plane, neighbours joined by two couplers: at half their length and at their ends. Every bar has (x, y, angle) of
/// its middle; cranks come first, then the couplers, the lower one of a cell first. Two rows to a pin: those of the ground, then left and right ends of couplers.
pub struct Ladder {
    pub cells: usize,
}

impl Ladder {
    pub fn bars(&self) -> usize {
        3 * self.cells + 1
    }

    pub fn rows(&self) -> usize {
        2 * (self.cells + 1) + 8 * self.cells
    }

    /// Rows of the pins on the ground.
    pub fn ground(&self) -> usize {
        2 * (self.cells + 1)
    }

    pub fn length_and_mass(&self, bar: usize) -> [f64; 2] {
        if bar <= self.cells { CRANK } else { COUPLER }
    }

    /// All cranks at an angle, with its rate.
    pub fn start(&self, angle: f64, rate: f64) -> Initial {
        let (mut p, mut v) = (Vec::new(), Vec::new());
        let mut put = |at: [f64; 2], of_crank: f64, turn: [f64; 2]| {
            p.extend([at[0] + of_crank * angle.cos(), at[1] + of_crank * angle.sin(), turn[0]]);
            v.extend([-of_crank * angle.sin() * rate, of_crank * angle.cos() * rate, turn[1]]);
        };
        (0..=self.cells).for_each(|k| put([COUPLER[0] * k as f64, 0.0], 0.5 * CRANK[0], [angle, rate]));
        for k in 0..self.cells {
            let at = [COUPLER[0] * (k as f64 + 0.5), 0.0];
            for part in [0.5, 1.0] {
                put(at, part * CRANK[0], [0.0, 0.0]);
            }
        }
        Initial::motion(0.0, &p, &v)
    }

    /// φ'' = −g P cos φ / I of all cranks together.
    pub fn pendulum(&self) -> f64 {
        let (n, [l, m], mass) = (self.cells as f64, CRANK, COUPLER[1]);
        let inertia = (n + 1.0) * m * l * l / 3.0 + n * mass * l * l * 1.25;
        let moment = (n + 1.0) * m * l / 2.0 + n * mass * l * 1.5;
        GRAVITY * moment / inertia
    }
}

impl EquationsOfMotion for Ladder {
    fn sizes(&self) -> Sizes {
        let n = 3 * self.bars();
        Sizes { positions: n, velocities: n, holonomic: self.rows(), ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for bar in 0..self.bars() {
            let [length, mass] = self.length_and_mass(bar);
            for (k, m) in [mass, mass, mass * length * length / 12.0].into_iter().enumerate() {
                M[(3 * bar + k, 3 * bar + k)] = S::from(m);
            }
        }
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        (0..self.bars()).for_each(|bar| f[3 * bar + 1] = S::from(-GRAVITY * self.length_and_mass(bar)[1]));
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        // a point of a bar, so many lengths from its middle
        let point = |bar: usize, along: f64| {
            let (length, angle) = (self.length_and_mass(bar)[0], at.p[3 * bar + 2]);
            [at.p[3 * bar] + angle.cos() * (along * length), at.p[3 * bar + 1] + angle.sin() * (along * length)]
        };
        let mut row = 0;
        let mut hold = |a: [S; 2], b: [S; 2]| {
            (0..2).for_each(|k| g[row + k] = b[k] - a[k]);
            row += 2;
        };
        for k in 0..=self.cells {
            hold([S::from(COUPLER[0] * k as f64), S::from(0.0)], point(k, -0.5));
        }
        for k in 0..self.cells {
            for (up, along) in [(0, 0.0), (1, 0.5)] {
                let coupler = self.cells + 1 + 2 * k + up;
                hold(point(k, along), point(coupler, -0.5));
                hold(point(k + 1, along), point(coupler, 0.5));
            }
        }
    }
}
