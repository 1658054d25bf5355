//! What is known while a file is read: its names, the numbers of its parameters, and the mistakes found so far.
//!
//! [`Reader`] is the domain of numbers: parameters, initial values, indices and bounds of ranges.

use crate::diagnostic::Mistake;
use crate::events::Lowered;
use crate::formula::ast::{NameUse, Range, Term, Tree, WrittenEquation};
use crate::formula::construction::unknown_function;
use crate::formula::evaluate::{AT_START, Domain, Stop, evaluate};
use crate::formula::operation::Arithmetic;
use crate::index::{Bindings, Budget, ReadingLimits};
use crate::memo::{self, Memo, NamedFormulas};
use crate::names::{Classes, Context, NameScope, NamedFormula, Quantity, Symbol};
use crate::source::Span;
use crate::tables::{self, Table};
use daedal::graph::Expr;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// Most mistakes that are told of one file.
const MOST_MISTAKES: usize = 100;

/// Where a parameter has its number from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    Number(f64),
    /// The item with its formula.
    Formula(usize),
}

/// A scalar parameter, or an entry of an array.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub origin: Origin,
    /// Its value in the file.
    pub span: Span,
}

pub(crate) const PARAMETER: Context = Context {
    place: "the value of a parameter",
    allowed: Classes::of(&[Quantity::Parameter]),
    help: "parameters are made of numbers and other parameters",
};

pub(crate) const CONSTANT: Context = Context {
    place: "an index or the bound of a range",
    allowed: Classes::of(&[Quantity::Parameter]),
    help: "indices are made of numbers, parameters and other indices",
};

/// State of reading.
pub(crate) struct Reader<'f> {
    pub file: &'f str,
    /// where its lines end
    lines: Rc<[usize]>,
    pub scope: NameScope,
    pub parameters: Vec<Parameter>,
    /// Functions that are given by points.
    pub tables: Rc<Vec<Table>>,
    /// Tables may be missing because their sections have mistakes.
    pub tables_incomplete: bool,
    /// Those that time itself is put into.
    pub tables_of_time: HashSet<usize>,
    /// Where files that the model names are looked for, if it came from a file itself.
    pub folder: Option<PathBuf>,
    /// Names of the outputs.
    pub outputs: HashSet<String>,
    /// Numbers of parameters from outside.
    pub overrides: HashMap<String, f64>,
    pub context: Context,
    /// Names whose values decided what the model looks like.
    structural: Vec<String>,
    looked_at: HashSet<Span>,
    memo: Memo<f64>,
    budget: Budget,
    diary: Diary,
    /// Mistakes that this reader met, also those that were told before.
    met: usize,
    /// The mode whose equations are read, in a system that has modes.
    pub mode: Option<String>,
    /// Definitions that are not computed in this mode, because it does not have the names in them: name, and which one is missing.
    pub absent: HashMap<String, Mistake>,
    /// Events of these equations.
    pub events: Vec<Lowered>,
    /// Formulas of the picture in the graph of these equations, by their numbers.
    pub picture: Vec<(usize, Expr)>,
    /// Are pictures, plots and names that nothing uses left out?
    pub only_numbers: bool,
    /// Events that are not looked for in some mode, because it does not have the names in them: number, and which one is missing.
    pub absent_events: Vec<(usize, Mistake)>,
    /// A text beside the file that is read now.
    beside: Option<Rc<str>>,
}

/// What was told, and what was left out: one for the whole file.
#[derive(Default)]
struct Diary {
    mistakes: Vec<Mistake>,
    told: HashSet<(usize, usize)>,
    /// Formulas that some mode could not compute, and why; those that some mode did compute.
    left_out: Vec<(Span, Mistake)>,
    computed: HashSet<Span>,
    /// Mistakes in texts beside the file, by the numbers of these texts.
    beside: Vec<(usize, Mistake)>,
}

/// What was told of the file, while a text beside it is read.
pub(crate) struct Told(Vec<Mistake>, HashSet<(usize, usize)>);

impl<'f> Reader<'f> {
    pub fn new(file: &'f str, limits: ReadingLimits) -> Self {
        Reader {
            file,
            lines: file.match_indices('\n').map(|(k, _)| k).collect(),
            scope: NameScope::default(),
            parameters: Vec::new(),
            tables: Rc::default(),
            tables_incomplete: false,
            tables_of_time: HashSet::new(),
            folder: None,
            outputs: HashSet::new(),
            overrides: HashMap::new(),
            context: PARAMETER,
            structural: Vec::new(),
            looked_at: HashSet::new(),
            memo: Memo::default(),
            budget: Budget::new(limits),
            diary: Diary::default(),
            met: 0,
            mode: None,
            absent: HashMap::new(),
            events: Vec::new(),
            picture: Vec::new(),
            only_numbers: false,
            absent_events: Vec::new(),
            beside: None,
        }
    }

