//! Against Radau5 of `russell_ode`: the same problems at the same tolerances in the same process.
//!
//! The peer solves the acceleration-level equations, which have index 1, in two forms: `dae` with the multipliers (and, where the
//! mass matrix varies, the accelerations) as algebraic variables, `ode` with both eliminated. Jacobians are written by hand.

use daedal::method::Decomposition::Lu;
use daedal::{Geoms, Problem};
use daedal_problems::andrews::{self, Andrews};
use daedal_problems::{Case, pendulum};
use russell_lab::Vector;
use russell_ode::{Method, OdeSolver, Params, System};
use russell_sparse::{CooMatrix, Genie, Sym};
use std::time::{Duration, Instant};

const REPEATS: usize = 25;

fn main() {
    println!("minimum of {REPEATS} repeats; one thread; equal rtol = atol and first step");
    println!("error: largest |error|/max(1, |x|) at the end, of positions and velocities, and of multipliers\n");
    println!(
        "{:<18}{:<7}{:<14}{:>7}{:>9}{:>6}{:>10}{:>10}{:>10}{:>10}{:>9}{:>9}",
        "problem",
        "tol",
        "solver",
        "steps",
        "attempts",
        "jac",
        "total ms",
        "μs/step",
        "err p,v",
        "err λ",
        "÷ step",
        "÷ total"
    );
    for tolerance in [1e-7, 1e-9] {
        let model = Andrews::default();
        let (_, end) = andrews::REFERENCE[2];
        let case = daedal_bench::case("andrews").expect("a problem");
        let start = [&andrews::Q0[..], &[0.0; 7]].concat();
        let consistent = [&start[..], &andrews::A0, &andrews::LAMBDA0].concat();
        let peers = [
            Peer {
                name: "russell dae",
                start: consistent,
                system: Box::new(move || andrews_dae(&model)),
                multipliers: Box::new(|y| y[21..].to_vec()),
            },
            Peer {
                name: "russell ode",
                start,
                system: Box::new(move || andrews_ode(&model)),
                multipliers: Box::new(move |y| Mechanics::at(&model, y).eliminate().0[7..].to_vec()),
            },
        ];
        compare("andrews", &case, 0.03, tolerance, &peers, &end[..14], &end[14..]);

        let scenarios = [
            ("pendulum-long", 100.0, &pendulum::LONG[6].1[..4], &pendulum::LONG[6].1[4..]),
            ("iftomm-pendulum", 10.0, &pendulum::IFTOMM_A01[9].1[..], &[][..]),
        ];
        for (name, tend, motion, multipliers) in scenarios {
            let case = daedal_bench::case(name).expect("a problem");
            let g = if name == "pendulum-long" { pendulum::G_PERIOD_TWO } else { 9.81 };
            let x = if name == "pendulum-long" { 1.0 } else { -1.0 };
            let peers = [
                Peer {
                    name: "russell dae",
                    start: vec![x, 0.0, 0.0, 0.0, 0.0],
                    system: Box::new(move || pendulum_dae(g)),
                    multipliers: Box::new(|y| y[4..].to_vec()),
                },
                Peer {
                    name: "russell ode",
                    start: vec![x, 0.0, 0.0, 0.0],
                    system: Box::new(move || pendulum_ode(g)),
                    multipliers: Box::new(move |y| vec![0.5 * Swing::at(g, y).tension]),
                },
            ];
            compare(name, &case, tend, tolerance, &peers, motion, multipliers);
        }
    }
}

type Multipliers = Box<dyn Fn(&[f64]) -> Vec<f64>>;

/// A form of a problem for `russell_ode`. The state begins with positions and velocities.
struct Peer {
    name: &'static str,
    start: Vec<f64>,
    system: Box<dyn Fn() -> System<'static, ()>>,
    /// multipliers from the state
    multipliers: Multipliers,
}

