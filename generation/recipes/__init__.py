"""Recipes that write questions with language models: GEMeX (stages I and II) and ReXVQA's generation layer.

A recipe is a sequence of stages. Each stage turns the material of an exam into a request of an ordinary run
of `language_models`, and the reply into further material. `generation.service` carries a recipe out.
"""

from generation.recipes.gemex import GEMEX
from generation.recipes.rexvqa import REXVQA
from generation.recipes.stages import Recipe

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (GEMEX, REXVQA)}

__all__ = ["RECIPES", "Recipe"]
