//! Tolerances and the weights they give to errors.

use crate::motion::Layout;

/// Relative and absolute tolerance: an error e in component x counts as |e|/(atol + rtol |x|).
#[derive(Clone, Debug, PartialEq)]
pub enum Tolerance {
    /// The same for all components.
    Uniform {
        /// Relative tolerance.
        rtol: f64,
        /// Absolute tolerance.
        atol: f64,
    },
    /// One pair (rtol, atol) per unknown, in the order in which variables are shown: p, v, r, w, s, λ, μ.
    PerComponent(Vec<(f64, f64)>),
    /// Absolute tolerances of single unknowns by their names, which modes with different unknowns have in common; all others have `atol`.
    Named {
        /// Relative tolerance.
        rtol: f64,
        /// Absolute tolerance of unknowns that are not named.
        atol: f64,
        /// Name of an unknown, its absolute tolerance.
        of: Vec<(String, f64)>,
    },
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance::Uniform { rtol: 1e-7, atol: 1e-7 }
    }
}

/// A tolerance that cannot be met or does not fit the system.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadTolerance {
    /// rtol is not a number above rounding, or atol is not positive.
    #[error(
        "impossible tolerance: rtol = {rtol:e}, atol = {atol:e}; rtol must lie between {:e} and 1 (double precision has no more digits), atol must be positive and finite",
        Tolerance::SMALLEST_RTOL
    )]
    Impossible {
        /// Relative tolerance.
        rtol: f64,
        /// Absolute tolerance.
        atol: f64,
    },
    /// Tolerances by name where nobody knows the names.
    #[error("tolerances are given by name, but the unknowns have none here: give one pair for each of them")]
    NoNames,
    /// Not as many pairs as unknowns.
    #[error("{given} tolerances given for {wanted} unknowns (of a mechanism: p, v, r, w, s, lambda, mu)")]
    WrongLength {
        /// How many were given.
        given: usize,
        /// How many unknowns there are.
        wanted: usize,
    },
}

impl Tolerance {
    /// Smallest relative tolerance: ten times rounding.
    pub const SMALLEST_RTOL: f64 = 10.0 * f64::EPSILON;

    /// rtol for relative, the same for absolute tolerance.
    pub fn new(rtol: f64, atol: f64) -> Self {
        Tolerance::Uniform { rtol, atol }
    }

    /// The smallest relative tolerance.
    pub fn rtol(&self) -> f64 {
        match self {
            Tolerance::Uniform { rtol, .. } | Tolerance::Named { rtol, .. } => *rtol,
            Tolerance::PerComponent(pairs) => pairs.iter().fold(1.0, |least, (rtol, _)| rtol.min(least)),
        }
    }

    /// The pair of the unknown of this name; none where tolerances are given by the order of the unknowns.
    pub fn of(&self, name: &str) -> Option<(f64, f64)> {
        match self {
            Tolerance::Uniform { rtol, atol } => Some((*rtol, *atol)),
            Tolerance::PerComponent(_) => None,
            Tolerance::Named { rtol, atol, of } => {
                let own = of.iter().find(|(known, _)| known == name);
                Some((*rtol, own.map_or(*atol, |(_, own)| *own)))
            }
        }
    }

    /// The pair of unknowns that are not named; none where tolerances are given by the order of the unknowns.
    pub fn usual(&self) -> Option<(f64, f64)> {
        match self {
            Tolerance::Uniform { rtol, atol } | Tolerance::Named { rtol, atol, .. } => Some((*rtol, *atol)),
            Tolerance::PerComponent(_) => None,
        }
    }

    /// Pairs (rtol, atol) for every unknown in the order of x, accelerations included (they do not count).
    pub fn pairs(&self, layout: &Layout) -> Result<Vec<(f64, f64)>, BadTolerance> {
        let counted = layout.dim() - layout.a().len();
        let pairs = match self {
            Tolerance::Uniform { rtol, atol } => vec![(*rtol, *atol); layout.dim()],
            Tolerance::PerComponent(list) if list.len() == counted => {
                let mut pairs = vec![(1e-3, 1e-3); layout.dim()];
                for (&place, &pair) in layout.shown().iter().zip(list) {
                    pairs[place] = pair;
                }
                pairs
            }
            Tolerance::PerComponent(list) => {
                return Err(BadTolerance::WrongLength { given: list.len(), wanted: counted });
            }
            Tolerance::Named { .. } => return Err(BadTolerance::NoNames),
        };
        Self::possible(pairs)
    }

    /// Pairs (rtol, atol) for the unknowns of a general system, those that do not count included.
    pub fn pairs_where(&self, counts: &[bool]) -> Result<Vec<(f64, f64)>, BadTolerance> {
        let counted = counts.iter().filter(|counts| **counts).count();
        let pairs = match self {
            Tolerance::Uniform { rtol, atol } => vec![(*rtol, *atol); counts.len()],
            Tolerance::PerComponent(list) if list.len() == counted => {
                let mut list = list.iter();
                counts
                    .iter()
                    .map(|counts| if *counts { list.next() } else { None }.copied().unwrap_or((1e-3, 1e-3)))
                    .collect()
            }
            Tolerance::PerComponent(list) => {
                return Err(BadTolerance::WrongLength { given: list.len(), wanted: counted });
            }
            Tolerance::Named { .. } => return Err(BadTolerance::NoNames),
        };
        Self::possible(pairs)
    }

    /// Pairs (rtol, atol) for the first unknowns of a state; auxiliary ones behind those that tolerances are given for have the last.
    pub(crate) fn of_states(&self, dim: usize) -> Vec<(f64, f64)> {
        match self {
            Tolerance::Uniform { rtol, atol } | Tolerance::Named { rtol, atol, .. } => vec![(*rtol, *atol); dim],
            Tolerance::PerComponent(list) => {
                let rest = list.last().copied().unwrap_or((1e-3, 1e-3));
                list.iter().copied().chain(std::iter::repeat(rest)).take(dim).collect()
            }
        }
    }

    fn possible(pairs: Vec<(f64, f64)>) -> Result<Vec<(f64, f64)>, BadTolerance> {
        match pairs.iter().find(|(r, a)| !(*r > Self::SMALLEST_RTOL && *r <= 1.0 && *a > 0.0 && a.is_finite())) {
            Some(&(rtol, atol)) => Err(BadTolerance::Impossible { rtol, atol }),
            None => Ok(pairs),
        }
    }
}
