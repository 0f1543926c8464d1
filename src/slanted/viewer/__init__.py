"""The web page: look at a result, inspect its pixels, run inference again, and export it.

`frames` are the states that can be shown, `layers` paints them in tiles, `pixel` describes a pixel,
`geometry` packs clouds and meshes, `cache` keeps what was made, `jobs` runs inference in the
background, `session` holds what a server shows, `guard` keeps other web pages out, `app` and
`serve` are the server. The page itself is in ``assets``.
"""
