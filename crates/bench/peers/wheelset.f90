! Wheelset on rails: y = (x, y, z, theta, phi, their velocities, beta, psi_R, xi_R, psi_L, xi_L, lambda_L, lambda_R), index 2, with the
! mass matrix inverted by hand. Test set for initial value problem solvers, release 2.4; Jacobians are differences by the codes, as there.
module wheelset_problem
  use problem_type
  implicit none
  private
  public :: wheelset
  real(dp), parameter :: v0 = 30, mu = 0.12d0, cx = 6400, cz = 6400, m = 16.08d0, g = 9.81d0, I1 = 0.0605d0, I2 = 0.366d0, &
    xl = 0.19d0, delta0 = 0.0262d0, rho0 = 0.1d0, a0 = 0.1506d0, rho1 = 0.06d0, shear = 7.92d10, nu = 0.28d0, &
    kalker(3) = [4.72772197d0, 4.27526987d0, 1.97203505d0], pi = 3.1415926d0, scale = 1d4
  real(dp), parameter :: tangent = tan(delta0), hertz = 3*(1 - nu)*1.3537956d0/(2*pi*shear*sqrt(0.7115218d0))
  real(dp), parameter :: side(2) = [1d0, -1d0], slope(2) = [-tangent, tangent]
contains
  subroutine wheelset(p)
    type(problem), intent(out) :: p
    p%n = 17
    p%tend = 10
    p%y(1:5) = [0.0014940994046741174d0, 4.0091014006621017d-7, 1.1241d-6, -0.0002857300000000151d0, 0.0002645933533614942d0]
    p%y(12:15) = [-7.412237077604491d-6, -0.15213642955326948d0, 7.5634415976670235d-6, 0.14906357153223804d0]
    p%y(16:17) = [-0.008359184020925904d0, -0.0074145528325837776d0]
    p%index = [15, 2, 0]
    p%mass_lower = 0
    p%mass_upper = 0
    p%f => wheelset_f
    p%m => wheelset_m
  end subroutine

  subroutine wheelset_m(n, m, ld, rpar, ipar)
    integer :: n, ld, ipar(*)
    real(dp) :: m(ld, n), rpar(*)
    call diagonal(n, m, 11)
  end subroutine

  subroutine wheelset_f(n, t, u, f, rpar, ipar)
    integer :: n, ipar(*), i
    real(dp) :: t, u(n), f(n), rpar(*)
    real(dp) :: st, ct, sp, cp, spin, wx, wy, determinant, yaw, force(6)
    real(dp), dimension(2) :: psi, xi, lambda, s, c, radius, offset, root, incline, delta, Gt, Gp, normal
    real(dp) :: sd, cd, sy, cy, rolling, lift, rx, ry, rz, speed, along, across, turn, curvature, size, most, T1, T2, square, &
      fx, fy, fz
    st = sin(u(4))
    ct = cos(u(4))
    sp = sin(u(5))
    cp = cos(u(5))
    spin = u(11) + v0/rho0
    psi = [u(14), u(12)]
    xi = [u(15), u(13)]
    lambda = u(16:17)
    s = sin(psi)
    c = cos(psi)
    radius = xi*slope + (rho0 + tangent*a0)
    offset = (u(1) + xi*ct*cp + radius*(ct*sp*c - st*s))*side - (a0 + rho1*sin(delta0))
    root = sqrt(rho1**2 - offset**2)
    incline = -side*offset/root
    ! derivatives of the constraints by theta and phi; by x, y and z they are incline, -1 and 0
    Gt = incline*(-xi*st*cp + radius*(-st*sp*c - ct*s))
    Gp = incline*(-xi*ct*sp + radius*ct*cp*c) - xi*cp - radius*sp*c
    delta = atan(((cp*slope - sp*c)*ct + s*st)/(sp*slope + c*cp)*(-side))
    ! normal forces
    wx = scale*(incline(1)*lambda(1) + incline(2)*lambda(2))
    wy = -scale*(lambda(1) + lambda(2))
    determinant = -sin(delta(1) + delta(2))
    normal(1) = (cos(delta(2))*wx - sin(delta(2))*wy)/determinant
    normal(2) = -(cos(delta(1))*wx + sin(delta(1))*wy)/determinant
    yaw = 2*xl*xl*cz*u(4)
    force(1) = -2*cx*u(1)
    force(2) = -m*g
    force(3) = -2*cz*u(3)
    force(4) = u(9)*u(10)*sp*(2*I2 - I1) - spin*u(10)*I1 - yaw*cp
    force(5) = spin*u(9)*cp*I1 + u(9)**2*sp*cp*(I1 - I2)
    force(6) = -u(9)*u(10)*cp*I1 - yaw*sp
    do i = 1, 2
      sd = sin(delta(i))
      cd = cos(delta(i))
      sy = sin(u(4)/cd)
      cy = cos(u(4)/cd)
      rolling = spin*radius(i)
      lift = xi(i)*sp - radius(i)*cp*c(i)
      rx = u(6) - rolling*(sy*c(i) + cy*sp*s(i)) - u(9)*(radius(i)*(sy*sp*c(i) + cy*s(i)) + xi(i)*sy*cp) - u(10)*cy*lift
      ry = rolling*cp*s(i) + u(7) + u(10)*(xi(i)*cp + radius(i)*sp*c(i))
      rz = v0 - rolling*(cy*c(i) - sy*sp*s(i)) + u(8) - u(9)*(xi(i)*cy*cp + radius(i)*(cy*sp*c(i) - sy*s(i))) + u(10)*sy*lift
      speed = 0.5d0*sqrt((rx - 2*u(6))**2 + (ry - 2*u(7))**2 + (rz - 2*u(8) - 2*v0)**2)
      along = (sy*rx + cy*rz)/speed
      across = (cy*cd*rx + sd*ry*side(i) - sy*cd*rz)/speed
      turn = (cd*u(9) - sd*spin*side(i))/speed
      curvature = 0.5d0/(radius(i)*sqrt(1 + slope(i)**2)) + 0.5d0/rho1
      size = (abs(normal(i))*hertz/curvature)**(1d0/3)
      most = mu*normal(i)
      T1 = -most*tanh(size**2*along*kalker(1)*shear/most)
      T2 = -most*tanh((size**2*across*kalker(2) + size**3*turn*kalker(3))*shear/most)
      square = T1**2 + T2**2
      if (square >= most**2) then
        T1 = T1*abs(most)/sqrt(square)
        T2 = T2*abs(most)/sqrt(square)
      end if
      fx = sy*T1 + cy*cd*T2
      fy = sd*T2*side(i)
      fz = cy*T1 - sy*cd*T2
      force(1:3) = force(1:3) + [fx, fy, fz]
      force(4) = force(4) - (xi(i)*st + radius(i)*s(i)*ct*cp)*fx - radius(i)*s(i)*sp*fy &
        + (radius(i)*s(i)*st*cp - xi(i)*ct)*fz
      force(5) = force(5) - (xi(i)*ct*sp - radius(i)*c(i)*ct*cp)*fx + (xi(i)*cp + radius(i)*c(i)*sp)*fy &
        + (xi(i)*st*sp - radius(i)*c(i)*st*cp)*fz
      force(6) = force(6) - radius(i)*(c(i)*st + s(i)*ct*sp)*fx + radius(i)*s(i)*cp*fy &
        - radius(i)*(c(i)*ct - s(i)*st*sp)*fz
      ! constraint forces: g = -scale*touch, M v' = f - G^T lambda
      force(1) = force(1) + scale*incline(i)*lambda(i)
      force(2) = force(2) - scale*lambda(i)
      force(4) = force(4) + scale*Gt(i)*lambda(i)
      force(5) = force(5) + scale*Gp(i)*lambda(i)
    end do
    f(1:5) = u(6:10)
    f(6:8) = force(1:3)/m
    f(9) = force(4)/(I2*cp)
    f(10) = force(5)/I2
    f(11) = force(6)/I1 - sp*f(9)
    ! common tangent plane
    f(12) = incline(2)*(sp*slope(2) + cp*c(2)) + ct*cp*slope(2) - ct*sp*c(2) + st*s(2)
    f(13) = st*cp*slope(2) - st*sp*c(2) - ct*s(2)
    f(14) = incline(1)*(sp*slope(1) + cp*c(1)) + ct*cp*slope(1) - ct*sp*c(1) + st*s(1)
    f(15) = st*cp*slope(1) - st*sp*c(1) - ct*s(1)
    ! velocities along the constraints
    f(16:17) = scale*(incline*u(6) - u(7) + Gt*u(9) + Gp*u(10))
  end subroutine
end module
