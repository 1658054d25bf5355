//! Modes and the table of switches.

use crate::hybrid::{ModeHistory, SwitchRecord};
use crate::page::text::{card, escape, grouped, table};
use crate::run::Run;
use std::fmt::Write;

/// Rows that are shown at first.
const FIRST: usize = 50;
/// Most rows of a page.
const MOST: usize = 2_000;

/// How often and how long each mode was active.
pub fn modes(run: &Run) -> String {
    let Some(hybrid) = &run.hybrid else { return String::new() };
    let shares = hybrid.shares();
    let whole: f64 = shares.iter().map(|share| share.time).sum();
    let rows = hybrid.modes.iter().zip(&shares).map(|(mode, share)| {
        let told = mode.sliding && !mode.name.contains("(sliding)");
        let name = if told { format!("{} (sliding)", mode.name) } else { mode.name.clone() };
        let part = if whole > 0.0 { format!("{:.1}\u{202f}%", 100.0 * share.time / whole) } else { "–".to_string() };
        let steps = mode.steps.map_or("–".to_string(), grouped);
        vec![name, share.entered.to_string(), digits(share.time, 6), part, steps]
    });
    let mut html = table(&["mode", "entered", "time", "part", "steps"], rows);
    let decisions = hybrid.modes.iter().filter_map(|mode| Some(vec![mode.name.clone(), mode.decisions.clone()?]));
    let decisions: Vec<_> = decisions.collect();
    if !decisions.is_empty() {
        let _ = write!(
            html,
            "<details class=\"more\"><summary>Decided by the methods</summary>{}</details>",
            table(&[], decisions.into_iter())
        );
    }
    if hybrid.modes.windows(2).any(|pair| pair[0].unknowns != pair[1].unknowns) {
        html.push_str("<p class=\"note\">A variable that the active mode does not have is a gap in its curve.</p>");
    }
    card("Modes", &html)
}

/// The switches, the first rows shown and the others behind a button; of very many only some.
pub fn switches(run: &Run) -> String {
    let Some(hybrid) = run.hybrid.as_ref().filter(|hybrid| !hybrid.switches.is_empty()) else { return String::new() };
    let all = &hybrid.switches;
    let told = selected(all);
    let jumps = all.iter().any(|switch| !switch.jumps.is_empty());
    let impulses = all.iter().any(|switch| switch.all_impulses().next().is_some());
    let mut heads = vec!["t", "from", "to", "condition", "kind", "state"];
    heads.extend(jumps.then_some("jumps"));
    heads.extend(impulses.then_some("impulses"));
    let mut html = String::new();
    let chattering = all.iter().filter(|switch| switch.chattering).count();
    let count = match (all.len(), chattering) {
        (1, _) => "1 switch".to_string(),
        (n, 0) => format!("{} switches", grouped(n as u64)),
        (n, some) => format!("{} switches, {} of them chattering", grouped(n as u64), grouped(some as u64)),
    };
    let _ = write!(html, "<p class=\"note\">{count}");
    if told.len() < all.len() {
        let which = if chattering > 0 { "chattering ones left out first" } else { "the first ones" };
        let _ = write!(html, ". This page lists {}, {which}; the run file has them all", told.len());
    }
    html.push_str("</p>\n");
    if told.len() > FIRST || told.iter().any(|switch| switch.chattering) {
        // the script shows what it can do
        html.push_str("<div class=\"tools\" hidden></div>\n");
    }
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table of switches\"><table><thead><tr>",
    );
    for head in &heads {
        let _ = write!(html, "<th scope=\"col\">{head}</th>");
    }
    html.push_str("</tr></thead><tbody>\n");
    for (k, switch) in told.iter().enumerate() {
        row(&mut html, hybrid, switch, k, (jumps, impulses));
    }
    html.push_str("</tbody></table></div>");
    format!("<section class=\"card\" id=\"switches\" data-first=\"{FIRST}\"><h2>Switches</h2>{html}</section>\n")
}

/// At most [`MOST`] switches: first of all those that are not chattering, then the first ones of the others.
fn selected(all: &[SwitchRecord]) -> Vec<&SwitchRecord> {
    if all.len() <= MOST {
        return all.iter().collect();
    }
    let calm = all.iter().filter(|switch| !switch.chattering).count().min(MOST);
    let (mut calm, mut chattering) = (calm, MOST - calm);
    let mut room = |switch: &SwitchRecord| {
        let left = if switch.chattering { &mut chattering } else { &mut calm };
        let taken = *left > 0;
        *left -= usize::from(taken);
        taken
    };
    all.iter().filter(|switch| room(switch)).collect()
}

