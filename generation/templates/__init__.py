"""Questions from structured findings, without a model."""
