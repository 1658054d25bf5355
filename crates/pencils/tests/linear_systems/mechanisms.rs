//! Pencils of the formulations of linear mechanisms M v' = C p + D v − ZᵀGᵀλ, p' = Z v, 0 = G p: index, and the dimension of the manifold
//! on which their solutions live. Steinbrecher, preprint 742-02 (2002), section 3; thesis (2006), 4.4.

use crate::random::Random;
use daedal::dae::Dae;
use daedal::formulation::Formulation;
use daedal::linalg::{Mat, Matrix, RankRule};
use daedal::method::State;
use daedal::motion::{EquationsOfMotion, Form, Layout, Mechanism, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal_pencils::Kronecker;

struct Linear {
    M: Mat<f64>,
    C: Mat<f64>,
    D: Mat<f64>,
    Z: Mat<f64>,
    G: Mat<f64>,
}

impl Linear {
    fn random(random: &mut Random) -> Self {
        let B = random.matrix(4, 4);
        let identity = Mat::<f64>::identity(4, 4);
        Linear {
            M: &B * B.transpose() + &identity,
            C: random.matrix(4, 4),
            D: random.matrix(4, 4),
            Z: random.orthogonal(4) + random.matrix(4, 4) * 0.2,
            G: random.matrix(2, 4),
        }
    }
}

/// Row of A x.
fn row<S: Scalar>(A: &Mat<f64>, i: usize, x: &[S]) -> S {
    x.iter().enumerate().fold(S::from(0.0), |sum, (j, x)| sum + *x * A[(i, j)])
}

impl EquationsOfMotion for Linear {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 2, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot.iter_mut().enumerate().for_each(|(i, p)| *p = row(&self.Z, i, at.v));
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (0..16).for_each(|k| M[(k / 4, k % 4)] = S::from(self.M[(k / 4, k % 4)]));
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f.iter_mut().enumerate().for_each(|(i, f)| *f = row(&self.C, i, at.p) + row(&self.D, i, at.v));
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g.iter_mut().enumerate().for_each(|(i, g)| *g = row(&self.G, i, at.p));
    }
}

/// Kronecker's form of a formulation.
fn look(mechanism: &Linear, formulation: Formulation) -> Kronecker {
    let layout = Layout::new(Mechanism::sizes(mechanism), Form::StrangenessFree, false);
    let state = State { t: 0.0, x: vec![0.0; layout.dim()] };
    let mut system: Box<dyn Dae> = formulation.system(mechanism, &state).unwrap();
    let (n, mut pencil) = (system.dim(), system.new_pencil());
    system.pencil(0.0, &vec![0.0; n], &vec![0.0; n], &mut pencil).unwrap();
    let (mut E, mut A) = (Mat::zeros(n, n), Mat::zeros(n, n));
    // E ẋ + A x = 0 there
    pencil.each(|i, j, e, a| (E[(i, j)], A[(i, j)]) = (e, -a));
    Kronecker::new(&E, &A, RankRule::default()).unwrap()
}

#[test]
fn linear_mechanisms_have_the_index_and_the_eigenvalues_of_their_formulation() {
    let mut random = Random(742);
    for case in 0..50 {
        let mechanism = Linear::random(&mut random);
        let original = look(&mechanism, Formulation::Eom);
        // two degrees of freedom, two multipliers: 2 n_f and 0, 1, 2, 3 times n_λ
        for (formulation, index, dimension) in [
            (Formulation::Eom, 3, 4),
            (Formulation::Eom1, 2, 6),
            (Formulation::Eom0, 1, 8),
            (Formulation::Ggl, 2, 4),
            (Formulation::Projected, 1, 4),
        ] {
            let found = look(&mechanism, formulation);
            let what = format!("case {case}, {}", formulation.name());
            assert!(found.is_regular(), "{what}");
            assert_eq!((found.index(), found.finite.len()), (index, dimension), "{what}");
            // what the original has all others have, and zeros beside
            for wanted in &original.finite {
                let nearest =
                    found.finite.iter().map(|x| (x.0 - wanted.0).hypot(x.1 - wanted.1)).fold(f64::MAX, f64::min);
                assert!(nearest < 1e-8 * wanted.0.hypot(wanted.1).max(1.0), "{what}: {nearest:e}");
            }
            let largest = found.finite.iter().map(|x| x.0.hypot(x.1)).collect::<Vec<_>>();
            // multiple eigenvalues, the square root of rounding away from zero
            assert_eq!(largest.iter().filter(|x| **x < 1e-6).count(), dimension - 4, "{what}: {largest:?}");
        }
    }
}
