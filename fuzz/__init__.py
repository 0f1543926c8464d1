"""Fuzzing of everything that slanted reads: ``python -m fuzz --help``, and docs/trust.md.

A target writes bytes to a file of one kind and reads it. It may succeed or raise one of slanted's
own errors, one sentence on one line. Anything else is a finding: another exception, a warning, more
than a few seconds or more than a few hundred megabytes.
"""