    /// A reader for the equations of a mode, with names of its own; what was told goes on. Give it back to [`Reader::resume`].
    pub fn for_mode(&mut self, mode: &str) -> Reader<'f> {
        let mut reader = Reader::new("", ReadingLimits::default());
        (reader.file, reader.lines) = (self.file, Rc::clone(&self.lines));
        std::mem::swap(&mut reader.budget, &mut self.budget);
        std::mem::swap(&mut reader.diary, &mut self.diary);
        reader.mode = Some(mode.to_string());
        (reader.tables, reader.tables_incomplete) = (Rc::clone(&self.tables), self.tables_incomplete);
        tables::declare(&mut reader);
        reader
    }

    /// Go on behind a mode.
    pub fn resume(&mut self, mode: Reader<'f>) {
        self.budget = mode.budget;
        self.diary = mode.diary;
        self.tables_of_time.extend(mode.tables_of_time);
        self.absent_events.extend(mode.absent_events);
        self.met += mode.met;
    }

    /// Read a text beside the file: places are those of this text until [`Reader::end_beside`].
    pub fn begin_beside(&mut self, text: &Rc<str>) -> Told {
        self.beside = Some(Rc::clone(text));
        Told(std::mem::take(&mut self.diary.mistakes), std::mem::take(&mut self.diary.told))
    }

    /// Go on with the file; mistakes in the text are kept by its number.
    pub fn end_beside(&mut self, number: usize, told: Told) {
        self.beside = None;
        let own = std::mem::replace(&mut self.diary.mistakes, told.0);
        self.diary.told = told.1;
        self.diary.beside.extend(own.into_iter().map(|mistake| (number, mistake)));
    }

    /// What is written at a place.
    pub fn written(&self, at: Span) -> &str {
        self.beside.as_deref().unwrap_or(self.file).get(at.start..at.end).unwrap_or_default()
    }

    /// The line of a place, from 1.
    pub fn line(&self, at: Span) -> usize {
        1 + self.lines.partition_point(|end| *end < at.start)
    }

    /// A formula was computed, or left out because this mode does not have the names in it.
    pub fn note_formula(&mut self, at: Span, missing: Option<Mistake>) {
        match missing {
            None => {
                self.diary.computed.insert(at);
            }
            Some(mistake) => self.diary.left_out.push((at, mistake)),
        }
    }

    /// Formulas that no mode could compute are mistakes.
    pub fn tell_left_out(&mut self) {
        for (at, mistake) in std::mem::take(&mut self.diary.left_out) {
            if !self.diary.computed.contains(&at) {
                self.mistake(mistake);
            }
        }
    }

    /// Note a mistake; one for each place.
    pub fn mistake(&mut self, mut mistake: Mistake) {
        self.met += 1;
        let place = mistake.place().map(|place| (place.offset(), place.len()));
        let new = place.is_none_or(|place| self.diary.told.insert(place));
        if let (Mistake::UnknownName { help: Some(help), .. }, Some(mode)) = (&mut mistake, &self.mode) {
            *help = format!("in mode `{mode}`: {help}");
        }
        if new && !self.is_full() {
            self.diary.mistakes.push(mistake);
        }
    }

    /// Note why something could not be evaluated.
    pub fn stop(&mut self, stop: Stop) {
        if let Stop::Mistake(mistake) = stop {
            self.mistake(*mistake);
        }
    }

    /// Note a mistake, if there is one, and go on with what could be read.
    pub fn told<T>(&mut self, result: Result<T, Mistake>) -> Option<T> {
        result.map_err(|mistake| self.mistake(mistake)).ok()
    }

    /// The same for a value.
    pub fn ok<T>(&mut self, result: Result<T, Stop>) -> Option<T> {
        result.map_err(|stop| self.stop(stop)).ok()
    }

    /// So many mistakes that more would not help.
    pub fn is_full(&self) -> bool {
        self.diary.mistakes.len() >= MOST_MISTAKES
    }

    /// Mistakes so far.
    pub fn count(&self) -> usize {
        self.met
    }

    /// All mistakes in the order of the file, and those in texts beside it.
    pub fn into_mistakes(self) -> (Vec<Mistake>, Vec<(usize, Mistake)>) {
        let mut mistakes = self.diary.mistakes;
        mistakes.sort_by_key(|mistake| mistake.place().map_or(0, |place| place.offset()));
        (mistakes, self.diary.beside)
    }

    /// The number of a formula that must be constant.
    pub fn constant(&mut self, node: &Tree, context: Context, bindings: &mut Bindings) -> Result<f64, Stop> {
        let before = std::mem::replace(&mut self.context, context);
        let result = memo::complete(self, |reader| evaluate(node, reader, &mut bindings.clone()));
        self.context = before;
        result
    }

    /// The number of a parameter.
    pub fn parameter(&mut self, k: usize) -> Result<f64, Stop> {
        match self.parameters[k].origin {
            Origin::Number(x) => Ok(x),
            Origin::Formula(item) => {
                let reference =
                    NameUse { base: self.parameters[k].name.clone(), indices: vec![], span: self.parameters[k].span };
                memo::complete(self, |reader| memo::value(item, &reference, reader))
            }
        }
    }

    /// The parameters in a formula decided what the model looks like.
    pub fn note_structural(&mut self, node: &Tree) {
        if self.looked_at.insert(node.span) {
            references(node, &mut self.structural);
        }
    }

    /// Which table this is.
    pub fn table_number(&self, table: &NameUse) -> Result<usize, Stop> {
        let found = self.tables.iter().position(|known| known.name == table.base);
        found.ok_or_else(|| if self.tables_incomplete { Stop::Told } else { self.no_table(table).into() })
    }

    /// What is called like a function and none is a table.
    pub fn with_known_tables(&self, equation: &WrittenEquation) -> Result<(), Mistake> {
        let mut open: Vec<&Tree> = equation.right.iter().chain([&equation.left]).map(Rc::as_ref).collect();
        while let Some(node) = open.pop() {
            match &node.kind {
                // told where it stands, if it must not
                Term::Table(table, argument)
                    if table.base == AT_START
                        && matches!(argument.kind, Term::Reference(_))
                        && self.table_number(table).is_err() => {}
                Term::Table(table, _) if !self.tables_incomplete && self.table_number(table).is_err() => {
                    return Err(self.no_table(table));
                }
                _ => open.extend(node.children()),
            }
        }
        Ok(())
    }

    fn no_table(&self, table: &NameUse) -> Mistake {
        unknown_function(&table.base, self.tables.iter().map(|table| table.name.as_str()), table.span)
    }

    /// Names of the parameters that decided what the model looks like, in the order of the file.
    pub fn structural(&self) -> Vec<String> {
        let base = |name: &str| name.split('[').next().unwrap_or(name).to_string();
        let mut formulas: HashMap<String, Vec<usize>> = HashMap::new();
        for (k, item) in self.scope.items.iter().enumerate() {
            formulas.entry(base(&item.name)).or_default().push(k);
        }
        let mut found: HashSet<String> = self.structural.iter().cloned().collect();
        let mut open: Vec<String> = self.structural.clone();
        while let Some(name) = open.pop() {
            for k in formulas.remove(&name).unwrap_or_default() {
                let mut inner = Vec::new();
                references(&self.scope.items[k].node, &mut inner);
                open.extend(inner.into_iter().filter(|name| found.insert(name.clone())));
            }
        }
        self.parameters.iter().map(|p| &p.name).filter(|name| found.contains(&base(name))).cloned().collect()
    }
}