/// What a solver did.
struct Outcome {
    steps: u64,
    attempts: u64,
    jacobians: u64,
    time: Duration,
    /// of positions and velocities, and of multipliers
    error: [f64; 2],
}

/// Solve with Daedal and the peers in turn, and print.
fn compare(name: &str, case: &Case, tend: f64, tolerance: f64, peers: &[Peer], motion: &[f64], multipliers: &[f64]) {
    let method = daedal_bench::geoms(Lu, Lu);
    let h0 = daedal_bench::stepper(case, &method, tolerance).proposed_step().max(1e-8);
    let mut outcomes: Vec<(&str, Outcome)> = Vec::new();
    for repeat in 0..=REPEATS {
        let mut round = vec![("daedal psf LU", daedal(case, &method, tend, tolerance, h0, motion, multipliers))];
        round.extend(peers.iter().map(|peer| (peer.name, russell(peer, tend, tolerance, h0, motion, multipliers))));
        // the first round warms up
        if repeat <= 1 {
            outcomes = round;
        } else {
            for ((_, best), (_, outcome)) in outcomes.iter_mut().zip(round) {
                assert_eq!(best.steps, outcome.steps);
                best.time = best.time.min(outcome.time);
            }
        }
    }
    let per_step = |outcome: &Outcome| outcome.time.as_secs_f64() / outcome.steps as f64;
    let ours = &outcomes[0].1;
    for (solver, outcome) in &outcomes {
        let Outcome { steps, attempts, jacobians, time, error: [e, l] } = outcome;
        let multipliers = if multipliers.is_empty() { "-".to_string() } else { format!("{l:.1e}") };
        print!("{name:<18}{tolerance:<7.0e}{solver:<14}{steps:>7}{attempts:>9}{jacobians:>6}");
        print!("{:>10.3}{:>10.3}{e:>10.1e}{multipliers:>10}", 1e3 * time.as_secs_f64(), 1e6 * per_step(outcome));
        let ratios = [per_step(ours) / per_step(outcome), ours.time.as_secs_f64() / time.as_secs_f64()];
        println!("{:>9.3}{:>9.3}", ratios[0], ratios[1]);
    }
    println!();
}

/// One run of Daedal from trusted initial values; setting up the stepper is timed.
fn daedal(
    case: &Case,
    method: &Geoms,
    tend: f64,
    tolerance: f64,
    h0: f64,
    motion: &[f64],
    multipliers: &[f64],
) -> Outcome {
    let problem = Problem::new(&*case.mechanism, case.initial.clone(), tend).trust(daedal_bench::start(case));
    let mut options = daedal_bench::options(case, tolerance);
    options.h0 = Some(h0);
    let before = Instant::now();
    let solution = daedal::solve(&problem, method, &options).expect("a solution");
    let time = before.elapsed();
    let end = solution.at_end();
    let error = [largest([end.p, end.v].concat().as_slice(), motion), largest(end.lambda, multipliers)];
    let statistics = solution.statistics;
    Outcome { steps: statistics.steps, attempts: statistics.attempts, jacobians: statistics.jacobians, time, error }
}

/// One run of `russell_ode`; setting up the solver is not timed.
fn russell(peer: &Peer, tend: f64, tolerance: f64, h0: f64, motion: &[f64], multipliers: &[f64]) -> Outcome {
    let mut params = Params::new(Method::Radau5);
    params.set_tolerances(tolerance, tolerance, None).expect("tolerances");
    params.step.h_ini = h0;
    params.step.n_step_max = 10_000_000;
    params.radau5.concurrent = false;
    params.newton.genie = if cfg!(feature = "umfpack") { Genie::Umfpack } else { Genie::Direct };
    // a new solver each time: it would start with the matrices of the last run
    let mut solver = OdeSolver::new(params, (peer.system)()).expect("a solver");
    let mut y = Vector::from(&peer.start);
    let before = Instant::now();
    solver.solve(&mut y, 0.0, tend, None, &mut (), None).expect("a solution");
    let time = before.elapsed();
    let y = y.as_data();
    let error = [largest(y, motion), largest(&(peer.multipliers)(y), multipliers)];
    let stats = solver.stats();
    let [steps, attempts, jacobians] = [stats.n_accepted, stats.n_steps, stats.n_jacobian].map(|n| n as u64);
    Outcome { steps, attempts, jacobians, time, error }
}

