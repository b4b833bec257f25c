"""What several parts need of a text: views, detectors, redaction, diff, terms, trust arithmetic."""
