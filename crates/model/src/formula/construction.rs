//! Names, functions and the constructions with brackets: if, sum, product, der, index ranges.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parser, number, truth};
use crate::diagnostic::Mistake;
use crate::source::Span;
use crate::suggestion::nearest;

impl Parser {
    /// A name, a function or one of the constructions with brackets.
    pub(super) fn word(&mut self, word: &str) -> Result<Tree, Mistake> {
        let span = self.span();
        let call = matches!(self.ahead(), TokenKind::Sign("("));
        match word {
            "for" | "in" | "and" | "or" | "not" => {
                Err(self.unexpected(format!("expected a number, a name or `(`, found `{word}`"), None))
            }
            "der" | "sum" | "product" | "if" if !call => {
                self.step();
                Err(self.unexpected(format!("expected `(` after `{word}`, found {}", self.token().kind), None))
            }
            "der" => {
                self.step();
                self.derivative()
            }
            "sum" | "product" => {
                self.step();
                let fold = if word == "sum" { Fold::Sum } else { Fold::Product };
                self.over(fold, word, span)
            }
            "if" => {
                self.step();
                let mut arguments = self.arguments(true)?;
                if arguments.len() != 3 {
                    return Err(Mistake::Arguments {
                        function: "if".into(),
                        expected: "3 arguments (condition, yes, no)".into(),
                        found: arguments.len(),
                        at: span.to(self.before()).into(),
                    });
                }
                let no = number(arguments.remove(2))?;
                let yes = number(arguments.remove(1))?;
                let condition = truth(arguments.remove(0))?;
                Ok(Tree { kind: Term::If(Box::new([condition, yes, no])), span: span.to(self.before()) })
            }
            _ if call => self.call(word),
            _ if FUNCTIONS.iter().any(|(name, _)| *name == word) => {
                self.step();
                let help = Some(format!("`{word}` is a function: write {word}(…)"));
                Err(self.unexpected(format!("expected `(` after `{word}`, found {}", self.token().kind), help))
            }
            _ => {
                let reference = self.reference()?;
                Ok(Tree { span: reference.span, kind: Term::Reference(reference) })
            }
        }
    }

    fn call(&mut self, word: &str) -> Result<Tree, Mistake> {
        let span = self.span();
        let Some((_, function)) = FUNCTIONS.iter().find(|(name, _)| *name == word) else {
            // a table, if there is one of this name
            self.step();
            let mut arguments = self.arguments(false)?;
            let (Some(argument), true) = (arguments.pop(), arguments.is_empty()) else {
                return Err(unknown_function(word, std::iter::empty(), span));
            };
            let table = NameUse { base: word.into(), indices: Vec::new(), span };
            return Ok(Tree { kind: Term::Table(table, Box::new(argument)), span: span.to(self.before()) });
        };
        self.step();
        let arguments = self.arguments(false)?;
        let (least, most) = function.arguments();
        if arguments.len() < least || arguments.len() > most {
            let expected = match (least, most) {
                (1, _) => "1 argument".to_string(),
                (_, usize::MAX) => format!("at least {least} arguments"),
                _ => format!("{least} arguments"),
            };
            let at = span.to(self.before()).into();
            return Err(Mistake::Arguments { function: word.into(), expected, found: arguments.len(), at });
        }
        Ok(Tree { kind: Term::Call(*function, arguments), span: span.to(self.before()) })
    }

    /// `(a, b, …)`; the first one may be a condition.
    fn arguments(&mut self, condition: bool) -> Result<Vec<Tree>, Mistake> {
        let opened = self.span();
        self.expect("(", "before the arguments")?;
        let mut arguments = Vec::new();
        if self.skip(")") {
            return Ok(arguments);
        }
        loop {
            let argument = self.nested(Self::condition)?;
            let first = arguments.is_empty();
            arguments.push(if condition && first { argument } else { number(argument)? });
            if self.skip(")") {
                return Ok(arguments);
            }
            if self.is_sign("=") && condition && first {
                return Err(self.unexpected("`=` is not a comparison", Some("write `==`".into())));
            }
            if !self.skip(",") {
                return Err(self.unclosed("(", opened));
            }
        }
    }

    /// `(name)` or `(name, order)` after der.
    pub(super) fn derivative(&mut self) -> Result<Tree, Mistake> {
        let start = self.before();
        let opened = self.span();
        self.expect("(", "after `der`")?;
        if !matches!(self.token().kind, TokenKind::Word(_)) {
            let help = Some("the derivative is taken of a variable, not of a formula: der(x)".to_string());
            return Err(self.unexpected(format!("expected a name, found {}", self.token().kind), help));
        }
        let name = self.name()?;
        let order = if self.skip(",") { Some(Box::new(number(self.nested(Self::condition)?)?)) } else { None };
        if !self.is_sign(")") {
            if self.token().kind == TokenKind::End {
                return Err(self.unclosed("(", opened));
            }
            let help = Some("the derivative is taken of a variable, not of a formula: der(x), der(x, 2)".to_string());
            return Err(
                self.unexpected(format!("expected `)` or `,` after the name, found {}", self.token().kind), help)
            );
        }
        self.step();
        Ok(Tree { kind: Term::Derivative(name, order), span: start.to(self.before()) })
    }

