//! The rows of the reduced derivative array for any scalar: hidden constraints from Taylor series along the motion.
//!
//! Along p' = Zv, v' = a the positions are p + p₁τ + p₂τ² with p₁ = Zv and 2p₂ = (Zv)', and the contact variables follow from c = 0.
//! Then g, gI and gII/2 are the first three Taylor coefficients of g, and hI the second one of H Z v + h. The matrices GZ and HZ
//! are directional derivatives: GZ eⱼ moves p along Z eⱼ and s along −c_s⁻¹ c_p Z eⱼ.

use super::{Acceleration, Derivation, EquationsOfMotion, Form, Layout, MassStructure, Motion, Position, Velocity};
use crate::linalg::{Lu, Matrix};
use crate::scalar::{Dual, Scalar, Taylor};

/// M, GZ and HZ at one position.
#[derive(Clone, Debug)]
pub(super) struct PositionLevel<S> {
    pub M: Matrix<S>,
    pub GZ: Matrix<S>,
    pub HZ: Matrix<S>,
}

impl<S: Scalar> PositionLevel<S> {
    pub fn new(layout: &Layout) -> Self {
        let n = layout.sizes;
        PositionLevel {
            M: Matrix::zeros(n.velocities, n.velocities),
            GZ: Matrix::zeros(n.holonomic, n.velocities),
            HZ: Matrix::zeros(n.nonholonomic, n.velocities),
        }
    }
}

/// Scratch for scalars S, with W directions at a time.
pub(super) struct Workspace<S, const W: usize> {
    pub level: PositionLevel<S>,
    pdot: Vec<S>,
    force: Vec<S>,
    contact: Lu<S>,
    rhs: Vec<S>,
    // Taylor series along the motion
    tp: Vec<Taylor<S, 3>>,
    tv: Vec<Taylor<S, 3>>,
    ts: Vec<Taylor<S, 3>>,
    tout: Vec<Taylor<S, 3>>,
    // W directions
    dp: Vec<Dual<S, W>>,
    dv: Vec<Dual<S, W>>,
    ds: Vec<Dual<S, W>>,
    dout: Vec<Dual<S, W>>,
}

