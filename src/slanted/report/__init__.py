"""Reports as one HTML file: of results, a page for each pair; of a batch, a row for each."""
