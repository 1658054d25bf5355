//! Precedence climbing: `or`, `and`, `not`, comparison, `+ -`, `* /`, sign, `^`, from weak to strong.
//!
//! `^` is right associative and binds more strongly than a sign before it: −x² is −(x²).

use super::ast::*;
use super::lexer::{Token, TokenKind, tokens};
use crate::diagnostic::Mistake;
use crate::source::{Span, Text};
use crate::suggestion::nearest;
use std::rc::Rc;

/// Most levels of nesting in one formula.
pub(crate) const DEPTH: usize = 100;

/// A formula without `=`.
pub(crate) fn formula(text: &Text) -> Result<Node, Mistake> {
    let mut parser = Parser::new(text)?;
    let node = parser.numeric()?;
    if parser.is_sign("=") {
        return Err(parser.unexpected("an equation is not allowed here", Some("write a formula for one value".into())));
    }
    parser.end()?;
    Ok(node)
}

/// A residual or an equation.
pub(crate) fn equation(text: &Text) -> Result<Equation, Mistake> {
    let mut parser = Parser::new(text)?;
    let equation = parser.equation()?;
    parser.end()?;
    Ok(equation)
}

/// Entries of a list, with index ranges.
pub(crate) fn entries(text: &Text) -> Result<Entries, Mistake> {
    let mut parser = Parser::new(text)?;
    let mut entries = vec![parser.equation()?];
    while parser.skip(",") {
        entries.push(parser.equation()?);
    }
    let ranges = parser.ranges()?;
    parser.end()?;
    Ok(Entries { entries, ranges })
}

/// Names of a list, with index ranges.
pub(crate) fn names(text: &Text) -> Result<(Vec<Reference>, Vec<Range>), Mistake> {
    let mut parser = Parser::new(text)?;
    let mut names = vec![parser.name()?];
    while parser.skip(",") {
        names.push(parser.name()?);
    }
    let ranges = parser.ranges()?;
    parser.end_of_name()?;
    Ok((names, ranges))
}

