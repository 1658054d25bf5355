//! Dropped kernels give their memory back. Alone in its file: it counts the pages of the whole process.

#![cfg(target_os = "linux")]

use daedal_graph::Graph;
use daedal_native::Native;
use daedal_scalar::Scalar;

/// Bytes of executable memory that belongs to no file.
fn executable_bytes() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
    maps.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (range, rights) = (words.next()?, words.next()?);
            let no_file = words.nth(3).is_none();
            let (from, to) = range.split_once('-')?;
            let length = usize::from_str_radix(to, 16).ok()? - usize::from_str_radix(from, 16).ok()?;
            (rights.contains('x') && no_file).then_some(length)
        })
        .sum()
}

#[test]
fn dropped_kernels_free_their_code() {
    let mut graph = Graph::new();
    let x = graph.input("x");
    let y = graph.with(|| (0..50).fold(x, |y, _| (y * 1.5 + x).sin()));
    let before = executable_bytes();
    let alive: Vec<_> =
        (0..100).map(|_| Native.try_compile(&graph, &[y]).expect("native code on this machine")).collect();
    let most = executable_bytes();
    assert!(most >= before + 100 * alive[0].code_size(), "the count sees compiled code");
    drop(alive);
    assert_eq!(executable_bytes(), before);
    for _ in 0..3000 {
        Native.try_compile(&graph, &[y]).expect("native code on this machine");
    }
    assert_eq!(executable_bytes(), before);
}
