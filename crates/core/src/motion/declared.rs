//! Does a black box have the structure that it declares?
//!
//! Formulas show their structure; values can only refute a declaration. So all that is declared is tried: at the start, near it, away from it, and
//! at other times. What no point refutes stays the author's word.

use super::{Form, Kinematics, Layout, Mechanism, Names};
use crate::analysis::random::Random;
use crate::linalg::Matrix;
use std::fmt;

/// How far points are from the start, relative to 1 + |x|: for a check, …
pub(crate) const EVERYWHERE: [f64; 7] = [0.0, 1e-2, 1e-2, 0.3, 0.3, 3.0, 3.0];
/// … and before a run, where the start and a second point must do.
const AT_START: [f64; 2] = [0.0, 1e-2];
/// Part of the interval at which points lie in time, one after the other.
const TIMES: [f64; 3] = [0.0, 0.37, 1.0];
/// Differences below this part of the largest value of their block are rounding.
const ROUNDING: f64 = 1e-9;

/// What a black box may declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// M is constant.
    ConstantMass,
    /// M is diagonal.
    DiagonalMass,
    /// p' = v.
    PlainKinematics,
    /// Z is affine in p.
    AffineKinematics,
    /// Time enters nowhere.
    Autonomous,
    /// f, b and d do not depend on λ and μ.
    NoMultipliersInForces,
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Declared::ConstantMass => "a constant mass matrix",
            Declared::DiagonalMass => "a diagonal mass matrix",
            Declared::PlainKinematics => "p' = v",
            Declared::AffineKinematics => "kinematics that are affine in p",
            Declared::Autonomous => "equations without time",
            Declared::NoMultipliersInForces => "forces without multipliers",
        })
    }
}

/// A declaration, and a value that refutes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{declared} is declared, but at t = {t}, p = {p:?} {entry} is {found:e} instead of {told:e}; declare only what holds everywhere"
)]
pub struct WrongDeclaration {
    /// What was declared.
    pub declared: Declared,
    /// Which entry of the mass matrix, or which row.
    pub entry: String,
    /// Time.
    pub t: f64,
    /// Positions.
    pub p: Vec<f64>,
    /// Its value by the declaration.
    pub told: f64,
    /// Its value.
    pub found: f64,
}

/// Declarations of a black box that values refute, each once, by points at these distances from the start. Nothing is found where there are formulas.
pub(crate) fn refuted(
    mechanism: &dyn Mechanism,
    (t, x): (f64, &[f64]),
    tend: f64,
    distances: &[f64],
) -> Vec<WrongDeclaration> {
    if !mechanism.structure().black_box {
        return Vec::new();
    }
    let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
    let mut trial = Trial { mechanism, names: mechanism.names(), start: None, wrong: Vec::new(), layout };
    let mut random = Random::default();
    for (k, &distance) in distances.iter().enumerate() {
        let x: Vec<f64> = x.iter().map(|x| x + distance * (1.0 + x.abs()) * random.next()).collect();
        let direction: Vec<f64> = x.iter().map(|x| 0.1 * (1.0 + x.abs()) * random.next()).collect();
        trial.look((t, t + TIMES[k % TIMES.len()] * (tend - t)), &x, &direction);
    }
    trial.wrong
}

/// Refuse a declaration that the start of a run or a point beside it refutes.
pub(crate) fn check(mechanism: &dyn Mechanism, start: (f64, &[f64]), tend: f64) -> Result<(), Box<WrongDeclaration>> {
    match refuted(mechanism, start, tend, &AT_START).into_iter().next() {
        Some(wrong) => Err(Box::new(wrong)),
        None => Ok(()),
    }
}

/// Values at a point, from scratch: nothing that is kept between points is trusted.
struct DeclaredValues {
    t: f64,
    p: Vec<f64>,
    rows: Vec<f64>,
    M: Matrix,
    K: Matrix,
}

/// An entry of M, or a row.
enum DeclaredEntry {
    Mass(usize, usize),
    Row(usize),
}

struct Trial<'m> {
    mechanism: &'m dyn Mechanism,
    names: Names,
    layout: Layout,
    /// M where it was first seen
    start: Option<Matrix>,
    wrong: Vec<WrongDeclaration>,
}