fn row(html: &mut String, hybrid: &ModeHistory, switch: &SwitchRecord, k: usize, (jumps, impulses): (bool, bool)) {
    let class = if switch.chattering { " class=\"chattering\"" } else { "" };
    let hidden = if k < FIRST { "" } else { " hidden" };
    let name = |mode: usize| escape(&hybrid.modes[mode].name);
    let kind =
        if switch.chattering { format!("{}, chattering", switch.kind.word()) } else { switch.kind.word().into() };
    let _ = write!(
        html,
        "<tr{class}{hidden}><th scope=\"row\" class=\"number\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{kind}</td><td>{}</td>",
        digits(switch.t, 12),
        name(switch.from),
        name(switch.to),
        escape(&switch.condition),
        switch.smoothness.word()
    );
    if jumps {
        let told = switch
            .jumps
            .iter()
            .map(|jump| format!("{}: {} → {}", jump.name, digits(jump.before, 6), digits(jump.after, 6)));
        let _ = write!(html, "<td>{}</td>", escape(&told.collect::<Vec<_>>().join("\n")));
    }
    if impulses {
        let told = switch.all_impulses().map(|(name, order, factor)| {
            let delta = if order == 0 { String::new() } else { format!(" δ{}", "'".repeat(order)) };
            format!("{name}{delta}: {}", digits(factor, 6))
        });
        let _ = write!(html, "<td>{}</td>", escape(&told.collect::<Vec<_>>().join("\n")));
    }
    html.push_str("</tr>\n");
}

/// So many digits at most; a dash where there is no value.
fn digits(x: f64, most: i32) -> String {
    match x {
        x if x.is_nan() => "–".to_string(),
        0.0 => "0".to_string(),
        x if (1e-4..1e6).contains(&x.abs()) => {
            let behind = (most - 1 - x.abs().log10().floor() as i32).max(0) as usize;
            let text = format!("{x:.behind$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
        }
        x => format!("{x:.*e}", most as usize - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::{Continuity, ModeRecord, SwitchCause};

    fn switch(k: usize, chattering: bool) -> SwitchRecord {
        SwitchRecord {
            t: k as f64,
            from: 0,
            to: 1,
            condition: "v <= 0".into(),
            kind: SwitchCause::Condition,
            smoothness: Continuity::Smooth,
            jumps: Vec::new(),
            impulses: Vec::new(),
            higher_impulses: Vec::new(),
            restart: None,
            chattering,
        }
    }

    fn run(switches: Vec<SwitchRecord>) -> Run {
        let modes = ["slip", "stick"].map(|name| ModeRecord { name: name.into(), ..ModeRecord::default() }).to_vec();
        Run { hybrid: Some(ModeHistory { modes, switches, ..ModeHistory::default() }), ..Run::default() }
    }

    #[test]
    fn long_tables_show_their_first_rows() {
        let html = switches(&run((0..60).map(|k| switch(k, false)).collect()));
        assert_eq!((html.matches("<tr>").count(), html.matches("<tr hidden>").count()), (51, 10));
        assert!(html.contains("60 switches</p>"), "{html}");
    }

    #[test]
    fn of_very_many_switches_the_calm_ones_are_told_first() {
        let all: Vec<SwitchRecord> = (0..10_000).map(|k| switch(k, k % 100 != 0)).collect();
        let told = selected(&all);
        assert_eq!(told.len(), MOST);
        assert_eq!(told.iter().filter(|switch| !switch.chattering).count(), 100);
        assert!(told.windows(2).all(|pair| pair[0].t < pair[1].t));
        let html = switches(&run(all));
        assert!(html.contains("9\u{202f}900 of them chattering. This page lists 2000"), "{}", &html[..400]);
    }

    #[test]
    fn numbers_of_jumps_are_short() {
        let told = [0.0, 0.5, -1.0 / 3.0, 123_456.789, 1e-9, f64::NAN].map(|x| digits(x, 6));
        assert_eq!(told, ["0", "0.5", "-0.333333", "123457", "1.00000e-9", "–"]);
    }
}
