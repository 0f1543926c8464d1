"""The viewer: a web page to look at a result, inspect its pixels, rerun inference and export it.

`frames` are the states that can be shown and `others` what they are compared with, `layers` paints
them, `tiles` cuts the pictures, `pixel` describes a pixel, `answers` has the errors of regions,
profiles and the course of the energy, `sliders` names the settings that the page can change,
`geometry` packs clouds and meshes, `cache` keeps them, `jobs` runs inference in the background,
`session` holds what a server shows, `guard` keeps other web pages out, `access` asks for the token,
`connections` ends those that do nothing, and `app` and `serve` are the server. The page itself is
in ``assets``.
"""
