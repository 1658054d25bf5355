! Andrews' squeezing mechanism. y = (p, v, a, lambda) of index 3 or 1, or (p, v) with accelerations eliminated by hand:
! `saddle` solves for accelerations and multipliers together, `loops` closes the three loops by systems of two equations each.
! Every term of a constraint depends on one of the angles psi = (beta, beta+theta, gamma, phi+delta, delta, omega+epsilon, epsilon).
module andrews_problem
  use problem_type
  use dense
  implicit none
  private
  public :: andrews
  real(dp), parameter :: mom = 0.033d0, c0 = 4530, l0 = 0.07785d0
  real(dp), parameter :: m1 = 0.04325d0, m2 = 0.00365d0, m3 = 0.02373d0, m4 = 0.00706d0, m5 = 0.0705d0, m6 = 0.00706d0, &
    m7 = 0.05498d0
  real(dp), parameter :: I1 = 2.194d-6, I2 = 4.41d-7, I3 = 5.255d-6, I4 = 5.667d-7, I5 = 1.169d-5, I6 = 5.667d-7, I7 = 1.912d-5
  real(dp), parameter :: xa = -0.06934d0, ya = -0.00227d0, xb = -0.03635d0, yb = 0.03273d0, xc = 0.014d0, yc = 0.072d0
  real(dp), parameter :: rr = 0.007d0, ra = 0.00092d0, d = 0.028d0, da = 0.0115d0, ss = 0.035d0, sa = 0.01874d0, &
    sb = 0.01043d0, sc = 0.018d0, sd = 0.02d0, e = 0.02d0, ea = 0.01421d0, zt = 0.04d0, ta = 0.02308d0, tb = 0.00916d0, &
    zf = 0.02d0, fa = 0.01421d0, u = 0.04d0, ua = 0.01228d0, ub = 0.00449d0
  real(dp), parameter :: crank = m2*da*rr, left = m4*zt*(e - ea), right = m6*u*(zf - fa)
  ! constant parts of the mass matrix
  real(dp), parameter :: M11 = m1*ra*ra + m2*(rr*rr + da*da) + I1 + I2, M22 = m2*da*da + I2, M33 = m3*(sa*sa + sb*sb) + I3, &
    M44 = m4*(e - ea)**2 + I4, M55 = m4*(zt*zt + (e - ea)**2) + m5*(ta*ta + tb*tb) + I4 + I5, &
    M66 = m6*(zf - fa)**2 + I6, M77 = m6*((zf - fa)**2 + u*u) + m7*(ua*ua + ub*ub) + I6 + I7

  type terms
    ! mass matrix, first and second derivatives of the constraints by psi
    real(dp) :: M11, M12, M45, M55, M67, M77
    real(dp) :: c(7), s(7)
    ! gyroscopic coefficients
    real(dp) :: q, l, r
  end type
