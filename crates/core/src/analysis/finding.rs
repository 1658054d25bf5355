//! What an analysis found: why a model is impossible, what deserves a second look, what is worth knowing. Every finding names the
//! equations and variables it is about.

use super::constraints::Redundancy;
use crate::linalg::rank::Combination;
use crate::motion::WrongDeclaration;
use crate::motion::consistent::InitialisationError;
use std::fmt;

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model has no motion, or not one.
    Impossible,
    /// The model runs, but does not say what its author means.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// There are no consistent initial values.
    NoStart {
        /// Why, with the equations.
        error: InitialisationError,
    },
    /// The model has no finite value at the start.
    Undefined {
        /// Time.
        t: f64,
    },
    /// A black box does not have the structure that it declares.
    WrongDeclaration {
        /// What was declared, and what refutes it.
        wrong: WrongDeclaration,
    },
    /// Constraints that depend on each other exclude each other.
    Contradiction {
        /// Which, with residuals.
        redundancy: Redundancy,
    },
    /// Mass and constraints together do not determine the accelerations.
    SingularMass {
        /// Accelerations that nothing determines.
        accelerations: Vec<Combination>,
        /// Dynamic equations without acceleration.
        equations: Vec<Combination>,
        /// Constraints that contain these velocities and leave the combinations free.
        constraints: Vec<String>,
    },
    /// Mass and constraints are regular, but with forces that depend on multipliers, or auxiliary equations, something stays open.
    Undetermined {
        /// Combinations of accelerations, auxiliary variables and multipliers.
        unknowns: Vec<Combination>,
    },
    /// Contact equations do not define their variables.
    SingularContact {
        /// Variables.
        variables: Vec<Combination>,
        /// Equations without them, named by their variables.
        equations: Vec<Combination>,
    },
    /// Auxiliary equations do not define their variables.
    SingularAuxiliary {
        /// Variables.
        variables: Vec<Combination>,
        /// Equations without them, named by their variables.
        equations: Vec<Combination>,
    },
    /// The constraints lose rank at the start, but not nearby.
    SingularConfiguration {
        /// Rank here.
        rank: usize,
        /// Rank nearby.
        nearby: usize,
        /// Constraints that depend on each other here.
        constraints: Vec<Combination>,
    },
    /// An invariant changes along the motion.
    WrongInvariant {
        /// Which.
        name: String,
        /// |de/dt| relative to its terms.
        rate: f64,
        /// Its drift.
        drift: f64,
        /// Time at which the test ended.
        until: f64,
    },
    /// The mass matrix has negative eigenvalues.
    IndefiniteMass {
        /// The smallest.
        smallest: f64,
    },
    /// Constraints that the kinematics imply.
    Implied {
        /// Which.
        constraints: Vec<String>,
    },
    /// Constraints repeat each other.
    Redundant {
        /// How.
        constraints: Vec<Combination>,
        /// Multipliers that are not determined.
        multipliers: Vec<Combination>,
        /// Do they repeat each other nearby, too? `None` if no consistent position was found there: then they may lose rank only here.
        nearby: Option<bool>,
    },
}

impl Finding {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Finding::NoStart { .. }
            | Finding::Undefined { .. }
            | Finding::WrongDeclaration { .. }
            | Finding::Contradiction { .. }
            | Finding::SingularMass { .. }
            | Finding::Undetermined { .. }
            | Finding::SingularContact { .. }
            | Finding::SingularAuxiliary { .. }
            | Finding::SingularConfiguration { .. } => Severity::Impossible,
            Finding::WrongInvariant { .. } | Finding::IndefiniteMass { .. } => Severity::Warning,
            Finding::Redundant { nearby: None, .. } => Severity::Warning,
            Finding::Redundant { .. } | Finding::Implied { .. } => Severity::Note,
        }
    }

    /// A short name that programs can rely on.
    pub fn code(&self) -> &'static str {
        match self {
            Finding::NoStart { .. } => "no_consistent_start",
            Finding::Undefined { .. } => "undefined",
            Finding::WrongDeclaration { .. } => "wrong_declaration",
            Finding::Contradiction { .. } => "contradictory_constraints",
            Finding::SingularMass { .. } => "singular_mass",
            Finding::Undetermined { .. } => "undetermined",
            Finding::SingularContact { .. } => "singular_contact",
            Finding::SingularAuxiliary { .. } => "singular_auxiliary",
            Finding::SingularConfiguration { .. } => "singular_configuration",
            Finding::WrongInvariant { .. } => "wrong_invariant",
            Finding::IndefiniteMass { .. } => "indefinite_mass",
            Finding::Implied { .. } => "implied",
            Finding::Redundant { .. } => "redundant",
        }
    }

    /// Equations, constraints and invariants it is about.
    pub fn equations(&self) -> Vec<String> {
        let named = |list: &[Combination]| -> Vec<String> {
            let mut names: Vec<String> = Vec::new();
            for name in list.iter().flat_map(|c| c.names()) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_string());
                }
            }
            names
        };
        match self {
            Finding::NoStart { error: InitialisationError::Contradictory { equations, .. } } => {
                equations.iter().map(|(name, _)| name.clone()).collect()
            }
            Finding::NoStart { error: InitialisationError::NoConvergence { equation, .. } } => vec![equation.clone()],
            Finding::NoStart { .. } | Finding::Undefined { .. } | Finding::IndefiniteMass { .. } => Vec::new(),
            Finding::WrongDeclaration { wrong } => vec![wrong.entry.clone()],
            Finding::Contradiction { redundancy } => named(std::slice::from_ref(&redundancy.combination)),
            Finding::SingularMass { equations, constraints, .. } => {
                named(equations).into_iter().chain(constraints.iter().cloned()).collect()
            }
            Finding::Undetermined { .. } => Vec::new(),
            Finding::SingularContact { equations, .. } | Finding::SingularAuxiliary { equations, .. } => {
                named(equations)
            }
            Finding::SingularConfiguration { constraints, .. } | Finding::Redundant { constraints, .. } => {
                named(constraints)
            }
            Finding::WrongInvariant { name, .. } => vec![name.clone()],
            Finding::Implied { constraints } => constraints.clone(),
        }
    }
}

