/* Large sparse systems by IDA of SUNDIALS, with KLU or a banded matrix and Jacobians by hand. Problems are those of the model files beside this one. */
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

typedef struct Problem Problem;
struct Problem {
    int N, n, entries, lower, upper;
    double tend;
    void (*start)(Problem *, double *y);
    void (*residual)(Problem *, double t, const double *y, const double *yp, double *r);
    /* dF/dy + c dF/dy', entries told to `put` */
    void (*jacobian)(Problem *, double t, const double *y, double c);
    int (*differential)(Problem *, int k);
    SUNMatrix J;
    int banded;
    /* rows of a column, as they come */
    int *count, *rows;
    double *values;
    int width;
};

static void put(Problem *p, int i, int j, double value) {
    if (p->banded) {
        SM_ELEMENT_B(p->J, i, j) += value;
        return;
    }
    for (int k = 0; k < p->count[j]; k++)
        if (p->rows[j * p->width + k] == i) {
            p->values[j * p->width + k] += value;
            return;
        }
    int k = p->count[j]++;
    p->rows[j * p->width + k] = i;
    p->values[j * p->width + k] = value;
}

/* resistors and capacitors in a line: v[i], j[i] alternate */
static void rc_start(Problem *p, double *y) { memset(y, 0, sizeof(double) * p->n); }
static void rc_residual(Problem *p, double t, const double *y, const double *yp, double *r) {
    int N = p->N;
    double h = 1.0 / N;
    for (int i = 0; i < N; i++) {
        double before = i == 0 ? sin(5 * t) : y[2 * i - 2], next = i == N - 1 ? 0 : y[2 * i + 3];
        r[2 * i + 1] = before - y[2 * i] - h * y[2 * i + 1];
        r[2 * i] = h * yp[2 * i] - y[2 * i + 1] + next;
    }
}
static void rc_jacobian(Problem *p, double t, const double *y, double c) {
    int N = p->N;
    double h = 1.0 / N;
    for (int i = 0; i < N; i++) {
        if (i > 0) put(p, 2 * i + 1, 2 * i - 2, 1);
        put(p, 2 * i + 1, 2 * i, -1);
        put(p, 2 * i + 1, 2 * i + 1, -h);
        put(p, 2 * i, 2 * i, c * h);
        put(p, 2 * i, 2 * i + 1, -1);
        if (i < N - 1) put(p, 2 * i, 2 * i + 3, 1);
    }
}
static int rc_differential(Problem *p, int k) { return k % 2 == 0; }

/* heat in a rod, ends algebraic, as models/heat-equation.toml */
static void heat_start(Problem *p, double *y) {
    int N = p->N;
    double h = 1.0 / N, film = 2;
    for (int i = 1; i < N; i++) y[i] = sin(M_PI * i * h);
    y[0] = 0;
    y[N] = y[N - 1] / h / (1 / h + film);
}
static void heat_residual(Problem *p, double t, const double *y, const double *yp, double *r) {
    int N = p->N;
    double h = 1.0 / N;
    r[0] = y[0] - sin(10 * t);
    for (int i = 1; i < N; i++) r[i] = yp[i] - (y[i - 1] - 2 * y[i] + y[i + 1]) / (h * h);
    r[N] = (y[N] - y[N - 1]) / h + 2 * y[N];
}
static void heat_jacobian(Problem *p, double t, const double *y, double c) {
    int N = p->N;
    double h = 1.0 / N;
    put(p, 0, 0, 1);
    for (int i = 1; i < N; i++) {
        put(p, i, i - 1, -1 / (h * h));
        put(p, i, i, c + 2 / (h * h));
        put(p, i, i + 1, -1 / (h * h));
    }
    put(p, N, N - 1, -1 / h);
    put(p, N, N, 1 / h + 2);
}
static int heat_differential(Problem *p, int k) { return k > 0 && k < p->N; }

/* heat in a plate */
static void plate_start(Problem *p, double *y) {
    int N = p->N;
    double h = 1.0 / (N + 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) y[i * N + j] = sin(M_PI * (i + 1) * h) * sin(M_PI * (j + 1) * h);
}
static void plate_residual(Problem *p, double t, const double *y, const double *yp, double *r) {
    int N = p->N;
    double h = 1.0 / (N + 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double up = i == 0 ? sin(10 * t) : y[(i - 1) * N + j], down = i == N - 1 ? 0 : y[(i + 1) * N + j];
            double left = j == 0 ? 0 : y[i * N + j - 1], right = y[i * N + (j == N - 1 ? j : j + 1)];
            r[i * N + j] = yp[i * N + j] - (up + down + left + right - 4 * y[i * N + j]) / (h * h);
        }
}
static void plate_jacobian(Problem *p, double t, const double *y, double c) {
    int N = p->N;
    double d = (N + 1.0) * (N + 1.0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int k = i * N + j;
            put(p, k, k, c + 4 * d);
            if (i > 0) put(p, k, k - N, -d);
            if (i < N - 1) put(p, k, k + N, -d);
            if (j > 0) put(p, k, k - 1, -d);
            put(p, k, j == N - 1 ? k : k + 1, -d);
        }
}
static int all_differential(Problem *p, int k) { return 1; }

