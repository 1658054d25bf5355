//! Places and orientations of MJCF.

use super::super::frame::Frame;
use super::super::xml::{Element, Log};
use daedal_multibody::vector::{
    IDENTITY, Matrix3, Vector, about, cross, dot, norm, product, rotation, scale, sub, transposed, unit,
};

/// How angles are written.
#[derive(Clone, Debug)]
pub(super) struct Angles {
    /// Radians of one unit.
    pub unit: f64,
    /// Axes of Euler angles: small letters turn with the body, capitals stay.
    pub sequence: String,
}

const KEYS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// `pos` with one of the orientations.
pub(super) fn frame(element: &Element, angles: &Angles, log: &mut Log) -> Frame {
    let p = element.vector(log, "pos").unwrap_or_default();
    Frame { R: orientation(element, angles, log), p }
}

/// `quat`, `axisangle`, `euler`, `xyaxes` or `zaxis`.
pub(super) fn orientation(element: &Element, angles: &Angles, log: &mut Log) -> Matrix3<f64> {
    // one of its own counts before those of its class
    let own = KEYS.iter().filter(|key| element.node.has_attribute(**key)).collect::<Vec<_>>();
    if let [_, second, ..] = own[..] {
        log.refuse(
            element.at(second),
            "two orientations of one element",
            "which of them holds?",
            "give one of quat, axisangle, euler, xyaxes, zaxis",
        );
        return IDENTITY;
    }
    let key = own.first().copied().or_else(|| KEYS.iter().find(|key| element.has(key)));
    let Some(&key) = key else { return IDENTITY };
    let count = match key {
        "quat" | "axisangle" => 4,
        "xyaxes" => 6,
        _ => 3,
    };
    let Some(x) = element.numbers(log, key, count..=count) else { return IDENTITY };
    let turned = match key {
        "quat" => (x.iter().any(|x| *x != 0.0)).then(|| rotation([x[0], x[1], x[2], x[3]])),
        "axisangle" => unit([x[0], x[1], x[2]]).map(|axis| about(axis, angles.unit * x[3])),
        "euler" => Some(euler([x[0], x[1], x[2]].map(|angle| angles.unit * angle), &angles.sequence)),
        "xyaxes" => {
            // y is made normal to x
            unit([x[0], x[1], x[2]]).and_then(|first| {
                let y = [x[3], x[4], x[5]];
                let second = unit(sub(y, scale(dot(first, y), first)))?;
                Some(transposed(&[first, second, cross(first, second)]))
            })
        }
        _ => unit([x[0], x[1], x[2]]).map(z_along),
    };
    turned.unwrap_or_else(|| {
        log.refuse(
            element.at(key),
            format!("`{key}` has no direction"),
            "zero",
            "write quat=\"1 0 0 0\" for no rotation",
        );
        IDENTITY
    })
}

/// Small letters turn about axes that have turned already, capitals about those that stay.
fn euler(angles: Vector<f64>, sequence: &str) -> Matrix3<f64> {
    let mut R = IDENTITY;
    for (letter, angle) in sequence.chars().zip(angles) {
        let axis = match letter.to_ascii_lowercase() {
            'x' => IDENTITY[0],
            'y' => IDENTITY[1],
            _ => IDENTITY[2],
        };
        let turn = about(axis, angle);
        R = if letter.is_ascii_lowercase() { product(&R, &turn) } else { product(&turn, &R) };
    }
    R
}

/// The smallest rotation that turns z into a unit vector.
pub(super) fn z_along(axis: Vector<f64>) -> Matrix3<f64> {
    let across = cross(IDENTITY[2], axis);
    about(unit(across).unwrap_or(IDENTITY[0]), norm(across).atan2(axis[2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_multibody::vector::times;

    #[test]
    fn z_goes_where_it_is_sent() {
        for axis in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, 0.0, -0.8], [0.48, 0.6, 0.64]] {
            let z = times(&z_along(axis), IDENTITY[2]);
            (0..3).for_each(|k| assert!((z[k] - axis[k]).abs() < 1e-15, "{z:?} {axis:?}"));
        }
    }

    #[test]
    fn capitals_are_the_reverse_of_small_letters() {
        let (moving, fixed) = (euler([0.3, -0.5, 1.1], "xyz"), euler([1.1, -0.5, 0.3], "ZYX"));
        (0..3).for_each(|i| (0..3).for_each(|j| assert!((moving[i][j] - fixed[i][j]).abs() < 1e-15)));
        // roll, pitch, yaw about fixed axes
        let rpy = super::super::super::frame::rpy([0.3, -0.5, 1.1]);
        let capitals = euler([0.3, -0.5, 1.1], "XYZ");
        (0..3).for_each(|i| (0..3).for_each(|j| assert!((rpy[i][j] - capitals[i][j]).abs() < 1e-15)));
    }
}
