"""Readers and models on the same cases: protocol, design, reading, report."""
