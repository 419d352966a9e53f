"""Storage of datasets, exams and questions, with bulk writing of millions of rows."""
