"""Values with a special meaning in a table of ratings."""

#: The answer "cannot determine".
UNDETERMINED = "?"
#: The name of all tasks together; no task may have it.
ALL = "all"
#: Arms of rows that are left out, or only compared with the same rater's first answer.
TRAINING, REPEAT = "training", "repeat"
#: The value of ``correct`` for an answer that nobody has marked yet: neither right, wrong nor missing.
NOT_MARKED = "not marked"
#: The spellings of a yes and of a no, in lower case.
YES, NO = ("1", "true", "yes"), ("0", "false", "no")
