//! What names mean: variables, parameters, definitions, and which of them a formula may contain.

use crate::bodies::{Mechanical, Objects};
use crate::diagnostic::Mistake;
use crate::formula::ast::{NameUse, Tree, is_reserved};
use crate::formula::construction::meaning;
use crate::formula::evaluate::indexed;
use crate::index::Bindings;
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use std::collections::HashMap;
use std::rc::Rc;

/// Kinds of quantities that formulas are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Quantity {
    Parameter,
    Time,
    Position,
    Velocity,
    Dynamic,
    Auxiliary,
    Contact,
    Lambda,
    Mu,
    Acceleration,
    State,
    StateDerivative,
}

impl Quantity {
    pub fn noun(self) -> &'static str {
        match self {
            Quantity::Parameter => "parameter",
            Quantity::Time => "time",
            Quantity::Position => "position",
            Quantity::Velocity => "velocity",
            Quantity::Dynamic => "dynamic variable",
            Quantity::Auxiliary => "auxiliary variable",
            Quantity::Contact => "contact variable",
            Quantity::Lambda | Quantity::Mu => "multiplier",
            Quantity::Acceleration => "acceleration",
            Quantity::State => "state",
            Quantity::StateDerivative => "derivative of a state",
        }
    }
}

const ALL: [Quantity; 12] = [
    Quantity::Parameter,
    Quantity::Time,
    Quantity::Position,
    Quantity::Velocity,
    Quantity::Dynamic,
    Quantity::Auxiliary,
    Quantity::Contact,
    Quantity::Lambda,
    Quantity::Mu,
    Quantity::Acceleration,
    Quantity::State,
    Quantity::StateDerivative,
];

/// A set of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes(u16);

impl Classes {
    pub const NONE: Classes = Classes(0);
    pub const EVERYTHING: Classes = Classes(u16::MAX);

    pub const fn of(classes: &[Quantity]) -> Self {
        let mut bits = 0;
        let mut k = 0;
        while k < classes.len() {
            bits |= 1 << classes[k] as u16;
            k += 1;
        }
        Classes(bits)
    }
    pub fn contains(self, class: Quantity) -> bool {
        self.0 & (1 << class as u16) != 0
    }
    #[must_use]
    pub fn and(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }
    /// The first class of this set that is not in the other.
    pub fn outside(self, other: Classes) -> Option<Quantity> {
        ALL.into_iter().find(|class| self.contains(*class) && !other.contains(*class))
    }
}

/// Where a formula stands, and what it may contain there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    /// "a holonomic constraint"
    pub place: &'static str,
    pub allowed: Classes,
    /// What may stand there.
    pub help: &'static str,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// Number of a variable in its class.
    Variable(Quantity, usize),
    /// Number of a parameter.
    Parameter(usize),
    /// Number of an item: a definition.
    Item(usize),
    /// Number of a table.
    Table(usize),
    /// Something about a body, a point or a joint.
    Mechanical(Mechanical),
}

/// A formula with a name, evaluated when it is first needed.
#[derive(Clone, Debug)]
pub(crate) struct NamedFormula {
    pub name: String,
    pub node: Rc<Tree>,
    pub bindings: Bindings,
    pub context: Context,
}

/// A name with indices.
#[derive(Clone, Debug)]
struct Family {
    what: String,
    span: Span,
    low: Vec<i64>,
    high: Vec<i64>,
}

/// A name as it was declared.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub symbol: Symbol,
    /// "a position"
    pub what: String,
    pub span: Span,
}

/// All names of a file.
#[derive(Debug, Default)]
pub(crate) struct NameScope {
    names: HashMap<String, Declaration>,
    families: HashMap<String, Family>,
    pub items: Vec<Rc<NamedFormula>>,
    /// Names may be missing because their declarations have mistakes.
    pub incomplete: bool,
    /// Bodies, points and joints, whose parts have names with dots.
    pub objects: Option<Rc<Objects>>,
}

impl NameScope {
    /// Give a name its meaning.
    pub fn declare(
        &mut self,
        base: &str,
        indices: &[i64],
        what: &str,
        symbol: Symbol,
        span: Span,
    ) -> Result<(), Mistake> {
        if is_reserved(base) {
            return Err(Mistake::Reserved {
                name: base.into(),
                what: what.into(),
                meaning: meaning(base),
                at: span.into(),
            });
        }
        if base.contains('.') && !base.starts_with("lambda.") && !base.starts_with("mu.") {
            return Err(Mistake::Syntax {
                message: format!("`{base}` cannot be the name of {what}"),
                label: "a name with a dot".into(),
                at: span.into(),
                help: Some("only multipliers and parts of bodies and joints have a dot in their names".into()),
            });
        }
        let name = indexed(base, indices);
        let other = self.names.get(&name).map(|d| (d.span, d.what.clone())).or_else(|| {
            // `x` beside `x[1]`
            let family = self.families.get(base);
            let scalar = self.names.get(base).map(|d| (d.span, d.what.clone()));
            match family {
                Some(f) if f.low.len() != indices.len() => Some((f.span, f.what.clone())),
                _ if !indices.is_empty() => scalar,
                _ => None,
            }
        });
        if let Some((first, first_what)) = other {
            let first = (first != span).then(|| first.into());
            return Err(Mistake::Duplicate { help: None, name, what: first_what, first, at: span.into() });
        }
        if !indices.is_empty() {
            let family = self.families.entry(base.to_string()).or_insert_with(|| Family {
                what: what.to_string(),
                span,
                low: indices.to_vec(),
                high: indices.to_vec(),
            });
            for (k, &i) in indices.iter().enumerate() {
                family.low[k] = family.low[k].min(i);
                family.high[k] = family.high[k].max(i);
            }
        }
        self.names.insert(name, Declaration { symbol, what: what.to_string(), span });
        Ok(())
    }

