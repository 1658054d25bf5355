//! Compiled equations of a model and of those that differ from it in parameters only. A parameter that enters no equation, such as the value of a start, changes
//! nothing that is compiled; then the program of another model is used, which has the same bits.

use crate::model::KernelKind;
use daedal::graph::{Expr, Graph, Node};
use daedal::linalg::Matrices;
use daedal::motion::{ClosedForms, Compiled, Formulas};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Programs that are kept: enough for the values of a second parameter that a sweep goes through in turn, few enough to be compared one by one.
const KEPT: usize = 16;

/// Programs by their formulas, the last used first.
#[derive(Default)]
pub(crate) struct ProgramCache(Mutex<Vec<CachedProgram>>);

struct CachedProgram {
    /// Of the formulas, see [`fingerprint`].
    fingerprint: u64,
    formulas: Formulas,
    kernel: KernelKind,
    matrices: Matrices,
    compiled: Arc<Compiled>,
}

impl ProgramCache {
    /// The equations with their kernels, which are compiled when they are first needed.
    pub fn motion(&self, formulas: &Formulas, kernel: KernelKind, matrices: Matrices) -> Arc<Compiled> {
        let bound = formulas.bound();
        let fingerprint = fingerprint(&bound);
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |known: &CachedProgram| {
            let asked = (known.fingerprint, known.kernel, known.matrices) == (fingerprint, kernel, matrices);
            asked && same(&known.formulas, &bound)
        };
        let program = match programs.iter().position(fits) {
            Some(place) => programs.remove(place),
            None => CachedProgram {
                compiled: Arc::new(Compiled::new(&bound, kernel.compiler()).with_matrices(matrices)),
                fingerprint,
                formulas: bound,
                kernel,
                matrices,
            },
        };
        let compiled = program.compiled.clone();
        programs.insert(0, program);
        programs.truncate(KEPT);
        compiled
    }
}

/// A number that is equal for equal formulas: operations and constants, wherever they stand. Programs of a sweep differ in constants, and most comparisons end here.
fn fingerprint(formulas: &Formulas) -> u64 {
    let expressions: Vec<Expr> = expressions(formulas).into_iter().map(|(_, _, e)| e).collect();
    let of = |e: Expr| {
        let mut hasher = DefaultHasher::new();
        match formulas.graph.node(e) {
            Node::Constant(x) => (0, x.to_bits()).hash(&mut hasher),
            Node::Powi(_, n) => (1, n).hash(&mut hasher),
            Node::Powf(_, a) => (2, a.to_bits()).hash(&mut hasher),
            _ => return 1,
        }
        hasher.finish()
    };
    formulas.graph.needed(&expressions).into_iter().map(of).fold(0, u64::wrapping_add)
}

