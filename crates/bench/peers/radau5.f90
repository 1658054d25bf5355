! RADAU5 of Hairer and Wanner.
program radau5_peer
  use ladder_module
  implicit none
  external :: radau5
  real(dp), allocatable :: work(:)
  integer, allocatable :: iwork(:)
  allocate (work(4*largest**2 + 12*largest + 20), iwork(3*largest + 20))
  call ladder(solve)
contains
  subroutine solve(p, t, tend, y, rtol, atol, h0, idid, counters)
    type(problem), intent(in) :: p
    real(dp), intent(inout) :: t, y(*)
    real(dp), intent(in) :: tend, rtol, atol, h0
    integer, intent(out) :: idid
    integer, intent(inout) :: counters(5)
    real(dp) :: h, rpar(1), tolerances(2)
    integer :: ipar(1)
    procedure(rates), pointer :: f
    procedure(jacobian), pointer :: df
    procedure(mass), pointer :: m
    f => p%f
    df => p%df
    m => p%m
    h = h0
    tolerances = [rtol, atol]
    work(1:20) = 0
    if (epsilon(1d0) < 1d-20) work(1) = 1.01d-19
    iwork(1:20) = 0
    iwork(2) = 10000000
    iwork(5:7) = p%index
    call radau5(p%n, f, t, y, tend, h, tolerances(1), tolerances(2), 0, df, merge(1, 0, associated(p%df)), p%lower, &
      p%upper, m, merge(1, 0, p%mass_lower >= 0), max(p%mass_lower, 0), max(p%mass_upper, 0), silent, 0, work, size(work), &
      iwork, size(iwork), rpar, ipar, idid)
    counters = counters + iwork([16, 17, 14, 15, 19])
  end subroutine

  subroutine silent()
  end subroutine
end program