impl Trial<'_> {
    fn values(&self, t: f64, x: &[f64]) -> Option<DeclaredValues> {
        let mut array = self.mechanism.array(Form::StrangenessFree, false);
        let (l, mut rows) = (&self.layout, vec![0.0; self.layout.rows()]);
        array.evaluate(t, x, &mut rows).ok()?;
        let [M, GZ, HZ] = array.matrices(t, x).ok()?;
        let (n, m) = (l.v().len(), l.lambda().len());
        let (mut mass, mut K) = (Matrix::zeros(n, n), Matrix::zeros(m + l.mu().len(), n));
        M.copy_to(&mut mass, 0);
        GZ.copy_to(&mut K, 0);
        HZ.copy_to(&mut K, m);
        Some(DeclaredValues { t, p: x[l.p()].to_vec(), rows, M: mass, K })
    }

    /// Try every declaration at a point, at the time of the start and at another one. Where the model has no value nothing is seen.
    fn look(&mut self, (t, later): (f64, f64), x: &[f64], direction: &[f64]) {
        let declared = self.mechanism.structure();
        let Some(here) = self.values(t, x) else { return };
        let n = self.layout.v().len();
        let masses = |told: &dyn Fn((usize, usize)) -> f64, M: &Matrix| -> Vec<_> {
            let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            entries.map(|e| (DeclaredEntry::Mass(e.0, e.1), told(e), M[e])).collect()
        };
        if declared.mass.is_constant() {
            let start = self.start.get_or_insert_with(|| here.M.clone());
            let entries = masses(&|e| start[e], &here.M);
            self.judge(Declared::ConstantMass, &here, entries);
        }
        if declared.mass.is_diagonal() {
            let entries = masses(&|(i, j)| if i == j { here.M[(i, j)] } else { 0.0 }, &here.M);
            self.judge(Declared::DiagonalMass, &here, entries);
        }
        match declared.kinematics {
            Kinematics::Plain => {
                let rates = self.layout.row_kinematics().zip(&x[self.layout.v()]);
                let entries = rates.map(|(i, v)| (DeclaredEntry::Row(i), *v, here.rows[i])).collect();
                self.judge(Declared::PlainKinematics, &here, entries);
            }
            Kinematics::Affine => self.look_along(&here, x, direction),
            Kinematics::General => {}
        }
        if declared.autonomous
            && let Some(then) = self.values(later, x)
        {
            let rows = here.rows.iter().zip(&then.rows).enumerate().map(|(i, (a, b))| (DeclaredEntry::Row(i), *a, *b));
            self.judge(Declared::Autonomous, &then, rows.collect());
            self.judge(Declared::Autonomous, &then, masses(&|e| here.M[e], &then.M));
        }
        if !declared.multipliers_in_forces {
            self.look_without_multipliers(&here, x);
        }
    }

    /// An affine function has no second difference.
    fn look_along(&mut self, here: &DeclaredValues, x: &[f64], direction: &[f64]) {
        let [ahead, behind] = [1.0, -1.0].map(|sign| {
            let mut moved = x.to_vec();
            self.layout.p().for_each(|j| moved[j] += sign * direction[j]);
            self.values(here.t, &moved)
        });
        if let (Some(ahead), Some(behind)) = (ahead, behind) {
            let told = |i: usize| 2.0 * here.rows[i] - behind.rows[i];
            let rows = self.layout.row_kinematics().map(|i| (DeclaredEntry::Row(i), told(i), ahead.rows[i])).collect();
            self.judge(Declared::AffineKinematics, &ahead, rows);
        }
    }

    /// Without λ and μ the dynamic rows lack (GZ)ᵀλ + (HZ)ᵀμ, and b and d nothing.
    fn look_without_multipliers(&mut self, here: &DeclaredValues, x: &[f64]) {
        let l = &self.layout;
        let multipliers = l.lambda().start..l.mu().end;
        let mut without = x.to_vec();
        without[multipliers.clone()].fill(0.0);
        let Some(free) = self.values(here.t, &without) else { return };
        let force =
            |i: usize| -> f64 { x[multipliers.clone()].iter().enumerate().map(|(k, m)| here.K[(k, i)] * m).sum() };
        let dynamics = l.row_dynamics().enumerate().map(|(k, i)| (i, free.rows[i] + force(k)));
        let others = l.row_auxiliary().chain(l.row_dynamic()).map(|i| (i, free.rows[i]));
        let rows = dynamics.chain(others).map(|(i, told)| (DeclaredEntry::Row(i), told, here.rows[i])).collect();
        self.judge(Declared::NoMultipliersInForces, here, rows);
    }

    /// Keep the largest contradiction among (entry, told, found), unless the declaration is refuted already.
    fn judge(&mut self, declared: Declared, at: &DeclaredValues, values: Vec<(DeclaredEntry, f64, f64)>) {
        let size = values.iter().fold(0.0_f64, |most, (_, told, found)| most.max(told.abs()).max(found.abs()));
        let off = |(_, told, found): &(DeclaredEntry, f64, f64)| (told - found).abs();
        let worst = values.into_iter().max_by(|a, b| off(a).total_cmp(&off(b))).filter(|v| off(v) > ROUNDING * size);
        if let Some((entry, told, found)) = worst
            && self.wrong.iter().all(|wrong| wrong.declared != declared)
        {
            let entry = match entry {
                DeclaredEntry::Mass(i, j) => format!("M[{}, {}]", self.names.velocities[i], self.names.velocities[j]),
                DeclaredEntry::Row(i) => self.row(i),
            };
            self.wrong.push(WrongDeclaration { declared, entry, t: at.t, p: at.p.clone(), told, found });
        }
    }

    /// What a row is called.
    fn row(&self, i: usize) -> String {
        let (l, names) = (&self.layout, &self.names);
        let blocks = [
            (l.row_dynamics(), &names.velocities, "the dynamic equation of "),
            (l.row_auxiliary(), &names.auxiliary, "the equation of "),
            (l.row_g2(), &names.holonomic, "the second derivative of "),
            (l.row_h1(), &names.nonholonomic, "the derivative of "),
            (l.row_g1(), &names.holonomic, "the derivative of "),
            (l.row_h(), &names.nonholonomic, ""),
            (l.row_contact(), &names.contact, "the equation of "),
            (l.row_g(), &names.holonomic, ""),
            (l.row_dynamic(), &names.dynamic, "the rate of "),
            (l.row_acceleration(), &names.velocities, "the rate of "),
            (l.row_kinematics(), &names.positions, "the rate of "),
        ];
        let own = blocks.iter().find(|(rows, ..)| rows.contains(&i));
        own.map_or(String::new(), |(rows, names, what)| format!("{what}{}", names[i - rows.start]))
    }
}
