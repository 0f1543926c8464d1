"""Jobs: measurements of one image each, made in processes of their own."""
