//! The scalars agree: random formulas evaluated with `f64`, `Dual`, `Taylor`, their nestings and `Depends`.

mod beside_num_dual;
mod interval;

use daedal_scalar::{Depends, Dual, Scalar, Taylor};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::array::from_fn;

/// Number of variables of a formula.
const N: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Unary {
    Neg,
    Recip,
    Square,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    SinTimesCos,
    Tan,
    Sinh,
    Cosh,
    SinhTimesCosh,
    Tanh,
    Asin,
    Acos,
    Atan,
    Abs,
}

#[derive(Clone, Copy, Debug)]
enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    AddAssign,
    SubAssign,
    MulAssign,
    Atan2,
    Pow,
    Max,
    Min,
}

#[derive(Clone, Copy, Debug)]
enum WithConstant {
    Add,
    Sub,
    Mul,
    Div,
    Powf,
}

/// An expression in N variables that uses every operation of a scalar.
#[derive(Clone, Debug)]
enum Formula {
    Variable(usize),
    Constant(f64),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
    WithConstant(WithConstant, Box<Formula>, f64),
    Powi(Box<Formula>, i32),
    Select(Box<Formula>, Box<Formula>, Box<Formula>),
}

/// Into the domain of √, ln and powers.
fn positive<S: Scalar>(x: S) -> S {
    x.square() + 0.1
}

/// Into the domain of arcsin and arccos.
fn inside<S: Scalar>(x: S) -> S {
    x.tanh() * 0.9
}

impl Formula {
    fn evaluate<S: Scalar>(&self, x: &[S; N]) -> S {
        self.watched(x, &mut |y| y)
    }

    /// The value where the result of every operation passes through `watch`.
    fn watched<S: Scalar>(&self, x: &[S; N], watch: &mut impl FnMut(S) -> S) -> S {
        let y = match self {
            Formula::Variable(i) => x[*i],
            Formula::Constant(c) => S::from(*c),
            Formula::Unary(operation, a) => {
                let a = a.watched(x, watch);
                match operation {
                    Unary::Neg => -a,
                    Unary::Recip => a.recip(),
                    Unary::Square => a.square(),
                    Unary::Sqrt => positive(a).sqrt(),
                    Unary::Exp => a.exp(),
                    Unary::Ln => positive(a).ln(),
                    Unary::Sin => a.sin(),
                    Unary::Cos => a.cos(),
                    Unary::SinTimesCos => {
                        let (s, c) = a.sin_cos();
                        s * c
                    }
                    Unary::Tan => a.tan(),
                    Unary::Sinh => a.sinh(),
                    Unary::Cosh => a.cosh(),
                    Unary::SinhTimesCosh => {
                        let (s, c) = a.sinh_cosh();
                        s * c
                    }
                    Unary::Tanh => a.tanh(),
                    Unary::Asin => inside(a).asin(),
                    Unary::Acos => inside(a).acos(),
                    Unary::Atan => a.atan(),
                    Unary::Abs => a.abs(),
                }
            }
            Formula::Binary(operation, a, b) => {
                let (mut a, b) = (a.watched(x, watch), b.watched(x, watch));
                match operation {
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Div => a / b,
                    Binary::AddAssign => {
                        a += b;
                        a
                    }
                    Binary::SubAssign => {
                        a -= b;
                        a
                    }
                    Binary::MulAssign => {
                        a *= b;
                        a
                    }
                    Binary::Atan2 => a.atan2(b),
                    Binary::Pow => positive(a).pow(b),
                    Binary::Max => a.max(b),
                    Binary::Min => a.min(b),
                }
            }
            Formula::WithConstant(operation, a, c) => {
                let a = a.watched(x, watch);
                match operation {
                    WithConstant::Add => a + *c,
                    WithConstant::Sub => a - *c,
                    WithConstant::Mul => a * *c,
                    WithConstant::Div => a / *c,
                    WithConstant::Powf => positive(a).powf(*c),
                }
            }
            Formula::Powi(a, n) => a.watched(x, watch).powi(*n),
            Formula::Select(a, b, c) => {
                let (a, b, c) = (a.watched(x, watch), b.watched(x, watch), c.watched(x, watch));
                a.select(b, c)
            }
        };
        watch(y)
    }

