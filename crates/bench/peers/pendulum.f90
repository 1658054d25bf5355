! Pendulum in absolute coordinates: y = (p, v, lambda) of index 3 or 1, or (p, v, lambda, mu) of Gear, Gupta and Leimkuhler.
module pendulum_problem
  use problem_type
  implicit none
  private
  public :: pendulum
  real(dp), parameter :: g = 13.75d0, v0 = 2.8d0
contains
  subroutine pendulum(p, form)
    type(problem), intent(out) :: p
    character(*), intent(in) :: form
    p%n = 5
    p%tend = 5
    p%y(1:5) = [0d0, -1d0, v0, 0d0, (v0*v0 + g)/2]
    p%mass_lower = 0
    p%mass_upper = 0
    p%m => pendulum_m
    select case (form)
    case ('index3')
      p%index = [2, 2, 1]
      p%f => index3_f
      p%df => index3_df
    case ('index1')
      p%f => index1_f
      p%df => index1_df
    case ('ggl')
      p%n = 6
      p%index = [4, 2, 0]
      p%f => ggl_f
      p%df => ggl_df
    case default
      p%n = 0
    end select
  end subroutine

  subroutine pendulum_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    call diagonal(n, m, 4)
  end subroutine

  subroutine index3_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = y(3)
    f(2) = y(4)
    f(3) = -2*y(1)*y(5)
    f(4) = -2*y(2)*y(5) - g
    f(5) = y(1)*y(1) + y(2)*y(2) - 1
  end subroutine

  subroutine index3_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df = 0
    df(1, 3) = 1
    df(2, 4) = 1
    df(3, 1) = -2*y(5)
    df(3, 5) = -2*y(1)
    df(4, 2) = -2*y(5)
    df(4, 5) = -2*y(2)
    df(5, 1) = 2*y(1)
    df(5, 2) = 2*y(2)
  end subroutine

  subroutine index1_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    call index3_f(n, t, y, f, rpar, ipar)
    f(5) = y(3)*y(3) + y(4)*y(4) - g*y(2) - 2*y(5)*(y(1)*y(1) + y(2)*y(2))
  end subroutine

  subroutine index1_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    call index3_df(n, t, y, df, ld, rpar, ipar)
    df(5, 1) = -4*y(5)*y(1)
    df(5, 2) = -g - 4*y(5)*y(2)
    df(5, 3) = 2*y(3)
    df(5, 4) = 2*y(4)
    df(5, 5) = -2*(y(1)*y(1) + y(2)*y(2))
  end subroutine

  subroutine ggl_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    f(1) = y(3) - y(1)*y(6)
    f(2) = y(4) - y(2)*y(6)
    f(3) = -2*y(1)*y(5)
    f(4) = -2*y(2)*y(5) - g
    f(5) = y(1)*y(3) + y(2)*y(4)
    f(6) = y(1)*y(1) + y(2)*y(2) - 1
  end subroutine

  subroutine ggl_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    df = 0
    df(1, 1) = -y(6)
    df(1, 3) = 1
    df(1, 6) = -y(1)
    df(2, 2) = -y(6)
    df(2, 4) = 1
    df(2, 6) = -y(2)
    df(3, 1) = -2*y(5)
    df(3, 5) = -2*y(1)
    df(4, 2) = -2*y(5)
    df(4, 5) = -2*y(2)
    df(5, 1) = y(3)
    df(5, 2) = y(4)
    df(5, 3) = y(1)
    df(5, 4) = y(2)
    df(6, 1) = 2*y(1)
    df(6, 2) = 2*y(2)
  end subroutine
end module
