"""Generation: writes questions from reports, scene graphs and label tables, as a file for the import.

`sources` reads the material, `regions` has the regions of GEMeX, `templates` writes questions without a
model.
"""