    /// Take the meaning of a name away again.
    pub fn forget(&mut self, base: &str, name: &str) {
        self.names.remove(name);
        self.families.remove(base);
    }

    /// Is this a name already?
    pub fn get(&self, name: &str) -> Option<&Declaration> {
        self.names.get(name)
    }

    /// Is something called like this, with or without indices?
    pub fn knows(&self, base: &str) -> Option<(Span, &str)> {
        let scalar = self.names.get(base).map(|d| (d.span, d.what.as_str()));
        scalar.or_else(|| self.families.get(base).map(|f| (f.span, f.what.as_str())))
    }

    /// The meaning of a name with its indices evaluated, or the mistake with advice.
    pub fn find(&self, name: &str, reference: &NameUse) -> Result<Symbol, Mistake> {
        if let Some(declared) = self.names.get(name) {
            return Ok(declared.symbol);
        }
        match &self.objects {
            Some(objects) if name.contains('.') || objects.knows(name) => objects.find(name, reference.span),
            _ => Err(self.unknown(name, reference)),
        }
    }

    fn unknown(&self, name: &str, reference: &NameUse) -> Mistake {
        let (base, at) = (reference.base.as_str(), reference.span.into());
        let given = reference.indices.len();
        if let Some(family) = self.families.get(base) {
            let ends = |pick: &[i64]| indexed(base, pick);
            let range = format!("{} to {}", ends(&family.low), ends(&family.high));
            if given == 0 {
                return Mistake::Indices {
                    message: format!("`{base}` needs an index"),
                    label: "no index is given".into(),
                    at,
                    help: format!("`{base}` goes from {range}; their sum is sum({base}[i] for i in …)"),
                };
            }
            if given != family.low.len() {
                return Mistake::Indices {
                    message: format!("`{base}` has {}, not {given}", indices(family.low.len())),
                    label: format!("{given} given"),
                    at,
                    help: format!("it goes from {range}"),
                };
            }
            return Mistake::IndexOutOfRange {
                name: name.into(),
                at,
                label: format!("this is `{name}`"),
                help: format!(
                    "`{base}` goes from {range}; a neighbour that does not exist is left out by if(i == 1, …, …)"
                ),
            };
        }
        if let Some(declared) = self.names.get(base) {
            return Mistake::Indices {
                message: format!("`{base}` has no index"),
                label: "index given".into(),
                at,
                help: format!("it is {}, declared without index", declared.what),
            };
        }
        let names = self.names.keys().filter(|n| !n.ends_with(']')).map(String::as_str);
        let mut known: Vec<&str> = names.chain(self.families.keys().map(String::as_str)).chain(["pi", "t"]).collect();
        known.sort_unstable();
        let multipliers = foreign(base).filter(|_| matches!(base, "lambda" | "mu")).map(str::to_string);
        let help = multipliers
            .or_else(|| nearest(base, known.iter().copied()).map(|near| format!("did you mean `{near}`?")))
            .or_else(|| {
                let multiplier = base.split_once('.').map(|(letter, _)| letter);
                let constraints =
                    known.iter().copied().filter(|n| Some(n.split('.').next().unwrap_or(n)) == multiplier);
                match (multiplier, constraints.clone().count()) {
                    (Some("lambda" | "mu"), 0) => Some(format!("no named constraint has a multiplier {}", multiplier.unwrap_or_default())),
                    (Some(_), 0) => Some(
                        "only multipliers have a dot in their names, lambda.NAME and mu.NAME, and parts of [[bodies]] and [[joints]]".into(),
                    ),
                    (Some(_), _) => Some(format!("known multipliers: {}", enumerate(constraints))),
                    (None, _) => foreign(base).map(str::to_string).or_else(|| {
                        Some(format!("known names: {}", enumerate(known.iter().copied().filter(|n| *n != "pi"))))
                    }),
                }
            });
        Mistake::UnknownName { name: name.into(), at, help }
    }
}

fn indices(n: usize) -> String {
    if n == 1 { "1 index".to_string() } else { format!("{n} indices") }
}

/// Names that other languages have.
fn foreign(name: &str) -> Option<&'static str> {
    match name {
        "time" => Some("time is called `t`"),
        "PI" | "Pi" | "π" => Some("the constant is called `pi`"),
        "e" => Some("the constant e is exp(1)"),
        "lambda" => Some(
            "the multiplier of the holonomic constraint NAME is lambda.NAME; constraints in a list have lambda1, lambda2, …",
        ),
        "mu" => Some(
            "the multiplier of the nonholonomic constraint NAME is mu.NAME; constraints in a list have mu1, mu2, …",
        ),
        "true" | "false" => Some("there are no truth values; write a comparison inside if(…)"),
        _ => None,
    }
}
