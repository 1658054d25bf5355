! Transistor amplifier: eight voltages, index 1. Test set for initial value problem solvers, release 2.4.
module transistor_amplifier_problem
  use problem_type
  implicit none
  private
  public :: transistor_amplifier
  real(dp), parameter :: Ub = 6, UF = 0.026d0, alpha = 0.99d0, beta = 1d-6, R0 = 1000, R = 9000
contains
  subroutine transistor_amplifier(p)
    type(problem), intent(out) :: p
    p%n = 8
    p%tend = 0.2d0
    p%y(1:8) = [0d0, Ub/2, Ub/2, Ub, Ub/2, Ub/2, Ub, 0d0]
    p%rate(1:8) = [51.338775d0, 51.338775d0, -Ub/(2*R*2d-6), -24.9757667d0, -24.9757667d0, -Ub/(2*R*4d-6), &
      -10.00564453d0, -10.00564453d0]
    p%lower = 2
    p%upper = 1
    p%mass_lower = 1
    p%mass_upper = 1
    p%autonomous = .false.
    p%f => amplifier_f
    p%df => amplifier_df
    p%m => amplifier_m
  end subroutine

  subroutine amplifier_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), first, second
    real(dp), parameter :: w = 2*3.1415926535897932384626433832795028d0*100
    first = beta*(exp((y(2) - y(3))/UF) - 1)
    second = beta*(exp((y(5) - y(6))/UF) - 1)
    f(1) = (y(1) - 0.1d0*sin(w*t))/R0
    f(2) = (2*y(2) - Ub)/R + (1 - alpha)*first
    f(3) = y(3)/R - first
    f(4) = (y(4) - Ub)/R + alpha*first
    f(5) = (2*y(5) - Ub)/R + (1 - alpha)*second
    f(6) = y(6)/R - second
    f(7) = (y(7) - Ub)/R + alpha*second
    f(8) = y(8)/R
  end subroutine

  subroutine amplifier_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), first, second
    first = beta*exp((y(2) - y(3))/UF)/UF
    second = beta*exp((y(5) - y(6))/UF)/UF
    ! df(i - j + 2, j)
    df = 0
    df(2, 1) = 1/R0
    df(2, 2) = 2/R + (1 - alpha)*first
    df(1, 3) = -(1 - alpha)*first
    df(3, 2) = -first
    df(2, 3) = 1/R + first
    df(4, 2) = alpha*first
    df(3, 3) = -alpha*first
    df(2, 4) = 1/R
    df(2, 5) = 2/R + (1 - alpha)*second
    df(1, 6) = -(1 - alpha)*second
    df(3, 5) = -second
    df(2, 6) = 1/R + second
    df(4, 5) = alpha*second
    df(3, 6) = -alpha*second
    df(2, 7) = 1/R
    df(2, 8) = 1/R
  end subroutine

  subroutine amplifier_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    real(dp), parameter :: C(5) = [1d-6, 2d-6, 3d-6, 4d-6, 5d-6]
    m = 0
    m(2, 1:8) = [-C(1), -C(1), -C(2), -C(3), -C(3), -C(4), -C(5), -C(5)]
    m(1, [2, 5, 8]) = C([1, 3, 5])
    m(3, [1, 4, 7]) = C([1, 3, 5])
  end subroutine
end module
