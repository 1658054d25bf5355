! Reactions and an oscillator: HIRES, Oregonator, Robertson, E5, van der Pol. Test set for initial value problem solvers, release 2.4.
module chemistry
  use problem_type
  implicit none
  private
  public :: hires, oregonator, robertson, e5, van_der_pol
  real(dp), parameter :: s = 77.27d0, w = 0.161d0, q = 8.375d-6
  real(dp), parameter :: A = 7.89d-10, B = 1.1d7, C = 1.13d3, M = 1d6
  real(dp), parameter :: eps = 1d-6
contains
  subroutine hires(p)
    type(problem), intent(out) :: p
    p%n = 8
    p%tend = 321.8122d0
    p%y(1) = 1
    p%y(8) = 0.0057d0
    p%f => hires_f
    p%df => hires_df
  end subroutine

  subroutine hires_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = -1.71d0*y(1) + 0.43d0*y(2) + 8.32d0*y(3) + 0.0007d0
    f(2) = 1.71d0*y(1) - 8.75d0*y(2)
    f(3) = -10.03d0*y(3) + 0.43d0*y(4) + 0.035d0*y(5)
    f(4) = 8.32d0*y(2) + 1.71d0*y(3) - 1.12d0*y(4)
    f(5) = -1.745d0*y(5) + 0.43d0*(y(6) + y(7))
    f(6) = -280*y(6)*y(8) + 0.69d0*y(4) + 1.71d0*y(5) - 0.43d0*y(6) + 0.69d0*y(7)
    f(7) = 280*y(6)*y(8) - 1.81d0*y(7)
    f(8) = -f(7)
  end subroutine

  subroutine hires_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df = 0
    df(1, 1) = -1.71d0
    df(1, 2) = 0.43d0
    df(1, 3) = 8.32d0
    df(2, 1) = 1.71d0
    df(2, 2) = -8.75d0
    df(3, 3) = -10.03d0
    df(3, 4) = 0.43d0
    df(3, 5) = 0.035d0
    df(4, 2) = 8.32d0
    df(4, 3) = 1.71d0
    df(4, 4) = -1.12d0
    df(5, 5) = -1.745d0
    df(5, 6) = 0.43d0
    df(5, 7) = 0.43d0
    df(6, 4) = 0.69d0
    df(6, 5) = 1.71d0
    df(6, 6) = -280*y(8) - 0.43d0
    df(6, 7) = 0.69d0
    df(6, 8) = -280*y(6)
    df(7, 6) = 280*y(8)
    df(7, 7) = -1.81d0
    df(7, 8) = 280*y(6)
    df(8, 6) = -280*y(8)
    df(8, 7) = 1.81d0
    df(8, 8) = -280*y(6)
  end subroutine

  subroutine oregonator(p)
    type(problem), intent(out) :: p
    p%n = 3
    p%tend = 360
    p%y(1:3) = [1d0, 2d0, 3d0]
    p%f => oregonator_f
    p%df => oregonator_df
  end subroutine

  subroutine oregonator_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = s*(y(2) + y(1)*(1 - q*y(1) - y(2)))
    f(2) = (y(3) - (1 + y(1))*y(2))/s
    f(3) = w*(y(1) - y(3))
  end subroutine

  subroutine oregonator_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df(1, 1) = s*(1 - 2*q*y(1) - y(2))
    df(1, 2) = s*(1 - y(1))
    df(1, 3) = 0
    df(2, 1) = -y(2)/s
    df(2, 2) = -(1 + y(1))/s
    df(2, 3) = 1/s
    df(3, 1) = w
    df(3, 2) = 0
    df(3, 3) = -w
  end subroutine

  subroutine robertson(p)
    type(problem), intent(out) :: p
    p%n = 3
    p%tend = 1d11
    p%y(1) = 1
    p%f => robertson_f
    p%df => robertson_df
  end subroutine

  subroutine robertson_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = -0.04d0*y(1) + 1d4*y(2)*y(3)
    f(3) = 3d7*y(2)*y(2)
    f(2) = -f(1) - f(3)
  end subroutine

  subroutine robertson_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df(1, 1) = -0.04d0
    df(1, 2) = 1d4*y(3)
    df(1, 3) = 1d4*y(2)
    df(2, 1) = 0.04d0
    df(2, 2) = -1d4*y(3) - 6d7*y(2)
    df(2, 3) = -1d4*y(2)
    df(3, 1) = 0
    df(3, 2) = 6d7*y(2)
    df(3, 3) = 0
  end subroutine

  subroutine e5(p)
    type(problem), intent(out) :: p
    p%n = 4
    p%tend = 1d13
    p%y(1) = 1.76d-3
    p%f => e5_f
    p%df => e5_df
  end subroutine

  subroutine e5_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    real(dp) :: first, second, third, fourth
    first = A*y(1)
    second = B*y(1)*y(3)
    third = M*C*y(2)*y(3)
    fourth = C*y(4)
    f(1) = -first - second
    f(2) = first - third
    f(4) = second - fourth
    f(3) = f(2) - f(4)
  end subroutine

  subroutine e5_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df(1, 1) = -A - B*y(3)
    df(1, 2) = 0
    df(1, 3) = -B*y(1)
    df(1, 4) = 0
    df(2, 1) = A
    df(2, 2) = -C*M*y(3)
    df(2, 3) = -C*M*y(2)
    df(2, 4) = 0
    df(3, 1) = A - B*y(3)
    df(3, 2) = -C*M*y(3)
    df(3, 3) = -B*y(1) - C*M*y(2)
    df(3, 4) = C
    df(4, 1) = B*y(3)
    df(4, 2) = 0
    df(4, 3) = B*y(1)
    df(4, 4) = -C
  end subroutine

  subroutine van_der_pol(p)
    type(problem), intent(out) :: p
    p%n = 2
    p%tend = 2
    p%y(1:2) = [2d0, 0d0]
    p%f => van_der_pol_f
    p%df => van_der_pol_df
  end subroutine

  subroutine van_der_pol_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = y(2)
    f(2) = ((1 - y(1)*y(1))*y(2) - y(1))/eps
  end subroutine

  subroutine van_der_pol_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df(1, 1) = 0
    df(1, 2) = 1
    df(2, 1) = (-2*y(1)*y(2) - 1)/eps
    df(2, 2) = (1 - y(1)*y(1))/eps
  end subroutine
end module