contains
  subroutine andrews(p, form)
    type(problem), intent(out) :: p
    character(*), intent(in) :: form
    real(dp) :: a(7), lambda(6)
    p%n = 27
    p%tend = 0.03d0
    p%y(1:7) = [-0.0617138900142764496358948458001d0, 0d0, 0.455279819163070380255912382449d0, &
      0.222668390165885884674473185609d0, 0.487364979543842550225598953530d0, -0.222668390165885884674473185609d0, &
      1.23054744454982119249735015568d0]
    call saddle(p%y(1:7), p%y(8:14), a, lambda)
    p%y(15:21) = a
    p%y(22:27) = lambda
    p%mass_lower = 0
    p%mass_upper = 0
    p%m => andrews_m
    select case (form)
    case ('index3')
      p%index = [7, 7, 13]
      p%f => index3_f
      p%df => index3_df
    case ('index1')
      p%f => index1_f
      p%df => index1_df
    case ('saddle', 'loops')
      p%n = 14
      p%mass_lower = -1
      p%m => null()
      p%f => saddle_f
      if (form == 'loops') p%f => loops_f
    case default
      p%n = 0
    end select
  end subroutine

  subroutine andrews_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    call diagonal(n, m, 14)
  end subroutine

  pure function angles(p) result(psi)
    real(dp), intent(in) :: p(7)
    real(dp) :: psi(7)
    psi = [p(1), p(1) + p(2), p(3), p(4) + p(5), p(5), p(6) + p(7), p(7)]
  end function

  ! derivatives by psi, summed up to derivatives by p
  pure function to_p(x) result(z)
    real(dp), intent(in) :: x(7)
    real(dp) :: z(7)
    z = [x(1) + x(2), x(2), x(3), x(4), x(4) + x(5), x(6), x(6) + x(7)]
  end function

  subroutine prepare(p, at)
    real(dp), intent(in) :: p(7)
    type(terms), intent(out) :: at
    real(dp) :: psi(7), c, s
    psi = angles(p)
    at%c = cos(psi)
    at%s = sin(psi)
    c = crank*cos(p(2))
    at%q = crank*sin(p(2))
    at%M11 = M11 - 2*c
    at%M12 = M22 - c
    s = left*sin(p(4))
    at%l = left*cos(p(4))
    at%M45 = M44 + s
    at%M55 = M55 + 2*s
    s = right*sin(p(6))
    at%r = right*cos(p(6))
    at%M67 = M66 - s
    at%M77 = M77 - 2*s
  end subroutine

  ! the constraints' terms: D1 first, D2 second derivatives by psi, 6 x 7
  pure subroutine derivatives(at, D1, D2)
    type(terms), intent(in) :: at
    real(dp), intent(out) :: D1(6, 7), D2(6, 7)
    D1 = 0
    D2 = 0
    D1(1:5:2, 1) = -rr*at%s(1)
    D1(2:6:2, 1) = rr*at%c(1)
    D2(1:5:2, 1) = -rr*at%c(1)
    D2(2:6:2, 1) = -rr*at%s(1)
    D1(1:5:2, 2) = d*at%s(2)
    D1(2:6:2, 2) = -d*at%c(2)
    D2(1:5:2, 2) = d*at%c(2)
    D2(2:6:2, 2) = d*at%s(2)
    D1(1, 3) = -ss*at%c(3)
    D1(2, 3) = -ss*at%s(3)
    D2(1, 3) = ss*at%s(3)
    D2(2, 3) = -ss*at%c(3)
    D1(3, 4) = -e*at%c(4)
    D1(4, 4) = -e*at%s(4)
    D2(3, 4) = e*at%s(4)
    D2(4, 4) = -e*at%c(4)
    D1(3, 5) = zt*at%s(5)
    D1(4, 5) = -zt*at%c(5)
    D2(3, 5) = zt*at%c(5)
    D2(4, 5) = zt*at%s(5)
    D1(5, 6) = zf*at%s(6)
    D1(6, 6) = -zf*at%c(6)
    D2(5, 6) = zf*at%c(6)
    D2(6, 6) = zf*at%s(6)
    D1(5, 7) = -u*at%c(7)
    D1(6, 7) = -u*at%s(7)
    D2(5, 7) = u*at%s(7)
    D2(6, 7) = -u*at%c(7)
  end subroutine

  pure subroutine constraints(at, g)
    type(terms), intent(in) :: at
    real(dp), intent(out) :: g(6)
    g(1:5:2) = rr*at%c(1) - d*at%c(2)
    g(2:6:2) = rr*at%s(1) - d*at%s(2)
    g(1) = g(1) - ss*at%s(3) - xb
    g(2) = g(2) + ss*at%c(3) - yb
    g(3) = g(3) - e*at%s(4) - zt*at%c(5) - xa
    g(4) = g(4) + e*at%c(4) - zt*at%s(5) - ya
    g(5) = g(5) - zf*at%c(6) - u*at%s(7) - xa
    g(6) = g(6) - zf*at%s(6) + u*at%c(7) - ya
  end subroutine

  ! forces, and the derivative of the spring's by gamma
  pure subroutine forces(at, v, f, dspring)
    type(terms), intent(in) :: at
    real(dp), intent(in) :: v(7)
    real(dp), intent(out) :: f(7), dspring
    real(dp) :: x, y, dx, dy, length, spring, h
    x = sd*at%c(3) + sc*at%s(3) + (xb - xc)
    y = sd*at%s(3) - sc*at%c(3) + (yb - yc)
    dx = sc*at%c(3) - sd*at%s(3)
    dy = sd*at%c(3) + sc*at%s(3)
    length = sqrt(x*x + y*y)
    spring = -c0*(length - l0)/length
    h = x*dx + y*dy
    f(1) = mom - at%q*v(2)*(v(2) + 2*v(1))
    f(2) = at%q*v(1)**2
    f(3) = spring*h
    f(4) = at%l*v(5)**2
    f(5) = -at%l*v(4)*(v(4) + 2*v(5))
    f(6) = -at%r*v(7)**2
    f(7) = at%r*v(6)*(v(6) + 2*v(7))
    dspring = -c0*l0*h*h/length**3 + spring*(dx*dx + dy*dy - x*dy + y*dx)
  end subroutine

  pure function times_mass(at, a) result(b)
    type(terms), intent(in) :: at
    real(dp), intent(in) :: a(7)
    real(dp) :: b(7)
    b(1) = at%M11*a(1) + at%M12*a(2)
    b(2) = at%M12*a(1) + M22*a(2)
    b(3) = M33*a(3)
    b(4) = M44*a(4) + at%M45*a(5)
    b(5) = at%M45*a(4) + at%M55*a(5)
    b(6) = M66*a(6) + at%M67*a(7)
    b(7) = at%M67*a(6) + at%M77*a(7)
  end function

  ! p' = v, v' = a, 0 = M a - f + G^T lambda
  subroutine dynamics(y, f, at, D1, D2)
    real(dp), intent(in) :: y(27)
    real(dp), intent(out) :: f(21), D1(6, 7), D2(6, 7)
    type(terms), intent(out) :: at
    real(dp) :: force(7), unused
    call prepare(y(1:7), at)
    call derivatives(at, D1, D2)
    call forces(at, y(8:14), force, unused)
    f(1:14) = y(8:21)
    f(15:21) = times_mass(at, y(15:21)) - force + to_p(matmul(y(22:27), D1))
  end subroutine

  subroutine index3_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), D1(6, 7), D2(6, 7)
    type(terms) :: at
    call dynamics(y, f, at, D1, D2)
    call constraints(at, f(22:27))
  end subroutine

  subroutine index1_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), D1(6, 7), D2(6, 7)
    type(terms) :: at
    call dynamics(y, f, at, D1, D2)
    f(22:27) = matmul(D1, angles(y(15:21))) + matmul(D2, angles(y(8:14))**2)
  end subroutine

  subroutine dynamics_df(y, df, ld, D1, D2)
    integer, intent(in) :: ld
    real(dp), intent(in) :: y(27)
    real(dp), intent(out) :: df(ld, 27), D1(6, 7), D2(6, 7)
    type(terms) :: at
    real(dp) :: force(7), dspring, w(7), G(6, 7), qc, ls, rs
    integer :: i
    associate (v => y(8:14), a => y(15:21))
      df = 0
      call prepare(y(1:7), at)
      call derivatives(at, D1, D2)
      call forces(at, v, force, dspring)
      do i = 1, 14
        df(i, 7 + i) = 1
      end do
      ! (G^T lambda)_p = T^T diag(w) T
      w = matmul(y(22:27), D2)
      df(15, 1) = w(1) + w(2)
      df(15, 2) = w(2)
      df(16, 1) = w(2)
      df(16, 2) = w(2)
      df(17, 3) = w(3) - dspring
      df(18, 4) = w(4)
      df(18, 5) = w(4)
      df(19, 4) = w(4)
      df(19, 5) = w(4) + w(5)
      df(20, 6) = w(6)
      df(20, 7) = w(6)
      df(21, 6) = w(6)
      df(21, 7) = w(6) + w(7)
      ! (M a - f)_p
      qc = (M11 - at%M11)/2
      ls = at%M45 - M44
      rs = M66 - at%M67
      df(15, 2) = df(15, 2) + at%q*(2*a(1) + a(2)) + qc*v(2)*(v(2) + 2*v(1))
      df(16, 2) = df(16, 2) + at%q*a(1) - qc*v(1)**2
      df(18, 4) = df(18, 4) + at%l*a(5) + ls*v(5)**2
      df(19, 4) = df(19, 4) + at%l*(a(4) + 2*a(5)) - ls*v(4)*(v(4) + 2*v(5))
      df(20, 6) = df(20, 6) - at%r*a(7) - rs*v(7)**2
      df(21, 6) = df(21, 6) - at%r*(a(6) + 2*a(7)) + rs*v(6)*(v(6) + 2*v(7))
      ! -f_v
      df(15, 8) = 2*at%q*v(2)
      df(15, 9) = 2*at%q*(v(1) + v(2))
      df(16, 8) = -2*at%q*v(1)
      df(18, 12) = -2*at%l*v(5)
      df(19, 11) = 2*at%l*(v(4) + v(5))
      df(19, 12) = 2*at%l*v(4)
      df(20, 14) = 2*at%r*v(7)
      df(21, 13) = -2*at%r*(v(6) + v(7))
      df(21, 14) = -2*at%r*v(6)
      ! M
      df(15, 15) = at%M11
      df(15, 16) = at%M12
      df(16, 15) = at%M12
      df(16, 16) = M22
      df(17, 17) = M33
      df(18, 18) = M44
      df(18, 19) = at%M45
      df(19, 18) = at%M45
      df(19, 19) = at%M55
      df(20, 20) = M66
      df(20, 21) = at%M67
      df(21, 20) = at%M67
      df(21, 21) = at%M77
      ! G^T
      do i = 1, 6
        G(i, :) = to_p(D1(i, :))
      end do
      df(15:21, 22:27) = transpose(G)
    end associate
  end subroutine

  subroutine index3_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), D1(6, 7), D2(6, 7)
    call dynamics_df(y, df, ld, D1, D2)
    df(22:27, 1:7) = transpose(df(15:21, 22:27))
  end subroutine

  subroutine index1_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), D1(6, 7), D2(6, 7), rate(7), second(7)
    integer :: i
    call dynamics_df(y, df, ld, D1, D2)
    df(22:27, 15:21) = transpose(df(15:21, 22:27))
    rate = angles(y(8:14))
    second = angles(y(15:21))
    do i = 1, 6
      df(21 + i, 1:7) = to_p(D2(i, :)*second - D1(i, :)*rate**2)
      df(21 + i, 8:14) = to_p(2*D2(i, :)*rate)
    end do
  end subroutine

  ! accelerations and multipliers of a motion
  subroutine saddle(p, v, a, lambda)
    real(dp), intent(in) :: p(7), v(7)
    real(dp), intent(out) :: a(7), lambda(6)
    type(terms) :: at
    real(dp) :: D1(6, 7), D2(6, 7), force(7), unused, S(13, 13), b(13), row(7)
    integer :: i
    call prepare(p, at)
    call derivatives(at, D1, D2)
    call forces(at, v, force, unused)
    S = 0
    S(1, 1) = at%M11
    S(1, 2) = at%M12
    S(2, 1) = at%M12
    S(2, 2) = M22
    S(3, 3) = M33
    S(4, 4) = M44
    S(4, 5) = at%M45
    S(5, 4) = at%M45
    S(5, 5) = at%M55
    S(6, 6) = M66
    S(6, 7) = at%M67
    S(7, 6) = at%M67
    S(7, 7) = at%M77
    do i = 1, 6
      row = to_p(D1(i, :))
      S(7 + i, 1:7) = row
      S(1:7, 7 + i) = row
    end do
    b(1:7) = force
    b(8:13) = -matmul(D2, angles(v)**2)
    call eliminate(13, S, b)
    a = b(1:7)
    lambda = b(8:13)
  end subroutine

  subroutine saddle_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), lambda(6)
    f(1:7) = y(8:14)
    call saddle(y(1:7), y(8:14), f(8:14), lambda)
  end subroutine

  ! every loop gives two angles from beta and theta, the first one theta and gamma from beta: a = rest + direction*beta''
  subroutine loops_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*)
    type(terms) :: at
    real(dp) :: rate(7), force(7), unused, rest(7), direction(7), image(7), x, z, bx, bz, tx, tz
    call prepare(y(1:7), at)
    call forces(at, y(8:14), force, unused)
    rate = angles(y(8:14))**2
    ! second derivative of P = (rr cos psi1 - d cos psi2, ...): columns of beta'' and theta'', and what velocities give
    tx = d*at%s(2)
    tz = -d*at%c(2)
    bx = tx - rr*at%s(1)
    bz = tz + rr*at%c(1)
    x = d*at%c(2)*rate(2) - rr*at%c(1)*rate(1)
    z = d*at%s(2)*rate(2) - rr*at%s(1)*rate(1)
    rest(1) = 0
    direction(1) = 1
    ! loop 1: theta'' and gamma''
    call pair(tx, tz, -ss*at%c(3), -ss*at%s(3), -x - ss*at%s(3)*rate(3), -z + ss*at%c(3)*rate(3), rest(2), rest(3))
    call pair(tx, tz, -ss*at%c(3), -ss*at%s(3), -bx, -bz, direction(2), direction(3))
    ! P'' of rest and direction
    x = x + tx*rest(2)
    z = z + tz*rest(2)
    bx = bx + tx*direction(2)
    bz = bz + tz*direction(2)
    ! loop 2: phi'' + delta'', then delta''
    call pair(-e*at%c(4), -e*at%s(4), zt*at%s(5), -zt*at%c(5), -x - e*at%s(4)*rate(4) - zt*at%c(5)*rate(5), &
      -z + e*at%c(4)*rate(4) - zt*at%s(5)*rate(5), rest(4), rest(5))
    call pair(-e*at%c(4), -e*at%s(4), zt*at%s(5), -zt*at%c(5), -bx, -bz, direction(4), direction(5))
    rest(4) = rest(4) - rest(5)
    direction(4) = direction(4) - direction(5)
    ! loop 3: omega'' + epsilon'', then epsilon''
    call pair(zf*at%s(6), -zf*at%c(6), -u*at%c(7), -u*at%s(7), -x - zf*at%c(6)*rate(6) - u*at%s(7)*rate(7), &
      -z - zf*at%s(6)*rate(6) + u*at%c(7)*rate(7), rest(6), rest(7))
    call pair(zf*at%s(6), -zf*at%c(6), -u*at%c(7), -u*at%s(7), -bx, -bz, direction(6), direction(7))
    rest(6) = rest(6) - rest(7)
    direction(6) = direction(6) - direction(7)
    image = times_mass(at, direction)
    f(1:7) = y(8:14)
    f(8:14) = rest + direction*((dot_product(direction, force) - dot_product(image, rest))/dot_product(image, direction))
  end subroutine

  ! (a, b) x + (c, d) y = (e, f)
  pure subroutine pair(a, b, c, d, e, f, x, y)
    real(dp), intent(in) :: a, b, c, d, e, f
    real(dp), intent(out) :: x, y
    real(dp) :: determinant
    determinant = 1/(a*d - b*c)
    x = (e*d - f*c)*determinant
    y = (a*f - b*e)*determinant
  end subroutine
end module
