//! The machine this program runs on, as Cranelift sees it.

use crate::NativeError;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use std::sync::OnceLock;

/// The instruction set of this machine with the settings of this crate; found once.
pub(crate) fn host() -> Result<OwnedTargetIsa, NativeError> {
    static HOST: OnceLock<Result<OwnedTargetIsa, NativeError>> = OnceLock::new();
    HOST.get_or_init(find).clone()
}

fn find() -> Result<OwnedTargetIsa, NativeError> {
    let machine = cranelift_native::builder().map_err(|reason| NativeError::Host(reason.into()))?;
    let mut flags = settings::builder();
    let choices = [
        // a graph shares equal nodes and folds constants already: "speed" compiles 1.3 times as long for code that is as fast
        ("opt_level", "none"),
        // "single_pass" compiles in half the time, but its code takes 1.3 to 2 times as long
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // functions of the host may be further away than a relative call reaches
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
    ];
    for (name, value) in choices {
        flags.set(name, value).map_err(|reason| NativeError::Host(reason.to_string()))?;
    }
    machine.finish(settings::Flags::new(flags)).map_err(|reason| NativeError::Host(reason.to_string()))
}
