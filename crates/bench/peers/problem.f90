! What a classical code is given: M y' = f(t, y) with its Jacobian, by hand, in the calling sequences of Hairer and Wanner.
module problem_type
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: largest = 400

  abstract interface
    subroutine rates(n, t, y, f, rpar, ipar)
      import dp
      integer :: n, ipar(*)
      real(dp) :: t, y(n), f(n), rpar(*)
    end subroutine
    subroutine jacobian(n, t, y, df, ld, rpar, ipar)
      import dp
      integer :: n, ld, ipar(*)
      real(dp) :: t, y(n), df(ld, n), rpar(*)
    end subroutine
    subroutine mass(n, m, ld, rpar, ipar)
      import dp
      integer :: n, ld, ipar(*)
      real(dp) :: m(ld, n), rpar(*)
    end subroutine
  end interface

  type problem
    integer :: n = 0
    real(dp) :: t = 0, tend = 0
    ! where f jumps; the code starts anew there
    real(dp) :: break = -1
    real(dp) :: y(largest) = 0
    ! consistent derivatives, where M is no diagonal
    real(dp) :: rate(largest) = 0
    ! half bandwidths of the Jacobian; n if it is full
    integer :: lower = 0, upper = 0
    ! half bandwidths of M; no M if negative
    integer :: mass_lower = -1, mass_upper = -1
    ! numbers of the variables of index 1, 2 and 3, which stand in this order
    integer :: index(3) = 0
    logical :: autonomous = .true.
    procedure(rates), pointer, nopass :: f => null()
    ! differences by the code itself where there is none
    procedure(jacobian), pointer, nopass :: df => null()
    procedure(mass), pointer, nopass :: m => null()
  end type

  ! which piece between jumps is being solved
  integer :: piece = 1
contains
  ! identity, then zeros: the first `differential` rows are differential equations
  subroutine diagonal(n, m, differential)
    integer, intent(in) :: n, differential
    real(dp), intent(out) :: m(1, n)
    m = 0
    m(1, 1:differential) = 1
  end subroutine
end module
