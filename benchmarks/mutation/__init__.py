"""Mutation testing: `faults` to put into a module, and a `trial` of the tests with one of them."""
