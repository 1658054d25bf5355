! Jacobians by hand against differences, near the start of every problem: the largest error ÷ (largest entry of its row and 1).
program check
  use catalogue
  implicit none
  character(24), parameter :: names(2, 18) = reshape([character(24) :: &
    'hires', '-', 'oregonator', '-', 'robertson', '-', 'e5', '-', 'van-der-pol', '-', 'pollution', '-', &
    'transistor-amplifier', '-', 'medical-akzo-nobel', '-', 'pendulum', 'index3', 'pendulum', 'ggl', 'pendulum', 'index1', &
    'car-axis', 'index3', 'car-axis', 'ggl', 'andrews', 'index3', 'andrews', 'index1', &
    'flexible-slider-crank', 'index3', 'flexible-slider-crank', 'index2', 'flexible-slider-crank', 'index1'], [2, 18])
  type(problem) :: p
  integer :: k, i, j, ipar(1), row
  logical :: wrong
  real(dp), allocatable :: y(:), moved(:), up(:), down(:), df(:, :), difference(:, :), size_of(:)
  real(dp) :: h, rpar(1), error, entry
  wrong = .false.
  do k = 1, 18
    call find(trim(names(1, k)), trim(names(2, k)), p)
    allocate (y(p%n), moved(p%n), up(p%n), down(p%n), difference(p%n, p%n), size_of(p%n))
    allocate (df(merge(p%n, p%lower + p%upper + 1, p%lower == p%n), p%n))
    do i = 1, p%n
      y(i) = p%y(i)*(1 + 0.01d0*sin(1d0*i)) + 0.01d0*cos(2d0*i)
    end do
    call p%df(p%n, 0.3d0, y, df, size(df, 1), rpar, ipar)
    do j = 1, p%n
      h = 1d-6*max(1d-2, abs(y(j)))
      moved = y
      moved(j) = y(j) + h
      call p%f(p%n, 0.3d0, moved, up, rpar, ipar)
      moved(j) = y(j) - h
      call p%f(p%n, 0.3d0, moved, down, rpar, ipar)
      difference(:, j) = (up - down)/(2*h)
    end do
    size_of = max(1d0, maxval(abs(difference), 2))
    error = 0
    do j = 1, p%n
      do i = 1, p%n
        entry = 0
        if (p%lower == p%n) then
          entry = df(i, j)
        else
          row = i - j + p%upper + 1
          if (row >= 1 .and. row <= size(df, 1)) entry = df(row, j)
        end if
        error = max(error, abs(entry - difference(i, j))/size_of(i))
      end do
    end do
    wrong = wrong .or. error > 1d-5
    print '(a24,a8,es10.1)', names(:, k), error
    deallocate (y, moved, up, down, difference, size_of, df)
  end do
  if (wrong) stop 1
end program
