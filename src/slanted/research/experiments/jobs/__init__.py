"""What an experiment measures of one image at a time, in a process of its own."""
