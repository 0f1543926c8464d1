import os

from slanted import kernel as kernel_module
from slanted.kernel import kernel


def _square(x):
    return x * x


def test_kernel_runs_as_python_does_and_keeps_options():
    assert kernel(_square)(3) == 9
    inverse = kernel(error_model="numpy")(lambda x: 1.0 / x)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert inverse(0.0) == float("inf")


def test_kernel_without_a_folder_to_keep_it_in_still_runs(monkeypatch):
    tried = []

    def njit(function, **options):
        tried.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(kernel_module, "njit", njit)
    assert kernel(_square, error_model="numpy")(4) == 16
    assert tried[1] == {"nogil": True, "error_model": "numpy"}
