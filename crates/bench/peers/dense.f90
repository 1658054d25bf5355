! Small dense systems: elimination with partial pivoting.
module dense
  use problem_type, only: dp
  implicit none
contains
  ! A x = b; A is overwritten and b becomes x
  subroutine eliminate(n, A, b)
    integer, intent(in) :: n
    real(dp), intent(inout) :: A(n, n), b(n)
    integer :: k, j, pivot
    real(dp) :: swap
    do k = 1, n
      pivot = k - 1 + maxloc(abs(A(k:n, k)), 1)
      if (pivot /= k) then
        do j = k, n
          swap = A(k, j)
          A(k, j) = A(pivot, j)
          A(pivot, j) = swap
        end do
        swap = b(k)
        b(k) = b(pivot)
        b(pivot) = swap
      end if
      A(k + 1:n, k) = A(k + 1:n, k)/A(k, k)
      do j = k + 1, n
        if (A(k, j) /= 0) A(k + 1:n, j) = A(k + 1:n, j) - A(k, j)*A(k + 1:n, k)
      end do
      b(k + 1:n) = b(k + 1:n) - b(k)*A(k + 1:n, k)
    end do
    do k = n, 1, -1
      b(k) = b(k)/A(k, k)
      b(1:k - 1) = b(1:k - 1) - b(k)*A(1:k - 1, k)
    end do
  end subroutine
end module
