//! Precedence climbing: `or`, `and`, `not`, comparison, `+ -`, `* /`, sign, `^`, from weak to strong.
//!
//! `^` is right associative and binds more strongly than a sign before it: −x² is −(x²).

use super::ast::*;
use super::lexer::{Token, TokenKind, tokens};
use crate::diagnostic::Mistake;
use crate::source::{DecodedText, Span};
use std::rc::Rc;

/// Most levels of nesting in one formula.
pub(crate) const DEPTH: usize = 100;

/// A formula without `=`.
pub(crate) fn formula(text: &DecodedText) -> Result<Tree, Mistake> {
    let mut parser = Parser::new(text)?;
    let node = parser.numeric()?;
    if parser.is_sign("=") {
        return Err(parser.unexpected("an equation is not allowed here", Some("write a formula for one value".into())));
    }
    parser.end()?;
    Ok(node)
}

/// A condition: comparisons joined by and, or, not.
pub(crate) fn condition(text: &DecodedText) -> Result<Tree, Mistake> {
    let mut parser = Parser::new(text)?;
    let node = parser.condition()?;
    if parser.is_sign("=") {
        let help = "a condition is made of comparisons: write <, <=, > or >=".to_string();
        return Err(parser.unexpected("`=` is not a comparison", Some(help)));
    }
    parser.end()?;
    truth(node)
}

/// A residual or an equation.
pub(crate) fn equation(text: &DecodedText) -> Result<WrittenEquation, Mistake> {
    let mut parser = Parser::new(text)?;
    let equation = parser.equation()?;
    parser.end()?;
    Ok(equation)
}

/// Entries of a list, with index ranges.
pub(crate) fn entries(text: &DecodedText) -> Result<RepeatedEntries, Mistake> {
    let mut parser = Parser::new(text)?;
    let mut entries = vec![parser.equation()?];
    while parser.skip(",") {
        entries.push(parser.equation()?);
    }
    let ranges = parser.ranges()?;
    parser.end()?;
    Ok(RepeatedEntries { entries, ranges })
}

/// Index ranges alone.
pub(crate) fn index_ranges(text: &DecodedText) -> Result<Vec<Range>, Mistake> {
    let mut parser = Parser::new(text)?;
    let ranges = parser.index_ranges()?;
    parser.end()?;
    Ok(ranges)
}

