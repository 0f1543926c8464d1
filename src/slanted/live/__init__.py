"""Pairs of cameras, videos and image sequences, estimated and shown as they come.

A source gives images (`sources`), a grabber keeps the newest one of a camera (`grabber`), two of
them make pairs (`pairs`), and a session estimates them (`session`), for the page (`page`), the
terminal and a recording.
"""
