//! The problems that all codes solve, with the settings they have in the test set for initial value problem solvers.

use std::path::PathBuf;

/// A problem with all that solve it.
#[derive(Clone, Copy, Debug)]
pub struct PeerProblem {
    /// What the table calls it.
    pub title: &'static str,
    /// Name of the model, of its file, and in the programs of the peers.
    pub name: &'static str,
    /// Names of codes, and of the forms in which each of them gets the problem.
    pub peers: &'static [(&'static str, &'static [&'static str])],
    /// Methods of Daedal, beside its own choice.
    pub methods: &'static [OwnMethod],
    /// atol ÷ rtol.
    pub atol: f64,
    /// First step of the peers ÷ rtol.
    pub h0: f64,
    /// Relative tolerances are powers of ten with these exponents, from the first to the second by halves.
    pub exponents: (i32, i32),
    /// An error is |y − reference| ÷ max(|reference|, floor); zero: relative.
    pub floor: f64,
    /// Below this error the reference values decide.
    pub trusted: f64,
}

/// A method of Daedal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnMethod {
    /// Its name.
    pub name: &'static str,
    /// Which equations it discretises, if it does not choose.
    pub formulation: Option<&'static str>,
    /// Is its order variable, where that is an option?
    pub variable: bool,
}

impl OwnMethod {
    /// With its defaults.
    pub const fn new(name: &'static str) -> Self {
        OwnMethod { name, formulation: None, variable: false }
    }

    /// In a formulation.
    const fn on(self, formulation: &'static str) -> Self {
        OwnMethod { formulation: Some(formulation), ..self }
    }

    /// With variable order.
    const fn variable(self) -> Self {
        OwnMethod { variable: true, ..self }
    }
}

impl std::fmt::Display for OwnMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(formulation) = self.formulation {
            write!(f, " {formulation}")?;
        }
        if self.variable { write!(f, ", stages auto") } else { Ok(()) }
    }
}

/// A component that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Variable of the model.
    pub variable: String,
    /// Where the peers have it.
    pub place: usize,
    /// Its value at the end.
    pub value: f64,
}

const STIFF: &[(&str, &[&str])] = &[("radau5", &["-"]), ("radau", &["-"]), ("rodas", &["-"]), ("daspk", &["-"])];
const GENERAL: &[OwnMethod] =
    &[OwnMethod::new("radau"), OwnMethod::new("radau").variable(), OwnMethod::new("rodas"), OwnMethod::new("bdf")];
const MOTION: &[OwnMethod] = &[
    OwnMethod::new("geoms"),
    OwnMethod::new("geoms").variable(),
    OwnMethod::new("radau").on("ggl").variable(),
    OwnMethod::new("radau").on("eom0").variable(),
    OwnMethod::new("rodas").on("eom0"),
    OwnMethod::new("hedop5"),
    OwnMethod::new("dop853"),
];

/// A stiff general system with relative errors.
const fn stiff(title: &'static str, name: &'static str, atol: f64) -> PeerProblem {
    PeerProblem {
        title,
        name,
        peers: STIFF,
        methods: GENERAL,
        atol,
        h0: 1e-2,
        exponents: (2, 13),
        floor: 0.0,
        trusted: 1e-12,
    }
}

/// A mechanism that is not stiff; its errors are absolute where a coordinate is smaller than one.
const fn motion(
    title: &'static str,
    name: &'static str,
    peers: &'static [(&'static str, &'static [&'static str])],
) -> PeerProblem {
    let (methods, exponents) = (MOTION, (2, 12));
    PeerProblem { title, name, peers, methods, atol: 1.0, h0: 1e-2, exponents, floor: 1.0, trusted: 1e-12 }
}

