"""May a judge do the rest? Certificates of its error, what they cost in labels, supervision, and shares of options.

Everything here goes by clusters: cells of one document (or sheet) were read once, by one person and by one call of a
judge, so they are wrong together. Bounds that call themselves exact ask one thing only: that the clusters were drawn at
random from those that the statement is about.
"""
