//! M, f, G and H of a mechanism, one by one. States x stand in the order of [`Layout`].

use super::saddle::Saddle;
use crate::linalg::{Matrix, Svd};
use crate::method::StartFailure;
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::{Residuals, Statistics};

/// Singular values of K below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-10;

/// Equations of motion without contact and auxiliary variables, whose forces do not depend on multipliers.
pub struct Structural<'p> {
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    /// M at the last position of [`Structural::at_position`].
    pub M: Matrix,
    /// K = (GZ; HZ) there.
    pub K: Matrix,
    /// k₀ = (g_t; h) there, so that the velocity constraints are K v + k₀ = 0.
    pub k0: Vec<f64>,
    /// x with a = λ = μ = 0
    x: Vec<f64>,
    rows: Vec<f64>,
    /// Counters of what was evaluated: forces in `residuals`, mass matrices in `masses`.
    pub statistics: Statistics,
}

impl<'p> Structural<'p> {
    /// The equations of a system; refused if the method cannot take them. `method` is its name.
    pub fn new(method: &'static str, system: &'p (dyn Mechanism + '_)) -> Result<Self, StartFailure> {
        let (sizes, structure) = (system.sizes(), system.structure());
        let refuse = |why: &str| StartFailure::OutOfClass { method, why: why.to_string(), instead: "geoms" };
        if sizes.contact > 0 {
            return Err(refuse("it has contact variables"));
        }
        if sizes.auxiliary > 0 {
            return Err(refuse("it has auxiliary variables"));
        }
        if structure.multipliers_in_forces {
            return Err(refuse("its forces depend on multipliers, or it is a black box"));
        }
        let array = system.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let (n, constraints) = (sizes.velocities, sizes.holonomic + sizes.nonholonomic);
        Ok(Structural {
            M: Matrix::zeros(n, n),
            K: Matrix::zeros(constraints, n),
            k0: vec![0.0; constraints],
            x: vec![0.0; layout.dim()],
            rows: vec![0.0; layout.rows()],
            array,
            layout,
            statistics: Statistics::default(),
        })
    }

    /// Where the blocks stand in x.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of constraints, holonomic and nonholonomic.
    pub fn constraints(&self) -> usize {
        self.K.rows()
    }

    /// Refuse redundant constraints, at a consistent point.
    pub fn check_rank(&mut self, method: &'static str, t: f64, x: &[f64]) -> Result<(), StartFailure> {
        self.at_position(t, x).map_err(|_| crate::error::StepFailure::Undefined { t })?;
        let mut svd = Svd::new(self.K.rows(), self.K.cols());
        for i in 0..self.K.rows() {
            for j in 0..self.K.cols() {
                svd.A[(i, j)] = self.K[(i, j)];
            }
        }
        svd.factor().map_err(|_| crate::error::StepFailure::SvdFailed { t })?;
        let rank = svd.rank(RANK_TOLERANCE * svd.sigma(0));
        if rank < self.K.rows() {
            let why = format!("its constraints are redundant: rank {rank} of {}", self.K.rows());
            return Err(StartFailure::OutOfClass { method, why, instead: "geoms or gmkssol" });
        }
        Ok(())
    }

    /// M, K and k₀ at the position of x.
    pub fn at_position(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let (p, v) = (self.layout.p(), self.layout.v());
        self.x[p.clone()].copy_from_slice(&x[p]);
        self.x[v].fill(0.0);
        self.x[self.layout.r()].copy_from_slice(&x[self.layout.r()]);
        let [M, GZ, HZ] = self.array.matrices(t, &self.x)?;
        self.M.data_mut().copy_from_slice(M.data());
        let holonomic = GZ.data().len();
        self.K.data_mut()[..holonomic].copy_from_slice(GZ.data());
        self.K.data_mut()[holonomic..].copy_from_slice(HZ.data());
        self.statistics.masses += 1;
        self.array.evaluate(t, &self.x, &mut self.rows)?;
        let g1 = self.layout.row_g1();
        let (holonomic, nonholonomic) = self.k0.split_at_mut(g1.len());
        holonomic.copy_from_slice(&self.rows[g1]);
        nonholonomic.copy_from_slice(&self.rows[self.layout.row_h()]);
        Ok(())
    }

    /// f, b, Z v, g, K v + k₀ and what the acceleration level needs, at p, v, r of x.
    pub fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let moving = self.layout.r().start..self.layout.p().end;
        self.x[moving.clone()].copy_from_slice(&x[moving]);
        self.statistics.residuals += 1;
        self.array.evaluate(t, &self.x, &mut self.rows)
    }

    /// −f at the last point of [`Structural::evaluate`].
    pub fn minus_force(&self) -> &[f64] {
        &self.rows[self.layout.row_dynamics()]
    }

    /// b there.
    pub fn dynamic(&self) -> &[f64] {
        &self.rows[self.layout.row_dynamic()]
    }

    /// Z v there.
    pub fn kinematics(&self) -> &[f64] {
        &self.rows[self.layout.row_kinematics()]
    }

    /// g there.
    pub fn holonomic(&self) -> &[f64] {
        &self.rows[self.layout.row_g()]
    }

    /// gI and H Z v + h there, one after the other.
    pub fn velocity_level(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows[self.layout.row_g1()].iter().chain(&self.rows[self.layout.row_h()]).copied()
    }

    /// a, λ and μ at p, v, r of x, written to x. M, K and their factors in `saddle` belong to the position.
    ///
    /// Where the array eliminates accelerations, its rows gII and hI stand at a₀ = M⁻¹f, its row v' is a₀, and the system is solved for
    /// a − a₀; elsewhere a₀ = 0.
    pub fn accelerations(&mut self, t: f64, x: &mut [f64], saddle: &mut Saddle) -> Result<(), Undefined> {
        self.evaluate(t, x)?;
        let l = &self.layout;
        let (n, a0) = (l.a().len(), &self.rows[l.row_acceleration()]);
        for (i, b) in saddle.b[..n].iter_mut().enumerate() {
            let Ma: f64 = self.M.row(i).iter().zip(a0).map(|(m, a)| m * a).sum();
            *b = -self.rows[i] - Ma;
        }
        let level = self.rows[l.row_g2()].iter().chain(&self.rows[l.row_h1()]);
        saddle.b[n..].iter_mut().zip(level).for_each(|(b, row)| *b = -row);
        saddle.solve();
        for (i, (a, a0)) in l.a().zip(saddle.top().iter().zip(a0)) {
            x[i] = a + a0;
        }
        x[l.lambda().start..l.mu().end].copy_from_slice(saddle.bottom());
        Ok(())
    }

    /// All rows at x, accelerations and multipliers included, in the order of [`Layout`].
    pub fn rows(&mut self, t: f64, x: &[f64]) -> Result<&[f64], Undefined> {
        self.statistics.residuals += 1;
        self.array.evaluate(t, x, &mut self.rows)?;
        Ok(&self.rows)
    }

    /// −∂k/∂x of all rows at x, accelerations and multipliers included. Those of the dynamics, of g and of Z v are exact everywhere.
    pub fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Matrix) -> Result<(), Undefined> {
        self.statistics.jacobians += 1;
        self.array.evaluate(t, x, &mut self.rows)?;
        self.array.jacobian(t, x, &self.rows, F)
    }

    /// Residuals of all constraint levels at x, accelerations and multipliers included.
    pub fn residuals(&mut self, t: f64, x: &[f64]) -> Result<Residuals, Undefined> {
        self.array.evaluate(t, x, &mut self.rows)?;
        Ok(self.layout.residuals(&self.rows))
    }
}
