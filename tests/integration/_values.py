"""Reads values of path parameters that exist in an indexed chain. Needs PG_BIN and psql's environment."""
import base64
import os
import re
import struct
import subprocess
import urllib.parse

STRANGER = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"


def sql(text):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", text],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


def instance_key(contract):
    """The LedgerKey of a contract's instance, as base64url."""
    key = struct.pack(">II32sII", 6, 1, base64.b32decode(contract)[1:33], 20, 1)
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def values():
    """Values of path parameters that are there: by route and name, or by name."""
    kinds = sql("SELECT DISTINCT address FROM state.compliance_registry_compliance_rec ORDER BY 1 LIMIT 3")
    frozen = sql("SELECT address FROM state.compliance_registry_frozen LIMIT 1")
    stakers = sql("SELECT DISTINCT claimer FROM event.earnings_distributor_revenue_claimed LIMIT 2")
    return {
        "address": kinds + frozen + stakers + [STRANGER],
        "symbol": sql("SELECT DISTINCT market FROM analyst.markets ORDER BY 1 LIMIT 3") or sql("SELECT DISTINCT asset FROM state.oracle_feed"),
        "asset": sql("SELECT asset FROM state.oracle_feed ORDER BY 1 LIMIT 3"),
        "pool": sql("SELECT pool_id FROM state.liquidity_pool_pool ORDER BY 1"),
        "partnerId": sql("SELECT key_id FROM state.partner_registry_partner ORDER BY 1 LIMIT 3"),
        "epoch": sql("SELECT key_id FROM state.earnings_distributor_epoch ORDER BY 1 LIMIT 3"),
        "proposalId": sql("SELECT key_id FROM state.dao_governance_proposal ORDER BY 1"),
        "walletId": sql("SELECT wallet_id FROM state.dao_governance_multi_sig_wallet ORDER BY 1"),
        "txId": sql("SELECT tx_id FROM state.dao_governance_multi_sig_tx ORDER BY 1"),
        "sequence": sql("SELECT ledger FROM chain.ledger ORDER BY ledger % 97, ledger LIMIT 4"),
        "id": sql("SELECT chain.event_id(ledger, tx, op, event) FROM event.log ORDER BY ledger % 101, ledger, tx, op, event LIMIT 5"),
        "hash": sql("SELECT encode(hash, 'hex') FROM chain.tx ORDER BY hash LIMIT 4"),
        "key": [instance_key(c) for c in sql("SELECT contract FROM history.oracle_instance LIMIT 1")],
        "kind": ["liquidity_pool_swap"],
        "provider": sql("SELECT provider FROM event.oracle_price_observation LIMIT 1"),
        "token": sql("SELECT token FROM chain.token ORDER BY 1"),
        "market": sql("SELECT DISTINCT market FROM analyst.markets ORDER BY 1"),
        "vault.market": sql("SELECT synth_asset FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 5"),
        "vault.owner": sql("SELECT owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 5"),
        "owner": sql("SELECT DISTINCT owner FROM state.synthetic_engine_vault ORDER BY 1 LIMIT 4"),
        "token_balance.token": sql("SELECT contract FROM state.synth_token_balance ORDER BY key_hash LIMIT 4"),
        "token_balance.owner": sql("SELECT address FROM state.synth_token_balance ORDER BY key_hash LIMIT 4"),
    }


def fill(path, chosen):
    return re.sub(r"{(\w+)}", lambda m: urllib.parse.quote(str(chosen[m.group(1)]), safe=""), path)
