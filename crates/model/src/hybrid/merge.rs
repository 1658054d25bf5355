//! Tables of a mode over those that all modes share. Places in the file are kept.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Keys of the mode replace those of the file.
pub(super) fn replaced<'i>(shared: Option<&DeTable<'i>>, own: Option<&DeTable<'i>>) -> DeTable<'i> {
    let mut table = shared.cloned().unwrap_or_default();
    for (key, value) in own.into_iter().flatten() {
        table.insert(key.clone(), value.clone());
    }
    table
}

/// `[motion]`: keys replace, tables are merged.
pub(super) fn motion<'i>(shared: Option<&DeTable<'i>>, own: Option<&DeTable<'i>>) -> DeTable<'i> {
    let mut table = shared.cloned().unwrap_or_default();
    for (key, value) in own.into_iter().flatten() {
        let joined = match (table.get(key).map(Spanned::get_ref), value.get_ref()) {
            (Some(DeValue::Table(before)), DeValue::Table(after)) => {
                Spanned::new(value.span(), DeValue::Table(replaced(Some(before), Some(after))))
            }
            _ => value.clone(),
        };
        table.insert(key.clone(), joined);
    }
    table
}

/// `[dae]`: states and equations are appended, named equations and invariants replace those of the same name.
pub(super) fn dae<'i>(shared: Option<&DeTable<'i>>, own: Option<&DeTable<'i>>) -> DeTable<'i> {
    let mut table = shared.cloned().unwrap_or_default();
    for (key, value) in own.into_iter().flatten() {
        let joined = match (table.get(key), value.get_ref()) {
            (Some(before), after) => match (before.get_ref(), after) {
                (DeValue::Table(before), DeValue::Table(after)) => {
                    Spanned::new(value.span(), DeValue::Table(replaced(Some(before), Some(after))))
                }
                (DeValue::Array(first), DeValue::Array(second)) => {
                    let mut list = first.clone();
                    second.iter().for_each(|item| list.push(item.clone()));
                    Spanned::new(value.span(), DeValue::Array(list))
                }
                // equations without names beside others that have them
                (DeValue::Array(first), DeValue::Table(_)) if key.get_ref() == "equations" => {
                    let mut list = first.clone();
                    list.push(value.clone());
                    Spanned::new(value.span(), DeValue::Array(list))
                }
                (DeValue::Table(_), DeValue::Array(second)) if key.get_ref() == "equations" => {
                    let mut list = DeArray::new();
                    list.push(before.clone());
                    second.iter().for_each(|item| list.push(item.clone()));
                    Spanned::new(value.span(), DeValue::Array(list))
                }
                _ => value.clone(),
            },
            (None, _) => value.clone(),
        };
        table.insert(key.clone(), joined);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> DeTable<'_> {
        DeTable::parse(text).unwrap().into_inner()
    }

    #[test]
    fn named_equations_replace_and_others_are_appended() {
        let names = |merged: &DeTable| match merged.get("equations").unwrap().get_ref() {
            DeValue::Table(table) => table.keys().map(|key| key.get_ref().to_string()).collect::<Vec<_>>(),
            DeValue::Array(items) => items.iter().map(|item| item.get_ref().type_str().to_string()).collect(),
            _ => unreachable!(),
        };
        let named = table("states = ['x']\nequations = { a = '1', b = '2' }");
        let other = table("states = ['y']\nequations = { b = '3', c = '4' }");
        let list = table("equations = ['5']");
        let merged = dae(Some(&named), Some(&other));
        assert_eq!(names(&merged), ["a", "b", "c"]);
        assert_eq!(merged.get("states").unwrap().get_ref().as_array().unwrap().len(), 2);
        let b = merged.get("equations").unwrap().get_ref().as_table().unwrap().get("b").unwrap();
        assert_eq!(b.get_ref().as_str(), Some("3"));
        assert_eq!(names(&dae(Some(&named), Some(&list))), ["table", "string"]);
        assert_eq!(names(&dae(Some(&list), Some(&named))), ["string", "table"]);
    }

    #[test]
    fn constraints_of_a_mode_join_those_of_all() {
        let shared = table("forces = ['0']\nholonomic = { rod = 'x' }");
        let own = table("forces = ['1']\nholonomic = { wall = 'y' }");
        let merged = motion(Some(&shared), Some(&own));
        assert_eq!(merged.get("holonomic").unwrap().get_ref().as_table().unwrap().len(), 2);
        assert_eq!(merged.get("forces").unwrap().get_ref().as_array().unwrap()[0].get_ref().as_str(), Some("1"));
    }
}
