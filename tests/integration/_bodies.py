"""Makes JSON bodies that a reader must refuse from one that it accepts: at each object an unknown member, each
member renamed, each member twice."""
import json


def objects(body, path=()):
    """Each object in a body and where it is."""
    if isinstance(body, dict):
        yield path, body
    for key, value in (body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()):
        yield from objects(value, (*path, key))


def at(body, path):
    for key in path:
        body = body[key]
    return body


def pointer(path):
    return "".join(f"/{key}" for key in path)


def names_near(name):
    """Names that a person writes for another one."""
    singular = name[:-1] if name.endswith("s") else name + "s"
    return dict.fromkeys([singular, name + "_", name.capitalize(), name.upper(), name[:-2] + name[-1]]) - {name: None}.keys()


def spelt(body, path, name):
    """The text of the body, where the object at path has the member name twice."""
    marked = json.loads(json.dumps(body))
    at(marked, path)["\u0001"] = at(body, path)[name]
    return json.dumps(marked).replace(json.dumps("\u0001"), json.dumps(name))


def variants(body):
    """(what was done, text, JSON Pointer under which the error is; None: the text is not read at all)."""
    for path, found in list(objects(body)):
        for name in ("surplus", "__proto__", "Jane Doe", ""):
            changed = json.loads(json.dumps(body))
            at(changed, path)[name] = 1
            yield f"{pointer(path)}: {name!r} added", json.dumps(changed), pointer(path)
        for name in found:
            for other in names_near(name):
                if other in found:
                    continue
                changed = json.loads(json.dumps(body))
                holder = at(changed, path)
                holder[other] = holder.pop(name)
                yield f"{pointer(path)}/{name}: called {other!r}", json.dumps(changed), pointer(path)
            yield f"{pointer(path)}/{name}: twice", spelt(body, path, name), None


def fault(status, answer, where):
    """None, or how the answer to a variant is wrong."""
    if status not in (400, 422):
        return f"{status} {answer}"
    places = [error.get("pointer") for error in answer.get("errors", ())]
    if not any(isinstance(place, str) and place.startswith(where or "") for place in places):
        return f"no JSON Pointer under {where!r}: {answer}"
    return None
