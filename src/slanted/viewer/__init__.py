"""The web page: a result to look at, point at, run again and export.

`frames` is what can be shown, `layers` paints it in tiles, `pointing` tells what is under a pixel,
`geometry` packs clouds and meshes, `caches` keeps what was made, `jobs` runs inference in the
background, `session` holds what one server shows, `guard` keeps other pages out, `app` and `serve`
are the server. The page itself is in ``assets``.
"""
