"""Fuzzing of everything that slanted reads: ``python -m fuzz --help``, and docs/trust.md.

A target turns bytes into a file of one kind and reads it. It may succeed or raise one of slanted's
own errors, a sentence on one line; anything else (another exception, a warning, more than a few
seconds or a few hundred megabytes) is a finding.
"""
