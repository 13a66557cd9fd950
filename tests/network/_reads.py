#!/usr/bin/env python3
"""Compares every public read function of the nine contracts, as the network simulates it, with Tidemark's answers.

usage: _reads.py ask FUNCTIONS DEPLOYMENT CALLS          prints a question for _simulate.mjs a line
       _reads.py compare QUESTIONS ANSWERS PORT FLOOR VALUES   counts by function; exits 1 on a difference, below FLOOR equal
                                                         answers, or below VALUES equal ones that are no refusals

Functions with a route are asked over HTTP, as of the ledger of the simulation, the others of the stored rows. A route's
parameters may exclude a question (400), which is counted.
"""
import collections
import itertools
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import _views_http as views

PER_FUNCTION = int(os.environ.get("TIDE_READS_EACH", "12"))
MOST, LEAST = str(2**127 - 1), str(-2**127)
STRANGERS = ["GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF", "CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAD2KM"]
CRATES = {"oracle": "oracle_twap", "synth_token": "sep41_token"}
ROLES = ["compliance_registry", "dao_governance", "earnings_distributor", "liquidity_pool", "oracle", "partner_registry",
         "stability_pool", "synth_token", "synthetic_engine"]

# Functions that write, or ask for an authorisation. Every other function of a contract's wasm is a read.
WRITES = set("""attest revoke upgrade initialize add_verifier set_verifier set_whitelist freeze_account set_asset_rule
block_us_and_eu register_signer remove_verifier suspend_account sanction_account unfreeze_account unsuspend_account
block_jurisdiction submit_attestation unblock_jurisdiction assert_transfer_allowed block_sanctioned_countries vote cancel
execute propose finalise set_oracle set_compliance create_multisig set_multisig_mask cancel_multisig_tx submit_multisig_tx
add_oracle_provider approve_multisig_tx execute_multisig_tx set_protocol_config add_signer_to_wallet
set_oracle_min_providers remove_signer_from_wallet propose_and_queue_multisig claim register_lp finalize_epoch
receive_revenue claim_fees set_paused create_pool add_liquidity swap_exact_in remove_liquidity set_protocol_fee aggregate
update_twap add_provider submit_price submit_prices remove_provider set_min_providers set_dao claim_revenue self_register
register_partner set_partner_share deactivate_partner reactivate_partner dao_register_partner set_open_registration
activate_partner_asset credit_partner_revenue register_partner_asset burn mint approve clawback transfer burn_from
set_admin set_frozen set_minter transfer_from deposit withdraw claim_gains absorb_liquidation liquidate burn_synth
mint_synth open_vault register_asset set_debt_ceiling set_asset_enabled deposit_collateral set_stability_pool
withdraw_collateral set_collateral_allowed""".split())

# Reads that no state of the ledger, or no rule and row of Tidemark, answers.
WITHOUT = {
    "compliance_registry.is_us_or_eu": "a list in the contract's code",
    "compliance_registry.is_sanctioned_country": "a list in the contract's code",
    "partner_registry.has_kyc_bypass": "always false",
}


# --- questions --------------------------------------------------------------------------------------

# Calls whose arguments name what exists: (argument, the role whose functions ask by it).
NAMING = {"create_pool": [(1, "liquidity_pool")], "register_asset": [(1, "synthetic_engine"), (3, "oracle"), (4, "oracle")],
          "register_partner_asset": [(1, "partner_registry")], "set_asset_rule": [(1, "compliance_registry")], "submit_prices": [(1, "oracle")]}


def named(calls):
    """The symbols that successful calls name, by role."""
    found = collections.defaultdict(dict)
    for call in calls:
        for i, role in NAMING.get(call["fn"], []) if call["ok"] else []:
            given = call["args"][i]
            found[role].update(dict.fromkeys([given] if isinstance(given, str) else given))
    return {role: list(symbols) for role, symbols in found.items()}


