//! `[final]`: what holds at the end of a run, which makes a file a boundary value problem.

use crate::diagnostic::Mistake;
use crate::document::{Section, wrong_type};
use crate::entries::{self, FormulaEntry, Name};
use crate::initial::{self, InitialDraft};
use crate::lower::{Lowering, Rate};
use crate::names::{Classes, Context, Quantity, Symbol};
use crate::reader::Reader;
use crate::suggestion::help;
use daedal::graph::{Expr, Graph, Tape};
use daedal::{BoundaryProblem, Bounded, EndCondition, GuessCurve, Initial, Periodic};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use toml::de::DeValue;

const CURVE: Context = Context {
    place: "a guess of a curve",
    allowed: Classes::of(&[Quantity::Parameter, Quantity::Time]),
    help: "a curve is a function of time `t` and parameters",
};

/// What a file says about the end.
#[derive(Clone)]
pub struct ModelBoundary {
    /// Values at the end.
    pub last: Initial,
    /// Conditions between both ends.
    pub conditions: Vec<EndCondition>,
    /// Variables with the same values at both ends.
    pub periodic: Periodic,
    /// Is the end time to be found?
    pub free_end: bool,
    /// Parameters that are to be found.
    pub find: Vec<String>,
    /// Curves that variables may be near to.
    pub near: Vec<(String, GuessCurve)>,
}

impl fmt::Debug for ModelBoundary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("ModelBoundary")
            .field("last", &self.last)
            .field("conditions", &self.conditions)
            .finish_non_exhaustive()
    }
}

impl ModelBoundary {
    /// The problem for a system, from initial values to an end.
    pub fn problem<'p, S: Bounded + ?Sized>(
        &self,
        system: &'p S,
        initial: Initial,
        tend: f64,
    ) -> BoundaryProblem<'p, S> {
        BoundaryProblem {
            system,
            initial,
            last: Initial { t: tend, ..self.last.clone() },
            conditions: self.conditions.clone(),
            periodic: self.periodic.clone(),
            free_end: self.free_end,
            find: self.find.clone(),
            near: self.near.clone(),
        }
    }
}

/// Nodes of the variables and their derivatives, as the equations know them.
#[derive(Default)]
pub(crate) struct KnownVariables {
    pub variables: HashMap<Quantity, Vec<Expr>>,
    pub rates: HashMap<(Quantity, usize), Vec<Rate>>,
}

/// The section as it was read.
pub(crate) struct LastDraft {
    pub given: InitialDraft,
    pub conditions: Vec<(String, FormulaEntry)>,
    pub known: KnownVariables,
    /// what may stand in a condition
    pub context: Context,
    periodic: Periodic,
    free_end: bool,
    find: Vec<String>,
    curves: Vec<(Name, FormulaEntry)>,
}

/// Read the section.
pub(crate) fn read(reader: &mut Reader, section: Section) -> LastDraft {
    section.check_keys(reader, &["fix", "guess", "conditions", "periodic", "find", "curve"]);
    let mut given = InitialDraft::default();
    given.is_last = true;
    initial::given_values(reader, section, &mut given);
    let conditions = section.get("conditions").map_or_else(Vec::new, |value| {
        let listed = value.get_ref().as_array().is_some();
        // those without a name are called by what they say
        let named =
            |(name, entry): (String, FormulaEntry)| (if listed { entry.written().formula } else { name }, entry);
        initial::conditions(reader, value, "final condition").into_iter().map(named).collect()
    });
    let (find, free_end) = find(reader, section);
    let curves = match section.table(reader, "curve") {
        Some(table) => entries::table(reader, table, "the curve"),
        None => Vec::new(),
    };
    for (name, _) in &curves {
        let reference = crate::formula::ast::NameUse { base: name.base.clone(), indices: vec![], span: name.span };
        match reader.scope.find(&name.full, &reference) {
            Ok(Symbol::Variable(..)) => {}
            Ok(_) => reader.mistake(Mistake::NotAVariable {
                name: name.full.clone(),
                kind: "no variable".into(),
                at: name.span.into(),
                help: "curves are guesses of variables".into(),
            }),
            Err(mistake) if !reader.scope.incomplete => reader.mistake(mistake),
            Err(_) => {}
        }
    }
    let periodic = periodic(reader, section);
    let (known, context) = (KnownVariables::default(), CURVE);
    LastDraft { given, conditions, known, context, periodic, free_end, find, curves }
}

/// `periodic = true`, or a list of variables.
fn periodic(reader: &mut Reader, section: Section) -> Periodic {
    let Some(value) = section.get("periodic") else { return Periodic::No };
    match value.get_ref() {
        DeValue::Boolean(true) => Periodic::All,
        DeValue::Boolean(false) => Periodic::No,
        DeValue::Array(_) => {
            let names = entries::names(reader, value, "periodic").0;
            for name in &names {
                let reference =
                    crate::formula::ast::NameUse { base: name.base.clone(), indices: vec![], span: name.span };
                match reader.scope.find(&name.full, &reference) {
                    Ok(Symbol::Variable(..)) => {}
                    Ok(_) => reader.mistake(Mistake::NotAVariable {
                        name: name.full.clone(),
                        kind: "no variable".into(),
                        at: name.span.into(),
                        help: "variables have the same values at both ends; everything else follows".into(),
                    }),
                    Err(mistake) if !reader.scope.incomplete => reader.mistake(mistake),
                    Err(_) => {}
                }
            }
            Periodic::Of(names.into_iter().map(|name| name.full).collect())
        }
        _ => {
            reader.mistake(wrong_type("`periodic`", "true, or a list of variables", value));
            Periodic::No
        }
    }
}

