//! Matrices of which few entries may differ from zero, row by row. The pattern is that of their making.

use super::Matrix;

/// A sparse matrix, stored row by row, columns ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    cols: usize,
    /// entries of row i are those from `starts[i]` to `starts[i + 1]`
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// Zeros at these places (row, column), in any order.
    pub fn new(rows: usize, cols: usize, mut places: Vec<(usize, usize)>) -> Self {
        places.sort_unstable();
        places.dedup();
        let mut starts = vec![0; rows + 1];
        for &(i, j) in &places {
            assert!(i < rows && j < cols, "({i}, {j}) of {rows} × {cols}");
            starts[i + 1] += 1;
        }
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        let values = vec![0.0; places.len()];
        SparseMatrix { cols, starts, columns: places.into_iter().map(|(_, j)| j).collect(), values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Columns and values of row i.
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Row i times x.
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        columns.iter().zip(values).map(|(&j, value)| value * x[j]).sum()
    }

    /// Values of row i, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[self.starts[i]..self.starts[i + 1]]
    }

    /// Which of the values stands at a place, if that is one of the pattern.
    pub fn position(&self, (i, j): (usize, usize)) -> Option<usize> {
        self.row(i).0.binary_search(&j).ok().map(|k| self.starts[i] + k)
    }

    /// All values, in the order of the rows.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, in the order of the rows.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Row and column of all values, in their order.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows()).flat_map(|i| self.row(i).0.iter().map(move |&j| (i, j)))
    }

    /// Has another one the same pattern?
    pub fn has_pattern_of(&self, other: &Self) -> bool {
        (self.cols, &self.starts, &self.columns) == (other.cols, &other.starts, &other.columns)
    }

    /// This matrix above another one of as many columns.
    pub fn above(&self, lower: &Self) -> Self {
        assert_eq!(self.cols, lower.cols, "columns of two matrices");
        let end = self.values.len();
        SparseMatrix {
            cols: self.cols,
            starts: self.starts.iter().copied().chain(lower.starts[1..].iter().map(|start| end + start)).collect(),
            columns: [&self.columns[..], &lower.columns].concat(),
            values: [&self.values[..], &lower.values].concat(),
        }
    }

    /// Take the values of a matrix that has the pattern of the rows from `first` on.
    pub fn take_rows(&mut self, other: &Self, first: usize) {
        let (start, length) = (self.starts[first], other.values.len());
        debug_assert_eq!(self.columns[start..start + length], other.columns);
        self.values[start..start + length].copy_from_slice(&other.values);
    }

    /// y ← y + Aᵀ x.
    pub fn add_transposed_times(&self, x: &[f64], y: &mut [f64]) {
        for (i, x) in x.iter().enumerate() {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).for_each(|(&j, value)| y[j] += value * x);
        }
    }

    /// Entry (i, j) ← factor × entry × columnⱼ in row i.
    pub fn scale_row(&mut self, i: usize, factor: f64, columns: &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        let places = &self.columns[range.clone()];
        self.values[range].iter_mut().zip(places).for_each(|(value, &j)| *value *= factor * columns[j]);
    }

    /// Row i ← row i + factor × entries (column, value), columns ascending, all of them places of row i.
    pub fn add_to_row(&mut self, i: usize, factor: f64, entries: impl Iterator<Item = (usize, f64)>) {
        let (start, end) = (self.starts[i], self.starts[i + 1]);
        add(&self.columns[start..end], &mut self.values[start..end], factor, entries);
    }

    /// Row i ← row i + factor × row k, whose places are among those of row i ≠ k.
    pub fn add_own_row(&mut self, i: usize, factor: f64, k: usize) {
        let ([to, to_end], [from, from_end]) = [i, k].map(|i| [self.starts[i], self.starts[i + 1]]).into();
        let (head, tail) = self.values.split_at_mut(to.max(from));
        let (target, source) = if to > from {
            (&mut tail[..to_end - to], &head[from..from_end])
        } else {
            (&mut head[to..to_end], &tail[..from_end - from])
        };
        let entries = self.columns[from..from_end].iter().copied().zip(source.iter().copied());
        add(&self.columns[to..to_end], target, factor, entries);
    }

    /// With all entries.
    pub fn to_dense(&self) -> Matrix {
        let mut dense = Matrix::zeros(self.rows(), self.cols);
        self.copy_to(&mut dense, 0);
        dense
    }

    /// Copy all entries to the rows of a matrix of as many columns, from `first` on.
    pub fn copy_to(&self, out: &mut Matrix, first: usize) {
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            let row = out.row_mut(first + i);
            row.fill(0.0);
            columns.iter().zip(values).for_each(|(&j, &value)| row[j] = value);
        }
    }
}

/// values ← values + factor × entries; both go through their columns once.
fn add(columns: &[usize], values: &mut [f64], factor: f64, entries: impl Iterator<Item = (usize, f64)>) {
    let mut k = 0;
    for (j, value) in entries {
        while columns.get(k).is_some_and(|&column| column < j) {
            k += 1;
        }
        if columns.get(k) == Some(&j) {
            values[k] += factor * value;
        } else {
            assert!(factor * value == 0.0, "column {j} is no place of the pattern");
        }
    }
}