    /// Is every intermediate result finite, and none the negative zero? Its sign is lost in `abs` and in the products of
    /// `Depends`.
    fn is_ordinary_throughout(&self, x: &[f64; N]) -> bool {
        let mut ordinary = true;
        self.watched(x, &mut |y| {
            ordinary &= y.is_finite() && (y != 0.0 || y.is_sign_positive());
            y
        });
        ordinary
    }

    /// Is variable i written anywhere in the formula?
    fn mentions(&self, i: usize) -> bool {
        match self {
            Formula::Variable(j) => *j == i,
            Formula::Constant(_) => false,
            Formula::Unary(_, a) | Formula::WithConstant(_, a, _) | Formula::Powi(a, _) => a.mentions(i),
            Formula::Binary(_, a, b) => a.mentions(i) || b.mentions(i),
            Formula::Select(a, b, c) => a.mentions(i) || b.mentions(i) || c.mentions(i),
        }
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let unary = prop::sample::select(vec![
        Unary::Neg,
        Unary::Recip,
        Unary::Square,
        Unary::Sqrt,
        Unary::Exp,
        Unary::Ln,
        Unary::Sin,
        Unary::Cos,
        Unary::SinTimesCos,
        Unary::Tan,
        Unary::Sinh,
        Unary::Cosh,
        Unary::SinhTimesCosh,
        Unary::Tanh,
        Unary::Asin,
        Unary::Acos,
        Unary::Atan,
        Unary::Abs,
    ]);
    let binary = prop::sample::select(vec![
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::AddAssign,
        Binary::SubAssign,
        Binary::MulAssign,
        Binary::Atan2,
        Binary::Pow,
        Binary::Max,
        Binary::Min,
    ]);
    let with_constant = prop::sample::select(vec![
        WithConstant::Add,
        WithConstant::Sub,
        WithConstant::Mul,
        WithConstant::Div,
        WithConstant::Powf,
    ]);
    let constant = || prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => -2.0..2.0];
    let leaf = prop_oneof![4 => (0..N).prop_map(Formula::Variable), 1 => constant().prop_map(Formula::Constant)];
    leaf.prop_recursive(5, 24, 3, move |part| {
        let part = || part.clone().prop_map(Box::new);
        prop_oneof![
            5 => (unary.clone(), part()).prop_map(|(o, a)| Formula::Unary(o, a)),
            5 => (binary.clone(), part(), part()).prop_map(|(o, a, b)| Formula::Binary(o, a, b)),
            2 => (with_constant.clone(), part(), constant()).prop_map(|(o, a, c)| Formula::WithConstant(o, a, c)),
            1 => (part(), -4..=5_i32).prop_map(|(a, n)| Formula::Powi(a, n)),
            1 => (part(), part(), part()).prop_map(|(a, b, c)| Formula::Select(a, b, c)),
        ]
    })
}

fn point() -> impl Strategy<Value = [f64; N]> {
    prop::array::uniform3(-2.0..2.0)
}

/// Random numbers between −1 and 1, a sequence of its own for every seed.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// What to expect: numbers with how far relative errors of 1e-11 in every operation move them. Rounding moves them some
/// ten thousand times less.
struct Expected {
    numbers: Vec<f64>,
    moved: Vec<f64>,
}