/// A table that stands without its argument.
pub(crate) fn without_argument(name: &str, at: Span) -> Stop {
    Mistake::Syntax {
        message: format!("`{name}` is a table"),
        label: "without its argument".into(),
        at: at.into(),
        help: Some(format!("write {name}(t)")),
    }
    .into()
}

/// The names in a formula, without their indices.
fn references(node: &Tree, bases: &mut Vec<String>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if let Term::Reference(reference) | Term::Derivative(reference, _) = &node.kind {
            bases.push(reference.base.clone());
        }
        open.extend(node.children());
    }
}

impl Domain for Reader<'_> {
    type Value = f64;

    fn number(&mut self, x: f64) -> f64 {
        x
    }
    fn known(&mut self, value: &f64) -> Option<f64> {
        Some(*value)
    }
    fn decided(&mut self, _: &f64, _: &Tree, _: &Bindings) {}

    fn reference(&mut self, name: &str, reference: &NameUse) -> Result<f64, Stop> {
        if name == "pi" {
            return Ok(std::f64::consts::PI);
        }
        let not_allowed = |what: String, context: Context| -> Stop {
            Mistake::NotAllowed {
                what,
                place: context.place.into(),
                at: reference.span.into(),
                label: "this varies during the motion".into(),
                help: context.help.into(),
            }
            .into()
        };
        if name == "t" {
            return Err(not_allowed("time `t`".into(), self.context));
        }
        match self.scope.find(name, reference) {
            Err(_) if self.scope.incomplete => Err(Stop::Told),
            Err(mistake) => Err(mistake.into()),
            Ok(Symbol::Parameter(k)) => match self.parameters[k].origin {
                Origin::Number(x) => Ok(x),
                Origin::Formula(item) => memo::value(item, reference, self),
            },
            Ok(Symbol::Item(_)) if self.context == PARAMETER => Err(Mistake::NotAllowed {
                what: format!("the definition `{name}`"),
                place: PARAMETER.place.into(),
                at: reference.span.into(),
                label: "a definition".into(),
                help: PARAMETER.help.into(),
            }
            .into()),
            Ok(Symbol::Item(item)) => memo::value(item, reference, self),
            Ok(Symbol::Table(_)) => Err(without_argument(name, reference.span)),
            Ok(Symbol::Mechanical(_)) => Err(not_allowed(format!("`{name}`"), self.context)),
            Ok(Symbol::Variable(class, _)) => Err(not_allowed(format!("the {} `{name}`", class.noun()), self.context)),
        }
    }

    fn derivative(&mut self, name: &str, _: u32, _: &NameUse, span: Span) -> Result<f64, Stop> {
        Err(Mistake::NotAllowed {
            what: format!("the derivative of `{name}`"),
            place: self.context.place.into(),
            at: span.into(),
            label: "this varies during the motion".into(),
            help: self.context.help.into(),
        }
        .into())
    }

    fn table(&mut self, table: &NameUse, argument: f64) -> Result<f64, Stop> {
        Ok(self.tables[self.table_number(table)?].spline.value(argument))
    }

    fn apply(&mut self, operation: Arithmetic, arguments: &[f64]) -> f64 {
        operation.apply(arguments)
    }

    fn integer(&mut self, node: &Tree, what: &str, bindings: &mut Bindings) -> Result<i64, Stop> {
        let before = std::mem::replace(&mut self.context, CONSTANT);
        let result = if self.memo.is_idle() {
            memo::complete(self, |reader| evaluate(node, reader, &mut bindings.clone()))
        } else {
            evaluate(node, self, bindings)
        };
        self.context = before;
        let x = result?;
        // indices beyond 2⁵³ could not be told from each other
        if x.fract() != 0.0 || x.abs() > 9e15 {
            return Err(Mistake::NotAnInteger { what: what.into(), value: x, at: node.span.into() }.into());
        }
        if !matches!(node.kind, Term::Number(_)) {
            self.note_structural(node);
        }
        Ok(x as i64)
    }

    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    fn check_index(&self, range: &Range, bindings: &Bindings) -> Result<(), Stop> {
        if let Some((first, what)) = self.scope.knows(&range.index) {
            let (name, what) = (range.index.to_string(), what.to_string());
            return Err(Mistake::Duplicate {
                help: Some("choose another index".into()),
                name,
                what,
                first: Some(first.into()),
                at: range.span.into(),
            }
            .into());
        }
        if bindings.get(&range.index).is_some() {
            let (name, what) = (range.index.to_string(), "an index".to_string());
            return Err(Mistake::Duplicate {
                help: Some("choose another index".into()),
                name,
                what,
                first: None,
                at: range.span.into(),
            }
            .into());
        }
        Ok(())
    }
}

impl NamedFormulas for Reader<'_> {
    fn memo(&mut self) -> &mut Memo<f64> {
        &mut self.memo
    }
    fn item(&self, k: usize) -> Rc<NamedFormula> {
        Rc::clone(&self.scope.items[k])
    }
    fn enter(&mut self, item: &NamedFormula) -> Context {
        // a definition that is used where numbers are wanted must be made of numbers itself
        let context = if item.context == PARAMETER { PARAMETER } else { self.context };
        std::mem::replace(&mut self.context, context)
    }
    fn leave(&mut self, before: Context) {
        self.context = before;
    }
    fn failed(&mut self, stop: Stop, item: &NamedFormula, reference: &NameUse) -> Stop {
        match stop {
            Stop::Mistake(mistake) => match *mistake {
                Mistake::NotAllowed { what, place, help, .. } if item.context != PARAMETER => Mistake::NotAllowed {
                    what: format!("`{}`, which contains {what},", item.name),
                    place,
                    at: reference.span.into(),
                    label: "this varies during the motion".into(),
                    help,
                }
                .into(),
                mistake => {
                    self.mistake(mistake);
                    Stop::Told
                }
            },
            other => other,
        }
    }
}
