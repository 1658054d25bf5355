! Pleiades: seven stars in a plane as a system of order one. Test set for initial value problem solvers, release 2.4.
module pleiades_problem
  use problem_type
  implicit none
  private
  public :: pleiades
contains
  subroutine pleiades(p)
    type(problem), intent(out) :: p
    p%n = 28
    p%tend = 3
    p%y(1:7) = [3, 3, -1, -3, 2, -2, 2]
    p%y(8:14) = [3, -3, 2, 0, 0, -4, 4]
    p%y(20:21) = [1.75d0, -1.5d0]
    p%y(25:26) = [-1.25d0, 1d0]
    p%f => pleiades_f
  end subroutine

  subroutine pleiades_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*), i, j
    real(dp) :: t, y(n), f(n), rpar(*), dx, dy, square, cube
    f(1:14) = y(15:28)
    f(15:28) = 0
    do i = 2, 7
      do j = 1, i - 1
        dx = y(j) - y(i)
        dy = y(j + 7) - y(i + 7)
        square = dx*dx + dy*dy
        cube = 1/(square*sqrt(square))
        f(14 + i) = f(14 + i) + j*dx*cube
        f(21 + i) = f(21 + i) + j*dy*cube
        f(14 + j) = f(14 + j) - i*dx*cube
        f(21 + j) = f(21 + j) - i*dy*cube
      end do
    end do
  end subroutine
end module
