"""Curves, AUC and calibration by their definitions, pixel by pixel."""

import numpy as np


def error_at(confidence, is_wrong, density):
    """Percent of wrong pixels among the most confident; ties are taken in equal shares."""
    left = density / 100 * len(confidence)
    kept, wrong = left, 0.0
    for level in sorted(set(confidence), reverse=True):
        tied = [bad for sure, bad in zip(confidence, is_wrong, strict=True) if sure == level]
        share = min(1.0, left / len(tied))
        wrong += share * sum(tied)
        left -= share * len(tied)
        if left <= 0:
            break
    return 100 * wrong / kept


def oracle_at(is_wrong, density):
    """The same for the best order: right pixels first."""
    return error_at([0.0 if bad else 1.0 for bad in is_wrong], is_wrong, density)


def auc(confidence, is_wrong):
    """Share of pairs of a wrong and a right pixel in which the wrong one is less confident."""
    wins = [
        1.0 if low < high else 0.5 if low == high else 0.0
        for low, bad in zip(confidence, is_wrong, strict=True)
        if bad
        for high, worse in zip(confidence, is_wrong, strict=True)
        if not worse
    ]
    return float(np.mean(wins)) if wins else float("nan")


def calibration_error(confidence, is_wrong):
    """Mean over pixels of the difference between what their bin says and what is found there."""
    bins = [min(int(sure * 10), 9) for sure in confidence]
    total = 0.0
    for k in range(10):
        inside = [i for i, b in enumerate(bins) if b == k]
        if inside:
            said = np.mean([confidence[i] for i in inside])
            found = np.mean([not is_wrong[i] for i in inside])
            total += len(inside) * abs(said - found)
    return 100 * total / len(confidence)
