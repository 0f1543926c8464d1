"""A result as files: data, pictures, charts, meshes and HTML pages."""
