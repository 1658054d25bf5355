//! Sparse Jacobians of mechanisms: whoever makes them, every formulation and method takes them, with the results of dense ones.

#[path = "support/chain.rs"]
mod chain;
#[path = "methods/problems.rs"]
#[allow(dead_code)]
mod problems;

use chain::Chain;
use daedal::Bdf;
use daedal::catalogue;
use daedal::formulation::{Baumgarte, Formulated, Formulation, Relaxed};
use daedal::graph::Interpreted;
use daedal::linalg::{Jacobian, JacobianRef, Matrices};
use daedal::method::State;
use daedal::motion::{
    Compiled, EquationsOfMotion, Form, Formulas, Layout, Mechanism, Names, ReducedArray, Sizes, Structure, Undefined,
    consistent,
};
use daedal::{Initial, Options, Problem, RadauIIa, Solution, Start, Tolerance, solve};
use problems::{Arm, Pendulum};

/// A mechanism whose arrays give matrices of one kind, whatever they would choose.
struct Forced<'m> {
    mechanism: &'m dyn Mechanism,
    sparse: bool,
}

impl Mechanism for Forced<'_> {
    fn sizes(&self) -> Sizes {
        self.mechanism.sizes()
    }
    fn names(&self) -> Names {
        self.mechanism.names()
    }
    fn structure(&self) -> Structure {
        self.mechanism.structure()
    }
    fn formulas(&self) -> Option<Formulas> {
        self.mechanism.formulas()
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        let mut array = self.mechanism.array(form, with_invariants);
        let l = array.layout().clone();
        let mut F = Jacobian::dense(l.rows(), l.dim());
        let kinds = |places: [Vec<(usize, usize)>; 3], rows: [usize; 3]| {
            let mut sizes = rows.into_iter();
            places.map(|places| Jacobian::sparse(sizes.next().unwrap_or(0), l.v().len(), places))
        };
        let mut places: [Vec<(usize, usize)>; 4] = Default::default();
        if self.sparse {
            // entries that differ from zero somewhere
            for seed in 1..5 {
                let x: Vec<f64> = (0..l.dim()).map(|i| 0.3 + (1.7 * f64::from(seed) * (i + 1) as f64).sin()).collect();
                let (t, mut rows) = (0.3 * f64::from(seed), vec![0.0; l.rows()]);
                array.evaluate(t, &x, &mut rows).unwrap();
                array.jacobian(t, &x, &rows, &mut F).unwrap();
                places[3].extend(different_from_zero(F.view()));
                for (places, matrix) in places.iter_mut().zip(array.matrices(t, &x).unwrap()) {
                    places.extend(different_from_zero(matrix));
                }
            }
            // and those that the elimination of accelerations clears
            let eliminated = l.row_acceleration().chain(l.row_g2()).chain(l.row_h1());
            places[3].extend(eliminated.flat_map(|i| l.a().map(move |j| (i, j))));
        }
        let [M, GZ, HZ, of_F] = places;
        let sizes = [l.v().len(), l.lambda().len(), l.mu().len()];
        let (F, matrices) = if self.sparse {
            (Jacobian::sparse(l.rows(), l.dim(), of_F), kinds([M, GZ, HZ], sizes))
        } else {
            (F, sizes.map(|rows| Jacobian::dense(rows, l.v().len())))
        };
        Box::new(ForcedArray { array, F, matrices })
    }
}

fn different_from_zero(F: JacobianRef) -> Vec<(usize, usize)> {
    (0..F.rows()).flat_map(|i| F.row(i).filter(|(_, f)| *f != 0.0).map(move |(j, _)| (i, j))).collect()
}

struct ForcedArray<'m> {
    array: Box<dyn ReducedArray + 'm>,
    F: Jacobian,
    matrices: [Jacobian; 3],
}

fn copy<'t>(from: [JacobianRef; 3], to: &'t mut [Jacobian; 3]) -> [JacobianRef<'t>; 3] {
    for (from, to) in from.iter().zip(to.iter_mut()) {
        to.clear();
        (0..from.rows()).for_each(|i| to.add_row(i, 1.0, from, i));
    }
    let [M, GZ, HZ] = to;
    [M.view(), GZ.view(), HZ.view()]
}

