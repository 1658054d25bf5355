//! Which curves stand together in which plot, and the data of the page.

use crate::decimate::Buckets;
use crate::number::Number;
use crate::page::bands::{Bands, bands};
use crate::page::portrait::{self, Portrait, portrait};
use crate::page::text::{escape, level_name};
use crate::run::{Column, ColumnKind, Run, StepRecords};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Write;

/// Most points of a curve on a page.
const MOST_ROWS: usize = 20_000;
/// Most numbers on a page: beyond, curves have fewer points, so that a page of hundreds of curves can still be opened.
const MOST_VALUES: usize = 500_000;
/// But no fewer points than this for each curve.
const LEAST_ROWS: usize = 2_000;

/// Most points of a curve over another column.
const MOST_OF_A_WAY: usize = 5_000;

/// A jump by less than this part of the range of a curve is not seen: half a pixel in a picture of 500.
const VISIBLE: f64 = 1e-3;

/// All that is drawn on a page.
#[derive(Serialize)]
pub struct PageDrawing {
    /// times that curves share: those of the points, those of the steps
    tables: Vec<SharedTimes>,
    plots: Vec<Plot>,
    /// one column over another
    ways: Vec<Way>,
    /// times of events
    events: Vec<PlotValue>,
    /// modes behind the plots, if there are several
    bands: Option<Bands>,
    portrait: Option<Portrait>,
}

#[derive(Serialize)]
struct SharedTimes {
    t: Vec<PlotValue>,
    /// number of points before the reduction; absent if there was none
    reduced_from: Option<usize>,
    #[serde(skip)]
    buckets: Buckets,
}

#[derive(Serialize)]
struct Plot {
    id: Cow<'static, str>,
    title: Cow<'static, str>,
    /// title of the vertical axis
    axis: String,
    table: usize,
    scale: AxisScale,
    shape: Joining,
    #[serde(skip)]
    folded: Folded,
    curves: Vec<PlotCurve>,
}

/// Columns over another one than time.
#[derive(Serialize)]
struct Way {
    id: String,
    title: String,
    /// title of the vertical axis
    axis: String,
    /// title of the horizontal axis
    across: String,
    t: Vec<PlotValue>,
    x: Vec<PlotValue>,
    curves: Vec<PlotCurve>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum AxisScale {
    Linear,
    /// Whole numbers.
    Counts,
    Logarithmic,
}

/// How points are joined.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Joining {
    /// By straight lines.
    Line,
    /// A value holds over the step that ends at its time.
    Steps,
    /// Not at all: residuals jump around rounding.
    Points,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Folded {
    Open,
    Closed,
}

#[derive(Serialize)]
struct PlotCurve {
    name: String,
    /// the name of its column, which may have no unit
    #[serde(skip)]
    column: String,
    values: Vec<PlotValue>,
}

/// A number of a curve; what is not finite is a gap.
pub struct PlotValue(pub f64);

impl Serialize for PlotValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { Number(self.0).serialize(serializer) } else { serializer.serialize_none() }
    }
}

/// Kinds that share a plot: its name in the page, its title, the quantity of its axis.
const GROUPS: [(&str, &str, &str, &[ColumnKind]); 11] = [
    ("outputs", "Outputs", "value", &[ColumnKind::Output]),
    ("energy", "Energy", "energy", &[ColumnKind::Output]),
    ("momentum", "Momentum", "momentum", &[ColumnKind::Output]),
    ("states", "States", "state", &[ColumnKind::State]),
    ("positions", "Positions", "position", &[ColumnKind::Position]),
    ("velocities", "Velocities", "velocity", &[ColumnKind::Velocity]),
    ("further", "Further variables", "value", &[ColumnKind::Dynamic, ColumnKind::Auxiliary, ColumnKind::Contact]),
    ("variables", "Variables", "value", &[ColumnKind::Variable]),
    ("multipliers", "Multipliers", "multiplier", &[ColumnKind::Multiplier]),
    ("accelerations", "Accelerations", "acceleration", &[ColumnKind::Acceleration]),
    ("derivatives", "Derivatives of states", "derivative", &[ColumnKind::Derivative]),
];

