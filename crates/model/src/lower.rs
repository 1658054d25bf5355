//! Formulas as nodes of an expression graph.
//!
//! Beside its node each value carries its number if it does not vary, the kinds of variables in it, and how the velocities
//! enter; so formulas are checked against the place where they stand while they are built.

use crate::bodies::{Mechanical, Sight};
use crate::diagnostic::Mistake;
use crate::formula::ast::{Elementary, NameUse, Range, Tree, WrittenEquation};
use crate::formula::evaluate::{Domain, Stop, Truth, decide, evaluate};
use crate::formula::operation::Arithmetic;
use crate::index::{Bindings, Budget};
use crate::memo::{self, Memo, NamedFormulas};
use crate::names::{Classes, Context, NamedFormula, Quantity, Symbol};
use crate::reader::{Reader, without_argument};
use crate::shape::Shape;
use crate::source::Span;
use daedal::graph::Expr;
use std::collections::HashMap;
use std::rc::Rc;

/// A formula in the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbolic {
    pub expr: Expr,
    /// Its number, if it is made of numbers and parameters.
    pub number: Option<f64>,
    pub uses: Classes,
    pub shape: Shape,
    /// The table in it that has the fewest derivatives.
    pub table: Option<usize>,
}

/// What the derivative of a variable is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rate {
    /// The formula of an item.
    Item(usize),
    /// A variable.
    Variable(Quantity, usize),
}

/// Builds formulas. Must be used inside of [`daedal::graph::Graph::with`].
pub(crate) struct Lowering<'r, 'f> {
    pub reader: &'r mut Reader<'f>,
    pub context: Context,
    /// Nodes of the variables of each class.
    pub variables: HashMap<Quantity, Vec<Expr>>,
    /// Derivatives of variables, of orders 1, 2, …
    pub rates: HashMap<(Quantity, usize), Vec<Rate>>,
    /// Values of variables at the start, where a formula is about both ends of a run.
    pub at_start: HashMap<(Quantity, usize), Expr>,
    /// Bodies and joints as formulas.
    pub mechanism: Option<Rc<Sight>>,
    /// Names that mean something in one formula only: `length`, `angle`.
    pub locals: HashMap<&'static str, Symbolic>,
    memo: Memo<Symbolic>,
}

/// Definitions may contain everything; what matters is where they are used.
pub(crate) const DEFINITION: Context =
    Context { place: "a definition", allowed: Classes::EVERYTHING, help: "definitions may contain everything" };

impl<'r, 'f> Lowering<'r, 'f> {
    pub fn new(reader: &'r mut Reader<'f>, variables: HashMap<Quantity, Vec<Expr>>) -> Self {
        Lowering {
            reader,
            context: DEFINITION,
            variables,
            rates: HashMap::new(),
            at_start: HashMap::new(),
            mechanism: None,
            locals: HashMap::new(),
            memo: Memo::default(),
        }
    }

    /// A formula where it stands.
    pub fn formula(&mut self, node: &Tree, context: Context, bindings: &Bindings) -> Option<Symbolic> {
        if self.reader.is_full() {
            return None;
        }
        self.context = context;
        let result = memo::complete(self, |lowering| evaluate(node, lowering, &mut bindings.clone()));
        self.reader.ok(result)
    }

    /// A condition where it stands.
    pub fn condition(&mut self, node: &Tree, context: Context) -> Option<Truth<Symbolic>> {
        if self.reader.is_full() {
            return None;
        }
        self.context = context;
        let result = memo::complete(self, |lowering| decide(node, lowering, &mut Bindings::default()));
        self.reader.ok(result)
    }

    /// The residual of an equation: left − right.
    pub fn residual(&mut self, equation: &WrittenEquation, context: Context, bindings: &Bindings) -> Option<Symbolic> {
        let left = self.formula(&equation.left, context, bindings);
        let Some(right) = &equation.right else { return left };
        let right = self.formula(right, context, bindings)?;
        left.map(|left| {
            // a = 0 needs no subtraction
            let zero = |x: &Symbolic| x.number == Some(0.0) && x.uses == Classes::NONE;
            if zero(&right) { left } else { self.apply(Arithmetic::Subtract, &[left, right]) }
        })
    }