/// Largest |x − reference|/max(1, |reference|); x may be longer.
fn largest(x: &[f64], reference: &[f64]) -> f64 {
    x.iter().zip(reference).fold(0.0, |most, (x, r)| f64::max(most, (x - r).abs() / r.abs().max(1.0)))
}

/// The pendulum with m = L = 1: p' = v, v' = −p·tension − (0, g), where tension = 2λ = (v·v − g p₂)/(p·p).
struct Swing {
    r2: f64,
    tension: f64,
}

impl Swing {
    fn at(g: f64, y: &[f64]) -> Self {
        let r2 = y[0] * y[0] + y[1] * y[1];
        Swing { r2, tension: (y[2] * y[2] + y[3] * y[3] - g * y[1]) / r2 }
    }
}

/// y = (p, v, λ), 0 = gII.
fn pendulum_dae(g: f64) -> System<'static, ()> {
    let mut system = System::new(5, move |f, _, y: &Vector, (): &mut ()| {
        f[0] = y[2];
        f[1] = y[3];
        f[2] = -2.0 * y[0] * y[4];
        f[3] = -g - 2.0 * y[1] * y[4];
        let r2 = y[0] * y[0] + y[1] * y[1];
        f[4] = 2.0 * (y[2] * y[2] + y[3] * y[3]) - 2.0 * g * y[1] - 4.0 * r2 * y[4];
        Ok(())
    });
    let jacobian = move |J: &mut CooMatrix, c: f64, _: f64, y: &Vector, (): &mut ()| {
        J.reset();
        J.put(0, 2, c)?;
        J.put(1, 3, c)?;
        J.put(2, 0, -2.0 * c * y[4])?;
        J.put(2, 4, -2.0 * c * y[0])?;
        J.put(3, 1, -2.0 * c * y[4])?;
        J.put(3, 4, -2.0 * c * y[1])?;
        J.put(4, 0, -8.0 * c * y[0] * y[4])?;
        J.put(4, 1, c * (-2.0 * g - 8.0 * y[1] * y[4]))?;
        J.put(4, 2, 4.0 * c * y[2])?;
        J.put(4, 3, 4.0 * c * y[3])?;
        J.put(4, 4, -4.0 * c * (y[0] * y[0] + y[1] * y[1]))
    };
    system.set_jacobian(Some(11), Sym::No, jacobian).expect("a Jacobian");
    system.set_mass(Some(4), Sym::No, |M| diagonal(M, 4)).expect("a mass matrix");
    system
}

/// y = (p, v).
fn pendulum_ode(g: f64) -> System<'static, ()> {
    let mut system = System::new(4, move |f, _, y: &Vector, (): &mut ()| {
        let Swing { tension, .. } = Swing::at(g, y.as_data());
        f[0] = y[2];
        f[1] = y[3];
        f[2] = -y[0] * tension;
        f[3] = -g - y[1] * tension;
        Ok(())
    });
    let jacobian = move |J: &mut CooMatrix, c: f64, _: f64, y: &Vector, (): &mut ()| {
        let Swing { r2, tension } = Swing::at(g, y.as_data());
        let slope = [-2.0 * y[0] * tension / r2, (-g - 2.0 * y[1] * tension) / r2, 2.0 * y[2] / r2, 2.0 * y[3] / r2];
        J.reset();
        J.put(0, 2, c)?;
        J.put(1, 3, c)?;
        for i in 0..2 {
            for j in 0..4 {
                let own = if i == j { tension } else { 0.0 };
                J.put(2 + i, j, -c * (own + y[i] * slope[j]))?;
            }
        }
        Ok(())
    };
    system.set_jacobian(Some(10), Sym::No, jacobian).expect("a Jacobian");
    system
}

