//! Two problems whose differentiation index is 1 and whose perturbation index is larger, as the library sees them.
//! Lubich's and Campbell & Gear's example, Hairer & Wanner, Solving ODEs II, (VII.1.31) and (VII.1.32).

use daedal::dae::{Depth, Equations, System, characterise};
use daedal::scalar::Scalar;
use daedal::{Bdf, Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// y₁' − y₃ y₂' + y₂ y₃' = 0, y₂ = ε sin ωt, y₃ = ε cos ωt.
#[derive(Clone, Copy)]
struct Lubich {
    epsilon: f64,
    omega: f64,
}

impl Equations for Lubich {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, t: S, y: &[S], rate: &[S], r: &mut [S]) {
        r[0] = rate[0] - y[2] * rate[1] + y[1] * rate[2];
        r[1] = y[1] - (t * self.omega).sin() * self.epsilon;
        r[2] = y[2] - (t * self.omega).cos() * self.epsilon;
    }
}

/// y_m N y' + y = (0, …, 0, c + ε sin ωt) with ones above the diagonal of N.
struct CampbellGear {
    m: usize,
    c: f64,
    epsilon: f64,
    omega: f64,
}

impl Equations for CampbellGear {
    fn dim(&self) -> usize {
        self.m
    }
    fn residual<S: Scalar>(&self, t: S, y: &[S], rate: &[S], r: &mut [S]) {
        let last = self.m - 1;
        (0..last).for_each(|i| r[i] = y[last] * rate[i + 1] + y[i]);
        r[last] = y[last] - (t * self.omega).sin() * self.epsilon - self.c;
    }
}

/// T5.
#[test]
fn lubichs_example_has_differentiation_index_one() {
    let system = System::of(&Lubich { epsilon: 0.0, omega: 1.0 });
    let found = characterise(&system, &Initial::new(0.0, &[0.0; 3]), Depth::default()).unwrap();
    assert_eq!(found.values.differentiation_index(), Some(1), "{}", found.values);
}

/// T5: y₁ = ε²ω t, however small the defect ε. The error estimate of Radau IIa does not see how exact ẏ₂ and ẏ₃ are: its terms cancel here, and
/// 719 steps at 1e-9 were wrong by 1e-4. Its polynomial is controlled instead, and so is the history of BDF.
#[test]
fn lubichs_example_sees_the_derivative_of_its_defect() {
    for (epsilon, omega) in [(1e-3, 10.0), (1e-3, 1e3), (1e-2, 1e3)] {
        let system = System::of(&Lubich { epsilon, omega });
        let problem = Problem::new(&system, Initial::new(0.0, &[0.0, 0.0, epsilon]), 0.7);
        let options = Options { tolerance: Tolerance::new(1e-9, 1e-12), ..Options::default() };
        let expected = epsilon * epsilon * omega * 0.7;
        let by_bdf = solve(&problem, &Bdf::default(), &options).unwrap().end.x[0];
        assert!((by_bdf - expected).abs() < 1e-5 * expected, "{by_bdf} {expected}");
        let by_radau = solve(&problem, &RadauIIa::default(), &options).unwrap().end.x[0];
        assert!((by_radau - expected).abs() < 1e-7 * expected, "{by_radau} {expected}");
    }
}

/// Largest |y₁| over one period of the defect.
fn first_component(m: usize, c: f64, epsilon: f64, omega: f64) -> f64 {
    let system = System::of(&CampbellGear { m, c, epsilon, omega });
    let mut largest = 0.0_f64;
    for k in 0..100 {
        let t = f64::from(k) * std::f64::consts::TAU / 100.0 / omega;
        let mut guess = vec![0.0; m];
        guess[m - 1] = c + epsilon * (omega * t).sin();
        let found = characterise(&system, &Initial::new(t, &guess), Depth::default()).unwrap();
        // everything is determined at every time
        assert_eq!((found.values.d, found.values.a), (0, m), "{}", found.values);
        largest = largest.max(found.jet[0].abs());
    }
    largest
}

/// T5, the second example: m − 2 bounded derivatives of the defect do not bound y₁, m − 1 do.
#[test]
fn campbell_and_gears_example_has_perturbation_index_m() {
    for m in [3, 4] {
        let growth = [m - 2, m - 1].map(|bounded: usize| {
            let [slow, fast] =
                [10.0_f64, 100.0].map(|omega| first_component(m, 0.1, 0.1 * omega.powi(-(bounded as i32)), omega));
            fast / slow
        });
        assert!((growth[0] / 10.0 - 1.0).abs() < 0.5, "{m}: {growth:?}");
        assert!((growth[1] - 1.0).abs() < 0.5, "{m}: {growth:?}");
    }
}
