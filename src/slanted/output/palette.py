"""Colours of charts and pages, in the light and in the dark."""

from __future__ import annotations

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which colour-blind readers can distinguish."""
INK, FAINT, PAPER = "#1d2733", "#dfe4ea", "#ffffff"
BREAK = "#8a96a3"
"""Lines across a chart where something changed."""
DARK = {
    INK: "#dde3ea",
    FAINT: "#343c46",
    PAPER: "#15191e",
    BREAK: "#7d8894",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f08a45",
    "#009e73": "#2fc79b",
    "#cc79a7": "#dd9cc0",
    "#000000": "#ffffff",
}
"""What takes the place of a colour in the dark; the others are seen on both."""
