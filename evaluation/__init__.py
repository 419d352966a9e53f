"""Evaluation of models on a release: plans with control conditions, runs, and their results.

``cases.py`` decides what a model is shown, ``requests.py`` builds the requests, ``results.py`` computes
accuracy, image reliance, consistency and position bias.
"""