    /// The same where it is differentiated so many times: tables in it must have as many derivatives.
    pub fn differentiated(&mut self, value: Option<Symbolic>, times: usize, span: Span) -> Option<Symbolic> {
        let tables = Rc::clone(&self.reader.tables);
        if let Some(table) = value.and_then(|value| value.table).map(|k| &tables[k]).filter(|t| t.smoothness < times) {
            let continuous = table.smoothness;
            self.reader.mistake(Mistake::NotAllowed {
                what: format!("the table `{}`, which has {continuous} continuous derivatives,", table.name),
                place: self.context.place.into(),
                at: span.into(),
                label: format!("differentiated {}", if times == 1 { "once" } else { "twice" }),
                help: format!("give the table a smoothness of {times} at least"),
            });
            return None;
        }
        value
    }

    /// The value of an item.
    pub fn item_value(&mut self, k: usize) -> Option<Symbolic> {
        if self.reader.is_full() {
            return None;
        }
        let item = Rc::clone(&self.reader.scope.items[k]);
        let reference = NameUse { base: item.name.clone(), indices: vec![], span: item.node.span };
        let result = memo::complete(self, |lowering| memo::value(k, &reference, lowering));
        self.reader.ok(result)
    }

    /// Something about a body or a joint.
    pub fn mechanical(&mut self, what: Mechanical) -> Option<Symbolic> {
        let (expr, uses) = self.mechanism.as_ref()?.value(what)?;
        Some(Symbolic { expr, number: None, uses, shape: Shape::Free, table: None })
    }

    /// A constant that does not stand in the file.
    pub fn zero(&mut self) -> Symbolic {
        self.number(0.0)
    }

    /// A variable; it is missing only if the list it belongs to has mistakes.
    fn variable(&mut self, class: Quantity, k: usize) -> Result<Symbolic, Stop> {
        let shape = if class == Quantity::Velocity { Shape::Linear } else { Shape::Free };
        let expr = self.variables.get(&class).and_then(|all| all.get(k)).copied().ok_or(Stop::Told)?;
        Ok(Symbolic { expr, number: None, uses: Classes::of(&[class]), shape, table: None })
    }

    fn not_allowed(&self, what: String, label: String, span: Span) -> Stop {
        let Context { place, help, .. } = self.context;
        Mistake::NotAllowed { what, place: place.into(), at: span.into(), label, help: help.into() }.into()
    }

    /// A value that was defined elsewhere must fit here.
    fn checked(&self, value: Symbolic, name: &str, span: Span) -> Result<Symbolic, Stop> {
        match value.uses.outside(self.context.allowed) {
            None => Ok(value),
            Some(class) => {
                let what = format!("`{name}`, which contains a {},", class.noun())
                    .replace("a a", "an a")
                    .replace("a time", "time");
                Err(self.not_allowed(
                    what,
                    format!("contains a {}", class.noun()).replace("a a", "an a").replace("a time", "time"),
                    span,
                ))
            }
        }
    }
}

impl Domain for Lowering<'_, '_> {
    type Value = Symbolic;

    fn number(&mut self, x: f64) -> Symbolic {
        let shape = if x == 0.0 { Shape::Zero } else { Shape::Free };
        Symbolic { expr: Expr::from(x), number: Some(x), uses: Classes::NONE, shape, table: None }
    }

    fn known(&mut self, value: &Symbolic) -> Option<f64> {
        value.number
    }

    fn decided(&mut self, value: &Symbolic, by: &Tree, _: &Bindings) {
        if value.uses.contains(Quantity::Parameter) {
            self.reader.note_structural(by);
        }
    }

