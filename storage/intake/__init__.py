"""Datasets, exams and questions: rows in and out, written by the million."""
