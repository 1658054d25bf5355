//! BDF.
