//! Problems with reference values: P1 a pendulum, P2 a two-link arm that is driven, with their solutions to about 1e-13.

use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;

/// P1: M = I, f = (0, −g), g = (x² + y² − 1)/2.
pub struct Pendulum {
    /// Gravity.
    pub gravity: f64,
}

impl Pendulum {
    /// Gravity 1.
    pub const P1: Pendulum = Pendulum { gravity: 1.0 };
    /// Released at rest from (1, 0) it has the period 2.
    pub const PERIOD_TWO: Pendulum = Pendulum { gravity: 13.750_371_636_040_745 };

    /// P1: moving on the circle.
    pub fn moving() -> Initial {
        Initial::motion(
            0.0,
            &[0.696_706_709_347_165_4, -0.717_356_090_899_522_8],
            &[0.645_620_481_809_570_5, 0.627_036_038_412_448_8],
        )
    }

    /// P1h: released from the horizontal.
    pub fn horizontal() -> Initial {
        Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0])
    }

    /// p, v, λ of P1 at t = 1.
    pub const AT_ONE: [f64; 5] = [
        0.949_866_994_783_450_38,
        -0.312_654_269_475_177_08,
        0.007_635_150_101_058_84,
        0.023_196_155_591_884_91,
        0.313_250_626_626_485_71,
    ];
    /// p, v, λ of P1 at t = 2.
    pub const AT_TWO: [f64; 5] = [
        0.728_503_389_156_770_7,
        -0.685_042_197_231_016_3,
        -0.591_430_780_341_649_4,
        -0.628_952_974_973_053_7,
        1.430_414_409_894_003_5,
    ];
}

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-self.gravity);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = (at.p[0].square() + at.p[1].square() - 1.0) * 0.5;
    }
}

/// P2: a two-link arm whose end is driven, with damping; P2c without both.
pub struct Arm {
    /// Damping, 1/5 in P2.
    pub damping: f64,
    /// How far the constraint moves, 1/5 in P2.
    pub drive: f64,
}

impl Arm {
    /// Driven and damped.
    pub const P2: Arm = Arm { damping: 0.2, drive: 0.2 };
    /// Conservative.
    pub const P2C: Arm = Arm { damping: 0.0, drive: 0.0 };

    /// Consistent start of P2.
    pub fn start() -> Initial {
        Initial::motion(
            0.0,
            &[0.171_547_811_521_935_4, 0.164_006_222_404_617_4],
            &[0.455_220_615_967_777_8, -0.718_439_624_597_966_7],
        )
    }

    /// p, v, λ of P2 at t = 1.
    pub const AT_ONE: [f64; 5] = [
        0.141_774_738_577_619_8,
        0.413_284_832_167_062_6,
        -0.351_686_128_984_690_7,
        0.888_495_944_883_372_4,
        -1.355_465_852_498_140_4,
    ];
}

impl EquationsOfMotion for Arm {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let c = at.p[1].cos();
        M[(0, 0)] = c * 2.0 + 3.0;
        M[(0, 1)] = c + 1.0;
        M[(1, 0)] = c + 1.0;
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let ([a, b], [c, d]) = ([at.p[0], at.p[1]], [at.v[0], at.v[1]]);
        let end = (a + b).cos();
        f[0] = b.sin() * (c * d * 2.0 + d.square()) - a.cos() * 2.0 - end - c * self.damping;
        f[1] = -(b.sin() * c.square()) - end - d * self.damping;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].sin() + (at.p[0] + at.p[1]).sin() - 0.5 - at.t.sin() * self.drive;
    }
}
