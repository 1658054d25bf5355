//! The algebraic part of the Newton systems: decomposed once per Jacobian, whatever the step size. Steinbrecher (2007), section 5.
//!
//! The rows −∂k/∂x of [`Layout`] form
//!
//! ```text
//!      C = [ F₁ . . . ; 0 0 F₂ . ; 0 0 0 F₃ ]    algebraic rows, three diagonal blocks
//!      B                                         differential rows
//! ```
//! Each block is brought to Q F P = [R S; 0 0]. Columns are exchanged (LU, QR) or rotated (SVD) so that R stands first in its block.
//! Then the pivot columns of B and of the leading matrix D are eliminated with the rows of C, where they are needed; the factors L_B, L_D stay in the pivot
//! columns, the results V_B, V_D in the free ones. Nothing here depends on the step size.
//!
//! With invariants, blocks 2 and 3 are one: where an invariant does not restrict the velocities, as energy at a turning point, it
//! restricts the positions.

use super::Decomposition;
use crate::linalg::rank::{AT_POINT, Scales, Scaling};
use crate::linalg::{CompleteLu, Matrix, NoConvergence, PivotedQr, RankGap, RankRule, Svd};
use crate::motion::{Form, Layout};
use std::ops::Range;

enum BlockDecomposition {
    Lu(CompleteLu),
    Qr(PivotedQr),
    Svd(Box<Svd>),
}

struct Block {
    rows: Range<usize>,
    /// columns among which pivots are searched
    cols: Range<usize>,
    kernel: BlockDecomposition,
    rank: usize,
    /// largest entry seen so far
    largest: f64,
}

/// The decomposed algebraic part.
pub struct ConstraintPart {
    layout: Layout,
    /// −∂k/∂x on entry to [`ConstraintPart::decompose`]; factors, L_B and V_B after it.
    pub F: Matrix,
    /// L_D and V_D, one row per differential row; D and B before their rows are [eliminated](ConstraintPart::eliminate).
    pub D: Matrix,
    eliminated: Vec<bool>,
    blocks: Vec<Block>,
    /// rows and columns of the pivots of all blocks
    pivot_places: Vec<(usize, usize)>,
    /// which unknown stands in each column
    order: Vec<usize>,
    /// are columns rotated by an SVD?
    rotated: bool,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
    scaled: bool,
    /// pivots below this, relative to the largest seen, count as zero
    rank_tolerance: f64,
    /// Columns whose unknowns the differential part determines.
    pub free: Vec<usize>,
    buffer: Vec<f64>,
}

impl ConstraintPart {
    /// Room for a system of this layout.
    pub fn new(layout: &Layout, decomposition: Decomposition, ranks: RankRule) -> Self {
        let n = layout.dim();
        let first = match layout.form {
            Form::StrangenessFree => 0..layout.n1(),
            // λ and μ stay free: they are index-2 variables
            Form::IndexOne => 0..layout.w().end,
        };
        let [one, two, three] = layout.algebraic_blocks();
        let (v, sp) = (layout.v(), layout.s().start..layout.p().end);
        let parts = if layout.row_invariants().is_empty() {
            vec![(one, first), (two, v), (three, sp)]
        } else {
            vec![(one, first), (two.start..three.end, v.start..sp.end)]
        };
        let blocks = parts
            .into_iter()
            .map(|(rows, cols)| {
                let kernel = match decomposition {
                    Decomposition::Lu => BlockDecomposition::Lu(CompleteLu::new(rows.clone())),
                    Decomposition::Qr => BlockDecomposition::Qr(PivotedQr::new(rows.clone(), n)),
                    Decomposition::Svd => BlockDecomposition::Svd(Box::new(Svd::new(rows.len(), cols.len()))),
                };
                Block { rows, cols, kernel, rank: 0, largest: 0.0 }
            })
            .collect();
        ConstraintPart {
            F: Matrix::zeros(layout.rows(), n),
            D: Matrix::zeros(layout.differential(), n),
            eliminated: vec![false; layout.differential()],
            blocks,
            pivot_places: Vec::with_capacity(n),
            order: (0..n).collect(),
            rotated: decomposition == Decomposition::Svd,
            row_scale: vec![1.0; layout.algebraic()],
            col_scale: vec![1.0; n],
            scaled: false,
            rank_tolerance: ranks.or(AT_POINT),
            free: Vec::with_capacity(n),
            buffer: vec![0.0; n.max(layout.rows())],
            layout: layout.clone(),
        }
    }

