//! Initial values that are taken as they are (IVCNSST = 1 of GEOMS): nothing is checked, nothing moves. Accelerations, which nobody gives,
//! follow from the dynamics,
//!
//! M a = f − (GZ)ᵀλ − (HZ)ᵀμ.

use super::consistent::InitialisationError;
use super::{Form, Mechanism};
use crate::initial::{BadInitial, Initial, Start};
use crate::linalg::rank::REGULAR;
use crate::linalg::{Lu, Matrix};
use crate::method::State;

/// The state that initial values say, all of which must be given.
pub fn trusted(system: &dyn Mechanism, initial: &Initial) -> Result<State, InitialisationError> {
    let mut array = system.array(Form::StrangenessFree, false);
    let (layout, t) = (array.layout().clone(), initial.t);
    let names = layout.variable_names(&system.names());
    if let Some(condition) = initial.conditions.first() {
        return Err(BadInitial::TrustedCondition { name: condition.name.clone() }.into());
    }
    let starts = initial.values(&layout, &names)?;
    let accelerations = layout.a();
    let missing = (0..starts.len()).filter(|&j| starts[j] == Start::Unknown && !accelerations.contains(&j));
    let missing: Vec<String> = missing.map(|j| names[j].clone()).collect();
    if !missing.is_empty() {
        let count = missing.len();
        return Err(InitialisationError::Underdetermined { names: missing, count });
    }
    let value = |start: &Start| if let Start::Fixed(x) | Start::Guess(x) = *start { x } else { 0.0 };
    let mut x: Vec<f64> = starts.iter().map(value).collect();
    if let Some((name, &value)) = [&t].into_iter().chain(&x).enumerate().find(|(_, x)| !x.is_finite()) {
        let name = name.checked_sub(1).map_or("t0", |j| &names[j]).to_string();
        return Err(InitialisationError::NotFinite { name, value });
    }
    let undefined = |_| InitialisationError::Undefined { t };
    // the rows of the dynamics are M a − f + (GZ)ᵀλ + (HZ)ᵀμ, the first ones as the accelerations are
    let mut rows = vec![0.0; layout.rows()];
    array.evaluate(t, &x, &mut rows).map_err(undefined)?;
    let n = accelerations.len();
    let mut M = Matrix::zeros(n, n);
    array.matrices(t, &x).map_err(undefined)?[0].copy_to(&mut M, 0);
    let mut a: Vec<f64> = rows[..n].iter().map(|row| -row).collect();
    if solve(M, &mut a).is_none() {
        let names: Vec<String> = accelerations.map(|j| names[j].clone()).collect();
        return Err(InitialisationError::Underdetermined { count: names.len(), names });
    }
    x[accelerations].copy_from_slice(&a);
    Ok(State { t, x })
}

/// b ← A⁻¹ b, if A is regular with rows of size one.
fn solve(mut A: Matrix, b: &mut [f64]) -> Option<()> {
    for (i, b) in b.iter_mut().enumerate() {
        let size = A.row(i).iter().fold(0.0_f64, |top, a| top.max(a.abs()));
        A.row_mut(i).iter_mut().for_each(|a| *a /= size);
        *b /= size;
    }
    let mut lu = Lu::new(b.len());
    lu.A = A;
    lu.factor().ok()?;
    if (0..b.len()).any(|k| !(lu.A[(k, k)].abs() > REGULAR)) {
        return None;
    }
    lu.solve(b);
    Some(())
}
