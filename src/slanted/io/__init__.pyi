from .calibration import Calibration as Calibration
from .calibration_files import read_calibration as read_calibration
from .disparity import read_disparity as read_disparity, write_disparity as write_disparity
from .disparity_formats import DISPARITY_FORMATS as DISPARITY_FORMATS
from .files import atomic_path as atomic_path, read_bytes as read_bytes, write_bytes as write_bytes
from .images import read_image as read_image, write_image as write_image
from .info import describe as describe
from .images import read_label_image as read_label_image, write_label_image as write_label_image
from .point_clouds import (
    encode_ply as encode_ply,
    point_cloud as point_cloud,
    write_ply as write_ply,
)
