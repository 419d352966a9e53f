"""Reader studies, in which readers and models answer the same cases: protocol, design, reading, report."""