/// A key, with index ranges.
pub(crate) fn key(text: &Text) -> Result<Key, Mistake> {
    let mut parser = Parser::new(text)?;
    let derivative = parser.is_word("der") && matches!(parser.ahead(), TokenKind::Sign("("));
    let key = if derivative {
        parser.step();
        let Node { kind, .. } = parser.derivative()?;
        match kind {
            Kind::Derivative(name, order) => (name, order.map(|node| *node)),
            _ => unreachable!("a derivative was read"),
        }
    } else {
        (parser.name()?, None)
    };
    let ranges = parser.ranges()?;
    parser.end_of_name()?;
    Ok(Key { name: key.0, derivative, order: key.1, ranges })
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn new(text: &Text) -> Result<Self, Mistake> {
        let tokens = tokens(text)?;
        if let [end] = tokens.as_slice() {
            let at = if text.span.end > text.span.start { text.span } else { end.span };
            return Err(Mistake::Syntax {
                message: "the formula is empty".into(),
                label: "nothing is written here".into(),
                at: at.into(),
                help: None,
            });
        }
        Ok(Parser { tokens, at: 0, depth: 0 })
    }

    fn token(&self) -> &Token {
        // the last token is the end, and nobody steps over it
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }
    fn ahead(&self) -> &TokenKind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }
    fn span(&self) -> Span {
        self.token().span
    }
    /// Place of the token before this one.
    fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }
    fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }
    fn is_sign(&self, sign: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Sign(s) if *s == sign)
    }
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Word(w) if w == word)
    }
    fn skip(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.step();
        }
        found
    }

    /// The mistake that this token is not what was expected.
    fn unexpected(&self, message: impl Into<String>, help: Option<String>) -> Mistake {
        let label = match &self.token().kind {
            TokenKind::End => "the formula ends here".to_string(),
            _ => "not expected here".to_string(),
        };
        Mistake::Syntax { message: message.into(), label, at: self.span().into(), help }
    }

    fn expect(&mut self, sign: &str, purpose: &str) -> Result<(), Mistake> {
        if self.skip(sign) {
            return Ok(());
        }
        Err(self.unexpected(format!("expected `{sign}` {purpose}, found {}", self.token().kind), None))
    }

    fn end(&mut self) -> Result<(), Mistake> {
        let help = match &self.token().kind {
            TokenKind::End => return Ok(()),
            TokenKind::Sign(")") => {
                return Err(self.unexpected("`)` closes a bracket that was never opened", None));
            }
            TokenKind::Sign("=") => Some("an equation has one `=`".to_string()),
            TokenKind::Sign(",") => Some("only one formula is expected here".to_string()),
            TokenKind::Sign(".") => {
                Some("only multipliers have a dot in their names: lambda.NAME, mu.NAME".to_string())
            }
            TokenKind::Sign("[") => Some("only names have indices".to_string()),
            TokenKind::Word(word) if word == "for" => Some(
                "an index range stands in a list, in a key (\"name[i] for i in 1..N\" = …) or in sum(…)".to_string(),
            ),
            TokenKind::Word(_) | TokenKind::Number(_) | TokenKind::Sign("(") => {
                Some("between two factors a `*` is written".to_string())
            }
            TokenKind::Sign(_) => None,
        };
        Err(self
            .unexpected(format!("expected an operator or the end of the formula, found {}", self.token().kind), help))
    }

    /// Nothing may follow a name.
    fn end_of_name(&self) -> Result<(), Mistake> {
        if self.token().kind == TokenKind::End {
            return Ok(());
        }
        let help = match &self.token().kind {
            TokenKind::Sign(".") => "only multipliers have a dot in their names: lambda.NAME, mu.NAME",
            _ => "a name begins with a letter and consists of letters, digits and _; an index stands in brackets: x[1]",
        };
        Err(self.unexpected(format!("{} cannot stand in a name", self.token().kind), Some(help.to_string())))
    }

    fn equation(&mut self) -> Result<Equation, Mistake> {
        let left = Rc::new(self.numeric()?);
        let right = if self.skip("=") { Some(Rc::new(self.numeric()?)) } else { None };
        Ok(Equation { left, right })
    }

    /// An expression that is a number.
    fn numeric(&mut self) -> Result<Node, Mistake> {
        let node = self.condition()?;
        number(node)
    }

    /// One level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Mistake>) -> Result<T, Mistake> {
        if self.depth >= DEPTH {
            return Err(Mistake::TooDeep { limit: DEPTH, at: self.span().into() });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Weakest binding: or, and, not, comparison.
    fn condition(&mut self) -> Result<Node, Mistake> {
        self.chain("or", Kind::Or, |p| p.chain("and", Kind::And, Self::negation))
    }

    fn chain(
        &mut self,
        word: &str,
        kind: fn(Vec<Node>) -> Kind,
        read: impl Fn(&mut Self) -> Result<Node, Mistake>,
    ) -> Result<Node, Mistake> {
        let first = read(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let start = first.span;
        let mut parts = vec![truth(first)?];
        while self.is_word(word) {
            self.step();
            parts.push(truth(read(self)?)?);
        }
        Ok(Node { kind: kind(parts), span: start.to(self.before()) })
    }

    fn negation(&mut self) -> Result<Node, Mistake> {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.span();
        self.step();
        let inner = truth(self.nested(Self::negation)?)?;
        Ok(Node { span: start.to(inner.span), kind: Kind::Not(Box::new(inner)) })
    }

    fn comparison(&mut self) -> Result<Node, Mistake> {
        let left = self.terms()?;
        let Some(comparison) = self.comparison_sign() else { return Ok(left) };
        let left = number(left)?;
        self.step();
        let right = number(self.terms()?)?;
        if self.comparison_sign().is_some() {
            let help = Some("write two comparisons joined by `and`: a < b and b < c".to_string());
            return Err(self.unexpected("comparisons cannot be chained", help));
        }
        let span = left.span.to(right.span);
        Ok(Node { kind: Kind::Compare(comparison, Box::new([left, right])), span })
    }

    fn comparison_sign(&self) -> Option<Comparison> {
        let TokenKind::Sign(sign) = &self.token().kind else { return None };
        match *sign {
            "<" => Some(Comparison::Less),
            "<=" => Some(Comparison::LessOrEqual),
            ">" => Some(Comparison::Greater),
            ">=" => Some(Comparison::GreaterOrEqual),
            "==" => Some(Comparison::Equal),
            "!=" => Some(Comparison::NotEqual),
            _ => None,
        }
    }

    fn terms(&mut self) -> Result<Node, Mistake> {
        self.operators(["+", "-"], Kind::Terms, Self::factors)
    }

    fn factors(&mut self) -> Result<Node, Mistake> {
        self.operators(["*", "/"], Kind::Factors, Self::signed)
    }

    /// A chain of two operators of equal strength; the second one is the inverse.
    fn operators(
        &mut self,
        signs: [&str; 2],
        kind: fn(Box<Node>, Vec<(bool, Node)>) -> Kind,
        read: fn(&mut Self) -> Result<Node, Mistake>,
    ) -> Result<Node, Mistake> {
        let first = read(self)?;
        if !signs.iter().any(|sign| self.is_sign(sign)) {
            return Ok(first);
        }
        let first = number(first)?;
        let mut rest = Vec::new();
        while let Some(k) = signs.iter().position(|sign| self.is_sign(sign)) {
            self.step();
            if signs[0] == "*" && k == 0 && self.is_sign("*") {
                return Err(self.unexpected("`**` is not an operator", Some("a power is written a^b".into())));
            }
            rest.push((k == 1, number(read(self)?)?));
        }
        Ok(Node { span: first.span.to(self.before()), kind: kind(Box::new(first), rest) })
    }

    fn signed(&mut self) -> Result<Node, Mistake> {
        let start = self.span();
        if self.skip("-") {
            let inner = number(self.nested(Self::signed)?)?;
            return Ok(Node { span: start.to(inner.span), kind: Kind::Negative(Box::new(inner)) });
        }
        if self.skip("+") {
            return number(self.nested(Self::signed)?);
        }
        self.power()
    }

    fn power(&mut self) -> Result<Node, Mistake> {
        let base = self.primary()?;
        if !self.is_sign("^") {
            return Ok(base);
        }
        let base = number(base)?;
        self.step();
        let exponent = number(self.nested(Self::signed)?)?;
        let span = base.span.to(exponent.span);
        Ok(Node { kind: Kind::Power(Box::new(base), Box::new(exponent)), span })
    }

    fn primary(&mut self) -> Result<Node, Mistake> {
        let Token { kind, span } = self.token().clone();
        match kind {
            TokenKind::Number(x) => {
                self.step();
                Ok(Node { kind: Kind::Number(x), span })
            }
            TokenKind::Sign("(") => {
                self.step();
                let inner = self.nested(Self::condition)?;
                if !self.is_sign(")") {
                    return Err(self.unclosed("(", span));
                }
                self.step();
                Ok(Node { kind: inner.kind, span: span.to(self.before()) })
            }
            TokenKind::Word(word) => self.word(&word),
            TokenKind::End | TokenKind::Sign(_) => {
                let help = match kind {
                    TokenKind::Sign("==" | "=") => Some("a comparison is written a == b".to_string()),
                    _ => None,
                };
                Err(self.unexpected(format!("expected a number, a name or `(`, found {kind}"), help))
            }
        }
    }

    /// The mistake of a bracket that is not closed where it should be.
    fn unclosed(&self, bracket: &str, opened: Span) -> Mistake {
        match &self.token().kind {
            TokenKind::End => Mistake::Syntax {
                message: format!("`{bracket}` is not closed"),
                label: "opened here".into(),
                at: opened.into(),
                help: None,
            },
            found => {
                let close = if bracket == "(" { ")" } else { "]" };
                let help = match found {
                    TokenKind::Word(_) | TokenKind::Number(_) | TokenKind::Sign("(") => {
                        Some("between two factors a `*` is written".to_string())
                    }
                    _ => None,
                };
                self.unexpected(format!("expected an operator or `{close}`, found {found}"), help)
            }
        }
    }

    /// A name, a function or one of the constructions with brackets.
    fn word(&mut self, word: &str) -> Result<Node, Mistake> {
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
                Ok(Node { kind: Kind::If(Box::new([condition, yes, no])), span: span.to(self.before()) })
            }
            _ if call => self.call(word),
            _ if FUNCTIONS.iter().any(|(name, _)| *name == word) => {
                self.step();
                let help = Some(format!("`{word}` is a function: write {word}(…)"));
                Err(self.unexpected(format!("expected `(` after `{word}`, found {}", self.token().kind), help))
            }
            _ => {
                let reference = self.reference()?;
                Ok(Node { span: reference.span, kind: Kind::Reference(reference) })
            }
        }
    }

    fn call(&mut self, word: &str) -> Result<Node, Mistake> {
        let span = self.span();
        let Some((_, function)) = FUNCTIONS.iter().find(|(name, _)| *name == word) else {
            let known = FUNCTIONS.iter().map(|(name, _)| *name).chain(["sum", "product", "if", "der"]);
            let near = nearest(word, known).or_else(|| foreign(word).map(str::to_string));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("if `{word}` is a factor, write {word}*(…)"),
            };
            return Err(Mistake::UnknownFunction { name: word.into(), at: span.into(), help: Some(help) });
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
        Ok(Node { kind: Kind::Call(*function, arguments), span: span.to(self.before()) })
    }

    /// `(a, b, …)`; the first one may be a condition.
    fn arguments(&mut self, condition: bool) -> Result<Vec<Node>, Mistake> {
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
    fn derivative(&mut self) -> Result<Node, Mistake> {
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
        Ok(Node { kind: Kind::Derivative(name, order), span: start.to(self.before()) })
    }

    /// `(body for i in a..b)` after sum or product.
    fn over(&mut self, fold: Fold, word: &str, start: Span) -> Result<Node, Mistake> {
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
        Ok(Node { kind: Kind::Over(fold, Box::new(body), ranges), span: start.to(self.before()) })
    }

    /// `for i in a..b, j in c..d`, or nothing.
    fn ranges(&mut self) -> Result<Vec<Range>, Mistake> {
        let mut ranges = Vec::new();
        if !self.is_word("for") {
            return Ok(ranges);
        }
        loop {
            self.step();
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
            if !self.is_sign(",") {
                return Ok(ranges);
            }
        }
    }

    fn reserved(&self, word: &str, what: &str) -> Mistake {
        Mistake::Reserved { name: word.into(), what: what.into(), meaning: meaning(word), at: self.span().into() }
    }

    /// A name with prefix and indices, as it is declared or used.
    fn name(&mut self) -> Result<Reference, Mistake> {
        match &self.token().kind {
            TokenKind::Word(_) => self.reference(),
            TokenKind::Number(_) => Err(self.unexpected(
                format!("expected a name, found {}", self.token().kind),
                Some("a name begins with a letter".into()),
            )),
            found => Err(self.unexpected(format!("expected a name, found {found}"), None)),
        }
    }

    fn reference(&mut self) -> Result<Reference, Mistake> {
        let TokenKind::Word(mut base) = self.token().kind.clone() else {
            return Err(self.unexpected(format!("expected a name, found {}", self.token().kind), None));
        };
        let start = self.span();
        self.step();
        if base == "lambda" || base == "mu" {
            if !self.skip(".") {
                let help = Some(format!(
                    "the multiplier of constraint NAME is {base}.NAME; constraints in a list have {base}1, {base}2, …"
                ));
                return Err(self.unexpected(format!("expected `.` after `{base}`, found {}", self.token().kind), help));
            }
            let TokenKind::Word(constraint) = self.token().kind.clone() else {
                return Err(
                    self.unexpected(format!("expected the name of a constraint, found {}", self.token().kind), None)
                );
            };
            self.step();
            base = format!("{base}.{constraint}");
        }
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
        }
        Ok(Reference { base, indices, span: start.to(self.before()) })
    }
}