fn diagonal(M: &mut CooMatrix, n: usize) {
    for i in 0..n {
        M.put(i, i, 1.0).expect("space");
    }
}

/// N rows over the angles.
type Rows<const N: usize> = [[f64; 7]; N];

/// Which angles q turn vector k of the loops: one, or two that add up.
const TURNED_BY: [&[usize]; 7] = [&[0], &[0, 1], &[2], &[3, 4], &[4], &[5, 6], &[6]];
/// Which loops vector k belongs to.
const LOOPS: [&[usize]; 7] = [&[0, 1, 2], &[0, 1, 2], &[0], &[1], &[1], &[2], &[2]];
/// Angles that loop b depends on.
const ANGLES: [&[usize]; 3] = [&[0, 1, 2], &[0, 1, 3, 4], &[0, 1, 5, 6]];
/// Angles that have entries together in the mass matrix.
const TOGETHER: [&[usize]; 4] = [&[0, 1], &[2], &[3, 4], &[5, 6]];
/// Pairs of angles (i, j) whose inertia varies with angle i.
const VARYING: [(usize, usize); 3] = [(1, 0), (3, 4), (5, 6)];
/// Entries of the Jacobian: p' and v', ∂/∂(q, v, a) of the dynamics, constraint forces, ∂/∂(q, v, a) of gII.
const ENTRIES: usize = 14 + 3 * 13 + 4 * 22;

/// Andrews' mechanism at q, v. Each loop is a sum of vectors w that turn with their angle: w' = Jw, w'' = −w.
struct Mechanics {
    /// w
    arm: [[f64; 2]; 7],
    /// rate of its angle
    rate: [f64; 7],
    /// sizes of the varying entries of the mass matrix, and their derivatives
    inertia: [(f64, f64); 3],
    /// spring force and its derivative
    spring: (f64, f64),
    mass: [[f64; 7]; 7],
    v: [f64; 7],
    mom: f64,
}

