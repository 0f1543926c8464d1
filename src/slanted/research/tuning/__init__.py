"""Finding settings that score better: successive halving over the pairs of datasets.

From `search_space`, what may vary, `candidates` are drawn; `halving` measures them on a growing set
of pairs (`objective`) and drops the worst; `measure` scores one candidate on one pair, `runner`
does so in processes, and `log` keeps every measurement as a row of a table, from which a search
that was stopped goes on. `search` puts all together; `written` is the settings file it ends with.
"""
