"""Commands say that they compile kernels, so this is done before any of them is tested."""

import pytest

from slanted.runtime.compilation import compile_ahead


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels():
    compile_ahead()