    /// `(body for i in a..b)` after sum or product.
    fn over(&mut self, fold: Fold, word: &str, start: Span) -> Result<Tree, Mistake> {
        let opened = self.span();
        self.expect("(", "before the summand")?;
        let body = number(self.nested(Self::condition)?)?;
        if !self.is_word("for") {
            if self.token().kind == TokenKind::End {
                return Err(self.unclosed("(", opened));
            }
            let help = Some(format!("write {word}(x[i] for i in 1..N)"));
            return Err(
                self.unexpected(format!("expected `for` and an index range, found {}", self.token().kind), help)
            );
        }
        let ranges = self.ranges()?;
        if !self.is_sign(")") {
            return Err(self.unclosed("(", opened));
        }
        self.step();
        Ok(Tree { kind: Term::Over(fold, Box::new(body), ranges), span: start.to(self.before()) })
    }

    /// `for i in a..b, j in c..d`, or nothing.
    pub(super) fn ranges(&mut self) -> Result<Vec<Range>, Mistake> {
        if !self.is_word("for") {
            return Ok(Vec::new());
        }
        self.step();
        self.index_ranges()
    }

    /// `i in a..b, j in c..d`.
    pub(super) fn index_ranges(&mut self) -> Result<Vec<Range>, Mistake> {
        let mut ranges = Vec::new();
        loop {
            let help = || Some("an index range is written for i in 1..N".to_string());
            let TokenKind::Word(index) = self.token().kind.clone() else {
                return Err(self.unexpected(format!("expected an index, found {}", self.token().kind), help()));
            };
            let span = self.span();
            if is_reserved(&index) {
                return Err(self.reserved(&index, "an index"));
            }
            self.step();
            if !self.is_word("in") {
                return Err(
                    self.unexpected(format!("expected `in` after the index, found {}", self.token().kind), help())
                );
            }
            self.step();
            let from = number(self.nested(Self::terms)?)?;
            if !self.skip("..") {
                return Err(
                    self.unexpected(format!("expected `..` in the index range, found {}", self.token().kind), help())
                );
            }
            let to = number(self.nested(Self::terms)?)?;
            ranges.push(Range { index: index.into(), span, from, to });
            if !self.skip(",") {
                return Ok(ranges);
            }
        }
    }

    fn reserved(&self, word: &str, what: &str) -> Mistake {
        Mistake::Reserved { name: word.into(), what: what.into(), meaning: meaning(word), at: self.span().into() }
    }

    /// A name with prefix and indices, as it is declared or used.
    pub(super) fn name(&mut self) -> Result<NameUse, Mistake> {
        match &self.token().kind {
            TokenKind::Word(_) => self.reference(),
            TokenKind::Number(_) => Err(self.unexpected(
                format!("expected a name, found {}", self.token().kind),
                Some("a name begins with a letter".into()),
            )),
            found => Err(self.unexpected(format!("expected a name, found {found}"), None)),
        }
    }

    fn reference(&mut self) -> Result<NameUse, Mistake> {
        let TokenKind::Word(mut base) = self.token().kind.clone() else {
            return Err(self.unexpected(format!("expected a name, found {}", self.token().kind), None));
        };
        let start = self.span();
        self.step();
        self.parts_of_name(&mut base)?;
        let mut indices = Vec::new();
        let opened = self.span();
        if self.skip("[") {
            loop {
                indices.push(number(self.nested(Self::condition)?)?);
                if self.skip("]") {
                    break;
                }
                if !self.skip(",") {
                    return Err(self.unclosed("[", opened));
                }
            }
            // what follows an index: link[3].x is the base link[].x with the index 3
            if self.is_sign(".") {
                base.push_str("[]");
                self.parts_of_name(&mut base)?;
            }
        }
        Ok(NameUse { base, indices, span: start.to(self.before()) })
    }

    /// `.x`, `.omega.z`: parts of multipliers and bodies.
    fn parts_of_name(&mut self, base: &mut String) -> Result<(), Mistake> {
        while self.skip(".") {
            let TokenKind::Word(part) = self.token().kind.clone() else {
                let what =
                    if base == "lambda" || base == "mu" { "the name of a constraint" } else { "a name after the dot" };
                return Err(self.unexpected(format!("expected {what}, found {}", self.token().kind), None));
            };
            self.step();
            base.push('.');
            base.push_str(&part);
        }
        Ok(())
    }
}

/// What a reserved word means.
pub(crate) fn meaning(word: &str) -> String {
    match word {
        "t" => "`t` is time".to_string(),
        "pi" => "`pi` is the constant 3.14159…".to_string(),
        "der" => "`der` is the time derivative".to_string(),
        _ if FUNCTIONS.iter().any(|(name, _)| *name == word) => format!("`{word}` is a function"),
        _ => format!("`{word}` is a word of the formula language"),
    }
}

/// The mistake of a function that is none, and of no table.
pub(crate) fn unknown_function<'w>(word: &str, tables: impl Iterator<Item = &'w str>, at: Span) -> Mistake {
    let known = FUNCTIONS.iter().map(|(name, _)| *name).chain(["sum", "product", "if", "der"]).chain(tables);
    let near = nearest(word, known).or_else(|| foreign(word).map(str::to_string));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("if `{word}` is a factor, write {word}*(…)"),
    };
    Mistake::UnknownFunction { name: word.into(), at: at.into(), help: Some(help) }
}

/// Names of functions in other languages.
fn foreign(word: &str) -> Option<&'static str> {
    match word.to_lowercase().as_str() {
        "arcsin" => Some("asin"),
        "arccos" => Some("acos"),
        "arctan" => Some("atan"),
        "arctan2" => Some("atan2"),
        "fabs" => Some("abs"),
        "sgn" | "signum" => Some("sign"),
        "root" => Some("sqrt"),
        "power" => Some("pow"),
        "minimum" => Some("min"),
        "maximum" => Some("max"),
        "prod" => Some("product"),
        "ifelse" | "where" | "piecewise" => Some("if"),
        "diff" | "ddt" | "dt" => Some("der"),
        _ => None,
    }
}
