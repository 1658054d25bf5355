//! E6: necessary conditions of optimal control. Hairer & Wanner II, VII.1, (1.36) and exercise 8; entries E3 and T6.

use daedal::dae::{Characteristics, Depth, Equations, Form, System, characterise};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// y' = u, ∫ ½(y² + d u²) → min: v' = −y, 0 = v + d u.
struct Scalarly {
    d: f64,
}

impl Equations for Scalarly {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (y, v, u) = (x[0], x[1], x[2]);
        r[0] = xdot[0] - u;
        r[1] = xdot[1] + y;
        r[2] = v + u * self.d;
    }
}

/// y(1), v(1) from v(0).
fn ends(v: f64) -> [f64; 2] {
    let d = 0.25;
    let system = System::of(&Scalarly { d });
    let initial = Initial::new(0.0, &[1.0, v, -v / d]).fix(0, 1.0).fix(1, v);
    let options = Options { tolerance: Tolerance::new(1e-11, 1e-11), ..Options::default() };
    let solution = solve(&Problem::new(&system, initial, 1.0), &RadauIIa::default(), &options).unwrap();
    assert_eq!(solution.layout.form, Form::Plain);
    [solution.end.x[0], solution.end.x[1]]
}

#[test]
fn t6_the_scalar_problem_has_its_closed_form() {
    let d = 0.25_f64;
    let v0 = d.sqrt() * (1.0 / d.sqrt()).tanh();
    assert!((v0 - 0.482013790038).abs() < 1e-12);
    let [y, v] = ends(v0);
    println!("T6 y(1) {:.1e} v(1) {v:.1e}", y - 0.265802228834);
    assert!((y - 0.265802228834).abs() < 1e-8);
    assert!(v.abs() < 1e-8);
}

#[test]
fn t6_the_adjoint_at_the_start_is_found_by_shooting() {
    // v(1) is linear in v(0)
    let (at_zero, at_one) = (ends(0.0)[1], ends(1.0)[1]);
    let v0 = at_zero / (at_zero - at_one);
    println!("T6 v(0) {:.1e}", v0 - 0.482013790038);
    assert!((v0 - 0.482013790038).abs() < 1e-8);
    assert!((ends(v0)[0] - 0.265802228834).abs() < 1e-8);
}

/// y' = A y + B u, ∫ ½(yᵀC y + uᵀD u) → min, 4 states, 2 controls: v' = −Aᵀv − C y, 0 = Bᵀv + D u.
struct LinearQuadratic {
    /// D = weight · I
    weight: f64,
}

const A: [[f64; 4]; 4] = [[0.0, 1.0, 0.3, 0.0], [-2.0, -0.1, 0.0, 0.5], [0.2, 0.0, 0.4, 1.0], [0.0, -0.7, 0.1, 0.6]];
const B: [[f64; 2]; 4] = [[1.0, 0.0], [0.5, -0.3], [0.0, 1.0], [0.2, 0.4]];
const C: [f64; 4] = [2.0, 1.0, 0.5, 3.0];

impl Equations for LinearQuadratic {
    fn dim(&self) -> usize {
        10
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (y, v, u) = (&x[..4], &x[4..8], &x[8..]);
        for i in 0..4 {
            r[i] = xdot[i] - u[0] * B[i][0] - u[1] * B[i][1];
            r[4 + i] = xdot[4 + i] + y[i] * C[i];
            for j in 0..4 {
                r[i] -= y[j] * A[i][j];
                r[4 + i] += v[j] * A[j][i];
            }
        }
        for k in 0..2 {
            r[8 + k] = u[k] * self.weight;
            for i in 0..4 {
                r[8 + k] += v[i] * B[i][k];
            }
        }
    }
}

fn analyse<E: Equations>(equations: &E, x: &[f64]) -> Characteristics {
    let depth = Depth { confirm: true, ..Depth::default() };
    characterise(&System::of(equations), &Initial::new(0.0, x), depth).unwrap()
}

#[test]
fn e3_the_index_is_one_with_a_weight_on_the_controls_and_three_without() {
    let weighted = analyse(&LinearQuadratic { weight: 1.0 }, &[0.0; 10]);
    assert_eq!((weighted.differentiation_index(), weighted.values.d), (Some(1), 8));
    // BᵀCB > 0
    let free = analyse(&LinearQuadratic { weight: 0.0 }, &[0.0; 10]);
    assert_eq!((free.differentiation_index(), free.values.d), (Some(3), 4));
    assert!(weighted.confirmed && free.confirmed);
    assert_eq!((free.values.mu, free.values.v, free.values.u), (2, 0, 0));
}

/// y' = u, φ = ½y² + ¼u⁴: 0 = v + u³, index 1 where 3u² ≠ 0.
struct Quartic;

impl Equations for Quartic {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[2];
        r[1] = xdot[1] + x[0];
        r[2] = x[1] + x[2].powi(3);
    }
}

#[test]
fn e6_the_index_is_one_where_the_hessian_with_respect_to_the_controls_is_regular() {
    let regular = analyse(&Quartic, &[1.0, -0.125, 0.5]);
    assert_eq!((regular.differentiation_index(), regular.values.d), (Some(1), 2));
    // with u = 0 it is not: only the equilibrium is left
    let initial = Initial::new(0.0, &[0.0, 0.0, 0.0]).fix(2, 0.0);
    let singular = characterise(&System::of(&Quartic), &initial, Depth::default());
    assert!(singular.as_ref().map_or(true, |c| c.values.mu > 0), "{singular:?}");
}