impl Mechanics {
    fn at(model: &Andrews, y: &[f64]) -> Self {
        let (q, v): ([f64; 7], [f64; 7]) = (std::array::from_fn(|i| y[i]), std::array::from_fn(|i| y[7 + i]));
        let along = |r: f64, angle: f64| [r * angle.cos(), r * angle.sin()];
        let across = |r: f64, angle: f64| [-r * angle.sin(), r * angle.cos()];
        let arm = [
            along(model.rr[0], q[0]),
            along(-model.d[0], q[0] + q[1]),
            across(model.ss[0], q[2]),
            across(model.e[0], q[3] + q[4]),
            along(-model.zt, q[4]),
            along(-model.zf[0], q[5] + q[6]),
            across(model.u[0], q[6]),
        ];
        let rate = [v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]];
        let (e, f) = (model.e[0] - model.e[1], model.zf[0] - model.zf[1]);
        let crank = model.m[1] * model.d[1] * model.rr[0];
        let (left, right) = (model.m[3] * model.zt * e, model.m[5] * model.u[0] * f);
        let ((s1, c1), (s3, c3), (s5, c5)) = (q[1].sin_cos(), q[3].sin_cos(), q[5].sin_cos());
        let inertia = [(-crank * c1, crank * s1), (left * s3, left * c3), (-right * s5, -right * c5)];
        Mechanics { arm, rate, inertia, spring: spring(model, q[2]), mass: mass(model, &inertia), v, mom: model.mom }
    }

    /// Accelerations of the angles of the arms.
    fn angular(a: &[f64]) -> [f64; 7] {
        [a[0], a[0] + a[1], a[2], a[3] + a[4], a[4], a[5] + a[6], a[6]]
    }

    /// Pairs (i, j) whose inertia varies with the angle of i, its slope, and the forces on i and on j that follow.
    fn gyroscopic(&self) -> [(usize, usize, f64, [f64; 2]); 3] {
        std::array::from_fn(|k| {
            let ((i, j), (_, slope)) = (VARYING[k], self.inertia[k]);
            (i, j, slope, [slope * self.v[j] * self.v[j], -slope * self.v[i] * (self.v[i] + 2.0 * self.v[j])])
        })
    }

    /// f.
    fn force(&self) -> [f64; 7] {
        let mut f = [0.0; 7];
        for (i, j, _, [on_i, on_j]) in self.gyroscopic() {
            f[i] += on_i;
            f[j] += on_j;
        }
        f[0] += self.mom;
        f[2] += self.spring.0;
        f
    }

    /// G.
    fn constraint_matrix(&self) -> [[f64; 7]; 6] {
        let mut G = [[0.0; 7]; 6];
        for k in 0..7 {
            add(&mut G, k, [-self.arm[k][1], self.arm[k][0]]);
        }
        G
    }

    /// Σ of the multipliers of the loops that arm k belongs to.
    fn pull(lambda: &[f64], k: usize) -> [f64; 2] {
        LOOPS[k].iter().fold([0.0; 2], |sum, b| [sum[0] + lambda[2 * b], sum[1] + lambda[2 * b + 1]])
    }

    /// M a − f + Gᵀλ and gII.
    fn residual(&self, a: &[f64], lambda: &[f64], out: &mut [f64]) {
        let f = self.force();
        for block in TOGETHER {
            for &i in block {
                out[i] = block.iter().map(|&j| self.mass[i][j] * a[j]).sum::<f64>() - f[i];
            }
        }
        out[7..].fill(0.0);
        let angular = Self::angular(a);
        for k in 0..7 {
            let ([x, y], [lx, ly], omega) = (self.arm[k], Self::pull(lambda, k), self.rate[k]);
            for &i in TURNED_BY[k] {
                out[i] += x * ly - y * lx;
            }
            for b in LOOPS[k] {
                out[7 + 2 * b] += -y * angular[k] - x * omega * omega;
                out[8 + 2 * b] += x * angular[k] - y * omega * omega;
            }
        }
    }

    /// ∂/∂q and ∂/∂v of the dynamics, then of gII.
    fn slopes(&self, a: &[f64], lambda: &[f64]) -> ([Rows<7>; 2], [Rows<6>; 2]) {
        let (mut dynamics, mut gII) = ([[[0.0; 7]; 7]; 2], [[[0.0; 7]; 6]; 2]);
        let angular = Self::angular(a);
        for k in 0..7 {
            let ([x, y], [lx, ly], omega) = (self.arm[k], Self::pull(lambda, k), self.rate[k]);
            let stiffness = -(lx * x + ly * y);
            for &i in TURNED_BY[k] {
                for &j in TURNED_BY[k] {
                    dynamics[0][i][j] += stiffness;
                }
            }
            let (square, twice) = (omega * omega, 2.0 * omega);
            add(&mut gII[0], k, [-x * angular[k] + y * square, -y * angular[k] - x * square]);
            add(&mut gII[1], k, [-twice * x, -twice * y]);
        }
        for (index, (i, j, slope, _)) in self.gyroscopic().into_iter().enumerate() {
            let (value, v) = (self.inertia[index].0, &self.v);
            // the slope of the slope is −value
            dynamics[0][i][i] += slope * a[j] + value * v[j] * v[j];
            dynamics[0][j][i] += slope * (a[i] + 2.0 * a[j]) - value * v[i] * (v[i] + 2.0 * v[j]);
            dynamics[1][i][j] -= 2.0 * slope * v[j];
            dynamics[1][j][i] += 2.0 * slope * (v[i] + v[j]);
            dynamics[1][j][j] += 2.0 * slope * v[i];
        }
        dynamics[0][2][2] -= self.spring.1;
        (dynamics, gII)
    }

    /// [M Gᵀ; G 0].
    fn saddle(&self) -> [[f64; 13]; 13] {
        let mut K = [[0.0; 13]; 13];
        let G = self.constraint_matrix();
        for i in 0..7 {
            K[i][..7].copy_from_slice(&self.mass[i]);
            for c in 0..6 {
                K[i][7 + c] = G[c][i];
                K[7 + c][i] = G[c][i];
            }
        }
        K
    }

    /// (a, λ), and the factors.
    fn eliminate(&self) -> ([f64; 13], Factors) {
        let factors = Factors::of(self.saddle());
        let mut x = [0.0; 13];
        self.residual(&[0.0; 7], &[0.0; 6], &mut x);
        factors.solve(&mut x);
        (x.map(|x| -x), factors)
    }
}

