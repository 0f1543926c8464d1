"""The matcher ``network``: the disparity of a stereo network of the user's own, an ONNX file.

`description` reads what the network takes and gives, `model` runs the file, `wiring` joins the two,
and `views` turns images into tensors and tensors into maps. docs/networks.md has examples.
"""

from slanted.matching.network.matcher import match

__all__ = ["match"]
