"""Client of a Tidemark API."""

from ._client import AsyncClient, Client
from ._core import Answer, TidemarkError, async_items, async_pages, items, pages
from ._generated import Event, EventFields, EventKind, StreamMessage
from .amount import to_decimal, to_raw
from .entry import ProvenEntry, verify_entry_proof
from .proof import ProofError, ProvenEvent, ProvenTransaction, verify_proof
from .receipt import ReceiptError, says_compliant, verify_receipt
from .snapshot import ComplianceMirror, Snapshot, SnapshotAnswer, address_bytes, compliant_by
from .webhook import Webhook, WebhookError, verify_webhook

__all__ = [
    "Answer", "AsyncClient", "Client", "ComplianceMirror", "Event", "EventFields", "EventKind", "Snapshot", "SnapshotAnswer", "ProofError", "ProvenEntry", "ProvenEvent", "ProvenTransaction", "ReceiptError", "StreamMessage", "TidemarkError", "Webhook", "WebhookError",
    "address_bytes", "async_items", "async_pages", "compliant_by", "items", "pages", "says_compliant", "to_decimal", "to_raw", "verify_entry_proof", "verify_proof", "verify_receipt", "verify_webhook",
]