/* Brusselator in a square, periodic: u, v alternate */
static void brusselator_start(Problem *p, double *y) {
    int N = p->N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double x = (i + 1.0) / N, z = (j + 1.0) / N;
            y[2 * (i * N + j)] = 22 * z * pow(1 - z, 1.5);
            y[2 * (i * N + j) + 1] = 27 * x * pow(1 - x, 1.5);
        }
}
#define AT(i, j) (2 * (((i) + N) % N * N + ((j) + N) % N))
static void brusselator_residual(Problem *p, double t, const double *y, const double *yp, double *r) {
    int N = p->N;
    double d = 0.1 * N * N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int k = AT(i, j), a = AT(i - 1, j), b = AT(i + 1, j), e = AT(i, j - 1), f = AT(i, j + 1);
            double u = y[k], v = y[k + 1], react = u * u * v;
            r[k] = yp[k] - (1 + react - 4.4 * u + d * (y[a] + y[b] + y[e] + y[f] - 4 * u));
            r[k + 1] = yp[k + 1] - (3.4 * u - react + d * (y[a + 1] + y[b + 1] + y[e + 1] + y[f + 1] - 4 * v));
        }
}
static void brusselator_jacobian(Problem *p, double t, const double *y, double c) {
    int N = p->N;
    double d = 0.1 * N * N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int k = AT(i, j), o[4] = {AT(i - 1, j), AT(i + 1, j), AT(i, j - 1), AT(i, j + 1)};
            double u = y[k], v = y[k + 1];
            put(p, k, k, c - (2 * u * v - 4.4 - 4 * d));
            put(p, k, k + 1, -u * u);
            put(p, k + 1, k, -(3.4 - 2 * u * v));
            put(p, k + 1, k + 1, c + u * u + 4 * d);
            for (int q = 0; q < 4; q++) {
                put(p, k, o[q], -d);
                put(p, k + 1, o[q] + 1, -d);
            }
        }
}

/* medical Akzo Nobel: u, v alternate */
static void akzo_start(Problem *p, double *y) {
    for (int j = 0; j < p->N; j++) y[2 * j] = 0, y[2 * j + 1] = 1;
}
static void akzo_residual(Problem *p, double t, const double *y, const double *yp, double *r) {
    int N = p->N;
    double dz = 1.0 / N, phi = t <= 5 ? 2 : 0;
    for (int j = 0; j < N; j++) {
        double z = (j + 1) * dz - 1, alpha = 2 * z * z * z / 16, beta = z * z * z * z / 16;
        double before = j == 0 ? phi : y[2 * j - 2], after = j == N - 1 ? y[2 * j] : y[2 * j + 2];
        double react = 100 * y[2 * j] * y[2 * j + 1];
        r[2 * j] = yp[2 * j] - (alpha * (after - before) / (2 * dz) + beta * (before - 2 * y[2 * j] + after) / (dz * dz) - react);
        r[2 * j + 1] = yp[2 * j + 1] + react;
    }
}
static void akzo_jacobian(Problem *p, double t, const double *y, double c) {
    int N = p->N;
    double dz = 1.0 / N;
    for (int j = 0; j < N; j++) {
        double z = (j + 1) * dz - 1, a = 2 * z * z * z / 16 / (2 * dz), b = z * z * z * z / 16 / (dz * dz);
        double u = y[2 * j], v = y[2 * j + 1];
        put(p, 2 * j, 2 * j, c + 2 * b + 100 * v - (j == N - 1 ? a + b : 0));
        put(p, 2 * j, 2 * j + 1, 100 * u);
        put(p, 2 * j + 1, 2 * j, 100 * v);
        put(p, 2 * j + 1, 2 * j + 1, c + 100 * u);
        if (j > 0) put(p, 2 * j, 2 * j - 2, a - b);
        if (j < N - 1) put(p, 2 * j, 2 * j + 2, -a - b);
    }
}

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *data) {
    Problem *p = data;
    p->residual(p, t, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(r));
    return 0;
}

