//! Invariants by projection, and what that costs: the perturbed Kepler problem H = |p|²/2 − 1/r − c/r³ with the eccentricity 0.6.
//! The symplectic Euler method keeps the angular momentum L; projection onto H = H₀ destroys that.
//! Hairer & Wanner, Solving ODEs II, (VII.2.15), figure 2.3.

use super::explicit::{euler, symplectic_euler};

/// Positions and momenta (q₁, q₂, p₁, p₂).
type State = [f64; 4];

/// The problem with the coefficient c of its perturbation.
#[derive(Clone, Copy)]
struct Kepler {
    c: f64,
}

/// What stepping does.
#[derive(Clone, Copy)]
enum Euler {
    Explicit,
    Symplectic,
}

/// What is done after each step.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Nothing,
    Projection,
}

/// Largest |H − H₀|, largest radius, angular momentum at the end.
#[derive(Debug)]
struct Orbit {
    energy: f64,
    radius: f64,
    momentum: f64,
}

const START: State = [0.4, 0.0, 0.0, 2.0];

impl Kepler {
    fn energy(self, y: &State) -> f64 {
        let r = y[0].hypot(y[1]);
        0.5 * (y[2] * y[2] + y[3] * y[3]) - 1.0 / r - self.c / r.powi(3)
    }

    /// −∂H/∂q.
    fn force(self, q: &[f64; 2]) -> [f64; 2] {
        let r = q[0].hypot(q[1]);
        let radial = -1.0 / r.powi(3) - 3.0 * self.c / r.powi(5);
        [radial * q[0], radial * q[1]]
    }

    /// y ← ỹ − φ_yᵀ μ with φ = H − H₀ = 0, φ_y held fixed.
    fn project(self, y: &mut State, energy: f64) {
        let force = self.force(&[y[0], y[1]]);
        let gradient = [-force[0], -force[1], y[2], y[3]];
        let square: f64 = gradient.iter().map(|d| d * d).sum();
        for _ in 0..20 {
            let mu = (self.energy(y) - energy) / square;
            for i in 0..4 {
                y[i] -= gradient[i] * mu;
            }
            if mu.abs() < 1e-16 {
                return;
            }
        }
    }

    /// 20000 steps of size 0.01.
    fn orbit(self, method: Euler, after: After) -> Orbit {
        let energy = self.energy(&START);
        let (mut y, mut orbit) = (START, Orbit { energy: 0.0, radius: 0.0, momentum: 0.0 });
        for _ in 0..20_000 {
            y = match method {
                Euler::Explicit => {
                    let slope = |_: f64, y: &State| {
                        let force = self.force(&[y[0], y[1]]);
                        [y[2], y[3], force[0], force[1]]
                    };
                    euler(slope, 0.0, &y, 0.01)
                }
                Euler::Symplectic => {
                    let [q, p] = symplectic_euler(|q| self.force(q), &[y[0], y[1]], &[y[2], y[3]], 0.01);
                    [q[0], q[1], p[0], p[1]]
                }
            };
            if after == After::Projection {
                self.project(&mut y, energy);
            }
            orbit.energy = orbit.energy.max((self.energy(&y) - energy).abs());
            orbit.radius = orbit.radius.max(y[0].hypot(y[1]));
        }
        orbit.momentum = y[0] * y[3] - y[1] * y[2];
        orbit
    }
}

/// Asserts radius and angular momentum within 1 %, the error of the energy within its digits.
fn assert_orbit(orbit: &Orbit, energy: f64, radius: f64, momentum: f64) {
    assert!((orbit.radius / radius - 1.0).abs() < 0.01, "{orbit:?}");
    assert!((orbit.momentum / momentum - 1.0).abs() < 0.01, "{orbit:?}");
    if energy == 0.0 {
        assert!(orbit.energy < 1e-12, "{orbit:?}");
    } else {
        assert!((orbit.energy / energy - 1.0).abs() < 0.02, "{orbit:?}");
    }
}

/// T13.
#[test]
fn symplectic_euler_keeps_the_angular_momentum() {
    for (c, energy, radius) in [(0.005, 0.0144, 1.316), (0.0025, 0.0145, 1.450)] {
        let orbit = Kepler { c }.orbit(Euler::Symplectic, After::Nothing);
        assert_orbit(&orbit, energy, radius, 0.8);
        assert!((orbit.momentum - 0.8).abs() < 1e-11);
    }
}

/// T13.
#[test]
fn projection_onto_the_energy_loses_the_angular_momentum() {
    for (c, radius, momentum) in [(0.005, 1.307, 0.924), (0.0025, 1.440, 0.942)] {
        assert_orbit(&Kepler { c }.orbit(Euler::Symplectic, After::Projection), 0.0, radius, momentum);
    }
    for (c, radius, momentum) in [(0.005, 1.307, 0.918), (0.0025, 1.441, 0.935)] {
        assert_orbit(&Kepler { c }.orbit(Euler::Explicit, After::Projection), 0.0, radius, momentum);
    }
}

/// T13: the remedy is to project for output only.
#[test]
fn projection_for_output_keeps_both() {
    let kepler = Kepler { c: 0.005 };
    let energy = kepler.energy(&START);
    let mut y = START;
    for _ in 0..20_000 {
        let [q, p] = symplectic_euler(|q| kepler.force(q), &[y[0], y[1]], &[y[2], y[3]], 0.01);
        y = [q[0], q[1], p[0], p[1]];
        let mut output = y;
        kepler.project(&mut output, energy);
        assert!((kepler.energy(&output) - energy).abs() < 1e-12);
        let momentum = output[0] * output[3] - output[1] * output[2];
        assert!((momentum / 0.8 - 1.0).abs() < 0.01, "{momentum}");
    }
}

/// T13.
#[test]
fn explicit_euler_leaves_the_orbit() {
    for (c, energy, radius, momentum) in [(0.005, 0.53, 19.3, 1.127), (0.0025, 0.51, 21.1, 1.118)] {
        assert_orbit(&Kepler { c }.orbit(Euler::Explicit, After::Nothing), energy, radius, momentum);
    }
}
