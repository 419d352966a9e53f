"""Question files and images into the dataset, or reasons why not.

The way of a record: `containers` finds its bytes in the file, `strictness` refuses JSON that could mean two
things, a module of `formats` maps it onto the native record (`records`), `rules` holds that against the
domain, and `service` looks up exams and images and writes. `parsing` joins the steps that need no database;
for large files they run in a process of their own (`parsing_process`).
"""