impl Expected {
    fn of<S: Scalar>(formula: &Formula, x: &[S; N], parts: impl Fn(S) -> Vec<f64>) -> Self {
        let numbers = parts(formula.evaluate(x));
        let mut moved = vec![0.0_f64; numbers.len()];
        for seed in 1..=6 {
            // a factor 1 + δ whose derivatives are in error too
            let mut noise = noise(seed);
            let others = parts(formula.watched(x, &mut |y| {
                let step = x.iter().fold(S::from(0.0), |sum, &x| sum + (x - x.value()) * noise());
                let error = ((step * noise() + noise()) * step + noise()) * step + noise();
                y + y * error * 1e-11
            }));
            for ((moved, a), b) in moved.iter_mut().zip(&numbers).zip(others) {
                // f64::max would lose a NaN
                *moved = if (a - b).abs() <= *moved { *moved } else { (a - b).abs() };
            }
        }
        Expected { numbers, moved }
    }

    /// Finite, of ordinary size and not spoiled by cancellation or a branch close by.
    fn is_well_conditioned(&self) -> bool {
        self.numbers.iter().zip(&self.moved).all(|(x, moved)| x.abs() < 1e8 && *moved <= 1e-9 * (1.0 + x.abs()))
    }

    fn agrees(&self, others: &[f64], relative: f64) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.numbers.len(), others.len());
        for (k, (x, y)) in self.numbers.iter().zip(others).enumerate() {
            let tolerance = relative * x.abs() + 10.0 * self.moved[k] + 1e-14;
            prop_assert!((x - y).abs() <= tolerance, "number {}: {:e} and {:e}, tolerance {:e}", k, x, y, tolerance);
        }
        Ok(())
    }
}

/// Derivative by central differences with steps h, h/2, h/4, extrapolated, and an estimate of its error.
fn difference(f: impl Fn(f64) -> f64) -> (f64, f64) {
    let h = 2e-3;
    let d: [f64; 3] = from_fn(|k| {
        let h = h / f64::from(1 << k);
        (f(h) - f(-h)) / (2.0 * h)
    });
    let e: [f64; 2] = from_fn(|k| (4.0 * d[k + 1] - d[k]) / 3.0);
    ((16.0 * e[1] - e[0]) / 15.0, (e[1] - e[0]).abs())
}

/// The same cases in every run, unless PROPTEST_RNG_SEED or PROPTEST_CASES ask for others.
fn settings() -> ProptestConfig {
    let default = ProptestConfig::default();
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = default.cases.max(2000);
    ProptestConfig { rng_seed, cases, failure_persistence: None, max_global_rejects: 1 << 20, ..default }
}