/// Combinations, one after the other.
fn list(combinations: &[Combination]) -> String {
    combinations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Finding::NoStart { error } => write!(f, "no consistent initial values: {error}"),
            Finding::Undefined { t } => {
                write!(f, "the model gives values that are not finite (NaN or infinity) at the start, t = {t}")
            }
            Finding::WrongDeclaration { wrong } => write!(f, "wrong declaration: {wrong}"),
            Finding::Contradiction { redundancy } => {
                let Redundancy { combination, position, velocity, acceleration, .. } = redundancy;
                write!(f, "contradictory constraints: {combination} does not change, but has the residual ")?;
                if let Some(position) = position {
                    write!(f, "{position:.3e} at position, ")?;
                }
                write!(f, "{velocity:.3e} at velocity and {acceleration:.3e} at acceleration level")
            }
            Finding::SingularMass { accelerations, equations, constraints } => {
                write!(
                    f,
                    "mass and constraints are singular together: nothing determines {}; without acceleration: {}",
                    list(accelerations),
                    list(equations)
                )?;
                if constraints.is_empty() {
                    f.write_str("; no constraint contains these velocities")
                } else {
                    write!(f, "; constraints on these velocities leave them free: {}", constraints.join(", "))
                }
            }
            Finding::Undetermined { unknowns } => write!(
                f,
                "dynamic equations, auxiliary equations and constraints together do not determine {}: a force may cancel its constraint",
                list(unknowns)
            ),
            Finding::SingularContact { variables, equations } => {
                write!(f, "the contact equations ({}) do not define {}", list(equations), list(variables))
            }
            Finding::SingularAuxiliary { variables, equations } => {
                write!(f, "the auxiliary equations ({}) do not define {}", list(equations), list(variables))
            }
            Finding::SingularConfiguration { rank, nearby, constraints } => write!(
                f,
                "singular configuration: the constraints have rank {rank} here and {nearby} nearby, so that the motion may go on in more than one way; dependent here: {}",
                list(constraints)
            ),
            Finding::WrongInvariant { name, rate, drift, until } => write!(
                f,
                "{name} is not invariant: its rate is {rate:.1e} of its terms, and it drifts by {drift:.1e} up to t = {until:.4}; it may be kept only if forces, masses and constraints conserve it"
            ),
            Finding::IndefiniteMass { smallest } => {
                write!(
                    f,
                    "the mass matrix has negative eigenvalues, down to {smallest:.3e}: kinetic energy can be negative"
                )
            }
            Finding::Implied { constraints } => write!(
                f,
                "the kinematics keep {}: kept as a constraint of positions; its multiplier has no force and stays zero",
                constraints.join(", ")
            ),
            Finding::Redundant { constraints, multipliers, nearby } => {
                write!(f, "redundant constraints: {}", list(constraints))?;
                if !multipliers.is_empty() {
                    write!(f, "; not determined: {}", list(multipliers))?;
                }
                if nearby.is_none() {
                    f.write_str("; no consistent position was found nearby, so this may be a singular configuration instead: try other initial positions")?;
                }
                Ok(())
            }
        }
    }
}
