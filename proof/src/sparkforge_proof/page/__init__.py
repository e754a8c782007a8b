"""The HTML page for a report; only the module ``draw``, which renders ``report.html.j2``, needs jinja2.

``sparkforge-proof --html`` draws the page of one host, the collection that of one host or many. A report comes from a
host, so neither its form nor its text is trusted.
"""
