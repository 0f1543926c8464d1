"""Images too large for memory: the dear stages in bands and tiles, seams that do not show.

A stage is done in parts if it takes much memory a pixel: matching, whose volume of costs does, in
overlapping bands of rows; segmentation in bands of cells; the observations, census words and cost
tables of segments in *tiles*, sets of segments. The graph of segments stays one, with every
boundary and junction in it, and the split solver passes messages over it, tile by tile. What is
cheap a pixel, moving boundaries and the graph itself, is done as a whole.
"""
