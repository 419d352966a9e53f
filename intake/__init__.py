"""Imports question files and images into a dataset.

A record passes through these modules: `containers` finds its bytes in the file, `strict_json` refuses
ambiguous JSON, a module of `formats` converts it to the native record (`records`), `rules` checks it against
the domain, and `service` looks up exams and images and writes rows. `parsing` combines the steps that need no
database; they run in a separate process (`parsing_process`).
"""