/// Add a derivative by the angle of arm k to its loops.
fn add(A: &mut [[f64; 7]; 6], k: usize, [x, y]: [f64; 2]) {
    for b in LOOPS[k] {
        for &i in TURNED_BY[k] {
            A[2 * b][i] += x;
            A[2 * b + 1][i] += y;
        }
    }
}

/// Force of the spring on γ and its derivative.
fn spring(model: &Andrews, angle: f64) -> (f64, f64) {
    let ([_, [xb, yb], [xc, yc]], [_, _, _, sc, sd]) = (model.fixed, model.ss);
    let (sin, cos) = angle.sin_cos();
    let (dx, dy) = (sc * cos - sd * sin, sd * cos + sc * sin);
    let (x, y) = (dy + xb - xc, -dx + yb - yc);
    let length = x.hypot(y);
    let (force, moment) = (-model.c0 * (1.0 - model.l0 / length), x * dx + y * dy);
    let stretch = -model.c0 * model.l0 * moment / length.powi(3);
    (force * moment, stretch * moment + force * (dx * dx + dy * dy - x * dy + y * dx))
}

fn mass(model: &Andrews, inertia: &[(f64, f64); 3]) -> [[f64; 7]; 7] {
    let Andrews { m, i, .. } = model;
    let (e, f) = (model.e[0] - model.e[1], model.zf[0] - model.zf[1]);
    let square = |a: f64, b: f64| a * a + b * b;
    let mut M = [[0.0; 7]; 7];
    M[1][1] = m[1] * model.d[1] * model.d[1] + i[1];
    M[0][0] = m[0] * model.rr[1] * model.rr[1] + m[1] * model.rr[0] * model.rr[0] + i[0] + M[1][1] + 2.0 * inertia[0].0;
    M[2][2] = m[2] * square(model.ss[1], model.ss[2]) + i[2];
    M[3][3] = m[3] * e * e + i[3];
    M[4][4] =
        m[3] * model.zt * model.zt + m[4] * square(model.ta[0], model.ta[1]) + i[4] + M[3][3] + 2.0 * inertia[1].0;
    M[5][5] = m[5] * f * f + i[5];
    M[6][6] =
        m[5] * model.u[0] * model.u[0] + m[6] * square(model.u[1], model.u[2]) + i[6] + M[5][5] + 2.0 * inertia[2].0;
    for (k, (i, j)) in VARYING.into_iter().enumerate() {
        M[i][j] = M[i][i] + inertia[k].0;
        M[j][i] = M[i][j];
    }
    M
}