fn gradient_point(x: [f64; N]) -> [Dual<f64, N>; N] {
    from_fn(|i| Dual::variable(x[i], i))
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn every_scalar_has_the_value_of_f64(formula in formula(), x in point()) {
        prop_assume!(formula.is_ordinary_throughout(&x));
        let value = formula.evaluate(&x);
        prop_assert_eq!(formula.evaluate(&gradient_point(x)).value, value);
        prop_assert_eq!(formula.evaluate(&x.map(Taylor::<f64, 4>::parameter)).value(), value);
        prop_assert_eq!(formula.evaluate(&x.map(|x| Taylor::<_, 2>::parameter(Dual::<f64, 1>::variable(x, 0)))).value(), value);
        let x: [Depends; N] = from_fn(|i| Depends::variable(x[i], i));
        prop_assert_eq!(formula.evaluate(&x).value(), value);
    }

    #[test]
    fn lanes_of_dual_are_the_partial_derivatives(formula in formula(), x in point()) {
        let expected = Expected::of(&formula, &gradient_point(x), |y| y.lanes.to_vec());
        prop_assume!(expected.is_well_conditioned());
        let value = Expected::of(&formula, &x, |y| vec![y]);
        for i in 0..N {
            let (slope, error) = difference(|h| {
                let mut x = x;
                x[i] += h;
                formula.evaluate(&x)
            });
            let lane = expected.numbers[i];
            // the last term is the rounding of the differences
            let tolerance = 1e-7 * (1.0 + lane.abs()) + 10.0 * error + value.moved[0];
            prop_assume!(tolerance < 1e-4 * (1.0 + lane.abs()));
            prop_assert!((lane - slope).abs() <= tolerance, "lane {}: {:e}, differences {:e}", i, lane, slope);
        }
    }

    #[test]
    fn coefficients_of_taylor_are_the_derivatives_by_nested_duals(formula in formula(), x in point(), d in point()) {
        type One = Dual<f64, 1>;
        type Two = Dual<One, 1>;
        type Three = Dual<Two, 1>;
        let line: [Taylor<f64, 4>; N] = from_fn(|i| Taylor { coefficients: [x[i], d[i], 0.0, 0.0] });
        let expected = Expected::of(&formula, &line, |y| y.coefficients.to_vec());
        prop_assume!(expected.is_well_conditioned());

        let once: [One; N] = from_fn(|i| Dual { value: x[i], lanes: [d[i]] });
        let twice: [Two; N] = from_fn(|i| Dual { value: once[i], lanes: [One::from(d[i])] });
        let thrice: [Three; N] = from_fn(|i| Dual { value: twice[i], lanes: [Two::from(d[i])] });
        let y = formula.evaluate(&once);
        Expected { numbers: expected.numbers[..2].to_vec(), moved: expected.moved[..2].to_vec() }
            .agrees(&[y.value, y.lanes[0]], 1e-12)?;
        let y = formula.evaluate(&thrice);
        let (second, third) = (y.value.lanes[0].lanes[0], y.lanes[0].lanes[0].lanes[0]);
        expected.agrees(&[y.value(), y.lanes[0].value(), second / 2.0, third / 6.0], 1e-9)?;
    }

    #[test]
    fn the_order_of_nesting_does_not_matter(
        formula in formula(),
        curves in prop::array::uniform3(prop::array::uniform3(prop::array::uniform3(-1.5..1.5))),
    ) {
        // curves[variable][part][k]: part 0 is the value, parts 1 and 2 are the lanes
        let outside: [Taylor<Dual<f64, 2>, 3>; N] = curves.map(|[value, first, second]| Taylor {
            coefficients: from_fn(|k| Dual { value: value[k], lanes: [first[k], second[k]] }),
        });
        let within: [Dual<Taylor<f64, 3>, 2>; N] = curves.map(|[value, first, second]| Dual {
            value: Taylor { coefficients: value },
            lanes: [Taylor { coefficients: first }, Taylor { coefficients: second }],
        });
        let expected = Expected::of(&formula, &outside, |y| {
            y.coefficients.iter().flat_map(|c| [c.value, c.lanes[0], c.lanes[1]]).collect()
        });
        prop_assume!(expected.is_well_conditioned());
        let y = formula.evaluate(&within);
        let others: Vec<f64> = (0..3)
            .flat_map(|k| [y.value.coefficients[k], y.lanes[0].coefficients[k], y.lanes[1].coefficients[k]])
            .collect();
        expected.agrees(&others, 1e-10)?;
    }

    #[test]
    fn depends_misses_no_variable_that_moves_the_result(formula in formula(), x in point()) {
        let y = formula.evaluate(&gradient_point(x));
        prop_assume!(formula.is_ordinary_throughout(&x) && y.lanes.iter().all(|lane| lane.is_finite()));
        let pattern = formula.evaluate::<Depends>(&from_fn(|i| Depends::variable(x[i], i)));
        for i in 0..N {
            prop_assert!(y.lanes[i] == 0.0 || pattern.on(i), "lane {} is {:e}", i, y.lanes[i]);
            prop_assert!(!pattern.on(i) || formula.mentions(i), "variable {} does not occur", i);
        }
    }
}

fn assert_close(x: f64, y: f64, what: &str) {
    assert!((x - y).abs() <= 1e-13 * (1.0 + x.abs()), "{what}: {x:e} and {y:e}");
}

