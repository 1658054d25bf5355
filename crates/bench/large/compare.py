"""Daedal against IDA on large sparse systems, in turn. usage: compare.py DAEDAL IDA [CASE …]

User time of one core. Of Daedal it is that of the whole process, with reading and compiling the file; of IDA that of the run. Errors are the
largest |x − x*|/(1 + |x*|) at the end, x* being Daedal's at 1e-9."""

import csv
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent.parent / "models"
# name: file, N, problem of ida, its linear solver, first step
CASES = {
    "rc": (HERE / "rc-chain.toml", 5000, "rc", "klu", "1e-7"),
    "heat": (MODELS / "heat-equation.toml", 10000, "heat", "band", "1e-7"),
    "rod": (MODELS / "heat-equation.toml", 100000, "heat", "band", "1e-7"),
    "plate": (HERE / "plate.toml", 60, "plate", "klu", "1e-7"),
    "plate300": (HERE / "plate.toml", 300, "plate", "klu", "1e-7"),
    "brusselator": (HERE / "brusselator.toml", 32, "brusselator", "klu", "1e-7"),
    "akzo": (MODELS / "medical-akzo-nobel.toml", 200, "akzo", "band", "1e-11"),
}


def timed(command: list[str]) -> float:
    """User time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    daedal, ida = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        ends = [f"{folder}/daedal.csv", f"{folder}/ida"]

        def ours(case: str, tolerance: str) -> tuple[float, list[float]]:
            file, size, _, _, first = CASES[case]
            options = ["--set", f"N={size}", "--rtol", tolerance, "--atol", tolerance, "--h0", first, "--save", "end"]
            time = timed([daedal, "solve", str(file), *options, "-o", ends[0]])
            with open(ends[0], newline="") as table:
                return time, [float(x) for x in list(csv.reader(table))[-1][1:]]

        def theirs(case: str, tolerance: str) -> tuple[float, list[float]]:
            _, size, problem, solver, _ = CASES[case]
            time = timed([ida, problem, str(size), tolerance, tolerance, solver, ends[1]])
            return time, [float(x) for x in pathlib.Path(ends[1]).read_text().split()]

        for case in sys.argv[3:] or ["rc", "heat", "plate", "brusselator", "akzo"]:
            print(case, "N =", CASES[case][1])
            reference = ours(case, "1e-9")[1]
            for tolerance in ["1e-4", "1e-5", "1e-6", "1e-7"]:
                told = []
                for name, run in [("daedal", ours), ("ida", theirs)]:
                    time, end = run(case, tolerance)
                    error = max(abs(x - y) / (1 + abs(y)) for x, y in zip(end, reference))
                    told.append(f"{name} {time:.2f} s, error {error:.1e}")
                print(f"  {tolerance}: " + "; ".join(told), flush=True)


main()
