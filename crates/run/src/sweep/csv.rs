//! The runs of a sweep as a table of text: a row for every run, or for every run and time. First stand the number of the run, the parameters and the time, then the
//! columns, then how the run ended and why it did not go on. Cells of values that a run did not reach are empty.

use super::{Sweep, SweptRun};
use crate::error::WriteError;
use std::io::Write;

/// Write all runs.
pub fn write(sweep: &Sweep, file: impl Write) -> Result<(), WriteError> {
    let mut table = ::csv::Writer::from_writer(file);
    let names = sweep.parameters.iter().map(String::as_str);
    let columns = sweep.columns.iter().map(|(name, _)| name.as_str());
    let heads = ["run"].into_iter().chain(names).chain(["t"]).chain(columns).chain(["status", "message"]);
    table.write_record(heads).map_err(std::io::Error::from)?;
    for run in &sweep.runs {
        for point in 0..sweep.points() {
            table.write_record(row(sweep, run, point)).map_err(std::io::Error::from)?;
        }
    }
    Ok(table.flush()?)
}

fn row(sweep: &Sweep, run: &SweptRun, point: usize) -> Vec<String> {
    let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:?}") };
    let t = sweep.times.as_ref().map_or(run.t_end, |times| times[point]);
    let of = point * sweep.columns.len();
    let values = (0..sweep.columns.len()).map(|k| run.values.get(of + k).copied().unwrap_or(f64::NAN));
    let numbers = run.parameters.iter().copied().chain([t]).chain(values).map(number);
    let told = [run.status.word().to_string(), run.message.clone()];
    [run.number.to_string()].into_iter().chain(numbers).chain(told).collect()
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    fn text(sweep: &Sweep) -> String {
        let mut bytes = Vec::new();
        write(sweep, &mut bytes).expect("memory");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn ends_are_a_row_for_each_run() {
        let expected = "run,L,v0,t,x,steps,status,message\n\
                        0,0.5,0.0,5.0,0.0,1.0,end,\n\
                        1,0.5,1.0,2.5,10.0,11.0,failure,it stopped\n";
        assert_eq!(text(&example::sweep(None)), expected);
    }

    #[test]
    fn times_are_a_row_each_and_what_is_not_there_is_empty() {
        let mut sweep = example::sweep(Some(vec![0.0, 2.5]));
        sweep.runs[1].values[2] = f64::NAN;
        let text = text(&sweep);
        assert_eq!(text.lines().count(), 5);
        assert!(text.ends_with("1,0.5,1.0,2.5,,13.0,failure,it stopped\n"), "{text}");
    }
}