/// Compares `Dual` and `Taylor` at points with [f, f', f'', f'''].
macro_rules! closed_forms {
    ($($name:ident: |$x:ident| $f:expr, at $points:expr, [$value:expr, $first:expr, $second:expr, $third:expr $(,)?];)+) => {$(
        #[test]
        fn $name() {
            fn f<S: Scalar>($x: S) -> S {
                $f
            }
            for $x in $points {
                let $x: f64 = $x;
                let derivatives: [f64; 4] = [$value, $first, $second, $third];
                let y = f(Dual::<f64, 2>::variable($x, 1));
                assert_close(derivatives[0], y.value, "value of Dual");
                assert_eq!(y.lanes[0], 0.0);
                assert_close(derivatives[1], y.lanes[1], "lane of Dual");
                let y = f(Taylor::<f64, 4>::parameter($x)).coefficients;
                for (k, factorial) in [1.0, 1.0, 2.0, 6.0].into_iter().enumerate() {
                    assert_close(derivatives[k], y[k] * factorial, &format!("coefficient {k} of Taylor"));
                }
            }
        }
    )+};
}

closed_forms! {
    recip_has_its_closed_form_derivatives: |x| x.recip(), at [0.7, -1.3],
        [1.0 / x, -x.powi(-2), 2.0 * x.powi(-3), -6.0 * x.powi(-4)];
    division_by_a_constant_has_its_closed_form_derivatives: |x| x / 3.0, at [0.7, -1.3], [x / 3.0, 1.0 / 3.0, 0.0, 0.0];
    square_has_its_closed_form_derivatives: |x| x.square(), at [0.7, -1.3, 0.0], [x * x, 2.0 * x, 2.0, 0.0];
    sqrt_has_its_closed_form_derivatives: |x| x.sqrt(), at [0.7, 4.0],
        [x.sqrt(), 0.5 * x.powf(-0.5), -0.25 * x.powf(-1.5), 0.375 * x.powf(-2.5)];
    exp_has_its_closed_form_derivatives: |x| x.exp(), at [0.7, -1.3, 0.0], [x.exp(), x.exp(), x.exp(), x.exp()];
    ln_has_its_closed_form_derivatives: |x| x.ln(), at [0.7, 4.0],
        [x.ln(), 1.0 / x, -x.powi(-2), 2.0 * x.powi(-3)];
    sin_has_its_closed_form_derivatives: |x| x.sin(), at [0.7, -4.0, 0.0], [x.sin(), x.cos(), -x.sin(), -x.cos()];
    cos_has_its_closed_form_derivatives: |x| x.cos(), at [0.7, -4.0, 0.0], [x.cos(), -x.sin(), -x.cos(), x.sin()];
    tan_has_its_closed_form_derivatives: |x| x.tan(), at [0.7, -4.0, 0.0], [
        x.tan(),
        1.0 + x.tan().powi(2),
        2.0 * x.tan() * (1.0 + x.tan().powi(2)),
        2.0 * (1.0 + x.tan().powi(2)) * (1.0 + 3.0 * x.tan().powi(2)),
    ];
    sinh_has_its_closed_form_derivatives: |x| x.sinh(), at [0.7, -1.3], [x.sinh(), x.cosh(), x.sinh(), x.cosh()];
    cosh_has_its_closed_form_derivatives: |x| x.cosh(), at [0.7, -1.3], [x.cosh(), x.sinh(), x.cosh(), x.sinh()];
    tanh_has_its_closed_form_derivatives: |x| x.tanh(), at [0.7, -1.3, 0.0], [
        x.tanh(),
        1.0 - x.tanh().powi(2),
        -2.0 * x.tanh() * (1.0 - x.tanh().powi(2)),
        (6.0 * x.tanh().powi(2) - 2.0) * (1.0 - x.tanh().powi(2)),
    ];
    asin_has_its_closed_form_derivatives: |x| x.asin(), at [0.7, -0.3, 0.0], [
        x.asin(),
        (1.0 - x * x).powf(-0.5),
        x * (1.0 - x * x).powf(-1.5),
        (1.0 + 2.0 * x * x) * (1.0 - x * x).powf(-2.5),
    ];
    acos_has_its_closed_form_derivatives: |x| x.acos(), at [0.7, -0.3, 0.0], [
        x.acos(),
        -(1.0 - x * x).powf(-0.5),
        -x * (1.0 - x * x).powf(-1.5),
        -(1.0 + 2.0 * x * x) * (1.0 - x * x).powf(-2.5),
    ];
    atan_has_its_closed_form_derivatives: |x| x.atan(), at [0.7, -4.0, 0.0], [
        x.atan(),
        1.0 / (1.0 + x * x),
        -2.0 * x / (1.0 + x * x).powi(2),
        (6.0 * x * x - 2.0) / (1.0 + x * x).powi(3),
    ];
    atan2_has_its_closed_form_derivatives_in_the_height: |x| x.atan2(S::from(-2.0)), at [0.7, -4.0], [
        x.atan2(-2.0),
        -2.0 / (x * x + 4.0),
        4.0 * x / (x * x + 4.0).powi(2),
        (16.0 - 12.0 * x * x) / (x * x + 4.0).powi(3),
    ];
    atan2_has_its_closed_form_derivatives_in_the_width: |x| S::from(2.0).atan2(x), at [0.7, -4.0, 0.0], [
        2.0_f64.atan2(x),
        -2.0 / (x * x + 4.0),
        4.0 * x / (x * x + 4.0).powi(2),
        (16.0 - 12.0 * x * x) / (x * x + 4.0).powi(3),
    ];
    a_positive_power_has_its_closed_form_derivatives: |x| x.powi(5), at [0.7, -1.3, 0.0],
        [x.powi(5), 5.0 * x.powi(4), 20.0 * x.powi(3), 60.0 * x.powi(2)];
    a_negative_power_has_its_closed_form_derivatives: |x| x.powi(-3), at [0.7, -1.3],
        [x.powi(-3), -3.0 * x.powi(-4), 12.0 * x.powi(-5), -60.0 * x.powi(-6)];
    a_power_with_a_real_exponent_has_its_closed_form_derivatives: |x| x.powf(2.5), at [0.7, 4.0],
        [x.powf(2.5), 2.5 * x.powf(1.5), 3.75 * x.sqrt(), 1.875 / x.sqrt()];
    a_number_to_its_own_power_has_its_closed_form_derivatives: |x| x.pow(x), at [0.7, 2.0], [
        x.powf(x),
        x.powf(x) * (1.0 + x.ln()),
        x.powf(x) * ((1.0 + x.ln()).powi(2) + 1.0 / x),
        x.powf(x) * ((1.0 + x.ln()).powi(3) + 3.0 * (1.0 + x.ln()) / x - x.powi(-2)),
    ];
    abs_has_the_slope_of_the_sign: |x| x.abs(), at [0.7, -1.3], [x.abs(), x.signum(), 0.0, 0.0];
    max_has_the_derivatives_of_the_larger: |x| x.square().max(x), at [0.5, 2.0, -1.0], [
        (x * x).max(x),
        if x * x > x { 2.0 * x } else { 1.0 },
        if x * x > x { 2.0 } else { 0.0 },
        0.0,
    ];
    min_has_the_derivatives_of_the_smaller: |x| x.square().min(x), at [0.5, 2.0, -1.0], [
        (x * x).min(x),
        if x * x < x { 2.0 * x } else { 1.0 },
        if x * x < x { 2.0 } else { 0.0 },
        0.0,
    ];
    select_has_the_derivatives_of_its_branch: |x| x.select(x.exp(), x * 3.0), at [0.5, 0.0, -0.5], [
        if x >= 0.0 { x.exp() } else { 3.0 * x },
        if x >= 0.0 { x.exp() } else { 3.0 },
        if x >= 0.0 { x.exp() } else { 0.0 },
        if x >= 0.0 { x.exp() } else { 0.0 },
    ];
}