/// The group of what every model of bodies has beside the outputs of its file.
pub fn balance(column: &Column) -> Option<&'static str> {
    let (what, _) = column.name.split_once('.').filter(|_| column.kind == ColumnKind::Output)?;
    match what {
        "energy" => Some("energy"),
        "momentum" | "angular_momentum" => Some("momentum"),
        _ => None,
    }
}

/// A jump is drawn as a jump: between the two points of one time that a curve has at a switch there is a gap, if they can be told apart.
/// Over time that is a line straight up, in the portrait the curve is torn.
fn torn(run: &Run) -> Cow<'_, Run> {
    let doubled = |k: usize| k + 1 < run.times.len() && run.times[k] == run.times[k + 1];
    if run.hybrid.is_none() || !(0..run.times.len()).any(doubled) {
        return Cow::Borrowed(run);
    }
    let widened = |values: &[f64], between: &dyn Fn(f64, f64) -> f64| {
        let mut widened = Vec::with_capacity(values.len());
        for (k, &value) in values.iter().enumerate() {
            widened.push(value);
            if doubled(k) {
                widened.push(between(value, values[k + 1]));
            }
        }
        widened
    };
    let mut torn = run.clone();
    torn.times = widened(&run.times, &|t, _| t);
    for (column, of) in torn.columns.iter_mut().zip(&run.columns) {
        let finite = || of.values.iter().copied().filter(|x| x.is_finite());
        let range = finite().fold(f64::NEG_INFINITY, f64::max) - finite().fold(f64::INFINITY, f64::min);
        let is_mode = of.kind == ColumnKind::Mode;
        let jumps = |x: f64, y: f64| !is_mode && (y - x).abs() > VISIBLE * range;
        column.values = widened(&of.values, &|x, y| if jumps(x, y) { f64::NAN } else { x });
    }
    Cow::Owned(torn)
}

/// A run backward in the order of time: curves are drawn from left to right.
fn from_left_to_right(run: &Run) -> Cow<'_, Run> {
    if run.times.first() <= run.times.last() {
        return Cow::Borrowed(run);
    }
    let mut turned = run.clone();
    turned.times.reverse();
    turned.columns.iter_mut().for_each(|column| column.values.reverse());
    turned.events.reverse();
    if let Some(steps) = &mut turned.steps {
        let StepRecords { t, h, order, newton, position, velocity, acceleration, invariant, constraint, hidden } =
            steps;
        let levels = [position, velocity, acceleration, invariant, constraint, hidden];
        for list in [t, h].into_iter().chain(levels.into_iter().flatten()) {
            list.reverse();
        }
        if let Some(order) = order {
            order.reverse();
        }
        if let Some(newton) = newton {
            newton.reverse();
        }
    }
    Cow::Owned(turned)
}

/// The plots of a run.
pub fn plots(run: &Run) -> PageDrawing {
    let run = &*from_left_to_right(run);
    let run = &*torn(run);
    let mut page = PageDrawing {
        tables: Vec::new(),
        plots: Vec::new(),
        ways: Vec::new(),
        events: run.events.iter().map(|e| PlotValue(e.t)).collect(),
        bands: run.hybrid.as_ref().map(bands),
        portrait: None,
    };
    if run.times.len() > 1 {
        variables(run, &mut page);
        page.portrait = portrait(run, &page);
    }
    steps(run, &mut page);
    page
}