/// Names of a list, with index ranges.
pub(crate) fn names(text: &DecodedText) -> Result<(Vec<NameUse>, Vec<Range>), Mistake> {
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
pub(crate) fn key(text: &DecodedText) -> Result<RepeatedKey, Mistake> {
    let mut parser = Parser::new(text)?;
    let derivative = parser.is_word("der") && matches!(parser.ahead(), TokenKind::Sign("("));
    let key = if derivative {
        parser.step();
        let Tree { kind, .. } = parser.derivative()?;
        match kind {
            Term::Derivative(name, order) => (name, order.map(|node| *node)),
            _ => unreachable!("a derivative was read"),
        }
    } else {
        (parser.name()?, None)
    };
    let ranges = parser.ranges()?;
    parser.end_of_name()?;
    Ok(RepeatedKey { name: key.0, derivative, order: key.1, ranges })
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn new(text: &DecodedText) -> Result<Self, Mistake> {
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

    pub(super) fn token(&self) -> &Token {
        // the last token is the end, and nobody steps over it
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }
    pub(super) fn ahead(&self) -> &TokenKind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }
    pub(super) fn span(&self) -> Span {
        self.token().span
    }
    /// Place of the token before this one.
    pub(super) fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }
    pub(super) fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Sign(s) if *s == sign)
    }
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Word(w) if w == word)
    }
    pub(super) fn skip(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.step();
        }
        found
    }

    /// The mistake that this token is not what was expected.
    pub(super) fn unexpected(&self, message: impl Into<String>, help: Option<String>) -> Mistake {
        let label = match &self.token().kind {
            TokenKind::End => "the formula ends here".to_string(),
            _ => "not expected here".to_string(),
        };
        Mistake::Syntax { message: message.into(), label, at: self.span().into(), help }
    }

    pub(super) fn expect(&mut self, sign: &str, purpose: &str) -> Result<(), Mistake> {
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

    fn equation(&mut self) -> Result<WrittenEquation, Mistake> {
        let left = Rc::new(self.numeric()?);
        let right = if self.skip("=") { Some(Rc::new(self.numeric()?)) } else { None };
        Ok(WrittenEquation { left, right })
    }

    /// An expression that is a number.
    fn numeric(&mut self) -> Result<Tree, Mistake> {
        let node = self.condition()?;
        number(node)
    }

    /// One level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Mistake>) -> Result<T, Mistake> {
        if self.depth >= DEPTH {
            return Err(Mistake::TooDeep { limit: DEPTH, at: self.span().into() });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Weakest binding: or, and, not, comparison.
    pub(super) fn condition(&mut self) -> Result<Tree, Mistake> {
        self.chain("or", Term::Or, |p| p.chain("and", Term::And, Self::negation))
    }

    fn chain(
        &mut self,
        word: &str,
        kind: fn(Vec<Tree>) -> Term,
        read: impl Fn(&mut Self) -> Result<Tree, Mistake>,
    ) -> Result<Tree, Mistake> {
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
        Ok(Tree { kind: kind(parts), span: start.to(self.before()) })
    }

    fn negation(&mut self) -> Result<Tree, Mistake> {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.span();
        self.step();
        let inner = truth(self.nested(Self::negation)?)?;
        Ok(Tree { span: start.to(inner.span), kind: Term::Not(Box::new(inner)) })
    }

    fn comparison(&mut self) -> Result<Tree, Mistake> {
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
        Ok(Tree { kind: Term::Compare(comparison, Box::new([left, right])), span })
    }

    fn comparison_sign(&self) -> Option<Relation> {
        let TokenKind::Sign(sign) = &self.token().kind else { return None };
        match *sign {
            "<" => Some(Relation::Less),
            "<=" => Some(Relation::LessOrEqual),
            ">" => Some(Relation::Greater),
            ">=" => Some(Relation::GreaterOrEqual),
            "==" => Some(Relation::Equal),
            "!=" => Some(Relation::NotEqual),
            _ => None,
        }
    }

    pub(super) fn terms(&mut self) -> Result<Tree, Mistake> {
        self.operators(["+", "-"], Term::Terms, Self::factors)
    }

    fn factors(&mut self) -> Result<Tree, Mistake> {
        self.operators(["*", "/"], Term::Factors, Self::signed)
    }

    /// A chain of two operators of equal strength; the second one is the inverse.
    fn operators(
        &mut self,
        signs: [&str; 2],
        kind: fn(Box<Tree>, Vec<(bool, Tree)>) -> Term,
        read: fn(&mut Self) -> Result<Tree, Mistake>,
    ) -> Result<Tree, Mistake> {
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
        Ok(Tree { span: first.span.to(self.before()), kind: kind(Box::new(first), rest) })
    }

    fn signed(&mut self) -> Result<Tree, Mistake> {
        let start = self.span();
        if self.skip("-") {
            let inner = number(self.nested(Self::signed)?)?;
            return Ok(Tree { span: start.to(inner.span), kind: Term::Negative(Box::new(inner)) });
        }
        if self.skip("+") {
            return number(self.nested(Self::signed)?);
        }
        self.power()
    }

    fn power(&mut self) -> Result<Tree, Mistake> {
        let base = self.primary()?;
        if !self.is_sign("^") {
            return Ok(base);
        }
        let base = number(base)?;
        self.step();
        let exponent = number(self.nested(Self::signed)?)?;
        let span = base.span.to(exponent.span);
        Ok(Tree { kind: Term::Power(Box::new(base), Box::new(exponent)), span })
    }

    fn primary(&mut self) -> Result<Tree, Mistake> {
        let Token { kind, span } = self.token().clone();
        match kind {
            TokenKind::Number(x) => {
                self.step();
                Ok(Tree { kind: Term::Number(x), span })
            }
            TokenKind::Sign("(") => {
                self.step();
                let inner = self.nested(Self::condition)?;
                if !self.is_sign(")") {
                    return Err(self.unclosed("(", span));
                }
                self.step();
                Ok(Tree { kind: inner.kind, span: span.to(self.before()) })
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
    pub(super) fn unclosed(&self, bracket: &str, opened: Span) -> Mistake {
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
}

/// A node that must be a number.
pub(super) fn number(node: Tree) -> Result<Tree, Mistake> {
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
pub(super) fn truth(node: Tree) -> Result<Tree, Mistake> {
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
