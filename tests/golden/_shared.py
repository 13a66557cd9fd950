"""Finds the shared fixtures, calls the decoder and reports. Tests without fixtures are skipped."""
import glob, json, os, subprocess, sys, tempfile

def fixtures():
    here = os.environ.get("TIDE_SOURCE_DIR", os.getcwd())
    tried = [os.environ.get("TIDE_SHARED", ""), here + "/../shared", here + "/../../shared"]
    for folder in tried:
        if folder and os.path.isdir(folder + "/fixtures"):
            return folder + "/fixtures"
    print("skipped: no shared fixtures (set TIDE_SHARED)")
    sys.exit(77)

BIN = os.environ["TIDE_BIN"] + "/tidemark-indexer"

def decode(files, *options, stdin=None):
    """(lines as objects, exit code, stderr); output goes through a file, so size does not matter."""
    with tempfile.TemporaryFile() as out:
        done = subprocess.run([BIN, "dump", *options, *files], stdout=out,
                              stderr=subprocess.PIPE, input=stdin)
        out.seek(0)
        return [json.loads(line) for line in out], done.returncode, done.stderr.decode()

class Report:
    def __init__(self):
        self.failures, self.checked = [], {}
    def count(self, what, n=1):
        self.checked[what] = self.checked.get(what, 0) + n
    def same(self, what, where, got, expected):
        self.count(what)
        if got != expected:
            self.failures.append(f"{where}: {what}: got {json.dumps(got)[:300]} expected {json.dumps(expected)[:300]}")
    def true(self, what, where, holds, text=""):
        self.count(what)
        if not holds:
            self.failures.append(f"{where}: {what}: {text[:300]}")
    def end(self):
        for line in self.failures[:12]:
            print("FAIL", line)
        print(", ".join(f"{n} {what}" for what, n in sorted(self.checked.items())))
        print(f"{len(self.failures)} failures")
        sys.exit(1 if self.failures or not self.checked else 0)
