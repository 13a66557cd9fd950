"""The watcher's feeds: see webhooks_feeds.sh. Run as: _webhooks_feeds.py DIR"""
from _nodes import Node, prepare
from _receiver import sql, until

prepare()
node = Node("one")
try:
    want = sql("SELECT count(*) FROM state.oracle_feed")
    seen = "SELECT count(*) FROM kyc.hook_seen AS s JOIN state.oracle_feed AS f ON s.subject = f.asset WHERE s.kind = 'asset'"
    until(lambda: sql(seen) == want, f"{want} feeds are looked at", 60)
    # One that is forgotten in the table is found by the next watcher, wherever it stands in the order.
    node.kill()
    sql("DELETE FROM kyc.hook_seen WHERE subject IN ('ZZ00001', 'ZZ04097', 'ZZ04500')")
    node = Node("one")
    until(lambda: sql(seen) == want, "the next watcher looks at all", 60)
finally:
    node.kill()
print(f"ok the watcher looks at all of {want} feeds")