    fn reference(&mut self, name: &str, reference: &NameUse) -> Result<Symbolic, Stop> {
        match name {
            "pi" => return Ok(self.number(std::f64::consts::PI)),
            "t" if !self.context.allowed.contains(Quantity::Time) => {
                return Err(self.not_allowed("time `t`".into(), "time".into(), reference.span));
            }
            "t" => return self.variable(Quantity::Time, 0),
            _ => {}
        }
        if let Some(local) = self.locals.get(name).filter(|_| self.memo.is_idle()) {
            return Ok(*local);
        }
        match self.reader.scope.find(name, reference) {
            Err(_) if self.reader.scope.incomplete => Err(Stop::Told),
            Err(mistake) => Err(mistake.into()),
            Ok(Symbol::Mechanical(what)) => {
                let value = self.mechanical(what).ok_or(Stop::Told)?;
                self.checked(value, name, reference.span)
            }
            Ok(Symbol::Parameter(k)) => {
                let number = self.reader.parameter(k)?;
                Ok(Symbolic { number: Some(number), ..self.variable(Quantity::Parameter, k)? })
            }
            Ok(Symbol::Item(k)) => {
                let value = memo::value(k, reference, self)?;
                self.checked(value, name, reference.span)
            }
            Ok(Symbol::Table(_)) => Err(without_argument(name, reference.span)),
            Ok(Symbol::Variable(class, k)) => {
                if !self.context.allowed.contains(class) {
                    return Err(self.not_allowed(
                        format!("the {} `{name}`", class.noun()),
                        class.noun().into(),
                        reference.span,
                    ));
                }
                self.variable(class, k)
            }
        }
    }

    fn at_start(&mut self, function: &NameUse, name: &str, argument: &NameUse) -> Option<Result<Symbolic, Stop>> {
        if self.reader.table_number(function).is_ok() {
            return None;
        }
        let span = function.span.to(argument.span);
        let symbol = match name {
            "t" => Ok(Symbol::Variable(Quantity::Time, 0)),
            _ => self.reader.scope.find(name, argument),
        };
        Some(match symbol {
            Err(_) if self.reader.scope.incomplete => Err(Stop::Told),
            Err(mistake) => Err(mistake.into()),
            Ok(Symbol::Variable(class, k)) => match self.at_start.get(&(class, k)) {
                Some(&expr) => {
                    let (uses, shape) = (Classes::of(&[class]), Shape::Free);
                    Ok(Symbolic { expr, number: None, uses, shape, table: None })
                }
                None => Err(Mistake::NotAllowed {
                    what: format!("initial({name})"),
                    place: self.context.place.into(),
                    at: span.into(),
                    label: "the value at the start".into(),
                    help: "values at the start are known to the conditions of [final] only".into(),
                }
                .into()),
            },
            Ok(_) => Err(Mistake::NotAVariable {
                name: name.into(),
                kind: "no variable".into(),
                at: argument.span.into(),
                help: "initial(x) is the value that the variable x has at the start".into(),
            }
            .into()),
        })
    }

    fn derivative(&mut self, name: &str, order: u32, reference: &NameUse, span: Span) -> Result<Symbolic, Stop> {
        let symbol = match self.reader.scope.find(name, reference) {
            Err(_) if self.reader.scope.incomplete => return Err(Stop::Told),
            symbol => symbol?,
        };
        let rates = match symbol {
            Symbol::Variable(class, k) => self.rates.get(&(class, k)),
            _ => None,
        };
        let Some(rate) = rates.and_then(|rates| rates.get(order as usize - 1)).copied() else {
            let help = match (symbol, rates.map(Vec::len)) {
                (Symbol::Variable(class, _), Some(_)) => {
                    format!("`{name}` is a {}; der({name}) is its highest derivative that can be written", class.noun())
                }
                (Symbol::Variable(class, _), None) => {
                    format!(
                        "`{name}` is a {}; derivatives of positions, velocities and dynamic variables are known",
                        class.noun()
                    )
                }
                _ => format!("`{name}` is not a variable; derivatives are taken of variables"),
            };
            let derivative = if order == 1 { format!("der({name})") } else { format!("der({name}, {order})") };
            return Err(Mistake::NoDerivative { derivative, at: span.into(), help }.into());
        };
        match rate {
            Rate::Item(k) => {
                let value = memo::value(k, reference, self)?;
                self.checked(value, &format!("der({name})"), span)
            }
            Rate::Variable(class, k) => {
                if !self.context.allowed.contains(class) {
                    return Err(self.not_allowed(format!("der({name})"), class.noun().into(), span));
                }
                self.variable(class, k)
            }
        }
    }

