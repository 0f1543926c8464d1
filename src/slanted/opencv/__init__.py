"""The pipeline in the shape of OpenCV's stereo matchers."""
