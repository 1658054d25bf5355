! DOP853 of Hairer and Wanner, for ordinary differential equations.
program dop853_peer
  use ladder_module
  implicit none
  external :: dop853
  real(dp), allocatable :: work(:)
  integer, allocatable :: iwork(:)
  allocate (work(11*largest + 21), iwork(21))
  call ladder(solve)
contains
  subroutine solve(p, t, tend, y, rtol, atol, h0, idid, counters)
    type(problem), intent(in) :: p
    real(dp), intent(inout) :: t, y(*)
    real(dp), intent(in) :: tend, rtol, atol, h0
    integer, intent(out) :: idid
    integer, intent(inout) :: counters(5)
    real(dp) :: rpar(1), tolerances(2)
    integer :: ipar(1)
    procedure(rates), pointer :: f
    f => p%f
    tolerances = [rtol, atol]
    work(1:20) = 0
    ! it chooses its first step
    work(7) = 0*h0
    iwork(1:20) = 0
    iwork(1) = 10000000
    iwork(3) = -1
    call dop853(p%n, f, t, y, tend, tolerances(1), tolerances(2), 0, silent, 0, work, size(work), iwork, size(iwork), &
      rpar, ipar, idid)
    counters(1:3) = counters(1:3) + iwork([18, 19, 17])
  end subroutine

  subroutine silent()
  end subroutine
end program
