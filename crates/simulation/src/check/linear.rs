//! Linear systems E ẋ = A x + b(t): symmetry, and with constant coefficients the canonical form of the pencil, and the jump and impulses of
//! a start that is not consistent. What is linear, constant and symmetric is read from formulas.

use daedal::dae::{FormulaCoefficients, HighOrderSystem, System};
use daedal::linalg::{Mat, Matrix, RankRule, times};
use daedal::linear::{Coefficients, TaylorData};
use daedal::{Initial, Start};
use daedal_pencils::structured::{
    MatrixPair, MovingPair, StructuredInvariants, Symmetry, reduce_variable, structured_companion, structured_reduce,
};
use daedal_pencils::{Kronecker, RegularPencil};

/// Most unknowns of a pencil that is decomposed.
const MOST_UNKNOWNS: usize = 200;
/// Differences below this part of the values are rounding.
const ROUNDING: f64 = 1e-9;

/// What was found about a linear system.
pub struct LinearAnalysis {
    /// Do E and A not depend on time?
    pub constant: bool,
    /// The pencil of the form of first order, with constant coefficients; or why it is not known.
    pub pencil: Option<Result<Kronecker, String>>,
    /// Symmetry of the equations as they are written.
    pub symmetry: Option<SymmetryFound>,
    /// What a start does that is not consistent, with constant coefficients and a regular pencil.
    pub start: Option<GivenStart>,
}

/// Which symmetry a linear system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymmetryKind {
    /// E = Eᵀ, A = Aᵀ.
    Symmetric,
    /// E = −Eᵀ, A = (A + E′)ᵀ.
    SelfAdjoint,
    /// M x″ + C x′ + K x with symmetric M, C and K.
    Damped,
    /// M x″ + C x′ + K x with symmetric M and K, and a skew C.
    Gyroscopic,
}

impl SymmetryKind {
    /// A word that programs can rely on.
    pub fn name(self) -> &'static str {
        match self {
            SymmetryKind::Symmetric => "symmetric",
            SymmetryKind::SelfAdjoint => "self-adjoint",
            SymmetryKind::Damped => "symmetric of second order",
            SymmetryKind::Gyroscopic => "gyroscopic",
        }
    }

    /// ε of A_0, A_1, … with A_q = ε A_qᵀ.
    fn signs(self) -> &'static [f64] {
        match self {
            SymmetryKind::Symmetric => &[1.0, 1.0],
            SymmetryKind::SelfAdjoint => &[1.0, -1.0],
            SymmetryKind::Damped => &[1.0, 1.0, 1.0],
            SymmetryKind::Gyroscopic => &[1.0, -1.0, 1.0],
        }
    }
}

/// A symmetry, and whether an index reduction keeps it.
pub struct SymmetryFound {
    /// Which one.
    pub kind: SymmetryKind,
    /// Names of the equations that are to be multiplied by −1 for it.
    pub turned: Vec<String>,
    /// Sizes of the reduction by congruence, at the start where coefficients depend on time, or why there is none; not known for systems of
    /// second order with variable coefficients.
    pub reduction: Option<Result<StructuredInvariants, String>>,
}

/// What a start does.
pub enum GivenStart {
    /// The given values are consistent.
    Consistent,
    /// These unknowns are not given, although the start depends on them.
    Open(Vec<String>),
    /// The solution jumps, with impulses.
    Jump {
        /// Name, value before and behind the jump, where they differ.
        jumps: Vec<(String, f64, f64)>,
        /// Name, order i and factor of the impulses δ⁽ⁱ⁾.
        impulses: Vec<(String, usize, f64)>,
    },
}

/// Look at a linear system.
pub(super) fn examine(
    system: &System,
    written: &HighOrderSystem,
    initial: &Initial,
    ranks: RankRule,
) -> Option<LinearAnalysis> {
    let structure = system.structure();
    if !structure.linear() {
        return None;
    }
    let small = system.dim() <= MOST_UNKNOWNS;
    // large matrices are not made
    let constant = structure.constant_coefficients();
    let numbers = if small { structure.numbers() } else { None }.map(|[E, slope]| (E, signed(&slope, |_| -1.0)));
    let decomposed = |(E, A): &(Mat<f64>, Mat<f64>)| Kronecker::new(E, A, ranks).map_err(|error| error.to_string());
    let too_large = || Err(format!("more than {MOST_UNKNOWNS} unknowns: not decomposed"));
    let pencil = numbers.as_ref().map(decomposed).or_else(|| (constant && !small).then(too_large));
    let regular = matches!(&pencil, Some(Ok(found)) if found.is_regular());
    let start = numbers.as_ref().filter(|_| regular).and_then(|pair| given_start(system, initial, pair, ranks));
    Some(LinearAnalysis {
        constant: numbers.is_some() || (constant && !small),
        pencil,
        symmetry: if small { symmetry(system, written, initial.t, ranks) } else { None },
        start,
    })
}

/// Rows times numbers.
fn signed(X: &Mat<f64>, sign: impl Fn(usize) -> f64) -> Mat<f64> {
    Mat::from_fn(X.nrows(), X.ncols(), |i, j| sign(i) * X[(i, j)])
}