fn variables(run: &Run, page: &mut PageDrawing) {
    let table = page.table(run, &run.times, run.columns.len());
    chosen(run, page, table);
    let asked_for = run.plots.iter().any(|plot| plot.x.is_none());
    for (id, title, quantity, kinds) in GROUPS {
        // a mode that was never active leaves its variables without values
        let empty = |column: &&Column| run.hybrid.is_some() && column.values.iter().all(|x| x.is_nan());
        let of_group = |column: &&Column| match balance(column) {
            Some(group) => group == id,
            None => !["energy", "momentum"].contains(&id) && kinds.contains(&column.kind),
        };
        let columns: Vec<_> = run.columns.iter().filter(of_group).filter(|column| !empty(column)).collect();
        if columns.is_empty() {
            continue;
        }
        let (axis, names) = titles_of(&columns, quantity);
        // who asks for plots of his own finds the others folded
        let last = ["accelerations", "momentum"].contains(&id);
        let folded = if last || asked_for { Folded::Closed } else { Folded::Open };
        let curves = columns.iter().zip(names).map(|(column, name)| PlotCurve {
            name,
            column: column.name.clone(),
            values: page.tables[table].values(&column.values),
        });
        let curves = curves.collect();
        page.plots.push(Plot {
            id: id.into(),
            title: title.into(),
            axis,
            table,
            scale: AxisScale::Linear,
            shape: Joining::Line,
            folded,
            curves,
        });
    }
}

/// Title of the vertical axis, and the names of the curves with their units where these differ.
fn titles_of(columns: &[&Column], quantity: &str) -> (String, Vec<String>) {
    let unit = columns[0].unit.as_deref();
    let shared = columns.iter().all(|column| column.unit.as_deref() == unit);
    let axis = match unit {
        Some(unit) if shared => format!("{quantity} ({unit})"),
        None if shared => format!("{quantity} (model units)"),
        _ => format!("{quantity} (units in the legend)"),
    };
    let name = |column: &&Column| match &column.unit {
        Some(unit) if !shared => format!("{} ({unit})", column.name),
        _ => column.name.clone(),
    };
    (axis, columns.iter().map(name).collect())
}

/// The plots that the model asks for, as far as the run has their curves.
fn chosen(run: &Run, page: &mut PageDrawing, table: usize) {
    for (k, plot) in run.plots.iter().enumerate() {
        let find = |name: &String| run.columns.iter().find(|column| column.name == *name);
        let columns: Vec<&Column> = plot.curves.iter().filter_map(find).collect();
        if columns.is_empty() {
            continue;
        }
        let quantity = if columns.len() == 1 { columns[0].name.as_str() } else { "value" };
        let (axis, names) = titles_of(&columns, quantity);
        let (id, title) = (format!("chosen-{k}"), plot.title.clone());
        let curve = |(column, name): (&&Column, String), values: Vec<PlotValue>| PlotCurve {
            name,
            column: column.name.clone(),
            values,
        };
        let named = columns.iter().zip(names);
        match &plot.x {
            None => {
                let table_of = &page.tables[table];
                let curves = named
                    .map(|of| {
                        let values = table_of.values(&of.0.values);
                        curve(of, values)
                    })
                    .collect();
                let (scale, shape, folded) = (AxisScale::Linear, Joining::Line, Folded::Open);
                page.plots.push(Plot { id: id.into(), title: title.into(), axis, table, scale, shape, folded, curves });
            }
            Some(x) => {
                let Some(across) = find(x) else { continue };
                let stride = run.times.len().div_ceil(MOST_OF_A_WAY);
                let kept = |values: &[f64]| -> Vec<PlotValue> {
                    values.iter().step_by(stride).map(|&x| PlotValue(x)).collect()
                };
                let curves = named
                    .map(|of| {
                        let values = kept(&of.0.values);
                        curve(of, values)
                    })
                    .collect();
                let unit = across.unit.as_deref().unwrap_or("model units");
                let (t, x, across) = (kept(&run.times), kept(&across.values), format!("{} ({unit})", across.name));
                page.ways.push(Way { id, title, axis, across, t, x, curves });
            }
        }
    }
}