/// Where M, GZ and HZ come from.
#[derive(Clone, Copy)]
pub(super) enum MatrixSource<'m> {
    /// All of them are evaluated.
    Evaluate,
    /// M is constant, GZ and HZ are evaluated.
    ConstantMass(&'m Matrix),
    /// The position does not vary: M, GZ and HZ are given.
    Given([&'m Matrix; 3]),
}

impl<S: Scalar, const W: usize> Workspace<S, W> {
    pub fn new(layout: &Layout) -> Self {
        let n = layout.sizes;
        let most = n.positions.max(n.holonomic).max(n.nonholonomic).max(n.contact);
        let taylor = |n: usize| vec![Taylor::from(0.0); n];
        let dual = |n: usize| vec![Dual::from(0.0); n];
        Workspace {
            level: PositionLevel::new(layout),
            pdot: vec![S::from(0.0); n.positions],
            force: vec![S::from(0.0); n.velocities],
            contact: Lu::new(n.contact),
            rhs: vec![S::from(0.0); n.contact],
            tp: taylor(n.positions),
            tv: taylor(n.velocities),
            ts: taylor(n.contact),
            tout: taylor(most),
            dp: dual(n.positions),
            dv: dual(n.velocities),
            ds: dual(n.contact),
            dout: dual(most),
        }
    }

    /// All rows at (t, x).
    #[allow(clippy::too_many_arguments)] // what all rows need, in buffers of the caller
    pub fn rows<E: EquationsOfMotion>(
        &mut self,
        equations: &E,
        layout: &Layout,
        mass: MassStructure,
        matrices: MatrixSource,
        t: S,
        x: &[S],
        out: &mut [S],
    ) {
        let at = motion(layout, t, x);
        let a = &x[layout.a()];
        out.fill(S::from(0.0));

        // c and its linearisation, for the motion of s
        if layout.sizes.contact > 0 {
            self.contact_matrix(equations, &at);
        }
        self.constraints(equations, layout, &at, a, out);

        // M a − f + (GZ)ᵀλ + (HZ)ᵀμ
        match matrices {
            MatrixSource::Evaluate => {
                self.level.M.fill(S::from(0.0));
                equations.mass(&Position { t, p: at.p, s: at.s }, &mut self.level.M);
                add_mass_times(&self.level.M, mass, a, &mut out[layout.row_dynamics()]);
            }
            MatrixSource::ConstantMass(M) | MatrixSource::Given([M, _, _]) => {
                add_mass_times_real(M, mass, a, &mut out[layout.row_dynamics()]);
            }
        }
        self.force.fill(S::from(0.0));
        equations.force(&at, &mut self.force);
        for (row, &f) in out[layout.row_dynamics()].iter_mut().zip(&self.force) {
            *row -= f;
        }
        self.force.fill(S::from(0.0));
        if equations.constraint_force(&at, &mut self.force) == Derivation::ByHand {
            for (row, &f) in out[layout.row_dynamics()].iter_mut().zip(&self.force) {
                *row += f;
            }
        } else if let MatrixSource::Given([_, GZ, HZ]) = matrices {
            add_transpose_times_real(GZ, at.lambda, &mut out[layout.row_dynamics()]);
            add_transpose_times_real(HZ, at.mu, &mut out[layout.row_dynamics()]);
        } else {
            self.constraint_matrices(equations, layout, &at, None);
            add_transpose_times(&self.level.GZ, at.lambda, &mut out[layout.row_dynamics()]);
            add_transpose_times(&self.level.HZ, at.mu, &mut out[layout.row_dynamics()]);
        }

        // the rows without derivatives
        equations.auxiliary(&at, &mut out[layout.row_auxiliary()]);
        equations.dynamic(&at, &mut out[layout.row_dynamic()]);
        if layout.with_invariants {
            equations.invariant(&Velocity { t, p: at.p, v: at.v, s: at.s }, &mut out[layout.row_invariants()]);
        }
        out[layout.row_acceleration()].copy_from_slice(a);
    }

    /// Rows c, g, gI, gII, H Z v + h, hI and Z v from Taylor series along the motion.
    fn constraints<E: EquationsOfMotion>(
        &mut self,
        equations: &E,
        layout: &Layout,
        at: &Motion<S>,
        a: &[S],
        out: &mut [S],
    ) {
        let n = layout.sizes;
        let zero = S::from(0.0);
        let t = Taylor::parameter(at.t);

        // p₁ = Z v, 2 p₂ = (Z v)'
        equations.kinematics(&Velocity { t: at.t, p: at.p, v: at.v, s: at.s }, &mut self.pdot);
        for (i, q) in self.tp.iter_mut().enumerate() {
            q.coefficients = [at.p[i], self.pdot[i], zero];
        }
        for (i, u) in self.tv.iter_mut().enumerate() {
            u.coefficients = [at.v[i], a[i], zero];
        }
        for (i, q) in self.ts.iter_mut().enumerate() {
            *q = Taylor::constant(at.s[i]);
        }
        let rate = &mut self.tout[..n.positions];
        rate.fill(Taylor::from(0.0));
        equations.kinematics(&Velocity { t, p: &self.tp, v: &self.tv, s: &self.ts }, rate);
        for (q, rate) in self.tp.iter_mut().zip(rate) {
            q.coefficients[2] = rate.coefficients[1] * 0.5;
        }
        out[layout.row_kinematics()].copy_from_slice(&self.pdot);

        // s₁, s₂ from c = 0, one coefficient after the other
        if n.contact > 0 {
            for k in 1..3 {
                let c = &mut self.tout[..n.contact];
                c.fill(Taylor::from(0.0));
                equations.contact(&Position { t, p: &self.tp, s: &self.ts }, c);
                for (rhs, c) in self.rhs.iter_mut().zip(c.iter()) {
                    *rhs = -c.coefficients[k];
                }
                if k == 1 {
                    for (row, c) in out[layout.row_contact()].iter_mut().zip(c.iter()) {
                        *row = c.coefficients[0];
                    }
                }
                self.contact.solve(&mut self.rhs);
                for (q, &sk) in self.ts.iter_mut().zip(&self.rhs) {
                    q.coefficients[k] = sk;
                }
            }
        }

        // g, gI, gII
        if n.holonomic > 0 {
            let g = &mut self.tout[..n.holonomic];
            g.fill(Taylor::from(0.0));
            equations.holonomic(&Position { t, p: &self.tp, s: &self.ts }, g);
            for (i, g) in g.iter().enumerate() {
                out[layout.row_g().start + i] = g.coefficients[0];
                out[layout.row_g1().start + i] = g.coefficients[1];
                if layout.form == Form::StrangenessFree {
                    out[layout.row_g2().start + i] = g.coefficients[2] * 2.0;
                }
            }
        }

        // H Z v + h and hI
        if n.nonholonomic > 0 {
            let h = &mut self.tout[..n.nonholonomic];
            h.fill(Taylor::from(0.0));
            equations.nonholonomic(&Velocity { t, p: &self.tp, v: &self.tv, s: &self.ts }, h);
            for (i, h) in h.iter().enumerate() {
                out[layout.row_h().start + i] = h.coefficients[0];
                if layout.form == Form::StrangenessFree {
                    out[layout.row_h1().start + i] = h.coefficients[1];
                }
            }
        }

        // what the model gives by hand takes the place of what was generated
        let velocity = Velocity { t: at.t, p: at.p, v: at.v, s: at.s };
        equations.holonomic_velocity(&velocity, &mut out[layout.row_g1()]);
        if layout.form == Form::StrangenessFree {
            let acceleration = Acceleration { at: *at, a };
            equations.holonomic_acceleration(&acceleration, &mut out[layout.row_g2()]);
            equations.nonholonomic_acceleration(&acceleration, &mut out[layout.row_h1()]);
        }
    }

    /// Factors of c_s.
    fn contact_matrix<E: EquationsOfMotion>(&mut self, equations: &E, at: &Motion<S>) {
        let n = self.ds.len();
        for (q, &p) in self.dp.iter_mut().zip(at.p) {
            *q = Dual::constant(p);
        }
        for first in (0..n).step_by(W) {
            for (j, q) in self.ds.iter_mut().enumerate() {
                *q = seeded(at.s[j], j, first);
            }
            let c = &mut self.dout[..n];
            c.fill(Dual::from(0.0));
            equations.contact(&Position { t: Dual::constant(at.t), p: &self.dp, s: &self.ds }, c);
            for (i, c) in c.iter().enumerate() {
                for j in first..n.min(first + W) {
                    self.contact.A[(i, j)] = c.lanes[j - first];
                }
            }
        }
        if self.contact.factor().is_err() {
            // c_s has no inverse here: let the rows say so by not being finite
            self.contact.A.fill(S::from(f64::NAN));
        }
    }

    /// GZ and HZ, W columns at a time. Where rows are given, they get g, H Z v + h and, for v = 0, gI = g_t, which is one column more.
    fn constraint_matrices<E: EquationsOfMotion>(
        &mut self,
        equations: &E,
        layout: &Layout,
        at: &Motion<S>,
        mut at_rest: Option<(&mut [S], bool)>,
    ) {
        let n = layout.sizes;
        let t = Dual::constant(at.t);
        // the column of time comes last
        let time = at_rest.as_ref().is_some_and(|(_, autonomous)| !autonomous);
        for first in (0..n.velocities + usize::from(time)).step_by(W) {
            let width = W.min(n.velocities.saturating_sub(first));
            let time = time.then(|| n.velocities - first).filter(|lane| *lane < W);
            // v moves along eⱼ, p along Z eⱼ
            for (i, q) in self.dp.iter_mut().enumerate() {
                *q = Dual::constant(at.p[i]);
            }
            for (i, q) in self.ds.iter_mut().enumerate() {
                *q = Dual::constant(at.s[i]);
            }
            for (j, u) in self.dv.iter_mut().enumerate() {
                *u = seeded(at.v[j], j, first);
            }
            if n.nonholonomic > 0 {
                let h = &mut self.dout[..n.nonholonomic];
                h.fill(Dual::from(0.0));
                equations.nonholonomic(&Velocity { t, p: &self.dp, v: &self.dv, s: &self.ds }, h);
                for (i, h) in h.iter().enumerate() {
                    self.level.HZ.row_mut(i)[first..first + width].copy_from_slice(&h.lanes[..width]);
                    if let Some((rows, _)) = &mut at_rest {
                        rows[layout.row_h().start + i] = h.value;
                    }
                }
            }
            if n.holonomic == 0 {
                continue;
            }
            let pdot = &mut self.dout[..n.positions];
            pdot.fill(Dual::from(0.0));
            equations.kinematics(&Velocity { t, p: &self.dp, v: &self.dv, s: &self.ds }, pdot);
            for (q, rate) in self.dp.iter_mut().zip(pdot.iter()) {
                q.lanes = rate.lanes;
            }
            // s moves so that c stays zero
            if n.contact > 0 {
                let c = &mut self.dout[..n.contact];
                c.fill(Dual::from(0.0));
                equations.contact(&Position { t, p: &self.dp, s: &self.ds }, c);
                for j in 0..width {
                    for (rhs, c) in self.rhs.iter_mut().zip(c.iter()) {
                        *rhs = -c.lanes[j];
                    }
                    self.contact.solve(&mut self.rhs);
                    for (q, &rate) in self.ds.iter_mut().zip(&self.rhs) {
                        q.lanes[j] = rate;
                    }
                }
            }
            let g = &mut self.dout[..n.holonomic];
            g.fill(Dual::from(0.0));
            let t = time.map_or(t, |lane| Dual::variable(at.t, lane));
            equations.holonomic(&Position { t, p: &self.dp, s: &self.ds }, g);
            for (i, g) in g.iter().enumerate() {
                self.level.GZ.row_mut(i)[first..first + width].copy_from_slice(&g.lanes[..width]);
                if let Some((rows, _)) = &mut at_rest {
                    rows[layout.row_g().start + i] = g.value;
                    rows[layout.row_g1().start + i] = time.map_or(S::from(0.0), |lane| g.lanes[lane]);
                }
            }
        }
    }

    /// GZ and HZ at (t, x), in [`Workspace::level`].
    pub fn constraint_matrices_at<E: EquationsOfMotion>(&mut self, equations: &E, layout: &Layout, t: S, x: &[S]) {
        let at = motion(layout, t, x);
        if layout.sizes.contact > 0 {
            self.contact_matrix(equations, &at);
        }
        self.constraint_matrices(equations, layout, &at, None);
    }

    /// GZ and HZ, in [`Workspace::level`], and the rows g, gI and H Z v + h, for v = 0 and without contact variables.
    pub fn at_rest<E: EquationsOfMotion>(
        &mut self,
        equations: &E,
        layout: &Layout,
        autonomous: bool,
        t: S,
        x: &[S],
        rows: &mut [S],
    ) {
        self.constraint_matrices(equations, layout, &motion(layout, t, x), Some((rows, autonomous)));
    }

    /// The rows −f, b and Z v, and if `hidden` those of all constraint levels, for a = 0, λ = 0, μ = 0.
    pub fn forces<E: EquationsOfMotion>(
        &mut self,
        equations: &E,
        layout: &Layout,
        hidden: bool,
        t: S,
        x: &[S],
        rows: &mut [S],
    ) {
        let at = motion(layout, t, x);
        self.force.fill(S::from(0.0));
        equations.force(&at, &mut self.force);
        for (row, &f) in rows[layout.row_dynamics()].iter_mut().zip(&self.force) {
            *row = -f;
        }
        let b = &mut rows[layout.row_dynamic()];
        b.fill(S::from(0.0));
        equations.dynamic(&at, b);
        if hidden {
            self.constraints(equations, layout, &at, &x[layout.a()], rows);
        } else {
            let pdot = &mut rows[layout.row_kinematics()];
            pdot.fill(S::from(0.0));
            equations.kinematics(&Velocity { t, p: at.p, v: at.v, s: at.s }, pdot);
        }
    }
}

/// The blocks of x.
pub(crate) fn motion<'x, S: Scalar>(layout: &Layout, t: S, x: &'x [S]) -> Motion<'x, S> {
    Motion {
        t,
        p: &x[layout.p()],
        v: &x[layout.v()],
        r: &x[layout.r()],
        w: &x[layout.w()],
        s: &x[layout.s()],
        lambda: &x[layout.lambda()],
        mu: &x[layout.mu()],
    }
}

