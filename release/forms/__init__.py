"""The forms that others read: ReXVQA, GEMeX, Parquet, COCO, DICOM SR, Croissant, the data card."""
