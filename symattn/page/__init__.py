"""Pages: documents, notations, and the formats in which they are written."""
