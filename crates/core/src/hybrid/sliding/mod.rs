//! Equations of sliding, generated from the formulas of the modes around a switching surface or around the intersection of several.
//!
//! With one surface g = 0 between ẋ = f⁰ (g > 0) and ẋ = f¹ (g < 0):
//!
//! ```text
//! Filippov             ẋ = α f⁰ + (1 − α) f¹,             0 = g;
//! equivalent control   ẋ = f(x, α u⁰ + (1 − α) u¹),       0 = g.
//! ```
//! The convex parameter α is an unknown; the system slides while 0 ≤ α ≤ 1, and leaves to the side g > 0 where α reaches 1, to the other one where α
//! reaches 0. Wunderlich, thesis (2008), section 5.4, (5.27), (5.33), (5.38). Around the intersection of s surfaces there are 2ˢ modes, with products of
//! αᵢ and 1 − αᵢ as weights (Dieci & Lopez, Numerische Mathematik 117, 2011).

mod difference;
mod equal;
mod equivalent_control;
mod filippov;
mod reduced;
mod vertices;

use crate::dae;
use crate::graph::Expr;
use vertices::Vertices;

pub(super) use difference::difference;

/// A switching function as a formula: from t and the unknowns of the modes to its value, called where arithmetic on them works. The unknowns
/// are those of the first-order form of the first mode, in the order of [`dae::FirstOrder::names`].
pub type SurfaceFormula<'s> = &'s dyn Fn(Expr, &[Expr]) -> Expr;

/// What is combined when a system slides. Both are the same where the equations are affine in what jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combination {
    /// The derivatives of the modes: the limit of small hysteresis.
    #[default]
    Filippov,
    /// The parameters in which the modes differ: the limit of a steep continuous control.
    EquivalentControl,
}

/// Why equations of sliding could not be generated. Modes are called by their places among the vertices, surfaces by theirs, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlidingError {
    /// Not 2ˢ modes around s surfaces.
    #[error("{modes} modes given around {surfaces} surfaces; two are needed around one surface, four around two, …")]
    Count {
        /// How many modes.
        modes: usize,
        /// How many surfaces.
        surfaces: usize,
    },
    /// Modes with other unknowns.
    #[error("mode {mode} does not have the unknowns of mode 0: {}; write a mode for sliding by hand", difference_of_names(.missing, .additional))]
    States {
        /// The mode.
        mode: usize,
        /// What it lacks.
        missing: Vec<String>,
        /// What it has beyond.
        additional: Vec<String>,
    },
    /// Modes with another number of equations.
    #[error("mode {mode} has {rows} equations, mode 0 has {wanted}; write a mode for sliding by hand")]
    Rows {
        /// The mode.
        mode: usize,
        /// How many it has.
        rows: usize,
        /// How many mode 0 has.
        wanted: usize,
    },
    /// A surface that contains derivatives, or something else that is no unknown of the modes.
    #[error("switching function {surface} contains {name}; a system slides along functions of time and unknowns only")]
    Surface {
        /// Which surface.
        surface: usize,
        /// What it contains.
        name: String,
    },
    /// A surface without unknowns.
    #[error("switching function {surface} contains no unknown; nothing slides along it")]
    NoUnknown {
        /// Which surface.
        surface: usize,
    },
    /// Modes that share neither constraints nor leading terms, around an intersection.
    #[error(
        "`{row}` is a constraint, or has a leading term, that differs between modes {modes:?}; around several surfaces this is not combined: write a mode for sliding by hand"
    )]
    Intersection {
        /// Name of the equation.
        row: String,
        /// Two modes.
        modes: [usize; 2],
    },
    /// Unknowns that are differential in one mode and algebraic in the other.
    #[error(
        "{} differential in one mode and algebraic in the other, and `{row}` differs in its leading term or is another constraint; write a mode for sliding by hand",
        are(.states)
    )]
    Split {
        /// Their names.
        states: Vec<String>,
        /// Name of the first equation that is not shared.
        row: String,
    },
    /// A mode that does not determine its derivatives and algebraic unknowns without differentiation.
    #[error(
        "mode {mode} has strangeness index 1 or higher, or is not square, and `{row}` differs in its leading term or is another constraint; write a mode for sliding by hand"
    )]
    Index {
        /// The mode.
        mode: usize,
        /// Name of the first equation that is not shared.
        row: String,
    },
    /// Modes with other parameters.
    #[error("mode {mode} does not have the parameters of mode 0: {}; equivalent control needs modes that differ in numbers only", difference_of_names(.missing, .additional))]
    Parameters {
        /// The mode.
        mode: usize,
        /// What it lacks.
        missing: Vec<String>,
        /// What it has beyond.
        additional: Vec<String>,
    },
    /// Modes with other equations.
    #[error(
        "`{row}` of mode {mode} differs from that of mode 0 in more than numbers of parameters; make what jumps a parameter, or combine derivatives (Filippov)"
    )]
    Formulas {
        /// The mode.
        mode: usize,
        /// Name of the equation.
        row: String,
    },
    /// No parameter jumps at a surface.
    #[error("no parameter changes at switching function {surface}; equivalent control needs one that does")]
    NoControl {
        /// Which surface.
        surface: usize,
    },
}

