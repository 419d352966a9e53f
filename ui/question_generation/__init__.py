"""The page Generate: the form, the job that writes a question file, and the questions before their import."""
