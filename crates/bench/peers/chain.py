"""N links on revolute joints about changing axes, as in gallery/chain.toml: Daedal, MuJoCo and Exudyn at equal errors.

    python3 -m venv DIR && DIR/bin/pip install mujoco exudyn numpy
    DIR/bin/python peers/chain.py --daedal ../../target/release/daedal --links 1000 --until 0.1

The chain falls from a horizontal line, its links turned alternately by a small angle, so that all of it moves otherwise than a free fall. The error is
the largest one of the centres of all links at the end, against the run of Daedal at 1e-12. Times are those of the processor in the integration:
of Daedal the run minus the same run to a millionth of the interval, with start-up and compilation; of the others the steps alone.
"""
import argparse, json, math, os, resource, subprocess, sys, tempfile, time
import numpy as np

GRAVITY = [0.0, 1.0, -9.81]
LENGTH, WIDTH, MASS = 1.0, 0.1, 1.0
LONG = MASS * (LENGTH**2 + WIDTH**2) / 12
ABOUT = MASS * 2 * WIDTH**2 / 12


def ends(links):
    """Ends of the links as drawn: a line that bends up and down."""
    points = [np.zeros(3)]
    for i in range(links):
        up = 0.3 * math.cos(0.9 * i)
        side = 0.2 * math.sin(1.7 * i)
        direction = np.array([1.0, side, up])
        points.append(points[-1] + direction / np.linalg.norm(direction))
    return np.array(points)


def axis(i, direction):
    """Of joint i = 1 …: normal to the link, nearly y or z in turn."""
    wanted = np.array([0.0, 1.0, 0.0]) if i % 2 else np.array([0.0, 0.0, 1.0])
    normal = wanted - direction * (wanted @ direction)
    return normal / np.linalg.norm(normal)


def frame(direction):
    """Columns: along the link, and two normal to it."""
    y = np.cross([0.0, 0.0, 1.0], direction)
    y /= np.linalg.norm(y)
    return np.column_stack([direction, y, np.cross(direction, y)])


def quaternion(R):
    w = math.sqrt(max(0.0, 1 + np.trace(R))) / 2
    return [w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)]


def centres(points):
    return 0.5 * (points[1:] + points[:-1])


# ---------------------------------------------------------------------------------------------------------------- Daedal

def model(points):
    text = ['[model]\nname = "chain"\n[world]\ngravity = [%r, %r, %r]\n' % tuple(GRAVITY)]
    links = len(points) - 1
    vector = lambda x: "[" + ", ".join(repr(float(c)) for c in x) + "]"
    for i in range(1, links + 1):
        direction = points[i] - points[i - 1]
        turn = vector(quaternion(frame(direction)))
        text.append(f'[[bodies]]\nname = "link{i}"\nmass = {MASS}\ninertia = [{ABOUT!r}, {LONG!r}, {LONG!r}]\n'
                    f'at = {vector(0.5 * (points[i] + points[i - 1]))}\nrotation = {{ quaternion = {turn} }}\n')
        before = "ground" if i == 1 else f"link{i - 1}"
        text.append(f'[[joints]]\nname = "pin{i}"\nkind = "revolute"\nbetween = ["{before}", "link{i}"]\n'
                    f'at = {vector(points[i - 1])}\naxis = {vector(axis(i, direction))}\n')
    return "".join(text)


class Daedal:
    def __init__(self, program, points, until):
        self.program, self.links, self.until = program, len(points) - 1, until
        self.file = os.path.join(tempfile.mkdtemp(), "chain.toml")
        with open(self.file, "w") as file:
            file.write(model(points))

    def call(self, tolerance, until, method):
        out = self.file + ".csv"
        words = [self.program, "solve", self.file, "--tend", repr(until), "--rtol", repr(tolerance), "--atol", repr(tolerance),
                 "--method", *method.split(), "--save", "2", "-o", out]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(done.stderr)
        with open(out) as file:
            lines = [line for line in file.read().splitlines() if not line.startswith("#")]
        names, last = lines[0].split(","), [float(x) for x in lines[-1].split(",")]
        place = {name: k for k, name in enumerate(names)}
        at = np.array([[last[place[f"link{i}.{c}"]] for c in "xyz"] for i in range(1, self.links + 1)])
        return at, after.ru_utime - before.ru_utime

    def run(self, tolerance, method):
        _, start = self.call(tolerance, 1e-6 * self.until, method)
        at, whole = self.call(tolerance, self.until, method)
        return at, whole - start


