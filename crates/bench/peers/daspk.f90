! DASPK of Petzold, Brown, Hindmarsh and Ulrich, direct linear algebra: M y' - f = 0. Variables of higher index are left out of its error test.
module daspk_residual
  use problem_type
  implicit none
  type(problem) :: now
  ! M by its diagonals, and f_y in the storage of the problem
  real(dp), allocatable :: m(:, :), df(:, :)
contains
  subroutine residual(n, t, y, rate, cj, r, ires, rpar, ipar)
    real(dp) :: t, y(n), rate(n), cj, r(n), rpar(1)
    integer :: n, ires, ipar(1), i, j
    call now%f(n, t, y, r, rpar, ipar)
    if (now%mass_lower < 0) then
      r(1:n) = rate(1:n) - r(1:n)
    else if (now%mass_lower == 0) then
      r(1:n) = m(1, :)*rate(1:n) - r(1:n)
    else
      r(1:n) = -r(1:n)
      do j = 1, n
        do i = max(1, j - now%mass_upper), min(n, j + now%mass_lower)
          r(i) = r(i) + m(i - j + now%mass_upper + 1, j)*rate(j)
        end do
      end do
    end if
  end subroutine

  ! M cj - f_y
  subroutine matrix(n, t, y, rate, pd, cj, rpar, ipar)
    real(dp) :: t, y(n), rate(n), pd(*), cj, rpar(1)
    integer :: n, ipar(1), i, j, rows, top
    call now%df(n, t, y, df, size(df, 1), rpar, ipar)
    if (now%lower == n) then
      rows = n
    else
      rows = 2*now%lower + now%upper + 1
    end if
    do j = 1, n
      if (now%lower == n) then
        top = (j - 1)*rows
        pd(top + 1:top + rows) = -df(:, j)
      else
        ! row i stands in i - j + lower + upper + 1
        top = (j - 1)*rows + now%lower
        pd(top + 1:top + now%lower + now%upper + 1) = -df(:, j)
        top = top + now%upper + 1 - j
      end if
      if (now%mass_lower < 0) then
        pd(top + j) = pd(top + j) + cj
      else
        do i = max(1, j - now%mass_upper), min(n, j + now%mass_lower)
          pd(top + i) = pd(top + i) + cj*m(i - j + now%mass_upper + 1, j)
        end do
      end if
    end do
  end subroutine
end module

program daspk_peer
  use ladder_module
  use daspk_residual
  implicit none
  external :: ddaspk
  real(dp), allocatable :: work(:)
  integer, allocatable :: iwork(:)
  allocate (work(50 + 9*largest + largest**2 + 2*largest), iwork(40 + 2*largest))
  call ladder(solve)
contains
  subroutine solve(p, t, tend, y, rtol, atol, h0, idid, counters)
    type(problem), intent(in) :: p
    real(dp), intent(inout) :: t, y(*)
    real(dp), intent(in) :: tend, rtol, atol, h0
    integer, intent(out) :: idid
    integer, intent(inout) :: counters(5)
    real(dp) :: rate(p%n), rpar(1)
    integer :: ipar(1), info(20), i
    now = p
    if (.not. allocated(m)) then
      allocate (m(max(p%mass_lower, 0) + max(p%mass_upper, 0) + 1, p%n))
      allocate (df(merge(p%n, p%lower + p%upper + 1, p%lower == p%n), p%n))
      if (p%mass_lower >= 0) call p%m(p%n, m, size(m, 1), rpar, ipar)
    end if
    info = 0
    call start(p, t, y(1:p%n), rate)
    info(3) = 0
    info(4) = 1
    work(1) = tend
    if (associated(p%df)) info(5) = 1
    if (p%lower /= p%n) then
      info(6) = 1
      iwork(1) = p%lower
      iwork(2) = p%upper
    end if
    info(8) = 1
    work(3) = h0
    if (p%index(2) + p%index(3) > 0) then
      info(16) = 1
      iwork(41:40 + p%n) = 1
      iwork(41 + p%index(1):40 + p%n) = -1
      if (p%index(3) > 0) iwork(41 + p%index(1):40 + p%index(1) + p%index(2)) = 1
    end if
    do i = 1, 100000
      call ddaspk(residual, p%n, t, y, rate, tend, info, rtol, atol, idid, work, size(work), iwork, size(iwork), rpar, ipar, &
        matrix, silent)
      ! 500 steps were made: go on
      if (idid /= -1) exit
      info(1) = 1
    end do
    counters = counters + iwork([11, 11, 12, 13, 13])
  end subroutine

  ! consistent derivatives: of the differential equations, or as the problem gives them
  subroutine start(p, t, y, rate)
    type(problem), intent(in) :: p
    real(dp), intent(inout) :: t, y(p%n)
    real(dp), intent(out) :: rate(p%n)
    real(dp) :: f(p%n), rpar(1)
    integer :: ipar(1)
    call p%f(p%n, t, y, f, rpar, ipar)
    if (p%mass_lower < 0) then
      rate = f
    else if (p%mass_lower == 0) then
      rate = 0
      where (m(1, :) /= 0) rate = f
    else
      rate = p%rate(1:p%n)
    end if
  end subroutine

  subroutine silent()
  end subroutine
end program
