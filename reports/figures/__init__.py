"""The figures of a report: as data, as sentences, and drawn as SVG and PDF."""
