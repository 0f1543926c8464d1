"""Learning the weights of the energy from ground truth (paper §3.3).

`ground_truth` finds planes and labels, `losses` what wrong planes cost, `examples` tabulates
features over particles, `objective` evaluates one image, `training` the sum over images that
`backends` spread over processes, `optimise` minimises it, `checkpoint` records every step, and
`learn` does all of it.

Names are imported on first use, so that ``import slanted.learning`` does not load Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from slanted.learning.learn import Learned, learn_weights
    from slanted.learning.weights_file import write_weights

_MODULE_OF = {
    "Learned": "slanted.learning.learn",
    "learn_weights": "slanted.learning.learn",
    "write_weights": "slanted.learning.weights_file",
}

__all__ = ["Learned", "learn_weights", "write_weights"]

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
