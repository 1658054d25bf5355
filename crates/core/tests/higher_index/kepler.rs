//! Invariants by projection, and what that costs: the perturbed Kepler problem H = |v|²/2 − 1/r − c/r³ with the eccentricity 0.6.
//! A symplectic method keeps the angular momentum L, and H up to a bounded error; to keep H = H₀ as an invariant does not keep L.
//! Hairer & Wanner, Solving ODEs II, (VII.2.15), figure 2.3, where the method is Euler's.

use daedal::formulation::{Formulation, Selectors};
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, Options, Problem, Rattle, Save, Solution, Tolerance, solve};

/// The problem with the coefficient c of its perturbation.
struct Kepler {
    c: f64,
}

impl Kepler {
    fn energy<S: Scalar>(&self, q: &[S], v: &[S]) -> S {
        let r = (q[0].square() + q[1].square()).sqrt();
        (v[0].square() + v[1].square()) * 0.5 - r.recip() - r.powi(-3) * self.c
    }
}

impl EquationsOfMotion for Kepler {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, invariants: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (M[(0, 0)], M[(1, 1)]) = (S::from(1.0), S::from(1.0));
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let r = (at.p[0].square() + at.p[1].square()).sqrt();
        let radial = -(r.powi(-3) + r.powi(-5) * (3.0 * self.c));
        (f[0], f[1]) = (radial * at.p[0], radial * at.p[1]);
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = self.energy(at.p, at.v);
    }
}

/// Largest |H − H₀| and |L − L₀| at the ends of steps.
fn changes(kepler: &Kepler, solution: &Solution) -> [f64; 2] {
    let (p, v) = (solution.layout.p(), solution.layout.v());
    let of = |k: usize| {
        let x = solution.state(k);
        let (q, v) = (&x[p.clone()], &x[v.clone()]);
        [kepler.energy(q, v), q[0] * v[1] - q[1] * v[0]]
    };
    let start = of(0);
    let mut largest = [0.0_f64; 2];
    for k in 0..solution.len() {
        let now = of(k);
        (0..2).for_each(|i| largest[i] = largest[i].max((now[i] - start[i]).abs()));
    }
    largest
}

/// T13 with shipped methods.
#[test]
fn projection_onto_the_energy_loses_the_angular_momentum() {
    for c in [0.005, 0.0025] {
        let kepler = Kepler { c };
        let problem = Problem::new(&kepler, Initial::motion(0.0, &[0.4, 0.0], &[0.0, 2.0]), 200.0);
        let steps = Options { h0: Some(0.01), save: Save::Steps, ..Options::default() };
        let [energy, momentum] = changes(&kepler, &solve(&problem, &Rattle::default(), &steps).unwrap());
        println!("c = {c}, rattle: H {energy:.1e}, L {momentum:.1e}");
        // L to rounding, H bounded: the symplectic Euler method of the source has 0.0144
        assert!(momentum < 1e-11 && energy > 1e-5 && energy < 0.0144, "{energy:e} {momentum:e}");
        let options = Options { tolerance: Tolerance::new(1e-4, 1e-4), save: Save::Steps, ..Options::default() };
        let projected =
            Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..Geoms::default() };
        let [energy, momentum] = changes(&kepler, &solve(&problem, &projected, &options).unwrap());
        println!("c = {c}, psf+i: H {energy:.1e}, L {momentum:.1e}");
        assert!(energy < 1e-9 && momentum > 1e-4, "{energy:e} {momentum:e}");
    }
}
