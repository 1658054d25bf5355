//! Interpolating splines: polynomials of degree 1, 3 or 5 between the points of a table, with 0, 2 or 4 continuous derivatives.
//!
//! Unknown are the first derivatives at the points, and the second ones for degree 5. They are such that the next derivatives agree
//! from both sides of every inner point; at both ends, the highest derivatives agree across the first one or two inner points ("not a
//! knot"), so that polynomials of the degree are reproduced. de Boor, A Practical Guide to Splines (1978), chapter IV.

use daedal::scalar::Scalar;

/// A piecewise polynomial through points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spline {
    knots: Vec<f64>,
    /// of (x − x_i)^k on each piece
    coefficients: Vec<Vec<f64>>,
}

/// Continuous derivatives that can be asked for, each with the fewest points.
pub(crate) const SMOOTHNESS: [(usize, usize); 3] = [(0, 2), (2, 4), (4, 6)];

/// A number that depends on the unknowns: constant + Σ weight · unknown.
type Affine = (f64, Vec<(usize, f64)>);

impl Spline {
    /// Through points with rising x; `smoothness` is one of [`SMOOTHNESS`], with enough points.
    pub fn new(points: &[(f64, f64)], smoothness: usize) -> Self {
        let degree = smoothness + 1;
        let (n, unknowns) = (points.len(), smoothness / 2);
        let pieces: Vec<Vec<Affine>> =
            points.windows(2).enumerate().map(|(i, w)| piece(i, w[0], w[1], unknowns)).collect();
        let lengths: Vec<f64> = points.windows(2).map(|w| w[1].0 - w[0].0).collect();
        // jumps of derivatives at inner points
        let jump = |i: usize, order: usize| -> Affine {
            let mut jump = derivative(&pieces[i], order, 0.0);
            let (left, terms) = derivative(&pieces[i - 1], order, lengths[i - 1]);
            jump.0 -= left;
            jump.1.extend(terms.into_iter().map(|(j, w)| (j, -w)));
            jump
        };
        let mut conditions: Vec<Affine> = Vec::new();
        for k in 0..unknowns {
            conditions.push(jump(1 + k, degree));
        }
        for i in 1..n - 1 {
            conditions.extend((0..unknowns).map(|k| jump(i, unknowns + 1 + k)));
        }
        for k in 0..unknowns {
            conditions.push(jump(n - 2 - k, degree));
        }
        let slopes = solve(conditions, unknowns * n);
        let value = |(constant, terms): &Affine| constant + terms.iter().map(|&(j, w)| w * slopes[j]).sum::<f64>();
        let coefficients = pieces.iter().map(|piece| piece.iter().map(value).collect()).collect();
        Spline { knots: points.iter().map(|p| p.0).collect(), coefficients }
    }

    /// First and last point.
    pub fn range(&self) -> (f64, f64) {
        (self.knots[0], self.knots[self.knots.len() - 1])
    }

    /// Number of polynomials.
    pub fn pieces(&self) -> usize {
        self.coefficients.len()
    }

    /// The value for any scalar; beyond the ends the outer pieces go on.
    pub fn value<S: Scalar>(&self, x: S) -> S {
        self.between(x, 0, self.coefficients.len())
    }

    /// The pieces from `from` to `to`, by bisection.
    fn between<S: Scalar>(&self, x: S, from: usize, to: usize) -> S {
        if to - from > 1 {
            let middle = usize::midpoint(from, to);
            let (low, high) = (self.between(x, from, middle), self.between(x, middle, to));
            return (x - self.knots[middle]).select(high, low);
        }
        let local = x - self.knots[from];
        let (last, others) = self.coefficients[from].split_last().expect("a piece has a polynomial");
        others.iter().rev().fold(S::from(*last), |sum, &c| sum * local + c)
    }
}

/// Coefficients of the polynomial between two points, by their values and the unknown derivatives there.
fn piece(i: usize, (x0, y0): (f64, f64), (x1, y1): (f64, f64), unknowns: usize) -> Vec<Affine> {
    let (h, rise) = (x1 - x0, (y1 - y0) / (x1 - x0));
    let constant = |c: f64| (c, Vec::new());
    match unknowns {
        0 => vec![constant(y0), constant(rise)],
        1 => {
            let (s0, s1) = (i, i + 1);
            vec![
                constant(y0),
                (0.0, vec![(s0, 1.0)]),
                (3.0 * rise / h, vec![(s0, -2.0 / h), (s1, -1.0 / h)]),
                (-2.0 * rise / (h * h), vec![(s0, 1.0 / (h * h)), (s1, 1.0 / (h * h))]),
            ]
        }
        _ => {
            // slopes s and curvatures c
            let [s0, c0, s1, c1] = [2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3];
            let (h2, h3, h4) = (h * h, h * h * h, h * h * h * h);
            vec![
                constant(y0),
                (0.0, vec![(s0, 1.0)]),
                (0.0, vec![(c0, 0.5)]),
                (10.0 * rise / h2, vec![(s0, -6.0 / h2), (s1, -4.0 / h2), (c0, -1.5 / h), (c1, 0.5 / h)]),
                (-15.0 * rise / h3, vec![(s0, 8.0 / h3), (s1, 7.0 / h3), (c0, 1.5 / h2), (c1, -1.0 / h2)]),
                (6.0 * rise / h4, vec![(s0, -3.0 / h4), (s1, -3.0 / h4), (c0, -0.5 / h3), (c1, 0.5 / h3)]),
            ]
        }
    }
}

