! Car axis: y = (p, v, lambda) of index 3, or (p, v, lambda, mu) of Gear, Gupta and Leimkuhler. Test set, release 2.4.
module car_axis_problem
  use problem_type
  implicit none
  private
  public :: car_axis
  real(dp), parameter :: L0 = 0.5d0, h = 0.1d0, omega = 10, kappa = 0.5d0*0.01d0**2*10
contains
  subroutine car_axis(p, form)
    type(problem), intent(out) :: p
    character(*), intent(in) :: form
    p%n = 10
    p%tend = 3
    p%y(1:8) = [0d0, L0, 1d0, L0, -L0*h*omega, 0d0, -L0*h*omega, 0d0]
    p%mass_lower = 0
    p%mass_upper = 0
    p%autonomous = .false.
    p%m => axis_m
    select case (form)
    case ('index3')
      p%index = [4, 4, 2]
      p%f => index3_f
      p%df => index3_df
    case ('ggl')
      p%n = 12
      p%index = [8, 4, 0]
      p%f => ggl_f
      p%df => ggl_df
    case default
      p%n = 0
    end select
  end subroutine

  subroutine axis_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    call diagonal(n, m, 8)
  end subroutine

  ! p' and v' without the forces of mu, and the road with its velocity
  subroutine motion(t, y, f, xb, yb, xbdot, ybdot)
    real(dp), intent(in) :: t, y(10)
    real(dp), intent(out) :: f(8), xb, yb, xbdot, ybdot
    real(dp) :: left, right, dx, dy
    yb = h*sin(omega*t)
    xb = sqrt(1 - yb*yb)
    ybdot = h*omega*cos(omega*t)
    xbdot = -yb*ybdot/xb
    left = L0/sqrt(y(1)**2 + y(2)**2) - 1
    right = L0/sqrt((y(3) - xb)**2 + (y(4) - yb)**2) - 1
    dx = 2*(y(1) - y(3))*y(10)
    dy = 2*(y(2) - y(4))*y(10)
    f(1:4) = y(5:8)
    f(5) = (left*y(1) - xb*y(9) - dx)/kappa
    f(6) = (left*y(2) - yb*y(9) - dy)/kappa - 1
    f(7) = (right*(y(3) - xb) + dx)/kappa
    f(8) = (right*(y(4) - yb) + dy)/kappa - 1
  end subroutine

  ! their derivatives
  subroutine motion_df(t, y, df, ld, xb, yb, xbdot, ybdot)
    integer, intent(in) :: ld
    real(dp), intent(in) :: t, y(10)
    real(dp), intent(inout) :: df(ld, *)
    real(dp), intent(out) :: xb, yb, xbdot, ybdot
    real(dp) :: r, stretch, cube, dx, dy
    yb = h*sin(omega*t)
    xb = sqrt(1 - yb*yb)
    ybdot = h*omega*cos(omega*t)
    xbdot = -yb*ybdot/xb
    df(1, 5) = 1
    df(2, 6) = 1
    df(3, 7) = 1
    df(4, 8) = 1
    r = sqrt(y(1)**2 + y(2)**2)
    stretch = L0/r - 1 - 2*y(10)
    cube = L0/r**3
    df(5, 1) = (stretch - cube*y(1)*y(1))/kappa
    df(5, 2) = -cube*y(1)*y(2)/kappa
    df(6, 1) = df(5, 2)
    df(6, 2) = (stretch - cube*y(2)*y(2))/kappa
    dx = y(3) - xb
    dy = y(4) - yb
    r = sqrt(dx*dx + dy*dy)
    stretch = L0/r - 1 - 2*y(10)
    cube = L0/r**3
    df(7, 3) = (stretch - cube*dx*dx)/kappa
    df(7, 4) = -cube*dx*dy/kappa
    df(8, 3) = df(7, 4)
    df(8, 4) = (stretch - cube*dy*dy)/kappa
    df(5, 3) = 2*y(10)/kappa
    df(6, 4) = df(5, 3)
    df(7, 1) = df(5, 3)
    df(8, 2) = df(5, 3)
    df(5, 9) = -xb/kappa
    df(6, 9) = -yb/kappa
    dx = 2*(y(1) - y(3))
    dy = 2*(y(2) - y(4))
    df(5, 10) = -dx/kappa
    df(6, 10) = -dy/kappa
    df(7, 10) = dx/kappa
    df(8, 10) = dy/kappa
  end subroutine

  ! G as derivatives of two rows
  subroutine constraint_df(y, df, ld, row, xb, yb)
    integer, intent(in) :: ld, row
    real(dp), intent(in) :: y(10), xb, yb
    real(dp), intent(inout) :: df(ld, *)
    df(row, 1) = xb
    df(row, 2) = yb
    df(row + 1, 1) = 2*(y(1) - y(3))
    df(row + 1, 2) = 2*(y(2) - y(4))
    df(row + 1, 3) = -df(row + 1, 1)
    df(row + 1, 4) = -df(row + 1, 2)
  end subroutine

  subroutine index3_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), xb, yb, xbdot, ybdot
    call motion(t, y, f, xb, yb, xbdot, ybdot)
    f(9) = y(1)*xb + y(2)*yb
    f(10) = (y(1) - y(3))**2 + (y(2) - y(4))**2 - 1
  end subroutine

  subroutine index3_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), xb, yb, xbdot, ybdot
    df = 0
    call motion_df(t, y, df, ld, xb, yb, xbdot, ybdot)
    call constraint_df(y, df, ld, 9, xb, yb)
  end subroutine

  subroutine ggl_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), xb, yb, xbdot, ybdot, dx, dy
    call motion(t, y, f, xb, yb, xbdot, ybdot)
    dx = 2*(y(1) - y(3))
    dy = 2*(y(2) - y(4))
    f(1) = f(1) - xb*y(11) - dx*y(12)
    f(2) = f(2) - yb*y(11) - dy*y(12)
    f(3) = f(3) + dx*y(12)
    f(4) = f(4) + dy*y(12)
    f(9) = y(1)*xb + y(2)*yb
    f(10) = (y(1) - y(3))**2 + (y(2) - y(4))**2 - 1
    f(11) = y(5)*xb + y(6)*yb + y(1)*xbdot + y(2)*ybdot
    f(12) = dx*(y(5) - y(7)) + dy*(y(6) - y(8))
  end subroutine

  subroutine ggl_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), xb, yb, xbdot, ybdot, dx, dy
    df = 0
    call motion_df(t, y, df, ld, xb, yb, xbdot, ybdot)
    call constraint_df(y, df, ld, 9, xb, yb)
    dx = 2*(y(1) - y(3))
    dy = 2*(y(2) - y(4))
    df(1, 1) = -2*y(12)
    df(1, 3) = 2*y(12)
    df(2, 2) = -2*y(12)
    df(2, 4) = 2*y(12)
    df(3, 1) = 2*y(12)
    df(3, 3) = -2*y(12)
    df(4, 2) = 2*y(12)
    df(4, 4) = -2*y(12)
    df(1, 11) = -xb
    df(2, 11) = -yb
    df(1, 12) = -dx
    df(2, 12) = -dy
    df(3, 12) = dx
    df(4, 12) = dy
    df(11, 1) = xbdot
    df(11, 2) = ybdot
    df(11, 5) = xb
    df(11, 6) = yb
    df(12, 1) = 2*(y(5) - y(7))
    df(12, 2) = 2*(y(6) - y(8))
    df(12, 3) = -df(12, 1)
    df(12, 4) = -df(12, 2)
    df(12, 5) = dx
    df(12, 6) = dy
    df(12, 7) = -dx
    df(12, 8) = -dy
  end subroutine
end module
