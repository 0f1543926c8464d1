"""Search for settings that score better, by successive halving over the pairs of datasets.

`candidates` are drawn from a `search_space`; `halving` measures them on a growing set of pairs
(`objective`) and drops the worst. `measure` scores one candidate on one pair, `runner` does so in
processes, and `log` keeps every measurement, so that a stopped search can be resumed. `search` puts
all this together and writes the settings file.
"""