/// What a reserved word means.
pub(crate) fn meaning(word: &str) -> String {
    match word {
        "t" => "`t` is time".to_string(),
        "pi" => "`pi` is the constant 3.14159…".to_string(),
        "lambda" | "mu" => format!("`{word}` is the beginning of the names of multipliers"),
        "der" => "`der` is the time derivative".to_string(),
        _ if FUNCTIONS.iter().any(|(name, _)| *name == word) => format!("`{word}` is a function"),
        _ => format!("`{word}` is a word of the formula language"),
    }
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

/// A node that must be a number.
fn number(node: Node) -> Result<Node, Mistake> {
    if !node.kind.is_condition() {
        return Ok(node);
    }
    Err(Mistake::Syntax {
        message: "a comparison is not a number".into(),
        label: "true or false".into(),
        at: node.span.into(),
        help: Some("comparisons stand only in the first argument of if(condition, yes, no)".into()),
    })
}

/// A node that must be true or false.
fn truth(node: Node) -> Result<Node, Mistake> {
    if node.kind.is_condition() {
        return Ok(node);
    }
    Err(Mistake::Syntax {
        message: "expected a condition, found a number".into(),
        label: "a number".into(),
        at: node.span.into(),
        help: Some("a condition is a comparison such as x > 0".into()),
    })
}
