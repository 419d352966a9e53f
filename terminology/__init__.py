"""Terms of chest radiology in texts: findings, their negation, sides and regions."""
