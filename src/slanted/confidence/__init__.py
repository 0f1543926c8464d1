"""How likely matches and disparities are to be right, learned from ground truth."""