/// All of them.
pub const PROBLEMS: [PeerProblem; 16] = [
    motion(
        "Andrews",
        "andrews",
        &[
            ("radau5", &["index3", "index1"]),
            ("radau", &["index3", "index1"]),
            ("rodas", &["index1"]),
            ("daspk", &["index1"]),
        ],
    ),
    motion("Andrews as an ODE, 13 × 13 solved", "andrews", &[("dop853", &["saddle"])]),
    motion("Andrews as an ODE, loops closed by hand", "andrews", &[("dop853", &["loops"])]),
    motion(
        "car axis",
        "car-axis",
        &[("radau5", &["index3", "ggl"]), ("radau", &["index3", "ggl"]), ("daspk", &["ggl"])],
    ),
    motion(
        "pendulum",
        "pendulum",
        &[
            ("radau5", &["index3", "ggl", "index1"]),
            ("radau", &["index3", "ggl", "index1"]),
            ("rodas", &["index1"]),
            ("daspk", &["ggl", "index1"]),
        ],
    ),
    stiff("HIRES", "hires", 1.0),
    stiff("Oregonator", "oregonator", 1.0),
    stiff("pollution", "pollution", 1.0),
    stiff("Robertson", "robertson", 1e-6),
    stiff("transistor amplifier", "transistor-amplifier", 1.0),
    stiff("van der Pol", "van-der-pol", 1.0),
    PeerProblem {
        h0: 1e-5,
        floor: 1.0,
        exponents: (2, 11),
        trusted: 1e-11,
        ..stiff("medical Akzo Nobel", "medical-akzo-nobel", 1.0)
    },
    PeerProblem {
        atol: 1e-4,
        floor: 0.0,
        trusted: 2e-10,
        exponents: (2, 11),
        ..motion(
            "flexible slider crank",
            "flexible-slider-crank",
            &[
                ("radau5", &["index3", "index2", "index1"]),
                ("radau", &["index3", "index2", "index1"]),
                ("rodas", &["index1"]),
                ("daspk", &["index2", "index1"]),
            ],
        )
    },
    PeerProblem {
        atol: 1e-2,
        floor: 0.0,
        trusted: 1e-6,
        exponents: (3, 9),
        methods: &[
            OwnMethod::new("geoms").variable(),
            OwnMethod::new("radau").on("ggl"),
            OwnMethod::new("bdf").on("ggl"),
        ],
        ..motion("wheelset", "wheelset", STIFF)
    },
    PeerProblem {
        methods: &[OwnMethod::new("dopri5"), OwnMethod::new("dop853")],
        ..motion("Pleiades", "pleiades", &[("dop853", &["-"])])
    },
    stiff("E5", "e5", 1e-20),
];

impl PeerProblem {
    /// Relative tolerances of the ladder.
    pub fn tolerances(&self) -> Vec<f64> {
        let halves = 2 * self.exponents.0..=2 * self.exponents.1;
        halves.map(|k| 10f64.powf(-f64::from(k) / 2.0)).collect()
    }

    /// The model file.
    pub fn file(&self) -> PathBuf {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let file = format!("{}.toml", self.name);
        let own = here.join("peers").join(&file);
        if own.exists() { own } else { here.join("../../models").join(file) }
    }

    /// What is compared with which values.
    pub fn compared(&self) -> Vec<Compared> {
        let lines = include_str!("../../peers/reference.txt").lines().map(|line| line.split_whitespace());
        let rows = lines.map(Iterator::collect::<Vec<&str>>).filter(|row| row.first() == Some(&self.name));
        rows.map(|row| Compared {
            variable: row[1].to_string(),
            place: row[2].parse::<usize>().expect("a place") - 1,
            value: row[3].parse().expect("a value"),
        })
        .collect()
    }

    /// The largest error of components that stand in the order of [`compared`](Self::compared); none if there is no number.
    pub fn error(&self, compared: &[Compared], values: &[f64]) -> Option<f64> {
        let error = |(one, value): (&Compared, &f64)| (value - one.value).abs() / one.value.abs().max(self.floor);
        let largest = compared.iter().zip(values).map(error).try_fold(0.0, |most: f64, error| {
            // a NaN is no error that could be compared
            error.is_finite().then(|| most.max(error))
        })?;
        Some(largest.max(f64::EPSILON / 16.0))
    }
}