    /// Forget the scaling and the sizes seen so far.
    pub fn restart(&mut self) {
        self.scaled = false;
        for block in &mut self.blocks {
            block.largest = 0.0;
        }
    }

    /// Decompose the Jacobian in [`ConstraintPart::F`]; gives the ranks of the three blocks, the last one empty with invariants.
    pub fn decompose(&mut self) -> Result<[RankGap; 3], NoConvergence> {
        if !self.scaled {
            self.equilibrate();
            self.scaled = true;
        }
        self.scale();
        for (j, o) in self.order.iter_mut().enumerate() {
            *o = j;
        }
        let mut ranks = [RankGap::default(); 3];
        for q in 0..self.blocks.len() {
            ranks[q] = self.factor_block(q)?;
        }
        self.pivot_places.clear();
        for block in &self.blocks {
            self.pivot_places.extend((0..block.rank).map(|k| (block.rows.start + k, block.cols.start + k)));
        }
        self.leading_matrix();
        self.eliminated.fill(false);
        self.find_free();
        Ok(ranks)
    }

    /// The same at a point that need not be close to the solution: its sizes are forgotten again.
    pub fn decompose_in_passing(&mut self) -> Result<[RankGap; 3], NoConvergence> {
        let mut seen = [0.0; 3];
        seen.iter_mut().zip(&self.blocks).for_each(|(seen, block)| *seen = block.largest);
        let ranks = self.decompose();
        self.blocks.iter_mut().zip(seen).for_each(|(block, seen)| block.largest = seen);
        ranks
    }

    fn factor_block(&mut self, q: usize) -> Result<RankGap, NoConvergence> {
        let block = &mut self.blocks[q];
        let (rows, cols) = (block.rows.clone(), block.cols.clone());
        for i in rows.clone() {
            for x in &self.F.row(i)[cols.clone()] {
                block.largest = block.largest.max(x.abs());
            }
        }
        let threshold = self.rank_tolerance * block.largest;
        block.rank = match &mut block.kernel {
            BlockDecomposition::Lu(lu) => lu.factor(&mut self.F, &cols, threshold, &mut self.order),
            BlockDecomposition::Qr(qr) => qr.factor(&mut self.F, &cols, threshold, &mut self.order),
            BlockDecomposition::Svd(svd) => rotate(svd, &mut self.F, &rows, &cols, threshold, &mut self.buffer)?,
        };
        let gap = match &block.kernel {
            BlockDecomposition::Svd(svd) => RankGap::of(svd, threshold),
            _ => {
                let pivots = (0..block.rank).map(|k| self.F[(rows.start + k, cols.start + k)].abs());
                let rest = (rows.start + block.rank..rows.end)
                    .flat_map(|i| &self.F.row(i)[cols.start + block.rank..cols.end])
                    .fold(0.0_f64, |m, x| m.max(x.abs()));
                let (kept, dropped) = (pivots.fold(f64::INFINITY, f64::min), rest);
                RankGap { rows: rows.len(), cols: cols.len(), rank: block.rank, threshold, kept, dropped }
            }
        };
        Ok(gap.relative_to(block.largest))
    }

    /// D = [0 I 0 0; 0 0 I 0; 0 0 0 (0 I)] in the new columns.
    fn leading_matrix(&mut self) {
        self.D.fill(0.0);
        let l = &self.layout;
        for i in 0..l.r().len() {
            self.D[(i, l.r().start + i)] = 1.0;
        }
        // unknown `start + i` of block q belongs to differential row `row + i`
        let last = self.blocks.len() - 1;
        for (q, unknowns, row) in [(1, l.v(), l.r().len()), (last, l.p(), l.r().len() + l.v().len())] {
            let cols = &self.blocks[q].cols;
            if let BlockDecomposition::Svd(svd) = &self.blocks[q].kernel {
                let shift = unknowns.start - cols.start;
                for i in 0..unknowns.len() {
                    for k in 0..cols.len() {
                        self.D[(row + i, cols.start + k)] = svd.V[(shift + i, k)];
                    }
                }
            } else {
                for j in cols.clone() {
                    if unknowns.contains(&self.order[j]) {
                        self.D[(row + self.order[j] - unknowns.start, j)] = 1.0;
                    }
                }
            }
        }
    }