# ---------------------------------------------------------------------------------------------------------------- MuJoCo

def mujoco_chain(points):
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = GRAVITY
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    spec.memory = 1 << 33
    at, parent = np.zeros(3), spec.worldbody
    turned = np.eye(3)
    for i in range(1, len(points)):
        direction = points[i] - points[i - 1]
        own = frame(direction)
        local = turned.T @ own
        place = turned.T @ (points[i - 1] - at)
        parent = parent.add_body(name=f"link{i}", pos=place, quat=quaternion(local), mass=MASS, ipos=[LENGTH / 2, 0, 0],
                                 inertia=[ABOUT, LONG, LONG], explicitinertial=True)
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=own.T @ axis(i, direction))
        at, turned = points[i - 1], own
    return mujoco, spec.compile()


def run_mujoco(points, until, steps, integrator):
    mujoco, built = mujoco_chain(points)
    built.opt.timestep = until / steps
    built.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    data = mujoco.MjData(built)
    start = time.process_time()
    for _ in range(steps):
        mujoco.mj_step(built, data)
    spent = time.process_time() - start
    mujoco.mj_forward(built, data)
    return data.xipos[1:].copy(), spent


# ---------------------------------------------------------------------------------------------------------------- Exudyn

def run_exudyn(points, until, steps):
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia

    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground, before = mbs.CreateGround(), None
    bodies = []
    for i in range(1, len(points)):
        direction = points[i] - points[i - 1]
        inertia = RigidBodyInertia(mass=MASS, inertiaTensor=np.diag([ABOUT, LONG, LONG]))
        body = mbs.CreateRigidBody(inertia=inertia, referencePosition=list(0.5 * (points[i] + points[i - 1])),
                                   referenceRotationMatrix=frame(direction), gravity=GRAVITY)
        mbs.CreateRevoluteJoint(bodyNumbers=[before if before is not None else ground, body], position=list(points[i - 1]),
                                axis=list(axis(i, direction)), useGlobalFrame=True)
        bodies.append(body)
        before = body
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = until
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    start = time.process_time()
    mbs.SolveDynamic(settings)
    spent = time.process_time() - start
    at = np.array([mbs.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0, 0, 0]) for body in bodies])
    return at, spent


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--daedal", default="daedal")
    words.add_argument("--links", type=int, default=1000)
    words.add_argument("--until", type=float, default=0.1)
    words.add_argument("--budget", type=float, default=60.0, help="seconds after which no smaller step is tried")
    words.add_argument("--only", default="daedal,mujoco,exudyn")
    asked = words.parse_args()
    points = ends(asked.links)
    own = Daedal(asked.daedal, points, asked.until)
    exact, _ = own.run(1e-12, "dop853")
    rows = []

    def told(name, setting, at, spent):
        error = float(np.abs(at - exact).max())
        rows.append((name, setting, error, spent))
        print(f"{name:22} {setting:>12}  error {error:9.2e}   {spent:9.3f} s", flush=True)

    if "daedal" in asked.only:
        for method in ["dop853", "radau --formulation ggl"]:
            for exponent in [3, 4, 5, 6, 7, 8, 9, 10, 11]:
                at, spent = own.run(10.0**-exponent, method)
                told(f"Daedal {method.replace(' --formulation', '')}", f"1e-{exponent}", at, spent)
                if spent > asked.budget:
                    break
    ladders = []
    if "mujoco" in asked.only:
        for integrator in ["mjINT_RK4", "mjINT_EULER", "mjINT_IMPLICITFAST"]:
            run = lambda steps, integrator=integrator: run_mujoco(points, asked.until, steps, integrator)
            ladders.append((f"MuJoCo {integrator[6:]}", run))
    if "exudyn" in asked.only:
        ladders.append(("Exudyn gen. alpha", lambda steps: run_exudyn(points, asked.until, steps)))
    for name, run in ladders:
        steps = max(4, round(asked.until / 0.02))
        while True:
            at, spent = run(steps)
            told(name, f"{steps} steps", at, spent)
            if spent > asked.budget or steps > 200_000 or rows[-1][2] < 1e-10:
                break
            steps *= 2
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
