//! A model file with its control loop closed: every input u becomes a formula of states, with a parameter `u_w` for what is added to it. Only the
//! places that change are written anew; everything else stays as its author wrote it.

use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A law for one input, in one mode or in the whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlLaw {
    /// The mode, in a file with modes.
    pub mode: Option<String>,
    /// The input.
    pub input: String,
    /// Is the input a state, and the law an equation?
    pub is_state: bool,
    /// u without the parameter that is added.
    pub formula: String,
}

/// Why a file was not written anew.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotClosed {
    /// An entry of an array.
    #[error("the input {0} is an entry of an array: write a parameter of its own for it")]
    Indexed(String),
    /// A state of a model with modes.
    #[error("the input {0} is a state, and the model has modes: make it a parameter")]
    StateWithModes(String),
    /// A place that is not found.
    #[error("{0} is not found where it should stand in the file")]
    NotFound(String),
}

/// The text of the closed loop.
///
/// ```
/// use daedal_model::{ControlLaw, closed_loop};
/// let text = "[parameters]\nu = 0\n[dae]\nstates = [\"x\"]\nequations = [\"der(x) = u\"]\n[control]\ninputs = [\"u\"]\n";
/// let law = ControlLaw { mode: None, input: "u".into(), is_state: false, formula: "-2*x".into() };
/// let closed = closed_loop(text, &[law]).unwrap();
/// assert!(closed.contains("u_w = 0\n") && closed.contains("u = \"u_w - 2*x\"") && closed.contains("inputs = [\"u_w\"]"));
/// ```
pub fn closed_loop(text: &str, laws: &[ControlLaw]) -> Result<String, NotClosed> {
    let missing = |what: &str| NotClosed::NotFound(what.to_string());
    let root = DeTable::parse(text).map_err(|_| missing("a table"))?;
    let root = root.get_ref();
    let mut edits = Edits { text, all: Vec::new(), appended: String::new() };
    let mut renamed: Vec<&str> = Vec::new();
    for law in laws {
        if law.input.contains('[') {
            return Err(NotClosed::Indexed(law.input.clone()));
        }
        let added = added(text, &law.input);
        let formula = joined(&added, &law.formula);
        if !renamed.contains(&law.input.as_str()) {
            renamed.push(&law.input);
            edits.rename_input(root, &law.input, &added)?;
            if law.is_state {
                edits.declare(root, "parameters", &format!("{added} = 0"));
            } else {
                edits.rename_parameters(root, &law.input, &added);
            }
        }
        match (&law.mode, law.is_state) {
            (Some(_), true) => return Err(NotClosed::StateWithModes(law.input.clone())),
            (None, true) => edits.add_equation(root, &law.input, &formula)?,
            (None, false) => edits.declare(root, "definitions", &format!("{} = \"{formula}\"", law.input)),
            (Some(mode), false) => edits.define_in_mode(root, mode, &law.input, &formula)?,
        }
    }
    Ok(edits.applied())
}

/// w + formula, with the sign of its first term.
fn joined(added: &str, formula: &str) -> String {
    match formula.strip_prefix('-') {
        Some(rest) => format!("{added} - {rest}"),
        None => format!("{added} + {formula}"),
    }
}

/// A name that does not occur yet.
fn added(text: &str, input: &str) -> String {
    let mut name = format!("{input}_w");
    while text.contains(&name) {
        name.push('w');
    }
    name
}

/// The text of a file that is to stand in another folder: tables that it reads from files are named by the folder it was written for.
///
/// ```
/// let text = "[tables.road]\nfile = \"road.csv\"\n";
/// let moved = daedal_model::with_tables_of(text, std::path::Path::new("/data"));
/// assert_eq!(moved, "[tables.road]\nfile = \"/data/road.csv\"\n");
/// ```
pub fn with_tables_of(text: &str, folder: &Path) -> String {
    let mut edits = Edits { text, all: Vec::new(), appended: String::new() };
    let root = DeTable::parse(text).ok();
    let tables = root.as_ref().and_then(|root| table(root.get_ref(), "tables"));
    for (_, entry) in tables.iter().flat_map(|(_, _, tables)| tables.iter()) {
        let file = entry.get_ref().as_table().and_then(|entry| entry.get("file"));
        if let Some((span, file)) = file.and_then(|file| Some((file.span(), file.get_ref().as_str()?))) {
            let whole = folder.join(file).display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            edits.all.push((span.start, span.end, format!("\"{whole}\"")));
        }
    }
    edits.applied()
}

struct Edits<'t> {
    text: &'t str,
    /// begin, end, new text
    all: Vec<(usize, usize, String)>,
    appended: String,
}