    fn table(&mut self, table: &NameUse, x: Symbolic) -> Result<Symbolic, Stop> {
        let k = self.reader.table_number(table)?;
        if self.variables.get(&Quantity::Time).is_some_and(|time| time.contains(&x.expr)) {
            self.reader.tables_of_time.insert(k);
        }
        let tables = Rc::clone(&self.reader.tables);
        // every piece is a formula
        for _ in 0..tables[k].spline.pieces() {
            self.reader.budget().operation(table.span)?;
        }
        let least = |&k: &usize| tables[k].smoothness;
        Ok(Symbolic {
            expr: tables[k].spline.value(x.expr),
            number: x.number.map(|x| tables[k].spline.value(x)),
            shape: Shape::of(Arithmetic::Function(Elementary::Sin), &[x.shape]),
            table: x.table.into_iter().chain([k]).min_by_key(least),
            uses: x.uses,
        })
    }

    fn apply(&mut self, operation: Arithmetic, arguments: &[Symbolic]) -> Symbolic {
        let expr = match arguments {
            [x] => operation.apply(&[x.expr]),
            [x, y] => operation.apply(&[x.expr, y.expr]),
            [x, y, z] => operation.apply(&[x.expr, y.expr, z.expr]),
            more => operation.apply(&more.iter().map(|x| x.expr).collect::<Vec<_>>()),
        };
        let number = match arguments {
            _ if arguments.iter().any(|x| x.number.is_none()) => None,
            [Symbolic { number: Some(x), .. }, Symbolic { number: Some(y), .. }] => Some(operation.apply(&[*x, *y])),
            all => Some(operation.apply(&all.iter().filter_map(|x| x.number).collect::<Vec<_>>())),
        };
        let shape = match arguments {
            [x, y] => Shape::of(operation, &[x.shape, y.shape]),
            all => Shape::of(operation, &all.iter().map(|x| x.shape).collect::<Vec<_>>()),
        };
        let uses = arguments.iter().fold(Classes::NONE, |uses, x| uses.and(x.uses));
        let table = arguments.iter().filter_map(|x| x.table).min_by_key(|&k| self.reader.tables[k].smoothness);
        Symbolic { expr, number, uses, shape, table }
    }

    fn integer(&mut self, node: &Tree, what: &str, bindings: &mut Bindings) -> Result<i64, Stop> {
        memo::complete(&mut *self.reader, |reader| reader.integer(node, what, &mut bindings.clone()))
    }

    fn budget(&mut self) -> &mut Budget {
        self.reader.budget()
    }

    fn check_index(&self, range: &Range, bindings: &Bindings) -> Result<(), Stop> {
        self.reader.check_index(range, bindings)
    }
}

impl NamedFormulas for Lowering<'_, '_> {
    fn memo(&mut self) -> &mut Memo<Symbolic> {
        &mut self.memo
    }
    fn item(&self, k: usize) -> Rc<NamedFormula> {
        Rc::clone(&self.reader.scope.items[k])
    }
    fn enter(&mut self, item: &NamedFormula) -> Context {
        std::mem::replace(&mut self.context, item.context)
    }
    fn leave(&mut self, before: Context) {
        self.context = before;
    }
    fn failed(&mut self, stop: Stop, _: &NamedFormula, _: &NameUse) -> Stop {
        // the mistake stands in the definition, not where it is used
        self.reader.stop(stop);
        Stop::Told
    }
}
