"""Lists taken out of documents: prompts, what the answers become, an extractor at one document."""
