//! Which constraints depend on each other, as far as the unknowns without rates are concerned.

use crate::linalg::RankRule;
use crate::linalg::rank::{BESIDE_START, Elimination, ON_JET};

/// More rows are eliminated as a sparse matrix.
const MOST_DENSE: usize = 200;

/// Entries of a row, as (unknown, slope).
pub(in crate::dae) type SparseRow = Vec<(usize, f64)>;

/// A row that depends on others: k, and the factors with which rows of size one sum to nothing.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::dae) struct DependentRow {
    pub row: usize,
    /// rows and their factors that are not zero
    pub combination: Vec<(usize, f64)>,
    /// Does the row not see the unknowns at all?
    pub blind: bool,
}

impl DependentRow {
    /// The other rows it depends on.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let counts = |&(i, factor): &(usize, f64)| (factor.abs() > BESIDE_START && i != self.row).then_some(i);
        self.combination.iter().filter_map(counts)
    }
}

/// Rows of gradients at a point, taken in some order: those that are independent in these columns, and the others.
pub(in crate::dae) fn dependences(
    gradients: &[SparseRow],
    columns: &[usize],
    order: impl IntoIterator<Item = usize>,
    ranks: RankRule,
) -> (Vec<usize>, Vec<DependentRow>) {
    let width = columns.iter().max().map_or(0, |last| last + 1);
    let mut place = vec![usize::MAX; width];
    columns.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    // rows of size one, in these columns
    let scaled = |row: &SparseRow| {
        let top = size(row);
        let seen = row.iter().filter(|(j, _)| *j < width && place[*j] != usize::MAX);
        seen.map(|&(j, g)| (place[j], g / if top > 0.0 { top } else { 1.0 })).collect::<SparseRow>()
    };
    let (rows, order): (Vec<SparseRow>, Vec<usize>) =
        (gradients.iter().map(scaled).collect(), order.into_iter().collect());
    let blind: Vec<bool> = rows.iter().map(|row| norm(row) <= ranks.or(ON_JET)).collect();
    if gradients.len() > MOST_DENSE {
        return by_pivots(&rows, &blind, columns.len(), &order, ranks);
    }
    let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let (mut independent, mut dependent) = (Vec::new(), Vec::new());
    for row in order {
        let mut rest = vec![0.0; columns.len()];
        rows[row].iter().for_each(|&(k, g)| rest[k] = g);
        let before = norm(&rows[row]);
        let blind = blind[row];
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
        let left = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !blind && left > ranks.or(BESIDE_START) * before {
            rest.iter_mut().chain(&mut combination).for_each(|x| *x /= left);
            basis.push((rest, combination));
            independent.push(row);
        } else {
            let combination = combination.into_iter().enumerate().filter(|(_, c)| *c != 0.0).collect();
            dependent.push(DependentRow { row, combination, blind });
        }
    }
    (independent, dependent)
}

/// The same of many rows. Which of dependent rows get pivots is decided by their lengths, those at the begin of the order before the others.
fn by_pivots(
    rows: &[SparseRow],
    blind: &[bool],
    width: usize,
    order: &[usize],
    ranks: RankRule,
) -> (Vec<usize>, Vec<DependentRow>) {
    let seen = |i: usize| if blind[i] { Vec::new() } else { rows[i].clone() };
    let matrix: Vec<SparseRow> = (0..rows.len()).map(seen).collect();
    let mut found = Elimination::of_rows(matrix.iter().cloned(), width, ranks.or(BESIDE_START));
    // an order that is not the usual one has independent rows first
    let usual = order.iter().enumerate().all(|(k, &i)| k == i);
    if !usual {
        let mut first = vec![false; rows.len()];
        order.windows(2).take_while(|w| w[0] < w[1]).for_each(|w| (first[w[0]], first[w[1]]) = (true, true));
        found.eliminate(|i| first[i], |_| true);
    }
    found.eliminate(|_| true, |_| true);
    let vectors = found.left_null_vectors(&matrix).unwrap_or_default();
    let mut combination_of = vec![None; rows.len()];
    for z in vectors {
        let row = z[0].0;
        combination_of[row] = Some(z);
    }
    let (mut independent, mut dependent) = (Vec::new(), Vec::new());
    for &row in order {
        if found.has_pivot(row) {
            independent.push(row);
        } else {
            let combination = combination_of[row].take().unwrap_or_else(|| vec![(row, 1.0)]);
            dependent.push(DependentRow { row, combination, blind: blind[row] });
        }
    }
    (independent, dependent)
}

/// Largest entry.
pub(super) fn size(row: &[(usize, f64)]) -> f64 {
    row.iter().fold(0.0_f64, |top, (_, g)| top.max(g.abs()))
}

fn norm(row: &[(usize, f64)]) -> f64 {
    row.iter().map(|(_, x)| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_vanishes_here_depends_on_another_elsewhere() {
        // F p = …, F = … with the unknown F: p = 0 at the start
        let rows = |first: f64| [vec![(0, first), (1, 1.0)], vec![(0, 1.0)]];
        let (independent, dependent) = dependences(&rows(0.0), &[0], 0..2, RankRule::default());
        assert_eq!((independent, dependent[0].row, dependent[0].blind), (vec![1], 0, true));
        assert_eq!(dependent[0].others().count(), 0);
        let (independent, dependent) = dependences(&rows(0.3), &[0], [1, 0], RankRule::default());
        assert_eq!((independent, dependent[0].blind), (vec![1], false));
        assert_eq!(dependent[0].others().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn many_rows_depend_on_each_other_as_few_do() {
        // x_i − x_{i+1} on a ring of one size or another: the last one follows, with all factors alike
        for n in [20, MOST_DENSE + 1] {
            let ring: Vec<SparseRow> = (0..n).map(|i| vec![(i, 2.0), ((i + 1) % n, -2.0), (n, 1.0)]).collect();
            let columns: Vec<usize> = (0..n).collect();
            let (independent, dependent) = dependences(&ring, &columns, 0..n, RankRule::default());
            assert_eq!((independent.len(), dependent.len(), dependent[0].blind), (n - 1, 1, false));
            assert_eq!(dependent[0].others().count(), n - 1);
            let own = dependent[0].combination.iter().find(|(i, _)| *i == dependent[0].row).unwrap().1;
            assert!(dependent[0].combination.iter().all(|(_, c)| (c / own - 1.0).abs() < 1e-9));
        }
    }
}