/// The symmetry that the formulas show, if signs of equations are chosen for it.
fn symmetry(system: &System, written: &HighOrderSystem, t0: f64, ranks: RankRule) -> Option<SymmetryFound> {
    use SymmetryKind::{Damped, Gyroscopic, SelfAdjoint, Symmetric};
    let kinds: &[SymmetryKind] = match written.order() {
        1 => &[Symmetric, SelfAdjoint],
        2 => &[Damped, Gyroscopic],
        _ => &[],
    };
    // where several hold, the one for which the fewest equations change their signs
    let found = kinds.iter().filter_map(|&kind| Some((kind, written.row_signs(kind.signs())?)));
    let (kind, signs) = found.min_by_key(|(_, signs)| signs.iter().filter(|sign| **sign < 0.0).count())?;
    let names = &system.formulas.equations;
    let turned = names.iter().zip(&signs).filter(|(_, sign)| **sign < 0.0).map(|((name, _), _)| name.clone());
    let variable = || match kind {
        Symmetric => Some(variable_reduction(written, &signs, Symmetry::Symmetric, t0, ranks)),
        SelfAdjoint => Some(variable_reduction(written, &signs, Symmetry::Skew, t0, ranks)),
        Damped | Gyroscopic => None,
    };
    let constant = written.numbers().map(|A| {
        let of = |q: usize| signed(&A[q], |i| signs[i]);
        let reduced = match kind {
            Symmetric => structured_reduce(&of(1), &signed(&of(0), |_| -1.0), Symmetry::Symmetric, ranks),
            SelfAdjoint => structured_reduce(&of(1), &signed(&of(0), |_| -1.0), Symmetry::Skew, ranks),
            Damped | Gyroscopic => {
                let symmetry = if kind == Damped { Symmetry::Symmetric } else { Symmetry::Skew };
                structured_companion(&of(2), &of(1), &of(0), symmetry, ranks)
                    .and_then(|form| structured_reduce(&form.pair.E, &form.pair.A, symmetry, ranks))
            }
        };
        reduced.map(|found| found.sizes).map_err(|error| error.to_string())
    });
    Some(SymmetryFound { kind, turned: turned.collect(), reduction: constant.or_else(variable) })
}

/// The reduction at t₀ of a pair of first order whose coefficients depend on time.
fn variable_reduction(
    written: &HighOrderSystem,
    signs: &[f64],
    symmetry: Symmetry,
    t0: f64,
    ranks: RankRule,
) -> Result<StructuredInvariants, String> {
    let found = written.expand(t0, &[], 1).map_err(|_| format!("no finite coefficients at t = {t0:?}"))?;
    let of = |q: usize, k: usize, sign: f64| signed(&found.A[q][k], |i| sign * signs[i]);
    let pair = MatrixPair::new(of(1, 0, 1.0), of(0, 0, -1.0), of(1, 1, 1.0)).map_err(|error| error.to_string())?;
    let right = |k: usize| found.f[k].iter().zip(signs).map(|(f, sign)| f * sign).collect();
    let at = MovingPair { pair, A_rate: of(0, 1, -1.0), b: right(0), b_rate: right(1) };
    reduce_variable(&at, symmetry, ranks).map(|found| found.sizes).map_err(|error| error.to_string())
}

/// What the given values would do if they held just before the start: only E x⁻ counts.
fn given_start(
    system: &System,
    initial: &Initial,
    (E, A): &(Mat<f64>, Mat<f64>),
    ranks: RankRule,
) -> Option<GivenStart> {
    let n = system.dim();
    let starts = initial.starts(&system.first);
    let counts = |j: usize| (0..E.nrows()).any(|i| E[(i, j)] != 0.0);
    let given = |j: usize| match starts[j] {
        Start::Fixed(x) | Start::Guess(x) => Some(x),
        Start::Unknown => None,
    };
    let open: Vec<String> =
        (0..n).filter(|&j| counts(j) && given(j).is_none()).map(|j| system.names()[j].clone()).collect();
    if !open.is_empty() {
        return Some(GivenStart::Open(open));
    }
    let dense = |X: &Mat<f64>| {
        let mut Y = Matrix::zeros(X.nrows(), X.ncols());
        (0..X.nrows()).for_each(|i| (0..X.ncols()).for_each(|j| Y[(i, j)] = X[(i, j)]));
        Y
    };
    let (E, A) = (dense(E), dense(A));
    let pencil = RegularPencil::new(&E, &A, ranks.of_numbers(n, n)).ok()?;
    let order = pencil.index().saturating_sub(1);
    let mut data = TaylorData::new(n, n, order);
    FormulaCoefficients::new(system)?.inhomogeneity(initial.t, order, &mut data).ok()?;
    let mut factorial = 1.0;
    for (i, b) in data.b.iter_mut().enumerate() {
        factorial *= i.max(1) as f64;
        for x in b {
            *x *= factorial;
        }
    }
    let before: Vec<f64> = (0..n).map(|j| given(j).unwrap_or(0.0)).collect();
    let found = pencil.inconsistent_start(&before, &data.b).ok()?;
    let size = |x: &[f64]| x.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    let scale = size(&before).max(size(&found.value)).max(f64::MIN_POSITIVE);
    if size(&times(&E, &found.jump)) <= ROUNDING * scale * size(E.data()) {
        return Some(GivenStart::Consistent);
    }
    let names = system.names();
    let moved = (0..n).filter(|&j| given(j).is_some() && found.jump[j].abs() > ROUNDING * scale);
    let jumps = moved.map(|j| (names[j].clone(), before[j], found.value[j])).collect();
    let largest = found.impulses.iter().map(|c| size(c)).fold(0.0, f64::max);
    let mut impulses = Vec::new();
    for (order, c) in found.impulses.iter().enumerate() {
        let some = (0..n).filter(|&j| c[j].abs() > ROUNDING * largest);
        impulses.extend(some.map(|j| (names[j].clone(), order, c[j])));
    }
    Some(GivenStart::Jump { jumps, impulses })
}
