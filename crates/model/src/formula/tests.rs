//! Formulas are read with the usual precedence; printed and read again they have the same value, bit by bit.

use super::ast::*;
use super::evaluate::{Stop, evaluate};
use super::parser;
use crate::diagnostic::Mistake;
use crate::index::{Bindings, ReadingLimits};
use crate::reader::Reader;
use crate::source::{DecodedText, Span};
use proptest::prelude::*;
use std::fmt::Write;

fn value(text: &str) -> f64 {
    let node = parser::formula(&DecodedText::bare(text)).unwrap();
    evaluate(&node, &mut Reader::new("", ReadingLimits::default()), &mut Bindings::default()).unwrap()
}

fn mistake(text: &str) -> String {
    match parser::formula(&DecodedText::bare(text)) {
        Err(mistake) => mistake.to_string(),
        Ok(node) => match evaluate(&node, &mut Reader::new("", ReadingLimits::default()), &mut Bindings::default()) {
            Err(Stop::Mistake(mistake)) => mistake.to_string(),
            other => panic!("{text} is {other:?}"),
        },
    }
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("2*-3", -6.0),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("1 - -1", 2.0),
        ("+3", 3.0),
        ("--3", 3.0),
        ("2/3*3", 2.0 / 3.0 * 3.0),
        ("0.1 + 0.2 + 0.3", 0.1 + 0.2 + 0.3),
        ("0.1 + (0.2 + 0.3)", 0.1 + (0.2 + 0.3)),
        ("cos(pi)", -1.0),
        ("max(1, 3, 2) - min(4, 2, 3)", 1.0),
        ("sign(-3) + 10*sign(0) + 100*sign(5)", 99.0),
        ("4^0.5", 2.0),
        ("pow(2, 10)", 1024.0),
        ("log(exp(1))", 1.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn conditions_decide() {
    for (text, expected) in [
        ("if(1 < 2, 3, 4)", 3.0),
        ("if(1 > 2 or 2 >= 2, 3, 4)", 3.0),
        ("if(not 1 == 1 or 1 != 2 and 2 < 1, 3, 4)", 4.0),
        ("if((1 < 2) and (2 < 3), 3, 4)", 3.0),
        ("if(not (1 < 2 and 2 < 1), 3, 4)", 3.0),
        // the other branch is not looked at
        ("if(1 < 2, 3, nothing)", 3.0),
        ("if(2 < 1 and nothing > 1, 3, 4)", 4.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn sums_run_over_their_ranges() {
    for (text, expected) in [
        ("sum(i for i in 1..4)", 10.0),
        ("product(i for i in 1..4)", 24.0),
        ("sum(10*i + j for i in 1..2, j in i..2)", 11.0 + 12.0 + 22.0),
        ("sum(i for i in 2..1)", 0.0),
        ("product(i for i in 2..1)", 1.0),
        ("sum(sum(i*j for j in 1..i) for i in 1..3)", 1.0 + 6.0 + 18.0),
        ("sum(if(i == 1, 0, 1/(i - 1)) for i in 1..3)", 1.5),
        ("sum(i for i in -2..2)", 0.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn malformed_formulas_are_refused() {
    assert_eq!(mistake("sum(i for i in 1..2, i in 1..2)"), "`i` is declared twice");
    assert_eq!(mistake("sum(1 for i in 1..1e12)"), "the index ranges of this file have too many entries");
    assert_eq!(mistake("sum(1 for i in 0..0.5)"), "the bound of an index range must be an integer, but is 0.5");
    assert_eq!(mistake("x[1"), "`[` is not closed");
    assert_eq!(mistake("sin()"), "`sin` takes 1 argument, but has 0");
    assert_eq!(mistake("max(1)"), "`max` takes at least 2 arguments, but has 1");
    assert_eq!(mistake("1 < 2"), "a comparison is not a number");
    assert_eq!(mistake("not 1"), "expected a condition, found a number");
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    for open in ["(", "-", "sin(", "2^", "x[", "if(1 < ", "sum(", "+", "not ", "if(not "] {
        let text = open.repeat(100_000);
        assert!(
            matches!(parser::formula(&DecodedText::bare(&text)), Err(Mistake::TooDeep { .. } | Mistake::Syntax { .. })),
            "{open}"
        );
    }
    assert_eq!(value(&format!("1{}", " + 1 - 0".repeat(20_000))), 20_001.0);
    assert_eq!(value(&format!("1{}", "*1".repeat(20_000))), 1.0);
}

/// A formula with the brackets that its structure needs.
fn print(node: &Tree, out: &mut String) {
    let list = |out: &mut String, name: &str, nodes: &[Tree]| {
        out.push_str(name);
        out.push('(');
        for (k, node) in nodes.iter().enumerate() {
            if k > 0 {
                out.push_str(", ");
            }
            print(node, out);
        }
        out.push(')');
    };
    match &node.kind {
        Term::Number(x) => write!(out, "{x:?}").unwrap(),
        Term::Negative(x) => {
            out.push('-');
            bracketed(x, matches!(x.kind, Term::Terms(..) | Term::Factors(..)), out);
        }
        Term::Terms(first, rest) => {
            bracketed(first, matches!(first.kind, Term::Terms(..)), out);
            for (minus, x) in rest {
                out.push_str(if *minus { " - " } else { " + " });
                bracketed(x, matches!(x.kind, Term::Terms(..)), out);
            }
        }
        Term::Factors(first, rest) => {
            bracketed(first, matches!(first.kind, Term::Terms(..) | Term::Factors(..)), out);
            for (over, x) in rest {
                out.push_str(if *over { "/" } else { "*" });
                bracketed(x, matches!(x.kind, Term::Terms(..) | Term::Factors(..)), out);
            }
        }
        Term::Power(x, y) => {
            bracketed(x, !matches!(x.kind, Term::Number(_) | Term::Call(..) | Term::If(_)), out);
            out.push('^');
            bracketed(y, matches!(y.kind, Term::Terms(..) | Term::Factors(..)), out);
        }
        Term::Table(table, x) => list(out, &table.base, std::slice::from_ref(x)),
        Term::Call(function, nodes) => {
            let name = FUNCTIONS.iter().find(|(_, f)| f == function).unwrap().0;
            list(out, name, nodes);
        }
        Term::If(parts) => {
            let Term::Compare(comparison, sides) = &parts[0].kind else { unreachable!() };
            out.push_str("if(");
            print(&sides[0], out);
            out.push_str(match comparison {
                Relation::Less => " < ",
                Relation::LessOrEqual => " <= ",
                Relation::Greater => " > ",
                Relation::GreaterOrEqual => " >= ",
                Relation::Equal => " == ",
                Relation::NotEqual => " != ",
            });
            print(&sides[1], out);
            out.push_str(", ");
            print(&parts[1], out);
            out.push_str(", ");
            print(&parts[2], out);
            out.push(')');
        }
        other => unreachable!("{other:?} is not generated"),
    }
}

fn bracketed(node: &Tree, needed: bool, out: &mut String) {
    if needed {
        out.push('(');
    }
    print(node, out);
    if needed {
        out.push(')');
    }
}

fn node(kind: Term) -> Tree {
    Tree { kind, span: Span::default() }
}

fn formulas() -> impl Strategy<Value = Tree> {
    let number = (0.0..1e3f64).prop_map(|x| node(Term::Number(x)));
    let small = (0..5i32).prop_map(|n| node(Term::Number(f64::from(n))));
    prop_oneof![number, small].prop_recursive(6, 60, 4, |inner| {
        let pair = || (any::<bool>(), inner.clone());
        let function = prop::sample::select(&FUNCTIONS[..]);
        let comparison = prop::sample::select(vec![
            Relation::Less,
            Relation::LessOrEqual,
            Relation::Greater,
            Relation::GreaterOrEqual,
            Relation::Equal,
            Relation::NotEqual,
        ]);
        prop_oneof![
            inner.clone().prop_map(|x| node(Term::Negative(Box::new(x)))),
            (inner.clone(), prop::collection::vec(pair(), 1..4)).prop_map(|(x, r)| node(Term::Terms(Box::new(x), r))),
            (inner.clone(), prop::collection::vec(pair(), 1..4)).prop_map(|(x, r)| node(Term::Factors(Box::new(x), r))),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| node(Term::Power(Box::new(x), Box::new(y)))),
            (function, prop::collection::vec(inner.clone(), 3)).prop_map(|((_, f), mut x)| {
                x.truncate(f.arguments().1);
                node(Term::Call(f, x))
            }),
            (comparison, inner.clone(), inner.clone(), inner.clone(), inner).prop_map(|(c, a, b, x, y)| {
                node(Term::If(Box::new([node(Term::Compare(c, Box::new([a, b]))), x, y])))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn printed_formulas_are_read_with_the_same_value(formula in formulas()) {
        let mut text = String::new();
        print(&formula, &mut text);
        let again = parser::formula(&DecodedText::bare(&text)).unwrap();
        let of = |node: &Tree| evaluate(node, &mut Reader::new("", ReadingLimits::default()), &mut Bindings::default()).unwrap();
        prop_assert_eq!(of(&formula).to_bits(), of(&again).to_bits(), "{}", text);
    }
}
