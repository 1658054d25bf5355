//! Options of methods as arguments, made of the table of options.

use super::values::{finite, positive, several};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use daedal_simulation::options::{MethodOption, OptionValues, SCHEMA};
use daedal_simulation::{MethodOptions, OptionValue};

pub(super) const METHODS_HEADING: &str = "Options of the methods";
const GEOMS_HEADING: &str = "Options of GEOMS";

/// Options of methods, from their schema; those that are absent keep their defaults.
#[derive(Debug, Default)]
pub struct MethodArguments(pub MethodOptions);

impl Args for MethodArguments {
    fn augment_args(command: clap::Command) -> clap::Command {
        SCHEMA.iter().fold(command, |command, option| {
            let heading = if option.is_of_geoms() { GEOMS_HEADING } else { METHODS_HEADING };
            command.arg(argument(option).long(option.key.replace('_', "-")).help_heading(heading))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// An option of a method as an argument.
fn argument(option: &'static MethodOption) -> Arg {
    let argument = Arg::new(option.key).help(option.help);
    let argument = match option.values {
        OptionValues::Flag => return argument.action(ArgAction::SetTrue),
        OptionValues::Count(least, most) => argument.value_parser(
            clap::value_parser!(u32)
                .range(i64::from(least)..=i64::from(most))
                .map(|n| OptionValue::Number(f64::from(n))),
        ),
        OptionValues::Positive => argument.value_parser(|text: &str| positive(text).map(OptionValue::Number)),
        OptionValues::Finite => argument.value_parser(|text: &str| finite(text).map(OptionValue::Number)),
        OptionValues::Numbers(count) => argument.value_parser(move |text: &str| several(count, text)),
        OptionValues::Words(words) => argument.value_parser(PossibleValuesParser::new(words()).map(OptionValue::Word)),
    };
    let numbers = !matches!(option.values, OptionValues::Words(_) | OptionValues::Count(..));
    argument.value_name(option.placeholder).allow_hyphen_values(numbers)
}

impl FromArgMatches for MethodArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = MethodOptions::default();
        for option in &SCHEMA {
            let value = match option.values {
                OptionValues::Flag => matches.get_flag(option.key).then_some(OptionValue::Flag(true)),
                _ => matches.get_one::<OptionValue>(option.key).cloned(),
            };
            if let Some(value) = value {
                options.set(option.key, value).map_err(|bad| clap::Error::raw(ErrorKind::InvalidValue, bad))?;
            }
        }
        Ok(MethodArguments(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