#[test]
fn integer_powers_are_exact_at_zero() {
    for n in 0..=5_usize {
        let y = Taylor::<f64, 4>::parameter(0.0).powi(n as i32);
        let exact: [f64; 4] = from_fn(|k| if k == n { 1.0 } else { 0.0 });
        assert_eq!(y.coefficients, exact, "power {n}");

        let x = Dual { value: Dual::<f64, 1>::variable(0.0, 0), lanes: [Dual::from(1.0)] };
        let y: Dual<Dual<f64, 1>, 1> = x.powi(n as i32);
        let derivatives = [y.value.value, y.value.lanes[0], y.lanes[0].value, y.lanes[0].lanes[0]];
        let at = |k: usize, factorial: f64| if k == n { factorial } else { 0.0 };
        assert_eq!(derivatives, [at(0, 1.0), at(1, 1.0), at(1, 1.0), at(2, 2.0)], "power {n}");
    }
}

#[test]
fn the_zeroth_power_is_a_constant() {
    for x in [0.0, -1.3, 2.0] {
        assert_eq!(Dual::<f64, 1>::variable(x, 0).powi(0), Dual::from(1.0));
        assert_eq!(Taylor::<f64, 3>::parameter(x).powi(0), Taylor::from(1.0));
        assert_eq!(Depends::variable(x, 0).powi(0), Depends::from(1.0));
    }
}

