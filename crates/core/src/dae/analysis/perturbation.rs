//! The perturbation index: the least m such that an error of a solution is bounded by its defect δ, …, δ⁽ᵐ⁻¹⁾.
//!
//! It is the differentiation index of linear systems, of y' = f(y, z), 0 = g(y, z) with regular g_z, and of systems in Hessenberg form
//!
//! y' = f(y, z), 0 = g(y),    and    y' = f(y, z), z' = k(y, z, u), 0 = g(y).
//!
//! In general it may be larger by any number, where derivatives are multiplied by unknowns. Hairer and Wanner, VII.1; Steinbrecher (2006),
//! section 3.2.

use crate::dae::{Characteristics, System};

/// What is known about the perturbation index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerturbationIndex {
    /// It is the differentiation index, because the system belongs to a class for which that is known.
    Known {
        /// The index.
        index: usize,
        /// The class.
        class: PerturbationClass,
    },
    /// It may be higher than the differentiation index: derivatives are multiplied by unknowns.
    MayBeHigher,
    /// The system belongs to no class for which something is known.
    Open,
    /// There is no differentiation index: something is redundant or undetermined.
    Undefined,
}

/// Classes of systems whose perturbation index is their differentiation index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerturbationClass {
    /// E(t) x' = A(t) x + f(t).
    Linear,
    /// x' = f(t, x).
    Explicit,
    /// y' = f(y, z), 0 = g(y, z) with regular g_z.
    SemiExplicit,
    /// Hessenberg form of order 2 or 3.
    Hessenberg,
}

impl PerturbationClass {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            PerturbationClass::Linear => "linear",
            PerturbationClass::Explicit => "explicit",
            PerturbationClass::SemiExplicit => "semi-explicit",
            PerturbationClass::Hessenberg => "Hessenberg form",
        }
    }
}

pub(super) fn find(system: &System, at: &Characteristics) -> PerturbationIndex {
    let structure = system.structure();
    let Some(index) = at.differentiation_index() else { return PerturbationIndex::Undefined };
    let known = |class| PerturbationIndex::Known { index, class };
    if structure.linear() {
        return known(PerturbationClass::Linear);
    }
    match SemiExplicit::of(system) {
        Some(form) if form.algebraic_rows.is_empty() => known(PerturbationClass::Explicit),
        Some(_) if index == 1 => known(PerturbationClass::SemiExplicit),
        Some(form) if form.is_hessenberg(index, at.values.a) => known(PerturbationClass::Hessenberg),
        _ if at.values.a > 0 && structure.leading_moves() => PerturbationIndex::MayBeHigher,
        _ => PerturbationIndex::Open,
    }
}

/// y_j' = f_j or 0 = g: which unknowns the rows contain.
struct SemiExplicit {
    /// of every differential row: its unknown, and the unknowns of its right side
    differential_rows: Vec<(usize, Vec<usize>)>,
    algebraic_rows: Vec<Vec<usize>>,
    /// is an unknown one without a derivative in the equations?
    algebraic: Vec<bool>,
}

impl SemiExplicit {
    /// Every equation has the derivative of one unknown with a number as its coefficient, each a different one, or none.
    fn of(system: &System) -> Option<Self> {
        if !system.structure().constant_leading() {
            return None;
        }
        let n = system.dim();
        let mut form =
            SemiExplicit { differential_rows: Vec::new(), algebraic_rows: Vec::new(), algebraic: Vec::new() };
        let first = &system.first;
        let (mut unknown, mut rate) = (vec![None; first.graph.inputs().len()], vec![None; first.graph.inputs().len()]);
        for j in 0..n {
            (unknown[first.place(first.x[j])], rate[first.place(first.xdot[j])]) = (Some(j), Some(j));
        }
        let mut moving = vec![false; n];
        for inputs in first.graph.dependencies(&first.equations) {
            let of = |known: &[Option<usize>]| inputs.iter().filter_map(|&i| known[i]).collect::<Vec<usize>>();
            match of(&rate)[..] {
                [] => form.algebraic_rows.push(of(&unknown)),
                [j] if !std::mem::replace(&mut moving[j], true) => form.differential_rows.push((j, of(&unknown))),
                _ => return None,
            }
        }
        form.algebraic = moving.iter().map(|moving| !moving).collect();
        Some(form)
    }

    /// Order two: 0 = g(y). Order three: besides, the rates of what g contains are free of u. Products of the Jacobians are regular where every
    /// constraint brings as many hidden ones as the order says.
    fn is_hessenberg(&self, order: usize, a: usize) -> bool {
        let m = self.algebraic_rows.len();
        let contains_u = |unknowns: &[usize]| unknowns.iter().any(|&j| self.algebraic[j]);
        let rows_of_y = self.algebraic_rows.iter().all(|row| !contains_u(row));
        let mut y = vec![false; self.algebraic.len()];
        self.algebraic_rows.iter().flatten().for_each(|&j| y[j] = true);
        let free_of_u = || self.differential_rows.iter().filter(|(j, _)| y[*j]).all(|(_, row)| !contains_u(row));
        let forms = m == self.algebraic.iter().filter(|a| **a).count() && a == order * m && rows_of_y;
        // z is what u drives; its own rates may contain everything, those of all others no u
        forms && (order == 2 || (order == 3 && free_of_u()))
    }
}
