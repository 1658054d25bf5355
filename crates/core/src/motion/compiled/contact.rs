//! Contact variables of compiled formulas: s₁, s₂ and η by solving with c_s, and their derivatives.

use super::super::symbolic::{ArrayEntries, SymbolicArray};
use super::super::{Layout, Undefined};
use super::program::{Places, entries, places, scatter};
use crate::graph::{Compiler, Expr, Graph, Kernel};
use crate::linalg::{Lu, Matrix};

/// Compiled equations of y = (s₁, s₂, η).
pub(super) struct ContactProgram {
    /// where y begins among the inputs
    first: usize,
    /// dc/dt and c_sᵀη − g_sᵀλ at y = 0, then c_s, c_pZ and g_s
    rates: Box<dyn Kernel>,
    /// d²c/dt² at s₂ = 0
    second_rates: Box<dyn Kernel>,
    /// the derivatives of the three equations with respect to x, of the second with respect to s₁
    jacobian: Box<dyn Kernel>,
    c_s: Places,
    by_x: [Places; 3],
    second_by_first: Places,
    c_pZ: Places,
    g_s: Places,
}

impl ContactProgram {
    pub fn new(array: &SymbolicArray, compiler: &dyn Compiler, first: usize) -> Option<Self> {
        let contact = array.contact.as_ref()?;
        let n = contact.equations[0].len();
        let graph: &Graph = &array.graph;
        let of = |entries: &ArrayEntries| entries.iter().map(|(_, _, e)| *e).collect::<Vec<Expr>>();
        let [rates, second, adjoint] = &contact.equations;
        // of ∂(d²c/dt²)/∂y only the columns of s₁ are wanted
        let second_by_first: ArrayEntries = contact.by_y[1].iter().filter(|(_, j, _)| *j < n).collect();
        let mut derivatives: Vec<Expr> = contact.by_x.iter().flat_map(|J| J.entries.iter().copied()).collect();
        derivatives.extend(of(&second_by_first));
        let matrices = [&contact.c_s, &contact.c_pZ, &contact.g_s].map(of);
        let values = [&rates[..], adjoint, &matrices.concat()].concat();
        Some(ContactProgram {
            first,
            rates: compiler.compile(graph, &values),
            second_rates: compiler.compile(graph, second),
            jacobian: compiler.compile(graph, &derivatives),
            c_s: entries(&contact.c_s),
            by_x: [0, 1, 2].map(|k| places(&contact.by_x[k])),
            second_by_first: entries(&second_by_first),
            c_pZ: entries(&contact.c_pZ),
            g_s: entries(&contact.g_s),
        })
    }
}

/// s₁, s₂, η and their derivatives by solving with c_s.
pub(super) struct ContactKernels {
    n: usize,
    rates: Box<dyn Kernel>,
    second_rates: Box<dyn Kernel>,
    jacobian: Box<dyn Kernel>,
    outputs: Vec<f64>,
    entries: Vec<f64>,
    second: Vec<f64>,
    /// factors of c_s and of its transpose
    lu: Lu<f64>,
    transposed: Lu<f64>,
    /// ∂(s₁, s₂, η)/∂x
    pub by_x: Matrix,
    second_by_first: Matrix,
    c_pZ: Matrix,
    g_s: Matrix,
    column: Vec<f64>,
}

impl ContactKernels {
    pub fn new(contact: &ContactProgram, l: &Layout) -> Self {
        let n = l.s().len();
        let matrices = contact.c_s.len() + contact.c_pZ.len() + contact.g_s.len();
        let entries = contact.by_x.iter().map(Vec::len).sum::<usize>() + contact.second_by_first.len();
        ContactKernels {
            n,
            rates: contact.rates.duplicate(),
            second_rates: contact.second_rates.duplicate(),
            jacobian: contact.jacobian.duplicate(),
            outputs: vec![0.0; 2 * n + matrices],
            entries: vec![0.0; entries],
            second: vec![0.0; n],
            lu: Lu::new(n),
            transposed: Lu::new(n),
            by_x: Matrix::zeros(3 * n, l.dim()),
            second_by_first: Matrix::zeros(n, n),
            c_pZ: Matrix::zeros(n, l.v().len()),
            g_s: Matrix::zeros(l.lambda().len(), n),
            column: vec![0.0; n],
        }
    }