#[test]
fn select_takes_the_first_branch_at_zero() {
    let (yes, no) = (Dual::<f64, 1>::variable(1.0, 0), Dual::from(2.0));
    assert_eq!(Dual::from(0.0).select(yes, no), yes);
    assert_eq!(Dual::from(-0.0).select(yes, no), yes);
    assert_eq!(Dual::from(-1e-300).select(yes, no), no);
    let (yes, no) = (Taylor::<f64, 2>::parameter(1.0), Taylor::from(2.0));
    assert_eq!(Taylor::from(0.0).select(yes, no), yes);
    assert_eq!(Taylor::from(-1e-300).select(yes, no), no);
}

#[test]
fn a_condition_that_is_not_a_number_has_no_result() {
    assert!(f64::NAN.select(1.0, 2.0).is_nan());
    let undefined = Dual::<f64, 2>::from(f64::NAN).select(Dual::from(1.0), Dual::from(2.0));
    assert!(undefined.value.is_nan() && undefined.lanes.iter().all(|lane| lane.is_nan()));
    let undefined = Taylor::<f64, 3>::from(f64::NAN).select(Taylor::from(1.0), Taylor::from(2.0));
    assert!(undefined.coefficients.iter().all(|c| c.is_nan()));
    // the larger, the smaller and the sign of what has no value
    assert!(Scalar::max(Dual::<f64, 1>::from(f64::NAN), Dual::from(1.0)).value.is_nan());
}

#[test]
fn depends_counts_the_condition_and_both_branches_of_select() {
    let [a, b, c] = from_fn(|i| Depends::variable(1.0 - i as f64, i));
    let y = a.select(b, c);
    assert!(y.on(0) && y.on(1) && y.on(2) && !y.on(3));
    assert_eq!(y.value(), 0.0);
    assert!(Depends::from(0.0).is_zero() && !a.is_constant() && (a - a).on(0));
}

#[test]
fn a_quotient_has_the_value_of_f64_and_so_takes_the_same_branch() {
    // 49 · (1/49) < 1
    let steep = |x: f64| Dual::<f64, 1>::variable(x, 0);
    assert_eq!((steep(49.0) / Dual::from(49.0)).value, 1.0);
    assert_eq!((Taylor::<f64, 2>::parameter(49.0) / Taylor::from(49.0)).value(), 1.0);
    assert_eq!((steep(1e-310) / Dual::from(1e-310)).value, 1.0);
}

#[test]
fn the_arc_cosine_keeps_its_accuracy_near_one() {
    let x = 1.0 - 1e-12;
    assert_eq!(Dual::<f64, 1>::variable(x, 0).acos().value, x.acos());
    assert_eq!(Taylor::<f64, 2>::parameter(x).acos().value(), x.acos());
    assert_eq!(Depends::variable(x, 0).acos().value(), x.acos());
}
