//! The bouncing ball against its closed form, up to and beyond the limit of its bounces.

use super::support::*;
use daedal::hybrid::{HybridError, HybridFailure, HybridOptions, SwitchKind};
use daedal::{Ended, Initial, Problem, solve};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::bouncing_ball::BouncingBall;

#[test]
fn bounces_come_when_the_closed_form_says() {
    for method in ModeIntegrator::ALL {
        for e in [0.5, 0.8, 1.0] {
            let ball = BouncingBall { e, ..BouncingBall::default() };
            let hybrid = ball.system(false, method);
            // before the limit, where there is one
            let tend = if e < 1.0 { ball.bounce(10) + 0.3 * (ball.bounce(11) - ball.bounce(10)) } else { 10.0 };
            let problem = Problem::new(&hybrid, Initial::new(0.0, &ball.start()), tend);
            let solution = solved(&problem, &dense(1e-10), &HybridOptions::default());
            let count = (1..1000).take_while(|&k| ball.bounce(k) <= tend).count();
            assert_eq!(solution.switches.len(), count, "{method:?}, e = {e}");
            for (k, switch) in (1..).zip(&solution.switches) {
                close(switch.t, ball.bounce(k), 1e-8);
                assert_eq!((switch.from, switch.to, switch.kind), (0, 0, SwitchKind::Regular));
                close(switch.after[1], -e * switch.before[1], 1e-12);
            }
            for k in 0..=200 {
                let t = tend * f64::from(k) / 200.0;
                close(solution.value("y", t).unwrap(), ball.exact(t)[0], 1e-7);
            }
        }
    }
}

#[test]
fn without_a_mode_for_rest_the_limit_is_recognised_and_told() {
    for method in ModeIntegrator::ALL {
        for e in [0.3, 0.5, 0.8, 0.95] {
            let ball = BouncingBall { e, ..BouncingBall::default() };
            let hybrid = ball.system(false, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &ball.start()), ball.limit() + 1.0);
            let Err(HybridError::Stopped { cause, partial }) =
                solve(&problem, &HybridOptions::default(), &tolerance(1e-10))
            else {
                panic!("{method:?}, e = {e}: went on")
            };
            let HybridFailure::Accumulation { t, limit, count, ratio, condition } = &*cause else {
                panic!("{method:?}, e = {e}: {cause} after {} switches", partial.switches.len())
            };
            println!(
                "{method:?}, e = {e}: {count} bounces, limit {:.1e} off, ratio {:.1e} off",
                limit - ball.limit(),
                ratio - e
            );
            // BDF does not make its last step again up to an event: its last flights are as short as it can tell, and known to a few percent
            close(*limit, ball.limit(), if method == ModeIntegrator::Radau { 1e-8 } else { 3e-5 });
            close(*ratio, e, 1e-2);
            assert!(*t <= *limit && condition == "y <= 0");
            // errors of two hundred flights add up; those of BDF are larger than its tolerance
            let accuracy = if method == ModeIntegrator::Radau { 1e-7 } else { 1e-5 };
            assert!((*count - 1..=*count).contains(&(partial.switches.len() as u64)), "{count}");
            for (k, switch) in (1..).zip(&partial.switches) {
                close(switch.t, ball.bounce(k), accuracy);
            }
            assert!(cause.to_string().contains("after_accumulation"), "{cause}");
        }
    }
}

#[test]
fn with_a_mode_for_rest_the_run_goes_on() {
    for method in ModeIntegrator::ALL {
        for e in [0.3, 0.5, 0.8, 0.95] {
            let ball = BouncingBall { e, ..BouncingBall::default() };
            let hybrid = ball.system(true, method);
            let tend = ball.limit() + 1.0;
            let solution = solved(
                &Problem::new(&hybrid, Initial::new(0.0, &ball.start()), tend),
                &dense(1e-10),
                &HybridOptions::default(),
            );
            assert_eq!((solution.ended.clone(), solution.end.t), (Ended::AtEnd, tend));
            assert_eq!(solution.modes[solution.end_mode].name, "rest");
            let last = solution.switches.last().unwrap();
            assert_eq!((last.kind, last.to), (SwitchKind::Accumulation, 1));
            // at the limit; the polynomials of BDF do not resolve bounces below its tolerance
            close(last.t, ball.limit(), if method == ModeIntegrator::Radau { 1e-8 } else { 1e-5 } * tend);
            close(solution.end_value("y").unwrap(), 0.0, 1e-12);
            close(solution.end_value("v").unwrap(), 0.0, 1e-12);
        }
    }
}

#[test]
fn an_elastic_ball_never_comes_to_rest() {
    // equal distances are no accumulation
    for method in ModeIntegrator::ALL {
        let ball = BouncingBall { e: 1.0, ..BouncingBall::default() };
        let hybrid = ball.system(true, method);
        let solution = solved(
            &Problem::new(&hybrid, Initial::new(0.0, &ball.start()), 60.0),
            &tolerance(1e-9),
            &HybridOptions::default(),
        );
        assert_eq!(solution.switches.len(), 66);
        assert!(solution.switches.iter().all(|s| s.kind == SwitchKind::Regular));
    }
}
