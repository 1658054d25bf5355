//! Which constraints depend on each other, as far as the unknowns without rates are concerned.

use crate::linalg::RankRule;
use crate::linalg::rank::{BESIDE_START, ON_JET};

/// A row that depends on others: k, and the factors with which rows of size one sum to nothing.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::dae) struct Dependent {
    pub row: usize,
    pub combination: Vec<f64>,
    /// Does the row not see the unknowns at all?
    pub blind: bool,
}

impl Dependent {
    /// The other rows it depends on.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let counts = |(i, factor): (usize, &f64)| (factor.abs() > BESIDE_START && i != self.row).then_some(i);
        self.combination.iter().enumerate().filter_map(counts)
    }
}

/// Rows of gradients at a point, taken in some order: those that are independent in these columns, and the others.
pub(in crate::dae) fn dependences(
    gradients: &[Vec<f64>],
    columns: &[usize],
    order: impl IntoIterator<Item = usize>,
    ranks: RankRule,
) -> (Vec<usize>, Vec<Dependent>) {
    let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let (mut independent, mut dependent) = (Vec::new(), Vec::new());
    for row in order {
        let top = size(&gradients[row]);
        let mut rest: Vec<f64> =
            columns.iter().map(|&j| gradients[row][j] / if top > 0.0 { top } else { 1.0 }).collect();
        let before = norm(&rest);
        let blind = before <= ranks.or(ON_JET);
        let mut combination = vec![0.0; gradients.len()];
        combination[row] = 1.0;
        if !blind {
            for _ in 0..2 {
                for (direction, of) in &basis {
                    let along: f64 = direction.iter().zip(&rest).map(|(a, b)| a * b).sum();
                    rest.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
                    combination.iter_mut().zip(of).for_each(|(x, c)| *x -= along * c);
                }
            }
        }
        let left = norm(&rest);
        if !blind && left > ranks.or(BESIDE_START) * before {
            rest.iter_mut().chain(&mut combination).for_each(|x| *x /= left);
            basis.push((rest, combination));
            independent.push(row);
        } else {
            dependent.push(Dependent { row, combination, blind });
        }
    }
    (independent, dependent)
}

/// Largest entry.
pub(super) fn size(row: &[f64]) -> f64 {
    row.iter().fold(0.0_f64, |top, g| top.max(g.abs()))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_vanishes_here_depends_on_another_elsewhere() {
        // F p = …, F = … with the unknown F: p = 0 at the start
        let (independent, dependent) = dependences(&[vec![0.0, 1.0], vec![1.0, 0.0]], &[0], 0..2, RankRule::default());
        assert_eq!((independent, dependent[0].row, dependent[0].blind), (vec![1], 0, true));
        assert_eq!(dependent[0].others().count(), 0);
        let (independent, dependent) =
            dependences(&[vec![0.3, 1.0], vec![1.0, 0.0]], &[0], [1, 0], RankRule::default());
        assert_eq!((independent, dependent[0].blind), (vec![1], false));
        assert_eq!(dependent[0].others().collect::<Vec<_>>(), [1]);
    }
}
