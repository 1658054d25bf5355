! The problems by name.
module catalogue
  use problem_type
  use chemistry
  use pollution_problem
  use transistor_amplifier_problem
  use medical_akzo_nobel_problem
  use pleiades_problem
  use pendulum_problem
  use car_axis_problem
  use andrews_problem
  use slider_crank_problem
  use wheelset_problem
  implicit none
contains
  subroutine find(name, form, p)
    character(*), intent(in) :: name, form
    type(problem), intent(out) :: p
    select case (name)
    case ('hires'); call hires(p)
    case ('oregonator'); call oregonator(p)
    case ('robertson'); call robertson(p)
    case ('e5'); call e5(p)
    case ('van-der-pol'); call van_der_pol(p)
    case ('pollution'); call pollution(p)
    case ('transistor-amplifier'); call transistor_amplifier(p)
    case ('medical-akzo-nobel'); call medical_akzo_nobel(p)
    case ('pleiades'); call pleiades(p)
    case ('wheelset'); call wheelset(p)
    case ('pendulum'); call pendulum(p, form)
    case ('car-axis'); call car_axis(p, form)
    case ('andrews'); call andrews(p, form)
    case ('flexible-slider-crank'); call slider_crank(p, form)
    end select
    if (p%n == 0) then
      print '(a)', 'no problem '//name//' in the form '//form
      stop 2
    end if
    ! full Jacobian
    if (p%lower == 0) then
      p%lower = p%n
      p%upper = p%n
    end if
    if (p%index(1) == 0) p%index(1) = p%n
  end subroutine
end module
