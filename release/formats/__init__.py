"""Export formats: ReXVQA, GEMeX, Parquet, COCO, DICOM SR, Croissant, the data card."""
