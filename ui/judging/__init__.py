"""The judging form: what the page hands to it, what it sends back, and its browser part in ``assets/``."""