impl ReducedArray for ForcedArray<'_> {
    fn layout(&self) -> &Layout {
        self.array.layout()
    }
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.array.evaluate(t, x, rows)
    }
    fn new_jacobian(&self) -> Jacobian {
        self.F.clone()
    }
    fn new_matrices(&self) -> [Jacobian; 3] {
        self.matrices.clone()
    }
    fn jacobian(&mut self, t: f64, x: &[f64], rows: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        self.array.jacobian(t, x, rows, F)
    }
    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        Ok(copy(self.array.matrices(t, x)?, &mut self.matrices))
    }
    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        Ok(copy(self.array.at_rest(t, x, rows)?, &mut self.matrices))
    }
    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        self.array.forces(t, x, hidden, rows)
    }
    fn set_invariants(&mut self, at: &[f64]) {
        self.array.set_invariants(at);
    }
    fn mass_evaluations(&self) -> u64 {
        self.array.mass_evaluations()
    }
}

fn compiled<E: EquationsOfMotion>(model: &E) -> Compiled {
    Compiled::new(&Formulas::trace(model), Interpreted)
}

fn options(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), ..Options::default() }
}

/// Largest difference of positions and velocities at the end.
fn difference(one: &Solution, other: &Solution) -> f64 {
    let motion = |s: &Solution| [s.at_end().p, s.at_end().v].concat();
    motion(one).iter().zip(motion(other)).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

#[test]
fn every_method_and_formulation_takes_sparse_jacobians_of_every_producer() {
    let (pendulum, arm) = (Pendulum::P1, Arm::P2);
    let models = [
        ("swept pendulum", &pendulum as &dyn Mechanism, Pendulum::moving()),
        ("compiled pendulum", &compiled(&pendulum), Pendulum::moving()),
        ("swept arm", &arm, Arm::start()),
        ("compiled arm", &compiled(&arm), Arm::start()),
        ("swept chain", &Chain { links: 2 }, Chain { links: 2 }.start()),
    ];
    let mut runs = 0;
    for (name, mechanism, initial) in &models {
        let [dense, sparse] = [false, true].map(|sparse| Forced { mechanism: *mechanism, sparse });
        for entry in catalogue::all() {
            for formulation in Formulation::ALL.into_iter().filter(|f| entry.formulations.contains(&f.name())) {
                let method = entry.with(formulation).unwrap();
                let [one, other] = [&dense, &sparse].map(|system| {
                    let problem = Problem::new(system, initial.clone(), 0.3);
                    solve(&problem, &*method, &options(1e-6))
                });
                match (one, other) {
                    (Ok(one), Ok(other)) => {
                        let (far, what) =
                            (difference(&one, &other), format!("{name}, {} {}", entry.name, formulation.name()));
                        // initial values differ by rounding, which orders of BDF may depend on
                        assert!(far < 1e-8, "{what}: {far:.1e}");
                        assert_eq!(one.statistics.steps, other.statistics.steps, "{what}");
                        runs += 1;
                    }
                    (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
                    (one, other) => panic!("{name}: {:?} {:?}", one.err(), other.err()),
                }
            }
        }
    }
    assert!(runs > 80, "{runs}");
}

#[test]
fn a_long_chain_chooses_sparse_matrices_and_has_the_solution_of_dense_ones() {
    let chain = Chain { links: 60 };
    let compiled = compiled(&chain);
    let dense = Forced { mechanism: &compiled, sparse: false };
    let start = consistent::initialise(&compiled, &chain.start(), Form::StrangenessFree).unwrap().state;
    for (formulation, is_sparse) in [
        (Formulation::Eom, true),
        (Formulation::Eom1, true),
        (Formulation::Eom0, true),
        (Formulation::Ggl, true),
        (Formulation::Baumgarte(Baumgarte::default()), true),
        (Formulation::Overdetermined(Relaxed::default()), false),
    ] {
        assert_eq!(formulation.system(&compiled, &start).unwrap().new_pencil().is_sparse(), is_sparse);
        assert!(!formulation.system(&dense, &start).unwrap().new_pencil().is_sparse());
    }
    let array = compiled.array(Form::StrangenessFree, true);
    assert!(array.new_jacobian().is_sparse() && array.new_jacobian().values().len() < 7_000);
    for formulation in [Formulation::Eom1, Formulation::Ggl, Formulation::Baumgarte(Baumgarte::default())] {
        let [one, other] = [&dense as &dyn Mechanism, &compiled].map(|system| {
            let method = Formulated { formulation, integrator: RadauIIa::default() };
            let problem = Problem::new(system, chain.start(), 0.05).trust(start.clone());
            solve(&problem, &method, &options(1e-5)).unwrap()
        });
        let (far, name) = (difference(&one, &other), formulation.name());
        println!("{name}: {far:.1e}, {} and {}", one.statistics, other.statistics);
        assert!(far < 1e-8, "{name}: {far:.1e}");
    }
    let method = Formulated { formulation: Formulation::Eom0, integrator: Bdf::default() };
    let [one, other] = [&dense as &dyn Mechanism, &compiled].map(|system| {
        let problem = Problem::new(system, chain.start(), 0.05).trust(start.clone());
        solve(&problem, &method, &options(1e-5)).unwrap()
    });
    assert!(difference(&one, &other) < 1e-8);
}

#[test]
fn a_chain_of_300_links_has_the_solution_of_dense_matrices_by_explicit_methods() {
    let chain = Chain { links: 300 };
    let [sparse, dense] = [Matrices::Auto, Matrices::Dense].map(|matrices| compiled(&chain).with_matrices(matrices));
    let kinds = |system: &Compiled| system.array(Form::StrangenessFree, false).new_matrices();
    assert!(kinds(&sparse).iter().all(Jacobian::is_sparse) && !kinds(&dense).iter().any(Jacobian::is_sparse));
    let start = consistent::initialise(&sparse, &chain.start(), Form::StrangenessFree).unwrap().state;
    let method = catalogue::find("dop853").unwrap().with(Formulation::Eom0).unwrap();
    let [one, other] = [&dense, &sparse].map(|system| {
        let problem = Problem::new(system, chain.start(), 5e-3).trust(start.clone());
        solve(&problem, &*method, &options(1e-7)).unwrap()
    });
    let far = difference(&one, &other);
    println!("{far:.1e}, {} and {}", one.statistics, other.statistics);
    assert!(far < 1e-9, "{far:.1e}");
    assert_eq!(one.statistics.steps, other.statistics.steps);
}

#[test]
fn initial_values_found_level_by_level_are_those_of_the_general_search() {
    let chain = Chain { links: 8 };
    // off the constraints, with velocities that they do not allow
    let p = |(i, start): (usize, &Start)| match start {
        Start::Guess(p) | Start::Fixed(p) => p + 0.02 * (i as f64).cos(),
        Start::Unknown => 0.0,
    };
    let p: Vec<f64> = chain.start().p.iter().enumerate().map(p).collect();
    let v: Vec<f64> = (0..p.len()).map(|i| 0.1 * (2.0 * i as f64).sin()).collect();
    let initial = Initial::motion(0.0, &p, &v);
    let [sparse, dense] = [Matrices::Sparse, Matrices::Dense].map(|matrices| {
        let system = compiled(&chain).with_matrices(matrices);
        consistent::initialise(&system, &initial, Form::StrangenessFree).unwrap()
    });
    assert_eq!((sparse.surplus, sparse.undetermined_multipliers), (dense.surplus, dense.undetermined_multipliers));
    for (x, y) in sparse.state.x.iter().zip(&dense.state.x) {
        assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{x} {y}");
    }
}

#[test]
fn sparse_matrices_are_those_of_the_sweeps_and_allocate_nothing() {
    let chain = Chain { links: 12 };
    let compiled = compiled(&chain);
    let mut array = compiled.array(Form::StrangenessFree, false);
    let (l, mut F) = (array.layout().clone(), array.new_jacobian());
    assert!(F.is_sparse());
    let start = consistent::initialise(&compiled, &chain.start(), Form::StrangenessFree).unwrap().state;
    let mut rows = vec![0.0; l.rows()];
    let State { t, x } = &start;
    array.jacobian(*t, x, &rows, &mut F).unwrap();
    let info = allocation_counter::measure(|| {
        array.evaluate(*t, x, &mut rows).unwrap();
        array.jacobian(*t, x, &rows, &mut F).unwrap();
        array.matrices(*t, x).unwrap();
    });
    assert_eq!(info.count_total, 0);
    let mut dense = Jacobian::dense(l.rows(), l.dim());
    let mut swept = chain.array(Form::StrangenessFree, false);
    swept.jacobian(*t, x, &rows, &mut dense).unwrap();
    for i in 0..l.rows() {
        for j in 0..l.dim() {
            assert!((F[(i, j)] - dense[(i, j)]).abs() < 1e-12, "({i}, {j}): {} {}", F[(i, j)], dense[(i, j)]);
        }
    }
}
