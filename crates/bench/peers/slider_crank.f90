! Slider crank with a flexible rod: y = (p, v, a, lambda) of index 3, 2 or 1. Test set for initial value problem solvers, release 2.4.
module slider_crank_problem
  use problem_type
  use dense
  implicit none
  private
  public :: slider_crank
  real(dp), parameter :: pi = 3.1415927d0, E = 2d11, m2 = 0.151104d0, m3 = 0.075552d0, l1 = 0.15d0, l2 = 0.3d0, &
    J1 = 0.002727d0, J2 = 0.0045339259d0, b = 0.008d0, h = 0.008d0, rho = 7870, omega = 150
  real(dp), parameter :: area = b*h, volume = area*l2, rod = rho*volume, stiffness = E*area/l2, &
    bending = pi**4/24*(h/l2)**2
  real(dp), parameter :: X = volume*16/pi**3, Y = volume*(8/pi**3 - 1/pi), Z = volume*0.5d0/pi
  ! products with the modes
  real(dp), parameter :: c1(4) = [0d0, 0d0, volume*2/3, volume/6], c2(4) = [volume*2/pi, 0d0, 0d0, 0d0], &
    c12(4) = [0d0, 0d0, volume*l2/3, volume*l2/6], c21(4) = [volume*l2/pi, -l2*Z, 0d0, 0d0]