/// `find = ["k", "t"]`: parameters, and `t` for the end time.
fn find(reader: &mut Reader, section: Section) -> (Vec<String>, bool) {
    let Some(value) = section.get("find") else { return (Vec::new(), false) };
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(wrong_type("`find`", "a list of parameters, and \"t\" for the end time", value));
        return (Vec::new(), false);
    };
    let (mut found, mut free_end) = (Vec::new(), false);
    let known: Vec<String> = reader.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    for item in items {
        let DeValue::String(text) = item.get_ref() else {
            reader.mistake(wrong_type("an entry of `find`", "the name of a parameter, or \"t\"", item));
            continue;
        };
        let name = text.replace(' ', "");
        if name == "t" {
            free_end = true;
        } else if known.contains(&name) {
            found.push(name);
        } else {
            let all = known.iter().map(String::as_str).chain(["t"]);
            let help = help(&name, all, "parameters can be found, and the end time `t`:");
            let at = crate::source::Span::from(item.span()).into();
            reader.mistake(Mistake::UnknownName { name, at, help: Some(help) });
        }
    }
    (found, free_end)
}

/// Formulas of both ends. `names` are those of the variables of each class, `start` conditions at the start in the graph of the equations.
pub(crate) fn lower(
    reader: &mut Reader,
    last: LastDraft,
    graph: &Graph,
    names: &[(Quantity, Vec<String>)],
    parameters: &[(String, f64)],
    end: Initial,
    start: &[(String, Expr)],
) -> ModelBoundary {
    let LastDraft { conditions, known, context, periodic, free_end, find, curves, .. } = last;
    // node numbers are the same in a copy
    let mut both = graph.clone();
    let mut at_start = HashMap::new();
    let mut images = Vec::new();
    for (class, names) in names {
        for (k, name) in names.iter().enumerate() {
            let input = both.input(format!("initial({name})"));
            at_start.insert((*class, k), input);
            images.extend(known.variables.get(class).and_then(|all| all.get(k)).map(|&x| (x, input)));
        }
    }
    let t = known.variables.get(&Quantity::Time).and_then(|t| t.first()).copied();
    let t0 = both.input("initial(t)");
    at_start.insert((Quantity::Time, 0), t0);
    images.extend(t.map(|t| (t, t0)));
    let inputs = known.variables.get(&Quantity::Parameter).cloned().unwrap_or_default();
    let numbers: Vec<(Expr, f64)> = inputs
        .iter()
        .zip(parameters)
        .filter(|(_, (name, _))| !find.contains(name))
        .map(|(&input, (_, value))| (input, *value))
        .collect();

    let (formulas, near) = both.with(|| {
        let mut to = Lowering::new(reader, known.variables);
        to.rates = known.rates;
        to.at_start = at_start;
        let context = Context { place: "a final condition", ..context };
        let mut formulas = Vec::new();
        for (name, entry) in &conditions {
            if let Some(value) = to.residual(&entry.equation, context, &entry.bindings) {
                formulas.push((name.clone(), value.expr));
            }
        }
        let mut near = Vec::new();
        for (name, entry) in &curves {
            let node = to.reader.told(entry.node());
            if let Some(value) = node.and_then(|node| to.formula(&node, CURVE, &entry.bindings)) {
                near.push((name.full.clone(), value.expr));
            }
        }
        (formulas, near)
    });
    let start_residuals: Vec<Expr> = start.iter().map(|(_, e)| *e).collect();
    let start_residuals = both.substitute(&start_residuals, &images);
    let all: Vec<(String, Expr)> =
        start.iter().map(|(name, _)| name.clone()).zip(start_residuals).chain(formulas).collect();
    let residuals: Vec<Expr> = all.iter().map(|(_, e)| *e).collect();
    let residuals = both.bind(&residuals, &numbers);
    let conditions =
        all.iter().zip(residuals).map(|((name, _), e)| EndCondition::formula(name.clone(), &both, e)).collect();

    let all_numbers: Vec<(Expr, f64)> = inputs.iter().zip(parameters).map(|(&x, (_, value))| (x, *value)).collect();
    let curves: Vec<Expr> = near.iter().map(|(_, e)| *e).collect();
    let curves = both.bind(&curves, &all_numbers);
    let width = both.inputs().len();
    let near = near
        .into_iter()
        .zip(curves)
        .map(|((name, _), e)| {
            // time is the first input
            let tape = Tape::new(&both, &[e]);
            let curve = move |t: f64| {
                let mut inputs = vec![0.0; width];
                inputs[0] = t;
                tape.evaluate(&inputs)[0]
            };
            (name, Arc::new(curve) as GuessCurve)
        })
        .collect();
    ModelBoundary { last: end, conditions, periodic, free_end, find, near }
}