static int jacobian(realtype t, realtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *data, N_Vector a, N_Vector b,
                    N_Vector d) {
    Problem *p = data;
    p->J = J;
    SUNMatZero(J);
    if (p->banded) {
        p->jacobian(p, t, N_VGetArrayPointer(y), c);
        return 0;
    }
    memset(p->count, 0, sizeof(int) * p->n);
    p->jacobian(p, t, N_VGetArrayPointer(y), c);
    sunindextype *starts = SM_INDEXPTRS_S(J), *rows = SM_INDEXVALS_S(J);
    double *values = SM_DATA_S(J);
    int at = 0;
    for (int j = 0; j < p->n; j++) {
        starts[j] = at;
        for (int k = 0; k < p->count[j]; k++) rows[at] = p->rows[j * p->width + k], values[at++] = p->values[j * p->width + k];
    }
    starts[p->n] = at;
    return 0;
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return at.tv_sec + 1e-9 * at.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 6) return fprintf(stderr, "usage: ida PROBLEM N RTOL ATOL klu|band [FILE]\n"), 2;
    const char *name = argv[1];
    int N = atoi(argv[2]);
    double rtol = atof(argv[3]), atol = atof(argv[4]);
    Problem rc = {N, 2 * N, 6 * N, 3, 3, 1, rc_start, rc_residual, rc_jacobian, rc_differential};
    Problem heat = {N, N + 1, 3 * N, 1, 1, 0.5, heat_start, heat_residual, heat_jacobian, heat_differential};
    Problem plate = {N, N * N, 5 * N * N, N, N, 0.5, plate_start, plate_residual, plate_jacobian, all_differential};
    Problem brusselator = {N, 2 * N * N, 12 * N * N, 0, 0, 1, brusselator_start, brusselator_residual, brusselator_jacobian, all_differential};
    Problem akzo = {N, 2 * N, 6 * N, 2, 2, 20, akzo_start, akzo_residual, akzo_jacobian, all_differential};
    Problem *p = !strcmp(name, "rc") ? &rc : !strcmp(name, "heat") ? &heat : !strcmp(name, "plate") ? &plate : !strcmp(name, "brusselator") ? &brusselator : &akzo;
    p->banded = !strcmp(argv[5], "band");
    p->width = 12;
    p->count = calloc(p->n, sizeof(int));
    p->rows = calloc((size_t)p->n * p->width, sizeof(int));
    p->values = calloc((size_t)p->n * p->width, sizeof(double));
    SUNContext context;
    SUNContext_Create(NULL, &context);
    double begin = now();
    N_Vector y = N_VNew_Serial(p->n, context), yp = N_VClone(y), id = N_VClone(y);
    p->start(p, N_VGetArrayPointer(y));
    N_VConst(0, yp);
    /* y' of the differential unknowns */
    N_Vector r = N_VClone(y);
    p->residual(p, 0, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(r));
    for (int k = 0; k < p->n; k++) {
        NV_Ith_S(id, k) = p->differential(p, k);
        double scale = p == &rc ? 1.0 / N : 1;
        if (p->differential(p, k)) NV_Ith_S(yp, k) = -NV_Ith_S(r, k) / scale;
    }
    void *ida = IDACreate(context);
    IDAInit(ida, residual, 0, y, yp);
    IDASStolerances(ida, rtol, atol);
    IDASetUserData(ida, p);
    IDASetMaxNumSteps(ida, 1000000);
    SUNMatrix A = p->banded ? SUNBandMatrix(p->n, p->upper, p->lower, context) : SUNSparseMatrix(p->n, p->n, p->entries, CSC_MAT, context);
    SUNLinearSolver solver = p->banded ? SUNLinSol_Band(y, A, context) : SUNLinSol_KLU(y, A, context);
    IDASetLinearSolver(ida, solver, A);
    IDASetJacFn(ida, jacobian);
    IDASetId(ida, id);
    int flag = 0;
    double t = 0;
    /* the jump of phi */
    if (p == &akzo) {
        IDASetStopTime(ida, 5);
        flag = IDASolve(ida, 5, &t, y, yp, IDA_NORMAL);
        p->residual(p, 5.0000001, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(r));
        for (int k = 0; k < p->n; k++) NV_Ith_S(yp, k) -= NV_Ith_S(r, k);
        IDAReInit(ida, 5.0000001, y, yp);
    }
    IDASetStopTime(ida, p->tend);
    if (flag >= 0) flag = IDASolve(ida, p->tend, &t, y, yp, IDA_NORMAL);
    double time = now() - begin;
    long steps, evaluations, setups;
    IDAGetNumSteps(ida, &steps);
    IDAGetNumResEvals(ida, &evaluations);
    IDAGetNumLinSolvSetups(ida, &setups);
    printf("%s N=%d rtol=%g %s: flag %d, %ld steps, %ld evaluations, %ld decompositions, %.3f s\n", name, N, rtol, argv[5], flag, steps, evaluations, setups, time);
    if (argc > 6) {
        FILE *out = fopen(argv[6], "w");
        for (int k = 0; k < p->n; k++) fprintf(out, "%.17g\n", NV_Ith_S(y, k));
        fclose(out);
    }
    return 0;
}