/// Variable j of a block whose lanes start at variable `first`.
#[inline]
fn seeded<S: Scalar, const W: usize>(value: S, j: usize, first: usize) -> Dual<S, W> {
    if j >= first && j < first + W { Dual::variable(value, j - first) } else { Dual::constant(value) }
}

fn add_mass_times<S: Scalar>(M: &Matrix<S>, structure: MassStructure, a: &[S], out: &mut [S]) {
    for (i, row) in out.iter_mut().enumerate() {
        if structure.is_diagonal() {
            *row += M[(i, i)] * a[i];
        } else {
            for (&m, &a) in M.row(i).iter().zip(a) {
                *row += m * a;
            }
        }
    }
}

fn add_mass_times_real<S: Scalar>(M: &Matrix, structure: MassStructure, a: &[S], out: &mut [S]) {
    for (i, row) in out.iter_mut().enumerate() {
        if structure.is_diagonal() {
            *row += a[i] * M[(i, i)];
        } else {
            for (&m, &a) in M.row(i).iter().zip(a) {
                *row += a * m;
            }
        }
    }
}

fn add_transpose_times<S: Scalar>(A: &Matrix<S>, y: &[S], out: &mut [S]) {
    for (i, &y) in y.iter().enumerate() {
        for (row, &a) in out.iter_mut().zip(A.row(i)) {
            *row += a * y;
        }
    }
}

fn add_transpose_times_real<S: Scalar>(A: &Matrix, y: &[S], out: &mut [S]) {
    for (i, &y) in y.iter().enumerate() {
        for (row, &a) in out.iter_mut().zip(A.row(i)) {
            *row += y * a;
        }
    }
}
