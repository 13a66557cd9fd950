"""Hooks of schemathesis (schemathesis.sh): requests that no document can describe are not made.

A cursor is signed by the server, and so is the text behind a session's link: what looks like one is refused all the same.
"""
import schemathesis


@schemathesis.hook
def map_query(context, query):
    return {name: value for name, value in query.items() if name not in ("cursor", "s")} if query else query