fn steps(run: &Run, page: &mut PageDrawing) {
    let Some(steps) = run.steps.as_ref().filter(|steps| !steps.t.is_empty()) else { return };
    let count = 3 + steps.levels().iter().filter(|(_, residuals)| residuals.is_some()).count();
    let table = page.table(run, &steps.t, count);
    let curve = |page: &PageDrawing, name: &str, values: &[f64]| PlotCurve {
        name: name.to_string(),
        column: name.to_string(),
        values: page.tables[table].values(values),
    };
    let h = vec![curve(page, "step size", &steps.h)];
    let mut work = Vec::new();
    if let Some(order) = &steps.order {
        let orders: Vec<f64> = order.iter().map(|&order| f64::from(order)).collect();
        work.push(curve(page, "order", &orders));
    }
    if let Some(newton) = &steps.newton {
        let iterations: Vec<f64> = newton.iter().map(|&count| count as f64).collect();
        work.push(curve(page, "Newton iterations", &iterations));
    }
    let residuals: Vec<PlotCurve> = steps
        .levels()
        .into_iter()
        .filter_map(|(level, residuals)| {
            let name = level_name(level, run.header.formulation.as_deref());
            Some(curve(page, &name, residuals?))
        })
        .collect();
    let plot = |id: &'static str, title: &'static str, axis: &str, scale, shape, curves| Plot {
        id: id.into(),
        title: title.into(),
        axis: axis.to_string(),
        table,
        scale,
        shape,
        folded: Folded::Open,
        curves,
    };
    page.plots.push(plot(
        "step-size",
        "Step size",
        "step size (units of t)",
        AxisScale::Logarithmic,
        Joining::Steps,
        h,
    ));
    let title = match (steps.order.is_some(), steps.newton.is_some()) {
        (true, true) => "Order and Newton iterations",
        (true, false) => "Order",
        (false, _) => "Newton iterations",
    };
    if !work.is_empty() {
        page.plots.push(plot("order", title, "number per step", AxisScale::Counts, Joining::Steps, work));
    }
    if !residuals.is_empty() {
        let axis = "largest residual (model units)";
        let title = "Residuals of the constraints";
        page.plots.push(plot("residuals", title, axis, AxisScale::Logarithmic, Joining::Points, residuals));
    }
}

impl PageDrawing {
    /// Do curves over the points of the run leave points out?
    pub fn is_reduced(&self) -> bool {
        self.tables.first().is_some_and(|table| table.reduced_from.is_some())
    }

    /// Where the plots of the steps begin.
    fn first_of_steps(&self) -> usize {
        self.plots.iter().position(|plot| plot.id == "step-size").unwrap_or(self.plots.len())
    }

    /// Plot and place of the curve of a column.
    pub fn curve(&self, name: &str, kind: ColumnKind) -> Option<(usize, usize)> {
        let (id, ..) = GROUPS.iter().find(|(.., kinds)| kinds.contains(&kind))?;
        let plot = self.plots.iter().position(|plot| plot.id == *id)?;
        self.plots[plot].curves.iter().position(|curve| curve.column == name).map(|curve| (plot, curve))
    }

    /// Times that so many curves share.
    fn table(&mut self, run: &Run, times: &[f64], curves: usize) -> usize {
        let most = (MOST_VALUES / curves.max(1)).clamp(LEAST_ROWS, MOST_ROWS);
        let buckets = match run.hybrid {
            Some(_) => Buckets::crowded(times, most),
            None => Buckets::new(times.len(), most),
        };
        let t = buckets.times(times).into_iter().map(PlotValue).collect();
        self.tables.push(SharedTimes { t, reduced_from: buckets.reduces().then_some(times.len()), buckets });
        self.tables.len() - 1
    }
}

impl SharedTimes {
    fn values(&self, values: &[f64]) -> Vec<PlotValue> {
        self.buckets.values(values).into_iter().map(PlotValue).collect()
    }
}

/// The places of the plots in the page: what the model asks for first, the portrait last.
pub fn sections(plots: &PageDrawing) -> String {
    let (asked_for, others): (Vec<&Plot>, Vec<&Plot>) =
        plots.plots[..plots.first_of_steps()].iter().partition(|plot| plot.id.starts_with("chosen"));
    let mut html = places(plots, asked_for);
    for way in &plots.ways {
        let (id, title) = (&way.id, escape(&way.title));
        let _ = writeln!(
            html,
            "<details class=\"plot way\" id=\"{id}\" open><summary><h2>{title}</h2></summary><figure></figure></details>"
        );
    }
    html.push_str(&places(plots, others));
    html.push_str(&portrait::section(plots.portrait.as_ref()));
    html
}

