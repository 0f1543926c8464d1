from .boundary_label import BoundaryLabel as BoundaryLabel
from .errors import (
    InputError as InputError,
    SlantedError as SlantedError,
    SlantedWarning as SlantedWarning,
)
from .io import (
    Calibration as Calibration,
    read_calibration as read_calibration,
    read_disparity as read_disparity,
    read_image as read_image,
    write_disparity as write_disparity,
    write_image as write_image,
)
from .matching import register_matcher as register_matcher
from .opencv.stereo import StereoSlanted as StereoSlanted
from .pipeline import estimate as estimate
from .output.pixel_flag import PixelFlag as PixelFlag
from .result import Result as Result
from .settings import Settings as Settings
from .stream.stream import Stream as Stream

__version__: str
