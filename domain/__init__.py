"""The nouns of Overread and what must always hold of them: frozen dataclasses, standard library only."""