/// The places of the plots of the steps.
pub fn bookkeeping(plots: &PageDrawing) -> String {
    places(plots, plots.plots[plots.first_of_steps()..].iter().collect())
}

fn places(plots: &PageDrawing, of: Vec<&Plot>) -> String {
    let mut html = String::new();
    for plot in of {
        let open = if plot.folded == Folded::Open { " open" } else { "" };
        let count = match plot.curves.len() {
            1 => "1 curve".to_string(),
            n => format!("{n} curves"),
        };
        let _ = writeln!(
            html,
            "<details class=\"plot\" id=\"{}\"{open}><summary><h2>{}</h2><span class=\"count\">{count}</span></summary>",
            plot.id,
            escape(&plot.title)
        );
        let table = &plots.tables[plot.table];
        if let Some(before) = table.reduced_from {
            let _ = writeln!(
                html,
                "<p class=\"note\">{before} points are drawn as {}: of each group of neighbours the first, smallest, largest and \
                 last value of every curve. The run file has them all.</p>",
                table.t.len()
            );
        }
        html.push_str("<figure></figure></details>\n");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::ModeHistory;
    use crate::run::{ChosenPlot, StepRecords};

    fn run(points: usize, curves: usize) -> Run {
        let times: Vec<f64> = (0..points).map(|k| k as f64).collect();
        let column = |j: usize| {
            Column::new(format!("x{j}"), ColumnKind::Position, times.iter().map(|t| (t * 0.7).sin()).collect())
        };
        Run { columns: (0..curves).map(column).collect(), times, ..Run::default() }
    }

    fn titles(plots: &PageDrawing) -> Vec<&str> {
        plots.plots.iter().map(|plot| &*plot.title).collect()
    }

    #[test]
    fn kinds_stand_in_their_plots() {
        let mut run = run(3, 1);
        let kinds = [
            ColumnKind::Velocity,
            ColumnKind::Contact,
            ColumnKind::Dynamic,
            ColumnKind::Output,
            ColumnKind::Multiplier,
            ColumnKind::Acceleration,
        ];
        run.columns.extend(kinds.map(|kind| Column::new(kind.word(), kind, vec![0.0; 3])));
        let plots = plots(&run);
        let expected = ["Outputs", "Positions", "Velocities", "Further variables", "Multipliers", "Accelerations"];
        assert_eq!(titles(&plots), expected);
        assert_eq!(plots.plots[3].curves.len(), 2);
        assert!(sections(&plots).contains("id=\"accelerations\"><summary>"), "accelerations are folded at first");
        assert!(sections(&plots).contains("id=\"positions\" open><summary>"));
    }

    #[test]
    fn balances_stand_in_plots_of_their_own() {
        let mut run = run(3, 1);
        let names = ["angle", "energy.total", "momentum.x", "angular_momentum.z"];
        run.columns.extend(names.map(|name| Column::new(name, ColumnKind::Output, vec![0.0; 3])));
        let plots = plots(&run);
        assert_eq!(titles(&plots), ["Outputs", "Energy", "Momentum", "Positions"]);
        assert_eq!(plots.plots.iter().map(|plot| plot.curves.len()).collect::<Vec<_>>(), [1, 1, 2, 1]);
    }

    #[test]
    fn plots_that_are_asked_for_come_first_and_the_others_are_folded() {
        let mut run = run(3, 2);
        run.columns[0].unit = Some("m".into());
        let plot = |title: &str, x: Option<&str>| ChosenPlot {
            title: title.into(),
            x: x.map(String::from),
            curves: vec!["x0".into(), "absent".into()],
        };
        run.plots = vec![plot("way", Some("x1")), plot("heights", None), plot("nowhere", Some("absent"))];
        let plots = plots(&run);
        assert_eq!(titles(&plots), ["heights", "Positions"]);
        assert_eq!((plots.plots[0].axis.as_str(), plots.ways.len()), ("x0 (m)", 1));
        assert_eq!((plots.ways[0].axis.as_str(), plots.ways[0].across.as_str()), ("x0 (m)", "x1 (model units)"));
        let html = sections(&plots);
        assert!(html.find("heights") < html.find("way") && html.find(">way<") < html.find("Positions"), "{html}");
        assert!(html.contains("id=\"positions\"><summary>"));
    }

    #[test]
    fn general_systems_have_plots_of_their_own() {
        let mut run = run(3, 0);
        run.columns = [("x", ColumnKind::State), ("x'", ColumnKind::Derivative)]
            .map(|(name, kind)| Column::new(name, kind, vec![0.0; 3]))
            .into();
        let steps = StepRecords { t: vec![1.0], h: vec![1.0], order: Some(vec![5]), ..StepRecords::default() };
        run.steps = Some(StepRecords { constraint: Some(vec![1e-9]), hidden: Some(vec![1e-8]), ..steps });
        let plots = plots(&run);
        let expected = ["States", "Derivatives of states", "Step size", "Order", "Residuals of the constraints"];
        assert_eq!(titles(&plots), expected);
        let names: Vec<&str> = plots.plots[4].curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["stated constraints", "hidden constraints"]);
        assert_eq!(level_name("hidden", Some("array")), "all constraints");
    }

    #[test]
    fn large_runs_are_reduced_and_say_so() {
        let small = plots(&run(20_000, 2));
        assert!(!sections(&small).contains("drawn as"));
        let large = plots(&run(100_000, 2));
        assert_eq!(large.plots[0].curves[0].values.len(), 20_000);
        assert!(sections(&large).contains("100000 points are drawn as 20000"));
        assert_eq!(plots(&run(5_000, 100)).plots[0].curves[0].values.len(), 5_000);
        assert_eq!(plots(&run(5_000, 400)).plots[0].curves[0].values.len(), 2_000);
    }

    #[test]
    fn jumps_at_switches_are_gaps_and_continuous_curves_go_on() {
        let columns = vec![
            Column::new("y", ColumnKind::Position, vec![1.0, 0.0, 0.0, 0.5]),
            Column::new("v", ColumnKind::Velocity, vec![0.0, -4.0, 2.0, 0.0]),
            Column::new("mode", ColumnKind::Mode, vec![0.0, 0.0, 1.0, 1.0]),
        ];
        let mut run = Run { times: vec![0.0, 1.0, 1.0, 2.0], columns, ..Run::default() };
        let data = |run: &Run| serde_json::to_string(&plots(run)).expect("text");
        assert!(data(&run).contains(r#""values":[0.0,-4.0,2.0,0.0]"#), "a table says nothing about switches");
        run.hybrid = Some(ModeHistory::default());
        let data = data(&run);
        for part in [r#""t":[0.0,1.0,1.0,1.0,2.0]"#, "[1.0,0.0,0.0,0.0,0.5]", "[0.0,-4.0,null,2.0,0.0]"] {
            assert!(data.contains(part), "{part} is missing in {data}");
        }
    }

    #[test]
    fn axes_name_units_where_they_are_known() {
        let mut run = run(3, 2);
        assert_eq!(plots(&run).plots[0].axis, "position (model units)");
        run.columns[0].unit = Some("m".into());
        let mixed = plots(&run);
        assert_eq!(mixed.plots[0].axis, "position (units in the legend)");
        assert_eq!(mixed.plots[0].curves[0].name, "x0 (m)");
        run.columns[1].unit = Some("m".into());
        assert_eq!(plots(&run).plots[0].axis, "position (m)");
    }

    #[test]
    fn steps_have_their_plots_and_only_levels_that_exist() {
        let steps = StepRecords {
            t: vec![1.0, 2.0],
            h: vec![1.0, 1.0],
            order: Some(vec![5, 5]),
            newton: None,
            position: Some(vec![0.0, f64::NAN]),
            ..StepRecords::default()
        };
        let run = Run { steps: Some(steps), ..Run::default() };
        let plots = plots(&run);
        assert_eq!(titles(&plots), ["Step size", "Order", "Residuals of the constraints"]);
        assert_eq!(plots.plots[2].curves.len(), 1);
        let data = serde_json::to_string(&plots).expect("text");
        assert!(data.contains(r#""values":[0.0,null]"#), "{data}");
    }
}
