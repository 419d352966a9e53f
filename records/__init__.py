"""The one form in which a question, box, answer, correction and verdict are written down, and read back.

Everything that stores, exports, imports or sends one of these asks here. The objects are in `domain`.
"""