    /// Eliminate the pivot columns in a row of B and D, if that was not done yet: X ← X + L [F₁; F₂; F₃], L left in the pivot columns.
    /// Most rows are needed where they are selected only.
    pub fn eliminate(&mut self, i: usize) {
        if std::mem::replace(&mut self.eliminated[i], true) {
            return;
        }
        let (algebraic, n) = (self.layout.algebraic(), self.F.cols());
        let first = self.blocks[0].rank;
        for (k, &(row, col)) in self.pivot_places.iter().enumerate() {
            let (pivot, target) = self.F.row_pair(row, algebraic + i);
            eliminate_entry(pivot, target, col, n);
            if k >= first {
                eliminate_entry(self.F.row(row), self.D.row_mut(i), col, n);
            }
        }
    }

    /// Free columns: λ, μ of the s-index-1 form, r, and what the constraints leave of v and of (s, p). Null directions of the
    /// multipliers in the strangeness-free form are not among them: they keep their values.
    fn find_free(&mut self) {
        self.free.clear();
        let after = |block: &Block| block.cols.start + block.rank..block.cols.end;
        if self.layout.form == Form::IndexOne {
            self.free.extend(self.layout.lambda().chain(self.layout.mu()));
        }
        self.free.extend(self.layout.r());
        self.free.extend(self.blocks[1..].iter().flat_map(after));
    }

    /// How many of the free columns belong to λ, μ / r / v / (s, p); the last two together with invariants.
    pub fn free_counts(&self) -> [usize; 4] {
        let left = |block: &Block| block.cols.len() - block.rank;
        let multipliers =
            if self.layout.form == Form::IndexOne { self.layout.lambda().len() + self.layout.mu().len() } else { 0 };
        [multipliers, self.layout.r().len(), left(&self.blocks[1]), self.blocks.get(2).map_or(0, left)]
    }

    /// Rows and columns of R in the blocks.
    pub fn pivots(&self) -> [(Range<usize>, Range<usize>); 3] {
        std::array::from_fn(|q| {
            self.blocks
                .get(q)
                .map_or((0..0, 0..0), |b| (b.rows.start..b.rows.start + b.rank, b.cols.start..b.cols.start + b.rank))
        })
    }

    /// Marks the unknowns that are pivots of blocks 2 and 3.
    pub fn mark_pivots(&self, marks: &mut [bool]) {
        marks.fill(false);
        for block in &self.blocks[1..] {
            for k in 0..block.rank {
                marks[self.order[block.cols.start + k]] = true;
            }
        }
    }

    /// b ← Q b: right-hand sides of the algebraic rows, block by block.
    pub fn transform(&mut self, b: &mut [f64]) {
        for (b, scale) in b.iter_mut().zip(&self.row_scale) {
            *b *= scale;
        }
        for block in &self.blocks {
            let rows = block.rows.clone();
            let part = &mut b[rows.clone()];
            match &block.kernel {
                BlockDecomposition::Lu(lu) => lu.transform(&self.F, &block.cols, part),
                BlockDecomposition::Qr(qr) => qr.transform(&self.F, &block.cols, part),
                BlockDecomposition::Svd(svd) => {
                    let buffer = &mut self.buffer[..rows.len()];
                    for (k, y) in buffer.iter_mut().enumerate() {
                        *y = part.iter().enumerate().map(|(i, b)| svd.U[(i, k)] * b).sum();
                    }
                    part.copy_from_slice(buffer);
                }
            }
        }
    }

    /// What the transformed right-hand side says about the rows that are dropped as redundant, with the number of their block.
    pub fn neglected<'b>(&'b self, b: &'b [f64]) -> impl Iterator<Item = (usize, f64)> + 'b {
        self.blocks
            .iter()
            .enumerate()
            .flat_map(move |(q, block)| b[block.rows.start + block.rank..block.rows.end].iter().map(move |&r| (q, r)))
    }

    /// Solve R ζ = c − S ζ upwards for the pivot columns, ζ given in the free ones, and put the unknowns back in order.
    pub fn substitute(&mut self, c: &[f64], zeta: &mut [f64], xi: &mut [f64]) {
        for &(row, col) in self.pivot_places.iter().rev() {
            let f = &self.F.row(row)[col..];
            let Some((z, known)) = zeta[col..].split_first_mut() else { continue };
            let known: f64 = f[1..].iter().zip(known).map(|(f, z)| f * *z).sum();
            *z = (c[row] - known) / f[0];
        }
        if !self.rotated {
            for (&unknown, z) in self.order.iter().zip(zeta.iter()) {
                xi[unknown] = self.col_scale[unknown] * z;
            }
            return;
        }
        xi.copy_from_slice(zeta);
        for block in &self.blocks {
            if let BlockDecomposition::Svd(svd) = &block.kernel {
                let zeta = &zeta[block.cols.clone()];
                for (i, x) in xi[block.cols.clone()].iter_mut().enumerate() {
                    *x = zeta.iter().enumerate().map(|(k, z)| svd.V[(i, k)] * z).sum();
                }
            }
        }
        for (x, scale) in xi.iter_mut().zip(&self.col_scale) {
            *x *= scale;
        }
    }