    /// y at the point whose other inputs are set.
    pub fn solve(&mut self, contact: &ContactProgram, inputs: &mut [f64]) -> Result<(), Undefined> {
        let n = self.n;
        let y = contact.first..contact.first + 3 * n;
        inputs[y.clone()].fill(0.0);
        self.rates.call(inputs, &mut self.outputs);
        self.lu.A.fill(0.0);
        let rest = scatter(&self.outputs[2 * n..], &contact.c_s, &mut self.lu.A);
        let rest = scatter(rest, &contact.c_pZ, &mut self.c_pZ);
        scatter(rest, &contact.g_s, &mut self.g_s);
        for i in 0..n {
            for j in 0..n {
                self.transposed.A[(j, i)] = self.lu.A[(i, j)];
            }
        }
        // c_s has no inverse here: the model has no value
        self.lu.factor().map_err(|_| Undefined)?;
        self.transposed.factor().map_err(|_| Undefined)?;
        let (s1, rest) = inputs[y.clone()].split_at_mut(n);
        let eta = &mut rest[n..];
        s1.iter_mut().zip(&self.outputs).for_each(|(s, c)| *s = -c);
        eta.iter_mut().zip(&self.outputs[n..2 * n]).for_each(|(eta, c)| *eta = -c);
        self.lu.solve(s1);
        self.transposed.solve(eta);
        self.second_rates.call(inputs, &mut self.second);
        let s2 = &mut inputs[y.start + n..y.start + 2 * n];
        s2.iter_mut().zip(&self.second).for_each(|(s, c)| *s = -c);
        self.lu.solve(s2);
        Ok(())
    }

    /// The derivatives of the equations of y at the point.
    pub fn derivatives(&mut self, contact: &ContactProgram, inputs: &[f64]) {
        self.jacobian.call(inputs, &mut self.entries);
        self.by_x.fill(0.0);
        let mut rest = &self.entries[..];
        for (k, places) in contact.by_x.iter().enumerate() {
            let (own, behind) = rest.split_at(places.len());
            for (&(i, j), &value) in places.iter().zip(own) {
                self.by_x[(k * self.n + i, j)] = value;
            }
            rest = behind;
        }
        scatter(rest, &contact.second_by_first, &mut self.second_by_first);
    }

    /// ∂y/∂x, column by column.
    pub fn follow(&mut self) {
        let n = self.n;
        for j in 0..self.by_x.cols() {
            for k in 0..3 {
                for i in 0..n {
                    self.column[i] = -self.by_x[(k * n + i, j)];
                    if k == 1 {
                        for l in 0..n {
                            self.column[i] -= self.second_by_first[(i, l)] * self.by_x[(l, j)];
                        }
                    }
                }
                if self.column.iter().any(|&x| x != 0.0) {
                    if k == 2 { &self.transposed } else { &self.lu }.solve(&mut self.column);
                }
                for i in 0..n {
                    self.by_x[(k * n + i, j)] = self.column[i];
                }
            }
        }
    }

    /// GZ = g_p Z − g_s c_s⁻¹ c_p Z.
    pub fn correct(&mut self, GZ: &mut Matrix) {
        for k in 0..GZ.rows() {
            // (c_s⁻ᵀ g_sᵀ) of this row
            self.column.copy_from_slice(self.g_s.row(k));
            self.transposed.solve(&mut self.column);
            for (i, &eta) in self.column.iter().enumerate() {
                for (g, &c) in GZ.row_mut(k).iter_mut().zip(self.c_pZ.row(i)) {
                    *g -= eta * c;
                }
            }
        }
    }
}