/// Are these bound formulas the same, node by node and numbers by their bits? Then a program of one is a program of the other, bit for bit. Values of
/// parameters that no formula contains may differ.
fn same(own: &Formulas, other: &Formulas) -> bool {
    let names = |list: &[(String, Expr)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    own.sizes == other.sizes
        && own.names == other.names
        && names(&own.outputs) == names(&other.outputs)
        && names(&own.hidden) == names(&other.hidden)
        && matrices(own) == matrices(other)
        && own.graph.inputs().len() == other.graph.inputs().len()
        && same_nodes((&own.graph, &expressions(own)), (&other.graph, &expressions(other)))
}

/// How many entries the matrices have.
fn matrices(formulas: &Formulas) -> (usize, Option<(usize, usize)>) {
    (formulas.mass.len(), formulas.closed.as_ref().map(|closed| (closed.GZ.len(), closed.HZ.len())))
}

/// Every formula with its place, block by block.
fn expressions(formulas: &Formulas) -> Vec<(usize, usize, Expr)> {
    // what is added to Formulas has to be compared as well
    let Formulas {
        graph: _,
        sizes: _,
        names: _,
        parameters: _,
        kinematics,
        mass,
        force,
        holonomic,
        nonholonomic,
        dynamic,
        auxiliary,
        contact,
        invariant,
        outputs,
        hidden,
        closed,
    } = formulas;
    let closed = closed.clone().unwrap_or_default();
    let ClosedForms { GZ, HZ, holonomic_rest, holonomic_gamma, nonholonomic_gamma } = &closed;
    let lists = [kinematics, force, holonomic, nonholonomic, dynamic, auxiliary, contact, invariant];
    let lists = lists.into_iter().chain([holonomic_rest, holonomic_gamma, nonholonomic_gamma]);
    let by_name = [outputs, hidden].map(|list| list.iter().map(|(_, e)| *e).collect::<Vec<_>>());
    let mut all = Vec::new();
    for (block, list) in lists.chain(&by_name).enumerate() {
        all.extend(list.iter().enumerate().map(|(i, e)| (block, i, *e)));
    }
    // matrices by row and column
    for matrix in [mass, GZ, HZ] {
        all.extend(matrix);
    }
    all
}

/// Is every expression made of the same nodes, in the same order?
fn same_nodes((own, a): (&Graph, &[(usize, usize, Expr)]), (other, b): (&Graph, &[(usize, usize, Expr)])) -> bool {
    let of = |list: &[(usize, usize, Expr)]| list.iter().map(|(_, _, e)| *e).collect::<Vec<_>>();
    let (nodes, others) = (own.needed(&of(a)), other.needed(&of(b)));
    if a.len() != b.len() || nodes.len() != others.len() {
        return false;
    }
    let image: HashMap<Expr, Expr> = nodes.iter().copied().zip(others.iter().copied()).collect();
    let is = |x: Expr, y: Expr| image.get(&x) == Some(&y);
    let same = |x: Expr, y: Expr| match (own.node(x), other.node(y)) {
        (Node::Constant(x), Node::Constant(y)) => x.to_bits() == y.to_bits(),
        (Node::Input(i), Node::Input(j)) => i == j,
        (Node::Unary(f, x), Node::Unary(g, y)) => f == g && is(x, y),
        (Node::Binary(f, x, z), Node::Binary(g, y, w)) => f == g && is(x, y) && is(z, w),
        (Node::Powi(x, n), Node::Powi(y, m)) => n == m && is(x, y),
        (Node::Powf(x, p), Node::Powf(y, q)) => p.to_bits() == q.to_bits() && is(x, y),
        (Node::Select(c, x, z), Node::Select(d, y, w)) => is(c, d) && is(x, y) && is(z, w),
        _ => false,
    };
    nodes.iter().zip(&others).all(|(&x, &y)| same(x, y))
        && a.iter().zip(b).all(|((i, j, x), (k, l, y))| (i, j) == (k, l) && is(*x, *y))
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, same};
    use crate::model::{Model, ModelSystem};
    use std::ptr;

    const TEXT: &str = r#"
        [model]
        name = "pendulum"
        time = [0, 1]
        [parameters]
        L = 1.0
        v0 = 2.0
        [motion]
        positions = ["x", "y"]
        velocities = ["vx", "vy"]
        mass = [1, 1]
        forces = [0, "-9.81"]
        holonomic = { rod = "x^2 + y^2 - L^2" }
        [initial]
        guess = { x = 0, y = "-L", vx = "v0", vy = 0 }
    "#;

    fn program(model: &Model) -> *const () {
        match &model.content.equations {
            ModelSystem::Motion(motion) => ptr::from_ref(motion.mechanism()).cast(),
            _ => ptr::null(),
        }
    }

    #[test]
    fn only_what_enters_the_equations_is_compiled_again() {
        let model = Model::read("pendulum.toml", TEXT).expect("a model");
        let with = |name: &str, value: f64| model.set(&[(name.to_string(), value)]).expect("a parameter");
        let (slower, shorter) = (with("v0", 1.0), with("L", 0.5));
        assert_eq!(program(&slower), program(&model));
        assert_ne!(program(&shorter), program(&model));
        // by way of another one, and back
        assert_eq!(program(&shorter.set(&[("v0".to_string(), 3.0)]).expect("a parameter")), program(&shorter));
        assert_eq!(program(&shorter.set(&[("L".to_string(), 1.0)]).expect("a parameter")), program(&model));
        assert_ne!(program(&model.with_kernel(crate::KernelKind::Tape).expect("a tape")), program(&model));
    }

    #[test]
    fn formulas_are_the_same_by_their_nodes_numbers_and_places() {
        let model = Model::read("pendulum.toml", TEXT).expect("a model");
        let ModelSystem::Motion(motion) = &model.content.equations else { panic!("a mechanism") };
        let formulas = motion.formulas.as_ref().expect("formulas");
        let first = formulas.bound();
        // a node that nobody needs, another number, another place, another name
        let mut other = first.clone();
        other.graph.number(17.0);
        assert!(same(&first, &other) && same(&other, &first));
        assert_eq!(fingerprint(&first), fingerprint(&other));
        let mut longer = formulas.clone();
        longer.parameters[0].1 += f64::EPSILON;
        assert!(!same(&first, &longer.bound()));
        assert_ne!(fingerprint(&first), fingerprint(&longer.bound()));
        other.force.swap(0, 1);
        assert!(!same(&first, &other));
        let mut renamed = first.clone();
        renamed.names.positions[0] = "z".into();
        assert!(!same(&first, &renamed));
    }
}
