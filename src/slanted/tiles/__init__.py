"""Images too large for memory: stages that need much memory run in bands and tiles.

Matching runs in overlapping bands of rows, because of its cost volume, and segmentation in bands of
cells. Observations, census words and cost tables are computed by *tiles*, sets of segments. The
graph of segments stays one, with every boundary and junction, and the split solver passes messages
over it tile by tile. Stages that need little memory, such as moving boundaries, see the whole
image.
"""
