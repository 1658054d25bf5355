//! Arrays of numbers as bytes in the order of the machine: `numpy.frombuffer` is a view of them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// So many numbers, copied once, to where Python has them.
pub fn of_floats(py: Python<'_>, count: usize, values: impl Iterator<Item = f64>) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, 8 * count, |bytes| {
        for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
            place.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })
}

/// Handles of nodes.
pub fn of_handles<'py>(py: Python<'py>, handles: &[u32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 4 * handles.len(), |bytes| {
        for (place, handle) in bytes.chunks_exact_mut(4).zip(handles) {
            place.copy_from_slice(&handle.to_ne_bytes());
        }
        Ok(())
    })
}

/// Handles from bytes.
pub fn handles(bytes: &[u8]) -> PyResult<Vec<u32>> {
    let parts = bytes.as_chunks::<4>();
    if parts.1.is_empty() { Ok(parts.0.iter().map(|part| u32::from_ne_bytes(*part)).collect()) } else { Err(odd()) }
}

/// Numbers from bytes.
pub fn floats(bytes: &[u8]) -> PyResult<Vec<f64>> {
    let parts = bytes.as_chunks::<8>();
    if parts.1.is_empty() { Ok(parts.0.iter().map(|part| f64::from_ne_bytes(*part)).collect()) } else { Err(odd()) }
}

fn odd() -> PyErr {
    PyValueError::new_err("the bytes are not those of whole numbers")
}