contains
  subroutine slider_crank(p, form)
    type(problem), intent(out) :: p
    character(*), intent(in) :: form
    real(dp) :: S(10, 10), r(10), M(7, 7), f(7), G(3, 7)
    p%n = 24
    p%tend = 0.1d0
    p%y(1:7) = [0d0, 0d0, l1 + l2 + 1.69327969d-5, 0d0, 0d0, 1.03339863d-5, 1.69327969d-5]
    p%y(8:14) = [150d0, -74.99576703969453d0, -2.68938671997904d-6, 0.444896112581599d0, 0.00463433931923867d0, &
      -1.78591076000055d-6, -2.68938671997904d-6]
    call motion(p%y(1:7), p%y(8:14), M, f, G)
    S = 0
    S(1:7, 1:7) = M
    S(8:10, 1:7) = G
    S(1:7, 8:10) = transpose(G)
    r(1:7) = f
    r(8:10) = -turning(p%y(1:7), p%y(8:14))
    call eliminate(10, S, r)
    p%y(15:24) = r
    p%mass_lower = 0
    p%mass_upper = 0
    p%autonomous = .false.
    p%m => crank_m
    select case (form)
    case ('index3')
      p%index = [7, 7, 10]
      p%f => index3_f
      p%df => index3_df
    case ('index2')
      p%index = [14, 10, 0]
      p%f => index2_f
      p%df => index2_df
    case ('index1')
      p%f => index1_f
      p%df => index1_df
    case default
      p%n = 0
    end select
  end subroutine

  subroutine crank_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    call diagonal(n, m, 14)
  end subroutine

  ! products of the modes with their matrices
  pure function times_mass(q) result(r)
    real(dp), intent(in) :: q(4)
    real(dp) :: r(4)
    r = rod*[0.5d0*q(1), 0.5d0*q(2), 8*q(3) + q(4), q(3) + 2*q(4)]
  end function
  pure function times_stiffness(q) result(r)
    real(dp), intent(in) :: q(4)
    real(dp) :: r(4)
    r = stiffness*[bending*q(1), 16*bending*q(2), (16*q(3) - 8*q(4))/3, (-8*q(3) + 7*q(4))/3]
  end function
  pure function times_b(q) result(r)
    real(dp), intent(in) :: q(4)
    real(dp) :: r(4)
    r = [-X*q(3) + Y*q(4), Z*q(4), X*q(1), -Y*q(1) - Z*q(2)]
  end function

  subroutine motion(p, v, M, f, G)
    real(dp), intent(in) :: p(7), v(7)
    real(dp), intent(out) :: M(7, 7), f(7), G(3, 7)
    real(dp) :: c, s, q(4), w(4), c1q, c2q, c12q, mq(4)
    c = cos(p(1) - p(2))
    s = sin(p(1) - p(2))
    q = p(4:7)
    w = v(4:7)
    mq = times_mass(q)
    c1q = dot_product(c1, q)
    c2q = dot_product(c2, q)
    c12q = dot_product(c12, q)
    M = 0
    M(1, 1) = J1 + m2*l1*l1
    M(1, 2) = 0.5d0*l1*l2*m2*c + rho*l1*(c*c1q + s*c2q)
    M(2, 1) = M(1, 2)
    M(2, 2) = dot_product(q, mq) + 2*rho*c12q + J2
    M(3, 3) = m3
    M(1, 4:7) = rho*l1*(c*c2 - s*c1)
    M(2, 4:7) = rho*(c21 - times_b(q))
    M(4:7, 1) = M(1, 4:7)
    M(4:7, 2) = M(2, 4:7)
    M(4, 4) = rod*0.5d0
    M(5, 5) = rod*0.5d0
    M(6, 6) = rod*8
    M(6, 7) = rod
    M(7, 6) = rod
    M(7, 7) = rod*2
    f(1) = -0.5d0*l1*l2*m2*v(2)**2*s + rho*l1*v(2)**2*(c*c2q - s*c1q) &
      - 2*rho*l1*v(2)*(c*dot_product(c1, w) + s*dot_product(c2, w))
    f(2) = 0.5d0*l1*l2*m2*v(1)**2*s + rho*l1*v(1)**2*(s*c1q - c*c2q) &
      - 2*v(2)*(rho*dot_product(c12, w) + dot_product(w, mq))
    f(3) = 0
    f(4:7) = v(2)**2*(mq + rho*c12) + rho*l1*v(1)**2*(c*c1 + s*c2) + 2*rho*v(2)*times_b(w) - times_stiffness(q)
    G = 0
    G(1, 1) = l1*cos(p(1))
    G(1, 2) = (l2 + q(4))*cos(p(2))
    G(1, 7) = sin(p(2))
    G(2, 1) = l1*sin(p(1))
    G(2, 2) = (l2 + q(4))*sin(p(2))
    G(2, 3) = 1
    G(2, 7) = -cos(p(2))
    G(3, 1) = 1
  end subroutine

  ! second derivative of the constraints without accelerations
  pure function turning(p, v) result(r)
    real(dp), intent(in) :: p(7), v(7)
    real(dp) :: r(3), c, s
    c = cos(p(2))
    s = sin(p(2))
    r(1) = -l1*sin(p(1))*v(1)**2 - (l2 + p(7))*s*v(2)**2 + 2*v(7)*c*v(2)
    r(2) = l1*cos(p(1))*v(1)**2 + (l2 + p(7))*c*v(2)**2 + 2*v(7)*s*v(2)
    r(3) = 0
  end function

  subroutine dynamics(y, f, G)
    real(dp), intent(in) :: y(24)
    real(dp), intent(out) :: f(21), G(3, 7)
    real(dp) :: M(7, 7), force(7)
    call motion(y(1:7), y(8:14), M, force, G)
    f(1:14) = y(8:21)
    f(15:21) = matmul(M, y(15:21)) - force + matmul(y(22:24), G)
  end subroutine

  subroutine index3_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), G(3, 7)
    call dynamics(y, f, G)
    f(22) = l1*sin(y(1)) + (l2 + y(7))*sin(y(2))
    f(23) = y(3) - l1*cos(y(1)) - (l2 + y(7))*cos(y(2))
    f(24) = y(1) - omega*t
  end subroutine

  subroutine index2_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), G(3, 7)
    call dynamics(y, f, G)
    f(22:24) = matmul(G, y(8:14))
    f(24) = f(24) - omega
  end subroutine

  subroutine index1_f(n, t, y, f, rpar, ipar)
    integer :: n, ipar(*)
    real(dp) :: t, y(n), f(n), rpar(*), G(3, 7)
    call dynamics(y, f, G)
    f(22:24) = matmul(G, y(15:21)) + turning(y(1:7), y(8:14))
  end subroutine

  ! derivatives of M a - f + G^T lambda, beside those of p' = v and v' = a
  subroutine dynamics_df(y, df, ld, G)
    integer, intent(in) :: ld
    real(dp), intent(in) :: y(24)
    real(dp), intent(out) :: df(ld, 24), G(3, 7)
    real(dp) :: M(7, 7), force(7), c, s, T, by_angle(7), Cv(4), Sv(4), mq(4), r
    integer :: i
    r = rho*l1
    associate (q => y(4:7), v => y(8:14), u => y(11:14), a => y(15:21), w => y(18:21), lambda => y(22:24))
      call motion(y(1:7), v, M, force, G)
      c = cos(y(1) - y(2))
      s = sin(y(1) - y(2))
      Cv = c*c1 + s*c2
      Sv = s*c1 - c*c2
      mq = times_mass(q)
      T = 0.5d0*l1*l2*m2*s + r*dot_product(Sv, q)
      df = 0
      do i = 1, 14
        df(i, 7 + i) = 1
      end do
      ! by phi1 - phi2
      by_angle(1) = -T*a(2) - r*dot_product(Cv, w) + v(2)**2*M(1, 2) - 2*r*v(2)*dot_product(Sv, u)
      by_angle(2) = -T*a(1) - v(1)**2*M(1, 2)
      by_angle(3) = 0
      by_angle(4:7) = r*(v(1)**2*Sv - a(1)*Cv)
      df(15:21, 1) = by_angle
      df(15:21, 2) = -by_angle
      ! by the modes
      df(15, 4:7) = r*(a(2)*Cv + v(2)**2*Sv)
      df(16, 4:7) = r*(a(1)*Cv - v(1)**2*Sv) + 2*a(2)*(mq + rho*c12) + rho*times_b(w) + 2*v(2)*times_mass(u)
      do i = 1, 4
        df(18:21, 3 + i) = -rho*a(2)*times_b(mode(i)) - v(2)**2*times_mass(mode(i)) + times_stiffness(mode(i))
        df(18:21, 10 + i) = -2*rho*v(2)*times_b(mode(i))
      end do
      ! by velocities
      df(15, 9) = 2*v(2)*T + 2*r*dot_product(Cv, u)
      df(15, 11:14) = 2*r*v(2)*Cv
      df(16, 8) = -2*v(1)*T
      df(16, 9) = 2*(rho*dot_product(c12, u) + dot_product(u, mq))
      df(16, 11:14) = 2*v(2)*(rho*c12 + mq)
      df(18:21, 8) = -2*r*v(1)*Cv
      df(18:21, 9) = -2*v(2)*(mq + rho*c12) - 2*rho*times_b(u)
      df(15:21, 15:21) = M
      ! G^T lambda
      c = cos(y(2))*lambda(1) + sin(y(2))*lambda(2)
      s = cos(y(2))*lambda(2) - sin(y(2))*lambda(1)
      df(15, 1) = df(15, 1) + l1*(cos(y(1))*lambda(2) - sin(y(1))*lambda(1))
      df(16, 2) = df(16, 2) + (l2 + y(7))*s
      df(16, 7) = df(16, 7) + c
      df(21, 2) = df(21, 2) + c
      df(15:21, 22:24) = transpose(G)
    end associate
  end subroutine

  pure function mode(i) result(e)
    integer, intent(in) :: i
    real(dp) :: e(4)
    e = 0
    e(i) = 1
  end function

  ! derivatives of G v by p
  pure subroutine turned(p, v, D)
    real(dp), intent(in) :: p(7), v(7)
    real(dp), intent(inout) :: D(2, 7)
    D(1, 1) = D(1, 1) - l1*sin(p(1))*v(1)
    D(2, 1) = D(2, 1) + l1*cos(p(1))*v(1)
    D(1, 2) = D(1, 2) - (l2 + p(7))*sin(p(2))*v(2) + cos(p(2))*v(7)
    D(2, 2) = D(2, 2) + (l2 + p(7))*cos(p(2))*v(2) + sin(p(2))*v(7)
    D(1, 7) = D(1, 7) + cos(p(2))*v(2)
    D(2, 7) = D(2, 7) + sin(p(2))*v(2)
  end subroutine

  subroutine index3_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), G(3, 7)
    call dynamics_df(y, df, ld, G)
    df(22:24, 1:7) = G
  end subroutine

  subroutine index2_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), G(3, 7)
    call dynamics_df(y, df, ld, G)
    df(22:24, 8:14) = G
    call turned(y(1:7), y(8:14), df(22:23, 1:7))
  end subroutine

  subroutine index1_df(n, t, y, df, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: t, y(n), df(ld, n), rpar(*), G(3, 7), c, s
    call dynamics_df(y, df, ld, G)
    df(22:24, 15:21) = G
    c = cos(y(2))
    s = sin(y(2))
    associate (v => y(8:14), length => l2 + y(7))
      call turned(y(1:7), y(15:21), df(22:23, 1:7))
      df(22, 1) = df(22, 1) - l1*cos(y(1))*v(1)**2
      df(23, 1) = df(23, 1) - l1*sin(y(1))*v(1)**2
      df(22, 2) = df(22, 2) - length*c*v(2)**2 - 2*v(7)*s*v(2)
      df(23, 2) = df(23, 2) - length*s*v(2)**2 + 2*v(7)*c*v(2)
      df(22, 7) = df(22, 7) - s*v(2)**2
      df(23, 7) = df(23, 7) + c*v(2)**2
      df(22, 8) = -2*l1*sin(y(1))*v(1)
      df(23, 8) = 2*l1*cos(y(1))*v(1)
      df(22, 9) = -2*length*s*v(2) + 2*v(7)*c
      df(23, 9) = 2*length*c*v(2) + 2*v(7)*s
      df(22, 14) = 2*c*v(2)
      df(23, 14) = 2*s*v(2)
    end associate
  end subroutine
end module