fn difference_of_names(missing: &[String], additional: &[String]) -> String {
    let parts = [("lacks", missing), ("has also", additional)];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    parts.map(|(what, names)| format!("it {what} {}", names.join(", "))).collect::<Vec<_>>().join(", ")
}

fn are(names: &[String]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// Equations of sliding along s surfaces. The vertices are the 2ˢ modes around their intersection; bit i of the place of a vertex tells on which side of
/// surface i it lies: 0 where the surface is positive, 1 where it is negative.
///
/// The unknowns of the result are those of the first-order form of the first mode, followed by the convex parameters: `alpha` of one surface, `alpha.1`,
/// `alpha.2`, … of several (with an underscore behind where a mode has that name already). αᵢ = 1 is the positive side of surface i. Parameters are bound
/// to their numbers; invariants and outputs of the modes are not carried over.
///
/// Filippov: equations are paired by their names if all modes have the same names, else by their places. Where the terms with ẋ are the same in all modes and
/// linear in ẋ, and the equations without ẋ are the same, what is left of the equations is combined with the weights. Constraints then hold as they do in
/// the modes, whatever the index, and multipliers are those of the sliding motion. Otherwise, with one surface, derivatives ẋ₁ and
/// algebraic unknowns x₂ of both modes become unknowns of their own and are combined,
///
/// ```text
/// ẋ₁ = α w⁰ + (1 − α) w¹,   x₂ = α z⁰ + (1 − α) z¹,   0 = F⁰(t, x₁, z⁰, w⁰),   0 = F¹(t, x₁, z¹, w¹),   0 = g(t, x₁, x₂).
/// ```
/// This needs modes of strangeness index 0 with the same x₁ and x₂. The unknowns w and z, called `x'|0`, `x|0`, `x'|1`, `x|1`, stand behind α.
///
/// ```
/// use daedal::dae::{Equations, Form, Formulas, System};
/// use daedal::graph::Interpreted;
/// use daedal::hybrid::{Combination, sliding_formulas};
/// use daedal::scalar::Scalar;
/// use daedal::{Initial, Options, Problem, RadauIIa, solve};
///
/// /// ẋ = f.
/// struct Field([f64; 2]);
/// impl Equations for Field {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _: S, _: &[S], xdot: &[S], r: &mut [S]) {
///         for i in 0..2 { r[i] = xdot[i] - self.0[i]; }
///     }
/// }
/// let modes = [Field([-1.0, 1.0]), Field([2.0, 0.0])].map(|field| Formulas::trace(&field));
/// let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[0]], Combination::Filippov)?;
/// let system = System::new(&sliding, Interpreted);
/// let problem = Problem::new(&system, Initial::new(0.0, &[0.0, 0.0, 0.5]), 3.0);
/// let end = solve(&problem, &RadauIIa::default(), &Options::default())?.end.x;
/// assert!(end[0].abs() < 1e-9 && (end[1] - 2.0).abs() < 1e-9 && (end[2] - 2.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sliding_formulas(
    vertices: &[&dae::Formulas],
    surfaces: &[SurfaceFormula],
    combination: Combination,
) -> Result<dae::Formulas, SlidingError> {
    // what is not smooth in a mode is not smooth here
    let tables = vertices.iter().flat_map(|mode| mode.tables.iter().cloned()).collect();
    let mut vertices = Vertices::new(vertices, surfaces.len())?;
    let g = vertices.surfaces(surfaces)?;
    let mut arrangement = match combination {
        Combination::Filippov => filippov::combine(vertices)?,
        Combination::EquivalentControl => equivalent_control::combine(vertices)?,
    };
    for (i, g) in g.into_iter().enumerate() {
        let name = if surfaces.len() == 1 { "surface".to_string() } else { format!("surface {}", i + 1) };
        arrangement.equations.push((name, g));
    }
    Ok(dae::Formulas { tables, ..arrangement.formulas() })
}

#[cfg(test)]
mod tests;