    /// Basis of the multiplier combinations that the constraints leave undetermined, one vector over x per entry.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        let block = &self.blocks[0];
        let BlockDecomposition::Svd(svd) = &block.kernel else { return Vec::new() };
        (block.rank..block.cols.len())
            .map(|k| {
                let mut x: Vec<f64> = (0..block.cols.len()).map(|i| svd.V[(i, k)] * self.col_scale[i]).collect();
                let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                for x in &mut x {
                    *x /= norm;
                }
                x
            })
            .collect()
    }

    /// Rows of −[GZ; HZ]; to be read before [`ConstraintPart::decompose`].
    pub fn velocity_rows(&self) -> impl Iterator<Item = &[f64]> {
        let (rows, cols) = (self.layout.row_g1().start..self.layout.row_h().end, self.layout.v());
        rows.map(move |i| &self.F.row(i)[cols.clone()])
    }

    /// Scales that make the entries of block 1 (rows and columns) and of blocks 2 and 3 (rows) comparable. Found at the first
    /// Jacobian and kept, so that a block which loses rank is seen to shrink.
    fn equilibrate(&mut self) {
        self.row_scale.fill(1.0);
        self.col_scale.fill(1.0);
        for (q, block) in self.blocks.iter().enumerate() {
            let (rows, cols) = (block.rows.clone(), block.cols.clone());
            let scaling = if q == 0 { Scaling::Both } else { Scaling::Rows };
            let entry = |i: usize, j: usize| self.F[(rows.start + i, cols.start + j)];
            let scales = Scales::of_entries((rows.len(), cols.len()), entry, scaling);
            self.row_scale[rows].copy_from_slice(&scales.rows);
            if q == 0 {
                self.col_scale[cols].copy_from_slice(&scales.columns);
            }
        }
    }

    fn scale(&mut self) {
        for i in 0..self.F.rows() {
            let r = if i < self.row_scale.len() { self.row_scale[i] } else { 1.0 };
            for (x, c) in self.F.row_mut(i).iter_mut().zip(&self.col_scale) {
                *x *= r * c;
            }
        }
    }
}

/// row ← row + l · pivot so that its entry in `col` would vanish; l is stored there.
#[inline]
fn eliminate_entry(pivot: &[f64], row: &mut [f64], col: usize, n: usize) {
    if row[col] != 0.0 {
        let l = -row[col] / pivot[col];
        row[col] = l;
        for (x, p) in row[col + 1..n].iter_mut().zip(&pivot[col + 1..n]) {
            *x += l * p;
        }
    }
}

/// Uᵀ F V on a block: Σ in the block, Uᵀ on the columns to the right, V on the same columns of all other rows.
fn rotate(
    svd: &mut Svd,
    F: &mut Matrix,
    rows: &Range<usize>,
    cols: &Range<usize>,
    threshold: f64,
    buffer: &mut [f64],
) -> Result<usize, NoConvergence> {
    for (i, row) in rows.clone().enumerate() {
        for (j, &x) in F.row(row)[cols.clone()].iter().enumerate() {
            svd.A[(i, j)] = x;
        }
    }
    svd.factor()?;
    for row in (0..F.rows()).filter(|row| !rows.contains(row)) {
        let part = &mut F.row_mut(row)[cols.clone()];
        if part.iter().any(|&x| x != 0.0) {
            let buffer = &mut buffer[..cols.len()];
            for (k, y) in buffer.iter_mut().enumerate() {
                *y = part.iter().enumerate().map(|(i, x)| x * svd.V[(i, k)]).sum();
            }
            part.copy_from_slice(buffer);
        }
    }
    for (k, row) in rows.clone().enumerate() {
        let part = &mut F.row_mut(row)[cols.clone()];
        part.fill(0.0);
        if k < part.len() {
            part[k] = svd.sigma(k);
        }
    }
    for j in cols.end..F.cols() {
        let buffer = &mut buffer[..rows.len()];
        for (k, y) in buffer.iter_mut().enumerate() {
            *y = rows.clone().enumerate().map(|(i, row)| svd.U[(i, k)] * F[(row, j)]).sum();
        }
        for (row, &y) in rows.clone().zip(buffer.iter()) {
            F[(row, j)] = y;
        }
    }
    Ok(svd.rank(threshold))
}