/// A derivative of a piece at a distance from its begin.
fn derivative(piece: &[Affine], order: usize, x: f64) -> Affine {
    let mut sum: Affine = (0.0, Vec::new());
    for (k, (constant, terms)) in piece.iter().enumerate().skip(order) {
        let falling: f64 = (k + 1 - order..=k).map(|j| j as f64).product();
        let factor = falling * x.powi((k - order) as i32);
        sum.0 += factor * constant;
        sum.1.extend(terms.iter().map(|&(j, w)| (j, factor * w)));
    }
    sum
}

/// Gauß with row pivoting; rows have few entries, and what is zero is left out.
fn solve(conditions: Vec<Affine>, n: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    for (constant, terms) in conditions {
        let mut row = vec![0.0; n + 1];
        for (j, w) in terms {
            row[j] += w;
        }
        row[n] = -constant;
        let top = row[..n].iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        rows.push(row.into_iter().map(|x| x / top).collect());
    }
    for k in 0..n {
        let best = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs())).unwrap_or(k);
        rows.swap(k, best);
        let (above, below) = rows.split_at_mut(k + 1);
        let pivot = &above[k];
        for row in below.iter_mut().filter(|row| row[k] != 0.0) {
            let factor = row[k] / pivot[k];
            row[k..].iter_mut().zip(&pivot[k..]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - rest) / rows[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal::scalar::Taylor;

    fn of(f: impl Fn(f64) -> f64, knots: &[f64], smoothness: usize) -> Spline {
        Spline::new(&knots.iter().map(|&x| (x, f(x))).collect::<Vec<_>>(), smoothness)
    }

    const UNEVEN: [f64; 8] = [-1.0, -0.7, 0.1, 0.4, 0.5, 1.3, 1.6, 2.0];

    #[test]
    fn polynomials_of_the_degree_are_reproduced() {
        let coefficients = [1.0, -1.0, 0.5, -2.0, 0.7, -0.2];
        for (smoothness, _) in SMOOTHNESS {
            let f = |x: f64| coefficients[..smoothness + 2].iter().rev().fold(0.0, |sum, c| sum * x + c);
            let spline = of(f, &UNEVEN, smoothness);
            for k in 0..=60 {
                let x = -1.0 + 0.05 * f64::from(k);
                assert!((spline.value(x) - f(x)).abs() < 1e-12, "{smoothness} at {x}");
            }
        }
    }

    #[test]
    fn as_many_derivatives_are_continuous_as_is_said() {
        for (smoothness, _) in SMOOTHNESS {
            let spline = of(f64::exp, &UNEVEN, smoothness);
            for &knot in &UNEVEN[2..6] {
                // Taylor coefficients from both sides
                let at = |x: f64| spline.value(Taylor::<f64, 7>::parameter(x)).coefficients;
                let (left, right) = (at(knot - 1e-12), at(knot));
                for k in 0..=smoothness {
                    assert!((left[k] - right[k]).abs() < 1e-8, "derivative {k} of smoothness {smoothness} at {knot}");
                }
                let jump = (left[smoothness + 1] - right[smoothness + 1]).abs();
                assert!(jump > 1e-7 || knot != 0.5, "derivative {} at {knot} jumps by {jump:e}", smoothness + 1);
            }
        }
    }

    #[test]
    fn errors_fall_with_the_order() {
        let error = |n: usize, smoothness: usize| {
            let knots: Vec<f64> = (0..=n).map(|i| i as f64 / n as f64).collect();
            let spline = of(|x| (3.0 * x).sin(), &knots, smoothness);
            (0..=500)
                .map(|k| f64::from(k) / 500.0)
                .map(|x| (spline.value(x) - (3.0 * x).sin()).abs())
                .fold(0.0, f64::max)
        };
        for (smoothness, order) in [(0, 2.0), (2, 4.0), (4, 6.0)] {
            let observed = (error(16, smoothness) / error(32, smoothness)).log2();
            assert!(observed > order - 0.2 && observed < order + 1.0, "smoothness {smoothness}: order {observed:.2}");
        }
    }
}
