"""The SBOM of a release, CycloneDX 1.5, of the project's own lists: pkg_check_modules in CMakeLists.txt, each of which README.md,
"Dependencies", must explain; the versions of the Debian packages that each .deb depends on; the lock file of the dashboard, whose
packages are inside tidemark-api and tidemark-console; and what the clients declare.

usage: sbom.py TREE VERSION EPOCH VERSIONS    VERSIONS has a file per Debian release: a package and its version a line
"""
import base64
import datetime
import json
import pathlib
import re
import sys
import tomllib
import urllib.parse
import uuid

tree, version, epoch, versions = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4])
SELF = f"pkg:generic/tidemark@{version}"


def explained():
    """README.md's table of dependencies, in lower case."""
    return (tree / "README.md").read_text().split("\n## Dependencies\n", 1)[1].split("\n## ", 1)[0].lower()


def check_list():
    known = explained()
    for module in re.findall(r"^pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", (tree / "CMakeLists.txt").read_text(), re.M):
        if module not in known:
            sys.exit(f"sbom: README.md, Dependencies, has no {module} of CMakeLists.txt")
    for package in locked("api/web/app/package-lock.json")[""]["dependencies"]:
        if package.lower() not in known:
            sys.exit(f"sbom: README.md, Dependencies, has no {package} of api/web/app/package.json")


def component(kind, name, number, purl, **more):
    return {"type": kind, "bom-ref": purl, "name": name, **({"version": number} if number else {}), "purl": purl, **more}


def locked(path):
    return json.loads((tree / path).read_text())["packages"]


def debian():
    for file in sorted(versions.iterdir()):
        for package, number in (line.split() for line in file.read_text().splitlines()):
            purl = f"pkg:deb/debian/{package}@{urllib.parse.quote(number, safe='.-~')}?distro=debian-{file.name}"
            yield component("library", package, number, purl, scope="required")


def dashboard():
    for path, one in sorted(locked("api/web/app/package-lock.json").items()):
        if not path or one.get("dev"):
            continue
        name = one.get("name") or path.rpartition("node_modules/")[2]
        more = {"licenses": [{"license": {"id": one["license"]}}]} if "license" in one else {}
        kind, _, digest = one.get("integrity", "").partition("-")
        if kind == "sha512":
            more["hashes"] = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}]
        yield component("library", name, one["version"], f"pkg:npm/{urllib.parse.quote(name, safe='/')}@{one['version']}", scope="required", **more)


def clients():
    projects = [tomllib.loads((tree / f"api/clients/{folder}/pyproject.toml").read_text())["project"] for folder in ("python", "mcp")]
    for scope, declared in (("required", sum((one["dependencies"] for one in projects), [])),
                            ("optional", sum((more for one in projects for more in one.get("optional-dependencies", {}).values()), []))):
        for one in declared:
            name, bounds = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?(.*)", one).groups()
            if name == "tidemark-client":
                continue
            yield component("library", name, "", f"pkg:pypi/{name}", scope=scope, properties=[{"name": "tidemark:versions", "value": bounds}])


check_list()
parts = list({one["bom-ref"]: one for group in (debian(), dashboard(), clients()) for one in group}.values())
json.dump({
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, SELF + '|' + json.dumps(parts, sort_keys=True))}",
    "version": 1,
    "metadata": {
        "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "component": component("application", "tidemark", version, SELF, licenses=[{"license": {"id": "MIT"}}]),
    },
    "components": parts,
    "dependencies": [{"ref": SELF, "dependsOn": [one["bom-ref"] for one in parts]}],
}, sys.stdout, indent=1)
print()