fn table<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(usize, &'t Spanned<DeValue<'i>>, &'t DeTable<'i>)> {
    let (key, value) = table.get_key_value(key)?;
    Some((key.span().start, value, value.get_ref().as_table()?))
}

impl Edits<'_> {
    fn is_inline(&self, value: &Spanned<DeValue>) -> bool {
        self.text[value.span().start..].starts_with('{')
    }

    /// A line into a table, which is begun if it is not there.
    fn declare(&mut self, root: &DeTable, name: &str, line: &str) {
        match table(root, name) {
            None => {
                let header = format!("\n[{name}]\n");
                if !self.appended.contains(&header) {
                    self.appended.push_str(&header);
                }
                self.appended.extend([line, "\n"]);
            }
            Some((at, value, _)) => self.insert(at, value, line),
        }
    }

    /// A line at the begin of a table.
    fn insert(&mut self, key: usize, value: &Spanned<DeValue>, line: &str) {
        if self.is_inline(value) {
            let at = value.span().start + 1;
            let is_empty = matches!(value.get_ref(), DeValue::Table(table) if table.is_empty());
            self.all.push((at, at, format!(" {line}{}", if is_empty { " " } else { "," })));
        } else {
            let at = self.text[key..].find('\n').map_or(self.text.len(), |end| key + end);
            self.all.push((at, at, format!("\n{line}")));
        }
    }

    /// In the list of inputs.
    fn rename_input(&mut self, root: &DeTable, input: &str, added: &str) -> Result<(), NotClosed> {
        let inputs = table(root, "control").and_then(|(_, _, control)| control.get("inputs"));
        let items = inputs.and_then(|inputs| inputs.get_ref().as_array());
        let item = items.and_then(|items| items.iter().find(|item| item.get_ref().as_str() == Some(input)));
        let span = item.ok_or_else(|| NotClosed::NotFound(format!("the input {input}")))?.span();
        self.all.push((span.start, span.end, format!("\"{added}\"")));
        Ok(())
    }

    /// In all tables of parameters.
    fn rename_parameters(&mut self, root: &DeTable, input: &str, added: &str) {
        let mut tables: Vec<&DeTable> = table(root, "parameters").map(|(_, _, table)| table).into_iter().collect();
        if let Some((_, _, modes)) = table(root, "modes") {
            let modes = modes.iter().filter_map(|(_, mode)| mode.get_ref().as_table());
            tables.extend(modes.filter_map(|mode| table(mode, "parameters").map(|(_, _, table)| table)));
        }
        for table in tables {
            if let Some((key, _)) = table.get_key_value(input) {
                self.all.push((key.span().start, key.span().end, added.to_string()));
            }
        }
    }

    fn add_equation(&mut self, root: &DeTable, input: &str, formula: &str) -> Result<(), NotClosed> {
        let missing = || NotClosed::NotFound("the list of equations".into());
        let (_, _, dae) = table(root, "dae").ok_or_else(missing)?;
        let (key, value) = dae.get_key_value("equations").ok_or_else(missing)?;
        if value.get_ref().is_array() {
            let at = value.span().start + 1;
            self.all.push((at, at, format!("\"{input} = {formula}\", ")));
        } else {
            self.insert(key.span().start, value, &format!("law_of_{input} = \"{input} = {formula}\""));
        }
        Ok(())
    }

    fn define_in_mode(&mut self, root: &DeTable, mode: &str, input: &str, formula: &str) -> Result<(), NotClosed> {
        let missing = || NotClosed::NotFound(format!("the mode {mode}"));
        let (_, _, modes) = table(root, "modes").ok_or_else(missing)?;
        let (_, value, own) = table(modes, mode).ok_or_else(missing)?;
        let line = format!("{input} = \"{formula}\"");
        match table(own, "definitions") {
            Some((at, value, _)) => self.insert(at, value, &line),
            None if self.is_inline(value) => {
                let at = value.span().start + 1;
                self.all.push((at, at, format!(" definitions = {{ {line} }},")));
            }
            None => {
                let bare = mode.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let key = if bare { mode.to_string() } else { format!("{mode:?}") };
                let header = format!("\n[modes.{key}.definitions]\n");
                if !self.appended.contains(&header) {
                    self.appended.push_str(&header);
                }
                self.appended.extend([line.as_str(), "\n"]);
            }
        }
        Ok(())
    }

    fn applied(mut self) -> String {
        self.all.sort_by_key(|(begin, end, _)| (*begin, *end));
        let mut text = String::new();
        let mut at = 0;
        for (begin, end, new) in &self.all {
            text.push_str(&self.text[at..*begin]);
            text.push_str(new);
            at = *end;
        }
        text.push_str(&self.text[at..]);
        if !self.appended.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text + &self.appended
    }
}
