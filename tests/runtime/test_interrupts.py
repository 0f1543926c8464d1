"""Interrupts that wait, and those that Numba takes for faults of kernels."""

import signal

import pytest

from slanted.runtime.interrupts import restored_interrupts, uninterrupted
from slanted.runtime.threads import thread_limit


def fault(cause):
    """Raise what Python makes of two kernels that return though there is an error."""
    try:
        raise SystemError("returned a result with an exception set") from cause
    except SystemError as error:
        raise SystemError("returned a result with an exception set") from error


@pytest.mark.parametrize("block", [restored_interrupts, lambda: thread_limit(2)])
def test_an_interrupt_of_a_kernel_is_one(block):
    with pytest.raises(KeyboardInterrupt), block():
        fault(KeyboardInterrupt())
    for cause in (None, ValueError()):
        with pytest.raises(SystemError, match="a result with an exception set"), block():
            fault(cause)


def test_an_interrupt_waits_for_the_end_of_a_block():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