def known_values(deployment, symbols):
    """Arguments by type: of the deployment, of recorded calls, and beyond them."""
    accounts, contracts = deployment["accounts"], deployment["contracts"]
    users = sorted((n for n in accounts if n.startswith("user")), key=lambda n: int(n[4:]))
    people = [accounts[n] for n in users[:8]] + [a for n, a in sorted(accounts.items()) if not n.startswith("user")][:12]
    return {
        "Address": people + [contracts["oracle"], contracts["usdc"], contracts["xlm"]] + STRANGERS,
        "Symbol": list(dict.fromkeys(itertools.chain(*symbols.values()))) + ["NOPE", "Z" * 32],
        "I128": ["0", "1", "-1", "10000", "10000000", "250000000000", str(2**127 // 10000), MOST, LEAST],
        "U32": [0, 1, 2, 3, 5, 31, 32, 364, 408, 756, 840, 2**32 - 1],
        "U64": ["0", "1", "2", "3", "7", "20", str(2**63), str(2**64 - 1)],
        "Bool": [True, False],
    }


def likely_values(values, symbols, role):
    """Those that mostly exist, or are in range."""
    return {**values, "Address": values["Address"][:8], "Symbol": symbols.get(role, values["Symbol"]), "I128": values["I128"][3:6],
            "U32": values["U32"][:4], "U64": values["U64"][:4]}


def sample(chance, n, *choices):
    """At most n of the combinations."""
    every = list(itertools.product(*choices))
    return chance.sample(every, n) if len(every) > n else every


def questions(functions, deployment, calls):
    """For each function: half of its questions about what mostly exists, half about anything."""
    symbols = named(calls)
    values = known_values(deployment, symbols)
    for role in ROLES:
        crate, likely = CRATES.get(role, role), likely_values(values, symbols, role)
        at = [a for n, a in sorted(deployment["contracts"].items()) if n.startswith("token_")] if role == "synth_token" else [deployment["contracts"][role]]
        for fn, types in sorted(functions[crate].items()):
            if fn in WRITES:
                continue
            chance = random.Random(f"{role}.{fn}")
            first = sample(chance, PER_FUNCTION // 2, at, *[likely[t] for t in types])
            rest = sample(chance, PER_FUNCTION, at, *[values[t] for t in types])
            for contract, *args in first + [q for q in rest if q not in first][:PER_FUNCTION - len(first)]:
                yield {"role": role, "crate": crate, "contract": contract, "fn": fn, "args": args}


# --- stored rows ------------------------------------------------------------------------------------

class Stored:
    """Rows of the tables of state, read once; amounts and u64 as the recordings write them."""

    def __init__(self):
        self.tables = {}

    def rows(self, table):
        if table not in self.tables:
            sql = f"SELECT coalesce(json_agg(t), '[]') FROM state.{table} AS t"
            done = subprocess.run(["psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", sql], capture_output=True, text=True, check=True)
            self.tables[table] = json.loads(done.stdout)
        return self.tables[table]

    def row(self, table, **keys):
        found = [r for r in self.rows(table) if all(r[k] == v for k, v in keys.items())]
        return found[0] if found else None

    def value(self, table, otherwise, column="value", **keys):
        found = self.row(table, **keys)
        return otherwise if found is None or found[column] is None else found[column]

    def instance(self, table, column, otherwise=None):
        return self.value(table + "_instance", otherwise, column)


def text(n):
    return str(n)


def columns(row, *as_text, **renamed):
    """The row as the contract's map: columns as_text are i128 or u64."""
    return row and {**{c: text(row[c]) for c in as_text}, **{k: row[c] for k, c in renamed.items()}}


def bytes_text(value):
    return bytes.fromhex(value[2:]).decode() if value is not None else None


def daily_volume(db, now, who):
    row = db.row("compliance_registry_daily_vol", address=who)
    return text(row["volume"]) if row and row["date_ts"] == now - now % 86400 else "0"


def blocked(db, code):
    return db.row("compliance_registry_blocked_jurisdiction", code=code) is not None


def is_jurisdiction_ok(db, who):
    kyc = db.row("compliance_registry_kyc", key_address=who)
    return kyc is not None and not blocked(db, kyc["jurisdiction"])


def transfer_refused(db, now, one, other, asset, amount):
    """Whether the registry's gate for transfers refuses, without the exemption of system contracts."""
    kyc = [db.row("compliance_registry_kyc", key_address=a) for a in (one, other)]
    if any(db.row("compliance_registry_frozen", address=a) for a in (one, other)):
        return True
    if any(k and 0 < k["expires_at"] < now for k in kyc):
        return True
    rule = db.row("compliance_registry_asset_rule", symbol=asset)
    if not rule or not rule["enabled"]:
        return False
    if not all(kyc) or blocked(db, kyc[0]["jurisdiction"]) or any(k["jurisdiction"] in rule["blocked_jurisdictions"] for k in kyc):
        return True
    limit = rule["daily_limit_usd"]
    return limit > 0 and int(daily_volume(db, now, one)) + int(amount) > limit


def gate(db, server, caller, user):
    """The gate inside swaps and vaults."""
    if all(db.row("compliance_registry_whitelist", address=a) for a in (caller, user)):
        return True
    if not views.kyc(server, user)["compliant"]:
        raise views.Refused("not_compliant")
    return True


def multisig_config(server, number):
    found = server.must(f"/api/multisig/wallets/{number}")
    scope = ["PrivilegedOnly", "AllExecutions", "Disabled"].index(found["scope"])
    return {**views.pick(found, active="active", signers="signers", threshold="threshold"), "id": int(found["walletId"]), "scope": scope}


def wallet_signers(server, number):
    found = server.ask(f"/api/multisig/wallets/{number}")
    return found["signers"] if found else []


def requires_multisig(db, action):
    if action > 31:
        raise views.Refused("overflow")
    return db.instance("dao_governance", "multisig_mask", 0x19FC7) >> action & 1 == 1


def tx_status(server, number):
    found = server.must(f"/api/multisig/transactions/{number}")
    return {**views.pick(found, approvals="approvals", call_data="callData", created_at_="createdAt", function_name="functionName",
                         id="txId", proposal_id="proposalId", rejections="rejections", target="target"),
            "status": [found["status"]], "wallet_id": int(found["walletId"])}


def feed(server, asset):
    found = server.must(f"/api/prices/{asset}")
    return views.pick(found, latest_price="latestPrice", latest_ts_="latestAt", observation_count="observationCount", twap_price="twapPrice", twap_ts_="twapAt")


def allowance(db, ledger, contract, owner, spender):
    row = db.row("synth_token_allowance", contract=contract, owner=owner, spender=spender)
    life = row and db.row("ttl", key_hash=row["key_hash"])
    return text(row["value"]) if life and life["live_until"] is not None and life["live_until"] >= ledger else "0"


def must_have(row):
    if row is None:
        raise views.Refused("not_found")
    return row


def partner_share(server, number):
    found = views.partner(server, number)
    return found["revenue_share"] if found and found["active"] else "0"


def stored_deposit(row):
    snapshot = {k: text(row["snapshot_" + k]) for k in ("epoch", "p_value", "scale", "sum_coll")} if row else None
    return row and {**columns(row, "deposited_at", "initial_value"), "snapshot": snapshot}


def partner_of(server, owner):
    found = [p for p in server.all("/api/partners") if p["owner"] == owner]
    return found[0] if found else None


# How functions without an entry in views.ROUTES are answered: (server, rows, simulation, arguments…).
OTHERS = {
    "compliance_registry.assert_user_compliant": lambda s, d, q, caller, user: gate(d, s, caller, user),
    "compliance_registry.get_asset_rule": lambda s, d, q, a: columns(
        d.row("compliance_registry_asset_rule", symbol=a), "daily_limit_usd", asset="asset", enabled="enabled",
        blocked_jurisdictions="blocked_jurisdictions", require_travel_rule="require_travel_rule"),
    "compliance_registry.get_daily_volume": lambda s, d, q, a: daily_volume(d, q["now"], a),
    "compliance_registry.get_provider_count": lambda s, d, q, a: len(s.all(f"/api/compliance/{a}/providers")),
    "compliance_registry.get_provider_for_signer": lambda s, d, q, a: d.value("compliance_registry_signer", None, signer=a),
    "compliance_registry.get_verifier": lambda s, d, q: (s.ask("/api/compliance") or {"verifier": None})["verifier"],
    "compliance_registry.is_frozen": lambda s, d, q, a: views.kyc(s, a)["status"] == "Frozen",
    "compliance_registry.is_jurisdiction_ok": lambda s, d, q, a: is_jurisdiction_ok(d, a),
    "compliance_registry.is_transfer_allowed": lambda s, d, q, one, other, asset, amount: not transfer_refused(d, q["now"], one, other, asset, amount),
    "compliance_registry.is_verifier": lambda s, d, q, a: a in {i["verifier"] for i in s.all("/api/compliance/verifiers")},
    "dao_governance.get_compliance": lambda s, d, q: d.instance("dao_governance", "compliance"),
    "dao_governance.get_earnings_contract": lambda s, d, q: d.instance("dao_governance", "earnings"),
    "dao_governance.get_multisig_config": lambda s, d, q, w: multisig_config(s, w),
    "dao_governance.get_multisig_tx_approvals": lambda s, d, q, t: s.must(f"/api/multisig/transactions/{t}")["decisions"],
    "dao_governance.get_multisig_tx_proposal": lambda s, d, q, t: text(d.value("dao_governance_multi_sig_tx_proposal", 0, tx_id=int(t))),
    "dao_governance.get_multisig_tx_status": lambda s, d, q, t: tx_status(s, t),
    "dao_governance.get_multisig_wallet": lambda s, d, q: d.instance("dao_governance", "multisig_wallet") or must_have(d.instance("dao_governance", "dao")),
    "dao_governance.get_oracle": lambda s, d, q: d.instance("dao_governance", "oracle"),
    "dao_governance.get_param_borrow_fee": lambda s, d, q: text(must_have(d.value("dao_governance_param_borrow_fee", None))),
    "dao_governance.get_param_cr": lambda s, d, q: text(must_have(d.value("dao_governance_param_cr", None))),
    "dao_governance.get_proposal_count": lambda s, d, q: text(d.instance("dao_governance", "proposal_count", 0)),
    "dao_governance.get_stab_pool_contract": lambda s, d, q: d.instance("dao_governance", "stability_pool"),
    "dao_governance.get_wallet_count": lambda s, d, q: len(s.all("/api/multisig/wallets")),
    "dao_governance.has_voted": lambda s, d, q, i, a: d.row("dao_governance_has_voted", proposal_id=int(i), voter=a) is not None,
    "dao_governance.is_governance_signer": lambda s, d, q, a: a in wallet_signers(s, 0),
    "dao_governance.is_signer_of": lambda s, d, q, w, a: a in wallet_signers(s, w),
    "dao_governance.proposal_has_pending_multisig": lambda s, d, q, i: any(t["status"] == "Pending" for t in s.all(f"/api/multisig/transactions?proposalId={i}")),
    "dao_governance.requires_multisig": lambda s, d, q, action: requires_multisig(d, action),
    "earnings_distributor.get_epoch_revenue": lambda s, d, q, e, token: text(d.value("earnings_distributor_epoch_revenue", 0, epoch=int(e), token=token)),
    "earnings_distributor.get_partner_epoch_revenue": lambda s, d, q, e, p: text(d.value("earnings_distributor_epoch_partner_revenue", 0, epoch=int(e), partner_id=p)),
    "earnings_distributor.has_claimed": lambda s, d, q, a, e: d.row("earnings_distributor_claimed", claimer=a, epoch=int(e)) is not None,
    "liquidity_pool.get_lp_position": lambda s, d, q, pool, a: columns(
        d.row("liquidity_pool_lp_pos", pool_id=pool, provider=a), "deposited_at", "fee_a_debt", "fee_b_debt", "pending_a", "pending_b", "shares"),
    "oracle.get_feed": lambda s, d, q, a: feed(s, a),
    "oracle.get_min_providers": lambda s, d, q: (s.ask("/api/oracle") or {"minProviders": 3})["minProviders"],
    "oracle.is_provider": lambda s, d, q, a: a in {i["provider"] for i in s.all("/api/oracle/providers")},
    "oracle.provider_count": lambda s, d, q: (s.ask("/api/oracle") or {"providerCount": 0})["providerCount"],
    "partner_registry.get_epoch_revenue": lambda s, d, q, p, e: text(d.value("partner_registry_epoch_revenue", 0, partner_id=p, epoch=int(e))),
    "partner_registry.get_partner_asset": lambda s, d, q, a: columns(
        d.row("partner_registry_partner_asset", key_symbol=a), "debt_ceiling", "deployed_at", live="live", oracle_symbol="oracle_symbol",
        partner_id="partner_id", symbol="symbol", token="token"),
    "partner_registry.get_partner_id": lambda s, d, q, a: d.value("partner_registry_partner_by_owner", None, owner=a),
    "partner_registry.get_partner_owner": lambda s, d, q, p: (views.partner(s, p) or {"owner": None})["owner"],
    "partner_registry.get_revenue_share": lambda s, d, q, p: partner_share(s, p),
    "partner_registry.is_open_registration": lambda s, d, q: d.instance("partner_registry", "open_registration", False),
    "partner_registry.is_partner": lambda s, d, q, a: bool((partner_of(s, a) or {"active": False})["active"]),
    "partner_registry.partner_count": lambda s, d, q: len(s.all("/api/partners")),
    "stability_pool.get_deposit": lambda s, d, q, a: stored_deposit(d.row("stability_pool_deposit", depositor=a)),
    "stability_pool.get_total_deposits": lambda s, d, q: s.must("/api/stability-pool")["totalDeposits"],
    "synth_token.allowance": lambda s, d, q, owner, spender: allowance(d, q["ledger"], q["contract"], owner, spender),
    "synth_token.decimals": lambda s, d, q: must_have(d.value("synth_token_instance", None, "decimals", contract=q["contract"])),
    "synth_token.is_frozen": lambda s, d, q, a: bool(d.value("synth_token_frozen_account", False, contract=q["contract"], address=a)),
    "synth_token.is_paused": lambda s, d, q: d.value("synth_token_instance", False, "paused", contract=q["contract"]),
    "synth_token.name": lambda s, d, q: bytes_text(must_have(d.value("synth_token_instance", None, "name", contract=q["contract"]))),
    "synth_token.symbol": lambda s, d, q: bytes_text(must_have(d.value("synth_token_instance", None, "symbol", contract=q["contract"]))),
    "synth_token.total_supply": lambda s, d, q: text(d.value("synth_token_total_supply", 0, contract=q["contract"])),
    "synthetic_engine.get_vault": lambda s, d, q, a, m: columns(
        d.row("synthetic_engine_vault", key_owner=a, synth=m), "collateral", "debt", "last_update", "opened_at", collateral_tok="collateral_tok",
        owner="owner", synth_asset="synth_asset"),
}


# --- comparison -------------------------------------------------------------------------------------

class Excluded(Exception):
    """The route's parameters exclude the question."""


class Server(views.Server):
    def ask(self, path):
        """As of the ledger asked about; Excluded where the request is refused by its form."""
        try:
            return super().ask(path)
        except SystemExit:
            if self.kept[path][0] == 400:
                raise Excluded(path) from None
            raise

    def reach(self, ledger):
        """Waits until the API has that ledger."""
        for _ in range(2400):
            self.connection.request("GET", "/api/ledgers?limit=1")
            found = json.loads(self.connection.getresponse().read())
            if found.get("items") and int(found["items"][0]["ledger"]) >= ledger:
                return
            time.sleep(0.1)
        sys.exit(f"the API does not reach ledger {ledger}")

    def close_time(self, ledger):
        """Of that ledger: beside the item, the answer has the newest one's."""
        self.connection.request("GET", f"/api/ledgers/{ledger}")
        return int(views.seconds(json.loads(self.connection.getresponse().read())["item"]["closedAt"]))


def answer(server, db, question, name):
    try:
        if name in views.ROUTES:
            return views.answer(server, question, name)
        return {"ok": True, "ret": OTHERS[name](server, db, question, *question["args"])}
    except views.Refused as why:
        return {"ok": False, "why": why.args[0]}


class Tally:
    def __init__(self):
        self.asked, self.equal, self.refused = collections.Counter(), collections.Counter(), collections.Counter()
        self.excluded, self.shown = collections.Counter(), 0

    def take(self, name, by, question, want, got):
        self.asked[name, by] += 1
        if want["ok"] == got["ok"] and (not want["ok"] or views.same(name, want["ret"], got["ret"])):
            self.equal[name, by] += 1
            self.refused[name] += not want["ok"]
        elif self.shown < 40:
            self.shown += 1
            print(f"{name} {question['args']} at {question['ledger']} by {by}\n  got  {json.dumps(got)[:600]}\n  want {json.dumps(want)[:600]}")

    def end(self, floor, values):
        for (name, by), n in sorted(self.asked.items()):
            print(f"{name:48} {by:5} {self.equal[name, by]:4} of {n:4}, {self.refused[name]} refused, {self.excluded[name]} excluded")
        asked, equal = sum(self.asked.values()), sum(self.equal.values())
        print(f"reads of {len({name for name, _ in self.asked})} functions: {equal} of {asked} equal, {sum(self.refused.values())} of them refusals,"
              f" {sum(self.excluded.values())} questions excluded by a route's parameters")
        sys.exit(0 if equal == asked >= floor and equal - sum(self.refused.values()) >= values else 1)


def compare(questions_path, answers_path, port, floor, values):
    asked, said = ([json.loads(line) for line in open(path, encoding="utf-8")] for path in (questions_path, answers_path))
    if len(asked) != len(said):
        sys.exit(f"{len(said)} answers to {len(asked)} questions")
    server, db, tally = Server(port), Stored(), Tally()
    server.reach(max(a["ledger"] for a in said))
    times = {ledger: server.close_time(ledger) for ledger in {a["ledger"] for a in said}}
    for question, want in zip(asked, said):
        question.update(ledger=want["ledger"], now=times[want["ledger"]])
    for question, want in zip(asked, said):
        name = f"{question['role']}.{question['fn']}"
        if name in WITHOUT:
            continue
        server.at(question["ledger"])
        try:
            tally.take(name, "http" if name in views.ROUTES else "rows", question, want, answer(server, db, question, name))
        except Excluded:
            tally.excluded[name] += 1
    tally.end(floor, values)


def main():
    if sys.argv[1] == "ask":
        with open(sys.argv[2], encoding="utf-8") as a, open(sys.argv[3], encoding="utf-8") as b, open(sys.argv[4], encoding="utf-8") as c:
            functions, deployment, calls = json.load(a), json.load(b), [json.loads(line) for line in c]
        every = list(questions(functions, deployment, [c for c in calls if c.get("fn")]))
        known = set(views.ROUTES) | set(OTHERS) | set(WITHOUT)
        names = {f"{q['role']}.{q['fn']}" for q in every}
        if names != known:
            sys.exit(f"functions without an answer, or answers without a function: {' '.join(sorted(names ^ known))}")
        for question in every:
            print(json.dumps(question))
    else:
        compare(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6]))


main()
