"""What a result looks like on disk: files and pictures."""
