"""Texts written for the rows of a study: runs of models over names and wordings, their pages, files and addresses."""
