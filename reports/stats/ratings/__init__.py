"""Ratings of texts by several raters, each perhaps several times: means, agreement, favour, order, and how much is
enough.

Instructions are the clusters: what was written for the same instruction belongs together. Means and differences of
means have intervals by the cluster-robust variance and Student's t with G - 1 degrees of freedom (Liang and Zeger 1986;
Cameron and Miller 2015); what is no mean has bootstrap intervals over the same clusters (`reports.stats.bootstrap`).
"""
