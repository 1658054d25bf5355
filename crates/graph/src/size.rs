//! How long a formula becomes when it is written out: shared parts count each time.

use crate::{Expr, Graph};

impl Graph {
    /// Operations and letters of a formula written out in full, which may be exponentially many.
    pub fn written_size(&self, e: Expr) -> usize {
        let order = self.needed(&[e]);
        let mut sizes = vec![0_usize; self.len()];
        for e in order {
            let below = self.node(e).arguments().map(|argument| sizes[argument.index()]);
            sizes[e.index()] = below.fold(1_usize, usize::saturating_add);
        }
        sizes[e.index()]
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;

    #[test]
    fn shared_parts_count_each_time() {
        let mut graph = Graph::new();
        let mut x = graph.input("x");
        assert_eq!(graph.written_size(x), 1);
        for _ in 0..200 {
            x = graph.with(|| x * x + 1.0);
        }
        assert_eq!(graph.written_size(x), usize::MAX);
    }
}
