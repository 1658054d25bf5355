! A code on a ladder of tolerances. usage: CODE PROBLEM FORM; each line of the input is "rtol atol h0 seconds", the last one what to spend on
! repetitions; each line of the output is "seconds idid steps accepted functions jacobians decompositions y…", with the shortest time.
module ladder_module
  use problem_type
  use catalogue
  use iso_fortran_env, only: int64
  implicit none

  abstract interface
    ! from t to tend; idid is negative where the code gives up; the counters are added to
    subroutine code(p, t, tend, y, rtol, atol, h0, idid, counters)
      import problem, dp
      type(problem), intent(in) :: p
      real(dp), intent(inout) :: t, y(*)
      real(dp), intent(in) :: tend, rtol, atol, h0
      integer, intent(out) :: idid
      integer, intent(inout) :: counters(5)
    end subroutine
  end interface
contains
  subroutine ladder(solve)
    procedure(code) :: solve
    type(problem) :: p
    character(64) :: name, form
    real(dp) :: rtol, atol, h0, y(largest)
    real(4) :: budget
    integer :: status, idid, counters(5), repetition
    integer(int64) :: begin, now, rate, shortest, spent
    call get_command_argument(1, name)
    call get_command_argument(2, form)
    call find(trim(name), trim(form), p)
    do
      read (*, *, iostat=status) rtol, atol, h0, budget
      if (status /= 0) exit
      shortest = huge(shortest)
      spent = 0
      do repetition = 1, 100000
        call system_clock(begin, rate)
        call once(y, idid, counters)
        call system_clock(now)
        shortest = min(shortest, now - begin)
        spent = spent + now - begin
        if (idid < 0 .or. real(spent)/real(rate) > budget) exit
      end do
      print '(es16.8,6(1x,i0),*(1x,es45.34e4))', real(shortest)/real(rate), idid, counters, y(1:p%n)
      flush (6)
    end do
  contains
    subroutine once(y, idid, counters)
      real(dp), intent(out) :: y(largest)
      integer, intent(out) :: idid, counters(5)
      real(dp) :: t
      y = p%y
      t = p%t
      counters = 0
      piece = 1
      if (p%break > 0) then
        call solve(p, t, p%break, y, rtol, atol, h0, idid, counters)
        if (idid < 0) return
        piece = 2
        t = p%break
      end if
      call solve(p, t, p%tend, y, rtol, atol, h0, idid, counters)
    end subroutine
  end subroutine
end module
