! Medical Akzo Nobel: 400 equations by the method of lines, a boundary value that jumps at t = 5. Test set, release 2.4.
module medical_akzo_nobel_problem
  use problem_type
  implicit none
  private
  public :: medical_akzo_nobel
  integer, parameter :: points = 200
  real(dp), parameter :: k = 100, c = 4, dz = 1d0/points
  ! weights of u(j-1), u(j) and u(j+1)
  real(dp) :: before(points), here(points), after(points)
contains
  subroutine medical_akzo_nobel(p)
    type(problem), intent(out) :: p
    integer :: j
    real(dp) :: alpha, beta
    p%n = 2*points
    p%tend = 20
    p%break = 5
    p%y(2:p%n:2) = 1
    p%lower = 2
    p%upper = 2
    ! within a piece
    p%autonomous = .true.
    p%f => akzo_f
    p%df => akzo_df
    do j = 1, points
      alpha = 2*(j*dz - 1)**3/c**2/(2*dz)
      beta = (j*dz - 1)**4/c**2/dz**2
      before(j) = beta - alpha
      here(j) = -2*beta
      after(j) = beta + alpha
    end do
  end subroutine

  subroutine akzo_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*), j
    real(dp) :: t, y(n), f(n), rpar(*), reaction, inflow
    inflow = merge(2d0, 0d0, piece == 1)
    reaction = k*y(1)*y(2)
    f(1) = before(1)*inflow + here(1)*y(1) + after(1)*y(3) - reaction
    f(2) = -reaction
    do j = 2, points - 1
      reaction = k*y(2*j - 1)*y(2*j)
      f(2*j - 1) = before(j)*y(2*j - 3) + here(j)*y(2*j - 1) + after(j)*y(2*j + 1) - reaction
      f(2*j) = -reaction
    end do
    reaction = k*y(n - 1)*y(n)
    f(n - 1) = before(points)*y(n - 3) + (here(points) + after(points))*y(n - 1) - reaction
    f(n) = -reaction
  end subroutine

  subroutine akzo_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*), j
    real(dp) :: t, y(n), df(ld, n), rpar(*)
    ! df(i - j + 3, j)
    df = 0
    do j = 1, points
      df(3, 2*j - 1) = here(j) - k*y(2*j)
      df(2, 2*j) = -k*y(2*j - 1)
      df(4, 2*j - 1) = -k*y(2*j)
      df(3, 2*j) = -k*y(2*j - 1)
      if (j > 1) df(5, 2*j - 3) = before(j)
      if (j < points) df(1, 2*j + 1) = after(j)
    end do
    df(3, n - 1) = df(3, n - 1) + after(points)
  end subroutine
end module