/// y = (q, v, a, λ), 0 = M a − f + Gᵀλ, 0 = gII.
fn andrews_dae(model: &Andrews) -> System<'static, ()> {
    let model = *model;
    let mut system = System::new(27, move |f, _, y: &Vector, (): &mut ()| {
        let (y, f) = (y.as_data(), f.as_mut_data());
        f[..14].copy_from_slice(&y[7..21]);
        Mechanics::at(&model, y).residual(&y[14..21], &y[21..], &mut f[14..]);
        Ok(())
    });
    let jacobian = move |J: &mut CooMatrix, c: f64, _: f64, y: &Vector, (): &mut ()| {
        let y = y.as_data();
        let at = Mechanics::at(&model, y);
        let (dynamics, gII) = at.slopes(&y[14..21], &y[21..]);
        let G = at.constraint_matrix();
        J.reset();
        for i in 0..14 {
            J.put(i, 7 + i, c)?;
        }
        for block in TOGETHER {
            for &i in block {
                for &j in block {
                    J.put(14 + i, j, c * dynamics[0][i][j])?;
                    J.put(14 + i, 7 + j, c * dynamics[1][i][j])?;
                    J.put(14 + i, 14 + j, c * at.mass[i][j])?;
                }
            }
        }
        for (b, angles) in ANGLES.iter().enumerate() {
            for row in [2 * b, 2 * b + 1] {
                for &j in *angles {
                    J.put(14 + j, 21 + row, c * G[row][j])?;
                    J.put(21 + row, j, c * gII[0][row][j])?;
                    J.put(21 + row, 7 + j, c * gII[1][row][j])?;
                    J.put(21 + row, 14 + j, c * G[row][j])?;
                }
            }
        }
        Ok(())
    };
    system.set_jacobian(Some(ENTRIES), Sym::No, jacobian).expect("a Jacobian");
    system.set_mass(Some(14), Sym::No, |M| diagonal(M, 14)).expect("a mass matrix");
    system
}

/// y = (q, v).
fn andrews_ode(model: &Andrews) -> System<'static, ()> {
    let model = *model;
    let mut system = System::new(14, move |f, _, y: &Vector, (): &mut ()| {
        let (y, f) = (y.as_data(), f.as_mut_data());
        f[..7].copy_from_slice(&y[7..]);
        f[7..].copy_from_slice(&Mechanics::at(&model, y).eliminate().0[..7]);
        Ok(())
    });
    let jacobian = move |J: &mut CooMatrix, c: f64, _: f64, y: &Vector, (): &mut ()| {
        let at = Mechanics::at(&model, y.as_data());
        let (x, factors) = at.eliminate();
        let (dynamics, gII) = at.slopes(&x[..7], &x[7..]);
        J.reset();
        for i in 0..7 {
            J.put(i, 7 + i, c)?;
        }
        for j in 0..14 {
            let (level, j) = (j / 7, j % 7);
            let mut column: [f64; 13] =
                std::array::from_fn(|i| if i < 7 { dynamics[level][i][j] } else { gII[level][i - 7][j] });
            factors.solve(&mut column);
            for i in 0..7 {
                J.put(7 + i, 7 * level + j, -c * column[i])?;
            }
        }
        Ok(())
    };
    system.set_jacobian(Some(7 + 7 * 14), Sym::No, jacobian).expect("a Jacobian");
    system
}

/// LU factors with row pivoting.
struct Factors {
    A: [[f64; 13]; 13],
    rows: [usize; 13],
}

impl Factors {
    fn of(mut A: [[f64; 13]; 13]) -> Self {
        let mut rows = [0; 13];
        for k in 0..13 {
            let pivot = (k..13).max_by(|&i, &j| A[i][k].abs().total_cmp(&A[j][k].abs())).unwrap_or(k);
            rows[k] = pivot;
            A.swap(k, pivot);
            let row = A[k];
            for other in &mut A[k + 1..] {
                let factor = other[k] / row[k];
                other[k] = factor;
                if factor != 0.0 {
                    for j in k + 1..13 {
                        other[j] -= factor * row[j];
                    }
                }
            }
        }
        Factors { A, rows }
    }

    fn solve(&self, x: &mut [f64; 13]) {
        for k in 0..13 {
            x.swap(k, self.rows[k]);
        }
        for i in 0..13 {
            for j in 0..i {
                x[i] -= self.A[i][j] * x[j];
            }
        }
        for i in (0..13).rev() {
            for j in i + 1..13 {
                x[i] -= self.A[i][j] * x[j];
            }
            x[i] /= self.A[i][i];
        }
    }
}
