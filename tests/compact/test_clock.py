from pldc.compact.clock import Clock


def test_clocks():
    assert not Clock().over()
    assert Clock(0.0).over() and not Clock(100.0).over()
    clock = Clock(100.0)
    half = clock.part(0.5)
    assert half.seconds == 50.0 and half.began == clock.began and Clock().part(0.5).seconds is None
    clock.began -= 60.0
    assert clock.over(0.5) and not clock.over() and 60 <= clock.spent() < 61
    clock.cancelled = True
    assert clock.over()
