"""What a result can be exported as; apart, so that commands name it before they load more."""

FILES = {
    "cloud.ply": ("cloud.ply",),
    "mesh.ply": ("mesh.ply",),
    "mesh.glb": ("mesh.glb",),
    "mesh.obj": ("mesh.obj", "mesh.mtl", "mesh_texture.png"),
    "depth.png": ("depth.png",),
}
"""Names of exports, and the files that each writes."""
